//! A name that has been given to another file, until it is sure to keep it.

use std::ffi::OsStr;

use fs_core::{Problem, Result};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::old_file::Snapshot;
use super::temp::{Temp, is_unsupported};
use super::transfer::{Over, check_came_out, not_old, unlink};
use super::{Target, conflict};

/// How often a name is tried again that somebody gives and takes meanwhile.
const TRIES: usize = 16;

/// A target that has its name, and how to take that back.
#[derive(Debug)]
pub(super) enum Placed<'a> {
    /// Nothing had the name.
    New { target: Target<'a>, file: Snapshot },
    /// What had the name has the temporary one.
    Exchanged { target: Target<'a>, old: Temp<'a> },
    /// What had the name is gone.
    Over,
}

impl<'a> Placed<'a> {
    /// Gives the target's name what has the temporary one.
    ///
    /// # Errors
    /// `already_exists`, `is_a_directory`, `conflict`, `io`: the target is then as it was.
    pub(super) fn put(mut temp: Temp<'a>, target: Target<'a>, over: Over<'_>) -> Result<Self> {
        let file = Snapshot::at(target.dir, temp.name())?.ok_or(Problem::Conflict)?;
        for _ in 0..TRIES {
            match temp.claim(target.name) {
                Ok(()) => return Ok(Self::New { target, file }),
                Err((unplaced, Errno::EXIST)) if over.replaces() => temp = unplaced,
                Err((_, errno)) => return Err(errno.into()),
            }
            match temp.exchange(target.name) {
                Ok(()) => return Self::exchanged(temp, target, over),
                Err(Errno::NOENT) => {}
                Err(errno) if is_unsupported(errno) => {
                    if let Over::Only(Some(old)) = over {
                        old.snapshot().check_at(target).map_err(not_old)?;
                    }
                    temp.rename_over(target.name)?;
                    return Ok(Self::Over);
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        conflict()
    }

    /// Looks at what came out of the exchange: a directory gets its name back, and a file that is
    /// not to be replaced.
    fn exchanged(old: Temp<'a>, target: Target<'a>, over: Over<'_>) -> Result<Self> {
        if let Over::Only(Some(known)) = over {
            let at = Target {
                dir: target.dir,
                name: OsStr::new(old.name()),
            };
            if let Err(error) = check_came_out(at, known) {
                old.exchange(target.name)?;
                return Err(error);
            }
        }
        let out = Snapshot::at(target.dir, old.name());
        let out = out.map(|out| out.map(|out| out.kind()));
        if let Ok(Some(FileType::RegularFile | FileType::Symlink)) = out {
            return Ok(Self::Exchanged { target, old });
        }
        old.exchange(target.name)?;
        // What cannot be looked at may be anything.
        out?;
        Err(Problem::IsADirectory.into())
    }

    /// Leaves the target where it is when the source is gone, else takes it back.
    pub(super) fn settle_if(self, gone: Result<()>) -> Result<()> {
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
