//! The vectors B1 to B32 and K1 to K11 of the family `file`, over MCP.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::{Value, json};
use tests::conditions::skip;
use tests::corpus::bytes;
use tests::mcp::{arguments, command, parse};
use tests::setup::{bind, chmod};
use tests::{Answer, CANARY, Conditions, FrontEnd as _, Mcp, World};

struct Tools {
    world: World,
    mcp: Mcp,
}

impl Tools {
    /// A server over a root that holds `f`.
    fn with(content: impl AsRef<[u8]>) -> Self {
        Self::over(World::new(), content, &[])
    }

    /// The same with more arguments.
    fn over(world: World, content: impl AsRef<[u8]>, more: &[&str]) -> Self {
        world.put("root/f", content);
        let mut line = arguments(&world.settings());
        line.extend(more.iter().map(|more| (*more).to_owned()));
        Self {
            mcp: Mcp::with(&line),
            world,
        }
    }

    fn empty() -> Self {
        let world = World::new();
        Self {
            mcp: Mcp::start(&world.settings()),
            world,
        }
    }

    fn range(&self, more: Value) -> Answer {
        self.on_f("read_file_range", more)
    }

    fn edit(&self, mode: &str, text: &str, more: Value) -> Answer {
        let mut arguments = json!({"mode": mode, "text": text, "create_backup": false});
        merge(&mut arguments, more);
        self.on_f("edit_file", arguments)
    }

    fn replace(&self, old: &str, new: &str, count: i64) -> Answer {
        let more = json!({"old_text": old, "expected_count": count, "create_backup": true});
        self.edit("replace_text", new, more)
    }

    fn search(&self, query: &str, more: Value) -> Answer {
        let mut arguments = json!({"query": query});
        merge(&mut arguments, more);
        self.tool("search_files", &arguments)
    }

    fn on_f(&self, name: &str, more: Value) -> Answer {
        let mut arguments = json!({"path": "f"});
        merge(&mut arguments, more);
        self.tool(name, &arguments)
    }

    #[track_caller]
    fn tool(&self, name: &str, arguments: &Value) -> Answer {
        let answer = self.mcp.tool(name, arguments);
        assert_eq!(self.world.leak_in(&answer.raw, ""), None);
        let begins = parse(&answer.raw)["result"]["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("ERROR: "));
        let is_read = name.starts_with("read_file");
        assert!(
            is_read || begins == answer.result.is_err(),
            "{}",
            answer.raw
        );
        answer
    }

    fn file(&self) -> String {
        self.world.get("root/f").escape_ascii().to_string()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.world.root().read_dir().unwrap().collect();
        names.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        names.into_iter().map(name).collect()
    }
}

fn merge(into: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    into.as_object_mut().unwrap().extend(more);
}

/// Checks the exact text of a range and what the second block begins with.
#[track_caller]
fn check_range(content: &str, arguments: Value, text: &str, hint: &str) {
    let answer = Tools::with(content).range(arguments);
    assert_eq!(answer.shown(), text);
    assert_eq!(answer.done().hint.lines().next().unwrap_or_default(), hint);
}

/// Checks the file after a change, or the code and that the folder is as it was.
#[track_caller]
fn check_edit(content: &str, mode: &str, text: &str, more: Value, wanted: Result<&str, &str>) {
    let tools = Tools::with(content);
    let before = tools.world.tree();
    let answer = tools.edit(mode, text, more);
    assert_eq!(
        answer.code(),
        wanted.err().unwrap_or("ok"),
        "{}",
        answer.raw
    );
    match wanted {
        Ok(wanted) => assert_eq!(tools.world.get("root/f"), wanted.as_bytes()),
        Err(_) => assert_eq!(
            before.differences(&tools.world.tree()),
            Vec::<String>::new()
        ),
    }
}

#[track_caller]
fn check_replace(content: &[u8], old: &str, new: &str, count: i64, wanted: Result<&[u8], &str>) {
    let tools = Tools::with(content);
    let answer = tools.replace(old, new, count);
    assert_eq!(
        answer.code(),
        wanted.err().unwrap_or("ok"),
        "{}",
        answer.raw
    );
    let after = wanted.unwrap_or(content).escape_ascii().to_string();
    assert_eq!(tools.file(), after);
    let names: &[&str] = if wanted.is_ok() {
        &["f", "f.bak"]
    } else {
        &["f"]
    };
    assert_eq!(tools.names(), names, "a backup only of what changed");
}

const THREE: &str = "l1\nl2\nl3\n";

#[test]
fn b01_a_range_has_a_header_and_numbered_lines() {
    check_range(
        THREE,
        json!({"start_line": 2, "end_line": 2}),
        "File: f\nEncoding: utf-8\nLines: 3\n\n2: l2",
        "[Showing lines 2-2 of 3. Use start_line=3 to continue.]",
    );
}

#[test]
fn b02_a_range_says_the_total_and_how_to_go_on() {
    check_range(
        THREE,
        json!({"max_lines": 1}),
        "File: f\nEncoding: utf-8\nLines: 3\n\n1: l1",
        "[Showing lines 1-1 of 3. Use start_line=2 to continue.]",
    );
}

#[test]
fn b03_a_range_past_the_end_or_backwards_is_refused() {
    let tools = Tools::with(THREE);
    let past = tools.range(json!({"start_line": 4}));
    assert_eq!(past.code(), "out_of_range");
    assert!(past.raw.contains("3 lines"), "{}", past.raw);
    let backwards = tools.range(json!({"start_line": 3, "end_line": 2}));
    assert_eq!(backwards.code(), "invalid_argument");
    assert_eq!(backwards.refusal().fields["field"], "end_line");
}

#[test]
fn b04_an_empty_file_has_no_lines() {
    let empty = "File: f\nEncoding: utf-8\nLines: 0\n";
    check_range("", json!({}), empty, "");
    check_range("", json!({"tail": 3}), empty, "[Showing the last 0 lines.]");
}

#[test]
fn b05_a_tail_is_cut_by_max_lines_and_says_so() {
    let answer = Tools::with(THREE).range(json!({"tail": 2, "max_lines": 1}));
    assert_eq!(
        answer.shown(),
        "File: f\nEncoding: utf-8\nLines: 3\n\n3: l3"
    );
    let hint = &answer.done().hint;
    assert!(
        hint.contains("tail of 2 lines cut by max_lines=1"),
        "{hint}"
    );
    let long = "x\n".repeat(700);
    let whole = Tools::with(long).range(json!({"tail": 600}));
    assert_eq!(
        whole.done().facts["returned_lines"],
        600,
        "no default cuts a tail"
    );
}

#[test]
fn b06_an_edit_keeps_the_style_of_each_break() {
    check_replace(b"a\r\nb\r\nc", "b", "B", 1, Ok(b"a\r\nB\r\nc"));
}

#[test]
fn b07_a_byte_order_mark_is_hidden_and_kept() {
    let tools = Tools::with("\u{feff}hi\nx\n");
    let read = tools.on_f("read_file", json!({}));
    assert_eq!(
        (read.shown().as_str(), &read.done().facts["bom"]),
        ("hi\nx\n", &json!(true))
    );
    assert!(read.done().hint.contains("BOM"), "{:?}", read.done().hint);
    assert_eq!(tools.edit("replace_line", "ho", json!({})).code(), "ok");
    assert_eq!(tools.world.get("root/f"), "\u{feff}ho\nx\n".as_bytes());
    assert_eq!(
        tools.on_f("write_file", json!({"content": "new\n"})).code(),
        "ok"
    );
    assert_eq!(tools.world.get("root/f"), "\u{feff}new\n".as_bytes());
}

/// Two lines in GBK: `中文内容测试` and the same with more.
const GBK: &[u8] =
    b"\xd6\xd0\xce\xc4\xc4\xda\xc8\xdd\xb2\xe2\xca\xd4\n\xb1\xe0\xc2\xeb\xd6\xd0\xce\xc4 end\n";

#[test]
fn b08_an_edit_in_gbk_leaves_the_other_bytes() {
    let wanted =
        b"\xd6\xd0\xce\xc4\xc4\xda\xc8\xdd\xb2\xe2\xca\xd4\n\xb1\xe0\xc2\xeb\xb2\xe2\xca\xd4 end\n";
    let tools = Tools::with(GBK);
    let answer = tools.edit(
        "replace_range",
        "测试",
        json!({"line": 2, "column": 3, "end_column": 5}),
    );
    assert_eq!(answer.code(), "ok", "{}", answer.raw);
    assert_eq!(tools.file(), wanted.escape_ascii().to_string());
    assert_eq!(answer.done().facts["encoding"], "gb18030");
}

#[test]
fn b09_what_gbk_cannot_spell_is_refused() {
    let tools = Tools::with(GBK);
    let before = tools.world.tree();
    let declared = json!({"line": 1, "create_backup": true, "encoding": "gbk"});
    let answer = tools.edit("replace_line", "\u{1f600}", declared);
    assert_eq!(answer.code(), "unencodable", "{}", answer.raw);
    assert!(
        answer.raw.contains("gb18030"),
        "the hint names the larger set: {}",
        answer.raw
    );
    assert_eq!(
        before.differences(&tools.world.tree()),
        Vec::<String>::new()
    );
}

#[test]
fn b10_the_count_must_be_met() {
    let text = b"aa aa aa";
    check_replace(text, "aa", "b", 1, Err("count_mismatch"));
    check_replace(text, "aa", "b", 3, Ok(b"b b b"));
    check_replace(text, "aa", "b", -1, Ok(b"b b b"));
}

#[test]
fn b11_k10_nothing_to_change_writes_nothing() {
    check_replace(b"aa", "zz", "b", -1, Err("no_match"));
    check_replace(b"aa", "zz", "b", 0, Err("invalid_argument"));
    check_replace(b"aa", "aa", "b", -2, Err("invalid_argument"));
    check_replace(b"aa", "aa", "aa", 1, Err("no_op"));
    check_edit(
        "a\nb\n",
        "replace_line",
        "b",
        json!({"line": 2}),
        Err("no_op"),
    );
}

#[test]
fn b12_an_insertion_is_at_a_place_that_is_there() {
    let at = |line: u64, column: u64| json!({"line": line, "column": column});
    check_edit("ab\ncd", "insert", "X", at(1, 2), Ok("aXb\ncd"));
    check_edit("ab\ncd", "insert", "X", at(2, 99), Err("out_of_range"));
    check_edit("ab\ncd", "insert", "X", at(3, 1), Ok("ab\ncd\nX"));
    check_edit("ab\ncd", "insert", "X", at(3, 2), Err("out_of_range"));
    check_edit("ab\ncd", "insert", "X", at(4, 1), Err("out_of_range"));
    check_edit("ab\ncd", "insert", "X", at(0, 1), Err("out_of_range"));
}

#[test]
fn b13_a_line_is_replaced_with_its_own_break() {
    check_edit(
        "a\nb\nc\n",
        "replace_line",
        "q\n",
        json!({"line": 2}),
        Ok("a\nq\nc\n"),
    );
    check_edit(
        "a\nb\nc\n",
        "replace_line",
        "q",
        json!({"line": 4}),
        Err("out_of_range"),
    );
}

#[test]
fn b14_b15_b16_a_range_ends_before_its_end_and_counts_characters() {
    let range = |end_line: u64, end_column: u64| json!({"line": 1, "column": 2, "end_line": end_line, "end_column": end_column});
    check_edit("abcd", "replace_range", "X", range(1, 3), Ok("aXcd"));
    check_edit("一二三四", "replace_range", "X", range(1, 4), Ok("一X四"));
    check_edit(
        "abcd\nefgh",
        "replace_range",
        "Y",
        json!({"line": 1, "end_line": 2}),
        Ok("Y"),
    );
    check_edit(
        "abcd\nefgh\n",
        "replace_range",
        "Y",
        range(0, 0),
        Ok("aY\nefgh\n"),
    );
    check_edit(
        "abcd",
        "replace_range",
        "X",
        range(1, 9),
        Err("out_of_range"),
    );
    check_edit(
        "abcd",
        "replace_range",
        "X",
        range(3, 1),
        Err("out_of_range"),
    );
}

/// Two edits, by policy: the backups that stand beside the file afterwards.
#[track_caller]
fn check_backups(policy: &[&str], wanted: &[(&str, &str)]) {
    let tools = Tools::over(World::new(), "one\n", policy);
    for (old, new) in [("one", "two"), ("two", "three")] {
        let answer = tools.on_f(
            "edit_file",
            json!({"mode": "replace_text", "old_text": old, "text": new}),
        );
        assert_eq!(answer.code(), "ok", "{}", answer.raw);
    }
    let rest = tools.names().into_iter().filter(|name| name != "f");
    let seen: Vec<_> = rest
        .map(|name| {
            let text = tools.world.get(&format!("root/{name}"));
            (name, String::from_utf8(text).unwrap())
        })
        .collect();
    let wanted: Vec<_> = wanted
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    assert_eq!(seen, wanted);
}

#[test]
fn b17_k5_backups_are_the_successive_originals() {
    check_backups(
        &["--backup", "keep"],
        &[("f.bak", "one\n"), ("f.bak.1", "two\n")],
    );
    check_backups(&[], &[("f.bak", "two\n")]);
    check_backups(&["--backup", "single"], &[("f.bak", "two\n")]);
    check_backups(&["--backup", "off"], &[]);
}

#[test]
fn b18_a_backup_is_never_written_through_a_link() {
    for policy in ["single", "keep"] {
        let world = World::new();
        world
            .put("out/secret", CANARY)
            .link("root/f.bak", "../out/secret");
        let tools = Tools::over(world, "one\n", &["--backup", policy]);
        let outside = tools.world.outside();
        let answer = tools.replace("one", "two", 1);
        assert_eq!(
            outside.differences(&tools.world.outside()),
            Vec::<String>::new()
        );
        let backups: Vec<_> = tools
            .names()
            .into_iter()
            .filter(|name| name.starts_with("f.bak"))
            .collect();
        let regular = backups
            .iter()
            .find(|name| !tools.world.root().join(name).is_symlink());
        match answer.code() {
            "ok" => {
                assert_eq!(tools.file(), "two\\n");
                let name = regular.expect("a backup that is a file");
                assert_eq!(tools.world.get(&format!("root/{name}")), b"one\n");
            }
            code => {
                assert_eq!(
                    (code, tools.file().as_str()),
                    ("backup_failed", "one\\n"),
                    "{policy}"
                );
                assert_eq!(backups, ["f.bak"]);
            }
        }
    }
}

#[test]
fn b19_a_file_is_not_moved_or_copied_onto_itself() {
    let tools = Tools::with("one\n");
    std::fs::hard_link(tools.world.path("root/f"), tools.world.path("root/same")).unwrap();
    tools.world.link("root/link", "f");
    let before = tools.world.tree();
    for tool in ["move_file", "copy_file"] {
        for (from, to) in [
            ("f", "f"),
            ("f", "./f"),
            ("f", "ws:f"),
            ("f", "same"),
            ("same", "f"),
        ] {
            let answer = tools.tool(
                tool,
                &json!({"src_path": from, "dst_path": to, "overwrite": true}),
            );
            assert_eq!(
                answer.code(),
                "invalid_argument",
                "{tool} {from} {to}: {}",
                answer.raw
            );
            assert_eq!(answer.refusal().fields["field"], "dst_path");
        }
    }
    let answer = tools.tool(
        "copy_file",
        &json!({"src_path": "f", "dst_path": "link", "overwrite": true}),
    );
    assert_eq!(answer.code(), "invalid_argument", "{}", answer.raw);
    assert_eq!(
        before.differences(&tools.world.tree()),
        Vec::<String>::new()
    );
}

#[test]
fn b20_a_link_is_deleted_and_moved_itself() {
    let tools = Tools::with("one\n");
    tools.world.link("root/link", "f").link("root/other", "f");
    assert_eq!(
        tools.tool("delete_file", &json!({"path": "link"})).shown(),
        "OK: deleted: link"
    );
    let moved = tools.tool(
        "move_file",
        &json!({"src_path": "other", "dst_path": "moved"}),
    );
    assert_eq!(moved.done().facts["type"], "link");
    assert_eq!(tools.names(), ["f", "moved"]);
    assert_eq!(
        tools.world.path("root/moved").read_link().unwrap(),
        Path::new("f")
    );
    assert_eq!(tools.file(), "one\\n");
}

#[test]
fn b21_half_a_character_is_refused() {
    let tools = Tools::with("keep me");
    let call = r#"{"jsonrpc":"2.0","id":900001,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"f","content":"\ud800"}}}"#;
    tools.mcp.wire.send(call);
    let answer = tools
        .mcp
        .wire
        .stray(tests::wire::TIMEOUT)
        .expect("an answer");
    let answer = parse(&answer);
    let refused = answer["error"]["code"].is_i64() || answer["result"]["isError"] == true;
    assert!(refused, "{answer}");
    assert_eq!(tools.file(), "keep me");
    assert_eq!(
        tools.on_f("read_file", json!({})).shown(),
        "keep me",
        "the session goes on"
    );
}

#[test]
fn b22_an_append_is_in_the_encoding_of_the_file() {
    let tools = Tools::with(GBK);
    let answer = tools.on_f("append_file", json!({"content": "中文\n"}));
    assert_eq!(answer.code(), "ok", "{}", answer.raw);
    assert_eq!(
        tools.world.get("root/f"),
        [GBK, b"\xd6\xd0\xce\xc4\n"].concat()
    );
    let emoji = tools.on_f(
        "append_file",
        json!({"content": "\u{1f600}", "encoding": "gbk"}),
    );
    assert_eq!(emoji.code(), "unencodable");
    let absent = tools.tool("append_file", &json!({"path": "new/file", "content": "x"}));
    assert_eq!(absent.code(), "ok");
    assert_eq!(tools.world.get("root/new/file"), b"x");
}

#[test]
fn b23_all_tools_count_the_same_lines() {
    let text = "a\u{2028}b\u{c}c\u{85}d\re";
    let tools = Tools::with(text);
    let range = tools.range(json!({}));
    assert_eq!(
        range.shown(),
        format!("File: f\nEncoding: utf-8\nLines: 1\n\n1: {text}")
    );
    assert_eq!(
        tools.edit("replace_line", "x", json!({"line": 2})).code(),
        "out_of_range"
    );
    let found = tools.search("d", json!({}));
    assert_eq!(found.shown(), format!("f:1:{text}"));
    assert_eq!(
        tools.edit("replace_line", "x", json!({"line": 1})).code(),
        "ok"
    );
    assert_eq!(tools.file(), "x");
}

#[test]
fn b24_a_file_has_one_encoding() {
    let mut text = b"plain ascii line\n".repeat(5000);
    text.extend(GBK);
    let tools = Tools::with(text);
    let encoding = |more: Value| {
        let answer = tools.range(more);
        let header = answer.shown().lines().nth(1).map(str::to_owned);
        (header, answer.done().facts["encoding"].clone())
    };
    let head = encoding(json!({"max_lines": 2}));
    assert_eq!(head, encoding(json!({"tail": 2})));
    assert_eq!(
        head,
        (Some("Encoding: gb18030".to_owned()), json!("gb18030"))
    );
}

#[test]
fn b25_a_query_is_no_option() {
    let tools = Tools::with("one\n--files two\n-x\n--pre=PROG\n-e\n");
    let program = tools.world.path("root/prog");
    // The random name of the folder must not stand in a file that is searched.
    let script = "#!/bin/sh\ntouch \"${0%root/prog}ran\"\n";
    tools.world.put("root/prog", script);
    chmod(&program, "0755");
    let check = |query: &str, shown: &str| {
        assert_eq!(tools.search(query, json!({})).shown(), shown, "{query}");
    };
    check("--files", "f:2:--files two");
    check("-x", "f:3:-x");
    check("--pre=PROG", "f:4:--pre=PROG");
    check("-e", "f:5:-e");
    check(&format!("--pre={}", program.display()), "(no matches)");
    check("--", "f:2:--files two\nf:4:--pre=PROG");
    assert!(!tools.world.path("ran").exists(), "nothing was run");
    let named = tools.search("-x", json!({"mode": "name"}));
    assert_eq!(named.shown(), "(no matches)");
}

#[test]
fn b26_a_link_is_shown_and_not_entered() {
    let tools = Tools::empty();
    tools
        .world
        .put("root/d/f", "x")
        .link("root/d/self", ".")
        .link("root/d/up", "..");
    let tree = tools.tool("tree_dir", &json!({"path": ".", "max_depth": 50}));
    assert_eq!(
        tree.shown(),
        ".\n`-- d/\n    |-- f\n    |-- self@\n    `-- up@"
    );
}

#[test]
fn b27_a_tree_is_cut_only_when_something_is_left() {
    let tools = Tools::empty();
    for name in ["b/x", "b/y", "a"] {
        tools.world.put(&format!("root/{name}"), "");
    }
    let tree = |limit: u64| tools.tool("tree_dir", &json!({"path": ".", "max_entries": limit}));
    assert_eq!(tree(4).shown(), ".\n|-- b/\n|   |-- x\n|   `-- y\n`-- a");
    assert_eq!(tree(4).done().facts["truncated"], false);
    assert_eq!(
        tree(3).shown(),
        ".\n|-- b/\n|   |-- x\n|   `-- y\n... (truncated at 3 entries)"
    );
    assert_eq!(tree(3).done().facts["truncated"], true);
    let flat = tools.tool("tree_dir", &json!({"path": ".", "max_depth": 1}));
    assert_eq!(flat.shown(), ".\n|-- b/\n`-- a");
    let none = tools.tool("tree_dir", &json!({"path": "b", "max_depth": 0}));
    assert_eq!(none.shown(), "b");
}

#[test]
fn b28_no_other_program_has_a_part_in_a_search() {
    let world = World::new();
    world
        .put("root/f", "needle\n")
        .put("root/node_modules/g", "needle\n");
    let fake = format!(
        "#!/bin/sh\ntouch {}\necho f:9:fake\n",
        world.path("ran").display()
    );
    for name in ["rg", "fd", "fdfind", "grep", "find", "git"] {
        world.put(&format!("bin/{name}"), &fake);
        chmod(&world.path("bin").join(name), "0755");
    }
    let ask = |path: &str| {
        let mut command = command();
        command.env("PATH", path).args(arguments(&world.settings()));
        let mcp = Mcp::of(&mut command);
        let call = |mode: &str| {
            mcp.tool("search_files", &json!({"query": "needle", "mode": mode}))
                .shown()
        };
        ["text", "file", "code"].map(call)
    };
    let with = ask(world.path("bin").to_str().unwrap());
    assert_eq!(with, ask("/nonexistent"));
    assert_eq!(with[0], "f:1:needle");
    assert!(!world.path("ran").exists(), "nothing was run");
}

#[test]
fn b29_context_that_touches_is_merged() {
    let hits = "hit\n".repeat(5);
    let answer = Tools::with(hits).search("hit", json!({"context_lines": 1}));
    assert_eq!(
        answer.shown(),
        "f:1:hit\nf:2:hit\nf:3:hit\nf:4:hit\nf:5:hit"
    );
    let text = "hit\na\nb\nc\nhit\nd\n";
    let answer = Tools::with(text).search("hit", json!({"context_lines": 1}));
    assert_eq!(answer.shown(), "f:1:hit\nf-2-a\n--\nf-4-c\nf:5:hit\nf-6-d");
    let answer = Tools::with(text).search("hit", json!({}));
    assert_eq!(answer.shown(), "f:1:hit\nf:5:hit");
}

#[test]
fn b30_names_are_names_and_no_paths() {
    let tools = Tools::empty();
    tools
        .world
        .put("root/parent/a.txt", "")
        .put("root/parent/parent.md", "")
        .put("root/x", "");
    let find = |query: &str, more: Value| {
        let mut all = json!({"mode": "file"});
        merge(&mut all, more);
        tools.search(query, all).shown()
    };
    assert_eq!(find("parent", json!({})), "parent/\nparent/parent.md");
    assert_eq!(
        find("root", json!({})),
        "(no matches)",
        "what is above the root has no part in it"
    );
    assert_eq!(find("*.TXT", json!({})), "(no matches)");
    assert_eq!(find("*.txt", json!({})), "parent/a.txt");
    assert_eq!(find("^a.*t$", json!({"regex": true})), "parent/a.txt");
    assert_eq!(find("zzz", json!({"file_glob": "*.txt"})), "(no matches)");
    assert_eq!(find("a", json!({"file_glob": "*.txt"})), "parent/a.txt");
}

#[test]
fn b31_a_text_that_looks_like_an_error_is_none() {
    for text in ["ERROR: all is well\n", "OK: nothing\n"] {
        let answer = Tools::with(text).on_f("read_file", json!({}));
        assert_eq!(answer.shown(), text);
    }
}

/// Each switch and each class of operations is in `switches`.
#[test]
fn b32_a_switch_for_reading_lets_nothing_be_written_or_deleted() {
    let world = World::new();
    world.put("out/secret", CANARY);
    let mut settings = world.settings();
    settings.outside = vec!["read".to_owned()];
    let mcp = Mcp::start(&settings);
    let path = world.expand("${OUT}/secret");
    assert_eq!(
        mcp.tool("read_file", &json!({"path": path})).shown(),
        CANARY
    );
    let write = mcp.tool("write_file", &json!({"path": path, "content": "X"}));
    let delete = mcp.tool("delete_file", &json!({"path": path}));
    assert_eq!([write.code(), delete.code()], ["denied_by_policy"; 2]);
    assert_eq!(world.get("out/secret"), CANARY.as_bytes());
}

#[test]
fn k1_k2_an_lf_in_the_old_text_is_any_break_and_a_lone_cr_is_none() {
    check_replace(b"alpha\nbeta\n", "alpha\nbeta", "x\ny", 1, Ok(b"x\ny\n"));
    check_replace(
        b"alpha\r\nbeta\r\n",
        "alpha\nbeta",
        "x\ny",
        1,
        Ok(b"x\r\ny\r\n"),
    );
    check_replace(b"alpha\rbeta\r", "alpha\nbeta", "x\ny", 1, Err("no_match"));
    check_replace(b"a\r\nb\nc\rd", "b\nc", "B\nC", 1, Ok(b"a\r\nB\nC\rd"));
}

#[test]
fn k3_a_replaced_last_line_stays_without_a_break() {
    check_edit("a\nb", "replace_line", "c", json!({"line": 2}), Ok("a\nc"));
    check_edit(
        "a\nb",
        "replace_line",
        "c\n",
        json!({"line": 2}),
        Ok("a\nc"),
    );
}

#[test]
fn k4_a_stale_version_is_refused() {
    let tools = Tools::with("one\n");
    let version = tools
        .on_f("read_file", json!({"version": true}))
        .done()
        .facts["version"]
        .clone();
    tools.world.put("root/f", "other\none\n");
    let before = tools.world.tree();
    let more = json!({"line": 1, "if_version": version, "create_backup": true});
    let answers = [
        tools.edit("replace_line", "x", more),
        tools.on_f("write_file", json!({"content": "x", "if_version": version})),
        tools.on_f(
            "append_file",
            json!({"content": "x", "if_version": version}),
        ),
    ];
    for answer in answers {
        assert_eq!(answer.code(), "conflict", "{}", answer.raw);
    }
    assert_eq!(
        before.differences(&tools.world.tree()),
        Vec::<String>::new()
    );
}

#[test]
fn k6_a_name_that_cannot_be_replaced_keeps_its_file() {
    let conditions = Conditions {
        own_mounts: true,
        ..Conditions::default()
    };
    if !conditions.are_possible() {
        return skip("a mount takes root");
    }
    let world = World::new();
    conditions.run(|| {
        let tools = Tools::over(world, "one\n", &[]);
        let file = tools.world.path("root/f");
        bind(&file, &file);
        tools.world.put("root/other", "two\n");
        let tools = Tools {
            mcp: Mcp::start(&tools.world.settings()),
            world: tools.world,
        };
        let before = tools.world.tree();
        let answers = [
            tools.replace("one", "two", 1),
            tools.on_f("write_file", json!({"content": "x"})),
            tools.tool(
                "move_file",
                &json!({"src_path": "other", "dst_path": "f", "overwrite": true}),
            ),
            tools.tool(
                "copy_file",
                &json!({"src_path": "other", "dst_path": "f", "overwrite": true}),
            ),
        ];
        for answer in answers {
            assert_eq!(answer.code(), "not_replaceable", "{}", answer.raw);
        }
        assert_eq!(
            before.differences(&tools.world.tree()),
            Vec::<String>::new()
        );
    });
}

#[test]
fn k7_a_cut_falls_between_characters() {
    let line = "中".repeat(100_000);
    let tools = Tools::with(&line);
    let mut seen = String::new();
    let mut column = Some(1);
    while let Some(from) = column {
        let answer = tools.range(json!({"column": from}));
        let shown = answer.shown();
        let text = shown.split_once("\n\n1: ").expect("a line").1.to_owned();
        assert!(text.chars().all(|c| c == '中'), "no half characters");
        assert!(shown.len() <= 66 << 10, "{} bytes", shown.len());
        seen.push_str(&text);
        column = answer.done().facts["next"]["column"].as_u64();
    }
    assert_eq!(seen, line);
    let half = Tools::with(&"中文".as_bytes()[..4]);
    let shown = half.on_f("read_file", json!({}));
    assert!(
        shown.done().facts["lossy"] == true || shown.done().facts["encoding"] != "utf-8",
        "{}",
        shown.raw
    );
}

#[test]
fn k8_a_listing_goes_on_after_its_last_entry() {
    let tools = Tools::empty();
    for name in ["a", "b", "c", "d/x", "e/x"] {
        tools.world.put(&format!("root/{name}"), "1");
    }
    let list = |more: Value| {
        let mut all = json!({"path": "."});
        merge(&mut all, more);
        tools.tool("list_dir", &all)
    };
    let first = list(json!({"limit": 2}));
    assert_eq!(
        first.shown(),
        "Directory: .  (5 items)\n[D] d  (-)\n[D] e  (-)"
    );
    let rest = list(json!({"after": first.done().facts["next"]}));
    assert_eq!(
        rest.shown(),
        "Directory: .  (5 items)\n[F] a  (1 B)\n[F] b  (1 B)\n[F] c  (1 B)"
    );
    assert!(rest.done().facts["next"].is_null());
    tools
        .world
        .clear("root")
        .put("root/d/.keep", "")
        .clear("root/d");
    assert_eq!(
        tools.tool("list_dir", &json!({"path": "d"})).shown(),
        "Directory: d  (0 items)\n(empty)"
    );
}

#[test]
fn k11_large_files_are_counted_and_all_texts_are_searched() {
    let tools = Tools::empty();
    let large = json!({"op": "file", "path": "root/large", "text": "needle\n", "size": 65 << 20});
    tools.world.set_up(&large);
    tools
        .world
        .put("root/README", "needle\n")
        .put("root/a.svg", "<svg>needle</svg>\n");
    let answer = tools.search("needle", json!({}));
    assert_eq!(answer.shown(), "README:1:needle\na.svg:1:<svg>needle</svg>");
    assert_eq!(answer.done().facts["skipped"], json!({"too_large": 1}));
    assert!(
        answer.done().hint.contains("1 too large"),
        "{:?}",
        answer.done().hint
    );
}

#[test]
fn changes_answer_with_the_file_as_an_artifact() {
    let tools = Tools::with("one\n");
    let artifact = |answer: &Answer| {
        let text = answer.shown();
        let object: Value = serde_json::from_str(&text).expect("an object");
        assert_eq!(object["success"], true);
        assert!(object["message"].is_string());
        object["artifacts"].clone()
    };
    let at = |path: &str, kind: &str, size: u64, mime: Option<&str>| {
        let name = path.rsplit(['/', ':']).next().unwrap();
        let mut wanted = json!({"kind": kind, "name": name, "path": path, "size": size});
        if let Some(mime) = mime {
            merge(&mut wanted, json!({"mimeType": mime}));
        }
        json!([wanted])
    };
    let call = |tool: &str, arguments: Value| artifact(&tools.tool(tool, &arguments));
    let text = Some("text/plain");
    assert_eq!(
        call("write_file", json!({"path": "d/中.txt", "content": "é"})),
        at("d/中.txt", "file", 2, text)
    );
    assert_eq!(
        call(
            "append_file",
            json!({"path": "ws:d/中.txt", "content": "\n"})
        ),
        at("ws:d/中.txt", "file", 3, text)
    );
    let edit = json!({"path": "f", "mode": "insert", "text": "X", "create_backup": false});
    assert_eq!(call("edit_file", edit), at("f", "file", 5, None));
    let copy = json!({"src_path": "f", "dst_path": "new/f.png"});
    assert_eq!(
        call("copy_file", copy),
        at("new/f.png", "image", 5, Some("image/png"))
    );
    let moved = json!({"src_path": "new/f.png", "dst_path": "g.md"});
    assert_eq!(
        call("move_file", moved),
        at("g.md", "file", 5, Some("text/markdown"))
    );
}

#[test]
fn the_other_changes_answer_ok() {
    let tools = Tools::with("one\n");
    let make = |more: Value| {
        let mut all = json!({"path": "d/e"});
        merge(&mut all, more);
        tools.tool("make_dir", &all)
    };
    assert_eq!(make(json!({"parents": false})).code(), "not_found");
    assert_eq!(make(json!({})).shown(), "OK: directory created: d/e");
    assert_eq!(make(json!({})).shown(), "OK: directory exists: d/e");
    assert_eq!(make(json!({"exist_ok": false})).code(), "already_exists");
    assert_eq!(make(json!({"path": "f"})).code(), "already_exists");
    assert_eq!(make(json!({"path": "f/x"})).code(), "not_a_directory");
    assert_eq!(
        tools.tool("delete_file", &json!({"path": "d"})).code(),
        "is_a_directory"
    );
    assert_eq!(
        tools.tool("delete_file", &json!({"path": "f"})).shown(),
        "OK: deleted: f"
    );
    assert_eq!(
        tools.tool("delete_file", &json!({"path": "f"})).code(),
        "not_found"
    );
    assert_eq!(tools.names(), ["d"]);
}

#[test]
fn a_description_has_six_lines() {
    let tools = Tools::with("x".repeat(1536));
    tools.world.link("root/link", "f");
    let shown = tools.on_f("stat_file", json!({})).shown();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        (lines.len(), &lines[..3]),
        (
            6,
            &["Path: f", "Type: file", "Size: 1536 bytes (1.5 KB)"][..]
        )
    );
    let time = |line: &str, name: &str| {
        let time = line
            .strip_prefix(name)
            .unwrap_or_else(|| panic!("{line} begins with {name}"));
        assert!(
            time.len() == 20 && time.ends_with('Z') && time.get(10..11) == Some("T"),
            "{time}"
        );
    };
    time(lines[3], "Modified: ");
    time(lines[4], "Created: ");
    assert_eq!(lines[5], "Exists: true");
    let kind =
        |path: &str| tools.tool("stat_file", &json!({"path": path})).done().facts["type"].clone();
    assert_eq!(
        [kind("link"), kind(".")],
        [json!("link"), json!("directory")]
    );
    assert_eq!(
        tools.tool("stat_file", &json!({"path": "missing"})).code(),
        "not_found"
    );
}

#[test]
fn a_copy_and_a_move_keep_mode_and_times() {
    let tools = Tools::with("one\n");
    let file = tools.world.path("root/f");
    chmod(&file, "0754");
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(then)
        .unwrap();
    let call = |tool: &str, from: &str, to: &str, overwrite: bool| {
        tools.tool(
            tool,
            &json!({"src_path": from, "dst_path": to, "overwrite": overwrite}),
        )
    };
    assert_eq!(call("copy_file", "f", "a/copy", false).code(), "ok");
    assert_eq!(call("move_file", "f", "b/moved", false).code(), "ok");
    for name in ["root/a/copy", "root/b/moved"] {
        let meta = tools.world.path(name).metadata().unwrap();
        assert_eq!(
            (meta.permissions().mode() & 0o7777, meta.mtime()),
            (0o754, 1_000_000_000),
            "{name}"
        );
        assert_eq!(tools.world.get(name), b"one\n");
    }
    assert_eq!(tools.names(), ["a", "b"]);
    tools.world.put("root/there", "two\n");
    assert_eq!(
        call("copy_file", "a/copy", "there", false).code(),
        "already_exists"
    );
    assert_eq!(
        call("move_file", "a/copy", "there", false).code(),
        "already_exists"
    );
    assert_eq!(tools.world.get("root/there"), b"two\n");
    assert_eq!(
        call("move_file", "a/copy", "there", true).done().facts["replaced"],
        true
    );
    assert_eq!(tools.world.get("root/there"), b"one\n");
}

/// Two roots, one of them named `user`: what each scope searches, and how what is found is named.
#[test]
fn a_scope_is_the_roots_that_it_names() {
    let world = World::new();
    world
        .put("root/a", "needle\n")
        .put("home/b", "needle\n")
        .put("home/d/c", "needle\n");
    let mut settings = world.settings();
    settings.roots.push(tests::Root {
        name: "user".to_owned(),
        path: world.path("home"),
        rights: ["read", "edit", "delete"].map(str::to_owned).to_vec(),
    });
    let mcp = Mcp::start(&settings);
    let find = |more: Value| {
        let mut all = json!({"query": "needle"});
        merge(&mut all, more);
        mcp.tool("search_files", &all)
    };
    assert_eq!(find(json!({})).shown(), "a:1:needle");
    assert_eq!(
        find(json!({"scope": "user"})).shown(),
        "user:b:1:needle\nuser:d/c:1:needle"
    );
    let both = find(json!({"scope": "both"}));
    assert_eq!(
        both.shown(),
        "a:1:needle\nuser:b:1:needle\nuser:d/c:1:needle"
    );
    assert_eq!(
        find(json!({"scope": "user", "root": "user:d"})).shown(),
        "user:d/c:1:needle"
    );
    let cut = find(json!({"scope": "both", "max_results": 2}));
    assert_eq!(cut.shown(), "a:1:needle\nuser:b:1:needle");
    assert_eq!(
        cut.done().facts["truncated"],
        "results",
        "one limit for the whole answer"
    );
    let exact = find(json!({"scope": "both", "max_results": 3}));
    assert!(exact.done().facts["truncated"].is_null());
    assert_eq!(
        mcp.tool("read_file", &json!({"path": "user:d/c"})).shown(),
        "needle\n",
        "found paths are taken back"
    );
    let alone = Mcp::start(&world.settings());
    let refused = alone.tool("search_files", &json!({"query": "needle", "scope": "user"}));
    assert_eq!(
        (refused.code(), &refused.refusal().fields["field"]),
        ("invalid_argument", &json!("scope"))
    );
}

#[test]
fn a_definition_is_found_and_its_uses_are_not() {
    let tools = Tools::empty();
    tools
        .world
        .put("root/a.rs", "// open_file\nuse x::open_file;\npub(crate) async fn open_file() {}\nfn main() { open_file(); }\n")
        .put("root/b.go", "func (s *Srv) open_file() {}\n")
        .put("root/c.py", "class A:\n    def open_file(self):\n        return 'def open_file'\n")
        .put("root/d.swift", "public func open_file() {}\n")
        .put("root/e.txt", "def open_file\n");
    let found = tools.search("open_file", json!({"mode": "code"}));
    assert_eq!(
        found.shown(),
        "a.rs:3:pub(crate) async fn open_file() {}\nb.go:1:func (s *Srv) open_file() {}\n\
         c.py:2:    def open_file(self):\nd.swift:1:public func open_file() {}"
    );
    let one = tools.search("open_file", json!({"mode": "code", "file_glob": "*.go"}));
    assert_eq!(one.shown(), "b.go:1:func (s *Srv) open_file() {}");
    assert_eq!(
        tools.search("file", json!({"mode": "code"})).shown(),
        "(no matches)"
    );
}

#[test]
fn read_file_stops_at_its_limit_before_it_reads() {
    let world = World::new();
    let tools = Tools::over(world, "x".repeat(3 << 20), &[]);
    assert_eq!(tools.on_f("read_file", json!({})).shown().len(), 3 << 20);
    tools.world.put("root/f", "x".repeat((4 << 20) + 1));
    let answer = tools.on_f("read_file", json!({}));
    assert_eq!(
        (answer.code(), &answer.refusal().fields["size"]),
        ("too_large", &json!((4 << 20) + 1))
    );
    assert!(answer.raw.contains("read_file_range"), "{}", answer.raw);
    let free = Tools::over(
        World::new(),
        "x".repeat(5 << 20),
        &["--max-read-bytes", "0"],
    );
    assert_eq!(free.on_f("read_file", json!({})).shown().len(), 5 << 20);
}

/// What may be sent back as it was found: a name that is not UTF-8, one with a line break.
#[test]
fn odd_names_are_shown_on_one_line_and_taken_back() {
    use std::os::unix::ffi::OsStrExt as _;
    let tools = Tools::empty();
    let names: [&[u8]; 3] = [b"a\nb", b"caf\xe9", b"tab\t"];
    for name in names {
        let path = tools.world.root().join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, "needle\n").unwrap();
    }
    let found = tools.search("needle", json!({}));
    let paths: Vec<&str> = {
        let lines = found.done().text.lines();
        lines
            .map(|line| line.strip_suffix(":1:needle").expect("one line a hit"))
            .collect()
    };
    assert_eq!(paths.len(), 3, "{}", found.raw);
    let names = tools.search("*", json!({"mode": "name"}));
    assert_eq!(names.done().text.lines().collect::<Vec<_>>(), paths);
    for path in paths {
        let read = tools.tool("read_file", &json!({"path": path}));
        assert_eq!(read.shown(), "needle\n", "{path}");
    }
}

/// The base64 of a case stands for bytes that are no text in JSON.
#[test]
fn a_binary_file_is_refused_by_each_reader() {
    let tools = Tools::with(bytes(&"f0VMRgACAQ==".into()));
    for tool in ["read_file", "read_file_range"] {
        assert_eq!(tools.on_f(tool, json!({})).code(), "binary_file");
    }
    let found = tools.search("ELF", json!({}));
    assert_eq!(
        (found.shown().as_str(), &found.done().facts["skipped"]),
        ("(no matches)", &json!({"binary": 1}))
    );
}
