//! Copying and moving files and links, within a root and between roots.

use cap_std::fs::File;
use fs_core::{Cancel, EntryKind, Error, ErrorKind, Problem, Progress, Result, Version};
use rustix::fs::FileType;

use crate::history::Pending;
use crate::lock::FileLock;
use crate::replace::{self, OldFile, Over, TransferHow};
use crate::resolve::{Follow, Place};
use crate::rights::{self, OpenFlags, Operation, Rights, needed};
use crate::workspace::Workspace;
use crate::write::{HardLinks, open_locked};

/// How to copy or move.
#[derive(Debug, Clone, Default)]
pub struct TransferOptions {
    /// Whether a file that has the target's name is replaced; `already_exists` otherwise.
    pub overwrite: bool,
    /// Refuses (`conflict`) a source that is not a file of this version.
    pub if_version: Option<Version>,
    /// What the caller believes the target to be: refuses (`conflict`) to overwrite a file of another
    /// version, or what is no file. Nothing at all may have the name.
    pub served: Option<Version>,
    /// Counts the bytes that are copied; a rename copies none.
    pub progress: Progress,
    /// Stops the work before the target has its name.
    pub cancel: Cancel,
}

/// What a copy or move did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// What has the target's name: a file or a link.
    pub kind: EntryKind,
    /// Its size in bytes.
    pub size: u64,
    /// Whether something had the name before.
    pub replaced: bool,
    /// How many other names kept the bytes that were replaced.
    pub parted_links: u64,
    /// What was done but could not be made sure.
    pub warnings: Vec<String>,
}

impl Workspace {
    /// Copies a file, whole or not at all; directories above the target are made.
    ///
    /// Needs [`Rights::READ`](crate::Rights::READ) at the source and
    /// [`Rights::EDIT`](crate::Rights::EDIT) at the target. Links are followed at both ends while
    /// they stay inside; without `overwrite` a link that has the target's name counts as there. The
    /// copy has the source's mode, times and, where the system lets us, attributes; no setuid bit. A
    /// source that grows meanwhile is copied as long as it was.
    ///
    /// A target with other names loses them to the old bytes, unless the workspace refuses that or
    /// rewrites in place: then it is `hard_link`.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # std::fs::write(dir.path().join("a.txt"), "text").unwrap();
    /// use fs_sandbox::{Rights, TransferOptions, Workspace};
    ///
    /// let workspace = Workspace::builder().root("project", dir.path(), Rights::ALL).build()?;
    /// let copied = workspace.copy("a.txt", "backup/a.txt", &TransferOptions::default())?;
    /// assert_eq!((copied.size, copied.replaced), (4, false));
    /// let again = workspace.copy("a.txt", "backup/a.txt", &TransferOptions::default());
    /// assert_eq!(again.unwrap_err().code(), "already_exists");
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Each with the path of its end. `invalid_argument` for field `to` when both are one file, or a link
    /// that is moved leads to the target; of
    /// the source those of [`Workspace::open`], and `conflict` when it changes meanwhile or is another
    /// version; of the target those of [`Workspace::write`]. The target is then as it was.
    pub fn copy(&self, from: &str, to: &str, options: &TransferOptions) -> Result<Transferred> {
        let found = self.open_found(from, FileType::RegularFile)?;
        let source = OldFile::opened(File::from(found.handle)).map_err(|error| error.at(from))?;
        check_version(&source, options).map_err(|error| error.at(from))?;
        let follow = if options.overwrite {
            Follow::Last
        } else {
            Follow::No
        };
        let need = needed(Operation::CopyTarget, OpenFlags::NONE);
        let target = self.locate_creating(to, need, follow)?;
        let copied = self.copy_to(&source, target, options);
        copied.map_err(|error| at_end(error, from, to, options))
    }

    /// Moves a file, or a link itself, whole or not at all; directories above the target are made.
    ///
    /// Needs [`Rights::DELETE`](crate::Rights::DELETE) at the source and
    /// [`Rights::EDIT`](crate::Rights::EDIT) at the target; of the outside both at the source. A link
    /// that has the target's name is replaced itself, but not by one that leads to it. On one file
    /// system this is a rename; between two the file is copied with owner, mode, times and attributes, synced, and only then removed at the source.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # std::fs::write(dir.path().join("a.txt"), "text").unwrap();
    /// use fs_sandbox::{Rights, TransferOptions, Workspace};
    ///
    /// let workspace = Workspace::builder().root("project", dir.path(), Rights::ALL).build()?;
    /// workspace.rename("a.txt", "old/a.txt", &TransferOptions::default())?;
    /// assert_eq!(workspace.stat("a.txt").unwrap_err().code(), "not_found");
    /// assert_eq!(workspace.stat("old/a.txt")?.size, Some(4));
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Workspace::copy`], and `not_replaceable` for a mount point, or when the other file system
    /// cannot keep the owner or an attribute. Both ends are then as they were.
    pub fn rename(&self, from: &str, to: &str, options: &TransferOptions) -> Result<Transferred> {
        let need = needed(Operation::MoveSource, OpenFlags::NONE);
        let source = self.locate(from, need, Follow::No)?;
        check_outside(&source).map_err(|error| error.at(from))?;
        check_source(&source).map_err(|error| error.at(from))?;
        check_not_mounted(&source).map_err(|error| error.at(from))?;
        let need = needed(Operation::MoveTarget, OpenFlags::NONE);
        let target = self.locate_creating(to, need, Follow::No)?;
        let moved = self.move_to(source, target, options);
        moved.map_err(|error| at_end(error, from, to, options))
    }

    fn copy_to(
        &self,
        source: &OldFile,
        mut target: Place,
        options: &TransferOptions,
    ) -> Result<Transferred> {
        let _name = self.locks().lock(target.lock_key()?, &options.cancel)?;
        target.look_again()?;
        check_target(&target, source.id(), options)?;
        let (old, _file) = self.replaced(&target, options)?;
        check_served(&target, old.as_ref(), options)?;
        let pending = self.pending(&[&target], None)?;
        let how = TransferHow {
            over: over(&target, old.as_ref(), options),
            source: options.if_version.as_ref().map(|_| source),
            ..self.how(&pending, options)
        };
        Ok(Transferred {
            kind: EntryKind::File,
            size: source.size(),
            replaced: old.is_some(),
            parted_links: parted_links(old.as_ref()),
            warnings: replace::copy(source, target.target(), old.as_ref(), how)?,
        })
    }

    fn move_to(
        &self,
        source: Place,
        target: Place,
        options: &TransferOptions,
    ) -> Result<Transferred> {
        self.move_as(source, target, options, None)
    }

    /// Moves, as the change that takes back another one.
    pub(crate) fn move_as(
        &self,
        mut source: Place,
        mut target: Place,
        options: &TransferOptions,
        undoes: Option<u64>,
    ) -> Result<Transferred> {
        let _names = self.lock_both(&source, &target, options)?;
        source.look_again()?;
        target.look_again()?;
        let kind = check_source(&source)?;
        let id = source.id().ok_or(Problem::NotFound)?;
        if kind == EntryKind::Link {
            self.check_leads_elsewhere(&source, &target)?;
        }
        let known = known_source(&source, options)?;
        check_target(&target, id, options)?;
        let (old, _file) = self.replaced(&target, options)?;
        check_served(&target, old.as_ref(), options)?;
        let pending = self.pending(&[&source, &target], undoes)?;
        let how = TransferHow {
            over: over(&target, old.as_ref(), options),
            source: known.as_ref(),
            ..self.how(&pending, options)
        };
        Ok(Transferred {
            kind,
            size: source.size(),
            replaced: target.found.is_some(),
            parted_links: parted_links(old.as_ref()),
            warnings: replace::relocate(source.target(), target.target(), old.as_ref(), how)?,
        })
    }

    /// Checks that a link does not lead to what it is to replace: nothing would lead there any more.
    fn check_leads_elsewhere(&self, link: &Place, target: &Place) -> Result<()> {
        let replaces = matches!(
            target.kind(),
            Some(FileType::RegularFile | FileType::Symlink)
        );
        if replaces && self.leads_to(link, target)? {
            return Err(same_file());
        }
        Ok(())
    }

    /// Locks two names in their order, or refuses one name given twice.
    pub(crate) fn lock_both(
        &self,
        source: &Place,
        target: &Place,
        options: &TransferOptions,
    ) -> Result<[FileLock; 2]> {
        let mut keys = [source.lock_key()?, target.lock_key()?];
        keys.sort();
        let [first, second] = keys;
        if first == second {
            return Err(same_file());
        }
        let first = self.locks().lock(first, &options.cancel)?;
        Ok([first, self.locks().lock(second, &options.cancel)?])
    }

    /// Opens and locks the file that is to be replaced, if it may be; a link is no file.
    fn replaced(
        &self,
        target: &Place,
        options: &TransferOptions,
    ) -> Result<(Option<OldFile>, Option<FileLock>)> {
        if target.kind() != Some(FileType::RegularFile) {
            return Ok((None, None));
        }
        let (old, lock) = open_locked(target.target(), self.locks(), &options.cancel)?;
        if let Some(old) = &old {
            target.target().check_writable()?;
            // Another file takes the name, so nothing can be rewritten in place.
            old.check_links(match self.hard_link_policy() {
                HardLinks::Break => HardLinks::Break,
                HardLinks::Refuse | HardLinks::InPlace => HardLinks::Refuse,
            })?;
        }
        Ok((old, lock))
    }

    fn how<'a>(&self, pending: &'a Pending, options: &'a TransferOptions) -> TransferHow<'a> {
        TransferHow {
            over: Over::Refuse,
            source: None,
            durability: self.durability(),
            pending,
            cancel: &options.cancel,
            progress: &options.progress,
        }
    }
}

/// Returns what may have the target's name: where versions count, only what was looked at.
fn over<'a>(target: &Place, old: Option<&'a OldFile>, options: &TransferOptions) -> Over<'a> {
    let counts = options.if_version.is_some() || options.served.is_some();
    match (options.overwrite, counts) {
        (false, _) => Over::Refuse,
        (true, true) if old.is_some() || target.found.is_none() => Over::Only(old),
        (true, _) => Over::Replace,
    }
}

/// Checks that the source is the version that the caller names, if it names one.
///
/// # Errors
/// `conflict`, `io`.
fn check_version(source: &OldFile, options: &TransferOptions) -> Result<()> {
    match &options.if_version {
        Some(wanted) if source.version()? != *wanted => Err(Problem::Conflict.into()),
        _ => Ok(()),
    }
}

/// Returns the file that is to be moved, open, where its version counts.
///
/// # Errors
/// `conflict`, `permission_denied`, `io`.
fn known_source(source: &Place, options: &TransferOptions) -> Result<Option<OldFile>> {
    if options.if_version.is_none() {
        return Ok(None);
    }
    let file = OldFile::open(source.target())?.ok_or(Problem::NotFound)?;
    check_version(&file, options)?;
    Ok(Some(file))
}

/// Checks that the target is what the caller believes it to be.
///
/// # Errors
/// That of [`target_changed`], `io`.
fn check_served(
    target: &Place,
    replaced: Option<&OldFile>,
    options: &TransferOptions,
) -> Result<()> {
    let Some(served) = &options.served else {
        return Ok(());
    };
    match replaced {
        Some(old) if old.version()? != *served => Err(target_changed()),
        None if target.found.is_some() => Err(target_changed()),
        _ => Ok(()),
    }
}

/// What has the target's name is not what may be overwritten; told as a `conflict` of the target.
fn target_changed() -> Error {
    Problem::AlreadyExists.into()
}

/// Checks that a file outside the roots may be edited as well: what is moved into a root can be.
///
/// # Errors
/// `denied_by_policy`.
fn check_outside(source: &Place) -> Result<()> {
    let is_outside = source.root.name.is_none();
    if is_outside && !source.root.rights.contains(Rights::EDIT) {
        return Err(rights::lacking(Rights::EDIT));
    }
    Ok(())
}

/// Returns what is to be moved.
///
/// # Errors
/// `not_found`, `is_a_directory`, `not_a_file`.
fn check_source(source: &Place) -> Result<EntryKind> {
    match source.kind() {
        None => Err(Problem::NotFound.into()),
        Some(FileType::RegularFile) => Ok(EntryKind::File),
        Some(FileType::Symlink) => Ok(EntryKind::Link),
        Some(FileType::Directory) => Err(Problem::IsADirectory.into()),
        Some(_) => Err(Problem::NotAFile.into()),
    }
}

/// Checks that the name can go: asked before, since the system does not say which end is in use.
///
/// # Errors
/// `not_replaceable`.
fn check_not_mounted(source: &Place) -> Result<()> {
    if source.is_mount_point() {
        let reason = "it is in use as a mount point";
        return Err(Problem::NotReplaceable { reason }.into());
    }
    Ok(())
}

/// Checks that a file may have the target's name.
fn check_target(target: &Place, source: (u64, u64), options: &TransferOptions) -> Result<()> {
    match target.kind() {
        None if target.dir_only => Err(Problem::IsADirectory.into()),
        Some(FileType::Directory) => Err(Problem::IsADirectory.into()),
        Some(_) if target.id() == Some(source) => Err(same_file()),
        Some(_) if !options.overwrite => Err(Problem::AlreadyExists.into()),
        None | Some(FileType::RegularFile | FileType::Symlink) => Ok(()),
        Some(_) => Err(Problem::NotAFile.into()),
    }
}

fn same_file() -> Error {
    Problem::invalid("to", "source and target are the same file").into()
}

fn parted_links(replaced: Option<&OldFile>) -> u64 {
    replaced.map_or(0, |old| old.links().saturating_sub(1))
}

/// Returns the error with the path of its end: only what was read can change or vanish, save for a
/// target that may be overwritten but is not what was looked at.
fn at_end(error: Error, from: &str, to: &str, options: &TransferOptions) -> Error {
    match error.kind() {
        ErrorKind::AlreadyExists if options.overwrite => Error::from(Problem::Conflict).at(to),
        ErrorKind::Conflict | ErrorKind::NotFound => error.at(from),
        _ => error.at(to),
    }
}
