//! Workspace: the only place where a path becomes a handle.

mod confine;
mod lock;
mod policy;
mod replace;
mod resolve;
mod rights;
mod workspace;
mod write;

pub use confine::{Confinement, confine};
pub use rights::Rights;
pub use workspace::{Opened, RootInfo, Workspace, WorkspaceBuilder};
pub use write::{
    Backup, Change, Durability, HardLinks, Source, UpdateOptions, WriteMode, WriteOptions, Written,
};
