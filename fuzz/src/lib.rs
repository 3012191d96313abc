//! What must hold of any bytes at all: one function for each target, which panics when it does not.
//!
//! `cargo xtask fuzz TARGET --seconds N` runs a target; the seeds are made from the case files.

#[cfg(feature = "tools")]
mod arguments;
mod input;
mod model;
mod paths;
mod plans;
mod texts;

#[cfg(feature = "tools")]
pub use arguments::mcp_arguments;
pub use paths::relpath;
pub use plans::plan;
pub use texts::{decode, window};
