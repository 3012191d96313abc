//! Why a text was not found: a look at what is near, within a budget, never applied.

mod fold;
mod large;
mod nearest;
mod variants;

use std::borrow::Cow;
use std::time::{Duration, Instant};

use fs_core::Problem;
use memchr::memmem;

use crate::request::{Edit, EolMode};
use crate::tokens::{collapse, collapse_bytes};

use fold::Likeness;
pub(crate) use large::{LargeMiss, explain_large};

/// How long an explanation may take.
const TIME: Duration = Duration::from_millis(50);

/// How much may be spent on an explanation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// When to stop.
    pub(crate) until: Instant,
    /// The largest text that is looked at, in bytes.
    pub(crate) max_bytes: usize,
}

/// An edit whose `old` was not found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Miss<'a> {
    /// The text as UTF-8, or opaque bytes.
    pub(crate) text: &'a [u8],
    /// How much of the file that is.
    pub(crate) extent: Extent,
    /// All edits of the request.
    pub(crate) edits: &'a [Edit],
    /// Which of them it is.
    pub(crate) index: usize,
    /// How breaks were matched.
    pub(crate) eol: EolMode,
}

/// How much of a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    All,
    /// A part, after so many lines.
    Part {
        /// How many.
        lines_before: u64,
    },
}

/// What is near, in words, and its first and last line; no lines where none is near.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    words: String,
    lines: Vec<u64>,
}

/// The text in token form, in which the probes look.
struct Field<'a> {
    text: Cow<'a, [u8]>,
    lines_before: u64,
    budget: &'a Budget,
}

impl Budget {
    /// Returns the budget of a call that begins now: 50 ms and 16 MiB.
    pub(crate) fn standard() -> Self {
        Self {
            until: Instant::now() + TIME,
            max_bytes: 16 * 1024 * 1024,
        }
    }

    /// Returns the same budget for a part of the call that begins now.
    pub(crate) fn again(&self) -> Self {
        Self {
            until: self.until.max(Instant::now() + TIME),
            ..*self
        }
    }

    fn is_spent(&self) -> bool {
        Instant::now() >= self.until
    }
}

/// Returns the `no_match` for `miss`, explained as far as the budget allows.
pub(crate) fn explain(miss: &Miss<'_>, budget: &Budget) -> Problem {
    explained(find(miss, budget))
}

fn explained(finding: Option<Finding>) -> Problem {
    Problem::NoMatch {
        lines: finding
            .as_ref()
            .map_or_else(Vec::new, |it| it.lines.clone()),
        explanation: finding.map(|it| it.words),
    }
}

fn find(miss: &Miss<'_>, budget: &Budget) -> Option<Finding> {
    let edit = miss.edits.get(miss.index)?;
    if miss.text.is_empty() && miss.extent == Extent::All {
        return Some(Finding::nowhere("the file is empty"));
    }
    if miss.text.len() > budget.max_bytes || budget.is_spent() {
        return None;
    }
    let text = match memmem::find(miss.text, b"\r\n") {
        Some(_) => Cow::Owned(collapse_bytes(Cow::Borrowed(miss.text))),
        None => Cow::Borrowed(miss.text),
    };
    let lines_before = match miss.extent {
        Extent::All => 0,
        Extent::Part { lines_before } => lines_before,
    };
    let field = Field {
        text,
        lines_before,
        budget,
    };
    let old = collapse(&edit.old);
    let already_there = || match miss.extent {
        Extent::All => field.already_there(&collapse(&edit.new)),
        // That takes a look at all of the file.
        Extent::Part { .. } => None,
    };
    field
        .other_breaks(miss.eol, &old)
        .or_else(already_there)
        .or_else(|| in_another_edit(miss, &old))
        .or_else(|| field.differs_in_form(&old))
        .or_else(|| field.nearest(&old))
}

impl Finding {
    fn nowhere(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            lines: Vec::new(),
        }
    }

    fn at(first: u64, last: u64, words: impl FnOnce(&str) -> String) -> Self {
        let place = if first == last {
            format!("line {first}")
        } else {
            format!("lines {first}-{last}")
        };
        Self {
            words: words(&place),
            lines: vec![first, last],
        }
    }
}

impl Finding {
    /// The new text stands there once, from line `first` on.
    fn already_at(first: u64, new: &str) -> Self {
        let last = first + breaks_inside(new);
        Self::at(first, last, |place| {
            format!("\"new\" stands in {place} already; the edit may have been made before")
        })
    }
}

/// Returns whether a text is long enough for its being there to be no chance.
fn telling(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).nth(3).is_some()
}

fn breaks_inside(text: &str) -> u64 {
    count_breaks(text.strip_suffix('\n').unwrap_or(text).as_bytes())
}

impl Field<'_> {
    /// Returns what is found from line `first` of the field to line `last`.
    fn found(&self, first: u64, last: u64, words: impl FnOnce(&str) -> String) -> Finding {
        Finding::at(self.lines_before + first, self.lines_before + last, words)
    }

    /// In exact mode: the same text with other breaks.
    fn other_breaks(&self, eol: EolMode, old: &str) -> Option<Finding> {
        if eol != EolMode::Exact {
            return None;
        }
        let (first, last) = self.lines_of(old)?;
        Some(self.found(first, last, |place| {
            format!("{place} would match but for the line breaks, which eol=exact compares")
        }))
    }

    /// The new text stands there once, and is long enough to be no chance.
    fn already_there(&self, new: &str) -> Option<Finding> {
        let finder = memmem::Finder::new(new.as_bytes());
        let mut hits = finder.find_iter(&self.text);
        let _first = hits.next().filter(|_| telling(new))?;
        if hits.next().is_some() {
            return None;
        }
        let (first, _) = self.lines_of(new)?;
        Some(Finding::already_at(self.lines_before + first, new))
    }

    /// The same text but for blanks, look-alikes, composition, escapes, line numbers or case.
    fn differs_in_form(&self, old: &str) -> Option<Finding> {
        let alike = self.alike(old);
        match &alike {
            Some((_, likeness)) if *likeness < Likeness::Case => {}
            _ => {
                if let Some(finding) = self.variants(old) {
                    return Some(finding);
                }
            }
        }
        alike.map(|(finding, _)| finding)
    }

    /// Returns the first and the last line of the first place of `needle`.
    fn lines_of(&self, needle: &str) -> Option<(u64, u64)> {
        let at = memmem::find(&self.text, needle.as_bytes())?;
        let first = 1 + count_breaks(self.text.get(..at)?);
        Some((first, first + breaks_inside(needle)))
    }

    /// Returns the text of the lines from `first` to `last`, without the last one's break.
    fn lines(&self, first: u64, last: u64) -> Cow<'_, str> {
        let mut starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', &self.text).map(|at| at + 1))
            .skip(usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX));
        let start = starts.next().unwrap_or(self.text.len());
        let more = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
        let end = starts.nth(more).map_or(self.text.len(), |next| next - 1);
        String::from_utf8_lossy(self.text.get(start..end).unwrap_or_default())
    }
}

/// The text is what another edit puts in.
fn in_another_edit(miss: &Miss<'_>, old: &str) -> Option<Finding> {
    let others = miss.edits.iter().enumerate();
    let (index, _) = others
        .filter(|(index, _)| *index != miss.index)
        .find(|(_, other)| collapse(&other.new).contains(old))?;
    Some(Finding::nowhere(format!(
        "it is in the \"new\" of edits[{index}], but every edit is matched against the original text"
    )))
}

fn count_breaks(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// How many characters of a line are shown.
const MAX_SHOWN: usize = 120;

/// Returns a line as it is shown: its head, with all that is not plain to the eye as `[U+XXXX]`.
fn shown(line: &str) -> String {
    let mut shown: String = line.chars().take(MAX_SHOWN).map(marked).collect();
    if line.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn marked(character: char) -> String {
    if fold::is_plain(character) {
        character.to_string()
    } else {
        format!("[U+{:04X}]", u32::from(character))
    }
}

/// Returns the two lines, one below the other.
fn pair(file: &str, old: &str) -> String {
    format!("\nfile: {}\nold:  {}", shown(file), shown(old))
}

#[cfg(test)]
mod tests;
