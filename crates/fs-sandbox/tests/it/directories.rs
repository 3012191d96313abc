//! Directories made with every choice, and what a name is said to be.

use std::fs;
use std::time::{Duration, SystemTime};

use fs_core::EntryKind;
use fs_sandbox::{Change, CreateDirOptions};

use crate::support::{Tree, both_ways};

const PLAIN: CreateDirOptions = CreateDirOptions {
    parents: false,
    exist_ok: false,
};
const PARENTS: CreateDirOptions = CreateDirOptions {
    parents: true,
    exist_ok: false,
};
const EXIST_OK: CreateDirOptions = CreateDirOptions {
    parents: false,
    exist_ok: true,
};
const BOTH: CreateDirOptions = CreateDirOptions {
    parents: true,
    exist_ok: true,
};

#[track_caller]
fn check(path: &str, options: CreateDirOptions, expected: Result<Change, &str>) {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/d/",
            "root/f=F",
            "root/l->d",
            "root/gone->x",
            "root/o->../out",
        ]);
        let made = tree.workspace().create_dir_with(path, options);
        let made = made.map_err(|error| {
            assert_eq!(error.path(), Some(path));
            error.code()
        });
        assert_eq!(made, expected, "{path} {options:?}");
        let is_dir = tree.path("root").join(path).is_dir();
        assert_eq!(
            is_dir,
            expected.is_ok() || path.starts_with(['d', 'l', 'o'])
        );
        assert!(!tree.path("root/x").exists());
    });
}

#[test]
fn parents_and_what_is_there_are_treated_as_told() {
    for options in [PLAIN, PARENTS, EXIST_OK, BOTH] {
        check("new", options, Ok(Change::Created));
        check("new/", options, Ok(Change::Created));
        check("f", options, Err("already_exists"));
        check("gone", options, Err("already_exists"));
        check("f/x", options, Err("not_a_directory"));
    }
    for options in [PLAIN, EXIST_OK] {
        check("a/b", options, Err("not_found"));
    }
    for options in [PARENTS, BOTH] {
        check("a/b/c", options, Ok(Change::Created));
    }
    for path in ["d", "d/", "l"] {
        check(path, PLAIN, Err("already_exists"));
        check(path, PARENTS, Err("already_exists"));
        check(path, EXIST_OK, Ok(Change::Unchanged));
        check(path, BOTH, Ok(Change::Unchanged));
    }
    check("o", BOTH, Err("outside_sandbox"));
}

#[test]
fn a_name_is_told_with_its_times() {
    both_ways(|| {
        let tree = Tree::new(&["root/f=12345", "root/l->f"]);
        let past = SystemTime::UNIX_EPOCH + Duration::new(86_400, 1);
        fs::File::open(tree.path("root/f"))
            .unwrap()
            .set_modified(past)
            .unwrap();
        let workspace = tree.workspace();
        let file = workspace.symlink_metadata("f").unwrap();
        assert_eq!((file.kind, file.size), (EntryKind::File, 5));
        assert_eq!(file.modified, Some(past));
        let created = fs::metadata(tree.path("root/f")).unwrap().created().ok();
        assert_eq!(file.created, created);
        let link = workspace.symlink_metadata("l").unwrap();
        assert_eq!((link.kind, link.size), (EntryKind::Link, 1));
        let root = workspace.symlink_metadata(".").unwrap();
        assert_eq!(root.kind, EntryKind::Dir);
        let error = workspace.symlink_metadata("no").unwrap_err();
        assert_eq!((error.code(), error.path()), ("not_found", Some("no")));
    });
}
