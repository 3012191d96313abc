//! Bytes of the history on their way back into the tree.

use std::ffi::OsStr;

use cap_std::fs::{Dir, File};
use fs_core::{Result, Version};
use rustix::fs::{AtFlags, Mode};

use super::old_file::OldFile;
use super::temp::Temp;
use super::{ReplaceOptions, Target, attributes, pieces};

/// A file that the history has kept.
#[derive(Debug)]
pub(crate) struct Restored<'a> {
    /// The directory in which it is kept, and its name there.
    pub(crate) kept: Target<'a>,
    /// The file.
    pub(crate) object: OldFile,
    /// The permission bits that it had.
    pub(crate) mode: Mode,
}

impl Restored<'_> {
    /// Writes the file under a temporary name of `dir`, with what belongs to it.
    ///
    /// A copy, whose time is now, so that whoever builds from the file builds again. What is too
    /// large to be copied lightly comes back itself, with its time, where no file system is in
    /// between; the store's own name of it goes by [`Restored::forget`].
    ///
    /// # Errors
    /// `not_replaceable` when owner, mode or attributes cannot be given; `cancelled`, `io`.
    pub(super) fn write<'d>(
        &self,
        dir: &'d Dir,
        options: ReplaceOptions<'d>,
    ) -> Result<(Temp<'d>, File)> {
        if self.is_alone()
            && let Ok(temp) = Temp::link_from(self.kept, dir, options.pending)
        {
            rustix::fs::fchmod(self.object.file(), self.mode)?;
            return Ok((temp, self.object.file().try_clone()?));
        }
        let own = Mode::RUSR | Mode::WUSR;
        let (temp, file) = Temp::create(dir, own, options.pending)?;
        let size = self.object.size();
        pieces::copy_sparse(self.object.file(), size, &file, options.cancel, &mut |_| {})?;
        attributes::carry(&self.object, &file)?;
        rustix::fs::fchmod(&file, self.mode)?;
        Ok((temp, file))
    }

    /// Takes back no permission that somebody has taken away since; says so where that matters.
    pub(crate) fn narrow(&mut self, since: Option<Mode>) -> Option<String> {
        let mode = since.map_or(self.mode, |since| self.mode & since);
        if mode == self.mode {
            return None;
        }
        self.mode = mode;
        let bits = mode.as_raw_mode();
        Some(format!(
            "its mode was narrowed since that change, so it is {bits:03o} now"
        ))
    }

    /// Takes the store's name from a file that is back in the tree; from one that is not, the right
    /// of others to read it.
    pub(crate) fn forget(&self, failure: Option<&fs_core::Error>) {
        if !self.is_alone() {
            return;
        }
        _ = match failure {
            None if is_twice(&self.object) => {
                let name: &OsStr = self.kept.name;
                rustix::fs::unlinkat(self.kept.dir, name, AtFlags::empty())
            }
            None => Ok(()),
            Some(_) => rustix::fs::fchmod(self.object.file(), Mode::RUSR | Mode::WUSR),
        };
    }

    /// Whether the object itself goes back: nothing else has it, and a copy would cost much.
    fn is_alone(&self) -> bool {
        self.object.size() > Version::STRONG_BYTES && self.object.links() == 1
    }
}

fn is_twice(file: &OldFile) -> bool {
    rustix::fs::fstat(file.file()).is_ok_and(|stat| stat.st_nlink > 1)
}
