//! Looking into a file: what it is taken for, and whether it may hold a match at all.

use std::io;

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};

use super::Query;
use super::body::{Body, FileBody, Watch};
use super::compile::TextPattern;
use super::run::Subject;
use super::watched::Watched;
use crate::encoding::Encoding;
use crate::file_bytes::{Block, read_full};
use crate::format::{Fallback, Shape};
use crate::judge::{First, HEAD_BYTES};
use crate::skip::Skip;

/// Files up to this size are read whole.
const WHOLE_BYTES: u64 = 1024 * 1024;
/// A line of a larger file must fit this.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Looks into files, one after another.
pub(super) struct Look<'q> {
    watch: &'q Watch,
    block: Block,
    judge: Judge<'q>,
}

/// Takes what is wanted of a text; it is to be decoded when an encoding is given.
pub(super) type Take<'t> =
    &'t mut dyn FnMut(&mut Searcher, &Body<'_>, Option<Encoding>) -> Result<(), Skip>;

/// What a text was taken for, and why it was not read to its end.
pub(super) type Looked = (Option<Encoding>, Result<(), Skip>);

/// Finds out what a text is.
struct Judge<'q> {
    query: &'q Query,
    pattern: &'q TextPattern,
    watch: &'q Watch,
    /// One for all that a thread does: its buffer may hold a long line.
    searcher: Searcher,
}

impl<'q> Look<'q> {
    pub(super) fn new(query: &'q Query, pattern: &'q TextPattern, watch: &'q Watch) -> Self {
        Self {
            watch,
            block: Block::default(),
            judge: Judge {
                query,
                pattern,
                watch,
                searcher: searcher(pattern, query.context_lines),
            },
        }
    }

    /// Looks into a file, and has its text taken if that may hold a match.
    pub(super) fn at(&mut self, subject: &Subject<'_>, take: Take<'_>) -> Looked {
        let is_small = subject.size <= WHOLE_BYTES;
        let held = match usize::try_from(subject.size) {
            Ok(size) if is_small => size,
            _ => HEAD_BYTES,
        };
        self.block.grow(held);
        let buffer = self.block.bytes_mut().get_mut(..held).unwrap_or_default();
        let Ok(read) = read_full(&subject.file, 0, buffer) else {
            return (None, Err(Skip::Unreadable));
        };
        let bytes = self.block.bytes().get(..read).unwrap_or_default();
        let body = if is_small {
            Body::Held(bytes)
        } else {
            Body::File(FileBody::new(&subject.file, subject.size, self.watch))
        };
        self.judge.text(bytes, body, take)
    }
}

impl Judge<'_> {
    /// Judges a text of which `head` are the first bytes.
    fn text(&mut self, head: &[u8], mut body: Body<'_>, take: Take<'_>) -> Looked {
        match First::of_head(head.get(..HEAD_BYTES).unwrap_or(head), None) {
            Err(_) | Ok(First::Binary) => (None, Err(Skip::Binary)),
            Ok(First::Bom(Encoding::UTF_8, len)) => {
                self.plain(body.behind(len), Fallback::None, take)
            }
            Ok(First::Bom(encoding, len)) => (
                Some(encoding),
                take(&mut self.searcher, &body.behind(len), Some(encoding)),
            ),
            Ok(first @ First::NulParity(encoding)) => {
                match first.confirm(&mut body, None, Fallback::None) {
                    Ok(found) if found.shape == Shape::Binary => (None, Err(Skip::Binary)),
                    Ok(_) => (
                        Some(encoding),
                        take(&mut self.searcher, &body, Some(encoding)),
                    ),
                    Err(_) => (None, Err(Skip::Unreadable)),
                }
            }
            Ok(First::Open | First::Declared(_)) => self.plain(body, self.query.fallback, take),
        }
    }

    /// Judges a text in UTF-8, or in an encoding that spells ASCII alike; a NUL ends it.
    fn plain(&mut self, body: Body<'_>, fallback: Fallback, take: Take<'_>) -> Looked {
        let len = body.len();
        let mut body = body.up_to_nul();
        let (encoding, mut outcome) = self.bytes(&mut body, fallback, take);
        if outcome.is_ok() && body.len() < len {
            outcome = Err(Skip::Binary);
        }
        (encoding, outcome)
    }

    fn bytes(&mut self, body: &mut Body<'_>, fallback: Fallback, take: Take<'_>) -> Looked {
        if let Some(candidates) = &self.pattern.candidates {
            let candidates = Watched::of_candidates(candidates, self.watch);
            match body.holds(&mut self.searcher, candidates) {
                Ok(true) => {}
                Ok(false) => return (None, Ok(())),
                Err(error) => return (None, Err(skip_of(&error))),
            }
        }
        let Ok(found) = First::Open.confirm(body, None, fallback) else {
            return (None, Err(Skip::Unreadable));
        };
        let encoding = found.encoding();
        let decoded = encoding.filter(|encoding| *encoding != Encoding::UTF_8);
        (encoding, take(&mut self.searcher, body, decoded))
    }
}

/// Returns a searcher of lines.
fn searcher(pattern: &TextPattern, context_lines: usize) -> Searcher {
    let mut builder = SearcherBuilder::new();
    if pattern.crlf {
        builder.line_terminator(LineTerminator::crlf());
    }
    builder
        .before_context(context_lines)
        .after_context(context_lines)
        .line_number(true)
        .bom_sniffing(false)
        .binary_detection(BinaryDetection::none())
        .memory_map(MmapChoice::never())
        .heap_limit(Some(MAX_LINE_BYTES));
    builder.build()
}

/// Returns why a file could not be searched to its end: an error that the operating system did not
/// raise is that of a line that is too long.
pub(super) fn skip_of(error: &io::Error) -> Skip {
    match error.raw_os_error() {
        Some(_) => Skip::Unreadable,
        None => Skip::TooLarge,
    }
}
