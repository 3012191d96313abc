//! The vectors A1 to A28 of the `files` tools, over MCP.

use serde_json::{Value, json};
use tests::mcp::arguments;
use tests::{Answer, CANARY, FrontEnd as _, Mcp, World};

struct Files {
    world: World,
    mcp: Mcp,
}

impl Files {
    /// A server over a root that holds `f`; no `f` when `content` is `None`.
    fn with(content: Option<&str>) -> Self {
        let world = World::new();
        if let Some(content) = content {
            world.put("root/f", content);
        }
        let mcp = Mcp::start(&world.settings());
        Self { world, mcp }
    }

    fn read(&self, more: Value) -> Answer {
        self.tool("files_read", more)
    }

    fn write(&self, content: &str, more: Value) -> Answer {
        let mut arguments = json!({"content": content});
        merge(&mut arguments, more);
        self.tool("files_write", arguments)
    }

    fn insert(&self, line: u64, content: &str) -> Answer {
        self.write(content, json!({"mode": "insert", "line": line}))
    }

    fn edit(&self, pairs: &[(&str, &str)]) -> Answer {
        let edits: Vec<Value> = pairs
            .iter()
            .map(|(old, new)| json!({"old": old, "new": new}))
            .collect();
        self.tool("files_edit", json!({"edits": edits}))
    }

    fn tool(&self, name: &str, more: Value) -> Answer {
        let mut arguments = json!({"path": "f"});
        merge(&mut arguments, more);
        let answer = self.mcp.tool(name, &arguments);
        let sent = arguments["path"].as_str().unwrap();
        assert_eq!(self.world.leak_in(&answer.raw, sent), None);
        answer
    }

    fn file(&self) -> String {
        String::from_utf8(self.world.get("root/f")).unwrap()
    }
}

fn merge(into: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    into.as_object_mut().unwrap().extend(more);
}

/// Checks the exact text of a read and what the second block begins with.
#[track_caller]
fn check_read(content: &str, arguments: Value, text: &str, hint: &str) {
    let answer = Files::with(Some(content)).read(arguments);
    assert_eq!(answer.shown(), text);
    let said = &answer.done().hint;
    assert_eq!(said.lines().next().unwrap_or_default(), hint);
}

#[track_caller]
fn check_refused_read(content: &str, arguments: Value, code: &str, words: &str) {
    let answer = Files::with(Some(content)).read(arguments);
    assert_eq!(answer.code(), code);
    assert!(answer.raw.contains(words), "{}", answer.raw);
}

/// Checks the file after an insertion.
#[track_caller]
fn check_insert(content: &str, line: u64, text: &str, wanted: &str) {
    let files = Files::with(Some(content));
    assert_eq!(files.insert(line, text).code(), "ok");
    assert_eq!(files.file(), wanted);
}

/// Checks the file after edits, or the code and that the file is as it was.
#[track_caller]
fn check_edits(content: &str, pairs: &[(&str, &str)], wanted: Result<&str, &str>) -> Answer {
    let files = Files::with(Some(content));
    let answer = files.edit(pairs);
    assert_eq!(
        answer.code(),
        wanted.err().unwrap_or("ok"),
        "{}",
        answer.raw
    );
    assert_eq!(files.file(), wanted.unwrap_or(content));
    answer
}

#[test]
fn a01_a_whole_read_is_exact_and_says_nothing_more() {
    check_read("a\nb\n", json!({}), "a\nb\n", "");
}

#[test]
fn a02_a_window_says_how_to_go_on() {
    check_read(
        "a\nb\n",
        json!({"limit": 1}),
        "a\n",
        "[Showing lines 1-1 of 2. Use offset=2 to continue.]",
    );
}

#[test]
fn a03_a_read_to_the_end_says_the_total() {
    check_read("a\nb\n", json!({"offset": 2}), "b\n", "[2 lines total]");
}

#[test]
fn a04_a05_an_offset_past_the_end_says_how_many_lines_there_are() {
    check_refused_read(
        "a\nb\n",
        json!({"offset": 3}),
        "out_of_range",
        "exceeds file length (2 lines)",
    );
    check_refused_read(
        "a\nb\n",
        json!({"offset": 4}),
        "out_of_range",
        "exceeds file length (2 lines)",
    );
}

#[test]
fn a06_an_empty_file_has_no_lines() {
    check_read("", json!({}), "", "");
    check_read("", json!({"offset": 1}), "", "");
    check_refused_read("", json!({"offset": 2}), "out_of_range", "(0 lines)");
}

#[test]
fn a07_nought_is_absent_and_less_is_refused() {
    check_read("a\nb\n", json!({"offset": 0, "limit": 0}), "a\nb\n", "");
    check_refused_read(
        "a\nb\n",
        json!({"offset": -3}),
        "invalid_argument",
        "offset",
    );
    check_refused_read("a\nb\n", json!({"limit": -1}), "invalid_argument", "limit");
}

#[test]
fn a08_a_number_over_the_cap_is_clamped_and_said() {
    check_read(
        "a\nb\n",
        json!({"limit": 1e30}),
        "a\nb\n",
        "[limit 1e+30 clamped to 50000]",
    );
}

#[test]
fn a09_a_window_keeps_its_line_breaks() {
    let answer = Files::with(Some("a\r\nb\r\n")).read(json!({"limit": 1}));
    assert_eq!(answer.shown(), "a\r\n");
    assert!(
        answer
            .done()
            .hint
            .starts_with("[Showing lines 1-1 of 2. Use offset=2 to continue.]")
    );
}

#[test]
fn a10_to_a13_an_insertion_is_of_lines() {
    check_insert("", 1, "X", "X\n");
    check_insert("a\nb\n", 1, "X", "X\na\nb\n");
    check_insert("a\nb\n", 2, "X", "a\nX\nb\n");
    check_insert("a\nb\n", 2, "X\n", "a\nX\nb\n");
    check_insert("a\nb\n", 3, "X", "a\nb\nX\n");
}

#[test]
fn a14_an_insertion_past_the_end_is_refused() {
    let files = Files::with(Some("a\nb\n"));
    let answer = files.insert(4, "X");
    assert_eq!(answer.code(), "out_of_range");
    assert!(answer.raw.contains("2 lines"), "{}", answer.raw);
    assert_eq!(files.file(), "a\nb\n");
}

#[test]
fn a15_a16_an_insertion_keeps_the_end_and_the_style() {
    check_insert("a\nb", 3, "X", "a\nb\nX");
    check_insert("a\r\nb\r\n", 2, "X", "a\r\nX\r\nb\r\n");
}

#[test]
fn a17_an_insertion_wants_a_file_and_an_append_makes_one() {
    let files = Files::with(None);
    assert_eq!(files.insert(1, "X").code(), "not_found");
    assert!(files.world.outside().0.len() == 1 && !files.world.path("root/f").exists());
    assert_eq!(files.write("X", json!({"mode": "append"})).code(), "ok");
    assert_eq!(files.file(), "X");
}

#[test]
fn a18_an_unknown_mode_changes_nothing() {
    let files = Files::with(Some("keep\n"));
    let answer = files.write("X", json!({"mode": "Append"}));
    assert_eq!(answer.code(), "invalid_argument");
    assert_eq!(
        (
            &answer.refusal().fields["field"],
            &answer.refusal().fields["nearest"]
        ),
        (&json!("mode"), &json!("append"))
    );
    assert_eq!(files.file(), "keep\n");
}

#[test]
fn a19_create_refuses_whatever_has_the_name() {
    let files = Files::with(Some("keep\n"));
    assert_eq!(
        files.write("X", json!({"mode": "create"})).code(),
        "already_exists"
    );
    assert_eq!(files.file(), "keep\n");
    files.world.link("root/dangling", "target");
    let answer = files.write("X", json!({"mode": "create", "path": "dangling"}));
    assert_eq!(answer.code(), "already_exists");
    assert!(!files.world.path("root/target").exists());
}

#[test]
fn a20_to_a24_edits_match_the_original_and_are_all_or_none() {
    check_edits("a b", &[("a", "b"), ("b", "c")], Ok("b c"));
    let missing = check_edits("foo", &[("foo", "bar"), ("bar", "baz")], Err("no_match"));
    assert_eq!(missing.refusal().fields["edit"], 1);
    check_edits("one two", &[("one", "1"), ("three", "3")], Err("no_match"));
    let twice = check_edits("aaa", &[("aa", "X")], Err("count_mismatch"));
    assert_eq!(twice.refusal().fields["found"], 2);
    let both = check_edits(
        "abcd",
        &[("abc", "X"), ("bcd", "Y")],
        Err("overlapping_edits"),
    );
    assert_eq!(both.refusal().fields["edits"], json!([0, 1]));
}

#[test]
fn a25_a_listing_is_sorted_with_sizes_and_a_total() {
    let files = Files::with(None);
    files
        .world
        .put("root/b/x", "")
        .put("root/A", "12345")
        .put("root/.h", "");
    let answer = files.tool("files_ls", json!({"path": ".", "limit": 2}));
    assert_eq!(answer.shown(), ".h  (0 B)\nA  (5 B)");
    assert!(
        answer
            .done()
            .hint
            .contains("2 of 3 entries shown. Use after=\"A\" to continue"),
        "{}",
        answer.raw
    );
    let rest = files.tool("files_ls", json!({"path": ".", "after": "A"}));
    assert_eq!(rest.shown(), "b/");
}

#[test]
fn a26_a_name_that_begins_as_the_root_is_outside() {
    let files = Files::with(None);
    files.world.put("root2/f", CANARY);
    for path in [
        "../root2/f".to_owned(),
        files.world.expand("${BASE}/root2/f"),
    ] {
        let answer = files.read(json!({"path": path}));
        assert_eq!(answer.code(), "outside_sandbox");
        assert!(!answer.raw.contains(CANARY));
    }
}

#[test]
fn a27_a_link_to_the_outside_is_not_followed() {
    let files = Files::with(None);
    files
        .world
        .put("out/secret", CANARY)
        .link("root/f", "../out/secret")
        .link("root/d", "${OUT}");
    let outside = files.world.outside();
    let answers = [
        files.read(json!({})),
        files.write("X", json!({})),
        files.edit(&[(CANARY, "X")]),
        files.tool("files_ls", json!({"path": "d"})),
        files.write("X", json!({"path": "d/new"})),
    ];
    for answer in answers {
        assert_eq!(answer.code(), "outside_sandbox", "{}", answer.raw);
    }
    assert_eq!(outside, files.world.outside());
}

#[test]
fn a28_dangling_chains_to_the_outside_create_nothing() {
    let files = Files::with(None);
    files
        .world
        .link("root/two", "../out/new")
        .link("root/f", "two");
    files
        .world
        .link("root/dirlink", "../out")
        .link("root/g", "dirlink/new");
    let outside = files.world.outside();
    assert_eq!(files.write("X", json!({})).code(), "outside_sandbox");
    assert_eq!(
        files.write("X", json!({"path": "g"})).code(),
        "outside_sandbox"
    );
    assert_eq!(outside, files.world.outside());
}

/// The tools that the vectors speak of are those of the set `files`.
#[test]
fn the_set_files_holds_the_four_tools() {
    let world = World::new();
    let mut line = arguments(&world.settings());
    line[1] = "files".to_owned();
    let answer = tests::mcp::parse(&Mcp::with(&line).wire.request("tools/list", &json!({})));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "files_read",
            "files_write",
            "files_edit",
            "files_ls",
            "undo_edit",
            "edit_history"
        ]
    );
}
