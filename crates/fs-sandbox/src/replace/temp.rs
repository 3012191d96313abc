//! Temporary names: random, exclusive, and gone when they are dropped.

use std::ffi::{CStr, OsStr};
use std::fmt::Write as _;

use cap_std::fs::{Dir, File};
use fs_core::Result;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use super::Target;

/// What every temporary name begins with.
pub(super) const PREFIX: &str = ".postern-";

/// How many names are tried; with 64 random bits a second one is hardly ever needed.
const TRIES: usize = 8;

/// A temporary name; whatever has it is unlinked on drop.
#[derive(Debug)]
pub(super) struct Temp<'a> {
    dir: &'a Dir,
    name: String,
    in_use: bool,
}

impl<'a> Temp<'a> {
    /// Creates an empty file under a new name, open for reading and writing.
    pub(super) fn create(dir: &'a Dir, mode: Mode) -> Result<(Self, File)> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let create = |name: &str| rustix::fs::openat(dir, name, flags | OFlags::CLOEXEC, mode);
        let (temp, file) = Self::with_new_name(dir, create)?;
        Ok((temp, File::from(file)))
    }

    /// Gives what has `name`, a link as itself, a second, temporary name.
    pub(super) fn link(dir: &'a Dir, name: &OsStr) -> Result<Self, Errno> {
        let link = |temp: &str| rustix::fs::linkat(dir, name, dir, temp, AtFlags::empty());
        Ok(Self::with_new_name(dir, link)?.0)
    }

    /// Creates a link under a new name, with this text.
    pub(super) fn symlink(dir: &'a Dir, text: &CStr) -> Result<Self, Errno> {
        let make = |temp: &str| rustix::fs::symlinkat(text, dir, temp);
        Ok(Self::with_new_name(dir, make)?.0)
    }

    /// Moves what has `name`, a link as itself, to a new, temporary name.
    pub(super) fn take(dir: &'a Dir, name: &OsStr) -> Result<Self, Errno> {
        let take = |temp: &str| {
            let noreplace = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(dir, name, dir, temp, noreplace) {
                // Nobody has a name that is this random.
                Err(errno) if is_unsupported(errno) => rustix::fs::renameat(dir, name, dir, temp),
                answer => answer,
            }
        };
        Ok(Self::with_new_name(dir, take)?.0)
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
        make: impl Fn(&str) -> Result<T, Errno>,
    ) -> Result<(Self, T), Errno> {
        let mut last = Errno::EXIST;
        for _ in 0..TRIES {
            let name = new_name()?;
            match make(&name) {
                Ok(made) => {
                    let in_use = true;
                    return Ok((Self { dir, name, in_use }, made));
                }
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
            // Nothing is left to do when this fails: the name is random and says whose it is.
            _ = rustix::fs::unlinkat(self.dir, &*self.name, AtFlags::empty());
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

fn new_name() -> Result<String, Errno> {
    let mut random = [0; 8];
    getrandom(&mut random, GetRandomFlags::empty())?;
    let mut name = PREFIX.to_owned();
    for byte in random {
        // Writing to a string cannot fail.
        _ = write!(name, "{byte:02x}");
    }
    name.push_str(".tmp");
    Ok(name)
}
