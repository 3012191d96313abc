//! A patch as runs of whole lines.

use std::ops::Range;

use fs_core::{Patch, Result};

use crate::body::Body;
use crate::breaks::Breaks;
use crate::side::{LONG_BYTES, MOST_BYTES, Side};

/// A run of whole lines and the lines that take its place: neither begins or ends with a line that
/// both have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    breaks: Breaks,
    /// The old lines, as offsets of the text.
    pub(crate) old: Range<usize>,
    /// The old lines.
    pub(crate) old_side: Side<'a>,
    /// The new lines.
    pub(crate) new_side: Side<'a>,
}

/// One change of a patch, as offsets of the text.
struct Change<'p> {
    old: Range<usize>,
    new: &'p [u8],
}

impl Block<'_> {
    /// Returns how many new lines there are, plus the old ones that go without substitute.
    pub(crate) fn lines_changed(&self) -> u64 {
        let old = self.old_side.lines(self.breaks);
        old.max(self.new_side.lines(self.breaks))
    }
}

/// Returns the blocks that `patch` changes in a text, which begins at `text_start` of its file,
/// ascending. Work is bound by the changed lines and the way to their edges, memory by the changed
/// lines too and, where the text is not in memory, by some MiB and the new bytes.
pub(crate) fn blocks<'t, 'a>(
    body: &'t Body<'a>,
    patch: &'t Patch,
    text_start: usize,
) -> impl Iterator<Item = Result<Block<'a>>> {
    let mut changes = changes(body.in_file(&(0..body.len())).end, patch, text_start);
    std::iter::from_fn(move || next_block(body, &mut changes).transpose())
}

fn next_block<'p, 'a>(
    body: &Body<'a>,
    changes: &mut (impl Iterator<Item = Change<'p>> + Clone),
) -> Result<Option<Block<'a>>> {
    let gathered = changes.clone();
    let Some(first) = changes.next() else {
        return Ok(None);
    };
    let start = body.line_start(first.old.start)?;
    let mut end = body.line_end(first.old.end)?;
    let (mut count, mut last) = (1, first.old.end);
    let mut ahead = changes.clone();
    while let Some(change) = ahead.next() {
        // A last line without a break is not over at its end.
        let at = change.old.start;
        let touches = at < end || at == last || (at == end && body.line_start(end)? != end);
        if !touches {
            break;
        }
        if change.old.end >= end {
            end = body.line_end(change.old.end)?;
        }
        (count, last) = (count + 1, change.old.end);
        *changes = ahead.clone();
    }
    tight(body, start..end, &gathered.take(count)).map(Some)
}

/// Returns the lines in `range` and what the changes make of them.
fn sides<'p, 'a>(
    body: &Body<'a>,
    range: &Range<usize>,
    changes: &(impl Iterator<Item = Change<'p>> + Clone),
) -> Result<(Side<'a>, Side<'a>)> {
    let added: usize = changes.clone().map(|change| change.new.len()).sum();
    let is_short = body.whole().is_some() || range.len() <= MOST_BYTES;
    let (mut old, mut new) = (Side::default(), Side::default());
    // Lines that both sides have can be no more than the new bytes hold.
    let long = LONG_BYTES.max(added.saturating_mul(2).saturating_add(LONG_BYTES));
    let mut at = range.start;
    for change in changes.clone() {
        let kept = at..change.old.start;
        at = change.old.end;
        if new.is_full() {
            // Where nothing more is shown, what is kept and what is changed need not be told apart.
            if !is_short {
                old.hide_text(body, kept.start..change.old.end)?;
            }
            new.hide(kept.len(), body.count_breaks(&kept)?);
        } else if is_short {
            new.bytes.to_mut().extend_from_slice(&body.slice(kept)?);
        } else {
            old.push_text(body, kept.clone(), LONG_BYTES)?;
            new.push_text(body, kept, LONG_BYTES)?;
            old.push_text(body, change.old.clone(), long)?;
        }
        new.push_new(change.new, body.breaks());
    }
    let kept = at..range.end;
    if is_short {
        new.bytes.to_mut().extend_from_slice(&body.slice(kept)?);
    } else {
        old.push_text(body, kept.clone(), LONG_BYTES)?;
        new.push_text(body, kept, LONG_BYTES)?;
    }
    if is_short {
        old = Side::from(body.slice(range.clone())?);
    }
    Ok((old, new))
}

/// Returns the block without the lines with which both sides begin or end.
fn tight<'p, 'a>(
    body: &Body<'a>,
    range: Range<usize>,
    changes: &(impl Iterator<Item = Change<'p>> + Clone),
) -> Result<Block<'a>> {
    let breaks = body.breaks();
    let (old, new) = sides(body, &range, changes)?;
    let head = equal_lines_ahead(breaks, &old, &new);
    let tail = equal_lines_behind(breaks, &old.after(head), &new.after(head));
    let (hidden_before, hidden_after) = old.hidden_around(head, tail);
    Ok(Block {
        breaks,
        old: range.start + head + hidden_before..range.end - tail - hidden_after,
        old_side: old.without(head, tail),
        new_side: new.without(head, tail),
    })
}

/// Returns the length in bytes of the whole lines with which both begin.
fn equal_lines_ahead(breaks: Breaks, old: &Side<'_>, new: &Side<'_>) -> usize {
    let equal = old.equal_start(new);
    if equal == old.bytes.len() && equal == new.bytes.len() {
        return equal;
    }
    breaks.line_start(&old.bytes, equal)
}

/// Returns the length in bytes of the whole lines with which both end.
fn equal_lines_behind(breaks: Breaks, old: &Side<'_>, new: &Side<'_>) -> usize {
    let equal = old.equal_end(new);
    let equal = equal - equal % breaks.unit_bytes();
    let whole = |side: &[u8]| {
        let from = side.len() - equal;
        from == 0 || breaks.line_start(side, from) == from
    };
    let (old, new) = (&old.bytes, &new.bytes);
    if whole(old) && whole(new) {
        return equal;
    }
    // The first break inside the equal tail begins the lines that both have.
    let from = old.len() - equal;
    match breaks.next(old, from) {
        Some(found) => old.len() - found.end,
        None => 0,
    }
}

fn changes(
    size: u64,
    patch: &Patch,
    text_start: usize,
) -> impl Iterator<Item = Change<'_>> + Clone {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let offset = move |at: u64| {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(size);
        at.saturating_sub(text_start)
    };
    patch
        .splices_of(size as u64)
        .map(move |(range, new)| Change {
            old: offset(range.start)..offset(range.end),
            new,
        })
}
