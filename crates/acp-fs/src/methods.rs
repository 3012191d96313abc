//! The two methods: sessions, and reading.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use fs_core::{
    Cancel, Error, ErrorKind, Fallback, FileBytes, LineRange, Problem, ReadOptions, Result, TextFormat,
    Version, Window, window_of,
};
use fs_sandbox::{Opened, RealPlace, Workspace};

use crate::buffers::{Buffers, Document, NoBuffers, OnDisk, Snapshot};
use crate::served::Belief;
use crate::session::{self, MissingFile, Session, is_missing};
use crate::wire::{ReadTextFile, Reply, Request, RpcError, Source, TextFile};

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

/// A file that a call is about: what the disk has of it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) disk: Option<OnDisk>,
    pub(crate) place: Option<RealPlace>,
    pub(crate) format: Option<TextFormat>,
    opened: Option<Opened>,
    /// Why the bytes on the disk are no text.
    trouble: Option<Error>,
}

/// A call on a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) session: &'c Session,
    pub(crate) session_id: &'c str,
    pub(crate) asked: &'c str,
    /// The path for the workspace.
    pub(crate) path: &'c str,
    pub(crate) cancel: &'c Cancel,
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
        shown.field("options", &self.options).finish_non_exhaustive()
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
    /// with none of them every path is outside. A session of this name that is open is replaced,
    /// and what it was served is forgotten.
    ///
    /// # Errors
    /// `invalid_path` for a directory that is not absolute. No session is opened then.
    pub fn open_session(
        &self,
        id: &str,
        directories: &[PathBuf],
        missing: MissingFile,
    ) -> Result<()> {
        let session = Session::open(&self.workspace, directories, missing)?;
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
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
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
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
            Request::Write(write) => {
                let saved = self.write(call, &write.content);
                saved.map(Reply::Saved).map_err(|error| call.told(error))
            }
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
            let opened = self.open(call).map_err(|error| call.told(error))?;
            if opened.as_ref().is_some_and(|opened| opened.size > QUICK_BYTES) {
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
    /// for two spellings of one file. `None` when it leads nowhere yet.
    pub fn place_of(&self, request: &Request) -> Option<RealPlace> {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        let session = Arc::clone(sessions.get(request.session_id())?);
        drop(sessions);
        let path = session.path(request.path()).ok()?;
        let follow = fs_sandbox::Links::Follow;
        session.workspace.place_of(&path, follow).ok()
    }

    fn read(
        &self,
        call: Call<'_>,
        request: &ReadTextFile,
        found: Found,
    ) -> Result<TextFile, RpcError> {
        let line = u64::from(request.line.unwrap_or(1).max(1));
        let range = LineRange::From {
            line,
            column: 1,
            limit: request.limit.map(u64::from),
        };
        let options = ReadOptions {
            range,
            fallback: self.options.fallback,
            max_bytes: Some(self.options.max_reply_bytes),
            cancel: call.cancel.clone(),
            ..ReadOptions::default()
        };
        let (window, source) = self
            .window(call, &found, &options)
            .map_err(|error| call.told(error))?;
        self.check_size(&window)
            .and_then(|()| self.check_start(&window, line))
            .map_err(|error| {
                let rpc = call.told(error);
                match window.total_lines {
                    Some(total) => rpc.with("total_lines", total),
                    None => rpc,
                }
            })?;
        Ok(TextFile {
            content: window.text,
            first_line: window.first_line,
            returned_lines: window.returned_lines,
            total_lines: window.total_lines,
            format: found.format,
            version: found.disk.map(|disk| disk.version),
            source,
            place: found.place,
        })
    }

    /// Returns what is wanted of the text, and where it was.
    fn window(
        &self,
        call: Call<'_>,
        found: &Found,
        options: &ReadOptions,
    ) -> Result<(Window, Source)> {
        if let Some(snapshot) = self.snapshot(call, found)? {
            self.serve(call, found, Some(&snapshot.text));
            return Ok((window_of(&snapshot.text, options)?, Source::Buffer));
        }
        let window = match (&found.disk, &found.trouble, &found.opened) {
            (_, Some(_), Some(opened)) => call.session.workspace.read_opened(opened, options)?,
            (Some(OnDisk { text: Some(text), .. }), ..) => {
                self.serve(call, found, Some(text));
                window_of(text, options)?
            }
            (Some(disk), _, Some(opened)) => {
                self.check_whole(disk, options)?;
                self.serve(call, found, None);
                call.session.workspace.read_opened(opened, options)?
            }
            _ if call.session.missing == MissingFile::Empty => window_of("", options)?,
            _ => return Err(Problem::NotFound.into()),
        };
        Ok((window, Source::Disk))
    }

    /// Returns the document as the editor has it, with what the disk has if the editor had not
    /// changed it.
    ///
    /// # Errors
    /// Those of the editor.
    pub(crate) fn snapshot(&self, call: Call<'_>, found: &Found) -> Result<Option<Snapshot>> {
        call.with_document(found, |document| {
            let Some(snapshot) = self.buffers.snapshot(document)? else {
                return Ok(None);
            };
            let disk = found.disk.as_ref().filter(|_| !snapshot.is_dirty);
            let changed = disk.filter(|disk| snapshot.disk.as_ref() != Some(&disk.version));
            match changed.and_then(|disk| Some((disk.text.as_ref()?, &disk.version))) {
                Some((text, version)) => {
                    let reloaded = self.buffers.reload(document, text, version)?;
                    Ok(Some(reloaded))
                }
                None => Ok(Some(snapshot)),
            }
        })
    }

    /// Returns what the disk has of the file.
    ///
    /// # Errors
    /// Those of [`Workspace::open`], except that nothing may be there; `cancelled`, `io`.
    pub(crate) fn find(&self, call: Call<'_>) -> Result<Found> {
        let opened = self.open(call)?;
        self.look(call, opened)
    }

    /// Opens the file; `None` when nothing is there.
    fn open(&self, call: Call<'_>) -> Result<Option<Opened>> {
        match call.session.workspace.open(call.path) {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn look(&self, call: Call<'_>, opened: Option<Opened>) -> Result<Found> {
        let Some(opened) = opened else {
            return Ok(Found::nothing(call));
        };
        let mut version = None;
        let mut text = None;
        let mut format = None;
        let mut trouble = None;
        if opened.size <= Version::STRONG_BYTES {
            let options = ReadOptions {
                fallback: self.options.fallback,
                cancel: call.cancel.clone(),
                ..ReadOptions::default()
            };
            match call.session.workspace.read_opened(&opened, &options) {
                Ok(window) => {
                    format = Some(window.format);
                    version = Some(window.version);
                    text = Some(window.text.into());
                }
                Err(error) if is_no_text(&error) => trouble = Some(error),
                Err(error) => return Err(error),
            }
        }
        let version = match (version, &trouble) {
            (Some(version), _) => version,
            // Up to this size a version is made of the bytes, whatever they are.
            (None, Some(_)) => {
                let bytes = FileBytes::read(&opened.file, 0, Version::STRONG_BYTES)?;
                Version::of_bytes(&bytes)
            }
            (None, None) => Version::of_handle(&opened.file)?,
        };
        Ok(Found {
            disk: Some(OnDisk {
                size: opened.size,
                text,
                version,
            }),
            place: Some(opened.place()),
            format,
            opened: Some(opened),
            trouble,
        })
    }

    /// Remembers what the session knows of the file from now on.
    fn serve(&self, call: Call<'_>, found: &Found, text: Option<&Arc<str>>) {
        let Some(place) = &found.place else { return };
        let disk = found.disk.as_ref();
        let is_disks = disk.is_some_and(|disk| match (&disk.text, text) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
            _ => text.is_none(),
        });
        let version = disk.filter(|_| is_disks).map(|disk| disk.version.clone());
        let text = text.map(Arc::clone);
        call.session
            .served
            .remember(place.clone(), Belief { text, version });
    }

    /// Checks that a file that is wanted as a whole can be answered, before its content is looked
    /// at. UTF-16 has at most twice as many bytes as its text.
    fn check_whole(&self, disk: &OnDisk, options: &ReadOptions) -> Result<()> {
        let is_whole = matches!(
            options.range,
            LineRange::From {
                line: 1,
                limit: None,
                ..
            }
        );
        if is_whole && disk.size / 2 > self.options.max_reply_bytes {
            return Err(self.too_large(disk.size));
        }
        Ok(())
    }

    fn check_size(&self, window: &Window) -> Result<()> {
        if window.truncated {
            return Err(self.too_large(window.size));
        }
        let encoded = encoded_bytes(&window.text);
        if encoded > self.options.max_reply_bytes {
            return Err(self.too_large(encoded));
        }
        Ok(())
    }

    fn too_large(&self, size: u64) -> Error {
        Problem::TooLarge {
            size,
            limit: self.options.max_reply_bytes,
            hint: "read fewer lines at once, by `line` and `limit`",
        }
        .into()
    }

    fn check_start(&self, window: &Window, line: u64) -> Result<()> {
        let total = window.total_lines.unwrap_or(u64::MAX - 1);
        if line <= total + 1 || self.options.beyond_eof == BeyondEof::Empty {
            return Ok(());
        }
        let bound = match total {
            1 => "the last line is 1".to_owned(),
            0 => "the file is empty".to_owned(),
            total => format!("the last line is {total}"),
        };
        Err(Problem::OutOfRange {
            what: "line",
            value: line,
            last: total,
            bound,
        }
        .into())
    }
}

impl Found {
    /// Returns that nothing is there.
    fn nothing(call: Call<'_>) -> Self {
        let follow = fs_sandbox::Links::Follow;
        Self {
            disk: None,
            place: call.session.workspace.place_of(call.path, follow).ok(),
            format: None,
            opened: None,
            trouble: None,
        }
    }
}

impl Call<'_> {
    /// Returns the error as the agent may have it: with the path that it sent.
    pub(crate) fn told(&self, error: Error) -> RpcError {
        error.spelt(self.asked).into()
    }

    /// Hands the document to an editor.
    pub(crate) fn with_document<T>(
        &self,
        found: &Found,
        then: impl FnOnce(&Document<'_>) -> T,
    ) -> T {
        let path = match &found.place {
            Some(place) => self.session.spelled(place),
            None => PathBuf::from(self.asked),
        };
        then(&Document {
            session_id: self.session_id,
            asked: self.asked,
            path: &path,
            on_disk: found.disk.as_ref(),
            cancel: self.cancel,
        })
    }
}

fn is_no_text(error: &Error) -> bool {
    use ErrorKind::{BinaryFile, EncodingMismatch, NotText};
    matches!(error.kind(), BinaryFile | EncodingMismatch | NotText)
}

/// Returns how many bytes a text has as JSON, without its quotes.
fn encoded_bytes(text: &str) -> u64 {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..32 => 5,
        _ => 0,
    };
    let escapes: u64 = text.bytes().map(more).sum();
    escapes + text.len() as u64
}
