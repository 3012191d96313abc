//! Copies and moves whose calls fail, and whose ends change between two of them.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use fs_core::{Cancel, Progress, Result};
use rustix::io::Errno;

use super::super::{OldFile, Over, Stage, Target, TransferHow, copy, relocate};
use super::faults::{Call, Fault, during_all};
use super::hook;
use super::scene::{Scene, attribute, code, set_attribute, unrecorded};
use crate::history::Pending;
use crate::write::Durability;

/// Makes renames fail as between two file systems; only those that may replace something.
const APART: Fault = Fault::always(Call::Renameat, Errno::XDEV);

struct Job<'a> {
    scene: &'a Scene,
    over: Over<'a>,
    cancel: Cancel,
    progress: Progress,
    pending: Pending,
}

impl<'a> Job<'a> {
    fn new(scene: &'a Scene, over: Over<'a>) -> Self {
        Self {
            scene,
            over,
            cancel: Cancel::default(),
            progress: Progress::default(),
            pending: unrecorded(),
        }
    }

    fn how(&self) -> TransferHow<'_> {
        TransferHow {
            over: self.over,
            source: None,
            durability: Durability::File,
            cancel: &self.cancel,
            progress: &self.progress,
            pending: &self.pending,
        }
    }

    fn target(&self, name: &'a str) -> Target<'a> {
        Target {
            dir: self.scene.dir(),
            name: name.as_ref(),
        }
    }

    fn copy(&self) -> Result<Vec<String>> {
        let source = OldFile::open(self.target("f"))?.unwrap();
        let old = OldFile::open(self.target("g"))?;
        copy(&source, self.target("g"), old.as_ref(), self.how())
    }

    fn relocate(&self) -> Result<Vec<String>> {
        relocate(self.target("f"), self.target("g"), None, self.how())
    }
}

/// A file `f` that has everything to lose, and a file `g` in its way when `over` says so.
fn scene(over: Over<'_>) -> Scene {
    let scene = Scene::with_file(b"moved bytes");
    set_attribute(&scene.path("f"), "user.note", b"mine");
    scene.chmod("f", 0o640);
    std::os::unix::fs::chown(scene.path("f"), Some(1234), Some(2345)).unwrap();
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(86_400, 5);
    let file = fs::File::open(scene.path("f")).unwrap();
    file.set_modified(past).unwrap();
    if matches!(over, Over::Replace) {
        scene.write("g", b"in the way");
    }
    scene
}

#[track_caller]
fn check_copy_fails(call: Call, errno: Errno, expected: &str) {
    for over in [Over::Refuse, Over::Replace] {
        let scene = scene(over);
        let before = scene.state();
        let copied = Fault::always(call, errno).during(|| Job::new(&scene, over).copy());
        assert_eq!(code(copied), expected, "{call:?} {errno:?} {over:?}");
        assert_eq!(scene.state(), before, "{call:?} {errno:?} {over:?}");
    }
}

#[test]
fn a_copy_that_fails_leaves_both_ends_as_they_were() {
    check_copy_fails(Call::Create, Errno::ACCESS, "permission_denied");
    check_copy_fails(Call::CopyFileRange, Errno::NOSPC, "io");
    check_copy_fails(Call::CopyFileRange, Errno::IO, "io");
    check_copy_fails(Call::Fchmod, Errno::PERM, "permission_denied");
    check_copy_fails(Call::Fsetxattr, Errno::NOSPC, "io");
    check_copy_fails(Call::Fsync, Errno::IO, "io");
    let full = [
        Fault::always(Call::CopyFileRange, Errno::XDEV),
        Fault::always(Call::Pwrite, Errno::NOSPC),
    ];
    let scene = scene(Over::Refuse);
    let before = scene.state();
    let copied = during_all(&full, || Job::new(&scene, Over::Refuse).copy());
    assert_eq!(code(copied), "io");
    assert_eq!(scene.state(), before);
}

#[test]
fn an_attribute_that_has_no_place_does_not_keep_a_copy_back() {
    let scene = scene(Over::Refuse);
    let fault = Fault::always(Call::Fsetxattr, Errno::OPNOTSUPP);
    assert_eq!(
        fault.during(|| code(Job::new(&scene, Over::Refuse).copy())),
        "ok"
    );
    assert_eq!(scene.bytes("g"), b"moved bytes");
    assert_eq!(scene.mode("g"), 0o640);
    assert_eq!(attribute(&scene.path("g"), "user.note"), None);
}

#[test]
fn a_copy_keeps_the_owner_of_what_it_replaces() {
    let scene = scene(Over::Replace);
    std::os::unix::fs::chown(scene.path("g"), Some(77), Some(78)).unwrap();
    Job::new(&scene, Over::Replace).copy().unwrap();
    assert_eq!((scene.stat("g").uid(), scene.stat("g").gid()), (77, 78));
    let fault = Fault::always(Call::Fchown, Errno::PERM);
    std::os::unix::fs::chown(scene.path("g"), Some(79), Some(80)).unwrap();
    let before = scene.state();
    let copied = fault.during(|| Job::new(&scene, Over::Replace).copy());
    assert_eq!(code(copied), "not_replaceable");
    assert_eq!(scene.state(), before);
}

#[track_caller]
fn check_move_fails(call: Call, errno: Errno, expected: &str) {
    let scene = scene(Over::Replace);
    let before = scene.state();
    let faults = [APART, Fault::always(call, errno)];
    let moved = during_all(&faults, || Job::new(&scene, Over::Replace).relocate());
    assert_eq!(code(moved), expected, "{call:?} {errno:?}");
    assert_eq!(scene.state(), before, "{call:?} {errno:?}");
}

#[test]
fn a_move_between_file_systems_that_fails_leaves_both_ends_as_they_were() {
    check_move_fails(Call::Create, Errno::ROFS, "permission_denied");
    check_move_fails(Call::CopyFileRange, Errno::NOSPC, "io");
    check_move_fails(Call::Fchown, Errno::PERM, "not_replaceable");
    check_move_fails(Call::Fchmod, Errno::PERM, "not_replaceable");
    check_move_fails(Call::Fsetxattr, Errno::OPNOTSUPP, "not_replaceable");
    check_move_fails(Call::Fsync, Errno::IO, "io");
    check_move_fails(Call::Exchange, Errno::IO, "io");
    check_move_fails(Call::NoReplace, Errno::ACCESS, "permission_denied");
}

#[test]
fn a_move_between_file_systems_keeps_everything() {
    for over in [Over::Refuse, Over::Replace] {
        let Some(there) = elsewhere() else { return };
        let (scene, target) = (scene(Over::Refuse), Scene::at(there.path()));
        if matches!(over, Over::Replace) {
            target.write("g", b"in the way");
        }
        let before = scene.stat("f");
        let job = Job::new(&scene, over);
        let goal = Target {
            dir: target.dir(),
            name: "g".as_ref(),
        };
        relocate(job.target("f"), goal, None, job.how()).unwrap();
        let after = target.stat("g");
        assert_ne!(before.dev(), after.dev());
        assert_eq!(target.bytes("g"), b"moved bytes");
        assert_eq!(target.names(), ["g"]);
        assert_eq!(scene.names(), Vec::<String>::new());
        assert_eq!(attribute(&target.path("g"), "user.note").unwrap(), b"mine");
        let kept = |of: &fs::Metadata| (of.mode(), of.uid(), of.gid(), of.mtime(), of.mtime_nsec());
        assert_eq!(kept(&after), kept(&before));
    }
}

#[test]
fn a_link_moves_between_file_systems_as_itself() {
    for over in [Over::Refuse, Over::Replace] {
        let Some(there) = elsewhere() else { return };
        let (scene, target) = (Scene::empty(), Scene::at(there.path()));
        scene.symlink("no/where", "f");
        if matches!(over, Over::Replace) {
            target.symlink("old", "g");
        }
        let job = Job::new(&scene, over);
        let goal = Target {
            dir: target.dir(),
            name: "g".as_ref(),
        };
        relocate(job.target("f"), goal, None, job.how()).unwrap();
        assert_eq!(
            fs::read_link(target.path("g")).unwrap(),
            Path::new("no/where")
        );
        assert_eq!(target.names(), ["g"]);
        assert_eq!(scene.names(), Vec::<String>::new());
    }
}

#[test]
fn nothing_is_replaced_on_another_file_system_unless_told() {
    let Some(there) = elsewhere() else { return };
    let (scene, target) = (scene(Over::Refuse), Scene::at(there.path()));
    target.write("g", b"in the way");
    let before = (scene.state(), target.state());
    let job = Job::new(&scene, Over::Refuse);
    let goal = Target {
        dir: target.dir(),
        name: "g".as_ref(),
    };
    assert_eq!(
        code(relocate(job.target("f"), goal, None, job.how())),
        "already_exists"
    );
    assert_eq!((scene.state(), target.state()), before);
}

#[test]
fn on_another_file_system_only_the_known_ends_are_touched() {
    let Some(there) = elsewhere() else { return };
    let (scene, target) = (scene(Over::Refuse), Scene::at(there.path()));
    let goal = Target {
        dir: target.dir(),
        name: "g".as_ref(),
    };
    target.write("g", b"known");
    let known = OldFile::open(goal).unwrap().unwrap();
    let relocate = |over, source| {
        let job = Job::new(&scene, over);
        let how = TransferHow {
            source,
            ..job.how()
        };
        code(relocate(job.target("f"), goal, None, how))
    };
    target.write("g", b"and changed");
    let before = (scene.state(), target.state());
    assert_eq!(relocate(Over::Only(Some(&known)), None), "already_exists");
    assert_eq!(relocate(Over::Only(None), None), "already_exists");
    assert_eq!((scene.state(), target.state()), before);
    let known = OldFile::open(goal).unwrap().unwrap();
    let f = Job::new(&scene, Over::Refuse).target("f");
    let stale = OldFile::open(f).unwrap().unwrap();
    scene.write("f", b"changed");
    let before = (scene.state(), target.state());
    let only = Over::Only(Some(&known));
    assert_eq!(relocate(only, Some(&stale)), "conflict");
    assert_eq!((scene.state(), target.state()), before);
    let source = OldFile::open(f).unwrap().unwrap();
    assert_eq!(relocate(only, Some(&source)), "ok");
    assert_eq!(target.bytes("g"), b"changed");
    assert_eq!(
        (target.names(), scene.names().len()),
        (vec!["g".to_owned()], 0)
    );
}

/// Returns a directory on another file system than that of the scenes, where there is one.
fn elsewhere() -> Option<tempfile::TempDir> {
    let memory = tempfile::tempdir_in("/dev/shm").ok()?;
    let here = Scene::empty();
    let other = memory.path().metadata().ok()?.dev() != here.stat(".").dev();
    other.then_some(memory)
}

#[test]
fn where_names_cannot_be_exchanged_a_move_still_replaces() {
    let scene = scene(Over::Replace);
    // Replacing renames are left alone here, so this is one file system.
    let fault = Fault::always(Call::Exchange, Errno::INVAL);
    assert_eq!(
        fault.during(|| code(Job::new(&scene, Over::Replace).relocate())),
        "ok"
    );
    assert_eq!(scene.bytes("g"), b"moved bytes");
    assert_eq!(scene.names(), ["g"]);
}

#[test]
fn where_a_rename_always_replaces_a_move_goes_by_a_link() {
    for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP] {
        let scene = scene(Over::Refuse);
        let fault = Fault::always(Call::NoReplace, errno);
        let inode = scene.stat("f").ino();
        assert_eq!(
            fault.during(|| code(Job::new(&scene, Over::Refuse).relocate())),
            "ok"
        );
        assert_eq!(scene.names(), ["g"]);
        assert_eq!(scene.stat("g").ino(), inode);
        scene.write("f", b"another");
        let before = scene.state();
        let refused = fault.during(|| Job::new(&scene, Over::Refuse).relocate());
        assert_eq!(code(refused), "already_exists");
        assert_eq!(scene.state(), before);
    }
}

/// Lets `act` happen at `stage` of a move between file systems, which must answer `conflict` and
/// leave what `act` made.
#[track_caller]
fn check_moved_under(stage: Stage, act: impl Fn(&Scene) + Clone + Send + 'static) {
    let scene = scene(Over::Replace);
    let (inside, acts) = (Scene::at(&scene.path("")), act.clone());
    let moved = APART.during(|| {
        hook::at(stage, move || acts(&inside));
        Job::new(&scene, Over::Replace).relocate()
    });
    assert_eq!(code(moved), "conflict");
    let expected = self::scene(Over::Replace);
    act(&expected);
    assert_eq!(scene.contents(), expected.contents());
}

#[test]
fn a_source_that_changes_during_a_move_is_kept() {
    check_moved_under(Stage::Written, |scene| {
        scene.write("f", b"newer bytes, longer");
    });
    check_moved_under(Stage::Written, |scene| {
        scene.write("h", b"newer");
        fs::rename(scene.path("h"), scene.path("f")).unwrap();
    });
}

#[test]
fn a_source_that_changes_during_a_copy_is_no_copy() {
    for (bytes, expected) in [
        (&b"MOVED bytes"[..], "conflict"),
        (b"moved bytes and more", "ok"),
    ] {
        let scene = scene(Over::Refuse);
        let path = scene.path("f");
        hook::at(Stage::Written, move || fs::write(&path, bytes).unwrap());
        let copied = Job::new(&scene, Over::Refuse).copy();
        assert_eq!(code(copied), expected);
        if expected == "ok" {
            assert_eq!(scene.bytes("g"), b"moved bytes");
        } else {
            assert_eq!(scene.names(), ["f"]);
        }
    }
}

#[test]
fn a_file_that_comes_to_the_target_meanwhile_is_kept() {
    let come = |scene: &Scene| {
        let path = scene.path("g");
        move || fs::write(&path, "foreign").unwrap()
    };
    let by_copy = scene(Over::Refuse);
    hook::at(Stage::Written, come(&by_copy));
    assert_eq!(
        code(Job::new(&by_copy, Over::Refuse).copy()),
        "already_exists"
    );
    let by_move = scene(Over::Refuse);
    hook::at(Stage::Checked, come(&by_move));
    assert_eq!(
        code(Job::new(&by_move, Over::Refuse).relocate()),
        "already_exists"
    );
    for scene in [by_copy, by_move] {
        assert_eq!(scene.bytes("g"), b"foreign");
        assert_eq!(scene.bytes("f"), b"moved bytes");
        assert_eq!(scene.names(), ["f", "g"]);
    }
}

#[test]
fn a_directory_that_takes_the_sources_name_is_put_back() {
    let scene = scene(Over::Refuse);
    let path = scene.path("f");
    hook::at(Stage::Checked, move || {
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
    });
    assert_eq!(
        code(Job::new(&scene, Over::Refuse).relocate()),
        "is_a_directory"
    );
    assert_eq!(scene.names(), ["f"]);
    assert!(scene.stat("f").is_dir());
}

#[test]
fn a_directory_that_takes_the_targets_name_is_kept() {
    let scene = scene(Over::Replace);
    let path = scene.path("g");
    let moved = APART.during(|| {
        hook::at(Stage::Written, move || {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        });
        Job::new(&scene, Over::Replace).relocate()
    });
    assert_eq!(code(moved), "is_a_directory");
    assert_eq!(scene.names(), ["f", "g"]);
    assert!(scene.stat("g").is_dir());
    assert_eq!(scene.bytes("f"), b"moved bytes");
}

#[test]
fn what_is_cancelled_changes_nothing() {
    let scene = scene(Over::Replace);
    let before = scene.state();
    let job = Job::new(&scene, Over::Replace);
    job.cancel.cancel();
    assert_eq!(code(job.copy()), "cancelled");
    assert_eq!(code(job.relocate()), "cancelled");
    assert_eq!(scene.state(), before);
    let job = Job::new(&scene, Over::Replace);
    let cancel = job.cancel.clone();
    hook::at(Stage::Copying, move || cancel.cancel());
    assert_eq!(code(job.copy()), "cancelled");
    assert_eq!(scene.state(), before);
}

/// A file `f` of data between holes, and what it holds.
fn with_holes(scene: &Scene, data: &[(u64, usize)], size: u64) -> Vec<u8> {
    let file = fs::File::create(scene.path("f")).unwrap();
    let mut holds = vec![0; usize::try_from(size).unwrap()];
    for (at, len) in data {
        let bytes: Vec<u8> = (1..=250).cycle().take(*len).collect();
        file.write_all_at(&bytes, *at).unwrap();
        let start = usize::try_from(*at).unwrap();
        holds[start..start + len].copy_from_slice(&bytes);
    }
    file.set_len(size).unwrap();
    holds
}

#[test]
fn holes_stay_holes() {
    let size = 24 << 20;
    for data in [
        &[][..],
        &[(0, 5)],
        &[(size - 5, 5)],
        &[(1 << 20, 300_000), (9 << 20, 1)],
        &[(0, 100_000), (12 << 20, 70_000), (size - 8192, 8192)],
    ] {
        let block_wise = Fault::always(Call::CopyFileRange, Errno::XDEV);
        for faults in [&[][..], &[block_wise]] {
            let scene = Scene::empty();
            let holds = with_holes(&scene, data, size);
            let job = Job::new(&scene, Over::Refuse);
            during_all(faults, || job.copy()).unwrap();
            assert!(scene.bytes("g") == holds, "{data:?}");
            assert_eq!(job.progress.done(), size);
            let (of, copy) = (scene.stat("f"), scene.stat("g"));
            assert_eq!(copy.size(), size);
            assert!(copy.blocks() <= of.blocks() + 64, "{data:?}: {copy:?}");
            let Some(there) = elsewhere() else { continue };
            let target = Scene::at(there.path());
            let goal = Target {
                dir: target.dir(),
                name: "g".as_ref(),
            };
            during_all(faults, || relocate(job.target("f"), goal, None, job.how())).unwrap();
            assert!(target.bytes("g") == holds, "{data:?}");
            assert!(target.stat("g").blocks() <= of.blocks() + 64, "{data:?}");
        }
    }
}

#[test]
fn where_holes_are_not_told_all_is_copied() {
    for errno in [Errno::INVAL, Errno::OPNOTSUPP] {
        let scene = Scene::empty();
        let holds = with_holes(&scene, &[(1 << 20, 10)], 3 << 20);
        let fault = Fault::always(Call::Lseek, errno);
        fault
            .during(|| Job::new(&scene, Over::Refuse).copy())
            .unwrap();
        assert!(scene.bytes("g") == holds);
    }
}

#[test]
fn a_copy_of_many_steps_counts_its_bytes_and_stops_between_two() {
    let scene = Scene::empty();
    let bytes = vec![b'x'; 40 << 20];
    let size = bytes.len() as u64;
    scene.write("f", bytes);
    let job = Job::new(&scene, Over::Refuse);
    let cancel = job.cancel.clone();
    hook::at(Stage::Copying, move || cancel.cancel());
    assert_eq!(code(job.copy()), "cancelled");
    assert!(job.progress.done() > 0 && job.progress.done() < size);
    assert_eq!(job.progress.total(), Some(size));
    assert_eq!(scene.names(), ["f"]);
    let job = Job::new(&scene, Over::Refuse);
    job.copy().unwrap();
    assert_eq!(job.progress.done(), size);
}
