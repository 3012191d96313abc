//! Pipes: whole lines as they come in, and ends that several threads write to.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// The longest line that is passed on, in bytes.
const MAX_LINE: usize = if cfg!(test) {
    1024 * 1024
} else {
    256 * 1024 * 1024
};
/// How much is read at once; a buffer that a long line made larger goes back to it.
const BLOCK: usize = 256 * 1024;
/// How much a pipe is asked to hold.
const PIPE: usize = 1024 * 1024;

/// Lines as they come in.
#[derive(Debug)]
pub(crate) struct Intake {
    from: OwnedFd,
    buffer: Vec<u8>,
    /// Where what was read and not handed out begins, how far it has no line feed, and where it
    /// ends.
    start: usize,
    scanned: usize,
    end: usize,
    is_skipping: bool,
}

/// What comes in next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Batch<'b> {
    /// Whole lines, each with its line feed.
    Lines(&'b [u8]),
    /// The last line, which has none.
    Rest(&'b [u8]),
    /// A line over 256 MiB; nothing of it is kept.
    TooLong,
    /// Nothing any more.
    End,
}

impl Intake {
    pub(crate) fn new(from: OwnedFd) -> Self {
        widen(&from);
        Self {
            from,
            buffer: vec![0; BLOCK],
            start: 0,
            scanned: 0,
            end: 0,
            is_skipping: false,
        }
    }

    /// Waits for whole lines.
    ///
    /// # Errors
    /// What the operating system says of the pipe.
    pub(crate) fn next(&mut self) -> io::Result<Batch<'_>> {
        loop {
            if let Some(lines) = self.take_lines() {
                return Ok(Batch::Lines(self.slice(lines)));
            }
            if self.end - self.start > MAX_LINE {
                (self.start, self.scanned, self.end) = (0, 0, 0);
                self.is_skipping = true;
                return Ok(Batch::TooLong);
            }
            self.make_room();
            if self.fill()? == 0 {
                let rest = self.start..self.end;
                (self.start, self.scanned) = (self.end, self.end);
                return Ok(match self.slice(rest) {
                    [] => Batch::End,
                    rest => Batch::Rest(rest),
                });
            }
        }
    }

    /// Takes all lines that are whole by now.
    fn take_lines(&mut self) -> Option<Range<usize>> {
        if self.is_skipping {
            let news = self.slice(self.scanned..self.end);
            let fed = memchr::memchr(b'\n', news).map(|at| self.scanned + at + 1);
            self.is_skipping = fed.is_none();
            self.start = fed.unwrap_or(self.end);
            self.scanned = self.start;
        }
        let news = self.slice(self.scanned..self.end);
        let fed = memchr::memrchr(b'\n', news).map(|at| self.scanned + at + 1);
        self.scanned = self.end;
        let lines = self.start..fed?;
        self.start = lines.end;
        Some(lines)
    }

    /// Moves the part of a line that is there to the front, into a buffer that has room for more.
    fn make_room(&mut self) {
        let held = self.end - self.start;
        if self.buffer.len() > BLOCK && held < BLOCK / 2 {
            let mut buffer = vec![0; BLOCK];
            for (to, from) in buffer.iter_mut().zip(self.slice(self.start..self.end)) {
                *to = *from;
            }
            self.buffer = buffer;
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
        }
        (self.start, self.scanned, self.end) = (0, held, held);
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        loop {
            match rustix::io::read(&self.from, &mut *room) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait(&self.from, PollFlags::IN)?,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn slice(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or_default()
    }
}

/// The writing end of a pipe, for whole lines of several threads.
#[derive(Debug)]
pub(crate) struct Sink(Mutex<Option<OwnedFd>>);

/// Nobody reads the other end any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

impl Sink {
    pub(crate) fn new(to: OwnedFd) -> Self {
        widen(&to);
        Self(Mutex::new(Some(to)))
    }

    /// Writes lines as a whole; nobody else's stand between them.
    ///
    /// # Errors
    /// The other end is closed, or this one is.
    pub(crate) fn write(&self, lines: &[u8]) -> Result<(), Gone> {
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fd = to.as_ref().ok_or(Gone)?;
        if write_all(fd, lines).is_err() {
            *to = None;
            return Err(Gone);
        }
        Ok(())
    }

    /// Returns whether so many bytes can be written without waiting for whoever reads; not while
    /// somebody writes, who may be waiting.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let Ok(to) = self.0.try_lock() else {
            return false;
        };
        to.as_ref().is_some_and(|to| {
            let held = rustix::pipe::fcntl_getpipe_size(to);
            let unread = rustix::io::ioctl_fionread(to);
            let free = held.ok().zip(unread.ok());
            free.is_some_and(|(held, unread)| held as u64 >= unread + bytes as u64)
        })
    }

    /// Closes this end once nobody is writing.
    pub(crate) fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns whether nobody can write to the other end of this one any more.
pub(crate) fn is_left(end: &OwnedFd) -> bool {
    let mut ends = [PollFd::new(end, PollFlags::RDHUP)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let polled = poll(&mut ends, Some(&now));
    let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
    polled.is_ok() && ends.iter().any(|end| end.revents().intersects(gone))
}

fn write_all(to: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(to, PollFlags::OUT)?,
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Waits for an end that does not block by itself.
fn wait(end: &impl AsFd, flags: PollFlags) -> io::Result<()> {
    match poll(&mut [PollFd::new(end, flags)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Lets a pipe hold more, so that fewer turns are taken; other ends stay as they are.
fn widen(end: &impl AsFd) {
    let _as_before = rustix::pipe::fcntl_setpipe_size(end, PIPE);
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Checks what comes out of a pipe into which `writes` go one by one.
    #[track_caller]
    fn check(writes: &[&[u8]], wanted: &[&str]) {
        let (from, to) = rustix::pipe::pipe().unwrap();
        let writes: Vec<Vec<u8>> = writes.iter().map(|write| write.to_vec()).collect();
        let writer = thread::spawn(move || {
            for write in writes {
                write_all(&to, &write).unwrap();
            }
        });
        let mut intake = Intake::new(from);
        let mut seen = String::new();
        loop {
            match intake.next().unwrap() {
                Batch::Lines(lines) => seen += &String::from_utf8_lossy(lines),
                Batch::Rest(rest) => {
                    seen += "rest: ";
                    seen += &String::from_utf8_lossy(rest);
                }
                Batch::TooLong => seen += "too long\n",
                Batch::End => break,
            }
        }
        writer.join().unwrap();
        assert_eq!(seen, wanted.concat());
    }

    #[test]
    fn lines_come_whole_however_they_were_written() {
        check(&[b"a\nb", b"b\n", b"\n", b"c\n"], &["a\nbb\n\nc\n"]);
        check(&[], &[]);
        check(&[b"a\nhalf"], &["a\nrest: half"]);
    }

    #[test]
    fn a_line_may_be_longer_than_the_buffer() {
        let long = "x".repeat(MAX_LINE - 1) + "\n";
        check(&[b"a\n", long.as_bytes(), b"b\n"], &["a\n", &long, "b\n"]);
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over() {
        let long = "x".repeat(3 * MAX_LINE) + "\n";
        let wanted = ["a\n", "too long\n", "b\nc\n"];
        check(&[b"a\n", long.as_bytes(), b"b\n", b"c\n"], &wanted);
        let endless = "x".repeat(3 * MAX_LINE);
        check(&[endless.as_bytes()], &["too long\n"]);
    }

    #[test]
    fn a_buffer_that_grew_goes_back() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        let writer = thread::spawn(move || {
            write_all(&to, ("x".repeat(MAX_LINE / 2) + "\n").as_bytes()).unwrap();
            write_all(&to, b"a\n").unwrap();
        });
        let mut intake = Intake::new(from);
        while intake.next().unwrap() != Batch::End {}
        writer.join().unwrap();
        assert_eq!(intake.buffer.len(), BLOCK);
    }

    #[test]
    fn an_end_that_nobody_writes_to_is_seen_also_before_it_is_read() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        write_all(&to, b"a\n").unwrap();
        assert!(!is_left(&from));
        drop(to);
        assert!(is_left(&from));
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let ours = OwnedFd::from(ours);
        assert!(!is_left(&ours));
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(is_left(&ours));
    }

    #[test]
    fn there_is_no_room_while_somebody_waits_to_write() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        let sink = std::sync::Arc::new(Sink::new(to));
        assert!(sink.has_room(1));
        let writer = {
            let sink = std::sync::Arc::clone(&sink);
            thread::spawn(move || sink.write(&vec![b'x'; 4 * PIPE]))
        };
        // Asked while the writer waits, it says so at once and does not wait, too.
        while sink.has_room(1) {
            thread::yield_now();
        }
        drop(from);
        assert_eq!(writer.join().unwrap(), Err(Gone));
    }

    #[test]
    fn a_closed_end_is_told() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        let sink = Sink::new(to);
        assert_eq!(sink.write(b"a\n"), Ok(()));
        drop(from);
        assert_eq!(sink.write(b"b\n"), Err(Gone));
    }
}
