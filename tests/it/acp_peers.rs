//! `acp-fs` between real peers: two agents with a scripted model, an agent on the official Python
//! SDK, and an editor's side that others have written.
//!
//! `cargo xtask setup clients` installs them, pinned. A recorder between proxy and agent keeps the
//! lines of the wire. Agents that write the disk themselves do so only where the editor serves no
//! files, so that what is there afterwards is what the proxy did.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::acp_editor::{Part, Session, play};
use tests::acp_record::Record;
use tests::binary::acp_fs;
use tests::clients::{Clients, script};
use tests::group::Group;
use tests::{CANARY, World};

/// A world to work in, and what the peers need beside it.
struct Desk {
    clients: &'static Clients,
    world: World,
    aside: TempDir,
}

/// An agent that runs without a model.
struct Peer {
    /// What it calls itself.
    name: &'static str,
    command: Vec<OsString>,
    env: Vec<(&'static str, &'static str)>,
    authenticate: Option<&'static str>,
    /// The server that stands in for its model.
    _model: Option<Group>,
}

/// A session as it was seen on both sides of the proxy.
struct Seen {
    editor: Session,
    agent: Record,
}

fn desk() -> Option<Desk> {
    let clients = Clients::get()?;
    let world = World::new();
    world
        .put("root/crlf.txt", "one\r\ntwo\r\nthree\r\n")
        .put("root/mark.txt", "\u{FEFF}one\ntwo\n")
        .put("root/lines.txt", "1\n2\r\n3\n4\n5")
        .put("root/draft.txt", "old\n")
        .put("out/secret.txt", CANARY)
        .link("root/door.txt", "../out/secret.txt")
        .link("root/way", "../out");
    Some(Desk {
        clients,
        world,
        aside: tempfile::tempdir().unwrap(),
    })
}

#[test]
fn gemini_creates_a_file_and_keeps_line_breaks_and_the_byte_order_mark() {
    let Some(desk) = desk() else { return };
    let gemini = desk.gemini(&json!([
        {"name": "write_file", "args": {"file_path": "${ROOT}/deep/new.txt", "content": "hello\nworld\n"}},
        {"name": "replace", "args": replace("${ROOT}/crlf.txt", "two", "TWO")},
        {"name": "replace", "args": replace("${ROOT}/mark.txt", "one", "ONE")},
    ]));
    let seen = desk.session(&gemini, &desk.world.root());
    insta::assert_snapshot!(seen.agent.transcript(&desk.world), @r#"
    agent: fs/read_text_file {"path":"<ROOT>/deep/new.txt"}
    client:   {"content":""}
    agent: may I? tool edit pending <ROOT>/deep/new.txt
    agent: fs/read_text_file {"path":"<ROOT>/deep/new.txt"}
    client:   {"content":""}
    agent: fs/write_text_file {"path":"<ROOT>/deep/new.txt","content":"hello\nworld\n"}
    client:   {}
    agent: tool edit completed <ROOT>/deep/new.txt
    agent: fs/read_text_file {"path":"<ROOT>/crlf.txt"}
    client:   {"content":"one\r\ntwo\r\nthree\r\n"}
    agent: may I? tool edit pending <ROOT>/crlf.txt
    agent: fs/read_text_file {"path":"<ROOT>/crlf.txt"}
    client:   {"content":"one\r\ntwo\r\nthree\r\n"}
    agent: fs/write_text_file {"path":"<ROOT>/crlf.txt","content":"one\r\nTWO\r\nthree\r\n"}
    client:   {}
    agent: tool edit completed <ROOT>/crlf.txt
    agent: fs/read_text_file {"path":"<ROOT>/mark.txt"}
    client:   {"content":"one\ntwo\n"}
    agent: may I? tool edit pending <ROOT>/mark.txt
    agent: fs/read_text_file {"path":"<ROOT>/mark.txt"}
    client:   {"content":"one\ntwo\n"}
    agent: fs/write_text_file {"path":"<ROOT>/mark.txt","content":"ONE\ntwo\n"}
    client:   {}
    agent: tool edit completed <ROOT>/mark.txt
    agent: end_turn
    "#);
    desk.check_bytes(&gemini);
    desk.check_undone(&gemini, &seen);
}

#[test]
fn gemini_reaches_nothing_outside_of_the_root() {
    let Some(desk) = desk() else { return };
    let gemini = desk.gemini(&json!([
        {"name": "replace", "args": replace("${OUT}/secret.txt", CANARY, "x")},
        {"name": "write_file", "args": {"file_path": "${OUT}/made.txt", "content": "x"}},
        {"name": "write_file", "args": {"file_path": "${ROOT}/way/made.txt", "content": "x"}},
    ]));
    // It refuses by itself what is outside of the working directory.
    let seen = desk.session(&gemini, desk.world.base());
    insta::assert_snapshot!(seen.agent.transcript(&desk.world), @r#"
    agent: fs/read_text_file {"path":"<BASE>/out/secret.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/secret.txt","hint":"use a path below the directories of the session"}}
    agent: tool edit in_progress <BASE>/out/secret.txt
    agent: fs/read_text_file {"path":"<BASE>/out/secret.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/secret.txt","hint":"use a path below the directories of the session"}}
    agent: tool edit failed: [object Object]
    agent: fs/read_text_file {"path":"<BASE>/out/made.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/made.txt","hint":"use a path below the directories of the session"}}
    agent: tool edit in_progress <BASE>/out/made.txt
    agent: fs/read_text_file {"path":"<BASE>/out/made.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/made.txt","hint":"use a path below the directories of the session"}}
    agent: tool edit failed: Error checking existing file: path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session
    agent: fs/read_text_file {"path":"<BASE>/out/made.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/made.txt","hint":"use a path below the directories of the session"}}
    agent: tool edit in_progress <BASE>/out/made.txt
    agent: fs/read_text_file {"path":"<BASE>/out/made.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/made.txt","hint":"use a path below the directories of the session"}}
    agent: tool edit failed: Error checking existing file: path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session
    agent: end_turn
    "#);
    desk.check_refused(&gemini, &seen, 6);
}

#[test]
fn qwen_reads_in_windows_and_keeps_line_breaks_and_the_byte_order_mark() {
    let Some(desk) = desk() else { return };
    let qwen = desk.qwen(&json!([
        {"name": "write_file", "arguments": {"file_path": "${ROOT}/deep/new.txt", "content": "hello\nworld\n"}},
        {"name": "read_file", "arguments": {"file_path": "${ROOT}/lines.txt", "offset": 0, "limit": 2}},
        {"name": "read_file", "arguments": {"file_path": "${ROOT}/lines.txt", "offset": 2, "limit": 9}},
        {"name": "read_file", "arguments": {"file_path": "${ROOT}/crlf.txt"}},
        {"name": "edit", "arguments": edit("${ROOT}/crlf.txt", "two", "TWO")},
        {"name": "read_file", "arguments": {"file_path": "${ROOT}/mark.txt"}},
        {"name": "edit", "arguments": edit("${ROOT}/mark.txt", "one", "ONE")},
    ]));
    let seen = desk.session(&qwen, &desk.world.root());
    insta::assert_snapshot!(seen.agent.transcript(&desk.world), @r#"
    agent: tool edit pending
    agent: may I? tool edit pending <ROOT>/deep/new.txt
    agent: fs/write_text_file {"path":"<ROOT>/deep/new.txt","content":"hello\nworld\n","_meta":{"bom":false,"qwen-code/tool-write-origin":{"version":1,"source":"write_file"}}}
    client:   {}
    agent: tool completed
    agent: tool read pending
    agent: tool read in_progress <ROOT>/lines.txt
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","limit":2,"line":1}
    client:   {"content":"1\n2\r\n"}
    agent: tool completed
    agent: tool read pending
    agent: tool read in_progress <ROOT>/lines.txt
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","limit":9,"line":3}
    client:   {"content":"3\n4\n5"}
    agent: tool completed
    agent: tool read pending
    agent: tool read in_progress <ROOT>/crlf.txt
    agent: fs/read_text_file {"path":"<ROOT>/crlf.txt","limit":1000}
    client:   {"content":"one\r\ntwo\r\nthree\r\n"}
    agent: tool completed
    agent: tool edit pending
    agent: fs/read_text_file {"path":"<ROOT>/crlf.txt"}
    client:   {"content":"one\r\ntwo\r\nthree\r\n"}
    agent: may I? tool edit pending <ROOT>/crlf.txt
    agent: fs/read_text_file {"path":"<ROOT>/crlf.txt"}
    client:   {"content":"one\r\ntwo\r\nthree\r\n"}
    agent: fs/write_text_file {"path":"<ROOT>/crlf.txt","content":"one\nTWO\nthree\n","_meta":{"bom":false,"encoding":"utf-8","lineEnding":"crlf","qwen-code/tool-write-origin":{"version":1,"source":"edit"}}}
    client:   {}
    agent: tool completed
    agent: tool read pending
    agent: tool read in_progress <ROOT>/mark.txt
    agent: fs/read_text_file {"path":"<ROOT>/mark.txt","limit":1000}
    client:   {"content":"one\ntwo\n"}
    agent: tool completed
    agent: tool edit pending
    agent: fs/read_text_file {"path":"<ROOT>/mark.txt"}
    client:   {"content":"one\ntwo\n"}
    agent: may I? tool edit pending <ROOT>/mark.txt
    agent: fs/read_text_file {"path":"<ROOT>/mark.txt"}
    client:   {"content":"one\ntwo\n"}
    agent: fs/write_text_file {"path":"<ROOT>/mark.txt","content":"ONE\ntwo\n","_meta":{"bom":false,"encoding":"utf-8","lineEnding":"lf","qwen-code/tool-write-origin":{"version":1,"source":"edit"}}}
    client:   {}
    agent: tool completed
    agent: end_turn
    "#);
    desk.check_bytes(&qwen);
    desk.check_undone(&qwen, &seen);
}

#[test]
fn qwen_reaches_nothing_outside_of_the_root() {
    let Some(desk) = desk() else { return };
    let qwen = desk.qwen(&json!([
        {"name": "read_file", "arguments": {"file_path": "${OUT}/secret.txt"}},
        {"name": "read_file", "arguments": {"file_path": "${ROOT}/door.txt"}},
        {"name": "write_file", "arguments": {"file_path": "${OUT}/made.txt", "content": "x"}},
        {"name": "write_file", "arguments": {"file_path": "${ROOT}/way/made.txt", "content": "x"}},
    ]));
    let seen = desk.session(&qwen, &desk.world.root());
    insta::assert_snapshot!(seen.agent.transcript(&desk.world), @r#"
    agent: tool read pending
    agent: may I? tool read pending <BASE>/out/secret.txt
    agent: fs/read_text_file {"path":"<BASE>/out/secret.txt","limit":1000}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/secret.txt","hint":"use a path below the directories of the session"}}
    agent: tool failed: Error reading file ../out/secret.txt: path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session (cause: -32602: path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session)
    agent: tool read pending
    agent: may I? tool read pending <ROOT>/door.txt
    agent: fs/read_text_file {"path":"<ROOT>/door.txt","limit":1000}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/door.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/door.txt","hint":"use a path below the directories of the session"}}
    agent: tool failed: Error reading file door.txt: path outside sandbox: <ROOT>/door.txt; use a path below the directories of the session (cause: -32602: path outside sandbox: <ROOT>/door.txt; use a path below the directories of the session)
    agent: tool edit pending
    agent: may I? tool edit pending <BASE>/out/made.txt
    agent: fs/write_text_file {"path":"<BASE>/out/made.txt","content":"x","_meta":{"bom":false,"qwen-code/tool-write-origin":{"version":1,"source":"write_file"}}}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/made.txt","hint":"use a path below the directories of the session"}}
    agent: tool failed: Error writing to file: path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session (cause: -32602: path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session)
    agent: tool edit pending
    agent: may I? tool edit pending <ROOT>/way/made.txt
    agent: fs/write_text_file {"path":"<ROOT>/way/made.txt","content":"x","_meta":{"bom":false,"qwen-code/tool-write-origin":{"version":1,"source":"write_file"}}}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/way/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/way/made.txt","hint":"use a path below the directories of the session"}}
    agent: tool failed: Error writing to file: path outside sandbox: <ROOT>/way/made.txt; use a path below the directories of the session (cause: -32602: path outside sandbox: <ROOT>/way/made.txt; use a path below the directories of the session)
    agent: end_turn
    "#);
    desk.check_refused(&qwen, &seen, 4);
}

#[test]
fn the_python_sdk_reads_windows_that_join_to_the_file_and_writes_what_it_says() {
    let Some(desk) = desk() else { return };
    let python = desk.python(&json!([
        {"read": "${ROOT}/lines.txt", "limit": 2},
        {"read": "${ROOT}/lines.txt", "line": 3, "limit": 2},
        {"read": "${ROOT}/lines.txt", "line": 5},
        {"read": "${ROOT}/lines.txt", "line": 2, "limit": 0},
        {"read": "${ROOT}/lines.txt", "line": 7},
        {"read": "${ROOT}/none.txt"},
        {"write": "${ROOT}/deep/new.txt", "content": "hello\nworld\n"},
        {"write": "${ROOT}/crlf.txt", "content": "one\r\nTWO\r\nthree\r\n"},
        {"read": "${ROOT}/mark.txt"},
        {"write": "${ROOT}/mark.txt", "content": "ONE\ntwo\n"},
    ]));
    let seen = desk.session(&python, &desk.world.root());
    insta::assert_snapshot!(seen.agent.transcript(&desk.world), @r#"
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","limit":2}
    client:   {"content":"1\n2\r\n"}
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","line":3,"limit":2}
    client:   {"content":"3\n4\n"}
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","line":5}
    client:   {"content":"5"}
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","line":2,"limit":0}
    client:   {"content":""}
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","line":7}
    client:   error {"code":-32602,"message":"line 7 is out of range: the last line is 5: <ROOT>/lines.txt; read fewer lines, or from a line that is there","data":{"code":"out_of_range","path":"<ROOT>/lines.txt","hint":"read fewer lines, or from a line that is there","field":"line","value":7,"last":5,"total_lines":5}}
    agent: fs/read_text_file {"path":"<ROOT>/none.txt"}
    client:   error {"code":-32002,"message":"Resource not found: <ROOT>/none.txt (ENOENT: no such file or directory)","data":{"code":"not_found","path":"<ROOT>/none.txt","hint":"check the path, or write the file to create it"}}
    agent: fs/write_text_file {"path":"<ROOT>/deep/new.txt","content":"hello\nworld\n"}
    client:   {}
    agent: fs/write_text_file {"path":"<ROOT>/crlf.txt","content":"one\r\nTWO\r\nthree\r\n"}
    client:   {}
    agent: fs/read_text_file {"path":"<ROOT>/mark.txt"}
    client:   {"content":"one\ntwo\n"}
    agent: fs/write_text_file {"path":"<ROOT>/mark.txt","content":"ONE\ntwo\n"}
    client:   {}
    agent: end_turn
    "#);
    desk.check_bytes(&python);
    let text = |at: usize| {
        let answer = seen.agent.files()[at].answer.unwrap();
        answer["result"]["content"].as_str().unwrap().to_owned()
    };
    let joined = text(0) + &text(1) + &text(2);
    assert_eq!(joined.as_bytes(), desk.world.get("root/lines.txt"));
    desk.check_undone(&python, &seen);
}

#[test]
fn the_python_sdk_reaches_nothing_outside_of_the_root() {
    let Some(desk) = desk() else { return };
    let python = desk.python(&json!([
        {"read": "${OUT}/secret.txt"},
        {"read": "${ROOT}/../out/secret.txt"},
        {"read": "${ROOT}/door.txt"},
        {"read": "${OUT}/none.txt"},
        {"write": "${OUT}/made.txt", "content": "x"},
        {"write": "${ROOT}/door.txt", "content": "x"},
        {"write": "${ROOT}/way/made.txt", "content": "x"},
    ]));
    let seen = desk.session(&python, &desk.world.root());
    insta::assert_snapshot!(seen.agent.transcript(&desk.world), @r#"
    agent: fs/read_text_file {"path":"<BASE>/out/secret.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/secret.txt","hint":"use a path below the directories of the session"}}
    agent: fs/read_text_file {"path":"<ROOT>/../out/secret.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/../out/secret.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/../out/secret.txt","hint":"use a path below the directories of the session"}}
    agent: fs/read_text_file {"path":"<ROOT>/door.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/door.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/door.txt","hint":"use a path below the directories of the session"}}
    agent: fs/read_text_file {"path":"<BASE>/out/none.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/none.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/none.txt","hint":"use a path below the directories of the session"}}
    agent: fs/write_text_file {"path":"<BASE>/out/made.txt","content":"x"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/made.txt","hint":"use a path below the directories of the session"}}
    agent: fs/write_text_file {"path":"<ROOT>/door.txt","content":"x"}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/door.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/door.txt","hint":"use a path below the directories of the session"}}
    agent: fs/write_text_file {"path":"<ROOT>/way/made.txt","content":"x"}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/way/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/way/made.txt","hint":"use a path below the directories of the session"}}
    agent: end_turn
    "#);
    desk.check_refused(&python, &seen, 7);
}

#[test]
fn what_an_editor_holds_unsaved_is_what_gemini_edits() {
    let Some(desk) = desk() else { return };
    let change =
        json!([{"name": "replace", "args": replace("${ROOT}/draft.txt", "draft", "DRAFT")}]);
    desk.check_unsaved(&desk.gemini(&change));
}

#[test]
fn what_an_editor_holds_unsaved_is_what_qwen_edits() {
    let Some(desk) = desk() else { return };
    desk.check_unsaved(&desk.qwen(&json!([
        {"name": "read_file", "arguments": {"file_path": "${ROOT}/draft.txt"}},
        {"name": "edit", "arguments": edit("${ROOT}/draft.txt", "draft", "DRAFT")},
    ])));
}

#[test]
fn what_an_editor_holds_unsaved_is_what_the_python_sdk_reads_in_windows() {
    let Some(desk) = desk() else { return };
    let python = desk.python(&json!([
        {"read": "${ROOT}/draft.txt", "line": 2, "limit": 1},
        {"read": "${ROOT}/draft.txt", "line": 1, "limit": 1},
        {"write": "${ROOT}/draft.txt", "content": "a\nDRAFT\n"},
    ]));
    let seen = desk.check_unsaved(&python);
    let read = seen.agent.files()[0].answer.unwrap();
    assert_eq!(read["result"]["content"], "draft\n", "{read}");
}

#[test]
fn acpx_is_asked_for_whole_files_and_for_nothing_outside_of_the_root() {
    let Some(desk) = desk() else { return };
    let python = desk.python(&json!([
        {"read": "${ROOT}/lines.txt", "line": 2, "limit": 2},
        {"write": "${ROOT}/deep/new.txt", "content": "hello\nworld\n"},
        {"read": "${OUT}/secret.txt"},
        {"write": "${ROOT}/way/made.txt", "content": "x"},
    ]));
    let outside = desk.world.outside();
    let (editor, agent) = desk.acpx(&python);
    insta::assert_snapshot!(agent.transcript(&desk.world), @r#"
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt","line":2,"limit":2}
    client:   {"content":"2\r\n3\n"}
    agent: fs/write_text_file {"path":"<ROOT>/deep/new.txt","content":"hello\nworld\n"}
    client:   {}
    agent: fs/read_text_file {"path":"<BASE>/out/secret.txt"}
    client:   error {"code":-32602,"message":"path outside sandbox: <BASE>/out/secret.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<BASE>/out/secret.txt","hint":"use a path below the directories of the session"}}
    agent: fs/write_text_file {"path":"<ROOT>/way/made.txt","content":"x"}
    client:   error {"code":-32602,"message":"path outside sandbox: <ROOT>/way/made.txt; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"<ROOT>/way/made.txt","hint":"use a path below the directories of the session"}}
    agent: end_turn
    "#);
    insta::assert_snapshot!(editor.transcript(&desk.world), @r#"
    agent: fs/read_text_file {"path":"<ROOT>/lines.txt"}
    client:   {"content":"1\n2\r\n3\n4\n5"}
    agent: fs/read_text_file {"path":"<ROOT>/deep/new.txt"}
    client:   error {"code":-32002,"message":"Resource not found: file://<ROOT>/deep/new.txt","data":{"uri":"file://<ROOT>/deep/new.txt"}}
    agent: fs/write_text_file {"path":"<ROOT>/deep/new.txt","content":"hello\nworld\n"}
    client:   {}
    agent: end_turn
    "#);
    assert_eq!(desk.world.outside(), outside);
    assert_eq!(desk.world.get("root/deep/new.txt"), b"hello\nworld\n");
    desk.check_wire(&python, &[&editor, &agent]);
}

#[test]
fn the_official_schema_takes_no_other_message_for_ours() {
    let Some(clients) = Clients::get() else {
        return;
    };
    let read = |line: Value| json!({"sessionId": "s", "path": "/a", "line": line});
    let good = [
        ("ReadTextFileRequest", read(json!(1))),
        ("ReadTextFileRequest", read(Value::Null)),
        ("WriteTextFileResponse", json!({})),
        (
            "Error",
            json!({"code": -32002, "message": "gone", "data": {"code": "not_found"}}),
        ),
    ];
    assert_eq!(clients.findings(&good), Vec::<String>::new());
    let bad = [
        ("ReadTextFileRequest", read(json!("1"))),
        ("ReadTextFileRequest", read(json!(1_u64 << 32))),
        ("ReadTextFileResponse", json!({"text": "a"})),
        ("WriteTextFileResponse", Value::Null),
        ("WriteTextFileResponse", json!({"_meta": 7})),
        ("Error", json!({"code": "not_found", "message": "gone"})),
    ];
    assert_eq!(clients.findings(&bad).len(), bad.len());
}

/// Returns the arguments of gemini's tool that changes a text.
fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "instruction": "x", "old_string": old, "new_string": new})
}

/// Returns the arguments of Qwen's tool that changes a text.
fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

impl Desk {
    fn aside(&self, name: &str) -> PathBuf {
        self.aside.path().join(name)
    }

    /// Writes what a peer is to do, with the paths of this world, and returns the file's name.
    fn put(&self, name: &str, text: &str) -> OsString {
        let path = self.aside(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, self.world.expand(text)).unwrap();
        path.into()
    }

    /// Gemini, which makes these calls of its tools; it reads files on the disk, and changes them
    /// through the editor.
    fn gemini(&self, calls: &Value) -> Peer {
        let turn = |part: Value| {
            let content = json!({"role": "model", "parts": [part]});
            let chunk =
                json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]});
            json!({"method": "generateContentStream", "response": [chunk]}).to_string() + "\n"
        };
        let calls = calls.as_array().unwrap().iter();
        let calls = calls.map(|call| turn(json!({"functionCall": call})));
        let turns: String = calls.chain([turn(json!({"text": "done"}))]).collect();
        let quiet = json!({"privacy": {"usageStatisticsEnabled": false}});
        self.put("home/.gemini/settings.json", &quiet.to_string());
        let mut command: Vec<OsString> = vec![self.node(), self.clients.gemini.clone().into()];
        command.extend(["--acp", "--skip-trust", "-m", "gemini-2.5-flash"].map(OsString::from));
        command.extend(["--fake-responses".into(), self.put("turns.jsonl", &turns)]);
        Peer {
            name: "gemini-cli",
            command,
            env: vec![
                ("GEMINI_API_KEY", "none"),
                ("GEMINI_CLI_NO_RELAUNCH", "true"),
            ],
            authenticate: Some("gemini-api-key"),
            _model: None,
        }
    }

    /// Qwen Code, which makes these calls of its tools.
    fn qwen(&self, calls: &Value) -> Peer {
        let (model, port) = self.model(&self.put("calls.json", &calls.to_string()));
        let url = format!("http://127.0.0.1:{port}/v1");
        let mut command: Vec<OsString> = vec![self.node(), self.clients.qwen.clone().into()];
        command.extend(["--acp", "--approval-mode", "default"].map(OsString::from));
        command.extend(["--auth-type", "openai", "--openai-base-url", &url].map(OsString::from));
        command.extend(["-m", "scripted"].map(OsString::from));
        Peer {
            name: "qwen-code",
            command,
            env: vec![
                ("OPENAI_API_KEY", "none"),
                ("QWEN_CODE_NO_RELAUNCH", "true"),
                ("QWEN_USAGE_STATISTICS_ENABLED", "false"),
            ],
            authenticate: None,
            _model: Some(model),
        }
    }

    /// An agent on the official Python SDK, which asks the editor for just this.
    fn python(&self, asks: &Value) -> Peer {
        let asks = self.put("asks.json", &asks.to_string());
        let agent = script("scripted_agent.py");
        Peer {
            name: "scripted",
            command: vec![self.clients.python.clone().into(), agent.into(), asks],
            env: Vec::new(),
            authenticate: None,
            _model: None,
        }
    }

    fn node(&self) -> OsString {
        self.clients.node.clone().into()
    }

    /// Starts the server that stands in for a model and returns it with its port.
    fn model(&self, calls: &OsString) -> (Group, String) {
        let mut server = Command::new(&self.clients.python);
        server.arg(script("model_stub.py")).arg(calls);
        let mut model = Group::start(server.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut port = String::new();
        let said = model.0.stdout.take().unwrap();
        BufReader::new(said).read_line(&mut port).unwrap();
        (model, port.trim().to_owned())
    }

    /// Returns the command of the proxy with the peer behind it, and a recorder between them.
    fn proxy(&self, peer: &Peer) -> Vec<OsString> {
        let mut command = vec![acp_fs().into(), "--root".into(), self.world.root().into()];
        command.extend(["--state".into(), self.aside("state").into(), "--".into()]);
        command.extend(self.tap("agent.log"));
        command.extend(peer.command.iter().cloned());
        command
    }

    fn tap(&self, log: &str) -> [OsString; 3] {
        let log = self.aside(log);
        [
            self.clients.python.clone().into(),
            script("tap.py").into(),
            log.into(),
        ]
    }

    fn record(&self, log: &str) -> Record {
        Record::of_tap(&std::fs::read_to_string(self.aside(log)).unwrap())
    }

    /// Returns a command with the peer's environment, and nothing of ours but the search path.
    fn command(&self, line: &[OsString], peer: &Peer) -> Command {
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(self.aside.path());
        command.env_clear().envs(peer.env.iter().copied());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        for (name, folder) in [("HOME", "home"), ("TMPDIR", "tmp")] {
            std::fs::create_dir_all(self.aside(folder)).unwrap();
            command.env(name, self.aside(folder));
        }
        command
    }

    /// Runs a session of an editor that serves no files.
    fn session(&self, peer: &Peer, cwd: &Path) -> Seen {
        self.play(peer, cwd, None)
    }

    /// Runs a session and checks that it went well, and that all passed but what is of files.
    fn play(&self, peer: &Peer, cwd: &Path, texts: Option<&[(&str, &str)]>) -> Seen {
        let name = peer.name;
        let mut command = self.command(&self.proxy(peer), peer);
        let text = |(path, text): &(&str, &str)| (self.world.expand(path), (*text).to_owned());
        let part = Part {
            cwd: cwd.to_owned(),
            texts: texts.map(|texts| texts.iter().map(text).collect()),
            authenticate: peer.authenticate,
        };
        let editor = play(&mut command, part);
        let agent = self.record("agent.log");
        let ended = editor.status.is_some_and(|status| status.success());
        assert!(
            ended,
            "{name} ended by {:?}: {}",
            editor.status, editor.stderr
        );
        let welcome = editor.record.answer_to("initialize");
        assert_eq!(welcome["result"]["agentInfo"]["name"], name, "{welcome}");
        let end = editor.record.answer_to("session/prompt");
        assert_eq!(end["result"]["stopReason"], "end_turn", "{name}: {end}");
        for (on_our_side, on_its_side) in editor.record.passed().iter().zip(agent.passed()) {
            assert_eq!(on_our_side.len(), on_its_side.len(), "{name}");
            for (ours, its) in on_our_side.iter().zip(on_its_side) {
                assert_eq!(*ours, its, "{name}");
            }
        }
        self.check_wire(peer, &[&editor.record, &agent]);
        Seen { editor, agent }
    }

    /// Lets acpx run a session as the editor, and returns what was said on its side and on the agent's.
    fn acpx(&self, peer: &Peer) -> (Record, Record) {
        let mut agent: Vec<OsString> = self.tap("editor.log").to_vec();
        agent.extend(self.proxy(peer));
        let quoted = agent
            .iter()
            .map(|word| format!("'{}'", word.to_str().unwrap()));
        let agent = quoted.collect::<Vec<String>>().join(" ");
        let mut line = vec![self.node(), self.clients.acpx.clone().into()];
        line.extend([
            "--agent".into(),
            agent.into(),
            "--cwd".into(),
            self.world.root().into(),
        ]);
        line.extend(["--approve-all", "--format", "json", "--timeout", "50"].map(OsString::from));
        line.extend(["exec", "Do it."].map(OsString::from));
        let mut acpx = self.command(&line, peer);
        let said = std::fs::File::create(self.aside("acpx.log")).unwrap();
        acpx.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let status = Group::start(&mut acpx).ended(Duration::from_secs(60));
        let ended_well = status.is_some_and(|status| status.success());
        let said = std::fs::read_to_string(self.aside("acpx.log")).unwrap();
        assert!(ended_well, "acpx ended by {status:?}: {said}");
        (self.record("editor.log"), self.record("agent.log"))
    }

    /// Checks by the official schema all that was said of files.
    fn check_wire(&self, peer: &Peer, records: &[&Record]) {
        let values: Vec<_> = records
            .iter()
            .flat_map(|record| record.definitions())
            .collect();
        let findings = self.clients.findings(&values);
        assert!(findings.is_empty(), "{}: {findings:#?}", peer.name);
    }

    /// Checks the files after one was created, and one with CR LF and one with a byte order mark
    /// were edited.
    #[track_caller]
    fn check_bytes(&self, peer: &Peer) {
        self.check_file(peer, "root/deep/new.txt", "hello\nworld\n");
        self.check_file(peer, "root/crlf.txt", "one\r\nTWO\r\nthree\r\n");
        self.check_file(peer, "root/mark.txt", "\u{FEFF}ONE\ntwo\n");
        self.check_untouched(peer);
    }

    /// Undoes the session and checks that the files are what they were.
    #[track_caller]
    fn check_undone(&self, peer: &Peer, seen: &Seen) {
        let opened = seen.editor.record.answer_to("session/new");
        let session = opened["result"]["sessionId"].as_str().unwrap();
        let mut undo = Command::new(acp_fs());
        undo.args(["undo", "--session", session, "--root"])
            .arg(self.world.root());
        let done = undo
            .arg("--state")
            .arg(self.aside("state"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{}: {done:?}", peer.name);
        assert!(
            !self.world.path("root/deep/new.txt").exists(),
            "{}",
            peer.name
        );
        self.check_file(peer, "root/crlf.txt", "one\r\ntwo\r\nthree\r\n");
        self.check_file(peer, "root/mark.txt", "\u{FEFF}one\ntwo\n");
        self.check_untouched(peer);
    }

    #[track_caller]
    fn check_untouched(&self, peer: &Peer) {
        self.check_file(peer, "root/lines.txt", "1\n2\r\n3\n4\n5");
        self.check_file(peer, "root/draft.txt", "old\n");
        self.check_file(peer, "out/secret.txt", CANARY);
        assert!(!self.world.path("out/made.txt").exists(), "{}", peer.name);
    }

    #[track_caller]
    fn check_file(&self, peer: &Peer, file: &str, text: &str) {
        let bytes = self.world.get(file);
        let found = String::from_utf8_lossy(&bytes);
        assert_eq!(found, text, "{file} after {}", peer.name);
    }

    /// Checks that so many requests were refused, all of them, and that nothing was told or changed.
    #[track_caller]
    fn check_refused(&self, peer: &Peer, seen: &Seen, requests: usize) {
        let name = peer.name;
        let files = seen.agent.files();
        assert_eq!(files.len(), requests, "{name}: {files:#?}");
        for request in files {
            let answer = request.answer.unwrap();
            let code = &answer["error"]["data"]["code"];
            assert_eq!(code, "outside_sandbox", "{name}: {request:#?}");
            assert!(!answer.to_string().contains(CANARY), "{name}: {answer}");
        }
        self.check_untouched(peer);
    }

    /// Checks that a text which the editor holds is read and changed, and that the disk is not.
    #[track_caller]
    fn check_unsaved(&self, peer: &Peer) -> Seen {
        let file = "${ROOT}/draft.txt";
        let seen = self.play(peer, &self.world.root(), Some(&[(file, "a\ndraft\n")]));
        let now = seen.editor.texts.get(&self.world.expand(file)).unwrap();
        assert_eq!(now, "a\nDRAFT\n", "{}", peer.name);
        self.check_untouched(peer);
        seen
    }
}
