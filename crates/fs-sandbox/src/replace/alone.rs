//! One writer at a time, among processes too: a lock of the kernel on the file itself.

use std::thread;
use std::time::Duration;

use cap_std::fs::File;
use fs_core::{Cancel, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How often a lock that somebody else holds is asked for, a millisecond apart.
const TRIES: u32 = 300;

/// A file that no other workspace exchanges or rewrites, until this is dropped.
///
/// Other workspaces, of this process or another one, have locks of their own, and an exchange shows
/// its new file for a moment before it is known whether that may stay. Whoever exchanges a name holds
/// the file that has it and the file that gets it: so nobody builds on what may be taken back.
///
/// It is no more than good manners: where a file system has no locks, or somebody keeps one for long,
/// the work goes on without, and the exchange still loses nothing of a stranger.
#[derive(Debug)]
pub(super) struct Alone<'f>(Option<&'f File>);

impl<'f> Alone<'f> {
    /// Waits for the file.
    ///
    /// # Errors
    /// `cancelled`.
    pub(super) fn with(file: &'f File, cancel: &Cancel) -> Result<Self> {
        Ok(Self(hold(file, cancel)?.then_some(file)))
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            // A lock that stays goes with the handle.
            _ = flock(file, FlockOperation::Unlock);
        }
    }
}

/// Waits for the file and holds it until the handle is closed; returns whether it is held.
///
/// # Errors
/// `cancelled`.
pub(super) fn hold(file: &File, cancel: &Cancel) -> Result<bool> {
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::AGAIN) => thread::sleep(Duration::from_millis(1)),
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
        cancel.check()?;
    }
    Ok(false)
}
