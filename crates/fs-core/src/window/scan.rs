//! Lines found by counting line feeds in blocks, never by decoding.

use super::source::{Origin, Source};
use super::stripes::{Goal, Stripes};
use crate::error::Result;
use crate::index::LineCounts;
use crate::newline::Unit;

/// A source with the number of line feeds in each block, as far as they have been counted.
pub(crate) struct Scan<'s, 'a> {
    pub(crate) source: &'s mut Source<'a>,
    pub(crate) counts: LineCounts,
    unit: Unit,
    /// Where the text begins, after the byte order mark.
    text_start: u64,
    scanned_alone: u64,
}

impl<'s, 'a> Scan<'s, 'a> {
    /// Returns the scan of `source` that goes on after `counts`.
    pub(crate) fn new(
        source: &'s mut Source<'a>,
        counts: LineCounts,
        unit: Unit,
        bom_bytes: usize,
    ) -> Self {
        Self {
            source,
            counts,
            unit,
            text_start: bom_bytes as u64,
            scanned_alone: 0,
        }
    }

    pub(crate) fn text_start(&self) -> u64 {
        self.text_start.min(self.source.len())
    }

    /// Returns the offset at which line `line`, counted from 1, begins; `None` past the end.
    pub(crate) fn line_start(&mut self, line: u64) -> Result<Option<u64>> {
        let start = match line.saturating_sub(1) {
            0 => Some(self.text_start()),
            feeds => self.after_feed(feeds)?,
        };
        Ok(start.filter(|start| *start < self.source.len()))
    }

    /// Returns the offset at which the last `count` lines begin, read backwards.
    pub(crate) fn tail_start(&mut self, count: u64) -> Result<u64> {
        let mut end = self.source.len();
        if count == 0 {
            return Ok(end);
        }
        let mut wanted = count.saturating_add(u64::from(self.ends_with_feed()?));
        while end > 0 {
            let step = self.step();
            let start = (end - 1) / step * step;
            let len = usize::try_from(end - start).unwrap_or(usize::MAX);
            let block = self.source.at(start, len)?;
            let block = block.get(..len).unwrap_or(block);
            let feeds = self.unit.count(block);
            if wanted <= feeds {
                let after = self.unit.after_nth_back(block, wanted).unwrap_or(0);
                return Ok(start + after as u64);
            }
            wanted -= feeds;
            end = start;
        }
        Ok(self.text_start())
    }

    /// Returns the number of the line that begins at `offset`, counted from 1.
    pub(crate) fn line_at(&mut self, offset: u64) -> Result<u64> {
        let block = usize::try_from(offset / self.step()).unwrap_or(usize::MAX);
        let goal = Goal {
            feeds: u64::MAX,
            blocks: block,
        };
        while self.counts.blocks() < block && !self.is_complete() {
            self.count_on(goal)?;
        }
        let start = block as u64 * self.step();
        let len = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = self.source.at(start, len)?;
        let head = bytes.get(..len).unwrap_or(bytes);
        Ok(self.counts.before(block) + self.unit.count(head) + 1)
    }

    /// Returns the number of lines if every block has been counted.
    pub(crate) fn known_total(&mut self) -> Result<Option<u64>> {
        if !self.is_complete() {
            return Ok(None);
        }
        let is_open = self.source.len() > self.text_start && !self.ends_with_feed()?;
        Ok(Some(self.counts.total() + u64::from(is_open)))
    }

    fn is_complete(&self) -> bool {
        self.counted_bytes() >= self.source.len()
    }

    fn counted_bytes(&self) -> u64 {
        self.counts.blocks() as u64 * self.step()
    }

    fn step(&self) -> u64 {
        self.source.sizes().block as u64
    }

    fn ends_with_feed(&mut self) -> Result<bool> {
        let unit = self.unit.len();
        let last = self.source.len().saturating_sub(unit as u64);
        let bytes = self.source.at(last, unit)?;
        Ok(self.unit.ends_with(bytes, b'\n'))
    }

    /// Returns the offset after the `feed`th line feed, counted from 1.
    fn after_feed(&mut self, feed: u64) -> Result<Option<u64>> {
        loop {
            if let Some(block) = self.counts.block_of(feed) {
                let start = block as u64 * self.step();
                let wanted = feed - self.counts.before(block);
                let bytes = self.source.at(start, self.source.sizes().block)?;
                let after = self.unit.after_nth(bytes, wanted);
                return Ok(after.map(|after| start + after as u64));
            }
            if self.is_complete() {
                return Ok(None);
            }
            self.count_on(Goal {
                feeds: feed,
                blocks: usize::MAX,
            })?;
        }
    }

    /// Counts the next block; of a large file, blocks until the goal is reached, by two threads.
    fn count_on(&mut self, goal: Goal) -> Result<()> {
        let sizes = self.source.sizes();
        let start = self.counted_bytes();
        if let Origin::File(file) = self.source.origin()
            && self.source.len() >= sizes.shared
            && self.source.len() - start >= sizes.alone
            && self.scanned_alone >= sizes.alone
        {
            let stripes = Stripes {
                file,
                unit: self.unit,
                sizes,
                len: self.source.len(),
                cancel: self.source.cancel(),
                goal,
            };
            return stripes.count(start, &mut self.counts);
        }
        let bytes = self.source.at(start, sizes.block)?;
        self.counts.push(self.unit.count(bytes));
        self.scanned_alone += self.step();
        Ok(())
    }
}
