//! A patch as runs of whole lines.

use std::iter::Peekable;
use std::ops::Range;

use fs_core::{Patch, Piece};

use crate::breaks::Breaks;
use crate::plan::kept;

/// A run of whole lines and the lines that take its place: neither begins or ends with a line that
/// both have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    breaks: Breaks,
    /// The old lines, as offsets of the text.
    pub(crate) old: Range<usize>,
    /// The bytes of the old lines.
    pub(crate) old_bytes: &'a [u8],
    /// The bytes of the new lines.
    pub(crate) new_bytes: Vec<u8>,
}

/// One change of a patch, as offsets of the text.
struct Change<'a> {
    old: Range<usize>,
    new: Vec<&'a [u8]>,
}

impl Block<'_> {
    /// Returns how many new lines there are, plus the old ones that go without substitute.
    pub(crate) fn lines_changed(&self) -> u64 {
        let old = self.breaks.count_lines(self.old_bytes);
        old.max(self.breaks.count_lines(&self.new_bytes))
    }
}

/// Returns the blocks that `patch` changes in `source`, whose text begins at `text_start`,
/// ascending. Work and memory are bound by the changed lines and the way to their edges.
pub(crate) fn blocks<'a>(
    source: &'a [u8],
    patch: &'a Patch,
    breaks: Breaks,
    text_start: usize,
) -> impl Iterator<Item = Block<'a>> {
    let text = source.get(text_start..).unwrap_or_default();
    let mut changes = changes(source, patch, text_start).peekable();
    std::iter::from_fn(move || next_block(text, breaks, &mut changes))
}

fn next_block<'a>(
    text: &'a [u8],
    breaks: Breaks,
    changes: &mut Peekable<impl Iterator<Item = Change<'a>>>,
) -> Option<Block<'a>> {
    let first = changes.next()?;
    let start = breaks.line_start(text, first.old.start);
    let mut end = breaks.line_end(text, first.old.end);
    let mut new = Vec::new();
    let mut copied = start;
    let mut append = |change: Change<'a>| {
        new.push(slice(text, copied..change.old.start));
        new.extend(change.new);
        copied = change.old.end;
    };
    append(first);
    // A last line without a break is not over at its end.
    let touches =
        |at: usize, end: usize| at < end || (at == end && breaks.line_start(text, end) != end);
    while let Some(change) = changes.next_if(|change| touches(change.old.start, end)) {
        if change.old.end >= end {
            end = breaks.line_end(text, change.old.end);
        }
        append(change);
    }
    new.push(slice(text, copied..end));
    Some(tight(text, breaks, start..end, &new.concat()))
}

/// Returns the block without the lines with which both sides begin or end.
fn tight<'a>(text: &'a [u8], breaks: Breaks, old: Range<usize>, new: &[u8]) -> Block<'a> {
    let old_bytes = slice(text, old.clone());
    let head = equal_lines_ahead(breaks, old_bytes, new);
    let old_rest = slice(old_bytes, head..old_bytes.len());
    let new_rest = slice(new, head..new.len());
    let tail = equal_lines_behind(breaks, old_rest, new_rest);
    let new_range = head..new.len() - tail;
    let old = old.start + head..old.end - tail;
    Block {
        breaks,
        old_bytes: slice(text, old.clone()),
        new_bytes: slice(new, new_range).to_vec(),
        old,
    }
}

/// Returns the length in bytes of the whole lines with which both begin.
fn equal_lines_ahead(breaks: Breaks, old: &[u8], new: &[u8]) -> usize {
    let equal = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    if equal == old.len() && equal == new.len() {
        return equal;
    }
    breaks.line_start(old, equal)
}

/// Returns the length in bytes of the whole lines with which both end.
fn equal_lines_behind(breaks: Breaks, old: &[u8], new: &[u8]) -> usize {
    let pairs = old.iter().rev().zip(new.iter().rev());
    let equal = pairs.take_while(|(a, b)| a == b).count();
    let equal = equal - equal % breaks.unit_bytes();
    let whole = |side: &[u8]| {
        let from = side.len() - equal;
        from == 0 || breaks.line_start(side, from) == from
    };
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

fn changes<'a>(
    source: &'a [u8],
    patch: &'a Patch,
    text_start: usize,
) -> impl Iterator<Item = Change<'a>> {
    let mut pieces = patch.pieces().iter();
    let mut at = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        let mut new = Vec::new();
        while !done {
            let next = match pieces.next() {
                Some(Piece::New(bytes)) => {
                    new.push(bytes.as_slice());
                    continue;
                }
                Some(Piece::Keep(range)) => {
                    let start = usize::try_from(range.start).unwrap_or(source.len());
                    start..start + kept(source, range).len()
                }
                None => {
                    done = true;
                    source.len()..source.len()
                }
            };
            let old = at..next.start;
            at = next.end;
            if !old.is_empty() || !new.is_empty() {
                let old = old.start.saturating_sub(text_start)..old.end.saturating_sub(text_start);
                return Some(Change { old, new });
            }
        }
        None
    })
}

fn slice(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range).unwrap_or_default()
}
