//! Writing the pieces of a patch: kept ranges copied by the kernel, new bytes written.

use std::ops::Range;

use cap_std::fs::File;
use fs_core::{Cancel, FileBytes, Piece, Problem, Result};
use rustix::fs::SeekFrom;
use rustix::io::Errno;

/// One call copies at most this many bytes, so that cancelling is heard between calls.
const COPY_STEP: u64 = 32 * 1024 * 1024;
/// One call writes at most this many bytes.
const WRITE_STEP: usize = 4 * 1024 * 1024;
/// A piece of at most this many bytes is written together with those beside it.
const SHORT: u64 = 4 * 1024;
/// The block of a copy that the kernel does not do itself.
const BLOCK: u64 = 128 * 1024;

/// Writes `pieces` into `to` from offset `at`; kept ranges come from `source`.
///
/// # Errors
/// `conflict` when `source` has become shorter, `cancelled`, `io`.
pub(super) fn write<'p>(
    pieces: impl IntoIterator<Item = Piece<'p>>,
    source: &File,
    to: &File,
    at: u64,
    cancel: &Cancel,
) -> Result<u64> {
    let mut run = Run {
        source,
        to,
        at,
        cancel,
        gathered: Vec::new(),
        ahead: (0, FileBytes::default()),
    };
    for piece in pieces {
        run.add(piece)?;
    }
    run.flush()?;
    Ok(run.at)
}

/// Pieces on their way into a file: many short ones are written by one call.
struct Run<'a> {
    source: &'a File,
    to: &'a File,
    /// How far it is written.
    at: u64,
    cancel: &'a Cancel,
    gathered: Vec<u8>,
    /// What was last read of the source, and where that begins.
    ahead: (u64, FileBytes),
}

impl Run<'_> {
    fn add(&mut self, piece: Piece<'_>) -> Result<()> {
        match piece {
            Piece::Keep(range) if range.end - range.start <= SHORT => self.gather_kept(&range)?,
            Piece::New(bytes) if bytes.len() as u64 <= SHORT => self.gathered.extend(bytes),
            Piece::Keep(range) => {
                self.flush()?;
                self.at = copy(self.source, range, self.to, self.at, self.cancel)?;
            }
            Piece::New(bytes) => {
                self.flush()?;
                self.at = write_bytes(bytes, self.to, self.at, self.cancel)?;
            }
        }
        if self.gathered.len() as u64 >= BLOCK {
            self.flush()?;
        }
        Ok(())
    }

    fn gather_kept(&mut self, range: &Range<u64>) -> Result<()> {
        if self.ahead(range).is_none() {
            self.cancel.check()?;
            let bytes = FileBytes::read(self.source, range.start, BLOCK)?;
            self.ahead = (range.start, bytes);
        }
        let kept = self.ahead(range).ok_or(Problem::Conflict)?.to_vec();
        self.gathered.extend(kept);
        Ok(())
    }

    /// Returns the bytes of a range, if they have been read.
    fn ahead(&self, range: &Range<u64>) -> Option<&[u8]> {
        let (start, bytes) = &self.ahead;
        let [from, to] = [range.start, range.end].map(|at| at.checked_sub(*start));
        let from = usize::try_from(from?).ok()?;
        bytes.get(from..usize::try_from(to?).ok()?)
    }

    fn flush(&mut self) -> Result<()> {
        self.at = write_bytes(&self.gathered, self.to, self.at, self.cancel)?;
        self.gathered.clear();
        Ok(())
    }
}

/// Writes `bytes` into `to` from offset `at` and returns the offset after them.
///
/// # Errors
/// `cancelled`, `io`.
pub(super) fn write_bytes(
    mut bytes: &[u8],
    to: &File,
    mut at: u64,
    cancel: &Cancel,
) -> Result<u64> {
    while !bytes.is_empty() {
        cancel.check()?;
        let step = bytes.get(..WRITE_STEP).unwrap_or(bytes);
        let written = match rustix::io::pwrite(to, step, at) {
            Err(Errno::INTR) => 0,
            Ok(0) => return Err(Errno::IO.into()),
            answer => answer?,
        };
        bytes = bytes.get(written..).unwrap_or_default();
        at += written as u64;
    }
    Ok(at)
}

/// Copies a range of `source` into `to` from offset `at` and returns the offset after it.
///
/// # Errors
/// `conflict` when `source` ends before the range does, `cancelled`, `io`.
pub(super) fn copy(
    source: &File,
    range: Range<u64>,
    to: &File,
    at: u64,
    cancel: &Cancel,
) -> Result<u64> {
    copy_counted(source, range, to, at, cancel, &mut |_| {})
}

/// As [`copy`]; calls `count` with the bytes of each step.
pub(super) fn copy_counted(
    source: &File,
    range: Range<u64>,
    to: &File,
    mut at: u64,
    cancel: &Cancel,
    count: &mut dyn FnMut(u64),
) -> Result<u64> {
    let mut from = range.start;
    while from < range.end {
        cancel.check()?;
        let step = COPY_STEP.min(range.end - from);
        let copied = match copy_step(source, from, to, at, step) {
            Err(Errno::INTR) => 0,
            Ok(0) => return Err(Problem::Conflict.into()),
            answer => answer?,
        };
        from += copied;
        at += copied;
        count(copied);
    }
    Ok(at)
}

/// Copies the first `size` bytes of `source` into `to`, which is empty, and leaves the holes of the one
/// as holes of the other; calls `count` with the bytes of each step, holes included.
///
/// # Errors
/// `conflict` when `source` ends before, `cancelled`, `io`.
pub(crate) fn copy_sparse(
    source: &File,
    size: u64,
    to: &File,
    cancel: &Cancel,
    count: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut at = 0;
    while at < size {
        cancel.check()?;
        let data = next_data(source, at..size)?;
        if data.start > at {
            count(data.start - at);
        }
        at = copy_counted(source, data.clone(), to, data.start, cancel, count)?;
    }
    // A hole at the end has no last byte that would be written.
    Ok(rustix::fs::ftruncate(to, size)?)
}

/// Returns the first run of data in a range; an empty one at its end when there is none.
///
/// # Errors
/// `conflict` when the file has become shorter than that.
fn next_data(source: &File, range: Range<u64>) -> Result<Range<u64>> {
    let start = match rustix::fs::seek(source, SeekFrom::Data(range.start)) {
        Ok(start) => start.min(range.end),
        // Nothing but a hole is left.
        Err(Errno::NXIO) if size_of(source)? >= range.end => return Ok(range.end..range.end),
        Err(Errno::NXIO) => return Err(Problem::Conflict.into()),
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(range),
        Err(errno) => return Err(errno.into()),
    };
    let end = match rustix::fs::seek(source, SeekFrom::Hole(start)) {
        Ok(end) => end.clamp(start, range.end),
        Err(_) => range.end,
    };
    Ok(start..end)
}

fn size_of(file: &File) -> Result<u64, Errno> {
    let stat = rustix::fs::fstat(file)?;
    Ok(u64::try_from(stat.st_size).unwrap_or_default())
}

fn copy_step(source: &File, from: u64, to: &File, at: u64, len: u64) -> Result<u64, Errno> {
    let (mut from_now, mut at_now) = (from, at);
    let wanted = usize::try_from(len).unwrap_or(usize::MAX);
    match rustix::fs::copy_file_range(source, Some(&mut from_now), to, Some(&mut at_now), wanted) {
        // Some file systems answer 0 for what they cannot copy; a read tells whether it is there.
        Ok(0) | Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
            copy_block(source, from, to, at, len.min(BLOCK))
        }
        answer => Ok(answer? as u64),
    }
}

/// Copies one block by reading and writing it.
fn copy_block(source: &File, from: u64, to: &File, at: u64, len: u64) -> Result<u64, Errno> {
    let mut block = vec![0; usize::try_from(len).unwrap_or(0)];
    let read = rustix::io::pread(source, &mut *block, from)?;
    let written = rustix::io::pwrite(to, block.get(..read).unwrap_or_default(), at)?;
    Ok(written as u64)
}
