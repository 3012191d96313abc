//! What a file's bytes are: encoding, byte order mark, line breaks.

use crate::encoding::Encoding;
use crate::error::Result;

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
    /// No line break.
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
    /// What the statistics say.
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
    /// UTF-8 but for some bytes: may be shown with U+FFFD, is edited as opaque bytes.
    Lossy {
        /// How many bad sequences there are.
        invalid_bytes: u64,
        /// The offset of the first.
        offset: u64,
    },
    /// No known encoding; the offset of the first byte that is not UTF-8.
    Opaque {
        /// That offset.
        offset: u64,
    },
    /// NULs: no text.
    Binary,
}

/// Finds out what `bytes`, a whole file, are. `declared` is strict (`encoding_mismatch`); a UTF-32
/// BOM is `not_text`.
pub fn detect(_bytes: &[u8], _declared: Option<Encoding>, _fallback: Fallback) -> Result<Detected> {
    todo!()
}

impl Eol {
    /// Returns `none`, `lf`, `crlf` or `mixed`.
    pub fn name(self) -> &'static str {
        todo!()
    }
}

impl EncodingBy {
    /// Returns `declared`, `bom`, `nul_parity`, `utf8`, `fallback`, `guess` or `sample`.
    pub fn name(self) -> &'static str {
        todo!()
    }
}
