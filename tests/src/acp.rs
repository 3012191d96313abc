//! The proxy of the Agent Client Protocol, as an agent behind it sees it.

mod stage;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

pub use stage::{Agent, Meeting, SESSION, Stage, command};

use crate::front_end::{
    Answer, Done, FrontEnd, Mode, Op, Range, Read, Refusal, Root, Settings, Write,
};
use crate::mcp::{parse, put, put_some};

/// The session in which everything is read.
pub const READER: &str = "reader";
/// No editor that is asked; and files change behind the proxy's back in most cases.
pub const PLAIN: [&str; 4] = ["--serve", "disk", "--stale", "allow"];
/// Why a protocol of two methods lacks all others.
const TWO: &str = "the protocol reads and writes whole texts, and nothing else";

/// A running proxy, and the editor and the agent at its ends.
#[derive(Debug)]
pub struct Acp {
    /// The proxy and its ends.
    pub stage: Stage,
    roots: Vec<Root>,
    /// What each run of the command is told of roots and state.
    place: Vec<String>,
    /// Where its state is, when that goes with it.
    state: Option<TempDir>,
    writers: Mutex<Writers>,
}

/// The sessions that have written: each of them once, so that each change can be taken back alone.
#[derive(Debug, Default)]
struct Writers {
    count: usize,
    /// What was written, as it was sent, and the session.
    all: Vec<(String, String)>,
}

impl Acp {
    /// Starts it with further arguments and a state of its own.
    pub fn start_with(settings: &Settings, further: &[&str]) -> Self {
        let state = TempDir::with_prefix("postern-state-").unwrap();
        let mut acp = Self::start_in(state.path(), settings, further);
        acp.state = Some(state);
        acp
    }

    /// Starts it with further arguments on a state that others may have, too.
    pub fn start_in(state: &Path, settings: &Settings, further: &[&str]) -> Self {
        let place = place(settings, state);
        let further = further.iter().map(|word| (*word).to_owned());
        let arguments: Vec<String> = place
            .iter()
            .cloned()
            .chain(arguments(settings))
            .chain(further)
            .collect();
        let acp = Self {
            stage: Stage::with(&arguments),
            roots: settings.roots.clone(),
            place,
            state: None,
            writers: Mutex::default(),
        };
        acp.stage.greet(&json!({}));
        acp.open(READER);
        acp
    }

    /// Returns the absolute path that a path with or without a root's name stands for; each `..` and
    /// each slash stays. What has nothing in it stays so.
    pub fn absolute(&self, path: &str) -> String {
        let named = path.split_once(':').and_then(|(name, rest)| {
            let root = self.roots.iter().find(|root| root.name == name)?;
            Some((root, rest))
        });
        match named {
            _ if path.is_empty() || path.starts_with('/') => path.to_owned(),
            Some((root, rest)) => format!("{}/{rest}", root.path.display()),
            None => format!("{}/{path}", self.roots[0].path.display()),
        }
    }

    /// Makes a request for a file in the session that reads.
    #[track_caller]
    pub fn request(&self, method: &str, path: &str, more: Map<String, Value>) -> Answer {
        self.request_in(READER, method, path, more)
    }

    #[track_caller]
    fn request_in(
        &self,
        session: &str,
        method: &str,
        path: &str,
        more: Map<String, Value>,
    ) -> Answer {
        let sent = self.absolute(path);
        let mut params = Map::new();
        put(&mut params, "sessionId", session);
        put(&mut params, "path", sent.clone());
        params.extend(more);
        let raw = self.stage.call(method, &params.into());
        answer(&respelt(&raw, &sent, path))
    }

    fn open(&self, session: &str) {
        let directories = self.roots.iter().map(|root| root.path.to_str().unwrap());
        self.stage.open(session, &directories.collect::<Vec<_>>());
    }

    fn read_lines(&self, read: &Read) -> Answer {
        let mut more = Map::new();
        let mut first = 1;
        if let Range::From { line, limit, .. } = read.range {
            put(&mut more, "line", line);
            put_some(&mut more, "limit", limit);
            first = line;
        }
        let mut answer = self.request("fs/read_text_file", &read.path, more);
        if let Ok(done) = &mut answer.result {
            done.tell_the_end(first);
        }
        answer
    }

    fn write_whole(&self, write: &Write) -> Answer {
        let session = {
            let mut writers = self.writers.lock().unwrap();
            writers.count += 1;
            let session = format!("writer-{}", writers.count);
            self.open(&session);
            session
        };
        let content = Map::from_iter([("content".to_owned(), write.text.clone().into())]);
        let answer = self.request_in(&session, "fs/write_text_file", &write.path, content);
        let mut writers = self.writers.lock().unwrap();
        self.stage.close(&session);
        if answer.result.is_ok() {
            let sent = self.absolute(&write.path);
            writers.all.push((sent, session));
        }
        answer
    }

    /// Takes back what the last session did that has changed the file.
    fn undo(&self, path: &str) -> Answer {
        let sent = self.absolute(path);
        let mut writers = self.writers.lock().unwrap();
        loop {
            let last = writers.all.iter().rposition(|(path, _)| *path == sent);
            let session = last.map_or(READER, |last| writers.all[last].1.as_str());
            let said = self.run(["undo", "--session", session, &sent]);
            let is_nothing = said.status.success()
                && (said.stdout.is_empty() || contains(&said.stdout, "nothing left"))
                || contains(&said.stderr, "the session did not change");
            let answer = undone(&said, &sent, path);
            match last {
                Some(last) if is_nothing => drop(writers.all.remove(last)),
                Some(last) if answer.result.is_ok() => {
                    writers.all.remove(last);
                    return answer;
                }
                _ => return answer,
            }
        }
    }

    /// Runs the command with the same roots and state.
    pub fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Output {
        let mut command = command();
        command.args(words).args(&self.place);
        command.output().expect("the command runs")
    }
}

impl FrontEnd for Acp {
    const NAME: &'static str = "acp";

    fn start(settings: &Settings) -> Self {
        Self::start_with(settings, &PLAIN)
    }

    fn lacks(op: &Op) -> Option<&'static str> {
        match op {
            Op::Read(read) => read_lacks(read),
            Op::Write(write) => write_lacks(write),
            Op::Undo(_) => None,
            _ => Some(TWO),
        }
    }

    fn lacks_settings(settings: &Settings) -> Option<&'static str> {
        let edits = |root: &Root| root.rights.iter().any(|right| right == "edit");
        let is_read_only = !settings.roots.iter().any(edits);
        match settings.hard_links.as_deref() {
            _ if !settings.outside.is_empty() => Some("acp-fs gives no rights outside its roots"),
            _ if settings.one_filesystem => Some("acp-fs crosses into other file systems"),
            _ if !is_read_only && !settings.roots.iter().all(edits) => {
                Some("acp-fs has one set of rights")
            }
            None | Some("break") => None,
            Some(_) => Some("acp-fs breaks hard links"),
        }
    }

    #[track_caller]
    fn call(&self, op: &Op) -> Answer {
        match op {
            Op::Read(read) => self.read_lines(read),
            Op::Write(write) => self.write_whole(write),
            Op::Undo(path) => self.undo(path),
            other => panic!("the protocol has no {other:?}"),
        }
    }

    fn peak_memory(&self) -> Option<u64> {
        Some(self.stage.editor.status_kib("VmHWM") * 1024)
    }
}

impl Done {
    /// Adds what a client can tell from the numbers of a window that was asked for from a line on:
    /// whether it is the last one, and where the next one begins.
    fn tell_the_end(&mut self, line: u64) {
        let number = |name: &str| self.facts[name].as_u64();
        let next = line + number("returned_lines").unwrap_or_default();
        let eof = number("total_lines").is_some_and(|total| next > total);
        self.facts["eof"] = eof.into();
        if !eof {
            self.facts["next"] = json!({"line": next, "column": 1});
        }
    }
}

fn place(settings: &Settings, state: &Path) -> Vec<String> {
    let mut place = vec!["--state".to_owned(), state.display().to_string()];
    for root in &settings.roots {
        place.extend(["--root".to_owned(), root.path.display().to_string()]);
    }
    place
}

fn arguments(settings: &Settings) -> Vec<String> {
    let fallback = settings.fallback.as_deref().unwrap_or("auto");
    let mut all = vec!["--fallback-encoding".to_owned(), fallback.to_owned()];
    for glob in &settings.deny {
        all.extend(["--deny".to_owned(), glob.clone()]);
    }
    let edits = |root: &Root| root.rights.iter().any(|right| right == "edit");
    all.extend((!settings.roots.iter().any(edits)).then(|| "--read-only".to_owned()));
    all
}

fn read_lacks(read: &Read) -> Option<&'static str> {
    match read.range {
        _ if read.encoding.is_some() => Some("the protocol declares no encoding"),
        _ if read.max_bytes.is_some() => Some("acp-fs has a fixed cap of bytes"),
        _ if read.max_line_chars.is_some() => Some("the protocol cuts no lines"),
        Range::Tail(_) => Some("the protocol has no tails"),
        Range::From { column: 2.., .. } => Some("the protocol has no columns"),
        Range::From { line: 0, .. } => Some("the protocol takes line 0 for the first"),
        _ => None,
    }
}

fn write_lacks(write: &Write) -> Option<&'static str> {
    match write.mode {
        _ if write.encoding.is_some() => Some("the protocol declares no encoding"),
        _ if write.if_version.is_some() => Some("the protocol names no versions"),
        Mode::Overwrite => None,
        _ => Some(TWO),
    }
}

/// Returns a line with the path as the case has it in place of the one that was sent.
fn respelt(raw: &str, sent: &str, path: &str) -> String {
    let plain = |text: &str| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let one_line = fs_core::one_line;
    raw.replace(&plain(sent), &plain(path))
        .replace(&plain(&one_line(sent)), &plain(&one_line(path)))
}

fn answer(raw: &str) -> Answer {
    let frame = parse(raw);
    let error = &frame["error"];
    let result = if let Some(number) = error["code"].as_i64() {
        let mut fields = error["data"].clone();
        fields["message"] = error["message"].clone();
        let code = fields["code"].as_str();
        let code = code.map_or_else(|| format!("rpc {number}"), str::to_owned);
        Err(Refusal { code, fields })
    } else {
        let result = &frame["result"];
        Ok(Done {
            text: result["content"].as_str().unwrap_or_default().to_owned(),
            facts: result["_meta"]["postern/facts"].clone(),
            ..Done::default()
        })
    };
    Answer {
        result,
        raw: raw.to_owned(),
    }
}

fn contains(bytes: &[u8], words: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(words)
}

/// Returns what the command for people said, in the codes of a protocol.
fn undone(said: &Output, sent: &str, path: &str) -> Answer {
    let raw = String::from_utf8_lossy(&[&*said.stdout, &said.stderr].concat()).replace(sent, path);
    let code = match said.status.success() {
        true if contains(&said.stdout, "as it was") || contains(&said.stdout, "it was new") => None,
        true => Some("not_found"),
        false if raw.contains("no session") => Some("not_found"),
        false if raw.contains("the session did not change") => Some("not_found"),
        false if raw.contains("since that change") => Some("conflict"),
        false => Some("unknown"),
    };
    let fields = json!({ "message": raw });
    let failed = |code: &str| Refusal {
        code: code.to_owned(),
        fields,
    };
    let done = Done {
        text: raw.clone(),
        ..Done::default()
    };
    Answer {
        result: code.map(failed).map_or(Ok(done), Err),
        raw,
    }
}
