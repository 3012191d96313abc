//! Line feeds in raw bytes: counted and found without decoding.
//!
//! In every encoding of the WHATWG the byte 0x0A occurs only as a line feed, save in UTF-16, where
//! the aligned unit decides. So lines are counted in bytes as the disk has them.

use crate::encoding::Encoding;

/// How a line feed is spelt: as a byte, or as a unit of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Byte,
    Le,
    Be,
}

/// How many line feeds there are, and how many of them follow a carriage return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Breaks {
    pub(crate) feeds: u64,
    pub(crate) with_return: u64,
}

/// What stands before a run of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Return,
    Other,
}

impl std::ops::Add for Breaks {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            feeds: self.feeds + other.feeds,
            with_return: self.with_return + other.with_return,
        }
    }
}

impl Unit {
    pub(crate) fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::UTF_16LE => Self::Le,
            Encoding::UTF_16BE => Self::Be,
            _ => Self::Byte,
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Le | Self::Be => 2,
        }
    }

    /// Returns the number of line feeds; `bytes` begin on a unit's edge.
    pub(crate) fn count(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Byte => bytecount::count(bytes, b'\n') as u64,
            Self::Le => count_units(bytes, u16::from_ne_bytes([b'\n', 0])),
            Self::Be => count_units(bytes, u16::from_ne_bytes([0, b'\n'])),
        }
    }

    /// Returns the offsets of the line feeds, each of its unit's first byte.
    pub(crate) fn feeds(self, bytes: &[u8]) -> impl DoubleEndedIterator<Item = usize> + '_ {
        memchr::memchr_iter(b'\n', bytes).filter_map(move |at| self.feed_at(bytes, at))
    }

    /// Returns the offset after the `n`th line feed, counted from 1.
    pub(crate) fn after_nth(self, bytes: &[u8], n: u64) -> Option<usize> {
        let skip = usize::try_from(n.checked_sub(1)?).ok()?;
        self.feeds(bytes).nth(skip).map(|at| at + self.len())
    }

    /// Returns the offset after the `n`th line feed from the end, counted from 1.
    pub(crate) fn after_nth_back(self, bytes: &[u8], n: u64) -> Option<usize> {
        let skip = usize::try_from(n.checked_sub(1)?).ok()?;
        self.feeds(bytes).nth_back(skip).map(|at| at + self.len())
    }

    /// Returns whether `bytes` end with `byte` as a unit.
    pub(crate) fn ends_with(self, bytes: &[u8], byte: u8) -> bool {
        match self {
            Self::Byte => bytes.ends_with(&[byte]),
            Self::Le => bytes.ends_with(&[byte, 0]),
            Self::Be => bytes.ends_with(&[0, byte]),
        }
    }

    /// Counts the breaks of `bytes`, which come after `before`.
    pub(crate) fn breaks(self, bytes: &[u8], before: Before) -> Breaks {
        let after_return = before == Before::Return;
        let feeds = self.count(bytes);
        if feeds == 0 || (!after_return && memchr::memchr(b'\r', bytes).is_none()) {
            return Breaks {
                feeds,
                with_return: 0,
            };
        }
        let returned = |at: &usize| match bytes.get(..*at) {
            Some([]) | None => after_return,
            Some(before) => self.ends_with(before, b'\r'),
        };
        Breaks {
            feeds,
            with_return: self.feeds(bytes).filter(returned).count() as u64,
        }
    }

    fn feed_at(self, bytes: &[u8], at: usize) -> Option<usize> {
        let is_zero = |at: usize| bytes.get(at) == Some(&0);
        match self {
            Self::Byte => Some(at),
            Self::Le => (at.is_multiple_of(2) && is_zero(at + 1)).then_some(at),
            Self::Be => (at % 2 == 1 && is_zero(at - 1)).then(|| at - 1),
        }
    }
}

/// Counts the aligned units that equal `unit`, in the shape that compilers turn into vector code.
fn count_units(bytes: &[u8], unit: u16) -> u64 {
    let count = |run: &[u8]| {
        run.chunks_exact(2)
            .map(|pair| match pair {
                [a, b] => u16::from(u16::from_ne_bytes([*a, *b]) == unit),
                _ => 0,
            })
            .sum::<u16>()
    };
    bytes
        .chunks(32 * 1024)
        .map(|run| u64::from(count(run)))
        .sum()
}
