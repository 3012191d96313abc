use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;

use super::super::Stage;
use super::super::temp::Temp;
use super::faults::{Call, Fault};
use super::hook;
use super::scene::{Scene, attribute, code, set_attribute, unrecorded};
use crate::write::Backup;

#[test]
fn the_backup_is_the_old_file_itself() {
    for backup in [Backup::Single, Backup::Keep] {
        let scene = Scene::with_file(b"old");
        scene.chmod("f", 0o600);
        let before = scene.stat("f");
        let replaced = scene.job().backup(backup).replace_with(b"new").unwrap();
        assert_eq!(replaced.backup.as_deref(), Some("f.bak"));
        assert_eq!(scene.bytes("f"), b"new");
        assert_eq!(scene.bytes("f.bak"), b"old");
        assert_eq!(scene.names(), ["f", "f.bak"]);
        let after = scene.stat("f.bak");
        assert_eq!(after.ino(), before.ino());
        assert_eq!(after.mode(), before.mode());
        assert_eq!((after.nlink(), scene.stat("f").nlink()), (1, 1));
        assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    }
}

#[test]
fn a_backup_that_is_there_already_leaves_no_other_name() {
    let scene = Scene::with_file(b"old");
    scene.hard_link("f", "f.bak");
    let pending = unrecorded();
    let temp = Temp::link(scene.dir(), "f".as_ref(), &pending).unwrap();
    temp.rename_over("f.bak".as_ref()).unwrap();
    drop(temp);
    assert_eq!(scene.names(), ["f", "f.bak"]);
}

#[test]
fn where_links_cannot_be_made_the_backup_is_a_copy() {
    for errno in [Errno::PERM, Errno::OPNOTSUPP, Errno::MLINK] {
        for backup in [Backup::Single, Backup::Keep] {
            let scene = Scene::with_file(b"old");
            set_attribute(&scene.path("f"), "user.note", b"mine");
            std::os::unix::fs::chown(scene.path("f"), Some(1234), Some(2345)).unwrap();
            scene.chmod("f", 0o640);
            let before = scene.stat("f");
            let fault = Fault::always(Call::Linkat, errno);
            fault
                .during(|| scene.job().backup(backup).replace_with(b"new"))
                .unwrap();
            assert_eq!(scene.bytes("f.bak"), b"old");
            assert_eq!(scene.names(), ["f", "f.bak"]);
            let after = scene.stat("f.bak");
            assert_ne!(after.ino(), before.ino());
            assert_eq!(after.mode(), before.mode());
            assert_eq!((after.uid(), after.gid()), (1234, 2345));
            assert_eq!(after.modified().unwrap(), before.modified().unwrap());
            assert_eq!(
                attribute(&scene.path("f.bak"), "user.note").unwrap(),
                b"mine"
            );
        }
    }
}

#[test]
fn a_copy_whose_owner_cannot_be_kept_is_for_its_owner_only() {
    let scene = Scene::with_file(b"old");
    scene.hard_link("f", "other");
    // The new file needs no change of owner, the backup's is refused: as if it were another's.
    std::os::unix::fs::chown(scene.path("f"), Some(1234), Some(2345)).unwrap();
    scene.chmod("f", 0o664);
    let fault = Fault::always(Call::Fchown, Errno::PERM);
    let job = || scene.job().backup(Backup::Keep);
    let old = super::super::OldFile::open(job().target())
        .unwrap()
        .unwrap();
    let copied = fault.during(|| {
        let file = fs::File::create(scene.path("copy")).unwrap();
        let file = cap_std::fs::File::from_std(file);
        super::super::attributes::carry_to_backup(&old, &file)
    });
    assert_eq!(copied, Ok(()));
    assert_eq!(scene.mode("copy"), 0o600);
}

#[test]
fn a_file_with_other_names_is_copied() {
    let scene = Scene::with_file(b"old");
    scene.hard_link("f", "other");
    let replaced = scene
        .job()
        .backup(Backup::Single)
        .replace_with(b"new")
        .unwrap();
    assert_eq!(replaced.parted_links, 1);
    assert_eq!(scene.bytes("f.bak"), b"old");
    assert_ne!(scene.stat("f.bak").ino(), scene.stat("other").ino());
    scene.write("other", b"later");
    assert_eq!(scene.bytes("f.bak"), b"old");
}

#[test]
fn a_single_backup_is_replaced_each_time() {
    let scene = Scene::with_file(b"0");
    for turn in 1..=3 {
        let replaced = scene
            .job()
            .backup(Backup::Single)
            .replace_with(format!("{turn}").as_bytes());
        assert_eq!(replaced.unwrap().backup.as_deref(), Some("f.bak"));
        assert_eq!(scene.bytes("f.bak"), format!("{}", turn - 1).as_bytes());
        assert_eq!(scene.names(), ["f", "f.bak"]);
    }
}

#[test]
fn kept_backups_are_numbered_and_never_replaced() {
    let scene = Scene::with_file(b"0");
    let names = ["f.bak", "f.bak.1", "f.bak.2", "f.bak.3"];
    for (turn, name) in names.iter().enumerate() {
        let replaced = scene
            .job()
            .backup(Backup::Keep)
            .replace_with(format!("{}", turn + 1).as_bytes());
        assert_eq!(replaced.unwrap().backup.as_deref(), Some(*name));
    }
    for (turn, name) in names.iter().enumerate() {
        assert_eq!(scene.bytes(name), format!("{turn}").as_bytes());
    }
    assert_eq!(scene.bytes("f"), b"4");
    assert_eq!(
        scene.names(),
        ["f", "f.bak", "f.bak.1", "f.bak.2", "f.bak.3"]
    );
}

#[test]
fn a_gap_in_the_numbers_is_filled() {
    let scene = Scene::with_file(b"0");
    scene.write("f.bak", b"theirs");
    scene.write("f.bak.2", b"theirs too");
    let replaced = scene.job().backup(Backup::Keep).replace_with(b"1").unwrap();
    assert_eq!(replaced.backup.as_deref(), Some("f.bak.1"));
    assert_eq!(scene.bytes("f.bak.2"), b"theirs too");
}

#[test]
fn a_backup_is_never_written_through_a_link() {
    let outside = Scene::with_file(b"outside");
    for target in ["missing", outside.path("f").to_str().unwrap()] {
        let scene = Scene::with_file(b"old");
        scene.symlink(target, "f.bak");
        let kept = scene
            .job()
            .backup(Backup::Keep)
            .replace_with(b"new")
            .unwrap();
        assert_eq!(kept.backup.as_deref(), Some("f.bak.1"));
        assert!(scene.stat("f.bak").is_symlink());
        assert_eq!(scene.bytes("f.bak.1"), b"old");
        let single = scene
            .job()
            .backup(Backup::Single)
            .replace_with(b"newer")
            .unwrap();
        assert_eq!(single.backup.as_deref(), Some("f.bak"));
        assert!(scene.stat("f.bak").is_file());
        assert_eq!(scene.bytes("f.bak"), b"new");
        assert_eq!(scene.names(), ["f", "f.bak", "f.bak.1"]);
    }
    assert_eq!(outside.bytes("f"), b"outside");
}

#[test]
fn what_is_no_file_is_not_replaced_by_a_backup() {
    let scene = Scene::with_file(b"old");
    fs::create_dir(scene.path("f.bak")).unwrap();
    let before = scene.state();
    let outcome = scene.job().backup(Backup::Single).replace_with(b"new");
    assert_eq!(code(outcome), "backup_failed");
    assert_eq!(scene.state(), before);
    fs::remove_dir(scene.path("f.bak")).unwrap();
    scene.fifo("f.bak");
    let before = scene.state();
    let outcome = scene.job().backup(Backup::Single).replace_with(b"new");
    assert_eq!(code(outcome), "backup_failed");
    assert_eq!(scene.state(), before);
    let kept = scene
        .job()
        .backup(Backup::Keep)
        .replace_with(b"new")
        .unwrap();
    assert_eq!(kept.backup.as_deref(), Some("f.bak.1"));
}

#[test]
fn a_name_too_long_for_a_backup_stops_the_replace() {
    let scene = Scene::empty();
    let name = "n".repeat(252);
    scene.write(&name, b"old");
    let before = scene.state();
    for backup in [Backup::Single, Backup::Keep] {
        let outcome = scene.job_for(&name).backup(backup).replace_with(b"new");
        assert_eq!(code(outcome), "backup_failed");
        assert_eq!(scene.state(), before);
    }
}

#[test]
fn a_backup_that_came_meanwhile_is_not_replaced() {
    let scene = Scene::with_file(b"old");
    let path = scene.path("f.bak");
    hook::at(Stage::Written, move || fs::write(&path, "theirs").unwrap());
    let kept = scene
        .job()
        .backup(Backup::Keep)
        .replace_with(b"new")
        .unwrap();
    assert_eq!(kept.backup.as_deref(), Some("f.bak.1"));
    assert_eq!(scene.bytes("f.bak"), b"theirs");
}

#[test]
fn walking_the_backups_back_gives_the_first_bytes() {
    use proptest::prelude::*;
    let versions = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 2..9);
    proptest!(ProptestConfig::with_cases(40), |(versions in versions)| {
        let scene = Scene::with_file(&versions[0]);
        scene.chmod("f", 0o640);
        let mut backups = Vec::new();
        for next in &versions[1..] {
            let replaced = scene.job().backup(Backup::Keep).replace_with(next).unwrap();
            backups.push(replaced.backup.unwrap());
        }
        for (name, version) in backups.iter().zip(&versions).rev() {
            fs::rename(scene.path(name), scene.path("f")).unwrap();
            prop_assert_eq!(&scene.bytes("f"), version);
            prop_assert_eq!(scene.mode("f"), 0o640);
        }
        prop_assert_eq!(scene.names(), ["f"]);
    });
}

#[test]
fn a_backup_name_that_is_another_name_of_the_file_gets_the_old_bytes() {
    let scene = Scene::with_file(b"old");
    std::fs::hard_link(scene.path("f"), scene.path("f.bak")).unwrap();
    let replaced = scene.job().backup(Backup::Single).replace_with(b"new");
    assert_eq!(replaced.unwrap().backup.as_deref(), Some("f.bak"));
    assert_eq!(scene.bytes("f"), b"new");
    assert_eq!(scene.bytes("f.bak"), b"old");
    assert_eq!(scene.names(), ["f", "f.bak"]);
}
