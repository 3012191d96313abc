//! Deny rules: which names may not be touched, and which may only be read.

use std::ffi::OsStr;
use std::sync::OnceLock;

use caseless::Caseless;
use fs_core::{Case, Problem, RelPath, Result};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
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
    "**/*.pem.bak*",
    "**/*.key.bak*",
    "**/*.p12.bak*",
    "**/*.pfx.bak*",
    "**/*.jks.bak*",
    "**/*.keystore.bak*",
    "**/*.kdbx.bak*",
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
    "**/.docker/config.json*",
    "**/.netrc*",
    "**/_netrc*",
    "**/.pgpass*",
    "**/.npmrc*",
    "**/.pypirc*",
    "**/.git-credentials*",
    "**/.htpasswd*",
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

/// A path as the rules see it: without regard to case and normal form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folded(String);

/// Globs, compiled when a name is first held against them: that takes longer than a start.
#[derive(Debug, Default)]
struct Rules {
    globs: Vec<Glob>,
    compiled: OnceLock<Option<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    /// The globs of which bytes and characters are the same thing: fast, and most of them.
    set: GlobSet,
    chars: Vec<fs_core::Glob>,
}

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

    /// Returns whether a rule forbids `need` for the last name of a path; the directories above it
    /// are not looked at.
    pub(crate) fn forbids_last(&self, need: Rights, path: &Folded) -> bool {
        self.deny.matches(&path.0) || (need.changes() && self.deny_edit.matches(&path.0))
    }

    /// Returns whether a rule forbids `need` for the path or a directory above it.
    pub(crate) fn forbids(&self, need: Rights, path: &RelPath) -> bool {
        let mut folded = Folded::default();
        self.concerns(need)
            && path.names().any(|name| {
                folded.push(name);
                self.forbids_last(need, &folded)
            })
    }

    /// Returns whether there is a rule that could forbid `need`.
    pub(crate) fn concerns(&self, need: Rights) -> bool {
        !self.deny.globs.is_empty() || (need.changes() && !self.deny_edit.globs.is_empty())
    }
}

impl Folded {
    /// Goes to the entry of this name.
    pub(crate) fn push(&mut self, name: &OsStr) {
        if !self.0.is_empty() {
            self.0.push('/');
        }
        self.0.push_str(&fold(name));
    }

    /// Returns where it is, for [`Folded::back_to`].
    pub(crate) fn mark(&self) -> usize {
        self.0.len()
    }

    /// Goes back to where it was.
    pub(crate) fn back_to(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

impl Rules {
    fn new(field: &str, globs: &[String]) -> Result<Self> {
        let parsed = patterns(field, globs)?.into_iter().map(|pattern| {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            glob.map_err(|error| Problem::invalid(field, error.to_string()).into())
        });
        Ok(Self {
            globs: parsed.collect::<Result<_>>()?,
            compiled: OnceLock::new(),
        })
    }

    fn matches(&self, folded: &str) -> bool {
        if self.globs.is_empty() {
            return false;
        }
        let compiled = self.compiled.get_or_init(|| Compiled::new(&self.globs));
        // Rules too large to be compiled forbid everything.
        compiled
            .as_ref()
            .is_none_or(|compiled| compiled.is_match(folded))
    }
}

impl Compiled {
    fn new(globs: &[Glob]) -> Option<Self> {
        let mut set = GlobSetBuilder::new();
        let mut chars = Vec::new();
        for glob in globs {
            if fs_core::Glob::is_of_bytes(glob.glob(), Case::Sensitive) {
                set.add(glob.clone());
            } else {
                chars.push(fs_core::Glob::new(glob.glob(), Case::Sensitive).ok()?);
            }
        }
        let set = set.build().ok()?;
        Some(Self { set, chars })
    }

    fn is_match(&self, folded: &str) -> bool {
        let of_chars = |glob: &fs_core::Glob| glob.is_match(folded.as_bytes());
        self.set.is_match(folded) || self.chars.iter().any(of_chars)
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
