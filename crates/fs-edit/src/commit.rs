//! A plan committed through a workspace.

use fs_core::{Result, TextFormat, Version};
use fs_sandbox::{UpdateOptions, Workspace};

use crate::request::Request;

/// How to commit.
#[derive(Debug, Clone, Default)]
pub struct EditOptions {
    /// How the file is replaced: `if_version`, backup, hard links, cancel.
    pub update: UpdateOptions,
    /// Only say what would change.
    pub dry_run: bool,
}

/// What an edit did, or with `dry_run` would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// How many matches were replaced.
    pub replacements: u64,
    /// How many lines changed.
    pub lines_changed: u64,
    /// The unified diff, capped.
    pub diff: String,
    /// The version after; of a dry run, the one the result would have.
    pub version: Version,
    /// The file's format; `None` when it is opaque.
    pub format: Option<TextFormat>,
    /// The backup's name beside the file.
    pub backup: Option<String>,
    /// How many other names kept the old bytes.
    pub parted_links: u64,
    /// What could not be made sure.
    pub warnings: Vec<String>,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

/// Edits a file exactly, or changes nothing and says why.
pub fn edit_file(
    _workspace: &Workspace,
    _path: &str,
    _request: &Request,
    _options: &EditOptions,
) -> Result<Edited> {
    todo!()
}
