//! Walking a tree on directory handles.

mod ahead;
mod frame;
mod handles;
mod rows;
mod rules;
mod walker;

use std::ffi::OsStr;
use std::fmt;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use cap_std::fs::Dir;

use self::rules::RuleFiles;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::list::{EntryKind, Order};
use crate::path::RelPath;
use crate::progress::Progress;
use crate::skip::{Skip, Skips};

pub(crate) use self::handles::{OpenDir, open_file};

/// Directories that hold no sources, by name: what tools put there.
pub const SKIP_LIST: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "target",
    "venv",
];

/// How many unreadable entries are named; all are counted.
pub(crate) const MAX_NAMED: usize = 20;

/// Says which entries of one directory exist for the caller.
pub type Visible<'s> = Box<dyn FnMut(&OsStr, EntryKind) -> bool + 's>;

/// What of a tree exists for the caller, and what of it may be read.
///
/// A walk asks whoever knows the rights: the engine knows none. [`Everything`] says yes to all.
pub trait Sight: Sync {
    /// Returns which entries of the directory at `dir` exist for the caller.
    fn visible<'s>(&'s self, dir: &RelPath) -> Visible<'s>;

    /// Returns whether what was opened at `path`, a directory or a file, may be read.
    ///
    /// `device` is the one it lies on. Of files only those are asked about that lie on another
    /// device than their directory, unless [`Sight::asks_of_files`].
    fn admits(&self, path: &RelPath, handle: BorrowedFd<'_>, device: u64) -> bool;

    /// Returns whether [`Sight::admits`] is to be asked about each file; it is not by default.
    fn asks_of_files(&self) -> bool {
        false
    }
}

/// The sight of a caller who may read all of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct Everything;

/// How to walk.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// The order of the entries of each directory.
    pub order: Order,
    /// How deep to go: with 1 only the entries of the directory itself; `None` for all.
    pub max_depth: Option<usize>,
    /// Whether entries whose names begin with a dot are walked.
    pub include_hidden: bool,
    /// Whether `.gitignore`, `.ignore` and `.git/info/exclude` hide what they name.
    pub respect_ignore: bool,
    /// Whether a `.bak` beside its file is walked.
    pub include_backups: bool,
    /// The names of directories that are not entered; [`SKIP_LIST`] by default.
    pub skip_list: &'static [&'static str],
    /// How many threads read directories: with more than one, ahead of the visitor, who is called by
    /// this one alone.
    pub threads: usize,
    /// Stops the walk.
    pub cancel: Cancel,
    /// Counts the entries that the walk has come by.
    pub progress: Progress,
}

/// An entry that a walk comes by.
pub struct Visited<'w> {
    /// Its path below the root.
    pub path: &'w RelPath,
    /// Its name.
    pub name: &'w OsStr,
    /// What it is; a link is a link, whatever it leads to.
    pub kind: EntryKind,
    /// How deep it lies: 1 for the entries of the directory where the walk began.
    pub depth: usize,
    /// Why it is passed over; `None` when it is not. A directory without it is entered next, unless
    /// it lies at `max_depth`.
    pub skip: Option<Skip>,
    /// The directory that it lies in, where handles are kept.
    pub(crate) dir: Option<&'w Arc<OpenDir>>,
}

/// Whether a walk needs the handle of each directory for its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handles {
    Kept,
    Dropped,
}

/// What a walk has come by.
#[derive(Debug, Clone, Default)]
pub struct Walked {
    /// What was passed over. Files of rules that are hidden are not counted.
    pub skipped: Skips,
    /// The first 20 directories that could not be read.
    pub unreadable: Vec<RelPath>,
    /// Whether the visitor ended the walk.
    pub stopped: bool,
}

/// Walks the directory `start` below `root`, and calls `visit` with each entry, a directory before
/// what is in it, in the order of `options`.
///
/// Every directory is opened by its name in the one above, never through a link, so nothing below
/// `root` leads out of it; links are visited and never followed. At most some 60 handles are open at
/// a time, whatever the depth. Entries that vanish meanwhile are left out.
///
/// Rules are read from the root down to `start` and below; of two the one nearest to the entry
/// holds, and of `.gitignore` and `.git/info/exclude` none from outside of the repository that the
/// entry lies in. Nothing above `root` is looked at, and no file of rules counts that is a link or over 1 MiB;
/// of thousands of patterns that hold in one directory only the first do. The rules above `start` do not count when they ignore it: who
/// names a directory wants it.
///
/// ```
/// # #![allow(clippy::disallowed_methods)]
/// use std::ops::ControlFlow;
/// use fs_core::{Everything, RelPath, WalkOptions, walk};
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir_all(folder.path().join("src/target"))?;
/// # std::fs::write(folder.path().join("src/main.rs"), "")?;
/// # let root = cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority())?;
/// let mut seen = Vec::new();
/// let options = WalkOptions::default();
/// let walked = walk(&root, &RelPath::root(), &options, &Everything, &mut |entry| {
///     let mark = entry.skip.map_or("", |skip| skip.name());
///     seen.push(format!("{} {mark}", entry.path));
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(seen, ["src ", "src/main.rs ", "src/target skip_list"]);
/// assert_eq!(walked.skipped.total(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `not_found`, `not_a_directory`, `permission_denied` (of `start` itself), `denied_by_policy`,
/// `cancelled`; `io` with `retry` when the process has no handle left.
pub fn walk(
    root: &Dir,
    start: &RelPath,
    options: &WalkOptions,
    sight: &dyn Sight,
    visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>,
) -> Result<Walked> {
    walker::walk(root, start, options, sight, Handles::Dropped, visit)
}

/// Walks as [`walk`] does, in one thread, and gives each visit the directory that its entry lies in.
pub(crate) fn walk_open(
    root: &Dir,
    start: &RelPath,
    options: &WalkOptions,
    sight: &dyn Sight,
    visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>,
) -> Result<Walked> {
    walker::walk(root, start, options, sight, Handles::Kept, visit)
}

impl Sight for Everything {
    fn visible<'s>(&'s self, _: &RelPath) -> Visible<'s> {
        Box::new(|_, _| true)
    }

    fn admits(&self, _: &RelPath, _: BorrowedFd<'_>, _: u64) -> bool {
        true
    }
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            order: Order::default(),
            max_depth: None,
            include_hidden: false,
            respect_ignore: true,
            include_backups: false,
            skip_list: SKIP_LIST,
            threads: 2,
            cancel: Cancel::default(),
            progress: Progress::default(),
        }
    }
}

impl fmt::Debug for Visited<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visited")
            .field("path", self.path)
            .field("kind", &self.kind)
            .field("depth", &self.depth)
            .field("skip", &self.skip)
            .finish_non_exhaustive()
    }
}

/// Returns whether an entry that is passed over is counted: a hidden file of rules is not, for the
/// walk itself reads it.
pub(crate) fn counts(skip: Skip, name: &OsStr) -> bool {
    skip != Skip::Hidden || !RuleFiles::are_named(name.as_bytes())
}

#[cfg(test)]
mod tests;
