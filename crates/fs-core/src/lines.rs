//! Lines of bytes in any encoding.

use crate::encoding::Encoding;
use crate::newline::Unit;

/// A line of a text as byte offsets from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    /// Where the line begins.
    pub start: usize,
    /// Where its text ends and its break begins.
    pub text_end: usize,
    /// Where its break ends; equal to `text_end` for a last line without one.
    pub end: usize,
}

/// The lines of a text: LF and CR LF end a line, nothing else does. Offsets count from the start of
/// `bytes`, which begin after the byte order mark.
///
/// A text that ends in a break has no further line; an empty text has none at all.
///
/// ```
/// use fs_core::{Encoding, LineSpan, Lines};
/// let lines = Lines::new(b"one\r\ntwo", Encoding::UTF_8);
/// assert_eq!(lines.count(), 2);
/// assert_eq!(lines.get(1), Some(LineSpan { start: 0, text_end: 3, end: 5 }));
/// assert_eq!(lines.line_of(5), 2);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    unit: Unit,
}

impl<'a> Lines<'a> {
    /// Returns the lines of `bytes`.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        Self {
            bytes,
            unit: Unit::of(encoding),
        }
    }

    /// Returns the number of lines.
    pub fn count(&self) -> u64 {
        let open = !self.bytes.is_empty() && !self.unit.ends_with(self.bytes, b'\n');
        self.unit.count(self.bytes) + u64::from(open)
    }

    /// Returns line `line`, counted from 1; `None` for 0 and after the last line.
    pub fn get(&self, line: u64) -> Option<LineSpan> {
        let start = match line {
            0 => return None,
            1 => 0,
            _ => self.unit.after_nth(self.bytes, line - 1)?,
        };
        self.span_from(start)
    }

    /// Returns the number of the line that holds the byte at `offset`, counted from 1; a break
    /// belongs to its line. At the end of a text that ends in a break, and beyond, it is the number
    /// of lines + 1.
    pub fn line_of(&self, offset: usize) -> u64 {
        // A line feed of UTF-16 that `offset` cuts in two does not count.
        self.unit
            .count(self.bytes.get(..offset).unwrap_or(self.bytes))
            + 1
    }

    /// Returns the lines in order.
    pub fn iter(&self) -> impl Iterator<Item = LineSpan> + use<'a> {
        self.iter_from(0)
    }

    /// Returns the lines from the one that begins at `start` on; `start` is a line's start or the
    /// end of the text.
    pub fn iter_from(&self, start: usize) -> impl Iterator<Item = LineSpan> + use<'a> {
        let lines = *self;
        std::iter::successors(lines.span_from(start), move |line| {
            lines.span_from(line.end)
        })
    }

    /// Returns the start of the line that holds the byte at `offset`.
    pub fn start_of(&self, offset: usize) -> usize {
        let before = self.bytes.get(..offset).unwrap_or(self.bytes);
        self.unit.after_nth_back(before, 1).unwrap_or(0)
    }

    fn span_from(&self, start: usize) -> Option<LineSpan> {
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let Some(feed) = self.unit.feeds(rest).next() else {
            return Some(LineSpan {
                start,
                text_end: self.bytes.len(),
                end: self.bytes.len(),
            });
        };
        let text = rest.get(..feed).unwrap_or_default();
        let returned = self.unit.ends_with(text, b'\r');
        Some(LineSpan {
            start,
            text_end: start + feed - if returned { self.unit.len() } else { 0 },
            end: start + feed + self.unit.len(),
        })
    }
}

#[cfg(test)]
mod tests;
