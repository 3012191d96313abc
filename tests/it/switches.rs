//! The five switches of the outside: what each allows alone, and all of them together.

use serde_json::{Value, json};
use tests::mcp::{arguments, command};
use tests::{Answer, CANARY, Mcp, World};

const ALL: &str = "VOTX_FILE_OUTSIDE_SANDBOX";
const READ: &str = "VOTX_FILE_READ_OUTSIDE_SANDBOX";
const EDIT: &str = "VOTX_FILE_EDIT_OUTSIDE_SANDBOX";
const WRITE: &str = "VOTX_FILE_WRITE_OUTSIDE_SANDBOX";
const DELETE: &str = "VOTX_FILE_DELETE_OUTSIDE_SANDBOX";

/// A call, and the rights outside that it needs: r, e, d.
type Deed = (&'static str, Value, &'static str);

/// Every tool and every direction of a copy and a move; `OUT` stands for the outside.
fn deeds() -> Vec<Deed> {
    let edits = json!([{"old": CANARY, "new": "X"}]);
    let transfer =
        |from: &str, to: &str| json!({"src_path": from, "dst_path": to, "overwrite": true});
    let replace = json!({"path": "OUT/f", "mode": "replace_text", "old_text": CANARY, "text": "X", "create_backup": false});
    vec![
        ("read_file", json!({"path": "OUT/f"}), "r"),
        ("read_file_range", json!({"path": "OUT/f", "tail": 1}), "r"),
        ("files_read", json!({"path": "OUT/f"}), "r"),
        ("list_dir", json!({"path": "OUT"}), "r"),
        ("files_ls", json!({"path": "OUT"}), "r"),
        ("tree_dir", json!({"path": "OUT"}), "r"),
        ("stat_file", json!({"path": "OUT/f"}), "r"),
        (
            "search_files",
            json!({"query": "CANARY", "root": "OUT"}),
            "r",
        ),
        (
            "search_files",
            json!({"query": "f", "root": "OUT", "mode": "name"}),
            "r",
        ),
        ("copy_file", transfer("OUT/f", "copy"), "r"),
        ("write_file", json!({"path": "OUT/f", "content": "X"}), "e"),
        (
            "write_file",
            json!({"path": "OUT/new/f", "content": "X"}),
            "e",
        ),
        ("append_file", json!({"path": "OUT/f", "content": "X"}), "e"),
        ("edit_file", replace, "e"),
        ("files_write", json!({"path": "OUT/f", "content": "X"}), "e"),
        ("files_edit", json!({"path": "OUT/f", "edits": edits}), "e"),
        ("make_dir", json!({"path": "OUT/d"}), "e"),
        ("copy_file", transfer("in", "OUT/copy"), "e"),
        ("copy_file", transfer("in", "OUT/f"), "e"),
        ("move_file", transfer("in", "OUT/moved"), "e"),
        ("delete_file", json!({"path": "OUT/f"}), "d"),
        ("move_file", transfer("OUT/f", "moved"), "ed"),
        ("move_file", transfer("OUT/f", "OUT/g"), "ed"),
        ("copy_file", transfer("OUT/f", "OUT/g"), "re"),
    ]
}

/// Starts a server with these variables and does every deed on a fresh disk.
#[track_caller]
fn check(switches: &[(&str, &str)], rights: &str) {
    let world = World::new();
    let mut command = command();
    let command = command
        .args(arguments(&world.settings()))
        .envs(switches.iter().copied());
    let mcp = Mcp::of(command);
    for (tool, arguments, needs) in deeds() {
        world.clear("out").put("out/f", CANARY);
        world.clear("root").put("root/in", "IN");
        let (inside, outside) = (world.tree().without("out"), world.outside());
        let out = world.expand("${OUT}");
        let sent = arguments.to_string().replace("OUT", &out);
        let answer = mcp.tool(tool, &serde_json::from_str(&sent).unwrap());
        let wanted = match () {
            () if needs.chars().all(|need| rights.contains(need)) => "ok",
            () if rights.is_empty() => "outside_sandbox",
            () => "denied_by_policy",
        };
        let what = format!("{switches:?}: {tool} {arguments}: {}", answer.raw);
        assert_eq!(answer.code(), wanted, "{what}");
        if wanted != "ok" || needs == "r" {
            assert_eq!(
                outside.differences(&world.outside()),
                Vec::<String>::new(),
                "{what}"
            );
        }
        if wanted != "ok" {
            check_refusal(&world, &answer, &sent);
            let now = world.tree().without("out");
            assert_eq!(inside.differences(&now), Vec::<String>::new(), "{what}");
        }
    }
    check_log(&mcp, switches, rights);
}

#[track_caller]
fn check_refusal(world: &World, answer: &Answer, sent: &str) {
    assert!(!answer.raw.contains(CANARY), "{}", answer.raw);
    let sent: Value = serde_json::from_str(sent).unwrap();
    let sent: Vec<&str> = sent
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(world.leak_besides(&answer.raw, &sent), None);
}

/// Whoever starts the server is told which switches are on.
fn check_log(mcp: &Mcp, switches: &[(&str, &str)], rights: &str) {
    mcp.wire.close();
    let log = mcp.wire.stderr();
    for name in [ALL, READ, EDIT, WRITE, DELETE] {
        let is_on = !rights.is_empty() && switches.iter().any(|(on, _)| *on == name);
        assert_eq!(log.contains(name), is_on, "{name} in {log}");
    }
}

#[test]
fn without_a_switch_nothing_outside_is_reached() {
    check(&[], "");
}

#[test]
fn a_switch_that_is_not_on_is_none() {
    for value in ["0", "false", "off", "no", "", "2", "enabled"] {
        let off = [ALL, READ, EDIT, WRITE, DELETE].map(|name| (name, value));
        let mut command = command();
        let world = World::new();
        world.put("out/f", CANARY);
        let command = command.args(arguments(&world.settings())).envs(off);
        let answer = Mcp::of(command).tool("read_file", &json!({"path": world.expand("${OUT}/f")}));
        assert_eq!(answer.code(), "outside_sandbox", "{value:?}");
    }
    check(&[(READ, "off"), (EDIT, "0")], "");
}

#[test]
fn the_switch_of_all_allows_all() {
    check(&[(ALL, "1")], "red");
}

#[test]
fn the_switch_of_reading_allows_reading() {
    check(&[(READ, "true")], "r");
}

#[test]
fn the_switch_of_editing_allows_editing() {
    check(&[(EDIT, " YES ")], "e");
}

#[test]
fn the_switch_of_writing_is_that_of_editing() {
    check(&[(WRITE, "on")], "e");
}

#[test]
fn the_switch_of_deleting_allows_deleting() {
    check(&[(DELETE, "On")], "d");
}

#[test]
fn switches_together_allow_what_each_does() {
    check(&[(READ, "1"), (EDIT, "1")], "re");
    check(&[(EDIT, "1"), (DELETE, "1")], "ed");
    check(&[(READ, "1"), (DELETE, "1")], "rd");
    let all = [ALL, READ, EDIT, WRITE, DELETE].map(|name| (name, "1"));
    check(&all, "red");
}

#[test]
fn an_edit_of_what_may_not_be_read_shows_nothing_of_it() {
    let world = World::new();
    let mut command = command();
    let command = command.args(arguments(&world.settings())).env(EDIT, "1");
    let mcp = Mcp::of(command);
    let path = world.expand("${OUT}/f");
    for (tool, arguments, code) in [
        (
            "files_edit",
            json!({"edits": [{"old": "port = 1", "new": "port = 2"}]}),
            "ok",
        ),
        (
            "edit_file",
            json!({"mode": "insert", "line": 2, "text": "#"}),
            "ok",
        ),
        (
            "files_edit",
            json!({"edits": [{"old": "port =  1", "new": "port = 2"}]}),
            "no_match",
        ),
    ] {
        world.put("out/f", format!("{CANARY}\nport = 1\n{CANARY}\n"));
        let mut arguments = arguments;
        arguments["path"] = path.clone().into();
        arguments["diff"] = true.into();
        let answer = mcp.tool(tool, &arguments);
        assert_eq!(answer.code(), code, "{}", answer.raw);
        assert!(!answer.raw.contains(CANARY), "{}", answer.raw);
        assert!(!answer.raw.contains("differs"), "{}", answer.raw);
    }
}

#[test]
fn a_search_of_the_outside_names_what_it_finds_as_the_caller_named_it() {
    let world = World::new();
    world.put("out/sub/f", "hit\n");
    std::os::unix::fs::symlink(world.out(), world.path("root/door")).unwrap();
    let mut command = command();
    let command = command.args(arguments(&world.settings())).env(READ, "1");
    let mcp = Mcp::of(command);
    for root in ["door", "door/", "../out", "door/sub/.."] {
        let answer = mcp.tool("search_files", &json!({"query": "hit", "root": root}));
        let expected = format!("{}/sub/f:1:hit", root.trim_end_matches('/'));
        assert_eq!(answer.shown(), expected);
        let (path, _) = expected.split_once(':').unwrap();
        let read = mcp.tool("read_file", &json!({ "path": path }));
        assert_eq!(read.shown(), "hit\n");
    }
    let out = world.expand("${OUT}");
    let answer = mcp.tool("search_files", &json!({"query": "hit", "root": out}));
    assert_eq!(answer.shown(), format!("{out}/sub/f:1:hit"));
}
