//! The walk itself: a stack of open directories, of which only the lowest keep their handles.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::thread::Scope;

use cap_std::fs::Dir;
use rustix::io::Errno;

use super::ahead::{Ahead, Queue};
use super::frame::{Frame, Opening, Reader, Reading};
use super::handles::{self, OpenDir};
use super::rows::Rows;
use super::rules::{Rules, Verdict};
use super::{Handles, MAX_NAMED, Sight, Visited, WalkOptions, Walked, counts};
use crate::error::Result;
use crate::list::{BUFFER_BYTES, EntryKind};
use crate::path::RelPath;
use crate::problem::Problem;
use crate::skip::Skip;

/// How many directories above the current one stay open; what lies higher is opened again on the way
/// back.
const MAX_HANDLES: usize = 32;

/// How many entries are walked before threads are worth their start.
const FEW_ENTRIES: u64 = if cfg!(test) { 1 } else { 16 };

/// A walk under way.
struct Walker<'scope, 'env> {
    root: &'env Dir,
    reader: Reader<'env>,
    ahead: Ahead<'scope, 'env>,
    /// The path of the entry at hand.
    path: RelPath,
    /// The directories from the start down.
    frames: Vec<Frame>,
    buffer: Vec<u8>,
    handles: Handles,
    entries: u64,
    walked: Walked,
}

/// Walks the directory `start` from one end to the other, or until the visitor has seen enough.
pub(super) fn walk(
    root: &Dir,
    start: &RelPath,
    options: &WalkOptions,
    sight: &dyn Sight,
    handles: Handles,
    visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>,
) -> Result<Walked> {
    let reader = Reader { options, sight };
    let queue = Queue::new(&options.cancel);
    std::thread::scope(|scope| {
        let mut walker = Walker::new(root, start, &reader, &queue, scope, handles);
        walker.begin()?;
        walker.go(visit)?;
        Ok(walker.walked)
    })
}

impl<'scope, 'env> Walker<'scope, 'env> {
    fn new(
        root: &'env Dir,
        start: &RelPath,
        reader: &'env Reader<'env>,
        queue: &'env Queue,
        scope: &'scope Scope<'scope, 'env>,
        handles: Handles,
    ) -> Self {
        Self {
            root,
            reader: *reader,
            ahead: Ahead::new(scope, reader, queue),
            path: start.clone(),
            frames: Vec::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            handles,
            entries: 0,
            walked: Walked::default(),
        }
    }

    /// Opens the directory where the walk begins.
    fn begin(&mut self) -> Result<()> {
        let rules = self.rules_above()?;
        let handle = handles::open_below(self.root, &self.path).map_err(start_refusal)?;
        let mut reading = reading(&self.reader, &mut self.buffer);
        let frame = self
            .reader
            .frame(handle, &self.path, rules.as_ref(), &mut reading)?;
        let denied = || Problem::DeniedByPolicy {
            reason: "this directory may not be read".to_owned(),
        };
        self.frames.push(frame.ok_or_else(denied)?);
        Ok(())
    }

    fn go(&mut self, visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>) -> Result<()> {
        while !self.frames.is_empty() {
            let options = self.reader.options;
            options.cancel.check()?;
            self.scout();
            let Some(frame) = self.frames.last_mut() else {
                break;
            };
            let Some((name, kind)) = frame.rows.get(frame.next) else {
                self.frames.pop();
                self.path.pop();
                continue;
            };
            frame.next += 1;
            options.progress.add(1);
            self.entries += 1;
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
        let dir = match self.handles {
            Handles::Kept => match self.dir()? {
                Some(dir) => Some(dir),
                None => return Ok(ControlFlow::Continue(None)),
            },
            Handles::Dropped => None,
        };
        let mut skip = self.skip(kind);
        let mut below = None;
        if kind == EntryKind::Dir && skip.is_none() && self.reader.enters(self.frames.len()) {
            match self.enter()? {
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
            dir: dir.as_ref(),
        };
        Ok(match visit(&visited) {
            ControlFlow::Continue(()) => ControlFlow::Continue(below),
            ControlFlow::Break(()) => ControlFlow::Break(()),
        })
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
            Ok(dir)
                if self
                    .reader
                    .sight
                    .admits(&dir.path, dir.handle.as_fd(), dir.device) =>
            {
                frame.dir = Some(Arc::new(dir));
                Ok(frame.dir.clone())
            }
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => Err(errno.into()),
            Ok(_) | Err(_) => {
                frame.rows = Rows::default();
                frame.ready.clear();
                for (_, task) in frame.tasks.drain(..) {
                    self.ahead.take(&task, &mut self.buffer);
                }
                Ok(None)
            }
        }
    }
}

impl Walker<'_, '_> {
    /// Has the next directories of the one at hand read ahead.
    fn scout(&mut self) {
        let depth = self.frames.len();
        let pays = self.entries >= FEW_ENTRIES && self.handles == Handles::Dropped;
        if !pays || !self.reader.enters(depth) {
            return;
        }
        while self.ahead.has_room()
            && let Some(frame) = self.frames.last_mut()
            && frame.dir.is_some()
            && let Some(row) = frame.next_dir(&mut self.path)
        {
            let skip = self.reader.skip(frame, &self.path, EntryKind::Dir);
            if skip.is_none()
                && let Some(task) = frame.task(self.path.clone(), depth)
            {
                frame.tasks.push_back((row, self.ahead.add(task)));
            }
            self.path.pop();
        }
    }

    /// Opens the directory at hand in the one above it, unless that has been done ahead.
    fn enter(&mut self) -> Result<Opening> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Opening::Vanished);
        };
        let row = frame.next.saturating_sub(1);
        if frame.ready.front().is_some_and(|(of, _)| *of == row)
            && let Some((_, opening)) = frame.ready.pop_front()
        {
            return Ok(opening);
        }
        if frame.tasks.front().is_some_and(|(of, _)| *of == row)
            && let Some((_, task)) = frame.tasks.pop_front()
            && let Some(opening) = self.ahead.take(&task, &mut self.buffer)
        {
            return Ok(opening);
        }
        let Some(above) = self.dir()? else {
            return Ok(Opening::Vanished);
        };
        let rules = self.frames.last().and_then(|frame| frame.rules.clone());
        let mut reading = reading(&self.reader, &mut self.buffer);
        self.reader
            .open(&above, &self.path, rules.as_ref(), &mut reading)
    }

    /// Returns the rules that hold above the start, unless they ignore it.
    fn rules_above(&self) -> Result<Option<Arc<Rules>>> {
        if !self.reader.options.respect_ignore {
            return Ok(None);
        }
        let mut rules: Option<Arc<Rules>> = None;
        let mut here = RelPath::root();
        let mut handle = handles::open_self(self.root).map_err(start_refusal)?;
        for name in self.path.names() {
            let below = handles::open_dir(&handle, name).map_err(start_refusal)?;
            let dir = OpenDir::of(handle, here.clone())?;
            let has = |name: &str, kind| self.reader.sight.visible(&here)(OsStr::new(name), kind);
            rules = self.reader.rules_of(&dir, has, rules.as_ref());
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
        self.reader.skip(self.frames.last()?, &self.path, kind)
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

/// Returns what it takes to read a directory of any size here.
fn reading<'r>(reader: &Reader<'r>, buffer: &'r mut Vec<u8>) -> Reading<'r> {
    Reading {
        cancel: &reader.options.cancel,
        buffer,
        most: usize::MAX,
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
