//! How far long work has come, for whoever looks from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Two counters that the work moves and others read: what is done, and of how much.
///
/// Clones share the counters. What is counted is the work's own: bytes of a copy, entries of a walk.
///
/// ```
/// use fs_core::Progress;
/// let progress = Progress::default();
/// assert_eq!((progress.done(), progress.total()), (0, None));
/// let work = progress.clone();
/// work.set_total(10);
/// work.add(3);
/// assert_eq!((progress.done(), progress.total()), (3, Some(10)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    done: AtomicU64,
    /// 0 while it is not known.
    total: AtomicU64,
}

impl Progress {
    /// Counts `more` as done.
    pub fn add(&self, more: u64) {
        self.0.done.fetch_add(more, Ordering::Relaxed);
    }

    /// Says how much there is to do, once that is known.
    pub fn set_total(&self, total: u64) {
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// Returns how much is done.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Returns how much there is to do; `None` while that is not known.
    pub fn total(&self) -> Option<u64> {
        Some(self.0.total.load(Ordering::Relaxed)).filter(|total| *total > 0)
    }
}
