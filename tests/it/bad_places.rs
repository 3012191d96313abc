//! Files, disks, rights and lines that do not do as a client wishes: its code at once, nothing changed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::conditions::skip;
use tests::mcp::{arguments, parse};
use tests::setup::{chmod, tmpfs};
use tests::{CANARY, Conditions, FrontEnd as _, Mcp, World};

use crate::bad_input::{AT_ONCE, Sweep};

#[test]
fn a_file_changed_underneath() {
    let sweep = Sweep::new();
    let read = sweep
        .mcp
        .tool("files_read", &json!({"path": "f", "version": true}));
    let version = read.done().facts["version"].clone();
    assert!(
        read.done().hint.contains(version.as_str().unwrap()),
        "{}",
        read.raw
    );
    sweep.world.put("root/f", "one\ntwo\nnew\n");
    let write = |more: Value| {
        let mut arguments = json!({"path": "f", "if_version": version});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    sweep.check("files_write", &write(json!({"content": "X"})), "conflict");
    sweep.check(
        "files_write",
        &write(json!({"content": "X", "mode": "append"})),
        "conflict",
    );
    sweep.check(
        "files_write",
        &write(json!({"content": "X", "mode": "insert", "line": 1})),
        "conflict",
    );
    sweep.check(
        "files_edit",
        &write(json!({"edits": [{"old": "one", "new": "1"}]})),
        "conflict",
    );
    sweep.check(
        "files_write",
        &json!({"path": "f", "content": "X", "mode": "create"}),
        "already_exists",
    );
}

#[test]
fn rights_that_are_missing() {
    let world = World::new();
    world.put("root/f", "one\n");
    let mut settings = world.settings();
    settings.roots[0].rights = vec!["read".to_owned()];
    settings.deny = vec!["**/*.key".to_owned()];
    world.put("root/id.key", CANARY);
    let sweep = Sweep {
        mcp: Mcp::start(&settings),
        world,
    };
    sweep.check(
        "files_write",
        &json!({"path": "f", "content": "X"}),
        "denied_by_policy",
    );
    sweep.check(
        "files_write",
        &json!({"path": "new", "content": "X", "mode": "create"}),
        "denied_by_policy",
    );
    sweep.check(
        "files_edit",
        &json!({"path": "f", "edits": [{"old": "one", "new": "1"}]}),
        "denied_by_policy",
    );
    sweep.check("files_read", &json!({"path": "id.key"}), "denied_by_policy");
    let listed = sweep.mcp.tool("files_ls", &json!({}));
    assert!(!listed.raw.contains("id.key"), "{}", listed.raw);
}

#[test]
fn tools_that_were_taken_away() {
    let world = World::new();
    world.put("root/f", "one\n");
    let mut line = arguments(&world.settings());
    line.extend(["--disable-tool", "files_edit", "--deny-edit", "f"].map(str::to_owned));
    let sweep = Sweep {
        mcp: Mcp::with(&line),
        world,
    };
    sweep.check(
        "files_edit",
        &json!({"path": "f", "edits": [{"old": "one", "new": "1"}]}),
        "denied_by_policy",
    );
    sweep.check(
        "files_write",
        &json!({"path": "f", "content": "X"}),
        "denied_by_policy",
    );
    assert_eq!(
        sweep.mcp.tool("files_read", &json!({"path": "f"})).shown(),
        "one\n"
    );
}

/// The kernel as a second wall changes no answer.
#[test]
fn a_confined_server_answers_the_same() {
    let sweep = Sweep::new();
    let mut line = arguments(&sweep.world.settings());
    line.push("--confine".to_owned());
    let sweep = Sweep {
        mcp: Mcp::with(&line),
        ..sweep
    };
    sweep.check_path(
        "out-link",
        "outside_sandbox",
        "outside_sandbox",
        "outside_sandbox",
    );
    sweep.check_path("fifo", "not_a_file", "not_a_file", "not_a_directory");
    assert_eq!(sweep.mcp.read("f").shown(), "one\ntwo\ntwo\n");
    assert_eq!(sweep.mcp.edit("f", "one", "1").code(), "ok");
    assert_eq!(sweep.mcp.write("new/f", "X").code(), "ok");
    assert_eq!(sweep.mcp.list("new").done().names, ["f"]);
    assert_eq!(sweep.world.get("root/f"), b"1\ntwo\ntwo\n");
}

#[test]
fn a_full_disk() {
    let world = World::new();
    let conditions = Conditions {
        own_mounts: true,
        ..Conditions::default()
    };
    if !conditions.are_possible() {
        return skip("a full disk takes root");
    }
    conditions.run(|| {
        tmpfs(&world.root(), 64 << 10);
        world.put("root/f", "one\n");
        let sweep = Sweep {
            mcp: Mcp::start(&world.settings()),
            world: World::bare(),
        };
        let before = world.tree();
        for mode in ["overwrite", "append"] {
            let write = json!({"path": "f", "content": "x".repeat(200 << 10), "mode": mode});
            assert_eq!(sweep.check("files_write", &write, "io")["retry"], true);
        }
        sweep.check(
            "files_write",
            &json!({"path": "new", "content": "x".repeat(200 << 10)}),
            "io",
        );
        assert_eq!(before.differences(&world.tree()), Vec::<String>::new());
    });
}

#[test]
fn a_directory_that_takes_no_file() {
    let world = World::bare();
    Conditions {
        nobody: true,
        ..Conditions::default()
    }
    .run(|| {
        world
            .put("root/d/f", "one\n")
            .put("root/secret", CANARY)
            .put("root/ro", "one\n");
        chmod(&world.path("root/d"), "0555");
        chmod(&world.path("root/secret"), "0000");
        chmod(&world.path("root/ro"), "0444");
        let sweep = Sweep {
            mcp: Mcp::start(&world.settings()),
            world: World::bare(),
        };
        let before = world.tree();
        for path in ["d/f", "d/new", "d/e/new", "ro"] {
            sweep.check(
                "files_write",
                &json!({"path": path, "content": "X"}),
                "permission_denied",
            );
        }
        for path in ["d/f", "ro", "secret"] {
            let edits = json!([{"old": "one", "new": "1"}]);
            sweep.check(
                "files_edit",
                &json!({"path": path, "edits": edits}),
                "permission_denied",
            );
        }
        sweep.check(
            "files_read",
            &json!({"path": "secret"}),
            "permission_denied",
        );
        assert_eq!(before.differences(&world.tree()), Vec::<String>::new());
    });
}

#[test]
fn a_huge_file_answers_at_once() {
    let sweep = Sweep::new();
    let text = "line\n".repeat(4000);
    sweep
        .world
        .set_up(&json!({"op": "file", "path": "root/huge", "text": text, "size": 1_u64 << 30}));
    let start = Instant::now();
    let head = sweep
        .mcp
        .tool("files_read", &json!({"path": "huge", "limit": 3}));
    assert_eq!(head.shown(), "line\nline\nline\n");
    let middle = sweep.mcp.tool(
        "files_read",
        &json!({"path": "huge", "offset": 3990, "limit": 2}),
    );
    assert_eq!(middle.shown(), "line\nline\n");
    let list = sweep.mcp.tool("files_ls", &json!({}));
    assert!(list.shown().contains("huge  (1024.0 MB)"), "{}", list.raw);
    assert!(start.elapsed() < AT_ONCE, "took {:?}", start.elapsed());
    let tail = sweep
        .mcp
        .tool("files_read", &json!({"path": "huge", "tail": 1}));
    assert_eq!(tail.done().facts["truncated"], true);
    assert_eq!(sweep.world.leak_in(&tail.raw, "huge"), None);
}

#[test]
fn lines_that_are_no_messages() {
    let sweep = Sweep::new();
    let wire = &sweep.mcp.wire;
    let wait = Duration::from_secs(10);
    let refused = |line: &str, code: i64| {
        wire.send(line);
        let answer = parse(
            &wire
                .stray(wait)
                .unwrap_or_else(|| panic!("no answer to {line:.80}")),
        );
        assert_eq!(answer["error"]["code"], code, "{line:.80}: {answer}");
        answer
    };
    refused("this is no JSON", -32700);
    refused("{\"jsonrpc\": \"2.0\", \"id\": 1, ", -32700);
    refused("[]", -32600);
    refused("42", -32600);
    let long = "x".repeat(65 << 20);
    let call = json!({"jsonrpc": "2.0", "id": 900_000, "method": "tools/call",
        "params": {"name": "files_write", "arguments": {"path": "f", "content": long}}});
    let answer = refused(&call.to_string(), -32600);
    assert_eq!(answer["id"], 900_000);
    assert_eq!(
        sweep.mcp.tool("files_read", &json!({"path": "f"})).shown(),
        "one\ntwo\ntwo\n"
    );
    let unknown = parse(&wire.request("no/such/method", &json!({})));
    assert_eq!(unknown["error"]["code"], -32601);
}
