//! Witness: what somebody else makes of a file becomes an entry, too.

use std::sync::Arc;

use fs_core::{Cancel, Error, ErrorKind, RelPath, Result, Version};
use rustix::fs::FileType;

use super::pending::{Before, End, Pending};
use super::record::{FileState, State};
use super::undo::state_at;
use super::{Begun, Share};
use crate::lock::FileLock;
use crate::replace::OldFile;
use crate::resolve::{Follow, Place, Root};
use crate::rights::{OpenFlags, Operation, Rights, needed};
use crate::workspace::Workspace;
use crate::write::{Change, TRIES, pause};

const ELSEWHERE: &str = "this cannot be undone: the path leads elsewhere since the change";

/// What became of a file while somebody else changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witnessed {
    /// The version of the file, before; `None` when there was none.
    pub before: Option<Version>,
    /// The version of the file, after; `None` when there is none, or nothing that may be read.
    pub after: Option<Version>,
    /// What became of the name; `None` when it is as it was, with the same bytes and mode. A file that
    /// is gone counts as replaced.
    pub change: Option<Change>,
    /// The number of the entry that the history has of it, see
    /// [`HistoryEntry::id`](crate::HistoryEntry::id); `None` where nothing is kept of it.
    pub entry: Option<u64>,
    /// What could not be kept or made sure.
    pub warnings: Vec<String>,
}

/// What a path leads to before the change. As long as this is held no other change of the name begins
/// through this workspace or a clone.
struct Watched {
    subject: Subject,
    _name: Option<FileLock>,
}

enum Subject {
    /// A file.
    File(Place, Box<OldFile>),
    /// A name that nothing has.
    Name(Place),
    /// Nothing, in a directory that is not there either; the place that the path spells, where no
    /// link is on the way.
    Nowhere(Option<(Arc<Root>, RelPath)>),
}

/// What is found where a path leads.
struct Seen {
    state: State,
    version: Option<Version>,
}

/// What is found after the change.
struct After {
    /// What has the name that was watched.
    name: Seen,
    /// The version of what the path leads to.
    version: Option<Version>,
    /// Whether that is another name by now.
    is_elsewhere: bool,
}

impl Workspace {
    /// Lets somebody else change a file, and writes that down in the history as a change of this
    /// workspace: an undo gives back what was there before, if nobody has written since.
    ///
    /// The path is resolved as by a write, to a file or to a name that nothing has yet; no directory is made. What
    /// the file holds is copied into the history, then `change` is called, once, and then the same path
    /// is looked at again. How the file is changed does not matter: in place, by another file that takes
    /// the name, or by removal. Meanwhile the file itself is not locked and can be read; another change of
    /// the name through this workspace waits, so `change` makes none.
    ///
    /// Whatever anybody else writes to the file meanwhile is counted as this change. A process that is
    /// killed meanwhile leaves an entry that an undo takes back only where the file was written in place,
    /// and none of a new file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let state = tempfile::tempdir().unwrap();
    /// # std::fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    /// use fs_core::Cancel;
    /// use fs_sandbox::{Change, HistoryLimits, Rights, UndoOptions, Workspace};
    ///
    /// let workspace = Workspace::builder()
    ///     .root("notes", dir.path(), Rights::ALL)
    ///     .history(state.path(), HistoryLimits::default())
    ///     .build()?;
    /// let save = || Ok(std::fs::write(dir.path().join("a.txt"), "two\n")?);
    /// let (witnessed, ()) = workspace.witness("a.txt", &Cancel::default(), save)?;
    /// assert_eq!(witnessed.change, Some(Change::Replaced));
    /// workspace.undo("a.txt", &UndoOptions::default())?;
    /// assert_eq!(std::fs::read(dir.path().join("a.txt"))?, b"one\n");
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Before the change, which is then not made: `invalid_path`, `outside_sandbox`,
    /// `denied_by_policy`, `not_a_directory`, `is_a_directory`, `not_a_file`, `permission_denied`,
    /// `conflict` (somebody keeps writing to the file), `cancelled`, `io`. After it those of `change`, as
    /// they are; a change that was made all the same has its entry.
    pub fn witness<T>(
        &self,
        path: &str,
        cancel: &Cancel,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<(Witnessed, T)> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let watched = self.watch(path, cancel).map_err(|error| error.at(path))?;
            let (place, old) = match &watched.subject {
                Subject::File(place, old) => (place, old),
                subject => return self.witness_new(path, subject, change),
            };
            let pending = self.pending(&[place], None)?;
            match kept(&pending, place, old, cancel) {
                Err(error) if error.kind() == ErrorKind::Conflict && tries > 0 => pause(tries),
                Err(error) => return Err(error.at(path)),
                Ok((before, kept)) => {
                    let meanwhile = kept.being_rewritten();
                    let begun = pending.begin(vec![(kept, meanwhile)]);
                    let made = change();
                    let after = self.look_after(path, place);
                    let witnessed = settled(&pending, begun, &before, after);
                    return Ok((witnessed, made?));
                }
            }
        }
    }

    /// Locks the name that a path leads to, and opens the file that has it.
    fn watch(&self, path: &str, cancel: &Cancel) -> Result<Watched> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            cancel.check()?;
            let place = match self.locate(path, need(), Follow::Last) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(Watched {
                        subject: self.nowhere(path),
                        _name: None,
                    });
                }
                place => place?,
            };
            let name = self.locks().lock(place.lock_key()?, cancel)?;
            let subject = match OldFile::open(place.target()) {
                // A link has the name by now, or it is gone again: it is resolved again.
                Err(error) if error.kind() == ErrorKind::Conflict && tries > 0 => {
                    pause(tries);
                    continue;
                }
                Err(error) => return Err(error),
                Ok(Some(old)) => Subject::File(place, Box::new(old)),
                Ok(None) => Subject::Name(place),
            };
            return Ok(Watched {
                subject,
                _name: Some(name),
            });
        }
    }

    fn nowhere(&self, path: &str) -> Subject {
        let is_link = self.locate(path, need(), Follow::No).is_ok();
        let spelled = self.spelled(path, need());
        Subject::Nowhere(spelled.filter(|_| !is_link))
    }

    /// Lets a file be made where there is none. Nothing is to be kept, so the entry is written down
    /// once it is known what was made.
    fn witness_new<T>(
        &self,
        path: &str,
        subject: &Subject,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<(Witnessed, T)> {
        let made = change();
        let mut witnessed = Witnessed {
            before: None,
            after: None,
            change: None,
            entry: None,
            warnings: Vec::new(),
        };
        match self.locate(path, need(), Follow::Last) {
            Ok(place) if place.found.is_some() => self.note_new(&place, subject, &mut witnessed),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                witnessed.warnings.push(unseen(&error));
            }
            _ => {}
        }
        Ok((witnessed, made?))
    }

    /// Writes down that what is at a place now is new, if it is the place that was watched.
    fn note_new(&self, place: &Place, subject: &Subject, witnessed: &mut Witnessed) {
        witnessed.change = Some(Change::Created);
        if place.kind() != Some(FileType::RegularFile) {
            return;
        }
        let noted = Seen::at(place).and_then(|seen| {
            witnessed.after = seen.version;
            if !subject.is_at(place)? {
                witnessed.warnings.push(ELSEWHERE.to_owned());
                return Ok(());
            }
            let pending = self.pending(&[place], None)?;
            let begun = pending.begin(vec![(Before::nothing(), seen.state)]);
            witnessed.entry = begun.done();
            witnessed.warnings.extend(pending.warning());
            Ok(())
        });
        witnessed
            .warnings
            .extend(noted.err().map(|error| unseen(&error)));
    }

    /// Looks at what the path leads to after the change, and at the name that was watched.
    fn look_after(&self, path: &str, place: &Place) -> Result<After> {
        match self.locate(path, need(), Follow::Last) {
            Ok(there) if is_same_name(&there, place) => Seen::at(&there).map(After::here),
            Ok(there) => Ok(After {
                name: Seen::at(place)?,
                version: Seen::at(&there)?.version,
                is_elsewhere: true,
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(After::here(Seen {
                state: State::Absent,
                version: None,
            })),
            // It leads to nothing that may be told of.
            Err(_) => Ok(After {
                name: Seen::at(place)?,
                version: None,
                is_elsewhere: true,
            }),
        }
    }
}

impl Subject {
    /// Returns whether the name that was watched is this one, and was in this directory.
    fn is_at(&self, place: &Place) -> Result<bool> {
        match self {
            Self::File(watched, _) | Self::Name(watched) => {
                Ok(is_same_name(watched, place) && watched.lock_key()? == place.lock_key()?)
            }
            Self::Nowhere(None) => Ok(false),
            Self::Nowhere(Some((root, rel))) => {
                Ok(Arc::ptr_eq(root, &place.root) && *rel == place.rel)
            }
        }
    }
}

impl Seen {
    /// Looks at what has the name.
    fn at(place: &Place) -> Result<Self> {
        let state = state_at(place)?;
        let version = match state.file() {
            Some(file) if file.strong_version().is_none() => {
                let large = OldFile::open(place.target()).ok().flatten();
                large.and_then(|file| file.version().ok())
            }
            file => file.and_then(FileState::strong_version),
        };
        Ok(Self { state, version })
    }

    /// Returns whether the name has what it had, with the same bytes and mode.
    fn is_as(&self, before: &Self) -> bool {
        let mode = |seen: &Self| seen.state.file().map(|file| file.mode);
        before.state.is_still(&self.state) && mode(before) == mode(self)
    }
}

impl After {
    fn here(name: Seen) -> Self {
        Self {
            version: name.version.clone(),
            name,
            is_elsewhere: false,
        }
    }
}

fn need() -> Rights {
    needed(Operation::Open, OpenFlags::CREATE | OpenFlags::TRUNCATE)
}

fn is_same_name(one: &Place, other: &Place) -> bool {
    Arc::ptr_eq(&one.root, &other.root) && one.rel == other.rel
}

/// Copies what a file holds into the history, and returns what it is. It is no link: who changes the file may
/// write into it.
fn kept<'p>(
    pending: &'p Pending,
    place: &Place,
    old: &OldFile,
    cancel: &Cancel,
) -> Result<(Seen, Before<'p>)> {
    let before = Seen {
        state: State::File(FileState::of(old.file())?),
        version: Some(old.version()?),
    };
    let kept = pending.keep(End::Last, place.target(), old, Share::Never, cancel)?;
    old.check_unchanged()?;
    cancel.check()?;
    Ok((before, kept))
}

/// Confirms the entry, or takes it back where nothing was changed.
fn settled(pending: &Pending, begun: Begun<'_>, before: &Seen, after: Result<After>) -> Witnessed {
    let mut witnessed = Witnessed {
        before: before.version.clone(),
        after: None,
        change: Some(Change::Replaced),
        entry: None,
        warnings: Vec::new(),
    };
    let after = match after {
        Ok(after) => after,
        Err(error) => {
            witnessed.warnings.push(unseen(&error));
            return witnessed;
        }
    };
    let is_unchanged = after.name.is_as(before);
    if is_unchanged {
        drop(begun);
    } else {
        witnessed.entry = begun.done_as(&after.name.state);
        witnessed.warnings.extend(pending.warning());
    }
    witnessed.after = after.version;
    if after.is_elsewhere {
        witnessed.warnings.push(ELSEWHERE.to_owned());
    } else if is_unchanged {
        witnessed.change = None;
    }
    witnessed
}

fn unseen(error: &Error) -> String {
    format!("this cannot be undone: what was made cannot be looked at: {error}")
}
