//! Copies and moves: a name gets another file, whole or not at all.

use std::ffi::CString;

use cap_std::fs::{Dir, File};
use fs_core::{Cancel, Problem, Progress, Result};
use rustix::fs::{AtFlags, FileType, Gid, Mode, Uid};
use rustix::io::Errno;

use super::old_file::{OldFile, Snapshot};
use super::temp::{Given, Temp, give, is_unsupported};
use super::{Stage, Target, attributes, conflict, pieces, reached, sync_dir, sync_file};
use crate::write::Durability;

/// How often a name is tried again that somebody gives and takes meanwhile.
const TRIES: usize = 16;

/// How a name gets another file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransferHow<'a> {
    /// Whether what has the name may be replaced.
    pub(crate) over: Over,
    /// What is synced.
    pub(crate) durability: Durability,
    /// Stops the work before the target has the name.
    pub(crate) cancel: &'a Cancel,
    /// Counts the bytes that are copied.
    pub(crate) progress: &'a Progress,
}

/// What happens to a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// It keeps the name: `already_exists`.
    Refuse,
    /// It is replaced; a link is replaced itself.
    Replace,
}

/// Gives the target's name a copy of `source`, in place of `replaced`.
///
/// # Errors
/// `already_exists`, `conflict` when the source changes meanwhile (one that only grows is copied as
/// long as it was), `permission_denied`, `not_replaceable`, `cancelled`, `io`. The target is then as it
/// was, and nothing new stands beside it.
pub(crate) fn copy(
    source: &OldFile,
    target: Target<'_>,
    replaced: Option<&OldFile>,
    how: TransferHow<'_>,
) -> Result<Vec<String>> {
    let (temp, file) = copied(source, target.dir, how)?;
    attributes::carry_to_copy(source, &file, replaced)?;
    sync_file(&file, how.durability)?;
    how.cancel.check()?;
    reached(Stage::Written);
    source.check_kept()?;
    match how.over {
        Over::Refuse => temp.claim(target.name).map_err(|(_, errno)| errno)?,
        Over::Replace => temp.rename_over(target.name)?,
    }
    Ok(sync_dir(target.dir, how.durability))
}

/// Gives what has the source's name, a file or a link itself, the target's name.
///
/// On another file system the target gets a copy, with everything that the file has, and then the
/// source goes.
///
/// # Errors
/// `not_found`, `is_a_directory` and `not_a_file` of the source; `already_exists`, `conflict`,
/// `permission_denied`, `not_replaceable`, `cancelled`, `io`. Both are then as they were; only where
/// names cannot be exchanged may both hold the file.
pub(crate) fn relocate(
    source: Target<'_>,
    target: Target<'_>,
    how: TransferHow<'_>,
) -> Result<Vec<String>> {
    let moved = Snapshot::at(source.dir, source.name)?.ok_or(Problem::NotFound)?;
    check_movable(&moved)?;
    how.cancel.check()?;
    reached(Stage::Checked);
    match rename(source, target, how.over) {
        Err(Errno::XDEV) => across(source, target, &moved, how)?,
        Err(errno) => return Err(errno.into()),
        Ok(()) => check_no_directory(source, target)?,
    }
    let mut warnings = sync_dir(target.dir, how.durability);
    warnings.extend(sync_dir(source.dir, how.durability));
    Ok(warnings)
}

/// Checks that what has a name is a file or a link.
///
/// # Errors
/// `is_a_directory`, `not_a_file`.
fn check_movable(found: &Snapshot) -> Result<()> {
    match found.kind() {
        FileType::RegularFile | FileType::Symlink => Ok(()),
        FileType::Directory => Err(Problem::IsADirectory.into()),
        _ => Err(Problem::NotAFile.into()),
    }
}

fn rename(source: Target<'_>, target: Target<'_>, over: Over) -> Result<(), Errno> {
    if over == Over::Replace {
        return rustix::fs::renameat(source.dir, source.name, target.dir, target.name);
    }
    match give(source, target)? {
        Given::Moved => Ok(()),
        Given::Linked => unlink(source).inspect_err(|_| {
            // Best effort: the error that leads here is the one to report.
            _ = unlink(target);
        }),
    }
}

fn unlink(target: Target<'_>) -> Result<(), Errno> {
    rustix::fs::unlinkat(target.dir, target.name, AtFlags::empty())
}

/// Puts back a directory that had taken the source's name in the last moment: what is in it was not
/// asked about. What cannot be looked at stays: the move is made by then.
fn check_no_directory(source: Target<'_>, target: Target<'_>) -> Result<()> {
    let is_dir = |found: Snapshot| found.kind() == FileType::Directory;
    let found = Snapshot::at(target.dir, target.name);
    if !found.is_ok_and(|found| found.is_some_and(is_dir)) {
        return Ok(());
    }
    give(target, source)?;
    Err(Problem::IsADirectory.into())
}

fn across(
    source: Target<'_>,
    target: Target<'_>,
    moved: &Snapshot,
    how: TransferHow<'_>,
) -> Result<()> {
    if moved.kind() == FileType::Symlink {
        let temp = link_like(source, target.dir, moved)?;
        let placed = Placed::put(temp, target, how.over)?;
        return placed.settle_if(take_away(source, |found| Ok(moved.is_untouched(found))));
    }
    let old = OldFile::open(source)?.ok_or(Problem::NotFound)?;
    let (temp, file) = copied(&old, target.dir, how)?;
    attributes::carry(&old, &file)?;
    rustix::fs::futimens(&file, &old.snapshot().times())?;
    sync_file(&file, how.durability)?;
    how.cancel.check()?;
    reached(Stage::Written);
    old.unchanged_snapshot()?;
    let placed = Placed::put(temp, target, how.over)?;
    placed.settle_if(take_away(source, |found| old.is(found)))
}

/// Copies the bytes into a new file under a temporary name.
fn copied<'a>(source: &OldFile, dir: &'a Dir, how: TransferHow<'_>) -> Result<(Temp<'a>, File)> {
    let (temp, file) = Temp::create(dir, Mode::RUSR | Mode::WUSR)?;
    let size = source.size();
    how.progress.set_total(size);
    let mut count = |step| {
        how.progress.add(step);
        reached(Stage::Copying);
    };
    pieces::copy_sparse(source.file(), size, &file, how.cancel, &mut count)?;
    Ok((temp, file))
}

/// Makes a link like the source's under a temporary name.
fn link_like<'a>(source: Target<'_>, dir: &'a Dir, like: &Snapshot) -> Result<Temp<'a>> {
    let text: CString = rustix::fs::readlinkat(source.dir, source.name, Vec::new())?;
    let temp = Temp::symlink(dir, &text)?;
    let nofollow = AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::utimensat(dir, temp.name(), &like.times(), nofollow)?;
    let (uid, gid) = like.owner();
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    // Whose a link is decides nothing about where it leads.
    _ = rustix::fs::chownat(dir, temp.name(), Some(uid), Some(gid), nofollow);
    Ok(temp)
}

/// Removes the source if it still is what was copied.
///
/// It is looked at under a name that nobody else knows, so that what took its place is not removed.
fn take_away(source: Target<'_>, is_it: impl Fn(&Snapshot) -> Result<bool, Errno>) -> Result<()> {
    let temp = Temp::take(source.dir, source.name)?;
    let found = Snapshot::at(source.dir, temp.name());
    if let Ok(Some(found)) = &found
        && is_it(found) == Ok(true)
    {
        return Ok(());
    }
    if let Err((temp, _)) = temp.claim(source.name) {
        temp.leave();
    }
    conflict()
}

/// A target that has its name, and how to take that back.
#[derive(Debug)]
enum Placed<'a> {
    /// Nothing had the name.
    New { target: Target<'a>, file: Snapshot },
    /// What had the name has the temporary one.
    Exchanged { target: Target<'a>, old: Temp<'a> },
    /// What had the name is gone.
    Over,
}

impl<'a> Placed<'a> {
    fn put(mut temp: Temp<'a>, target: Target<'a>, over: Over) -> Result<Self> {
        let file = Snapshot::at(target.dir, temp.name())?.ok_or(Problem::Conflict)?;
        for _ in 0..TRIES {
            match temp.claim(target.name) {
                Ok(()) => return Ok(Self::New { target, file }),
                Err((unplaced, Errno::EXIST)) if over == Over::Replace => temp = unplaced,
                Err((_, errno)) => return Err(errno.into()),
            }
            match temp.exchange(target.name) {
                Ok(()) => return Self::exchanged(temp, target),
                Err(Errno::NOENT) => {}
                Err(errno) if is_unsupported(errno) => {
                    temp.rename_over(target.name)?;
                    return Ok(Self::Over);
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        conflict()
    }

    /// Looks at what came out of the exchange: a directory gets its name back.
    fn exchanged(old: Temp<'a>, target: Target<'a>) -> Result<Self> {
        let out = Snapshot::at(target.dir, old.name());
        let out = out.map(|out| out.map(|out| out.kind()));
        if let Ok(Some(FileType::RegularFile | FileType::Symlink)) = out {
            return Ok(Self::Exchanged { target, old });
        }
        old.exchange(target.name)?;
        Err(Problem::IsADirectory.into())
    }

    /// Leaves the target where it is when the source is gone, else takes it back.
    fn settle_if(self, gone: Result<()>) -> Result<()> {
        if gone.is_ok() {
            return gone;
        }
        // Best effort: the error that leads here is the one to report.
        match self {
            Self::New { target, file } => {
                let ours = |found: Snapshot| found.is_same_file(&file);
                if Snapshot::at(target.dir, target.name).is_ok_and(|at| at.is_some_and(ours)) {
                    _ = unlink(target);
                }
            }
            Self::Exchanged { target, old } => _ = old.exchange(target.name),
            Self::Over => {}
        }
        gone
    }
}
