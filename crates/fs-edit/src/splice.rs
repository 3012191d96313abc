//! What is written: the part where old and new differ, with breaks in the style of the place.

use std::ops::{ControlFlow, Range};

use fs_core::{Eol, Result};

use crate::breaks::{LineBreak, Style};
use crate::document::Document;
use crate::haystack::Haystack;
use crate::request::EolMode;
use crate::tokens::{
    common_prefix, common_suffix, equal_end, equal_start, expand_offsets, tokens_of, whole_prefix,
    whole_suffix,
};

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
        Self::between(prefix, suffix, count_breaks(old), &tokens, new)
    }

    /// Returns the core of the change from what `haystack` holds, which is passed by this, to `new`,
    /// as given.
    ///
    /// # Errors
    /// Those of reading.
    pub(crate) fn in_haystack(
        haystack: &mut Haystack<'_, '_>,
        new: &'a str,
        eol: EolMode,
    ) -> Result<Self> {
        let tokens = tokens_of(new, eol);
        let wanted = tokens.as_bytes();
        let (mut equal, mut breaks) = (0, 0);
        haystack.pass(0, |window| {
            breaks += count_breaks(window.bytes);
            if equal == window.start {
                let rest = wanted.get(equal..).unwrap_or_default();
                equal += equal_start(window.bytes, rest);
            }
            ControlFlow::Continue(())
        })?;
        let prefix = whole_prefix(wanted, equal);
        let rest = wanted.get(prefix..).unwrap_or_default();
        let most = rest.len().min(haystack.len() - prefix);
        let mut equal = 0;
        haystack.each_back(|chunk| {
            let rest = rest.get(..rest.len() - equal).unwrap_or_default();
            let more = equal_end(chunk.hay(), rest);
            equal += more;
            if more == chunk.hay().len() && equal < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let suffix = whole_suffix(rest, equal.min(most));
        let same = [wanted.get(..prefix), rest.get(rest.len() - suffix..)];
        let same = same.map(|part| count_breaks(part.unwrap_or_default()));
        let old_breaks = breaks - same.iter().sum::<usize>();
        Ok(Self::between(prefix, suffix, old_breaks, &tokens, new))
    }

    fn between(
        prefix: usize,
        suffix: usize,
        old_breaks: usize,
        tokens: &str,
        new: &'a str,
    ) -> Self {
        let new = as_given(new, tokens, prefix..tokens.len() - suffix);
        Self {
            prefix,
            suffix,
            old_breaks,
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
    ///
    /// # Errors
    /// Those of reading the breaks near it.
    pub(crate) fn splice(&mut self, core: &Core<'_>, range: Range<usize>) -> Result<Splice> {
        let text = self.text_at(core, &range)?;
        Ok(Splice { range, text })
    }

    fn text_at(&mut self, core: &Core<'_>, range: &Range<usize>) -> Result<String> {
        if core.new_breaks == 0 || self.eol == EolMode::Exact {
            return Ok(core.new.to_owned());
        }
        match (self.eol, self.document.eol()) {
            (EolMode::Lf, _) | (EolMode::Auto, Eol::Lf) => with_breaks(core.new, || Ok(Style::Lf)),
            (EolMode::CrLf, _) | (EolMode::Auto, Eol::CrLf) => {
                with_breaks(core.new, || Ok(Style::CrLf))
            }
            (EolMode::Auto, Eol::Mixed) if core.old_breaks == core.new_breaks => {
                self.with_breaks_one_by_one(core.new, range.start)
            }
            (EolMode::Auto, Eol::Mixed) => match self.style_at(range.start)? {
                Some(style) => with_breaks(core.new, || Ok(style)),
                None => Ok(core.new.to_owned()),
            },
            (EolMode::Auto, Eol::None) | (EolMode::Exact, _) => Ok(core.new.to_owned()),
        }
    }

    /// Gives the k-th break of `new` the style of the k-th break from `from` on.
    fn with_breaks_one_by_one(&self, new: &str, from: usize) -> Result<String> {
        let mut at = from;
        with_breaks(new, || {
            let found = self.document.body().next_break(at)?;
            at = found.map_or(at, |found| found.end);
            Ok(found.map_or(Style::Lf, |found| found.style))
        })
    }

    /// Returns the style of the first break at or after `from`, else of the last break before it.
    fn style_at(&mut self, from: usize) -> Result<Option<Style>> {
        let body = self.document.body();
        let passed = self.ahead.is_some_and(|found| found.end <= from);
        if !self.asked || passed {
            self.asked = true;
            self.ahead = body.next_break(from)?;
        }
        let nearest = match self.ahead {
            None => body.previous_break(body.len())?,
            ahead => ahead,
        };
        Ok(nearest.map(|found| found.style))
    }
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

fn with_breaks(text: &str, mut style: impl FnMut() -> Result<Style>) -> Result<String> {
    let mut written = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        written.push_str(line.strip_suffix('\r').unwrap_or(line));
        written.push_str(style()?.text());
        rest = after;
    }
    written.push_str(rest);
    Ok(written)
}
