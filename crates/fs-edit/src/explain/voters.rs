//! What is looked for to find the neighbourhood of a text: the lines and words of it that are most
//! telling.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memchr::memmem::Finder;

/// How many lines and how many words vote.
const MAX_LINES: usize = 3;
const MAX_WORDS: usize = 8;
/// How many lines or words stand for election, the first ones.
const MAX_CANDIDATES: usize = 10_000;
/// What is shorter says nothing, in bytes.
const MIN_BYTES: usize = 3;
/// How many characters of a text without blanks between words are one.
const MAX_RUN: usize = 4;
/// What is longer is not named, in bytes.
const MAX_NAMED: usize = 60;
/// What stands in more places says little.
pub(super) const MAX_HITS: usize = 64;
/// How often a word may be a part of others before it is taken to stand everywhere.
pub(super) const MAX_PARTS: usize = 4_096;
/// The weight of the only place of a word.
const WEIGHT: u64 = 65_536;

/// Whether there are many such places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rarity {
    Rare,
    Common,
}

/// A line or a word of `old`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Voter<'a> {
    /// Which line of `old` it is, or is in.
    pub(super) line: usize,
    /// Where in that line it begins.
    pub(super) at: usize,
    pub(super) text: &'a str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Line,
    Word,
}

impl<'a> Voter<'a> {
    /// Returns what finds it.
    pub(super) fn finder(&self) -> Finder<'a> {
        Finder::new(self.text.as_bytes())
    }

    /// Returns whether what stands at `at` is it, and not a part of a longer word.
    pub(super) fn is_at(&self, text: &[u8], at: usize) -> bool {
        let is_word = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        let after = text.get(at + self.text.len());
        self.kind == Kind::Line || !self.text.is_ascii() || !(is_word(before) || is_word(after))
    }

    /// Returns whether it is a word that can be named.
    pub(super) fn is_short_word(&self) -> bool {
        self.kind == Kind::Word && self.text.len() <= MAX_NAMED
    }

    /// Returns what each of so many places is worth.
    pub(super) fn weight(&self, hits: usize) -> u64 {
        let weight = match self.kind {
            Kind::Line => 2 * WEIGHT,
            Kind::Word => WEIGHT,
        };
        if hits > MAX_HITS {
            return 1;
        }
        weight / (hits.max(1) as u64)
    }

    /// Returns how telling it is likely to be: numbers and names are rare, what is repeated is not.
    fn score(&self, times: usize) -> i64 {
        let length = i64::try_from(self.text.len()).unwrap_or(i64::MAX);
        let has_digit = self.text.bytes().any(|byte| byte.is_ascii_digit());
        let repeated = i64::try_from(times.saturating_sub(1)).unwrap_or(i64::MAX);
        length + 4 * i64::from(has_digit) - repeated.saturating_mul(8)
    }
}

/// Returns the most telling lines and words of `lines`, the lines first.
pub(super) fn voters<'a>(lines: &[&'a str]) -> Vec<Voter<'a>> {
    let mut voters = most_telling(whole_lines(lines));
    voters.truncate(MAX_LINES);
    let mut words = spread(most_telling(words(lines)));
    words.retain(|word| voters.iter().all(|line| line.text != word.text));
    words.truncate(MAX_WORDS);
    voters.append(&mut words);
    voters
}

/// Returns the longest words of `lines`.
pub(super) fn longest_words<'a>(lines: &[&'a str]) -> Vec<Voter<'a>> {
    let mut words = most_telling(words(lines));
    words.truncate(MAX_WORDS);
    words
}

fn whole_lines<'a>(lines: &[&'a str]) -> Vec<Voter<'a>> {
    let lines = lines.iter().take(MAX_CANDIDATES).enumerate();
    let lines = lines.map(|(index, line)| Voter {
        line: index,
        at: line.len() - line.trim_start().len(),
        text: line.trim(),
        kind: Kind::Line,
    });
    lines.collect()
}

fn words<'a>(lines: &[&'a str]) -> Vec<Voter<'a>> {
    let words = lines.iter().enumerate().flat_map(|(index, line)| {
        runs(line).map(move |(at, text)| Voter {
            line: index,
            at,
            text,
            kind: Kind::Word,
        })
    });
    words.take(MAX_CANDIDATES).collect()
}

/// Returns the words of a line and where they begin; a text without blanks is cut.
fn runs(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        rest = rest.trim_start_matches(|c| !is_word(c));
        let at = line.len() - rest.len();
        let is_dense = |c: char| c >= '\u{2e80}';
        let first = rest.chars().next()?;
        let mut ends = rest.char_indices().skip(1);
        let end = if is_dense(first) {
            let mut taken = 1;
            ends.find(|(_, c)| {
                taken += 1;
                taken > MAX_RUN || !is_word(*c) || !is_dense(*c)
            })
        } else {
            ends.find(|(_, c)| !is_word(*c) || is_dense(*c))
        };
        let (word, after) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = after;
        Some((at, word))
    })
}

/// Returns each of `candidates` once, the most telling first.
fn most_telling(candidates: Vec<Voter<'_>>) -> Vec<Voter<'_>> {
    let mut times = BTreeMap::new();
    for candidate in &candidates {
        *times.entry(candidate.text).or_insert(0_usize) += 1;
    }
    let mut candidates = candidates;
    candidates.retain(|it| it.text.len() >= MIN_BYTES && times.contains_key(it.text));
    let score = |it: &Voter<'_>| it.score(times.get(it.text).copied().unwrap_or(1));
    candidates.sort_by_cached_key(|it| (Reverse(score(it)), it.text, it.line, it.at));
    candidates.dedup_by_key(|it| it.text);
    candidates.sort_by_key(|it| (Reverse(score(it)), it.line, it.at));
    candidates
}

/// Returns the words with the best of each line first, so that no line speaks for all.
fn spread(words: Vec<Voter<'_>>) -> Vec<Voter<'_>> {
    let mut of_line = BTreeMap::new();
    let mut ranked: Vec<_> = words
        .into_iter()
        .map(|word| {
            let rank = of_line.entry(word.line).or_insert(0_usize);
            *rank += 1;
            (*rank, word)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, word)| word).collect()
}
