//! Locks of this process.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns what a lock guards; nobody leaves it half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
