//! The walk itself: a stack of open directories, of which only the lowest keep their handles.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::io::Errno;

use super::handles::{self, OpenDir};
use super::rows::Rows;
use super::rules::{RuleFiles, Rules, Verdict};
use super::{MAX_NAMED, Sight, Visited, WalkOptions, Walked, counts};
use crate::error::Result;
use crate::list::{BUFFER_BYTES, EntryKind};
use crate::path::{MAX_PATH_BYTES, RelPath};
use crate::problem::{ErrorKind, Problem};
use crate::skip::Skip;

/// How many directories above the current one stay open; what lies higher is opened again on the way
/// back.
const MAX_HANDLES: usize = 32;

/// What `.git` may be: a work tree or a submodule has a file.
const DOT_GIT: [EntryKind; 3] = [EntryKind::Dir, EntryKind::File, EntryKind::Link];

/// A walk under way.
pub(super) struct Walker<'w> {
    root: &'w Dir,
    options: &'w WalkOptions,
    sight: &'w dyn Sight,
    /// The path of the entry at hand.
    path: RelPath,
    /// The directories from the start down.
    frames: Vec<Frame>,
    buffer: Vec<u8>,
    walked: Walked,
}

/// A directory that is being walked.
struct Frame {
    /// `None` when too many lie below it to keep all handles.
    dir: Option<Arc<OpenDir>>,
    rows: Rows,
    next: usize,
    rules: Option<Arc<Rules>>,
}

impl<'w> Walker<'w> {
    pub(super) fn new(
        root: &'w Dir,
        start: &RelPath,
        options: &'w WalkOptions,
        sight: &'w dyn Sight,
    ) -> Self {
        Self {
            root,
            options,
            sight,
            path: start.clone(),
            frames: Vec::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            walked: Walked::default(),
        }
    }

    /// Walks from the start to the end, or until the visitor has seen enough.
    pub(super) fn run(
        mut self,
        visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>,
    ) -> Result<Walked> {
        self.begin()?;
        self.go(visit)?;
        Ok(self.walked)
    }

    /// Opens the directory where the walk begins.
    fn begin(&mut self) -> Result<()> {
        let rules = self.rules_above()?;
        let handle = handles::open_below(self.root, &self.path).map_err(start_refusal)?;
        let frame = self.frame(handle, rules.as_ref())?;
        let denied = || Problem::DeniedByPolicy {
            reason: "this directory may not be read".to_owned(),
        };
        self.frames.push(frame.ok_or_else(denied)?);
        Ok(())
    }

    fn go(&mut self, visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>) -> Result<()> {
        while let Some(frame) = self.frames.last_mut() {
            self.options.cancel.check()?;
            let Some((name, kind)) = frame.rows.get(frame.next) else {
                self.frames.pop();
                self.path.pop();
                continue;
            };
            frame.next += 1;
            self.options.progress.add(1);
            self.path.push(OsStr::from_bytes(name));
            match self.step(kind, visit)? {
                ControlFlow::Continue(Some(frame)) => self.push(frame),
                ControlFlow::Continue(None) => self.path.pop(),
                ControlFlow::Break(()) => {
                    self.walked.stopped = true;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Visits the entry at hand, and returns its frame when it is to be entered.
    fn step(
        &mut self,
        kind: EntryKind,
        visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Option<Frame>>> {
        let Some(dir) = self.dir()? else {
            return Ok(ControlFlow::Continue(None));
        };
        let mut skip = self.skip(kind);
        let mut below = None;
        if kind == EntryKind::Dir && skip.is_none() && self.enters() {
            match self.open(&dir)? {
                Opening::Frame(frame) => below = Some(frame),
                Opening::Skip(reason) => skip = Some(reason),
                Opening::Vanished => return Ok(ControlFlow::Continue(None)),
            }
        }
        self.count(skip);
        let visited = Visited {
            path: &self.path,
            name: self.path.file_name().unwrap_or_default(),
            kind,
            depth: self.frames.len(),
            skip,
            dir: &dir,
        };
        Ok(match visit(&visited) {
            ControlFlow::Continue(()) => ControlFlow::Continue(below),
            ControlFlow::Break(()) => ControlFlow::Break(()),
        })
    }

    fn enters(&self) -> bool {
        let max_depth = self.options.max_depth;
        max_depth.is_none_or(|max_depth| self.frames.len() < max_depth)
    }

    fn push(&mut self, frame: Frame) {
        self.frames.push(frame);
        let high = self.frames.len().checked_sub(MAX_HANDLES + 1);
        if let Some(frame) = high.and_then(|index| self.frames.get_mut(index)) {
            frame.dir = None;
        }
    }

    /// Returns the directory of the entry at hand, opened again if its handle was given up; `None`
    /// when it has vanished.
    fn dir(&mut self) -> Result<Option<Arc<OpenDir>>> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(None);
        };
        if let Some(dir) = &frame.dir {
            return Ok(Some(Arc::clone(dir)));
        }
        let path = self.path.parent().unwrap_or_default();
        let opened = handles::open_below(self.root, &path);
        let dir = opened.and_then(|handle| OpenDir::of(handle, path));
        match dir {
            Ok(dir) if self.sight.admits(&dir.path, dir.handle.as_fd(), dir.device) => {
                frame.dir = Some(Arc::new(dir));
                Ok(frame.dir.clone())
            }
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => Err(errno.into()),
            Ok(_) | Err(_) => {
                frame.rows = Rows::default();
                Ok(None)
            }
        }
    }
}

/// What came of opening a directory.
enum Opening {
    Frame(Frame),
    Skip(Skip),
    Vanished,
}

impl Walker<'_> {
    /// Opens the directory at hand in the one above it.
    fn open(&mut self, above: &OpenDir) -> Result<Opening> {
        if self.path.as_os_str().len() >= MAX_PATH_BYTES {
            return Ok(Opening::Skip(Skip::TooDeep));
        }
        let name = self.path.file_name().unwrap_or_default();
        let handle = match handles::open_dir(&above.handle, name) {
            Ok(handle) => handle,
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => return Err(errno.into()),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Opening::Vanished),
            Err(_) => return Ok(Opening::Skip(Skip::Unreadable)),
        };
        let rules = self.frames.last().and_then(|frame| frame.rules.clone());
        match self.frame(handle, rules.as_ref()) {
            Ok(Some(frame)) => Ok(Opening::Frame(frame)),
            Ok(None) => Ok(Opening::Skip(Skip::Denied)),
            Err(error) if self.options.cancel.is_cancelled() => Err(error),
            // One that was removed after it was opened says so when it is read.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Opening::Vanished),
            Err(_) => Ok(Opening::Skip(Skip::Unreadable)),
        }
    }

    /// Reads the directory at hand; `None` when the caller may not.
    fn frame(&mut self, handle: OwnedFd, above: Option<&Arc<Rules>>) -> Result<Option<Frame>> {
        let dir = OpenDir::of(handle, self.path.clone())?;
        if !self.sight.admits(&dir.path, dir.handle.as_fd(), dir.device) {
            return Ok(None);
        }
        let WalkOptions { order, cancel, .. } = self.options;
        let mut visible = self.sight.visible(&dir.path);
        let mut sees = |name: &[u8], kind| visible(OsStr::from_bytes(name), kind);
        let rows = Rows::read(&dir.handle, *order, cancel, &mut self.buffer, &mut sees)?;
        drop(visible);
        let has = |name: &str, kind| rows.has(name.as_bytes(), kind);
        let rules = self.rules_of(&dir, has, above);
        Ok(Some(Frame {
            dir: Some(Arc::new(dir)),
            rows,
            next: 0,
            rules,
        }))
    }

    /// Returns the rules that hold in `dir`, which has the entries that `has` says.
    fn rules_of(
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
                repository: DOT_GIT.iter().any(|kind| has(".git", *kind))
                    && handles::exists(&dir.handle, OsStr::new(".git")),
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

    /// Returns the rules that hold above the start, unless they ignore it.
    fn rules_above(&self) -> Result<Option<Arc<Rules>>> {
        if !self.options.respect_ignore {
            return Ok(None);
        }
        let mut rules: Option<Arc<Rules>> = None;
        let mut here = RelPath::root();
        let mut handle = handles::open_self(self.root).map_err(start_refusal)?;
        for name in self.path.names() {
            let below = handles::open_dir(&handle, name).map_err(start_refusal)?;
            let dir = OpenDir::of(handle, here.clone())?;
            let has = |name: &str, kind| self.sight.visible(&here)(OsStr::new(name), kind);
            rules = self.rules_of(&dir, has, rules.as_ref());
            here.push(name);
            if rules.as_deref().is_some_and(|rules| ignores(rules, &here)) {
                return Ok(None);
            }
            handle = below;
        }
        Ok(rules.filter(|rules| !ignores_all(rules, &here)))
    }

    /// Returns why the entry at hand is passed over by its name.
    fn skip(&self, kind: EntryKind) -> Option<Skip> {
        let name = self.path.file_name().unwrap_or_default();
        let WalkOptions { skip_list, .. } = self.options;
        if kind == EntryKind::Dir && skip_list.iter().any(|skipped| name == *skipped) {
            return Some(Skip::SkipList);
        }
        let frame = self.frames.last()?;
        let rules = frame.rules.as_deref();
        let verdict = rules.map_or(Verdict::Open, |rules| rules.verdict(&self.path, kind));
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

    fn count(&mut self, skip: Option<Skip>) {
        let Some(skip) = skip else { return };
        let name = self.path.file_name().unwrap_or_default();
        if counts(skip, name) {
            self.walked.skipped.add(skip);
        }
        if skip == Skip::Unreadable && self.walked.unreadable.len() < MAX_NAMED {
            self.walked.unreadable.push(self.path.clone());
        }
    }
}

impl OpenDir {
    fn of(handle: OwnedFd, path: RelPath) -> Result<Self, Errno> {
        let device = rustix::fs::fstat(&handle)?.st_dev;
        Ok(Self {
            handle,
            path,
            device,
        })
    }
}

/// Returns the error for a start that cannot be opened: a link on the way was none before.
fn start_refusal(errno: Errno) -> crate::Error {
    match errno {
        Errno::LOOP => Problem::NotFound.into(),
        other => other.into(),
    }
}

fn ignores(rules: &Rules, path: &RelPath) -> bool {
    rules.verdict(path, EntryKind::Dir) == Verdict::Ignored
}

/// Returns whether rules ignore whatever is in the directory at `path`, as `dir/*` does: a name that
/// nobody has stands for all.
fn ignores_all(rules: &Rules, path: &RelPath) -> bool {
    let mut path = path.clone();
    path.push(OsStr::new("\u{1}"));
    let kinds = [EntryKind::Dir, EntryKind::File];
    !path.is_root() && kinds.map(|kind| rules.verdict(&path, kind)) == [Verdict::Ignored; 2]
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
