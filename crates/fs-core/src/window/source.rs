//! The bytes a window is cut from: an open file read by `pread` into one block, or memory.

use cap_std::fs::File;

use crate::cancel::Cancel;
use crate::error::Result;
use crate::file_bytes::{Block, read_full};
use crate::version::Version;

/// How much is looked at, at once or at all; other sizes give the same windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// How much is read at once, and the step of the index; even, and at least 8.
    pub(crate) block: usize,
    /// A file of so many bytes is judged as a whole.
    pub(crate) whole: u64,
    /// How much of each end of a larger file is looked at.
    pub(crate) end: u64,
    /// A file of so many bytes is scanned by two threads,
    pub(crate) shared: u64,
    /// after one has scanned so much: most windows begin near the start.
    pub(crate) alone: u64,
    /// How much a thread takes at a time; whole blocks.
    pub(crate) stripe: u64,
}

/// The bytes of a file or a text.
pub(crate) struct Source<'a> {
    origin: Origin<'a>,
    len: u64,
    sizes: Sizes,
    block: Block,
    /// What part of the file the block holds.
    held_from: u64,
    held: usize,
    cancel: &'a Cancel,
    has_shrunk: bool,
}

/// Where the bytes are.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    File(&'a File),
    Memory(&'a [u8]),
}

impl Sizes {
    pub(crate) const DEFAULT: Self = Self {
        block: 128 * 1024,
        whole: Version::STRONG_BYTES,
        end: 64 * 1024,
        shared: 64 * 1024 * 1024,
        alone: 2 * 1024 * 1024,
        stripe: 1024 * 1024,
    };
}

impl<'a> Source<'a> {
    /// Returns the first `len` bytes of `origin`.
    pub(crate) fn new(origin: Origin<'a>, len: u64, sizes: Sizes, cancel: &'a Cancel) -> Self {
        Self {
            origin,
            len,
            sizes,
            block: Block::default(),
            held_from: 0,
            held: 0,
            cancel,
            has_shrunk: false,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    pub(crate) fn origin(&self) -> Origin<'a> {
        self.origin
    }

    pub(crate) fn cancel(&self) -> &'a Cancel {
        self.cancel
    }

    /// Returns whether the file was found to end earlier than its size said.
    pub(crate) fn has_shrunk(&self) -> bool {
        self.has_shrunk
    }

    /// Returns bytes from `offset` on, a block at most, and at least `least` of them (which must fit
    /// a block) unless the file ends before.
    pub(crate) fn at(&mut self, offset: u64, least: usize) -> Result<&[u8]> {
        self.cancel.check()?;
        match self.origin {
            Origin::Memory(bytes) => {
                let rest = slice_from(bytes, offset);
                Ok(rest.get(..self.sizes.block).unwrap_or(rest))
            }
            Origin::File(file) => {
                if !self.holds(offset, least) {
                    self.fill(file, offset)?;
                }
                let held = self.block.bytes().get(..self.held).unwrap_or_default();
                Ok(slice_from(held, offset - self.held_from))
            }
        }
    }

    fn holds(&self, offset: u64, least: usize) -> bool {
        let end = self.held_from + self.held as u64;
        let wanted = self.len.min(offset.saturating_add(least as u64));
        self.held > 0 && self.held_from <= offset && wanted <= end
    }

    fn fill(&mut self, file: &File, offset: u64) -> Result<()> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = left.min(self.sizes.block);
        self.block.grow(wanted);
        (self.held_from, self.held) = (offset, 0);
        let buffer = self.block.bytes_mut().get_mut(..wanted).unwrap_or_default();
        self.held = read_full(file, offset, buffer)?;
        if self.held < wanted {
            self.len = offset + self.held as u64;
            self.has_shrunk = true;
        }
        Ok(())
    }
}

fn slice_from(bytes: &[u8], offset: u64) -> &[u8] {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    bytes.get(offset..).unwrap_or_default()
}
