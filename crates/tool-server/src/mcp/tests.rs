use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use fs_sandbox::{Rights, Workspace};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tool_server::Settings;

use super::*;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;

/// A root with a file `a.txt`.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.txt"), "one\ntwo\n").unwrap();
    root
}

/// Returns what the server answers these lines, in the order of the ids; `ROOT` stands for `root`.
fn session(root: &Path, structured: Structured, lines: &[&str]) -> Vec<Value> {
    let workspace = Workspace::builder().root("workspace", root, Rights::ALL);
    let toolbox = Toolbox::new(workspace.build().unwrap(), Settings::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let output = runtime.unwrap().block_on(async {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(ours);
        let (transport, _session) = LineTransport::new(reader, writer);
        theirs.write_all(lines.join("\n").as_bytes()).await.unwrap();
        theirs.shutdown().await.unwrap();
        let running = Server::new(toolbox, structured).serve(transport).await;
        running.unwrap().waiting().await.unwrap();
        let mut output = String::new();
        theirs.read_to_string(&mut output).await.unwrap();
        output
    });
    let output = output.replace(&root.display().to_string(), "ROOT");
    let lines = output.lines();
    let mut answers: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

fn call(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

#[test]
fn a_session_from_greeting_to_end() {
    let requests = [
        HELLO.to_owned(),
        call(1, "files_read", r#"{"path":"a.txt","limit":1}"#),
        call(2, "files_read", r#"{"path":"b.txt"}"#),
        call(3, "files_find", "{}"),
        call(4, "files_ls", "{}"),
    ];
    let requests = requests.each_ref().map(String::as_str);
    let answers = session(root().path(), Structured::No, &requests);
    let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tool-server","title":"Postern tool-server","version":"0.1.0"},"instructions":"Files below these roots can be reached, and nothing else:\n- workspace: ROOT (read, edit, delete)\nA relative path starts at the first root; absolute paths below a root work too. Lines and columns count from 1. Text is exact, without line numbers; what is not plain stands in a second block."}}
    {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"one\n"},{"type":"text","text":"[Showing lines 1-1 of 2. Use offset=2 to continue.]"}],"isError":false,"_meta":{"postern/facts":{"first_line":1,"returned_lines":1,"total_lines":2,"eof":false,"encoding_by":"utf8","lossy":false,"truncated":false,"next":{"line":2,"column":1},"version":"04d2649eb72531af4fa85b201f661081-8","size":8,"encoding":"utf-8","bom":false,"eol":"lf"}}}}
    {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"not_found: file not found: b.txt\nlist the directory to see what is there"}],"structuredContent":{"code":"not_found","message":"file not found: b.txt","path":"b.txt","hint":"list the directory to see what is there"},"isError":true}}
    {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"unknown tool; there are files_read, files_write, files_edit, files_ls, tree_dir, stat_file, search_files, copy_file, move_file, make_dir, delete_file, undo_edit, edit_history"}}
    {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"a.txt  (8 B)"}],"isError":false,"_meta":{"postern/facts":{"returned":1,"total":1,"truncated":false}}}}
    "#);
}

/// The notifications that a call with or without a token gets before its answer.
fn told(tool: &str, arguments: &Value, meta: &Value) -> (Vec<Value>, Value) {
    let root = root();
    fs::write(root.path().join("big"), vec![b'x'; 96 << 20]).unwrap();
    for number in 0..4_000 {
        let name = root.path().join(format!("{number}.txt"));
        fs::hard_link(root.path().join("a.txt"), name).unwrap();
    }
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let mut answers = session(root.path(), Structured::No, &[HELLO, &line.to_string()]);
    let answer = answers.pop().unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answers.retain(|answer| answer["id"].is_null());
    (answers, answer)
}

#[test]
fn a_client_that_asks_is_told_how_far_a_call_has_come() {
    let token = json!({"progressToken": "t-1"});
    let copy = json!({"src_path": "big", "dst_path": "copy"});
    let search = json!({"query": "no such text"});
    for (tool, arguments, total) in [
        ("copy_file", &copy, json!(96 << 20)),
        ("search_files", &search, Value::Null),
    ] {
        let (told_of, _) = told(tool, arguments, &token);
        assert!(!told_of.is_empty(), "{tool}");
        let mut last = 0.0;
        for notification in told_of {
            assert_eq!(notification["method"], "notifications/progress");
            let params = &notification["params"];
            assert_eq!(params["progressToken"], "t-1");
            let told_total = params["total"].as_f64();
            assert_eq!(told_total, total.as_f64(), "{tool}");
            let progress = params["progress"].as_f64().unwrap();
            assert!(progress > last, "{tool}: {progress} after {last}");
            last = progress;
        }
        let (told_of, _) = told(tool, arguments, &json!({}));
        assert_eq!(told_of, <[Value; 0]>::default(), "{tool}");
    }
}

#[test]
fn annotations_tell_what_a_tool_may_do() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answers = session(root().path(), Structured::No, &[HELLO, list]);
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let told = |hint: &str| -> Vec<&str> {
        let hinted = tools
            .iter()
            .filter(|tool| tool["annotations"][hint] == true);
        hinted.map(|tool| tool["name"].as_str().unwrap()).collect()
    };
    let reads = [
        "files_read",
        "files_ls",
        "tree_dir",
        "stat_file",
        "search_files",
        "edit_history",
    ];
    assert_eq!(told("readOnlyHint"), reads);
    let destroys = [
        "files_write",
        "files_edit",
        "copy_file",
        "move_file",
        "delete_file",
        "undo_edit",
    ];
    assert_eq!(told("destructiveHint"), destroys);
    assert_eq!(told("openWorldHint"), <[&str; 0]>::default());
}

#[test]
fn structured_content_holds_the_text_too() {
    let read = call(1, "files_read", r#"{"path":"a.txt","limit":1}"#);
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let answers = session(root().path(), Structured::Yes, &[HELLO, &read, list]);
    let content = &answers[1]["result"]["structuredContent"];
    assert_eq!(content["text"], "one\n");
    assert_eq!(content["total_lines"], 2);
    let note = "[Showing lines 1-1 of 2. Use offset=2 to continue.]";
    assert_eq!(content["notes"], json!([note]));
    let schema = &answers[2]["result"]["tools"][0]["outputSchema"];
    assert_eq!(schema["properties"]["total_lines"]["type"], "integer");
}

#[test]
fn the_newer_era_needs_no_greeting() {
    let params = json!({
        "name": "files_ls",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let answers = session(root().path(), Structured::No, &[&line.to_string()]);
    assert_eq!(answers[0]["result"]["resultType"], "complete");
    assert_eq!(answers[0]["result"]["content"][0]["text"], "a.txt  (8 B)");
}

#[test]
fn a_notification_before_the_greeting_ends_nothing() {
    let early = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answers = session(root().path(), Structured::No, &[early, HELLO]);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "tool-server");
}

#[test]
fn a_cancelled_call_stops_and_gets_no_answer() {
    let root = root();
    let file = fs::File::create(root.path().join("long")).unwrap();
    // Text at both ends and a hole between: counting its lines takes many seconds.
    let text = "one\n".repeat(32 * 1024);
    file.write_all_at(text.as_bytes(), 0).unwrap();
    file.write_all_at(text.as_bytes(), 64 << 30).unwrap();
    let began = Instant::now();
    let read = call(1, "files_read", r#"{"path":"long","offset":1000000}"#);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let answers = session(root.path(), Structured::No, &[HELLO, &read, cancel]);
    assert_eq!(answers.len(), 1, "{answers:?}");
    let elapsed = began.elapsed();
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}: it went on");
}
