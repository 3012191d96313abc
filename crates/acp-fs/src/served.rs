//! What a session believes to be in its files: the text it was last served, or wrote itself.
//!
//! It is bounded, by files and by text; what was used last stays. Of a file that is forgotten
//! nothing is known, as of one that was never read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fs_core::Version;
use fs_sandbox::RealPlace;

/// How many files are remembered for a session.
const MAX_FILES: usize = 4_096;
/// How much text is kept for a session, in bytes.
const MAX_TEXTS: usize = 64 * 1024 * 1024;

/// The files that a session knows.
#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<Table>);

/// What a session believes of a file.
#[derive(Debug, Clone)]
pub(crate) struct Belief {
    /// The text of the whole document; `None` of a large file.
    pub(crate) text: Option<Arc<str>>,
    /// The version that the disk has if nobody else has written; `None` when the disk never held
    /// just that.
    pub(crate) version: Option<Version>,
}

#[derive(Debug, Default)]
struct Table {
    files: HashMap<RealPlace, (Belief, u64)>,
    texts: usize,
    clock: u64,
}

impl Served {
    /// Returns what the session believes of a file; `None` when it was never served, or it is
    /// forgotten.
    pub(crate) fn recall(&self, place: &RealPlace) -> Option<Belief> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.files.get(place).map(|(belief, _)| belief.clone())
    }

    /// Remembers what the session was served or has written.
    pub(crate) fn remember(&self, place: RealPlace, belief: Belief) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.forget(&place);
        table.clock += 1;
        table.texts += belief.bytes();
        let clock = table.clock;
        table.files.insert(place, (belief, clock));
        while table.files.len() > MAX_FILES || table.texts > MAX_TEXTS {
            let oldest = table.files.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(place, _)| place.clone()) else {
                break;
            };
            table.forget(&oldest);
        }
    }
}

impl Table {
    fn forget(&mut self, place: &RealPlace) {
        if let Some((belief, _)) = self.files.remove(place) {
            self.texts -= belief.bytes();
        }
    }
}

impl Belief {
    fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, |text| text.len())
    }
}

#[cfg(test)]
mod tests {
    use fs_core::RelPath;

    use super::*;

    fn place(name: &str) -> RealPlace {
        let path = RelPath::parse_escaped(name).unwrap();
        RealPlace { root: None, path }
    }

    fn belief(bytes: usize) -> Belief {
        let text = Some("x".repeat(bytes).into());
        Belief {
            text,
            version: None,
        }
    }

    #[test]
    fn what_was_used_first_is_forgotten_first() {
        let served = Served::default();
        served.remember(place("a"), belief(MAX_TEXTS / 2));
        served.remember(place("b"), belief(MAX_TEXTS / 2));
        served.remember(place("a"), belief(MAX_TEXTS / 2));
        served.remember(place("c"), belief(1));
        let kept = ["a", "b", "c"].map(|name| served.recall(&place(name)).is_some());
        assert_eq!(kept, [true, false, true]);
    }

    #[test]
    fn a_session_knows_so_many_files_and_no_more() {
        let served = Served::default();
        for index in 0..=MAX_FILES {
            served.remember(place(&index.to_string()), belief(0));
        }
        assert!(served.recall(&place("0")).is_none());
        assert!(served.recall(&place("1")).is_some());
    }
}
