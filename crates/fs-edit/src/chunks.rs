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

    fn raw_from(&self, mark: Mark) -> Result<Cow<'a, [u8]>> {
        let mut want = self.body.content().block_bytes();
        loop {
            let stop = mark.text.saturating_add(want).min(self.end);
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
    /// Returns the last place in `raw`, which is not all of the text, where it may be cut: between
    /// two characters, and after no CR. 0 where there is none.
    fn cut(self, raw: &[u8], shift: Shift) -> usize {
        let Some(encoding) = self.decoded_as else {
            return before_return(raw, raw.len(), b"\r");
        };
        match encoding {
            Encoding::UTF_8 => before_return(raw, utf8_cut(raw), b"\r"),
            Encoding::UTF_16LE => utf16_cut(raw, u16::from_le_bytes, &[b'\r', 0]),
            Encoding::UTF_16BE => utf16_cut(raw, u16::from_be_bytes, &[0, b'\r']),
            _ => match self.plain_cut(raw) {
                0 => walked_cut(raw, shift, encoding),
                cut => cut,
            },
        }
    }

    /// Returns the end of the last byte that is surely a character, if one is near.
    fn plain_cut(self, raw: &[u8]) -> usize {
        if self.is_stateful() {
            return memrchr(b'\n', raw).map_or(0, |at| at + 1);
        }
        let from = raw.len().saturating_sub(CUT_REACH);
        let tail = raw.get(from..).unwrap_or_default();
        let plain = tail.iter().rposition(|byte| *byte < FIRST_TRAIL);
        plain.map_or(0, |at| before_return(raw, from + at + 1, b"\r"))
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

/// Returns `cut`, or the places before it that no CR stands before.
fn before_return(raw: &[u8], cut: usize, mark: &[u8]) -> usize {
    let mut head = raw.get(..cut).unwrap_or_default();
    while let Some(shorter) = head.strip_suffix(mark) {
        head = shorter;
    }
    head.len()
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

fn utf16_cut(raw: &[u8], unit: fn([u8; 2]) -> u16, mark: &[u8]) -> usize {
    let mut cut = raw.len() - raw.len() % 2;
    let last = cut.checked_sub(2).and_then(|at| raw.get(at..cut));
    let last = last.and_then(|pair| pair.try_into().ok()).map(unit);
    if last.is_some_and(|unit| (0xD800..0xDC00).contains(&unit)) {
        cut -= 2;
    }
    before_return(raw, cut, mark)
}

/// Returns the last edge of a character, found by walking them all; not after a CR.
fn walked_cut(raw: &[u8], shift: Shift, encoding: Encoding) -> usize {
    let mut cut = 0;
    for character in Spelled::new(raw, shift).chars(encoding) {
        if character.character != '\r' {
            cut = character.bytes.end;
        }
    }
    cut
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
