//! Fresh trees, and threads in which the kernel lacks a call.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use fs_sandbox::{Rights, Workspace, WorkspaceBuilder};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::MountPropagationFlags;
use rustix::process::{Gid, Uid};
use rustix::thread::UnshareFlags;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use tempfile::TempDir;

/// The number of openat2 on every architecture of Linux.
const OPENAT2: i64 = 437;

/// A directory with a root and an outside in it.
#[derive(Debug)]
pub(crate) struct Tree(TempDir);

impl Tree {
    /// Returns a tree of `root`, `out` and what `items` say: `path` with `=text` is a file, with
    /// `->target` a link, with `/` at the end a directory. `${BASE}` is the tree's own path.
    #[track_caller]
    pub(crate) fn new(items: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        fs::create_dir(tree.path("root")).unwrap();
        fs::create_dir(tree.path("out")).unwrap();
        for item in items {
            tree.add(item);
        }
        tree
    }

    pub(crate) fn base(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base().join(name)
    }

    /// Returns the text with this tree's path for `${BASE}`.
    pub(crate) fn text(&self, text: &str) -> String {
        text.replace("${BASE}", self.base().to_str().unwrap())
    }

    #[track_caller]
    fn add(&self, item: &str) {
        let made = if let Some((path, target)) = item.split_once("->") {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            symlink(self.text(target), self.path(path))
        } else if let Some((path, text)) = item.split_once('=') {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text)
        } else {
            fs::create_dir_all(self.path(item))
        };
        made.unwrap();
    }

    /// Returns a builder whose first root is the tree's, with all rights.
    pub(crate) fn builder(&self) -> WorkspaceBuilder {
        Workspace::builder().root("ws", &self.path("root"), Rights::ALL)
    }

    /// Returns the workspace of the tree's root, with all rights.
    pub(crate) fn workspace(&self) -> Workspace {
        self.builder().build().unwrap()
    }
}

/// Runs `test` as it is, and again in a thread without openat2.
pub(crate) fn both_ways(test: impl Fn() + Send + Sync) {
    test();
    without_openat2(Errno::NOSYS, &test);
}

/// Runs `test` in a thread for which openat2 fails with `errno`.
pub(crate) fn without_openat2<T: Send>(errno: Errno, test: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            block_openat2(errno);
            test()
        });
        thread.join().unwrap()
    })
}

fn block_openat2(errno: Errno) {
    let filter = SeccompFilter::new(
        [(OPENAT2, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno.raw_os_error().unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH).unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
    let tried = rustix::fs::openat2(
        rustix::fs::CWD,
        ".",
        OFlags::PATH,
        Mode::empty(),
        ResolveFlags::BENEATH,
    );
    assert_eq!(tried.unwrap_err(), errno, "openat2 is still there");
}

/// Returns whether this process may change users and mount.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs `test` in a thread that is the user `nobody`.
pub(crate) fn as_nobody<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    const NOBODY: u32 = 65534;
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_gid(Gid::from_raw(NOBODY)).unwrap();
            rustix::thread::set_thread_uid(Uid::from_raw(NOBODY)).unwrap();
            test()
        });
        thread.join().unwrap()
    })
}

/// Runs `test` in a thread with a table of mounts of its own, which goes with it.
#[expect(
    deprecated,
    reason = "the sound call is unsafe; a table of mounts shares no descriptors"
)]
pub(crate) fn with_own_mounts<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            rustix::thread::unshare(UnshareFlags::NEWNS).unwrap();
            let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
            rustix::mount::mount_change("/", private).unwrap();
            test()
        });
        thread.join().unwrap()
    })
}
