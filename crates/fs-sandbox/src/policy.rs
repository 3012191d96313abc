//! Deny rules: which names may not be touched, and which may only be read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use caseless::Caseless;
use fs_core::{Problem, RelPath, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::rights::Rights;

/// Names that usually hold secrets, for [`WorkspaceBuilder::deny`](crate::WorkspaceBuilder::deny).
pub const SECRETS: &[&str] = &[
    "**/.env*",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/*.keystore",
    "**/*.kdbx",
    "**/*.keychain",
    "**/*.keychain-db",
    "**/id_rsa*",
    "**/id_dsa*",
    "**/id_ecdsa*",
    "**/id_ed25519*",
    "**/.ssh/**",
    "**/.aws/**",
    "**/.azure/**",
    "**/.kube/**",
    "**/.gnupg/**",
    "**/.password-store/**",
    "**/.config/gcloud/**",
    "**/.docker/config.json",
    "**/.netrc",
    "**/_netrc",
    "**/.pgpass",
    "**/.npmrc",
    "**/.pypirc",
    "**/.git-credentials",
    "**/.htpasswd",
];

/// Names by which editors and agents are told what to start, for
/// [`WorkspaceBuilder::deny_edit`](crate::WorkspaceBuilder::deny_edit).
pub const AGENT_CONFIG: &[&str] = &[
    "**/.vscode/**",
    "**/.cursor/**",
    "**/.idea/**",
    "**/.zed/**",
    "**/.claude/**",
    "**/.gemini/**",
    "**/.codex/**",
    "**/.qwen/**",
    "**/.mcp.json",
    "**/mcp.json",
    "**/.envrc",
    "**/*.code-workspace",
];

/// Names by which git is told what to start, for
/// [`WorkspaceBuilder::deny_edit`](crate::WorkspaceBuilder::deny_edit).
pub const GIT_INTERNALS: &[&str] = &["**/.git/hooks/**", "**/.git/config"];

/// The deny rules of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    deny: Rules,
    deny_edit: Rules,
}

#[derive(Debug, Default)]
struct Rules(Option<GlobSet>);

impl Policy {
    /// Returns the policy of two lists of globs.
    ///
    /// # Errors
    /// `invalid_argument` for field `deny` or `deny_edit` and a glob that cannot be one.
    pub(crate) fn new(deny: &[String], deny_edit: &[String]) -> Result<Self> {
        Ok(Self {
            deny: Rules::new("deny", deny)?,
            deny_edit: Rules::new("deny_edit", deny_edit)?,
        })
    }

    /// Returns whether a rule forbids `need` for the name at `path`; its ancestors are not looked at.
    pub(crate) fn forbids_name(&self, need: Rights, path: &Path) -> bool {
        if !self.concerns(need) {
            return false;
        }
        let folded = fold(path.as_os_str());
        self.deny.matches(&folded) || (need.changes() && self.deny_edit.matches(&folded))
    }

    /// Returns whether a rule forbids `need` for the path or one of its ancestors.
    pub(crate) fn forbids(&self, need: Rights, path: &RelPath) -> bool {
        if !self.concerns(need) {
            return false;
        }
        let mut prefix = PathBuf::new();
        path.names().any(|name| {
            prefix.push(name);
            self.forbids_name(need, &prefix)
        })
    }

    fn concerns(&self, need: Rights) -> bool {
        self.deny.0.is_some() || (need.changes() && self.deny_edit.0.is_some())
    }
}

impl Rules {
    fn new(field: &str, globs: &[String]) -> Result<Self> {
        if globs.is_empty() {
            return Ok(Self(None));
        }
        let invalid = |error: globset::Error| Problem::invalid(field, error.to_string());
        let mut set = GlobSetBuilder::new();
        for pattern in patterns(field, globs)? {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(glob.map_err(invalid)?);
        }
        Ok(Self(Some(set.build().map_err(invalid)?)))
    }

    fn matches(&self, folded: &str) -> bool {
        self.0.as_ref().is_some_and(|set| set.is_match(folded))
    }
}

fn patterns(field: &str, globs: &[String]) -> Result<Vec<String>> {
    let mut patterns = Vec::new();
    for glob in globs {
        if glob.starts_with('!') {
            return Err(Problem::invalid(field, "a rule cannot be taken back by `!`").into());
        }
        let anchored = anchor(&fold(OsStr::new(glob)));
        if anchored.is_empty() {
            return Err(Problem::invalid(field, "a glob is empty").into());
        }
        if let Some(dir) = anchored.strip_suffix("/**") {
            patterns.push(dir.to_owned());
        }
        patterns.push(anchored);
    }
    Ok(patterns)
}

/// Returns the glob for a whole path: without a slash it matches at any depth, else from the root.
fn anchor(glob: &str) -> String {
    let body = glob.strip_suffix('/').unwrap_or(glob);
    match body.strip_prefix('/') {
        Some(rooted) => rooted.to_owned(),
        None if body.contains('/') || body.is_empty() => body.to_owned(),
        None => format!("**/{body}"),
    }
}

/// Returns the text that stands for all its spellings by case and normal form.
fn fold(text: &OsStr) -> String {
    text.to_string_lossy()
        .nfd()
        .default_case_fold()
        .nfc()
        .collect()
}
