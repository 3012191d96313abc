//! Listing one directory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat};

use crate::cancel::Cancel;
use crate::error::Result;

/// Room for what the kernel tells of a directory in one call.
pub(crate) const BUFFER_BYTES: usize = 32 * 1024;

/// A row of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name as the file system has it.
    pub name: OsString,
    /// What it is; a link is a link, whatever it leads to.
    pub kind: EntryKind,
    /// The size in bytes; `None` when it was not wanted or could not be read, as of an entry that
    /// vanished meanwhile.
    pub size: Option<u64>,
    /// The time of the last change of the content; `None` as for `size`.
    pub modified: Option<SystemTime>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A directory.
    Dir,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Other,
}

/// The order of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// By case-folded name, ties by bytes.
    #[default]
    Name,
    /// Directories first, then by case-folded name.
    FoldersFirst,
    /// By the bytes of the name alone.
    Bytes,
}

/// Where a listing goes on: after this entry, which need not exist any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The last entry's name.
    pub name: OsString,
    /// Whether it was a directory; only `Order::FoldersFirst` looks at it.
    pub is_dir: bool,
}

/// What to list.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// The order.
    pub order: Order,
    /// The most entries to return; `None` for all. With 0 none is returned and only counted.
    pub limit: Option<usize>,
    /// Only entries after this one.
    pub after: Option<Position>,
    /// Whether sizes and times are wanted; they are read for the entries returned only.
    pub sizes: bool,
    /// Stops the listing.
    pub cancel: Cancel,
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// How many entries the directory has that `visible` admits, those before `after` included.
    pub total: u64,
    /// Where to go on; `None` when no entry is left.
    pub next: Option<Position>,
}

/// Lists the directory, in O(limit) memory; entries for which `visible` is false do not exist.
///
/// `.` and `..` are no entries. The handle may be one that cannot itself be read from (`O_PATH`): the
/// directory is opened again through it. Entries that come or go while the listing runs may or may
/// not be in it; pages neither repeat nor lose one that stays.
///
/// ```
/// # #![allow(clippy::disallowed_methods)]
/// use fs_core::{EntryKind, ListOptions, list};
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.txt"), "text")?;
/// # let dir = cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority())?;
/// let options = ListOptions { limit: Some(500), sizes: true, ..ListOptions::default() };
/// let page = list(&dir, &options, &mut |_, kind| kind != EntryKind::Other)?;
/// assert_eq!(page.total, 1);
/// assert_eq!(page.entries[0].size, Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `permission_denied`, `not_a_directory`, `not_found` (the directory itself is gone), `cancelled`, `io`.
pub fn list(
    dir: &Dir,
    options: &ListOptions,
    visible: &mut dyn FnMut(&OsStr, EntryKind) -> bool,
) -> Result<Listing> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir.as_fd(), ".", flags, Mode::empty())?;
    let mut page = Page::new(options);
    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    each_entry(&fd, &options.cancel, &mut buffer, &mut |name, kind| {
        if visible(OsStr::from_bytes(name), kind) {
            page.offer(name, kind);
        }
    })?;
    page.into_listing(&fd, options)
}

/// The least rows seen so far, at most `limit` of them.
struct Page<'a> {
    options: &'a ListOptions,
    after: Option<Row>,
    rows: BinaryHeap<Row>,
    total: u64,
    /// How many rows come after the cursor.
    left: u64,
    scratch: Vec<u8>,
}

/// An entry with the key that orders it; compared field by field.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    group: u8,
    folded: Vec<u8>,
    name: Vec<u8>,
    kind: EntryKind,
}

impl<'a> Page<'a> {
    fn new(options: &'a ListOptions) -> Self {
        let after = options.after.as_ref().map(|position| {
            let name = position.name.as_bytes();
            let kind = if position.is_dir {
                EntryKind::Dir
            } else {
                EntryKind::Other
            };
            let mut folded = Vec::new();
            fold(options.order, name, &mut folded);
            Row {
                group: group(options.order, kind),
                folded,
                name: name.to_vec(),
                kind,
            }
        });
        Self {
            options,
            after,
            rows: BinaryHeap::new(),
            total: 0,
            left: 0,
            scratch: Vec::new(),
        }
    }

    fn offer(&mut self, name: &[u8], kind: EntryKind) {
        self.total += 1;
        fold(self.options.order, name, &mut self.scratch);
        let group = group(self.options.order, kind);
        let key = (group, self.scratch.as_slice(), name);
        if self.after.as_ref().is_some_and(|row| key <= row.key()) {
            return;
        }
        self.left += 1;
        let is_full = self
            .options
            .limit
            .is_some_and(|limit| self.rows.len() >= limit);
        if is_full && self.rows.peek().is_none_or(|last| key >= last.key()) {
            return;
        }
        let row = Row {
            group,
            folded: self.scratch.clone(),
            name: name.to_vec(),
            kind,
        };
        if is_full {
            self.rows.pop();
        }
        self.rows.push(row);
    }

    fn into_listing(self, fd: &OwnedFd, options: &ListOptions) -> Result<Listing> {
        let rows = self.rows.into_sorted_vec();
        let is_last_page = self.left == rows.len() as u64;
        let next = rows.last().map(|row| Position {
            name: OsString::from_vec(row.name.clone()),
            is_dir: row.kind == EntryKind::Dir,
        });
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            options.cancel.check()?;
            entries.push(row.into_entry(fd, options));
        }
        Ok(Listing {
            entries,
            total: self.total,
            next: if is_last_page {
                None
            } else {
                next.or_else(|| options.after.clone())
            },
        })
    }
}

impl Row {
    fn key(&self) -> (u8, &[u8], &[u8]) {
        (self.group, &self.folded, &self.name)
    }

    fn into_entry(self, fd: &OwnedFd, options: &ListOptions) -> Entry {
        let wanted = options.sizes.then(|| stat(fd, &self.name));
        let stat = wanted.and_then(rustix::io::Result::ok);
        Entry {
            name: OsString::from_vec(self.name),
            kind: self.kind,
            size: stat.and_then(|stat| u64::try_from(stat.st_size).ok()),
            modified: stat.and_then(|stat| modified(&stat)),
        }
    }
}

/// Calls `see` with each entry of the directory, in the file system's order; `buffer` is room for it.
pub(crate) fn each_entry(
    fd: &OwnedFd,
    cancel: &Cancel,
    buffer: &mut Vec<u8>,
    see: &mut dyn FnMut(&[u8], EntryKind),
) -> Result<()> {
    let mut entries = RawDir::new(fd, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        cancel.check()?;
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if let Some(kind) = kind_of(fd, name, entry.file_type()) {
            see(name, kind);
        }
    }
    Ok(())
}

/// Returns what an entry is, by its metadata where the directory does not say; `None` when it has
/// vanished.
fn kind_of(fd: &OwnedFd, name: &[u8], file_type: FileType) -> Option<EntryKind> {
    Some(match file_type {
        FileType::Directory => EntryKind::Dir,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        FileType::Unknown => match stat(fd, name) {
            Err(rustix::io::Errno::NOENT) => return None,
            Err(_) => EntryKind::Other,
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::Unknown => EntryKind::Other,
                file_type => return kind_of(fd, name, file_type),
            },
        },
        _ => EntryKind::Other,
    })
}

fn stat(fd: &OwnedFd, name: &[u8]) -> rustix::io::Result<Stat> {
    rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn modified(stat: &Stat) -> Option<SystemTime> {
    let nanos = Duration::from_nanos(stat.st_mtime_nsec);
    let seconds = Duration::from_secs(stat.st_mtime.unsigned_abs());
    match stat.st_mtime.cmp(&0) {
        Ordering::Less => SystemTime::UNIX_EPOCH.checked_sub(seconds)?,
        _ => SystemTime::UNIX_EPOCH.checked_add(seconds)?,
    }
    .checked_add(nanos)
}

fn group(order: Order, kind: EntryKind) -> u8 {
    match order {
        Order::Name | Order::Bytes => 0,
        Order::FoldersFirst => u8::from(kind != EntryKind::Dir),
    }
}

/// Compares two entries of a directory in an order.
pub(crate) fn compare(order: Order, a: (&[u8], EntryKind), b: (&[u8], EntryKind)) -> Ordering {
    let groups = group(order, a.1).cmp(&group(order, b.1));
    let folded = || match order {
        Order::Bytes => Ordering::Equal,
        Order::Name | Order::FoldersFirst if a.0.is_ascii() && b.0.is_ascii() => {
            let lower = u8::to_ascii_lowercase;
            a.0.iter().map(lower).cmp(b.0.iter().map(lower))
        }
        Order::Name | Order::FoldersFirst => {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            fold(order, a.0, &mut left);
            fold(order, b.0, &mut right);
            left.cmp(&right)
        }
    };
    groups.then_with(folded).then_with(|| a.0.cmp(b.0))
}

/// Writes the case-folded `name` into `folded`; bytes that are no UTF-8 fold to U+FFFD. By bytes
/// nothing is folded.
fn fold(order: Order, name: &[u8], folded: &mut Vec<u8>) {
    folded.clear();
    if order == Order::Bytes {
        return;
    }
    if name.is_ascii() {
        folded.extend(name.iter().map(u8::to_ascii_lowercase));
        return;
    }
    let text = String::from_utf8_lossy(name);
    let mut buffer = [0; 4];
    for character in text.chars().flat_map(char::to_lowercase) {
        folded.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    }
}

#[cfg(test)]
mod tests;
