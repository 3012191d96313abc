//! Workspace: the only place where a path becomes a handle.
//!
//! A [`Workspace`] is a few directories (roots) that somebody may work in who is not trusted with
//! the rest of the disk: an agent, a plugin, an editor's peer. It takes paths as that somebody
//! writes them, finds out where they really lead, checks what may be done there, and hands out open
//! files or does the operation. It is synchronous, says nothing on its own and reads no
//! environment.
//!
//! # Words
//!
//! - **Root**: a directory that was opened once, with a name, [`Rights`] and two spellings of its
//!   path, as configured and real. Later changes of its name do not matter.
//! - **Rights**: read, edit, delete. [`needed`] says which an operation needs.
//! - **Outside**: all that lies in no root. It has rights of its own, none by default.
//! - **Deny rules**: globs of names that do not exist for callers, or that are only read.
//!
//! # Whom this keeps out
//!
//! The caller chooses every path and every content, and may be fooled by what it reads. It may know
//! the disk's layout and have made links, if something lets it. Other processes rename and replace
//! files below the roots at any time, also on its behalf. Who operates the program, who may write
//! to a root's parent directories, and the kernel are trusted. So:
//!
//! 1. `..`, absolute paths, other spellings, links and chains of links get nowhere outside.
//! 2. A directory or file that is swapped for a link during a call changes nothing of that.
//! 3. FIFOs, sockets and devices are never waited for and never read.
//! 4. `/proc`, `/sys`, `/dev` and file systems like them are nobody's, even below a root `/`.
//! 5. A link cannot rename a file for the deny rules, nor can case or another normal form.
//!
//! # Promises
//!
//! - Nothing outside the roots is read, changed, created or told of; an error is the same whether
//!   something is there or not. No answer holds a path that the caller did not send.
//! - Links are followed while they stay inside. A link into another root gets that root's rights;
//!   of roots within roots the innermost decides alone.
//! - `..` means what the disk says, never what the text says: `a/../b` needs a directory `a`.
//! - The same answers where the kernel has no `openat2`, only slower.
//! - Memory and open handles do not grow with the depth of a path.
//!
//! # What it does not promise
//!
//! - A mount in a root is part of the root, unless
//!   [`one_filesystem`](WorkspaceBuilder::one_filesystem) is on.
//! - A hard link in a root is a file in the root, whatever other names it has.
//! - A directory that somebody moves out of a root while a call holds it is still written to.
//! - Deny rules go by names: a copy of the content under another name is another file.
//! - It does not limit how often or how much is asked. [`confine()`] adds the kernel's wall, where
//!   there is one.
//!
//! # Example
//!
//! ```
//! # let dir = tempfile::tempdir().unwrap();
//! # std::fs::write(dir.path().join("notes.txt"), "one\ntwo\n").unwrap();
//! # std::fs::write(dir.path().join(".env"), "KEY=1\n").unwrap();
//! use fs_core::{LineRange, ReadOptions};
//! use fs_sandbox::{Rights, SECRETS, Workspace};
//!
//! let mut builder = Workspace::builder().root("notes", dir.path(), Rights::READ);
//! for glob in SECRETS {
//!     builder = builder.deny(glob);
//! }
//! let workspace = builder.build()?;
//!
//! let last = ReadOptions {
//!     range: LineRange::Tail { count: 1 },
//!     ..ReadOptions::default()
//! };
//! assert_eq!(workspace.read("notes.txt", &last)?.text, "two\n");
//! assert_eq!(workspace.open(".env").unwrap_err().code(), "denied_by_policy");
//! assert_eq!(workspace.remove_file("notes.txt").unwrap_err().code(), "denied_by_policy");
//! assert_eq!(workspace.open("/etc/passwd").unwrap_err().code(), "outside_sandbox");
//! # Ok::<(), fs_core::Error>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

#[cfg(not(target_os = "linux"))]
compile_error!("the resolver needs Linux so far");

mod confine;
mod history;
mod lock;
mod metadata;
mod policy;
mod remove;
mod replace;
mod resolve;
mod rights;
mod search;
mod transfer;
mod workspace;
mod write;

pub use confine::{Confinement, confine};
pub use history::{
    HistoryEntry, HistoryFile, HistoryLimits, HistoryName, HistorySide, HistoryStatus, Restoration,
    UndoOptions, Undone, Witnessed,
};
pub use metadata::Metadata;
pub use policy::{AGENT_CONFIG, GIT_INTERNALS, SECRETS};
pub use remove::{RemoveOptions, Removed};
pub use rights::{OpenFlags, Operation, Rights, needed};
pub use search::Searched;
pub use transfer::{TransferOptions, Transferred};
pub use workspace::{
    CreateDirOptions, Links, Opened, RealPlace, RootInfo, Workspace, WorkspaceBuilder,
};
pub use write::{
    Backup, Breaks, Change, Durability, HardLinks, Source, UpdateOptions, WriteMode, WriteOptions,
    Written,
};
