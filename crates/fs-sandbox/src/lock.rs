//! One change to a file at a time.
//!
//! A change locks the name first, then the file that has it. The name, because a replaced file is
//! another file afterwards, and because a file that does not exist yet has nothing else; the file,
//! because it may have other names. Nobody who holds a file's lock waits for a name, and who needs
//! two names takes them in their order, so that no two can wait for each other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fs_core::{Cancel, Result};

/// How often somebody who waits looks whether the call was cancelled.
const PATIENCE: Duration = Duration::from_millis(20);

/// What is being changed, in this process; clones share the table.
///
/// It holds an entry for what is locked and nothing else. Who waits longest is next.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileLocks(Arc<Mutex<Table>>);

/// What is locked: device and inode, of the file or of the directory that holds the name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LockKey {
    /// A name, whatever has it.
    Name {
        /// The directory.
        dir: (u64, u64),
        /// The name in it.
        name: OsString,
    },
    /// A file, under whatever name.
    File {
        /// The file.
        id: (u64, u64),
    },
}

/// A held lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    locks: FileLocks,
    key: LockKey,
}

type Table = HashMap<LockKey, Queue>;

/// Those who wait for a key that somebody holds: tickets are handed out and served in order.
#[derive(Debug, Default)]
struct Queue {
    next: u64,
    serving: u64,
    gone: Vec<u64>,
    called: Arc<Condvar>,
}

impl FileLocks {
    /// Locks `key`, after those who asked before.
    ///
    /// # Errors
    /// `cancelled`, while waiting.
    pub(crate) fn lock(&self, key: LockKey, cancel: &Cancel) -> Result<FileLock> {
        let mut table = self.table();
        let (ticket, called) = match table.entry(key.clone()) {
            Entry::Vacant(free) => {
                free.insert(Queue::default());
                drop(table);
                return Ok(self.held(key));
            }
            Entry::Occupied(mut held) => held.get_mut().join(),
        };
        while table.get(&key).is_some_and(|queue| queue.serving < ticket) {
            if let Err(cancelled) = cancel.check() {
                if let Some(queue) = table.get_mut(&key) {
                    queue.gone.push(ticket);
                }
                return Err(cancelled);
            }
            let woken = called.wait_timeout(table, PATIENCE);
            table = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(table);
        Ok(self.held(key))
    }

    fn held(&self, key: LockKey) -> FileLock {
        let locks = self.clone();
        FileLock { locks, key }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change of the table is complete before anything could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, key: &LockKey) {
        let mut table = self.table();
        if let Some(queue) = table.get_mut(key)
            && !queue.call_next()
        {
            table.remove(key);
        }
    }
}

impl Queue {
    /// The holder has ticket 0.
    fn join(&mut self) -> (u64, Arc<Condvar>) {
        self.next += 1;
        (self.next, Arc::clone(&self.called))
    }

    /// Calls the next who still waits; returns whether there is one.
    fn call_next(&mut self) -> bool {
        self.serving += 1;
        while let Some(place) = self.gone.iter().position(|ticket| *ticket == self.serving) {
            self.gone.swap_remove(place);
            self.serving += 1;
        }
        self.called.notify_all();
        self.serving <= self.next
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        self.locks.release(&self.key);
    }
}

#[cfg(test)]
mod tests;
