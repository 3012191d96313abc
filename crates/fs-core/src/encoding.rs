//! Encodings: strict decoding and encoding, and characters with their byte offsets.

use std::ops::Range;

use encoding_rs::{Decoder, DecoderResult, EncoderResult};

use crate::chars::Chars;
use crate::error::Result;
use crate::problem::Problem;

/// An encoding of text, without its byte order mark.
///
/// Equality tells `GBK` and `GB18030` apart, though both decode alike and have one name, because
/// they differ in what they may write.
///
/// ```
/// use fs_core::Encoding;
/// let big5 = Encoding::for_label("Big5")?;
/// assert_eq!(big5.name(), "big5");
/// assert_eq!(big5.decode(&big5.encode("中文")?)?, "中文");
/// assert_eq!(big5.encode("😀").unwrap_err().code(), "unencodable");
/// # Ok::<(), fs_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Decodes as GB18030, encodes what GBK has.
    Gbk,
    Legacy(&'static encoding_rs::Encoding),
}

/// A character of a text in some encoding, with the bytes that spell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChar {
    /// The character.
    pub character: char,
    /// Its bytes, as offsets from 0, end exclusive. The two characters of a Big5 pair that spells
    /// two (four pairs do) have the same bytes; an escape sequence of ISO-2022-JP belongs to the
    /// character after it.
    pub bytes: Range<usize>,
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(Kind::Utf8);
    /// UTF-16, low byte first.
    pub const UTF_16LE: Self = Self(Kind::Utf16Le);
    /// UTF-16, high byte first.
    pub const UTF_16BE: Self = Self(Kind::Utf16Be);
    /// GBK: decodes as GB18030, encodes without its four-byte forms.
    pub const GBK: Self = Self(Kind::Gbk);
    /// GB18030.
    pub const GB18030: Self = Self(Kind::Legacy(encoding_rs::GB18030));

    /// Returns the encoding of a WHATWG label, in any case and with blanks around it; `gb2312`
    /// means GBK and `utf-16` means little-endian there.
    ///
    /// # Errors
    /// `invalid_argument` for field `encoding`: no such label, or one (`iso-2022-kr`, `hz-gb-2312`)
    /// that stands for no encoding any more.
    pub fn for_label(label: &str) -> Result<Self> {
        match encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()) {
            Some(encoding) => Ok(Self::from_whatwg(encoding)),
            None => Err(Problem::invalid("encoding", "no known encoding has this name").into()),
        }
    }

    /// Returns the WHATWG name in lower case; `gb18030` for GBK.
    pub fn name(self) -> &'static str {
        let name = self.whatwg().name();
        let lower = LOWER_NAMES
            .iter()
            .find(|lower| lower.eq_ignore_ascii_case(name));
        lower.copied().unwrap_or(name)
    }

    /// Returns the text that `bytes` spell. A byte order mark is decoded as U+FEFF, so the caller
    /// takes it off first.
    ///
    /// # Errors
    /// `encoding_mismatch` with the offset of the first sequence that does not fit.
    pub fn decode(self, bytes: &[u8]) -> Result<String> {
        if self == Self::UTF_8 {
            return match simdutf8::compat::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(error) => Err(self.mismatch(error.valid_up_to() as u64)),
            };
        }
        let mut text = String::new();
        let mut stream = Stream::new(self);
        stream
            .push(bytes, &mut text)
            .and_then(|()| stream.finish(&mut text))
            .map_err(|offset| self.mismatch(offset))?;
        Ok(text)
    }

    /// Returns the bytes that spell `text`, without a byte order mark; decoding them gives `text`
    /// back.
    ///
    /// # Errors
    /// `unencodable` with the first character that the encoding lacks, and its line and column in
    /// `text`. The encoding is called `gbk` there where it is GBK.
    pub fn encode(self, text: &str) -> Result<Vec<u8>> {
        match self.0 {
            Kind::Utf8 => Ok(text.as_bytes().to_vec()),
            Kind::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Kind::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Kind::Gbk => self.encode_as(encoding_rs::GBK, text),
            Kind::Legacy(encoding) => self.encode_as(encoding, text),
        }
    }

    /// Returns the characters of `bytes` with their offsets; stops before the first sequence that
    /// does not fit, so the last range ends at `bytes.len()` exactly when all of it fits.
    pub fn chars(self, bytes: &[u8]) -> impl Iterator<Item = TextChar> + '_ {
        Chars::new(self, bytes)
    }

    /// Returns the number of bytes of a code unit: 2 for UTF-16, else 1.
    pub fn unit_bytes(self) -> usize {
        match self.0 {
            Kind::Utf16Le | Kind::Utf16Be => 2,
            _ => 1,
        }
    }

    /// Returns whether the meaning of a line's bytes hangs on the lines before it.
    pub(crate) fn is_stateful(self) -> bool {
        self.0 == Kind::Legacy(encoding_rs::ISO_2022_JP)
    }

    /// Returns whether every character is one byte.
    pub fn is_single_byte(self) -> bool {
        self.whatwg().is_single_byte()
    }

    pub(crate) fn is_ascii_compatible(self) -> bool {
        self.whatwg().is_ascii_compatible()
    }

    pub(crate) fn from_whatwg(encoding: &'static encoding_rs::Encoding) -> Self {
        Self(match encoding {
            e if e == encoding_rs::UTF_8 => Kind::Utf8,
            e if e == encoding_rs::UTF_16LE => Kind::Utf16Le,
            e if e == encoding_rs::UTF_16BE => Kind::Utf16Be,
            e if e == encoding_rs::GBK => Kind::Gbk,
            e => Kind::Legacy(e),
        })
    }

    pub(crate) fn decoder(self) -> Decoder {
        self.whatwg().new_decoder_without_bom_handling()
    }

    pub(crate) fn mismatch(self, offset: u64) -> crate::Error {
        Problem::EncodingMismatch {
            encoding: self.name().to_owned(),
            offset,
        }
        .into()
    }

    fn whatwg(self) -> &'static encoding_rs::Encoding {
        match self.0 {
            Kind::Utf8 => encoding_rs::UTF_8,
            Kind::Utf16Le => encoding_rs::UTF_16LE,
            Kind::Utf16Be => encoding_rs::UTF_16BE,
            Kind::Gbk => encoding_rs::GB18030,
            Kind::Legacy(encoding) => encoding,
        }
    }

    fn encode_as(self, encoding: &'static encoding_rs::Encoding, text: &str) -> Result<Vec<u8>> {
        let mut encoder = encoding.new_encoder();
        let mut bytes = Vec::with_capacity(text.len());
        let mut read = 0;
        loop {
            let rest = text.get(read..).unwrap_or_default();
            let (result, taken) =
                encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
            read += taken;
            match result {
                EncoderResult::InputEmpty => break,
                EncoderResult::OutputFull => bytes.reserve(rest.len().max(32)),
                EncoderResult::Unmappable(_) => return Err(self.unencodable(text, read)),
            }
        }
        match self.first_changed(text, &bytes) {
            Some(end) => Err(self.unencodable(text, end)),
            None => Ok(bytes),
        }
    }

    /// Returns where the first character ends that the encoder wrote as another one: `Shift_JIS` has
    /// a yen sign where it reads a backslash.
    fn first_changed(self, text: &str, bytes: &[u8]) -> Option<usize> {
        if self.decode(bytes).is_ok_and(|back| back == text) {
            return None;
        }
        let mut back = self.chars(bytes);
        let changed = text
            .char_indices()
            .find(|(_, c)| back.next().is_none_or(|read| read.character != *c));
        let (start, c) = changed.unwrap_or_default();
        Some(start + c.len_utf8())
    }

    /// Returns the error for the character of `text` that ends at `end`.
    fn unencodable(self, text: &str, end: usize) -> crate::Error {
        let head = text.get(..end).unwrap_or(text);
        let character = head.chars().next_back().unwrap_or_default();
        let before = head.get(..head.len() - character.len_utf8());
        let before = before.unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
        let encoding = match self.0 {
            Kind::Gbk => "gbk",
            _ => self.name(),
        };
        Problem::Unencodable {
            character: format!("U+{:04X}", u32::from(character)),
            line: bytecount::count(before.as_bytes(), b'\n') as u64 + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() as u64 + 1,
            encoding: encoding.to_owned(),
        }
        .into()
    }
}

/// Strict decoding of a text that comes in runs of bytes.
///
/// ```
/// use fs_core::{DecodeStream, Encoding};
///
/// let (mut stream, mut text) = (DecodeStream::new(Encoding::GBK), String::new());
/// for run in [&b"\xD6"[..], b"\xD0\xCE", b"\xC4"] {
///     stream.push(run, &mut text).expect("it is GBK");
/// }
/// stream.finish(&mut text).expect("it is whole");
/// assert_eq!(text, "中文");
/// ```
pub struct Stream {
    decoder: Decoder,
    read: u64,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DecodeStream(after {} bytes)", self.read)
    }
}

impl Stream {
    /// Returns the stream at the start of a text, after its byte order mark.
    pub fn new(encoding: Encoding) -> Self {
        Self {
            decoder: encoding.decoder(),
            read: 0,
        }
    }

    /// Decodes the next bytes onto `text`; the error is the offset, from the stream's start, of the
    /// first sequence that does not fit.
    ///
    /// # Errors
    /// That offset.
    pub fn push(&mut self, bytes: &[u8], text: &mut String) -> Result<(), u64> {
        self.run(bytes, text, End::Open)
    }

    /// Ends the text: a sequence that is not complete does not fit.
    ///
    /// # Errors
    /// The offset of that.
    pub fn finish(&mut self, text: &mut String) -> Result<(), u64> {
        self.run(&[], text, End::Last)
    }

    fn run(&mut self, bytes: &[u8], text: &mut String, end: End) -> Result<(), u64> {
        let mut rest = bytes;
        loop {
            text.reserve(rest.len().max(16));
            let (result, taken) = self.decoder.decode_to_string_without_replacement(
                rest,
                text,
                matches!(end, End::Last),
            );
            self.read += taken as u64;
            rest = rest.get(taken..).unwrap_or_default();
            match result {
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    return Err(self.read.saturating_sub(u64::from(len) + u64::from(after)));
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum End {
    Open,
    Last,
}

/// The WHATWG names that are not lower case there.
const LOWER_NAMES: [&str; 25] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "gbk",
    "big5",
    "euc-jp",
    "iso-2022-jp",
    "shift_jis",
    "euc-kr",
];

#[cfg(test)]
mod tests;
