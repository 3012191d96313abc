//! The file that was read, and what a name was at one moment.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use cap_std::fs::{Dir, File};
use fs_core::{Cancel, FileBytes, Problem, Result, Version};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::{Target, alone, conflict};
use crate::write::HardLinks;

/// The regular file that has a name, open for reading, with what it was when it was opened.
#[derive(Debug)]
pub(crate) struct OldFile {
    file: File,
    snapshot: Snapshot,
    /// What it is since it has got another name from us.
    linked: OnceLock<Snapshot>,
}

/// What a file was at one moment: identity, size, times, owner and mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Snapshot(Stat);

impl OldFile {
    /// Opens the regular file that has the name; `None` when nothing has it.
    ///
    /// # Errors
    /// `is_a_directory`, `not_a_file`, `permission_denied`; `conflict` for a link, since the
    /// resolver found none: the caller resolves again.
    pub(crate) fn open(target: Target<'_>) -> Result<Option<Self>> {
        let Some(found) = Snapshot::at(target.dir, target.name)? else {
            return Ok(None);
        };
        // Looked at first: opening a device or a FIFO would act on it.
        found.check_is_file()?;
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(target.dir, target.name, flags, Mode::empty());
        let file = File::from(opened.map_err(gone_is_conflict)?);
        Self::opened(file).map(Some)
    }

    /// Returns the regular file that is open as `file`.
    ///
    /// # Errors
    /// `is_a_directory`, `not_a_file`, `io`.
    pub(crate) fn opened(file: File) -> Result<Self> {
        let snapshot = Snapshot::of(&file)?;
        snapshot.check_is_file()?;
        Ok(Self {
            file,
            snapshot,
            linked: OnceLock::new(),
        })
    }

    /// Returns the file as it is once no other workspace rewrites it in place, which can only happen
    /// to one with several names; none begins to as long as the file is open.
    ///
    /// # Errors
    /// `cancelled`, `io`.
    pub(crate) fn settled(self, cancel: &Cancel) -> Result<Self> {
        if self.links() == 1 {
            return Ok(self);
        }
        alone::hold(&self.file, cancel)?;
        Self::opened(self.file)
    }

    /// Returns the handle.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the handle alone.
    pub(crate) fn into_file(self) -> File {
        self.file
    }

    /// Returns the size in bytes when the file was opened.
    pub(crate) fn size(&self) -> u64 {
        number(self.snapshot().0.st_size)
    }

    /// Returns how many names the file had when it was opened.
    pub(crate) fn links(&self) -> u64 {
        number(self.snapshot.0.st_nlink)
    }

    /// Returns device and inode.
    pub(crate) fn id(&self) -> (u64, u64) {
        self.snapshot().id()
    }

    /// Returns the version of what the file held when it was opened.
    ///
    /// # Errors
    /// `conflict` when the file has become shorter, `io`.
    pub(crate) fn version(&self) -> Result<Version> {
        let size = self.size();
        if size > Version::STRONG_BYTES {
            return Version::of_handle(&self.file);
        }
        let bytes = FileBytes::read(&self.file, 0, size)?;
        if bytes.len() as u64 == size {
            return Ok(Version::of_bytes(&bytes));
        }
        conflict()
    }

    /// Returns what the file was when it was opened.
    pub(super) fn snapshot(&self) -> Snapshot {
        *self.linked.get().unwrap_or(&self.snapshot)
    }

    /// Takes note that the file has got another name from us, which moves the time of the last change
    /// of status.
    ///
    /// # Errors
    /// `conflict` when its content, owner or mode is another by now.
    pub(crate) fn note_links(&self) -> Result<()> {
        let now = self.unchanged_snapshot()?;
        self.linked.get_or_init(|| now);
        Ok(())
    }

    /// Returns what the file is now, with the content that it had when it was opened.
    ///
    /// # Errors
    /// `conflict` when its content, owner or mode is another.
    pub(super) fn unchanged_snapshot(&self) -> Result<Snapshot> {
        let now = Snapshot::of(&self.file)?;
        if self.snapshot().has_content_of(&now) {
            Ok(now)
        } else {
            conflict()
        }
    }

    /// Checks that the file has the content, owner and mode that it had when it was opened.
    ///
    /// # Errors
    /// `conflict`, `io`.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        self.unchanged_snapshot().map(drop)
    }

    /// Checks that the file holds what was copied of it: it is as it was, or it has only grown.
    ///
    /// # Errors
    /// `conflict`.
    pub(super) fn check_kept(&self) -> Result<()> {
        let now = Snapshot::of(&self.file)?;
        let has_grown = now.0.st_size > self.snapshot().0.st_size;
        if has_grown || self.snapshot().has_content_of(&now) {
            return Ok(());
        }
        conflict()
    }

    /// Checks the policy about other names.
    ///
    /// # Errors
    /// `hard_link`.
    pub(crate) fn check_links(&self, policy: HardLinks) -> Result<()> {
        let links = self.links();
        if links > 1 && policy == HardLinks::Refuse {
            return Err(Problem::HardLink { links }.into());
        }
        Ok(())
    }

    /// Returns whether the name in `dir` is this file with the content that it had when it was opened.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn is_at(&self, dir: &Dir, name: &OsStr) -> Result<bool> {
        match Snapshot::at(dir, name)? {
            Some(found) => Ok(self.is(&found)?),
            None => Ok(false),
        }
    }

    /// Returns whether `found` is this file with the content that it had when it was opened.
    ///
    /// The identity is asked of the handle again: an overlay gives a file another one when it
    /// first moves it.
    pub(super) fn is(&self, found: &Snapshot) -> Result<bool, Errno> {
        let now = Snapshot::of(&self.file)?;
        Ok(now.is_same_file(found) && self.snapshot().has_content_of(found))
    }
}

impl Snapshot {
    /// Returns what an open file is.
    pub(super) fn of(file: impl AsFd) -> Result<Self, Errno> {
        rustix::fs::fstat(file).map(Self)
    }

    /// Returns what has the name, a link as itself; `None` for nothing.
    pub(super) fn at(dir: &Dir, name: impl AsRef<OsStr>) -> Result<Option<Self>, Errno> {
        match rustix::fs::statat(dir, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Self(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Returns device and inode.
    pub(super) fn id(&self) -> (u64, u64) {
        (number(self.0.st_dev), number(self.0.st_ino))
    }

    /// Returns the kind of file.
    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.0.st_mode)
    }

    /// Returns the permission bits, without setuid, setgid and sticky.
    pub(super) fn mode(&self) -> Mode {
        Mode::from_raw_mode(self.0.st_mode & 0o777)
    }

    /// Returns owner and group.
    pub(super) fn owner(&self) -> (u32, u32) {
        (self.0.st_uid, self.0.st_gid)
    }

    /// Returns the times of last access and change of content.
    pub(super) fn times(&self) -> Timestamps {
        let time = |seconds, nanos| Timespec {
            tv_sec: seconds,
            tv_nsec: nanos,
        };
        Timestamps {
            last_access: time(signed(self.0.st_atime), signed(self.0.st_atime_nsec)),
            last_modification: time(signed(self.0.st_mtime), signed(self.0.st_mtime_nsec)),
        }
    }

    /// Returns whether both are the same inode.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.0.st_dev, self.0.st_ino) == (other.0.st_dev, other.0.st_ino)
    }

    /// Returns whether content, owner and mode are the same, as far as a file tells; the time of
    /// the last change of status is left out, since links and renames move it.
    fn has_content_of(&self, other: &Self) -> bool {
        let (one, two) = (&self.0, &other.0);
        (one.st_size, one.st_mtime, one.st_mtime_nsec)
            == (two.st_size, two.st_mtime, two.st_mtime_nsec)
            && (one.st_mode, one.st_uid, one.st_gid) == (two.st_mode, two.st_uid, two.st_gid)
    }

    /// Returns whether `found` is the same inode with the same content; renames do not count.
    pub(super) fn is_untouched(&self, found: &Self) -> bool {
        self.is_same_file(found) && self.has_content_of(found)
    }

    /// Checks that the name is this file, untouched.
    ///
    /// # Errors
    /// `conflict`.
    pub(super) fn check_at(&self, target: Target<'_>) -> Result<()> {
        let Some(found) = Self::at(target.dir, target.name)? else {
            return conflict();
        };
        let untouched =
            (self.0.st_ctime, self.0.st_ctime_nsec) == (found.0.st_ctime, found.0.st_ctime_nsec);
        if untouched && self.is_untouched(&found) {
            return Ok(());
        }
        conflict()
    }

    fn check_is_file(&self) -> Result<()> {
        match self.kind() {
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(Problem::IsADirectory.into()),
            FileType::Symlink => conflict(),
            _ => Err(Problem::NotAFile.into()),
        }
    }
}

/// What the name was is gone, or a link by now: somebody else was faster.
pub(super) fn gone_is_conflict(errno: Errno) -> fs_core::Error {
    match errno {
        Errno::NOENT | Errno::LOOP => Problem::Conflict.into(),
        errno => errno.into(),
    }
}

/// The fields of a stat have other types on other machines; sizes and counts are never negative.
fn number(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or(0)
}

fn signed(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(0)
}
