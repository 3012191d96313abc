//! Landlock as a second wall.

use std::path::Path;

use fs_core::Result;

use crate::workspace::Workspace;

/// What the kernel could enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// All of it.
    Full,
    /// A part; the text says which Landlock ABI.
    Partial(String),
    /// Nothing; the text says why.
    None(String),
}

/// Confines this thread and those it starts to the workspace's roots and `extra` directories.
pub fn confine(_workspace: &Workspace, _extra: &[&Path]) -> Result<Confinement> {
    todo!()
}
