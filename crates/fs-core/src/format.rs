//! What a file's bytes are: encoding, byte order mark, line breaks.

use crate::encoding::Encoding;
use crate::error::Result;
use crate::judge::judge;
use crate::newline::{Before, Breaks, Unit};

/// The encoding and line-break style of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFormat {
    /// The encoding.
    pub encoding: Encoding,
    /// Whether the file begins with a byte order mark, which is no part of the text.
    pub bom: bool,
    /// The line breaks.
    pub eol: Eol,
}

/// The line breaks of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eol {
    /// No line break; a lone CR is none.
    None,
    /// Only LF.
    Lf,
    /// Only CR LF.
    CrLf,
    /// Both.
    Mixed,
}

/// How the encoding was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingBy {
    /// The caller named it.
    Declared,
    /// By byte order mark.
    Bom,
    /// UTF-16 by the parity of its NULs.
    NulParity,
    /// The bytes are UTF-8 (ASCII is).
    Utf8,
    /// The configured fallback.
    Fallback,
    /// By statistics.
    Guess,
    /// As `Utf8`, but judged by the first and last 64 KiB and the window.
    Sample,
}

/// What to take bytes for that have no BOM, no NUL and are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fallback {
    /// Nothing: the file is opaque.
    #[default]
    None,
    /// What the statistics say, if the whole file decodes by it.
    Auto,
    /// This encoding.
    Encoding(Encoding),
}

/// What bytes were found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detected {
    /// What they are.
    pub shape: Shape,
    /// The length of the byte order mark in bytes; 0 without one.
    pub bom_bytes: usize,
}

/// Text, text with bad bytes, or no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Strictly valid text.
    Text {
        /// Its encoding.
        encoding: Encoding,
        /// How that was found.
        by: EncodingBy,
    },
    /// UTF-8 but for some bytes (valid multi-byte sequences outnumber them 10 to 1): may be shown
    /// with U+FFFD, is edited as opaque bytes.
    Lossy {
        /// How many bad sequences there are.
        invalid_bytes: u64,
        /// The offset of the first.
        offset: u64,
    },
    /// No known encoding.
    Opaque {
        /// The offset of the first byte that does not fit the byte order mark's encoding; without
        /// one, of the first byte that is not UTF-8.
        offset: u64,
    },
    /// A NUL in the first 8 KiB, and no UTF-16: no text.
    Binary,
}

/// Finds out what `bytes`, a whole file, are.
///
/// The first that decides: a byte order mark; `declared`, strictly; a NUL in the first 8 KiB (UTF-16
/// when all NULs stand at one parity and the rest looks like text, else binary); strict UTF-8;
/// UTF-8 with few bad bytes; `fallback`.
///
/// ```
/// use fs_core::{Encoding, EncodingBy, Fallback, Shape, detect};
/// let found = detect(b"\xEF\xBB\xBFtext\n", None, Fallback::None)?;
/// assert_eq!(found.bom_bytes, 3);
/// let by = EncodingBy::Bom;
/// assert_eq!(found.shape, Shape::Text { encoding: Encoding::UTF_8, by });
/// # Ok::<(), fs_core::Error>(())
/// ```
///
/// # Errors
/// `encoding_mismatch` when the bytes do not fit `declared`, or a byte order mark says another
/// encoding (offset 0); `not_text` for a byte order mark of UTF-32.
pub fn detect(
    mut bytes: &[u8],
    declared: Option<Encoding>,
    fallback: Fallback,
) -> Result<Detected> {
    judge(&mut bytes, declared, fallback)
}

impl Detected {
    /// Returns the encoding of strictly valid text.
    pub fn encoding(&self) -> Option<Encoding> {
        match self.shape {
            Shape::Text { encoding, .. } => Some(encoding),
            Shape::Lossy { .. } | Shape::Opaque { .. } | Shape::Binary => None,
        }
    }

    /// Returns the format of strictly valid text; `bytes` are what was looked at.
    pub fn format(&self, bytes: &[u8]) -> Option<TextFormat> {
        self.encoding().map(|encoding| TextFormat {
            encoding,
            bom: self.bom_bytes > 0,
            eol: Eol::of(bytes, encoding),
        })
    }
}

impl Eol {
    /// Returns the line breaks of `bytes`, with or without their byte order mark, in `encoding`.
    pub fn of(bytes: &[u8], encoding: Encoding) -> Self {
        Self::from(Unit::of(encoding).breaks(bytes, Before::Other))
    }

    /// Returns the line breaks of two texts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, eol) | (eol, Self::None) => eol,
            (one, two) if one == two => one,
            _ => Self::Mixed,
        }
    }

    /// Returns `none`, `lf`, `crlf` or `mixed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Mixed => "mixed",
        }
    }
}

impl From<Breaks> for Eol {
    fn from(breaks: Breaks) -> Self {
        match breaks {
            Breaks { feeds: 0, .. } => Self::None,
            Breaks { with_return: 0, .. } => Self::Lf,
            Breaks { feeds, with_return } if feeds == with_return => Self::CrLf,
            Breaks { .. } => Self::Mixed,
        }
    }
}

impl EncodingBy {
    /// Returns `declared`, `bom`, `nul_parity`, `utf8`, `fallback`, `guess` or `sample`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Bom => "bom",
            Self::NulParity => "nul_parity",
            Self::Utf8 => "utf8",
            Self::Fallback => "fallback",
            Self::Guess => "guess",
            Self::Sample => "sample",
        }
    }
}

#[cfg(test)]
mod tests;
