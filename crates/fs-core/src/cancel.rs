//! Stopping work from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::problem::Problem;

/// A flag that stops the work that watches it; clones share the flag.
///
/// A flag that something else sets, such as the handler of a signal, becomes one by `From`.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// What stops this too.
    above: Option<Arc<Self>>,
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag, above: None }
    }
}

impl Cancel {
    /// Stops the work that watches this flag, for good.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work has been stopped.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self
                .above
                .as_ref()
                .is_some_and(|above| above.is_cancelled())
    }

    /// Returns a flag for a part of the work: whatever stops the whole stops the part.
    pub(crate) fn part(&self) -> Self {
        Self {
            flag: Arc::default(),
            above: Some(Arc::new(self.clone())),
        }
    }

    /// Returns an error once the work has been stopped.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(Problem::Cancelled.into())
        } else {
            Ok(())
        }
    }
}
