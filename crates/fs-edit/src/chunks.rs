//! A text as chunks that begin and end on edges of tokens.

use std::borrow::Cow;
use std::ops::Range;

use fs_core::{Encoding, Problem, Result, TextChar};
use memchr::memrchr;

use crate::body::Body;
use crate::haystack::Form;
use crate::tokens::collapse_bytes;

/// A byte below this is a character in every legacy set, and never a part of another one.
pub(crate) const FIRST_TRAIL: u8 = 0x30;
/// How far back such a byte is looked for before the characters are walked.
const CUT_REACH: usize = 4096;
/// The longest character of a set without shifts.
const LONGEST_CHARACTER: usize = 4;
/// How far is read past a block: a unit, so that it is known whether a CR at its end has an LF.
const AHEAD_BYTES: usize = 2;
const ESCAPE: u8 = 0x1B;

/// The escape sequence that says how the bytes after a place are read, in ISO-2022-JP.
type Shift = Option<[u8; 3]>;

/// Where a chunk begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// In the text.
    pub(crate) text: usize,
    /// In the haystack.
    pub(crate) hay: usize,
    shift: Shift,
}

/// A run of whole tokens.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    /// Where it begins.
    pub(crate) mark: Mark,
    /// The file's bytes.
    pub(crate) raw: Cow<'a, [u8]>,
    /// The bytes to search, where they are others.
    hay: Option<Vec<u8>>,
    /// Whether the text is known to end with it.
    pub(crate) is_last: bool,
}

/// The bytes of a chunk, after what says how to read them.
#[derive(Debug)]
pub(crate) struct Spelled<'r> {
    bytes: Cow<'r, [u8]>,
    raw_len: usize,
}

/// How a text is cut and read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// The encoding to decode from, if any.
    pub(crate) decoded_as: Option<Encoding>,
    /// How breaks stand in what is searched.
    pub(crate) form: Form,
}

/// Cuts a range of a text into chunks of about a block each.
#[derive(Debug)]
pub(crate) struct Chunks<'t, 'a> {
    body: &'t Body<'a>,
    reading: Reading,
    next: Mark,
    end: usize,
}

impl<'t, 'a> Chunks<'t, 'a> {
    pub(crate) fn new(body: &'t Body<'a>, range: &Range<usize>, reading: Reading) -> Self {
        Self {
            body,
            reading,
            next: Mark {
                text: range.start,
                hay: 0,
                shift: None,
            },
            end: range.end,
        }
    }

    /// Returns the next chunk.
    ///
    /// # Errors
    /// Those of reading; `conflict` when the bytes are no longer what they were found to be.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk<'a>>> {
        let mark = self.next;
        if mark.text >= self.end {
            return Ok(None);
        }
        let raw = self.raw_from(mark)?;
        let end = mark.text + raw.len();
        let chunk = Chunk {
            is_last: end == self.end,
            ..Chunk::read(mark, raw, self.reading)?
        };
        self.next = Mark {
            text: end,
            hay: mark.hay + chunk.hay().len(),
            shift: self.reading.shift_after(&chunk.raw, mark.shift),
        };
        Ok(Some(chunk))
    }

    /// Reads a block from `mark` on, and more only where that holds no edge.
    fn raw_from(&self, mark: Mark) -> Result<Cow<'a, [u8]>> {
        let mut want = self.body.content().block_bytes();
        loop {
            let stop = mark.text.saturating_add(want).saturating_add(AHEAD_BYTES);
            let stop = stop.min(self.end);
            let raw = self.body.slice(mark.text..stop)?;
            if stop == self.end {
                return Ok(raw);
            }
            match self.reading.cut(&raw, mark.shift) {
                0 => want = want.saturating_mul(2).max(16),
                cut => {
                    let mut raw = raw.into_owned();
                    raw.truncate(cut);
                    return Ok(Cow::Owned(raw));
                }
            }
        }
    }
}

impl<'a> Chunk<'a> {
    /// Reads the chunk that begins at `mark` and is spelt by `raw`.
    ///
    /// # Errors
    /// `conflict` when the bytes are no longer what they were found to be.
    pub(crate) fn read(mark: Mark, raw: Cow<'a, [u8]>, reading: Reading) -> Result<Self> {
        let decoded = match reading.decoded_as {
            Some(encoding) => {
                let decoded = encoding.decode(&with_shift(&raw, mark.shift));
                Some(decoded.map_err(|_| Problem::Conflict)?.into_bytes())
            }
            None => None,
        };
        let hay = match (reading.form, decoded) {
            (Form::Raw, decoded) => decoded,
            (Form::Collapsed, Some(decoded)) => Some(collapse_bytes(Cow::Owned(decoded))),
            (Form::Collapsed, None) => Some(collapse_bytes(Cow::Borrowed(&raw))),
        };
        Ok(Self {
            mark,
            raw,
            hay,
            is_last: false,
        })
    }

    /// Returns the bytes to search.
    pub(crate) fn hay(&self) -> &[u8] {
        self.hay.as_deref().unwrap_or(&self.raw)
    }
}

impl Mark {
    /// Returns `raw`, which begins here, as it is decoded.
    pub(crate) fn spelled(self, raw: &[u8]) -> Spelled<'_> {
        Spelled::new(raw, self.shift)
    }
}

impl Reading {
    /// Returns the last place in `raw`, but not its end, where it may be cut: between two characters,
    /// and not between a CR and its LF. 0 where there is none.
    fn cut(self, raw: &[u8], shift: Shift) -> usize {
        let last = raw.len().saturating_sub(1);
        let head = raw.get(..last).unwrap_or_default();
        match self.decoded_as {
            None => outside_break(raw, last),
            Some(Encoding::UTF_8) => outside_break(raw, utf8_cut(head)),
            Some(Encoding::UTF_16LE) => utf16_cut(raw, u16::from_le_bytes),
            Some(Encoding::UTF_16BE) => utf16_cut(raw, u16::from_be_bytes),
            Some(encoding) if self.is_stateful() => match memrchr(b'\n', head) {
                Some(feed) => feed + 1,
                None => walked_cut(raw, shift, encoding),
            },
            Some(encoding) => plain_cut(raw)
                .or_else(|| decoded_cut(raw, encoding))
                .unwrap_or_else(|| walked_cut(raw, shift, encoding)),
        }
    }

    fn shift_after(self, raw: &[u8], before: Shift) -> Shift {
        if !self.is_stateful() {
            return None;
        }
        let last = memrchr(ESCAPE, raw).and_then(|at| raw.get(at..at + 3));
        last.and_then(|escape| escape.try_into().ok()).or(before)
    }

    fn is_stateful(self) -> bool {
        self.decoded_as.map(Encoding::name) == Some("iso-2022-jp")
    }
}

/// Returns `cut`, or the place before it where a CR and its LF stand around it.
fn outside_break(raw: &[u8], cut: usize) -> usize {
    if splits_break(raw, cut) { cut - 1 } else { cut }
}

/// Returns whether a CR stands before `cut` and an LF after it.
fn splits_break(raw: &[u8], cut: usize) -> bool {
    let before = cut.checked_sub(1);
    before.and_then(|before| raw.get(before..=cut)) == Some(b"\r\n")
}

/// Returns the end of the last byte that is surely a character, if one is near the end.
fn plain_cut(raw: &[u8]) -> Option<usize> {
    let head = raw.get(..raw.len().checked_sub(1)?)?;
    let from = head.len().saturating_sub(CUT_REACH);
    let tail = head.get(from..)?;
    let plain = tail.iter().rposition(|byte| *byte < FIRST_TRAIL)?;
    Some(outside_break(raw, from + plain + 1)).filter(|cut| *cut > 0)
}

/// Returns the last edge of a character, which is where what comes before can be decoded: decoding is
/// much faster than a walk.
fn decoded_cut(raw: &[u8], encoding: Encoding) -> Option<usize> {
    let last = raw.len().saturating_sub(1);
    let mut cuts = (1..=last).rev().take(LONGEST_CHARACTER + 1);
    cuts.find(|cut| {
        let head = raw.get(..*cut).unwrap_or_default();
        !splits_break(raw, *cut) && encoding.decode(head).is_ok()
    })
}

/// Returns where a last sequence begins that `raw` lacks the rest of; without one, its end.
fn utf8_cut(raw: &[u8]) -> usize {
    let lead = |byte: &u8| byte & 0xC0 != 0x80;
    let Some(last) = raw.iter().rposition(lead) else {
        return raw.len();
    };
    let sequence = raw.get(last..).unwrap_or_default();
    let is_cut = std::str::from_utf8(sequence).is_err_and(|error| error.error_len().is_none());
    if is_cut { last } else { raw.len() }
}

fn utf16_cut(raw: &[u8], unit: fn([u8; 2]) -> u16) -> usize {
    let at = |at: usize| {
        let pair = raw.get(at..at + 2)?;
        pair.try_into().ok().map(unit)
    };
    let cut = (raw.len() - raw.len() % 2).saturating_sub(2);
    let before = cut.checked_sub(2).and_then(at);
    let is_first_half = before.is_some_and(|unit| (0xD800..0xDC00).contains(&unit));
    let splits_break = before == Some(0x0D) && at(cut) == Some(0x0A);
    cut - if is_first_half || splits_break { 2 } else { 0 }
}

/// Returns the last edge of a character, found by walking them all.
fn walked_cut(raw: &[u8], shift: Shift, encoding: Encoding) -> usize {
    let spelled = Spelled::new(raw, shift);
    let ends = spelled.chars(encoding).map(|it| it.bytes.end);
    let ends = ends.filter(|end| *end < raw.len() && !splits_break(raw, *end));
    ends.last().unwrap_or(0)
}

impl<'r> Spelled<'r> {
    fn new(raw: &'r [u8], shift: Shift) -> Self {
        Self {
            bytes: with_shift(raw, shift),
            raw_len: raw.len(),
        }
    }

    /// Returns the characters, their bytes as offsets of the chunk.
    pub(crate) fn chars(&self, encoding: Encoding) -> impl Iterator<Item = TextChar> {
        let added = self.bytes.len() - self.raw_len;
        encoding.chars(&self.bytes).map(move |it| TextChar {
            bytes: it.bytes.start.saturating_sub(added)..it.bytes.end.saturating_sub(added),
            ..it
        })
    }
}

/// Returns the bytes with what says how to read them; two escapes in a row would be no text.
fn with_shift(raw: &[u8], shift: Shift) -> Cow<'_, [u8]> {
    match shift {
        Some(escape) if raw.first() != Some(&ESCAPE) => Cow::Owned([&escape, raw].concat()),
        _ => Cow::Borrowed(raw),
    }
}

#[cfg(test)]
mod tests;
