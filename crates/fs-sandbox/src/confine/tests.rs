//! Each test confines a thread of its own: the wall stands for that thread only.

use std::fs;
use std::path::Path;
use std::thread;

use super::*;

#[track_caller]
fn confined(rights: Rights, test: impl FnOnce(&Path) + Send) {
    let base = tempfile::tempdir().unwrap();
    for dir in ["root", "out", "state"] {
        fs::create_dir(base.path().join(dir)).unwrap();
        fs::write(base.path().join(dir).join("f"), dir).unwrap();
    }
    let workspace = Workspace::builder()
        .root("ws", &base.path().join("root"), rights)
        .build()
        .unwrap();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let state = base.path().join("state");
            let confinement = confine(&workspace, &[&state]).unwrap();
            assert_eq!(confinement, Confinement::Full);
            test(base.path());
        });
        thread.join().unwrap();
    });
}

#[track_caller]
fn check<T>(result: std::io::Result<T>, expected: Result<(), std::io::ErrorKind>) {
    assert_eq!(result.map(|_| ()).map_err(|error| error.kind()), expected);
}

const DENIED: Result<(), std::io::ErrorKind> = Err(std::io::ErrorKind::PermissionDenied);

#[test]
fn the_kernel_refuses_what_lies_outside() {
    confined(Rights::ALL, |base| {
        check(fs::read(base.join("out/f")), DENIED);
        check(fs::write(base.join("out/new"), "x"), DENIED);
        check(
            fs::rename(base.join("root/f"), base.join("out/moved")),
            DENIED,
        );
        check(fs::read(base.join("root/f")), Ok(()));
        check(fs::write(base.join("root/new"), "x"), Ok(()));
        check(
            fs::rename(base.join("root/new"), base.join("state/n")),
            Ok(()),
        );
        check(fs::write("/dev/null", "x"), Ok(()));
    });
}

#[test]
fn a_root_that_is_only_read_is_not_written() {
    confined(Rights::READ, |base| {
        check(fs::read(base.join("root/f")), Ok(()));
        check(fs::write(base.join("root/f"), "x"), DENIED);
        check(fs::remove_file(base.join("root/f")), DENIED);
        check(fs::write(base.join("state/f"), "x"), Ok(()));
    });
}

#[test]
fn no_program_is_started() {
    confined(Rights::ALL, |_| {
        check(std::process::Command::new("/bin/true").output(), DENIED);
    });
}

#[test]
fn the_workspace_works_behind_the_wall() {
    let base = tempfile::tempdir().unwrap();
    fs::write(base.path().join("f"), "x").unwrap();
    std::os::unix::fs::symlink("f", base.path().join("l")).unwrap();
    let workspace = Workspace::builder()
        .root("ws", base.path(), Rights::ALL)
        .build()
        .unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            confine(&workspace, &[]).unwrap();
            assert_eq!(workspace.open("l").unwrap().path.to_string(), "f");
            workspace.create_dir_all("a/b").unwrap();
            workspace.remove_file("l").unwrap();
        });
    });
}

#[test]
fn a_missing_extra_directory_is_told() {
    let base = tempfile::tempdir().unwrap();
    let workspace = Workspace::builder()
        .root("ws", base.path(), Rights::ALL)
        .build()
        .unwrap();
    let refused = confine(&workspace, &[&base.path().join("none")]).unwrap_err();
    assert_eq!(refused.code(), "not_found");
}
