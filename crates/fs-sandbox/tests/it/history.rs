//! History and undo, through a workspace.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use fs_core::{Error, Patch, Version};
use fs_sandbox::{
    Backup, Change, HardLinks, HistoryLimits, HistorySide, HistoryStatus, Rights, TransferOptions,
    UndoOptions, UpdateOptions, Workspace, WorkspaceBuilder, WriteOptions,
};
use tempfile::TempDir;

/// A root and a state directory beside it.
pub(crate) struct Scene {
    base: TempDir,
    limits: HistoryLimits,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("root")).unwrap();
        Self {
            base,
            limits: HistoryLimits::default(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.path().join("root").join(name)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.base.path().join("state")
    }

    /// A workspace as a new process has it.
    pub(crate) fn open(&self) -> Workspace {
        self.builder().build().unwrap().for_tool("test")
    }

    fn builder(&self) -> WorkspaceBuilder {
        let builder = Workspace::builder().root("root", &self.path(""), Rights::ALL);
        builder.history(&self.state(), self.limits)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The files below the state directory: path, mode, size.
    pub(crate) fn kept(&self) -> Vec<(PathBuf, u32, u64)> {
        let mut found = Vec::new();
        let mut dirs = vec![self.state()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                found.push((path.clone(), meta.mode() & 0o777, meta.len()));
                if meta.is_dir() {
                    dirs.push(path);
                }
            }
        }
        found
    }

    fn objects(&self) -> Vec<(PathBuf, u32, u64)> {
        let mut kept = self.kept();
        kept.retain(|(path, ..)| path.parent().unwrap().ends_with("objects"));
        kept
    }
}

pub(crate) fn write(workspace: &Workspace, path: &str, text: &str) {
    workspace
        .write(path, text, &WriteOptions::default())
        .unwrap();
}

pub(crate) fn undo(workspace: &Workspace, path: &str) -> Result<Vec<u64>, Error> {
    let undone = workspace.undo(path, &UndoOptions::default())?;
    assert_eq!(undone.warnings, Vec::<String>::new());
    Ok(undone.entries)
}

pub(crate) fn undo_to(workspace: &Workspace, path: &str, entry: u64) -> Result<Vec<u64>, Error> {
    let entry = Some(entry);
    let options = UndoOptions {
        entry,
        ..UndoOptions::default()
    };
    Ok(workspace.undo(path, &options)?.entries)
}

pub(crate) fn code<T>(result: Result<T, Error>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "ok")
}

pub(crate) fn over() -> TransferOptions {
    TransferOptions {
        overwrite: true,
        ..TransferOptions::default()
    }
}

/// Asserts the entries that two writes name, against what the history lists, newest first.
#[track_caller]
fn check_entries(workspace: &Workspace, path: &str, expected: [bool; 2]) {
    let write = |text: &str| workspace.write(path, text, &WriteOptions::default());
    let named = ["one", "two"].map(|text| write(text).unwrap().entry);
    assert_eq!(named.map(|entry| entry.is_some()), expected);
    let listed = workspace.history(path, 10).unwrap_or_default();
    let listed: Vec<_> = listed.iter().map(|entry| entry.id).rev().collect();
    assert_eq!(listed, named.into_iter().flatten().collect::<Vec<_>>());
}

#[test]
fn a_write_names_the_entry_that_it_became() {
    let scene = Scene::new();
    let workspace = scene.open();
    check_entries(&workspace, "a.txt", [true, true]);
    check_entries(&workspace, ".env", [false, false]);
    let unchanged = workspace.write("a.txt", "two", &WriteOptions::default());
    assert_eq!(unchanged.unwrap().entry, None);
    let none = Workspace::builder().root("root", &scene.path(""), Rights::ALL);
    check_entries(&none.build().unwrap(), "b.txt", [false, false]);
}

#[test]
fn a_rewrite_in_place_names_its_entry() {
    let scene = Scene::new();
    scene.put("f", "one");
    fs::hard_link(scene.path("f"), scene.path("g")).unwrap();
    let workspace = scene.open();
    let options = UpdateOptions {
        hard_links: Some(HardLinks::InPlace),
        ..UpdateOptions::default()
    };
    let plan = |_: &fs_sandbox::Source<'_>| Ok((Patch::splice(3, [(0..1, b"O".to_vec())]), ()));
    let (written, ()) = workspace.update("f", &options, plan).unwrap();
    assert_eq!(scene.get("g"), b"One");
    let listed = workspace.history("f", 10).unwrap();
    assert_eq!(Some(listed[0].id), written.entry);
}

#[test]
fn many_changes_are_undone_one_by_one_to_the_start() {
    let scene = Scene::new();
    scene.put("a", b"start\r\n\xff\x00");
    fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o751)).unwrap();
    let start = scene.get("a");
    let workspace = scene.open();
    let mut contents = vec![start.clone()];
    for number in 0..12 {
        let bytes = format!("text {number}\n").repeat(number + 1).into_bytes();
        let patch = Patch::whole(bytes.clone());
        let update = UpdateOptions::default();
        workspace.update("a", &update, |_| Ok((patch, ()))).unwrap();
        contents.push(bytes);
    }
    while contents.len() > 1 {
        assert_eq!(Some(scene.get("a")), contents.pop());
        // Each time in another process.
        undo(&scene.open(), "a").unwrap();
    }
    assert_eq!(scene.get("a"), start);
    assert_eq!(scene.path("a").metadata().unwrap().mode() & 0o777, 0o751);
    assert_eq!(code(undo(&workspace, "a")), "not_found");
    assert_eq!(scene.names(), ["a"]);
}

#[test]
fn what_somebody_wrote_since_is_not_undone() {
    let scene = Scene::new();
    scene.put("a", "one");
    let workspace = scene.open();
    write(&workspace, "a", "two");
    scene.put("a", "theirs");
    assert_eq!(code(undo(&workspace, "a")), "conflict");
    assert_eq!(scene.get("a"), b"theirs");
    // Touched, and equal again: nobody has written anything.
    scene.put("a", "two");
    undo(&workspace, "a").unwrap();
    assert_eq!(scene.get("a"), b"one");
    // Between two changes, too.
    write(&workspace, "a", "two");
    scene.put("a", "theirs");
    write(&workspace, "a", "three");
    let entries = workspace.history("a", 10).unwrap();
    assert_eq!(code(undo_to(&workspace, "a", entries[1].id)), "conflict");
    assert_eq!(scene.get("a"), b"three");
    undo(&workspace, "a").unwrap();
    assert_eq!(scene.get("a"), b"theirs");
    assert_eq!(code(undo(&workspace, "a")), "conflict");
}

#[test]
fn a_file_goes_back_to_an_entry_and_an_undo_is_undone_by_its_number() {
    let scene = Scene::new();
    let workspace = scene.open();
    for text in ["one", "two", "three", "four"] {
        write(&workspace, "a", text);
    }
    let ids: Vec<u64> = workspace
        .history("a", 10)
        .unwrap()
        .iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(ids, [4, 3, 2, 1]);
    assert_eq!(undo_to(&workspace, "a", 3).unwrap(), [4, 3]);
    assert_eq!(scene.get("a"), b"two");
    // The undo of 3 has number 6.
    assert_eq!(undo_to(&workspace, "a", 6).unwrap(), [6]);
    assert_eq!(scene.get("a"), b"three");
    // What was done again is a change, and so is undone next.
    assert_eq!(undo(&workspace, "a").unwrap(), [7]);
    assert_eq!(scene.get("a"), b"two");
    assert_eq!(undo(&workspace, "a").unwrap(), [2]);
    assert_eq!(undo(&workspace, "a").unwrap(), [1]);
    assert_eq!(scene.names(), Vec::<String>::new());
    assert_eq!(undo_to(&workspace, "a", 10).unwrap(), [10]);
    assert_eq!(scene.get("a"), b"one");
    assert_eq!(code(undo_to(&workspace, "a", 99)), "not_found");
}

#[test]
fn entries_say_what_was_changed_when_and_by_whom() {
    let scene = Scene::new();
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(1);
    let workspace = scene.open();
    write(&workspace.for_tool("writer"), "a", "one");
    write(&workspace, "a", "two!");
    undo(&workspace.for_tool("undoer"), "a").unwrap();
    let entries = workspace.history("a", 10).unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id, entry.tool.as_str()))
        .collect();
    assert_eq!(told, [(3, "undoer"), (2, "test"), (1, "writer")]);
    let undone: Vec<_> = entries.iter().map(|it| (it.undoes, it.undone_by)).collect();
    assert_eq!(undone, [(Some(2), None), (None, Some(3)), (None, None)]);
    assert!(
        entries
            .iter()
            .all(|entry| entry.time > before && entry.is_certain)
    );
    let change = &entries[1].names[0];
    assert_eq!(change.path.to_string(), "a");
    let version = |bytes: &[u8]| Some(Version::of_bytes(bytes));
    assert_eq!(change.before.as_ref().unwrap().version, version(b"one"));
    assert_eq!(change.after.as_ref().unwrap().version, version(b"two!"));
    assert_eq!(change.after.as_ref().unwrap().size, 4);
    assert_eq!(entries[2].names[0].before, None);
    assert_eq!(workspace.history("a", 2).unwrap().len(), 2);
    assert_eq!(workspace.history_of_all(10).unwrap(), entries);
    assert_eq!(code(workspace.history("b", 1)).len(), 2);
}

#[test]
fn what_was_removed_created_copied_and_moved_comes_back() {
    let scene = Scene::new();
    scene.put("a", "of a");
    scene.put("b", "of b");
    symlink("a", scene.path("link")).unwrap();
    let workspace = scene.open();
    workspace.remove_file("a").unwrap();
    workspace.remove_file("link").unwrap();
    assert_eq!(scene.names(), ["b"]);
    undo(&workspace, "link").unwrap();
    assert_eq!(fs::read_link(scene.path("link")).unwrap(), Path::new("a"));
    undo(&workspace, "a").unwrap();
    assert_eq!(scene.get("a"), b"of a");

    workspace
        .copy("a", "new/c", &TransferOptions::default())
        .unwrap();
    workspace.copy("b", "new/c", &over()).unwrap();
    undo(&workspace, "new/c").unwrap();
    assert_eq!(scene.get("new/c"), b"of a");
    undo(&workspace, "new/c").unwrap();
    assert_eq!(code(workspace.stat("new/c")), "not_found");

    workspace
        .rename("a", "d", &TransferOptions::default())
        .unwrap();
    write(&workspace, "d", "edited");
    // The move is what is known of `a`, and what it moved has changed.
    assert_eq!(code(undo(&workspace, "a")), "conflict");
    undo(&workspace, "d").unwrap();
    undo(&workspace, "d").unwrap();
    assert_eq!(scene.get("a"), b"of a");
    workspace.rename("a", "b", &over()).unwrap();
    assert_eq!(scene.names(), ["b", "link", "new"]);
    undo(&workspace, "b").unwrap();
    assert_eq!(
        (scene.get("a"), scene.get("b")),
        (b"of a".to_vec(), b"of b".to_vec())
    );
    workspace.rename("a", "link", &over()).unwrap();
    undo(&workspace, "a").unwrap();
    assert_eq!(fs::read_link(scene.path("link")).unwrap(), Path::new("a"));
    // A directory that is gone is made again.
    write(&workspace, "deep/er/f", "f");
    workspace.remove_file("deep/er/f").unwrap();
    fs::remove_dir_all(scene.path("deep")).unwrap();
    undo(&workspace, "deep/er/f").unwrap();
    assert_eq!(scene.get("deep/er/f"), b"f");
}

#[test]
fn nothing_is_put_where_something_is() {
    let scene = Scene::new();
    scene.put("a", "of a");
    let workspace = scene.open();
    workspace.remove_file("a").unwrap();
    scene.put("a", "theirs");
    assert_eq!(code(undo(&workspace, "a")), "conflict");
    write(&workspace, "n", "new");
    scene.put("n", "theirs");
    assert_eq!(code(undo(&workspace, "n")), "conflict");
    workspace
        .rename("n", "m", &TransferOptions::default())
        .unwrap();
    scene.put("n", "again");
    assert_eq!(code(undo(&workspace, "m")), "conflict");
    let all = ["a", "m", "n"].map(|name| scene.get(name));
    assert_eq!(
        all,
        [b"theirs".to_vec(), b"theirs".to_vec(), b"again".to_vec()]
    );
}

#[test]
fn mode_and_attributes_come_back_with_the_bytes() {
    let scene = Scene::new();
    scene.put("a", "old");
    let set = |value: &[u8]| {
        let none = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(scene.path("a"), "user.note", value, none).unwrap();
    };
    set(b"first");
    fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o604)).unwrap();
    let workspace = scene.open();
    write(&workspace, "a", "new");
    set(b"second");
    fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o646)).unwrap();
    undo(&workspace, "a").unwrap();
    let note = || {
        let mut value = [0; 64];
        let len = rustix::fs::getxattr(scene.path("a"), "user.note", &mut value).unwrap();
        String::from_utf8(value[..len].to_vec()).unwrap()
    };
    let mode = || scene.path("a").metadata().unwrap().mode() & 0o777;
    assert_eq!(
        (scene.get("a"), note(), mode()),
        (b"old".to_vec(), "first".to_owned(), 0o604)
    );
    let newest = workspace.history("a", 1).unwrap()[0].id;
    undo_to(&workspace, "a", newest).unwrap();
    assert_eq!(
        (scene.get("a"), note(), mode()),
        (b"new".to_vec(), "second".to_owned(), 0o646)
    );
}

#[test]
fn the_old_file_itself_becomes_the_object_and_a_backup_shares_what_is_large() {
    let scene = Scene::new();
    let large = vec![b'x'; 5 << 20];
    for (name, bytes) in [("small", b"small".as_slice()), ("large", &large)] {
        for (backup, links) in [(Backup::Off, 1), (Backup::Single, 1)] {
            let name = format!("{name} {links} {backup:?}");
            scene.put(&name, bytes);
            let inode = scene.path(&name).metadata().unwrap().ino();
            let update = UpdateOptions {
                backup,
                ..UpdateOptions::default()
            };
            let options = WriteOptions {
                update,
                ..WriteOptions::default()
            };
            scene.open().write(&name, "new", &options).unwrap();
            let is_kept = scene
                .objects()
                .iter()
                .any(|(path, ..)| path.metadata().unwrap().ino() == inode);
            let is_large = bytes.len() > 4 << 20;
            assert_eq!(is_kept, backup == Backup::Off || is_large, "{name}");
            if backup == Backup::Single {
                let kept = scene.path(&format!("{name}.bak")).metadata().unwrap();
                assert_eq!((kept.ino(), kept.nlink()), (inode, 1 + u64::from(is_large)));
            }
            undo(&scene.open(), &name).unwrap();
            assert_eq!(scene.get(&name), bytes, "{name}");
            assert_eq!(scene.path(&name).metadata().unwrap().nlink(), 1, "{name}");
        }
    }
}

#[test]
fn a_large_file_is_undone_and_done_again_many_times() {
    let scene = Scene::new();
    let texts: Vec<Vec<u8>> = (0..4)
        .map(|it| vec![b'a' + it; (5 << 20) + usize::from(it)])
        .collect();
    scene.put("a", &texts[0]);
    let workspace = scene.open();
    for text in &texts[1..] {
        let patch = Patch::whole(text.clone());
        workspace
            .update("a", &UpdateOptions::default(), |_| Ok((patch, ())))
            .unwrap();
    }
    for expected in [&texts[2], &texts[1], &texts[0]] {
        undo(&workspace, "a").unwrap();
        assert!(scene.get("a") == *expected);
    }
    let newest = workspace.history("a", 1).unwrap()[0].id;
    undo_to(&workspace, "a", newest).unwrap();
    assert!(scene.get("a") == texts[1]);
    undo(&workspace, "a").unwrap();
    assert!(scene.get("a") == texts[0]);
    // Somebody writes to the bytes that a backup shares with the history.
    let update = UpdateOptions {
        backup: Backup::Single,
        ..UpdateOptions::default()
    };
    let patch = Patch::whole(texts[1].clone());
    workspace.update("a", &update, |_| Ok((patch, ()))).unwrap();
    let file = fs::OpenOptions::new()
        .write(true)
        .open(scene.path("a.bak"))
        .unwrap();
    std::os::unix::fs::FileExt::write_at(&file, b"theirs", 0).unwrap();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    assert_eq!(code(undo(&workspace, "a")), "not_found");
    assert!(scene.get("a") == texts[1]);
}

#[test]
fn a_file_with_other_names_is_kept_as_a_copy_and_undone_as_it_was_written() {
    for (policy, other) in [(HardLinks::Break, "old"), (HardLinks::InPlace, "new")] {
        let scene = Scene::new();
        scene.put("a", "old");
        fs::hard_link(scene.path("a"), scene.path("other")).unwrap();
        let workspace = scene.open();
        let update = UpdateOptions {
            hard_links: Some(policy),
            ..UpdateOptions::default()
        };
        let options = WriteOptions {
            update,
            ..WriteOptions::default()
        };
        workspace.write("a", "new", &options).unwrap();
        assert_eq!(scene.get("other"), other.as_bytes());
        undo(&workspace, "a").unwrap();
        assert_eq!(
            (scene.get("a"), scene.get("other")),
            (b"old".to_vec(), b"old".to_vec())
        );
    }
}

#[test]
fn the_store_is_for_this_user_alone_and_not_there_for_callers() {
    let scene = Scene::new();
    scene.put("a", "old");
    fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o666)).unwrap();
    let state = scene.path(".state dir");
    let builder = Workspace::builder().root("root", &scene.path(""), Rights::ALL);
    let workspace = builder
        .history(&state, HistoryLimits::default())
        .build()
        .unwrap();
    write(&workspace, "a", "new");
    let kept = Scene {
        base: TempDir::new().unwrap(),
        limits: scene.limits,
    };
    fs::rename(&state, kept.state()).unwrap();
    for (path, mode, _) in kept.kept() {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{}", path.display());
    }
    fs::rename(kept.state(), &state).unwrap();
    for path in [".state dir", ".STATE DIR/x"] {
        assert_eq!(code(workspace.stat(path)), "denied_by_policy");
    }
    let listed = workspace.list("", &fs_core::ListOptions::default());
    assert_eq!(code(listed), "invalid_path");
    let listed = workspace
        .list(".", &fs_core::ListOptions::default())
        .unwrap();
    let names: Vec<_> = listed
        .entries
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    assert_eq!(names, ["a"]);
    undo(&workspace, "a").unwrap();
    assert_eq!(scene.get("a"), b"old");
}

#[test]
fn secrets_are_never_kept() {
    let scene = Scene::new();
    scene.put(".env", "KEY=sesame");
    scene.put("a", "KEY=sesame");
    let workspace = scene.open();
    write(&workspace, ".env", "KEY=2");
    write(&workspace, "id_rsa", "sesame");
    workspace
        .rename("a", "x.pem", &TransferOptions::default())
        .unwrap();
    workspace.remove_file("x.pem").unwrap();
    assert_eq!(code(undo(&workspace, ".env")), "not_found");
    for (path, ..) in scene.objects() {
        assert!(
            path.ends_with(Version::of_bytes(b"KEY=sesame").as_str()),
            "{}",
            path.display()
        );
    }
    let told = workspace.history_of_all(10).unwrap();
    let paths: Vec<_> = told
        .iter()
        .map(|entry| entry.names[0].path.to_string())
        .collect();
    assert_eq!(paths, ["a"]);
}

#[test]
fn the_oldest_go_first_and_the_newest_of_each_file_stays() {
    let mut scene = Scene::new();
    scene.limits = HistoryLimits {
        entries: 32,
        bytes: 1 << 20,
    };
    let workspace = scene.open();
    write(&workspace, "rare", "one");
    write(&workspace, "rare", "two");
    for number in 0..100 {
        write(&workspace, "often", &format!("{number}"));
    }
    let entries = workspace.history_of_all(1000).unwrap();
    assert!((20..=32).contains(&entries.len()), "{}", entries.len());
    assert_eq!(workspace.history("rare", 10).unwrap().len(), 1);
    undo(&workspace, "rare").unwrap();
    assert_eq!(scene.get("rare"), b"one");
    undo(&workspace, "often").unwrap();
    assert_eq!(scene.get("often"), b"98");
    assert!(scene.objects().len() <= 33, "{}", scene.objects().len());

    for number in 0..40 {
        write(&workspace, "big", &format!("{number}").repeat(50_000));
    }
    let bytes: u64 = scene.objects().iter().map(|(_, _, size)| size).sum();
    assert!(bytes <= 1 << 20, "{bytes}");
    let ids: Vec<u64> = workspace
        .history("big", 100)
        .unwrap()
        .iter()
        .map(|it| it.id)
        .collect();
    assert!(ids.is_sorted_by(|a, b| a > b));
    undo(&scene.open(), "big").unwrap();
    assert_eq!(scene.get("big"), "38".repeat(50_000).as_bytes());
    // Numbers go on where they were.
    write(&scene.open(), "big", "x");
    assert!(scene.open().history("big", 1).unwrap()[0].id > ids[0]);
}

#[test]
fn without_a_usable_store_everything_else_works() {
    let scene = Scene::new();
    fs::write(scene.state(), "a file").unwrap();
    let workspace = scene.open();
    assert!(matches!(workspace.history_status(), HistoryStatus::Off(_)));
    let written = workspace
        .write("a", "text", &WriteOptions::default())
        .unwrap();
    assert_eq!(
        (written.change, written.warnings),
        (Change::Created, vec![])
    );
    assert_eq!(code(undo(&workspace, "a")), "not_found");
    assert_eq!(code(workspace.history_of_all(1)), "not_found");
    // One that goes away later costs a warning.
    fs::remove_file(scene.state()).unwrap();
    let workspace = scene.open();
    write(&workspace, "a", "two");
    fs::remove_dir_all(scene.state()).unwrap();
    let written = workspace
        .write("a", "three", &WriteOptions::default())
        .unwrap();
    assert_eq!(written.warnings.len(), 1, "{:?}", written.warnings);
    assert_eq!(scene.get("a"), b"three");
    assert_eq!(scene.names(), ["a"]);
    // A root in the store's directory is no place for it.
    let builder = Workspace::builder().root("root", &scene.path(""), Rights::ALL);
    let workspace = builder
        .history(scene.base.path(), scene.limits)
        .build()
        .unwrap();
    assert!(matches!(workspace.history_status(), HistoryStatus::Off(_)));
}

#[test]
fn a_torn_log_costs_the_torn_line_only() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "a", "one");
    write(&workspace, "a", "two");
    let kept = scene.kept();
    let (log, ..) = kept
        .iter()
        .find(|(path, ..)| path.ends_with("log"))
        .unwrap();
    let mut bytes = fs::read(log).unwrap();
    bytes.extend_from_slice(b"0123456789abcdef b 3 0 {\"at\":");
    fs::write(log, &bytes).unwrap();
    write(&workspace, "a", "three");
    let ids: Vec<u64> = workspace
        .history("a", 9)
        .unwrap()
        .iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(ids, [3, 2, 1]);
    undo(&workspace, "a").unwrap();
    assert_eq!(scene.get("a"), b"two");
}

#[test]
fn the_next_start_removes_what_a_killed_process_left() {
    let scene = Scene::new();
    fs::create_dir(scene.path("dir")).unwrap();
    write(&scene.open(), "a", "one");
    let kept = scene.kept();
    let (alive, ..) = kept
        .iter()
        .find(|(path, ..)| path.ends_with("alive"))
        .unwrap();
    assert_eq!(
        fs::read_dir(alive).unwrap().count(),
        0,
        "a process that ends well leaves no list"
    );
    let token = "00112233445566aa";
    let temp = |name: &str| format!("dir/.postern-{name}.tmp");
    let names = [
        (format!("{token}-0"), "ours"),
        (format!("{token}-1"), ""),
        (format!("{token}-2"), "a stranger's"),
        ("ffffffffffffffff-0".to_owned(), "of another process"),
    ];
    for (name, bytes) in &names {
        scene.put(&temp(name), bytes);
    }
    scene.put(&temp(&format!("{token}-3.taken")), "goes back");
    scene.put("dir/theirs", "linked");
    fs::hard_link(
        scene.path("dir/theirs"),
        scene.path(&temp(&format!("{token}-4"))),
    )
    .unwrap();
    fs::write(
        alive.parent().unwrap().join(format!("objects/.{token}-0")),
        "staged",
    )
    .unwrap();
    let ours = scene.path(&temp(&names[0].0)).metadata().unwrap();
    let list = format!(
        "+ {token} dir\n+ {token} gone\ni {token} {} {}\nt {token} taken\n+ torn",
        ours.dev(),
        ours.ino()
    );
    fs::write(alive.join("dead"), list).unwrap();
    let swept = scene.open().history_status();
    assert_eq!(swept, HistoryStatus::On { swept: 4 });
    let left = fs::read_dir(scene.path("dir")).unwrap();
    let mut left: Vec<_> = left
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let stays = |name: &str| temp(name).replace("dir/", "");
    let wanted = [
        stays(&names[2].0),
        stays(&names[3].0),
        "taken".to_owned(),
        "theirs".to_owned(),
    ];
    assert_eq!(left, wanted);
    assert_eq!(scene.get("dir/taken"), b"goes back");
    assert_eq!(scene.objects().len(), 0);
    assert_eq!(fs::read_dir(alive).unwrap().count(), 0);
    assert_eq!(
        scene.open().history_status(),
        HistoryStatus::On { swept: 0 }
    );
}

#[test]
fn both_sides_of_a_change_can_be_read() {
    let scene = Scene::new();
    let workspace = scene.open();
    for text in ["one", "two", "three"] {
        write(&workspace, "a", text);
    }
    let read = |id, side| {
        let file = workspace.open_history("a", id, side).unwrap()?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut { file }, &mut text).unwrap();
        Some(text)
    };
    assert_eq!(read(1, HistorySide::Before), None);
    let sides = [
        (1, HistorySide::After),
        (2, HistorySide::Before),
        (2, HistorySide::After),
        (3, HistorySide::After),
    ];
    let texts = sides.map(|(id, side)| read(id, side).unwrap());
    assert_eq!(texts, ["one", "one", "two", "three"]);
    scene.put("a", "theirs");
    assert_eq!(
        code(workspace.open_history("a", 3, HistorySide::After)),
        "not_found"
    );
}

#[test]
fn rights_hold_for_an_undo() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "a", "one");
    let with = |rights| {
        let builder = Workspace::builder().root("root", &scene.path(""), rights);
        builder
            .history(&scene.state(), scene.limits)
            .build()
            .unwrap()
    };
    assert_eq!(code(undo(&with(Rights::READ), "a")), "denied_by_policy");
    assert_eq!(
        code(undo(&with(Rights::READ | Rights::EDIT), "a")),
        "denied_by_policy"
    );
    write(&workspace, "a", "two");
    undo(&with(Rights::READ | Rights::EDIT), "a").unwrap();
    assert_eq!(code(with(Rights::EDIT).history("a", 1)), "denied_by_policy");
    let builder = Workspace::builder()
        .root("root", &scene.path(""), Rights::ALL)
        .deny("a");
    let denied = builder
        .history(&scene.state(), scene.limits)
        .build()
        .unwrap();
    assert_eq!(code(undo(&denied, "a")), "denied_by_policy");
    assert_eq!(denied.history_of_all(9).unwrap(), []);
}

#[test]
fn an_object_that_was_spoiled_is_kept_anew() {
    use std::io::Write as _;

    let scene = Scene::new();
    scene.put("p", "same\n");
    scene.put("q", "same\n");
    let workspace = scene.open();
    // A logger goes on writing to what was its file.
    let mut logger = fs::OpenOptions::new()
        .append(true)
        .open(scene.path("p"))
        .unwrap();
    workspace.remove_file("p").unwrap();
    logger.write_all(b"more\n").unwrap();
    assert_eq!(code(undo(&workspace, "p")), "not_found");
    workspace.remove_file("q").unwrap();
    undo(&workspace, "q").unwrap();
    assert_eq!(scene.get("q"), b"same\n");
    // The first one has its bytes again, too.
    undo(&workspace, "p").unwrap();
    assert_eq!(scene.get("p"), b"same\n");
}

#[test]
fn a_stranger_is_told_from_many_undos_at_once() {
    let scene = Scene::new();
    scene.put("f", "A");
    let workspace = scene.open();
    write(&workspace, "f", "B");
    for turn in 0..100 {
        undo_to(&workspace, "f", 1 + turn).unwrap();
    }
    assert_eq!(scene.get("f"), b"B");
    scene.put("f", "C");
    assert_eq!(code(undo(&workspace, "f")), "conflict");
    scene.put("f", "A");
    let begun = std::time::Instant::now();
    assert_eq!(code(undo_to(&workspace, "f", 101)), "conflict");
    assert!(begun.elapsed().as_secs() < 20);
}

#[test]
fn copies_of_secrets_are_not_kept_either() {
    let scene = Scene::new();
    let secrets = [
        "k.pem.bak",
        "k.pem.bak.2",
        ".netrc.old",
        "server.key~",
        ".npmrc.orig.1",
    ];
    for name in secrets {
        scene.put(name, "sesame");
    }
    scene.put("notes.bak", "plain");
    let workspace = scene.open();
    for name in secrets {
        workspace.remove_file(name).unwrap();
        assert_eq!(code(undo(&workspace, name)), "not_found");
    }
    assert_eq!(scene.objects(), []);
    workspace.remove_file("notes.bak").unwrap();
    undo(&workspace, "notes.bak").unwrap();
    assert_eq!(scene.get("notes.bak"), b"plain");
}

#[test]
fn half_of_a_move_is_not_undone() {
    let scene = Scene::new();
    scene.put(".env", "KEY=sesame");
    let workspace = scene.open();
    let move_to = |from: &str, to: &str| {
        let moved = workspace
            .rename(from, to, &TransferOptions::default())
            .unwrap();
        moved.warnings
    };
    let says = "this cannot be undone: what usually holds secrets is not kept";
    assert_eq!(move_to(".env", "env.txt"), [says]);
    assert_eq!(code(undo(&workspace, "env.txt")), "not_found");
    assert_eq!(scene.get("env.txt"), b"KEY=sesame");
    assert_eq!(scene.objects(), []);
    // The other way round the bytes are kept as those of a file that is gone.
    assert_eq!(move_to("env.txt", ".env"), Vec::<String>::new());
    undo(&workspace, "env.txt").unwrap();
    assert_eq!(scene.get("env.txt"), scene.get(".env"));
}

#[test]
fn an_undo_widens_no_mode() {
    let scene = Scene::new();
    scene.put("f", "one");
    let mode = |mode| fs::set_permissions(scene.path("f"), fs::Permissions::from_mode(mode));
    mode(0o644).unwrap();
    let workspace = scene.open();
    write(&workspace, "f", "two");
    mode(0o600).unwrap();
    let undone = workspace.undo("f", &UndoOptions::default()).unwrap();
    let says = "its mode was narrowed since that change, so it is 600 now";
    assert_eq!(undone.warnings, [says]);
    let now = scene.path("f").metadata().unwrap().mode() & 0o777;
    assert_eq!((scene.get("f"), now), (b"one".to_vec(), 0o600));
}

#[test]
fn the_history_of_a_file_tells_no_denied_name() {
    let scene = Scene::new();
    scene.put("plain", "x");
    fs::create_dir(scene.path("hidden")).unwrap();
    let workspace = scene.open();
    let options = TransferOptions::default();
    workspace.rename("plain", "hidden/name", &options).unwrap();
    assert_eq!(workspace.history("plain", 10).unwrap().len(), 1);
    let denied = scene.builder().deny("hidden/**").build().unwrap();
    assert_eq!(denied.history("plain", 10).unwrap(), []);
}

#[test]
fn a_log_that_somebody_holds_costs_the_entry_only() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "f", "one");
    let store = fs::read_dir(scene.state())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let lock = fs::File::open(store.path().join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let written = workspace
        .write("f", "two", &WriteOptions::default())
        .unwrap();
    assert_eq!(written.warnings.len(), 1, "{:?}", written.warnings);
    assert!(written.warnings[0].starts_with("this cannot be undone"));
    assert_eq!(scene.get("f"), b"two");
}

#[test]
fn a_spoiled_object_is_not_shown() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = scene.open();
    write(&workspace, "f", "two");
    let (object, ..) = scene.objects().remove(0);
    fs::write(object, "bad").unwrap();
    let id = workspace.history("f", 1).unwrap()[0].id;
    let shown = workspace.open_history("f", id, HistorySide::Before);
    assert_eq!(code(shown), "not_found");
    assert_eq!(code(undo(&workspace, "f")), "not_found");
}

#[test]
fn directories_above_the_root_may_hold_secrets() {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join(".aws");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("credentials"), "sesame").unwrap();
    let state = base.path().join("state");
    let builder = Workspace::builder().root("root", &root, Rights::ALL);
    let builder = builder.history(&state, HistoryLimits::default());
    let workspace = builder.build().unwrap();
    workspace.remove_file("credentials").unwrap();
    assert_eq!(workspace.history_of_all(9).unwrap(), []);
}
