//! Bytes of a file in memory, at page-aligned addresses.
//!
//! The kernel copies into a buffer that begins a few bytes past a page several times slower on some
//! processors, and that is where an allocator puts every large one.

use std::fmt;
use std::ops::Deref;
use std::os::fd::AsFd as _;

use cap_std::fs::File;

use crate::error::Result;

const PAGE_BYTES: usize = 4096;

/// Bytes of a file; they read as a slice.
///
/// ```
/// let bytes = fs_core::FileBytes::from(b"text".to_vec());
/// assert_eq!(&*bytes, b"text");
/// ```
#[derive(Default)]
pub struct FileBytes {
    block: Block,
    len: usize,
}

/// A page-aligned buffer.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    start: usize,
}

impl FileBytes {
    /// Reads `len` bytes from `offset`; fewer when the file ends before.
    ///
    /// # Errors
    /// `io`.
    pub fn read(file: &File, offset: u64, len: u64) -> Result<Self> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut block = Block::default();
        block.grow(len);
        let buffer = block.bytes_mut().get_mut(..len).unwrap_or_default();
        let len = read_full(file, offset, buffer)?;
        Ok(Self { block, len })
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.block.bytes().get(..self.len).unwrap_or_default()
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        let block = Block { bytes, start: 0 };
        Self { block, len }
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileBytes({} bytes)", self.len)
    }
}

impl Block {
    /// Makes room for `len` bytes; the content is lost when it had less.
    pub(crate) fn grow(&mut self, len: usize) {
        if self.bytes.len().saturating_sub(self.start) < len {
            self.bytes = vec![0; len + PAGE_BYTES];
            let start = self.bytes.as_ptr().align_offset(PAGE_BYTES);
            self.start = if start < PAGE_BYTES { start } else { 0 };
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.start..).unwrap_or_default()
    }
}

/// Reads until `buffer` is full or the file ends, and returns how much was read.
pub(crate) fn read_full(file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
    let mut read = 0;
    while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(file.as_fd(), rest, offset + read as u64) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(read)
}
