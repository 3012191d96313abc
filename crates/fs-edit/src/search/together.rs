//! Many needles in one pass.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, StartKind};

use super::{Matches, Search, end_of_starts};
use crate::haystack::Window;

/// Up to so many needles are faster one by one, each with a vectorised search.
const FEW: usize = 8;
/// The most bytes of needles in an automaton: each costs some 50 bytes while that is made.
const MOST_BYTES: usize = 128 * 1024;
/// The largest table with a step for each state and byte, which is faster than a compact automaton.
const TABLE_BYTES: usize = 8 * 1024 * 1024;

/// Searches in the same windows.
#[derive(Debug)]
pub(crate) struct Searches<'n> {
    searches: Vec<Search<'n>>,
    shared: Option<Shared>,
}

/// An automaton for some of the searches.
#[derive(Debug)]
struct Shared {
    automaton: AhoCorasick,
    /// The searches of its needles.
    of: Vec<usize>,
    /// The other ones.
    alone: Vec<usize>,
}

impl<'n> Searches<'n> {
    /// Returns searches that find what each of them finds alone.
    pub(crate) fn new(searches: Vec<Search<'n>>) -> Self {
        let shared = (searches.len() > FEW).then(|| Shared::of(&searches));
        Self {
            searches,
            shared: shared.flatten(),
        }
    }

    /// Looks at a window.
    pub(crate) fn see(&mut self, window: Window<'_>) {
        let searches = &mut self.searches;
        let Some(shared) = &self.shared else {
            return searches.iter_mut().for_each(|search| search.see(window));
        };
        shared.see(searches, window);
        for index in &shared.alone {
            if let Some(search) = searches.get_mut(*index) {
                search.see(window);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    #[cfg(test)]
    pub(crate) fn alone(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.alone.len())
    }

    /// Returns what each found.
    pub(crate) fn into_matches(self) -> Vec<Matches> {
        let searches = self.searches.into_iter();
        searches.map(Search::into_matches).collect()
    }
}

impl Shared {
    /// Returns the automaton for the shortest needles, as many as its memory allows; `None` where
    /// those are few.
    fn of(searches: &[Search<'_>]) -> Option<Self> {
        let len = |index: &usize| searches.get(*index).map_or(0, |it| it.needle.bytes.len());
        let mut of: Vec<_> = (0..searches.len()).collect();
        of.sort_by_key(len);
        let mut bytes = 0;
        let fitting = of.iter().take_while(|index| {
            bytes += len(index);
            bytes <= MOST_BYTES
        });
        let fitting = fitting.count();
        let alone = of.split_off(fitting);
        if of.len() <= FEW {
            return None;
        }
        let needles: Vec<_> = of.iter().filter_map(|index| searches.get(*index)).collect();
        let needles: Vec<_> = needles.iter().map(|search| search.needle.bytes).collect();
        let automaton = AhoCorasick::builder()
            .kind(Some(kind_for(&needles)))
            .start_kind(StartKind::Unanchored)
            .build(&needles);
        let automaton = automaton.ok()?;
        Some(Self {
            automaton,
            of,
            alone,
        })
    }

    fn see(&self, searches: &mut [Search<'_>], window: Window<'_>) {
        let end = end_of_starts(window);
        let shared = self.of.iter().filter_map(|index| searches.get(*index));
        let from = shared.map(|search| search.from).min().unwrap_or(0);
        let from = from.saturating_sub(window.start).min(end);
        let input = Input::new(window.bytes).span(from..end);
        for hit in self.automaton.find_overlapping_iter(input) {
            let index = self.of.get(hit.pattern().as_usize());
            let Some(search) = index.and_then(|index| searches.get_mut(*index)) else {
                continue;
            };
            if window.start + hit.start() >= search.from {
                search.found.push(window, hit.start(), hit.len());
            }
        }
        for index in &self.of {
            if let Some(search) = searches.get_mut(*index) {
                search.passed(window, end);
            }
        }
    }
}

/// Returns the fastest automaton that is not too large.
fn kind_for(needles: &[&[u8]]) -> AhoCorasickKind {
    let states: usize = needles.iter().map(|needle| needle.len()).sum();
    let mut is_used = [false; 256];
    for byte in needles.iter().copied().flatten() {
        if let Some(used) = is_used.get_mut(usize::from(*byte)) {
            *used = true;
        }
    }
    // Bytes between two used ones are a class too.
    let classes = 2 * is_used.iter().filter(|used| **used).count() + 1;
    let steps = classes.min(256).next_power_of_two();
    if states * steps * size_of::<u32>() <= TABLE_BYTES {
        AhoCorasickKind::DFA
    } else {
        AhoCorasickKind::ContiguousNFA
    }
}
