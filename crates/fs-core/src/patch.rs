//! What a change is once it is decided: ranges to keep and new bytes.

use std::collections::HashMap;
use std::ops::Range;

/// A piece of the result: bytes of the source, or new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'p> {
    /// Bytes of the source, as offsets from 0, end exclusive.
    Keep(Range<u64>),
    /// Bytes that the source does not have.
    New(&'p [u8]),
}

/// A change of a file or buffer as the pieces of its result, in order.
///
/// Invariant: the kept ranges do not overlap and go forward, so a patch is applied in one pass. New
/// bytes that are the same in many places are held once, and a place takes 12 bytes.
#[derive(Clone, Default)]
pub struct Patch {
    source_len: u64,
    starts: Vec<u64>,
    /// For each start the number of its change.
    changes: Vec<u32>,
    kinds: Vec<Change>,
    new: Vec<u8>,
}

/// What happens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Change {
    removed: u64,
    new: NewBytes,
}

/// New bytes that a [`PatchBuilder`] holds for any number of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NewBytes {
    start: usize,
    end: usize,
}

/// Makes a patch from one place to the next.
///
/// ```
/// let mut builder = fs_core::PatchBuilder::new(5);
/// let dash = builder.hold(b"-".to_vec());
/// builder.replace(0..1, dash);
/// builder.replace(4..5, dash);
/// assert_eq!(builder.finish().apply(b"hello"), b"-ell-");
/// ```
#[derive(Debug, Default)]
pub struct PatchBuilder {
    patch: Patch,
    kept: u64,
    numbers: HashMap<Change, u32>,
}

/// The pieces of a patch, in order.
#[derive(Debug, Clone)]
pub struct Pieces<'p> {
    patch: &'p Patch,
    next: usize,
    at: u64,
}

impl PatchBuilder {
    /// Returns a builder for a source of `len` bytes.
    pub fn new(len: u64) -> Self {
        let patch = Patch {
            source_len: len,
            ..Patch::default()
        };
        Self {
            patch,
            ..Self::default()
        }
    }

    /// Holds new bytes for the places that are to have them.
    pub fn hold(&mut self, bytes: Vec<u8>) -> NewBytes {
        let new = &mut self.patch.new;
        let start = new.len();
        if start == 0 {
            *new = bytes;
        } else {
            new.extend_from_slice(&bytes);
        }
        NewBytes {
            start,
            end: new.len(),
        }
    }

    /// Returns bytes that are held.
    pub fn held(&self, new: NewBytes) -> &[u8] {
        self.patch.new_bytes(new)
    }

    /// Puts `new` in the place of `range`.
    ///
    /// The ranges must go forward without overlap and end at or before the source does; one that does
    /// not is left out, and in debug builds the call panics.
    pub fn replace(&mut self, range: Range<u64>, new: NewBytes) {
        let (kept, len) = (self.kept, self.patch.source_len);
        let forward = kept <= range.start && range.start <= range.end && range.end <= len;
        debug_assert!(forward, "{range:?} of {len} after {kept}");
        if !forward {
            return;
        }
        self.kept = range.end;
        let removed = range.end - range.start;
        if removed > 0 || new.start < new.end {
            self.push(range.start, Change { removed, new });
        }
    }

    fn push(&mut self, start: u64, change: Change) {
        let Patch {
            starts,
            changes,
            kinds,
            ..
        } = &mut self.patch;
        let number = *self.numbers.entry(change).or_insert_with(|| {
            kinds.push(change);
            u32::try_from(kinds.len() - 1).unwrap_or(u32::MAX)
        });
        starts.push(start);
        changes.push(number);
    }

    /// Returns the patch.
    pub fn finish(self) -> Patch {
        self.patch
    }
}

impl Patch {
    /// Returns the patch that replaces each `(range, bytes)` of a source of `len` bytes; the ranges are
    /// as [`PatchBuilder::replace`] takes them.
    pub fn splice(len: u64, splices: impl IntoIterator<Item = (Range<u64>, Vec<u8>)>) -> Self {
        let mut builder = PatchBuilder::new(len);
        for (range, bytes) in splices {
            let new = builder.hold(bytes);
            builder.replace(range, new);
        }
        builder.finish()
    }

    /// Returns the patch whose result is `bytes`, whatever the source.
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self::splice(0, [(0..0, bytes)])
    }

    /// Returns the pieces of the result, in order.
    pub fn pieces(&self) -> Pieces<'_> {
        Pieces {
            patch: self,
            next: 0,
            at: 0,
        }
    }

    /// Returns the ranges of a source of `len` bytes that go, each with the bytes that come instead.
    /// Where the source is longer than the patch knows, as of a whole one, its rest goes last.
    pub fn splices_of(&self, len: u64) -> impl Iterator<Item = (Range<u64>, &[u8])> + Clone {
        let known = (0..self.starts.len()).map_while(|index| self.splice_at(index));
        let rest = self.source_len..len.max(self.source_len);
        known.chain((!rest.is_empty()).then_some((rest, [].as_slice())))
    }

    fn splice_at(&self, index: usize) -> Option<(Range<u64>, &[u8])> {
        let start = *self.starts.get(index)?;
        let number = usize::try_from(*self.changes.get(index)?).ok()?;
        let change = self.kinds.get(number)?;
        Some((start..start + change.removed, self.new_bytes(change.new)))
    }

    fn new_bytes(&self, new: NewBytes) -> &[u8] {
        self.new.get(new.start..new.end).unwrap_or_default()
    }

    /// Returns the length of the result in bytes.
    pub fn result_len(&self) -> u64 {
        let len = |piece: Piece<'_>| match piece {
            Piece::Keep(range) => range.end - range.start,
            Piece::New(bytes) => bytes.len() as u64,
        };
        self.pieces().map(len).sum()
    }

    /// Returns the result for `source`; a kept range that `source` does not have is empty.
    ///
    /// ```
    /// let patch = fs_core::Patch::splice(5, [(1..4, b"-".to_vec())]);
    /// assert_eq!(patch.apply(b"hello"), b"h-o");
    /// ```
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        let mut result = Vec::new();
        for piece in self.pieces() {
            result.extend_from_slice(piece.bytes(source));
        }
        result
    }
}

impl std::fmt::Debug for Patch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.pieces()).finish()
    }
}

/// Patches are equal where their pieces are.
impl PartialEq for Patch {
    fn eq(&self, other: &Self) -> bool {
        self.pieces().eq(other.pieces())
    }
}

impl Eq for Patch {}

impl<'p> Piece<'p> {
    /// Returns its bytes, given those of the source; a kept range that is not there is empty.
    pub fn bytes(&self, source: &'p [u8]) -> &'p [u8] {
        match self {
            Self::Keep(range) => slice(source, range),
            Self::New(bytes) => bytes,
        }
    }
}

impl<'p> Iterator for Pieces<'p> {
    type Item = Piece<'p>;

    fn next(&mut self) -> Option<Piece<'p>> {
        loop {
            let splice = self.patch.splice_at(self.next);
            let until = splice
                .as_ref()
                .map_or(self.patch.source_len, |it| it.0.start);
            if self.at < until {
                let kept = self.at..until;
                self.at = until;
                return Some(Piece::Keep(kept));
            }
            let (range, new) = splice?;
            self.at = range.end;
            self.next += 1;
            if !new.is_empty() {
                return Some(Piece::New(new));
            }
        }
    }
}

fn slice<'a>(source: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let start = usize::try_from(range.start).unwrap_or(usize::MAX);
    let end = usize::try_from(range.end).unwrap_or(usize::MAX);
    source.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_splice_keeps_every_byte_outside_its_ranges() {
        let patch = Patch::splice(6, [(0..1, b"X".to_vec()), (3..3, b"--".to_vec())]);
        assert_eq!(patch.apply(b"abcdef"), b"Xbc--def");
        assert_eq!(patch.result_len(), 8);
    }

    #[test]
    fn equal_bytes_are_held_once() {
        let mut builder = PatchBuilder::new(3_000);
        let new = builder.hold(vec![b'x'; 500]);
        (0..1_000).for_each(|at| builder.replace(3 * at..3 * at + 1, new));
        let patch = builder.finish();
        assert_eq!((patch.new.len(), patch.kinds.len()), (500, 1));
        assert_eq!(patch.result_len(), 502_000);
        let apart = (0..1_000).map(|at| (3 * at..3 * at + 1, vec![b'x'; 500]));
        assert_eq!(patch, Patch::splice(3_000, apart));
    }

    #[test]
    fn a_whole_patch_ignores_its_source() {
        assert_eq!(
            Patch::whole(b"new".to_vec()).apply(b"old and longer"),
            b"new"
        );
    }
}
