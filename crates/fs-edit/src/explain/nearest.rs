//! The nearest lines, by the vote of what is longest in the text.

use std::collections::BTreeMap;

use memchr::memmem;
use similar::{Algorithm, capture_diff_slices, diff_ratio};

use super::{Field, Finding, pair};

/// How many of the longest lines or words vote.
const VOTERS: usize = 3;
/// How many lines or words stand for election, the first ones.
const MAX_CANDIDATES: usize = 10_000;
/// How many places of one voter are looked at: what stands everywhere says nothing.
const MAX_HITS: usize = 64;
/// How many windows are compared.
const MAX_WINDOWS: usize = 3;
/// How many lines of a window are compared by characters, and how many bytes of each.
const MAX_COMPARED: usize = 8;
const MAX_COMPARED_BYTES: usize = 512;
/// A window whose first unequal line is less alike than this is not near.
const MIN_RATIO: f32 = 0.5;

/// A window and how near it is.
struct Window {
    first: u64,
    equal: usize,
    first_unequal: u64,
    ratio: f32,
}

impl Field<'_> {
    /// Returns the lines that are nearest to `old`, if any are near.
    pub(super) fn nearest(&self, old: &str) -> Option<Finding> {
        let old = old.trim_matches('\n');
        let lines: Vec<&str> = old.split('\n').collect();
        let mut votes = self.votes(&longest_lines(&lines));
        if votes.is_empty() {
            votes = self.votes(&longest_words(&lines));
        }
        let mut candidates: Vec<_> = votes.into_iter().collect();
        candidates.sort_by_key(|(first, votes)| (std::cmp::Reverse(*votes), *first));
        candidates.truncate(MAX_WINDOWS);
        let windows = candidates
            .iter()
            .map(|(first, _)| self.window(*first, &lines));
        let best = windows.reduce(|best, next| {
            let nearer = (next.equal, next.ratio) > (best.equal, best.ratio);
            if nearer { next } else { best }
        })?;
        if best.equal == 0 && best.ratio < MIN_RATIO {
            return None;
        }
        let finding = self.describe(&best, &lines);
        Some(self.with_exact(finding, best.first + best.first_unequal))
    }

    /// Returns for each first line of a window how many voters put it there.
    fn votes(&self, voters: &[(usize, &str)]) -> BTreeMap<u64, usize> {
        let mut votes = BTreeMap::new();
        for (index, needle) in voters {
            if self.budget.is_spent() {
                break;
            }
            let (mut line, mut counted) = (1, 0);
            let finder = memmem::Finder::new(needle.as_bytes());
            let next = |from| self.seek(&finder, from);
            let after = |at: &usize| next(at + needle.len());
            for at in std::iter::successors(next(0), after).take(MAX_HITS) {
                line += super::count_breaks(self.text.get(counted..at).unwrap_or_default());
                counted = at;
                if let Some(first) = line.checked_sub(*index as u64).filter(|first| *first > 0) {
                    *votes.entry(first).or_insert(0) += 1;
                }
            }
        }
        votes
    }

    fn window(&self, first: u64, old: &[&str]) -> Window {
        let text = self.lines(first, last_line(first, old));
        let pairs = || text.split('\n').zip(old.iter().copied());
        let first_unequal = pairs().position(|(file, old)| file.trim() != old.trim());
        let unequal = pairs().filter(|(file, old)| file.trim() != old.trim());
        let ratios = unequal
            .take(MAX_COMPARED)
            .map(|(file, old)| ratio(file, old));
        Window {
            first,
            first_unequal: first_unequal.unwrap_or_default() as u64,
            equal: pairs()
                .filter(|(file, old)| file.trim() == old.trim())
                .count(),
            ratio: ratios.reduce(f32::max).unwrap_or(1.0),
        }
    }

    fn describe(&self, window: &Window, old: &[&str]) -> Finding {
        let last = last_line(window.first, old);
        let text = self.lines(window.first, last);
        let mut pairs = (window.first..).zip(text.split('\n').zip(old.iter().copied()));
        let unequal = pairs.find(|(_, (file, old))| file.trim() != old.trim());
        self.found("nearest", window.first, last, |place| {
            let score = if old.len() > 1 {
                format!(", where {} of {} lines are equal", window.equal, old.len())
            } else {
                String::new()
            };
            let difference = unequal.map(|(line, (file, old))| {
                let where_it_is = if last > window.first {
                    let line = self.lines_before + line;
                    format!("; line {line} is the first that differs")
                } else {
                    String::new()
                };
                where_it_is + &pair(file, old)
            });
            let difference =
                difference.unwrap_or_else(|| "; the file ends before \"old\" does".to_owned());
            format!("the nearest text is in {place}{score}{difference}")
        })
    }
}

fn last_line(first: u64, old: &[&str]) -> u64 {
    first + (old.len() as u64).saturating_sub(1)
}

pub(super) fn longest_lines<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let lines = lines.iter().take(MAX_CANDIDATES);
    longest(lines.map(|line| line.trim()).enumerate(), 3)
}

pub(super) fn longest_words<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let words = lines.iter().enumerate().flat_map(|(index, line)| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.map(move |word| (index, word))
    });
    longest(words.take(MAX_CANDIDATES), 3)
}

/// Returns the longest of `candidates` with at least `min` bytes, longest first.
fn longest<'a>(
    candidates: impl Iterator<Item = (usize, &'a str)>,
    min: usize,
) -> Vec<(usize, &'a str)> {
    let mut candidates: Vec<_> = candidates.filter(|(_, text)| text.len() >= min).collect();
    candidates.sort_by_key(|(index, text)| (std::cmp::Reverse(text.len()), *index));
    candidates.dedup_by_key(|(_, text)| *text);
    candidates.truncate(VOTERS);
    candidates
}

/// Returns how alike two lines are, 0 to 1, by the heads of both.
fn ratio(file: &str, old: &str) -> f32 {
    let head = |text: &str| {
        text.trim()
            .chars()
            .take(MAX_COMPARED_BYTES / 4)
            .collect::<Vec<_>>()
    };
    let (file, old) = (head(file), head(old));
    let ops = capture_diff_slices(Algorithm::Myers, &file, &old);
    diff_ratio(&ops, file.len(), old.len())
}
