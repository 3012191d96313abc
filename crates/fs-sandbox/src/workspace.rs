//! The workspace and its operations.

use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File};
use fs_core::{Entry, ListOptions, Listing, ReadOptions, RelPath, Result, Window};

use crate::rights::Rights;
use crate::write::{Durability, HardLinks};

/// The roots an agent may touch, with their rights; cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {}

/// Builds a workspace.
#[derive(Debug, Default)]
pub struct WorkspaceBuilder {}

/// A root as front ends show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootInfo {
    /// Its name.
    pub name: String,
    /// Its path as configured.
    pub path: PathBuf,
    /// Its path with links resolved at start.
    pub real_path: PathBuf,
    /// Its rights.
    pub rights: Rights,
}

/// An open regular file with its place.
#[derive(Debug)]
pub struct Opened {
    /// The handle.
    pub file: File,
    /// The name of its root; `None` outside the roots.
    pub root: Option<String>,
    /// Its link-free path below that root.
    pub path: RelPath,
    /// Its size in bytes when it was opened.
    pub size: u64,
}

impl WorkspaceBuilder {
    /// Adds a root.
    #[must_use]
    pub fn root(self, _name: &str, _path: &Path, _rights: Rights) -> Self {
        self
    }
    /// Sets the rights for paths in no root; none by default.
    #[must_use]
    pub fn outside(self, _rights: Rights) -> Self {
        self
    }
    /// Adds a glob of names that do not exist for callers.
    #[must_use]
    pub fn deny(self, _glob: &str) -> Self {
        self
    }
    /// Adds a glob of names that are read-only.
    #[must_use]
    pub fn deny_edit(self, _glob: &str) -> Self {
        self
    }
    /// Sets what happens to other names of a file.
    #[must_use]
    pub fn hard_links(self, _policy: HardLinks) -> Self {
        self
    }
    /// Refuses paths that cross into another file system.
    #[must_use]
    pub fn one_filesystem(self, _on: bool) -> Self {
        self
    }
    /// Sets the durability.
    #[must_use]
    pub fn durability(self, _durability: Durability) -> Self {
        self
    }
    /// Opens the roots.
    pub fn build(self) -> Result<Workspace> {
        todo!()
    }
}

impl Workspace {
    /// Returns a builder.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }
    /// Returns the roots in the order of the command line.
    pub fn roots(&self) -> Vec<RootInfo> {
        todo!()
    }
    /// Opens a regular file for reading.
    pub fn open(&self, _path: &str) -> Result<Opened> {
        todo!()
    }
    /// Opens a directory for listing.
    pub fn open_dir(&self, _path: &str) -> Result<Dir> {
        todo!()
    }
    /// Reads a window of a file.
    pub fn read(&self, _path: &str, _options: &ReadOptions) -> Result<Window> {
        todo!()
    }
    /// Returns what the path names; a link is a link.
    pub fn stat(&self, _path: &str) -> Result<Entry> {
        todo!()
    }
    /// Lists a directory.
    pub fn list(&self, _path: &str, _options: &ListOptions) -> Result<Listing> {
        todo!()
    }
    /// Creates a directory.
    pub fn create_dir(&self, _path: &str) -> Result<()> {
        todo!()
    }
    /// Creates a directory and its parents.
    pub fn create_dir_all(&self, _path: &str) -> Result<()> {
        todo!()
    }
    /// Removes a file or a link.
    pub fn remove_file(&self, _path: &str) -> Result<()> {
        todo!()
    }
}
