//! What a large file is taken for by its first and last bytes, and a piece of the window.

use std::ops::Range;

use super::source::Source;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::{Detected, Fallback, Shape};
use crate::judge::{First, cut_sequence};
use crate::newline::{Before, Breaks, Unit};

/// Pieces of a file that each begin and end with a whole character.
pub(crate) struct Sample {
    bytes: Vec<u8>,
    /// For each piece, where it begins in `bytes` and in the file.
    pieces: Vec<(u64, u64)>,
    first: First,
}

impl Sample {
    /// Reads both ends of `source`.
    pub(crate) fn of(source: &mut Source<'_>, declared: Option<Encoding>) -> Result<Self> {
        let mut sample = Self {
            bytes: Vec::new(),
            pieces: Vec::new(),
            first: First::Open,
        };
        let end_bytes = source.sizes().end;
        let head_end = end_bytes.min(source.len());
        sample.read(source, 0, head_end)?;
        sample.first = First::of(&mut sample.bytes.as_slice(), declared)?;
        sample.bytes.truncate(sample.end_edge(&sample.bytes));
        let tail = source.len().saturating_sub(end_bytes).max(head_end)..source.len();
        sample.add(source, &tail, Edge::Unknown)?;
        Ok(sample)
    }

    /// Adds what surrounds the byte at `offset`, from `start` on.
    pub(crate) fn add_around(
        &mut self,
        source: &mut Source<'_>,
        start: u64,
        offset: u64,
    ) -> Result<()> {
        let end_bytes = source.sizes().end;
        let from = start.max(offset.saturating_sub(end_bytes / 2));
        let edge = if from == start {
            Edge::Known
        } else {
            Edge::Unknown
        };
        self.add(source, &(from..from + end_bytes), edge)
    }

    /// Decides by all pieces.
    pub(crate) fn judge(&self, declared: Option<Encoding>, fallback: Fallback) -> Result<Detected> {
        let mut bytes = self.bytes.as_slice();
        let mut found = self.first.confirm(&mut bytes, declared, fallback)?;
        match &mut found.shape {
            Shape::Lossy { offset, .. } | Shape::Opaque { offset } => {
                *offset = self.in_file(*offset);
            }
            Shape::Text { .. } | Shape::Binary => {}
        }
        Ok(found)
    }

    /// Returns the line breaks of the pieces.
    pub(crate) fn breaks(&self) -> Breaks {
        self.unit().breaks(&self.bytes, Before::Other)
    }

    fn unit(&self) -> Unit {
        Unit::of(self.first.encoding())
    }

    /// Returns the offset in the file of the byte at `offset` in the sample.
    fn in_file(&self, offset: u64) -> u64 {
        let piece = self.pieces.iter().rev().find(|(at, _)| *at <= offset);
        piece.map_or(offset, |(at, file)| offset - at + file)
    }

    fn add(&mut self, source: &mut Source<'_>, range: &Range<u64>, edge: Edge) -> Result<()> {
        let to = range.end.min(source.len());
        let before = self.bytes.len();
        let unit = self.unit().len() as u64;
        let from = range.start.next_multiple_of(unit);
        self.read(source, from, to)?;
        let piece = self.bytes.get(before..).unwrap_or_default();
        let start = match edge {
            Edge::Known => 0,
            Edge::Unknown => self.start_edge(piece),
        };
        let end = if to < source.len() {
            self.end_edge(piece).max(start)
        } else {
            piece.len()
        };
        self.bytes.truncate(before + end);
        self.bytes.drain(before..before + start);
        if let Some(last) = self.pieces.last_mut() {
            last.1 = from + start as u64;
        }
        Ok(())
    }

    /// Appends the bytes of the file from `from` to `to`.
    fn read(&mut self, source: &mut Source<'_>, from: u64, to: u64) -> Result<()> {
        self.pieces.push((self.bytes.len() as u64, from));
        let mut at = from;
        while at < to {
            let block = source.at(at, 1)?;
            let wanted = usize::try_from(to - at).unwrap_or(usize::MAX);
            let block = block.get(..wanted).unwrap_or(block);
            if block.is_empty() {
                break;
            }
            self.bytes.extend_from_slice(block);
            at += block.len() as u64;
        }
        Ok(())
    }

    /// Returns where the first whole character begins in a piece from inside the file: after a byte
    /// that no encoding has inside a character, else where UTF-8 has one.
    fn start_edge(&self, piece: &[u8]) -> usize {
        let feed = self.unit().after_nth(piece, 1).unwrap_or(piece.len());
        match self.kind() {
            Kind::Stateful => feed,
            Kind::Utf16 if self.is_surrogate(piece.get(..2), 0xDC) => 2,
            Kind::Utf16 => 0,
            Kind::Utf8 | Kind::Other => match piece.iter().position(|byte| is_edge(*byte)) {
                Some(edge) => feed.min(edge + 1),
                None if feed < piece.len() || matches!(self.kind(), Kind::Other) => feed,
                None => piece.iter().take_while(|byte| is_trail(**byte)).count(),
            },
        }
    }

    /// Returns where the last whole character ends in a piece from inside the file.
    fn end_edge(&self, piece: &[u8]) -> usize {
        let feed = self.unit().after_nth_back(piece, 1).unwrap_or(0);
        match self.kind() {
            Kind::Stateful => feed,
            Kind::Utf16 => {
                let end = piece.len() - piece.len() % 2;
                let last = end.checked_sub(2).and_then(|at| piece.get(at..end));
                end - if self.is_surrogate(last, 0xD8) { 2 } else { 0 }
            }
            Kind::Utf8 | Kind::Other => match piece.iter().rposition(|byte| is_edge(*byte)) {
                Some(edge) => feed.max(edge + 1),
                None if feed > 0 || matches!(self.kind(), Kind::Other) => feed,
                None => piece.len() - cut_sequence(piece),
            },
        }
    }

    fn kind(&self) -> Kind {
        match self.first.encoding() {
            Encoding::UTF_8 => Kind::Utf8,
            Encoding::UTF_16LE | Encoding::UTF_16BE => Kind::Utf16,
            encoding if encoding.is_stateful() => Kind::Stateful,
            _ => Kind::Other,
        }
    }

    /// Returns whether `unit` is a surrogate whose high byte is `high` but for its two low bits.
    fn is_surrogate(&self, unit: Option<&[u8]>, high: u8) -> bool {
        let byte = match (self.unit(), unit) {
            (Unit::Le, Some([_, byte])) | (Unit::Be, Some([byte, _])) => *byte,
            _ => return false,
        };
        byte & 0xFC == high
    }
}

/// Whether a piece is known to begin with a whole character.
#[derive(Clone, Copy)]
enum Edge {
    Known,
    Unknown,
}

enum Kind {
    Utf8,
    Utf16,
    Stateful,
    Other,
}

fn is_trail(byte: u8) -> bool {
    (0x80..0xC0).contains(&byte)
}

/// Blanks and the signs before the digits are halves of no character.
fn is_edge(byte: u8) -> bool {
    (0x20..0x30).contains(&byte)
}
