//! What a patch makes of content.

use std::ops::ControlFlow;

use super::{Content, before_after};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::Eol;
use crate::newline::{Before, Breaks, Unit};
use crate::patch::{Patch, Piece};
use crate::version::Version;

impl Content<'_> {
    /// Returns whether `patch` makes of the content what it is.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn is_unchanged_by(&self, patch: &Patch) -> Result<bool> {
        if patch.result_len() != self.len {
            return Ok(false);
        }
        let mut at = 0;
        for piece in patch.pieces() {
            let (same, len) = match piece {
                Piece::Keep(range) => (
                    range.start == at || self.repeats(&range, at)?,
                    range.end - range.start,
                ),
                Piece::New(bytes) => (self.holds(bytes, at)?, bytes.len() as u64),
            };
            if !same {
                return Ok(false);
            }
            at += len;
        }
        Ok(true)
    }

    /// Returns the line breaks of what `patch` makes of the content.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn eol_after(&self, patch: &Patch, encoding: Encoding) -> Result<Eol> {
        let unit = Unit::of(encoding);
        let (mut before, mut breaks) = (Before::Other, Breaks::default());
        let mut see = |block: &[u8]| {
            breaks = breaks + unit.breaks(block, before);
            before = before_after(block, unit);
        };
        for piece in patch.pieces() {
            match piece {
                Piece::New(bytes) => see(bytes),
                Piece::Keep(range) => self.each(range, &mut |block| {
                    see(block);
                    ControlFlow::Continue(())
                })?,
            }
        }
        Ok(Eol::from(breaks))
    }

    /// Returns the version that a file has which holds what `patch` makes of this content, by all its
    /// bytes, whatever its size.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn version_after(&self, patch: &Patch) -> Result<Version> {
        let mut hasher = blake3::Hasher::new();
        for piece in patch.pieces() {
            match piece {
                Piece::Keep(range) => self.each(range, &mut |block| {
                    hasher.update(block);
                    ControlFlow::Continue(())
                })?,
                Piece::New(bytes) => {
                    hasher.update(bytes);
                }
            }
        }
        Ok(Version::of_hash(hasher.finalize(), patch.result_len()))
    }
}
