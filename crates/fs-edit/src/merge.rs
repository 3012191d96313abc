//! Merging: two changes of one text, made by two who did not know of each other, become one.

use std::convert::Infallible;
use std::ops::Range;
use std::time::{Duration, Instant};

use fs_core::Patch;
use similar::Algorithm;
use similar::algorithms::{DiffHook, diff_deadline};

use crate::tokens::{common_prefix, common_suffix};

/// How long is looked for the shortest change of one side. After that what is left is one change.
const PATIENCE: Duration = Duration::from_millis(150);

/// What [`merge`] makes of two changes of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The text with both changes.
    pub text: String,
    /// The change that turns the bytes of `theirs` into it: what only `mine` has changed, and there
    /// only what differs within its lines.
    pub patch: Patch,
}

/// Returns `theirs` with the change that leads from `base` to `mine`, or `None` where the two changes
/// overlap.
///
/// It goes by lines, each with its break, LF or CR LF. Changes of different lines are both made, also
/// of lines that follow each other; the same change of the same lines is made once. Everything else is
/// `None`, and so is whatever leaves a choice: lines that come in right beside a change of the other
/// side, since either could come first, and a line that comes or goes among equal ones of which the
/// other side has changed one. `merge(base, mine, theirs)` and `merge(base, theirs, mine)` give one
/// text.
///
/// Texts without a common shape cost 150 ms a side: what is not compared by then counts as one change.
///
/// ```
/// use fs_edit::merge;
///
/// let base = "one\ntwo\nthree\n";
/// let merged = merge(base, "1\ntwo\nthree\n", "one\ntwo\nthree\nfour\n").unwrap();
/// assert_eq!(merged.text, "1\ntwo\nthree\nfour\n");
/// assert_eq!(merged.patch.apply(b"one\ntwo\nthree\nfour\n"), merged.text.as_bytes());
/// assert_eq!(merge(base, "1\ntwo\nthree\n", "uno\ntwo\nthree\n"), None);
/// ```
pub fn merge(base: &str, mine: &str, theirs: &str) -> Option<Merged> {
    let len = theirs.len() as u64;
    if mine == base || mine == theirs {
        return Some(Merged {
            text: theirs.to_owned(),
            patch: Patch::splice(len, []),
        });
    }
    let [base, mine, others] = [base, mine, theirs].map(Lines::of);
    let splices = woven(&base, &mine, &others)?;
    let patch = Patch::splice(len, splices);
    // It is text: what goes and what comes begins and ends at the edges of characters.
    let text = String::from_utf8(patch.apply(theirs.as_bytes())).ok()?;
    Some(Merged { text, patch })
}

/// Returns `base` with those changes that lead to `current` and lie wholly within one of these ranges of
/// its lines, counted from 0: what somebody knows who knew the base, and was shown these lines of what
/// became of it. A change that only takes lines away counts where both lines around it are shown.
///
/// ```
/// use fs_edit::catch_up;
///
/// let known = catch_up("one\ntwo\nthree\n", "1\ntwo\n3\n", &[2..3]);
/// assert_eq!(known, "one\ntwo\n3\n");
/// ```
pub fn catch_up(base: &str, current: &str, seen: &[Range<u64>]) -> String {
    let [old, new] = [base, current].map(Lines::of);
    let last = new.all.len() as u64;
    // Of lines that are gone those around them tell.
    let told = |lines: &Range<usize>| match (lines.start as u64, lines.end as u64) {
        (start, end) if start < end => start..end,
        (start, _) => start.saturating_sub(1)..(start + 1).min(last),
    };
    let is_seen = |lines: &Range<usize>| {
        let lines = told(lines);
        seen.iter()
            .any(|seen| seen.start <= lines.start && lines.end <= seen.end)
    };
    let mut text = String::with_capacity(base.len());
    let mut at = 0;
    for hunk in hunks(&old, &new) {
        if is_seen(&hunk.side) {
            text += old.text_of(&(at..hunk.base.start)).unwrap_or_default();
            text += new.text_of(&hunk.side).unwrap_or_default();
            at = hunk.base.end;
        }
    }
    text + old.text_of(&(at..old.all.len())).unwrap_or_default()
}

/// A text as its lines, each with its break; the last one may have none.
struct Lines<'t> {
    text: &'t str,
    all: Vec<&'t str>,
    /// Where each line starts, and at last the end.
    starts: Vec<usize>,
}

/// Lines that go and lines that come in their place.
///
/// Where lines only come or only go, it is at the first place at which that makes the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    /// The lines of the base that go; an empty range is a place between two lines.
    base: Range<usize>,
    /// The lines of the side that come.
    side: Range<usize>,
    /// How many lines further on the same change would still make the same text.
    slack: usize,
}

/// The hunks between the runs of equal lines.
#[derive(Default)]
struct Hunks {
    found: Vec<Hunk>,
    base_at: usize,
    side_at: usize,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let mut end = 0;
        let ends = lines.iter().map(|line| {
            end += line.len();
            end
        });
        let starts = std::iter::once(0).chain(ends).collect();
        Self {
            text,
            all: lines,
            starts,
        }
    }

    fn bytes_of(&self, lines: &Range<usize>) -> Option<Range<usize>> {
        Some(*self.starts.get(lines.start)?..*self.starts.get(lines.end)?)
    }

    fn text_of(&self, lines: &Range<usize>) -> Option<&'t str> {
        self.text.get(self.bytes_of(lines)?)
    }
}

impl Hunk {
    /// Returns the end of the lines of the base that the change may be about.
    fn reach(&self) -> usize {
        self.base.end + self.slack
    }

    /// Returns whether the changes cannot both be made, or not in one way only. No line comes to stand
    /// right after one without a break: that is the last of its text, and whoever adds lines there
    /// changes it.
    fn touches(&self, other: &Self) -> bool {
        let (start, end) = (self.base.start, self.reach());
        if self.base.is_empty() || other.base.is_empty() {
            return start <= other.reach() && other.base.start <= end;
        }
        start < other.reach() && other.base.start < end
    }
}

impl Hunks {
    /// Ends a hunk where both sides go on alike.
    fn close(&mut self, base: usize, side: usize) {
        if (base, side) != (self.base_at, self.side_at) {
            self.found.push(Hunk {
                base: self.base_at..base,
                side: self.side_at..side,
                slack: 0,
            });
        }
    }
}

impl DiffHook for Hunks {
    type Error = Infallible;

    fn equal(&mut self, base: usize, side: usize, len: usize) -> Result<(), Infallible> {
        self.close(base, side);
        (self.base_at, self.side_at) = (base + len, side + len);
        Ok(())
    }
}

/// Returns what is to be done to the other side's bytes, or `None` where the changes touch.
fn woven(
    base: &Lines<'_>,
    mine: &Lines<'_>,
    others: &Lines<'_>,
) -> Option<Vec<(Range<u64>, Vec<u8>)>> {
    let own = hunks(base, mine);
    let theirs = hunks(base, others);
    let mut theirs = theirs.iter().peekable();
    let mut splices = Vec::new();
    // Up to where the other side was followed: in the base, and in its own lines.
    let mut passed = (0, 0);
    for hunk in &own {
        while let Some(next) = theirs.next_if(|it| is_before(it, hunk)) {
            passed = (next.base.end, next.side.end);
        }
        match theirs.peek() {
            Some(next) if is_same(hunk, mine, next, others) => {
                passed = (next.base.end, next.side.end);
                theirs.next();
                continue;
            }
            Some(next) if hunk.touches(next) => return None,
            _ => {}
        }
        let start = passed.1 + (hunk.base.start - passed.0);
        let lines = start..start + hunk.base.len();
        splices.push(splice(others, &lines, mine.text_of(&hunk.side)?)?);
    }
    Some(splices)
}

/// Returns whether a change is done with before another one of the other side begins.
fn is_before(hunk: &Hunk, other: &Hunk) -> bool {
    hunk.base.start < other.base.start && !hunk.touches(other)
}

/// Returns whether both sides have made one change.
fn is_same(hunk: &Hunk, side: &Lines<'_>, other: &Hunk, other_side: &Lines<'_>) -> bool {
    hunk.base == other.base && side.text_of(&hunk.side) == other_side.text_of(&other.side)
}

/// Returns the bytes that go and those that come where `lines` become `new`.
fn splice(of: &Lines<'_>, lines: &Range<usize>, new: &str) -> Option<(Range<u64>, Vec<u8>)> {
    let bytes = of.bytes_of(lines)?;
    let old = of.text.get(bytes.clone())?.as_bytes();
    let new = new.as_bytes();
    let head = common_prefix(old, new);
    let tail = common_suffix(old.get(head..)?, new.get(head..)?);
    let goes = (bytes.start + head) as u64..(bytes.end - tail) as u64;
    Some((goes, new.get(head..new.len() - tail)?.to_vec()))
}

/// Returns how a side has changed the base, in order.
fn hunks(base: &Lines<'_>, side: &Lines<'_>) -> Vec<Hunk> {
    let mut hunks = Hunks::default();
    let (old, new) = (base.all.as_slice(), side.all.as_slice());
    let until = Instant::now() + PATIENCE;
    let Ok(()) = diff_deadline(
        Algorithm::Myers,
        &mut hunks,
        old,
        0..old.len(),
        new,
        0..new.len(),
        Some(until),
    );
    hunks.close(old.len(), new.len());
    let mut found = hunks.found;
    settle(&mut found, old, new);
    found
}

/// Puts each change at its first place and finds out how far it can go on. Between two changes are
/// equal lines: it stays among these.
fn settle(hunks: &mut [Hunk], old: &[&str], new: &[&str]) {
    let starts = hunks.iter().map(|hunk| hunk.base.start).skip(1);
    let ends: Vec<_> = starts.chain([old.len()]).collect();
    let mut free = 0;
    for (hunk, next) in hunks.iter_mut().zip(ends) {
        let (before, after) = (hunk.base.start - free, next - hunk.base.end);
        free = hunk.base.end;
        let (lines, range) = match (hunk.base.is_empty(), hunk.side.is_empty()) {
            (true, _) => (new, hunk.side.clone()),
            (_, true) => (old, hunk.base.clone()),
            (false, false) => continue,
        };
        let (head, tail) = (lines.get(..range.start), lines.get(..range.end));
        let back = equal(
            head.into_iter().flatten().rev(),
            tail.into_iter().flatten().rev(),
            before,
        );
        let (head, tail) = (lines.get(range.start..), lines.get(range.end..));
        let forth = equal(
            head.into_iter().flatten(),
            tail.into_iter().flatten(),
            after,
        );
        hunk.base = hunk.base.start - back..hunk.base.end - back;
        hunk.side = hunk.side.start - back..hunk.side.end - back;
        hunk.slack = back + forth;
    }
}

/// Returns with how many equal lines both begin, `most` at most: so far a run can be shifted without
/// another result, since the line that leaves it is the one that joins it.
fn equal<'l>(
    one: impl Iterator<Item = &'l &'l str>,
    two: impl Iterator<Item = &'l &'l str>,
    most: usize,
) -> usize {
    one.zip(two).take(most).take_while(|(a, b)| a == b).count()
}
