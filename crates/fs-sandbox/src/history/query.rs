//! What the history holds, for people and tools.

use std::sync::Arc;

use cap_std::fs::File;
use fs_core::{ErrorKind, RelPath, Result, Version};

use super::log::Entry;
use super::record::{FileState, NameChange, State};
use super::steps::undone_by;
use super::store::Store;
use super::{HistoryEntry, HistoryFile, HistoryName, HistoryStatus, nothing};
use crate::replace::OldFile;
use crate::resolve::{Follow, Missing, Root};
use crate::rights::{OpenFlags, Operation, Rights, needed};
use crate::workspace::Workspace;

/// Which side of a change is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistorySide {
    /// What was there before it.
    Before,
    /// What was there after it.
    After,
}

/// A file whose history is asked for.
pub(super) struct Subject {
    pub(super) root: Arc<Root>,
    pub(super) store: Arc<Store>,
    pub(super) path: RelPath,
}

impl Workspace {
    /// Returns the changes of a file, newest first, `limit` at most; it may be gone by now.
    ///
    /// # Errors
    /// `not_found` when no history is kept, and those of the path.
    pub fn history(&self, path: &str, limit: usize) -> Result<Vec<HistoryEntry>> {
        let need = needed(Operation::Stat, OpenFlags::NONE);
        let found = self.subjects(path, need).and_then(|subjects| {
            let mut all = Vec::new();
            for subject in subjects {
                let entries = self.made_changes(&subject.root, &subject.store)?;
                let of_file = |entry: &Entry| {
                    entry.record.concerns(&subject.path) && self.may_tell(&subject.root, entry)
                };
                all.extend(told(&entries, &subject.root, limit, of_file));
            }
            Ok(newest(all, limit))
        });
        found.map_err(|error| error.at(path))
    }

    /// Returns the changes in all roots, newest first, `limit` at most. Of names that are denied by
    /// now nothing is told, and none of what is outside of a narrowed workspace.
    ///
    /// # Errors
    /// `not_found` when no history is kept, `io`.
    pub fn history_of_all(&self, limit: usize) -> Result<Vec<HistoryEntry>> {
        if let HistoryStatus::Off(_) = self.history_status() {
            return Err(nothing("no history is kept here"));
        }
        let mut all = Vec::new();
        let shared = self.shared();
        for root in shared
            .roots
            .all()
            .filter(|root| root.rights.contains(Rights::READ))
        {
            let Some(store) = shared.history.existing(root)? else {
                continue;
            };
            let entries = self.made_changes(root, &store)?;
            all.extend(told(&entries, root, limit, |entry| {
                self.may_tell(root, entry)
            }));
        }
        Ok(newest(all, limit))
    }

    /// Returns whether no name of a change is denied by now, or out of the scope.
    fn may_tell(&self, root: &Root, entry: &Entry) -> bool {
        let policy = &self.shared().policy;
        let is_seen = |change: &NameChange| {
            let path = RelPath::parse_escaped(&change.path);
            path.is_ok_and(|path| {
                !policy.forbids(Rights::READ, &path) && self.check_scope(root, &path).is_ok()
            })
        };
        entry.record.names.iter().all(is_seen)
    }

    /// Opens what a name had before or after an entry of its history; `None` for nothing, and for a
    /// link.
    ///
    /// What was there after it is what the next change kept, or the file itself if nobody has written
    /// to it since.
    ///
    /// # Errors
    /// `not_found` when there is no such entry or the bytes are not kept, and those of the path.
    pub fn open_history(&self, path: &str, id: u64, side: HistorySide) -> Result<Option<File>> {
        let need = needed(Operation::Open, OpenFlags::READ);
        let opened = self.subjects(path, need).and_then(|subjects| {
            for subject in subjects {
                let entries = subject.store.entries()?;
                if subject.has(&entries, id) {
                    return self.open_side(&subject, &entries, id, side);
                }
            }
            Err(nothing("the history has no such change of this file"))
        });
        opened.map_err(|error| error.at(path))
    }

    fn open_side(
        &self,
        subject: &Subject,
        entries: &[Entry],
        id: u64,
        side: HistorySide,
    ) -> Result<Option<File>> {
        let shown = subject.path.to_string();
        let mut entries = entries.iter().skip_while(|entry| entry.id != id);
        let change = entries.next().and_then(|entry| entry.change_of(&shown));
        let change =
            change.ok_or_else(|| nothing("the history has no such change of this file"))?;
        let wanted = match side {
            HistorySide::Before => &change.before,
            HistorySide::After => &change.after,
        };
        let State::File(wanted) = wanted else {
            return Ok(None);
        };
        let later = entries.filter_map(|entry| entry.change_of(&shown));
        let mut states = std::iter::once(&change.before)
            .chain(later.map(|change| &change.before))
            .filter_map(State::file)
            .filter(|state| state.has_content_of(wanted));
        let kept = states.find_map(|state| {
            let object = state.object.as_ref()?;
            let file = subject.store.open_object(&object.address).ok()?;
            let is_kept = FileState::of(file.file()).is_ok_and(|found| state.is_kept_in(&found));
            is_kept.then(|| file.into_file())
        });
        match kept {
            Some(kept) => Ok(Some(kept)),
            None => self.open_if_still(subject, wanted).map(Some),
        }
    }

    fn open_if_still(&self, subject: &Subject, wanted: &FileState) -> Result<File> {
        let gone = || nothing("the bytes are not kept");
        let need = needed(Operation::Open, OpenFlags::READ);
        let place = self.locate_below(&subject.root, &subject.path, need, Missing::Refuse);
        let file = place.and_then(|place| OldFile::open(place.target()));
        let file = file.ok().flatten().ok_or_else(gone)?;
        if wanted.has_content_of(&FileState::of(file.file())?) {
            return Ok(file.into_file());
        }
        Err(gone())
    }

    /// Returns the files that a path may mean, which may be gone: what has the name itself, and where
    /// that is a link what it leads to.
    pub(super) fn subjects(&self, path: &str, need: Rights) -> Result<Vec<Subject>> {
        let spelled = self.spelled(path, need);
        let found = match self.locate(path, need, Follow::No) {
            Ok(place) => (place.root, place.rel),
            Err(error) => match (error.kind(), spelled) {
                (ErrorKind::NotFound, Some(spelled)) => spelled,
                _ => return Err(error),
            },
        };
        let mut subjects = vec![self.subject_at(found)?];
        let followed = self.locate(path, need, Follow::Last).ok();
        let followed = followed.and_then(|place| self.subject_at((place.root, place.rel)).ok());
        let is_new = |it: &Subject| subjects.iter().all(|known| !known.is(it));
        subjects.extend(followed.filter(is_new));
        Ok(subjects)
    }

    fn subject_at(&self, (root, path): (Arc<Root>, RelPath)) -> Result<Subject> {
        let store = self.shared().history.existing(&root)?;
        let reason = match self.history_status() {
            HistoryStatus::Off(_) => "no history is kept here",
            HistoryStatus::On { .. } => "the history has no change of this file",
        };
        let store = store.ok_or_else(|| nothing(reason))?;
        Ok(Subject { root, store, path })
    }
}

impl Subject {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.root, &other.root) && self.path == other.path
    }

    fn has(&self, entries: &[Entry], id: u64) -> bool {
        let mut of_file = entries.iter().filter(|it| it.record.concerns(&self.path));
        of_file.any(|entry| entry.id == id)
    }
}

/// Returns the newest entries, the newest first, each once.
fn newest(mut all: Vec<HistoryEntry>, limit: usize) -> Vec<HistoryEntry> {
    all.sort_by(|a, b| b.time.cmp(&a.time).then(b.id.cmp(&a.id)));
    all.dedup_by(|a, b| (a.id, &a.root) == (b.id, &b.root));
    all.truncate(limit);
    all
}

/// Returns what is told of a state; `None` for nothing.
pub(super) fn file_of(state: &State) -> Option<HistoryFile> {
    match state {
        State::Absent => None,
        State::Link(text) => Some(HistoryFile {
            size: text.len() as u64,
            version: None,
            is_link: true,
        }),
        State::File(file) => Some(HistoryFile {
            size: file.size,
            version: file.strong_version(),
            is_link: false,
        }),
    }
}

fn told(
    entries: &[Entry],
    root: &Root,
    limit: usize,
    wanted: impl Fn(&Entry) -> bool,
) -> Vec<HistoryEntry> {
    let undone = undone_by(entries);
    let wanted = entries.iter().rev().filter(|entry| wanted(entry));
    let told = wanted.take(limit).map(|entry| HistoryEntry {
        id: entry.id,
        root: root.name.clone(),
        time: entry.record.time(),
        tool: entry.record.by.clone(),
        names: entry.record.names.iter().filter_map(name_of).collect(),
        undoes: entry.record.undoes,
        undone_by: undone.get(&entry.id).copied(),
        is_certain: entry.is_done,
    });
    told.collect()
}

fn name_of(change: &NameChange) -> Option<HistoryName> {
    Some(HistoryName {
        path: RelPath::parse_escaped(&change.path).ok()?,
        before: file_of(&change.before),
        after: file_of(&change.after),
    })
}

impl FileState {
    /// Returns the version, where it is that of a content.
    pub(super) fn strong_version(&self) -> Option<Version> {
        Version::parse(self.version.as_deref()?).ok()
    }
}
