//! The sessions between an editor and an agent: which are open, and where they work.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use acp_fs::{Buffers, FileMethods, MissingFile};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tracing::warn;

use super::frame::{Frame, id_key, object};

/// What agents are known to need that is not in the protocol, by the name that they give
/// themselves.
const QUIRKS: [(&str, MissingFile); 1] = [("gemini-cli", MissingFile::Empty)];

/// The sessions, as the frames that pass tell of them.
#[derive(Debug)]
pub(crate) struct Sessions {
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    /// Requests of the editor whose answers are of interest, by their ids.
    awaited: HashMap<String, VecDeque<Awaited>>,
    /// The sessions that are open, with their directories.
    open: HashMap<String, Vec<PathBuf>>,
    /// Those of them that the agent has named before the request that opens one was answered.
    adopted: Vec<String>,
    missing: MissingFile,
    /// Whether the operator has said what a missing file is.
    is_settled: bool,
    /// The version that the agent has agreed to.
    protocol: u64,
}

/// A request of the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Awaited {
    Initialize,
    Opens(Vec<PathBuf>),
    /// With the directories that it had before, if it was open.
    Reopens(String, Option<Vec<PathBuf>>),
    Closes(String),
}

/// What the requests that set a session up have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Setup {
    session_id: Value,
    cwd: Value,
    additional_directories: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Welcome {
    #[serde(default)]
    protocol_version: Value,
    agent_info: Option<AgentInfo>,
}

#[derive(Debug, Deserialize)]
struct AgentInfo {
    name: String,
}

impl Sessions {
    /// Returns that no session is open. `missing` is what a missing file is read as, if that does
    /// not depend on the agent.
    pub(crate) fn new(missing: Option<MissingFile>) -> Self {
        Self {
            table: Mutex::new(Table {
                awaited: HashMap::new(),
                open: HashMap::new(),
                adopted: Vec::new(),
                missing: missing.unwrap_or_default(),
                is_settled: missing.is_some(),
                protocol: 1,
            }),
        }
    }

    /// Returns the version of the protocol that the agent has agreed to.
    pub(crate) fn protocol(&self) -> u64 {
        self.table().protocol
    }

    /// Learns from a request that the editor sends to the agent; returns the directories of a
    /// session that it sets up.
    pub(crate) fn see_request<B: Buffers>(
        &self,
        frame: &Frame<'_>,
        methods: &FileMethods<B>,
    ) -> Option<Vec<PathBuf>> {
        let setup = || frame.params.and_then(parse::<Setup>).unwrap_or_default();
        let method = frame.method.as_deref()?;
        let (awaited, directories) = match method {
            "initialize" => (Awaited::Initialize, None),
            "session/new" | "session/fork" => {
                let directories = setup().directories();
                (Awaited::Opens(directories.clone()), Some(directories))
            }
            "session/load" | "session/resume" => {
                let setup = setup();
                let id = setup.session_id.as_str()?.to_owned();
                let directories = setup.directories();
                let before = self.table().open.get(&id).cloned();
                // The agent may call while it is still at work on this request.
                self.open(&id, &directories, methods);
                (Awaited::Reopens(id, before), Some(directories))
            }
            "session/close" | "session/delete" => {
                let id = setup().session_id.as_str()?.to_owned();
                (Awaited::Closes(id), None)
            }
            _ => return None,
        };
        if let Some(id) = frame.id {
            let mut table = self.table();
            let waiting = table.awaited.entry(id_key(id)).or_default();
            waiting.push_back(awaited);
        }
        directories
    }

    /// Learns from a response of the agent, before the editor gets it.
    pub(crate) fn see_response<B: Buffers>(&self, frame: &Frame<'_>, methods: &FileMethods<B>) {
        let Some(id) = frame.id else { return };
        let Some(awaited) = self.table().take(&id_key(id)) else {
            return;
        };
        let result = frame.result.filter(|_| frame.error.is_none());
        match (awaited, result) {
            (Awaited::Initialize, Some(result)) => self.see_agent(result),
            (Awaited::Opens(directories), result) => {
                let opened = result.and_then(parse::<Opened>);
                let opened = opened.map(|opened| opened.session_id);
                if let Some(id) = &opened
                    && !self.is_open(id, &directories)
                {
                    self.open(id, &directories, methods);
                }
                self.disown(opened.as_deref(), methods);
            }
            (Awaited::Closes(id), Some(_)) | (Awaited::Reopens(id, None), None) => {
                self.table().open.remove(&id);
                methods.close_session(&id);
            }
            (Awaited::Reopens(id, Some(before)), None) => self.open(&id, &before, methods),
            _ => {}
        }
    }

    /// Opens a session that the agent names before it has answered the one request that opens it.
    pub(crate) fn adopt<B: Buffers>(&self, id: &str, methods: &FileMethods<B>) {
        let table = self.table();
        let mut opening = table.awaited.values().flatten().filter_map(|awaited| {
            let Awaited::Opens(directories) = awaited else {
                return None;
            };
            Some(directories.clone())
        });
        let (first, second) = (opening.next(), opening.next());
        drop(opening);
        drop(table);
        if let (Some(directories), None) = (first, second) {
            self.open(id, &directories, methods);
            self.table().adopted.push(id.to_owned());
        }
    }

    /// Closes what was adopted for a request that has opened another session, or none.
    fn disown<B: Buffers>(&self, opened: Option<&str>, methods: &FileMethods<B>) {
        let adopted = std::mem::take(&mut self.table().adopted);
        for id in adopted.iter().filter(|id| opened != Some(id)) {
            self.table().open.remove(id);
            methods.close_session(id);
        }
    }

    /// Returns whether a session is open in these very directories: what it was served still counts.
    fn is_open(&self, id: &str, directories: &[PathBuf]) -> bool {
        self.table()
            .open
            .get(id)
            .is_some_and(|open| open == directories)
    }

    /// Opens a session; where its directories make no sense everything is outside of it.
    fn open<B: Buffers>(&self, id: &str, directories: &[PathBuf], methods: &FileMethods<B>) {
        let missing = {
            let mut table = self.table();
            table.open.insert(id.to_owned(), directories.to_vec());
            table.missing
        };
        match methods.within(directories) {
            Ok(within) if within.is_empty() => {
                warn!(
                    "session {}: none of its directories lies in a --root, so it gets no files",
                    fs_core::one_line(id)
                );
            }
            Ok(_) => {}
            Err(error) => warn!("session {}: {error}", fs_core::one_line(id)),
        }
        let opened = methods.open_session(id, directories, missing);
        if opened.is_err() {
            let _nothing_to_refuse = methods.open_session(id, &[], missing);
        }
    }

    fn see_agent(&self, result: &RawValue) {
        let Some(welcome) = parse::<Welcome>(result) else {
            return;
        };
        let mut table = self.table();
        table.protocol = welcome.protocol_version.as_u64().unwrap_or(1);
        let Some(agent) = welcome.agent_info else {
            return;
        };
        let quirk = QUIRKS.iter().find(|(name, _)| *name == agent.name);
        if let (false, Some((_, missing))) = (table.is_settled, quirk) {
            table.missing = *missing;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn take(&mut self, id: &str) -> Option<Awaited> {
        let waiting = self.awaited.get_mut(id)?;
        let first = waiting.pop_front();
        if waiting.is_empty() {
            self.awaited.remove(id);
        }
        first
    }
}

impl Setup {
    /// Returns the working directory and the additional ones; one that is no path makes them all an
    /// empty path, which no session takes.
    fn directories(&self) -> Vec<PathBuf> {
        let further = match &self.additional_directories {
            Value::Null => &[],
            Value::Array(further) => further.as_slice(),
            _ => return vec![PathBuf::new()],
        };
        let all = std::iter::once(&self.cwd).chain(further);
        all.map(|path| PathBuf::from(path.as_str().unwrap_or_default()))
            .collect()
    }
}

fn parse<'r, T: Deserialize<'r>>(raw: &'r RawValue) -> Option<T> {
    object(raw.get())
}
