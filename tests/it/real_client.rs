//! The binary as real clients see it: the official Python SDK and the inspector's command line.
//!
//! `cargo xtask setup clients` installs both, pinned. A recorder between client and server keeps
//! the lines of the wire, so that it is known who spoke.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tests::binary::tool_server;
use tests::clients::{Clients, script};

const NOTES: &str = "one\ntwo\nthree\nfour\n";
const EDITED: &str = "one\ntwo\nTHREE\nfour\n";
const TOOLS: [&str; 4] = ["files_read", "files_write", "files_edit", "files_ls"];

/// A root with a file and a link out of it, the secret beside it, and the record of the wire.
#[derive(Debug)]
struct Place(TempDir);

#[test]
fn the_python_sdk_opens_a_session_by_the_old_handshake() {
    check_sdk("legacy", "2025-11-25", "/params/clientInfo");
}

#[test]
fn the_python_sdk_opens_a_session_by_the_newest_protocol() {
    let in_meta = "/params/_meta/io.modelcontextprotocol~1clientInfo";
    check_sdk("auto", "2026-07-28", in_meta);
}

#[test]
fn the_inspector_finds_nothing_to_mend_in_the_schemas() {
    let Some(clients) = Clients::get() else {
        return;
    };
    let place = Place::new();
    let listed = place.inspect(clients, &["--method", "tools/list", "--strict"]);
    assert!(listed.status.success(), "{listed:?}");
    let answer: Value = serde_json::from_slice(&listed.stdout).unwrap();
    check_tools(&answer["result"]["tools"]);
    let said = String::from_utf8(listed.stderr).unwrap();
    let findings: Vec<&str> = said.lines().filter(|line| !is_our_log(line)).collect();
    assert!(findings.is_empty(), "{findings:?}");
    place.check_speaker(
        "/params/clientInfo",
        "inspector-cli",
        &inspector_version(clients),
    );
}

#[test]
fn the_inspector_reads_edits_and_is_refused() {
    let Some(clients) = Clients::get() else {
        return;
    };
    let place = Place::new();
    let read = place.inspect_call(clients, "files_read", r#"{"path":"notes.txt","tail":1}"#);
    assert_eq!(read["content"][0]["text"], "four\n", "{read}");
    let edits = r#"{"path":"notes.txt","edits":[{"old":"three","new":"THREE"}]}"#;
    let edited = place.inspect_call(clients, "files_edit", edits);
    assert_ne!(edited["isError"], true, "{edited}");
    assert_eq!(place.read("root/notes.txt"), EDITED);
    let refused = place.inspect_call(clients, "files_read", r#"{"path":"door.txt"}"#);
    place.check_refusal(&refused, "outside_sandbox");
}

fn check_sdk(mode: &str, protocol: &str, client_info: &str) {
    let Some(clients) = Clients::get() else {
        return;
    };
    let place = Place::new();
    let session_script = script("sdk_session.py");
    let mut session = Command::new(&clients.python);
    session
        .arg(session_script)
        .arg(mode)
        .args(place.server(clients));
    let done = session.stdin(Stdio::null()).output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let session: Value = serde_json::from_slice(&done.stdout).unwrap();

    assert_eq!(session["protocol"], protocol);
    assert_eq!(session["server"]["name"], "tool-server");
    assert_eq!(session["server"]["version"], env!("CARGO_PKG_VERSION"));
    check_tools(&session["tools"]);
    place.check_work(&session);
    for name in ["escape by dots", "escape by a link", "write outside"] {
        place.check_refusal(&session[name], "outside_sandbox");
    }
    assert!(!place.0.path().join("made.txt").exists());
    place.check_refusal(&session["wrong type"], "invalid_argument");
    assert_eq!(session["wrong type"]["structuredContent"]["field"], "path");
    let version = session["client"]["version"].as_str().unwrap();
    place.check_speaker(client_info, "mcp-python-sdk", version);
}

fn check_tools(tools: &Value) {
    let tools = tools.as_array().unwrap();
    for wanted in TOOLS {
        let tool = tools.iter().find(|tool| tool["name"] == wanted);
        let tool = tool.unwrap_or_else(|| panic!("no {wanted} among {tools:?}"));
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        let reads = ["files_read", "files_ls"].contains(&wanted);
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
    }
}

fn is_our_log(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("INFO ") || line.starts_with("WARN confinement")
}

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let base = place.0.path();
        std::fs::create_dir(base.join("root")).unwrap();
        std::fs::write(base.join("root/notes.txt"), NOTES).unwrap();
        std::fs::write(base.join("secret.txt"), "the secret\n").unwrap();
        std::os::unix::fs::symlink("../secret.txt", base.join("root/door.txt")).unwrap();
        place
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// Returns the command that a client starts as its server: the recorder, and the binary behind it.
    fn server(&self, clients: &Clients) -> Vec<PathBuf> {
        vec![
            clients.python.clone(),
            script("tap.py"),
            self.0.path().join("wire.log"),
            tool_server().to_owned(),
            "--state".into(),
            self.0.path().join("state"),
            "--root".into(),
            self.0.path().join("root"),
        ]
    }

    fn inspect(&self, clients: &Clients, arguments: &[&str]) -> Output {
        let mut inspector = Command::new(&clients.node);
        inspector
            .arg(&clients.inspector)
            .arg("--cli")
            .args(arguments)
            .args(["--format", "json", "--"])
            .args(self.server(clients))
            .env("HOME", self.0.path()); // It keeps a catalogue there.
        inspector.stdin(Stdio::null()).output().unwrap()
    }

    fn inspect_call(&self, clients: &Clients, tool: &str, arguments: &str) -> Value {
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            tool,
            "--tool-args-json",
            arguments,
        ];
        let done = self.inspect(clients, &call);
        let answer: Value = serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|error| panic!("{error}: {done:?}"));
        answer["result"].clone()
    }

    /// Checks the listing, the window, the edit with its backup, and the edit that comes too late.
    fn check_work(&self, session: &Value) {
        let text = |name: &str, block: usize| session[name]["content"][block]["text"].clone();
        assert_eq!(text("list", 0), "door.txt@\nnotes.txt  (19 B)");
        assert_eq!(text("read", 0), "two\nthree\n");
        let hint = "[Showing lines 2-3 of 4. Use offset=4 to continue.]";
        assert!(
            text("read", 1).as_str().unwrap().contains(hint),
            "{}",
            session["read"]
        );
        assert_ne!(session["edit"]["isError"], true, "{}", session["edit"]);
        assert_eq!(self.read("root/notes.txt"), EDITED);
        assert_eq!(self.read("root/notes.txt.bak"), NOTES);
        self.check_refusal(&session["edit again"], "no_match");
    }

    /// Checks an error's code, and that it tells neither the secret nor where the root lies.
    fn check_refusal(&self, answer: &Value, code: &str) {
        assert_eq!(answer["isError"], true, "{answer}");
        assert_eq!(answer["structuredContent"]["code"], code, "{answer}");
        let told = answer.to_string();
        let base = self.0.path().to_str().unwrap();
        assert!(
            !told.contains("the secret") && !told.contains(base),
            "{told}"
        );
    }

    /// Checks by the record that the client which spoke is the one that was meant.
    fn check_speaker(&self, client_info: &str, name: &str, version: &str) {
        let record = self.read("wire.log");
        let first = record
            .lines()
            .find_map(|line| line.strip_prefix("> "))
            .unwrap();
        let first: Value = serde_json::from_str(first).unwrap();
        let speaker = first.pointer(client_info).unwrap_or(&Value::Null);
        assert_eq!(speaker["name"], name, "{first}");
        assert_eq!(speaker["version"], version, "{first}");
        assert!(
            record.lines().any(|line| line.starts_with("< ")),
            "{record}"
        );
    }
}

/// Returns the version that the inspector's own package names.
fn inspector_version(clients: &Clients) -> String {
    let package = clients
        .inspector
        .ancestors()
        .nth(4)
        .unwrap()
        .join("package.json");
    let package: Value = serde_json::from_slice(&std::fs::read(package).unwrap()).unwrap();
    package["version"].as_str().unwrap().to_owned()
}
