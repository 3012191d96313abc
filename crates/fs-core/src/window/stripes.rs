//! A large file counted by two threads.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cap_std::fs::File;

use super::source::Sizes;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::file_bytes::{Block, read_full};
use crate::index::LineCounts;
use crate::lock::lock;
use crate::newline::Unit;

/// When enough has been counted: with the block that holds so many line feeds, or so many blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) feeds: u64,
    pub(crate) blocks: usize,
}

/// What the threads share: the file, cut into stripes that each takes as it comes.
pub(crate) struct Stripes<'a> {
    pub(crate) file: &'a File,
    pub(crate) unit: Unit,
    pub(crate) sizes: Sizes,
    pub(crate) len: u64,
    pub(crate) cancel: &'a Cancel,
    pub(crate) goal: Goal,
}

/// How far the threads are.
struct Progress<'c> {
    /// Where the next stripe begins; the file's length when no more is wanted.
    next: AtomicU64,
    counted: Mutex<Counted<'c>>,
}

struct Counted<'c> {
    counts: &'c mut LineCounts,
    /// Stripes by their start whose forerunner is still being counted.
    early: BTreeMap<u64, Vec<u64>>,
    /// Where the stripe begins that `counts` lack first.
    end: u64,
}

impl Stripes<'_> {
    /// Counts blocks from `start` on into `counts` until the goal is reached or the file ends.
    pub(crate) fn count(&self, start: u64, counts: &mut LineCounts) -> Result<()> {
        let progress = Progress {
            next: AtomicU64::new(start),
            counted: Mutex::new(Counted {
                counts,
                early: BTreeMap::new(),
                end: start,
            }),
        };
        thread::scope(|scope| {
            // Where no thread is to be had, one is enough.
            let other = thread::Builder::new().spawn_scoped(scope, || self.work(&progress));
            let here = self.work(&progress);
            let there = other.map_or(Ok(()), |other| other.join().unwrap_or(Ok(())));
            here.and(there)
        })
    }

    fn work(&self, progress: &Progress<'_>) -> Result<()> {
        let mut block = Block::default();
        block.grow(self.sizes.block);
        let buffer = block.bytes_mut();
        let buffer = buffer.get_mut(..self.sizes.block).unwrap_or_default();
        loop {
            let start = progress
                .next
                .fetch_add(self.sizes.stripe, Ordering::Relaxed);
            if start >= self.len {
                return Ok(());
            }
            let counted = self.count_stripe(start, buffer);
            let is_done = counted.map(|stripe| progress.add(start, stripe, self));
            if !matches!(is_done, Ok(false)) {
                progress.next.store(self.len, Ordering::Relaxed);
                return is_done.map(drop);
            }
        }
    }

    fn count_stripe(&self, start: u64, buffer: &mut [u8]) -> Result<Vec<u64>> {
        let end = self.len.min(start + self.sizes.stripe);
        (start..end)
            .step_by(self.sizes.block)
            .map(|offset| {
                self.cancel.check()?;
                let read = read_full(self.file, offset, buffer)?;
                let left = usize::try_from(self.len - offset).unwrap_or(usize::MAX);
                let bytes = buffer.get(..read.min(left)).unwrap_or_default();
                Ok(self.unit.count(bytes))
            })
            .collect()
    }
}

impl Progress<'_> {
    /// Adds the stripe at `start` and returns whether the goal has been reached.
    fn add(&self, start: u64, stripe: Vec<u64>, stripes: &Stripes<'_>) -> bool {
        let mut counted = lock(&self.counted);
        let counted = &mut *counted;
        counted.early.insert(start, stripe);
        while let Some(stripe) = counted.early.remove(&counted.end) {
            for feeds in stripe {
                counted.counts.push(feeds);
            }
            counted.end += stripes.sizes.stripe;
        }
        counted.counts.total() >= stripes.goal.feeds
            || counted.counts.blocks() >= stripes.goal.blocks
    }
}
