//! The content of a file, in memory or read block by block where it is needed.

mod patched;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use cap_std::fs::File;

use crate::cancel::Cancel;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::file_bytes::{Block, read_full};
use crate::format::{Detected, Eol, Fallback};
use crate::judge::{Blocks, judge};
use crate::newline::{Before, Breaks, Unit};
use crate::problem::Problem;

/// How much of a file is in memory at a time.
const BLOCK_BYTES: usize = 1024 * 1024;
/// The longest byte order mark.
const MARK_BYTES: u64 = 3;

/// The content of a file: bytes in memory, or an open file that is read in blocks of 1 MiB, so that
/// memory does not grow with it.
///
/// A file is taken to have the length that it is said to have; where it has become shorter, reading
/// is a `conflict`. That it holds the same bytes at every read is for whoever holds it to see to.
///
/// ```
/// use fs_core::{Content, Encoding, Eol, Fallback};
///
/// let content = Content::of_bytes(b"one\r\ntwo\r\n");
/// let found = content.detect(None, Fallback::None)?;
/// assert_eq!(found.encoding(), Some(Encoding::UTF_8));
/// assert_eq!(content.eol(0..content.len(), Encoding::UTF_8)?, Eol::CrLf);
/// assert_eq!(&*content.read(5..8)?, b"two");
/// # Ok::<(), fs_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Content<'a> {
    place: Place<'a>,
    len: u64,
    cancel: Cancel,
    /// Where the line feeds are, once a pass has counted them.
    feeds: Arc<OnceLock<Feeds>>,
}

/// The line feeds of content that is not in memory, where they are single bytes.
#[derive(Debug, Default)]
struct Feeds {
    /// How many come before each block.
    before: Vec<u64>,
    all: Breaks,
}

/// Content that is judged, and its line feeds counted by the way.
struct Counted<'c, 'a>(&'c Content<'a>);

#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Memory(&'a [u8]),
    MemoryInBlocks(&'a [u8], usize),
    File(&'a File),
}

impl<'a> Content<'a> {
    /// Returns the content that is `bytes`: one block.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        Self {
            place: Place::Memory(bytes),
            len: bytes.len() as u64,
            cancel: Cancel::default(),
            feeds: Arc::default(),
        }
    }

    /// Returns the first `len` bytes of an open file; `cancel` is asked before each block.
    pub fn of_file(file: &'a File, len: u64, cancel: &Cancel) -> Self {
        Self {
            place: Place::File(file),
            len,
            cancel: cancel.clone(),
            feeds: Arc::default(),
        }
    }

    /// Returns the content that is `bytes`, given out as a file of them would be, in blocks of
    /// `block_bytes` (from 1): whatever is made of it, the size of the blocks makes no difference.
    pub fn in_blocks(bytes: &'a [u8], block_bytes: usize) -> Self {
        Self {
            place: Place::MemoryInBlocks(bytes, block_bytes.max(1)),
            ..Self::of_bytes(bytes)
        }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all bytes, where they are in memory as one block.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        match self.place {
            Place::Memory(bytes) => Some(bytes),
            Place::MemoryInBlocks(..) | Place::File(_) => None,
        }
    }

    /// Returns how many bytes are read at a time; of content in memory, its length.
    pub fn block_bytes(&self) -> usize {
        match self.place {
            Place::Memory(bytes) => bytes.len().max(1),
            Place::MemoryInBlocks(_, block_bytes) => block_bytes,
            Place::File(_) => BLOCK_BYTES,
        }
    }

    /// Returns the bytes in `range`, all of which are then in memory; what is past the end is left
    /// out.
    ///
    /// # Errors
    /// `conflict` when the file has become shorter, `cancelled`, `io`.
    pub fn read(&self, range: Range<u64>) -> Result<Cow<'a, [u8]>> {
        if let Place::Memory(bytes) = self.place {
            return Ok(Cow::Borrowed(slice(bytes, &range)));
        }
        let mut bytes = Vec::new();
        self.read_onto(range, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Appends the bytes in `range` to `to`; what is past the end is left out.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_onto(&self, range: Range<u64>, to: &mut Vec<u8>) -> Result<()> {
        let range = self.within(range);
        match self.place {
            Place::Memory(bytes) | Place::MemoryInBlocks(bytes, _) => {
                to.extend_from_slice(slice(bytes, &range));
                Ok(())
            }
            Place::File(file) => {
                self.cancel.check()?;
                let start = to.len();
                to.resize(start + length(&range), 0);
                let buffer = to.get_mut(start..).unwrap_or_default();
                fill(file, range.start, buffer)
            }
        }
    }

    /// Calls `see` with the bytes of `range`, block by block and each block of an even length but for
    /// the last, until it breaks.
    ///
    /// # Errors
    /// `conflict` when the file has become shorter, `cancelled`, `io`.
    pub fn each(
        &self,
        range: Range<u64>,
        see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let range = self.within(range);
        match self.place {
            Place::Memory(bytes) => {
                let _: ControlFlow<()> = see(slice(bytes, &range));
            }
            Place::MemoryInBlocks(bytes, block_bytes) => {
                let mut blocks = slice(bytes, &range).chunks(block_bytes.next_multiple_of(2));
                let _: ControlFlow<()> = blocks.try_for_each(see);
            }
            Place::File(file) => self.each_of_file(file, range, see)?,
        }
        Ok(())
    }

    fn each_of_file(
        &self,
        file: &File,
        range: Range<u64>,
        see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut block = Block::default();
        block.grow(BLOCK_BYTES.min(length(&range)));
        let mut at = range.start;
        while at < range.end {
            self.cancel.check()?;
            let len = BLOCK_BYTES.min(length(&(at..range.end)));
            let buffer = block.bytes_mut().get_mut(..len).unwrap_or_default();
            fill(file, at, buffer)?;
            if see(buffer).is_break() {
                break;
            }
            at += len as u64;
        }
        Ok(())
    }

    /// Finds out what the content is, as [`detect`](crate::detect) does.
    ///
    /// # Errors
    /// Those of [`detect`](crate::detect), `conflict` when the file has become shorter, `cancelled`,
    /// `io`.
    pub fn detect(&self, declared: Option<Encoding>, fallback: Fallback) -> Result<Detected> {
        judge(&mut Counted(self), declared, fallback)
    }

    /// Returns the line breaks of the bytes in `range`, which begins on a code unit's edge.
    ///
    /// # Errors
    /// `conflict` when the file has become shorter, `cancelled`, `io`.
    pub fn eol(&self, range: Range<u64>, encoding: Encoding) -> Result<Eol> {
        let unit = Unit::of(encoding);
        if let Some(feeds) = self.counted(unit)
            && range.end >= self.len
            && range.start <= MARK_BYTES
            && !self.read(0..range.start)?.contains(&b'\n')
        {
            return Ok(Eol::from(feeds.all));
        }
        let mut before = Before::Other;
        let mut breaks = Breaks::default();
        self.each(range, &mut |block| {
            breaks = breaks + unit.breaks(block, before);
            before = before_after(block, unit);
            match Eol::from(breaks) {
                Eol::Mixed => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })?;
        Ok(Eol::from(breaks))
    }

    /// Returns how many line feeds there are in `range`, which begins on a code unit's edge.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn count_feeds(&self, range: Range<u64>, encoding: Encoding) -> Result<u64> {
        let unit = Unit::of(encoding);
        let range = self.within(range);
        let step = self.step();
        if let Some(feeds) = self.counted(unit)
            && range.end.saturating_sub(range.start) > step
        {
            let before = |at: u64| -> Result<u64> {
                let block = usize::try_from(at / step).ok();
                let passed = block.and_then(|block| feeds.before.get(block));
                let head = self.read(at - at % step..at)?;
                Ok(passed.unwrap_or(&feeds.all.feeds) + unit.count(&head))
            };
            return Ok(before(range.end)? - before(range.start)?);
        }
        let mut count = 0;
        self.each(range, &mut |block| {
            count += unit.count(block);
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    /// Returns the line feeds, if they have been counted as these units.
    fn counted(&self, unit: Unit) -> Option<&Feeds> {
        self.feeds.get().filter(|_| unit == Unit::Byte)
    }

    /// Returns how long the blocks of a pass are.
    fn step(&self) -> u64 {
        self.block_bytes().next_multiple_of(2) as u64
    }

    /// Returns the number of lines from `start` on, which is where the text begins.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn count_lines(&self, start: u64, encoding: Encoding) -> Result<u64> {
        let unit = Unit::of(encoding);
        let (mut lines, mut open) = (0, false);
        self.each(start..self.len, &mut |block| {
            lines += unit.count(block);
            open = !block.is_empty() && !unit.ends_with(block, b'\n');
            ControlFlow::Continue(())
        })?;
        Ok(lines + u64::from(open))
    }

    /// Returns where line `line` begins, counted from 1, of the text that begins at `start`; `None`
    /// where fewer breaks come before the end.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn line_start(&self, start: u64, line: u64, encoding: Encoding) -> Result<Option<u64>> {
        let unit = Unit::of(encoding);
        let mut left = match line {
            0 => return Ok(None),
            1 => return Ok(Some(start)),
            _ => line - 1,
        };
        let (mut at, mut found) = (start, None);
        self.each(start..self.len, &mut |block| {
            let feeds = unit.count(block);
            if feeds < left {
                left -= feeds;
                at += block.len() as u64;
                return ControlFlow::Continue(());
            }
            found = unit.after_nth(block, left).map(|end| at + end as u64);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Returns where the break of the line that begins at `start` begins and where it ends; both are
    /// the end of the content where the line has none.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn line_end(&self, start: u64, encoding: Encoding) -> Result<Range<u64>> {
        let unit = Unit::of(encoding);
        let len = unit.len() as u64;
        let (mut at, mut found) = (start, None);
        self.each(start..self.len, &mut |block| {
            found = unit.feeds(block).next().map(|feed| at + feed as u64);
            at += block.len() as u64;
            match found {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        })?;
        let Some(feed) = found else {
            return Ok(self.len..self.len);
        };
        let before = self.read(feed.saturating_sub(len).max(start)..feed)?;
        let returned = unit.ends_with(&before, b'\r');
        Ok(feed - if returned { len } else { 0 }..feed + len)
    }

    fn repeats(&self, range: &Range<u64>, at: u64) -> Result<bool> {
        let mut at = at;
        let mut result = Ok(true);
        self.each(range.clone(), &mut |block| {
            result = self.holds(block, at);
            at += block.len() as u64;
            match result {
                Ok(true) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        })?;
        result
    }

    /// Returns whether `bytes` stand at `at`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn holds(&self, bytes: &[u8], at: u64) -> Result<bool> {
        let mut at = at;
        for block in bytes.chunks(BLOCK_BYTES) {
            let end = at + block.len() as u64;
            if *self.read(at..end)? != *block {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }

    fn within(&self, range: Range<u64>) -> Range<u64> {
        range.start.min(self.len)..range.end.min(self.len)
    }
}

impl Blocks for Counted<'_, '_> {
    fn each(&mut self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let content = self.0;
        if content.as_bytes().is_some() || content.feeds.get().is_some() {
            return content.each(0..content.len, see);
        }
        let mut feeds = Feeds::default();
        let mut before = Before::Other;
        let mut is_over = true;
        content.each(0..content.len, &mut |block| {
            let flow = see(block);
            is_over &= flow.is_continue();
            if is_over {
                feeds.before.push(feeds.all.feeds);
                feeds.all = feeds.all + Unit::Byte.breaks(block, before);
                before = before_after(block, Unit::Byte);
            }
            flow
        })?;
        if is_over {
            // Where another thread has counted them, it has counted the same.
            content.feeds.get_or_init(|| feeds);
        }
        Ok(())
    }
}

/// Returns what a block leaves before the next one.
fn before_after(block: &[u8], unit: Unit) -> Before {
    if unit.ends_with(block, b'\r') {
        Before::Return
    } else {
        Before::Other
    }
}

/// Fills `buffer` from `offset`.
fn fill(file: &File, offset: u64, buffer: &mut [u8]) -> Result<()> {
    if read_full(file, offset, buffer)? == buffer.len() {
        Ok(())
    } else {
        Err(Problem::Conflict.into())
    }
}

fn length(range: &Range<u64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
}

fn slice<'a>(bytes: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let at = |offset| {
        usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(bytes.len())
    };
    bytes
        .get(at(range.start)..at(range.end))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
