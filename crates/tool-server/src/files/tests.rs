use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use fs_sandbox::{Rights, Workspace};
use serde_json::{Value, json};

use crate::{Call, CallError, Settings, Toolbox};

/// A root `box`, with `box2` and `out` beside it.
struct World {
    base: tempfile::TempDir,
    toolbox: Toolbox,
}

/// What a call answered: its blocks, or its code and words.
type Answer = Result<Vec<String>, String>;

impl World {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        for name in ["box", "box2", "out"] {
            fs::create_dir(base.path().join(name)).unwrap();
        }
        let root = base.path().join("box");
        let workspace = Workspace::builder().root("workspace", &root, Rights::ALL);
        let toolbox = Toolbox::new(workspace.build().unwrap(), Settings::default());
        Self { base, toolbox }
    }

    fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let world = Self::new();
        fs::write(world.path(name), content).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join("box").join(name)
    }

    fn out(&self, name: &str) -> PathBuf {
        self.base.path().join("out").join(name)
    }

    fn bytes(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let (blocks, _) = self.full(tool, arguments)?;
        Ok(blocks)
    }

    fn full(&self, tool: &str, arguments: &Value) -> Result<(Vec<String>, Value), String> {
        let arguments = arguments.as_object().cloned().unwrap();
        match self.toolbox.call(tool, arguments, &Call::default()) {
            Ok(output) => {
                let (text, further, facts) = output.into_parts();
                let blocks = std::iter::once(text).chain(further).collect();
                Ok((blocks, facts.into()))
            }
            Err(error @ CallError::Failed(_)) => Err(error.to_string()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[track_caller]
fn check(answer: &Answer, expected: &[&str]) {
    let blocks: Vec<&str> = answer
        .as_ref()
        .unwrap()
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(blocks, expected);
}

#[track_caller]
fn check_fails(answer: &Answer, code: &str, says: &str) {
    let error = answer.as_ref().unwrap_err();
    assert!(error.starts_with(&format!("{code}: ")), "{error}");
    assert!(error.contains(says), "{error}");
}

#[track_caller]
fn check_read(content: &str, arguments: Value, expected: &[&str]) {
    let world = World::with("f", content);
    check(&read(&world, arguments), expected);
}

fn read(world: &World, mut arguments: Value) -> Answer {
    arguments["path"] = json!("f");
    world.call("files_read", &arguments)
}

#[track_caller]
fn check_insert(content: &str, line: u64, text: &str, expected: &str) {
    let world = World::with("f", content);
    let answer = insert(&world, line, text);
    let bytes = text.len();
    let done = format!("Inserted {bytes} bytes at line {line} in f");
    check(&answer, &[done.as_str()]);
    assert_eq!(world.bytes("f"), expected);
}

fn insert(world: &World, line: u64, text: &str) -> Answer {
    let arguments = json!({"path": "f", "content": text, "mode": "insert", "line": line});
    world.call("files_write", &arguments)
}

fn edit(world: &World, edits: &[(&str, &str)]) -> Answer {
    let edits: Vec<Value> = edits
        .iter()
        .map(|(old, new)| json!({"old": old, "new": new}))
        .collect();
    world.call("files_edit", &json!({"path": "f", "edits": edits}))
}

#[track_caller]
fn check_edit_fails(content: &str, edits: &[(&str, &str)], code: &str, says: &str) {
    let world = World::with("f", content);
    check_fails(&edit(&world, edits), code, says);
    assert_eq!(world.bytes("f"), content, "the file as it was");
    assert_eq!(
        fs::read_dir(world.path("")).unwrap().count(),
        1,
        "nothing beside it"
    );
}

#[test]
fn a_window_says_where_it_stands_and_how_to_go_on() {
    check_read("a\nb\n", json!({}), &["a\nb\n"]);
    let more = "[Showing lines 1-1 of 2. Use offset=2 to continue.]";
    check_read("a\nb\n", json!({"limit": 1}), &["a\n", more]);
    check_read("a\nb\n", json!({"offset": 2}), &["b\n", "[2 lines total]"]);
    check_read(
        "a\nb\n",
        json!({"tail": 1}),
        &["b\n", "[Showing lines 2-2 of 2.]"],
    );
    check_read("a\nb\n", json!({"tail": 9}), &["a\nb\n"]);
    check_read(
        "a\r\nb\r\n",
        json!({"limit": 1}),
        &["a\r\n", &format!("{more}\n[CRLF]")],
    );
}

#[test]
fn an_offset_past_the_end_says_how_many_lines_there_are() {
    let world = World::with("f", "a\nb\n");
    let says = "offset 3 exceeds file length (2 lines): f";
    check_fails(&read(&world, json!({"offset": 3})), "out_of_range", says);
    check_fails(
        &read(&world, json!({"offset": 4})),
        "out_of_range",
        "(2 lines)",
    );
    let empty = World::with("f", "");
    check(&read(&empty, json!({})), &[""]);
    check(&read(&empty, json!({"offset": 1})), &[""]);
    check_fails(
        &read(&empty, json!({"offset": 2})),
        "out_of_range",
        "(0 lines)",
    );
}

#[test]
fn nought_is_absent_and_less_is_refused() {
    check_read(
        "a\nb\n",
        json!({"offset": 0, "limit": 0, "tail": 0, "column": 0}),
        &["a\nb\n"],
    );
    let world = World::with("f", "a\nb\n");
    check_fails(
        &read(&world, json!({"offset": -3})),
        "invalid_argument",
        "offset",
    );
    check_fails(
        &read(&world, json!({"tail": 1, "offset": 1})),
        "invalid_argument",
        "tail",
    );
    check_fails(
        &read(&world, json!({"encoding": "klingon"})),
        "invalid_argument",
        "encoding",
    );
}

#[test]
fn a_number_over_its_cap_is_clamped_and_that_is_said() {
    let clamped = "[limit 1e+30 clamped to 50000]";
    check_read("a\nb\n", json!({"limit": 1e30}), &["a\nb\n", clamped]);
}

#[test]
fn without_a_limit_an_answer_is_short() {
    let lines = |count: usize| "x\n".repeat(count);
    let more = "[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]";
    check_read(&lines(2001), json!({}), &[&lines(2000), more]);
    check_read(&lines(2001), json!({"limit": 5000}), &[&lines(2001)]);
    let wide = format!("{}\n", "y".repeat(999)).repeat(100);
    let world = World::with("f", &wide);
    let (blocks, facts) = world.full("files_read", &json!({"path": "f"})).unwrap();
    assert_eq!(blocks[0].len(), 65_000);
    assert_eq!(
        blocks[1],
        "[Showing lines 1-65 of 100. Use offset=66 to continue.]"
    );
    assert_eq!(facts["truncated"], true);
    assert_eq!(facts["next"], json!({"line": 66, "column": 1}));
    let (blocks, _) = world
        .full("files_read", &json!({"path": "f", "limit": 100}))
        .unwrap();
    assert_eq!(blocks, [wide]);
}

#[test]
fn a_long_line_is_cut_and_read_on_by_column() {
    let world = World::with("f", format!("a\n{}\nb\n", "é".repeat(3000)));
    let cut = read(&world, json!({})).unwrap();
    assert_eq!(cut[0].chars().filter(|c| *c == 'é').count(), 2000);
    assert_eq!(cut[1], "[line 2 cut: column=2001 goes on]");
    let rest = read(&world, json!({"offset": 2, "column": 2001})).unwrap();
    assert_eq!(
        rest,
        [
            format!("{}\nb\n", "é".repeat(1000)),
            "[3 lines total]".to_owned()
        ]
    );
}

#[test]
fn what_is_not_plain_is_said_once() {
    let check = |bytes: &[u8], arguments: Value, expected: &[&str]| {
        check(&read(&World::with("f", bytes), arguments), expected);
    };
    check(
        b"\xEF\xBB\xBFhi\n",
        json!({}),
        &["hi\n", "[utf-8 with BOM]"],
    );
    check(
        b"\xFF\xFEh\0\n\0",
        json!({}),
        &["h\n", "[utf-16le with BOM]"],
    );
    check(b"a\r\nb\n", json!({}), &["a\r\nb\n", "[mixed line breaks]"]);
    check(
        "中文内容一切正常，没有任何问题"
            .as_bytes()
            .iter()
            .copied()
            .chain(*b"\xFF\n")
            .collect::<Vec<_>>()
            .as_slice(),
        json!({}),
        &[
            "中文内容一切正常，没有任何问题\u{FFFD}\n",
            "[1 bad sequence shown with U+FFFD]",
        ],
    );
    let gbk = b"\xD6\xD0\xCE\xC4\xC4\xDA\xC8\xDD\xB2\xE2\xCA\xD4\r\n";
    let text = "中文内容测试\r\n";
    check(gbk, json!({}), &[text, "[gb18030 by guess, CRLF]"]);
    check(
        gbk,
        json!({"encoding": "gb18030"}),
        &[text, "[gb18030, CRLF]"],
    );
}

#[test]
fn a_version_is_shown_when_asked_for_and_guards_a_change() {
    let world = World::with("f", "a\n");
    let (blocks, facts) = world
        .full("files_read", &json!({"path": "f", "version": true}))
        .unwrap();
    let version = facts["version"].as_str().unwrap().to_owned();
    assert_eq!(blocks[1], format!("[version {version}]"));
    let write = |text: &str, version: &str| {
        let arguments = json!({"path": "f", "content": text, "if_version": version});
        world.full("files_write", &arguments)
    };
    let (blocks, facts) = write("b\n", &version).unwrap();
    assert_eq!(
        blocks[1],
        format!("[version {}]", facts["version"].as_str().unwrap())
    );
    check_fails(
        &write("c\n", &version).map(|(blocks, _)| blocks),
        "conflict",
        "f",
    );
    assert_eq!(world.bytes("f"), "b\n");
    check_fails(
        &write("c\n", "x").map(|(blocks, _)| blocks),
        "invalid_argument",
        "if_version",
    );
}

#[test]
fn a_directory_is_listed_and_a_file_is_read() {
    let world = World::with("f", "a\n");
    fs::create_dir(world.path("d")).unwrap();
    let answer = world.call("files_read", &json!({"path": "d"}));
    check_fails(&answer, "is_a_directory", "files_ls");
    let answer = world.call("files_ls", &json!({"path": "f"}));
    check_fails(&answer, "not_a_directory", "files_read");
    check_fails(
        &world.call("files_read", &json!({"path": "none"})),
        "not_found",
        "none",
    );
}

#[test]
fn an_insert_comes_before_a_line_as_a_line_of_its_own() {
    check_insert("", 1, "X", "X\n");
    check_insert("a\nb\n", 1, "X", "X\na\nb\n");
    check_insert("a\nb\n", 2, "X", "a\nX\nb\n");
    check_insert("a\nb\n", 2, "X\n", "a\nX\nb\n");
    check_insert("a\nb\n", 3, "X", "a\nb\nX\n");
    check_insert("a\nb", 3, "X", "a\nb\nX");
    let crlf = World::with("f", "a\r\nb\r\n");
    insert(&crlf, 2, "X").unwrap();
    assert_eq!(crlf.bytes("f"), "a\r\nX\r\nb\r\n");
}

#[test]
fn an_insert_outside_of_the_lines_is_refused() {
    let world = World::with("f", "a\nb\n");
    let says = "line 4 exceeds file length (2 lines): f";
    check_fails(&insert(&world, 4, "X"), "out_of_range", says);
    check_fails(
        &insert(&world, 0, "X"),
        "out_of_range",
        "line must be >= 1 for insert mode",
    );
    let no_line = json!({"path": "f", "content": "X", "mode": "insert"});
    check_fails(
        &world.call("files_write", &no_line),
        "invalid_argument",
        "line",
    );
    let no_insert = json!({"path": "f", "content": "X", "line": 1});
    check_fails(
        &world.call("files_write", &no_insert),
        "invalid_argument",
        "line",
    );
    assert_eq!(world.bytes("f"), "a\nb\n");
    check_fails(&insert(&World::new(), 1, "X"), "not_found", "f");
}

#[test]
fn each_mode_says_what_it_did() {
    let world = World::new();
    let write = |path: &str, mode: &str| {
        world.call(
            "files_write",
            &json!({"path": path, "content": "x\n", "mode": mode}),
        )
    };
    check(&write("new/f", "append"), &["Appended 2 bytes to new/f"]);
    check(&write("new/f", "append"), &["Appended 2 bytes to new/f"]);
    assert_eq!(world.bytes("new/f"), "x\nx\n");
    check(&write("new/f", "overwrite"), &["Wrote 2 bytes to new/f"]);
    check(
        &write("new/f", "overwrite"),
        &["Unchanged: new/f holds that already (2 bytes)"],
    );
    check(&write("c", "create"), &["Created c (2 bytes)"]);
    check_fails(&write("c", "create"), "already_exists", "c");
    check_fails(
        &write("c", "Append"),
        "invalid_argument",
        "overwrite, append, insert, create",
    );
    symlink("nowhere", world.path("dangling")).unwrap();
    check_fails(&write("dangling", "create"), "already_exists", "dangling");
    assert!(!world.path("nowhere").exists());
    check_fails(
        &world.call("files_write", &json!({"path": "c"})),
        "invalid_argument",
        "content",
    );
    assert_eq!(world.bytes("c"), "x\n");
}

#[test]
fn a_backup_is_made_when_asked_for() {
    let world = World::with("f", "a\n");
    let arguments = json!({"path": "f", "content": "b\n", "create_backup": true});
    let (blocks, facts) = world.full("files_write", &arguments).unwrap();
    assert_eq!(blocks, ["Wrote 2 bytes to f, backup f.bak"]);
    assert_eq!(facts["backup"], "f.bak");
    assert_eq!(world.bytes("f.bak"), "a\n");
}

#[test]
fn edits_match_the_original_all_or_none() {
    let world = World::with("f", "a b");
    let answer = edit(&world, &[("a", "b"), ("b", "c")]);
    check(&answer, &["Applied 2 edits to f: 1 line changed"]);
    assert_eq!(world.bytes("f"), "b c");
    check_edit_fails(
        "foo",
        &[("foo", "bar"), ("bar", "baz")],
        "no_match",
        "edits[1]",
    );
    check_edit_fails("foo", &[("foo", "bar"), ("x", "y")], "no_match", "edits[1]");
    check_edit_fails("aaa", &[("aa", "X")], "count_mismatch", "found 2");
    check_edit_fails(
        "abcd",
        &[("abc", "X"), ("bcd", "Y")],
        "overlapping_edits",
        "overlap",
    );
    check_edit_fails("a", &[("", "Y")], "empty_old", "edits[0]");
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let world = World::with("f", "a\n```\n");
    let arguments = json!({
        "path": "f",
        "edits": [{"old": "a", "new": "b", "expected_count": -1}],
        "dry_run": true,
    });
    let (blocks, facts) = world.full("files_edit", &arguments).unwrap();
    assert_eq!(blocks[0], "Would apply 1 edit to f: 1 line changed");
    assert!(blocks[1].starts_with("````diff\n"), "{}", blocks[1]);
    assert!(blocks[1].contains("\n-a\n+b\n"), "{}", blocks[1]);
    assert!(blocks[1].ends_with("\n````"), "{}", blocks[1]);
    assert_eq!(facts["dry_run"], true);
    assert_eq!(world.bytes("f"), "a\n```\n");
}

#[test]
fn a_listing_has_sizes_and_says_how_many_there_are() {
    let world = World::with("A", "x".repeat(1536));
    fs::create_dir(world.path("b")).unwrap();
    fs::write(world.path(".h"), "1234").unwrap();
    fs::write(world.path("new\nline"), "").unwrap();
    symlink("b", world.path("link")).unwrap();
    let all = ".h  (4 B)\nA  (1.5 KB)\nb/\nlink@\nnew\\x0Aline  (0 B)";
    check(&world.call("files_ls", &json!({})), &[all]);
    let (blocks, facts) = world
        .full("files_ls", &json!({"path": ".", "limit": 2}))
        .unwrap();
    assert_eq!(blocks[0], ".h  (4 B)\nA  (1.5 KB)");
    let more = "[2 of 5 entries shown. Use after=\"A\" to continue, or limit=5 for more.]";
    assert_eq!(blocks[1], more);
    assert_eq!(facts["total"], 5);
    let rest = world.call("files_ls", &json!({"after": "A"}));
    check(
        &rest,
        &["b/\nlink@\nnew\\x0Aline  (0 B)", "[5 entries total]"],
    );
    check(
        &world.call("files_ls", &json!({"after": "zz"})),
        &["(no more entries)", "[5 entries total]"],
    );
    check(
        &world.call("files_ls", &json!({"path": "b"})),
        &["(empty directory)"],
    );
    check_fails(
        &world.call("files_ls", &json!({"path": "none"})),
        "not_found",
        "none",
    );
}

#[test]
fn a_name_that_is_no_utf_8_can_be_paged_over() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let world = World::new();
    let names: [&[u8]; 3] = [b"a\xFFb", b"b\\xFF", b"zz"];
    for name in names {
        fs::write(world.path("").join(OsStr::from_bytes(name)), "").unwrap();
    }
    let mut after = String::new();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (blocks, facts) = world
            .full("files_ls", &json!({"limit": 1, "after": after}))
            .unwrap();
        seen.push(blocks[0].clone());
        after = facts["next"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(seen, [r"a\xFFb  (0 B)", r"b\x5CxFF  (0 B)", "zz  (0 B)"]);
    assert_eq!(after, "");
    for name in [r"a\xFFb", r"b\x5CxFF"] {
        let answer = world.call("files_read", &json!({"path": name}));
        check(&answer, &[""]);
    }
}

#[test]
fn nothing_outside_is_reached_or_told_of() {
    let world = World::with("f", "in");
    fs::write(world.base.path().join("box2/f"), "secret").unwrap();
    fs::write(world.out("f"), "secret").unwrap();
    symlink(world.out("f"), world.path("link")).unwrap();
    symlink(world.out(""), world.path("dir")).unwrap();
    symlink("l2", world.path("l1")).unwrap();
    symlink(world.out("new"), world.path("l2")).unwrap();
    symlink("dir/new", world.path("l3")).unwrap();
    let beside = world.base.path().join("box2/f").display().to_string();
    for path in [
        "../box2/f",
        beside.as_str(),
        "link",
        "dir/f",
        "dir",
        "l1",
        "l3",
        "/etc/passwd",
    ] {
        for tool in ["files_read", "files_ls", "files_write"] {
            let mut arguments = json!({"path": path});
            if tool == "files_write" {
                arguments["content"] = json!("x");
            }
            let answer = world.call(tool, &arguments);
            check_fails(&answer, "outside_sandbox", "");
            let told = answer.unwrap_err().replace(path, "");
            let base = world.base.path().display().to_string();
            assert!(!told.contains(&base), "{told}");
        }
    }
    assert!(!world.out("new").exists());
    assert_eq!(fs::read_to_string(world.out("f")).unwrap(), "secret");
}

#[test]
fn a_name_that_starts_programs_is_read_only() {
    let base = tempfile::tempdir().unwrap();
    let workspace = Workspace::builder()
        .root("workspace", base.path(), Rights::ALL)
        .deny_edit("**/.git/config");
    let toolbox = Toolbox::new(workspace.build().unwrap(), Settings::default());
    let arguments = json!({"path": ".git/config", "content": "x"});
    let arguments = arguments.as_object().cloned().unwrap();
    let error = toolbox.call("files_write", arguments, &Call::default());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("denied_by_policy: ")
    );
}

#[test]
fn a_small_file_is_read_the_same_here_and_now_as_in_another_thread() {
    let world = World::with("f", "a\r\nb\n");
    fs::write(world.path("large"), "x\n".repeat(40_000)).unwrap();
    let check = |arguments: &Value, is_short: bool| {
        let arguments = arguments.as_object().cloned().unwrap();
        let checked = world
            .toolbox
            .check("files_read", arguments.clone(), Call::default());
        let short = world.toolbox.run_short(&checked.unwrap());
        assert_eq!(short.is_some(), is_short);
        if let Some(short) = short {
            let long = world
                .toolbox
                .call("files_read", arguments, &Call::default());
            assert_eq!(short.map_err(CallError::from), long);
        }
    };
    check(&json!({"path": "f"}), true);
    check(&json!({"path": "f", "offset": 2, "version": true}), true);
    check(&json!({"path": "f", "offset": 9}), true);
    check(&json!({"path": "f", "encoding": "utf-16le"}), true);
    check(&json!({"path": "large"}), false);
    check(&json!({"path": "none"}), false);
    check(&json!({"path": "."}), false);
}
