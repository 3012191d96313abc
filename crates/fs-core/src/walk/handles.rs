//! Directory handles: opened name by name, never through a link.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use cap_std::fs::File;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::file_bytes::read_full;
use crate::path::RelPath;

/// A directory to list.
const LIST: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);
/// A file to read; never waits for a writer, never takes a terminal.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
/// How often an open is tried again when the process has no handle left, and how long it waits.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// An open directory and where it lies.
#[derive(Debug)]
pub(crate) struct OpenDir {
    pub(crate) handle: OwnedFd,
    pub(crate) path: RelPath,
    /// The device it lies on.
    pub(crate) device: u64,
}

/// Opens the directory that `dir` is, for listing.
pub(crate) fn open_self(dir: impl AsFd) -> Result<OwnedFd, Errno> {
    patiently(|| rustix::fs::openat(&dir, ".", LIST, Mode::empty()))
}

/// Opens the directory `name` in `dir`.
pub(crate) fn open_dir(dir: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    patiently(|| rustix::fs::openat(&dir, name, LIST, Mode::empty()))
}

/// Opens the file `name` in `dir`.
pub(crate) fn open_file(dir: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    patiently(|| rustix::fs::openat(&dir, name, READ, Mode::empty()))
}

/// Opens the directory at `path` below `root`, name by name.
pub(crate) fn open_below(root: impl AsFd, path: &RelPath) -> Result<OwnedFd, Errno> {
    let top = open_self(root)?;
    path.names().try_fold(top, open_dir)
}

/// Returns whether `dir` has an entry `name`.
pub(crate) fn exists(dir: impl AsFd, name: &OsStr) -> bool {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Returns the content of the regular file that `names` lead to from `dir`, if there is one of at
/// most `max_bytes` on the same device.
pub(crate) fn read_small(dir: &OpenDir, names: &[&str], max_bytes: u64) -> Option<Vec<u8>> {
    let (last, dirs) = names.split_last()?;
    let last = OsStr::new(last);
    let handle = match dirs.split_first() {
        None => open_file(&dir.handle, last).ok()?,
        Some((first, rest)) => {
            let first = open_dir(&dir.handle, OsStr::new(first)).ok()?;
            let mut names = rest.iter().map(OsStr::new);
            open_file(names.try_fold(first, open_dir).ok()?, last).ok()?
        }
    };
    let stat = rustix::fs::fstat(&handle).ok()?;
    let size = u64::try_from(stat.st_size).ok()?;
    let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !is_regular || size > max_bytes || stat.st_dev != dir.device {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    let read = read_full(&File::from_std(handle.into()), 0, &mut bytes).ok()?;
    bytes.truncate(read);
    Some(bytes)
}

/// Opens again for a while when the process has no handle left: others give theirs back.
fn patiently(open: impl Fn() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let mut tries = 0;
    loop {
        match open() {
            Err(Errno::MFILE | Errno::NFILE) if tries < TRIES => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            Err(Errno::INTR) => {}
            opened => return opened,
        }
    }
}
