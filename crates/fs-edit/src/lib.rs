//! Exact edits: a pure plan over bytes, committed through a Workspace.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

mod breaks;
mod changes;
mod commit;
mod diff;
mod document;
mod explain;
mod failure;
mod haystack;
mod plan;
mod position;
mod request;
mod search;
mod splice;
mod stateful;
mod text;
mod tokens;

#[cfg(test)]
mod tests;

pub use commit::{EditOptions, Edited, edit_file};
pub use diff::{DiffOptions, diff_of};
pub use plan::{Plan, plan};
pub use request::{
    Edit, EolMode, MAX_EDITS, MAX_NEW_BYTES, MAX_OLD_BYTES, Positional, Request, Target,
};
