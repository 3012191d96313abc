//! What a process that was killed, or a store that fails, leaves of the history.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use fs_sandbox::{HardLinks, HistoryStatus, TransferOptions, UpdateOptions, WriteOptions};

use crate::history::{Scene, code, over, undo, undo_to, write};

impl Scene {
    fn of_store(&self, name: &str) -> PathBuf {
        let kept = self.kept();
        let found = kept.iter().find(|(path, ..)| path.ends_with(name));
        found.unwrap().0.clone()
    }

    /// Takes the last lines of the log away, as if their writer had been killed before.
    fn cut_log(&self, lines: usize) {
        let log = self.of_store("log");
        let text = fs::read_to_string(&log).unwrap();
        let left = text.lines().count() - lines;
        let left: String = text.lines().take(left).flat_map(|it| [it, "\n"]).collect();
        fs::write(log, left).unwrap();
    }

    fn ids(&self, path: &str) -> Vec<u64> {
        let entries = self.open().history(path, 9).unwrap();
        entries.iter().map(|entry| entry.id).collect()
    }

    fn both(&self, one: &str, other: &str) -> (String, String) {
        let text = |name| String::from_utf8(self.get(name)).unwrap();
        (text(one), text(other))
    }
}

fn pair(one: &str, other: &str) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

#[test]
fn an_undo_that_was_cut_short_before_its_change_is_made_again() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "a", "one");
    write(&workspace, "a", "two");
    undo(&workspace, "a").unwrap();
    scene.cut_log(1);
    scene.put("a", "two");
    assert_eq!(scene.ids("a"), [2, 1]);
    assert_eq!(undo(&scene.open(), "a").unwrap(), [2]);
    assert_eq!(scene.get("a"), b"one");
}

#[test]
fn a_change_that_was_begun_and_never_made_is_no_change() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "a", "one");
    write(&workspace, "a", "two");
    scene.cut_log(1);
    scene.put("a", "one");
    assert_eq!(scene.ids("a"), [1]);
    write(&scene.open(), "a", "three");
    assert_eq!(scene.ids("a"), [3, 1]);
    assert_eq!(undo(&scene.open(), "a").unwrap(), [3]);
    assert_eq!(scene.get("a"), b"one");
    assert_eq!(undo(&scene.open(), "a").unwrap(), [1]);
    assert_eq!(scene.names(), Vec::<String>::new());
}

#[test]
fn a_change_that_was_made_and_not_confirmed_is_undone() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "a", "one");
    write(&workspace, "a", "two");
    scene.cut_log(1);
    assert_eq!(undo(&scene.open(), "a").unwrap(), [2]);
    assert_eq!(scene.get("a"), b"one");
}

#[test]
fn a_rewrite_in_place_that_was_cut_short_is_undone_for_all_names() {
    let scene = Scene::new();
    scene.put("a", "the old text");
    fs::hard_link(scene.path("a"), scene.path("other")).unwrap();
    let workspace = scene.open();
    let update = UpdateOptions {
        hard_links: Some(HardLinks::InPlace),
        ..UpdateOptions::default()
    };
    let options = WriteOptions {
        update,
        ..WriteOptions::default()
    };
    workspace.write("a", "the new text", &options).unwrap();
    // What it came to, and that it is done.
    scene.cut_log(2);
    scene.put("a", "the new te");
    undo(&scene.open(), "a").unwrap();
    assert_eq!(
        scene.both("a", "other"),
        pair("the old text", "the old text")
    );
    let inode = |name: &str| scene.path(name).metadata().unwrap().ino();
    assert_eq!(inode("a"), inode("other"));
}

#[test]
fn the_undo_of_a_move_over_a_file_is_one_change_that_can_be_taken_back() {
    let scene = Scene::new();
    scene.put("a", "of a");
    scene.put("b", "of b");
    let workspace = scene.open();
    workspace.rename("a", "b", &over()).unwrap();
    undo(&workspace, "b").unwrap();
    assert_eq!(scene.both("a", "b"), pair("of a", "of b"));
    assert_eq!(scene.ids("b"), [2, 1]);
    let inode = |name: &str| scene.path(name).metadata().unwrap().ino();
    assert_ne!(inode("a"), inode("b"));
    undo_to(&workspace, "b", 2).unwrap();
    assert_eq!(
        (scene.names(), scene.get("b")),
        (vec!["b".to_owned()], b"of a".to_vec())
    );
    undo_to(&workspace, "b", 3).unwrap();
    assert_eq!(scene.both("a", "b"), pair("of a", "of b"));
}

#[test]
fn the_undo_of_a_move_that_was_cut_short_between_its_names_is_made_again() {
    let scene = Scene::new();
    scene.put("a", "of a");
    scene.put("b", "of b");
    let workspace = scene.open();
    workspace.rename("a", "b", &over()).unwrap();
    fs::hard_link(scene.path("b"), scene.path("a")).unwrap();
    undo(&scene.open(), "b").unwrap();
    assert_eq!(scene.both("a", "b"), pair("of a", "of b"));
}

#[test]
fn the_undo_of_a_move_over_a_file_takes_no_name_that_is_in_use() {
    let scene = Scene::new();
    scene.put("a", "of a");
    scene.put("b", "of b");
    let workspace = scene.open();
    workspace.rename("a", "b", &over()).unwrap();
    scene.put("a", "a stranger's");
    assert_eq!(code(undo(&workspace, "b")), "conflict");
    assert_eq!(scene.both("a", "b"), pair("a stranger's", "of a"));
}

#[test]
fn a_store_that_cannot_be_opened_costs_a_warning_and_is_asked_for_again() {
    let scene = Scene::new();
    write(&scene.open(), "a", "one");
    let log = scene.of_store("log");
    let store = log.parent().unwrap();
    let aside = scene.state().join("aside");
    fs::rename(store, &aside).unwrap();
    fs::write(store, "no directory").unwrap();
    let workspace = scene.open();
    let written = workspace
        .write("a", "two", &WriteOptions::default())
        .unwrap();
    let warning = &written.warnings[0];
    assert!(warning.starts_with("this cannot be undone"), "{warning}");
    let copied = workspace
        .copy("a", "b", &TransferOptions::default())
        .unwrap();
    assert_eq!(copied.warnings.len(), 1);
    assert_ne!(code(undo(&workspace, "a")), "not_found");
    fs::remove_file(store).unwrap();
    fs::rename(&aside, store).unwrap();
    let written = workspace
        .write("a", "three", &WriteOptions::default())
        .unwrap();
    assert_eq!(written.warnings, Vec::<String>::new());
    undo(&workspace, "a").unwrap();
    assert_eq!(scene.get("a"), b"two");
}

#[test]
fn the_next_start_removes_links_that_were_copies_and_what_was_to_go() {
    let scene = Scene::new();
    write(&scene.open(), "a", "one");
    let alive = scene.of_store("alive");
    let token = "00112233445566aa";
    let temp = |end: &str| format!(".postern-{token}-{end}.tmp");
    symlink("copied", scene.path(&temp("0"))).unwrap();
    symlink("a stranger's", scene.path(&temp("1"))).unwrap();
    scene.put(&temp("2.taken"), "was moved away");
    let taken = scene.path(&temp("2.taken")).metadata().unwrap();
    let list = format!(
        "+ {token} .\nl {token} copied\nt {token} gone\ni {token} {} {}\n",
        taken.dev(),
        taken.ino()
    );
    fs::write(alive.join("dead"), list).unwrap();
    let swept = scene.open().history_status();
    assert_eq!(swept, HistoryStatus::On { swept: 2 });
    assert_eq!(scene.names(), [temp("1"), "a".to_owned()]);
}

#[test]
fn an_undo_of_a_move_that_has_only_linked_is_finished() {
    let scene = Scene::new();
    scene.put("a", "A");
    scene.put("b", "B");
    let workspace = scene.open();
    workspace.rename("a", "b", &over()).unwrap();
    undo(&workspace, "b").unwrap();
    assert_eq!(scene.both("a", "b"), pair("A", "B"));
    // As before the exchange: the moved file has both names, and nothing is confirmed.
    scene.cut_log(1);
    fs::remove_file(scene.path("b")).unwrap();
    fs::hard_link(scene.path("a"), scene.path("b")).unwrap();
    assert_eq!(undo(&scene.open(), "b").unwrap(), [1]);
    assert_eq!(scene.both("a", "b"), pair("A", "B"));
}

#[test]
fn a_move_over_an_equal_file_that_was_never_made_is_passed_over() {
    let scene = Scene::new();
    scene.put("b", "v0");
    let workspace = scene.open();
    write(&workspace, "b", "X");
    scene.put("a", "X");
    workspace.rename("a", "b", &over()).unwrap();
    scene.cut_log(1);
    scene.put("a", "X");
    assert_eq!(undo(&scene.open(), "b").unwrap(), [1]);
    assert_eq!(scene.both("a", "b"), pair("X", "v0"));
}
