//! The text in which the probes look, and the simplest of them.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::alike::Likeness;
use super::finding::{Evidence, Exact, Finding, Whole};
use super::voters::Rarity;
use super::{Budget, Extent, Miss, breaks_inside, collapsed, count_breaks, tells};
use crate::request::EolMode;

/// How many lines are given to be copied, and how many bytes.
const MAX_EXACT_LINES: u64 = 6;
const MAX_EXACT_BYTES: usize = 2_000;
/// How much is given of a long line before and after a place, in bytes.
const AROUND: usize = 300;
/// How far a text is searched between two looks at the clock, in bytes.
const STRIDE: usize = 1024 * 1024;

/// The text in token form, in which the probes look.
pub(super) struct Field<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) lines_before: u64,
    pub(super) rarity: Rarity,
    pub(super) budget: &'a Budget,
}

impl<'a> Field<'a> {
    /// Returns the field of a miss.
    pub(super) fn of(miss: &Miss<'a>, budget: &'a Budget) -> Self {
        let (lines_before, rarity) = match miss.extent {
            Extent::All => (0, Rarity::Rare),
            Extent::Part {
                lines_before,
                rarity,
            } => (lines_before, rarity),
        };
        Self {
            text: collapsed(miss.text, miss.form),
            lines_before,
            rarity,
            budget,
        }
    }

    /// Returns what is found from line `first` of the field to line `last`.
    pub(super) fn found(
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
    pub(super) fn other_breaks(&self, eol: EolMode, old: &str) -> Option<Finding> {
        if eol != EolMode::Exact {
            return None;
        }
        let (first, last) = self.lines_of(old)?;
        Some(self.found("line_breaks", first, last, |place| {
            format!("{place} would match but for the line breaks, which eol=exact compares")
        }))
    }

    /// The same text in a file whose lines end in a CR alone, as on old Macs.
    pub(super) fn lone_returns(&self, old: &str) -> Option<Finding> {
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

    /// The new text stands there once, and says something.
    pub(super) fn already_there(&self, old: &str, new: &str) -> Option<Finding> {
        if !tells(old, new) {
            return None;
        }
        let finder = memmem::Finder::new(new.as_bytes());
        let hit = self.seek(&finder, 0)?;
        if self.seek(&finder, hit + new.len()).is_some() || self.budget.is_spent() {
            return None;
        }
        let (first, _) = self.lines_at(hit, new);
        Some(Finding::already_at(self.lines_before + first, new))
    }

    /// The same text but for blanks, look-alikes, composition, escapes, line numbers or case.
    pub(super) fn differs_in_form(&self, old: &str) -> Option<Finding> {
        let alike = self.alike(old);
        let is_near = |likeness: &Likeness| likeness.is_near();
        let found = match alike {
            Some((finding, likeness)) if is_near(&likeness) => Some(finding),
            alike => {
                let variant = self.variants(old);
                variant.or_else(|| alike.map(|(finding, _)| finding))
            }
        };
        found.map(|finding| finding.with_evidence(Evidence::All))
    }

    /// Returns the first and the last line of the first place of `needle`.
    pub(super) fn lines_of(&self, needle: &str) -> Option<(u64, u64)> {
        let at = self.seek(&memmem::Finder::new(needle.as_bytes()), 0)?;
        Some(self.lines_at(at, needle))
    }

    /// Returns the first and the last line of `needle`, which stands at `at`.
    pub(super) fn lines_at(&self, at: usize, needle: &str) -> (u64, u64) {
        let first = 1 + count_breaks(self.text.get(..at).unwrap_or_default());
        (first, first + breaks_inside(needle))
    }

    /// Returns the first place at or after `from`; none when the time is up.
    pub(super) fn seek(&self, finder: &memmem::Finder<'_>, from: usize) -> Option<usize> {
        seek(&self.text, finder, from, self.budget)
    }

    /// Returns the text of the lines from `first` to `last`, without the last one's break.
    pub(super) fn lines(&self, first: u64, last: u64) -> Cow<'_, str> {
        let start = line_start(&self.text, first.saturating_sub(1));
        let rest = self.text.get(start..).unwrap_or_default();
        let end = line_start(rest, (last + 1).saturating_sub(first));
        let lines = rest.get(..end).unwrap_or_default();
        String::from_utf8_lossy(lines.strip_suffix(b"\n").unwrap_or(lines))
    }

    /// Returns where the line begins that holds `at`, and where it ends.
    pub(super) fn line_around(&self, at: usize) -> (usize, usize) {
        let head = self.text.get(..at).unwrap_or(&self.text);
        let tail = self.text.get(at..).unwrap_or_default();
        let start = memrchr(b'\n', head).map_or(0, |at| at + 1);
        let end = memchr(b'\n', tail).map_or(self.text.len(), |end| at + end);
        (start, end)
    }

    /// Returns the text from about `start` to about `end`, whole characters.
    pub(super) fn piece(&self, start: usize, end: usize) -> Cow<'_, str> {
        let (start, end) = (edge(&self.text, start), edge(&self.text, end));
        String::from_utf8_lossy(self.text.get(start..end).unwrap_or_default())
    }

    /// Returns the finding with its lines as they are, those around line `focus` of the field where
    /// they are many; where they are long with `meant`, or else with what stands around `at`.
    pub(super) fn with_exact(
        &self,
        finding: Finding,
        focus: u64,
        meant: Range<usize>,
        at: usize,
    ) -> Finding {
        let exact = self.few_lines(&finding, focus).or_else(|| {
            let whole = self.piece(meant.start, meant.end);
            let breaks = count_breaks(whole.as_bytes());
            if !whole.is_empty() && breaks < MAX_EXACT_LINES && whole.len() <= MAX_EXACT_BYTES {
                return self.exact_piece(meant.start, &whole);
            }
            let (start, end) = self.line_around(at);
            let start = start.max(at.saturating_sub(AROUND));
            self.exact_piece(at, &self.piece(start, end.min(at.saturating_add(AROUND))))
        });
        Finding { exact, ..finding }
    }

    /// Returns a piece whose first line is that of `at`.
    fn exact_piece(&self, at: usize, piece: &str) -> Option<Exact> {
        let first = 1 + count_breaks(self.text.get(..at).unwrap_or_default());
        Exact::new(self.lines_before + first, piece, Whole::Piece)
    }

    fn few_lines(&self, finding: &Finding, focus: u64) -> Option<Exact> {
        let [first, last] = *finding.lines.as_slice() else {
            return None;
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
        let is_short = text.len() <= MAX_EXACT_BYTES;
        is_short
            .then(|| Exact::new(before + from, &text, Whole::Lines))
            .flatten()
    }
}

impl Exact {
    /// Returns a piece of the text, unless it holds bytes that are no text.
    fn new(first: u64, text: &str, extent: Whole) -> Option<Self> {
        let is_text = !text.is_empty() && !text.contains('\u{fffd}');
        is_text.then(|| Self {
            first,
            // Here each break is one LF, so a CR before one is data, and is to stay that.
            text: text.replace("\r\n", "\r\r\n"),
            extent,
        })
    }
}

/// Returns the first place of a needle at or after `from`; none when the time is up.
pub(super) fn seek(
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
pub(super) fn line_start(text: &[u8], count: u64) -> usize {
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

/// Returns an edge of a character near `at`, or the end of `bytes`.
pub(super) fn edge(bytes: &[u8], at: usize) -> usize {
    let mut edges = (at..bytes.len()).take(4);
    let is_edge = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 != 0x80);
    edges.find(is_edge).unwrap_or(at.min(bytes.len()))
}
