//! Exact edits: a pure plan over bytes, committed through a Workspace.

mod commit;
mod diff;
mod explain;
mod plan;
mod request;

pub use commit::{EditOptions, Edited, edit_file};
pub use diff::DiffOptions;
pub use plan::{Plan, plan};
pub use request::{Edit, EolMode, Positional, Request, Target};
