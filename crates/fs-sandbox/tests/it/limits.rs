//! Long paths, deep trees, many links, few handles, and files that could keep a reader waiting.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use fs_core::Result;
use fs_sandbox::Workspace;
use rustix::fs::{CWD, FileType, Mode};

use crate::support::{Tree, both_ways};

#[track_caller]
fn check<T>(result: Result<T>, expected: Result<(), &str>) {
    assert_eq!(result.map(|_| ()).map_err(|error| error.code()), expected);
}

#[test]
fn a_text_that_no_path_has_is_refused_before_the_disk_is_asked() {
    let tree = Tree::new(&[]);
    let workspace = tree.workspace();
    let (name, path) = ("n".repeat(256), "n/".repeat(2049));
    for text in [
        "",
        "a\0b",
        "\0",
        &name,
        &path,
        &format!("none/{name}"),
        &format!("/{name}"),
    ] {
        check(workspace.open(text), Err("invalid_path"));
        check(workspace.open_dir(text), Err("invalid_path"));
        check(workspace.stat(text), Err("invalid_path"));
        check(workspace.create_dir(text), Err("invalid_path"));
        check(workspace.create_dir_all(text), Err("invalid_path"));
        check(workspace.remove_file(text), Err("invalid_path"));
    }
    check(workspace.open(&"n".repeat(255)), Err("not_found"));
    check(workspace.open(&"n/".repeat(2048)), Err("not_found"));
}

#[test]
fn forty_links_are_followed_and_no_more() {
    both_ways(|| {
        let tree = Tree::new(&["root/l0=text"]);
        for number in 1..=41 {
            let link = tree.path(&format!("root/l{number}"));
            symlink(format!("l{}", number - 1), link).unwrap();
        }
        let workspace = tree.workspace();
        check(workspace.open("l40"), Ok(()));
        check(workspace.open("l41"), Err("invalid_path"));
    });
}

#[test]
fn a_way_as_deep_as_a_path_can_say_is_made_gone_and_gone_back() {
    both_ways(|| {
        let tree = Tree::new(&["root/f=text"]);
        let workspace = tree.workspace();
        let deep = "d/".repeat(2047);
        check(workspace.create_dir_all(&deep), Ok(()));
        check(workspace.open_dir(&deep), Ok(()));
        check(workspace.open_dir(&format!("{deep}x")), Err("not_found"));
        let back = format!("{}{}f", "d/".repeat(600), "../".repeat(600));
        check(workspace.open(&back), Ok(()));
        let turns = format!("{}{}f", "d/".repeat(100), "../../d/".repeat(98));
        check(workspace.open(&turns), Err("not_found"));
        let turns = format!("{}{}f", "d/".repeat(100), "../../d/".repeat(99) + "../");
        check(workspace.open(&turns), Ok(()));
        // The standard library needs a handle for each level, and much longer.
        let removed = Command::new("rm")
            .arg("-rf")
            .arg(tree.path("root/d"))
            .status();
        assert!(removed.unwrap().success());
    });
}

#[test]
fn forty_handles_are_enough_for_any_depth() {
    let test = "limits::a_way_as_deep_as_a_path_can_say_is_made_gone_and_gone_back";
    let again = std::env::current_exe().unwrap();
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "ulimit -n 40 && exec \"$0\" --exact \"$1\"",
        again.to_str().unwrap(),
        test,
    ]);
    let output = shell.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    both_ways(|| {
        let tree = Tree::new(&["root/l->pipe", "root/d/", "root/f=1", "root/lf->f/"]);
        let pipe = tree.path("root/pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        drop(std::os::unix::net::UnixListener::bind(tree.path("root/socket")).unwrap());
        let workspace: Workspace = tree.workspace();
        let start = Instant::now();
        for path in ["pipe", "l", "socket", "d/../pipe"] {
            check(workspace.open(path), Err("not_a_file"));
            check(workspace.open_dir(path), Err("not_a_directory"));
        }
        assert!(start.elapsed() < Duration::from_secs(1));
        check(workspace.open("d"), Err("is_a_directory"));
        check(workspace.open("d/"), Err("is_a_directory"));
        check(workspace.open("."), Err("is_a_directory"));
        check(workspace.open("f/"), Err("not_a_directory"));
        check(workspace.open("f/."), Err("not_a_directory"));
        check(workspace.open("lf"), Err("not_a_directory"));
        check(workspace.open("f/x"), Err("not_a_directory"));
        check(workspace.open("f/../f"), Err("not_a_directory"));
        check(workspace.open("none/../f"), Err("not_found"));
        check(workspace.open("pipe/x"), Err("not_a_directory"));
    });
}

#[test]
fn names_of_other_systems_are_plain_names() {
    let tree = Tree::new(&[
        "root/CON=1",
        "root/a:b=1",
        "root/..\\x=1",
        "root/x.=1",
        "root/~/y=1",
        "root/%2e%2e=1",
    ]);
    let workspace = tree.workspace();
    for path in ["CON", "a:b", "..\\x", "x.", "~/y", "%2e%2e"] {
        check(workspace.open(path), Ok(()));
    }
}
