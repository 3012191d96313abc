//! Temporary files that a killed process left: each process writes down where it makes some, and
//! the next start removes what the dead ones name.
//!
//! A process has a list of its own, locked as long as it lives. Lines are `+ TOKEN DIR` (names of
//! that token may stand in that directory), `i TOKEN DEVICE INODE` (this inode is ours to remove),
//! `l TOKEN TEXT` (a link with this text may stand there, a copy of another one) and `t TOKEN NAME`
//! (what had this name was taken away from it for a moment). The list is emptied whenever nothing is
//! under way.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Dir, File};
use fs_core::{FileBytes, RelPath, Result, escape_name, unescape_name};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags};

use super::log::Locked;
use super::random_token;
use crate::replace::temp;

/// The list of one process, for one root.
#[derive(Debug)]
pub(crate) struct Leftovers {
    store: Dir,
    alive: Dir,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    file: Option<(String, File)>,
    /// The changes that are under way, or have left something.
    tokens: HashSet<String>,
}

/// What a dead process says of one change.
#[derive(Debug, Default)]
struct Left {
    dirs: Vec<RelPath>,
    inodes: HashSet<(u64, u64)>,
    taken: Option<OsString>,
    link: Option<OsString>,
}

impl Leftovers {
    pub(crate) fn new(store: Dir, alive: Dir) -> Self {
        Self {
            store,
            alive,
            list: Mutex::default(),
        }
    }

    /// Writes down that the change with this token makes names in `dir`.
    pub(crate) fn expect_in(&self, token: &str, dir: &RelPath) {
        let mut list = self.list();
        list.tokens.insert(token.to_owned());
        self.write(&mut list, &format!("+ {token} {dir}\n"));
    }

    /// Writes down that an inode may be removed with the names of a token.
    pub(crate) fn own(&self, token: &str, (device, inode): (u64, u64)) {
        self.write(&mut self.list(), &format!("i {token} {device} {inode}\n"));
    }

    /// Writes down that what has a name is about to be taken away from it.
    pub(crate) fn take(&self, token: &str, name: &OsStr) {
        let name = escape_name(name);
        self.write(&mut self.list(), &format!("t {token} {name}\n"));
    }

    /// Writes down that a link with this text is about to be made.
    pub(crate) fn link(&self, token: &str, text: &OsStr) {
        let text = escape_name(text);
        self.write(&mut self.list(), &format!("l {token} {text}\n"));
    }

    /// Strikes a change off that has left nothing.
    pub(crate) fn strike_off(&self, token: &str) {
        let mut list = self.list();
        list.tokens.remove(token);
        if let (true, Some((_, file))) = (list.tokens.is_empty(), &list.file) {
            // A list that stays names nothing that is there.
            _ = rustix::fs::ftruncate(file, 0);
        }
    }

    /// Removes what dead processes left below `root`, and their lists; returns how many files.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn sweep(&self, root: &Dir, objects: &Dir) -> Result<u64> {
        let mut names = Vec::new();
        for entry in self.alive.entries()? {
            names.push(entry?.file_name());
        }
        let mut removed = 0;
        if names.is_empty() {
            return Ok(removed);
        }
        // New lists are locked before this lock is given back.
        let _log = Locked::of(&self.store)?;
        for name in names {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(file) = rustix::fs::openat(&self.alive, &name, flags, Mode::empty()) else {
                continue;
            };
            let file = File::from(file);
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let size = rustix::fs::fstat(&file)?.st_size;
            let bytes = FileBytes::read(&file, 0, u64::try_from(size).unwrap_or_default())?;
            for (token, left) in parse(&String::from_utf8_lossy(&bytes)) {
                removed += left.remove(root, &token);
                remove_staged(objects, &token);
            }
            _ = rustix::fs::unlinkat(&self.alive, &name, AtFlags::empty());
        }
        Ok(removed)
    }

    fn list(&self) -> MutexGuard<'_, List> {
        // A list is whole lines, whoever panicked.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line. A list that cannot be written is missed only by whoever is killed.
    fn write(&self, list: &mut List, line: &str) {
        if list.file.is_none() {
            list.file = self.open_list().ok();
        }
        if let Some((_, file)) = &list.file {
            _ = rustix::io::retry_on_intr(|| rustix::io::write(file, line.as_bytes()));
        }
    }

    fn open_list(&self) -> Result<(String, File)> {
        let _log = Locked::of(&self.store)?;
        let name = random_token()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = File::from(rustix::fs::openat(&self.alive, &*name, flags, mode)?);
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok((name, file))
    }
}

/// A process that ends well and has left nothing leaves no list either.
impl Drop for Leftovers {
    fn drop(&mut self) {
        let list = self.list.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some((name, _))) = (list.tokens.is_empty(), &list.file) {
            _ = rustix::fs::unlinkat(&self.alive, &**name, AtFlags::empty());
        }
    }
}

impl Left {
    /// Removes the names of `token`, and returns how many; one whose file nobody knows stays.
    fn remove(&self, root: &Dir, token: &str) -> u64 {
        let mut removed = 0;
        for dir in &self.dirs {
            let Some(dir) = open_dir(root, dir) else {
                continue;
            };
            let entries = dir.entries().into_iter().flatten().flatten();
            let names: Vec<_> = entries
                .map(|entry| entry.file_name())
                .filter(|name| temp::is_of(name, token))
                .collect();
            removed += names
                .iter()
                .map(|name| self.remove_one(&dir, name))
                .sum::<u64>();
        }
        removed
    }

    fn remove_one(&self, dir: &Dir, name: &OsStr) -> u64 {
        let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return 0;
        };
        let is_ours = self.inodes.contains(&(stat.st_dev, stat.st_ino));
        let removed = if is_ours {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())
        } else if let (Some(taken), true) = (&self.taken, temp::is_taken(name)) {
            // It was not known whether that may go: it gets its name back, unless that is in use.
            rustix::fs::renameat_with(dir, name, dir, &**taken, RenameFlags::NOREPLACE)
        } else if is_nobodys(&stat) || self.is_copied_link(dir, name, &stat) {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())
        } else {
            return 0;
        };
        u64::from(removed.is_ok())
    }
}

impl Left {
    /// Returns whether it is a link with the text of one that was to be copied: nothing is lost with it.
    fn is_copied_link(&self, dir: &Dir, name: &OsStr, stat: &rustix::fs::Stat) -> bool {
        FileType::from_raw_mode(stat.st_mode) == FileType::Symlink
            && rustix::fs::readlinkat(dir, name, Vec::new())
                .is_ok_and(|text| self.link.as_deref() == Some(OsStr::from_bytes(text.as_bytes())))
    }
}

/// Returns whether nothing is lost with one name of the file: it has another one, or no bytes.
fn is_nobodys(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && (stat.st_nlink > 1 || stat.st_size == 0)
}

fn parse(list: &str) -> HashMap<String, Left> {
    let mut all: HashMap<String, Left> = HashMap::new();
    for line in list.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(kind), Some(token), Some(rest)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let left = all.entry(token.to_owned()).or_default();
        match kind {
            "+" => left.dirs.extend(RelPath::parse_escaped(rest)),
            "i" => left.inodes.extend(inode(rest)),
            "l" => left.link = Some(unescape_name(rest).into_owned()),
            "t" => left.taken = Some(unescape_name(rest).into_owned()),
            _ => {}
        }
    }
    all
}

fn inode(text: &str) -> Option<(u64, u64)> {
    let (device, inode) = text.split_once(' ')?;
    Some((device.parse().ok()?, inode.parse().ok()?))
}

/// Opens a directory below `root` name by name; no link is followed.
fn open_dir(root: &Dir, path: &RelPath) -> Option<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = |dir: &Dir, name: &OsStr| {
        let opened = rustix::fs::openat(dir, name, flags, Mode::empty());
        opened.map(Dir::from).ok()
    };
    let top = open(root, OsStr::new("."))?;
    path.names().try_fold(top, |dir, name| open(&dir, name))
}

fn remove_staged(objects: &Dir, token: &str) {
    let entries = objects.entries().into_iter().flatten().flatten();
    for name in entries.map(|entry| entry.file_name()) {
        let is_its = |name: &str| name.starts_with(&format!(".{token}-"));
        if name.to_str().is_some_and(is_its) {
            _ = rustix::fs::unlinkat(objects, &name, AtFlags::empty());
        }
    }
}
