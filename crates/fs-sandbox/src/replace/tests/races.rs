//! Somebody else acts between two system calls.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, thread};

use fs_core::Cancel;
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock};
use rustix::io::Errno;

use super::super::Stage;
use super::faults::{Call, Fault};
use super::hook;
use super::scene::{Scene, code};
use crate::write::{Backup, HardLinks};

const STAGES: [Stage; 2] = [Stage::Written, Stage::Checked];
const BACKUPS: [Backup; 3] = [Backup::Off, Backup::Single, Backup::Keep];

/// Lets `act` happen at `stage` of a replace, which must answer `conflict` and leave what `act` made.
#[track_caller]
fn check(act: impl Fn(&Scene) + Clone + Send + 'static) {
    for stage in STAGES {
        for backup in BACKUPS {
            let scene = Scene::with_file(b"old");
            scene.write("f.bak", b"an older backup");
            let (inside, acts) = (Scene::at(&scene.path("")), act.clone());
            hook::at(stage, move || acts(&inside));
            let outcome = scene.job().backup(backup).replace_with(b"new");
            assert_eq!(code(outcome), "conflict", "{stage:?} {backup:?}");
            let expected = Scene::with_file(b"old");
            expected.write("f.bak", b"an older backup");
            act(&expected);
            assert_eq!(
                scene.contents(),
                expected.contents(),
                "{stage:?} {backup:?}"
            );
        }
    }
}

#[test]
fn a_file_that_was_written_meanwhile_is_kept() {
    check(|scene| scene.write("f", b"foreign"));
}

#[test]
fn a_change_of_equal_length_is_seen() {
    check(|scene| scene.write("f", b"OLD"));
}

#[test]
fn a_file_that_was_replaced_meanwhile_is_kept() {
    check(|scene| {
        scene.write("g", b"foreign");
        fs::rename(scene.path("g"), scene.path("f")).unwrap();
    });
}

#[test]
fn a_file_that_became_a_link_is_kept() {
    check(|scene| {
        scene.write("secret", b"secret");
        fs::remove_file(scene.path("f")).unwrap();
        scene.symlink("secret", "f");
    });
}

#[test]
fn a_file_that_became_a_directory_is_kept() {
    check(|scene| {
        fs::remove_file(scene.path("f")).unwrap();
        fs::create_dir(scene.path("f")).unwrap();
        scene.write("f/inside", b"foreign");
    });
}

#[test]
fn a_file_that_was_removed_meanwhile_stays_removed() {
    check(|scene| fs::remove_file(scene.path("f")).unwrap());
}

#[test]
fn a_file_that_was_moved_away_stays_away() {
    check(|scene| fs::rename(scene.path("f"), scene.path("g")).unwrap());
}

#[test]
fn a_mode_that_was_changed_meanwhile_is_kept() {
    check(|scene| scene.chmod("f", 0o600));
}

#[test]
fn a_file_is_not_created_over_one_that_came_meanwhile() {
    let scene = Scene::empty();
    let path = scene.path("f");
    hook::at(Stage::Written, move || fs::write(&path, "foreign").unwrap());
    assert_eq!(code(scene.job().create(b"new")), "already_exists");
    assert_eq!(scene.bytes("f"), b"foreign");
    assert_eq!(scene.names(), ["f"]);
}

#[test]
fn whoever_takes_the_name_after_the_exchange_has_it_in_the_end() {
    let scene = Scene::with_file(b"old");
    let path = scene.path("");
    let save = move |text: &str| {
        fs::write(path.join("g"), text).unwrap();
        fs::rename(path.join("g"), path.join("f")).unwrap();
    };
    let saves = save.clone();
    hook::at(Stage::Checked, move || saves("first"));
    hook::at(Stage::Exchanged, move || save("second"));
    assert_eq!(code(scene.replace(b"new")), "conflict");
    assert_eq!(scene.bytes("f"), b"second");
    assert_eq!(scene.names(), ["f"]);
}

#[test]
fn a_stranger_gets_its_name_back_even_when_the_new_file_was_removed() {
    let scene = Scene::with_file(b"old");
    let path = scene.path("f");
    let paths = path.clone();
    hook::at(Stage::Checked, move || {
        fs::write(&paths, "foreign").unwrap();
    });
    hook::at(Stage::Exchanged, move || fs::remove_file(&path).unwrap());
    assert_eq!(code(scene.replace(b"new")), "conflict");
    assert_eq!(scene.bytes("f"), b"foreign");
    assert_eq!(scene.names(), ["f"]);
}

#[test]
fn whoever_changes_a_file_has_it_alone_until_it_is_settled() {
    let is_held = |path: &Path| {
        let file = fs::File::open(path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::AGAIN)
    };
    for links in [1, 2] {
        let scene = Scene::with_file(b"old");
        let seen = Arc::new(Mutex::new(Vec::new()));
        for stage in STAGES.into_iter().chain([Stage::Exchanged]) {
            let (path, seen) = (scene.path("f"), Arc::clone(&seen));
            hook::at(stage, move || seen.lock().unwrap().push(is_held(&path)));
        }
        if links == 2 {
            scene.hard_link("f", "other");
        }
        let job = scene.job().hard_links(HardLinks::InPlace);
        job.replace_with(b"new").unwrap();
        // Only what is exchanged is held while the new file is written beside it.
        let expected = [&[false, true, true][..], &[true, true]][links - 1];
        assert_eq!(*seen.lock().unwrap(), expected);
        assert!(!is_held(&scene.path("f")));
    }
}

#[test]
fn a_change_waits_for_another_one_of_the_file() {
    let scene = Scene::with_file(b"old");
    let other = fs::File::open(scene.path("f")).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    let cancel = Cancel::default();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| code(scene.job().cancel(&cancel).replace_with(b"new")));
        while scene.names().len() < 2 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        assert_eq!(scene.bytes("f"), b"old");
        cancel.cancel();
        assert_eq!(waiting.join().unwrap(), "cancelled");
        assert_eq!(scene.names(), ["f"]);
        let waiting = scope.spawn(|| code(scene.replace(b"new")));
        while scene.names().len() < 2 {
            thread::yield_now();
        }
        assert_eq!(scene.bytes("f"), b"old");
        drop(other);
        assert_eq!(waiting.join().unwrap(), "ok");
    });
    assert_eq!(scene.bytes("f"), b"new");
    assert_eq!(scene.names(), ["f"]);
}

#[test]
fn where_a_file_cannot_be_locked_it_is_changed_all_the_same() {
    for errno in [Errno::BADF, Errno::NOLCK, Errno::OPNOTSUPP] {
        let scene = Scene::with_file(b"old");
        let fault = Fault::always(Call::Flock, errno);
        fault.during(|| scene.replace(b"new")).unwrap();
        assert_eq!(scene.bytes("f"), b"new");
    }
}

#[test]
fn where_names_cannot_be_exchanged_the_file_is_compared_and_replaced() {
    for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP] {
        for backup in BACKUPS {
            let scene = Scene::with_file(b"old");
            scene.chmod("f", 0o640);
            let fault = Fault::always(Call::Exchange, errno);
            fault
                .during(|| scene.job().backup(backup).replace_with(b"new"))
                .unwrap();
            assert_eq!(scene.bytes("f"), b"new");
            assert_eq!(scene.mode("f"), 0o640);
            if backup != Backup::Off {
                assert_eq!(scene.bytes("f.bak"), b"old");
            }
            let path = scene.path("f");
            let raced = fault.during(|| {
                hook::at(Stage::Checked, move || fs::write(&path, "foreign").unwrap());
                scene.job().backup(Backup::Keep).replace_with(b"newer")
            });
            assert_eq!(code(raced), "conflict");
            assert_eq!(scene.bytes("f"), b"foreign");
        }
    }
}

#[test]
fn where_a_rename_always_replaces_a_file_is_created_by_a_link() {
    for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP] {
        let scene = Scene::empty();
        let fault = Fault::always(Call::NoReplace, errno);
        fault.during(|| scene.job().create(b"new")).unwrap();
        assert_eq!(
            code(fault.during(|| scene.job().create(b"again"))),
            "already_exists"
        );
        assert_eq!(scene.bytes("f"), b"new");
        assert_eq!(scene.names(), ["f"]);
    }
}

#[test]
fn in_place_a_foreign_change_is_kept_too() {
    let scene = Scene::with_file(b"old");
    scene.hard_link("f", "other");
    let path = scene.path("f");
    hook::at(Stage::Written, move || fs::write(&path, "foreign").unwrap());
    let job = scene.job().hard_links(HardLinks::InPlace);
    assert_eq!(code(job.replace_with(b"new")), "conflict");
    assert_eq!(scene.bytes("other"), b"foreign");
    assert_eq!(scene.names(), ["f", "other"]);
}

#[test]
fn a_name_that_is_swapped_with_a_link_all_the_time_never_leads_out() {
    let scene = Scene::with_file(b"in 0");
    let outside = Scene::with_file(b"outside");
    scene.symlink(outside.path("f").to_str().unwrap(), "link");
    let stop = AtomicBool::new(false);
    let swaps = AtomicU64::new(0);
    let (mut done, mut refused) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (file, link) = (scene.path("f"), scene.path("link"));
            while !stop.load(Ordering::Relaxed) {
                let exchange = RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(CWD, &file, CWD, &link, exchange).unwrap();
                // Now and then long enough for a whole replace, mostly not.
                if swaps.fetch_add(1, Ordering::Relaxed).is_multiple_of(8) {
                    thread::sleep(Duration::from_millis(2));
                }
            }
        });
        while done < 30 || swaps.load(Ordering::Relaxed) < 1000 {
            match code(scene.replace(b"inside")) {
                "ok" => done += 1,
                "conflict" => refused += 1,
                other => panic!("{other}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(outside.bytes("f"), b"outside");
    assert_eq!(outside.names(), ["f"]);
    assert!(refused > 0);
}
