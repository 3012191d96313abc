//! The hits of many threads in one order, and no more of them than are wanted.

use std::collections::BTreeMap;

use super::run::Examined;
use super::sink::LineCost;
use super::{Block, Cut, Found, Query};
use crate::path::RelPath;
use crate::skip::{Skip, Skips};
use crate::walk::MAX_NAMED;

/// What was found in a stretch of the walk.
#[derive(Debug, Default)]
pub(super) struct Share {
    pub(super) blocks: Vec<Block>,
    pub(super) skipped: Skips,
    pub(super) unreadable: Vec<RelPath>,
    pub(super) files: u64,
    hits: usize,
    bytes: usize,
}

/// Puts the shares in order, and finds out from where on none is wanted.
#[derive(Debug)]
pub(super) struct Collector {
    max_results: usize,
    max_bytes: usize,
    /// All up to the share that is missing next.
    whole: Share,
    next: usize,
    waiting: BTreeMap<usize, Share>,
}

impl Share {
    /// Returns whether it alone is more than the answer may hold.
    pub(super) fn is_full(&self, query: &Query) -> bool {
        self.exceeds(query.max_results, query.max_bytes)
    }

    /// Takes what was found in the file at `path`.
    pub(super) fn take(&mut self, examined: Examined, path: impl Fn() -> RelPath) {
        match examined.skip {
            Some(Skip::Unreadable) => self.add_unreadable(path()),
            Some(skip) => self.skipped.add(skip),
            None => {}
        }
        self.hits += examined.runs.hits;
        for run in examined.runs.list {
            let block = Block {
                path: path(),
                encoding: examined.encoding,
                first_line: run.first_line,
                lines: run.lines,
            };
            self.bytes += bytes_of(&block);
            self.blocks.push(block);
        }
    }

    /// Counts and names what could not be read.
    pub(super) fn add_unreadable(&mut self, path: RelPath) {
        self.skipped.add(Skip::Unreadable);
        if self.unreadable.len() < MAX_NAMED {
            self.unreadable.push(path);
        }
    }

    fn exceeds(&self, max_results: usize, max_bytes: usize) -> bool {
        exceeds(self.hits, self.bytes, max_results, max_bytes)
    }

    /// Takes all that comes after it.
    fn append(&mut self, later: Self) {
        self.blocks.extend(later.blocks);
        self.skipped.add_all(&later.skipped);
        self.unreadable.extend(later.unreadable);
        self.unreadable.truncate(MAX_NAMED);
        self.files += later.files;
        self.hits += later.hits;
        self.bytes += later.bytes;
    }
}

impl Collector {
    pub(super) fn new(query: &Query) -> Self {
        Self {
            max_results: query.max_results,
            max_bytes: query.max_bytes,
            whole: Share::default(),
            next: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Takes the share of this number, and returns the number of the last one that can still matter.
    ///
    /// Shares are handed out in order. So once those that are here hold enough, those after them
    /// cannot add to the answer, whatever the missing ones before them hold.
    pub(super) fn add(&mut self, index: usize, share: Share) -> usize {
        if self.is_full() {
            return self.next - 1;
        }
        self.waiting.insert(index, share);
        while let Some(share) = self.waiting.remove(&self.next) {
            self.whole.append(share);
            self.next += 1;
            if self.is_full() {
                self.waiting.clear();
                return self.next - 1;
            }
        }
        let last_wanted = self.last_wanted();
        if let Some(last_wanted) = last_wanted {
            self.waiting.split_off(&(last_wanted + 1));
        }
        last_wanted.unwrap_or(usize::MAX)
    }

    /// Returns the answer.
    pub(super) fn into_found(self, query: &Query) -> Found {
        let mut whole = self.whole;
        for share in self.waiting.into_values() {
            whole.append(share);
        }
        let cut = trim(&mut whole.blocks, query);
        Found {
            names: Vec::new(),
            hits: whole.blocks.iter().map(|block| block.hits().count()).sum(),
            blocks: whole.blocks,
            cut,
            skipped: whole.skipped,
            unreadable: whole.unreadable,
            files: whole.files,
        }
    }

    fn is_full(&self) -> bool {
        self.whole.exceeds(self.max_results, self.max_bytes)
    }

    fn last_wanted(&self) -> Option<usize> {
        let (mut hits, mut bytes) = (self.whole.hits, self.whole.bytes);
        for (index, share) in &self.waiting {
            hits += share.hits;
            bytes += share.bytes;
            if exceeds(hits, bytes, self.max_results, self.max_bytes) {
                return Some(*index);
            }
        }
        None
    }
}

/// Returns whether so many hits, in so many bytes, are more than an answer may hold: one hit always
/// fits.
pub(super) fn exceeds(hits: usize, bytes: usize, max_results: usize, max_bytes: usize) -> bool {
    hits > max_results || (hits > 1 && bytes > max_bytes)
}

fn bytes_of(block: &Block) -> usize {
    let cost = LineCost::of(&block.path);
    block.lines.iter().map(|line| cost.of_line(line)).sum()
}

/// Cuts the blocks to what an answer may hold, and returns why; the first hit is never cut away.
fn trim(blocks: &mut Vec<Block>, query: &Query) -> Option<Cut> {
    let (end, cut) = end_of(blocks, query)?;
    let (block_end, line_end) = end;
    blocks.truncate(block_end + 1);
    if let Some(block) = blocks.last_mut() {
        let context = query.context_lines;
        let marked = block
            .lines
            .iter()
            .take(line_end)
            .rposition(|line| line.column.is_some());
        match marked {
            // What follows the last hit is its context, even where it matches, too.
            Some(last) if cut == Cut::Results => block.lines.truncate(last + 1 + context),
            Some(last) => block.lines.truncate(line_end.min(last + 1 + context)),
            None => block.lines.clear(),
        }
        block
            .lines
            .iter_mut()
            .skip(line_end)
            .for_each(|line| line.column = None);
        if block.lines.is_empty() {
            blocks.pop();
        }
    }
    Some(cut)
}

/// Returns the first line, by block and place in it, that an answer may not hold, and why.
fn end_of(blocks: &[Block], query: &Query) -> Option<((usize, usize), Cut)> {
    let (mut hits, mut bytes) = (0, 0);
    for (block_index, block) in blocks.iter().enumerate() {
        let cost = LineCost::of(&block.path);
        for (index, line) in block.lines.iter().enumerate() {
            let is_hit = line.column.is_some();
            bytes += cost.of_line(line);
            if is_hit && hits == query.max_results {
                return Some(((block_index, index), Cut::Results));
            }
            if hits > 0 && bytes > query.max_bytes {
                return Some(((block_index, index), Cut::Bytes));
            }
            hits += usize::from(is_hit);
        }
    }
    None
}
