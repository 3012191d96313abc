//! The directories that a call has made on its way.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::resolve::sys;

/// Directories that were made one in the other. What is not kept is removed on drop, from the deepest
/// up and as far as it is empty.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// The directory that holds the first.
    above: Option<OwnedFd>,
    names: Vec<OsString>,
}

impl Made {
    /// Adds the directory `name` in `dir`, which is the last one, or any for the first.
    pub(super) fn add(&mut self, dir: BorrowedFd<'_>, name: &OsStr) {
        if self.names.is_empty() {
            self.above = dir.try_clone_to_owned().ok();
        }
        self.names.push(name.to_owned());
    }

    /// Leaves the directories where they are: they serve their purpose, or are not alone any more.
    pub(crate) fn keep(&mut self) {
        self.names.clear();
    }

    /// Removes the deepest directory if it is empty.
    fn remove_last(&mut self) -> Result<(), Errno> {
        let (Some(above), Some(last)) = (&self.above, self.names.pop()) else {
            return Err(Errno::NOENT);
        };
        let mut dir: Option<OwnedFd> = None;
        for name in &self.names {
            let here = dir.as_ref().unwrap_or(above);
            dir = Some(sys::open_entry(here, name, sys::LOOKUP_DIR)?);
        }
        let here = dir.as_ref().unwrap_or(above).as_fd();
        rustix::fs::unlinkat(here, &last, AtFlags::REMOVEDIR)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Best effort: whoever has put something there keeps it, and what stands above as well.
        while self.remove_last().is_ok() {}
    }
}
