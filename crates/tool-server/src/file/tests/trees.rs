//! `tree_dir`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use super::world::{World, check_fails};

#[track_caller]
fn check(world: &World, arguments: &Value, expected: &str) {
    assert_eq!(world.answer("tree_dir", arguments), expected);
}

fn world() -> World {
    let world = World::with("src/lib.rs", "");
    for name in [
        "src/a/b/c/deep",
        "src/a/x.rs",
        "README.md",
        "node_modules/m/index.js",
        ".git/config",
        ".env",
        "README.md.bak",
        "Zed/z",
    ] {
        world.write(name, "");
    }
    world
}

#[test]
fn a_tree_is_drawn_folders_first() {
    let expected = "\
.
|-- node_modules/  (not entered)
|-- src/
|   |-- a/
|   `-- lib.rs
|-- Zed/
|   `-- z
`-- README.md";
    check(&world(), &json!({"path": "."}), expected);
    let expected = "\
src
|-- a/
|   |-- b/
|   |   `-- c/
|   |       `-- deep
|   `-- x.rs
`-- lib.rs";
    check(&world(), &json!({"path": "src", "max_depth": 50}), expected);
    check(&world(), &json!({"path": "src", "max_depth": 0}), "src");
    check(
        &world(),
        &json!({"path": "src", "max_depth": 1}),
        "src\n|-- a/\n`-- lib.rs",
    );
}

#[test]
fn include_hidden_shows_dot_names_and_enters_every_folder() {
    let expected = "\
.
|-- .git/
|   `-- config
|-- node_modules/
|   `-- m/
|-- src/
|   |-- a/
|   `-- lib.rs
|-- Zed/
|   `-- z
|-- .env
|-- README.md
`-- README.md.bak";
    check(
        &world(),
        &json!({"path": ".", "include_hidden": true}),
        expected,
    );
}

/// B26.
#[test]
fn a_link_is_shown_and_not_entered() {
    let world = World::with("d/f", "");
    symlink(".", world.path("d/self")).unwrap();
    symlink("/", world.path("top")).unwrap();
    let arguments = json!({"path": ".", "max_depth": 50});
    check(
        &world,
        &arguments,
        ".\n|-- d/\n|   |-- f\n|   `-- self@\n`-- top@",
    );
}

/// B27: a tree is called cut only when it is.
#[test]
fn a_tree_is_cut_only_when_there_is_more() {
    let world = World::new();
    for name in ["a/1", "a/2", "b"] {
        world.write(name, "");
    }
    let all = ".\n|-- a/\n|   |-- 1\n|   `-- 2\n`-- b";
    check(&world, &json!({"path": ".", "max_entries": 4}), all);
    let cut = ".\n|-- a/\n|   |-- 1\n|   `-- 2\n... (truncated at 3 entries)";
    let (blocks, facts) = world
        .full("tree_dir", &json!({"path": ".", "max_entries": 3}))
        .unwrap();
    let go_on = "[Raise max_entries, or name a directory below.]";
    assert_eq!(blocks, [cut, go_on]);
    assert_eq!(
        (&facts["truncated"], &facts["entries"]),
        (&json!(true), &json!(3))
    );
    let cut = ".\n`-- a/\n    |-- 1\n... (truncated at 2 entries)";
    let (blocks, _) = world
        .full("tree_dir", &json!({"path": ".", "max_entries": 2}))
        .unwrap();
    assert_eq!(blocks, [cut, go_on]);
    let (blocks, _) = world
        .full(
            "tree_dir",
            &json!({"path": ".", "max_entries": 9_999, "max_depth": 99}),
        )
        .unwrap();
    let clamps = "[max_depth 99 clamped to 50, max_entries 9999 clamped to 5000]";
    assert_eq!(blocks, [all, clamps]);
}

#[test]
fn names_take_one_line_each() {
    let world = World::new();
    world.write("a\nb\u{1b}[31m", "");
    check(&world, &json!({"path": "."}), ".\n`-- a\\x0Ab\\x1B[31m");
}

#[test]
fn what_cannot_be_read_is_marked_and_the_rest_is_served() {
    let world = World::with("b/f", "");
    fs::create_dir(world.path("a")).unwrap();
    fs::set_permissions(world.path("a"), fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(world.path("a")).is_ok();
    let tree = world.answer("tree_dir", &json!({"path": "."}));
    fs::set_permissions(world.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    let mark = if readable { "" } else { "  (unreadable)" };
    assert_eq!(tree, format!(".\n|-- a/{mark}\n`-- b/\n    `-- f"));
}

#[test]
fn a_tree_has_a_directory_at_its_top() {
    let world = World::with("f", "");
    for depth in [0, 2] {
        let check = |path: &str, code: &str| {
            let arguments = json!({"path": path, "max_depth": depth});
            check_fails(&world, "tree_dir", &arguments, code, "");
        };
        check("f", "not_a_directory");
        check("no", "not_found");
        check("../out", "outside_sandbox");
    }
}
