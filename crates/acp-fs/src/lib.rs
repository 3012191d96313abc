//! Files for agents that speak the Agent Client Protocol, version 1: `fs/read_text_file` and
//! `fs/write_text_file` over a [`Workspace`](fs_sandbox::Workspace) and an editor's open documents.
//!
//! An editor (the client of the protocol) embeds [`FileMethods`] and tells it by [`Buffers`] what is
//! open. The binary beside this library is a proxy between any editor and any agent.
//!
//! # Words
//!
//! - **Session**: what the editor opened by `session/new`; its files lie in its working directory
//!   and its additional directories, as far as they lie in the workspace.
//! - **Document**: a file as an editor knows it. Its text wins over the disk.
//! - **Belief**: what a session was served of a file last, or has written to it itself. A write over
//!   anything else is merged by lines or refused ([`Stale`]).
//!
//! # Promises
//!
//! - A window is an exact part of the text: consecutive windows joined are the file, CR LF and a
//!   missing last break included. No text is ever decoded by guess or with U+FFFD.
//! - A byte order mark is not part of the text, and stays on the disk.
//! - A write is byte-exact, atomic, and becomes an entry of the history where one is kept. The
//!   answer comes after the editor has taken it.
//! - Unsaved changes are never overwritten unseen: `conflict` asks to read again.
//! - Every error has a stable code, the path as it was sent, and the next step.
//!
//! # Non-promises
//!
//! - An agent that opens files by itself is not kept from it: only what goes by these two methods
//!   is guarded.
//! - What an editor does with a text that it takes is its business, formatting included.
//!
//! # Example
//!
//! ```
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().canonicalize().unwrap().join("notes.txt");
//! # std::fs::write(&path, "one\n").unwrap();
//! use acp_fs::{Cancel, FileMethods, MemoryBuffers, MissingFile, Reply, Request};
//! use fs_sandbox::{Rights, Workspace};
//!
//! let rights = Rights::READ | Rights::EDIT;
//! let workspace = Workspace::builder().root("project", dir.path(), rights).build()?;
//! let buffers = MemoryBuffers::default();
//! buffers.edit(&path, "one, not saved yet\n");
//!
//! let methods = FileMethods::new(workspace, buffers);
//! methods.open_session("s1", &[dir.path().to_owned()], MissingFile::Error)?;
//! let params = format!(r#"{{"sessionId":"s1","path":{path:?}}}"#);
//! let request = Request::parse("fs/read_text_file", &params).unwrap()?;
//! let Reply::Text(text) = methods.call(&request, &Cancel::default())? else { unreachable!() };
//! assert_eq!(text.content, "one, not saved yet\n");
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

mod buffers;
mod found;
mod lanes;
mod memory;
mod methods;
mod read;
mod served;
mod session;
pub mod wire;
mod write;

pub use fs_core::Cancel;

pub use buffers::{Buffers, Change, Document, NoBuffers, OnDisk, Snapshot, Taken};
pub use lanes::{Lanes, Turn};
pub use memory::MemoryBuffers;
pub use methods::{BeyondEof, FileMethods, FileOptions, Stale};
pub use session::MissingFile;
pub use wire::{
    NullResult, ReadTextFile, Reply, Request, RpcError, Saved, Source, TextFile, WriteTextFile,
};
pub use write::{is_all_crlf, same_but_for_breaks};
