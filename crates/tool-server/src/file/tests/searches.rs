//! `search_files`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use fs_sandbox::Rights;
use serde_json::{Value, json};

use super::world::{World, check_fails, settings};

#[track_caller]
fn check(world: &World, arguments: &Value, blocks: &[&str]) {
    let answer = world.call("search_files", arguments);
    assert_eq!(answer.unwrap(), blocks, "{arguments}");
}

fn names(world: &World, mut arguments: Value) -> Vec<String> {
    arguments["mode"] = json!("file");
    let answer = world.answer("search_files", &arguments);
    answer.lines().map(str::to_owned).collect()
}

#[test]
fn lines_are_found_with_their_places() {
    let world = World::with("src/a.rs", "one\ntwo TODO\n");
    world.write("b.txt", "TODO: three\ntodo\n");
    let both = ["b.txt:1:TODO: three\nsrc/a.rs:2:two TODO"];
    check(&world, &json!({"query": "TODO"}), &both);
    check(&world, &json!({"query": "TODO", "mode": "content"}), &both);
    check(
        &world,
        &json!({"query": "TODO", "file_glob": "*.rs"}),
        &["src/a.rs:2:two TODO"],
    );
    check(
        &world,
        &json!({"query": "TODO", "root": "src/"}),
        &["src/a.rs:2:two TODO"],
    );
    check(
        &world,
        &json!({"query": "^(?i)todo$", "regex": true}),
        &["b.txt:2:todo"],
    );
    check(&world, &json!({"query": "nowhere"}), &["(no matches)"]);
    check(&world, &json!({"query": "TODO\n"}), &both);
    check(&world, &json!({"query": " TODO"}), &["src/a.rs:2:two TODO"]);
}

/// B25: a query is text, whatever it looks like.
#[test]
fn a_query_that_looks_like_a_flag_is_text() {
    let world = World::with("f", "--files\n--pre=PROG\n-x\n");
    check(&world, &json!({"query": "--files"}), &["f:1:--files"]);
    check(&world, &json!({"query": "--pre=PROG"}), &["f:2:--pre=PROG"]);
    check(&world, &json!({"query": "-x"}), &["f:3:-x"]);
}

/// B29.
#[test]
fn context_is_merged() {
    let world = World::with("f", "1\nx2\nx3\nx4\n5\n6\n7\n8\nx9\n");
    check(
        &world,
        &json!({"query": "x", "context_lines": 1}),
        &["f-1-1\nf:2:x2\nf:3:x3\nf:4:x4\nf-5-5\n--\nf-8-8\nf:9:x9"],
    );
}

/// B30, and the order of names.
#[test]
fn names_are_matched_and_not_the_folders_above() {
    let world = World::with("parent/child/deep.txt", "");
    world.write("parent/parent.md", "");
    world.write("z/Child.rs", "");
    assert_eq!(
        names(&world, json!({"query": "parent"})),
        ["parent/", "parent/parent.md"]
    );
    assert_eq!(
        names(&world, json!({"query": "child"})),
        ["parent/child/", "z/Child.rs"]
    );
    assert_eq!(
        names(&world, json!({"query": "*.md"})),
        ["parent/parent.md"],
        "a glob matches the whole name"
    );
    assert_eq!(
        names(&world, json!({"query": "^deep", "regex": true})),
        ["parent/child/deep.txt"]
    );
    assert_eq!(
        names(&world, json!({"query": "  deep "})),
        ["parent/child/deep.txt"]
    );
    assert_eq!(
        names(&world, json!({"query": "e", "file_glob": "*.md"})),
        ["parent/parent.md"]
    );
}

#[test]
fn what_was_passed_over_is_counted_and_the_rest_served() {
    let world = World::with("a.txt", "needle\n");
    world.write("bin", b"needle\0\n");
    world.write(".hidden", "needle\n");
    world.write("node_modules/m.js", "needle\n");
    world.write("ignored.log", "needle\n");
    world.write(".gitignore", "*.log\n");
    world.write("a.txt.bak", "needle\n");
    symlink("a.txt", world.path("link")).unwrap();
    let (blocks, facts) = world
        .full("search_files", &json!({"query": "needle"}))
        .unwrap();
    let note = "[passed over: 1 not entered, 1 ignored, 1 hidden, 1 backups, 1 links, 1 binary]";
    assert_eq!(blocks, ["a.txt:1:needle", note]);
    let skipped = json!({
        "skip_list": 1, "ignored": 1, "hidden": 1, "backup": 1, "link": 1, "binary": 1,
    });
    assert_eq!(facts["skipped"], skipped);
    let all = json!({"query": "needle", "include_hidden": true, "file_glob": ".h*"});
    assert_eq!(world.answer("search_files", &all), ".hidden:1:needle");
    let named = json!({"query": "needle", "root": "node_modules"});
    assert_eq!(
        world.answer("search_files", &named),
        "node_modules/m.js:1:needle"
    );
}

/// A definition of exactly this name; comments, strings, calls and imports are none.
#[test]
fn a_name_is_found_where_it_is_defined() {
    let world = World::with(
        "src/lib.rs",
        "use other::parse;\n// fn parse is here\npub fn parse(x: &str) { parse(x) }\nfn parser() {}\n",
    );
    world.write("a.py", "def parse(x):\n    return parse(\"def parse\")\n");
    world.write("b.go", "func (s *S) parse() {}\n");
    let found = "a.py:1:def parse(x):\nb.go:1:func (s *S) parse() {}\n\
                 src/lib.rs:3:pub fn parse(x: &str) { parse(x) }";
    check(&world, &json!({"query": "parse", "mode": "code"}), &[found]);
    check(
        &world,
        &json!({"query": "parse", "mode": "code", "file_glob": "*.rs", "context_lines": 1}),
        &[
            "src/lib.rs-2-// fn parse is here\nsrc/lib.rs:3:pub fn parse(x: &str) { parse(x) }\n\
           src/lib.rs-4-fn parser() {}",
        ],
    );
    check(
        &world,
        &json!({"query": "pars", "mode": "code"}),
        &["(no matches)"],
    );
}

/// K11: names without an extension, and images that are text, are searched; large files are told of.
#[test]
fn files_of_every_name_are_searched() {
    let world = World::with("Makefile", "needle\n");
    world.write("drawing.svg", "<svg>needle</svg>\n");
    let large = fs::File::create(world.path("large.txt")).unwrap();
    large.set_len(65 * 1024 * 1024).unwrap();
    let (blocks, facts) = world
        .full("search_files", &json!({"query": "needle"}))
        .unwrap();
    let found = "Makefile:1:needle\ndrawing.svg:1:<svg>needle</svg>";
    assert_eq!(blocks, [found, "[passed over: 1 too large]"]);
    assert_eq!(facts["skipped"], json!({"too_large": 1}));
}

#[test]
fn text_is_found_in_the_encoding_of_its_file() {
    let world = World::with("gbk.txt", b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\n");
    world.write("utf8.txt", "你好，世界\n");
    let utf16: Vec<u8> = "\u{feff}你好，世界\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    world.write("utf16.txt", utf16);
    let found = "gbk.txt:1:你好，世界\nutf16.txt:1:你好，世界\nutf8.txt:1:你好，世界";
    check(&world, &json!({"query": "世界"}), &[found]);
}

#[test]
fn results_are_limited_in_all_and_the_answer_says_so() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.write(name, "hit\nhit\n");
    }
    let more = "[The first 3 results; there are more. Narrow the query or raise max_results.]";
    check(
        &world,
        &json!({"query": "hit", "max_results": 3}),
        &["a:1:hit\na:2:hit\nb:1:hit", more],
    );
    let (blocks, facts) = world
        .full("search_files", &json!({"query": "hit", "max_results": 6}))
        .unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(
        (&facts["results"], &facts["truncated"]),
        (&json!(6), &Value::Null)
    );
    let (blocks, _) = world
        .full(
            "search_files",
            &json!({"query": "hit", "max_results": 9_999, "context_lines": 200}),
        )
        .unwrap();
    let clamps = "[max_results 9999 clamped to 5000, context_lines 200 clamped to 100]";
    assert_eq!(blocks.last().unwrap(), clamps);
    world.write("long", "long line ".repeat(200));
    let (blocks, _) = world
        .full("search_files", &json!({"query": "long"}))
        .unwrap();
    assert!(blocks[0].len() < 600);
    assert_eq!(blocks[1], "[long lines cut around the match]");
}

#[test]
fn what_is_no_search_is_refused() {
    let world = World::with("f", "");
    let check = |arguments: Value, code: &str, says: &str| {
        check_fails(&world, "search_files", &arguments, code, says);
    };
    check(json!({"query": ""}), "invalid_argument", "query");
    check(json!({"query": " \n"}), "invalid_argument", "query");
    check(json!({"query": "a\nb"}), "invalid_argument", "query");
    check(
        json!({"query": "(", "regex": true}),
        "invalid_argument",
        "query",
    );
    check(
        json!({"query": "(?=a)", "regex": true}),
        "invalid_argument",
        "query",
    );
    check(
        json!({"query": "a", "file_glob": "["}),
        "invalid_argument",
        "file_glob",
    );
    check(json!({"query": "a", "root": "f"}), "not_a_directory", "f");
    check(json!({"query": "a", "root": "no"}), "not_found", "no");
    check(
        json!({"query": "a", "root": "../out"}),
        "outside_sandbox",
        "../out",
    );
    check(
        json!({"query": "a", "scope": "user"}),
        "invalid_argument",
        "no root is named user",
    );
    check(
        json!({"query": "a", "scope": "all"}),
        "invalid_argument",
        "scope",
    );
    check(
        json!({"query": "a", "mode": "grep"}),
        "invalid_argument",
        "mode",
    );
}

/// A world with the roots `workspace`, `user` beside it, `docs` beside it and `inner` in the first.
fn many() -> World {
    let world = World::built(settings(), |builder, base| {
        for name in ["home", "docs", "box/in"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        builder
            .root("user", &base.join("home"), Rights::ALL)
            .root("docs", &base.join("docs"), Rights::READ)
            .root("inner", &base.join("box/in"), Rights::READ)
    });
    for name in ["a", "../home/h", "../docs/d", "in/i"] {
        world.write(name, "hit\n");
    }
    world
}

#[test]
fn a_scope_names_roots_and_a_root_goes_before_it() {
    let world = many();
    let workspace = "a:1:hit\nin/i:1:hit\ndocs:d:1:hit";
    check(&world, &json!({"query": "hit"}), &[workspace]);
    check(
        &world,
        &json!({"query": "hit", "scope": "user"}),
        &["user:h:1:hit"],
    );
    let both = "a:1:hit\nin/i:1:hit\nuser:h:1:hit\ndocs:d:1:hit";
    check(&world, &json!({"query": "hit", "scope": "both"}), &[both]);
    check(
        &world,
        &json!({"query": "hit", "scope": "user", "root": "docs:"}),
        &["docs:d:1:hit"],
    );
    check(
        &world,
        &json!({"query": "h", "scope": "user", "mode": "name"}),
        &["user:h"],
    );
    // What is printed is accepted back.
    for path in ["user:h", "docs:d", "in/i"] {
        assert_eq!(world.answer("read_file", &json!({"path": path})), "hit\n");
    }
    let more = |count: u64| {
        let what = if count == 1 { "result" } else { "results" };
        format!(
            "[The first {count} {what}; there are more. Narrow the query or raise max_results.]"
        )
    };
    for (limit, shown) in [(1, "a:1:hit"), (2, "a:1:hit\nin/i:1:hit")] {
        let arguments = json!({"query": "hit", "max_results": limit});
        check(&world, &arguments, &[shown, &more(limit)]);
    }
    check(
        &world,
        &json!({"query": "hit", "max_results": 3}),
        &[workspace],
    );
}

#[test]
fn a_name_with_a_colon_is_accepted_back() {
    let world = many();
    world.write("docs:x", "hit\n");
    let answer = world.answer("search_files", &json!({"query": "docs:x", "mode": "name"}));
    assert_eq!(answer, "workspace:docs:x");
    assert_eq!(world.answer("read_file", &json!({"path": answer})), "hit\n");
}

#[test]
fn a_directory_that_cannot_be_read_is_named() {
    let world = World::with("b/f", "hit\n");
    fs::create_dir(world.path("a")).unwrap();
    fs::set_permissions(world.path("a"), fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(world.path("a")).is_ok();
    let (blocks, facts) = world
        .full("search_files", &json!({"query": "hit"}))
        .unwrap();
    fs::set_permissions(world.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(blocks[0], "b/f:1:hit");
    if !readable {
        assert_eq!(blocks[1], "[passed over: 1 unreadable, unreadable: a]");
        assert_eq!(facts["unreadable"], json!(["a"]));
    }
}
