//! One side of a change as it is compared and shown: whole lines, with the middle of what is very long
//! left out.

use std::borrow::Cow;
use std::ops::Range;

use fs_core::Result;

use crate::body::Body;
use crate::breaks::Breaks;

/// A run of bytes longer than this is shown by its two ends.
pub(crate) const LONG_BYTES: usize = 256 * 1024;
/// Over so many bytes all further ones of a side are left out, but for the end of its last line.
pub(crate) const MOST_BYTES: usize = 2 * 1024 * 1024;
/// How far a cut may be put back to the edge of a character.
const CUT_REACH: usize = 64;

/// The lines of one side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Side<'a> {
    /// Their bytes.
    pub(crate) bytes: Cow<'a, [u8]>,
    /// What is left out, ascending.
    pub(crate) gaps: Vec<Gap>,
}

/// Bytes that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Where they would stand in the bytes that are there.
    pub(crate) at: usize,
    /// How many there are.
    pub(crate) bytes: usize,
    /// How many breaks end in them.
    pub(crate) breaks: u64,
    /// Where they stand in the file's text; `None` for new bytes.
    from: Option<usize>,
}

impl<'a> Side<'a> {
    /// Returns the lines in `range` of a text.
    pub(crate) fn of_text(body: &Body<'a>, range: Range<usize>) -> Result<Self> {
        if body.whole().is_some() || range.len() <= LONG_BYTES {
            return Ok(Self::from(body.slice(range)?));
        }
        let mut side = Self::default();
        side.push_text(body, range, LONG_BYTES)?;
        Ok(side)
    }

    /// Returns how many lines there are.
    pub(crate) fn lines(&self, breaks: Breaks) -> u64 {
        let hidden: u64 = self.gaps.iter().map(|gap| gap.breaks).sum();
        breaks.count_lines(&self.bytes) + hidden
    }

    /// Returns how many lines are left out.
    pub(crate) fn hidden_lines(&self) -> u64 {
        self.gaps.iter().map(|gap| gap.breaks).sum()
    }

    /// Returns the gaps in `range` of the bytes, as offsets of its start.
    pub(crate) fn gaps_in(&self, range: Range<usize>) -> impl Iterator<Item = Gap> {
        let start = range.start;
        let inside = self.gaps.iter().filter(move |gap| range.contains(&gap.at));
        inside.map(move |gap| Gap {
            at: gap.at - start,
            ..*gap
        })
    }

    /// Appends bytes of the text; where there are more than `long`, their two ends.
    pub(crate) fn push_text(
        &mut self,
        body: &Body<'_>,
        range: Range<usize>,
        long: usize,
    ) -> Result<()> {
        if range.len() <= long && self.bytes.len() + range.len() <= MOST_BYTES.max(long) {
            let bytes = body.slice(range)?;
            self.bytes.to_mut().extend_from_slice(&bytes);
            return Ok(());
        }
        let head = if self.bytes.len() < MOST_BYTES {
            long / 2
        } else {
            0
        };
        let head = edge_near(body, range.start + head.min(range.len()), range.start)?;
        let tail = edge_near(body, range.end - (long / 2).min(range.end - head), head)?;
        let bytes = body.slice(range.start..head)?;
        self.bytes.to_mut().extend_from_slice(&bytes);
        self.gaps.push(Gap {
            at: self.bytes.len(),
            bytes: tail - head,
            breaks: body.count_breaks(&(head..tail))?,
            from: Some(head),
        });
        let bytes = body.slice(tail..range.end)?;
        self.bytes.to_mut().extend_from_slice(&bytes);
        Ok(())
    }

    /// Returns whether so much is there that all further bytes are left out.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= MOST_BYTES
    }

    /// Leaves out bytes of the text, be they kept or not.
    pub(crate) fn hide_text(&mut self, body: &Body<'_>, range: Range<usize>) -> Result<()> {
        let from = Some(range.start);
        let breaks = body.count_breaks(&range)?;
        self.push_gap(range.len(), breaks, from);
        Ok(())
    }

    /// Leaves out bytes of this side.
    pub(crate) fn hide(&mut self, bytes: usize, breaks: u64) {
        self.push_gap(bytes, breaks, None);
    }

    /// Adds to the last gap, if nothing stands between.
    fn push_gap(&mut self, bytes: usize, breaks: u64, from: Option<usize>) {
        let at = self.bytes.len();
        match self.gaps.last_mut().filter(|gap| gap.at == at) {
            Some(gap) => {
                gap.bytes += bytes;
                gap.breaks += breaks;
                gap.from = gap.from.and(from);
            }
            None => self.gaps.push(Gap {
                at,
                bytes,
                breaks,
                from,
            }),
        }
    }

    /// Appends new bytes, unless there are too many already.
    pub(crate) fn push_new(&mut self, bytes: &[u8], breaks: Breaks) {
        if self.bytes.len() < MOST_BYTES {
            return self.bytes.to_mut().extend_from_slice(bytes);
        }
        self.hide(bytes.len(), breaks.count(bytes));
    }

    /// Returns what comes after the first `head` bytes of those that are there.
    pub(crate) fn after(&self, head: usize) -> Side<'_> {
        Side {
            bytes: Cow::Borrowed(self.bytes.get(head..).unwrap_or_default()),
            gaps: self.gaps_after(head, self.bytes.len()),
        }
    }

    /// Returns the side without its first `head` and its last `tail` bytes of those that are there.
    pub(crate) fn without(self, head: usize, tail: usize) -> Self {
        let range = head..self.bytes.len() - tail;
        let gaps = self.gaps_after(head, range.end);
        let bytes = match self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(range).unwrap_or_default()),
            Cow::Owned(mut bytes) => {
                bytes.truncate(range.end);
                bytes.drain(..head);
                Cow::Owned(bytes)
            }
        };
        Self { bytes, gaps }
    }

    fn gaps_after(&self, head: usize, end: usize) -> Vec<Gap> {
        let inside = self
            .gaps
            .iter()
            .filter(|gap| (head..=end).contains(&gap.at));
        let moved = inside.map(|gap| Gap {
            at: gap.at - head,
            ..*gap
        });
        moved.collect()
    }

    /// Returns how many bytes are left out before `head` and after the last `tail` bytes begin.
    pub(crate) fn hidden_around(&self, head: usize, tail: usize) -> (usize, usize) {
        let end = self.bytes.len() - tail;
        let sum = |gaps: &mut dyn Iterator<Item = &Gap>| gaps.map(|gap| gap.bytes).sum();
        (
            sum(&mut self.gaps.iter().filter(|gap| gap.at < head)),
            sum(&mut self.gaps.iter().filter(|gap| gap.at > end)),
        )
    }

    /// Returns with how many equal bytes both begin; a gap of one side alone ends them.
    pub(crate) fn equal_start(&self, other: &Self) -> usize {
        let pairs = self.bytes.iter().zip(other.bytes.iter());
        let equal = pairs.take_while(|(a, b)| a == b).count();
        let unequal = self.gaps.iter().zip(&other.gaps).position(|(a, b)| a != b);
        let shared = unequal.unwrap_or(self.gaps.len().min(other.gaps.len()));
        let alone = [&self.gaps, &other.gaps].map(|gaps| gaps.get(shared).map(|gap| gap.at));
        alone.into_iter().flatten().fold(equal, usize::min)
    }

    /// Returns with how many equal bytes both end; a gap of one side alone ends them.
    pub(crate) fn equal_end(&self, other: &Self) -> usize {
        let pairs = self.bytes.iter().rev().zip(other.bytes.iter().rev());
        let equal = pairs.take_while(|(a, b)| a == b).count();
        let back = |side: &Self| -> Vec<_> {
            let len = side.bytes.len();
            let gaps = side.gaps.iter().rev();
            gaps.map(|gap| (len - gap.at, gap.bytes, gap.from))
                .collect()
        };
        let (own, others) = (back(self), back(other));
        let unequal = own.iter().zip(&others).position(|(a, b)| a != b);
        let shared = unequal.unwrap_or(own.len().min(others.len()));
        let alone = [own, others].map(|gaps| gaps.get(shared).map(|gap| gap.0));
        alone.into_iter().flatten().fold(equal, usize::min)
    }
}

impl<'a> From<Cow<'a, [u8]>> for Side<'a> {
    fn from(bytes: Cow<'a, [u8]>) -> Self {
        Self {
            bytes,
            gaps: Vec::new(),
        }
    }
}

/// Returns `at`, or the edge of a character shortly before, but not before `least`. Where none is
/// found a character is cut, which only spoils how it is shown.
fn edge_near(body: &Body<'_>, at: usize, least: usize) -> Result<usize> {
    let unit = body.breaks().unit_bytes();
    let at = at - (at - least) % unit;
    let start = at.saturating_sub(CUT_REACH).max(least);
    let before = body.slice(start..at)?;
    if unit > 1 {
        return Ok(at);
    }
    let plain = before.iter().rposition(|byte| *byte < 0x30);
    Ok(plain.map_or(at, |plain| start + plain + 1))
}
