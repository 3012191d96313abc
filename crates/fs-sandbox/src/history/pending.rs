//! A change that is being made: its temporary names, the bytes it keeps, and its entry.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use cap_std::fs::{Dir, File};
use fs_core::{Cancel, ErrorKind, RelPath, Result};

use super::objects::{Share, Source, Staged, staged_name};
use super::random_token;
use super::record::{FileState, NameChange, Record, State, now};
use super::store::Store;
use crate::replace::{OldFile, Target};

/// A change to one name, or to the two of a copy or move.
///
/// It is the first thing that a change makes and the last that it drops. A store that fails costs
/// the entry and a warning, never the change.
#[derive(Debug)]
pub(crate) struct Pending {
    token: String,
    names: Vec<Name>,
    by: String,
    undoes: Option<u64>,
    /// The file that the first of two names gets while it still has the last one.
    second: Option<FileState>,
    temps: AtomicU32,
    kept: AtomicUsize,
    is_expected: AtomicBool,
    has_left: AtomicBool,
    failure: OnceLock<String>,
    loss: OnceLock<&'static str>,
}

/// A name that changes.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    /// Its path below its root.
    pub(crate) path: RelPath,
    /// The store of its root, where temporary names are written down.
    pub(crate) store: Option<Arc<Store>>,
    /// Whether the change becomes an entry.
    pub(crate) is_recorded: bool,
}

/// What had a name before, with its bytes where they are kept.
#[derive(Debug)]
pub(crate) struct Before<'p> {
    state: State,
    staged: Option<Staged<'p>>,
}

/// Which name of a change is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The only one, or the source.
    First,
    /// The target of a copy or move.
    Last,
}

/// A change whose entry is written down; dropped before it is done, it is taken back.
#[derive(Debug)]
#[must_use]
pub(crate) struct Begun<'p> {
    pending: &'p Pending,
    entries: Vec<(&'p Store, u64, Record)>,
    staged: Vec<Staged<'p>>,
}

impl Pending {
    pub(crate) fn new(names: Vec<Name>, by: &str, undoes: Option<u64>) -> Result<Self> {
        Ok(Self {
            token: random_token()?,
            names,
            by: by.to_owned(),
            undoes,
            second: None,
            temps: AtomicU32::new(0),
            kept: AtomicUsize::new(0),
            is_expected: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
            failure: OnceLock::new(),
            loss: OnceLock::new(),
        })
    }

    /// Returns the change in which the first name also gets the file that has had the last one.
    #[must_use]
    pub(crate) fn with_second_name(mut self, file: FileState) -> Self {
        self.second = Some(file);
        self
    }

    /// Returns the token and a number for the next temporary name, which is written down first.
    pub(crate) fn next_temp(&self) -> (&str, u32) {
        self.expect();
        (&self.token, self.temps.fetch_add(1, Ordering::Relaxed))
    }

    /// Writes down once that there may be temporary names, of files or of objects.
    fn expect(&self) {
        if !self.is_expected.swap(true, Ordering::Relaxed) {
            for name in &self.names {
                let parent = name.path.parent().unwrap_or_default();
                name.leftovers(|it| it.expect_in(&self.token, &parent));
            }
        }
    }

    /// Writes down that an inode may be removed with a temporary name of it.
    pub(crate) fn own(&self, id: (u64, u64)) {
        for name in &self.names {
            name.leftovers(|it| it.own(&self.token, id));
        }
    }

    /// Writes down that what has a name is about to be taken away from it.
    pub(crate) fn take(&self, taken: &OsStr) {
        for name in &self.names {
            name.leftovers(|it| it.take(&self.token, taken));
        }
    }

    /// Writes down that a link with this text is about to be made under a temporary name.
    pub(crate) fn link(&self, text: &OsStr) {
        for name in &self.names {
            name.leftovers(|it| it.link(&self.token, text));
        }
    }

    /// Says that a temporary name could not be removed.
    pub(crate) fn leave(&self) {
        self.has_left.store(true, Ordering::Relaxed);
    }

    /// Returns whether the change of an end becomes an entry.
    pub(crate) fn records(&self, end: End) -> bool {
        self.store(end).is_some()
    }

    /// Returns whether both ends have one store, so that a move between them is one entry.
    pub(crate) fn is_one_entry(&self) -> bool {
        match (self.store(End::First), self.store(End::Last)) {
            (Some(first), Some(last)) => std::ptr::eq(first, last),
            _ => false,
        }
    }

    /// Keeps the bytes of `old`, which has the name of `source`.
    ///
    /// # Errors
    /// `conflict` when the name is not `old` any more; `cancelled`.
    pub(crate) fn keep(
        &self,
        end: End,
        source: Target<'_>,
        old: &OldFile,
        share: Share,
        cancel: &Cancel,
    ) -> Result<Before<'_>> {
        let Some(store) = self.store(end) else {
            self.lose_secrets();
            return Ok(Before::nothing());
        };
        self.expect();
        let kept = FileState::of(old.file()).and_then(|state| {
            let name = staged_name(&self.token, self.kept.fetch_add(1, Ordering::Relaxed));
            let source = Source {
                target: source,
                old,
                state: &state,
                share,
                cancel,
            };
            let staged = store.keep(name, &source)?;
            Before::file(state, staged)
        });
        match kept {
            Ok(before) => {
                if before.staged.is_none() {
                    self.lose("the file is larger than all that the history may hold");
                }
                Ok(before)
            }
            Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Cancelled) => {
                Err(error)
            }
            Err(error) => {
                self.give_up(&error);
                Ok(Before::nothing())
            }
        }
    }

    /// Returns what an open file is, for the entry.
    pub(crate) fn state_of(&self, end: End, file: &File) -> State {
        if !self.records(end) {
            return State::Absent;
        }
        FileState::of(file).map_or_else(
            |error| {
                self.give_up(&error);
                State::Absent
            },
            State::File,
        )
    }

    /// Writes the entry down: what each name was before and is to be after.
    pub(crate) fn begin<'p>(&'p self, mut ends: Vec<(Before<'p>, State)>) -> Begun<'p> {
        let mut names: Vec<&Name> = self.names.iter().collect();
        if let Some(file) = &self.second {
            // As in a move: the name that loses its file comes before the one that gets it.
            names.reverse();
            ends.push((Before::nothing(), State::File(file.clone())));
        }
        let mut begun = Begun {
            pending: self,
            entries: Vec::new(),
            staged: Vec::new(),
        };
        if ends.len() > 1 && self.names.first().is_some_and(Name::is_secret) {
            // An undo of the other half would remove what was moved.
            self.lose_secrets();
            return begun;
        }
        let mut changes: Vec<(&Store, NameChange, Option<Staged<'p>>)> = Vec::new();
        for (name, (before, after)) in names.into_iter().zip(ends) {
            let store = name.store.as_deref().filter(|_| name.is_recorded);
            if let (Some(store), None) = (store, self.failure.get()) {
                changes.push((store, name.change(before.state, after), before.staged));
            }
        }
        while !changes.is_empty() {
            let (store, change, staged) = changes.remove(0);
            let mut record = self.record(change);
            let mut objects = Vec::from_iter(staged);
            if let Some(at) = changes
                .iter()
                .position(|(other, ..)| std::ptr::eq(*other, store))
            {
                let (_, change, staged) = changes.remove(at);
                record.names.push(change);
                objects.extend(staged);
            }
            match store.begin(&record, &mut objects) {
                Ok(id) => begun.entries.push((store, id, record)),
                Err(error) => self.give_up(&error),
            }
            begun.staged.extend(objects);
        }
        begun
    }

    /// Returns what could not be written down, in words.
    pub(crate) fn warning(&self) -> Option<String> {
        if let Some(loss) = self.loss.get() {
            return Some(format!("this cannot be undone: {loss}"));
        }
        let failure = self.failure.get()?;
        Some(format!(
            "this cannot be undone, the history could not be kept: {failure}"
        ))
    }

    fn record(&self, change: NameChange) -> Record {
        Record {
            at: now(),
            by: self.by.clone(),
            names: vec![change],
            undoes: self.undoes,
        }
    }

    fn store(&self, end: End) -> Option<&Store> {
        let name = match end {
            End::First => self.names.first(),
            End::Last => self.names.last(),
        };
        let name = name.filter(|name| name.is_recorded && self.failure.get().is_none())?;
        name.store.as_deref()
    }

    /// Goes on without an entry.
    pub(crate) fn give_up(&self, error: &fs_core::Error) {
        self.failure.get_or_init(|| error.to_string());
    }

    /// Says that there is no way back from a change of what usually holds a secret.
    fn lose_secrets(&self) {
        if self.names.iter().any(Name::is_secret) {
            self.lose("what usually holds secrets is not kept");
        }
    }

    /// Says that the change becomes an entry without the bytes that were there before, and why.
    pub(crate) fn lose(&self, reason: &'static str) {
        self.loss.get_or_init(|| reason);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if *self.is_expected.get_mut() && !*self.has_left.get_mut() {
            for name in &self.names {
                name.leftovers(|it| it.strike_off(&self.token));
            }
        }
    }
}

impl Name {
    fn is_secret(&self) -> bool {
        !self.is_recorded && self.store.is_some()
    }

    fn leftovers(&self, write: impl FnOnce(&super::leftovers::Leftovers)) {
        if let Some(store) = &self.store {
            write(store.leftovers());
        }
    }

    fn change(&self, before: State, after: State) -> NameChange {
        NameChange {
            path: self.path.to_string(),
            before,
            after,
        }
    }
}

impl<'p> Before<'p> {
    /// Nothing had the name.
    pub(crate) fn nothing() -> Self {
        Self::of(State::Absent)
    }

    /// This had it, and nothing of it needs to be kept.
    pub(crate) fn of(state: State) -> Self {
        let staged = None;
        Self { state, staged }
    }

    /// Returns what the name has while its file is rewritten.
    pub(crate) fn being_rewritten(&self) -> State {
        match &self.state {
            State::File(file) => State::File(file.being_rewritten()),
            State::Absent | State::Link(_) => State::Absent,
        }
    }

    /// As what it was before, where a copy of it was kept.
    pub(crate) fn known_as(mut self, old: &OldFile) -> Result<Self> {
        if let State::File(kept) = &mut self.state {
            let object = kept.object.take();
            *kept = FileState {
                object,
                ..FileState::of(old.file())?
            };
        }
        Ok(self)
    }

    fn file(mut state: FileState, staged: Option<Staged<'p>>) -> Result<Self> {
        state.object = staged.as_ref().map(Staged::reference).transpose()?;
        Ok(Self {
            state: State::File(state),
            staged,
        })
    }
}

impl Begun<'_> {
    /// Writes down that the change took place and what the name has since, which was not known, and
    /// returns the number of the entry as [`Begun::done`] does; `None` when that could not be done.
    pub(crate) fn done_as(mut self, after: &State) -> Option<u64> {
        let mut is_known = true;
        if let Some((store, id, record)) = self.entries.last_mut() {
            if let Some(change) = record.names.last_mut() {
                change.after = after.clone();
            }
            if let Err(error) = store.amend(*id, record) {
                // The entry says what the name does not have, so no undo knows it again.
                self.pending.give_up(&error);
                is_known = false;
            }
        }
        self.done().filter(|_| is_known)
    }

    /// Writes down that a move took place; on another file system the file is another one.
    pub(crate) fn done_at(self, dir: &Dir, name: &OsStr) -> Option<u64> {
        let (_, _, record) = self.entries.last()?;
        let Some(State::File(moved)) = record.names.last().map(|change| &change.after) else {
            return self.done();
        };
        match State::seen_at(dir, name) {
            Ok(State::File(now)) if !now.stamp.is_same_inode(moved.stamp) => {
                let moved = FileState {
                    stamp: now.stamp,
                    ..moved.clone()
                };
                self.done_as(&State::File(moved))
            }
            _ => self.done(),
        }
    }

    /// Writes down that the change took place, and returns the number of its entry, of two that of
    /// the last name; `None` where it has become none.
    pub(crate) fn done(mut self) -> Option<u64> {
        for object in &self.staged {
            object.close();
        }
        let mut last = None;
        for (store, id, _) in std::mem::take(&mut self.entries) {
            // An entry that is only begun counts where its file is what it says.
            drop(store.done(id));
            last = Some(id);
        }
        last
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        for (store, id, _) in &self.entries {
            drop(store.void(*id, &mut self.staged));
        }
    }
}
