//! Workspace: the only place where a path becomes a handle.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

mod confine;
mod lock;
mod policy;
mod replace;
mod resolve;
mod rights;
mod workspace;
mod write;

pub use confine::{Confinement, confine};
pub use policy::{AGENT_CONFIG, GIT_INTERNALS, SECRETS};
pub use rights::{OpenFlags, Operation, Rights, needed};
pub use workspace::{Opened, RootInfo, Workspace, WorkspaceBuilder};
pub use write::{
    Backup, Change, Durability, HardLinks, Source, UpdateOptions, WriteMode, WriteOptions, Written,
};
