//! Temporary names: random, exclusive, and gone when they are dropped.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;

use cap_std::fs::{Dir, File};
use fs_core::Result;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::Target;
use super::old_file::Snapshot;
use crate::history::Pending;

/// What every temporary name begins with.
const PREFIX: &str = ".postern-";
/// What every temporary name ends with.
const SUFFIX: &str = ".tmp";
/// What the name of something ends with that may have to go back to where it was.
const TAKEN: &str = ".taken.tmp";

/// How many names are tried; with 64 random bits a second one is hardly ever needed.
const TRIES: usize = 8;

/// A temporary name; whatever has it is unlinked on drop.
#[derive(Debug)]
pub(super) struct Temp<'a> {
    dir: &'a Dir,
    name: String,
    in_use: bool,
    pending: &'a Pending,
}

impl<'a> Temp<'a> {
    /// Creates an empty file under a new name, open for reading and writing.
    pub(super) fn create(dir: &'a Dir, mode: Mode, pending: &'a Pending) -> Result<(Self, File)> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let create = |name: &str| rustix::fs::openat(dir, name, flags | OFlags::CLOEXEC, mode);
        let (temp, file) = Self::with_new_name(dir, SUFFIX, pending, create)?;
        pending.own(Snapshot::of(&file)?.id());
        Ok((temp, File::from(file)))
    }

    /// Gives what has `name`, a link as itself, a second, temporary name.
    pub(super) fn link(dir: &'a Dir, name: &OsStr, pending: &'a Pending) -> Result<Self, Errno> {
        Self::link_from(Target { dir, name }, dir, pending)
    }

    /// Gives what has the name `from` a second, temporary name in `dir`.
    pub(super) fn link_from(
        from: Target<'_>,
        dir: &'a Dir,
        pending: &'a Pending,
    ) -> Result<Self, Errno> {
        let flags = AtFlags::empty();
        let link = |temp: &str| rustix::fs::linkat(from.dir, from.name, dir, temp, flags);
        Ok(Self::with_new_name(dir, SUFFIX, pending, link)?.0)
    }

    /// Creates a link under a new name, with this text.
    pub(super) fn symlink(dir: &'a Dir, text: &CStr, pending: &'a Pending) -> Result<Self, Errno> {
        pending.link(OsStr::from_bytes(text.to_bytes()));
        let make = |temp: &str| rustix::fs::symlinkat(text, dir, temp);
        let (temp, ()) = Self::with_new_name(dir, SUFFIX, pending, make)?;
        if let Some(made) = Snapshot::at(dir, temp.name())? {
            pending.own(made.id());
        }
        Ok(temp)
    }

    /// Moves what has `name`, a link as itself, to a new, temporary name.
    pub(super) fn take(dir: &'a Dir, name: &OsStr, pending: &'a Pending) -> Result<Self, Errno> {
        pending.take(name);
        let take = |temp: &str| {
            let noreplace = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(dir, name, dir, temp, noreplace) {
                // Nobody has a name that is this random.
                Err(errno) if is_unsupported(errno) => rustix::fs::renameat(dir, name, dir, temp),
                answer => answer,
            }
        };
        Ok(Self::with_new_name(dir, TAKEN, pending, take)?.0)
    }

    /// Returns the name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Moves what has this name to `name` if nothing has that one; on failure returns the name.
    ///
    /// # Errors
    /// `EEXIST` when the name is taken, and what else the system says.
    pub(super) fn claim(mut self, name: &OsStr) -> Result<(), (Self, Errno)> {
        let ours = Target {
            dir: self.dir,
            name: OsStr::new(&self.name),
        };
        let theirs = Target {
            dir: self.dir,
            name,
        };
        match give(ours, theirs) {
            Ok(Given::Moved) => self.in_use = false,
            Ok(Given::Linked) => {}
            Err(errno) => return Err((self, errno)),
        }
        Ok(())
    }

    /// Moves what has this name to `name`, in place of what has that one.
    ///
    /// Where both are one file the system leaves both names, and so the drop unlinks this one.
    pub(super) fn rename_over(&self, name: &OsStr) -> Result<(), Errno> {
        rustix::fs::renameat(self.dir, &*self.name, self.dir, name)
    }

    /// Exchanges what has this name with what has `name`.
    pub(super) fn exchange(&self, name: &OsStr) -> Result<(), Errno> {
        let exchange = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(self.dir, &*self.name, self.dir, name, exchange)
    }

    /// Leaves what has this name where it is: it is somebody else's.
    pub(super) fn leave(mut self) {
        self.in_use = false;
    }

    fn with_new_name<T>(
        dir: &'a Dir,
        suffix: &str,
        pending: &'a Pending,
        make: impl Fn(&str) -> Result<T, Errno>,
    ) -> Result<(Self, T), Errno> {
        let mut last = Errno::EXIST;
        for _ in 0..TRIES {
            let (token, number) = pending.next_temp();
            let name = format!("{PREFIX}{token}-{number}{suffix}");
            match make(&name) {
                Ok(made) => {
                    let temp = Self {
                        dir,
                        name,
                        in_use: true,
                        pending,
                    };
                    return Ok((temp, made));
                }
                Err(Errno::INTR) => last = Errno::INTR,
                Err(Errno::EXIST) => last = Errno::EXIST,
                Err(errno) => return Err(errno),
            }
        }
        Err(last)
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if self.in_use {
            let unlink = || rustix::fs::unlinkat(self.dir, &*self.name, AtFlags::empty());
            match rustix::io::retry_on_intr(unlink) {
                Ok(()) | Err(Errno::NOENT) => {}
                // The next start removes it.
                Err(_) => self.pending.leave(),
            }
        }
    }
}

/// How a name was given away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// The old name is gone.
    Moved,
    /// The old name is still there.
    Linked,
}

/// Gives what has the name `from`, a link as itself, the name `to`, if nothing has that one.
///
/// # Errors
/// `EEXIST` when the name is taken, `EXDEV`, and what else the system says.
pub(super) fn give(from: Target<'_>, to: Target<'_>) -> Result<Given, Errno> {
    let noreplace = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(from.dir, from.name, to.dir, to.name, noreplace) {
        Ok(()) => Ok(Given::Moved),
        Err(errno) if is_unsupported(errno) => {
            // A second name, never a check and then a rename: that could replace something.
            let flags = AtFlags::empty();
            rustix::fs::linkat(from.dir, from.name, to.dir, to.name, flags)?;
            Ok(Given::Linked)
        }
        Err(errno) => Err(errno),
    }
}

/// Returns whether the file system or the kernel does not know the flags of a rename.
pub(super) fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Returns whether a name is one of the change with this token.
pub(crate) fn is_of(name: &OsStr, token: &str) -> bool {
    let its = |name: &str| {
        let rest = name.strip_prefix(PREFIX)?.strip_prefix(token)?;
        Some(rest.starts_with('-') && rest.ends_with(SUFFIX))
    };
    name.to_str().and_then(its) == Some(true)
}

/// Returns whether a name is that of something which may have to go back to where it was.
pub(crate) fn is_taken(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(TAKEN))
}
