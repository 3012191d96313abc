//! The log of a root: one line for each step of a change, appended, never changed in place.
//!
//! A line is `SUM KIND ID BYTES JSON`. `b` (begun) comes before the change takes place and holds all
//! of it; `d` (done) follows, or `v` (void) when it did not take place. A line whose sum does not fit
//! its rest was torn by a crash and does not count. The head line `h` of a log that was shortened
//! says with which number to go on.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use cap_std::fs::{Dir, File};
use fs_core::{FileBytes, Result};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::record::{NameChange, Record};

const NAME: &str = "log";
const NEW: &str = "log.new";
const LOCK: &str = "lock";
/// How much of the rest of a line its sum covers, in hex digits.
const SUM_DIGITS: usize = 16;
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);
/// How often a log that somebody else holds is asked for, and how long apart.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);
const APPEND: OFlags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::APPEND);

/// An entry as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its number: later ones are larger.
    pub(crate) id: u64,
    /// How many bytes of objects came with it.
    pub(crate) bytes: u64,
    /// Whether it is known that the change took place; else it began, and its writer is gone or
    /// still at work.
    pub(crate) is_done: bool,
    /// What changed.
    pub(crate) record: Record,
}

impl Entry {
    /// Returns what became of the name that is shown as `path`.
    pub(crate) fn change_of(&self, path: &str) -> Option<&NameChange> {
        let mut names = self.record.names.iter();
        names.find(|change| change.path == path)
    }
}

/// What a log holds in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    /// The number of the next entry.
    pub(crate) next: u64,
    /// How many entries there are, about: void ones count until the log is shortened.
    pub(crate) entries: u64,
    /// How many bytes of objects came with them.
    pub(crate) bytes: u64,
}

/// The log while nobody else writes to it, in this process or another one.
#[derive(Debug)]
pub(crate) struct Locked<'d> {
    dir: &'d Dir,
    _lock: File,
}

impl<'d> Locked<'d> {
    /// Waits until nobody else writes to the log of `dir`, for a second: whoever holds it longer
    /// has been stopped, and is not to stop everybody.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn of(dir: &'d Dir) -> Result<Self> {
        let lock = open(dir, LOCK, OFlags::RDWR | OFlags::CREATE)?;
        for _ in 0..TRIES {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { dir, _lock: lock }),
                Err(Errno::AGAIN) => thread::sleep(PAUSE),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(std::io::Error::other("another process holds its log").into())
    }

    /// Adds an entry that is begun and returns its number. `seen` is what was known of the log
    /// before, and is brought up to date.
    ///
    /// # Errors
    /// `io`; the log then holds no new entry.
    pub(crate) fn begin(&self, record: &Record, bytes: u64, seen: &mut Seen) -> Result<u64> {
        let file = open(self.dir, NAME, APPEND)?;
        seen.catch_up(&file)?;
        let id = seen.totals.next;
        let json = serde_json::to_string(record).map_err(std::io::Error::other)?;
        append(&file, &line('b', id, bytes, &json))?;
        seen.catch_up(&file)?;
        Ok(id)
    }

    /// Adds an entry again that is begun: this one counts.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn amend(&self, id: u64, record: &Record) -> Result<()> {
        let file = open(self.dir, NAME, APPEND)?;
        let json = serde_json::to_string(record).map_err(std::io::Error::other)?;
        append(&file, &line('b', id, 0, &json))
    }

    /// Adds that the change of a number took place.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn done(&self, id: u64) -> Result<()> {
        self.settle('d', id)
    }

    /// Adds that it did not.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn void(&self, id: u64) -> Result<()> {
        self.settle('v', id)
    }

    /// Puts a log in the place of this one that holds `entries` and goes on at `next`.
    ///
    /// # Errors
    /// `io`; the log is then as it was.
    pub(crate) fn shorten(&self, entries: &[Entry], next: u64) -> Result<()> {
        let mut lines = line('h', next, 0, "");
        for entry in entries {
            let json = serde_json::to_string(&entry.record).map_err(std::io::Error::other)?;
            lines.push_str(&line('b', entry.id, entry.bytes, &json));
            if entry.is_done {
                lines.push_str(&line('d', entry.id, 0, ""));
            }
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::APPEND;
        let file = open(self.dir, NEW, flags)?;
        append(&file, &lines)?;
        rustix::fs::fsync(&file)?;
        Ok(rustix::fs::renameat(self.dir, NEW, self.dir, NAME)?)
    }

    fn settle(&self, kind: char, id: u64) -> Result<()> {
        let file = open(self.dir, NAME, APPEND)?;
        append(&file, &line(kind, id, 0, ""))
    }
}

/// What is known of a log, so that the next look reads only what came since.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    inode: u64,
    len: u64,
    pub(crate) totals: Totals,
}

impl Seen {
    fn catch_up(&mut self, file: &File) -> Result<()> {
        let stat = rustix::fs::fstat(file)?;
        let len = u64::try_from(stat.st_size).unwrap_or_default();
        if stat.st_ino != self.inode || len < self.len {
            *self = Self {
                inode: stat.st_ino,
                ..Self::default()
            };
            self.totals.next = 1;
        }
        let bytes = FileBytes::read(file, self.len, len - self.len)?;
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Some(parsed) = Line::parse(line) {
                self.totals.count(&parsed);
            }
        }
        self.len = len;
        Ok(())
    }
}

impl Totals {
    fn count(&mut self, line: &Line<'_>) {
        match line.kind {
            'h' => self.next = self.next.max(line.id),
            'b' => {
                self.next = self.next.max(line.id.saturating_add(1));
                self.entries += 1;
                self.bytes = self.bytes.saturating_add(line.bytes);
            }
            _ => {}
        }
    }
}

/// Returns the entries of the log of `dir`, oldest first, without the void ones.
///
/// # Errors
/// `io`.
pub(crate) fn read(dir: &Dir) -> Result<Vec<Entry>> {
    let file = match rustix::fs::openat(dir, NAME, READ, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(errno) => return Err(errno.into()),
    };
    let bytes = FileBytes::read(&file, 0, len_of(&file)?)?;
    let mut entries = BTreeMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(line) = Line::parse(line) else {
            continue;
        };
        match line.kind {
            'b' => {
                if let Some(entry) = line.entry() {
                    entries.insert(entry.id, entry);
                }
            }
            'd' => {
                if let Some(entry) = entries.get_mut(&line.id) {
                    entry.is_done = true;
                }
            }
            'v' => drop(entries.remove(&line.id)),
            _ => {}
        }
    }
    Ok(entries.into_values().collect())
}

/// A line whose sum fits.
struct Line<'l> {
    kind: char,
    id: u64,
    bytes: u64,
    json: &'l str,
}

impl<'l> Line<'l> {
    fn parse(line: &'l [u8]) -> Option<Self> {
        let (sum, rest) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        if sum != sum_of(rest) {
            return None;
        }
        let mut fields = rest.splitn(4, ' ');
        Some(Self {
            kind: fields.next()?.chars().next()?,
            id: fields.next()?.parse().ok()?,
            bytes: fields.next()?.parse().ok()?,
            json: fields.next()?,
        })
    }

    fn entry(&self) -> Option<Entry> {
        Some(Entry {
            id: self.id,
            bytes: self.bytes,
            is_done: false,
            record: serde_json::from_str(self.json).ok()?,
        })
    }
}

fn line(kind: char, id: u64, bytes: u64, json: &str) -> String {
    let rest = format!("{kind} {id} {bytes} {json}");
    format!("{} {rest}\n", sum_of(&rest))
}

fn sum_of(rest: &str) -> String {
    let hex = blake3::hash(rest.as_bytes()).to_hex();
    hex.chars().take(SUM_DIGITS).collect()
}

/// Appends whole lines, or nothing. After a line that was torn they begin on one of their own.
fn append(file: &File, lines: &str) -> Result<()> {
    let len = len_of(file)?;
    let last = FileBytes::read(file, len.saturating_sub(1), 1)?;
    let begun = matches!(last.first(), Some(byte) if *byte != b'\n');
    let lines = if begun {
        format!("\n{lines}")
    } else {
        lines.to_owned()
    };
    let written = write_all(file, lines.as_bytes());
    if written.is_err() {
        // Best effort: what stays is a torn line, which does not count.
        _ = rustix::fs::ftruncate(file, len);
    }
    Ok(written?)
}

fn write_all(file: &File, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file, bytes))?;
        if written == 0 {
            return Err(Errno::IO);
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

fn open(dir: &Dir, name: &str, flags: OFlags) -> Result<File> {
    // What is no file is not waited for.
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mode = Mode::RUSR | Mode::WUSR;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::openat(dir, name, flags, mode))?;
    Ok(File::from(opened))
}

fn len_of(file: &File) -> Result<u64, Errno> {
    let stat = rustix::fs::fstat(file)?;
    Ok(u64::try_from(stat.st_size).unwrap_or_default())
}
