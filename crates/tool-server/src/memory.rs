//! What a session was shown of each file, so that it overwrites nothing that it has not seen.
//!
//! It is bounded: 1,024 files, of each text up to 64 KiB, 4 MiB of text in all; what was used last
//! stays. Nothing else follows from it: what it has forgotten may be overwritten like a file that
//! was never read.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fs_core::{Version, Window};
use fs_sandbox::RealPlace;

/// How many files are remembered.
const MAX_FILES: usize = 1_024;
/// The longest text that is kept of a file, in bytes.
const MAX_TEXT: usize = 64 * 1024;
/// How many changes wait for the one before them.
const MAX_AHEAD: usize = 64;
/// How much text is kept in all, in bytes.
const MAX_TEXTS: usize = 4 * 1024 * 1024;

/// The files that a session knows.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Table>);

/// What the session knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// What it was when it was shown, or after the session's own last change.
    pub(crate) version: Version,
    /// What was shown, where it is kept.
    pub(crate) text: Option<Shown>,
    /// Whether the session has changed parts of it since the text was shown.
    pub(crate) is_edited: bool,
    /// Changes of its own that are known before those that they were made upon: calls of one session
    /// run side by side.
    ahead: Vec<(Version, Version)>,
}

/// A run of whole lines as they were shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The text.
    pub(crate) text: String,
    /// Its first line, counted from 1.
    pub(crate) first_line: u64,
    /// Whether it is all of the file.
    pub(crate) is_whole: bool,
}

#[derive(Debug, Default)]
struct Table {
    files: HashMap<RealPlace, Entry>,
    text_bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    known: Known,
    used: u64,
}

impl Memory {
    /// Returns what is known of a file.
    pub(crate) fn recall(&self, place: &RealPlace) -> Option<Known> {
        let table = self.table();
        table.files.get(place).map(|entry| entry.known.clone())
    }

    /// Returns the version that is known of a file.
    pub(crate) fn version(&self, place: &RealPlace) -> Option<Version> {
        let table = self.table();
        let entry = table.files.get(place)?;
        Some(entry.known.version.clone())
    }

    /// A window of the file is shown; it goes on from what was shown before, where it can.
    pub(crate) fn saw(&self, place: RealPlace, window: &Window) {
        let mut table = self.table();
        if table.knows(&place, window) {
            return;
        }
        table.change(place, |old| {
            let old = old.filter(|old| old.version == window.version && !old.is_edited);
            let text = joined(old.and_then(|old| old.text), window);
            Some(Known::new(window.version.clone(), text))
        });
    }

    /// The session was told of the file as it is, but of no whole line.
    pub(crate) fn heard(&self, place: RealPlace, version: Version) {
        self.table().change(place, |old| match old {
            Some(old) if old.version == version => Some(old),
            _ => Some(Known::new(version, None)),
        });
    }

    /// The session has written all of the file.
    pub(crate) fn wrote(&self, place: RealPlace, version: Version, text: &str) {
        let text = (text.len() <= MAX_TEXT).then(|| Shown {
            text: text.to_owned(),
            first_line: 1,
            is_whole: true,
        });
        self.table()
            .change(place, |_| Some(Known::new(version, text)));
    }

    /// The session has changed a part of the file, which was the version `before`. If that is not
    /// the known one, somebody else has changed it too, and that is still to be told.
    pub(crate) fn edited(&self, place: RealPlace, before: &Version, after: Version) {
        self.table().change(place, |old| {
            let mut known = old?;
            if known.ahead.len() < MAX_AHEAD {
                known.ahead.push((before.clone(), after));
            }
            known.catch_up();
            Some(known)
        });
    }

    /// The file is gone, or was replaced by what the session has not seen.
    pub(crate) fn forget(&self, place: RealPlace) {
        self.table().change(place, |_| None);
    }

    /// The file `from` has a copy at `to`. A weak version is that of one file only.
    pub(crate) fn copied(&self, from: &RealPlace, to: RealPlace) {
        let known = self.recall(from).filter(|known| !known.version.is_weak());
        self.table().change(to, |_| known);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change of the table is complete before anything could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    /// Returns how many lines there are.
    pub(crate) fn lines(&self) -> u64 {
        self.text.split_inclusive('\n').count() as u64
    }
}

impl Known {
    fn new(version: Version, text: Option<Shown>) -> Self {
        Self {
            version,
            text,
            is_edited: false,
            ahead: Vec::new(),
        }
    }

    /// Follows the session's own changes, as far as each was made upon the one before.
    fn catch_up(&mut self) {
        let next = |known: &Self| {
            let mut ahead = known.ahead.iter();
            ahead.position(|(before, _)| *before == known.version)
        };
        while let Some(index) = next(self) {
            (_, self.version) = self.ahead.swap_remove(index);
            self.is_edited = true;
        }
    }

    fn text_bytes(&self) -> usize {
        self.text.as_ref().map_or(0, |shown| shown.text.len())
    }
}

impl Table {
    /// Returns whether all that a window shows is known already.
    fn knows(&mut self, place: &RealPlace, window: &Window) -> bool {
        let Some(entry) = self.files.get_mut(place) else {
            return false;
        };
        let known = &entry.known;
        let is_whole = known.text.as_ref().is_some_and(|shown| shown.is_whole);
        if !is_whole || known.is_edited || known.version != window.version {
            return false;
        }
        self.clock += 1;
        entry.used = self.clock;
        true
    }

    fn change(&mut self, place: RealPlace, change: impl FnOnce(Option<Known>) -> Option<Known>) {
        let old = self.files.remove(&place).map(|entry| entry.known);
        self.text_bytes -= old.as_ref().map_or(0, Known::text_bytes);
        let Some(known) = change(old) else {
            return;
        };
        self.clock += 1;
        self.text_bytes += known.text_bytes();
        let used = self.clock;
        self.files.insert(place, Entry { known, used });
        if self.files.len() > MAX_FILES || self.text_bytes > MAX_TEXTS {
            self.make_room();
        }
    }

    /// Drops what was used least lately: a part at once, so that not every call has to look.
    fn make_room(&mut self) {
        let room = |used: usize, max: usize| if used > max { max / 4 * 3 } else { max };
        let files = room(self.files.len(), MAX_FILES);
        let texts = room(self.text_bytes, MAX_TEXTS);
        let places = self.files.iter();
        let mut places: Vec<_> = places
            .map(|(place, entry)| (entry.used, place.clone()))
            .collect();
        places.sort_unstable_by_key(|(used, _)| *used);
        for (_, place) in places {
            if self.files.len() > files {
                let dropped = self.files.remove(&place);
                self.text_bytes -= dropped.map_or(0, |entry| entry.known.text_bytes());
            } else if self.text_bytes > texts
                && let Some(entry) = self.files.get_mut(&place)
            {
                self.text_bytes -= entry.known.text_bytes();
                entry.known.text = None;
            }
        }
    }
}

/// Returns the text of a window, behind what was shown before it where the two touch.
fn joined(old: Option<Shown>, window: &Window) -> Option<Shown> {
    let Some(mut old) = old else {
        return shown(window);
    };
    if old.is_whole {
        return Some(old);
    }
    match shown(window) {
        Some(new) if new.is_whole => Some(new),
        Some(new) if old.first_line + old.lines() == new.first_line => {
            if old.text.len() + new.text.len() > MAX_TEXT {
                return Some(new);
            }
            old.text.push_str(&new.text);
            old.is_whole = old.first_line == 1 && window.eof;
            Some(old)
        }
        Some(new) => Some(new),
        None => Some(old),
    }
}

/// Returns the text of a window; `None` where it is too long, or is not that of whole lines.
fn shown(window: &Window) -> Option<Shown> {
    let goes_on_inside = window.next.is_some_and(|next| next.column > 1);
    if window.text.len() > MAX_TEXT || !window.cut_lines.is_empty() || goes_on_inside {
        return None;
    }
    let first_line = window.first_line.unwrap_or(1);
    Some(Shown {
        text: window.text.clone(),
        first_line,
        is_whole: first_line == 1 && window.eof,
    })
}

#[cfg(test)]
mod tests;
