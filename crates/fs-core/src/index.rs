//! Line counts per block of large files, kept between reads.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use rustix::fs::Stat;

use crate::lock::lock;
use crate::newline::Unit;

const MAX_FILES: usize = 64;
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The coarsest clock that a file system stamps its files by.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// A small cache of line counts per 128 KiB block, for files over 4 MiB; clones share it.
///
/// It keeps at most 64 files and 8 MiB (64 KiB for a file of 1 GiB), the least recently used out
/// first, and belongs to whoever serves reads for a long time. A count is used again only while the
/// file's device, inode, size, modification and change time are what they were, and none is kept of
/// a file that changed less than 2 s before it was counted. What it cannot see is a change through
/// a shared memory map whose time the system has not written yet.
#[derive(Debug, Clone, Default)]
pub struct IndexCache(Arc<Mutex<Vec<Kept>>>);

/// A file's identity, size and times in nanoseconds, by its open handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    dev: u64,
    ino: u64,
    pub(crate) size: u64,
    modified: i128,
    changed: i128,
}

/// The number of line feeds in each of a file's blocks, from the first block on.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineCounts {
    /// The line feeds up to the end of each block.
    #[expect(clippy::rc_buffer, reason = "a reader counts on in its own copy")]
    ends: Arc<Vec<u64>>,
}

#[derive(Debug)]
struct Kept {
    stamp: Stamp,
    unit: Unit,
    counts: LineCounts,
}

impl IndexCache {
    /// Returns an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what has been counted of the file.
    pub(crate) fn get(&self, stamp: &Stamp, unit: Unit) -> Option<LineCounts> {
        let mut kept = self.lock();
        let at = kept
            .iter()
            .position(|kept| kept.stamp == *stamp && kept.unit == unit)?;
        let found = kept.remove(at);
        let counts = found.counts.clone();
        kept.push(found);
        Some(counts)
    }

    /// Keeps what has been counted of the file, in place of less or of an older state.
    pub(crate) fn keep(&self, stamp: Stamp, unit: Unit, counts: LineCounts) {
        if counts.bytes() > MAX_BYTES {
            return;
        }
        let mut kept = self.lock();
        let is_less = |kept: &Kept| {
            kept.stamp != stamp || (kept.unit == unit && kept.counts.blocks() <= counts.blocks())
        };
        kept.retain(|kept| !(kept.stamp.is_same_file(&stamp) && is_less(kept)));
        if kept
            .iter()
            .any(|kept| kept.stamp == stamp && kept.unit == unit)
        {
            return;
        }
        kept.push(Kept {
            stamp,
            unit,
            counts,
        });
        let bytes = |kept: &[Kept]| kept.iter().map(|kept| kept.counts.bytes()).sum::<usize>();
        while kept.len() > MAX_FILES || bytes(&kept) > MAX_BYTES {
            kept.remove(0);
        }
    }

    /// The last is the most recently used.
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        lock(&self.0)
    }
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev,
            ino: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed: nanos(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }

    /// Returns whether a change after `now` would give the file another stamp, whatever the clock
    /// of its file system.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let Ok(now) = now.duration_since(SystemTime::UNIX_EPOCH) else {
            return false;
        };
        let now = nanos(now.as_secs().into(), now.subsec_nanos().into());
        let last = self.modified.max(self.changed);
        now - last >= nanos(CLOCK_STEP.as_secs().into(), 0)
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

    fn is_same_file(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }
}

impl LineCounts {
    /// Returns how many blocks have been counted.
    pub(crate) fn blocks(&self) -> usize {
        self.ends.len()
    }

    /// Returns the line feeds of all counted blocks.
    pub(crate) fn total(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the line feeds before block `block`, or of all that are counted.
    pub(crate) fn before(&self, block: usize) -> u64 {
        let end = block.checked_sub(1).map(|last| self.ends.get(last));
        end.map_or(0, |end| end.copied().unwrap_or_else(|| self.total()))
    }

    /// Returns the block that holds line feed `feed`, counted from 1.
    pub(crate) fn block_of(&self, feed: u64) -> Option<usize> {
        let block = self.ends.partition_point(|end| *end < feed);
        (block < self.ends.len()).then_some(block)
    }

    /// Adds the next block's line feeds.
    pub(crate) fn push(&mut self, feeds: u64) {
        let end = self.total() + feeds;
        Arc::make_mut(&mut self.ends).push(end);
    }

    fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u64>()
    }
}

fn nanos(seconds: i128, nanos: i128) -> i128 {
    seconds * 1_000_000_000 + nanos
}

#[cfg(test)]
mod tests;
