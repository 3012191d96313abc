//! What a session believes to be in its files: the text it was last served, or wrote itself.
//!
//! It is bounded, by files and by text; what was used last stays. Of a file that is forgotten
//! nothing is known, as of one that was never read.

use std::collections::HashMap;
use std::ops::Range;
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
    /// What it has been shown of another text, not yet all of it.
    pub(crate) shown: Option<Shown>,
}

/// Lines of a text that were shown to a session that knew another one.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) base: Arc<str>,
    pub(crate) text: Arc<str>,
    /// Counted from 0, in order and apart from each other.
    pub(crate) lines: Vec<Range<u64>>,
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
    pub(crate) fn of(text: Option<Arc<str>>, version: Option<Version>) -> Self {
        Self {
            text,
            version,
            shown: None,
        }
    }

    fn bytes(&self) -> usize {
        let shown = self.shown.as_ref();
        let shown = shown.map_or(0, |shown| shown.base.len() + shown.text.len());
        shown + self.text.as_ref().map_or(0, |text| text.len())
    }
}

impl Shown {
    /// Returns it with more lines of the same text.
    pub(crate) fn and(mut self, lines: Range<u64>) -> Self {
        self.lines.push(lines);
        self.lines.sort_by_key(|lines| lines.start);
        let mut apart: Vec<Range<u64>> = Vec::with_capacity(self.lines.len());
        for lines in self.lines {
            match apart.last_mut() {
                Some(last) if lines.start <= last.end => last.end = last.end.max(lines.end),
                _ => apart.push(lines),
            }
        }
        Self {
            lines: apart,
            ..self
        }
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
            shown: None,
        }
    }

    #[test]
    fn lines_that_were_shown_are_put_together() {
        let text: Arc<str> = "".into();
        let mut shown = Shown {
            base: Arc::clone(&text),
            text,
            lines: vec![],
        };
        for lines in [5..7, 0..2, 2..4, 6..9, 20..30, 1..3] {
            shown = shown.and(lines);
        }
        assert_eq!(shown.lines, [0..4, 5..9, 20..30]);
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
