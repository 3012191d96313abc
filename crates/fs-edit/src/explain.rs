//! Why a text was not found: a look at what is near, within a budget, never applied.

mod alike;
mod field;
mod finding;
mod fold;
mod large;
mod nearest;
mod show;
mod variants;
mod voters;

use std::borrow::Cow;
use std::time::{Duration, Instant};

use fs_core::Problem;
use memchr::memmem;

use crate::haystack::Form;
use crate::request::{Edit, EolMode};
use crate::tokens::{collapse, collapse_bytes};

use field::Field;
use finding::Finding;
use fold::Skeleton;
pub(crate) use large::{LargeMiss, explain_large};
use voters::Rarity;

/// How long an explanation may take.
const TIME: Duration = Duration::from_millis(50);

/// Of a text that is not larger all is looked at in time, on any machine but a very busy one.
const SMALL: usize = 1024 * 1024;

/// How much may be spent on an explanation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// When to stop.
    pub(crate) until: Instant,
    /// The largest text that is looked at, in bytes.
    pub(crate) max_bytes: usize,
}

/// An edit whose `old` was not found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Miss<'a> {
    /// The text as UTF-8, or opaque bytes.
    pub(crate) text: &'a [u8],
    /// How line breaks stand in it.
    pub(crate) form: Form,
    /// How much of the file that is.
    pub(crate) extent: Extent,
    /// All edits of the request.
    pub(crate) edits: &'a [Edit],
    /// Which of them it is.
    pub(crate) index: usize,
    /// How breaks were matched.
    pub(crate) eol: EolMode,
}

/// How much of a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    All,
    /// A part, after so many lines.
    Part {
        /// How many.
        lines_before: u64,
        /// Whether there are many such parts.
        rarity: Rarity,
    },
}

impl Budget {
    /// Returns the budget of a call that begins now: 50 ms and 16 MiB.
    pub(crate) fn standard() -> Self {
        Self {
            until: Instant::now() + TIME,
            max_bytes: 16 * 1024 * 1024,
        }
    }

    /// Returns the same budget for a part of the call that begins now.
    pub(crate) fn again(&self) -> Self {
        Self {
            until: self.until.max(Instant::now() + TIME),
            ..*self
        }
    }

    /// Returns the budget of a first step, which leaves time for a second one.
    fn first_step(&self) -> Self {
        let left = self.until.saturating_duration_since(Instant::now());
        Self {
            until: self.until.checked_sub(left / 3).unwrap_or(self.until),
            ..*self
        }
    }

    fn is_spent(&self) -> bool {
        Instant::now() >= self.until
    }
}

/// Returns the `no_match` for `miss`, explained as far as the budget allows.
pub(crate) fn explain(miss: &Miss<'_>, budget: &Budget) -> Problem {
    explained(find(miss, budget))
}

fn explained(finding: Option<Finding>) -> Problem {
    finding.map_or_else(Problem::no_match, Finding::into_problem)
}

fn find(miss: &Miss<'_>, budget: &Budget) -> Option<Finding> {
    let edit = miss.edits.get(miss.index)?;
    if miss.text.is_empty() && miss.extent == Extent::All {
        return Some(Finding::nowhere("empty_file", "the file is empty"));
    }
    let found = find_in_time(miss, edit, budget);
    let is_missed = miss.text.len() > budget.max_bytes || budget.is_spent();
    if found.is_none() && is_missed && miss.text.len() > SMALL {
        let words = "the file is too large to look at all of it for what is near; search it for a rare \
                     piece of \"old\"";
        return Some(Finding::unnamed(words.to_owned()));
    }
    found
}

fn find_in_time(miss: &Miss<'_>, edit: &Edit, budget: &Budget) -> Option<Finding> {
    if miss.text.len() > budget.max_bytes || budget.is_spent() {
        return None;
    }
    let field = Field::of(miss, budget);
    let (old, new) = (collapse(&edit.old), collapse(&edit.new));
    if let Some(finding) = field.other_breaks(miss.eol, &old) {
        return Some(finding);
    }
    let done = match miss.extent {
        Extent::All => field.already_there(&old, &new),
        // That takes a look at all of the file.
        Extent::Part { .. } => None,
    };
    let near = field
        .lone_returns(&old)
        .or_else(|| in_another_edit(miss, &old, budget))
        .or_else(|| field.differs_in_form(&old))
        .or_else(|| field.nearest(&old));
    weighed(done, near)
}

/// Returns what is the better explanation: that the edit was made before, or what is near.
fn weighed(done: Option<Finding>, near: Option<Finding>) -> Option<Finding> {
    match (done, near) {
        (Some(done), Some(near)) if near.outweighs(&done) => Some(near),
        (Some(done), _) => Some(done),
        (None, near) => near,
    }
}

/// Returns whether it says something that `new` stands in the file: it is long enough to be no
/// chance, and it does not stand in `old`, in whatever form.
fn tells(old: &str, new: &str) -> bool {
    let is_long = new.chars().filter(|c| !c.is_whitespace()).nth(3).is_some();
    is_long && !old.contains(new.trim()) && !is_shortened(old, new)
}

/// Returns whether `new` is a part of `old` but for its form.
fn is_shortened(old: &str, new: &str) -> bool {
    let skeleton = |text: &str| Skeleton::of(text.trim().as_bytes(), || false);
    let pair = skeleton(old).zip(skeleton(new));
    pair.is_some_and(|(old, new)| {
        new.bytes.len() < old.bytes.len() && memmem::find(&old.bytes, &new.bytes).is_some()
    })
}

/// The text is what another edit puts in.
fn in_another_edit(miss: &Miss<'_>, old: &str, budget: &Budget) -> Option<Finding> {
    let others = miss.edits.iter().enumerate();
    let (index, _) = others
        .filter(|(index, _)| *index != miss.index)
        .take_while(|_| !budget.is_spent())
        .find(|(_, other)| collapse(&other.new).contains(old))?;
    Some(Finding::nowhere(
        "in_another_edit",
        format!(
            "it is in the \"new\" of edits[{index}], but every edit is matched against the original \
             text"
        ),
    ))
}

fn breaks_inside(text: &str) -> u64 {
    count_breaks(text.strip_suffix('\n').unwrap_or(text).as_bytes())
}

fn count_breaks(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Returns the text in collapsed form. What is in that form has another meaning if it is collapsed
/// again: a CR that is left before a LF is no part of a break.
fn collapsed(text: &[u8], form: Form) -> Cow<'_, [u8]> {
    match memmem::find(text, b"\r\n").filter(|_| form == Form::Raw) {
        Some(_) => Cow::Owned(collapse_bytes(Cow::Borrowed(text))),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests;
