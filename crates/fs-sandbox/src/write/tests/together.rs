//! Many at once on one file.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::{fs, thread};

use fs_core::Patch;

use super::super::*;
use super::files::Site;

const THREADS: usize = 50;

fn lines(bytes: Vec<u8>) -> BTreeSet<String> {
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let count = lines.len();
    let lines: BTreeSet<_> = lines.into_iter().collect();
    assert_eq!(lines.len(), count, "no line twice");
    lines
}

fn at_once(count: usize, act: impl Fn(usize) + Sync) {
    let start = Barrier::new(count);
    thread::scope(|scope| {
        for number in 0..count {
            let (act, start) = (&act, &start);
            scope.spawn(move || {
                start.wait();
                act(number);
            });
        }
    });
}

#[test]
fn every_append_to_one_file_is_kept() {
    let site = Site::new();
    at_once(THREADS, |number| {
        // The file does not exist yet, and every thread has a workspace of its own.
        let workspace = site.workspace.clone();
        let options = WriteOptions {
            mode: WriteMode::Append,
            ..WriteOptions::default()
        };
        for turn in 0..4 {
            let line = format!("{number} {turn}\n");
            workspace.write("f", &line, &options).unwrap();
        }
    });
    assert_eq!(lines(site.bytes("f")).len(), THREADS * 4);
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn every_update_of_one_file_is_kept() {
    let site = Site::with_file("0");
    at_once(20, |_| {
        for _ in 0..10 {
            let plan = |source: &Source<'_>| {
                let count: u64 = String::from_utf8_lossy(source.content.as_bytes().unwrap())
                    .parse()
                    .unwrap();
                Ok((Patch::whole((count + 1).to_string().into_bytes()), ()))
            };
            let options = UpdateOptions::default();
            site.workspace.update("f", &options, plan).unwrap();
        }
    });
    assert_eq!(site.bytes("f"), b"200");
}

/// Counts up in one file through workspaces that know nothing of each other, as servers do.
///
/// Each update that was done must be there, with its backup, and nothing else.
fn check_strangers(backup: Backup, hard_links: HardLinks) {
    let site = Site::with_file("0");
    if hard_links == HardLinks::InPlace {
        fs::hard_link(site.path("f"), site.path("g")).unwrap();
    }
    let (done, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    at_once(4, |_| {
        let workspace = site.another_workspace();
        let options = UpdateOptions {
            backup,
            hard_links: Some(hard_links),
            ..UpdateOptions::default()
        };
        for _ in 0..100 {
            let plan = |source: &Source<'_>| {
                let text = String::from_utf8_lossy(source.content.as_bytes().unwrap());
                // What is rewritten in place may be read in the middle of that.
                let count: u64 = text.trim_end().parse().map_err(|_| Problem::Conflict)?;
                let next = format!("{}{}", count + 1, " ".repeat(9000));
                Ok((Patch::whole(next.into_bytes()), ()))
            };
            let count = match workspace.update("f", &options, plan) {
                Ok(_) => &done,
                Err(error) if error.code() == "conflict" => &refused,
                Err(error) => panic!("{error}"),
            };
            count.fetch_add(1, SeqCst);
        }
    });
    let done = done.into_inner();
    let number = |name: &str| -> u64 {
        let text = String::from_utf8(site.bytes(name)).unwrap();
        text.trim_end().parse().unwrap()
    };
    assert_eq!(number("f"), done, "{backup:?} {refused:?}");
    let names = site.names("");
    let backups = names.iter().filter(|name| name.starts_with("f.bak"));
    let kept: BTreeSet<_> = backups.map(|name| number(name)).collect();
    let expected = match backup {
        Backup::Off => 0..0,
        Backup::Single => done - 1..done,
        Backup::Keep => 0..done,
    };
    assert_eq!(kept, expected.collect(), "{backup:?} {refused:?}");
    let others = usize::from(hard_links == HardLinks::InPlace) + 1;
    assert_eq!(names.len(), kept.len() + others, "{names:?}");
}

#[test]
fn workspaces_that_do_not_know_of_each_other_lose_nothing_and_leave_nothing() {
    for backup in [Backup::Off, Backup::Single, Backup::Keep] {
        check_strangers(backup, HardLinks::Break);
    }
    check_strangers(Backup::Single, HardLinks::InPlace);
    check_strangers(Backup::Keep, HardLinks::InPlace);
}

#[test]
fn a_file_that_is_rewritten_in_place_is_read_when_that_is_done() {
    let site = Site::with_file("old");
    fs::hard_link(site.path("f"), site.path("g")).unwrap();
    let other = fs::File::open(site.path("f")).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    site.put("f", "ha");
    thread::scope(|scope| {
        let update = scope.spawn(|| {
            let options = UpdateOptions {
                hard_links: Some(HardLinks::InPlace),
                ..UpdateOptions::default()
            };
            site.workspace.update("g", &options, |source: &Source<'_>| {
                let whole = [source.content.as_bytes().unwrap(), &b" and more"[..]].concat();
                Ok((Patch::whole(whole), ()))
            })
        });
        thread::sleep(Duration::from_millis(20));
        site.put("f", "half a file");
        drop(other);
        update.join().unwrap().unwrap();
    });
    assert_eq!(site.bytes("f"), b"half a file and more");
}

#[test]
fn a_file_is_created_once() {
    let site = Site::new();
    let made = std::sync::atomic::AtomicUsize::new(0);
    at_once(20, |number| {
        match site.write("d/f", &format!("{number}"), WriteMode::CreateNew) {
            Ok(_) => _ = made.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
            Err(error) => assert_eq!(error.code(), "already_exists"),
        }
    });
    assert_eq!(made.into_inner(), 1);
    assert_eq!(site.names("d"), ["f"]);
}

#[test]
fn names_of_one_file_are_changed_one_after_the_other() {
    let site = Site::with_file("");
    site.put("f", "start\n");
    fs::hard_link(site.path("f"), site.path("g")).unwrap();
    std::os::unix::fs::symlink("g", site.path("link")).unwrap();
    at_once(12, |number| {
        let options = WriteOptions {
            mode: WriteMode::Append,
            update: UpdateOptions {
                hard_links: Some(HardLinks::InPlace),
                backup: Backup::Single,
                ..UpdateOptions::default()
            },
            ..WriteOptions::default()
        };
        let name = ["f", "g", "link"][number % 3];
        site.workspace
            .write(name, &format!("{number}\n"), &options)
            .unwrap();
    });
    assert_eq!(site.bytes("f"), site.bytes("g"));
    assert_eq!(lines(site.bytes("f")).len(), 13);
}

#[test]
fn different_files_do_not_disturb_each_other() {
    let site = Site::new();
    at_once(16, |number| {
        for turn in 0..10 {
            let name = format!("{number}");
            site.write(&name, &format!("{turn}\n"), WriteMode::Append)
                .unwrap();
        }
    });
    for number in 0..16 {
        assert_eq!(lines(site.bytes(&format!("{number}"))).len(), 10);
    }
}
