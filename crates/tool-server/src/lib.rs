//! File tools for language models: read, write, edit exactly, list, search, copy, move and delete,
//! under a sandbox.
//!
//! The words: a [`Toolbox`] holds the tools by name over one `Workspace`; a [`ToolSpec`] says
//! what a tool takes and does; a [`Call`] is what surrounds one call; a [`ToolOutput`] is what
//! it answers, text for a model and facts for a program; a [`ToolError`] is why it did not.
//! Nothing here knows a protocol: the binary beside this library speaks MCP.
//!
//! Promises: all arguments are checked before anything is read or changed. An answer is bounded
//! and says how to go on. An answer or error names no path that the caller did not send.
//!
//! No promise: calls that run at the same time are ordered by nothing but the file they change.
//!
//! ```no_run
//! # use std::path::Path;
//! # use fs_sandbox::{Rights, Workspace};
//! # use serde_json::json;
//! # use tool_server::{Call, Settings, Toolbox};
//! let root = Path::new("/srv/project");
//! let workspace = Workspace::builder().root("workspace", root, Rights::ALL).build()?;
//! let toolbox = Toolbox::new(workspace, Settings::default());
//! let arguments = json!({"path": "README.md", "limit": 3});
//! let arguments = arguments.as_object().cloned().unwrap_or_default();
//! let answer = toolbox.call("files_read", arguments, &Call::default())?;
//! println!("{}", answer.text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

mod error;
mod file;
mod files;
pub mod history;
mod memory;
mod output;
pub mod render;
pub mod schema;
mod stale;
mod toolbox;

pub use error::ToolError;
pub use output::ToolOutput;
pub use toolbox::{
    Call, CallError, Checked, Effect, LongWork, Settings, Stale, ToolSet, ToolSpec, Toolbox,
};
