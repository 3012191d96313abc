//! Reading directories ahead of the walk, in other threads: opening and reading them is most of what
//! a walk costs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use super::frame::{Budget, Opening, Reader, Reading};
use super::handles::OpenDir;
use super::rules::Rules;
use crate::cancel::Cancel;
use crate::list::BUFFER_BYTES;
use crate::lock::lock;
use crate::path::RelPath;

/// How many trees are read ahead at a time.
const MAX_TASKS: usize = 8;
/// How many entries may be held that have not been walked yet, when more are read; and how many a
/// directory may have that is read ahead.
const MAX_ENTRIES: usize = if cfg!(test) { 32 } else { 64 * 1024 };

/// A directory that is to be read, with those below it.
pub(super) struct Task {
    pub(super) above: Arc<OpenDir>,
    pub(super) path: RelPath,
    pub(super) rules: Option<Arc<Rules>>,
    /// How deep it lies; what lies deeper is walked sooner.
    pub(super) depth: usize,
    state: Mutex<State>,
    done: Condvar,
}

enum State {
    Waiting,
    Running,
    /// With how many entries were read; without an opening when it failed: then the walk tries itself.
    Done(Option<Opening>, usize),
    /// By the walk, which came before any thread.
    Taken,
}

/// The threads that read ahead; they end when this is dropped.
pub(super) struct Ahead<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    reader: &'env Reader<'env>,
    queue: &'env Queue,
    threads: usize,
    /// How many tasks have been given out and not taken back.
    tasks: usize,
}

/// What is to be read.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// How many entries have been read and not been walked.
    entries: AtomicUsize,
    /// Stops what is being read when the walk is over.
    over: Cancel,
}

#[derive(Default)]
struct Waiting {
    tasks: Vec<Arc<Task>>,
    is_closed: bool,
}

impl<'scope, 'env> Ahead<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        reader: &'env Reader<'env>,
        queue: &'env Queue,
    ) -> Self {
        Self {
            scope,
            reader,
            queue,
            threads: 0,
            tasks: 0,
        }
    }

    /// Returns whether another directory may be read ahead; starts the threads when first asked.
    pub(super) fn has_room(&mut self) -> bool {
        let wanted = self.reader.options.threads.saturating_sub(1);
        while self.threads < wanted {
            let (reader, queue) = (self.reader, self.queue);
            let started = Builder::new().spawn_scoped(self.scope, || queue.work(reader));
            if started.is_err() {
                break;
            }
            self.threads += 1;
        }
        self.threads > 0 && self.tasks < MAX_TASKS && !self.queue.is_full()
    }

    /// Gives out a task.
    pub(super) fn add(&mut self, task: Task) -> Arc<Task> {
        let task = Arc::new(task);
        lock(&self.queue.waiting).tasks.push(Arc::clone(&task));
        self.queue.changed.notify_one();
        self.tasks += 1;
        task
    }

    /// Takes a task back: what came of it, or `None` when the walk is to do it itself. While another
    /// thread is at it, others are done here.
    pub(super) fn take(&mut self, task: &Task, buffer: &mut Vec<u8>) -> Option<Opening> {
        self.tasks = self.tasks.saturating_sub(1);
        self.queue.withdraw(task);
        while task.is_running()
            && let Some(other) = self.queue.try_next()
        {
            other.run(self.reader, self.queue, buffer);
        }
        let (opening, entries) = task.take();
        self.queue.entries.fetch_sub(entries, Ordering::Relaxed);
        if entries > 0 {
            // Under the lock nobody is about to wait for this.
            let _waiting = lock(&self.queue.waiting);
            self.queue.changed.notify_all();
        }
        opening
    }
}

impl Drop for Ahead<'_, '_> {
    fn drop(&mut self) {
        self.queue.over.cancel();
        lock(&self.queue.waiting).is_closed = true;
        self.queue.changed.notify_all();
    }
}

impl Queue {
    /// Returns the queue of a walk that this flag stops.
    pub(super) fn new(cancel: &Cancel) -> Self {
        Self {
            waiting: Mutex::default(),
            changed: Condvar::new(),
            entries: AtomicUsize::new(0),
            over: cancel.part(),
        }
    }

    /// Returns whether enough has been read for now.
    fn is_full(&self) -> bool {
        self.entries.load(Ordering::Relaxed) >= MAX_ENTRIES
    }

    /// Reads one directory after another until the walk is over.
    fn work(&self, reader: &Reader<'_>) {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        while let Some(task) = self.next() {
            task.run(reader, self, &mut buffer);
        }
    }

    /// Waits for the next task; `None` when the walk is over.
    fn next(&self) -> Option<Arc<Task>> {
        let mut waiting = lock(&self.waiting);
        loop {
            if waiting.is_closed {
                return None;
            }
            if !self.is_full()
                && let Some(task) = waiting.pop()
            {
                return Some(task);
            }
            let woken = self.changed.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes out a task that no thread has begun, and with it the handle that it holds.
    fn withdraw(&self, task: &Task) {
        let is_other = |waiting: &Arc<Task>| !std::ptr::eq(Arc::as_ptr(waiting), task);
        lock(&self.waiting).tasks.retain(is_other);
    }

    /// Returns the next task, if there is one.
    fn try_next(&self) -> Option<Arc<Task>> {
        let mut waiting = lock(&self.waiting);
        if self.is_full() { None } else { waiting.pop() }
    }
}

impl Waiting {
    /// Takes out the task that the walk needs soonest: of the deepest the first.
    fn pop(&mut self) -> Option<Arc<Task>> {
        let tasks = self.tasks.iter().enumerate().rev();
        let (at, _) = tasks.max_by_key(|(_, task)| task.depth)?;
        Some(self.tasks.remove(at))
    }
}

impl Task {
    pub(super) fn new(
        above: Arc<OpenDir>,
        path: RelPath,
        rules: Option<Arc<Rules>>,
        depth: usize,
    ) -> Self {
        Self {
            above,
            path,
            rules,
            depth,
            state: Mutex::new(State::Waiting),
            done: Condvar::new(),
        }
    }

    fn run(&self, reader: &Reader<'_>, queue: &Queue, buffer: &mut Vec<u8>) {
        {
            let mut state = lock(&self.state);
            if !matches!(*state, State::Waiting) {
                return;
            }
            *state = State::Running;
        }
        let mut ending = Ending(self, None, 0);
        let mut budget = Budget::default();
        let mut reading = Reading {
            cancel: &queue.over.part(),
            buffer,
            most: MAX_ENTRIES,
        };
        ending.1 = reader.open_all(self, &mut reading, &mut budget).ok();
        ending.2 = budget.entries;
        queue.entries.fetch_add(budget.entries, Ordering::Relaxed);
    }

    fn is_running(&self) -> bool {
        matches!(*lock(&self.state), State::Running)
    }

    /// Returns what came of it and how many entries that holds, or nothing and takes it over.
    fn take(&self) -> (Option<Opening>, usize) {
        let mut state = lock(&self.state);
        while matches!(*state, State::Running) {
            let woken = self.done.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut *state, State::Taken) {
            State::Done(opening, entries) => (opening, entries),
            _ => (None, 0),
        }
    }
}

/// Tells who waits for a task that it is done, however it ended.
struct Ending<'t>(&'t Task, Option<Opening>, usize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *lock(&self.0.state) = State::Done(self.1.take(), self.2);
        self.0.done.notify_all();
    }
}
