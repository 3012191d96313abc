//! Line breaks in the file's own bytes, in any encoding.

use fs_core::{Encoding, Eol};
use memchr::{memchr, memchr_iter, memrchr};

/// Finds line breaks in bytes of one encoding. Offsets count from the start of the text, after the
/// byte order mark, so that code units of UTF-16 stand at even ones.
///
/// In every encoding but UTF-16 the byte 0x0A is a line feed and nothing else: no trail byte of a
/// legacy set is below 0x21.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// LF is one byte.
    Bytes,
    /// LF is `0A 00`.
    Utf16Le,
    /// LF is `00 0A`.
    Utf16Be,
}

/// A line break as byte offsets: the CR, if there is one, belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineBreak {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// How it is spelled.
    pub(crate) style: Style,
}

/// The spelling of a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Style {
    Lf,
    CrLf,
}

impl Style {
    /// Returns the break as text.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

impl Breaks {
    /// Returns the finder for `encoding`; opaque bytes have none and are searched as bytes.
    pub(crate) fn of(encoding: Option<Encoding>) -> Self {
        match encoding {
            Some(Encoding::UTF_16LE) => Self::Utf16Le,
            Some(Encoding::UTF_16BE) => Self::Utf16Be,
            _ => Self::Bytes,
        }
    }

    /// Returns the length of a code unit in bytes.
    pub(crate) const fn unit_bytes(self) -> usize {
        match self {
            Self::Bytes => 1,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }

    /// Returns the first break whose LF stands at or after `from`.
    pub(crate) fn next(self, text: &[u8], from: usize) -> Option<LineBreak> {
        let mut at = from;
        loop {
            let byte = at + memchr(b'\n', text.get(at..)?)?;
            match self.line_feed(text, byte) {
                Some(found) if found.end > from => return Some(found),
                _ => at = byte + 1,
            }
        }
    }

    /// Returns the last break that ends at or before `before`.
    pub(crate) fn previous(self, text: &[u8], before: usize) -> Option<LineBreak> {
        let mut end = before;
        loop {
            let byte = memrchr(b'\n', text.get(..end)?)?;
            match self.line_feed(text, byte) {
                Some(found) if found.end <= before => return Some(found),
                _ => end = byte,
            }
        }
    }

    /// Returns how many breaks end in `text`.
    pub(crate) fn count(self, text: &[u8]) -> u64 {
        match self {
            Self::Bytes => memchr_iter(b'\n', text).count() as u64,
            Self::Utf16Le | Self::Utf16Be => {
                let bytes = memchr_iter(b'\n', text);
                bytes
                    .filter(|at| self.line_feed(text, *at).is_some())
                    .count() as u64
            }
        }
    }

    /// Returns how many lines `text` holds; a last one without a break counts.
    pub(crate) fn count_lines(self, text: &[u8]) -> u64 {
        let whole = self.previous(text, text.len()).map_or(0, |last| last.end);
        self.count(text) + u64::from(whole < text.len())
    }

    /// Returns where the line begins that holds `offset`.
    pub(crate) fn line_start(self, text: &[u8], offset: usize) -> usize {
        self.previous(text, offset).map_or(0, |found| found.end)
    }

    /// Returns where the line ends, with its break, that holds `offset`.
    pub(crate) fn line_end(self, text: &[u8], offset: usize) -> usize {
        self.next(text, offset)
            .map_or(text.len(), |found| found.end)
    }

    /// Returns the lines of `text`, each with its break.
    pub(crate) fn lines(self, text: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at;
            at = self.line_end(text, start);
            text.get(start..at).filter(|line| !line.is_empty())
        })
    }

    /// Returns the style of the line breaks of `text`.
    pub(crate) fn eol(self, text: &[u8]) -> Eol {
        if self == Self::Bytes && memchr(b'\r', text).is_none() {
            return match memchr(b'\n', text) {
                Some(_) => Eol::Lf,
                None => Eol::None,
            };
        }
        let mut eol = Eol::None;
        for byte in memchr_iter(b'\n', text) {
            let Some(found) = self.line_feed(text, byte) else {
                continue;
            };
            eol = match (eol, found.style) {
                (Eol::None | Eol::Lf, Style::Lf) => Eol::Lf,
                (Eol::None | Eol::CrLf, Style::CrLf) => Eol::CrLf,
                _ => return Eol::Mixed,
            };
        }
        eol
    }

    /// Returns the break whose LF has its byte 0x0A at `byte`.
    pub(crate) fn line_feed(self, text: &[u8], byte: usize) -> Option<LineBreak> {
        let width = self.unit_bytes();
        let start = match self {
            Self::Bytes | Self::Utf16Le => byte,
            Self::Utf16Be => byte.checked_sub(1)?,
        };
        let (lf, cr): (&[u8], &[u8]) = match self {
            Self::Bytes => (b"\n", b"\r"),
            Self::Utf16Le => (b"\n\0", b"\r\0"),
            Self::Utf16Be => (b"\0\n", b"\0\r"),
        };
        if !start.is_multiple_of(width) || !text.get(start..)?.starts_with(lf) {
            return None;
        }
        let before = start.checked_sub(width);
        let crlf = before.filter(|at| text.get(*at..start) == Some(cr));
        Some(LineBreak {
            start: crlf.unwrap_or(start),
            end: start + width,
            style: if crlf.is_some() {
                Style::CrLf
            } else {
                Style::Lf
            },
        })
    }
}
