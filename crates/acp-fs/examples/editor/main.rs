//! An editor with unsaved buffers: it starts an agent and serves its requests for files.
//!
//! ```sh
//! cargo run -p acp-fs --example editor                  # with an agent of its own, as a script
//! cargo run -p acp-fs --example editor -- gemini --acp  # with one of yours, that is asked to edit
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "an example for people to run and read"
)]

mod agent;

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use acp_fs::{Cancel, FileMethods, MemoryBuffers, MissingFile, NullResult, Request, RpcError};
use fs_core::Version;
use fs_sandbox::{Rights, Workspace};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Files = FileMethods<MemoryBuffers>;

const ON_DISK: &str = "title: notes\nbody: as it was\nend: yes\n";
const TYPED: &str = "title: notes\nbody: as it was\nend: yes, typed and not saved\n";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "--agent") {
        return agent::run();
    }
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let file = root.join("notes.txt");
    std::fs::write(&file, ON_DISK)?;

    // What is open, and what somebody has typed into it since.
    let buffers = MemoryBuffers::default();
    buffers.open(&file, ON_DISK, Version::of_bytes(ON_DISK.as_bytes()));

    // The door: one folder, two methods.
    let rights = Rights::READ | Rights::EDIT;
    let workspace = Workspace::builder()
        .root("project", &root, rights)
        .build()?;
    let files = FileMethods::new(workspace, buffers.clone());

    let mut editor = Editor::start(&arguments)?;
    let fs = json!({"readTextFile": true, "writeTextFile": true});
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {"fs": fs}});
    editor.ask(&files, "initialize", &hello)?;
    let opened = json!({"cwd": root, "mcpServers": []});
    let opened = editor.ask(&files, "session/new", &opened)?;
    let session = opened["sessionId"].as_str().ok_or("no session")?;
    files.open_session(session, &[root], MissingFile::Error)?;

    buffers.edit(&file, TYPED);
    println!("in the editor: {TYPED:?}");
    let words = format!("In {}, change `as it was` to `as it is`.", file.display());
    let prompt = json!([{"type": "text", "text": words}]);
    let prompt = json!({"sessionId": session, "prompt": prompt});
    editor.ask(&files, "session/prompt", &prompt)?;

    let text = buffers.text(&file).unwrap_or_default();
    println!("in the editor: {text:?}");
    println!("on the disk:   {:?}", std::fs::read_to_string(&file)?);
    Ok(())
}

/// The editor's end of the agent's pipes.
struct Editor {
    to_agent: ChildStdin,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Editor {
    /// Starts the agent, or the one of this example.
    fn start(words: &[String]) -> Result<Self> {
        let me = std::env::current_exe()?.display().to_string();
        let own = [me, "--agent".to_owned()];
        let (program, arguments) = words.split_first().unwrap_or((&own[0], &own[1..]));
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        let mut agent = command.stdout(Stdio::piped()).spawn()?;
        let (to_agent, from_agent) = (agent.stdin.take(), agent.stdout.take());
        Ok(Self {
            to_agent: to_agent.ok_or("no input")?,
            lines: BufReader::new(from_agent.ok_or("no output")?).lines(),
        })
    }

    /// Asks the agent, and answers what it asks for until it has answered.
    fn ask(&mut self, files: &Files, method: &str, params: &Value) -> Result<Value> {
        let request = json!({"id": method, "method": method, "params": params});
        send(&mut self.to_agent, &request)?;
        for line in self.lines.by_ref() {
            let frame: Value = serde_json::from_str(&line?)?;
            match frame["method"].as_str() {
                None if frame["id"] == method => return Ok(frame["result"].clone()),
                Some(asked) if !frame["id"].is_null() => {
                    let mut reply = json!({ "id": frame["id"] });
                    match answer(files, asked, &frame["params"]) {
                        Ok(result) => reply["result"] = serde_json::from_str(&result)?,
                        Err(error) => reply["error"] = serde_json::to_value(error)?,
                    }
                    send(&mut self.to_agent, &reply)?;
                }
                _ => {}
            }
        }
        Err("the agent has ended".into())
    }
}

/// Answers a request of the agent.
fn answer(files: &Files, method: &str, params: &Value) -> std::result::Result<String, RpcError> {
    if method == "session/request_permission" {
        // Whoever asks whether it may: it may.
        let option = &params["options"][0]["optionId"];
        let outcome = json!({"outcome": "selected", "optionId": option});
        return Ok(json!({ "outcome": outcome }).to_string());
    }
    let request = Request::parse(method, &params.to_string());
    let request = request.ok_or_else(|| RpcError::unknown_method(method))??;
    let reply = files.call(&request, &Cancel::default())?;
    println!("the agent has asked for {method}");
    Ok(reply.to_json(NullResult::No))
}

fn send(to: &mut impl Write, frame: &Value) -> Result<()> {
    let mut frame = frame.clone();
    frame["jsonrpc"] = "2.0".into();
    Ok(writeln!(to, "{frame}").and_then(|()| to.flush())?)
}
