//! The rewrite of a file that keeps all its names: not atomic, so a backup comes first.

use cap_std::fs::File;
use fs_core::{Cancel, Patch, Piece, Pieces, Problem, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::history::{Before, End, Share};

use super::alone::Alone;
use super::old_file::{OldFile, Snapshot};
use super::{
    Content, ReplaceOptions, Replaced, Stage, Target, backup, conflict, pieces, reached, sync_file,
};

/// Writes what `patch` makes of `old` into the file itself, from the first byte that changes.
///
/// A backup is always made; where none is asked for it takes a free name, as with `Keep`.
///
/// # Errors
/// As those of a replace. The old bytes and times are put back from the backup; when even that
/// fails the backup stays.
pub(super) fn rewrite(
    target: Target<'_>,
    old: &OldFile,
    content: Content<'_>,
    options: ReplaceOptions<'_>,
) -> Result<Replaced> {
    let file = open_for_writing(target, old)?;
    let _alone = Alone::with(old.file(), options.cancel)?;
    let (kept, copy) = backup::copy(target, old, options)?;
    let before = keep(kept.target(), old, &copy, options)?;
    options.cancel.check()?;
    reached(Stage::Written);
    old.snapshot().check_at(target)?;
    reached(Stage::Checked);
    let whole;
    let (patch, source) = match content {
        Content::Patch(patch) => (patch, &copy),
        Content::Restored(restored) => {
            whole = Patch::splice(restored.object.size(), []);
            (&whole, restored.object.file())
        }
    };
    let (pieces, start) = match content {
        Content::Patch(_) => after_kept_start(patch),
        Content::Restored(_) => (patch.pieces(), 0),
    };
    let meanwhile = before.being_rewritten();
    let begun = options.pending.begin(vec![(before, meanwhile)]);
    if let Err(error) = overwrite(pieces, start, source, &file, options) {
        if restore(old, start, &copy, &file).is_err() {
            kept.settle();
        }
        return Err(error);
    }
    let entry = begun.done_as(&options.pending.state_of(End::Last, &file));
    Ok(Replaced {
        file,
        backup: Some(kept.settle()),
        parted_links: 0,
        entry,
        warnings: Vec::from_iter(options.pending.warning()),
    })
}

/// Keeps the old bytes for the history: those of the backup, which it shares where they are many.
fn keep<'p>(
    backup: Target<'_>,
    old: &OldFile,
    copy: &File,
    options: ReplaceOptions<'p>,
) -> Result<Before<'p>> {
    let copy = OldFile::opened(copy.try_clone()?)?;
    let pending = options.pending;
    let before = pending.keep(End::Last, backup, &copy, Share::Large, options.cancel)?;
    before.known_as(old)
}

fn open_for_writing(target: Target<'_>, old: &OldFile) -> Result<File> {
    let flags =
        OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(target.dir, target.name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::TXTBSY) => {
            let reason = "it is a running program";
            return Err(Problem::NotReplaceable { reason }.into());
        }
        Err(Errno::NOENT | Errno::LOOP) => return conflict(),
        Err(errno) => return Err(errno.into()),
    };
    if Snapshot::of(&file)?.is_same_file(&Snapshot::of(old.file())?) {
        return Ok(file);
    }
    conflict()
}

/// Returns the pieces after the start of the file that stays, and the length of that.
fn after_kept_start(patch: &Patch) -> (Pieces<'_>, u64) {
    let mut rest = patch.pieces();
    match rest.next() {
        Some(Piece::Keep(range)) if range.start == 0 => (rest, range.end),
        _ => (patch.pieces(), 0),
    }
}

/// From here on the work cannot be cancelled: it is done or undone.
fn overwrite<'p>(
    pieces: impl Iterator<Item = Piece<'p>>,
    start: u64,
    source: &File,
    file: &File,
    options: ReplaceOptions<'_>,
) -> Result<()> {
    let end = pieces::write(pieces, source, file, start, &Cancel::default())?;
    rustix::fs::ftruncate(file, end)?;
    sync_file(file, options.durability)
}

fn restore(old: &OldFile, start: u64, copy: &File, file: &File) -> Result<()> {
    pieces::copy(copy, start..old.size(), file, start, &Cancel::default())?;
    rustix::fs::ftruncate(file, old.size())?;
    rustix::fs::futimens(file, &old.snapshot().times())?;
    Ok(rustix::fs::fsync(file)?)
}
