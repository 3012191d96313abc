//! Changes that somebody else makes, and their undo.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use fs_core::{Cancel, Problem, Result, Version};
use fs_sandbox::{Change, Rights, UndoOptions, Witnessed, Workspace};
use rustix::fs::FlockOperation;

use crate::history::{Scene, code, undo, write};

fn witness(
    workspace: &Workspace,
    path: &str,
    change: impl FnOnce() -> Result<()>,
) -> Result<Witnessed> {
    let (witnessed, ()) = workspace.witness(path, &Cancel::default(), change)?;
    Ok(witnessed)
}

fn version(text: &[u8]) -> Version {
    Version::of_bytes(text)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Puts another file in the place of one, as editors do.
fn rename_over(scene: &Scene, name: &str, text: &str) {
    scene.put("new", text);
    fs::rename(scene.path("new"), scene.path(name)).unwrap();
}

/// Asserts that a change of `f` from `one` to `two` is witnessed and has an entry, and that the undo
/// gives back bytes and mode, and can be undone itself.
#[track_caller]
fn check_change(one: &str, two: &str, change: impl FnOnce(&Scene)) {
    let scene = Scene::new();
    scene.put("f", one);
    set_mode(&scene.path("f"), 0o640);
    let workspace = scene.open();
    let witnessed = witness(&workspace, "f", || {
        change(&scene);
        Ok(())
    });
    let witnessed = witnessed.unwrap();
    assert_eq!(scene.get("f"), two.as_bytes());
    let listed = workspace.history("f", 10).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].tool.as_str(), listed[0].is_certain),
        ("test", true)
    );
    assert_eq!(witnessed.entry, Some(listed[0].id));
    assert_eq!(witnessed.change, Some(Change::Replaced));
    assert_eq!(witnessed.warnings, Vec::<String>::new());
    if one.len() as u64 <= Version::STRONG_BYTES {
        assert_eq!(witnessed.before, Some(version(one.as_bytes())));
        assert_eq!(witnessed.after, Some(version(two.as_bytes())));
        let told = &listed[0].names[0];
        assert_eq!(told.before.clone().unwrap().version, witnessed.before);
        assert_eq!(told.after.clone().unwrap().version, witnessed.after);
    }
    let after = mode(&scene.path("f"));
    assert_eq!(undo(&workspace, "f").unwrap(), [listed[0].id]);
    assert_eq!(scene.get("f"), one.as_bytes());
    assert_eq!(mode(&scene.path("f")), 0o640);
    let options = UndoOptions {
        entry: Some(workspace.history("f", 1).unwrap()[0].id),
        ..UndoOptions::default()
    };
    workspace.undo("f", &options).unwrap();
    assert_eq!(
        (scene.get("f"), mode(&scene.path("f"))),
        (two.as_bytes().to_vec(), after)
    );
}

#[test]
fn a_file_that_is_written_in_place_comes_back() {
    check_change("one", "two and more", |scene| {
        scene.put("f", "two and more");
    });
    check_change("one", "", |scene| scene.put("f", ""));
}

#[test]
fn a_file_that_is_replaced_comes_back() {
    check_change("one", "two", |scene| rename_over(scene, "f", "two"));
}

#[test]
fn a_mode_that_is_changed_comes_back() {
    check_change("one", "one", |scene| set_mode(&scene.path("f"), 0o600));
}

#[test]
fn a_large_file_is_kept_apart_from_the_one_that_is_written_to() {
    let (one, two) = ("one\n".repeat(1_200_000), "two\n".repeat(1_200_000));
    check_change(&one, &two, |scene| scene.put("f", &two));
    check_change(&one, &two, |scene| rename_over(scene, "f", &two));
}

#[test]
fn a_file_that_is_removed_comes_back() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = scene.open();
    let witnessed = witness(&workspace, "f", || Ok(fs::remove_file(scene.path("f"))?)).unwrap();
    assert_eq!(
        (witnessed.before, witnessed.after),
        (Some(version(b"one")), None)
    );
    assert_eq!(witnessed.change, Some(Change::Replaced));
    assert_eq!(undo(&workspace, "f").unwrap().len(), 1);
    assert_eq!(scene.get("f"), b"one");
}

/// Asserts that a new file at `path` is witnessed, and that its undo removes it.
#[track_caller]
fn check_new(scene: &Scene, path: &str, name: &str) {
    let workspace = scene.open();
    let made = witness(&workspace, path, || {
        fs::create_dir_all(scene.path(name).parent().unwrap())?;
        scene.put(name, "new");
        Ok(())
    });
    let made = made.unwrap();
    assert_eq!(
        (&made.before, &made.after),
        (&None, &Some(version(b"new"))),
        "{path}"
    );
    assert_eq!(made.change, Some(Change::Created));
    assert_eq!(made.warnings, Vec::<String>::new());
    let listed = workspace.history(path, 10).unwrap();
    assert_eq!(made.entry, Some(listed[0].id));
    assert_eq!(undo(&workspace, path).unwrap(), [listed[0].id]);
    assert!(!scene.path(name).exists());
}

#[test]
fn a_new_file_goes_again_and_no_directory_is_made_for_it() {
    let scene = Scene::new();
    fs::create_dir(scene.path("d")).unwrap();
    symlink("d", scene.path("l")).unwrap();
    symlink("d/to", scene.path("dangling")).unwrap();
    check_new(&scene, "f", "f");
    check_new(&scene, "d/f", "d/f");
    check_new(&scene, "l/f", "d/f");
    check_new(&scene, "dangling", "d/to");
    check_new(&scene, "deep/er/f", "deep/er/f");
    let nothing = witness(&scene.open(), "no/where/f", || Ok(())).unwrap();
    let (change, entry) = (nothing.change, nothing.entry);
    assert_eq!(
        (nothing.before, nothing.after, change, entry),
        (None, None, None, None)
    );
    assert!(!scene.path("no").exists());
}

#[test]
fn a_file_that_is_as_it_was_has_no_entry() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = scene.open();
    for again in [false, true] {
        let change = || {
            if again {
                rename_over(&scene, "f", "one");
                set_mode(&scene.path("f"), 0o644);
            }
            Ok(())
        };
        set_mode(&scene.path("f"), 0o644);
        let witnessed = witness(&workspace, "f", change).unwrap();
        assert_eq!((witnessed.change, witnessed.entry), (None, None));
        assert_eq!(
            (witnessed.before, witnessed.after),
            (Some(version(b"one")), Some(version(b"one")))
        );
        assert_eq!(witnessed.warnings, Vec::<String>::new());
    }
    assert_eq!(workspace.history_of_all(10).unwrap(), []);
    let objects = scene.kept().into_iter();
    let objects = objects.filter(|(path, ..)| path.parent().unwrap().ends_with("objects"));
    assert_eq!(objects.count(), 0);
}

#[test]
fn a_change_that_fails_has_an_entry_only_if_it_was_made() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = scene.open();
    let fails = || -> Result<()> { Err(Problem::Conflict.into()) };
    assert_eq!(code(witness(&workspace, "f", fails)), "conflict");
    assert_eq!(code(witness(&workspace, "new", fails)), "conflict");
    assert_eq!(workspace.history_of_all(10).unwrap(), []);
    let refused = witness(&workspace, "f", || {
        scene.put("f", "two");
        fails()
    });
    assert_eq!(refused.unwrap_err().path(), None);
    assert_eq!(undo(&workspace, "f").unwrap().len(), 1);
    assert_eq!(scene.get("f"), b"one");
    let refused = witness(&workspace, "g", || {
        scene.put("g", "two");
        fails()
    });
    assert_eq!(code(refused), "conflict");
    assert_eq!(undo(&workspace, "g").unwrap().len(), 1);
    assert!(!scene.path("g").exists());
}

#[test]
fn what_somebody_wrote_after_the_change_stays() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = scene.open();
    witness(&workspace, "f", || Ok(fs::write(scene.path("f"), "two")?)).unwrap();
    scene.put("f", "three");
    assert_eq!(code(undo(&workspace, "f")), "conflict");
    witness(&workspace, "g", || Ok(fs::write(scene.path("g"), "two")?)).unwrap();
    scene.put("g", "three");
    assert_eq!(code(undo(&workspace, "g")), "conflict");
    assert_eq!(
        (scene.get("f"), scene.get("g")),
        (b"three".to_vec(), b"three".to_vec())
    );
}

#[test]
fn it_is_one_change_among_others() {
    let scene = Scene::new();
    let workspace = scene.open();
    write(&workspace, "f", "one");
    witness(&workspace, "f", || Ok(fs::write(scene.path("f"), "two")?)).unwrap();
    write(&workspace, "f", "three");
    for text in ["two", "one"] {
        undo(&workspace, "f").unwrap();
        assert_eq!(scene.get("f"), text.as_bytes());
    }
    undo(&workspace, "f").unwrap();
    assert!(!scene.path("f").exists());
}

#[test]
fn of_secrets_nothing_is_kept() {
    let scene = Scene::new();
    let workspace = scene.open();
    for text in ["one", "two"] {
        let change = || Ok(fs::write(scene.path(".env"), text)?);
        let witnessed = witness(&workspace, ".env", change).unwrap();
        assert_eq!(
            (witnessed.after, witnessed.entry),
            (Some(version(text.as_bytes())), None)
        );
        let is_new = witnessed.change == Some(Change::Created);
        assert_eq!(witnessed.warnings.len(), usize::from(!is_new));
    }
    assert_eq!(workspace.history_of_all(10).unwrap(), []);
}

#[test]
fn without_a_history_it_only_says_what_happened() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = Workspace::builder().root("root", &scene.path(""), Rights::ALL);
    let workspace = workspace.build().unwrap();
    let witnessed = witness(&workspace, "f", || Ok(fs::write(scene.path("f"), "two")?)).unwrap();
    let expected = Witnessed {
        before: Some(version(b"one")),
        after: Some(version(b"two")),
        change: Some(Change::Replaced),
        entry: None,
        warnings: Vec::new(),
    };
    assert_eq!(witnessed, expected);
}

#[test]
fn nothing_is_changed_where_nothing_may_be() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("d/in")).unwrap();
    scene.put("f", "one");
    scene.put("kept", "one");
    let readable = Workspace::builder().root("root", &scene.path(""), Rights::READ);
    let builder = Workspace::builder().root("root", &scene.path(""), Rights::ALL);
    let denied = builder.deny_edit("kept").build().unwrap();
    let narrowed = scene.open().narrowed(&["d"]).unwrap();
    let cancelled = Cancel::default();
    cancelled.cancel();
    let never = || -> Result<()> { panic!("it is not to be changed") };
    assert_eq!(
        code(witness(&readable.build().unwrap(), "f", never)),
        "denied_by_policy"
    );
    assert_eq!(code(witness(&denied, "kept", never)), "denied_by_policy");
    assert_eq!(
        code(witness(&scene.open(), "../f", never)),
        "outside_sandbox"
    );
    assert_eq!(code(witness(&scene.open(), "d", never)), "is_a_directory");
    assert_eq!(
        code(witness(&scene.open(), "f/x", never)),
        "not_a_directory"
    );
    for path in ["f", "none", "none/f", "d/../f"] {
        let refused = witness(&narrowed, path, never).unwrap_err();
        assert_eq!(
            (refused.code(), refused.path()),
            ("outside_sandbox", Some(path))
        );
    }
    assert_eq!(
        code(scene.open().witness("f", &cancelled, never)),
        "cancelled"
    );
    let change = || Ok(fs::write(scene.path("d/f"), "two")?);
    assert_eq!(
        witness(&narrowed, "d/f", change).unwrap().change,
        Some(Change::Created)
    );
    assert_eq!(undo(&narrowed, "d/f").unwrap().len(), 1);
}

#[test]
fn the_file_can_be_read_and_locked_meanwhile() {
    let scene = Scene::new();
    scene.put("f", "one");
    fs::hard_link(scene.path("f"), scene.path("g")).unwrap();
    let workspace = scene.open();
    let change = || {
        let file = fs::File::open(scene.path("f")).unwrap();
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(workspace.open("f")?.size, 3);
        write(&workspace, "h", "another name");
        scene.put("f", "two");
        Ok(())
    };
    witness(&workspace, "f", change).unwrap();
    assert_eq!(scene.get("g"), b"two");
    undo(&workspace, "f").unwrap();
    assert_eq!(scene.get("g"), b"one");
}

#[test]
fn a_link_that_comes_to_lead_elsewhere_makes_no_entry_of_another_file() {
    let scene = Scene::new();
    scene.put("f", "one");
    symlink("f", scene.path("l")).unwrap();
    symlink("none/f", scene.path("dangling")).unwrap();
    let workspace = scene.open();
    for path in ["l", "dangling"] {
        let change = || {
            rename_over(&scene, path, "two");
            Ok(())
        };
        let witnessed = witness(&workspace, path, change).unwrap();
        assert_eq!(
            (witnessed.after, witnessed.entry),
            (Some(version(b"two")), None),
            "{path}"
        );
        assert!(witnessed.change.is_some());
        assert_eq!(witnessed.warnings.len(), 1, "{:?}", witnessed.warnings);
    }
    assert_eq!(scene.get("f"), b"one");
    assert_eq!(workspace.history_of_all(10).unwrap(), []);
}

#[test]
fn of_two_changes_of_one_name_the_second_waits() {
    let scene = Scene::new();
    scene.put("f", "one");
    let workspace = scene.open();
    std::thread::scope(|threads| {
        let change = || {
            threads.spawn(|| write(&workspace, "f", "three"));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(scene.get("f"), b"one");
            scene.put("f", "two");
            Ok(())
        };
        witness(&workspace, "f", change).unwrap();
    });
    assert_eq!(scene.get("f"), b"three");
    undo(&workspace, "f").unwrap();
    assert_eq!(scene.get("f"), b"two");
}

#[test]
fn a_file_that_comes_with_another_directory_is_not_new() {
    let scene = Scene::new();
    fs::create_dir(scene.path("d")).unwrap();
    fs::create_dir(scene.path("other")).unwrap();
    scene.put("other/f", "old");
    let workspace = scene.open();
    let change = || {
        fs::rename(scene.path("d"), scene.path("gone"))?;
        Ok(fs::rename(scene.path("other"), scene.path("d"))?)
    };
    let witnessed = witness(&workspace, "d/f", change).unwrap();
    assert_eq!((witnessed.entry, witnessed.warnings.len()), (None, 1));
    assert_eq!(code(undo(&workspace, "d/f")), "not_found");
    assert_eq!(scene.get("d/f"), b"old");
}
