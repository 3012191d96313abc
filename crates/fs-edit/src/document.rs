//! A file's bytes, once it is known what they are.

use std::borrow::Cow;

use fs_core::{
    Content, Encoding, EncodingBy, Eol, Error, ErrorKind, Problem, Result, Shape, TextFormat,
};

use crate::body::Body;
use crate::chunks::FIRST_TRAIL;
use crate::request::Request;

/// A file's bytes with what they are taken for.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    body: Body<'a>,
    bom_bytes: usize,
    charset: Charset,
    eol: Eol,
}

/// How certain the encoding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    /// Every text that it can hold may be written.
    Sure(Encoding),
    /// By statistics: what it cannot hold may be the fault of the guess.
    Guessed(Encoding),
    /// None that is known: ASCII only.
    Opaque,
}

impl<'a> Document<'a> {
    /// Decides for the whole of `content`.
    ///
    /// # Errors
    /// `binary_file`, `encoding_mismatch`, `not_text` (a UTF-32 byte order mark), and those of reading.
    pub(crate) fn open(content: &Content<'a>, request: &Request) -> Result<Self> {
        let detected = content.detect(request.encoding, request.fallback)?;
        let charset = match detected.shape {
            Shape::Text {
                encoding,
                by: EncodingBy::Guess,
            } => Charset::Guessed(encoding),
            Shape::Text { encoding, .. } => Charset::Sure(encoding),
            Shape::Lossy { .. } | Shape::Opaque { .. } => Charset::Opaque,
            Shape::Binary => {
                let size = content.len();
                return Err(Problem::BinaryFile { size }.into());
            }
        };
        let encoding = match charset {
            Charset::Sure(encoding) | Charset::Guessed(encoding) => Some(encoding),
            Charset::Opaque => None,
        };
        let body = Body::new(content, detected.bom_bytes, encoding)?;
        let eol = body.eol(&(0..body.len()))?;
        Ok(Self {
            body,
            bom_bytes: detected.bom_bytes,
            charset,
            eol,
        })
    }

    /// Returns the text after the byte order mark.
    pub(crate) fn body(&self) -> &Body<'a> {
        &self.body
    }

    /// Returns the length of the byte order mark.
    pub(crate) fn bom_bytes(&self) -> usize {
        self.bom_bytes
    }

    /// Returns the encoding, or `None` for opaque bytes.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        match self.charset {
            Charset::Sure(encoding) | Charset::Guessed(encoding) => Some(encoding),
            Charset::Opaque => None,
        }
    }

    /// Returns the encoding whose bytes must be decoded to be searched; UTF-8 and opaque bytes are
    /// searched as they are.
    pub(crate) fn decoded_as(&self) -> Option<Encoding> {
        self.encoding().filter(|it| *it != Encoding::UTF_8)
    }

    /// Returns the style of the line breaks.
    pub(crate) fn eol(&self) -> Eol {
        self.eol
    }

    /// Returns the format, or `None` for opaque bytes.
    pub(crate) fn format(&self) -> Option<TextFormat> {
        self.encoding().map(|encoding| TextFormat {
            encoding,
            bom: self.bom_bytes > 0,
            eol: self.eol,
        })
    }

    /// Returns whether the bytes are in no known encoding.
    pub(crate) fn is_opaque(&self) -> bool {
        self.charset == Charset::Opaque
    }

    /// Checks that `text` can be searched for: opaque bytes are searched for ASCII only.
    ///
    /// # Errors
    /// `encoding_unknown`.
    pub(crate) fn check_old(&self, text: &str) -> Result<()> {
        if self.is_opaque() && !text.is_ascii() {
            return Err(self.uncertain());
        }
        Ok(())
    }

    /// Checks that a match is no part of a character: `text` is what was found, after a character that
    /// is no ASCII. What looks like a set of single bytes may be one of two: there that character
    /// would go on into ASCII from [`FIRST_TRAIL`] on.
    ///
    /// # Errors
    /// `encoding_unknown`.
    pub(crate) fn check_after_high(&self, text: &str) -> Result<()> {
        let is_trail = |byte: u8| byte.is_ascii() && byte >= FIRST_TRAIL;
        let may_be_half = text.bytes().next().is_some_and(is_trail);
        match self.charset {
            Charset::Opaque => Err(self.uncertain()),
            Charset::Guessed(it) if it.is_single_byte() && may_be_half => Err(self.uncertain()),
            Charset::Guessed(_) | Charset::Sure(_) => Ok(()),
        }
    }

    /// Returns the `encoding_unknown` that names what the file looks like.
    pub(crate) fn uncertain(&self) -> Error {
        Problem::encoding_unknown(self.encoding()).into()
    }

    /// Checks that `text` can be written, whole, so that the place of a misfit is its place in
    /// what the caller sent.
    ///
    /// # Errors
    /// `unencodable`; `encoding_unknown` where the encoding is guessed or unknown.
    pub(crate) fn check_new(&self, text: &str) -> Result<()> {
        if self.decoded_as().is_some() {
            self.encode(Cow::Borrowed(text)).map(drop)
        } else {
            self.check_old(text)
        }
    }

    /// Returns the bytes of `text` in the file's encoding.
    pub(crate) fn encode(&self, text: Cow<'_, str>) -> Result<Vec<u8>> {
        match self.charset {
            Charset::Sure(Encoding::UTF_8) | Charset::Guessed(Encoding::UTF_8) => {
                Ok(text.into_owned().into_bytes())
            }
            Charset::Opaque => {
                self.check_old(&text)?;
                Ok(text.into_owned().into_bytes())
            }
            Charset::Sure(encoding) => encoding.encode(&text),
            Charset::Guessed(encoding) => match encoding.encode(&text) {
                Err(error) if error.kind() == ErrorKind::Unencodable => Err(self.uncertain()),
                result => result,
            },
        }
    }
}
