//! The set in which new bytes may change how their neighbours read.

use std::iter::Peekable;
use std::ops::{ControlFlow, Range};
use std::slice::Iter;

use fs_core::{DecodeStream, Encoding, Patch, Piece, Pieces, Problem, Result};

use crate::body::Body;
use crate::chunks::{Chunks, Reading};
use crate::document::Document;
use crate::haystack::Form;
use crate::splice::Splice;

impl Document<'_> {
    /// Returns whether a splice on the edges of characters may still spoil its neighbours:
    /// ISO-2022-JP switches sets by escapes.
    pub(crate) fn is_stateful(&self) -> bool {
        self.encoding().map(Encoding::name) == Some("iso-2022-jp")
    }
}

/// Checks that the result of `patch` decodes to the source's characters with the new text in its
/// places.
///
/// # Errors
/// `encoding_unknown`: the edit falls into a run that cannot be cut there.
pub(crate) fn check_reads_back(
    document: &Document<'_>,
    splices: &[Splice],
    texts: &[String],
    patch: &Patch,
) -> Result<()> {
    let Some(encoding) = document.encoding() else {
        return Ok(());
    };
    let body = document.body();
    let mut expected = Expected::new(body, encoding, splices, texts);
    let mut actual = Actual::new(body, encoding, patch);
    let (mut left, mut right) = (String::new(), String::new());
    loop {
        let more_left = !left.is_empty() || expected.next(&mut left)?;
        let more_right = !right.is_empty() || actual.next(&mut right)?;
        if !more_left && !more_right {
            return Ok(());
        }
        let common = left.len().min(right.len());
        let ended = (!more_left && !right.is_empty()) || (!more_right && !left.is_empty());
        if ended || left.as_bytes().get(..common) != right.as_bytes().get(..common) {
            return Err(Problem::encoding_unknown(None).into());
        }
        // Equal bytes, so they end on the edge of a character on both sides.
        left = left.get(common..).unwrap_or_default().to_owned();
        right = right.get(common..).unwrap_or_default().to_owned();
    }
}

/// The characters that the result should have, chunk by chunk.
struct Expected<'s, 't, 'a> {
    chunks: Chunks<'t, 'a>,
    encoding: Encoding,
    pending: Peekable<Iter<'s, Splice>>,
    texts: &'s [String],
    gone_until: usize,
}

impl<'s, 't, 'a> Expected<'s, 't, 'a> {
    fn new(
        body: &'t Body<'a>,
        encoding: Encoding,
        splices: &'s [Splice],
        texts: &'s [String],
    ) -> Self {
        let reading = Reading {
            decoded_as: Some(encoding),
            form: Form::Raw,
        };
        Self {
            chunks: Chunks::new(body, &(0..body.len()), reading),
            encoding,
            pending: splices.iter().peekable(),
            texts,
            gone_until: 0,
        }
    }

    /// Appends more to `text`; `false` when there is no more.
    fn next(&mut self, text: &mut String) -> Result<bool> {
        let Some(chunk) = self.chunks.next()? else {
            let before = text.len();
            let texts = self.texts;
            let rest = self.pending.by_ref();
            text.extend(
                rest.filter_map(|splice| texts.get(splice.text))
                    .map(String::as_str),
            );
            return Ok(text.len() > before);
        };
        for character in chunk.mark.spelled(&chunk.raw).chars(self.encoding) {
            let start = chunk.mark.text + character.bytes.start;
            while let Some(splice) = self.pending.next_if(|splice| splice.range.start <= start) {
                text.push_str(self.texts.get(splice.text).map_or("", String::as_str));
                self.gone_until = self.gone_until.max(splice.range.end);
            }
            if start >= self.gone_until {
                text.push(character.character);
            }
        }
        Ok(true)
    }
}

/// The characters that the result has, block by block.
struct Actual<'s, 't, 'a> {
    body: &'t Body<'a>,
    stream: DecodeStream,
    pieces: Pieces<'s>,
    kept: Range<u64>,
    is_over: bool,
}

impl<'s, 't, 'a> Actual<'s, 't, 'a> {
    fn new(body: &'t Body<'a>, encoding: Encoding, patch: &'s Patch) -> Self {
        Self {
            body,
            stream: DecodeStream::new(encoding),
            pieces: patch.pieces(),
            kept: 0..0,
            is_over: false,
        }
    }

    /// Appends more to `text`; `false` when there is no more.
    ///
    /// # Errors
    /// `encoding_unknown` for what is no text, and those of reading.
    fn next(&mut self, text: &mut String) -> Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        let pushed = if self.kept.is_empty() {
            match self.pieces.next() {
                Some(Piece::Keep(range)) => {
                    // A byte order mark is no text.
                    let start = range.start.max(self.body.in_file(&(0..0)).start);
                    self.kept = start..range.end;
                    Ok(())
                }
                Some(Piece::New(bytes)) => self.stream.push(bytes, text),
                None => {
                    self.is_over = true;
                    self.stream.finish(text)
                }
            }
        } else {
            self.push_kept(text)?
        };
        match pushed {
            Ok(()) => Ok(true),
            Err(_) => Err(Problem::encoding_unknown(None).into()),
        }
    }

    fn push_kept(&mut self, text: &mut String) -> Result<Result<(), u64>> {
        let mut pushed = Ok(());
        let mut len = 0;
        self.body.content().each(self.kept.clone(), &mut |block| {
            pushed = self.stream.push(block, text);
            len = block.len() as u64;
            ControlFlow::Break(())
        })?;
        self.kept.start = if len == 0 {
            self.kept.end
        } else {
            self.kept.start + len
        };
        Ok(pushed)
    }
}
