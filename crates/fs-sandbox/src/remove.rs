//! Removing a file or a link, where wanted only one of a known version.

use fs_core::{Cancel, Error, ErrorKind, Problem, Result, Version};
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::history::{End, Pending};
use crate::replace;
use crate::resolve::{Follow, Place};
use crate::rights::{OpenFlags, Operation, needed};
use crate::workspace::Workspace;
use crate::write::open_locked;

/// How to remove.
#[derive(Debug, Clone, Default)]
pub struct RemoveOptions {
    /// Refuses (`conflict`) what is not a file of this version; a link never is.
    pub if_version: Option<Version>,
    /// Stops the work before the name is gone.
    pub cancel: Cancel,
}

/// What a removal did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// What was done but could not be made sure.
    pub warnings: Vec<String>,
}

impl Workspace {
    /// Removes a file or a link; of a link only the link itself.
    ///
    /// # Errors
    /// `is_a_directory`; else those of [`Workspace::stat`].
    pub fn remove_file(&self, path: &str) -> Result<()> {
        self.remove_file_with(path, &RemoveOptions::default())
            .map(drop)
    }

    /// Removes a file or a link as `options` say.
    ///
    /// Where a version is named, what goes is the file that was looked at, even if somebody gives
    /// the name to another one meanwhile.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # std::fs::write(dir.path().join("a.txt"), "new").unwrap();
    /// use fs_core::Version;
    /// use fs_sandbox::{RemoveOptions, Rights, Workspace};
    ///
    /// let workspace = Workspace::builder().root("project", dir.path(), Rights::ALL).build()?;
    /// let mut options = RemoveOptions {
    ///     if_version: Some(Version::of_bytes(b"old")),
    ///     ..RemoveOptions::default()
    /// };
    /// let refused = workspace.remove_file_with("a.txt", &options);
    /// assert_eq!(refused.unwrap_err().code(), "conflict");
    /// options.if_version = Some(Version::of_bytes(b"new"));
    /// workspace.remove_file_with("a.txt", &options)?;
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Workspace::remove_file`]; with a version `conflict` and `permission_denied`, for a
    /// file that cannot be read, too; `cancelled`. What has the name then keeps it.
    pub fn remove_file_with(&self, path: &str, options: &RemoveOptions) -> Result<Removed> {
        let need = needed(Operation::Remove, OpenFlags::NONE);
        let place = self.locate(path, need, Follow::No)?;
        let removed = options.cancel.check().and_then(|()| match place.kind() {
            None => Err(Problem::NotFound.into()),
            Some(FileType::Directory) => Err(Problem::IsADirectory.into()),
            Some(_) => self.remove(&place, options),
        });
        removed.map_err(|error| error.at(path))
    }

    fn remove(&self, place: &Place, options: &RemoveOptions) -> Result<Removed> {
        let _name = self.locks().lock(place.lock_key()?, &options.cancel)?;
        let pending = self.pending(&[place], None)?;
        self.remove_as(place, &pending, options)?;
        Ok(Removed {
            warnings: Vec::from_iter(pending.warning()),
        })
    }

    /// Removes what has a name that is locked, as a change that the history knows of.
    pub(crate) fn remove_as(
        &self,
        place: &Place,
        pending: &Pending,
        options: &RemoveOptions,
    ) -> Result<()> {
        let is_file = place.kind() == Some(FileType::RegularFile);
        if options.if_version.is_none() && !(is_file && pending.records(End::Last)) {
            return match place.kind() {
                Some(FileType::Symlink) => replace::remove_link(place.target(), pending),
                _ => unlink(place),
            };
        }
        let (old, _file) = match open_locked(place.target(), self.locks(), &options.cancel) {
            Err(error) if options.if_version.is_none() && cannot_be_read(&error) => {
                pending.lose("the file may not be read");
                return unlink(place);
            }
            opened => opened?,
        };
        let old = old.ok_or(Problem::NotFound)?;
        if let Some(wanted) = &options.if_version
            && old.version()? != *wanted
        {
            return Err(Problem::Conflict.into());
        }
        replace::remove(place.target(), &old, pending, &options.cancel)
    }
}

fn cannot_be_read(error: &Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
}

fn unlink(place: &Place) -> Result<()> {
    match rustix::fs::unlinkat(&place.dir, &place.name, AtFlags::empty()) {
        Err(Errno::ISDIR) => Err(Problem::IsADirectory.into()),
        removed => Ok(removed?),
    }
}
