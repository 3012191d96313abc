//! Whatever a client may send to the family `file`: its code at once, the files as they were, and no
//! path given away.

use std::time::Instant;

use serde_json::{Map, Value, json};
use tests::mcp::{arguments, parse};
use tests::{CANARY, FrontEnd as _, Mcp, Tree, World};

use crate::bad_input::{AT_ONCE, Sweep};

/// The tools of the family.
const TOOLS: [&str; 14] = [
    "read_file",
    "read_file_range",
    "write_file",
    "append_file",
    "edit_file",
    "list_dir",
    "tree_dir",
    "stat_file",
    "search_files",
    "copy_file",
    "move_file",
    "make_dir",
    "delete_file",
    "undo_edit",
];

/// Checks a call's code, and that it told and changed nothing.
#[track_caller]
fn check(sweep: &Sweep, tool: &str, arguments: &Value, code: &str) -> Value {
    let before = sweep.world.tree();
    checked(sweep, &before, tool, arguments, code)
}

#[track_caller]
fn checked(sweep: &Sweep, before: &Tree, tool: &str, arguments: &Value, code: &str) -> Value {
    let start = Instant::now();
    let answer = sweep.mcp.tool(tool, arguments);
    let took = start.elapsed();
    let shown: String = arguments.to_string().chars().take(200).collect();
    assert_eq!(answer.code(), code, "{tool} {shown}: {}", answer.raw);
    assert!(took < AT_ONCE, "{tool} {shown} took {took:?}");
    let sent = arguments.as_object().unwrap().values();
    let sent: Vec<&str> = sent
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(sweep.world.leak_besides(&answer.raw, &sent), None);
    assert!(
        !answer.raw.contains(CANARY),
        "{tool} {shown}: {}",
        answer.raw
    );
    let changes = before.differences(&sweep.world.tree());
    assert_eq!(changes, Vec::<String>::new(), "{tool} {shown}");
    answer.refusal().fields.clone()
}

/// The arguments of a call that would do, by tool, on this path.
fn on(tool: &str, path: &str) -> Value {
    match tool {
        "write_file" | "append_file" => json!({"path": path, "content": "X"}),
        "edit_file" => {
            json!({"path": path, "mode": "replace_text", "old_text": "one", "text": "1"})
        }
        "search_files" => json!({"query": "one", "root": path}),
        "copy_file" | "move_file" => json!({"src_path": path, "dst_path": "target"}),
        _ => json!({"path": path}),
    }
}

/// What each tool says of a path: of those that act on a link itself, of directories, of the others.
#[track_caller]
fn check_path(sweep: &Sweep, path: &str, tools: &[&str], code: &str) {
    for tool in tools {
        check(sweep, tool, &on(tool, path), code);
    }
    if tools.contains(&"copy_file") {
        for tool in ["copy_file", "move_file"] {
            let arguments = json!({"src_path": "f", "dst_path": path, "overwrite": true});
            check(sweep, tool, &arguments, code);
        }
    }
}

#[test]
fn paths_that_lead_out() {
    let sweep = Sweep::new();
    let out = sweep.world.expand("${OUT}/secret");
    let paths = [
        "../out/secret",
        "d/../../out/secret",
        "out-dir/secret",
        "out-dir/../secret",
        "/etc/passwd",
        &out,
    ];
    for path in paths {
        check_path(&sweep, path, &TOOLS, "outside_sandbox");
    }
    // A link itself is inside; what it leads to is not.
    let follow = [
        "read_file",
        "read_file_range",
        "write_file",
        "append_file",
        "edit_file",
    ];
    check_path(&sweep, "out-link", &follow, "outside_sandbox");
    for path in ["out-link", "out-dir", "..", "/", "/proc/self"] {
        check_path(
            &sweep,
            path,
            &["list_dir", "tree_dir", "search_files"],
            "outside_sandbox",
        );
    }
    check(
        &sweep,
        "copy_file",
        &on("copy_file", "out-link"),
        "outside_sandbox",
    );
    let onto = json!({"src_path": "f", "dst_path": "out-link", "overwrite": true});
    check(&sweep, "copy_file", &onto, "outside_sandbox");
}

#[test]
fn paths_that_name_nothing() {
    let sweep = Sweep::new();
    let (long, name) = ("d/".repeat(2500), "n".repeat(300));
    let all_but_search: Vec<&str> = TOOLS
        .into_iter()
        .filter(|tool| *tool != "search_files")
        .collect();
    check_path(&sweep, "", &all_but_search, "invalid_path");
    for path in ["f\0", "\0", &long, &name] {
        check_path(&sweep, path, &TOOLS, "invalid_path");
    }
    for path in ["f/x", "f/x/y", "f/../f"] {
        check_path(&sweep, path, &TOOLS, "not_a_directory");
    }
    let reads = [
        "read_file",
        "read_file_range",
        "edit_file",
        "list_dir",
        "tree_dir",
        "search_files",
        "stat_file",
        "delete_file",
    ];
    for path in ["missing", "d/missing", "missing/f"] {
        check_path(&sweep, path, &reads, "not_found");
        check(&sweep, "copy_file", &on("copy_file", path), "not_found");
        check(&sweep, "move_file", &on("move_file", path), "not_found");
    }
}

#[test]
fn what_is_no_file_and_what_is_no_directory() {
    let sweep = Sweep::new();
    let mut specials = vec!["fifo", "socket"];
    specials.extend(tests::conditions::is_root().then_some("zero"));
    let files = [
        "read_file",
        "read_file_range",
        "write_file",
        "append_file",
        "edit_file",
        "copy_file",
        "move_file",
    ];
    for path in specials {
        check_path(&sweep, path, &files, "not_a_file");
        check_path(
            &sweep,
            path,
            &["list_dir", "tree_dir", "search_files"],
            "not_a_directory",
        );
        check(&sweep, "make_dir", &on("make_dir", path), "already_exists");
    }
    for path in ["d", "d/", "."] {
        let files = [
            "read_file",
            "read_file_range",
            "write_file",
            "append_file",
            "edit_file",
            "copy_file",
            "move_file",
            "delete_file",
        ];
        check_path(&sweep, path, &files, "is_a_directory");
    }
    check(
        &sweep,
        "copy_file",
        &json!({"src_path": "f", "dst_path": "new/"}),
        "is_a_directory",
    );
    check(
        &sweep,
        "move_file",
        &json!({"src_path": "f", "dst_path": "new/"}),
        "is_a_directory",
    );
    check_path(
        &sweep,
        "f",
        &["list_dir", "tree_dir", "search_files"],
        "not_a_directory",
    );
    // A directory is never what a file replaces.
    for tool in ["copy_file", "move_file"] {
        for overwrite in [false, true] {
            let onto = json!({"src_path": "f", "dst_path": "d", "overwrite": overwrite});
            check(&sweep, tool, &onto, "is_a_directory");
        }
    }
}

#[test]
fn expressions_that_are_none_or_would_explode() {
    let sweep = Sweep::new();
    let refused = |query: &str| {
        let asked = json!({"query": query, "regex": true});
        let fields = check(&sweep, "search_files", &asked, "invalid_argument");
        assert_eq!(fields["field"], "query", "{query:.80}");
        let named = json!({"query": query, "regex": true, "mode": "name"});
        check(&sweep, "search_files", &named, "invalid_argument");
    };
    for query in [
        "(", "[", "a**b(", "*", "(?P<x", "\\", "a{2,1}", "(?=x)", "(?<!x)y", "(a)\\1",
    ] {
        refused(query);
    }
    refused("((a{1000}){1000}){1000}");
    refused("\\w{5000}");
    refused(&"(".repeat(5000));
    refused(&"a".repeat(70_000));
    for (field, arguments) in [
        ("query", json!({"query": ""})),
        ("query", json!({"query": "  \t"})),
        ("query", json!({"query": "two\nlines"})),
        ("query", json!({"query": "x".repeat(70_000)})),
        ("file_glob", json!({"query": "one", "file_glob": "[z-a]"})),
        ("file_glob", json!({"query": "one", "file_glob": "{a"})),
        ("scope", json!({"query": "one", "scope": "user"})),
        ("mode", json!({"query": "one", "mode": "regex"})),
        (
            "encoding",
            json!({"query": "one", "encoding": "no-such-label"}),
        ),
    ] {
        let fields = check(&sweep, "search_files", &arguments, "invalid_argument");
        assert_eq!(fields["field"], field, "{arguments:.80}");
    }
}

/// What takes exponential time in other engines is linear here.
#[test]
fn an_expression_that_explodes_elsewhere_is_answered_at_once() {
    let world = World::new();
    world
        .put("root/f", "a".repeat(5000) + "\n")
        .put("root/g", "aaab\n");
    let mcp = Mcp::start(&world.settings());
    let start = Instant::now();
    for query in ["^(a+)+$", "(a*)*b", "(a|aa)+$", "(.*)*x", "(x+x+)+y"] {
        let answer = mcp.tool("search_files", &json!({"query": query, "regex": true}));
        assert_eq!(answer.code(), "ok", "{}", answer.raw);
    }
    assert!(start.elapsed() < AT_ONCE, "took {:?}", start.elapsed());
}

/// Each tool, by its own schema: every argument of a wrong type, unknown, or missing.
#[test]
fn arguments_that_do_not_fit_a_schema() {
    let sweep = Sweep::new();
    let before = sweep.world.tree();
    for tool in sweep.mcp.tools() {
        let name = tool["name"].as_str().unwrap();
        if !TOOLS.contains(&name) {
            continue;
        }
        let fits = on(name, "f");
        let refused = |field: &str, arguments: Value| {
            let fields = checked(&sweep, &before, name, &arguments, "invalid_argument");
            assert_eq!(fields["field"], field, "{name} {arguments}");
        };
        let with = |field: &str, value: Value| {
            let mut all = fits.clone();
            all.as_object_mut().unwrap().insert(field.to_owned(), value);
            all
        };
        let required = tool["inputSchema"]["required"].as_array().unwrap();
        for field in required.iter().map(|field| field.as_str().unwrap()) {
            let mut all = fits.clone();
            all.as_object_mut().unwrap().remove(field);
            refused(field, all);
            refused(field, with(field, Value::Null));
        }
        for (field, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            for wrong in wrong_values(schema) {
                refused(field, with(field, wrong));
            }
        }
        refused("surplus", with("surplus", json!(1)));
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
}

fn wrong_values(schema: &Value) -> Vec<Value> {
    let mut all = vec![json!([]), json!({}), json!(["x"])];
    match schema["type"].as_str().unwrap() {
        "string" => {
            all.extend([json!(1), json!(true)]);
            all.extend(schema["enum"].is_array().then(|| json!("no such word")));
        }
        "integer" => {
            let least = schema["minimum"].as_i64().unwrap();
            all.extend([
                json!(least - 1),
                json!(1.5),
                json!("1"),
                json!(true),
                json!(-1e30),
            ]);
        }
        "boolean" => all.extend([json!("true"), json!(1)]),
        other => panic!("no type {other}"),
    }
    all
}

#[test]
fn numbers_over_a_cap_are_clamped_and_said() {
    let sweep = Sweep::new();
    let said = |tool: &str, more: Value, words: &str| {
        let mut all = on(tool, if tool.starts_with("read") { "f" } else { "." });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let answer = sweep.mcp.tool(tool, &all);
        assert!(
            answer.done().hint.contains(words),
            "{tool} {more}: {}",
            answer.raw
        );
    };
    said(
        "read_file_range",
        json!({"max_lines": 1e30}),
        "max_lines 1e+30 clamped to 50000",
    );
    said(
        "read_file_range",
        json!({"tail": 50_001}),
        "tail 50001 clamped to 50000",
    );
    said("list_dir", json!({"limit": 1e9}), "clamped to 10000");
    said(
        "tree_dir",
        json!({"max_depth": 51}),
        "max_depth 51 clamped to 50",
    );
    said(
        "tree_dir",
        json!({"max_entries": 5001}),
        "max_entries 5001 clamped to 5000",
    );
    said(
        "search_files",
        json!({"max_results": 5001}),
        "max_results 5001 clamped to 5000",
    );
    said(
        "search_files",
        json!({"context_lines": 101}),
        "context_lines 101 clamped to 100",
    );
}

#[test]
fn arguments_that_the_mode_does_not_take() {
    let sweep = Sweep::new();
    let refused = |mode: &str, more: Value, field: &str| {
        let mut all = json!({"path": "f", "mode": mode, "text": "X"});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let fields = check(&sweep, "edit_file", &all, "invalid_argument");
        assert_eq!(fields["field"], field);
    };
    refused("insert", json!({"old_text": "one"}), "old_text");
    refused("insert", json!({"end_line": 2}), "end_line");
    refused("replace_line", json!({"column": 2}), "column");
    refused(
        "replace_text",
        json!({"old_text": "one", "line": 2}),
        "line",
    );
    refused(
        "replace_range",
        json!({"expected_count": 2}),
        "expected_count",
    );
    let empty = json!({"path": "f", "mode": "replace_text", "text": "X"});
    check(&sweep, "edit_file", &empty, "empty_old");
}

/// A tool that a set lacks is unknown; one that was taken away is refused.
#[test]
fn tools_that_are_not_there() {
    let world = World::new();
    world.put("root/f", "one\n");
    let start = |set: &str, more: &[&str]| {
        let mut line = arguments(&world.settings());
        line[1] = set.to_owned();
        line.extend(more.iter().map(|more| (*more).to_owned()));
        Mcp::with(&line)
    };
    let code = |mcp: &Mcp, tool: &str| mcp.tool(tool, &on(tool, "f")).code().to_owned();
    let files = start("files", &[]);
    assert_eq!(code(&files, "delete_file"), "rpc -32602");
    let reading = start("file", &["--read-only"]);
    let changing = [
        "write_file",
        "append_file",
        "edit_file",
        "copy_file",
        "move_file",
        "make_dir",
        "delete_file",
        "undo_edit",
    ];
    for tool in changing {
        assert_eq!(code(&reading, tool), "denied_by_policy", "{tool}");
    }
    let keeping = start("file", &["--no-delete", "--disable-tool", "copy_file"]);
    for tool in ["delete_file", "copy_file"] {
        assert_eq!(code(&keeping, tool), "denied_by_policy", "{tool}");
    }
    assert_eq!(world.get("root/f"), b"one\n");
    assert_eq!(code(&keeping, "read_file"), "ok");
}

#[test]
fn names_under_a_deny_rule_are_not_there() {
    let world = World::new();
    world
        .put("root/a", "needle\n")
        .put("root/secret.key", format!("needle {CANARY}\n"))
        .put("root/.env", format!("needle {CANARY}\n"))
        .put("root/vault/deep/f", format!("needle {CANARY}\n"));
    let mut settings = world.settings();
    settings.deny = ["**/*.key", "**/.env*", "vault"]
        .map(str::to_owned)
        .to_vec();
    let sweep = Sweep {
        mcp: Mcp::start(&settings),
        world,
    };
    let before = sweep.world.tree();
    let seen = |tool: &str, arguments: Value| {
        let answer = sweep.mcp.tool(tool, &arguments);
        assert_eq!(answer.code(), "ok", "{}", answer.raw);
        let hidden = ["secret.key", ".env", "vault", CANARY];
        let told: Vec<_> = hidden
            .into_iter()
            .filter(|name| answer.raw.contains(name))
            .collect();
        assert_eq!(told, <[&str; 0]>::default(), "{tool}: {}", answer.raw);
        answer.shown()
    };
    let hidden = json!({"query": "needle", "include_hidden": true, "context_lines": 3});
    assert_eq!(seen("search_files", hidden), "a:1:needle");
    seen(
        "search_files",
        json!({"query": "*", "mode": "name", "include_hidden": true}),
    );
    seen("search_files", json!({"query": "needle", "mode": "code"}));
    seen(
        "tree_dir",
        json!({"path": ".", "include_hidden": true, "max_depth": 50}),
    );
    seen("list_dir", json!({"path": "."}));
    for path in [
        "secret.key",
        ".env",
        "vault",
        "vault/deep/f",
        "new.key",
        "vault/new",
    ] {
        for tool in TOOLS {
            let answer = sweep.mcp.tool(tool, &on(tool, path));
            assert_eq!(
                answer.code(),
                "denied_by_policy",
                "{tool} {path}: {}",
                answer.raw
            );
        }
        let onto = json!({"src_path": "a", "dst_path": path, "overwrite": true});
        for tool in ["copy_file", "move_file"] {
            assert_eq!(
                sweep.mcp.tool(tool, &onto).code(),
                "denied_by_policy",
                "{tool} {path}"
            );
        }
    }
    assert_eq!(
        before.differences(&sweep.world.tree()),
        Vec::<String>::new()
    );
}

/// The descriptions and schemas of each set are short enough for a model to be given them all.
#[test]
fn each_set_is_within_its_size() {
    let world = World::new();
    for (set, count) in [("standard", 13), ("files", 6), ("file", 15), ("all", 19)] {
        let mut line = arguments(&world.settings());
        line[1] = set.to_owned();
        let mcp = Mcp::with(&line);
        let list = parse(&mcp.wire.request("tools/list", &json!({})));
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), count, "{set}");
        let size = list["result"]["tools"].to_string().len();
        assert!(size <= 13_000, "{set} takes {size} bytes");
        for tool in tools {
            let described = |schema: &Map<String, Value>| schema.contains_key("type");
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            assert!(
                properties
                    .values()
                    .all(|schema| described(schema.as_object().unwrap()))
            );
        }
    }
}
