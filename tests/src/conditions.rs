//! What a thread, and the processes that it starts, can be put under.

use std::collections::BTreeMap;
use std::io::Write as _;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::MountPropagationFlags;
use rustix::process::{Gid, Uid};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

/// The conditions of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conditions {
    /// Whether `openat2` is there.
    pub openat2: Openat2,
    /// Whether it runs as a user who is not root: as `nobody` where it is.
    pub nobody: bool,
    /// Whether it has a table of mounts of its own, which goes with it; takes root.
    pub own_mounts: bool,
}

/// Whether the system call is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Openat2 {
    /// It is.
    #[default]
    Open,
    /// It answers `ENOSYS`, as old kernels do.
    Blocked,
}

impl Conditions {
    /// Returns whether this process can make them; who is not root has no mounts of its own.
    pub fn are_possible(self) -> bool {
        is_root() || !self.own_mounts
    }

    /// Does the work in a thread of its own under these conditions; processes that it starts are
    /// under them too.
    pub fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        // Built before the thread has lost the rights for it.
        crate::binary::tool_server();
        crate::binary::acp_fs();
        crate::binary::puppet();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.enter();
                work()
            });
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn enter(self) {
        if self.own_mounts {
            own_mounts();
        }
        if self.nobody && is_root() {
            become_nobody();
        }
        if self.openat2 == Openat2::Blocked {
            block_openat2();
        }
    }
}

/// Returns whether this process may change users and mount.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says that something cannot be tested here for want of `what`, also to the list of skipped tests
/// that `cargo xtask test` counts.
pub fn skip(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("POSTERN_SKIPS") {
        let mut list = std::fs::OpenOptions::new()
            .append(true)
            .open(list)
            .expect("the list");
        let test = std::thread::current();
        writeln!(list, "{}: {what}", test.name().unwrap_or("a test")).expect("a line");
    }
}

/// Makes a bare `openat2` of `/`.
///
/// # Errors
/// What the kernel says, or a filter before it.
pub fn openat2_says() -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, "/", flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).map(drop)
}

#[expect(
    deprecated,
    reason = "the sound call is unsafe; a table of mounts shares no descriptors"
)]
fn own_mounts() {
    rustix::thread::unshare(rustix::thread::UnshareFlags::NEWNS).expect("own mounts");
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).expect("private mounts");
}

fn become_nobody() {
    rustix::thread::set_thread_groups(&[]).expect("no groups");
    rustix::thread::set_thread_gid(Gid::from_raw(NOBODY)).expect("group nobody");
    rustix::thread::set_thread_uid(Uid::from_raw(NOBODY)).expect("user nobody");
}

fn block_openat2() {
    assert_eq!(openat2_says(), Ok(()), "openat2 is there before the filter");
    let rules = BTreeMap::from([(437, Vec::new())]);
    let arch = TargetArch::try_from(std::env::consts::ARCH).expect("a known machine");
    let enosys = SeccompAction::Errno(Errno::NOSYS.raw_os_error().unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, enosys, arch).expect("a filter");
    let program: BpfProgram = filter.try_into().expect("a program");
    seccompiler::apply_filter(&program).expect("the filter is on");
    assert_eq!(openat2_says(), Err(Errno::NOSYS), "the filter is proved on");
}
