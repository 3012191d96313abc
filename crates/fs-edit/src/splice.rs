//! What is written: the part where old and new differ, with breaks in the style of the place.

use std::borrow::Cow;
use std::ops::Range;

use fs_core::{Eol, Result};

use crate::breaks::{LineBreak, Style};
use crate::document::Document;
use crate::request::EolMode;
use crate::tokens::{common_prefix, common_suffix, expand_offsets, tokens_of};

/// New bytes for a range of the file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    /// The bytes that go, as offsets from the start of the text.
    pub(crate) range: Range<usize>,
    /// What stands there instead, before it is encoded.
    pub(crate) text: String,
}

/// The part in which an old and a new text differ, by whole tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Core<'a> {
    /// How many bytes of the old text, in the form of the haystack, precede it.
    pub(crate) prefix: usize,
    /// How many bytes of the old text follow it.
    pub(crate) suffix: usize,
    old_breaks: usize,
    new_breaks: usize,
    new: &'a str,
}

/// Writes cores into places of one document, which come in ascending order.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    document: &'a Document<'a>,
    eol: EolMode,
    /// The break that the last place took its style from, or `None` past the last break.
    ahead: Option<LineBreak>,
    asked: bool,
}

impl<'a> Core<'a> {
    /// Returns the core of the change from `old`, in token form, to `new`, as given.
    pub(crate) fn of(old: &[u8], new: &'a str, eol: EolMode) -> Self {
        let tokens = tokens_of(new, eol);
        let prefix = common_prefix(old, tokens.as_bytes());
        let old = old.get(prefix..).unwrap_or_default();
        let rest = tokens.as_bytes().get(prefix..).unwrap_or_default();
        let suffix = common_suffix(old, rest);
        let old = old.get(..old.len() - suffix).unwrap_or_default();
        let range = prefix..tokens.len() - suffix;
        let new = as_given(new, &tokens, range);
        Self {
            prefix,
            suffix,
            old_breaks: count_breaks(old),
            new_breaks: count_breaks(new.as_bytes()),
            new,
        }
    }

    /// Returns the length of the new text in bytes of UTF-8.
    pub(crate) fn new_len(&self) -> usize {
        self.new.len()
    }
}

impl<'a> Writer<'a> {
    /// Returns a writer at the start of `document`.
    pub(crate) fn new(document: &'a Document<'a>, eol: EolMode) -> Self {
        Self {
            document,
            eol,
            ahead: None,
            asked: false,
        }
    }

    /// Returns the splice that puts `core` in the place of `range` of the document's text.
    pub(crate) fn splice(&mut self, core: &Core<'_>, range: Range<usize>) -> Splice {
        let text = self.text_at(core, &range);
        Splice { range, text }
    }

    fn text_at(&mut self, core: &Core<'_>, range: &Range<usize>) -> String {
        if core.new_breaks == 0 || self.eol == EolMode::Exact {
            return core.new.to_owned();
        }
        match (self.eol, self.document.eol()) {
            (EolMode::Lf, _) | (EolMode::Auto, Eol::Lf) => with_breaks(core.new, || Style::Lf),
            (EolMode::CrLf, _) | (EolMode::Auto, Eol::CrLf) => {
                with_breaks(core.new, || Style::CrLf)
            }
            (EolMode::Auto, Eol::Mixed) if core.old_breaks == core.new_breaks => {
                self.with_breaks_one_by_one(core.new, range.start)
            }
            (EolMode::Auto, Eol::Mixed) => match self.style_at(range.start) {
                Some(style) => with_breaks(core.new, || style),
                None => core.new.to_owned(),
            },
            (EolMode::Auto, Eol::None) | (EolMode::Exact, _) => core.new.to_owned(),
        }
    }

    /// Gives the k-th break of `new` the style of the k-th break from `from` on.
    fn with_breaks_one_by_one(&self, new: &str, from: usize) -> String {
        let (finder, text) = (self.document.breaks(), self.document.text());
        let mut at = from;
        with_breaks(new, || match finder.next(text, at) {
            Some(found) => {
                at = found.end;
                found.style
            }
            None => Style::Lf,
        })
    }

    /// Returns the style of the first break at or after `from`, else of the last break before it.
    fn style_at(&mut self, from: usize) -> Option<Style> {
        let (finder, text) = (self.document.breaks(), self.document.text());
        let passed = self.ahead.is_some_and(|found| found.end <= from);
        if !self.asked || passed {
            self.asked = true;
            self.ahead = finder.next(text, from);
        }
        let nearest = self.ahead.or_else(|| finder.previous(text, text.len()));
        nearest.map(|found| found.style)
    }
}

/// Returns the bytes of each splice in the document's encoding.
///
/// # Errors
/// As [`Document::encode`].
pub(crate) fn encode(
    document: &Document<'_>,
    splices: Vec<Splice>,
) -> Result<Vec<(Range<usize>, Vec<u8>)>> {
    let encoded = splices.into_iter().map(|splice| {
        let bytes = document.encode(Cow::Owned(splice.text))?;
        Ok((splice.range, bytes))
    });
    encoded.collect()
}

/// Returns the part of `new`, as given, whose token form is `range` of `tokens`.
fn as_given<'a>(new: &'a str, tokens: &str, range: Range<usize>) -> &'a str {
    if new.len() == tokens.len() {
        return new.get(range).unwrap_or_default();
    }
    match expand_offsets(new.as_bytes(), &[range.start, range.end]).as_slice() {
        [start, end] => new.get(*start..*end).unwrap_or_default(),
        _ => "",
    }
}

fn count_breaks(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

fn with_breaks(text: &str, mut style: impl FnMut() -> Style) -> String {
    let mut written = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        written.push_str(line.strip_suffix('\r').unwrap_or(line));
        written.push_str(style().text());
        rest = after;
    }
    written.push_str(rest);
    written
}
