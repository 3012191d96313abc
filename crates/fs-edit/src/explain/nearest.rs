//! The nearest lines, by the vote of what is most telling in the text.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use similar::{Algorithm, capture_diff_slices, diff_ratio};

use super::count_breaks;
use super::field::{Field, line_start};
use super::finding::{Evidence, Finding};
use super::show::{Aligned, pair};
use super::voters::{MAX_HITS, MAX_PARTS, Rarity, Voter, voters};

/// How many windows are compared.
const MAX_WINDOWS: usize = 5;
/// How many lines of a window are compared by characters, and how many characters of each.
const MAX_COMPARED: usize = 8;
const MAX_COMPARED_CHARS: usize = 128;
/// A window whose first unequal line is less alike than this is not near.
const MIN_RATIO: f32 = 0.5;
/// Of longer lines only what stands around a place is compared and shown, in bytes.
const LONG: usize = 2_000;
const AROUND: usize = 200;

/// What speaks for a window.
#[derive(Debug, Clone, Copy)]
struct Votes {
    weight: u64,
    rarity: Rarity,
    anchor: Anchor,
}

/// A place in a window: which line of `old` is there, and where in the text that would begin.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    line: usize,
    start: usize,
}

/// Lines of the text that may be meant.
struct Window<'a> {
    first: u64,
    /// The lines, of a long one what stands around the anchor.
    text: Cow<'a, str>,
    /// Where what is given of the anchor's line begins, if it is long.
    cut: Option<(usize, usize)>,
    rarity: Rarity,
    /// How many lines are equal, and how many are but for blanks.
    equal: usize,
    alike: usize,
    ratio: f32,
}

/// How near two lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nearness {
    Equal,
    /// But for blanks at their ends.
    Alike,
    Other,
}

impl Field<'_> {
    /// Returns the lines that are nearest to `old`, if any are near.
    pub(super) fn nearest(&self, old: &str) -> Option<Finding> {
        let old = old.trim_matches('\n');
        let lines: Vec<&str> = old.split('\n').collect();
        let mut candidates: Vec<_> = self.votes(&voters(&lines)).into_iter().collect();
        candidates.sort_by_key(|(first, votes)| (Reverse(votes.weight), *first));
        candidates.truncate(MAX_WINDOWS);
        let windows = candidates
            .iter()
            .take_while(|_| !self.budget.is_spent())
            .map(|(first, votes)| self.window(*first, votes, &lines));
        let best = windows.reduce(|best, next| {
            let score = |it: &Window<'_>| (it.alike, it.equal, it.ratio);
            if score(&next) > score(&best) {
                next
            } else {
                best
            }
        })?;
        if best.alike == 0 && best.ratio < MIN_RATIO {
            return None;
        }
        Some(self.describe(&best, &lines))
    }

    /// Returns for each first line of a window what speaks for it.
    fn votes(&self, voters: &[Voter<'_>]) -> BTreeMap<u64, Votes> {
        let mut cast = Vec::new();
        for voter in voters.iter().take_while(|_| !self.budget.is_spent()) {
            let hits = self.hits(voter);
            let weight = voter.weight(hits.len());
            cast.extend(hits.into_iter().map(|at| (at, weight, voter)));
        }
        cast.sort_by_key(|(at, ..)| *at);
        let mut all: BTreeMap<u64, Votes> = BTreeMap::new();
        let (mut line, mut counted) = (1, 0);
        for (at, weight, voter) in cast {
            line += count_breaks(self.text.get(counted..at).unwrap_or_default());
            counted = at;
            let first: Option<u64> = line.checked_sub(voter.line as u64);
            let Some(first) = first.filter(|first| *first > 0) else {
                continue;
            };
            let votes = all.entry(first).or_insert(Votes {
                weight: 0,
                rarity: Rarity::Common,
                anchor: Anchor {
                    line: voter.line,
                    start: self.line_around(at).0.max(at.saturating_sub(voter.at)),
                },
            });
            votes.weight += weight;
            if weight > 1 {
                votes.rarity = self.rarity;
            }
        }
        all
    }

    /// Returns the places of a voter, one more than are told apart; those in longer words where it
    /// stands nowhere by itself.
    fn hits(&self, voter: &Voter<'_>) -> Vec<usize> {
        let finder = voter.finder();
        let next = |from| self.seek(&finder, from);
        let places = std::iter::successors(next(0), |at| next(at + voter.text.len()));
        let (mut hits, mut parts) = (Vec::new(), Vec::new());
        for at in places.take(MAX_PARTS) {
            if voter.is_at(&self.text, at) {
                hits.push(at);
            } else if parts.len() <= MAX_HITS {
                parts.push(at);
            }
            if hits.len() > MAX_HITS {
                break;
            }
        }
        if hits.is_empty() { parts } else { hits }
    }

    fn window(&self, first: u64, votes: &Votes, old: &[&str]) -> Window<'_> {
        let anchor = votes.anchor;
        let old_line = old.get(anchor.line).copied().unwrap_or_default();
        let (line_from, line_to) = self.line_around(anchor.start);
        let last = first + (old.len() as u64).saturating_sub(1);
        let lines = self.lines(first, last);
        let (text, cut) = if line_to.saturating_sub(line_from) <= LONG {
            (lines, None)
        } else {
            let from = line_from.max(anchor.start.saturating_sub(AROUND));
            let to = line_to.min(anchor.start + old_line.len() + AROUND);
            let around = self.piece(from, to);
            let mut lines: Vec<&str> = lines.split('\n').collect();
            if let Some(line) = lines.get_mut(anchor.line) {
                *line = &around;
            }
            (Cow::Owned(lines.join("\n")), Some((anchor.line, from)))
        };
        let mut window = Window {
            first,
            text,
            cut,
            rarity: votes.rarity,
            equal: 0,
            alike: 0,
            ratio: 1.0,
        };
        window.compare(old);
        window
    }

    fn describe(&self, window: &Window<'_>, old: &[&str]) -> Finding {
        let count = window.text.split('\n').count().min(old.len());
        let last = window.first + (count as u64).saturating_sub(1);
        let differing = window.first_differing(old);
        let finding = self.found("nearest", window.first, last, |place| {
            let begin = match window.rarity {
                Rarity::Rare => format!("the nearest text is in {place}"),
                Rarity::Common => format!("similar text is in many places, such as {place}"),
            };
            let line = |index: usize| self.lines_before + window.first + index as u64;
            let told = differing.map(|(index, near, file, old)| {
                let told = match near {
                    _ if last == window.first => String::new(),
                    Nearness::Other if window.alike > window.equal => {
                        format!("; line {} is the first that differs in more", line(index))
                    }
                    Nearness::Other => format!("; line {} is the first that differs", line(index)),
                    _ => format!("; line {} is the first that differs in blanks", line(index)),
                };
                told + &pair(file, old)
            });
            let ends = match differing {
                _ if count < old.len() => "; the file ends before \"old\" does",
                None => ", and differs only in the line breaks before or after it",
                Some(_) => "",
            };
            begin + &window.score(old.len()) + ends + &told.unwrap_or_default()
        });
        let finding = finding.with_evidence(window.evidence(old.len()));
        if window.rarity == Rarity::Common {
            // Which of them is meant is not known, so none is given to be copied.
            return finding;
        }
        let index = differing.map_or(0, |(index, ..)| index);
        let (file, old) = differing.map_or(("", ""), |(_, _, file, old)| (file, old));
        let start = match window.cut {
            Some((line, start)) if line == index => start,
            _ => line_start(&self.text, window.first - 1 + index as u64),
        };
        let at = start + Aligned::new(file, old).difference().0;
        self.with_exact(finding, window.first + index as u64, at..at, at)
    }
}

impl Window<'_> {
    /// Returns the lines, with those of `old`, how near they are, and which these are.
    fn pairs<'t>(
        &'t self,
        old: &'t [&str],
    ) -> impl Iterator<Item = (usize, Nearness, &'t str, &'t str)> {
        let pairs = self.text.split('\n').zip(old.iter().copied()).enumerate();
        pairs.map(|(index, (file, line))| {
            let nearness = Nearness::of(file, line, index, old.len());
            (index, nearness, file, line)
        })
    }

    fn compare(&mut self, old: &[&str]) {
        let is = |wanted: Nearness| self.pairs(old).filter(move |pair| pair.1 == wanted);
        let (equal, alike) = (is(Nearness::Equal).count(), is(Nearness::Alike).count());
        let others = is(Nearness::Other).take(MAX_COMPARED);
        let ratio = others.map(|(.., file, old)| ratio(file, old));
        let ratio = ratio.reduce(f32::max).unwrap_or(1.0);
        self.equal = equal;
        self.alike = equal + alike;
        self.ratio = ratio;
    }

    /// Returns the first lines that differ in more than blanks, or else in blanks.
    fn first_differing<'t>(
        &'t self,
        old: &'t [&str],
    ) -> Option<(usize, Nearness, &'t str, &'t str)> {
        let first = |wanted: Nearness| self.pairs(old).find(|pair| pair.1 == wanted);
        first(Nearness::Other).or_else(|| first(Nearness::Alike))
    }

    /// Returns how much speaks for it, of `count` lines.
    fn evidence(&self, count: usize) -> Evidence {
        match self.rarity {
            Rarity::Common => Evidence::Nothing,
            Rarity::Rare if count > 1 && self.alike * 4 >= count * 3 => {
                Evidence::Lines(self.alike as u64)
            }
            Rarity::Rare => Evidence::Little,
        }
    }

    /// Says how many of `count` lines are equal.
    fn score(&self, count: usize) -> String {
        match (self.equal, self.alike - self.equal) {
            _ if count == 1 || (self.equal == count) => String::new(),
            (0, 0) => format!(", where none of {count} lines is equal"),
            (equal, 0) => format!(", where {equal} of {count} lines are equal"),
            (0, alike) => format!(", where {alike} of {count} lines differ only in blanks"),
            (equal, alike) => format!(
                ", where {equal} of {count} lines are equal and {alike} more but for blanks"
            ),
        }
    }
}

impl Nearness {
    /// Returns how near a line of the file is to one of `old`, whose first and last lines may be a
    /// part of the file's.
    fn of(file: &str, old: &str, index: usize, count: usize) -> Self {
        let (is_first, is_last) = (index == 0, index + 1 == count);
        let is = |file: &str, old: &str| {
            file == old
                || (is_first && !is_last && !old.is_empty() && file.ends_with(old))
                || (is_last && !is_first && !old.is_empty() && file.starts_with(old))
        };
        if is(file, old) {
            Self::Equal
        } else if is(file.trim(), old.trim()) {
            Self::Alike
        } else {
            Self::Other
        }
    }
}

/// Returns how alike two lines are, 0 to 1, by the heads of both.
fn ratio(file: &str, old: &str) -> f32 {
    let (file, old) = (file.trim(), old.trim());
    let is_long = file.chars().nth(MAX_COMPARED_CHARS).is_some();
    let (file, old) = if is_long {
        Aligned::new(file, old).texts()
    } else {
        (file, old)
    };
    let old: Vec<char> = old.chars().take(MAX_COMPARED_CHARS).collect();
    // Of a long line only as much as may be meant.
    let most = if is_long {
        old.len()
    } else {
        MAX_COMPARED_CHARS
    };
    let file: Vec<char> = file.chars().take(most).collect();
    let ops = capture_diff_slices(Algorithm::Myers, &file, &old);
    diff_ratio(&ops, file.len(), old.len())
}
