//! Which root a path belongs to, and what that decides.

use std::fs;

use fs_core::Result;
use fs_sandbox::{Rights, Workspace};

use crate::support::{Tree, both_ways, without_openat2};

/// Asserts the root and path that `path` opens, or the code.
#[track_caller]
fn check(workspace: &Workspace, path: &str, expected: Result<&str, &str>) {
    let opened = workspace.open(path);
    let shown = opened.map(|file| format!("{}:{}", file.root.unwrap_or_default(), file.path));
    let code = shown.as_deref().map_err(fs_core::Error::code);
    assert_eq!(code, expected, "{path}");
}

/// Two roots: `ws` may do everything, `lib` may only be read.
fn two(tree: &Tree) -> Workspace {
    let builder = tree.builder().root("lib", &tree.path("lib"), Rights::READ);
    builder.build().unwrap()
}

#[test]
fn a_path_names_its_root_by_position_name_or_spelling() {
    both_ways(|| {
        let tree = Tree::new(&["root/a=1", "lib/a=2", "root/lib:a=3", "alias->lib"]);
        let builder = tree
            .builder()
            .root("lib", &tree.path("alias"), Rights::READ);
        let workspace = builder.build().unwrap();
        check(&workspace, "a", Ok("ws:a"));
        check(&workspace, "ws:a", Ok("ws:a"));
        check(&workspace, "lib:a", Ok("lib:a"));
        check(&workspace, "./lib:a", Ok("ws:lib:a"));
        check(&workspace, "li:a", Err("not_found"));
        check(&workspace, "lib:/a", Err("invalid_path"));
        check(&workspace, &tree.text("${BASE}/lib//a"), Ok("lib:a"));
        check(&workspace, &tree.text("${BASE}/alias/./a"), Ok("lib:a"));
        check(&workspace, &tree.text("/${BASE}/root/a"), Ok("ws:a"));
        check(
            &workspace,
            &tree.text("${BASE}/root/../root/a"),
            Err("outside_sandbox"),
        );
        check(
            &workspace,
            &tree.text("${BASE}/rootless/a"),
            Err("outside_sandbox"),
        );
        check(&workspace, &tree.text("${BASE}"), Err("outside_sandbox"));
        check(&workspace, "/", Err("outside_sandbox"));
    });
}

#[test]
fn a_link_into_another_root_gets_that_roots_rights() {
    both_ways(|| {
        let tree = Tree::new(&["root/l->${BASE}/lib/f", "root/d->${BASE}/lib", "lib/f=1"]);
        let workspace = two(&tree);
        check(&workspace, "l", Ok("lib:f"));
        check(&workspace, "d/f", Ok("lib:f"));
        assert_eq!(
            workspace.create_dir("d/new").unwrap_err().code(),
            "denied_by_policy"
        );
        assert_eq!(
            workspace.remove_file("d/f").unwrap_err().code(),
            "denied_by_policy"
        );
        workspace.remove_file("l").unwrap();
        assert!(fs::exists(tree.path("lib/f")).unwrap());
    });
}

#[test]
fn the_innermost_root_decides_alone_however_it_is_reached() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/in/f=1",
            "root/in/deep/g=1",
            "root/f=1",
            "root/l->in/f",
            "root/abs->${BASE}/root/in/f",
            "root/in/up->../f",
        ]);
        let builder = tree
            .builder()
            .root("in", &tree.path("root/in"), Rights::READ);
        let plain = tree
            .builder()
            .root("in", &tree.path("root/in"), Rights::READ);
        check(&plain.build().unwrap(), "in/f", Ok("in:f"));
        let workspace = builder.deny("/in").build().unwrap();
        for path in ["in/f", "./in//f", "in:f", "l", "abs", "in/../in/f"] {
            check(&workspace, path, Ok("in:f"));
        }
        check(&workspace, &tree.text("${BASE}/root/in/f"), Ok("in:f"));
        check(&workspace, "in/deep/../../f", Ok("ws:f"));
        check(&workspace, "in:up", Ok("ws:f"));
        check(&workspace, "in:../in/f", Ok("in:f"));
        check(&workspace, "in:../../f", Err("outside_sandbox"));
        for path in ["in/f", "in/deep/../f"] {
            let refused = workspace.remove_file(path).unwrap_err();
            assert_eq!(refused.code(), "denied_by_policy", "{path}");
        }
        let refused = workspace.create_dir_all("in/a/b").unwrap_err();
        assert_eq!(refused.code(), "denied_by_policy");
    });
}

#[test]
fn of_two_names_for_one_directory_the_first_has_its_absolute_paths() {
    let tree = Tree::new(&["root/f=1"]);
    let builder = tree
        .builder()
        .root("again", &tree.path("root"), Rights::READ);
    let workspace = builder.build().unwrap();
    check(&workspace, &tree.text("${BASE}/root/f"), Ok("ws:f"));
    check(&workspace, "again:f", Ok("again:f"));
}

#[test]
fn the_outside_has_its_own_rights() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/f=1",
            "root/l->../out/s",
            "out/s=1",
            "out/back->../root/f",
        ]);
        let workspace = tree.builder().outside(Rights::READ).build().unwrap();
        let outside = tree.text("${BASE}/out/s");
        let shown = format!(":{}", outside.trim_start_matches('/'));
        check(&workspace, &outside, Ok(&shown));
        check(&workspace, "../out/s", Ok(&shown));
        check(&workspace, "l", Ok(&shown));
        check(&workspace, &tree.text("${BASE}/out/back"), Ok("ws:f"));
        for path in ["s", "none", "none/none"] {
            let path = tree.text(&format!("${{BASE}}/out/{path}"));
            let refused = workspace.remove_file(&path).unwrap_err();
            assert_eq!(refused.code(), "denied_by_policy", "{path}");
        }
        workspace.remove_file("../root/f").unwrap();
    });
}

#[test]
fn the_kernels_directories_are_nobodys() {
    both_ways(|| {
        let tree = Tree::new(&["root/p->/proc/self/environ", "root/d->/dev/null"]);
        let disk = Workspace::builder().root("disk", "/".as_ref(), Rights::ALL);
        let with_outside = tree.builder().outside(Rights::ALL);
        for workspace in [disk.build().unwrap(), with_outside.build().unwrap()] {
            for path in [
                "/proc/self/environ",
                "/dev/null",
                "/sys/kernel/notes",
                "/etc/../proc/1",
            ] {
                check(&workspace, path, Err("denied_by_policy"));
            }
            assert_eq!(
                workspace.stat("/dev").unwrap_err().code(),
                "denied_by_policy"
            );
            check(
                &workspace,
                &tree.text("${BASE}/root/p"),
                Err("denied_by_policy"),
            );
        }
        let workspace = tree.workspace();
        check(&workspace, "p", Err("outside_sandbox"));
        check(&workspace, "d", Err("outside_sandbox"));
        check(&workspace, "/proc/self/environ", Err("outside_sandbox"));
    });
}

#[test]
fn without_a_right_nothing_is_told() {
    both_ways(|| {
        let tree = Tree::new(&["root/f=1", "root/d/"]);
        let builder = Workspace::builder().root("ws", &tree.path("root"), Rights::NONE);
        let workspace = builder.build().unwrap();
        for path in ["f", "none", "none/f", "f/f", "d", "."] {
            let told = [
                workspace.open(path).unwrap_err(),
                workspace.open_dir(path).unwrap_err(),
                workspace.stat(path).unwrap_err(),
                workspace.remove_file(path).unwrap_err(),
                workspace.create_dir_all(path).unwrap_err(),
            ];
            for error in told {
                assert_eq!(error.code(), "denied_by_policy", "{path}");
            }
        }
    });
}

#[test]
fn a_blocked_call_that_says_not_permitted_is_a_missing_call() {
    without_openat2(rustix::io::Errno::PERM, || {
        let tree = Tree::new(&["root/f=1", "root/l->f"]);
        let workspace = tree.workspace();
        check(&workspace, "f", Ok("ws:f"));
        check(&workspace, "l", Ok("ws:f"));
        check(&workspace, "none", Err("not_found"));
    });
}

#[test]
fn roots_that_cannot_be_are_refused() {
    let tree = Tree::new(&["root/f=1"]);
    let refused = |builder: fs_sandbox::WorkspaceBuilder| builder.build().unwrap_err();
    assert_eq!(refused(Workspace::builder()).code(), "invalid_argument");
    for (name, path, code) in [
        ("none", "none", "not_found"),
        ("file", "root/f", "not_a_directory"),
        ("ws", "out", "invalid_argument"),
        ("", "out", "invalid_argument"),
        ("a:b", "out", "invalid_argument"),
        ("a/b", "out", "invalid_argument"),
    ] {
        let error = refused(tree.builder().root(name, &tree.path(path), Rights::READ));
        assert_eq!(error.code(), code, "{name}");
    }
    let error = refused(tree.builder().root("p", "/proc".as_ref(), Rights::READ));
    assert_eq!(error.code(), "denied_by_policy");
    let error = refused(tree.builder().deny("a[").deny("b"));
    assert_eq!(error.code(), "invalid_argument");
}

#[test]
fn a_root_keeps_its_directory_when_the_name_goes_to_another() {
    both_ways(|| {
        let tree = Tree::new(&["root/f=1", "other/g=1"]);
        let workspace = tree.workspace();
        fs::rename(tree.path("root"), tree.path("gone")).unwrap();
        fs::rename(tree.path("other"), tree.path("root")).unwrap();
        check(&workspace, "f", Ok("ws:f"));
        check(&workspace, &tree.text("${BASE}/root/g"), Err("not_found"));
    });
}
