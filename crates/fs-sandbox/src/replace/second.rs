//! A second name for a file that is about to lose its first one.

use std::mem;

use fs_core::Result;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::old_file::Snapshot;
use super::{Target, conflict, sync_dir};
use crate::write::Durability;

/// A second name of a file; dropping it takes it away again.
#[derive(Debug)]
pub(crate) struct SecondName<'a> {
    at: Target<'a>,
    file: Snapshot,
    is_new: bool,
    warnings: Vec<String>,
}

impl<'a> SecondName<'a> {
    /// Gives the file that has the name `from` the name `to` as well; that may have been done before.
    /// `None` where the file cannot have two names.
    ///
    /// # Errors
    /// `conflict` when something else has the name `to`, `permission_denied`, `io`.
    pub(crate) fn give(
        from: Target<'_>,
        to: Target<'a>,
        durability: Durability,
    ) -> Result<Option<Self>> {
        let Some(file) = Snapshot::at(from.dir, from.name)? else {
            return conflict();
        };
        let link = || rustix::fs::linkat(from.dir, from.name, to.dir, to.name, AtFlags::empty());
        let is_new = match rustix::io::retry_on_intr(link) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(Errno::XDEV | Errno::MLINK | Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                return Ok(None);
            }
            Err(errno) => return Err(errno.into()),
        };
        let mut second = Self {
            at: to,
            file,
            is_new,
            warnings: Vec::new(),
        };
        if !second.is_there()? {
            second.is_new = false;
            return conflict();
        }
        second.warnings = sync_dir(to.dir, durability);
        Ok(Some(second))
    }

    /// Leaves the file its second name, and returns what could not be made sure.
    pub(crate) fn keep(mut self) -> Vec<String> {
        self.is_new = false;
        mem::take(&mut self.warnings)
    }

    fn is_there(&self) -> Result<bool, Errno> {
        let found = Snapshot::at(self.at.dir, self.at.name)?;
        Ok(found.is_some_and(|found| found.is_same_file(&self.file)))
    }
}

impl Drop for SecondName<'_> {
    fn drop(&mut self) {
        if self.is_new && self.is_there() == Ok(true) {
            let unlink = || rustix::fs::unlinkat(self.at.dir, self.at.name, AtFlags::empty());
            // Best effort: the file still has its first name.
            _ = rustix::io::retry_on_intr(unlink);
        }
    }
}
