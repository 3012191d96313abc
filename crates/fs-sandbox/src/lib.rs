//! Workspace: the only place where a path becomes a handle.

mod confine;
mod policy;
mod replace;
mod resolve;
mod rights;
mod workspace;

pub use confine::{Confinement, confine};
pub use rights::Rights;
pub use workspace::{
    Backup, Change, Durability, HardLinks, Opened, RootInfo, Source, UpdateOptions, Workspace,
    WorkspaceBuilder, WriteMode, WriteOptions, Written,
};
