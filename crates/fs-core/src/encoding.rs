//! Encodings: strict decoding and encoding, and characters with their byte offsets.

use std::ops::Range;

use crate::error::Result;

/// An encoding of text, without its byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Decodes as GB18030, encodes two-byte forms only.
    Gbk,
    Legacy(&'static encoding_rs::Encoding),
}

/// A character of a text in some encoding, with the bytes that spell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChar {
    /// The character.
    pub character: char,
    /// Its bytes, as offsets from 0, end exclusive.
    pub bytes: Range<usize>,
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(Kind::Utf8);
    /// UTF-16, low byte first.
    pub const UTF_16LE: Self = Self(Kind::Utf16Le);
    /// UTF-16, high byte first.
    pub const UTF_16BE: Self = Self(Kind::Utf16Be);
    /// GBK: decodes as GB18030, encodes two-byte forms only.
    pub const GBK: Self = Self(Kind::Gbk);
    /// GB18030.
    pub const GB18030: Self = Self(Kind::Legacy(encoding_rs::GB18030));

    /// Returns the encoding of a WHATWG label.
    pub fn for_label(_label: &str) -> Result<Self> {
        todo!()
    }

    /// Returns the WHATWG name in lower case; `gb18030` for GBK.
    pub fn name(self) -> &'static str {
        todo!()
    }

    /// Decodes strictly (`encoding_mismatch` with the offset).
    pub fn decode(self, _bytes: &[u8]) -> Result<String> {
        todo!()
    }

    /// Encodes strictly (`unencodable` with character, line and column in `text`).
    pub fn encode(self, _text: &str) -> Result<Vec<u8>> {
        todo!()
    }

    /// Returns the characters of `bytes` with their offsets; stops at the first byte that does not fit.
    pub fn chars(self, _bytes: &[u8]) -> impl Iterator<Item = TextChar> + '_ {
        std::iter::empty()
    }

    /// Returns the number of bytes of a code unit: 2 for UTF-16, else 1.
    pub fn unit_bytes(self) -> usize {
        todo!()
    }
}
