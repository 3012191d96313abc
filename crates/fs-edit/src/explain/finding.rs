//! What was found to be near, in words.

use fs_core::Problem;

use super::show::{is_shown_whole, shown_line};
use super::{breaks_inside, count_breaks};

/// What is near: who found it, in words, its first and last line, and some of these as they are; no
/// lines where none is near.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The name of what found it.
    pub(super) probe: Option<&'static str>,
    pub(super) words: String,
    pub(super) lines: Vec<u64>,
    pub(super) exact: Option<Exact>,
    pub(super) evidence: Evidence,
}

/// A piece of the text as it is, to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exact {
    /// The number of its first line.
    pub(super) first: u64,
    pub(super) text: String,
    pub(super) extent: Whole,
}

/// Whether lines are given whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Lines,
    Piece,
}

/// How much speaks for a place to be the one that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// Nothing: there are many such places.
    Nothing,
    /// Little.
    Little,
    /// Most lines of `old` stand there, so many.
    Lines(u64),
    /// All of `old` stands there, in another form.
    All,
}

impl Finding {
    /// Returns a finding that is in words alone.
    pub(super) fn unnamed(words: String) -> Self {
        Self {
            probe: None,
            words,
            lines: Vec::new(),
            exact: None,
            evidence: Evidence::Little,
        }
    }

    pub(super) fn nowhere(probe: &'static str, words: impl Into<String>) -> Self {
        Self {
            probe: Some(probe),
            ..Self::unnamed(words.into())
        }
    }

    pub(super) fn at(
        probe: &'static str,
        first: u64,
        last: u64,
        words: impl FnOnce(&str) -> String,
    ) -> Self {
        Self {
            lines: vec![first, last],
            ..Self::nowhere(probe, words(&place(first, last)))
        }
    }

    /// The new text stands there once, from line `first` on.
    pub(super) fn already_at(first: u64, new: &str) -> Self {
        let last = first + breaks_inside(new);
        Self::at("already_applied", first, last, |place| {
            format!("\"new\" stands in {place} already; the edit may have been made before")
        })
    }

    /// Returns the finding with so much that speaks for it.
    pub(super) fn with_evidence(self, evidence: Evidence) -> Self {
        Self { evidence, ..self }
    }

    /// Returns whether `old` is rather meant to stand here than to have become what `done` found: it
    /// is another place, and more of `old` stands here than of `new` there.
    pub(super) fn outweighs(&self, done: &Self) -> bool {
        let ([first, last], [new_first, new_last]) = (self.lines.as_slice(), done.lines.as_slice())
        else {
            return false;
        };
        let is_elsewhere = last < new_first || new_last < first;
        let new_lines = 1 + new_last - new_first;
        is_elsewhere && self.evidence > Evidence::Lines(2 * new_lines)
    }

    /// Returns the words, and below them the exact text, unless the words hold it.
    pub(super) fn explanation(&self) -> String {
        let Some(exact) = &self.exact else {
            return self.words.clone();
        };
        let line = shown_line(&exact.text);
        let mut lines = self.words.lines();
        if is_shown_whole(&exact.text) && lines.any(|it| it == line) {
            return self.words.clone();
        }
        let place = place(
            exact.first,
            exact.first + count_breaks(exact.text.as_bytes()),
        );
        let place = match exact.extent {
            Whole::Lines => place,
            Whole::Piece => format!("from {place},"),
        };
        format!("{}\n{place} exactly:\n{}", self.words, exact.text)
    }

    /// Returns the `no_match` that says so.
    pub(super) fn into_problem(self) -> Problem {
        Problem::NoMatch {
            explanation: Some(self.explanation()),
            probe: self.probe,
            lines: self.lines,
            exact: self.exact.map(|exact| exact.text),
        }
    }
}

fn place(first: u64, last: u64) -> String {
    if first == last {
        format!("line {first}")
    } else {
        format!("lines {first}-{last}")
    }
}
