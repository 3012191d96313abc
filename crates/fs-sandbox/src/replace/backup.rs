//! The `.bak` beside a file: made before the exchange, undone when that fails.

use std::ffi::{OsStr, OsString};
use std::io;

use cap_std::fs::{Dir, File};
use fs_core::{ErrorKind, Problem, Result};
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use super::old_file::{OldFile, Snapshot};
use super::temp::Temp;
use super::{BackupNames, ReplaceOptions, Target, attributes, conflict, pieces, sync_file};
use crate::history::Pending;
use crate::write::Backup;

/// How many numbers are tried for a backup that replaces none.
const NUMBERS: u32 = 10_000;

/// A backup in its place; dropping it puts the directory back as it was.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    dir: &'a Dir,
    name: OsString,
    made: Snapshot,
    /// The backup that this one replaced, while it can still be put back.
    older: Option<Temp<'a>>,
    settled: bool,
}

impl Kept<'_> {
    /// Returns the backup's name in its directory.
    pub(super) fn target(&self) -> Target<'_> {
        Target {
            dir: self.dir,
            name: &self.name,
        }
    }

    /// Keeps the backup for good and returns its name; the one that it replaced goes.
    pub(super) fn settle(mut self) -> String {
        self.settled = true;
        self.name.to_string_lossy().into_owned()
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let ours = |found: Snapshot| found.is_same_file(&self.made);
        if !Snapshot::at(self.dir, &self.name).is_ok_and(|found| found.is_some_and(ours)) {
            return;
        }
        // Best effort: the error that leads here is the one to report.
        _ = match &self.older {
            Some(older) => older.rename_over(&self.name),
            None => rustix::fs::unlinkat(self.dir, &*self.name, AtFlags::empty()),
        };
    }
}

/// Keeps the old bytes beside the file: as a second name of the old file where it has only one,
/// else as a copy. `expected` becomes what the old file is after that.
///
/// # Errors
/// `backup_failed`; `conflict` when the name is not `old` any more; `cancelled`.
pub(super) fn make<'a>(
    target: Target<'a>,
    old: &OldFile,
    expected: &mut Snapshot,
    options: ReplaceOptions<'a>,
) -> Result<Option<Kept<'a>>> {
    if options.backup == Backup::Off {
        return Ok(None);
    }
    let linked = if old.links() == 1 {
        link(target, old, options)?
    } else {
        None
    };
    if let Some((temp, made)) = linked {
        let kept = place(target, temp, made, options)?;
        // The link and the rename have moved the time of the last change of status.
        *expected = old.unchanged_snapshot()?;
        return Ok(Some(kept));
    }
    let (kept, _) = copy(target, old, options)?;
    // The name that the backup took may have been another one of the old file.
    *expected = old.unchanged_snapshot()?;
    Ok(Some(kept))
}

/// Keeps a copy of the old bytes beside the file and returns it open for reading too.
///
/// # Errors
/// `backup_failed`, `cancelled`; `conflict` when the file has become shorter.
pub(super) fn copy<'a>(
    target: Target<'a>,
    old: &OldFile,
    options: ReplaceOptions<'a>,
) -> Result<(Kept<'a>, File)> {
    let own = Mode::RUSR | Mode::WUSR;
    let (temp, file) = Temp::create(target.dir, own, options.pending).map_err(failed)?;
    pieces::copy(old.file(), 0..old.size(), &file, 0, options.cancel).map_err(failed)?;
    attributes::carry_to_backup(old, &file).map_err(refused)?;
    sync_file(&file, options.durability).map_err(failed)?;
    let made = Snapshot::of(&file).map_err(refused)?;
    Ok((place(target, temp, made, options)?, file))
}

/// Gives the old file a second, temporary name; `None` where it cannot have one.
fn link<'a>(
    target: Target<'a>,
    old: &OldFile,
    options: ReplaceOptions<'a>,
) -> Result<Option<(Temp<'a>, Snapshot)>> {
    let Ok(temp) = Temp::link(target.dir, target.name, options.pending) else {
        return Ok(None);
    };
    match Snapshot::at(target.dir, temp.name())? {
        Some(made) if old.is(&made)? => Ok(Some((temp, made))),
        _ => conflict(),
    }
}

fn place<'a>(
    target: Target<'a>,
    temp: Temp<'a>,
    made: Snapshot,
    options: ReplaceOptions<'a>,
) -> Result<Kept<'a>> {
    let kept = |name, older| Kept {
        dir: target.dir,
        name,
        made,
        older,
        settled: false,
    };
    match options.backup {
        Backup::Off | Backup::Keep => {
            let name = place_numbered(target.name, temp, options.names)?;
            Ok(kept(name, None))
        }
        Backup::Single => {
            let name = with_suffix(target.name, ".bak");
            if !options.names.admit(&name) {
                return Err(refused(Errno::PERM));
            }
            let older = place_single(target.dir, &name, temp, options.pending)?;
            Ok(kept(name, older))
        }
    }
}

/// Gives the backup the first free name; whatever has a name, a link too, keeps it.
fn place_numbered(file: &OsStr, mut temp: Temp<'_>, names: BackupNames<'_>) -> Result<OsString> {
    for number in 0..NUMBERS {
        let name = match number {
            0 => with_suffix(file, ".bak"),
            number => with_suffix(file, &format!(".bak.{number}")),
        };
        if !names.admit(&name) {
            return Err(refused(Errno::PERM));
        }
        match temp.claim(&name) {
            Ok(()) => return Ok(name),
            Err((unplaced, Errno::EXIST)) => temp = unplaced,
            Err((_, errno)) => return Err(refused(errno)),
        }
    }
    Err(refused(Errno::EXIST))
}

/// Gives the backup its one name and returns the older backup, which still has a temporary name.
/// A link that has the name is replaced itself.
fn place_single<'a>(
    dir: &'a Dir,
    name: &OsStr,
    mut temp: Temp<'a>,
    pending: &'a Pending,
) -> Result<Option<Temp<'a>>> {
    for _ in 0..2 {
        let found = Snapshot::at(dir, name).map_err(refused)?;
        let Some(found) = found else {
            match temp.claim(name) {
                Ok(()) => return Ok(None),
                Err((unplaced, Errno::EXIST)) => temp = unplaced,
                Err((_, errno)) => return Err(refused(errno)),
            }
            continue;
        };
        match found.kind() {
            FileType::RegularFile | FileType::Symlink => {}
            FileType::Directory => return Err(refused(Errno::ISDIR)),
            _ => return Err(refused(Errno::EXIST)),
        }
        // Where the older one cannot have a second name it cannot be put back either.
        let older = Temp::link(dir, name, pending).ok();
        if let Some(older) = &older {
            own(dir, older, pending);
        }
        temp.rename_over(name).map_err(refused)?;
        return Ok(older);
    }
    Err(refused(Errno::EXIST))
}

/// Writes down that the older backup may go with its temporary name: soon it has no other one, and
/// who is killed then cannot remove it.
fn own(dir: &Dir, older: &Temp<'_>, pending: &Pending) {
    if let Ok(Some(found)) = Snapshot::at(dir, older.name()) {
        pending.own(found.id());
    }
}

fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

fn refused(errno: Errno) -> fs_core::Error {
    Problem::BackupFailed(errno.into()).into()
}

/// Turns what failed on the way to a backup into `backup_failed`, with the system's own number.
fn failed(error: fs_core::Error) -> fs_core::Error {
    let source = match error.problem() {
        Problem::Cancelled | Problem::Conflict => return error,
        Problem::Io { source, .. } => source.raw_os_error().map(io::Error::from_raw_os_error),
        problem if problem.kind() == ErrorKind::PermissionDenied => Some(Errno::ACCESS.into()),
        _ => None,
    };
    Problem::BackupFailed(source.unwrap_or_else(|| io::Error::other(error))).into()
}
