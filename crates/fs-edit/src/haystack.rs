//! The text in the form in which it is searched, and the way back to the file's bytes.

use std::borrow::Cow;

use fs_core::{Encoding, Problem, Result};

use crate::tokens::{collapse_bytes, expand_offsets};

/// How line breaks stand in a haystack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are in the file.
    Raw,
    /// Each is one LF.
    Collapsed,
}

/// Text as UTF-8 (or opaque bytes), in which equal tokens are equal bytes.
#[derive(Debug, Clone)]
pub(crate) struct Haystack<'a> {
    text: &'a [u8],
    decoded_as: Option<Encoding>,
    form: Form,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Haystack<'a> {
    /// Returns the haystack of `text`, which is decoded only if `decoded_as` names an encoding, and
    /// copied only if it is decoded or collapsed.
    pub(crate) fn new(text: &'a [u8], decoded_as: Option<Encoding>, form: Form) -> Result<Self> {
        let bytes = match decoded_as {
            Some(encoding) => Cow::Owned(encoding.decode(text)?.into_bytes()),
            None => Cow::Borrowed(text),
        };
        let bytes = match form {
            Form::Raw => bytes,
            Form::Collapsed => Cow::Owned(collapse_bytes(bytes)),
        };
        Ok(Self {
            text,
            decoded_as,
            form,
            bytes,
        })
    }

    /// Returns the bytes to search.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how line breaks stand in it.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of the line that holds `offset`, counted from 1.
    pub(crate) fn line_of(&self, offset: usize) -> u64 {
        let before = self.bytes.get(..offset).unwrap_or(&self.bytes);
        1 + memchr::memchr_iter(b'\n', before).count() as u64
    }

    /// Returns where `offsets`, ascending and on edges of tokens, stand in the file's text.
    ///
    /// # Errors
    /// `encoding_unknown` for an edge between two characters that one pair of bytes spells (Big5).
    pub(crate) fn to_text(&self, offsets: &[usize]) -> Result<Vec<usize>> {
        match (self.decoded_as, self.form) {
            (None, Form::Raw) => Ok(offsets.to_vec()),
            (None, Form::Collapsed) => Ok(expand_offsets(self.text, offsets)),
            (Some(encoding), _) => self.through_characters(encoding, offsets),
        }
    }

    /// Maps offsets by walking the characters: in the legacy sets several spellings are one
    /// character, so nothing but the walk knows where a character stands.
    fn through_characters(&self, encoding: Encoding, offsets: &[usize]) -> Result<Vec<usize>> {
        let mut characters = encoding.chars(self.text).peekable();
        let (mut passed, mut last_end) = (0, 0);
        let mut mapped = Vec::with_capacity(offsets.len());
        for offset in offsets {
            while passed < *offset {
                let Some(mut character) = characters.next() else {
                    break;
                };
                passed += character.character.len_utf8();
                if self.form == Form::Collapsed && character.character == '\r' {
                    let line_feed = characters.next_if(|next| next.character == '\n');
                    character = line_feed.unwrap_or(character);
                }
                last_end = character.bytes.end;
            }
            let next = characters.peek().map(|next| next.bytes.start);
            let here = next.unwrap_or(self.text.len());
            if here < last_end {
                return Err(Problem::EncodingUnknown.into());
            }
            mapped.push(here);
        }
        Ok(mapped)
    }
}
