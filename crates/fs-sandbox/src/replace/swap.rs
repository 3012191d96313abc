//! The exchange: the new file takes the name, and what comes out is looked at.

use cap_std::fs::File;
use fs_core::{Problem, Result};
use rustix::io::Errno;

use super::old_file::{OldFile, Snapshot};
use super::temp::{Temp, is_unsupported};
use super::{Stage, Target, conflict, reached};

/// How often a file is put back when somebody keeps replacing the name meanwhile.
const TRIES: usize = 1024;

/// Gives `file`, which `temp` names, the name of the target, if that is still `old`.
///
/// # Errors
/// `conflict` when something else had the name: it has it again. `not_replaceable` for a mount
/// point, `permission_denied`, `io`.
pub(super) fn swap_in(
    target: Target<'_>,
    temp: Temp<'_>,
    file: &File,
    old: &OldFile,
    expected: &Snapshot,
) -> Result<()> {
    expected.check_at(target)?;
    reached(Stage::Checked);
    match temp.exchange(target.name) {
        Ok(()) => {}
        Err(Errno::NOENT) => return conflict(),
        Err(errno) if is_unsupported(errno) => return rename_over(target, &temp, expected),
        Err(errno) => return Err(refused(errno)),
    }
    reached(Stage::Exchanged);
    match came_out(target, &temp, old) {
        // Dropping `temp` unlinks the old file.
        Ok(None) => Ok(()),
        Ok(Some(stranger)) => put_back(target, temp, Snapshot::of(file)?, stranger),
        Err(errno) => {
            // Not known what it is: it gets its name back.
            _ = temp.exchange(target.name);
            Err(errno.into())
        }
    }
}

/// Returns what came out of the exchange if it is not the file that was read.
fn came_out(target: Target<'_>, temp: &Temp<'_>, old: &OldFile) -> Result<Option<Snapshot>, Errno> {
    match Snapshot::at(target.dir, temp.name())? {
        Some(out) if !old.is(&out)? => Ok(Some(out)),
        _ => Ok(None),
    }
}

/// Where names cannot be exchanged: the check, and then the rename at once.
fn rename_over(target: Target<'_>, temp: &Temp<'_>, expected: &Snapshot) -> Result<()> {
    expected.check_at(target)?;
    temp.rename_over(target.name).map_err(refused)
}

/// Gives `out`, a stranger that `temp` names, its name back. Whoever took the name from the new
/// file in the meantime gets it back as well, so that the last of them has it in the end.
fn put_back(
    target: Target<'_>,
    mut temp: Temp<'_>,
    ours: Snapshot,
    mut out: Snapshot,
) -> Result<()> {
    let mut inside = ours;
    for _ in 0..TRIES {
        match temp.exchange(target.name) {
            Ok(()) => {}
            Err(Errno::NOENT) => match temp.claim(target.name) {
                Ok(()) => return conflict(),
                Err((unclaimed, _)) => {
                    temp = unclaimed;
                    continue;
                }
            },
            Err(_) => break,
        }
        match Snapshot::at(target.dir, temp.name()) {
            Ok(Some(came)) if came.is_same_file(&ours) => return conflict(),
            // `out` took the name from the new file, as it would have from this one: it has it now.
            Ok(Some(came)) if came.is_same_file(&inside) => return conflict(),
            Ok(Some(came)) => {
                inside = out;
                out = came;
            }
            _ => break,
        }
    }
    // What the temporary name holds now is not ours to unlink.
    temp.leave();
    conflict()
}

fn refused(errno: Errno) -> fs_core::Error {
    match errno {
        Errno::BUSY => Problem::NotReplaceable {
            reason: "it is in use as a mount point",
        }
        .into(),
        errno => errno.into(),
    }
}
