//! The store of one root: its log and its objects, in a directory of their own.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Dir, File};
use fs_core::{Result, escape_name};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::HistoryLimits;
use super::leftovers::Leftovers;
use super::log::{self, Entry, Locked, Seen, Totals};
use super::objects::{self, Source, Staged};
use super::record::Record;
use crate::replace::OldFile;

/// The part of a limit that is free again once a log is shortened: one sixteenth.
pub(super) const SLACK: u64 = 16;

/// The store of one root.
#[derive(Debug)]
pub(crate) struct Store {
    dir: Dir,
    objects: Dir,
    limits: HistoryLimits,
    seen: Mutex<Known>,
    leftovers: Leftovers,
}

/// What is known of the log, and what could not be dropped when it was last shortened.
#[derive(Debug, Default)]
struct Known {
    seen: Seen,
    stays: Totals,
}

impl Store {
    /// Opens the store of the root with that real path in `base`, and makes it if it is not there.
    ///
    /// # Errors
    /// `io`, `permission_denied`.
    pub(crate) fn open(base: &Dir, root: &Path, limits: HistoryLimits) -> Result<Self> {
        let name = name_of(root);
        let dir = private_dir(base, &name)?;
        let objects = private_dir(&dir, "objects")?;
        let alive = private_dir(&dir, "alive")?;
        name_root(&dir, root)?;
        Ok(Self {
            leftovers: Leftovers::new(dir.try_clone()?, alive),
            dir,
            objects,
            limits,
            seen: Mutex::default(),
        })
    }

    /// Returns whether there is a store of that root in `base`.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn is_there(base: &Dir, root: &Path) -> Result<bool> {
        match rustix::fs::statat(base, name_of(root), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes the temporary files that killed processes left below the root; returns how many.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn sweep(&self, root: &Dir) -> Result<u64> {
        self.leftovers.sweep(root, &self.objects)
    }

    /// Returns the list of temporary files of this process.
    pub(crate) fn leftovers(&self) -> &Leftovers {
        &self.leftovers
    }

    /// Returns the directory of the objects.
    pub(crate) fn objects(&self) -> &Dir {
        &self.objects
    }

    /// Keeps the bytes of a file under a staged name; `None` for what is too large to be copied.
    ///
    /// # Errors
    /// Those of [`Staged::keep`].
    pub(crate) fn keep(&self, name: String, source: &Source<'_>) -> Result<Option<Staged<'_>>> {
        Staged::keep(&self.objects, name, self.limits.bytes, source)
    }

    /// Opens an object.
    ///
    /// # Errors
    /// `not_found`, `io`.
    pub(crate) fn open_object(&self, address: &str) -> Result<OldFile> {
        objects::open(&self.objects, address)
    }

    /// Returns the entries, oldest first.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>> {
        log::read(&self.dir)
    }

    /// Writes down that a change begins, gives its objects their addresses, and drops what is over
    /// the limits. Returns the number of the entry.
    ///
    /// # Errors
    /// `io`; nothing is then written down.
    pub(crate) fn begin(&self, record: &Record, staged: &mut [Staged<'_>]) -> Result<u64> {
        let mut known = self.known();
        let log = Locked::of(&self.dir)?;
        let mut bytes = 0;
        for object in staged.iter_mut() {
            if object.place()? {
                bytes += object.size;
            }
        }
        let id = log.begin(record, bytes, &mut known.seen).inspect_err(|_| {
            staged.iter_mut().for_each(Staged::take_back);
        })?;
        if self.is_over(&known) {
            // What cannot be dropped now is dropped after a later change.
            drop(self.shorten(&log, &mut known));
        }
        Ok(id)
    }

    /// Writes an entry down again, with what was not known when it began.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn amend(&self, id: u64, record: &Record) -> Result<()> {
        Locked::of(&self.dir)?.amend(id, record)
    }

    /// Writes down that the change of a number took place.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn done(&self, id: u64) -> Result<()> {
        Locked::of(&self.dir)?.done(id)
    }

    /// Writes down that it did not, and takes its objects away again.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn void(&self, id: u64, staged: &mut [Staged<'_>]) -> Result<()> {
        let log = Locked::of(&self.dir)?;
        log.void(id)?;
        let entries = self.entries()?;
        let kept: HashSet<&str> = entries.iter().flat_map(|it| it.record.objects()).collect();
        for object in staged {
            if !kept.contains(object.address()) {
                object.take_back();
            }
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What is known is read again where it does not fit the log.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self, known: &Known) -> bool {
        let over = |now: u64, limit: u64, stays: u64| now > limit.max(stays + limit / SLACK);
        let now = known.seen.totals;
        over(now.entries, self.limits.entries, known.stays.entries)
            || over(now.bytes, self.limits.bytes, known.stays.bytes)
    }

    /// Drops the oldest entries until there is room again, but never the newest one of a file.
    fn shorten(&self, log: &Locked<'_>, known: &mut Known) -> Result<()> {
        let mut entries = self.entries()?;
        let next = known.seen.totals.next;
        let newest = newest_of_each(&entries);
        let mut objects = Objects::of(&self.objects, &entries);
        let mut left = Totals {
            next,
            entries: entries.len() as u64,
            bytes: objects.bytes(),
        };
        let limits = self.limits.with_slack();
        entries.retain(|entry| {
            let fits = left.entries <= limits.entries && left.bytes <= limits.bytes;
            if fits || newest.contains(&entry.id) {
                return true;
            }
            left.entries -= 1;
            left.bytes = left.bytes.saturating_sub(objects.release(entry));
            false
        });
        log.shorten(&entries, next)?;
        known.stays = left;
        let kept: HashSet<&str> = entries.iter().flat_map(|it| it.record.objects()).collect();
        objects::sweep(&self.objects, |address| kept.contains(address))
    }
}

/// The objects of the entries that are left: how many refer to each, and its size in bytes.
struct Objects(HashMap<String, (u64, u64)>);

impl Objects {
    fn of(objects: &Dir, entries: &[Entry]) -> Self {
        let mut all: HashMap<String, (u64, u64)> = HashMap::new();
        for address in entries.iter().flat_map(|entry| entry.record.objects()) {
            let size = || objects::size_of(objects, address).unwrap_or_default();
            let object = all.entry(address.to_owned());
            object.or_insert_with(|| (0, size())).0 += 1;
        }
        Self(all)
    }

    fn bytes(&self) -> u64 {
        self.0.values().map(|(_, size)| size).sum()
    }

    /// Returns how many bytes are free when an entry goes.
    fn release(&mut self, entry: &Entry) -> u64 {
        let mut freed = 0;
        for address in entry.record.objects() {
            if let Some((count, size)) = self.0.get_mut(address) {
                *count = count.saturating_sub(1);
                freed += if *count == 0 { *size } else { 0 };
            }
        }
        freed
    }
}

/// Returns the numbers of the entries that are the newest one of a name.
fn newest_of_each(entries: &[Entry]) -> HashSet<u64> {
    let mut newest = HashMap::new();
    for entry in entries {
        let names = entry.record.names.iter();
        newest.extend(names.map(|change| (change.path.as_str(), entry.id)));
    }
    newest.into_values().collect()
}

/// Opens a directory of `parent` that only we may use, and makes it if it is not there.
fn private_dir(parent: &Dir, name: &str) -> Result<Dir> {
    match rustix::fs::mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    rustix::fs::fchmod(&dir, Mode::RWXU)?;
    Ok(Dir::from(dir))
}

/// Writes the root's path into its store, for people.
fn name_root(dir: &Dir, root: &Path) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, "root", flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        Err(Errno::EXIST) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    let text = format!("{}\n", escape_name(OsStr::new(root)));
    Ok(rustix::io::write(&file, text.as_bytes()).map(|_| ())?)
}

/// Returns the name of the store of a root: a hash of its real path.
fn name_of(root: &Path) -> String {
    let hex = blake3::hash(root.as_os_str().as_bytes()).to_hex();
    hex.chars().take(32).collect()
}
