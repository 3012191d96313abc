//! The bytes of a file that are its text, held or read in blocks, decoded or as they are.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::time::Instant;

use cap_std::fs::File;
use encoding_rs::{CoderResult, Decoder};
use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkMatch};

use super::Query;
use super::watched::Watched;
use crate::cancel::Cancel;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::file_bytes::read_full;
use crate::judge::Blocks;
use crate::problem::Problem;

/// How much is read at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// What ends a search early.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) cancel: Cancel,
    end: Option<Instant>,
}

/// The bytes of a text, behind its byte order mark.
pub(super) enum Body<'a> {
    Held(&'a [u8]),
    File(FileBody<'a>),
}

/// Bytes of a file, from one offset to another.
pub(super) struct FileBody<'a> {
    file: &'a File,
    from: u64,
    to: Cell<u64>,
    nul: Cell<Nul>,
    watch: &'a Watch,
}

/// Whether a NUL ends a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nul {
    Ends,
    IsData,
}

impl Watch {
    /// Returns the watch of a search that begins now.
    pub(super) fn new(query: &Query) -> Self {
        Self {
            cancel: query.walk.cancel.clone(),
            end: Instant::now().checked_add(query.time_limit),
        }
    }

    /// Returns whether the search is to end now.
    pub(super) fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

impl Body<'_> {
    /// Returns whether the matcher finds anything.
    pub(super) fn holds(&self, searcher: &mut Searcher, matcher: Watched<'_>) -> io::Result<bool> {
        match self {
            Self::Held(bytes) => matcher.is_match(bytes).map_err(io::Error::other),
            Self::File(file) => {
                let mut any = Any(false);
                searcher.search_reader(matcher, file.reader(), &mut any)?;
                Ok(any.0)
            }
        }
    }

    /// Sends the lines that match to `sink`, decoded when an encoding is given.
    pub(super) fn search(
        &self,
        searcher: &mut Searcher,
        matcher: Watched<'_>,
        encoding: Option<Encoding>,
        sink: impl Sink<Error = io::Error>,
    ) -> io::Result<()> {
        match (self, encoding) {
            (Self::Held(bytes), None) => searcher.search_slice(matcher, bytes, sink),
            (Self::Held(bytes), Some(encoding)) => {
                let mut text = Vec::with_capacity(bytes.len() + bytes.len() / 2);
                Decoded::new(*bytes, encoding).read_to_end(&mut text)?;
                searcher.search_slice(matcher, &text, sink)
            }
            (Self::File(file), None) => searcher.search_reader(matcher, file.reader(), sink),
            (Self::File(file), Some(encoding)) => {
                let decoded = Decoded::new(file.reader(), encoding);
                searcher.search_reader(matcher, decoded, sink)
            }
        }
    }

    /// Returns the whole text, decoded when an encoding is given, with U+FFFD for what is none.
    pub(super) fn text(&self, encoding: Option<Encoding>) -> io::Result<String> {
        let mut text = Vec::new();
        let mut held;
        let mut read;
        let bytes: &mut dyn Read = match self {
            Self::Held(bytes) => {
                held = *bytes;
                &mut held
            }
            Self::File(file) => {
                read = file.reader();
                &mut read
            }
        };
        match encoding {
            None => bytes.read_to_end(&mut text)?,
            Some(encoding) => Decoded::new(bytes, encoding).read_to_end(&mut text)?,
        };
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Leaves out the first `len` bytes.
    pub(super) fn behind(self, len: usize) -> Self {
        match self {
            Self::Held(bytes) => Self::Held(bytes.get(len..).unwrap_or_default()),
            Self::File(file) => Self::File(FileBody {
                from: file.from + len as u64,
                ..file
            }),
        }
    }

    /// Lets the first NUL end the text.
    pub(super) fn up_to_nul(self) -> Self {
        match self {
            Self::Held(bytes) => {
                let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
                Self::Held(bytes.get(..end).unwrap_or(bytes))
            }
            Self::File(file) => {
                file.nul.set(Nul::Ends);
                Self::File(file)
            }
        }
    }

    /// Returns how many bytes the text has, as far as it has been read.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::File(file) => file.to.get() - file.from,
        }
    }
}

impl Blocks for Body<'_> {
    fn each(&mut self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        match self {
            Self::Held(bytes) => bytes.each(see),
            Self::File(file) => {
                let mut reader = file.reader();
                let mut block = vec![0; BLOCK_BYTES];
                loop {
                    let read = reader.read(&mut block)?;
                    let bytes = block.get(..read).unwrap_or_default();
                    if bytes.is_empty() || see(bytes).is_break() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl<'a> FileBody<'a> {
    /// Returns the first `len` bytes of `file`.
    pub(super) fn new(file: &'a File, len: u64, watch: &'a Watch) -> Self {
        Self {
            file,
            from: 0,
            to: Cell::new(len),
            nul: Cell::new(Nul::IsData),
            watch,
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            body: self,
            at: self.from,
        }
    }
}

/// Reads a file's bytes in order, without its position.
struct Reader<'a> {
    body: &'a FileBody<'a>,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.body.watch.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let left = self.body.to.get().saturating_sub(self.at);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let buffer = buffer.get_mut(..wanted).unwrap_or_default();
        let read = read_full(self.body.file, self.at, buffer).map_err(|error| into_io(&error))?;
        let bytes = buffer.get(..read).unwrap_or_default();
        let nul = match self.body.nul.get() {
            Nul::Ends => memchr::memchr(0, bytes),
            Nul::IsData => None,
        };
        let kept = nul.unwrap_or(read);
        self.at += kept as u64;
        if kept < wanted {
            // The file ends here for whoever reads it again, too.
            self.body.to.set(self.at);
        }
        Ok(kept)
    }
}

/// Decodes what it reads to UTF-8, with U+FFFD for what is no text.
struct Decoded<R> {
    inner: R,
    decoder: Decoder,
    raw: Vec<u8>,
    raw_at: usize,
    raw_end: usize,
    text: Vec<u8>,
    text_at: usize,
    is_done: bool,
}

impl<R: Read> Decoded<R> {
    fn new(inner: R, encoding: Encoding) -> Self {
        Self {
            inner,
            decoder: encoding.decoder(),
            raw: vec![0; BLOCK_BYTES / 2],
            raw_at: 0,
            raw_end: 0,
            text: Vec::with_capacity(BLOCK_BYTES),
            text_at: 0,
            is_done: false,
        }
    }

    /// Decodes more text, which is empty only at the end.
    fn fill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.text_at = 0;
        while self.text.is_empty() && !self.is_done {
            if self.raw_at == self.raw_end {
                self.raw_end = self.inner.read(&mut self.raw)?;
                self.raw_at = 0;
            }
            let raw = self.raw.get(self.raw_at..self.raw_end).unwrap_or_default();
            let is_last = raw.is_empty();
            self.text.resize(BLOCK_BYTES, 0);
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(raw, &mut self.text, is_last);
            self.text.truncate(written);
            self.raw_at += read;
            self.is_done = is_last && result == CoderResult::InputEmpty;
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.text_at == self.text.len() {
            self.fill()?;
        }
        let rest = self.text.get(self.text_at..).unwrap_or_default();
        let taken = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..taken), rest.get(..taken)) {
            to.copy_from_slice(from);
        }
        self.text_at += taken;
        Ok(taken)
    }
}

/// Stops at the first line that matches.
struct Any(bool);

impl Sink for Any {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }
}

/// Returns the error of the operating system that an error of ours is about.
fn into_io(error: &crate::Error) -> io::Error {
    match error.problem() {
        Problem::Io { source, .. } => match source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => source.kind().into(),
        },
        _ => io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()),
    }
}
