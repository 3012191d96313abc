//! `if_version`, and foreign changes.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use fs_core::{Patch, Version};

use super::super::*;
use super::files::{Site, code};
use crate::replace::tests::hook;

fn if_version(bytes: &[u8]) -> UpdateOptions {
    UpdateOptions {
        if_version: Some(Version::of_bytes(bytes)),
        ..UpdateOptions::default()
    }
}

fn writing(mode: WriteMode, update: UpdateOptions) -> WriteOptions {
    WriteOptions {
        mode,
        update,
        ..WriteOptions::default()
    }
}

const MODES: [WriteMode; 3] = [
    WriteMode::Overwrite,
    WriteMode::Append,
    WriteMode::InsertBefore { line: 1 },
];

#[test]
fn another_version_is_a_conflict() {
    let site = Site::with_file("v2");
    for mode in MODES {
        let stale = writing(mode, if_version(b"v1"));
        assert_eq!(code(site.workspace.write("f", "x", &stale)), "conflict");
        let current = writing(mode, if_version(&site.bytes("f")));
        assert_eq!(code(site.workspace.write("f", "x", &current)), "ok");
        site.put("f", "v2");
    }
    let plan = |_: &Source<'_>| Ok((Patch::whole(b"x".to_vec()), ()));
    let updated = site.workspace.update("f", &if_version(b"v1"), plan);
    assert_eq!(code(updated), "conflict");
    assert_eq!(site.bytes("f"), b"v2");
}

#[test]
fn a_version_is_the_content_not_the_time() {
    let site = Site::with_file("v1");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let touch = || {
        let file = fs::File::open(site.path("f")).unwrap();
        file.set_modified(time).unwrap();
    };
    touch();
    let options = writing(WriteMode::Append, if_version(b"v1"));
    assert_eq!(code(site.workspace.write("f", "x", &options)), "ok");
    site.put("f", "v2");
    touch();
    assert_eq!(code(site.workspace.write("f", "x", &options)), "conflict");
}

#[test]
fn a_version_of_what_is_gone_is_a_conflict() {
    let site = Site::new();
    for mode in [WriteMode::Overwrite, WriteMode::Append] {
        for path in ["f", "dir/f"] {
            let options = writing(mode, if_version(b"v1"));
            assert_eq!(code(site.workspace.write(path, "x", &options)), "conflict");
        }
    }
    assert_eq!(site.names(""), Vec::<String>::new());
}

#[test]
fn the_version_is_looked_at_before_the_content() {
    let site = Site::with_file(b"\0binary");
    for mode in MODES {
        let stale = writing(mode, if_version(b"v1"));
        assert_eq!(code(site.workspace.write("f", "x", &stale)), "conflict");
    }
    let plan = |_: &Source<'_>| -> Result<(Patch, ())> { panic!("not to be asked") };
    let updated = site.workspace.update("f", &if_version(b"v1"), plan);
    assert_eq!(code(updated), "conflict");
}

#[test]
fn a_large_file_is_compared_by_its_handle() {
    let site = Site::with_file(vec![b'a'; 5 * 1024 * 1024]);
    let opened = site.workspace.open("f").unwrap();
    let version = Version::of_handle(&opened.file).unwrap();
    let known = |version: &Version| UpdateOptions {
        if_version: Some(version.clone()),
        ..UpdateOptions::default()
    };
    let options = writing(WriteMode::Append, known(&version));
    let written = site.workspace.write("f", "x", &options).unwrap();
    assert!(written.version.is_weak());
    assert_eq!(code(site.workspace.write("f", "x", &options)), "conflict");
    let options = writing(WriteMode::Append, known(&written.version));
    assert_eq!(code(site.workspace.write("f", "x", &options)), "ok");
    let strong = writing(WriteMode::Append, if_version(&site.bytes("f")));
    assert_eq!(code(site.workspace.write("f", "x", &strong)), "conflict");
}

#[test]
fn the_version_after_a_write_allows_the_next_one() {
    for size in [10, 4 * 1024 * 1024, 4 * 1024 * 1024 + 1] {
        let site = Site::new();
        let text = "a".repeat(size);
        let created = site.write("f", &text, WriteMode::CreateNew).unwrap();
        assert_eq!(created.version.is_weak(), size > 4 * 1024 * 1024);
        let mut version = created.version;
        for _ in 0..3 {
            let update = UpdateOptions {
                if_version: Some(version),
                backup: Backup::Keep,
                ..UpdateOptions::default()
            };
            let options = writing(WriteMode::Append, update);
            version = site.workspace.write("f", "b", &options).unwrap().version;
        }
    }
}

#[test]
fn a_write_that_needs_nothing_of_a_foreign_change_starts_again() {
    let site = Site::with_file("old\n");
    let path = site.path("f");
    hook::when_written(move || fs::write(&path, "foreign\n").unwrap());
    site.write("f", "mine\n", WriteMode::Append).unwrap();
    assert_eq!(site.bytes("f"), b"foreign\nmine\n");
    let path = site.path("f");
    hook::when_written(move || fs::write(&path, "foreign\r\n").unwrap());
    site.write("f", "mine\n", WriteMode::Overwrite).unwrap();
    assert_eq!(site.bytes("f"), b"mine\r\n");
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn a_file_that_comes_while_it_is_created_is_appended_to() {
    let site = Site::new();
    let path = site.path("f");
    hook::when_written(move || fs::write(&path, "foreign\n").unwrap());
    let written = site.write("f", "mine\n", WriteMode::Append).unwrap();
    assert_eq!(written.change, Change::Replaced);
    assert_eq!(site.bytes("f"), b"foreign\nmine\n");
    let path = site.path("g");
    hook::when_written(move || fs::write(&path, "foreign").unwrap());
    assert_eq!(
        code(site.write("g", "mine", WriteMode::CreateNew)),
        "already_exists"
    );
    assert_eq!(site.bytes("g"), b"foreign");
}

#[test]
fn what_was_planned_on_other_bytes_is_a_conflict() {
    let foreign = |site: &Site| {
        let path = site.path("f");
        hook::when_written(move || fs::write(&path, "foreign").unwrap());
    };
    let site = Site::with_file("old");
    foreign(&site);
    assert_eq!(code(site.update("f", b"mine")), "conflict");
    assert_eq!(site.bytes("f"), b"foreign");
    site.put("f", "old");
    foreign(&site);
    let mode = WriteMode::InsertBefore { line: 1 };
    assert_eq!(code(site.write("f", "mine", mode)), "conflict");
    assert_eq!(site.bytes("f"), b"foreign");
    site.put("f", "old");
    foreign(&site);
    let known = writing(WriteMode::Overwrite, if_version(b"old"));
    assert_eq!(code(site.workspace.write("f", "mine", &known)), "conflict");
    assert_eq!(site.bytes("f"), b"foreign");
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn a_foreign_change_during_the_plan_is_a_conflict() {
    let site = Site::with_file("old");
    let asked = Cell::new(0);
    let plan = |_: &Source<'_>| {
        asked.set(asked.get() + 1);
        fs::write(site.path("f"), "foreign").unwrap();
        Ok((Patch::whole(b"mine".to_vec()), ()))
    };
    let updated = site.workspace.update("f", &UpdateOptions::default(), plan);
    assert_eq!(code(updated), "conflict");
    assert_eq!(asked.get(), 1);
    assert_eq!(site.bytes("f"), b"foreign");
}

fn served(bytes: &[u8]) -> UpdateOptions {
    UpdateOptions {
        served: Some(Version::of_bytes(bytes)),
        ..UpdateOptions::default()
    }
}

#[test]
fn what_was_served_is_overwritten_only_as_it_was() {
    let site = Site::with_file("v2");
    for mode in MODES {
        let stale = writing(mode, served(b"v1"));
        assert_eq!(code(site.workspace.write("f", "x", &stale)), "conflict");
        assert_eq!(site.bytes("f"), b"v2");
        site.put("f", "v2");
        let current = writing(mode, served(b"v2"));
        assert_eq!(code(site.workspace.write("f", "x", &current)), "ok");
        site.put("f", "v2");
    }
    let plan = |_: &Source<'_>| Ok((Patch::whole(b"x".to_vec()), ()));
    let updated = site.workspace.update("f", &served(b"v1"), plan);
    assert_eq!(code(updated), "conflict");
    let both = UpdateOptions {
        if_version: Some(Version::of_bytes(b"v2")),
        ..served(b"v1")
    };
    let both = writing(WriteMode::Overwrite, both);
    assert_eq!(code(site.workspace.write("f", "x", &both)), "conflict");
    assert_eq!(site.bytes("f"), b"v2");
}

#[test]
fn what_was_served_and_is_gone_may_be_created_again() {
    let site = Site::new();
    for (path, mode) in [
        ("f", WriteMode::Overwrite),
        ("g", WriteMode::Append),
        ("dir/f", WriteMode::Overwrite),
        ("h", WriteMode::CreateNew),
    ] {
        let options = writing(mode, served(b"v1"));
        let written = site.workspace.write(path, "x", &options).unwrap();
        assert_eq!(written.change, Change::Created);
    }
}

#[test]
fn a_foreign_change_of_what_was_served_is_never_overwritten() {
    let site = Site::with_file("old");
    let path = site.path("f");
    hook::when_written(move || fs::write(&path, "foreign").unwrap());
    let known = writing(WriteMode::Overwrite, served(b"old"));
    assert_eq!(code(site.workspace.write("f", "mine", &known)), "conflict");
    assert_eq!(site.bytes("f"), b"foreign");
    // Nor one that comes while the file is made again.
    fs::remove_file(site.path("f")).unwrap();
    let path = site.path("f");
    hook::when_written(move || fs::write(&path, "foreign").unwrap());
    assert_eq!(code(site.workspace.write("f", "mine", &known)), "conflict");
    assert_eq!(site.bytes("f"), b"foreign");
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn a_cancelled_write_changes_nothing() {
    let site = Site::with_file("old");
    let before = fs::metadata(site.path("f")).unwrap();
    let update = UpdateOptions::default();
    update.cancel.cancel();
    for mode in MODES {
        let options = writing(mode, update.clone());
        assert_eq!(code(site.workspace.write("f", "x", &options)), "cancelled");
    }
    let options = writing(WriteMode::CreateNew, update);
    assert_eq!(code(site.workspace.write("g", "x", &options)), "cancelled");
    let after = fs::metadata(site.path("f")).unwrap();
    assert_eq!(
        (after.ino(), after.ctime_nsec()),
        (before.ino(), before.ctime_nsec())
    );
    assert_eq!(site.names(""), ["f"]);
}
