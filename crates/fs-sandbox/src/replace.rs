//! Atomic replace: a name gets its new bytes whole, or keeps the old ones.
//!
//! A new file is written beside the old one under a random name, gets the old one's owner, mode
//! and attributes, and takes the name by an exchange. What comes out of the exchange must be the
//! file that was read, else it is put back. Among those who do so one file is exchanged at a time, by a
//! lock of the kernel. The only exception is the in-place rewrite of a file
//! with several names, which is asked for by name and always has a backup.
//!
//! Everything is relative to the handle of the directory; no path is resolved here.
//!
//! Carried over: owner, group, `mode & 0777`, `user.*` attributes and POSIX ACLs (without them
//! `not_replaceable`), `trusted.*` and `security.*` where the system lets us. Left behind on
//! purpose: setuid, setgid and sticky bits, file capabilities and integrity hashes. Not carried
//! over: the times, the file flags of `chattr`, holes; a copy or a move keeps times and holes.

mod alone;
pub(crate) mod attributes;
mod backup;
mod in_place;
mod old_file;
pub(crate) mod pieces;
mod placed;
mod restored;
mod second;
mod swap;
pub(crate) mod temp;
#[cfg(test)]
pub(crate) mod tests;
mod transfer;

use std::ffi::OsStr;

use cap_std::fs::{Dir, File};
use fs_core::{Cancel, Patch, Problem, RelPath, Result};
use rustix::fs::{Access, AtFlags, Mode, OFlags};
use rustix::io::Errno;

pub(crate) use old_file::OldFile;
pub(crate) use restored::Restored;
pub(crate) use second::SecondName;
pub(crate) use transfer::{Over, TransferHow, copy, relocate, remove, remove_link, restore_link};

use crate::history::{Before, End, Pending, Share};
use crate::policy::Policy;
use crate::rights::Rights;
use crate::write::{Backup, Durability, HardLinks};
use alone::Alone;
use backup::Kept;
use old_file::{Snapshot, gone_is_conflict};
use temp::Temp;

/// The mode that the umask narrows when a file is created.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// A name in a directory that is held open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The directory.
    pub(crate) dir: &'a Dir,
    /// The name: one component, no link is followed.
    pub(crate) name: &'a OsStr,
}

/// How a name gets its new bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplaceOptions<'a> {
    /// What is kept of the old bytes.
    pub(crate) backup: Backup,
    /// What a backup may be called.
    pub(crate) names: BackupNames<'a>,
    /// What becomes of other names.
    pub(crate) hard_links: HardLinks,
    /// What is synced.
    pub(crate) durability: Durability,
    /// The change that this is, for the history.
    pub(crate) pending: &'a Pending,
    /// Stops the work before the new file takes the name.
    pub(crate) cancel: &'a Cancel,
}

/// What a name gets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// What a patch makes of the file that has the name.
    Patch(&'a Patch),
    /// What the history has kept.
    Restored(&'a Restored<'a>),
}

/// The rules about names, asked before a backup takes one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackupNames<'a> {
    /// The deny rules.
    pub(crate) policy: &'a Policy,
    /// The path of the file below its root.
    pub(crate) file: &'a RelPath,
}

/// What has been done.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// The new file, open.
    pub(crate) file: File,
    /// The backup's name in the directory.
    pub(crate) backup: Option<String>,
    /// How many other names kept the old bytes.
    pub(crate) parted_links: u64,
    /// The number of the entry that the history has of it.
    pub(crate) entry: Option<u64>,
    /// What was done but could not be made sure.
    pub(crate) warnings: Vec<String>,
}

/// A moment between two system calls at which tests let somebody else act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A part of a file is copied.
    Copying,
    /// The new file is complete under its temporary name.
    Written,
    /// The name was found to be still the file that was read.
    Checked,
    /// The new file has the name; what came out was not looked at yet.
    Exchanged,
}

impl BackupNames<'_> {
    /// Returns whether something may be written under `name` beside the file.
    fn admit(self, name: &OsStr) -> bool {
        let beside = self.file.parent().unwrap_or_default().join(name);
        beside.is_ok_and(|path| !self.policy.forbids(Rights::EDIT, &path))
    }
}

impl Target<'_> {
    /// Returns device and inode of the directory.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn dir_id(self) -> Result<(u64, u64)> {
        Ok(Snapshot::of(self.dir)?.id())
    }

    /// Checks that the file itself may be written; an exchange would only need the directory.
    ///
    /// # Errors
    /// `permission_denied`, also for an immutable file and a read-only file system; `conflict` when
    /// nothing has the name any more.
    pub(crate) fn check_writable(self) -> Result<()> {
        let own = AtFlags::EACCESS;
        let ask = |flags| rustix::fs::accessat(self.dir, self.name, Access::WRITE_OK, flags);
        let answer = match ask(own | AtFlags::SYMLINK_NOFOLLOW) {
            // Before Linux 5.8.
            Err(Errno::NOSYS | Errno::INVAL) => ask(own),
            answer => answer,
        };
        answer.map_err(gone_is_conflict)
    }
}

/// Gives a name that nothing has a file with these bytes; its mode is 0666 less the umask.
///
/// # Errors
/// `already_exists` when something has the name by now, `permission_denied`, `not_found` when the
/// directory is gone, `cancelled`, `io`. The directory is then as it was.
pub(crate) fn create(
    target: Target<'_>,
    content: Content<'_>,
    options: ReplaceOptions<'_>,
) -> Result<Replaced> {
    let (temp, file) = match content {
        Content::Patch(patch) => {
            let (temp, file) = Temp::create(target.dir, NEW_FILE, options.pending)?;
            pieces::write_bytes(&patch.apply(&[]), &file, 0, options.cancel)?;
            (temp, file)
        }
        Content::Restored(restored) => restored.write(target.dir, options)?,
    };
    sync_file(&file, options.durability)?;
    options.cancel.check()?;
    reached(Stage::Written);
    let after = options.pending.state_of(End::Last, &file);
    let begun = options.pending.begin(vec![(Before::nothing(), after)]);
    temp.claim(target.name).map_err(|(_, errno)| errno)?;
    let entry = begun.done();
    Ok(Replaced {
        file,
        backup: None,
        parted_links: 0,
        entry,
        warnings: warnings(target, options),
    })
}

/// Gives the name of `old` the bytes that `patch` makes of it.
///
/// # Errors
/// `conflict` when the name is no longer the file that was read, `hard_link`, `backup_failed`,
/// `not_replaceable`, `permission_denied`, `cancelled`, `io`. The file then has its old bytes,
/// mode and times, and nothing new stands beside it.
pub(crate) fn replace(
    target: Target<'_>,
    old: &OldFile,
    content: Content<'_>,
    options: ReplaceOptions<'_>,
) -> Result<Replaced> {
    old.check_links(options.hard_links)?;
    options.pending.own(old.id());
    if old.links() > 1 && options.hard_links == HardLinks::InPlace {
        return in_place::rewrite(target, old, content, options);
    }
    let (temp, file) = match content {
        Content::Patch(patch) => {
            let own = Mode::RUSR | Mode::WUSR;
            let (temp, file) = Temp::create(target.dir, own, options.pending)?;
            pieces::write(patch.pieces(), old.file(), &file, 0, options.cancel)?;
            attributes::carry(old, &file)?;
            (temp, file)
        }
        Content::Restored(restored) => restored.write(target.dir, options)?,
    };
    sync_file(&file, options.durability)?;
    options.cancel.check()?;
    reached(Stage::Written);
    let (kept, entry) = take_name(target, temp, &file, old, options)?;
    Ok(Replaced {
        file,
        backup: kept.map(Kept::settle),
        parted_links: old.links().saturating_sub(1),
        entry,
        warnings: warnings(target, options),
    })
}

/// Gives the new file the name of the old one, which is backed up before if that is asked for.
/// Returns the backup, and the number of the entry.
fn take_name<'a>(
    target: Target<'a>,
    temp: Temp<'_>,
    file: &File,
    old: &OldFile,
    options: ReplaceOptions<'a>,
) -> Result<(Option<Kept<'a>>, Option<u64>)> {
    let _old = Alone::with(old.file(), options.cancel)?;
    let _new = Alone::with(file, options.cancel)?;
    old.snapshot().check_at(target)?;
    // Whatever comes of it: a link to the file moves the time of the last change of its status.
    let is_recorded = options.pending.records(End::Last);
    let before = keep(target, old, options)?;
    let mut expected = old.snapshot();
    if is_recorded {
        expected = old.unchanged_snapshot()?;
    }
    let kept = backup::make(target, old, &mut expected, options)?;
    let after = options.pending.state_of(End::Last, file);
    let begun = options.pending.begin(vec![(before, after)]);
    if is_recorded {
        expected = old.unchanged_snapshot()?;
    }
    swap::swap_in(target, temp, file, old, &expected)?;
    Ok((kept, begun.done()))
}

/// Keeps the old bytes for the history; a backup that is to have them, too, may be written to.
fn keep<'p>(target: Target<'_>, old: &OldFile, options: ReplaceOptions<'p>) -> Result<Before<'p>> {
    let share = match options.backup {
        Backup::Off => Share::Whole,
        Backup::Single | Backup::Keep => Share::Large,
    };
    let pending = options.pending;
    pending.keep(End::Last, target, old, share, options.cancel)
}

/// Syncs the directory, and returns what could not be made sure.
fn warnings(target: Target<'_>, options: ReplaceOptions<'_>) -> Vec<String> {
    let mut warnings = sync_dir(target.dir, options.durability);
    warnings.extend(options.pending.warning());
    warnings
}

fn sync_file(file: &File, durability: Durability) -> Result<()> {
    match durability {
        Durability::None => Ok(()),
        Durability::File | Durability::Full => Ok(rustix::fs::fsync(file)?),
    }
}

/// Syncs the directory; a failure is a warning, since the new bytes are in place by then.
fn sync_dir(dir: &Dir, durability: Durability) -> Vec<String> {
    if durability != Durability::Full {
        return Vec::new();
    }
    match open_and_sync(dir) {
        Ok(()) => Vec::new(),
        Err(errno) => vec![format!(
            "the new bytes are in place, but the directory could not be synced: {errno}"
        )],
    }
}

/// The handle of a directory is for paths only, so it is opened again for the sync.
fn open_and_sync(dir: &Dir) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::fsync(rustix::fs::openat(dir, ".", flags, Mode::empty())?)
}

fn conflict<T>() -> Result<T> {
    Err(Problem::Conflict.into())
}

#[cfg(test)]
use tests::hook::reached;

#[cfg(not(test))]
const fn reached(_stage: Stage) {}
