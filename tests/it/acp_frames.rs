//! Lines that are no frames, too long ones, and calls that are cancelled.

use std::time::Duration;

use serde_json::{Value, json};
use tests::acp::{SESSION, Stage};
use tests::mcp::parse;
use tests::{Lines, World};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";
const QUIET: Duration = Duration::from_millis(150);
/// How long a line of 100 MB may take.
const PATIENCE: Duration = Duration::from_secs(120);

fn params(world: &World, name: &str) -> Value {
    json!({"sessionId": SESSION, "path": world.path(name)})
}

/// Checks that a line gets an answer for nobody, and that no other line goes anywhere.
#[track_caller]
fn refused(stage: &Stage, side: &Lines, line: &[u8], number: i64, code: &str) {
    side.send_bytes(&[line, b"\n"].concat());
    let shown = String::from_utf8_lossy(line);
    let answer = side.stray(Duration::from_secs(10));
    let answer = parse(&answer.unwrap_or_else(|| panic!("no answer to {shown}")));
    let error = &answer["error"];
    let seen = (
        &answer["id"],
        error["code"].as_i64(),
        error["data"]["code"].as_str(),
    );
    assert_eq!(seen, (&Value::Null, Some(number), Some(code)), "{shown}");
    assert_eq!(stage.agent.stray(QUIET / 10), None, "{shown}");
    assert_eq!(stage.editor.stray(QUIET / 10), None, "{shown}");
}

#[test]
fn lines_that_are_no_frames_are_answered_on_either_side() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let sides: [&Lines; 2] = [&stage.agent, &stage.editor];
    for side in sides {
        refused(
            &stage,
            side,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,",
            -32700,
            "parse_error",
        );
        refused(&stage, side, b"{} {}", -32700, "parse_error");
        refused(
            &stage,
            side,
            b"{\"id\":1,\"method\":\"\xff\"}",
            -32700,
            "parse_error",
        );
        refused(&stage, side, b"{\"id\":01}", -32700, "parse_error");
        refused(&stage, side, b"[]", -32600, "invalid_request");
        let batch = format!(
            "[{{\"id\":1,\"method\":\"{WRITE}\",\"params\":{}}}]",
            params(&world, "root/f")
        );
        refused(&stage, side, batch.as_bytes(), -32600, "invalid_request");
    }
    for line in ["\n", "   \t\r\n", "\r\n"] {
        stage.agent.send_bytes(line.as_bytes());
        stage.editor.send_bytes(line.as_bytes());
    }
    assert_eq!(stage.agent.stray(QUIET), None);
    assert_eq!(stage.editor.stray(QUIET), None);
}

/// An editor would take it for a broken frame.
#[test]
fn what_an_agent_prints_is_logged_and_kept_from_the_editor() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let printed: [&[u8]; 6] = [
        b"Loading model...",
        b"[info] ready",
        b"42",
        b"\"text\"",
        b"\xff\xfe\x00",
        b"true",
    ];
    for line in printed {
        stage.agent.send_bytes(&[line, b"\n"].concat());
    }
    stage
        .agent
        .send("{\"jsonrpc\":\"2.0\",\"method\":\"_at/last\"}");
    let passed = stage.editor.stray(Duration::from_secs(10));
    assert_eq!(
        passed.as_deref(),
        Some("{\"jsonrpc\":\"2.0\",\"method\":\"_at/last\"}")
    );
    assert_eq!(stage.agent.stray(QUIET), None);
    let log = stage.editor.stderr();
    assert_eq!(
        log.matches("the agent printed: ").count(),
        printed.len(),
        "{log}"
    );
    assert!(log.contains("the agent printed: [info] ready\n"), "{log}");
}

#[test]
fn a_last_line_needs_no_line_feed() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    stage
        .agent
        .send_bytes(b"{\"method\":\"_whole\"}\n{\"method\":\"_last\"}");
    stage.agent.end(0);
    let passed = |_| {
        stage
            .editor
            .stray(Duration::from_secs(10))
            .unwrap_or_default()
    };
    assert_eq!(
        [0, 1].map(passed),
        ["{\"method\":\"_whole\"}", "{\"method\":\"_last\"}"]
    );
    let stage = Stage::on(&world, &["--serve", "disk"]);
    stage.agent.send_bytes(b"{\"method\":\"_half");
    stage.agent.end(0);
    assert_eq!(
        stage.editor.stray(Duration::from_secs(10)),
        None,
        "half a frame is none"
    );
    assert!(stage.editor.ended(Duration::from_secs(10)).is_some());
}

#[test]
fn a_line_of_100_megabytes_passes_byte_for_byte() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let line = format!(
        "{{\"method\":\"_huge\",\"params\":\"{}\"}}",
        "é".repeat(50 << 20)
    );
    let sides: [(&Lines, &Lines); 2] =
        [(&stage.agent, &stage.editor), (&stage.editor, &stage.agent)];
    for (from, to) in sides {
        from.send(&line);
        let passed = to.stray(PATIENCE).expect("the line");
        assert!(passed == line, "{} bytes of {}", passed.len(), line.len());
    }
}

/// The text is over what may be read at once, and under what may be written.
#[test]
fn a_write_of_100_megabytes_works() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let mut write = params(&world, "root/f");
    let text = "0123456789abcdé\n".repeat(6 << 20);
    write["content"] = text.clone().into();
    let pending = stage.agent.post(WRITE, &write);
    let answer = parse(&stage.agent.wait_for(&pending, PATIENCE).expect("an answer"));
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert!(world.get("root/f") == text.as_bytes());
    let read = parse(&stage.call(READ, &params(&world, "root/f")));
    assert_eq!(read["error"]["data"]["code"], "too_large", "{read:.300}");
    assert_eq!(read["error"]["data"]["limit"], 16 << 20);
}

#[test]
fn a_line_without_an_end_is_given_up() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let piece = vec![b'x'; 1 << 20];
    stage
        .agent
        .send_bytes(b"{\"method\":\"_endless\",\"params\":\"");
    for _ in 0..257 {
        stage.agent.send_bytes(&piece);
    }
    let answer = parse(&stage.agent.stray(PATIENCE).expect("an answer"));
    assert_eq!(answer["error"]["data"]["code"], "too_large");
    stage.agent.send("\"}");
    stage.agent.send("{\"method\":\"_next\"}");
    assert_eq!(
        stage.editor.stray(PATIENCE).as_deref(),
        Some("{\"method\":\"_next\"}")
    );
    let peak = stage.editor.status_kib("VmHWM");
    assert!(peak < 1 << 20, "{peak} KiB");
}

/// A scan of a hole of 256 GiB keeps the file busy: what comes for it waits.
#[test]
fn a_cancelled_request_changes_nothing_whether_it_runs_or_waits() {
    let world = World::new();
    let text = "line\n".repeat(4000);
    world.set_up(&json!({"op": "file", "path": "root/huge", "text": text, "size": 256_u64 << 30}));
    world.put("root/small", "one\n");
    let before = world.tree();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let mut far = params(&world, "root/huge");
    far["line"] = 5000.into();
    far["limit"] = 1.into();
    let mut over = params(&world, "root/huge");
    over["content"] = "short\n".into();
    let scan = stage.agent.post(READ, &far);
    let write = stage.agent.post(WRITE, &over);
    assert_eq!(
        stage.agent.wait_for(&scan, QUIET),
        None,
        "the scan is a long one"
    );
    for pending in [&write, &scan] {
        stage
            .agent
            .notify("$/cancel_request", &json!({"requestId": pending.id()}));
    }
    for pending in [&scan, &write] {
        let answer = stage.agent.wait(pending).expect("an answer");
        let answer = parse(&answer);
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
        assert_eq!(answer["error"]["data"]["code"], "cancelled");
    }
    assert_eq!(before.differences(&world.tree()), Vec::<String>::new());
    assert_eq!(
        stage.editor.stray(QUIET),
        None,
        "the editor is not told of it"
    );
    // A request that is over is nobody's here, so its cancellation passes.
    let line = format!(
        "{{\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{}}}}}",
        scan.id()
    );
    stage.agent.send(&line);
    assert_eq!(stage.editor.stray(Duration::from_secs(10)), Some(line));
    let small = parse(&stage.call(READ, &params(&world, "root/small")));
    assert_eq!(small["result"]["content"], "one\n");
}

/// The editor takes its time, and the agent does not.
#[test]
fn what_waits_is_bounded() {
    let world = World::new();
    world.put("root/f", "one\n");
    let root = world.root().display().to_string();
    let stage = Stage::with(&["--root", &root]);
    stage.greet(&json!({"readTextFile": true}));
    stage.open(SESSION, &[&root]);
    let mut write = params(&world, "root/f");
    write["content"] = "x".repeat(1 << 20).into();
    let line = json!({"id": 1, "method": WRITE, "params": write}).to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..300).for_each(|_| stage.agent.send(&line)));
        std::thread::sleep(Duration::from_secs(2));
        let peak = stage.editor.status_kib("VmHWM");
        stage.editor.kill();
        assert!((64 << 10..200 << 10).contains(&peak), "{peak} KiB");
    });
    assert_eq!(world.get("root/f"), b"one\n");
}

/// Some readers take a carriage return for the end of a line, too.
#[test]
fn no_request_for_files_passes_between_two_carriage_returns() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let inner = r#"{"jsonrpc":"2.0","id":5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/etc/passwd"}}"#;
    for inner in [inner.to_owned(), format!("[{inner}]")] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":77,\"x\":\r{inner}\r}}\n");
        stage.agent.send_bytes(line.as_bytes());
        let answer = parse(&stage.agent.next());
        assert_eq!(answer["id"], 77, "{answer}");
        assert_eq!(
            answer["error"]["data"]["code"], "invalid_request",
            "{answer}"
        );
        assert_eq!(stage.editor.stray(QUIET), None, "{line:?}");
    }
}

/// Some peers write all fields of a frame, also those that it does not have.
#[test]
fn fields_of_null_are_not_there() {
    let world = World::new();
    world.put("root/f", "one\n");
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let line = r#"{"jsonrpc":"2.0","id":9,"method":null,"result":{},"error":null}"#;
    stage.agent.send(line);
    assert_eq!(stage.editor.stray(PATIENCE).as_deref(), Some(line));
    let root = world.root().display().to_string();
    stage
        .editor
        .send(&json!({"id": 10, "method": "session/new", "params": {"cwd": root}}).to_string());
    stage.agent.stray(PATIENCE).expect("the request");
    let opened = json!({"id": 10, "result": {"sessionId": "nulls"}, "error": null});
    stage.agent.send(&opened.to_string());
    stage.editor.stray(PATIENCE).expect("the answer");
    let params = json!({"sessionId": "nulls", "path": world.path("root/f")});
    let answer = parse(&stage.call(READ, &params));
    assert_eq!(answer["result"]["content"], "one\n", "{answer}");
}
