//! Lines decoded from a source into a window.

use super::cut::{Break, Cutter};
use super::source::Source;
use crate::encoding::{Encoding, Stream};
use crate::error::Error;
use crate::judge::cut_sequence;
use crate::newline::Unit;

/// Enough for a line break of UTF-16 after the head of a sequence.
const LEAST_BYTES: usize = 8;

/// How bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decoding {
    /// As this encoding; a misfit is a [`Flaw`].
    Strict(Encoding),
    /// As UTF-8, with U+FFFD for what is none.
    Lossy,
}

/// Why no window came out.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// The bytes at this offset do not fit the encoding.
    Misfit(u64),
    /// The read failed.
    Failed(Error),
}

impl From<Error> for Flaw {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Decoding {
    pub(crate) fn encoding(self) -> Encoding {
        match self {
            Self::Strict(encoding) => encoding,
            Self::Lossy => Encoding::UTF_8,
        }
    }
}

/// Puts the lines from `start` on, save the first `skip_lines`, into `cutter` until it is done;
/// returns the offset after the last line it looked at.
pub(crate) fn emit(
    source: &mut Source<'_>,
    start: u64,
    skip_lines: u64,
    decoding: Decoding,
    cutter: &mut Cutter,
) -> Result<u64, Flaw> {
    let encoding = decoding.encoding();
    let mut emitter = Emitter {
        unit: Unit::of(encoding),
        decoder: Decoder::new(decoding, start),
        cutter,
        at: start,
        line_start: start,
        skip_lines,
    };
    while !emitter.cutter.is_done() && emitter.at < source.len() {
        if emitter.cutter.is_full() && !encoding.is_stateful() {
            emitter.skip_line(source)?;
        } else {
            emitter.take_block(source)?;
        }
    }
    emitter.finish()?;
    Ok(emitter.at)
}

struct Emitter<'c> {
    unit: Unit,
    decoder: Decoder,
    cutter: &'c mut Cutter,
    /// The offset of the next byte to look at.
    at: u64,
    line_start: u64,
    skip_lines: u64,
}

enum Decoder {
    Utf8,
    Lossy,
    Stream {
        encoding: Encoding,
        stream: Stream,
        /// The offset in the file at which the stream begins.
        start: u64,
        text: String,
    },
}

impl Emitter<'_> {
    /// Takes the lines and the last part of a line that the source's next block holds.
    fn take_block(&mut self, source: &mut Source<'_>) -> Result<(), Flaw> {
        let len = source.len();
        let block = source.at(self.at, LEAST_BYTES)?;
        let is_last = self.at + block.len() as u64 >= len;
        let usable = if is_last {
            block
        } else {
            self.whole_units(block)
        };
        if let Decoder::Utf8 = self.decoder {
            return self.take_utf8(usable);
        }
        let mut from = 0;
        while let Some(end) = self.next_end(usable, from) {
            let piece = usable.get(from..end).unwrap_or_default();
            let brk = self.break_of(piece);
            self.decode(piece, self.break_bytes(brk))?;
            self.end_piece(end - from, brk)?;
            from = end;
        }
        Ok(())
    }

    fn take_utf8(&mut self, bytes: &[u8]) -> Result<(), Flaw> {
        let (text, has_misfit) = valid_prefix(bytes);
        let mut from = 0;
        loop {
            let rest = text.get(from..).unwrap_or_default();
            let lines = self.cutter.push_lines(rest);
            if lines > 0 {
                self.at += lines as u64;
                self.line_start = self.at;
                from += lines;
            }
            let Some(end) = self.next_end(text.as_bytes(), from) else {
                break;
            };
            let (piece, brk) = split_break(text.get(from..end).unwrap_or_default());
            self.cutter.push(piece);
            self.end_piece(end - from, brk)?;
            from = end;
        }
        if has_misfit && self.wants_more() {
            return Err(Flaw::Misfit(self.at));
        }
        Ok(())
    }

    /// Returns where the line or part of a line that begins at `from` ends; `None` when nothing is
    /// left, or wanted.
    fn next_end(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..).filter(|rest| !rest.is_empty())?;
        if self.cutter.is_done() {
            return None;
        }
        let feed = self.unit.feeds(rest).next();
        Some(feed.map_or(bytes.len(), |feed| from + feed + self.unit.len()))
    }

    fn wants_more(&self) -> bool {
        !self.cutter.is_done() && !self.cutter.is_full()
    }

    /// Decodes a piece and puts it on, without its break of `break_bytes` bytes.
    fn decode(&mut self, bytes: &[u8], break_bytes: usize) -> Result<(), Flaw> {
        match &mut self.decoder {
            Decoder::Utf8 => {}
            Decoder::Lossy => {
                let text = bytes.get(..bytes.len() - break_bytes).unwrap_or_default();
                for chunk in text.utf8_chunks() {
                    self.cutter.push(chunk.valid());
                    if !chunk.invalid().is_empty() {
                        self.cutter.push_replacement();
                    }
                }
            }
            Decoder::Stream {
                encoding,
                stream,
                start,
                text,
            } => {
                text.clear();
                // The break is decoded too: it may not cut off the head of a character.
                let fit = stream.push(bytes, text);
                let (piece, _) = split_break(text);
                if self.skip_lines == 0 {
                    self.cutter.push(piece);
                }
                if let Err(offset) = fit {
                    let offset = *start + offset;
                    if encoding.is_stateful() || !self.cutter.is_full() {
                        return Err(Flaw::Misfit(offset));
                    }
                    // It lies beyond what is shown of the line.
                    self.decoder.restart(self.at + bytes.len() as u64);
                }
            }
        }
        Ok(())
    }

    fn end_piece(&mut self, len: usize, brk: Break) -> Result<(), Flaw> {
        self.at += len as u64;
        if brk != Break::End {
            self.end_line(brk, self.at - self.break_bytes(brk) as u64)?;
        }
        Ok(())
    }

    /// Returns the break that `line` ends with.
    fn break_of(&self, line: &[u8]) -> Break {
        if !self.unit.ends_with(line, b'\n') {
            return Break::End;
        }
        let text = line.get(..line.len() - self.unit.len());
        if self.unit.ends_with(text.unwrap_or_default(), b'\r') {
            Break::CrLf
        } else {
            Break::Lf
        }
    }

    fn break_bytes(&self, brk: Break) -> usize {
        match brk {
            Break::End => 0,
            Break::Lf => self.unit.len(),
            Break::CrLf => 2 * self.unit.len(),
        }
    }

    /// Ends the line, whose text ends at `text_end` and whose break ends here.
    fn end_line(&mut self, brk: Break, text_end: u64) -> Result<(), Flaw> {
        let line_bytes = text_end.saturating_sub(self.line_start);
        self.line_start = self.at;
        if self.skip_lines > 0 {
            self.skip_lines -= 1;
            return Ok(());
        }
        Ok(self.cutter.end_line(brk, line_bytes)?)
    }

    /// Goes to the end of a line of which no more is wanted, without decoding it.
    fn skip_line(&mut self, source: &mut Source<'_>) -> Result<(), Flaw> {
        let mut returned = false;
        loop {
            let block = source.at(self.at, LEAST_BYTES)?;
            let whole = block.len() - block.len() % self.unit.len();
            let block = block.get(..whole).unwrap_or_default();
            if block.is_empty() {
                self.at = source.len();
                return Ok(());
            }
            let Some(feed) = self.unit.feeds(block).next() else {
                returned = self.unit.ends_with(block, b'\r');
                self.at += block.len() as u64;
                continue;
            };
            let text = block.get(..feed).unwrap_or_default();
            let returned = match text {
                [] => returned,
                _ => self.unit.ends_with(text, b'\r'),
            };
            self.at += (feed + self.unit.len()) as u64;
            let brk = if returned { Break::CrLf } else { Break::Lf };
            self.decoder.restart(self.at);
            return self.end_line(brk, self.at - self.break_bytes(brk) as u64);
        }
    }

    /// Ends a last line without break.
    fn finish(&mut self) -> Result<(), Flaw> {
        if self.cutter.is_done() {
            return Ok(());
        }
        if let Decoder::Stream {
            stream,
            start,
            text,
            ..
        } = &mut self.decoder
            && !self.cutter.is_full()
        {
            text.clear();
            let misfit = stream.finish(text);
            misfit.map_err(|offset| Flaw::Misfit(*start + offset))?;
        }
        if self.line_start < self.at {
            self.end_line(Break::End, self.at)?;
        }
        Ok(())
    }

    /// Returns `block` without a carriage return, a half unit or the head of a sequence at its end,
    /// which the next block completes.
    fn whole_units<'b>(&self, block: &'b [u8]) -> &'b [u8] {
        let mut len = block.len() - block.len() % self.unit.len();
        if self
            .unit
            .ends_with(block.get(..len).unwrap_or_default(), b'\r')
        {
            len -= self.unit.len();
        }
        if !matches!(self.decoder, Decoder::Stream { .. }) {
            len -= cut_sequence(block.get(..len).unwrap_or_default());
        }
        block.get(..len).unwrap_or_default()
    }
}

impl Decoder {
    fn new(decoding: Decoding, start: u64) -> Self {
        match decoding {
            Decoding::Lossy => Self::Lossy,
            Decoding::Strict(Encoding::UTF_8) => Self::Utf8,
            Decoding::Strict(encoding) => Self::Stream {
                encoding,
                stream: Stream::new(encoding),
                start,
                text: String::new(),
            },
        }
    }

    /// Begins anew at `offset`, a line's start.
    fn restart(&mut self, offset: u64) {
        if let Self::Stream {
            encoding,
            stream,
            start,
            ..
        } = self
        {
            *stream = Stream::new(*encoding);
            *start = offset;
        }
    }
}

/// Returns the longest head of `bytes` that is UTF-8, and whether something is left.
fn valid_prefix(bytes: &[u8]) -> (&str, bool) {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            (std::str::from_utf8(valid).unwrap_or_default(), true)
        }
    }
}

fn split_break(text: &str) -> (&str, Break) {
    let Some(line) = text.strip_suffix('\n') else {
        return (text, Break::End);
    };
    match line.strip_suffix('\r') {
        Some(line) => (line, Break::CrLf),
        None => (line, Break::Lf),
    }
}
