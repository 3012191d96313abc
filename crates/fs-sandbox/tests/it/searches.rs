//! Walking and searching with the rights and rules of a workspace.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use fs_core::{Found, Query, Skip, Syntax, Target, WalkOptions, Walked};
use fs_sandbox::{Rights, Workspace};

use crate::support::{Tree, both_ways, is_root, with_own_mounts};

fn everything() -> WalkOptions {
    WalkOptions {
        include_hidden: true,
        ..WalkOptions::default()
    }
}

/// Returns what a walk visits, with why it is skipped.
fn visited(workspace: &Workspace, path: &str) -> (Vec<String>, Walked) {
    let mut lines = Vec::new();
    let walked = workspace.walk(path, &everything(), &mut |entry| {
        let skip = entry.skip.map(|skip| format!(" {}", skip.name()));
        lines.push(format!("{}{}", entry.path, skip.unwrap_or_default()));
        ControlFlow::Continue(())
    });
    (lines, walked.unwrap())
}

#[track_caller]
fn check_visited(workspace: &Workspace, path: &str, expected: &[&str]) {
    assert_eq!(visited(workspace, path).0, expected);
}

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.to_owned(),
        walk: everything(),
        ..Query::default()
    }
}

fn paths(found: &Found) -> Vec<String> {
    let blocks = found.blocks.iter().map(|block| block.path.to_string());
    let names = found.names.iter().map(|name| name.path.to_string());
    blocks.chain(names).collect()
}

#[track_caller]
fn check_found(workspace: &Workspace, path: &str, pattern: &str, expected: &[&str]) {
    let searched = workspace.search(path, &query(pattern)).unwrap();
    assert_eq!(paths(&searched.found), expected);
}

#[track_caller]
fn check_refused(workspace: &Workspace, path: &str, code: &str) {
    let error = workspace.search(path, &query("x")).unwrap_err();
    assert_eq!((error.code(), error.path()), (code, Some(path)));
    let walked = workspace.walk(path, &everything(), &mut |_| ControlFlow::Continue(()));
    let error = walked.unwrap_err();
    assert_eq!((error.code(), error.path()), (code, Some(path)));
}

#[test]
fn what_is_denied_is_neither_shown_nor_searched() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/a/key.PEM=hit",
            "root/a/f=hit",
            "root/secret/f=hit",
            "root/b/secret/f=hit",
            "root/top=hit",
            "root/b/top=hit",
        ]);
        let builder = tree.builder().deny("*.pem").deny("secret").deny("/top");
        let workspace = builder.build().unwrap();
        check_visited(&workspace, ".", &["a", "a/f", "b", "b/top"]);
        check_found(&workspace, ".", "hit", &["a/f", "b/top"]);
        let names = Query {
            target: Target::Names,
            ..query("e")
        };
        let searched = workspace.search(".", &names).unwrap();
        assert_eq!(paths(&searched.found), Vec::<String>::new());
        assert_eq!(searched.found.skipped.total(), 0);
        check_refused(&workspace, "secret", "denied_by_policy");
    });
}

#[test]
fn a_denied_file_of_rules_rules_nothing() {
    let tree = Tree::new(&[
        "root/.gitignore=f\n",
        "root/d/.gitignore=f\n",
        "root/d/f=hit",
        "root/f=hit",
    ]);
    check_found(&tree.workspace(), ".", "hit", &[]);
    check_found(&tree.workspace(), "d", "hit", &[]);
    let workspace = tree.builder().deny(".gitignore").build().unwrap();
    check_found(&workspace, ".", "hit", &["d/f", "f"]);
    check_found(&workspace, "d", "hit", &["d/f"]);
}

#[test]
fn results_are_relative_to_the_root_wherever_the_search_begins() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/a/b/f=hit",
            "root/f=hit",
            "root/link->a",
            "out/f=hit",
            "root/out->../out",
        ]);
        let workspace = tree.workspace();
        check_found(&workspace, "a", "hit", &["a/b/f"]);
        check_found(&workspace, "ws:a/b/", "hit", &["a/b/f"]);
        check_found(&workspace, "link", "hit", &["a/b/f"]);
        check_found(
            &workspace,
            &tree.text("${BASE}/root/a/../a"),
            "hit",
            &["a/b/f"],
        );
        check_found(&workspace, ".", "hit", &["a/b/f", "f"]);
        let searched = workspace.search("link/b", &query("hit")).unwrap();
        assert_eq!(searched.root.as_deref(), Some("ws"));
        assert_eq!(searched.path.to_string(), "a/b");
        check_refused(&workspace, "out", "outside_sandbox");
        check_refused(&workspace, "f", "not_a_directory");
        check_refused(&workspace, "none", "not_found");
        check_refused(&workspace, "..", "outside_sandbox");
    });
}

#[test]
fn a_name_that_is_no_text_is_taken_back_as_it_was_shown() {
    both_ways(|| {
        let tree = Tree::new(&[]);
        let names: [&[u8]; 3] = [b"caf\xE9\n", br"a\b", br"a\xE9"];
        for name in names {
            let dir = tree.path("root").join(OsStr::from_bytes(name));
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("f"), "hit").unwrap();
        }
        let workspace = tree.workspace();
        let found = workspace.search(".", &query("hit")).unwrap().found;
        let expected = [r"a\b/f", r"a\x5CxE9/f", r"caf\xE9\x0A/f"];
        assert_eq!(paths(&found), expected);
        for path in expected {
            let opened = workspace.open(path).unwrap();
            assert_eq!(opened.path.to_string(), path);
            workspace.open(&format!("ws:{path}")).unwrap();
            workspace
                .open(&tree.text(&format!("${{BASE}}/root/{path}")))
                .unwrap();
        }
    });
}

#[test]
fn an_argument_that_is_no_path_is_named_without_one() {
    let tree = Tree::new(&[]);
    let bad = Query {
        syntax: Syntax::Regex,
        ..query("(")
    };
    let error = tree.workspace().search(".", &bad).unwrap_err();
    assert_eq!((error.code(), error.path()), ("invalid_argument", None));
}

#[test]
fn a_root_within_has_rights_and_rules_of_its_own() {
    let tree = Tree::new(&[
        "root/in/f=hit",
        "root/in/top=hit",
        "root/no/f=hit",
        "root/no/deep/f=hit",
        "root/no/deep/yes/f=hit",
        "root/f=hit",
    ]);
    let builder = tree
        .builder()
        .root("in", &tree.path("root/in"), Rights::READ)
        .root("no", &tree.path("root/no"), Rights::EDIT)
        .deny("/top");
    let workspace = builder.build().unwrap();
    let expected = ["f", "in", "in/f", "no denied"];
    check_visited(&workspace, ".", &expected);
    check_found(&workspace, ".", "hit", &["f", "in/f"]);
    let (_, walked) = visited(&workspace, ".");
    assert_eq!(walked.skipped.count(Skip::Denied), 1);
    let searched = workspace.search("in", &query("hit")).unwrap();
    assert_eq!(searched.root.as_deref(), Some("in"));
    assert_eq!(paths(&searched.found), ["f"]);
    check_refused(&workspace, "no", "denied_by_policy");
}

#[test]
fn the_outside_is_searched_with_its_own_rights() {
    let tree = Tree::new(&["root/f=hit", "out/f=hit"]);
    let out = tree.text("${BASE}/out");
    check_refused(&tree.workspace(), &out, "outside_sandbox");
    let workspace = tree.builder().outside(Rights::READ).build().unwrap();
    let searched = workspace.search(&out, &query("hit")).unwrap();
    assert_eq!(searched.root, None);
    assert_eq!(
        paths(&searched.found),
        [format!("{}/f", out.trim_start_matches('/'))]
    );
}

#[test]
fn the_kernels_directories_are_not_entered() {
    let tree = Tree::new(&[]);
    let disk = Workspace::builder().root("disk", std::path::Path::new("/"), Rights::READ);
    let workspace = disk.build().unwrap();
    let top = WalkOptions {
        max_depth: Some(1),
        ..everything()
    };
    let mut names = Vec::new();
    workspace
        .walk(".", &top, &mut |entry| {
            names.push(entry.name.as_bytes().to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(
        names.contains(&b"tmp".to_vec()),
        "{}",
        tree.base().display()
    );
    for kernels in ["proc", "sys", "dev"] {
        assert!(!names.contains(&kernels.as_bytes().to_vec()), "{kernels}");
    }
}

#[test]
fn mounts_are_entered_unless_the_kernels_or_forbidden() {
    if !is_root() {
        eprintln!("skipped: only root mounts");
        return;
    }
    with_own_mounts(|| {
        use rustix::mount::{MountFlags, mount};
        let tree = Tree::new(&[
            "root/a/f=hit",
            "root/p/f=hit",
            "root/t/",
            "root/info=",
            "out/b/f=hit",
            "root/mf=",
        ]);
        let none = MountFlags::empty();
        mount("proc", tree.path("root/p"), "proc", none, None).unwrap();
        mount("tmpfs", tree.path("root/t"), "tmpfs", none, None).unwrap();
        std::fs::write(tree.path("root/t/f"), "hit").unwrap();
        rustix::mount::mount_bind("/proc/version", tree.path("root/info")).unwrap();
        rustix::mount::mount_bind(tree.path("out/b"), tree.path("root/a")).unwrap();
        rustix::mount::mount_bind(tree.path("out/b/f"), tree.path("root/mf")).unwrap();
        check_visited(
            &tree.workspace(),
            ".",
            &["a", "a/f", "info", "mf", "p denied", "t", "t/f"],
        );
        check_found(&tree.workspace(), ".", "hit", &["a/f", "mf", "t/f"]);
        let kernels = tree.workspace().search(".", &query("Linux")).unwrap();
        assert_eq!(paths(&kernels.found), Vec::<String>::new());
        assert_eq!(kernels.found.skipped.count(Skip::Denied), 2);
        let workspace = tree.builder().one_filesystem(true).build().unwrap();
        let expected = ["a denied", "info", "mf", "p denied", "t denied"];
        check_visited(&workspace, ".", &expected);
        check_found(&workspace, ".", "hit", &[]);
    });
}
