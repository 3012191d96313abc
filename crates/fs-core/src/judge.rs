//! The one rule by which bytes are taken for text, over bytes that come in blocks.

use std::ops::ControlFlow;

use crate::encoding::{Encoding, Stream};
use crate::error::Result;
use crate::format::{Detected, EncodingBy, Fallback, Shape};
use crate::guess::Sample;
use crate::problem::Problem;

/// How far a NUL is looked for.
pub(crate) const HEAD_BYTES: usize = 8 * 1024;

/// The bytes of a file from its start to its end, as often as they are asked for.
pub(crate) trait Blocks {
    /// Calls `see` with each run of bytes in order until it breaks.
    fn each(&mut self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()>;
}

/// What a file's first bytes, and its caller, say of its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// A byte order mark of so many bytes.
    Bom(Encoding, usize),
    /// The caller names it.
    Declared(Encoding),
    /// The NULs stand where UTF-16 has them.
    NulParity(Encoding),
    /// Other NULs.
    Binary,
    /// Nothing: it may be UTF-8.
    Open,
}

impl Blocks for &[u8] {
    fn each(&mut self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let _: ControlFlow<()> = see(self);
        Ok(())
    }
}

impl First {
    /// Looks at the first bytes.
    pub(crate) fn of(blocks: &mut dyn Blocks, declared: Option<Encoding>) -> Result<Self> {
        let mut head = Vec::new();
        blocks.each(&mut |block| {
            let room = HEAD_BYTES - head.len();
            head.extend_from_slice(block.get(..room).unwrap_or(block));
            if head.len() < HEAD_BYTES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Self::of_head(&head, declared)
    }

    /// Decides by the first bytes, of which the first 8 KiB count.
    pub(crate) fn of_head(head: &[u8], declared: Option<Encoding>) -> Result<Self> {
        let (encoding, len) = match head {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => {
                return Err(Problem::NotText { offset: 0 }.into());
            }
            [0xEF, 0xBB, 0xBF, ..] => (Encoding::UTF_8, 3),
            [0xFF, 0xFE, ..] => (Encoding::UTF_16LE, 2),
            [0xFE, 0xFF, ..] => (Encoding::UTF_16BE, 2),
            _ => return Ok(Self::without_bom(head, declared)),
        };
        match declared {
            Some(declared) if declared != encoding => Err(declared.mismatch(0)),
            _ => Ok(Self::Bom(encoding, len)),
        }
    }

    fn without_bom(head: &[u8], declared: Option<Encoding>) -> Self {
        match declared {
            Some(encoding) => Self::Declared(encoding),
            None if memchr::memchr(0, head).is_none() => Self::Open,
            None => utf16_by_parity(head).map_or(Self::Binary, Self::NulParity),
        }
    }

    /// Returns the encoding that the file is in, if it is text at all and no fallback is needed.
    pub(crate) fn encoding(self) -> Encoding {
        match self {
            Self::Bom(encoding, _) | Self::Declared(encoding) | Self::NulParity(encoding) => {
                encoding
            }
            Self::Binary | Self::Open => Encoding::UTF_8,
        }
    }

    pub(crate) fn bom_bytes(self) -> usize {
        match self {
            Self::Bom(_, len) => len,
            _ => 0,
        }
    }

    fn is_declared_too(self, declared: Option<Encoding>) -> bool {
        declared == Some(self.encoding())
    }

    /// Reads the rest and decides.
    pub(crate) fn confirm(
        self,
        blocks: &mut dyn Blocks,
        declared: Option<Encoding>,
        fallback: Fallback,
    ) -> Result<Detected> {
        let found = |shape| {
            Ok(Detected {
                shape,
                bom_bytes: self.bom_bytes(),
            })
        };
        if self == Self::Binary {
            return found(Shape::Binary);
        }
        let encoding = self.encoding();
        let Some(offset) = first_misfit(blocks, encoding, self.bom_bytes())? else {
            return found(Shape::Text {
                encoding,
                by: self.by(),
            });
        };
        if self.is_declared_too(declared) {
            return Err(encoding.mismatch(offset));
        }
        match self {
            Self::NulParity(_) => found(Shape::Binary),
            _ if encoding != Encoding::UTF_8 => found(Shape::Opaque { offset }),
            _ => match Tally::of(blocks)?.lossy(offset) {
                Some(lossy) => found(lossy),
                None if self.bom_bytes() > 0 => found(Shape::Opaque { offset }),
                None => found(fall_back(blocks, fallback, offset)?),
            },
        }
    }

    fn by(self) -> EncodingBy {
        match self {
            Self::Bom(..) => EncodingBy::Bom,
            Self::Declared(_) => EncodingBy::Declared,
            Self::NulParity(_) => EncodingBy::NulParity,
            Self::Binary | Self::Open => EncodingBy::Utf8,
        }
    }
}

/// Decides for a whole file.
pub(crate) fn judge(
    blocks: &mut dyn Blocks,
    declared: Option<Encoding>,
    fallback: Fallback,
) -> Result<Detected> {
    First::of(blocks, declared)?.confirm(blocks, declared, fallback)
}

/// Returns the offset of the first sequence, after the byte order mark, that `encoding` lacks.
fn first_misfit(
    blocks: &mut dyn Blocks,
    encoding: Encoding,
    bom_bytes: usize,
) -> Result<Option<u64>> {
    let mut validator = Validator::new(encoding);
    let mut misfit = None;
    let mut bom = bom_bytes;
    blocks.each(&mut |block| {
        let skipped = bom.min(block.len());
        bom -= skipped;
        match validator.push(block.get(skipped..).unwrap_or_default()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(offset) => {
                misfit = Some(offset);
                ControlFlow::Break(())
            }
        }
    })?;
    let misfit = misfit.or_else(|| validator.finish().err());
    Ok(misfit.map(|offset| offset + bom_bytes as u64))
}

fn fall_back(blocks: &mut dyn Blocks, fallback: Fallback, offset: u64) -> Result<Shape> {
    let (encoding, by) = match fallback {
        Fallback::None => return Ok(Shape::Opaque { offset }),
        Fallback::Encoding(encoding) => (encoding, EncodingBy::Fallback),
        Fallback::Auto => (Sample::of(blocks)?.guess(), EncodingBy::Guess),
    };
    Ok(match first_misfit(blocks, encoding, 0)? {
        None => Shape::Text { encoding, by },
        Some(_) => Shape::Opaque { offset },
    })
}

/// Returns the UTF-16 without byte order mark that `head` looks like: at least two NULs, all at one
/// parity, and of the characters at least 30 % letters, digits or blanks.
fn utf16_by_parity(head: &[u8]) -> Option<Encoding> {
    let zeros = |parity| {
        let bytes = head.iter().skip(parity).step_by(2);
        bytes.filter(|byte| **byte == 0).count()
    };
    let (encoding, unit): (_, fn([u8; 2]) -> u16) = match (zeros(0), zeros(1)) {
        (0, 2..) => (Encoding::UTF_16LE, u16::from_le_bytes),
        (2.., 0) => (Encoding::UTF_16BE, u16::from_be_bytes),
        _ => return None,
    };
    let units = head
        .chunks_exact(2)
        .filter_map(|pair| pair.try_into().ok())
        .map(unit);
    let (mut all, mut plain) = (0_usize, 0_usize);
    for character in char::decode_utf16(units) {
        all += 1;
        let is_plain = |c: char| c.is_alphanumeric() || c.is_whitespace();
        plain += usize::from(character.is_ok_and(is_plain));
    }
    (plain * 10 >= all * 3).then_some(encoding)
}

/// Finds the first sequence that an encoding lacks, in bytes that come in runs.
enum Validator {
    Utf8(Utf8Validator),
    Stream { stream: Stream, scratch: String },
}

#[derive(Default)]
struct Utf8Validator {
    /// The bytes before the run that is pushed next, `carry` left out.
    read: u64,
    carry: Carry,
}

impl Validator {
    fn new(encoding: Encoding) -> Self {
        if encoding == Encoding::UTF_8 {
            return Self::Utf8(Utf8Validator::default());
        }
        Self::Stream {
            stream: Stream::new(encoding),
            scratch: String::new(),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), u64> {
        match self {
            Self::Utf8(validator) => validator.push(bytes),
            Self::Stream { stream, scratch } => {
                for run in bytes.chunks(8 * 1024) {
                    scratch.clear();
                    stream.push(run, scratch)?;
                }
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Result<(), u64> {
        match &mut self {
            Self::Utf8(validator) if validator.carry.bytes().is_empty() => Ok(()),
            Self::Utf8(validator) => Err(validator.read),
            Self::Stream { stream, scratch } => stream.finish(scratch),
        }
    }
}

impl Utf8Validator {
    fn push(&mut self, bytes: &[u8]) -> Result<(), u64> {
        let joined = self.carry.join(bytes);
        let mut rest = bytes;
        if let Some((sequence, taken)) = joined {
            match std::str::from_utf8(sequence.bytes()) {
                Ok(_) => {}
                Err(error) if error.error_len().is_none() => {
                    self.carry = sequence;
                    return Ok(());
                }
                Err(_) => return Err(self.read),
            }
            self.read += sequence.bytes().len() as u64;
            self.carry = Carry::default();
            rest = bytes.get(taken..).unwrap_or_default();
        }
        match simdutf8::compat::from_utf8(rest) {
            Ok(_) => self.read += rest.len() as u64,
            Err(error) => {
                self.read += error.valid_up_to() as u64;
                if error.error_len().is_some() {
                    return Err(self.read);
                }
                self.carry = Carry::of(rest.get(error.valid_up_to()..).unwrap_or_default());
            }
        }
        Ok(())
    }
}

/// The head of a sequence of UTF-8 that the end of a run cut off.
#[derive(Debug, Clone, Copy, Default)]
struct Carry {
    bytes: [u8; 4],
    len: usize,
}

impl Carry {
    fn of(bytes: &[u8]) -> Self {
        let mut carry = Self::default();
        for (to, from) in carry.bytes.iter_mut().zip(bytes) {
            *to = *from;
            carry.len += 1;
        }
        carry
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Returns the carried head with as many of `bytes` as its sequence lacks, and their number;
    /// `None` when nothing is carried.
    fn join(&self, bytes: &[u8]) -> Option<(Self, usize)> {
        let lead = *self.bytes().first()?;
        let whole = match lead {
            0xF0.. => 4,
            0xE0.. => 3,
            _ => 2,
        };
        let lacking = bytes.get(..whole - self.len).unwrap_or(bytes);
        let joined: Vec<u8> = self.bytes().iter().chain(lacking).copied().collect();
        Some((Self::of(&joined), lacking.len()))
    }
}

/// How much of a text is UTF-8.
#[derive(Debug, Default)]
struct Tally {
    multi_byte: u64,
    bad_bytes: u64,
    bad_sequences: u64,
}

impl Tally {
    fn of(blocks: &mut dyn Blocks) -> Result<Self> {
        let mut tally = Self::default();
        let mut carry = Vec::new();
        blocks.each(&mut |block| {
            carry.extend_from_slice(block);
            let whole = carry.len() - cut_sequence(&carry);
            tally.add(carry.get(..whole).unwrap_or_default());
            carry.drain(..whole);
            ControlFlow::Continue(())
        })?;
        tally.add(&carry);
        Ok(tally)
    }

    fn add(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid();
            let bytes = valid.len() - ascii_count(valid);
            let characters = bytecount::num_chars(valid.as_bytes()) - ascii_count(valid);
            debug_assert!(bytes >= characters);
            self.multi_byte += characters as u64;
            self.bad_bytes += chunk.invalid().len() as u64;
            self.bad_sequences += u64::from(!chunk.invalid().is_empty());
        }
    }

    fn lossy(&self, offset: u64) -> Option<Shape> {
        let mostly = self.multi_byte > 0 && self.multi_byte >= 10 * self.bad_bytes;
        mostly.then_some(Shape::Lossy {
            invalid_bytes: self.bad_sequences,
            offset,
        })
    }
}

fn ascii_count(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii).count()
}

/// Returns how many bytes at the end of `bytes` are the head of a sequence of UTF-8 that more bytes
/// could complete.
pub(crate) fn cut_sequence(bytes: &[u8]) -> usize {
    let tail = bytes.get(bytes.len().saturating_sub(3)..).unwrap_or(bytes);
    (1..=tail.len())
        .find(|len| {
            let head = tail.get(tail.len() - len..).unwrap_or_default();
            head.first().is_some_and(|lead| *lead >= 0xC0)
                && std::str::from_utf8(head).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}
