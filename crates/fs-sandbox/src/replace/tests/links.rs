use std::os::unix::fs::MetadataExt;

use fs_core::Patch;
use rustix::io::Errno;

use super::super::Durability;
use super::faults::{Call, Fault};
use super::scene::{Scene, code};
use crate::write::{Backup, HardLinks};

fn three_names() -> Scene {
    let scene = Scene::with_file(b"old bytes");
    scene.hard_link("f", "g");
    scene.hard_link("f", "h");
    scene
}

#[test]
fn other_names_keep_the_old_bytes() {
    let scene = three_names();
    let replaced = scene.replace(b"new").unwrap();
    assert_eq!(replaced.parted_links, 2);
    assert_eq!(scene.bytes("f"), b"new");
    assert_eq!(
        (scene.bytes("g"), scene.bytes("h")),
        (b"old bytes".to_vec(), b"old bytes".to_vec())
    );
    assert_eq!((scene.stat("f").nlink(), scene.stat("g").nlink()), (1, 2));
}

#[test]
fn a_file_with_other_names_is_refused_when_told_so() {
    let scene = three_names();
    let before = scene.state();
    let job = scene
        .job()
        .hard_links(HardLinks::Refuse)
        .backup(Backup::Keep);
    let error = job.replace_with(b"new").unwrap_err();
    assert_eq!(error.code(), "hard_link");
    assert_eq!(error.fields(), [("links", fs_core::Field::Number(3))]);
    assert_eq!(scene.state(), before);
}

#[test]
fn a_file_with_one_name_is_replaced_under_every_policy() {
    for policy in [HardLinks::Break, HardLinks::Refuse, HardLinks::InPlace] {
        let scene = Scene::with_file(b"old");
        let before = scene.stat("f").ino();
        let replaced = scene.job().hard_links(policy).replace_with(b"new").unwrap();
        assert_eq!(scene.bytes("f"), b"new");
        assert_ne!(scene.stat("f").ino(), before);
        assert_eq!(replaced.backup, None);
        assert_eq!(scene.names(), ["f"]);
    }
}

#[track_caller]
fn check_in_place(patch: &Patch, expected: &[u8]) {
    for (backup, name) in [
        (Backup::Off, "f.bak"),
        (Backup::Single, "f.bak"),
        (Backup::Keep, "f.bak"),
    ] {
        let scene = three_names();
        scene.chmod("f", 0o640);
        let before = scene.stat("f");
        let job = scene.job().hard_links(HardLinks::InPlace).backup(backup);
        let replaced = job.durability(Durability::Full).replace(patch).unwrap();
        assert_eq!(replaced.backup.as_deref(), Some(name));
        assert_eq!(replaced.parted_links, 0);
        for each in ["f", "g", "h"] {
            assert_eq!(scene.bytes(each), expected);
        }
        assert_eq!(scene.stat("f").ino(), before.ino());
        assert_eq!(scene.mode("f"), 0o640);
        assert_eq!(scene.bytes(name), b"old bytes");
        assert_eq!(scene.mode(name), 0o640);
        assert_eq!(scene.names(), ["f", "f.bak", "g", "h"]);
    }
}

#[test]
fn in_place_all_names_get_the_new_bytes_and_the_old_ones_are_kept() {
    check_in_place(&Patch::whole(b"new".to_vec()), b"new");
    check_in_place(
        &Patch::whole(b"longer than the old ones".to_vec()),
        b"longer than the old ones",
    );
    check_in_place(&Patch::whole(Vec::new()), b"");
    check_in_place(
        &Patch::splice(9, [(4..5, b"and new ".to_vec())]),
        b"old and new ytes",
    );
    check_in_place(&Patch::splice(9, [(3..9, Vec::new())]), b"old");
    check_in_place(&Patch::splice(9, [(0..4, Vec::new())]), b"bytes");
}

#[test]
fn in_place_without_a_backup_asked_for_no_backup_is_replaced() {
    let scene = three_names();
    scene.write("f.bak", b"theirs");
    let replaced = scene
        .job()
        .hard_links(HardLinks::InPlace)
        .replace_with(b"new")
        .unwrap();
    assert_eq!(replaced.backup.as_deref(), Some("f.bak.1"));
    assert_eq!(scene.bytes("f.bak"), b"theirs");
}

#[test]
fn in_place_a_failure_puts_the_old_bytes_back() {
    for (call, errno) in [
        (Call::Ftruncate, Errno::IO),
        (Call::CopyFileRange, Errno::IO),
    ] {
        let scene = three_names();
        scene.write("f.bak", b"an older backup");
        let before = scene.state();
        let fault = Fault::always(call, errno);
        let job = || {
            scene
                .job()
                .hard_links(HardLinks::InPlace)
                .backup(Backup::Single)
        };
        let patch = Patch::splice(9, [(1..2, b"--".to_vec())]);
        let outcome = fault.during(|| job().replace(&patch));
        assert_ne!(code(outcome), "ok");
        match call {
            // The copy is made by the same call, so nothing is touched at all.
            Call::CopyFileRange => assert_eq!(scene.state(), before),
            // The old length cannot be put back either, so the backup stays.
            _ => assert_eq!(scene.bytes("f.bak"), b"old bytes"),
        }
    }
}

#[test]
fn in_place_is_undone_when_the_file_cannot_be_synced() {
    let scene = three_names();
    let before = scene.state();
    // The copy is not synced, so that the file's sync is the first.
    let old = super::super::OldFile::open(scene.job().target())
        .unwrap()
        .unwrap();
    let fault = Fault::always(Call::Fsync, Errno::IO);
    let job = || {
        scene
            .job()
            .hard_links(HardLinks::InPlace)
            .durability(Durability::File)
    };
    assert_eq!(
        code(fault.during(|| job().replace_with(b"new"))),
        "backup_failed"
    );
    assert_eq!(scene.state(), before);
    assert_eq!(old.links(), 3);
}

#[test]
fn a_running_program_is_not_rewritten_in_place() {
    let scene = Scene::empty();
    std::fs::copy("/bin/sleep", scene.path("f")).unwrap();
    scene.hard_link("f", "g");
    let mut child = std::process::Command::new(scene.path("f"))
        .arg("30")
        .spawn()
        .unwrap();
    let job = scene.job().hard_links(HardLinks::InPlace);
    let outcome = job.replace_with(b"new");
    let broken = scene.job().replace_with(b"new");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(code(outcome), "not_replaceable");
    assert_eq!(code(broken), "ok");
    assert_eq!(scene.names(), ["f", "g"]);
}
