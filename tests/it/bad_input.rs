//! Whatever a client may send: its code at once, the files as they were, and no path given away.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::corpus::bytes;
use tests::{CANARY, FrontEnd as _, Mcp, World};

/// What an answer to bad input may take; the real number is milliseconds.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(2);

/// A world with one of everything, and a server over it.
pub(crate) struct Sweep {
    pub(crate) world: World,
    pub(crate) mcp: Mcp,
}

impl Sweep {
    pub(crate) fn new() -> Self {
        let world = World::new();
        world
            .put("root/f", "one\ntwo\ntwo\n")
            .put("root/d/inner", "in\n")
            .put("out/secret", CANARY);
        world
            .put("root/binary", b"\x7fELF\0\x01\0\0\0\0\x02\0")
            .put("root/utf32", b"\xff\xfe\0\0a\0\0\0");
        world.put("root/latin", b"caf\xe9\n");
        world
            .link("root/out-link", "${OUT}/secret")
            .link("root/out-dir", "../out");
        world
            .link("root/dangling", "nowhere")
            .link("root/loop", "loop");
        world.set_up(&json!({"op": "fifo", "path": "root/fifo"}));
        world.set_up(&json!({"op": "socket", "path": "root/socket"}));
        if tests::conditions::is_root() {
            world.set_up(&json!({"op": "chardev", "path": "root/zero", "major": 1, "minor": 5}));
        }
        let mcp = Mcp::start(&world.settings());
        Self { world, mcp }
    }

    /// Checks a call's code, and that it told and changed nothing.
    #[track_caller]
    pub(crate) fn check(&self, tool: &str, arguments: &Value, code: &str) -> Value {
        let before = self.world.tree();
        let start = Instant::now();
        let answer = self.mcp.tool(tool, arguments);
        let took = start.elapsed();
        let shown = arguments.to_string().chars().take(200).collect::<String>();
        assert_eq!(answer.code(), code, "{tool} {shown}: {}", answer.raw);
        assert!(took < AT_ONCE, "{tool} {shown} took {took:?}");
        let sent = arguments["path"].as_str().unwrap_or_default();
        assert_eq!(self.world.leak_in(&answer.raw, sent), None);
        assert!(
            !answer.raw.contains(CANARY),
            "{tool} {shown}: {}",
            answer.raw
        );
        assert_eq!(
            before.differences(&self.world.tree()),
            Vec::<String>::new(),
            "{tool} {shown}"
        );
        answer.refusal().fields.clone()
    }

    #[track_caller]
    pub(crate) fn check_path(&self, path: &str, read: &str, write: &str, ls: &str) {
        self.check("files_read", &json!({"path": path}), read);
        self.check("files_write", &json!({"path": path, "content": "X"}), write);
        let edits = json!([{"old": "one", "new": "1"}]);
        self.check("files_edit", &json!({"path": path, "edits": edits}), write);
        self.check("files_ls", &json!({"path": path}), ls);
    }
}

#[test]
fn paths_that_lead_out() {
    let sweep = Sweep::new();
    let out = sweep.world.expand("${OUT}/secret");
    for path in [
        "../out/secret",
        "d/../../out/secret",
        "out-link",
        "out-dir/secret",
        "out-dir/../secret",
        &out,
        "/etc/passwd",
    ] {
        sweep.check_path(
            path,
            "outside_sandbox",
            "outside_sandbox",
            "outside_sandbox",
        );
    }
}

#[test]
fn paths_that_name_nothing() {
    let sweep = Sweep::new();
    let (long, name) = ("d/".repeat(2500), "n".repeat(300));
    for path in ["", "f\0", "\0", &long, &name, "loop"] {
        sweep.check_path(path, "invalid_path", "invalid_path", "invalid_path");
    }
    for path in ["f/x", "f/", "f/.", "f/../f"] {
        sweep.check_path(
            path,
            "not_a_directory",
            "not_a_directory",
            "not_a_directory",
        );
    }
    let edits = json!([{"old": "one", "new": "1"}]);
    for path in ["missing", "d/missing", "missing/f", "dangling"] {
        sweep.check("files_read", &json!({"path": path}), "not_found");
        sweep.check("files_ls", &json!({"path": path}), "not_found");
        sweep.check(
            "files_edit",
            &json!({"path": path, "edits": edits}),
            "not_found",
        );
        sweep.check(
            "files_write",
            &json!({"path": path, "content": "X", "mode": "insert", "line": 1}),
            "not_found",
        );
    }
}

#[test]
fn what_is_no_file() {
    let sweep = Sweep::new();
    for path in ["fifo", "socket"] {
        sweep.check_path(path, "not_a_file", "not_a_file", "not_a_directory");
    }
    if tests::conditions::is_root() {
        sweep.check_path("zero", "not_a_file", "not_a_file", "not_a_directory");
    }
    for path in ["d", "d/", "."] {
        sweep.check("files_read", &json!({"path": path}), "is_a_directory");
        sweep.check(
            "files_write",
            &json!({"path": path, "content": "X"}),
            "is_a_directory",
        );
        let edits = json!([{"old": "a", "new": "b"}]);
        sweep.check(
            "files_edit",
            &json!({"path": path, "edits": edits}),
            "is_a_directory",
        );
    }
    sweep.check("files_ls", &json!({"path": "f"}), "not_a_directory");
}

#[test]
fn what_is_no_text() {
    let sweep = Sweep::new();
    let read = |path: &str, code: &str| sweep.check("files_read", &json!({"path": path}), code);
    assert_eq!(read("binary", "binary_file")["size"], 12);
    read("utf32", "not_text");
    let declared = |path: &str, label: &str, code: &str| {
        sweep.check(
            "files_read",
            &json!({"path": path, "encoding": label}),
            code,
        );
        let write =
            json!({"path": path, "content": "\u{4f60}", "encoding": label, "mode": "append"});
        sweep.check("files_write", &write, code);
    };
    declared("latin", "utf-8", "encoding_mismatch");
    declared("latin", "no-such-label", "invalid_argument");
    let edits = json!([{"old": "ELF", "new": "X"}]);
    sweep.check(
        "files_edit",
        &json!({"path": "binary", "edits": edits}),
        "binary_file",
    );
    let edits = json!([{"old": "caf", "new": "\u{4f60}"}]);
    sweep.check(
        "files_edit",
        &json!({"path": "latin", "edits": edits, "encoding": "windows-1252"}),
        "unencodable",
    );
    sweep.check(
        "files_write",
        &json!({"path": "binary", "content": "X"}),
        "binary_file",
    );
}

#[test]
fn text_in_no_known_encoding() {
    let world = World::new();
    world.put("root/f", bytes(&"serM4j2+yQo=".into()));
    let mut settings = world.settings();
    settings.fallback = Some("none".to_owned());
    let sweep = Sweep {
        mcp: Mcp::start(&settings),
        world,
    };
    assert_eq!(
        sweep.check("files_read", &json!({"path": "f"}), "not_text")["offset"],
        0
    );
    sweep.check(
        "files_write",
        &json!({"path": "f", "content": "X"}),
        "encoding_unknown",
    );
    sweep.check(
        "files_write",
        &json!({"path": "f", "content": "é", "mode": "append"}),
        "encoding_unknown",
    );
}

#[test]
fn numbers_out_of_range_or_of_the_wrong_type() {
    let sweep = Sweep::new();
    for field in ["offset", "limit", "tail", "column"] {
        for bad in [
            json!(-1),
            json!(-1e30),
            json!(1.5),
            json!("3"),
            json!(true),
            json!([1]),
            json!({}),
        ] {
            let fields = sweep.check(
                "files_read",
                &json!({"path": "f", field: bad}),
                "invalid_argument",
            );
            assert_eq!(fields["field"], field);
        }
    }
    sweep.check(
        "files_read",
        &json!({"path": "f", "offset": 1e30}),
        "out_of_range",
    );
    sweep.check(
        "files_read",
        &json!({"path": "f", "offset": 4}),
        "out_of_range",
    );
    sweep.check(
        "files_read",
        &json!({"path": "f", "offset": 1, "column": 99}),
        "out_of_range",
    );
    sweep.check(
        "files_ls",
        &json!({"path": ".", "limit": -1}),
        "invalid_argument",
    );
    let insert = |line: Value| json!({"path": "f", "content": "X", "mode": "insert", "line": line});
    for bad in [json!(-1), json!(null), json!("2"), json!(2.5)] {
        sweep.check("files_write", &insert(bad), "invalid_argument");
    }
    sweep.check("files_write", &insert(json!(0)), "out_of_range");
    sweep.check("files_write", &insert(json!(5)), "out_of_range");
    sweep.check("files_write", &insert(json!(1e30)), "out_of_range");
}

#[test]
fn arguments_that_do_not_fit() {
    let sweep = Sweep::new();
    let field = |tool: &str, arguments: Value, field: &str| {
        assert_eq!(
            sweep.check(tool, &arguments, "invalid_argument")["field"],
            field,
            "{tool} {arguments}"
        );
    };
    field("files_read", json!({}), "path");
    field("files_read", json!({"path": 7}), "path");
    field(
        "files_read",
        json!({"path": "f", "file_path": "f"}),
        "file_path",
    );
    field(
        "files_read",
        json!({"path": "f", "encoding": 5}),
        "encoding",
    );
    field(
        "files_read",
        json!({"path": "f", "tail": 1, "offset": 2}),
        "tail",
    );
    field("files_write", json!({"path": "f"}), "content");
    field("files_write", json!({"path": "f", "content": 1}), "content");
    field(
        "files_write",
        json!({"path": "f", "content": "X", "mode": "prepend"}),
        "mode",
    );
    field(
        "files_write",
        json!({"path": "f", "content": "X", "mode": "insert"}),
        "line",
    );
    field("files_edit", json!({"path": "f"}), "edits");
    field("files_edit", json!({"path": "f", "edits": []}), "edits");
    field("files_edit", json!({"path": "f", "edits": "one"}), "edits");
    field(
        "files_edit",
        json!({"path": "f", "edits": ["one"]}),
        "edits[0]",
    );
    field(
        "files_edit",
        json!({"path": "f", "edits": [{"old": "one"}]}),
        "edits[0].new",
    );
    field(
        "files_edit",
        json!({"path": "f", "edits": [{"new": "one"}]}),
        "edits[0].old",
    );
    field(
        "files_edit",
        json!({"path": "f", "edits": [{"old": "one", "new": "1", "all": true}]}),
        "edits[0].all",
    );
    field(
        "files_edit",
        json!({"path": "f", "edits": [{"old": "one", "new": "1"}], "eol": "cr"}),
        "eol",
    );
    field(
        "files_edit",
        json!({"path": "f", "edits": [{"old": "one", "new": "1"}], "if_version": "x"}),
        "if_version",
    );
    let unknown = sweep.mcp.tool("files_raed", &json!({"path": "f"}));
    assert_eq!(unknown.code(), "rpc -32602");
}

#[test]
fn edits_that_match_never_or_too_often() {
    let sweep = Sweep::new();
    let edit = |edits: Value, code: &str| {
        sweep.check("files_edit", &json!({"path": "f", "edits": edits}), code)
    };
    edit(json!([{"old": "three", "new": "3"}]), "no_match");
    let twice = edit(json!([{"old": "two", "new": "2"}]), "count_mismatch");
    assert_eq!(
        (&twice["found"], &twice["lines"]),
        (&json!(2), &json!([2, 3]))
    );
    edit(
        json!([{"old": "two", "new": "2", "expected_count": 3}]),
        "count_mismatch",
    );
    edit(
        json!([{"old": "one", "new": "1", "expected_count": 0}]),
        "invalid_argument",
    );
    edit(
        json!([{"old": "one", "new": "1", "expected_count": -2}]),
        "invalid_argument",
    );
    edit(
        json!([{"old": "nine", "new": "1", "expected_count": -1}]),
        "no_match",
    );
    edit(json!([{"old": "", "new": "1"}]), "empty_old");
    edit(json!([{"old": "one", "new": "one"}]), "no_op");
    edit(
        json!([{"old": "one", "new": "1"}, {"old": "ne\nt", "new": ""}]),
        "overlapping_edits",
    );
}
