//! The two methods: sessions and the calls that belong to them.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use fs_core::{Cancel, Fallback, Result};
use fs_sandbox::{RealPlace, Rights, Workspace};

use crate::buffers::{Buffers, NoBuffers};
use crate::found::Call;
use crate::session::{self, MissingFile, Session};
use crate::wire::{Reply, Request, RpcError};

/// The two methods for files over a workspace and an editor's buffers.
///
/// Each session sees the part of the workspace that lies in its own directories. Calls may come from
/// several threads; who wants them in order for each file puts them through [`crate::Lanes`].
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # std::fs::write(dir.path().join("a.txt"), "one\r\ntwo\r\n").unwrap();
/// use acp_fs::{Cancel, FileMethods, MissingFile, NoBuffers, Request};
/// use fs_sandbox::{Rights, Workspace};
///
/// let rights = Rights::READ | Rights::EDIT;
/// let workspace = Workspace::builder().root("project", dir.path(), rights).build()?;
/// let methods = FileMethods::new(workspace, NoBuffers);
/// methods.open_session("s1", &[dir.path().to_owned()], MissingFile::Error)?;
///
/// let path = dir.path().join("a.txt");
/// let params = format!(r#"{{"sessionId":"s1","path":{path:?},"line":2,"limit":1}}"#);
/// let request = Request::parse("fs/read_text_file", &params).unwrap()?;
/// let reply = methods.call(&request, &Cancel::default())?;
/// assert!(reply.to_json(Default::default()).starts_with(r#"{"content":"two\r\n","#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileMethods<B = NoBuffers> {
    workspace: Workspace,
    pub(crate) buffers: B,
    pub(crate) options: FileOptions,
    sessions: RwLock<HashMap<String, Arc<Session>>>,
}

/// How files are read and written.
#[derive(Debug, Clone, Copy)]
pub struct FileOptions {
    /// What bytes are taken for that are not UTF-8; by default such a file is `not_text`.
    pub fallback: Fallback,
    /// What a window is that begins more than one line past the end.
    pub beyond_eof: BeyondEof,
    /// What a write over a text is that the session has not seen.
    pub stale: Stale,
    /// The most bytes that a text may have as JSON; 16 MiB by default.
    pub max_reply_bytes: u64,
}

/// Up to this size in bytes a read takes no longer than waking a thread.
const QUICK_BYTES: u64 = 64 * 1024;

/// What a window is that begins more than one line past the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BeyondEof {
    /// `out_of_range`, which names the last line.
    #[default]
    Error,
    /// Empty, as many editors have it.
    Empty,
}

/// What a write does over a text that is not the one that the session was served last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stale {
    /// It overwrites it.
    Allow,
    /// It is merged with it when the two changes touch different lines, else `conflict`.
    #[default]
    Merge,
    /// `conflict`.
    Reject,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            fallback: Fallback::None,
            beyond_eof: BeyondEof::default(),
            stale: Stale::default(),
            max_reply_bytes: 16 * 1024 * 1024,
        }
    }
}

impl<B> fmt::Debug for FileMethods<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FileMethods");
        shown.field("workspace", &self.workspace);
        shown
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<B: Buffers> FileMethods<B> {
    /// Returns the methods over a workspace, whose roots bound all sessions, and an editor's
    /// buffers.
    pub fn new(workspace: Workspace, buffers: B) -> Self {
        Self {
            workspace,
            buffers,
            options: FileOptions::default(),
            sessions: RwLock::default(),
        }
    }

    /// Returns the methods with these options.
    #[must_use]
    pub fn with_options(self, options: FileOptions) -> Self {
        Self { options, ..self }
    }

    /// Opens a session whose files lie in `directories`: its working directory and the additional
    /// ones. Of each only what lies in a root of the workspace counts, or the roots that lie in it;
    /// with none of them every path is outside. A session of this name that is open is replaced;
    /// what it was served is remembered.
    ///
    /// # Errors
    /// `invalid_path` for a directory that is not absolute. No session is opened then.
    pub fn open_session(
        &self,
        id: &str,
        directories: &[PathBuf],
        missing: MissingFile,
    ) -> Result<()> {
        let mut session = Session::open(&self.workspace, directories, missing)?;
        let mut sessions = self
            .sessions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = sessions.get(id) {
            session.served = Arc::clone(&open.served);
        }
        sessions.insert(id.to_owned(), Arc::new(session));
        Ok(())
    }

    /// Returns which directories a session over `directories` would have: the part of each that lies
    /// in a root of the workspace, by its real path.
    ///
    /// # Errors
    /// `invalid_path` for a directory that is not absolute.
    pub fn within(&self, directories: &[PathBuf]) -> Result<Vec<PathBuf>> {
        session::within(&self.workspace, directories)
    }

    /// Closes a session; calls under way go on.
    pub fn close_session(&self, id: &str) {
        let mut sessions = self
            .sessions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        sessions.remove(id);
    }

    /// Returns whether a session of this name is open.
    pub fn has_session(&self, id: &str) -> bool {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        sessions.contains_key(id)
    }

    /// Returns the roots that bound all sessions.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Answers a request.
    ///
    /// # Errors
    /// -32002 for a session that is not open and for a file that is not there; else as the codes of
    /// the engines are mapped: -32602 for what the caller can mend, -32603 for what the machine
    /// did, -32800 once it is cancelled.
    pub fn call(&self, request: &Request, cancel: &Cancel) -> Result<Reply, RpcError> {
        self.with_call(request, cancel, |call| match request {
            Request::Read(read) => {
                let found = self.find(call).map_err(|error| call.told(error))?;
                self.read(call, read, found).map(Reply::Text)
            }
            Request::Write(write) => self.write(call, write).map(Reply::Saved),
        })
    }

    /// Answers a request if that takes no longer than handing it to another thread: a read of a file
    /// of 64 KiB at most. `None` for any other.
    ///
    /// # Errors
    /// As [`FileMethods::call`].
    pub fn call_if_quick(&self, request: &Request) -> Option<Result<Reply, RpcError>> {
        let Request::Read(read) = request else {
            return None;
        };
        let reply = self.with_call(request, &Cancel::default(), |call| {
            let opened = call.open().map_err(|error| call.told(error))?;
            if opened
                .as_ref()
                .is_some_and(|opened| opened.size > QUICK_BYTES)
            {
                return Ok(None);
            }
            let found = self.look(call, opened).map_err(|error| call.told(error))?;
            self.read(call, read, found).map(Reply::Text).map(Some)
        });
        reply.transpose()
    }

    fn with_call<T>(
        &self,
        request: &Request,
        cancel: &Cancel,
        then: impl FnOnce(Call<'_>) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let id = request.session_id();
        let session = {
            let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
            sessions.get(id).map(Arc::clone)
        };
        let session = session.ok_or_else(|| RpcError::unknown_session(id))?;
        let asked = request.path();
        let path = session.path(asked)?;
        then(Call {
            session: &session,
            session_id: id,
            asked,
            path: &path,
            cancel,
        })
    }

    /// Returns the place of the file that a request is about, for who puts requests in order: equal
    /// for two spellings of one file, though neither it nor its directories are there yet. `None`
    /// where none can be.
    pub fn place_of(&self, request: &Request) -> Option<RealPlace> {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        let session = Arc::clone(sessions.get(request.session_id())?);
        drop(sessions);
        let path = session.path(request.path()).ok()?;
        session.workspace.place_to_be(&path, Rights::READ).ok()
    }
}
