//! Narrowed workspaces: what is outside of the scope is not there, whichever way leads to it.

use std::fs;
use std::ops::ControlFlow;

use fs_core::{Error, ListOptions, Query, WalkOptions};
use fs_sandbox::{
    CreateDirOptions, HistoryLimits, HistorySide, Rights, TransferOptions, UndoOptions, Workspace,
    WriteOptions,
};

use crate::history::{code, undo, write};
use crate::support::{Tree, both_ways};

const OUTSIDE: &str = "outside_sandbox";

/// A project with the scope `app/src` in it, and what lies around that.
fn project(more: &[&str]) -> Tree {
    let items = [
        "root/app/src/f=in",
        "root/app/src/d/g=in",
        "root/app/lib/f=near",
        "root/app/f=near",
        "root/lib/f=far",
        "root/f=far",
        "out/f=out",
    ];
    Tree::new(&[&items[..], more].concat())
}

fn narrowed(workspace: &Workspace, directories: &[&str]) -> Workspace {
    workspace.narrowed(directories).unwrap()
}

fn read(workspace: &Workspace, path: &str) -> Result<String, &'static str> {
    let opened = workspace.open(path).map_err(|error| error.code())?;
    Ok(std::io::read_to_string(opened.file.into_std()).unwrap())
}

/// Asserts what a path reads, or the code of the refusal.
#[track_caller]
fn check(workspace: &Workspace, path: &str, expected: Result<&str, &str>) {
    let text = read(workspace, path);
    assert_eq!(text.as_deref().map_err(|code| *code), expected, "{path}");
}

/// What each operation answers for a path; `path` is also tried as source and target of a transfer
/// with `inside`.
fn answers(workspace: &Workspace, path: &str, inside: &str) -> Vec<(&'static str, &'static str)> {
    let dirs = CreateDirOptions {
        parents: true,
        exist_ok: true,
    };
    let walk = |path: &str| {
        workspace.walk(path, &WalkOptions::default(), &mut |_| {
            ControlFlow::Continue(())
        })
    };
    let query = Query {
        pattern: "in".to_owned(),
        ..Query::default()
    };
    let transfer = TransferOptions {
        overwrite: true,
        ..TransferOptions::default()
    };
    let list = ListOptions::default();
    vec![
        ("open", code(workspace.open(path))),
        ("open_dir", code(workspace.open_dir(path))),
        ("stat", code(workspace.stat(path))),
        ("metadata", code(workspace.symlink_metadata(path))),
        ("list", code(workspace.list(path, &list))),
        ("walk", code(walk(path))),
        ("search", code(workspace.search(path, &query))),
        ("create_dir", code(workspace.create_dir(path))),
        ("create_dir_all", code(workspace.create_dir_all(path))),
        (
            "create_dir_with",
            code(workspace.create_dir_with(path, dirs)),
        ),
        (
            "write",
            code(workspace.write(path, "x", &WriteOptions::default())),
        ),
        ("remove", code(workspace.remove_file(path))),
        ("copy from", code(workspace.copy(path, inside, &transfer))),
        ("copy to", code(workspace.copy(inside, path, &transfer))),
        ("move from", code(workspace.rename(path, inside, &transfer))),
        ("move to", code(workspace.rename(inside, path, &transfer))),
        ("history", code(workspace.history(path, 1))),
        ("undo", code(workspace.undo(path, &UndoOptions::default()))),
        ("narrow", code(workspace.narrowed(&[path]))),
    ]
}

/// Asserts that nothing can be done to a path, and that nothing has changed.
#[track_caller]
fn check_outside(tree: &Tree, workspace: &Workspace, path: &str) {
    let before = tree_of(tree);
    for (operation, answer) in answers(workspace, path, "app/src/f") {
        assert_eq!(answer, OUTSIDE, "{operation} {path}");
    }
    assert_eq!(tree_of(tree), before, "{path}");
}

/// All paths of a tree, with the texts of files.
fn tree_of(tree: &Tree) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut dirs = vec![tree.base().to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                dirs.push(path.clone());
            }
            let text = fs::read_link(&path).map(|to| to.display().to_string());
            let text = text.or_else(|_| fs::read_to_string(&path));
            found.push((path.display().to_string(), text.unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn what_lies_in_the_scope_is_as_it_was() {
    both_ways(|| {
        let tree = project(&["root/app/src/l->d/g", "root/app/src/up->../src/f"]);
        let all = tree.workspace();
        let workspace = narrowed(&all, &["app/src"]);
        for path in ["app/src/f", "ws:app/src/f", "app/src/d/../f", "app/src/up"] {
            check(&workspace, path, Ok("in"));
        }
        let absolute = tree.text("${BASE}/root/app/src/f");
        check(&workspace, &absolute, Ok("in"));
        check(&workspace, "app/src/l", Ok("in"));
        check(&workspace, "app/src/../../app/./src/f", Ok("in"));
        check(&workspace, "app/src/none", Err("not_found"));
        check(&workspace, "app/src/none/f", Err("not_found"));
        check(&workspace, "app/src/f/x", Err("not_a_directory"));
        check(&workspace, "app/src", Err("is_a_directory"));
        let listing = workspace.list("app/src", &ListOptions::default()).unwrap();
        assert_eq!(listing.entries.len(), 4);
        workspace.create_dir_all("app/src").unwrap();
        workspace.create_dir_all("app/src/new/dir").unwrap();
        write(&workspace, "app/src/made/h", "in");
        check(&all, "app/src/made/h", Ok("in"));
        let over = TransferOptions::default();
        workspace
            .rename("app/src/made/h", "app/src/h", &over)
            .unwrap();
        workspace.copy("app/src/h", "app/src/i/j", &over).unwrap();
        workspace.remove_file("app/src/h").unwrap();
        check(&all, "app/src/i/j", Ok("in"));
    });
}

#[test]
fn nothing_beside_or_above_the_scope_is_there() {
    both_ways(|| {
        let tree = project(&[
            "root/app/src/far->../../lib/f",
            "root/app/src/dir->../lib",
            "root/app/src/gone->../lib/none",
            "root/app/src/abs->${BASE}/root/f",
            "root/app/src/out->../../../out/f",
            "root/app/srcs/f=near",
        ]);
        let workspace = narrowed(&tree.workspace(), &["app/src"]);
        for path in [
            "f",
            "none",
            "lib",
            "lib/f",
            "lib/none",
            "lib/f/x",
            "none/f",
            "app/f",
            "app/none",
            "app/lib",
            "app/lib/f",
            "app/lib/none/x",
            "app/srcs/f",
            "app/srcs",
            ".",
            "..",
            "app",
            "app/",
            "ws:",
            "ws:app",
            "app/src/..",
            "app/src/../f",
            "app/src/../none",
            "app/src/../lib/f",
            "app/src/../../..",
            "app/../app",
            "../out/f",
            "../none",
        ] {
            check_outside(&tree, &workspace, path);
        }
        for path in ["root/f", "root/app", "root", "out/f", "none", ""] {
            check_outside(&tree, &workspace, &tree.text(&format!("${{BASE}}/{path}")));
        }
        for path in [
            "far", "gone", "abs", "out", "dir/f", "dir/none", "dir/", "dir/../f",
        ] {
            check(&workspace, &format!("app/src/{path}"), Err(OUTSIDE));
            let path = format!("app/src/{path}");
            let wrote = workspace.write(&path, "x", &WriteOptions::default());
            assert_eq!(code(wrote), OUTSIDE, "{path}");
        }
        let stat = workspace.stat("app/src/far").unwrap();
        assert_eq!(stat.kind, fs_core::EntryKind::Link);
        assert_eq!(fs::read(tree.path("root/lib/f")).unwrap(), b"far");
    });
}

#[test]
fn a_link_outside_of_the_scope_is_not_even_read() {
    both_ways(|| {
        let tree = project(&[
            "root/in->app/src",
            "root/app/in->src/f",
            "root/lib/in->../app/src/f",
        ]);
        let workspace = narrowed(&tree.workspace(), &["app/src"]);
        for path in ["in/f", "app/in", "lib/in", "in", "nix/f", "app/nix"] {
            check(&workspace, path, Err(OUTSIDE));
        }
    });
}

#[test]
fn without_a_directory_everything_is_outside() {
    both_ways(|| {
        let tree = project(&[]);
        let workspace = narrowed(&tree.workspace(), &[]);
        for path in ["app/src/f", "f", "none", ".", "app/src"] {
            check_outside(&tree, &workspace, path);
        }
    });
}

#[test]
fn a_scope_can_be_all_of_a_root() {
    both_ways(|| {
        let tree = project(&[
            "root/l->${BASE}/lib/f",
            "lib/f=lib",
            "lib/l->${BASE}/root/f",
        ]);
        let all = tree.builder().root("lib", &tree.path("lib"), Rights::READ);
        let all = all.build().unwrap();
        let workspace = narrowed(&all, &["."]);
        check(&workspace, "f", Ok("far"));
        check(&workspace, "app/../f", Ok("far"));
        check(&workspace, "l", Err(OUTSIDE));
        check_outside(&tree, &workspace, "lib:f");
        check_outside(&tree, &workspace, "lib:none");
        let workspace = narrowed(&all, &["lib:", "app/src"]);
        check(&workspace, "lib:f", Ok("lib"));
        check(&workspace, "lib:l", Err(OUTSIDE));
        check(&workspace, "app/src/f", Ok("in"));
        check(&workspace, "l", Err(OUTSIDE));
        let refused = workspace.write("lib:f", "x", &WriteOptions::default());
        assert_eq!(code(refused), "denied_by_policy");
    });
}

#[test]
fn roots_within_roots_keep_their_rights_and_are_in_the_scope_by_their_place() {
    both_ways(|| {
        let tree = project(&["root/app/src/f2=in"]);
        let builder = tree.builder();
        let builder = builder.root("src", &tree.path("root/app/src"), Rights::READ);
        let all = builder
            .root("lib", &tree.path("root/lib"), Rights::ALL)
            .build();
        let all = all.unwrap();
        for directories in [["app"], ["app/src"], ["src:"]] {
            let workspace = narrowed(&all, &directories);
            check(&workspace, "app/src/f", Ok("in"));
            check(&workspace, "src:d/../f", Ok("in"));
            check(&workspace, "lib:f", Err(OUTSIDE));
            check(&workspace, "lib:none", Err(OUTSIDE));
            check(&workspace, "src:../../f", Err(OUTSIDE));
            let refused = workspace.write("app/src/f", "x", &WriteOptions::default());
            assert_eq!(code(refused), "denied_by_policy");
        }
        check(&narrowed(&all, &["app"]), "src:../f", Ok("near"));
        check(&narrowed(&all, &["src:"]), "src:../f", Err(OUTSIDE));
        check(&narrowed(&all, &["src:d"]), "app/src/d/g", Ok("in"));
        check(&narrowed(&all, &["src:d"]), "src:f", Err(OUTSIDE));
    });
}

#[test]
fn deny_rules_go_on_from_the_outer_root() {
    both_ways(|| {
        let tree = project(&["root/app/src/key=k", "root/app/src/d/key=ok"]);
        let all = tree.builder().deny("/app/src/key").build().unwrap();
        let workspace = narrowed(&all, &["app/src"]);
        check(&workspace, "app/src/key", Err("denied_by_policy"));
        check(&workspace, "app/src/d/key", Ok("ok"));
        let listing = workspace.list("app/src", &ListOptions::default()).unwrap();
        let names: Vec<_> = listing.entries.iter().map(|it| it.name.clone()).collect();
        assert!(!names.contains(&"key".into()), "{names:?}");
        let denied = tree.builder().deny("lib").build().unwrap();
        check(&narrowed(&denied, &["app/src"]), "lib/f", Err(OUTSIDE));
    });
}

#[test]
fn a_directory_of_the_scope_must_be_one_that_can_be_opened() {
    both_ways(|| {
        let tree = project(&["root/l->app/src"]);
        let all = tree.builder().deny("app/lib").build().unwrap();
        let refused = |path: &str| code(all.narrowed(&["app/src", path]));
        assert_eq!(refused("f"), "not_a_directory");
        assert_eq!(refused("none"), "not_found");
        assert_eq!(refused("../out"), OUTSIDE);
        assert_eq!(refused("app/lib"), "denied_by_policy");
        assert_eq!(refused(""), "invalid_path");
        let through_link = narrowed(&all, &["l"]);
        check(&through_link, "app/src/f", Ok("in"));
        check(&through_link, "l/f", Err(OUTSIDE));
    });
}

#[test]
fn narrowing_again_only_narrows() {
    both_ways(|| {
        let tree = project(&[]);
        let app = narrowed(&tree.workspace(), &["app", "lib"]);
        let source = narrowed(&app, &["app/src"]);
        check(&source, "app/src/f", Ok("in"));
        check(&source, "app/f", Err(OUTSIDE));
        check(&source, "lib/f", Err(OUTSIDE));
        assert_eq!(code(source.narrowed(&["app"])), OUTSIDE);
        assert_eq!(code(source.narrowed(&["lib"])), OUTSIDE);
        check(&app, "app/f", Ok("near"));
    });
}

#[test]
fn nothing_leaves_the_scope_and_nothing_comes_in() {
    both_ways(|| {
        let tree = project(&[]);
        let workspace = narrowed(&tree.workspace(), &["app/src", "lib"]);
        let how = TransferOptions::default();
        for (from, to) in [
            ("app/src/f", "f2"),
            ("app/src/f", "app/src/../f2"),
            ("app/f", "app/src/f2"),
            ("app/src/f", "app/new/f2"),
        ] {
            assert_eq!(
                code(workspace.rename(from, to, &how)),
                OUTSIDE,
                "{from} {to}"
            );
            assert_eq!(code(workspace.copy(from, to, &how)), OUTSIDE, "{from} {to}");
        }
        assert!(!tree.path("root/app/new").exists());
        workspace.rename("app/src/f", "lib/f2", &how).unwrap();
        assert_eq!(fs::read(tree.path("root/lib/f2")).unwrap(), b"in");
    });
}

#[test]
fn the_name_of_a_scope_goes_to_nothing_else() {
    both_ways(|| {
        let tree = project(&["root/app/src2/f=other"]);
        let all = tree.workspace();
        let workspace = narrowed(&all, &["app/src"]);
        let top = tree.path("root/app/src");
        fs::rename(&top, tree.path("kept")).unwrap();
        check(&workspace, "app/src/f", Err("not_found"));
        for (operation, answer) in answers(&workspace, "app/src", "app/src/f") {
            assert_eq!(answer, "not_found", "{operation}");
        }
        let made = workspace.write("app/src/new/f", "x", &WriteOptions::default());
        assert_eq!(code(made), "not_found");
        assert!(!top.exists());
        fs::write(&top, "file").unwrap();
        check_outside(&tree, &workspace, "app/src");
        fs::remove_file(&top).unwrap();
        for target in ["src2", "../lib", "none", "../../out"] {
            std::os::unix::fs::symlink(target, &top).unwrap();
            check_outside(&tree, &workspace, "app/src");
            check_outside(&tree, &workspace, "app/src/f");
            check_outside(&tree, &workspace, "app/src/none");
            fs::remove_file(&top).unwrap();
        }
        fs::rename(tree.path("kept"), &top).unwrap();
        check(&workspace, "app/src/f", Ok("in"));
    });
}

#[test]
fn a_search_in_the_scope_finds_what_it_holds() {
    let tree = project(&[]);
    let workspace = narrowed(&tree.workspace(), &["app/src"]);
    let query = Query {
        pattern: "in".to_owned(),
        ..Query::default()
    };
    let searched = workspace.search("app/src", &query).unwrap();
    let paths = searched.found.blocks.iter().map(|it| it.path.to_string());
    assert_eq!(paths.collect::<Vec<_>>(), ["app/src/d/g", "app/src/f"]);
}

/// A tree with a history of a write in the scope, one beside it, and moves across its border.
fn with_history() -> (Tree, Workspace, Workspace) {
    let tree = project(&[]);
    let builder = tree.builder();
    let all = builder.history(&tree.path("state"), HistoryLimits::default());
    let all = all.build().unwrap();
    let workspace = narrowed(&all, &["app/src"]);
    (tree, all, workspace)
}

fn named(workspace: &Workspace) -> Vec<String> {
    let entries = workspace.history_of_all(100).unwrap();
    let names = entries.iter().rev().map(|entry| {
        let names = entry.names.iter().map(|name| name.path.to_string());
        names.collect::<Vec<_>>().join(" ")
    });
    names.collect()
}

#[test]
fn the_history_tells_of_names_in_the_scope_alone() {
    let (_tree, all, workspace) = with_history();
    write(&all, "app/src/f", "two");
    write(&all, "lib/f", "two");
    let how = TransferOptions::default();
    all.rename("app/src/f", "lib/moved", &how).unwrap();
    all.rename("lib/f", "app/src/new", &how).unwrap();
    write(&workspace, "app/src/h", "one");
    assert_eq!(named(&workspace), ["app/src/f", "app/src/h"]);
    assert_eq!(named(&all).len(), 5);
    let ids = workspace.history("app/src/f", 10).unwrap();
    assert_eq!(ids.len(), 1);
    assert_eq!(all.history("app/src/f", 10).unwrap().len(), 2);
    assert_eq!(code(workspace.history("lib/f", 10)), OUTSIDE);
    assert_eq!(code(workspace.history("lib/none", 10)), OUTSIDE);
}

#[test]
fn an_undo_touches_names_in_the_scope_alone() {
    let (tree, all, workspace) = with_history();
    write(&workspace, "app/src/f", "two");
    assert_eq!(undo(&workspace, "app/src/f").unwrap().len(), 1);
    check(&workspace, "app/src/f", Ok("in"));
    write(&all, "lib/f", "two");
    for path in ["lib/f", "lib/none"] {
        let refused: Result<_, Error> = workspace.undo(path, &UndoOptions::default());
        assert_eq!(code(refused), OUTSIDE);
    }
    let how = TransferOptions::default();
    all.rename("lib/f", "app/src/new", &how).unwrap();
    write(&workspace, "app/src/new", "three");
    let first = all.history("app/src/new", 10).unwrap().pop().unwrap().id;
    let before = tree_of(&tree);
    let to_first = UndoOptions {
        entry: Some(first),
        ..UndoOptions::default()
    };
    assert_eq!(code(workspace.undo("app/src/new", &to_first)), OUTSIDE);
    let state = tree.path("state").display().to_string();
    let of_root = |mut tree: Vec<(String, String)>| {
        tree.retain(|(path, _)| !path.starts_with(&state));
        tree
    };
    assert_eq!(of_root(tree_of(&tree)), of_root(before));
    all.undo("app/src/new", &to_first).unwrap();
    check(&all, "lib/f", Ok("two"));
}

#[test]
fn the_history_of_a_name_that_has_left_the_scope_is_not_opened() {
    let (tree, all, _) = with_history();
    write(&all, "a/b/f", "");
    write(&all, "a/x/f", "one");
    write(&all, "a/x/f", "two");
    write(&all, "d/f", "");
    let workspace = narrowed(&all, &["a/b", "d"]);
    let id = all.history("a/x/f", 1).unwrap()[0].id;
    fs::rename(tree.path("root/a"), tree.path("root/gone")).unwrap();
    std::os::unix::fs::symlink("d", tree.path("root/a")).unwrap();
    let opened =
        |workspace: &Workspace| code(workspace.open_history("a/x/f", id, HistorySide::Before));
    assert_eq!(opened(&all), "ok");
    assert_eq!(opened(&workspace), "not_found");
}

#[test]
fn a_link_is_not_moved_over_what_it_leads_to_by_way_of_a_name_outside() {
    both_ways(|| {
        let tree = project(&[
            "root/app/src/l->../lib/back",
            "root/app/lib/back->../src/g",
            "root/app/src/g->none",
        ]);
        let workspace = narrowed(&tree.workspace(), &["app/src"]);
        let over = TransferOptions {
            overwrite: true,
            ..TransferOptions::default()
        };
        let moved = workspace.rename("app/src/l", "app/src/g", &over);
        assert_eq!(code(moved), "invalid_argument");
    });
}

#[test]
fn a_move_out_of_the_scope_that_was_never_made_is_passed_over() {
    let (tree, all, workspace) = with_history();
    write(&all, "app/src/f", "two");
    all.rename("app/src/f", "lib/moved", &TransferOptions::default())
        .unwrap();
    fs::rename(tree.path("root/lib/moved"), tree.path("root/app/src/f")).unwrap();
    let mut stores = fs::read_dir(tree.path("state")).unwrap();
    let log = stores.next().unwrap().unwrap().path().join("log");
    let text = fs::read_to_string(&log).unwrap();
    let begun = text.trim_end().rfind('\n').unwrap() + 1;
    fs::write(&log, &text.as_bytes()[..begun]).unwrap();
    undo(&workspace, "app/src/f").unwrap();
    check(&workspace, "app/src/f", Ok("in"));
}
