//! The text of a file after its byte order mark, read where it is looked at.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::{ControlFlow, Range};

use fs_core::{Content, Encoding, Eol, Problem, Result};
use memchr::{memchr, memrchr};

use crate::breaks::{Breaks, LineBreak};

/// How much is read to look around a place.
const LOOK_BYTES: usize = 64 * 1024;
/// Up to so much is looked at with what is around it.
const NEAR_BYTES: usize = 4 * 1024;

/// The text of a file. Offsets count from its start, after the byte order mark.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    content: Content<'a>,
    start: u64,
    len: usize,
    encoding: Encoding,
    breaks: Breaks,
    near: RefCell<Near>,
    lines: Cell<Option<u64>>,
}

/// The part that was looked at last.
#[derive(Debug, Default)]
struct Near {
    start: usize,
    bytes: Vec<u8>,
}

impl<'a> Body<'a> {
    /// Returns the text of `content` from offset `start` on; without `encoding` it is opaque.
    ///
    /// # Errors
    /// `too_large` when its offsets are no machine words.
    pub(crate) fn new(
        content: &Content<'a>,
        start: usize,
        encoding: Option<Encoding>,
    ) -> Result<Self> {
        let size = content.len();
        let Ok(len) = usize::try_from(size.saturating_sub(start as u64)) else {
            let problem = Problem::TooLarge {
                size,
                limit: usize::MAX as u64,
                hint: "split the file",
            };
            return Err(problem.into());
        };
        Ok(Self {
            content: content.clone(),
            start: start as u64,
            len,
            encoding: encoding.unwrap_or(Encoding::UTF_8),
            breaks: Breaks::of(encoding),
            near: RefCell::default(),
            lines: Cell::new(None),
        })
    }

    /// Returns the content that it is the text of.
    pub(crate) fn content(&self) -> &Content<'a> {
        &self.content
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the finder of line breaks.
    pub(crate) fn breaks(&self) -> Breaks {
        self.breaks
    }

    /// Returns all of it, where it is in memory.
    pub(crate) fn whole(&self) -> Option<&'a [u8]> {
        let start = usize::try_from(self.start).unwrap_or(usize::MAX);
        self.content.as_bytes()?.get(start..)
    }

    /// Returns the range of the file that is `range` of the text.
    pub(crate) fn in_file(&self, range: &Range<usize>) -> Range<u64> {
        self.start + range.start as u64..self.start + range.end as u64
    }

    /// Returns the bytes in `range`, which the caller bounds.
    pub(crate) fn slice(&self, range: Range<usize>) -> Result<Cow<'a, [u8]>> {
        if let Some(text) = self.whole() {
            return Ok(Cow::Borrowed(text.get(range).unwrap_or_default()));
        }
        let near = self.near.borrow();
        let inside = range.start.checked_sub(near.start);
        let kept = inside.and_then(|at| near.bytes.get(at..at + range.len()));
        match kept {
            Some(bytes) => Ok(Cow::Owned(bytes.to_vec())),
            None => self.content.read(self.in_file(&range)),
        }
    }

    /// Returns whether `bytes` stand at `at`.
    pub(crate) fn holds(&self, bytes: &[u8], at: usize) -> Result<bool> {
        let range = at..at + bytes.len();
        if self.whole().is_some() || bytes.is_empty() || bytes.len() > NEAR_BYTES {
            return self.content.holds(bytes, self.in_file(&range).start);
        }
        let near = self.look_at(at, |near, start| {
            let there = near.get(at - start..range.end - start);
            there.map(|there| there == bytes)
        })?;
        match near {
            Some(same) => Ok(same),
            None => self.content.holds(bytes, self.in_file(&range).start),
        }
    }

    /// Calls `see` with the bytes of `range`, block by block.
    pub(crate) fn each(
        &self,
        range: &Range<usize>,
        see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.content.each(self.in_file(range), see)
    }

    /// Returns the first break whose LF stands at or after `from`.
    pub(crate) fn next_break(&self, from: usize) -> Result<Option<LineBreak>> {
        if let Some(text) = self.whole() {
            return Ok(self.breaks.next(text, from));
        }
        let mut at = from;
        while at < self.len {
            let (byte, end) = self.look_at(at, |bytes, start| {
                let rest = bytes.get(at - start..).unwrap_or_default();
                (
                    memchr(b'\n', rest).map(|byte| at + byte),
                    start + bytes.len(),
                )
            })?;
            let Some(byte) = byte else {
                at = end;
                continue;
            };
            match self.break_at(byte)? {
                Some(found) if found.end > from => return Ok(Some(found)),
                _ => at = byte + 1,
            }
        }
        Ok(None)
    }

    /// Returns the last break that ends at or before `before`.
    pub(crate) fn previous_break(&self, before: usize) -> Result<Option<LineBreak>> {
        if let Some(text) = self.whole() {
            return Ok(self.breaks.previous(text, before));
        }
        let mut end = before.min(self.len);
        while end > 0 {
            let (byte, start) = self.look_at(end - 1, |bytes, start| {
                let head = bytes.get(..end - start).unwrap_or_default();
                (memrchr(b'\n', head).map(|byte| start + byte), start)
            })?;
            let Some(byte) = byte else {
                end = start;
                continue;
            };
            match self.break_at(byte)? {
                Some(found) if found.end <= before => return Ok(Some(found)),
                _ => end = byte,
            }
        }
        Ok(None)
    }

    /// Returns where the line begins that holds `offset`.
    pub(crate) fn line_start(&self, offset: usize) -> Result<usize> {
        Ok(self.previous_break(offset)?.map_or(0, |found| found.end))
    }

    /// Returns where the line ends, with its break, that holds `offset`.
    pub(crate) fn line_end(&self, offset: usize) -> Result<usize> {
        Ok(self.next_break(offset)?.map_or(self.len, |found| found.end))
    }

    /// Returns whether the last line is over: it has its break, or there is none.
    pub(crate) fn ends_in_break(&self) -> Result<bool> {
        Ok(self.line_start(self.len)? == self.len)
    }

    /// Returns how many breaks end in `range`.
    pub(crate) fn count_breaks(&self, range: &Range<usize>) -> Result<u64> {
        if range.is_empty() {
            return Ok(0);
        }
        if self.whole().is_none() && range.len() <= NEAR_BYTES {
            let near = self.look_at(range.start, |near, start| {
                let there = near.get(range.start - start..range.end - start);
                there.map(|there| self.breaks.count(there))
            })?;
            if let Some(count) = near {
                return Ok(count);
            }
        }
        self.content.count_feeds(self.in_file(range), self.encoding)
    }

    /// Returns how many lines `range` holds; a last one without a break counts.
    pub(crate) fn count_lines(&self, range: &Range<usize>) -> Result<u64> {
        let unit = self.breaks.unit_bytes();
        let last = self.slice(range.end.saturating_sub(unit).max(range.start)..range.end)?;
        Ok(self.count_breaks(range)? + self.breaks.count_lines(&last) - self.breaks.count(&last))
    }

    /// Returns the number of lines; counted once.
    pub(crate) fn lines(&self) -> Result<u64> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines);
        }
        let lines = self.count_lines(&(0..self.len))?;
        self.lines.set(Some(lines));
        Ok(lines)
    }

    /// Returns line `line` with its break and where its text ends, counted from 1; `None` for 0 and
    /// after the last line.
    pub(crate) fn line(&self, line: u64) -> Result<Option<(Range<usize>, usize)>> {
        let Some(breaks) = line.checked_sub(1) else {
            return Ok(None);
        };
        let start = match breaks {
            0 => Some(0),
            breaks => self.after_breaks(breaks)?,
        };
        let Some(start) = start.filter(|start| *start < self.len) else {
            return Ok(None);
        };
        Ok(Some(match self.next_break(start)? {
            Some(found) => (start..found.end, found.start),
            None => (start..self.len, self.len),
        }))
    }

    /// Returns the style of the line breaks in `range`.
    pub(crate) fn eol(&self, range: &Range<usize>) -> Result<Eol> {
        self.content.eol(self.in_file(range), self.encoding)
    }

    /// Returns the offset after the `wanted`th break, counted from 1.
    fn after_breaks(&self, wanted: u64) -> Result<Option<usize>> {
        let (mut left, mut at, mut found) = (wanted, 0, None);
        self.each(&(0..self.len), &mut |block| {
            let inside = self.breaks.count(block);
            if inside < left {
                left -= inside;
                at += block.len();
                return ControlFlow::Continue(());
            }
            let mut end = 0;
            for _ in 0..left {
                end = self.breaks.line_end(block, end);
            }
            found = Some(at + end);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Returns the break whose LF has its byte 0x0A at `byte`.
    fn break_at(&self, byte: usize) -> Result<Option<LineBreak>> {
        let start = byte.saturating_sub(3).next_multiple_of(2);
        let around = self.slice(start..(byte + 2).min(self.len))?;
        let found = self.breaks.line_feed(&around, byte - start);
        Ok(found.map(|found| LineBreak {
            start: start + found.start,
            end: start + found.end,
            ..found
        }))
    }

    /// Reads the part around `at`, unless it is there, and calls `look` with it and its start.
    fn look_at<T>(&self, at: usize, look: impl FnOnce(&[u8], usize) -> T) -> Result<T> {
        let mut near = self.near.borrow_mut();
        let is_near = (near.start..near.start + near.bytes.len()).contains(&at);
        if !is_near {
            let step = self.content.block_bytes().min(LOOK_BYTES);
            near.start = at - at % step;
            near.bytes.clear();
            let range = near.start..(near.start + step).min(self.len);
            let Near { bytes, .. } = &mut *near;
            if let Err(error) = self.content.read_onto(self.in_file(&range), bytes) {
                bytes.clear();
                return Err(error);
            }
        }
        Ok(look(&near.bytes, near.start))
    }
}
