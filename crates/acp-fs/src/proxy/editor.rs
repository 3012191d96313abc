//! The editor at the other end, asked for its documents by the same two methods.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use acp_fs::wire::{READ_TEXT_FILE, WRITE_TEXT_FILE};
use acp_fs::{
    Buffers, Cancel, Change, Document, ReadTextFile, Snapshot, Taken, WriteTextFile, is_all_crlf,
    same_but_for_breaks,
};
use fs_core::{Encoding, Error, Problem, Result, Version};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tracing::warn;

use super::frame::{Frame, object};
use super::pipe::Sink;

/// How often it is looked whether the agent still wants the answer.
const GLANCE: Duration = Duration::from_millis(20);
/// How much longer a write may take than a read: somebody may be asked first.
const PATIENCE: u32 = 20;
/// How long is waited for what comes of a write that was called off: the editor may be at work on it.
const AFTERMATH: Duration = Duration::from_secs(2);
const BOM: char = '\u{FEFF}';

/// Who serves the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serve {
    /// The editor for what it has open and unsaved, with the disk as the measure; else the disk.
    Auto,
    /// The disk alone.
    Disk,
    /// The editor alone.
    Editor,
}

/// The editor, as far as it serves files itself.
pub(crate) struct Editor {
    to: Arc<Sink>,
    serve: Serve,
    timeout: Duration,
    /// What our ids begin with; nobody else can know it.
    prefix: String,
    next: AtomicU64,
    reads: AtomicBool,
    writes: AtomicBool,
    waiting: Mutex<HashMap<String, Sender<Answer>>>,
    habits: Mutex<HashMap<PathBuf, Habits>>,
    /// Why it is not known what the editor has unsaved of these.
    unclear: Mutex<HashMap<PathBuf, String>>,
    /// Told of each thread that begins to wait for the editor, with how many wait now.
    on_wait: Box<dyn Fn(usize) + Send + Sync>,
    waiters: AtomicUsize,
}

/// What an editor answered: a result as JSON, or the number and words of its error.
type Answer = std::result::Result<String, (i64, String)>;

/// How an editor shows a document whose file is otherwise.
#[derive(Debug, Clone, Copy, Default)]
struct Habits {
    /// It shows CR LF as LF.
    turns_breaks: bool,
    /// It shows the byte order mark as a character.
    shows_mark: bool,
}

/// Why there is no answer.
#[derive(Debug)]
enum Failure {
    Refused(i64, String),
    Silent(Duration),
    Gone,
    Cancelled,
}

#[derive(Deserialize)]
struct Content {
    content: String,
}

#[derive(Deserialize)]
struct Refusal {
    code: i64,
    #[serde(default)]
    message: String,
}

impl Editor {
    pub(crate) fn new(
        to: Arc<Sink>,
        serve: Serve,
        timeout: Duration,
        token: &str,
        on_wait: impl Fn(usize) + Send + Sync + 'static,
    ) -> Self {
        Self {
            to,
            serve,
            timeout,
            prefix: format!("postern-{token}-"),
            next: AtomicU64::new(0),
            reads: AtomicBool::new(false),
            writes: AtomicBool::new(false),
            waiting: Mutex::default(),
            habits: Mutex::default(),
            unclear: Mutex::default(),
            on_wait: Box::new(on_wait),
            waiters: AtomicUsize::new(0),
        }
    }

    /// Learns which of the two methods the editor serves.
    pub(crate) fn can(&self, method: &str) {
        let flag = match method {
            READ_TEXT_FILE => &self.reads,
            _ => &self.writes,
        };
        flag.store(true, Ordering::Relaxed);
    }

    /// Returns whether the editor is asked by a method.
    pub(crate) fn serves(&self, method: &str) -> bool {
        let flag = match method {
            READ_TEXT_FILE => &self.reads,
            _ => &self.writes,
        };
        self.serve != Serve::Disk && flag.load(Ordering::Relaxed)
    }

    /// Returns whether nobody serves a method: the editor alone may, and does not.
    pub(crate) fn leaves(&self, method: &str) -> bool {
        self.serve == Serve::Editor && !self.serves(method)
    }

    /// Returns the id of a response to a request of ours.
    pub(crate) fn awaits(&self, frame: &Frame<'_>) -> Option<String> {
        let id = frame.id.filter(|_| frame.method.is_none())?;
        let id = serde_json::from_str::<String>(id.get()).ok();
        id.filter(|id| id.starts_with(&self.prefix))
    }

    /// Takes the response to the request of ours that has this id.
    pub(crate) fn take(&self, id: &str, frame: &Frame<'_>) {
        let answer = match (frame.error, frame.result) {
            (Some(error), _) => Err(refusal(error)),
            (None, Some(result)) => Ok(result.get().to_owned()),
            (None, None) => Ok("null".to_owned()),
        };
        let waiter = self.waiting().remove(id);
        let heard = waiter.is_some_and(|waiter| waiter.send(answer).is_ok());
        if !heard {
            warn!("the editor answered a request that nobody waits for any more");
        }
    }

    /// Lets nobody wait for the editor any more.
    pub(crate) fn leave(&self) {
        self.waiting().clear();
    }

    /// Asks the editor and waits for its answer.
    fn ask(
        &self,
        method: &str,
        params: &impl Serialize,
        cancel: &Cancel,
        timeout: Duration,
    ) -> std::result::Result<String, Failure> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}{number}", self.prefix);
        let (tell, told) = mpsc::channel();
        self.waiting().insert(id.clone(), tell);
        let frame = serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": method, "params": params,
        });
        let sent = self.to.write(format!("{frame}\n").as_bytes());
        (self.on_wait)(self.waiters.fetch_add(1, Ordering::AcqRel) + 1);
        let answer = match sent {
            Ok(()) => self.wait(&id, method, &told, cancel, timeout),
            Err(_) => Err(Failure::Gone),
        };
        self.waiters.fetch_sub(1, Ordering::AcqRel);
        self.waiting().remove(&id);
        answer
    }

    /// Waits for an answer; one that nobody wants any more is called off, and then the editor may have
    /// done what it was asked for all the same.
    fn wait(
        &self,
        id: &str,
        method: &str,
        told: &mpsc::Receiver<Answer>,
        cancel: &Cancel,
        timeout: Duration,
    ) -> std::result::Result<String, Failure> {
        let answer = wait(told, cancel, timeout);
        if !matches!(answer, Err(Failure::Silent(_) | Failure::Cancelled)) {
            return answer;
        }
        let note = serde_json::json!({
            "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id },
        });
        let _left = self.to.write(format!("{note}\n").as_bytes());
        if method != WRITE_TEXT_FILE {
            return answer;
        }
        match told.recv_timeout(AFTERMATH) {
            Ok(Ok(result)) => Ok(result),
            _ => answer,
        }
    }

    /// Returns the text that the editor has; `None` where it has none to tell.
    fn text(&self, document: &Document<'_>) -> Result<Option<String>> {
        let params = ReadTextFile {
            session_id: document.session_id.to_owned(),
            path: document.path.to_string_lossy().into_owned(),
            line: None,
            limit: None,
        };
        self.unclear().remove(document.path);
        let failure = match self.ask(READ_TEXT_FILE, &params, document.cancel, self.timeout) {
            Ok(result) => match object::<Content>(&result) {
                Some(content) => return Ok(Some(content.content)),
                None => failed("the editor's answer has no text", Retry::No),
            },
            // It has not got the document, or cannot say anything of it.
            Err(Failure::Refused(-32601 | -32602 | -32002, _)) if self.serve == Serve::Auto => {
                return Ok(None);
            }
            Err(failure @ Failure::Refused(..)) => failure.into(),
            Err(failure) => return Err(failure.into()),
        };
        if self.serve == Serve::Editor {
            return Err(failure);
        }
        // Some editors answer in one of these ways for a file that is not there.
        if document.on_disk.is_some() {
            let path = document.path.to_owned();
            self.unclear().insert(path, failure.to_string());
        }
        Ok(None)
    }

    /// Returns whether a file is the disk's, since an editor that is asked by this protocol would save
    /// it as UTF-8, and whole.
    fn is_disks(&self, document: &Document<'_>) -> bool {
        self.serve == Serve::Auto
            && document.on_disk.is_some_and(|disk| {
                let encoding = disk.format.map(|format| format.encoding);
                encoding != Some(Encoding::UTF_8)
            })
    }

    /// Learns how the editor shows a text, and returns it as the disk would have it; `None` where
    /// the two say the same.
    fn compare(&self, document: &Document<'_>, shown: &str) -> Option<Arc<str>> {
        let on_disk = document.on_disk.and_then(|disk| disk.text.as_deref());
        let plain = shown.strip_prefix(BOM).unwrap_or(shown);
        let Some(on_disk) = on_disk else {
            // Some editors show a file that is not there as an empty one.
            return (!plain.is_empty()).then(|| plain.into());
        };
        let habits = Habits {
            turns_breaks: on_disk.contains("\r\n") && !plain.contains('\r'),
            shows_mark: plain.len() < shown.len(),
        };
        self.habits().insert(document.path.to_owned(), habits);
        // What is read as UTF-8 and is something else.
        let is_lossy =
            self.is_disks(document) && plain.contains('\u{FFFD}') && !on_disk.contains('\u{FFFD}');
        if is_lossy || same_but_for_breaks(without_last_break(plain), without_last_break(on_disk)) {
            return None;
        }
        Some(if habits.turns_breaks && is_all_crlf(on_disk) {
            plain.replace('\n', "\r\n").into()
        } else {
            plain.into()
        })
    }

    /// Returns a text in the form in which the editor shows it.
    fn shown(&self, document: &Document<'_>, text: &str) -> String {
        let habits = self.habits().get(document.path).copied();
        let habits = habits.unwrap_or_default();
        let mark = if habits.shows_mark { "\u{FEFF}" } else { "" };
        if habits.turns_breaks && is_all_crlf(text) {
            format!("{mark}{}", text.replace("\r\n", "\n"))
        } else {
            format!("{mark}{text}")
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unclear(&self) -> MutexGuard<'_, HashMap<PathBuf, String>> {
        self.unclear.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn habits(&self) -> MutexGuard<'_, HashMap<PathBuf, Habits>> {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers for Editor {
    fn snapshot(&self, document: &Document<'_>) -> Result<Option<Snapshot>> {
        let is_no_text = document.on_disk.is_some_and(|disk| disk.text.is_none());
        if !self.serves(READ_TEXT_FILE) || (is_no_text && self.serve == Serve::Auto) {
            return Ok(None);
        }
        let Some(shown) = self.text(document)? else {
            return Ok(None);
        };
        let text = match self.serve {
            Serve::Editor => Some(shown.into()),
            _ => self.compare(document, &shown),
        };
        Ok(text.map(|text: Arc<str>| Snapshot {
            version: hash(&text),
            text,
            is_dirty: true,
            disk: None,
        }))
    }

    fn reload(&self, document: &Document<'_>, _: &str, _: &Version) -> Result<Snapshot> {
        // Its documents are never told to be without changes.
        Err(Error::from(Problem::Conflict).at(document.asked))
    }

    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> Result<Taken> {
        if let Some(reason) = self.unclear().remove(document.path) {
            let message =
                format!("it is not known what is unsaved there, nothing was written: {reason}");
            return Err(failed(message, Retry::Yes));
        }
        if self.is_disks(document) && change.version.is_some() {
            let message = "the editor has unsaved changes in a file that is not UTF-8, and would \
                           save it as UTF-8: save it there first";
            return Err(failed(message, Retry::No));
        }
        if !self.writes_files(document) {
            return Ok(Taken::Declined);
        }
        let params = WriteTextFile {
            session_id: document.session_id.to_owned(),
            path: document.path.to_string_lossy().into_owned(),
            content: match self.serve {
                Serve::Editor => change.text.to_owned(),
                _ => self.shown(document, change.text),
            },
            turned_breaks: false,
        };
        let timeout = self.timeout * PATIENCE;
        match self.ask(WRITE_TEXT_FILE, &params, document.cancel, timeout) {
            Ok(_) => Ok(Taken::Kept),
            Err(Failure::Refused(-32601, _)) if self.serve == Serve::Auto => Ok(Taken::Declined),
            Err(failure) => Err(failure.into()),
        }
    }

    fn writes_files(&self, document: &Document<'_>) -> bool {
        self.serves(WRITE_TEXT_FILE) && !self.is_disks(document)
    }
}

impl fmt::Debug for Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Editor");
        shown.field("serve", &self.serve).finish_non_exhaustive()
    }
}

/// Whether the same call may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    Yes,
    No,
}

fn failed(message: impl Into<String>, retry: Retry) -> Error {
    Problem::Io {
        source: io::Error::other(message.into()),
        retry: retry == Retry::Yes,
    }
    .into()
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(-32002, _) => Problem::NotFound.into(),
            Failure::Refused(-32800, _) | Failure::Cancelled => Problem::Cancelled.into(),
            Failure::Refused(code, message) => {
                let message = fs_core::one_line(&message);
                failed(format!("the editor refused ({code}): {message}"), Retry::No)
            }
            Failure::Silent(time) => {
                let seconds = time.as_secs_f32();
                let message = format!("the editor did not answer within {seconds} s");
                failed(message, Retry::Yes)
            }
            Failure::Gone => failed("the editor is gone", Retry::No),
        }
    }
}

fn wait(
    told: &mpsc::Receiver<Answer>,
    cancel: &Cancel,
    timeout: Duration,
) -> std::result::Result<String, Failure> {
    let until = Instant::now() + timeout;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match told.recv_timeout(left.min(GLANCE)) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err((code, message))) => return Err(Failure::Refused(code, message)),
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Gone),
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                return Err(Failure::Cancelled);
            }
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                return Err(Failure::Silent(timeout));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn refusal(error: &RawValue) -> (i64, String) {
    match object::<Refusal>(error.get()) {
        Some(refusal) => (refusal.code, refusal.message),
        None => (-32603, error.get().to_owned()),
    }
}

fn without_last_break(text: &str) -> &str {
    let short = text.strip_suffix("\r\n").or(text.strip_suffix('\n'));
    short.unwrap_or(text)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
