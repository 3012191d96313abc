//! The gate: requests for files are put in order, answered by the library, and written down.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use acp_fs::{Cancel, FileMethods, Lanes, NullResult, Reply, Request, RpcError};
use chrono::{SecondsFormat, Utc};
use fs_sandbox::RealPlace;
use serde_json::value::RawValue;
use tracing::warn;

use super::editor::Editor;
use super::frame::{Frame, id_key};
use super::pipe::Sink;
use super::sessions::Sessions;
use crate::journal::{Journal, Record};

/// How many requests may wait, and how many bytes of them, before no more are taken in.
const MAX_WAITING: usize = 65_536;
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The most bytes that the answer to a short read has.
const ROOM: usize = 512 * 1024;
/// What takes longer is not done between frames, and for how long then nothing is.
const SLOW: Duration = Duration::from_millis(5);
const SLOW_FOR: Duration = Duration::from_secs(60);

/// The gate between an agent and the files.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) methods: FileMethods<Arc<Editor>>,
    pub(crate) to_agent: Arc<Sink>,
    null: NullResult,
    journal: Option<Journal>,
    /// What the journal calls this run.
    run: String,
    lanes: Lanes<Key, Work>,
    /// The requests under way by their ids, of which an agent may use one twice.
    running: Mutex<HashMap<String, Vec<UnderWay>>>,
    next: AtomicU64,
    editor: Arc<Editor>,
    /// When a short read last took long.
    slow_since: Mutex<Option<Instant>>,
    /// The real paths of the roots by their names.
    roots: HashMap<String, String>,
}

/// What two requests for one file share: how it is spelt, or where it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Spelt(String),
    Place(RealPlace),
}

/// A request that waits or runs.
#[derive(Debug)]
struct UnderWay {
    number: u64,
    is_read: bool,
    cancel: Cancel,
}

/// What a worker is to do.
#[derive(Debug)]
enum Work {
    Serve(Job),
    /// No file is asked for that could be.
    Refuse(Box<RawValue>, RpcError),
}

#[derive(Debug)]
struct Job {
    number: u64,
    /// The id as it was sent.
    id: Box<RawValue>,
    request: Request,
    place: Option<RealPlace>,
    cancel: Cancel,
}

impl Gate {
    pub(crate) fn new(
        methods: FileMethods<Arc<Editor>>,
        editor: Arc<Editor>,
        to_agent: Arc<Sink>,
        null: NullResult,
        run: &str,
    ) -> Self {
        let roots = methods.workspace().roots().into_iter();
        let roots = roots.map(|root| {
            let path = fs_core::escape_name(root.real_path.as_os_str());
            (root.name, path.into_owned())
        });
        let roots = roots.collect();
        let journal = methods.workspace().state_dir().and_then(|dir| {
            let opened = Journal::open(dir);
            opened
                .inspect_err(|error| warn!("no journal: {error}"))
                .ok()
        });
        Self {
            methods,
            to_agent,
            null,
            journal,
            run: run.to_owned(),
            lanes: Lanes::default(),
            running: Mutex::default(),
            next: AtomicU64::new(0),
            editor,
            slow_since: Mutex::default(),
            roots,
        }
    }

    /// Takes a frame of the agent that is for files: it is answered, or put in the queue.
    pub(crate) fn take(&self, frame: &Frame<'_>, sessions: &Sessions) {
        let Some(id) = frame.id else {
            // Nobody waits for an answer, so nobody could be told what came of it.
            warn!("the agent sent a notification for files; it is passed over");
            return;
        };
        match parse(frame).and_then(|request| self.served(request)) {
            Ok(request) => {
                if !self.methods.has_session(request.session_id()) {
                    sessions.adopt(request.session_id(), &self.methods);
                }
                match self.answered_at_once(&request) {
                    Some(result) => self.finish_with(id, &request, None, &result),
                    None => self.queue(id.to_owned(), request),
                }
            }
            // Whoever reads the agent may not wait for it to read.
            Err(error) => self
                .lanes
                .push(Vec::new(), 0, Work::Refuse(id.to_owned(), error)),
        }
    }

    /// Returns a request whose method somebody serves.
    fn served(&self, request: Request) -> Result<Request, RpcError> {
        if self.editor.leaves(request.method()) {
            return Err(RpcError::unknown_method(request.method())
                .with("hint", "the editor does not serve it, and nobody else may"));
        }
        Ok(request)
    }

    /// Stops the requests with an id; returns whether there are any.
    pub(crate) fn cancel(&self, id: &RawValue) -> bool {
        let running = self.running();
        let cancels = running.get(&id_key(id));
        for under_way in cancels.into_iter().flatten() {
            under_way.cancel.cancel();
        }
        cancels.is_some()
    }

    /// Answers requests until there are no more to come.
    pub(crate) fn work(&self) {
        while let Some(turn) = self.lanes.pop() {
            match &turn.job {
                Work::Serve(job) => self.run(job),
                Work::Refuse(id, error) => self.answer(id, Err(error)),
            }
            self.lanes.done(turn.ticket);
        }
    }

    /// Stops all reads: nobody waits for their answers any more.
    pub(crate) fn stop_reads(&self) {
        let running = self.running();
        for under_way in running.values().flatten().filter(|one| one.is_read) {
            under_way.cancel.cancel();
        }
    }

    /// Answers what is in the queue, for so long at most, and takes nothing any more.
    pub(crate) fn finish(&self, time: Duration) {
        if !self.lanes.wait_until_idle(time) {
            warn!("requests for files were still under way");
        }
        self.lanes.close();
    }

    fn queue(&self, id: Box<RawValue>, request: Request) {
        let weight = match &request {
            Request::Read(_) => 0,
            Request::Write(write) => write.content.len(),
        };
        self.lanes.wait_for_room(MAX_WAITING, MAX_BYTES);
        let place = self.methods.place_of(&request);
        let mut keys = vec![Key::Spelt(request.path().to_owned())];
        keys.extend(place.clone().map(Key::Place));
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let cancel = Cancel::default();
        let under_way = UnderWay {
            number,
            is_read: matches!(request, Request::Read(_)),
            cancel: cancel.clone(),
        };
        self.running()
            .entry(id_key(&id))
            .or_default()
            .push(under_way);
        let job = Job {
            number,
            id,
            request,
            place,
            cancel,
        };
        self.lanes.push(keys, weight, Work::Serve(job));
    }

    fn run(&self, job: &Job) {
        let result = self.methods.call(&job.request, &job.cancel);
        self.forget(job);
        self.finish_with(&job.id, &job.request, job.place.as_ref(), &result);
    }

    /// Answers a short read here and now, where nothing is before it, nobody else is asked for it,
    /// and the disk does not make others wait.
    fn answered_at_once(&self, request: &Request) -> Option<Result<Reply, RpcError>> {
        let mut slow = self
            .slow_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_slow = slow.is_some_and(|since| since.elapsed() < SLOW_FOR);
        let is_asked_elsewhere = self.editor.serves(request.method());
        // Waiting for an agent to read while it waits to write would be for ever.
        let may_block = !self.to_agent.has_room(ROOM);
        if is_slow || is_asked_elsewhere || may_block || !self.lanes.is_idle() {
            return None;
        }
        let start = Instant::now();
        let result = self.methods.call_if_quick(request);
        *slow = (start.elapsed() > SLOW).then(Instant::now);
        result
    }

    /// Writes a request down and answers it.
    fn finish_with(
        &self,
        id: &RawValue,
        request: &Request,
        place: Option<&RealPlace>,
        result: &Result<Reply, RpcError>,
    ) {
        // The next request may follow at once upon the answer.
        self.note(request, place, result);
        match result {
            Ok(reply) => self.answer(id, Ok(reply)),
            Err(error) => self.answer(id, Err(error)),
        }
    }

    fn forget(&self, job: &Job) {
        let key = id_key(&job.id);
        let mut running = self.running();
        if let Some(all) = running.get_mut(&key) {
            all.retain(|under_way| under_way.number != job.number);
            if all.is_empty() {
                running.remove(&key);
            }
        }
    }

    fn answer(&self, id: &RawValue, result: Result<&Reply, &RpcError>) {
        let id = id.get();
        let frame = match result {
            Ok(reply) => {
                let result = reply.to_json(self.null);
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n")
            }
            Err(error) => {
                let error = serde_json::to_string(error).unwrap_or_default();
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
            }
        };
        // An agent that is gone needs no answer.
        let _gone = self.to_agent.write(frame.as_bytes());
    }

    /// Writes down what was asked and what came of it.
    fn note(&self, request: &Request, place: Option<&RealPlace>, result: &Result<Reply, RpcError>) {
        let Some(journal) = &self.journal else { return };
        let mut record = Record {
            time: Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
            run: self.run.clone(),
            session: request.session_id().to_owned(),
            method: request.method().to_owned(),
            path: request.path().to_owned(),
            ..Record::default()
        };
        let place = match result {
            Ok(Reply::Text(text)) => text.place.as_ref(),
            Ok(Reply::Saved(saved)) => saved.place.as_ref(),
            Err(_) => place,
        };
        if let Some(place) = place {
            let root = place.root.as_ref().and_then(|name| self.roots.get(name));
            record.root = root.cloned();
            record.file = Some(place.path.to_string());
        }
        if record.root.is_none() {
            record.roots = self.roots.values().cloned().collect();
        }
        if let Request::Read(read) = request {
            (record.line, record.limit) = (read.line, read.limit);
        }
        record.outcome = match result {
            Ok(reply) => {
                record.note(reply);
                "ok".to_owned()
            }
            Err(error) => {
                record.entry = error.entry;
                error.stable_code().to_owned()
            }
        };
        if let Err(error) = journal.write(&record) {
            warn!("the journal lacks a line: {error}");
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Vec<UnderWay>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn note(&mut self, reply: &Reply) {
        let text = |version: &fs_core::Version| version.as_str().to_owned();
        match reply {
            Reply::Text(read) => {
                self.before = read.version.as_ref().map(text);
                self.source = Some(read.source.name().to_owned());
            }
            Reply::Saved(saved) => {
                self.before = saved.before.as_ref().map(text);
                self.after = saved.after.as_ref().map(text);
                self.entry = saved.entry;
                self.mending = saved.mending;
                self.merged = saved.is_merged;
                self.source = Some(saved.to.name().to_owned());
            }
        }
    }
}

/// Returns the request that a frame for files is.
fn parse(frame: &Frame<'_>) -> Result<Request, RpcError> {
    if frame.is_ambiguous {
        let message =
            "Invalid request: one reader would take it for another request than the next one does";
        return Err(RpcError::new(-32600, "invalid_request", message));
    }
    let method = frame.method.as_deref().unwrap_or_default();
    let params = frame.params.map_or("null", RawValue::get);
    let request = Request::parse(method, params);
    request.unwrap_or_else(|| Err(RpcError::unknown_method(method)))
}
