//! Undo: a change is taken back if nobody has written since.

use std::sync::Arc;

use fs_core::{Cancel, Error, ErrorKind, Problem, RelPath, Result, Version, unescape_name};
use rustix::fs::Mode;

use super::log::Entry;
use super::nothing;
use super::query::{self, Subject};
use super::record::{FileState, NameChange, State};
use super::steps::{check_chain, stands_for, steps};
use super::store::Store;
use crate::lock::FileLock;
use crate::remove::RemoveOptions;
use crate::replace::{self, OldFile, Restored, Target};
use crate::resolve::{Follow, Missing, Place, Root};
use crate::rights::{OpenFlags, Operation, Rights, needed};
use crate::workspace::Workspace;
use crate::write::{HardLinks, Held, UpdateOptions};

/// How to undo.
#[derive(Debug, Clone, Default)]
pub struct UndoOptions {
    /// Back to what was there before this entry; by default the newest change goes that was not
    /// undone yet. The number of an undo takes that back.
    pub entry: Option<u64>,
    /// Refuses (`conflict`) a file that is not this version.
    pub if_version: Option<Version>,
    /// Stops the work between two changes.
    pub cancel: Cancel,
}

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The entries that were taken back, newest first.
    pub entries: Vec<u64>,
    /// What became of the names; the last change that was taken back comes last.
    pub names: Vec<Restoration>,
    /// What was done but could not be made sure.
    pub warnings: Vec<String>,
}

/// What became of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// Its link-free path below its root.
    pub path: RelPath,
    /// What has it now; `None` for nothing.
    pub now: Option<super::HistoryFile>,
}

/// A step of an undo: an entry, with all that its store knows.
pub(super) struct Step<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) root: &'a Arc<Root>,
    pub(super) store: &'a Store,
    pub(super) entries: &'a [Entry],
    pub(super) entry: &'a Entry,
    pub(super) cancel: &'a Cancel,
}

impl Workspace {
    /// Takes back the newest change of a file that was not undone yet, or all down to an entry.
    ///
    /// A file gets its exact bytes, mode and attributes back, a name that was new goes, one that was
    /// removed comes back, and what was moved moves back. Each step is a change of its own, so it can
    /// be undone by its number. Several steps are checked before the first one is made.
    ///
    /// Needs what the changes themselves would need: [`Rights::EDIT`](crate::Rights::EDIT), and
    /// [`Rights::DELETE`](crate::Rights::DELETE) where a name goes.
    ///
    /// # Errors
    /// `not_found` when there is nothing to undo, or its bytes are not kept any more; `conflict` when
    /// somebody has written to the file since; those of the change that it takes. The file is then as
    /// it was before the step that failed.
    pub fn undo(&self, path: &str, options: &UndoOptions) -> Result<Undone> {
        let undone = self.undo_all(path, options);
        undone.map_err(|error| error.at(path))
    }

    fn check_version(&self, path: &str, options: &UndoOptions) -> Result<()> {
        let Some(wanted) = &options.if_version else {
            return Ok(());
        };
        let need = needed(Operation::Update, OpenFlags::NONE);
        let place = self.locate(path, need, Follow::Last)?;
        let file = OldFile::open(place.target())?.ok_or(Problem::Conflict)?;
        if file.version()? == *wanted {
            return Ok(());
        }
        Err(Problem::Conflict.into())
    }

    fn undo_all(&self, path: &str, options: &UndoOptions) -> Result<Undone> {
        let need = needed(Operation::Update, OpenFlags::NONE);
        let (subject, all, ids) = self.newest_steps(self.subjects(path, need)?, options.entry)?;
        check_chain(&all, &ids)?;
        self.check_names(&subject.root, &all, &ids)?;
        self.check_version(path, options)?;
        let mut undone = Undone {
            entries: Vec::new(),
            names: Vec::new(),
            warnings: Vec::new(),
        };
        for id in ids {
            options.cancel.check()?;
            let entries = self.made_changes(&subject.root, &subject.store)?;
            let entry = entries.iter().find(|entry| entry.id == id);
            let step = Step {
                workspace: self,
                root: &subject.root,
                store: &subject.store,
                entries: &entries,
                entry: entry.ok_or_else(|| nothing("the entry is gone"))?,
                cancel: &options.cancel,
            };
            undone.warnings.extend(step.take_back()?);
            undone.entries.push(id);
            undone.names = step.restorations();
        }
        Ok(undone)
    }

    /// Checks that all names of these entries lie in the scope, before the first one is taken back.
    fn check_names(&self, root: &Root, entries: &[Entry], ids: &[u64]) -> Result<()> {
        let wanted = entries.iter().filter(|entry| ids.contains(&entry.id));
        for change in wanted.flat_map(|entry| &entry.record.names) {
            self.check_scope(root, &RelPath::parse_escaped(&change.path)?)?;
        }
        Ok(())
    }

    /// Returns which of several files is meant, with all entries and those that are to be taken back:
    /// the file that was changed last.
    fn newest_steps(
        &self,
        subjects: Vec<Subject>,
        to: Option<u64>,
    ) -> Result<(Subject, Vec<Entry>, Vec<u64>)> {
        let mut found = None;
        let mut failure = None;
        let mut newest = 0;
        for subject in subjects {
            let entries = self.made_changes(&subject.root, &subject.store)?;
            match steps(&entries, &subject.path, to) {
                Ok(ids) => {
                    let changed = |id: &u64| entries.iter().find(|entry| entry.id == *id);
                    let at = ids
                        .first()
                        .and_then(changed)
                        .map_or(0, |entry| entry.record.at);
                    if found.is_none() || at > newest {
                        newest = at;
                        found = Some((subject, entries, ids));
                    }
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        found.ok_or_else(|| failure.unwrap_or_else(|| nothing("no file is named")))
    }

    /// Returns the entries of a store, oldest first, without those of changes that were begun and
    /// never made: who began them was killed, and what they were to change is as it was.
    ///
    /// # Errors
    /// `io`.
    pub(super) fn made_changes(&self, root: &Arc<Root>, store: &Store) -> Result<Vec<Entry>> {
        let entries = store.entries()?;
        let unmade = |(at, entry): &(usize, &Entry)| {
            let later = entries.get(at + 1..).unwrap_or_default();
            let names = entry.record.names.iter();
            let is_unmade = |change| self.is_unmade(root, &entries, later, change);
            !entry.is_done && were_not_made(entry, names.map(is_unmade))
        };
        let made = entries.iter().enumerate().filter(|each| !unmade(each));
        Ok(made.map(|(_, entry)| entry.clone()).collect())
    }

    /// Returns whether a name went on as it was before the change: where the next one found it or, if
    /// there is none, now.
    fn is_unmade(
        &self,
        root: &Arc<Root>,
        entries: &[Entry],
        later: &[Entry],
        change: &NameChange,
    ) -> bool {
        let next = later.iter().find_map(|entry| entry.change_of(&change.path));
        let state = match (next, RelPath::parse_escaped(&change.path)) {
            (Some(next), _) => Ok(next.before.clone()),
            (None, Ok(path)) => self.state_now(root, &path),
            (None, Err(error)) => Err(error),
        };
        state.is_ok_and(|state| {
            let is = |wanted| stands_for(entries, &change.path, &state, wanted);
            let after = change.after.file();
            let is_open = after.is_some_and(FileState::is_being_rewritten);
            is(&change.before) && (is_open || !is(&change.after))
        })
    }

    fn state_now(&self, root: &Arc<Root>, path: &RelPath) -> Result<State> {
        // The change itself asks for its rights; this is only to know the file again.
        let all = self.unscoped();
        match all.locate_below(root, path, Rights::NONE, Missing::Refuse) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::Absent),
            place => state_at(&place?),
        }
    }
}

impl Step<'_> {
    /// Takes the entry back and returns what could not be made sure.
    fn take_back(&self) -> Result<Vec<String>> {
        match self.entry.record.names.as_slice() {
            [change] => self.put_back(change),
            [source, target] => self.move_back(source, target),
            _ => Err(nothing("the entry cannot be read")),
        }
    }

    /// Gives one name what it had before.
    pub(super) fn put_back(&self, change: &NameChange) -> Result<Vec<String>> {
        let path = RelPath::parse_escaped(&change.path)?;
        match &change.before {
            State::Absent => self.remove(&path, &change.after),
            State::Link(text) => self.restore_link(&path, text, &change.after),
            State::File(file) => self.restore(&path, file, &change.after),
        }
    }

    fn remove(&self, path: &RelPath, after: &State) -> Result<Vec<String>> {
        let need = needed(Operation::Remove, OpenFlags::NONE);
        let place = self
            .workspace
            .locate_below(self.root, path, need, Missing::Refuse)?;
        let (place, _name) = self.locked(place, path, after)?;
        let pending = self.workspace.pending(&[&place], Some(self.entry.id))?;
        let options = RemoveOptions {
            if_version: after.file().and_then(FileState::strong_version),
            cancel: self.cancel.clone(),
        };
        self.workspace.remove_as(&place, &pending, &options)?;
        Ok(Vec::from_iter(pending.warning()))
    }

    /// Locks a name and returns it as it is then, if that still is what is expected.
    fn locked(
        &self,
        mut place: Place,
        path: &RelPath,
        expected: &State,
    ) -> Result<(Place, FileLock)> {
        let key = place.lock_key()?;
        let name = self.workspace.locks().lock(key, self.cancel)?;
        place.look_again()?;
        self.check_still(&place, path, expected)?;
        Ok((place, name))
    }

    fn restore_link(&self, path: &RelPath, text: &str, after: &State) -> Result<Vec<String>> {
        let (place, _name) = self.locked(self.place_to_fill(path)?, path, after)?;
        let pending = self.workspace.pending(&[&place], Some(self.entry.id))?;
        replace::restore_link(place.target(), &unescape_name(text), &pending)
            .map_err(taken_is_conflict)?;
        Ok(Vec::from_iter(pending.warning()))
    }

    fn restore(&self, path: &RelPath, file: &FileState, after: &State) -> Result<Vec<String>> {
        let mut restored = self.kept(file)?;
        let place = self.place_to_fill(path)?;
        let options = UpdateOptions {
            hard_links: hard_links(file, after),
            cancel: self.cancel.clone(),
            ..UpdateOptions::default()
        };
        let held = Held::of(self.workspace, place, &options)?;
        self.check_still(held.place(), path, after)?;
        let narrowed = restored.narrow(narrowed_since(&state_at(held.place())?, after));
        let pending = held.pending(Some(self.entry.id))?;
        let replaced = held.restore(&restored, &pending);
        restored.forget(replaced.as_ref().err());
        let mut warnings = replaced.map_err(taken_is_conflict)?.warnings;
        warnings.extend(narrowed);
        Ok(warnings)
    }

    /// Returns what the history has kept of a file.
    pub(super) fn kept<'f>(&'f self, file: &'f FileState) -> Result<Restored<'f>> {
        let object = file.object.as_ref();
        let object = object.ok_or_else(|| nothing("the bytes were not kept"))?;
        let gone = |error: Error| match error.kind() {
            ErrorKind::NotFound => nothing("the bytes are not kept any more"),
            _ => error,
        };
        let opened = self.store.open_object(&object.address).map_err(gone)?;
        if !file.is_kept_in(&FileState::of(opened.file())?) {
            return Err(nothing("somebody has written to the bytes that were kept"));
        }
        Ok(Restored {
            kept: Target {
                dir: self.store.objects(),
                name: object.address.as_ref(),
            },
            object: opened,
            mode: Mode::from_raw_mode(file.mode),
        })
    }

    /// Returns the place of a name that gets something back, in directories that may be gone.
    pub(super) fn place_to_fill(&self, path: &RelPath) -> Result<Place> {
        let need = needed(Operation::Update, OpenFlags::NONE);
        self.workspace
            .locate_below(self.root, path, need, Missing::MakeParents)
    }

    pub(super) fn check_still(
        &self,
        place: &Place,
        path: &RelPath,
        expected: &State,
    ) -> Result<()> {
        if self.is_still(&state_at(place)?, path, expected) {
            return Ok(());
        }
        Err(Problem::ChangedSince.into())
    }

    /// Returns whether a name has what is expected, or what an undo gave it in place of that.
    fn is_still(&self, now: &State, path: &RelPath, expected: &State) -> bool {
        stands_for(self.entries, &path.to_string(), now, expected)
    }

    /// Returns what the names have now. The step is made by then: what cannot be looked at is what the
    /// entry says of it.
    fn restorations(&self) -> Vec<Restoration> {
        let names = self.entry.record.names.iter().filter_map(|change| {
            let path = RelPath::parse_escaped(&change.path).ok()?;
            let now = self.workspace.state_now(self.root, &path);
            let now = query::file_of(now.as_ref().unwrap_or(&change.before));
            Some(Restoration { path, now })
        });
        names.collect()
    }
}

/// Returns whether an entry was not made, of which it is known for each name whether that went on as it
/// was.
///
/// A file that moved in place of an equal one leaves its new name open, so the old one decides. In an
/// undo of a move the name that goes decides: the other one may have its file before.
fn were_not_made(entry: &Entry, unmade: impl Iterator<Item = bool>) -> bool {
    let names: Vec<_> = entry.record.names.iter().zip(unmade).collect();
    let is_proved = names.iter().any(|(_, is_unmade)| *is_unmade);
    let is_open = |change: &NameChange| change.before.is_still(&change.after);
    let goes_on = entry.record.undoes.is_some()
        && names.len() > 1
        && names.first().is_some_and(|(_, is_unmade)| *is_unmade);
    let mut all = names.iter();
    goes_on || is_proved && all.all(|(change, is_unmade)| *is_unmade || is_open(change))
}

/// A change that was written into the file itself is taken back there, for all its names.
fn hard_links(before: &FileState, after: &State) -> Option<HardLinks> {
    let mut after = after.file().into_iter();
    let in_place = after.any(|after| after.stamp.is_same_inode(before.stamp));
    in_place.then_some(HardLinks::InPlace)
}

/// Returns the permission bits that somebody has given the file since the change, if any.
fn narrowed_since(now: &State, after: &State) -> Option<Mode> {
    let (now, after) = (now.file()?, after.file()?);
    (now.mode != after.mode).then(|| Mode::from_raw_mode(now.mode))
}

pub(super) fn state_at(place: &Place) -> Result<State> {
    let seen = State::seen_at(&place.dir, &place.name)?;
    if !matches!(seen, State::File(_)) {
        return Ok(seen);
    }
    match OldFile::open(place.target()) {
        Ok(Some(file)) => Ok(State::File(FileState::of(file.file())?)),
        // What is no regular file, or may not be read, is known by its inode.
        Ok(None) => Ok(seen),
        Err(error) if error.kind() != ErrorKind::Io => Ok(seen),
        Err(error) => Err(error),
    }
}

/// What came to have the name meanwhile is somebody's.
pub(super) fn taken_is_conflict(error: fs_core::Error) -> fs_core::Error {
    match error.kind() {
        ErrorKind::AlreadyExists => Problem::ChangedSince.into(),
        _ => error,
    }
}
