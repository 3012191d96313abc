//! Every place where a needle starts, overlapping ones included, in linear time.

mod together;

use memchr::memmem::Finder;

use crate::haystack::Window;

pub(crate) use together::Searches;

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
    /// Whether a byte of 0x80 or more stands before one of them.
    pub(crate) after_high: bool,
}

/// What may not stand after a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Anything,
    /// No LF: the match ends in a CR, and is not the first half of a CR LF.
    NoLineFeed,
}

/// Finds the matches of a needle in windows of a haystack, which come one after the other and
/// overlap by [`Search::overlap`].
#[derive(Debug)]
pub(crate) struct Search<'n> {
    needle: Needle<'n>,
    found: Found,
    /// Where the first start is that has not been looked at.
    from: usize,
}

/// What was found, and what counts.
#[derive(Debug)]
struct Found {
    wanted: Wanted,
    after: After,
    matches: Matches,
    /// Where the last match ends.
    free_from: usize,
}

#[derive(Debug)]
struct Needle<'n> {
    bytes: &'n [u8],
    finder: Finder<'n>,
    /// As [`borders_of`]; made when the first match is found.
    borders: Vec<usize>,
}

impl<'n> Search<'n> {
    /// Returns the search for `needle`, which is not empty.
    pub(crate) fn new(needle: &'n [u8], wanted: Wanted, after: After) -> Self {
        Self {
            needle: Needle::new(needle),
            found: Found {
                wanted,
                after,
                matches: Matches::default(),
                free_from: 0,
            },
            from: 0,
        }
    }

    /// Returns how many bytes of a window the next one has to begin with: those of a match that is
    /// not whole yet, and one on either side.
    pub(crate) fn overlap(needle: &[u8]) -> usize {
        needle.len() + 1
    }

    /// Looks at a window.
    pub(crate) fn see(&mut self, window: Window<'_>) {
        let end = end_of_starts(window);
        let from = self.from.saturating_sub(window.start);
        let hay = window.bytes.get(from..end).unwrap_or_default();
        let Self { needle, found, .. } = self;
        let len = needle.bytes.len();
        each_start(hay, needle, |start| found.push(window, from + start, len));
        self.passed(window, end);
    }

    /// Takes note that all starts of matches that end at or before `end` of a window were looked at.
    fn passed(&mut self, window: Window<'_>, end: usize) {
        let next = (window.start + end + 1).saturating_sub(self.needle.bytes.len());
        self.from = self.from.max(next);
    }

    /// Returns how many matches have been found.
    pub(crate) fn count(&self) -> u64 {
        self.found.matches.count
    }

    /// Returns where the first match starts that has been found.
    pub(crate) fn first(&self) -> Option<usize> {
        self.found.matches.starts.first().copied()
    }

    /// Returns what was found.
    pub(crate) fn into_matches(self) -> Matches {
        self.found.matches
    }
}

impl Found {
    /// Takes a start in a window, unless what follows or the match before forbids it.
    fn push(&mut self, window: Window<'_>, local: usize, len: usize) {
        let start = window.start + local;
        let overlaps = start < self.free_from;
        let refused =
            self.after == After::NoLineFeed && window.bytes.get(local + len) == Some(&b'\n');
        if refused || (overlaps && self.wanted == Wanted::LeftToRight) {
            return;
        }
        let before = local.checked_sub(1).and_then(|at| window.bytes.get(at));
        self.matches.after_high |= before >= Some(&0x80);
        self.matches.count += 1;
        self.matches.overlap |= overlaps;
        self.free_from = start + len;
        if self.matches.starts.len() < self.wanted.kept() {
            self.matches.starts.push(start);
        }
    }
}

impl Wanted {
    /// Returns how many starts are kept.
    fn kept(self) -> usize {
        let kept = match self {
            Self::Exactly(count) => usize::try_from(count).unwrap_or(MAX_PLACES).max(REPORTED),
            Self::LeftToRight => MAX_PLACES,
        };
        kept.min(MAX_PLACES)
    }
}

impl<'n> Needle<'n> {
    fn new(bytes: &'n [u8]) -> Self {
        Self {
            bytes,
            finder: Finder::new(bytes),
            borders: Vec::new(),
        }
    }
}

/// Returns where the matches in a window end that can be judged: the byte after a match has to be
/// there, so that it is known what it is.
fn end_of_starts(window: Window<'_>) -> usize {
    window.bytes.len() - usize::from(!window.is_last && !window.bytes.is_empty())
}

/// Calls `visit` with every start of `needle`, ascending.
///
/// The vectorised search finds a first match; as long as a later one may overlap it, the bytes go
/// through the needle's automaton, so that no byte is looked at once per match.
fn each_start(haystack: &[u8], needle: &mut Needle<'_>, mut visit: impl FnMut(usize)) {
    let mut from = 0;
    while let Some(hit) = haystack
        .get(from..)
        .and_then(|rest| needle.finder.find(rest))
    {
        visit(from + hit);
        if needle.borders.is_empty() {
            needle.borders = borders_of(needle.bytes);
        }
        let first = from + hit;
        from = visit_overlapping(haystack, needle.bytes, &needle.borders, first, &mut visit);
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
