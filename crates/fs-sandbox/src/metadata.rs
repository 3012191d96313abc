//! What a name is, with the time of its creation.

use std::time::SystemTime;

use fs_core::{EntryKind, Error, Problem, Result};
use rustix::fs::{AtFlags, StatxFlags};

use crate::resolve::{Follow, Place};
use crate::rights::{OpenFlags, Operation, needed};
use crate::workspace::{Workspace, entry_of, size_of, time};

/// What a name is, as the system tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is; a link is a link.
    pub kind: EntryKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed; `None` where that cannot be said as a time.
    pub modified: Option<SystemTime>,
    /// When it was created; `None` where the file system does not tell.
    pub created: Option<SystemTime>,
}

impl Workspace {
    /// Returns what the path names, as [`Workspace::stat`], with the time of its creation.
    ///
    /// # Errors
    /// Those of [`Workspace::stat`].
    pub fn symlink_metadata(&self, path: &str) -> Result<Metadata> {
        let need = needed(Operation::Stat, OpenFlags::NONE);
        let place = self.locate(path, need, Follow::No)?;
        let metadata = metadata_of(&place);
        metadata.ok_or_else(|| Error::from(Problem::NotFound).at(path))
    }
}

fn metadata_of(place: &Place) -> Option<Metadata> {
    let stat = place.found.as_ref()?;
    let entry = entry_of(place)?;
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let told = rustix::fs::statx(&place.dir, &place.name, flags, StatxFlags::BTIME).ok();
    let same = told.filter(|told| {
        told.stx_mask & StatxFlags::BTIME.bits() != 0
            && rustix::fs::makedev(told.stx_dev_major, told.stx_dev_minor) == stat.st_dev
            && told.stx_ino == stat.st_ino
    });
    Some(Metadata {
        kind: entry.kind,
        size: size_of(stat),
        modified: entry.modified,
        created: same.and_then(|told| time(told.stx_btime.tv_sec, told.stx_btime.tv_nsec)),
    })
}
