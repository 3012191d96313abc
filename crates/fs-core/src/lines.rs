//! Lines of bytes in any encoding.

use crate::encoding::Encoding;

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
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    #[allow(dead_code, reason = "skeleton")]
    bytes: &'a [u8],
    #[allow(dead_code, reason = "skeleton")]
    encoding: Encoding,
}

impl<'a> Lines<'a> {
    /// Returns the lines of `bytes`.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        Self { bytes, encoding }
    }

    /// Returns the number of lines.
    pub fn count(&self) -> u64 {
        todo!()
    }

    /// Returns line `line`, counted from 1.
    pub fn get(&self, _line: u64) -> Option<LineSpan> {
        todo!()
    }

    /// Returns the number of the line that holds `offset`, counted from 1.
    pub fn line_of(&self, _offset: usize) -> u64 {
        todo!()
    }
}
