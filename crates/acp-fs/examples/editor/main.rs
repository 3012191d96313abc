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
    editor.ask(
        0,
        "initialize",
        &json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}},
        }),
    )?;
    editor.answer_until(0, &files)?;
    editor.ask(1, "session/new", &json!({"cwd": root, "mcpServers": []}))?;
    let opened = editor.answer_until(1, &files)?;
    let session = opened["sessionId"].as_str().ok_or("no session")?.to_owned();
    files.open_session(&session, std::slice::from_ref(&root), MissingFile::Error)?;

    buffers.edit(&file, TYPED);
    println!("in the editor: {TYPED:?}");
    let words = format!("In {}, change `as it was` to `as it is`.", file.display());
    let prompt = json!([{"type": "text", "text": words}]);
    editor.ask(
        2,
        "session/prompt",
        &json!({"sessionId": session, "prompt": prompt}),
    )?;
    editor.answer_until(2, &files)?;

    println!(
        "in the editor: {:?}",
        buffers.text(&file).unwrap_or_default()
    );
    println!("on the disk:  {:?}", std::fs::read_to_string(&file)?);
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
        let own = [
            std::env::current_exe()?.display().to_string(),
            "--agent".to_owned(),
        ];
        let (program, arguments) = words.split_first().unwrap_or((&own[0], &own[1..]));
        let mut command = Command::new(program);
        command.args(arguments);
        let mut agent = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (to_agent, from_agent) = (agent.stdin.take(), agent.stdout.take());
        Ok(Self {
            to_agent: to_agent.ok_or("no input")?,
            lines: BufReader::new(from_agent.ok_or("no output")?).lines(),
        })
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) -> Result<()> {
        send(
            &mut self.to_agent,
            &json!({"id": id, "method": method, "params": params}),
        )
    }

    /// Answers what the agent asks for until it answers the request `id`.
    fn answer_until(&mut self, id: u32, files: &FileMethods<MemoryBuffers>) -> Result<Value> {
        for line in self.lines.by_ref() {
            let frame: Value = serde_json::from_str(&line?)?;
            let Some(method) = frame["method"].as_str() else {
                if frame["id"] == id {
                    return Ok(frame["result"].clone());
                }
                continue;
            };
            let (method, params) = (method.to_owned(), frame["params"].to_string());
            let answer = match Request::parse(&method, &params) {
                Some(request) => {
                    let reply = request.and_then(|it| files.call(&it, &Cancel::default()));
                    let is_good = if reply.is_ok() { "ok" } else { "refused" };
                    println!("the agent asks for {method}: {is_good}");
                    reply.map(|reply| reply.to_json(NullResult::No))
                }
                // Whoever asks whether it may: it may.
                None if method == "session/request_permission" => {
                    let option = &frame["params"]["options"][0]["optionId"];
                    let outcome = json!({"outcome": "selected", "optionId": option});
                    Ok(json!({ "outcome": outcome }).to_string())
                }
                None => Err(RpcError::unknown_method(&method)),
            };
            let mut reply = json!({ "id": frame["id"] });
            match answer {
                _ if frame["id"].is_null() => continue,
                Ok(result) => reply["result"] = serde_json::from_str(&result)?,
                Err(error) => reply["error"] = serde_json::to_value(error)?,
            }
            send(&mut self.to_agent, &reply)?;
        }
        Err("the agent has ended".into())
    }
}

fn send(to: &mut impl Write, frame: &Value) -> Result<()> {
    let mut frame = frame.clone();
    frame["jsonrpc"] = "2.0".into();
    Ok(writeln!(to, "{frame}").and_then(|()| to.flush())?)
}
