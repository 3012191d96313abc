//! One directory of a walk: opened, read, with the rules that hold in it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use rustix::io::Errno;

use super::ahead::Task;
use super::handles::{self, OpenDir};
use super::rows::Rows;
use super::rules::{Border, RuleFiles, Rules, Verdict};
use super::{Sight, WalkOptions};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::list::EntryKind;
use crate::path::{MAX_PATH_BYTES, RelPath};
use crate::problem::ErrorKind;
use crate::skip::Skip;

/// What `.git` may be: a work tree or a submodule has a file.
const DOT_GIT: [EntryKind; 3] = [EntryKind::Dir, EntryKind::File, EntryKind::Link];

/// How many directories and entries are read ahead in one go, so that it is worth the way to another
/// thread and back.
const MAX_DIRS: usize = if cfg!(test) { 3 } else { 64 };
const MAX_ENTRIES: usize = 4096;
/// How deep is read ahead in one go: each level holds a handle.
const MAX_LEVELS: usize = 8;

/// A directory that is being walked.
pub(super) struct Frame {
    /// `None` when too many lie below it to keep all handles.
    pub(super) dir: Option<Arc<OpenDir>>,
    pub(super) rows: Rows,
    pub(super) next: usize,
    pub(super) rules: Option<Arc<Rules>>,
    /// Directories in it that have been read, by their rows.
    pub(super) ready: VecDeque<(usize, Opening)>,
    /// Directories in it that are being read.
    pub(super) tasks: VecDeque<(usize, Arc<Task>)>,
    /// The next row to look at for a directory to read ahead.
    pub(super) scouted: usize,
}

/// What came of opening a directory.
pub(super) enum Opening {
    Frame(Frame),
    Skip(Skip),
    Vanished,
}

/// What it takes to read directories.
pub(super) struct Reading<'r> {
    /// Stops it.
    pub(super) cancel: &'r Cancel,
    pub(super) buffer: &'r mut Vec<u8>,
    /// How many entries a directory may have: one that has more stops it.
    pub(super) most: usize,
}

/// How much is read ahead in one go.
#[derive(Debug, Default)]
pub(super) struct Budget {
    dirs: usize,
    /// How many directories lie between the first and the one at hand.
    levels: usize,
    /// How many entries have been read.
    pub(super) entries: usize,
}

/// Opens and reads directories, in whichever thread.
#[derive(Clone, Copy)]
pub(super) struct Reader<'w> {
    pub(super) options: &'w WalkOptions,
    pub(super) sight: &'w dyn Sight,
}

impl Reader<'_> {
    /// Opens the directory at `path` in the one above it.
    pub(super) fn open(
        &self,
        above: &OpenDir,
        path: &RelPath,
        rules: Option<&Arc<Rules>>,
        reading: &mut Reading<'_>,
    ) -> Result<Opening> {
        if path.as_os_str().len() >= MAX_PATH_BYTES {
            return Ok(Opening::Skip(Skip::TooDeep));
        }
        let name = path.file_name().unwrap_or_default();
        let handle = match handles::open_dir(&above.handle, name) {
            Ok(handle) => handle,
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => return Err(errno.into()),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Opening::Vanished),
            Err(_) => return Ok(Opening::Skip(Skip::Unreadable)),
        };
        match self.frame(handle, path, rules, reading) {
            Ok(Some(frame)) => Ok(Opening::Frame(frame)),
            Ok(None) => Ok(Opening::Skip(Skip::Denied)),
            Err(error) if reading.cancel.is_cancelled() => Err(error),
            // One that was removed after it was opened says so when it is read.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Opening::Vanished),
            Err(_) => Ok(Opening::Skip(Skip::Unreadable)),
        }
    }

    /// Opens the directory at `path` and those below it that a walk would enter, as far as the budget
    /// goes. What it returns keeps no handles.
    pub(super) fn open_all(
        &self,
        task: &Task,
        reading: &mut Reading<'_>,
        budget: &mut Budget,
    ) -> Result<Opening> {
        let rules = task.rules.as_ref();
        let mut opening = self.open(&task.above, &task.path, rules, reading)?;
        budget.dirs += 1;
        let Opening::Frame(frame) = &mut opening else {
            return Ok(opening);
        };
        budget.entries += frame.rows.len();
        let mut path = task.path.clone();
        let depth = task.depth + 1;
        while self.enters(depth) && budget.has_room() && budget.levels < MAX_LEVELS {
            let Some(row) = frame.next_dir(&mut path) else {
                break;
            };
            if self.skip(frame, &path, EntryKind::Dir).is_none()
                && let Some(task) = frame.task(path.clone(), depth)
            {
                budget.levels += 1;
                let below = self.open_all(&task, reading, budget);
                budget.levels -= 1;
                // The walk tries again, and then it is its error.
                let Ok(below) = below else { break };
                frame.ready.push_back((row, below));
            }
            path.pop();
        }
        frame.dir = None;
        Ok(opening)
    }

    /// Returns whether a directory that lies so deep is entered.
    pub(super) fn enters(&self, depth: usize) -> bool {
        let max_depth = self.options.max_depth;
        max_depth.is_none_or(|max_depth| depth < max_depth)
    }

    /// Returns why the entry at `path`, which lies in the directory of `frame`, is passed over by its
    /// name.
    pub(super) fn skip(&self, frame: &Frame, path: &RelPath, kind: EntryKind) -> Option<Skip> {
        let name = path.file_name().unwrap_or_default();
        let WalkOptions { skip_list, .. } = self.options;
        if kind == EntryKind::Dir && skip_list.iter().any(|skipped| name == *skipped) {
            return Some(Skip::SkipList);
        }
        let rules = frame.rules.as_deref();
        let verdict = rules.map_or(Verdict::Open, |rules| rules.verdict(path, kind));
        let name = name.as_bytes();
        match verdict {
            Verdict::Ignored => Some(Skip::Ignored),
            Verdict::Open if !self.options.include_hidden && name.starts_with(b".") => {
                Some(Skip::Hidden)
            }
            _ if !self.options.include_backups && is_backup(name, kind, &frame.rows) => {
                Some(Skip::Backup)
            }
            _ => None,
        }
    }

    /// Reads the open directory at `path`; `None` when the caller may not.
    pub(super) fn frame(
        &self,
        handle: OwnedFd,
        path: &RelPath,
        above: Option<&Arc<Rules>>,
        reading: &mut Reading<'_>,
    ) -> Result<Option<Frame>> {
        let dir = OpenDir::of(handle, path.clone())?;
        if !self.sight.admits(&dir.path, dir.handle.as_fd(), dir.device) {
            return Ok(None);
        }
        let mut visible = self.sight.visible(&dir.path);
        let Reading {
            cancel,
            buffer,
            most,
        } = reading;
        let mut left = *most;
        let mut sees = |name: &[u8], kind| {
            match left.checked_sub(1) {
                Some(fewer) => left = fewer,
                None => cancel.cancel(),
            }
            visible(OsStr::from_bytes(name), kind)
        };
        let order = self.options.order;
        let rows = Rows::read(&dir.handle, order, cancel, buffer, &mut sees)?;
        drop(visible);
        let has = |name: &str, kind| rows.has(name.as_bytes(), kind);
        let rules = self.rules_of(&dir, has, above);
        Ok(Some(Frame {
            dir: Some(Arc::new(dir)),
            rows,
            next: 0,
            rules,
            ready: VecDeque::new(),
            tasks: VecDeque::new(),
            scouted: 0,
        }))
    }

    /// Returns the rules that hold in `dir`, which may have the entries that `has` says.
    pub(super) fn rules_of(
        &self,
        dir: &OpenDir,
        has: impl Fn(&str, EntryKind) -> bool,
        above: Option<&Arc<Rules>>,
    ) -> Option<Arc<Rules>> {
        let mut files = RuleFiles::default();
        if self.options.respect_ignore {
            files = RuleFiles {
                ignore: has(".ignore", EntryKind::File),
                git: has(".gitignore", EntryKind::File),
                exclude: has(".git", EntryKind::Dir) && self.shows_exclude(&dir.path),
                border: border(dir, has),
            };
        }
        Rules::of_dir(dir, files, above)
    }

    /// Returns whether the caller may know of `.git/info/exclude` in `dir`, which has a `.git`.
    fn shows_exclude(&self, dir: &RelPath) -> bool {
        let mut dir = dir.clone();
        dir.push(OsStr::new(".git"));
        let info = self.sight.visible(&dir)(OsStr::new("info"), EntryKind::Dir);
        dir.push(OsStr::new("info"));
        info && self.sight.visible(&dir)(OsStr::new("exclude"), EntryKind::File)
    }
}

/// Returns whether a repository begins in `dir`, which may have the entries that `has` says.
fn border(dir: &OpenDir, has: impl Fn(&str, EntryKind) -> bool) -> Border {
    let may = DOT_GIT.iter().any(|kind| has(".git", *kind));
    if may && handles::exists(&dir.handle, OsStr::new(".git")) {
        return Border::Repository;
    }
    Border::None
}

impl Budget {
    fn has_room(&self) -> bool {
        self.dirs < MAX_DIRS && self.entries < MAX_ENTRIES
    }
}

impl OpenDir {
    pub(super) fn of(handle: OwnedFd, path: RelPath) -> Result<Self, Errno> {
        let device = rustix::fs::fstat(&handle)?.st_dev;
        Ok(Self {
            handle,
            path,
            device,
        })
    }
}

impl Frame {
    /// Goes to the next directory, by its row, that is to be looked at for reading it ahead.
    pub(super) fn next_dir(&mut self, path: &mut RelPath) -> Option<usize> {
        self.scouted = self.scouted.max(self.next);
        loop {
            let row = self.scouted;
            let (name, kind) = self.rows.get(row)?;
            self.scouted += 1;
            if kind == EntryKind::Dir {
                path.push(OsStr::from_bytes(name));
                return Some(row);
            }
        }
    }

    /// Returns the task to read a directory in this one, which lies so deep.
    pub(super) fn task(&self, path: RelPath, depth: usize) -> Option<Task> {
        let above = Arc::clone(self.dir.as_ref()?);
        Some(Task::new(above, path, self.rules.clone(), depth))
    }
}

/// Returns whether a file is the backup of one that is there: `X.bak` or `X.bak.N` beside `X`.
fn is_backup(name: &[u8], kind: EntryKind, rows: &Rows) -> bool {
    if kind != EntryKind::File {
        return false;
    }
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let numbered = match digits.count() {
        0 => None,
        count => name
            .get(..name.len() - count)
            .and_then(|name| name.strip_suffix(b".")),
    };
    let original = numbered.unwrap_or(name).strip_suffix(b".bak");
    original.is_some_and(|original| !original.is_empty() && rows.has(original, EntryKind::File))
}
