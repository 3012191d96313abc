//! Many files looked into at once: one thread walks, the others look, and the hits come out as if
//! one had done it all.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use cap_std::fs::{Dir, File};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::body::Watch;
use super::collect::{Collector, Share};
use super::filter::Filter;
use super::sink::Runs;
use super::{Cut, Found, Query};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::list::{EntryKind, Order};
use crate::lock::lock;
use crate::path::RelPath;
use crate::skip::Skip;
use crate::walk::{OpenDir, Sight, Visited, WalkOptions, counts, open_file, walk_open};

/// How many files a thread takes at a time, and how much else it is told of with them.
const BATCH_FILES: usize = 16;
const BATCH_EVENTS: usize = 1024;
/// How many batches wait for a thread: each of their files may hold a directory's handle.
const WAITING_BATCHES: usize = 2;

/// A way to look into files; each thread has one of its own.
pub(super) trait Examine {
    /// Returns what is found in a file.
    fn examine(&mut self, subject: &Subject<'_>) -> Examined;
}

/// An open regular file.
pub(super) struct Subject<'s> {
    pub(super) file: File,
    pub(super) size: u64,
    pub(super) path: &'s dyn Fn() -> RelPath,
}

/// What to look for, and by what.
pub(super) struct Job<'j, E> {
    pub(super) query: &'j Query,
    pub(super) sight: &'j dyn Sight,
    pub(super) watch: &'j Watch,
    /// Says of a path whether the file is worth a look.
    pub(super) wants: fn(&RelPath) -> bool,
    /// Makes what a thread looks by.
    pub(super) make: &'j (dyn Fn() -> E + Sync),
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Examined {
    pub(super) runs: Runs,
    pub(super) encoding: Option<Encoding>,
    /// Why it was passed over, or not looked into to its end.
    pub(super) skip: Option<Skip>,
}

impl Examined {
    /// Returns what is found in a file that is passed over.
    pub(super) fn skipped(skip: Skip) -> Self {
        Self {
            skip: Some(skip),
            ..Self::default()
        }
    }
}

/// Searches the files below `start`.
pub(super) fn search<E: Examine>(root: &Dir, start: &RelPath, job: &Job<'_, E>) -> Result<Found> {
    let filter = Filter::new(job.query, start)?;
    let options = WalkOptions {
        order: Order::Bytes,
        ..job.query.walk.clone()
    };
    let (sender, receiver) = sync_channel(WAITING_BATCHES);
    let shared = Shared {
        job,
        asks_of_files: job.sight.asks_of_files(),
        receiver: Mutex::new(receiver),
        collector: Mutex::new(Collector::new(job.query)),
        last_wanted: AtomicUsize::new(usize::MAX),
        ended_early: AtomicBool::new(false),
        no_handles: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let mut feed = Feed::new(&shared, &filter, scope, sender);
        let walked = walk_open(root, start, &options, job.sight, &mut |entry| {
            feed.visit(entry)
        });
        feed.finish();
        walked
    })?;
    shared.into_found()
}

/// What the threads of a search share.
struct Shared<'s, E> {
    job: &'s Job<'s, E>,
    asks_of_files: bool,
    receiver: Mutex<Receiver<Batch>>,
    collector: Mutex<Collector>,
    /// The last batch that can still matter.
    last_wanted: AtomicUsize,
    ended_early: AtomicBool,
    no_handles: AtomicBool,
}

/// A stretch of the walk.
#[derive(Debug, Default)]
struct Batch {
    index: usize,
    files: usize,
    events: Vec<Event>,
}

#[derive(Debug)]
enum Event {
    File(Arc<OpenDir>, OsString),
    Skipped(Skip),
    Unreadable(RelPath),
}

impl<E: Examine> Shared<'_, E> {
    /// Takes batches until there are no more.
    fn work(&self) {
        let mut examine = (self.job.make)();
        loop {
            let batch = lock(&self.receiver).recv();
            let Ok(batch) = batch else { return };
            self.look_into(batch, &mut examine);
        }
    }

    fn look_into(&self, batch: Batch, examine: &mut E) {
        if self.is_done(batch.index) {
            return;
        }
        let mut share = Share::default();
        for event in batch.events {
            if self.is_over() || share.is_full(self.job.query) {
                break;
            }
            match event {
                Event::Skipped(skip) => share.skipped.add(skip),
                Event::Unreadable(path) => share.add_unreadable(path),
                Event::File(dir, name) => self.look_into_file(&dir, &name, examine, &mut share),
            }
        }
        let last_wanted = lock(&self.collector).add(batch.index, share);
        self.last_wanted.fetch_min(last_wanted, Ordering::Relaxed);
    }

    fn look_into_file(&self, dir: &OpenDir, name: &OsStr, examine: &mut E, share: &mut Share) {
        let path = || {
            let mut path = dir.path.clone();
            path.push(name);
            path
        };
        let examined = match self.open(dir, name, &path) {
            Ok(Some(subject)) => {
                share.files += 1;
                examine.examine(&subject)
            }
            Ok(None) => return,
            Err(skip) => Examined::skipped(skip),
        };
        if self.is_over() && examined.skip.is_some() {
            // Whatever broke off was our own end.
            return;
        }
        share.take(examined, path);
    }

    /// Opens a file; `None` when it has vanished.
    fn open<'p>(
        &self,
        dir: &OpenDir,
        name: &OsStr,
        path: &'p dyn Fn() -> RelPath,
    ) -> Result<Option<Subject<'p>>, Skip> {
        let handle = match open_file(&dir.handle, name) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => {
                if matches!(errno, Errno::MFILE | Errno::NFILE) {
                    self.no_handles.store(true, Ordering::Relaxed);
                }
                return Err(Skip::Unreadable);
            }
        };
        let stat = rustix::fs::fstat(&handle).map_err(|_| Skip::Unreadable)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Skip::Special);
        }
        let device = stat.st_dev;
        let asks = device != dir.device || self.asks_of_files;
        if asks && !self.job.sight.admits(&path(), handle.as_fd(), device) {
            return Err(Skip::Denied);
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        if size > self.job.query.max_file_bytes {
            return Err(Skip::TooLarge);
        }
        Ok(Some(Subject {
            file: File::from_std(handle.into()),
            size,
            path,
        }))
    }

    /// Returns whether the batch of this number cannot matter any more.
    fn is_done(&self, index: usize) -> bool {
        index > self.last_wanted.load(Ordering::Relaxed) || self.is_over()
    }

    fn is_over(&self) -> bool {
        let over = self.no_handles.load(Ordering::Relaxed) || self.job.watch.is_over();
        if over {
            self.ended_early.store(true, Ordering::Relaxed);
        }
        over
    }

    fn into_found(self) -> Result<Found> {
        self.job.watch.cancel.check()?;
        if self.no_handles.into_inner() {
            return Err(Errno::MFILE.into());
        }
        let collector = self.collector.into_inner();
        let mut found = collector
            .unwrap_or_else(PoisonError::into_inner)
            .into_found(self.job.query);
        if found.cut.is_none() && self.ended_early.into_inner() {
            found.cut = Some(Cut::Time);
        }
        Ok(found)
    }
}

/// Gathers what the walk comes by into batches, and hands these out.
struct Feed<'scope, 'env, 's, E> {
    shared: &'env Shared<'s, E>,
    filter: &'env Filter,
    scope: &'scope Scope<'scope, 'env>,
    sender: SyncSender<Batch>,
    threads: usize,
    batch: Batch,
    /// For when this thread does the work itself.
    own: Option<E>,
}

impl<'scope, 'env, 's, E: Examine> Feed<'scope, 'env, 's, E> {
    fn new(
        shared: &'env Shared<'s, E>,
        filter: &'env Filter,
        scope: &'scope Scope<'scope, 'env>,
        sender: SyncSender<Batch>,
    ) -> Self {
        Self {
            shared,
            filter,
            scope,
            sender,
            threads: 0,
            batch: Batch::default(),
            own: None,
        }
    }

    fn visit(&mut self, entry: &Visited<'_>) -> ControlFlow<()> {
        if self.shared.is_done(self.batch.index) {
            return ControlFlow::Break(());
        }
        if let Some(event) = self.event(entry) {
            self.batch.files += usize::from(matches!(event, Event::File(..)));
            self.batch.events.push(event);
        }
        if self.batch.files == BATCH_FILES || self.batch.events.len() == BATCH_EVENTS {
            self.start_threads();
            self.hand_out();
        }
        ControlFlow::Continue(())
    }

    fn event(&self, entry: &Visited<'_>) -> Option<Event> {
        if let Some(skip) = entry.skip {
            return match skip {
                Skip::Unreadable => Some(Event::Unreadable(entry.path.clone())),
                _ => counts(skip, entry.name).then_some(Event::Skipped(skip)),
            };
        }
        let wants = self.shared.job.wants;
        if entry.kind == EntryKind::Dir || !self.filter.admits(entry.path) || !wants(entry.path) {
            return None;
        }
        Some(match entry.kind {
            EntryKind::Link => Event::Skipped(Skip::Link),
            EntryKind::File => Event::File(Arc::clone(entry.dir?), entry.name.to_owned()),
            EntryKind::Other | EntryKind::Dir => Event::Skipped(Skip::Special),
        })
    }

    /// Hands out the last batch, and lets the threads end once they have done theirs.
    fn finish(mut self) {
        self.hand_out();
    }

    /// Starts the threads, unless they run; a search of a few files needs none.
    fn start_threads(&mut self) {
        let shared = self.shared;
        while self.threads < shared.job.query.threads {
            let started = Builder::new().spawn_scoped(self.scope, || shared.work());
            if started.is_err() {
                return;
            }
            self.threads += 1;
        }
    }

    fn hand_out(&mut self) {
        let next = Batch {
            index: self.batch.index + 1,
            ..Batch::default()
        };
        let batch = std::mem::replace(&mut self.batch, next);
        let unsent = match self.threads {
            0 => Some(batch),
            _ => self.sender.send(batch).err().map(|unsent| unsent.0),
        };
        let Some(batch) = unsent else { return };
        let own = self.own.get_or_insert_with(|| (self.shared.job.make)());
        self.shared.look_into(batch, own);
    }
}
