//! History: what changes took away, kept outside of the tree, so that they can be undone.
//!
//! Each root has a store of its own: a log with one entry for each change, and the bytes that were
//! there before. An entry is written down before its change takes place and confirmed after it, so
//! that a process that is killed in between leaves nothing that is not known. A store that cannot be
//! used costs the history and nothing else.

mod leftovers;
mod log;
mod move_back;
mod objects;
mod pending;
mod query;
mod record;
mod steps;
mod store;
mod undo;
mod witness;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cap_std::fs::Dir;
use fs_core::{Error, Problem, RelPath, Result, Version};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::policy::{Policy, SECRETS};
use crate::resolve::{Place, Root, Roots, create_ambient};
use crate::rights::Rights;
use crate::workspace::Workspace;

pub(crate) use objects::Share;
pub(crate) use pending::{Before, Begun, End, Pending};

pub use query::HistorySide;
pub(crate) use record::State;
pub use undo::{Restoration, UndoOptions, Undone};
pub use witness::Witnessed;

use pending::Name;
use store::Store;

/// How much a history keeps for each root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// How many changes; 0 keeps no history.
    pub entries: u64,
    /// How many bytes of earlier files. The newest change of a file is kept over both limits.
    pub bytes: u64,
}

/// Whether a workspace keeps a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryStatus {
    /// It does.
    On {
        /// How many temporary files of processes that were killed have been removed.
        swept: u64,
    },
    /// It does not; the text says why.
    Off(String),
}

/// A change as the history has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its number: unique for its root, later ones are larger.
    pub id: u64,
    /// The name of its root; `None` outside the roots.
    pub root: Option<String>,
    /// When it was made.
    pub time: SystemTime,
    /// Which tool made it.
    pub tool: String,
    /// What became of each name: one, or the source and the target of a move.
    pub names: Vec<HistoryName>,
    /// The change that this one took back.
    pub undoes: Option<u64>,
    /// The change that took this one back.
    pub undone_by: Option<u64>,
    /// Whether it is known that it took place: a process that is killed in mid change leaves this
    /// open, and an undo then looks at the file.
    pub is_certain: bool,
}

/// What became of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryName {
    /// Its link-free path below the root.
    pub path: RelPath,
    /// What had it before; `None` for nothing.
    pub before: Option<HistoryFile>,
    /// What had it after; `None` for nothing.
    pub after: Option<HistoryFile>,
}

/// What a file or link was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFile {
    /// Its size in bytes; of a link the length of its text.
    pub size: u64,
    /// Its version, up to 4 MiB.
    pub version: Option<Version>,
    /// Whether it was a link.
    pub is_link: bool,
}

/// The history of a workspace.
#[derive(Debug)]
pub(crate) struct History {
    base: Result<(Dir, PathBuf), String>,
    limits: HistoryLimits,
    secrets: Policy,
    stores: Mutex<HashMap<PathBuf, Arc<Store>>>,
    swept: u64,
}

impl Default for HistoryLimits {
    /// 5,000 changes and 2 GiB.
    fn default() -> Self {
        Self {
            entries: 5_000,
            bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}

impl HistoryLimits {
    fn with_slack(self) -> Self {
        Self {
            entries: self.entries - self.entries / store::SLACK,
            bytes: self.bytes - self.bytes / store::SLACK,
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self::off("no directory for it is named")
    }
}

impl History {
    /// Opens the history in `dir`, which is made if it is not there, and removes the temporary files
    /// that killed processes left below the roots.
    pub(crate) fn open(dir: &Path, limits: HistoryLimits, roots: &Roots) -> Self {
        if limits.entries == 0 {
            return Self::off("its limit is 0");
        }
        let holds = |root: &Root, path: &Path| root.real_path.starts_with(path);
        let base = match create_ambient(dir) {
            Ok(base) => base,
            Err(error) => return Self::off(&format!("{}: {error}", dir.display())),
        };
        if roots.all().any(|root| holds(root, &base.1)) {
            return Self::off("a root lies in its directory");
        }
        let mut history = Self {
            base: Ok(base),
            limits,
            ..Self::off("")
        };
        history.swept = roots.all().map(|root| history.sweep(root)).sum();
        history
    }

    /// Returns the globs of where the store lies in a root: nobody gets at it there.
    pub(crate) fn globs_below(&self, roots: &Roots) -> Vec<String> {
        let Ok((_, path)) = &self.base else {
            return Vec::new();
        };
        let below = roots
            .all()
            .filter_map(|root| path.strip_prefix(&root.real_path).ok());
        below.map(|below| format!("/{}", escaped(below))).collect()
    }

    fn off(reason: &str) -> Self {
        let secrets: Vec<String> = SECRETS.iter().map(|glob| (*glob).to_owned()).collect();
        Self {
            base: Err(reason.to_owned()),
            limits: HistoryLimits::default(),
            secrets: Policy::new(&secrets, &[]).unwrap_or_default(),
            stores: Mutex::default(),
            swept: 0,
        }
    }

    fn sweep(&self, root: &Root) -> u64 {
        if !root.rights.changes() {
            return 0;
        }
        let Ok(Some(store)) = self.existing(root) else {
            return 0;
        };
        store.sweep(&root.dir).unwrap_or_default()
    }

    /// Returns the store of a root; `None` where no history is kept. One that cannot be opened is
    /// asked for again at the next change.
    ///
    /// # Errors
    /// `io`, `permission_denied`.
    fn store(&self, root: &Root) -> Result<Option<Arc<Store>>> {
        let Ok((base, _)) = &self.base else {
            return Ok(None);
        };
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(&root.real_path) {
            return Ok(Some(Arc::clone(store)));
        }
        let store = Arc::new(Store::open(base, &root.real_path, self.limits)?);
        stores.insert(root.real_path.clone(), Arc::clone(&store));
        Ok(Some(store))
    }

    /// Returns the store of a root if there is one already.
    ///
    /// # Errors
    /// As [`History::store`].
    fn existing(&self, root: &Root) -> Result<Option<Arc<Store>>> {
        match &self.base {
            Ok((base, _)) if Store::is_there(base, &root.real_path)? => self.store(root),
            _ => Ok(None),
        }
    }

    /// Returns whether a file usually holds a secret, or is named as a copy of one that does. The
    /// directories above the root count too.
    fn is_secret(&self, place: &Place) -> bool {
        let above = place.root.real_path.components();
        let above = above.filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        let names = above.chain(place.rel.names());
        let path = names.fold(RelPath::default(), |path, name| {
            path.join(name).unwrap_or(path)
        });
        let mut original = Some(path);
        std::iter::from_fn(|| {
            let path = original.take()?;
            original = without_copy_mark(&path);
            Some(path)
        })
        .any(|path| self.secrets.forbids(Rights::READ, &path))
    }

    /// Returns a name that is about to change, and why it has no history where it should have one.
    fn name(&self, place: &Place) -> (Name, Option<Error>) {
        let is_secret = self.is_secret(place);
        let (store, failure) = match self.store(&place.root) {
            Ok(store) => (store, None),
            Err(error) => (None, Some(error).filter(|_| !is_secret)),
        };
        let name = Name {
            is_recorded: store.is_some() && !is_secret,
            store,
            path: place.rel.clone(),
        };
        (name, failure)
    }
}

impl Workspace {
    /// Returns this workspace for a tool: the history says that its changes are made by it.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let state = tempfile::tempdir().unwrap();
    /// use fs_sandbox::{HistoryLimits, Rights, UndoOptions, Workspace, WriteOptions};
    ///
    /// let workspace = Workspace::builder()
    ///     .root("notes", dir.path(), Rights::ALL)
    ///     .history(state.path(), HistoryLimits::default())
    ///     .build()?;
    /// let writer = workspace.for_tool("write");
    /// writer.write("a.txt", "one\n", &WriteOptions::default())?;
    /// writer.write("a.txt", "two\n", &WriteOptions::default())?;
    /// assert_eq!(workspace.history("a.txt", 10)?.len(), 2);
    /// workspace.undo("a.txt", &UndoOptions::default())?;
    /// assert_eq!(workspace.stat("a.txt")?.size, Some(4));
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    #[must_use]
    pub fn for_tool(&self, tool: &'static str) -> Self {
        self.with_tool(tool)
    }

    /// Returns whether a history is kept.
    pub fn history_status(&self) -> HistoryStatus {
        let history = &self.shared().history;
        match &history.base {
            Ok(_) => HistoryStatus::On {
                swept: history.swept,
            },
            Err(reason) => HistoryStatus::Off(reason.clone()),
        }
    }

    /// Returns the directory for state that the history is kept in, for what a front end keeps
    /// beside it; `None` where none is kept.
    pub fn state_dir(&self) -> Option<Dir> {
        let (dir, _) = self.shared().history.base.as_ref().ok()?;
        dir.try_clone().ok()
    }

    /// Returns what is about to happen to these names, one or the two of a copy or move.
    pub(crate) fn pending(&self, places: &[&Place], undoes: Option<u64>) -> Result<Pending> {
        let history = &self.shared().history;
        let names = places.iter().map(|place| history.name(place));
        let (names, failures): (Vec<_>, Vec<_>) = names.unzip();
        let pending = Pending::new(names, self.tool(), undoes)?;
        if let Some(error) = failures.iter().flatten().next() {
            pending.give_up(error);
        }
        Ok(pending)
    }
}

/// Returns the path of what a path that ends like a backup is a copy of.
fn without_copy_mark(path: &RelPath) -> Option<RelPath> {
    let name = path.file_name()?.to_str()?;
    let is_mark = |end: &str| {
        ["bak", "backup", "old", "orig", "save", "copy"].contains(&end)
            || !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit())
    };
    let original = match name.rsplit_once('.') {
        Some((original, end)) if is_mark(&end.to_lowercase()) => original,
        _ => name.strip_suffix('~')?,
    };
    let parent = path.parent().unwrap_or_default();
    parent.join(OsStr::new(original)).ok()
}

/// Returns a glob that matches this path and nothing else.
fn escaped(path: &Path) -> String {
    let special = |c: char| {
        matches!(
            c,
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '#' | ' '
        )
    };
    let shown = path.to_string_lossy();
    let each = shown.chars().map(|c| match c {
        c if special(c) => format!("\\{c}"),
        c => c.to_string(),
    });
    each.collect()
}

/// Returns 16 hex digits that nobody can guess.
pub(crate) fn random_token() -> Result<String> {
    let mut random = [0; 8];
    getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(format!("{:016x}", u64::from_ne_bytes(random)))
}

/// Says that the history holds nothing that fits.
fn nothing(reason: &'static str) -> Error {
    Problem::NothingToUndo { reason }.into()
}

#[cfg(test)]
mod tests;
