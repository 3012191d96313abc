use std::path::Path;

use fs_sandbox::{Backup, Rights};
use tempfile::TempDir;

use super::*;
use crate::request::Edit;

struct Desk {
    dir: TempDir,
    workspace: Workspace,
}

impl Desk {
    fn with(rights: Rights, content: &[u8]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), content).unwrap();
        let workspace = Workspace::builder()
            .root("r", dir.path(), rights)
            .build()
            .unwrap();
        Self { dir, workspace }
    }

    fn edit(&self, path: &str, edits: &[(&str, &str)], options: &EditOptions) -> Result<Edited> {
        let edits = edits
            .iter()
            .map(|(old, new)| Edit::new(*old, *new))
            .collect();
        edit_file(&self.workspace, path, &Request::edits(edits), options)
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("f")).unwrap()
    }

    fn names(&self) -> Vec<String> {
        names(self.dir.path())
    }
}

fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn dry() -> EditOptions {
    EditOptions {
        dry_run: true,
        ..EditOptions::default()
    }
}

fn if_version(version: Version) -> EditOptions {
    EditOptions {
        update: UpdateOptions {
            if_version: Some(version),
            ..UpdateOptions::default()
        },
        ..EditOptions::default()
    }
}

#[track_caller]
fn check_error(seen: Result<Edited>, code: &str, path: &str) {
    let error = seen.unwrap_err();
    assert_eq!((error.code(), error.path()), (code, Some(path)));
}

#[test]
fn an_edit_changes_the_file_and_says_what_it_did() {
    let desk = Desk::with(Rights::ALL, b"a\r\nb\r\n");
    let edited = desk
        .edit("f", &[("b", "B\nC")], &EditOptions::default())
        .unwrap();
    assert_eq!(desk.content(), b"a\r\nB\r\nC\r\n");
    assert_eq!((edited.replacements, edited.lines_changed), (1, 2));
    assert_eq!(
        edited.diff,
        "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n"
    );
    assert_eq!(edited.version, Version::of_bytes(&desk.content()));
    assert_eq!(edited.format.unwrap().eol, fs_core::Eol::CrLf);
    assert_eq!((edited.backup, edited.dry_run), (None, false));
    assert_eq!(desk.names(), ["f"]);
}

#[test]
fn the_format_told_is_that_of_the_result() {
    let desk = Desk::with(Rights::ALL, b"a\r\nb");
    let edited = desk.edit("f", &[("\n", " ")], &dry()).unwrap();
    assert_eq!(edited.format.unwrap().eol, fs_core::Eol::None);
    let long = [vec![b'x'; 5 << 20], b"\r\na".to_vec()].concat();
    let desk = Desk::with(Rights::ALL, &long);
    let edited = desk.edit("f", &[("a", "b\nc")], &dry()).unwrap();
    assert_eq!(edited.format.unwrap().eol, fs_core::Eol::CrLf);
}

#[test]
fn a_dry_run_tells_the_same_and_needs_no_right_to_edit() {
    let desk = Desk::with(Rights::READ, b"a\nb\n");
    let edited = desk.edit("f", &[("b", "c")], &dry()).unwrap();
    assert_eq!(edited.version, Version::of_bytes(b"a\nc\n"));
    assert_eq!(edited.diff, "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert!(edited.dry_run);
    check_error(
        desk.edit("f", &[("b", "c")], &EditOptions::default()),
        "denied_by_policy",
        "f",
    );
    check_error(desk.edit("f", &[("x", "c")], &dry()), "no_match", "f");
    assert_eq!(desk.content(), b"a\nb\n");
}

#[test]
fn a_request_is_checked_before_the_file_is_looked_for() {
    let desk = Desk::with(Rights::ALL, b"a");
    check_error(
        desk.edit("none", &[("", "x")], &EditOptions::default()),
        "empty_old",
        "none",
    );
    check_error(
        desk.edit("none", &[("a", "x")], &EditOptions::default()),
        "not_found",
        "none",
    );
    check_error(
        desk.edit("none", &[("a", "x")], &dry()),
        "not_found",
        "none",
    );
    assert_eq!(desk.names(), ["f"]);
}

#[test]
fn another_version_is_a_conflict_before_the_text_is_searched() {
    let desk = Desk::with(Rights::ALL, b"v2\n");
    let stale = if_version(Version::of_bytes(b"v1\n"));
    check_error(desk.edit("f", &[("nowhere", "x")], &stale), "conflict", "f");
    let stale_dry = EditOptions {
        dry_run: true,
        ..stale
    };
    check_error(
        desk.edit("f", &[("nowhere", "x")], &stale_dry),
        "conflict",
        "f",
    );
    let mut fresh = if_version(Version::of_bytes(b"v2\n"));
    fresh.dry_run = true;
    desk.edit("f", &[("v2", "v3")], &fresh).unwrap();
    fresh.dry_run = false;
    desk.edit("f", &[("v2", "v3")], &fresh).unwrap();
    assert_eq!(desk.content(), b"v3\n");
}

#[test]
fn a_rehearsal_compares_a_large_files_version_as_an_update_does() {
    let mut content = b"v2\n".to_vec();
    content.resize(5 << 20, b'x');
    let desk = Desk::with(Rights::ALL, &content);
    let opened = desk.workspace.open("f").unwrap();
    let mut fresh = if_version(Version::of_handle(&opened.file).unwrap());
    fresh.dry_run = true;
    desk.edit("f", &[("v2", "v3")], &fresh).unwrap();
    fresh.dry_run = false;
    desk.edit("f", &[("v2", "v3")], &fresh).unwrap();
    for dry_run in [true, false] {
        fresh.dry_run = dry_run;
        check_error(desk.edit("f", &[("v3", "v4")], &fresh), "conflict", "f");
    }
}

#[test]
fn a_failed_edit_leaves_no_trace() {
    let desk = Desk::with(Rights::ALL, b"a\n");
    let options = EditOptions {
        update: UpdateOptions {
            backup: Backup::Single,
            ..UpdateOptions::default()
        },
        ..EditOptions::default()
    };
    let before = std::fs::metadata(desk.dir.path().join("f"))
        .unwrap()
        .modified()
        .unwrap();
    check_error(desk.edit("f", &[("x", "y")], &options), "no_match", "f");
    check_error(desk.edit("f", &[("a", "a")], &options), "no_op", "f");
    let after = std::fs::metadata(desk.dir.path().join("f"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!((desk.names(), after), (vec!["f".to_owned()], before));
    let edited = desk.edit("f", &[("a", "b")], &options).unwrap();
    assert_eq!(edited.backup.as_deref(), Some("f.bak"));
    assert_eq!(
        std::fs::read(desk.dir.path().join("f.bak")).unwrap(),
        b"a\n"
    );
}

#[test]
fn a_cancelled_call_changes_nothing() {
    let desk = Desk::with(Rights::ALL, b"a\n");
    for dry_run in [false, true] {
        let options = EditOptions {
            dry_run,
            ..EditOptions::default()
        };
        options.update.cancel.cancel();
        check_error(desk.edit("f", &[("a", "b")], &options), "cancelled", "f");
    }
    assert_eq!(desk.content(), b"a\n");
}

#[test]
fn who_may_edit_and_not_read_is_told_nothing_of_the_text() {
    let desk = Desk::with(Rights::EDIT, b"user = root\nport = 1\nkey = secret\n");
    let options = EditOptions::default();
    let edited = desk
        .edit("f", &[("port = 1", "port = 2")], &options)
        .unwrap();
    assert_eq!((edited.replacements, edited.diff.as_str()), (1, ""));
    assert_eq!(desk.content(), b"user = root\nport = 2\nkey = secret\n");
    let error = desk.edit("f", &[("port =  2", "x")], &options).unwrap_err();
    let told = format!("{error} {:?}", error.fields());
    assert_eq!(error.code(), "no_match");
    assert!(
        !told.contains("line 2") && error.fields().iter().all(|(name, _)| *name == "edit"),
        "{told}"
    );
}

/// Lines of over 4 MiB in all.
fn large() -> Vec<u8> {
    let lines = (1..=200_000).map(|line| format!("{line:07} some text of the log\r\n"));
    lines.collect::<Vec<_>>().concat().into_bytes()
}

#[test]
fn a_large_file_is_edited_as_its_bytes_would_be() {
    let source = large();
    assert!(source.len() as u64 > 5 * 1024 * 1024);
    let desk = Desk::with(Rights::READ | Rights::EDIT, &source);
    let edits = [
        ("0150000 some text of", "0150000 other\ntext of"),
        ("log\n0199999", "log\n199999"),
    ];
    let request = Request::edits(edits.map(|(old, new)| Edit::new(old, new)).to_vec());
    let planned = crate::plan(&source, &request).unwrap();
    let expected = planned.patch().apply(&source);
    let rehearsed = desk.edit("f", &edits, &dry()).unwrap();
    assert_eq!(desk.content(), source);
    assert_eq!(rehearsed.version, Version::of_bytes(&expected));
    let edited = desk.edit("f", &edits, &EditOptions::default()).unwrap();
    assert!(desk.content() == expected);
    for edited in [&rehearsed, &edited] {
        let diff = planned.diff(&source, "f", &DiffOptions::default());
        assert_eq!((&edited.diff, edited.size), (&diff, expected.len() as u64));
        assert_eq!((edited.replacements, edited.lines_changed), (2, 3));
        assert_eq!(edited.format.unwrap().eol, Eol::CrLf);
    }
    let error = desk
        .edit("f", &[("0150000 some", "x")], &dry())
        .unwrap_err();
    let words = "edits[0]: could not find \"old\"";
    assert!(error.to_string().starts_with(words), "{error}");
    let stale = desk.edit("f", &[("0000001", "1")], &if_version(rehearsed.version));
    assert_eq!(stale.unwrap_err().code(), "conflict");
    assert_eq!(desk.names(), ["f"]);
}

#[test]
fn a_cancelled_edit_of_a_large_file_changes_nothing() {
    let desk = Desk::with(Rights::READ | Rights::EDIT, &large());
    let options = EditOptions::default();
    options.update.cancel.cancel();
    for options in [
        options,
        EditOptions {
            dry_run: true,
            ..EditOptions::default()
        },
    ] {
        let cancelled = options.update.cancel.is_cancelled();
        let edited = desk.edit("f", &[("0000001", "1")], &options);
        assert_eq!(edited.is_err(), cancelled);
    }
    assert!(desk.content() == large());
}
