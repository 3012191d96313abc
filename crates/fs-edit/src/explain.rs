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

/// What is near: who found it, in words, its first and last line, and some of these as they are; no
/// lines where none is near.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    probe: &'static str,
    words: String,
    lines: Vec<u64>,
    exact: Option<Exact>,
}

/// Lines of the text as they are, to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Exact {
    first: u64,
    text: String,
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
    let Some(finding) = finding else {
        return Problem::no_match();
    };
    Problem::NoMatch {
        explanation: Some(finding.explanation()),
        probe: Some(finding.probe),
        lines: finding.lines,
        exact: finding.exact.map(|exact| exact.text),
    }
}

fn find(miss: &Miss<'_>, budget: &Budget) -> Option<Finding> {
    let edit = miss.edits.get(miss.index)?;
    if miss.text.is_empty() && miss.extent == Extent::All {
        return Some(Finding::nowhere("empty_file", "the file is empty"));
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
        .or_else(|| field.lone_returns(&old))
        .or_else(already_there)
        .or_else(|| in_another_edit(miss, &old, budget))
        .or_else(|| field.differs_in_form(&old))
        .or_else(|| field.nearest(&old))
}

impl Finding {
    fn nowhere(probe: &'static str, words: impl Into<String>) -> Self {
        Self {
            probe,
            words: words.into(),
            lines: Vec::new(),
            exact: None,
        }
    }

    fn at(probe: &'static str, first: u64, last: u64, words: impl FnOnce(&str) -> String) -> Self {
        let place = if first == last {
            format!("line {first}")
        } else {
            format!("lines {first}-{last}")
        };
        Self {
            probe,
            words: words(&place),
            lines: vec![first, last],
            exact: None,
        }
    }

    /// Returns the words, and below them the exact lines, unless the words hold them.
    fn explanation(&self) -> String {
        let Some(exact) = &self.exact else {
            return self.words.clone();
        };
        let last = exact.first + count_breaks(exact.text.as_bytes());
        let is_plain = shown(&exact.text) == exact.text;
        if is_plain && self.words.contains(&pair_line(&exact.text)) {
            return self.words.clone();
        }
        let place = if exact.first == last {
            format!("line {last}")
        } else {
            format!("lines {}-{last}", exact.first)
        };
        format!("{}\n{place} exactly:\n{}", self.words, exact.text)
    }

    /// The new text stands there once, from line `first` on.
    fn already_at(first: u64, new: &str) -> Self {
        let last = first + breaks_inside(new);
        Self::at("already_applied", first, last, |place| {
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
    fn found(
        &self,
        probe: &'static str,
        first: u64,
        last: u64,
        words: impl FnOnce(&str) -> String,
    ) -> Finding {
        let before = self.lines_before;
        Finding::at(probe, before + first, before + last, words)
    }

    /// In exact mode: the same text with other breaks.
    fn other_breaks(&self, eol: EolMode, old: &str) -> Option<Finding> {
        if eol != EolMode::Exact {
            return None;
        }
        let (first, last) = self.lines_of(old)?;
        Some(self.found("line_breaks", first, last, |place| {
            format!("{place} would match but for the line breaks, which eol=exact compares")
        }))
    }

    /// The same text in a file whose lines end in a CR alone, as on old Macs.
    fn lone_returns(&self, old: &str) -> Option<Finding> {
        let inside = old.trim_matches('\n');
        if !inside.contains('\n') {
            return None;
        }
        let spelled = old.replace('\n', "\r");
        self.seek(&memmem::Finder::new(spelled.as_bytes()), 0)?;
        Some(Finding::nowhere(
            "line_breaks",
            "it would match but for the line breaks: the file has a lone CR (U+000D) there, which is \
             a character like others",
        ))
    }

    /// The new text stands there once, and is long enough to be no chance.
    fn already_there(&self, new: &str) -> Option<Finding> {
        let finder = memmem::Finder::new(new.as_bytes());
        let hit = self.seek(&finder, 0).filter(|_| telling(new))?;
        if self.seek(&finder, hit + new.len()).is_some() || self.budget.is_spent() {
            return None;
        }
        let (first, _) = self.lines_at(hit, new);
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
        let at = self.seek(&memmem::Finder::new(needle.as_bytes()), 0)?;
        Some(self.lines_at(at, needle))
    }

    /// Returns the first and the last line of `needle`, which stands at `at`.
    fn lines_at(&self, at: usize, needle: &str) -> (u64, u64) {
        let first = 1 + count_breaks(self.text.get(..at).unwrap_or_default());
        (first, first + breaks_inside(needle))
    }

    /// Returns the first place at or after `from`; none when the time is up.
    fn seek(&self, finder: &memmem::Finder<'_>, from: usize) -> Option<usize> {
        seek(&self.text, finder, from, self.budget)
    }

    /// Returns the text of the lines from `first` to `last`, without the last one's break.
    fn lines(&self, first: u64, last: u64) -> Cow<'_, str> {
        let start = line_start(&self.text, first.saturating_sub(1));
        let rest = self.text.get(start..).unwrap_or_default();
        let end = line_start(rest, (last + 1).saturating_sub(first));
        let lines = rest.get(..end).unwrap_or_default();
        String::from_utf8_lossy(lines.strip_suffix(b"\n").unwrap_or(lines))
    }

    /// Returns the finding with its lines as they are, those around line `focus` of the field where
    /// they are many.
    fn with_exact(&self, mut finding: Finding, focus: u64) -> Finding {
        let [first, last] = *finding.lines.as_slice() else {
            return finding;
        };
        let before = self.lines_before;
        let (first, last) = (first.saturating_sub(before), last.saturating_sub(before));
        let from = if last - first < MAX_EXACT_LINES {
            first
        } else {
            let latest = last + 1 - MAX_EXACT_LINES;
            focus
                .saturating_sub(MAX_EXACT_LINES / 2)
                .clamp(first, latest)
        };
        let text = self.lines(from, last.min(from + MAX_EXACT_LINES - 1));
        if text.len() <= MAX_EXACT_BYTES && !text.contains('\u{fffd}') {
            finding.exact = Some(Exact {
                first: before + from,
                text: text.into_owned(),
            });
        }
        finding
    }
}

/// How many lines are given to be copied, and how many bytes.
const MAX_EXACT_LINES: u64 = 6;
const MAX_EXACT_BYTES: usize = 2_000;

/// How far a text is searched between two looks at the clock, in bytes.
const STRIDE: usize = 1024 * 1024;

/// Returns the first place of a needle at or after `from`; none when the time is up.
fn seek(
    text: &[u8],
    finder: &memmem::Finder<'_>,
    mut from: usize,
    budget: &Budget,
) -> Option<usize> {
    let more = finder.needle().len().saturating_sub(1);
    while from < text.len() && !budget.is_spent() {
        let end = text.len().min(from.saturating_add(STRIDE + more));
        let part = text.get(from..end).unwrap_or_default();
        if let Some(at) = finder.find(part) {
            return Some(from + at);
        }
        from = from.saturating_add(STRIDE);
    }
    None
}

/// Returns where the line after `count` lines begins, or the end.
fn line_start(text: &[u8], count: u64) -> usize {
    const BLOCK: usize = 64 * 1024;
    let mut left = count;
    let mut at = 0;
    for block in text.chunks(BLOCK) {
        if left == 0 {
            return at;
        }
        let breaks = count_breaks(block);
        if breaks >= left {
            let nth = usize::try_from(left - 1).unwrap_or(usize::MAX);
            let end = memchr::memchr_iter(b'\n', block).nth(nth);
            return at + end.map_or(block.len(), |end| end + 1);
        }
        left -= breaks;
        at += block.len();
    }
    text.len()
}

/// The text is what another edit puts in.
fn in_another_edit(miss: &Miss<'_>, old: &str, budget: &Budget) -> Option<Finding> {
    let others = miss.edits.iter().enumerate();
    let (index, _) = others
        .filter(|(index, _)| *index != miss.index)
        .take_while(|_| !budget.is_spent())
        .find(|(_, other)| collapse(&other.new).contains(old))?;
    Some(Finding::nowhere(
        "in_another_edit",
        format!(
            "it is in the \"new\" of edits[{index}], but every edit is matched against the original \
             text"
        ),
    ))
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

/// Returns the line of the file.
fn pair_line(file: &str) -> String {
    format!("\nfile: {}", shown(file))
}

/// Returns the two lines, one below the other.
fn pair(file: &str, old: &str) -> String {
    format!("{}\nold:  {}", pair_line(file), shown(old))
}

#[cfg(test)]
mod tests;
