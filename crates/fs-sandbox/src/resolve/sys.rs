//! The system calls of the resolver, all relative to a handle.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use cap_std::fs::Dir;
use fs_core::{Error, Problem};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, StatxFlags};
use rustix::io::Errno;

/// A handle for further look-ups only.
pub(crate) const LOOKUP: OFlags = OFlags::PATH;
/// A directory handle for further look-ups only.
pub(crate) const LOOKUP_DIR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
/// A directory to list.
pub(crate) const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// A file to read; never waits for a writer, never takes a terminal.
pub(crate) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens a link-free path beneath `dir` in one call.
pub(crate) fn open_beneath(
    dir: impl AsFd,
    path: &Path,
    flags: OFlags,
    extra: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(
        dir,
        path,
        flags | OFlags::CLOEXEC,
        Mode::empty(),
        resolve | extra,
    )
}

/// Returns whether the kernel opens beneath a directory in one call at all.
pub(crate) fn has_openat2(dir: impl AsFd) -> bool {
    let opened = open_beneath(dir, Path::new("."), LOOKUP_DIR, ResolveFlags::empty());
    !matches!(opened, Err(Errno::NOSYS | Errno::PERM))
}

/// Opens the entry `name` of `dir`; a link is not followed.
pub(crate) fn open_entry(dir: impl AsFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

/// Opens `/dev/null` for look-ups, from the top of the disk.
pub(crate) fn open_null(disk: impl AsFd) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(disk, c"dev/null", LOOKUP | OFlags::CLOEXEC, Mode::empty())
}

/// Returns what `name` in `dir` is; a link is not followed.
pub(crate) fn stat_entry(dir: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the text of the link that `link` is a handle of.
pub(crate) fn link_text(link: impl AsFd) -> Result<OsString, Errno> {
    link_text_at(link, OsStr::new(""))
}

/// Returns the text of the link `name` in `dir`.
pub(crate) fn link_text_at(dir: impl AsFd, name: &OsStr) -> Result<OsString, Errno> {
    let text = rustix::fs::readlinkat(dir, name, Vec::new())?;
    Ok(OsString::from_vec(text.into_bytes()))
}

/// Returns the id of the mount that a handle lies on, where the kernel tells it.
pub(crate) fn mount_of(handle: impl AsFd) -> Option<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
    let found = rustix::fs::statx(handle, c"", flags, StatxFlags::MNT_ID).ok()?;
    let told = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    told.then_some(found.stx_mnt_id)
}

/// Returns whether a handle lies on a file system that the kernel makes up.
pub(crate) fn is_kernel_made(handle: impl AsFd) -> bool {
    rustix::fs::fstatfs(handle).is_ok_and(|found| {
        let magic = u32::try_from(found.f_type & 0xffff_ffff).unwrap_or_default();
        KERNEL_MADE.contains(&magic)
    })
}

/// Returns the type of what a stat was made of.
pub(crate) fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Returns a directory handle of the workspace's type.
pub(crate) fn into_dir(handle: OwnedFd) -> Dir {
    Dir::from(handle)
}

/// Returns what a refused system call means to the caller.
pub(crate) fn refusal(errno: Errno) -> Error {
    match errno {
        Errno::XDEV => Problem::OutsideSandbox.into(),
        Errno::NXIO | Errno::NODEV => Problem::NotAFile.into(),
        Errno::LOOP => Error::from(Errno::AGAIN),
        other => other.into(),
    }
}

/// Returns the refusal of a path that leads through more than 40 links.
pub(crate) fn too_many_links() -> Error {
    Problem::InvalidPath {
        reason: "too many links",
    }
    .into()
}

/// proc, sysfs, devpts, debugfs, tracefs, securityfs, cgroup, cgroup2, bpf, pstore, configfs,
/// efivarfs, selinuxfs, nsfs, fusectl, `binfmt_misc`. A devtmpfs calls itself tmpfs: it is known by
/// its name.
const KERNEL_MADE: [u32; 16] = [
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x0027_e0eb,
    0x6367_7270,
    0xcafe_4a11,
    0x6165_676c,
    0x6265_6570,
    0xde5e_81e4,
    0xf97c_ff8c,
    0x6e73_6673,
    0x6573_5543,
    0x4249_4e4d,
];
