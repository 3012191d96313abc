//! A text that is not in memory: one pass over as much of it as the time allows, and a look at the part
//! that speaks for itself.

use std::ops::ControlFlow;

use fs_core::{Problem, Result};
use memchr::memmem::Finder;

use super::{Budget, Extent, Finding, Miss, count_breaks, find, nearest, telling};
use crate::body::Body;
use crate::chunks::Reading;
use crate::haystack::{Form, Haystack, Window};
use crate::request::{Edit, EolMode};
use crate::search::{After, Search, Wanted};
use crate::tokens::collapse;

/// How much is looked at before and after a place.
const AROUND: usize = 128 * 1024;
/// How much of that, where the edit itself is long.
const MOST_AROUND: usize = 1024 * 1024;

/// An edit that was not found in a large text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LargeMiss<'m, 'a> {
    pub(crate) body: &'m Body<'a>,
    pub(crate) reading: Reading,
    pub(crate) edits: &'m [Edit],
    pub(crate) index: usize,
    pub(crate) eol: EolMode,
}

/// What a pass has found.
struct Seen<'n> {
    new: Search<'n>,
    /// What is looked for to find a part that is near, the most telling first.
    voters: Vec<Finder<'n>>,
    around: usize,
    overlap: usize,
    /// The breaks before the window.
    breaks: u64,
    /// The line on which the new text begins.
    new_line: Option<u64>,
    /// The part around a voter, and the breaks before it.
    excerpt: Option<(Vec<u8>, u64)>,
    is_over: bool,
}

/// Returns the `no_match` for `miss`, explained as far as the budget allows.
///
/// # Errors
/// Those of reading.
pub(crate) fn explain_large(miss: &LargeMiss<'_, '_>, budget: &Budget) -> Result<Problem> {
    let finding = look(miss, budget)?;
    Ok(super::explained(finding))
}

fn look(miss: &LargeMiss<'_, '_>, budget: &Budget) -> Result<Option<Finding>> {
    let Some(edit) = miss.edits.get(miss.index) else {
        return Ok(None);
    };
    let (old, new) = (collapse(&edit.old), collapse(&edit.new));
    let lines: Vec<&str> = old.trim_matches('\n').split('\n').collect();
    let voters = nearest::longest_lines(&lines).into_iter().take(1);
    let voters = voters.chain(nearest::longest_words(&lines));
    let reading = Reading {
        form: Form::Collapsed,
        ..miss.reading
    };
    let mut haystack = Haystack::new(miss.body, 0..miss.body.len(), reading);
    let around = AROUND.max(old.len().saturating_mul(2)).min(MOST_AROUND);
    let wanted = new.as_bytes();
    let mut seen = Seen {
        new: Search::new(wanted, Wanted::Exactly(1), After::Anything),
        voters: voters
            .map(|(_, text)| Finder::new(text.as_bytes()))
            .collect(),
        around,
        overlap: around.max(Search::overlap(wanted)) + old.len(),
        breaks: 0,
        new_line: None,
        excerpt: None,
        is_over: false,
    };
    let tells = telling(&new);
    haystack.pass(seen.overlap, |window| {
        if tells {
            seen.see_new(window);
        }
        seen.see_voter(window);
        seen.pass(window);
        if budget.is_spent() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if let Some(first) = seen
        .new_line
        .filter(|_| seen.is_over && seen.new.count() == 1)
    {
        return Ok(Some(Finding::already_at(first, &new)));
    }
    let (text, lines_before) = seen.excerpt.unwrap_or_default();
    let miss = Miss {
        text: &text,
        extent: Extent::Part { lines_before },
        edits: miss.edits,
        index: miss.index,
        eol: miss.eol,
    };
    Ok(find(&miss, budget))
}

impl Seen<'_> {
    fn see_new(&mut self, window: Window<'_>) {
        self.new.see(window);
        if let (None, Some(start)) = (self.new_line, self.new.first()) {
            let before = window.bytes.get(..start - window.start);
            self.new_line = Some(1 + self.breaks + count_breaks(before.unwrap_or_default()));
        }
    }

    fn see_voter(&mut self, window: Window<'_>) {
        let bytes = window.bytes;
        // What comes after a place is in the next window, which begins before it.
        let is_near = |hit: &usize| window.is_last || hit + self.around <= bytes.len();
        let hits = self
            .voters
            .iter()
            .map(|voter| voter.find(bytes).filter(is_near));
        let Some((rank, hit)) = hits.enumerate().find_map(|(rank, hit)| Some((rank, hit?))) else {
            return;
        };
        // From here on only what is more telling counts.
        self.voters.truncate(rank);
        let is_break = |byte: &u8| *byte == b'\n';
        let start = hit.saturating_sub(self.around);
        let head = bytes.get(start..hit).unwrap_or_default();
        let first = match head.iter().position(is_break) {
            Some(first) if start > 0 => start + first + 1,
            _ => start,
        };
        let end = (hit + self.around).min(bytes.len());
        let text = bytes.get(first..end).unwrap_or_default();
        let before = bytes.get(..first).unwrap_or_default();
        self.excerpt = Some((text.to_vec(), self.breaks + count_breaks(before)));
    }

    fn pass(&mut self, window: Window<'_>) {
        let passed = window.bytes.len().saturating_sub(self.overlap);
        let passed = window.bytes.get(..passed).unwrap_or_default();
        self.breaks += count_breaks(passed);
        self.is_over = window.is_last;
    }
}
