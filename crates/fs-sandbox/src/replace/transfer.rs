//! Copies and moves: a name gets another file, whole or not at all.

use std::ffi::{CString, OsStr};

use cap_std::fs::{Dir, File};
use fs_core::{Cancel, Error, ErrorKind, Problem, Progress, Result};
use rustix::fs::{AtFlags, FileType, Gid, Mode, RenameFlags, Uid};
use rustix::io::Errno;

use super::alone::Alone;
use super::old_file::{OldFile, Snapshot, gone_is_conflict};
use super::placed::Placed;
use super::temp::{Given, Temp, give, is_unsupported};
use super::{Stage, Target, attributes, conflict, pieces, reached, swap, sync_dir, sync_file};
use crate::history::{Before, Begun, End, Pending, Share, State};
use crate::write::Durability;

/// How a name gets another file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransferHow<'a> {
    /// Whether what has the name may be replaced.
    pub(crate) over: Over<'a>,
    /// What the source must be, content and all, until the target has the name.
    pub(crate) source: Option<&'a OldFile>,
    /// What is synced.
    pub(crate) durability: Durability,
    /// The change that this is, for the history.
    pub(crate) pending: &'a Pending,
    /// Stops the work before the target has the name.
    pub(crate) cancel: &'a Cancel,
    /// Counts the bytes that are copied.
    pub(crate) progress: &'a Progress,
}

/// What happens to a file that has the name already.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Over<'a> {
    /// It keeps the name: `already_exists`.
    Refuse,
    /// It is replaced; a link is replaced itself.
    Replace,
    /// It is replaced if it is this file as it was when it was opened, else it keeps the name:
    /// `already_exists`. So does anything where nothing had the name.
    Only(Option<&'a OldFile>),
}

impl Over<'_> {
    pub(super) fn replaces(self) -> bool {
        matches!(self, Self::Replace | Self::Only(Some(_)))
    }
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
    match how.source {
        Some(known) => _ = known.unchanged_snapshot()?,
        None => source.check_kept()?,
    }
    let (begun, _alone) = begin_copy(target, &file, replaced, how)?;
    match how.over {
        Over::Refuse | Over::Only(None) => temp.claim(target.name).map_err(|(_, errno)| errno)?,
        Over::Replace => temp.rename_over(target.name)?,
        Over::Only(Some(old)) => replace_only(target, temp, &file, old, how)?,
    }
    begun.done();
    let mut warnings = sync_dir(target.dir, how.durability);
    warnings.extend(how.pending.warning());
    Ok(warnings)
}

/// Keeps what the copy replaces and writes the entry down. What is replaced is locked from then on.
fn begin_copy<'p, 'f>(
    target: Target<'_>,
    file: &File,
    replaced: Option<&'f OldFile>,
    how: TransferHow<'p>,
) -> Result<(Begun<'p>, Option<Alone<'f>>)> {
    let (before, alone) = keep_replaced(target, replaced, how)?;
    let after = how.pending.state_of(End::Last, file);
    let begun = how.pending.begin(vec![(before, after)]);
    note_links(replaced)?;
    Ok((begun, alone))
}

/// Keeps the file or link that loses its name to another one.
fn keep_replaced<'p, 'f>(
    target: Target<'_>,
    replaced: Option<&'f OldFile>,
    how: TransferHow<'p>,
) -> Result<(Before<'p>, Option<Alone<'f>>)> {
    let Some(old) = replaced else {
        return Ok((Before::of(State::link_at(target.dir, target.name)?), None));
    };
    let alone = Alone::with(old.file(), how.cancel)?;
    how.pending.own(old.id());
    let kept = how
        .pending
        .keep(End::Last, target, old, Share::Whole, how.cancel);
    let before = kept.map_err(not_old)?;
    Ok((before, Some(alone)))
}

/// What is replaced may have a name in the store by now.
fn note_links(replaced: Option<&OldFile>) -> Result<()> {
    let noted = replaced.map_or(Ok(()), OldFile::note_links);
    noted.map_err(not_old)
}

/// Writes the entry of a move down: the source is known again by its inode, and of what it replaces
/// the bytes are kept.
fn begin_move<'p, 'f>(
    source: Target<'_>,
    target: Target<'_>,
    replaced: Option<&'f OldFile>,
    how: TransferHow<'p>,
) -> Result<(Begun<'p>, Option<Alone<'f>>)> {
    let pending = how.pending;
    if !pending.records(End::First) && !pending.records(End::Last) {
        return Ok((pending.begin(Vec::new()), None));
    }
    let moved = opened(source, pending);
    let state = match &moved {
        Some(moved) => pending.state_of(End::Last, moved.file()),
        None => State::seen_at(source.dir, source.name)?,
    };
    let before = match &moved {
        // In another store there is nothing that could be moved back.
        Some(moved) if !pending.is_one_entry() => {
            pending.keep(End::First, source, moved, Share::Never, how.cancel)?
        }
        _ => Before::of(state.clone()),
    };
    let (old, alone) = keep_replaced(target, replaced, how)?;
    let begun = pending.begin(vec![(before, State::Absent), (old, state)]);
    note_links(replaced)?;
    Ok((begun, alone))
}

/// Opens what is moved, for its history; a link is not opened, and what cannot be read is known again
/// by its inode, where it keeps that.
fn opened(source: Target<'_>, pending: &Pending) -> Option<OldFile> {
    let error = match OldFile::open(source) {
        Ok(moved) => return moved,
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::PermissionDenied if pending.is_one_entry() => {}
        ErrorKind::PermissionDenied => pending.lose("the file may not be read"),
        ErrorKind::Io => pending.give_up(&error),
        _ => {}
    }
    None
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
    replaced: Option<&OldFile>,
    how: TransferHow<'_>,
) -> Result<Vec<String>> {
    let moved = Snapshot::at(source.dir, source.name)?.ok_or(Problem::NotFound)?;
    check_movable(&moved)?;
    how.cancel.check()?;
    reached(Stage::Checked);
    if let Some(known) = how.source {
        known.snapshot().check_at(source)?;
    }
    let (begun, _alone) = begin_move(source, target, replaced, how)?;
    let renamed = match how.over {
        Over::Only(Some(old)) => exchange_only(source, target, old, how)?,
        over => rename(source, target, over),
    };
    match renamed {
        Err(Errno::XDEV) => across(source, target, &moved, how)?,
        Err(errno) => return Err(errno.into()),
        Ok(()) => check_moved(source, target, how.source)?,
    }
    begun.done_at(target.dir, target.name);
    let mut warnings = sync_dir(target.dir, how.durability);
    warnings.extend(sync_dir(source.dir, how.durability));
    warnings.extend(how.pending.warning());
    Ok(warnings)
}

/// Removes the file that has the name, if that is still `old`.
///
/// # Errors
/// `conflict` when something else has the name: it has it again. `permission_denied`, `cancelled`,
/// `io`.
pub(crate) fn remove(
    target: Target<'_>,
    old: &OldFile,
    pending: &Pending,
    cancel: &Cancel,
) -> Result<()> {
    let _alone = Alone::with(old.file(), cancel)?;
    old.snapshot().check_at(target)?;
    let before = pending.keep(End::Last, target, old, Share::Whole, cancel)?;
    cancel.check()?;
    let begun = pending.begin(vec![(before, State::Absent)]);
    reached(Stage::Checked);
    take_away(target, pending, |found| old.is(found))?;
    begun.done();
    Ok(())
}

/// Removes the link that has the name.
///
/// # Errors
/// `is_a_directory`, `permission_denied`, `io`.
pub(crate) fn remove_link(target: Target<'_>, pending: &Pending) -> Result<()> {
    let before = Before::of(State::link_at(target.dir, target.name)?);
    let begun = pending.begin(vec![(before, State::Absent)]);
    unlink(target)?;
    begun.done();
    Ok(())
}

/// Makes a link again that had the name, if nothing has it.
///
/// # Errors
/// `already_exists`, `permission_denied`, `io`.
pub(crate) fn restore_link(target: Target<'_>, text: &OsStr, pending: &Pending) -> Result<()> {
    let after = State::link(text);
    let begun = pending.begin(vec![(Before::nothing(), after)]);
    rustix::fs::symlinkat(text, target.dir, target.name)?;
    begun.done();
    Ok(())
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

fn rename(source: Target<'_>, target: Target<'_>, over: Over<'_>) -> Result<(), Errno> {
    if matches!(over, Over::Replace) {
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

pub(super) fn unlink(target: Target<'_>) -> Result<(), Errno> {
    rustix::fs::unlinkat(target.dir, target.name, AtFlags::empty())
}

/// Puts back what had taken the source's name in the last moment: a directory, since what is in it
/// was not asked about, and another file than the one that is known. What cannot be looked at stays:
/// the move is made by then.
fn check_moved(source: Target<'_>, target: Target<'_>, known: Option<&OldFile>) -> Result<()> {
    let Ok(Some(found)) = Snapshot::at(target.dir, target.name) else {
        return Ok(());
    };
    if found.kind() == FileType::Directory {
        give(target, source)?;
        return Err(Problem::IsADirectory.into());
    }
    match known {
        Some(known) if known.is(&found) == Ok(false) => {
            give(target, source)?;
            conflict()
        }
        _ => Ok(()),
    }
}

/// Gives the new file the target's name, if that is still `old`.
///
/// # Errors
/// `already_exists` when something else has it, and those of the exchange.
fn replace_only(
    target: Target<'_>,
    temp: Temp<'_>,
    file: &File,
    old: &OldFile,
    how: TransferHow<'_>,
) -> Result<()> {
    let swapped = Alone::with(old.file(), how.cancel).and_then(|_old| {
        let _new = Alone::with(file, how.cancel)?;
        swap::swap_in(target, temp, file, old, &old.snapshot())
    });
    swapped.map_err(not_old)
}

/// Renames the source over the target, if that is still `old`: the two change names, are looked at,
/// and only then `old` goes.
///
/// # Errors
/// Inside, what the system says to the exchange. Outside `already_exists` and `conflict` when
/// either is another file: each has its own name again then.
fn exchange_only(
    source: Target<'_>,
    target: Target<'_>,
    old: &OldFile,
    how: TransferHow<'_>,
) -> Result<Result<(), Errno>> {
    let _old = Alone::with(old.file(), how.cancel).map_err(not_old)?;
    old.snapshot().check_at(target).map_err(not_old)?;
    match exchange(source, target) {
        Ok(()) => {}
        Err(errno) if is_unsupported(errno) => {
            return Ok(rename(source, target, Over::Replace));
        }
        Err(errno) => return Ok(Err(errno)),
    }
    reached(Stage::Exchanged);
    let checked = check_came_out(source, old).and_then(|()| check_went_in(target, how.source));
    let checked = checked.inspect_err(|_| {
        // Best effort: the error that leads here is the one to report.
        _ = exchange(source, target);
    });
    checked?;
    match take_away(source, how.pending, |found| old.is(found)) {
        // Somebody else has given the source's name to another file by now, which keeps it.
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(Ok(())),
        Err(error) => {
            _ = exchange(source, target);
            Err(error)
        }
        Ok(()) => Ok(Ok(())),
    }
}

fn exchange(one: Target<'_>, other: Target<'_>) -> Result<(), Errno> {
    let exchange = RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(one.dir, one.name, other.dir, other.name, exchange)
}

/// Checks that what has the name now is the file that was to be replaced.
pub(super) fn check_came_out(at: Target<'_>, old: &OldFile) -> Result<()> {
    match Snapshot::at(at.dir, at.name)? {
        Some(out) if old.is(&out)? => Ok(()),
        _ => Err(Problem::AlreadyExists.into()),
    }
}

/// Checks that what has the target's name now is what was to have it.
fn check_went_in(target: Target<'_>, known: Option<&OldFile>) -> Result<()> {
    let Some(found) = Snapshot::at(target.dir, target.name)? else {
        return conflict();
    };
    check_movable(&found)?;
    match known {
        Some(known) if !known.is(&found)? => conflict(),
        _ => Ok(()),
    }
}

/// A conflict about what has the target's name, as [`Over::Only`] tells it.
pub(super) fn not_old(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Conflict => Problem::AlreadyExists.into(),
        _ => error,
    }
}

fn across(
    source: Target<'_>,
    target: Target<'_>,
    moved: &Snapshot,
    how: TransferHow<'_>,
) -> Result<()> {
    if moved.kind() == FileType::Symlink {
        let temp = link_like(source, target.dir, moved, how.pending)?;
        let placed = Placed::put(temp, target, how.over)?;
        return placed.settle_if(take_away(source, how.pending, |found| {
            Ok(moved.is_untouched(found))
        }));
    }
    let old = OldFile::open(source)?.ok_or(Problem::NotFound)?;
    if let Some(known) = how.source
        && !known.is(&old.snapshot())?
    {
        return conflict();
    }
    let (temp, file) = copied(&old, target.dir, how)?;
    attributes::carry(&old, &file)?;
    rustix::fs::futimens(&file, &old.snapshot().times())?;
    sync_file(&file, how.durability)?;
    how.cancel.check()?;
    reached(Stage::Written);
    old.unchanged_snapshot()?;
    let placed = Placed::put(temp, target, how.over)?;
    placed.settle_if(take_away(source, how.pending, |found| old.is(found)))
}

/// Copies the bytes into a new file under a temporary name.
fn copied<'a>(source: &OldFile, dir: &'a Dir, how: TransferHow<'a>) -> Result<(Temp<'a>, File)> {
    let (temp, file) = Temp::create(dir, Mode::RUSR | Mode::WUSR, how.pending)?;
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
fn link_like<'a>(
    source: Target<'_>,
    dir: &'a Dir,
    like: &Snapshot,
    pending: &'a Pending,
) -> Result<Temp<'a>> {
    let text: CString = rustix::fs::readlinkat(source.dir, source.name, Vec::new())?;
    let temp = Temp::symlink(dir, &text, pending)?;
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
fn take_away(
    source: Target<'_>,
    pending: &Pending,
    is_it: impl Fn(&Snapshot) -> Result<bool, Errno>,
) -> Result<()> {
    let temp = Temp::take(source.dir, source.name, pending)?;
    let found = Snapshot::at(source.dir, temp.name()).and_then(|found| {
        let found = found.ok_or(Errno::NOENT)?;
        Ok(is_it(&found)?.then_some(found))
    });
    if let Ok(Some(found)) = &found {
        pending.own(found.id());
        return Ok(());
    }
    if let Err((temp, _)) = temp.claim(source.name) {
        temp.leave();
    }
    match found {
        // Not known what it is, and that is all that is wrong.
        Err(errno) => Err(gone_is_conflict(errno)),
        Ok(_) => conflict(),
    }
}
