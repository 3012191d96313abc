//! The wire of protocol version 1: what an agent asks for, what it is answered, and errors.
//!
//! Source: the JSON schema of version 1 and the protocol's pages on the file system, errors and
//! cancellation.

mod params;

use std::fmt;

use fs_core::{Error, ErrorKind, Field, Problem, TextFormat, Version};
use fs_sandbox::RealPlace;
use serde::Serialize;
use serde_json::{Map, Value};

use params::Params;

/// The method that reads a file.
pub const READ_TEXT_FILE: &str = "fs/read_text_file";
/// The method that writes a file.
pub const WRITE_TEXT_FILE: &str = "fs/write_text_file";

/// The key of `_meta` under which an answer says more than the protocol has words for.
const FACTS: &str = "postern/facts";

/// A request for a text file, or a window of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadTextFile {
    /// The session it belongs to.
    pub session_id: String,
    /// The file's absolute path.
    pub path: String,
    /// The first line, counted from 1; 0 is taken for 1, `None` for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How many lines at most, 0 for none; `None` for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A request to write a whole text file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteTextFile {
    /// The session it belongs to.
    pub session_id: String,
    /// The file's absolute path.
    pub path: String,
    /// All of its text.
    pub content: String,
    /// Whether the agent has turned the file's CR LF into LF, and says so: some do, in `_meta`, and
    /// leave it to the editor to turn them back.
    #[serde(skip)]
    pub turned_breaks: bool,
}

/// A request for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `fs/read_text_file`.
    Read(ReadTextFile),
    /// `fs/write_text_file`.
    Write(WriteTextFile),
}

/// What a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Text of a file.
    Text(TextFile),
    /// The file has its new text.
    Saved(Saved),
}

/// Text of a file, with what else is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Whole lines with their breaks, without byte order mark: an exact part of the file.
    pub content: String,
    /// The number of the first line; `None` when no line is returned.
    pub first_line: Option<u64>,
    /// How many lines `content` holds.
    pub returned_lines: u64,
    /// The number of lines of the whole text; `None` when a large file was not read to its end.
    pub total_lines: Option<u64>,
    /// The format of the file on the disk; `None` where none is there.
    pub format: Option<TextFormat>,
    /// The version of the file on the disk; `None` where none is there.
    pub version: Option<Version>,
    /// Where the text comes from.
    pub source: Source,
    /// Where the file is; `None` where it leads nowhere. It is not for answers.
    pub place: Option<RealPlace>,
}

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In the file on the disk.
    Disk,
    /// In an editor, which may not have saved it.
    Buffer,
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// What the file was before; `None` when it is new.
    pub before: Option<Version>,
    /// What it is on the disk now; `None` while only an editor has the text.
    pub after: Option<Version>,
    /// Where the text went.
    pub to: Source,
    /// Whether it was merged with what somebody else had written since the session read the file.
    pub is_merged: bool,
    /// The number of the change in the history.
    pub entry: Option<u64>,
    /// The number of the change that gave back what an editor had lost on the disk: line breaks, or
    /// the byte order mark.
    pub mending: Option<u64>,
    /// How many other names of the file have kept what it held before.
    pub parted_links: u64,
    /// What was done but could not be made sure.
    pub warnings: Vec<String>,
    /// Where the file is. It is not for answers.
    pub place: Option<RealPlace>,
}

/// What a success of a write is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullResult {
    /// `{}`, as the schema says.
    #[default]
    No,
    /// `null`, as older pages of the protocol show it.
    Yes,
}

/// An error of JSON-RPC: `{code, message, data: {code, path?, hint?, …}}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RpcError {
    /// The number that the protocol has for it.
    pub code: i32,
    /// What happened, in words that stand alone.
    pub message: String,
    /// The stable code, the path as it was sent, the next step, and the numbers of the problem.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    /// The number that the history has of a change that was made all the same. It is not for answers.
    #[serde(skip)]
    pub entry: Option<u64>,
}

impl Request {
    /// Returns the request that a method and its parameters are; `None` for a method that is not
    /// one of the two.
    ///
    /// Unknown fields and `_meta` are passed over. A number without a fraction is a whole number,
    /// however it is spelt.
    ///
    /// # Errors
    /// `invalid_argument` (-32602) that names the field: missing, of another type, or out of range.
    pub fn parse(method: &str, params: &str) -> Option<Result<Self, RpcError>> {
        match method {
            READ_TEXT_FILE => Some(Params::parse(params).and_then(Params::into_read)),
            WRITE_TEXT_FILE => Some(Params::parse(params).and_then(Params::into_write)),
            _ => None,
        }
    }

    /// Returns the session that the request belongs to.
    pub fn session_id(&self) -> &str {
        match self {
            Self::Read(read) => &read.session_id,
            Self::Write(write) => &write.session_id,
        }
    }

    /// Returns the path as it was sent.
    pub fn path(&self) -> &str {
        match self {
            Self::Read(read) => &read.path,
            Self::Write(write) => &write.path,
        }
    }

    /// Returns the name of the method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Read(_) => READ_TEXT_FILE,
            Self::Write(_) => WRITE_TEXT_FILE,
        }
    }
}

impl Reply {
    /// Returns the `result` of the response as JSON.
    pub fn to_json(&self, null: NullResult) -> String {
        let spelt = match self {
            Self::Text(text) => serde_json::to_string(&Content::of(text)),
            Self::Saved(_) if null == NullResult::Yes => return "null".to_owned(),
            Self::Saved(saved) => match saved.facts() {
                facts if facts.is_empty() => return "{}".to_owned(),
                facts => serde_json::to_string(&Meta::of(facts)),
            },
        };
        // Maps with text keys and texts always have a form in JSON.
        spelt.unwrap_or_else(|_| "{}".to_owned())
    }
}

#[derive(Serialize)]
struct Content<'t> {
    content: &'t str,
    #[serde(flatten)]
    meta: Meta,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
}

impl Meta {
    fn of(facts: Map<String, Value>) -> Self {
        let meta = Map::from_iter([(FACTS.to_owned(), facts.into())]);
        Self { meta }
    }
}

impl<'t> Content<'t> {
    fn of(text: &'t TextFile) -> Self {
        Self {
            content: &text.content,
            meta: Meta::of(text.facts()),
        }
    }
}

impl TextFile {
    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        let mut put = |name: &str, value: Value| facts.insert(name.to_owned(), value);
        put("first_line", self.first_line.into());
        put("returned_lines", self.returned_lines.into());
        put("total_lines", self.total_lines.into());
        if let Some(format) = self.format {
            put("encoding", format.encoding.name().into());
            put("bom", format.bom.into());
            put("eol", format.eol.name().into());
        }
        if let Some(version) = &self.version {
            put("version", version.as_str().into());
        }
        put("source", self.source.name().into());
        facts
    }
}

impl Saved {
    /// Returns what is not plain from a success; nothing for most.
    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        if self.is_merged {
            facts.insert("merged".to_owned(), true.into());
        }
        if self.parted_links > 0 {
            facts.insert("parted_links".to_owned(), self.parted_links.into());
        }
        if !self.warnings.is_empty() {
            facts.insert("warnings".to_owned(), self.warnings.clone().into());
        }
        facts
    }
}

impl Source {
    /// Returns `disk` or `buffer`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Buffer => "buffer",
        }
    }
}

impl RpcError {
    /// Returns an error with this number and a stable code in its data.
    pub fn new(code: i32, stable: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Map::from_iter([("code".to_owned(), stable.into())]),
            entry: None,
        }
    }

    /// Returns the error with one more datum.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the error with the fact that the file was changed all the same, as which entry of the
    /// history.
    pub(crate) fn after_change(self, entry: Option<u64>) -> Self {
        let message = format!("{}; the file has been changed all the same", self.message);
        Self {
            message,
            entry,
            ..self.with("changed", true)
        }
    }

    /// Returns `-32602` for a field.
    pub fn invalid(field: &str, reason: impl fmt::Display) -> Self {
        let message = format!("invalid {field}: {reason}");
        Self::new(-32602, ErrorKind::InvalidArgument.code(), message).with("field", field)
    }

    /// Returns `-32002` for a session that nobody has opened, or that is closed.
    pub fn unknown_session(id: &str) -> Self {
        let shown = fs_core::one_line(id);
        let message = format!("Session not found: {}", cut(&shown));
        Self::new(-32002, ErrorKind::NotFound.code(), message)
            .with("sessionId", id)
            .with("hint", "use a session that is open: session/new opens one")
    }

    /// Returns `-32601` for a method of this name.
    pub fn unknown_method(method: &str) -> Self {
        let message = format!("Method not found: {}", cut(&fs_core::one_line(method)));
        let hint = format!("the methods for files are {READ_TEXT_FILE} and {WRITE_TEXT_FILE}");
        Self::new(-32601, "unknown_method", message).with("hint", hint)
    }

    /// Returns the stable code.
    pub fn stable_code(&self) -> &str {
        let code = self.data.get("code").and_then(Value::as_str);
        code.unwrap_or("unknown")
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let hint = hint(&error);
        let message = match (error.problem(), error.path(), &hint) {
            // Not the system's words but ours, of an editor.
            (Problem::Io { source, .. }, Some(path), _) if source.get_ref().is_some() => {
                format!("{source}: {}", fs_core::one_line(path))
            }
            // Agents look for these words to tell a new file from a failure.
            (Problem::NotFound, Some(path), _) => {
                let path = fs_core::one_line(path);
                format!("Resource not found: {path} (ENOENT: no such file or directory)")
            }
            // Most agents show their model the message alone.
            (_, _, Some(hint)) => format!("{error}; {hint}"),
            _ => error.to_string(),
        };
        let mut rpc = Self::new(number(error.kind()), error.code(), message);
        if let Some(path) = error.path() {
            rpc = rpc.with("path", path);
        }
        if let Some(hint) = hint {
            rpc = rpc.with("hint", hint);
        }
        let fields = error.fields().into_iter();
        fields.fold(rpc, |rpc, (name, field)| rpc.with(name, value(field)))
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stable_code(), self.message)
    }
}

impl std::error::Error for RpcError {}

/// Returns the number that the protocol has for a kind of problem.
fn number(kind: ErrorKind) -> i32 {
    match kind {
        ErrorKind::NotFound => -32002,
        ErrorKind::Cancelled => -32800,
        ErrorKind::PermissionDenied | ErrorKind::BackupFailed | ErrorKind::Io => -32603,
        _ => -32602,
    }
}

/// Returns the next step in the words of this protocol, which has no parameter for an encoding.
fn hint(error: &Error) -> Option<String> {
    let text = match error.kind() {
        ErrorKind::NotFound => "check the path, or write the file to create it",
        ErrorKind::InvalidPath => "send a plain absolute path of this system",
        ErrorKind::OutsideSandbox => "use a path below the directories of the session",
        ErrorKind::NotText | ErrorKind::BinaryFile | ErrorKind::EncodingUnknown => {
            "have the operator name the encoding by --fallback-encoding, or leave the file alone"
        }
        ErrorKind::IsADirectory => "name a file in it",
        ErrorKind::NotADirectory => "check the path",
        ErrorKind::HardLink => "use another name",
        ErrorKind::Unencodable => "leave out what the file's encoding has no form for",
        ErrorKind::OutOfRange => "read fewer lines, or from a line that is there",
        _ => return error.hint(),
    };
    Some(text.to_owned())
}

fn value(field: Field) -> Value {
    match field {
        Field::Number(number) => number.into(),
        Field::Numbers(numbers) => numbers.into(),
        Field::Text(text) => text.into(),
        Field::Flag(flag) => flag.into(),
        _ => Value::Null,
    }
}

/// Returns the beginning of a text that may be long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
