//! Every place where a needle starts, overlapping ones included, in linear time.

use memchr::memmem::Finder;

/// How many starts an error reports.
pub(crate) const REPORTED: usize = 20;
/// The most places that one request may change.
pub(crate) const MAX_PLACES: usize = 1_000_000;

/// What is wanted of the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Exactly so many, all starts counted.
    Exactly(u64),
    /// All that do not overlap, from left to right.
    LeftToRight,
}

/// The matches of a needle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Matches {
    /// How many there are: all starts, or of those from left to right the ones that do not overlap.
    pub(crate) count: u64,
    /// The first of them, ascending: at least [`REPORTED`], and all that are wanted up to
    /// [`MAX_PLACES`].
    pub(crate) starts: Vec<usize>,
    /// Whether two of them overlap.
    pub(crate) overlap: bool,
}

/// Returns the matches of `needle`, which is not empty, at the starts that `accept` takes.
pub(crate) fn find(
    haystack: &[u8],
    needle: &[u8],
    wanted: Wanted,
    accept: impl Fn(usize) -> bool,
) -> Matches {
    let mut matches = Matches::default();
    let mut free_from = 0;
    let keep = match wanted {
        Wanted::Exactly(count) => usize::try_from(count).unwrap_or(MAX_PLACES).max(REPORTED),
        Wanted::LeftToRight => MAX_PLACES,
    };
    each_start(haystack, needle, |start| {
        let overlaps = start < free_from;
        if !accept(start) || (overlaps && wanted == Wanted::LeftToRight) {
            return;
        }
        matches.count += 1;
        matches.overlap |= overlaps;
        free_from = start + needle.len();
        if matches.starts.len() < keep.min(MAX_PLACES) {
            matches.starts.push(start);
        }
    });
    matches
}

/// Calls `visit` with every start of `needle`, ascending.
///
/// The vectorised search finds a first match; as long as a later one may overlap it, the bytes go
/// through the needle's automaton, so that no byte is looked at once per match.
fn each_start(haystack: &[u8], needle: &[u8], mut visit: impl FnMut(usize)) {
    let finder = Finder::new(needle);
    let mut borders = Vec::new();
    let mut from = 0;
    while let Some(hit) = haystack.get(from..).and_then(|rest| finder.find(rest)) {
        visit(from + hit);
        if borders.is_empty() {
            borders = borders_of(needle);
        }
        from = visit_overlapping(haystack, needle, &borders, from + hit, &mut visit);
    }
}

/// Visits the matches that overlap the one at `first`, or one that overlaps it, and so on; returns
/// an offset before which no further match starts.
fn visit_overlapping(
    haystack: &[u8],
    needle: &[u8],
    borders: &[usize],
    first: usize,
    visit: &mut impl FnMut(usize),
) -> usize {
    let border = |length: usize| borders.get(length).copied().unwrap_or(0);
    let mut at = first + needle.len();
    let mut matched = border(needle.len());
    while matched > 0 {
        let Some(byte) = haystack.get(at) else {
            return haystack.len();
        };
        while matched > 0 && needle.get(matched) != Some(byte) {
            matched = border(matched);
        }
        if needle.get(matched) == Some(byte) {
            matched += 1;
        }
        at += 1;
        if matched == needle.len() {
            visit(at - matched);
            matched = border(matched);
        }
    }
    at
}

/// Returns for each length of the needle's head the length of its longest proper border: the head
/// that is also its tail.
fn borders_of(needle: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; 2];
    let mut matched = 0;
    for byte in needle.iter().skip(1) {
        while matched > 0 && needle.get(matched) != Some(byte) {
            matched = borders.get(matched).copied().unwrap_or(0);
        }
        if needle.get(matched) == Some(byte) {
            matched += 1;
        }
        borders.push(matched);
    }
    borders
}

#[cfg(test)]
mod tests;
