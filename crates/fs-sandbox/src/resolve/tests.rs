use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

fn workspace(files: &[&str], links: &[(&str, &str)]) -> (TempDir, Workspace) {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join("root");
    fs::create_dir_all(root.join("d")).unwrap();
    fs::create_dir(base.path().join("out")).unwrap();
    for file in files {
        fs::write(root.join(file), "text").unwrap();
    }
    for (link, target) in links {
        symlink(target, root.join(link)).unwrap();
    }
    let builder = Workspace::builder().root("ws", &root, Rights::ALL);
    (
        base,
        builder.deny("*.pem").deny_edit("kept").build().unwrap(),
    )
}

/// Asserts the place of a file to be edited: its directory's way, its name, and whether it is there.
#[track_caller]
fn check(workspace: &Workspace, path: &str, expected: Result<(&str, bool), &str>) {
    for missing in [Missing::Refuse, Missing::MakeParents] {
        let place = workspace.locate_or_make(path, Rights::EDIT, Follow::Last, missing);
        let place = place.map(|place| {
            let seen = sys::stat_entry(&place.dir, &place.name).is_ok();
            assert_eq!(seen, place.found.is_some());
            assert!(place.rel.is_root() || place.rel.file_name() == Some(&place.name));
            (place.rel.to_string(), seen)
        });
        let place = place.as_ref().map(|(rel, seen)| (rel.as_str(), *seen));
        assert_eq!(
            place.map_err(fs_core::Error::code),
            expected,
            "{path} {missing:?}"
        );
    }
}

#[test]
fn a_link_to_be_edited_names_its_target() {
    let links = [
        ("l", "d/f"),
        ("new", "d/none"),
        ("far", "../out/none"),
        ("dir", "d"),
    ];
    let (_base, workspace) = workspace(&["f", "d/f"], &links);
    check(&workspace, "f", Ok(("f", true)));
    check(&workspace, "l", Ok(("d/f", true)));
    check(&workspace, "new", Ok(("d/none", false)));
    check(&workspace, "dir/x", Ok(("d/x", false)));
    check(&workspace, "d/../none", Ok(("none", false)));
    check(&workspace, "far", Err("outside_sandbox"));
    check(&workspace, "x.pem", Err("denied_by_policy"));
    check(&workspace, "kept", Err("denied_by_policy"));
}

#[test]
fn a_directory_is_its_name_in_the_directory_above() {
    let (_base, workspace) = workspace(&[], &[]);
    check(&workspace, "d", Ok(("d", true)));
    check(&workspace, "d/", Ok(("d", true)));
    check(&workspace, "d/../d/.", Ok(("d", true)));
    check(&workspace, "d/..", Ok((".", true)));
    check(&workspace, ".", Ok((".", true)));
}

#[test]
fn a_name_with_a_slash_is_no_new_file() {
    let (_base, workspace) = workspace(&["f"], &[]);
    check(&workspace, "none/", Err("is_a_directory"));
    check(&workspace, "f/", Err("not_a_directory"));
}

/// Asserts the answer to a new file with missing parents, and which of these are there then.
#[track_caller]
fn check_made(path: &str, code: Result<(), &str>, made: &[&str]) {
    let (base, workspace) = workspace(&["f"], &[("l", "a"), ("far", "../out/x")]);
    let place = workspace.locate_creating(path, Rights::EDIT, Follow::Last);
    assert_eq!(place.map(|_| ()).map_err(|error| error.code()), code);
    let root = base.path().join("root");
    let there = ["a", "a/b", "a/b/c", "a/kept"].into_iter();
    let there = there.filter(|dir| fs::symlink_metadata(root.join(dir)).is_ok());
    assert_eq!(there.collect::<Vec<_>>(), made);
    assert_eq!(fs::read_dir(base.path().join("out")).unwrap().count(), 0);
}

#[test]
fn missing_parents_are_made_but_not_the_name() {
    check_made("a/b/c", Ok(()), &["a", "a/b"]);
    check_made("l/b/c", Ok(()), &["a", "a/b"]);
}

#[test]
fn nothing_is_made_for_a_name_that_may_not_be() {
    check_made("a/b/c.pem", Err("denied_by_policy"), &[]);
    check_made("a/kept/c", Err("denied_by_policy"), &[]);
    check_made("a/../b", Err("not_found"), &[]);
    check_made("far/b/c", Err("outside_sandbox"), &[]);
    check_made("f/b/c", Err("not_a_directory"), &[]);
}

#[test]
fn parents_are_missing_unless_they_are_to_be_made() {
    let (base, workspace) = workspace(&[], &[]);
    let place = workspace.locate("a/b", Rights::EDIT, Follow::Last);
    assert_eq!(place.unwrap_err().code(), "not_found");
    assert!(!base.path().join("root/a").exists());
}
