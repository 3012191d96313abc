//! Listing one directory.

use std::ffi::OsString;
use std::time::SystemTime;

use cap_std::fs::Dir;

use crate::cancel::Cancel;
use crate::error::Result;

/// A row of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name as the file system has it.
    pub name: OsString,
    /// What it is; a link is a link, whatever it leads to.
    pub kind: EntryKind,
    /// The size in bytes; `None` when it could not be read.
    pub size: Option<u64>,
    /// The time of the last change of the content.
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
    /// The most entries to return; `None` for all.
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
    /// How many entries the directory has that `visible` admits.
    pub total: u64,
    /// Where to go on; `None` when no entry is left.
    pub next: Option<Position>,
}

/// Lists the directory, in O(limit) memory; entries for which `visible` is false do not exist.
pub fn list(
    _dir: &Dir,
    _options: &ListOptions,
    _visible: &mut dyn FnMut(&std::ffi::OsStr, EntryKind) -> bool,
) -> Result<Listing> {
    todo!()
}
