//! Characters with the bytes that spell them, in any encoding.

use encoding_rs::{Decoder, DecoderResult};

use crate::encoding::{Encoding, TextChar};

/// The characters of some bytes, up to the first sequence that does not fit.
pub(crate) struct Chars<'a>(Form<'a>);

enum Form<'a> {
    Utf8(std::str::CharIndices<'a>),
    Utf16(Utf16<'a>),
    Legacy(Box<Legacy<'a>>),
}

struct Utf16<'a> {
    bytes: &'a [u8],
    unit: fn([u8; 2]) -> u16,
    at: usize,
}

/// Feeds a decoder byte by byte: it gives out a character with the last byte of it.
struct Legacy<'a> {
    bytes: &'a [u8],
    decoder: Decoder,
    encoding: Encoding,
    at: usize,
    /// A second character for the same bytes.
    second: Option<TextChar>,
}

impl<'a> Chars<'a> {
    pub(crate) fn new(encoding: Encoding, bytes: &'a [u8]) -> Self {
        let utf16 = |unit| Form::Utf16(Utf16 { bytes, unit, at: 0 });
        Self(match encoding {
            Encoding::UTF_8 => Form::Utf8(valid_prefix(bytes).char_indices()),
            Encoding::UTF_16LE => utf16(u16::from_le_bytes),
            Encoding::UTF_16BE => utf16(u16::from_be_bytes),
            _ => Form::Legacy(Box::new(Legacy {
                bytes,
                decoder: encoding.decoder(),
                encoding,
                at: 0,
                second: None,
            })),
        })
    }
}

impl Iterator for Chars<'_> {
    type Item = TextChar;

    fn next(&mut self) -> Option<TextChar> {
        match &mut self.0 {
            Form::Utf8(chars) => chars.next().map(|(start, character)| TextChar {
                character,
                bytes: start..start + character.len_utf8(),
            }),
            Form::Utf16(chars) => chars.next(),
            Form::Legacy(chars) => chars.next(),
        }
    }
}

impl Utf16<'_> {
    fn next(&mut self) -> Option<TextChar> {
        let units = [self.unit_at(self.at), self.unit_at(self.at + 2)];
        let character = char::decode_utf16(units.into_iter().map_while(|unit| unit)).next()?;
        let character = character.ok()?;
        let start = self.at;
        self.at += 2 * character.len_utf16();
        Some(TextChar {
            character,
            bytes: start..self.at,
        })
    }

    fn unit_at(&self, at: usize) -> Option<u16> {
        let pair = self.bytes.get(at..at + 2)?;
        pair.try_into().ok().map(self.unit)
    }
}

impl Legacy<'_> {
    fn next(&mut self) -> Option<TextChar> {
        if let Some(second) = self.second.take() {
            return Some(second);
        }
        let start = self.at;
        let first = *self.bytes.get(start)?;
        if first < 0x80 && self.encoding.is_ascii_compatible() {
            self.at += 1;
            return Some(TextChar {
                character: char::from(first),
                bytes: start..self.at,
            });
        }
        loop {
            let byte = self.bytes.get(self.at..=self.at)?;
            let mut text = [0; 16];
            let (result, _, written) = self
                .decoder
                .decode_to_utf8_without_replacement(byte, &mut text, false);
            self.at += 1;
            if result != DecoderResult::InputEmpty {
                self.at = self.bytes.len();
                return None;
            }
            let text = text.get(..written).unwrap_or_default();
            let mut characters = valid_prefix(text).chars().map(|character| TextChar {
                character,
                bytes: start..self.at,
            });
            if let Some(first) = characters.next() {
                self.second = characters.next();
                return Some(first);
            }
        }
    }
}

fn valid_prefix(bytes: &[u8]) -> &str {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => bytes
            .get(..error.valid_up_to())
            .and_then(|valid| std::str::from_utf8(valid).ok())
            .unwrap_or_default(),
    }
}
