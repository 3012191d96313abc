//! The text in the form in which it is searched, and the way back to the file's bytes.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use fs_core::{Encoding, Problem, Result};

use crate::body::Body;
use crate::chunks::{Chunk, Chunks, Mark, Reading};
use crate::tokens::expander;

/// What is longer is not put together again where it is not in memory.
const LARGE_BYTES: usize = 2 * 1024 * 1024;

/// How line breaks stand in a haystack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are in the file.
    Raw,
    /// Each is one LF.
    Collapsed,
}

/// Text as UTF-8 (or opaque bytes), in which equal tokens are equal bytes; it is made chunk by chunk.
#[derive(Debug)]
pub(crate) struct Haystack<'t, 'a> {
    body: &'t Body<'a>,
    range: Range<usize>,
    reading: Reading,
    /// Where the chunks begin, once they have been passed.
    marks: Vec<Mark>,
    len: usize,
    /// All of it, where the text is in memory.
    whole: Option<Chunk<'a>>,
}

/// A part of a haystack, with the end of the one before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'w> {
    /// The bytes.
    pub(crate) bytes: &'w [u8],
    /// Where they begin in the haystack.
    pub(crate) start: usize,
    /// Whether the haystack ends with them.
    pub(crate) is_last: bool,
}

impl<'t, 'a> Haystack<'t, 'a> {
    /// Returns the haystack of `range` of a text, which is decoded only if `reading` names an
    /// encoding, and copied only if it is decoded or collapsed, or not in memory.
    pub(crate) fn new(body: &'t Body<'a>, range: Range<usize>, reading: Reading) -> Self {
        Self {
            body,
            range,
            reading,
            marks: Vec::new(),
            len: 0,
            whole: None,
        }
    }

    /// Returns how line breaks stand in it.
    pub(crate) fn form(&self) -> Form {
        self.reading.form
    }

    /// Returns the text that it is made of.
    pub(crate) fn body(&self) -> &'t Body<'a> {
        self.body
    }

    /// Returns how that is read.
    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    /// Returns whether it is not to be in memory as a whole.
    pub(crate) fn is_large(&self) -> bool {
        self.body.whole().is_none() && self.len > LARGE_BYTES
    }

    /// Returns its length, once it has been passed.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns all of it, which the caller bounds.
    pub(crate) fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        if let Some(whole) = &self.whole {
            return Ok(Cow::Borrowed(whole.hay()));
        }
        let mut bytes = Vec::with_capacity(self.len);
        let mut chunks = self.chunks();
        while let Some(chunk) = chunks.next()? {
            bytes.extend_from_slice(chunk.hay());
        }
        Ok(Cow::Owned(bytes))
    }

    /// Passes the haystack: calls `see` with windows that overlap by `overlap` bytes, until it breaks.
    pub(crate) fn pass(
        &mut self,
        overlap: usize,
        mut see: impl FnMut(Window<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut chunks = self.chunks();
        let mut bytes = Vec::new();
        let mut start = 0;
        while let Some(chunk) = chunks.next()? {
            self.marks.push(chunk.mark);
            self.len = chunk.mark.hay + chunk.hay().len();
            let is_last = chunk.is_last;
            if is_last && self.marks.len() == 1 {
                let _: ControlFlow<()> = see(Window {
                    bytes: chunk.hay(),
                    start,
                    is_last,
                });
                self.whole = Some(chunk);
                break;
            }
            bytes.extend_from_slice(chunk.hay());
            let window = Window {
                bytes: &bytes,
                start,
                is_last,
            };
            if see(window).is_break() {
                break;
            }
            let passed = bytes.len().saturating_sub(overlap);
            bytes.drain(..passed);
            start += passed;
        }
        Ok(())
    }

    /// Calls `see` with chunk after chunk until it breaks.
    pub(crate) fn each(&self, mut see: impl FnMut(&Chunk<'a>) -> ControlFlow<()>) -> Result<()> {
        if let Some(whole) = &self.whole {
            let _: ControlFlow<()> = see(whole);
            return Ok(());
        }
        let mut chunks = self.chunks();
        while let Some(chunk) = chunks.next()? {
            if see(&chunk).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `see` with chunk after chunk from the last one on until it breaks, once they have been
    /// passed.
    pub(crate) fn each_back(
        &self,
        mut see: impl FnMut(&Chunk<'a>) -> ControlFlow<()>,
    ) -> Result<()> {
        if let Some(whole) = &self.whole {
            let _: ControlFlow<()> = see(whole);
            return Ok(());
        }
        for index in (0..self.marks.len()).rev() {
            let Some((mark, raw)) = self.raw(index)? else {
                continue;
            };
            if see(&Chunk::read(mark, raw, self.reading)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the numbers of the lines that hold `offsets`, which ascend, counted from 1.
    pub(crate) fn lines_of(&self, offsets: &[usize]) -> Result<Vec<u64>> {
        let mut lines = Vec::with_capacity(offsets.len());
        let mut offsets = offsets.iter().peekable();
        let (mut line, mut at) = (1, 0);
        let mut pass = |bytes: &[u8]| {
            line += memchr::memchr_iter(b'\n', bytes).count() as u64;
            line
        };
        self.each(|chunk| {
            let (hay, start) = (chunk.hay(), chunk.mark.hay);
            let end = start + hay.len();
            while let Some(offset) = offsets.next_if(|offset| **offset < end) {
                lines.push(pass(
                    hay.get(at - start..offset - start).unwrap_or_default(),
                ));
                at = *offset;
            }
            pass(hay.get(at - start..).unwrap_or_default());
            at = end;
            match offsets.peek() {
                Some(_) => ControlFlow::Continue(()),
                None => ControlFlow::Break(()),
            }
        })?;
        Ok(lines)
    }

    /// Calls `see` with where each of `offsets`, ascending and on edges of tokens, stands in the file's
    /// text, once the haystack has been passed.
    ///
    /// # Errors
    /// `encoding_unknown` for an edge between two characters that one pair of bytes spells (Big5).
    pub(crate) fn to_text(
        &self,
        mut offsets: impl Iterator<Item = usize>,
        see: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let start = self.range.start;
        if self.reading.decoded_as.is_none() && self.form() == Form::Raw {
            return offsets.try_for_each(|offset| see(start + offset));
        }
        let mut offsets = offsets.peekable();
        let mut index = 0;
        while let Some(first) = offsets.peek() {
            index += self.chunks_before(index, *first);
            let next = self.marks.get(index + 1);
            let next = next.map_or(usize::MAX, |mark| mark.hay);
            let mut here = std::iter::from_fn(|| offsets.next_if(|offset| *offset < next));
            match self.raw(index)? {
                Some((mark, raw)) => self.map_in(mark, &raw, &mut here, see)?,
                None => here.try_for_each(|_| see(start))?,
            }
        }
        Ok(())
    }

    fn chunks(&self) -> Chunks<'t, 'a> {
        Chunks::new(self.body, &self.range, self.reading)
    }

    /// Returns how many chunks from `index` on to pass to the one that begins last at or before
    /// `offset`.
    fn chunks_before(&self, index: usize, offset: usize) -> usize {
        let marks = self.marks.get(index + 1..).unwrap_or_default();
        marks.partition_point(|mark| mark.hay <= offset)
    }

    /// Reads the bytes of a chunk again.
    fn raw(&self, index: usize) -> Result<Option<(Mark, Cow<'a, [u8]>)>> {
        let Some(mark) = self.marks.get(index) else {
            return Ok(None);
        };
        let next = self.marks.get(index + 1);
        let end = next.map_or(self.range.end, |next| next.text);
        Ok(Some((*mark, self.body.slice(mark.text..end)?)))
    }

    fn map_in(
        &self,
        mark: Mark,
        raw: &[u8],
        offsets: &mut dyn Iterator<Item = usize>,
        see: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let mut local = offsets.map(|offset| offset - mark.hay);
        if let Some(encoding) = self.reading.decoded_as {
            return self.through_characters(mark, raw, encoding, &mut local, see);
        }
        let mut expand = expander(raw);
        local.try_for_each(|offset| see(mark.text + expand(offset)))
    }

    /// Maps offsets by walking the characters: in the legacy sets several spellings are one
    /// character, so nothing but the walk knows where a character stands.
    fn through_characters(
        &self,
        mark: Mark,
        raw: &[u8],
        encoding: Encoding,
        offsets: &mut dyn Iterator<Item = usize>,
        see: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let spelled = mark.spelled(raw);
        let mut characters = spelled.chars(encoding).peekable();
        let (mut passed, mut last_end) = (0, 0);
        for offset in offsets {
            while passed < offset {
                let Some(mut character) = characters.next() else {
                    break;
                };
                passed += character.character.len_utf8();
                if self.form() == Form::Collapsed && character.character == '\r' {
                    let line_feed = characters.next_if(|next| next.character == '\n');
                    character = line_feed.unwrap_or(character);
                }
                last_end = character.bytes.end;
            }
            let next = characters.peek().map(|next| next.bytes.start);
            let here = next.unwrap_or(raw.len());
            if here < last_end {
                return Err(Problem::encoding_unknown(None).into());
            }
            see(mark.text + here)?;
        }
        Ok(())
    }
}
