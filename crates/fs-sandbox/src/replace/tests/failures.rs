//! Whatever fails, the old bytes, mode and times stay, and nothing new stands beside them.

use std::process::Command;

use fs_core::Patch;
use rustix::io::Errno;

use super::super::{Durability, OldFile};
use super::faults::{Call, Fault};
use super::scene::{Scene, code, set_attribute};
use crate::write::{Backup, HardLinks};

/// A file that has everything to lose: an owner, an attribute, and backups beside it.
fn full_scene() -> Scene {
    let scene = Scene::with_file(&b"old bytes".repeat(1_000));
    set_attribute(&scene.path("f"), "user.note", b"mine");
    std::os::unix::fs::chown(scene.path("f"), Some(1234), Some(2345)).unwrap();
    scene.chmod("f", 0o640);
    scene.write("f.bak", b"an older backup");
    scene
}

#[track_caller]
fn check(call: Call, errno: Errno, backup: Backup, expected: &str) {
    let scene = full_scene();
    let before = scene.state();
    // Of what stays a part is short, and a part is not.
    let patch = Patch::splice(9_000, [(4..9, b"words".to_vec())]);
    let fault = Fault::always(call, errno);
    let job = || scene.job().backup(backup).durability(Durability::File);
    let outcome = fault.during(|| job().replace(&patch));
    assert_eq!(code(outcome), expected, "{call:?} {errno:?} {backup:?}");
    assert_eq!(scene.state(), before, "{call:?} {errno:?} {backup:?}");
}

#[test]
fn a_failing_call_leaves_everything_as_it_was() {
    for backup in [Backup::Off, Backup::Single, Backup::Keep] {
        check(Call::Create, Errno::ACCESS, backup, "permission_denied");
        check(Call::Create, Errno::ROFS, backup, "permission_denied");
        check(Call::Create, Errno::NOSPC, backup, "io");
        check(Call::Pwrite, Errno::NOSPC, backup, "io");
        check(Call::Pwrite, Errno::DQUOT, backup, "io");
        check(Call::CopyFileRange, Errno::NOSPC, backup, "io");
        check(Call::Fchown, Errno::PERM, backup, "not_replaceable");
        check(Call::Fchmod, Errno::PERM, backup, "not_replaceable");
        check(Call::Fsetxattr, Errno::PERM, backup, "not_replaceable");
        check(Call::Fsetxattr, Errno::NOSPC, backup, "io");
        check(Call::Fsync, Errno::IO, backup, "io");
        check(Call::Exchange, Errno::BUSY, backup, "not_replaceable");
        check(Call::Exchange, Errno::PERM, backup, "permission_denied");
        check(Call::Exchange, Errno::IO, backup, "io");
        check(Call::Exchange, Errno::NOENT, backup, "conflict");
    }
}

#[test]
fn a_backup_that_cannot_be_made_stops_the_replace() {
    check(Call::Renameat, Errno::IO, Backup::Single, "backup_failed");
    check(Call::NoReplace, Errno::IO, Backup::Keep, "backup_failed");
}

#[test]
fn a_full_disk_may_be_tried_again() {
    let scene = full_scene();
    let fault = Fault::always(Call::Pwrite, Errno::NOSPC);
    let error = fault.during(|| scene.replace(b"new")).unwrap_err();
    assert_eq!(error.fields(), [("retry", fs_core::Field::Flag(true))]);
}

#[test]
fn a_file_that_is_not_created_leaves_nothing() {
    for (call, errno, expected) in [
        (Call::Create, Errno::ACCESS, "permission_denied"),
        (Call::Pwrite, Errno::NOSPC, "io"),
        (Call::Fsync, Errno::IO, "io"),
        (Call::NoReplace, Errno::NOENT, "not_found"),
        (Call::NoReplace, Errno::IO, "io"),
    ] {
        let scene = Scene::empty();
        let job = || scene.job().durability(Durability::File);
        let outcome = Fault::always(call, errno).during(|| job().create(b"new"));
        assert_eq!(code(outcome), expected, "{call:?}");
        assert_eq!(scene.names(), Vec::<String>::new(), "{call:?}");
    }
}

#[test]
fn a_directory_that_cannot_be_synced_is_a_warning() {
    let scene = Scene::with_file(b"old");
    // Only the directory is synced here: the file's sync would fail the replace.
    let fault = Fault::always(Call::Fsync, Errno::IO);
    let warnings = fault.during(|| super::super::sync_dir(scene.dir(), Durability::Full));
    let text = "the new bytes are in place, but the directory could not be synced: \
                Input/output error (os error 5)";
    assert_eq!(warnings, [text]);
}

#[test]
fn a_disk_that_is_full_keeps_the_old_bytes() {
    let scene = Scene::empty();
    let place = scene.path("small");
    std::fs::create_dir(&place).unwrap();
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=65536", "tmpfs"])
        .arg(&place);
    let mounted = mount.status().is_ok_and(|status| status.success());
    if !mounted {
        assert!(!rustix::process::geteuid().is_root(), "root can mount");
        return;
    }
    let small = Scene::at(&place);
    small.write("f", b"OLD");
    let before = small.state();
    for backup in [Backup::Off, Backup::Single, Backup::Keep] {
        let outcome = small
            .job()
            .backup(backup)
            .replace_with(&vec![b'n'; 204_800]);
        assert_eq!(code(outcome), "io");
        assert_eq!(small.state(), before);
    }
    assert_eq!(code(small.job_for("g").create(&vec![b'n'; 204_800])), "io");
    assert_eq!(small.state(), before);
    // Half of the disk is free, so the new file fits and the copy of the old one does not.
    small.write("f", vec![b'o'; 20_480]);
    small.hard_link("f", "other");
    let before = small.state();
    let outcome = small
        .job()
        .backup(Backup::Keep)
        .replace_with(&vec![b'n'; 32_768]);
    assert_eq!(code(outcome), "backup_failed");
    assert_eq!(small.state(), before);
    let in_place = small.job().hard_links(HardLinks::InPlace);
    assert_eq!(code(in_place.replace_with(&vec![b'n'; 60_000])), "io");
    assert_eq!(small.state(), before);
    drop(small);
    assert!(
        Command::new("umount")
            .arg(&place)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_mount_point_is_not_replaced() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let scene = Scene::with_file(b"below");
    scene.write("over", b"mounted");
    let mut mount = Command::new("mount");
    mount
        .arg("--bind")
        .arg(scene.path("over"))
        .arg(scene.path("f"));
    assert!(mount.status().unwrap().success());
    let names = scene.names();
    let outcome = scene.replace(b"new");
    assert_eq!(scene.bytes("f"), b"mounted");
    assert_eq!(scene.names(), names);
    assert!(
        Command::new("umount")
            .arg(scene.path("f"))
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(code(outcome), "not_replaceable");
    assert_eq!(scene.bytes("f"), b"below");
}

#[test]
fn an_immutable_file_is_refused_before_anything_is_made() {
    let scene = Scene::with_file(b"old");
    let chattr = |flag: &str| {
        let mut chattr = Command::new("chattr");
        let status = chattr.arg(flag).arg(scene.path("f")).status();
        status.is_ok_and(|status| status.success())
    };
    if !chattr("+i") {
        return;
    }
    let before = scene.state();
    let outcome = scene.replace(b"new");
    let after = scene.state();
    assert!(chattr("-i"));
    assert_eq!(code(outcome), "permission_denied");
    assert_eq!(after, before);
}

/// Runs `act` on a thread that is user and group 65534, where the test may become that.
fn as_nobody(act: impl FnOnce() + Send) {
    use rustix::thread::{Gid, Uid, set_thread_gid, set_thread_groups, set_thread_uid};
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let nobody = || {
        set_thread_groups(&[]).unwrap();
        set_thread_gid(Gid::from_raw(65_534)).unwrap();
        set_thread_uid(Uid::from_raw(65_534)).unwrap();
        act();
    };
    std::thread::scope(|scope| scope.spawn(nobody).join().unwrap());
}

#[test]
fn the_right_to_write_the_file_itself_is_needed() {
    let scene = Scene::with_file(b"old");
    scene.chmod("f", 0o444);
    scene.chmod(".", 0o777);
    let before = scene.state();
    as_nobody(|| assert_eq!(code(scene.replace(b"new")), "permission_denied"));
    assert_eq!(scene.state(), before);
}

#[test]
fn a_directory_that_takes_no_new_file_is_refused() {
    let scene = Scene::with_file(b"old");
    scene.chmod("f", 0o666);
    scene.chmod(".", 0o555);
    let before = scene.state();
    as_nobody(|| {
        assert_eq!(code(scene.replace(b"new")), "permission_denied");
        assert_eq!(code(scene.job_for("g").create(b"new")), "permission_denied");
    });
    assert_eq!(scene.state(), before);
}

#[test]
fn a_file_whose_owner_cannot_be_kept_is_not_replaced() {
    let scene = Scene::with_file(b"old");
    scene.chmod("f", 0o666);
    scene.chmod(".", 0o777);
    let before = scene.state();
    as_nobody(|| assert_eq!(code(scene.replace(b"new")), "not_replaceable"));
    assert_eq!(scene.state(), before);
}

#[test]
fn the_owners_read_only_bits_stay_when_the_owner_may_write() {
    let scene = Scene::with_file(b"old");
    scene.chmod(".", 0o777);
    std::os::unix::fs::chown(scene.path("f"), Some(65_534), Some(65_534)).unwrap();
    scene.chmod("f", 0o200);
    as_nobody(|| {
        let target = scene.job();
        assert_eq!(code(OldFile::open(target.target())), "permission_denied");
    });
    scene.chmod("f", 0o600);
    as_nobody(|| assert_eq!(code(scene.replace(b"new")), "ok"));
    assert_eq!(scene.bytes("f"), b"new");
    assert_eq!(scene.mode("f"), 0o600);
}
