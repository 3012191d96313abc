//! The part of the demo in which an agent asks an editor for files, with the proxy between them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{Profile, programs, say};
use crate::client::Client;
use crate::shell;

/// The file that the agent edits, and what it is asked to do with it.
const FILE: &str = "notes.txt";
const BEFORE: &str = "title: notes\r\nstate: draft\r\n";
const AFTER: &str = "title: notes\r\nstate: done\r\n";
const CHANGE: &str = "change `draft` to `done`.";

/// Runs this part in `root`, beside which lies secret.txt.
///
/// # Errors
/// Says which answer was not the right one.
pub(super) fn run(profile: Profile, root: &Path, state: &Path) -> Result<()> {
    let folder = programs(profile, &["--package", "acp-fs", "--bin", "acp-fs"])?;
    programs(profile, &["--package", "acp-fs", "--example", "editor"])?;
    let proxy = folder.join("acp-fs");
    let gate = |words: &[&str]| {
        let mut command = Command::new(&proxy);
        command.arg("--root").arg(root).arg("--state").arg(state);
        command.args(words);
        command
    };
    let agent = folder.join("examples/editor").display().to_string();
    println!(
        "\nAn agent and an editor that speak the Agent Client Protocol, with acp-fs between them:"
    );
    fs::write(root.join(FILE), BEFORE)?;
    let mut editor = Client::start(&mut gate(&["--", &agent, "--agent"]))?;
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
    editor.request("initialize", &hello)?;
    let opened = editor.request("session/new", &json!({"cwd": root, "mcpServers": []}))?;
    let session = opened.get("sessionId").and_then(Value::as_str);
    let session = session.context("no session")?.to_owned();

    prompt(&mut editor, &session, &root.join(FILE))?;
    let bytes = fs::read_to_string(root.join(FILE))?;
    say(&format!("In {FILE}, {CHANGE}"), &format!("{bytes:?}"));
    ensure!(bytes == AFTER, "the agent's edit is not what was asked for");

    let secret = root.with_file_name("secret.txt");
    let Err(refused) = prompt(&mut editor, &session, &secret) else {
        bail!("the agent got at a file outside of the root");
    };
    let refused = refused.to_string();
    say("In ../secret.txt, the same", &refused);
    ensure!(
        refused.contains("path outside sandbox"),
        "another error was due"
    );
    editor.close()?;

    let log = shell::output(&mut gate(&["log"]))?;
    say("acp-fs log", &log);
    ensure!(
        log.contains("outside_sandbox"),
        "the journal lacks a refusal"
    );
    let diff = shell::output(&mut gate(&["show", "--session", &session]))?;
    say(&format!("acp-fs show --session {session}"), &diff);
    ensure!(diff.contains("+state: done"), "the diff lacks the change");
    let undone = shell::output(&mut gate(&["undo", "--session", &session]))?;
    say(&format!("acp-fs undo --session {session}"), &undone);
    ensure!(
        fs::read_to_string(root.join(FILE))? == BEFORE,
        "the file is not as it was"
    );
    Ok(())
}

fn prompt(editor: &mut Client, session: &str, file: &Path) -> Result<Value> {
    let words = format!("In {}, {CHANGE}", file.display());
    let prompt = json!([{"type": "text", "text": words}]);
    editor.request(
        "session/prompt",
        &json!({"sessionId": session, "prompt": prompt}),
    )
}

/// Prints what to paste into the settings of two editors.
pub(super) fn say_settings(profile: Profile) -> Result<()> {
    let program = programs(profile, &[])?.join("acp-fs");
    let arguments = json!(["--root", "/path/to/your/projects", "--", "gemini", "--acp"]);
    let zed = json!({"agent_servers": {"Gemini through Postern": {
        "type": "custom", "command": program, "args": arguments,
    }}});
    println!(
        "\nTo put acp-fs before an agent of your editor, paste into Zed's settings.json:\n\n{zed}"
    );
    let program = program.display();
    println!(
        "\nor, for Neovim with CodeCompanion:\n\n\
         require(\"codecompanion\").setup({{ adapters = {{ acp = {{ gemini_cli = function()\n  \
           return require(\"codecompanion.adapters\").extend(\"gemini_cli\", {{ commands = {{ default = {{\n    \
             \"{program}\", \"--root\", \"/path/to/your/projects\", \"--\", \"gemini\", \"--acp\",\n  \
           }} }} }})\n\
         end }} }} }})"
    );
    Ok(())
}
