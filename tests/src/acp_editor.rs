//! An editor that plays a short part: it starts an agent, opens one session, prompts once, and
//! answers what it is asked meanwhile. Everything that is said goes into its record.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::acp_record::{Record, Side};
use crate::group::Group;

/// How long a session may take, and how long its agent may take to end afterwards.
const SESSION: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(10);

/// What an editor brings into its session.
#[derive(Debug)]
pub struct Part {
    /// The session's working directory.
    pub cwd: PathBuf,
    /// The texts it holds, by path; without them it offers no files.
    pub texts: Option<BTreeMap<String, String>>,
    /// How it authenticates, where the agent asks for that.
    pub authenticate: Option<&'static str>,
}

/// What came of a session.
#[derive(Debug)]
pub struct Session {
    /// What the editor and the other side said.
    pub record: Record,
    /// The texts that the editor holds at the end.
    pub texts: BTreeMap<String, String>,
    /// How the other side ended; `None` when it did not.
    pub status: Option<ExitStatus>,
    /// What the other side logged.
    pub stderr: String,
}

/// Plays `part` with the agent that `command` starts; all that it has started is gone afterwards.
///
/// Panics, with the record, when the agent does not answer in time.
pub fn play(command: &mut Command, part: Part) -> Session {
    let mut editor = Editor::start(command, part.texts);
    let fs = json!({
        "readTextFile": editor.texts.is_some(),
        "writeTextFile": editor.texts.is_some(),
    });
    editor.request(
        "initialize",
        &json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": fs},
            "clientInfo": {"name": "scripted-editor", "version": "1"},
        }),
    );
    if let Some(method) = part.authenticate {
        editor.request("authenticate", &json!({"methodId": method}));
    }
    let opened = editor.request("session/new", &json!({"cwd": part.cwd, "mcpServers": []}));
    let prompt = json!([{"type": "text", "text": "Do it."}]);
    editor.request(
        "session/prompt",
        &json!({"sessionId": opened["sessionId"], "prompt": prompt}),
    );
    editor.end()
}

/// A running agent and what the editor knows.
#[derive(Debug)]
struct Editor {
    agent: Group,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
    deadline: Instant,
    record: Record,
    texts: Option<BTreeMap<String, String>>,
    next: u64,
}

impl Editor {
    fn start(command: &mut Command, texts: Option<BTreeMap<String, String>>) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut agent = Group::start(piped.stderr(Stdio::piped()));
        let stdin = agent.0.stdin.take();
        let (stdout, mut stderr) = (
            agent.0.stdout.take().unwrap(),
            agent.0.stderr.take().unwrap(),
        );
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).all(|sent| sent.is_ok())
        });
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            drop(stderr.read_to_end(&mut log));
            String::from_utf8_lossy(&log).into_owned()
        });
        Self {
            agent,
            stdin,
            lines,
            log: Some(log),
            deadline: Instant::now() + SESSION,
            record: Record::default(),
            texts,
            next: 1,
        }
    }

    /// Makes a request, answers what it is asked, and returns the result.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.hear(method);
            if message["method"].is_string() {
                if let Some(mut answer) = self.answer(&message) {
                    answer["jsonrpc"] = "2.0".into();
                    answer["id"] = message["id"].clone();
                    self.say(answer);
                }
            } else if message["id"] == id {
                let fault = message.get("error").is_some();
                assert!(!fault, "{method}: {message}\n{:?}", self.record);
                return message["result"].clone();
            }
        }
    }

    fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        if let Some(stdin) = self.stdin.as_mut() {
            drop(
                stdin
                    .write_all(line.as_bytes())
                    .and_then(|()| stdin.flush()),
            );
        }
        self.record.add(Side::Client, message);
    }

    fn hear(&mut self, waiting_for: &str) -> Value {
        let time = self.deadline.saturating_duration_since(Instant::now());
        let Ok(line) = self.lines.recv_timeout(time) else {
            let log = self.log();
            panic!("no answer to {waiting_for}: {:?}\n{log}", self.record);
        };
        let message: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line}\n{:?}", self.record));
        self.record.add(Side::Agent, message.clone());
        message
    }

    /// Returns the result or the error for a request; `None` for a notification.
    fn answer(&mut self, message: &Value) -> Option<Value> {
        message.get("id")?;
        let params = &message["params"];
        Some(match message["method"].as_str()? {
            "session/request_permission" => allow(params),
            "fs/read_text_file" if self.texts.is_some() => self.read(params),
            "fs/write_text_file" if self.texts.is_some() => self.write(params),
            _ => json!({"error": {"code": -32601, "message": "Method not found"}}),
        })
    }

    /// As many editors do, it answers with the whole text, whatever lines were asked for.
    fn read(&self, params: &Value) -> Value {
        let texts = self.texts.as_ref().unwrap();
        match texts.get(params["path"].as_str().unwrap()) {
            Some(text) => json!({"result": {"content": text}}),
            None => json!({"error": {"code": -32002, "message": "Resource not found"}}),
        }
    }

    fn write(&mut self, params: &Value) -> Value {
        let part = |name: &str| params[name].as_str().unwrap().to_owned();
        let texts = self.texts.as_mut().unwrap();
        texts.insert(part("path"), part("content"));
        json!({"result": {}})
    }

    /// Closes the other side's input, hears it out and waits for its end.
    fn end(mut self) -> Session {
        drop(self.stdin.take());
        let end = Instant::now() + END;
        let left = || end.saturating_duration_since(Instant::now());
        while let Ok(line) = self.lines.recv_timeout(left()) {
            let message = serde_json::from_str(&line);
            let message = message.unwrap_or_else(|error| panic!("{error}: {line}"));
            self.record.add(Side::Agent, message);
        }
        let status = self.agent.ended(left());
        let stderr = self.log();
        Session {
            record: self.record,
            texts: self.texts.unwrap_or_default(),
            status,
            stderr,
        }
    }

    /// Kills whoever is left and returns what was logged.
    fn log(&mut self) -> String {
        self.agent.kill();
        let log = self.log.take().map(JoinHandle::join);
        log.transpose().unwrap().unwrap_or_default()
    }
}

/// Chooses the first option that allows.
fn allow(params: &Value) -> Value {
    let options = params["options"].as_array().unwrap();
    let allows = |option: &&Value| option["kind"] == "allow_once";
    let option = options.iter().find(allows).unwrap();
    json!({"result": {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}})
}
