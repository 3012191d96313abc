//! A text that is not in memory: one pass over as much of it as the time allows, and a look at the parts
//! that speak for themselves.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use fs_core::{Problem, Result};
use memchr::memmem::Finder;

use super::finding::{Evidence, Finding};
use super::voters::{MAX_HITS, MAX_PARTS, Rarity, Voter, voters};
use super::{Budget, Extent, Miss, count_breaks, find, tells, weighed};
use crate::body::Body;
use crate::chunks::Reading;
use crate::haystack::{Form, Haystack, Window};
use crate::request::{Edit, EolMode};
use crate::search::{After, Search, Wanted};
use crate::tokens::collapse;

/// How much is looked at before and after a place.
const AROUND: usize = 128 * 1024;
/// How much of that, where the edit itself is long.
const MOST_AROUND: usize = 512 * 1024;
/// How far from a place other voters support it.
const NEIGHBOURHOOD: usize = 4 * 1024;
/// How many parts are looked at.
const MAX_LOOKS: usize = 3;

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
    /// How line breaks stood in what was seen.
    form: Form,
    new: Option<Search<'n>>,
    /// What is looked for to find a part that is near.
    ballots: Vec<Ballot<'n>>,
    around: usize,
    overlap: usize,
    /// The breaks before the window.
    breaks: u64,
    /// The breaks up to the end of the window.
    lines_passed: u64,
    /// The line on which the new text begins.
    new_line: Option<u64>,
    is_over: bool,
}

/// The places of a voter.
struct Ballot<'n> {
    voter: Voter<'n>,
    finder: Finder<'n>,
    /// Where the search goes on.
    from: usize,
    /// How often it stands by itself, and how often in longer words.
    hits: usize,
    parts: usize,
    /// The part around the place for which most voters speak.
    excerpt: Option<Excerpt>,
}

/// A part of the text.
#[derive(Default)]
struct Excerpt {
    text: Vec<u8>,
    lines_before: u64,
    /// Which voters speak for it, a bit for each.
    supporters: u32,
    standing: Standing,
}

/// How a voter stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Standing {
    /// In a longer word.
    #[default]
    Part,
    /// By itself.
    Whole,
}

/// A window in which places are looked at.
struct Area<'w, 'n> {
    window: Window<'w>,
    around: usize,
    /// The breaks before it.
    breaks: u64,
    finders: &'w [Finder<'n>],
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
    let seen = pass(miss, &old, &new, &budget.first_step())?;
    let near = seen.near(miss, budget);
    let finding = weighed(seen.done(&new), near);
    Ok(if seen.is_over {
        finding
    } else {
        Some(seen.qualified(finding))
    })
}

/// Passes over the text as far as the time allows.
fn pass<'n>(
    miss: &LargeMiss<'_, '_>,
    old: &'n str,
    new: &'n str,
    budget: &Budget,
) -> Result<Seen<'n>> {
    // What is looked for is within a line, but for the new text.
    let form = if new.contains('\n') {
        Form::Collapsed
    } else {
        miss.reading.form
    };
    let reading = Reading {
        form,
        ..miss.reading
    };
    let mut haystack = Haystack::new(miss.body, 0..miss.body.len(), reading);
    let mut seen = Seen::new(old, new, form);
    haystack.pass(seen.overlap, |window| {
        seen.see(window);
        if budget.is_spent() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(seen)
}

impl<'n> Seen<'n> {
    fn new(old: &'n str, new: &'n str, form: Form) -> Self {
        let lines: Vec<&str> = old.trim_matches('\n').split('\n').collect();
        let ballots = voters(&lines).into_iter().map(|voter| Ballot {
            voter,
            finder: voter.finder(),
            from: 0,
            hits: 0,
            parts: 0,
            excerpt: None,
        });
        let around = AROUND.max(old.len().saturating_mul(2)).min(MOST_AROUND);
        let wanted = new.as_bytes();
        Self {
            form,
            new: tells(old, new).then(|| Search::new(wanted, Wanted::Exactly(1), After::Anything)),
            ballots: ballots.collect(),
            around,
            overlap: 2 * around.max(Search::overlap(wanted)) + old.len(),
            breaks: 0,
            lines_passed: 0,
            new_line: None,
            is_over: false,
        }
    }

    fn see(&mut self, window: Window<'_>) {
        self.see_new(window);
        let finders: Vec<_> = self.ballots.iter().map(|it| it.finder.clone()).collect();
        let area = Area {
            window,
            around: self.around,
            breaks: self.breaks,
            finders: &finders,
        };
        for ballot in &mut self.ballots {
            ballot.see(&area);
        }
        self.lines_passed = self.breaks + count_breaks(window.bytes);
        let kept = window.bytes.len().saturating_sub(self.overlap);
        let kept = window.bytes.get(kept..).unwrap_or_default();
        self.breaks = self.lines_passed - count_breaks(kept);
        self.is_over = window.is_last;
    }

    fn see_new(&mut self, window: Window<'_>) {
        let Some(new) = &mut self.new else {
            return;
        };
        new.see(window);
        if let (None, Some(start)) = (self.new_line, new.first()) {
            let before = window.bytes.get(..start.saturating_sub(window.start));
            self.new_line = Some(1 + self.breaks + count_breaks(before.unwrap_or_default()));
        }
    }

    /// Returns that the new text stands there once.
    fn done(&self, new: &str) -> Option<Finding> {
        let is_once = self.new.as_ref().is_some_and(|new| new.count() == 1);
        let line = self.new_line.filter(|_| is_once)?;
        Some(Finding::already_at(line, new))
    }

    /// Returns the best of what is found in the parts for which most speaks.
    fn near(&self, miss: &LargeMiss<'_, '_>, budget: &Budget) -> Option<Finding> {
        let excerpts = self.ballots.iter().filter_map(|it| it.excerpt.as_ref());
        let mut excerpts: Vec<_> = excerpts.collect();
        excerpts.sort_by_key(|excerpt| Reverse(self.support(excerpt)));
        excerpts.truncate(MAX_LOOKS);
        // What is in another edit is so even if nothing in the file is near.
        let none = Excerpt::default();
        if excerpts.is_empty() {
            excerpts.push(&none);
        }
        let mut best: Option<Finding> = None;
        for excerpt in excerpts {
            let found = find(&self.part(excerpt, miss), budget);
            let is_better =
                found.as_ref().map(|it| it.evidence) > best.as_ref().map(|it| it.evidence);
            if is_better {
                best = found;
            }
            if best.as_ref().is_some_and(|it| it.evidence == Evidence::All) {
                break;
            }
        }
        best
    }

    /// Returns the miss in a part.
    fn part<'m>(&'m self, excerpt: &'m Excerpt, of: &LargeMiss<'m, '_>) -> Miss<'m> {
        let is_rare = self.supporters(excerpt).any(|ballot| ballot.weight() > 1);
        let rarity = if is_rare {
            Rarity::Rare
        } else {
            Rarity::Common
        };
        Miss {
            text: &excerpt.text,
            form: self.form,
            extent: Extent::Part {
                lines_before: excerpt.lines_before,
                rarity,
            },
            edits: of.edits,
            index: of.index,
            eol: of.eol,
        }
    }

    /// Returns how much speaks for a part.
    fn support(&self, excerpt: &Excerpt) -> u64 {
        self.supporters(excerpt).map(Ballot::weight).sum()
    }

    fn supporters(&self, excerpt: &Excerpt) -> impl Iterator<Item = &Ballot<'n>> {
        let bits = excerpt.supporters;
        let ballots = self.ballots.iter().enumerate();
        let speaking = ballots.filter(move |(index, _)| bits & (1 << index) != 0);
        speaking.map(|(_, ballot)| ballot)
    }

    /// Returns the finding with what it does not say: that not all of the file was looked at.
    fn qualified(&self, finding: Option<Finding>) -> Finding {
        let (lines, advice) = (self.lines_passed.max(1), self.advice());
        let finding = finding.filter(|it| it.evidence > Evidence::Nothing);
        let Some(mut finding) = finding else {
            let words = format!(
                "the file is too large to look at all of it for what is near, and nothing was found in \
                 lines 1-{lines}; {advice}"
            );
            return Finding::unnamed(words);
        };
        if finding.evidence < Evidence::All && !finding.lines.is_empty() {
            let words = &finding.words;
            finding.words = format!(
                "of this large file only lines 1-{lines} were looked at; {advice}; {words}"
            );
        }
        finding
    }

    /// Says what to look for: what is most telling, and has not been found to be common.
    fn advice(&self) -> String {
        let mut words = self.ballots.iter().filter(|it| it.voter.is_short_word());
        let rare = words.find(|it| it.hits <= MAX_HITS);
        match rare {
            Some(ballot) => format!(
                "search it for a rare piece of \"old\", such as \"{}\"",
                ballot.voter.text
            ),
            None => "search it for a rare piece of \"old\"".to_owned(),
        }
    }
}

impl Ballot<'_> {
    fn see(&mut self, area: &Area<'_, '_>) {
        let bytes = area.window.bytes;
        let length = self.voter.text.len();
        // What comes after a place is in the next window, which begins before it.
        let end = if area.window.is_last {
            bytes.len()
        } else {
            bytes.len().saturating_sub(area.around)
        };
        let mut at = self.from.saturating_sub(area.window.start);
        while self.hits <= MAX_HITS && self.parts <= MAX_PARTS {
            let stop = bytes.len().min(end + length);
            let rest = bytes.get(at..stop).unwrap_or_default();
            let Some(hit) = self.finder.find(rest).map(|hit| at + hit) else {
                break;
            };
            at = hit + length;
            let standing = if self.voter.is_at(bytes, hit) {
                self.hits += 1;
                Standing::Whole
            } else {
                self.parts += 1;
                Standing::Part
            };
            self.keep(area, hit, standing);
        }
        self.from = area.window.start + at.max(end);
    }

    /// Keeps what stands around a place, if it is the best so far.
    fn keep(&mut self, area: &Area<'_, '_>, hit: usize, standing: Standing) {
        let best = self.excerpt.as_ref();
        let best = best.map(|it| (it.standing, it.supporters.count_ones()));
        let is_worse = best.is_some_and(|(best, _)| best > standing);
        if is_worse || (standing == Standing::Part && self.parts > MAX_HITS) {
            return;
        }
        let supporters = area.supporters(hit);
        if best < Some((standing, supporters.count_ones())) {
            let (text, lines_before) = area.excerpt(hit);
            self.excerpt = Some(Excerpt {
                text,
                lines_before,
                supporters,
                standing,
            });
        }
    }

    fn weight(&self) -> u64 {
        match (self.hits, self.parts) {
            (0, 0) => 0,
            (0, parts) => self.voter.weight(parts),
            (hits, _) => self.voter.weight(hits),
        }
    }
}

impl Area<'_, '_> {
    /// Returns which voters stand near a place, a bit for each.
    fn supporters(&self, hit: usize) -> u32 {
        let bytes = self.window.bytes;
        let end = bytes.len().min(hit + NEIGHBOURHOOD);
        let near = bytes.get(hit.saturating_sub(NEIGHBOURHOOD)..end);
        let near = near.unwrap_or_default();
        let finders = self.finders.iter().enumerate();
        let present = finders.filter(|(_, finder)| finder.find(near).is_some());
        present.fold(0, |all, (index, _)| all | (1 << index))
    }

    /// Returns what stands around a place, from the beginning of a line on, and the breaks before it.
    fn excerpt(&self, hit: usize) -> (Vec<u8>, u64) {
        let bytes = self.window.bytes;
        let start = hit.saturating_sub(self.around);
        let head = bytes.get(start..hit).unwrap_or_default();
        let first = match memchr::memchr(b'\n', head) {
            Some(first) if start > 0 => start + first + 1,
            _ => start,
        };
        let end = bytes.len().min(hit + self.around);
        let before = bytes.get(..first).unwrap_or_default();
        let text = bytes.get(first..end).unwrap_or_default();
        (text.to_vec(), self.breaks + count_breaks(before))
    }
}
