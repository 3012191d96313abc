//! What a whole file of up to 4 MiB says of itself, found out in one pass.

use std::ops::ControlFlow;

use super::source::Source;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::{Detected, Fallback};
use crate::index::LineCounts;
use crate::judge::{Blocks, First};
use crate::newline::{Before, Breaks, Unit};
use crate::version::Version;

/// A file whose every block is counted and hashed when it is read for the first time.
pub(crate) struct Survey<'s, 'a> {
    source: &'s mut Source<'a>,
    seen: Seen,
}

/// What has been seen of a file.
pub(crate) struct Seen {
    pub(crate) counts: LineCounts,
    pub(crate) breaks: Breaks,
    hasher: blake3::Hasher,
    bytes: u64,
    /// Known once the file's first bytes have been looked at.
    unit: Option<Unit>,
    before: Before,
}

impl<'s, 'a> Survey<'s, 'a> {
    pub(crate) fn new(source: &'s mut Source<'a>) -> Self {
        Self {
            source,
            seen: Seen::new(None),
        }
    }

    /// Finds out what the file is.
    pub(crate) fn judge(
        &mut self,
        declared: Option<Encoding>,
        fallback: Fallback,
    ) -> Result<Detected> {
        let first = First::of(self, declared)?;
        self.seen.unit = Some(Unit::of(first.encoding()));
        first.confirm(self, declared, fallback)
    }

    /// Reads what has not been read yet, for a file in `encoding`.
    pub(crate) fn finish(mut self, encoding: Encoding) -> Result<Seen> {
        let unit = Unit::of(encoding);
        if self.seen.unit != Some(unit) {
            self.seen = Seen::new(Some(unit));
        }
        if self.seen.bytes < self.source.len() {
            self.each(&mut |_| ControlFlow::Continue(()))?;
        }
        Ok(self.seen)
    }
}

impl Blocks for Survey<'_, '_> {
    fn each(&mut self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let mut offset = 0;
        loop {
            let block = self.source.at(offset, self.source.sizes().block)?;
            if block.is_empty() {
                return Ok(());
            }
            self.seen.see(offset, block);
            offset += block.len() as u64;
            if see(block).is_break() {
                return Ok(());
            }
        }
    }
}

impl Seen {
    pub(crate) fn version(&self) -> Version {
        Version::of_hash(self.hasher.finalize(), self.bytes)
    }

    fn new(unit: Option<Unit>) -> Self {
        Self {
            counts: LineCounts::default(),
            breaks: Breaks::default(),
            hasher: blake3::Hasher::new(),
            bytes: 0,
            unit,
            before: Before::Other,
        }
    }

    fn see(&mut self, offset: u64, block: &[u8]) {
        let Some(unit) = self.unit.filter(|_| offset == self.bytes) else {
            return;
        };
        let breaks = unit.breaks(block, self.before);
        self.counts.push(breaks.feeds);
        self.breaks = self.breaks + breaks;
        self.before = if unit.ends_with(block, b'\r') {
            Before::Return
        } else {
            Before::Other
        };
        self.hasher.update(block);
        self.bytes += block.len() as u64;
    }
}
