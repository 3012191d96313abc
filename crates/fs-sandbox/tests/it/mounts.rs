//! Mounts inside a root, and another user. Both take root to set up.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use fs_core::Result;
use fs_sandbox::{Rights, TransferOptions, Workspace};
use rustix::io::Errno;
use rustix::mount::MountFlags;

use crate::support::{Tree, as_nobody, is_root, with_own_mounts, without_openat2};

#[track_caller]
fn check<T>(result: Result<T>, expected: Result<(), &str>) {
    assert_eq!(result.map(|_| ()).map_err(|error| error.code()), expected);
}

/// Runs a test that takes root, with and without openat2.
fn as_root(name: &str, test: impl Fn() + Send + Sync) {
    if !is_root() {
        return eprintln!("skipped, as it takes root: {name}");
    }
    test();
    without_openat2(Errno::NOSYS, &test);
}

/// A root with `f`, and with the outside bound to `m`, a file to `mf`, and proc to `p`.
fn mounted() -> Tree {
    let tree = Tree::new(&["root/f=IN", "root/m/", "root/mf=1", "root/p/", "out/s=OUT"]);
    rustix::mount::mount_bind(tree.path("out"), tree.path("root/m")).unwrap();
    rustix::mount::mount_bind(tree.path("out/s"), tree.path("root/mf")).unwrap();
    rustix::mount::mount(
        "proc",
        tree.path("root/p"),
        "proc",
        MountFlags::empty(),
        None,
    )
    .unwrap();
    tree
}

#[test]
fn one_filesystem_stops_at_mounts() {
    as_root("one_filesystem", || {
        with_own_mounts(|| {
            let tree = mounted();
            let workspace = tree.builder().one_filesystem(true).build().unwrap();
            check(workspace.open("f"), Ok(()));
            for path in ["m/s", "mf", "m/../m/s"] {
                check(workspace.open(path), Err("outside_sandbox"));
            }
            check(workspace.open_dir("m"), Err("outside_sandbox"));
            check(workspace.create_dir("m/d"), Err("outside_sandbox"));
            check(workspace.create_dir_all("m/d/e"), Err("outside_sandbox"));
            check(workspace.remove_file("m/s"), Err("outside_sandbox"));
            check(tree.workspace().open("m/s"), Ok(()));
        });
    });
}

#[test]
fn a_mount_point_is_the_end_that_cannot_be_moved_or_replaced() {
    as_root("mount points", || {
        with_own_mounts(|| {
            let tree = mounted();
            let workspace = tree.workspace();
            let over = TransferOptions {
                overwrite: true,
                ..TransferOptions::default()
            };
            for (from, to) in [("mf", "new"), ("mf", "f"), ("f", "mf"), ("mf", "m/new")] {
                let error = workspace.rename(from, to, &over).unwrap_err();
                let said = (error.code(), error.path());
                assert_eq!(said, ("not_replaceable", Some("mf")), "{from} {to}");
            }
            assert_eq!(fs::read(tree.path("root/mf")).unwrap(), b"OUT");
            assert_eq!(fs::read(tree.path("root/f")).unwrap(), b"IN");
            assert!(!tree.path("root/new").exists() && !tree.path("out/new").exists());
            check(workspace.copy("mf", "new", &over), Ok(()));
        });
    });
}

#[test]
fn the_kernels_file_systems_are_nobodys_wherever_they_are_mounted() {
    as_root("proc in a root", || {
        with_own_mounts(|| {
            let tree = mounted();
            let workspace = tree.workspace();
            for path in [
                "p/version",
                "p/self/environ",
                "p/self/root/etc/passwd",
                "p/none",
                "p/1",
            ] {
                check(workspace.open(path), Err("denied_by_policy"));
                check(workspace.stat(path), Err("denied_by_policy"));
            }
            check(workspace.stat("p"), Err("denied_by_policy"));
            check(workspace.stat("m"), Ok(()));
            check(workspace.remove_file("p"), Err("denied_by_policy"));
            check(workspace.open_dir("p"), Err("denied_by_policy"));
            check(workspace.open_dir("p/self/cwd"), Err("denied_by_policy"));
        });
    });
}

#[test]
fn what_the_system_refuses_is_permission_denied() {
    as_root("another user", || {
        let tree = Tree::new(&["root/f=1", "root/d/f=1", "root/x/f=1", "root/l->d/f"]);
        for (path, mode) in [("", 0o755), ("root/f", 0), ("root/d", 0), ("root/x", 0o711)] {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(tree.path(path), mode).unwrap();
        }
        let workspace = tree.workspace();
        as_nobody(|| {
            for path in ["f", "d/f", "d/none", "l", "d/../f"] {
                check(workspace.open(path), Err("permission_denied"));
            }
            check(workspace.open("x/f"), Ok(()));
            check(workspace.open_dir("x"), Err("permission_denied"));
            check(workspace.stat("f"), Ok(()));
            check(workspace.create_dir("x/d"), Err("permission_denied"));
            check(workspace.create_dir_all("x/d/e"), Err("permission_denied"));
            check(workspace.remove_file("x/f"), Err("permission_denied"));
            let hidden = Workspace::builder().root("d", &tree.path("root/d/sub"), Rights::READ);
            check(hidden.build(), Err("permission_denied"));
        });
    });
}
