//! What a change is once it is decided: ranges to keep and new bytes.

use std::ops::Range;

/// A piece of the result: bytes of the source, or new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the source, as offsets from 0, end exclusive.
    Keep(Range<u64>),
    /// Bytes that the source does not have.
    New(Vec<u8>),
}

/// A change of a file or buffer as the pieces of its result, in order.
///
/// Invariant: the kept ranges do not overlap and go forward, so a patch is applied in one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    pieces: Vec<Piece>,
}

impl Patch {
    /// Returns the patch that replaces each `(range, bytes)` of a source of `len` bytes.
    ///
    /// The ranges must go forward without overlap and end at or before `len`; one that does not
    /// is left out of the result's pieces, and in debug builds the call panics.
    pub fn splice(len: u64, splices: impl IntoIterator<Item = (Range<u64>, Vec<u8>)>) -> Self {
        let mut pieces = Vec::new();
        let mut kept = 0;
        for (range, bytes) in splices {
            let forward = kept <= range.start && range.start <= range.end && range.end <= len;
            debug_assert!(forward, "{range:?} of {len} after {kept}");
            if !forward {
                continue;
            }
            push_keep(&mut pieces, kept..range.start);
            if !bytes.is_empty() {
                pieces.push(Piece::New(bytes));
            }
            kept = range.end;
        }
        push_keep(&mut pieces, kept..len);
        Self { pieces }
    }

    /// Returns the patch whose result is `bytes`, whatever the source.
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self {
            pieces: vec![Piece::New(bytes)],
        }
    }

    /// Returns the pieces of the result, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the length of the result in bytes.
    pub fn result_len(&self) -> u64 {
        let len = |piece: &Piece| match piece {
            Piece::Keep(range) => range.end - range.start,
            Piece::New(bytes) => bytes.len() as u64,
        };
        self.pieces.iter().map(len).sum()
    }

    /// Returns the result for `source`; a kept range that `source` does not have is empty.
    ///
    /// ```
    /// let patch = fs_core::Patch::splice(5, [(1..4, b"-".to_vec())]);
    /// assert_eq!(patch.apply(b"hello"), b"h-o");
    /// ```
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        let mut result = Vec::new();
        for piece in &self.pieces {
            result.extend_from_slice(match piece {
                Piece::Keep(range) => slice(source, range),
                Piece::New(bytes) => bytes,
            });
        }
        result
    }
}

fn push_keep(pieces: &mut Vec<Piece>, range: Range<u64>) {
    if range.start < range.end {
        pieces.push(Piece::Keep(range));
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
    fn a_whole_patch_ignores_its_source() {
        assert_eq!(
            Patch::whole(b"new".to_vec()).apply(b"old and longer"),
            b"new"
        );
    }
}
