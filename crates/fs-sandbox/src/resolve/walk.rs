//! The walk: name by name on handles, following links as long as they stay inside.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use fs_core::{Error, ErrorKind, Problem, RelPath, Result};
use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;

use crate::policy::{Folded, Policy};
use crate::resolve::request::{Request, Step, is_dir_only, steps};
use crate::resolve::roots::{Root, Roots};
use crate::resolve::scope::{Scope, There, Zone};
use crate::resolve::{Follow, Missing, Place, sys};
use crate::rights::{self, Rights};

/// How many links a path may lead through.
pub(super) const MAX_LINKS: u32 = 40;
/// How many handles a walk keeps for the way back; above these a directory is opened again.
const MAX_HANDLES: usize = 16;
/// How many directories one walk may make.
const MAX_MADE: u32 = 4096;

/// What a walk is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<'w> {
    pub(crate) roots: &'w Roots,
    pub(crate) policy: &'w Policy,
    /// Where it may go at all; `None` for everywhere below the roots.
    pub(crate) scope: Option<&'w Scope>,
    pub(crate) one_filesystem: bool,
    pub(crate) need: Rights,
    pub(crate) follow: Follow,
    pub(crate) missing: Missing,
}

/// Where a walk is.
#[derive(Debug)]
struct Walker<'w> {
    walk: Walk<'w>,
    root: Arc<Root>,
    /// The directories below the root, down to here.
    levels: Vec<Level>,
    /// The same, as the deny rules see it; empty when there are none.
    folded: Folded,
    /// The steps to go, the next one last.
    pending: Vec<Step>,
    dir_only: bool,
    links: u32,
    made: u32,
    /// Whether all names to come have been checked, so that directories may be made.
    checked: bool,
    /// Where the way would have ended, had it not met a directory that is missing.
    ahead: Option<RelPath>,
}

#[derive(Debug)]
struct Level {
    name: OsString,
    /// Where its name starts in the folded path.
    mark: usize,
    /// `None` when the way back has got too long to keep all handles.
    handle: Option<OwnedFd>,
}

impl Walk<'_> {
    /// Returns the place that the request leads to.
    ///
    /// # Errors
    /// `outside_sandbox`, `denied_by_policy`, `not_found` (of a directory on the way),
    /// `not_a_directory`, `invalid_path` (more than 40 links), `permission_denied`, `io`.
    pub(crate) fn run(self, request: Request) -> Result<Place> {
        let mut walker = Walker::new(self, request);
        let place = walker.go().map_err(|error| walker.discreet(error))?;
        walker.check_rights()?;
        Ok(place)
    }

    /// Returns the root and the link-free path that the request leads to, or would lead to once the
    /// directories that are missing were made; nothing is made.
    ///
    /// # Errors
    /// As [`Walk::run`]; `not_found` where `..` follows what is missing, `is_a_directory` where a name
    /// with a slash at its end is missing.
    pub(crate) fn look_ahead(self, request: Request) -> Result<(Arc<Root>, RelPath)> {
        let mut walker = Walker::new(self, request);
        let went = walker.go().map_err(|error| walker.discreet(error));
        let (rel, is_there) = match (went, walker.ahead.take()) {
            (Ok(place), _) => (place.rel, place.found.is_some()),
            (Err(_), Some(rel)) => (rel, false),
            (Err(error), None) => return Err(error),
        };
        walker.check_rights()?;
        if walker.dir_only && !is_there {
            return Err(Problem::IsADirectory.into());
        }
        Ok((walker.root, rel))
    }
}

impl<'w> Walker<'w> {
    fn new(walk: Walk<'w>, request: Request) -> Self {
        let mut pending = request.steps;
        pending.reverse();
        Self {
            walk,
            root: request.root,
            levels: Vec::new(),
            folded: Folded::default(),
            pending,
            dir_only: request.dir_only,
            links: 0,
            made: 0,
            checked: false,
            ahead: None,
        }
    }
}

impl Walker<'_> {
    fn go(&mut self) -> Result<Place> {
        while let Some(step) = self.pending.pop() {
            match step {
                Step::Up => self.up()?,
                Step::Name(name) => {
                    if let Some(place) = self.enter(name)? {
                        return Ok(place);
                    }
                }
            }
        }
        self.place_here()
    }

    /// Goes to the entry `name`, or returns the place when the way ends there.
    fn enter(&mut self, name: OsString) -> Result<Option<Place>> {
        // Before anything is looked at: what is beyond the scope is not told of by any answer.
        self.zone_of(Some(&name)).check_way()?;
        if self.enter_root(&name) {
            return Ok(None);
        }
        self.check_name(&name)?;
        let handle = match sys::open_entry(self.here()?, &name, sys::LOOKUP) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return self.miss(name),
            Err(errno) => return Err(sys::refusal(errno)),
        };
        let stat = rustix::fs::fstat(&handle)?;
        self.check_crossing(&handle, &stat)?;
        match sys::kind_of(&stat) {
            FileType::Directory => {
                self.push(name, handle);
                Ok(None)
            }
            FileType::Symlink if self.follows() => self.follow(&handle).map(|()| None),
            _ if !self.pending.is_empty() || self.dir_only => {
                self.zone_of(Some(&name)).check_end(There::Other)?;
                Err(Problem::NotADirectory.into())
            }
            _ => self.place_at(name, Some(stat)).map(Some),
        }
    }

    /// Goes on in another root, when `name` here is its directory.
    fn enter_root(&mut self, name: &OsStr) -> bool {
        if self.levels.len() >= self.root.inner_depth {
            return false;
        }
        let names = self.levels.iter().map(|level| level.name.as_os_str());
        let names: Vec<_> = names.chain([name]).collect();
        let within = self.walk.roots.within(&self.root, &names);
        let Some((inner, _)) = within.filter(|(_, count)| *count == names.len()) else {
            return false;
        };
        let inner = Arc::clone(inner);
        self.jump(inner, Vec::new());
        true
    }

    fn follows(&self) -> bool {
        !self.pending.is_empty() || self.dir_only || self.walk.follow == Follow::Last
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<()> {
        self.links += 1;
        self.checked = false;
        if self.links > MAX_LINKS {
            return Err(sys::too_many_links());
        }
        let text = sys::link_text(link).map_err(sys::refusal)?;
        if self.pending.is_empty() {
            self.dir_only |= is_dir_only(&text);
        }
        if text.as_encoded_bytes().starts_with(b"/") {
            let request = Request::of_text(&text, self.walk.roots, Ok(&self.root))?;
            self.jump(request.root, request.steps);
        } else {
            self.pending.extend(steps(&text)?.into_iter().rev());
        }
        Ok(())
    }

    fn jump(&mut self, root: Arc<Root>, steps: Vec<Step>) {
        self.root = root;
        self.levels.clear();
        self.folded = Folded::default();
        self.checked = false;
        self.pending.extend(steps.into_iter().rev());
    }

    /// Goes to the directory above; above a root that is the root around it, if there is one.
    fn up(&mut self) -> Result<()> {
        if let Some(level) = self.levels.pop() {
            self.folded.back_to(level.mark);
            return self.reopen();
        }
        let Some(above) = self.root.real_path.parent() else {
            return Ok(());
        };
        let request = Request::of_text(above.as_os_str(), self.walk.roots, Ok(&self.root))?;
        self.jump(request.root, request.steps);
        Ok(())
    }

    fn push(&mut self, name: OsString, handle: OwnedFd) {
        let mark = self.folded.mark();
        if self.walk.policy.concerns(self.walk.need) {
            self.folded.push(&name);
        }
        self.levels.push(Level {
            name,
            mark,
            handle: Some(handle),
        });
        let kept = self.levels.len().saturating_sub(MAX_HANDLES);
        if let Some(level) = kept.checked_sub(1).and_then(|i| self.levels.get_mut(i)) {
            level.handle = None;
        }
    }

    /// Opens the directory here again, if its handle was given up.
    fn reopen(&mut self) -> Result<()> {
        if self
            .levels
            .last()
            .is_none_or(|level| level.handle.is_some())
        {
            return Ok(());
        }
        self.folded = Folded::default();
        for level in std::mem::take(&mut self.levels) {
            match sys::open_entry(self.here()?, &level.name, sys::LOOKUP_DIR) {
                Ok(handle) => self.push(level.name, handle),
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(Problem::NotFound.into()),
                Err(errno) => return Err(sys::refusal(errno)),
            }
        }
        Ok(())
    }

    fn here(&self) -> Result<BorrowedFd<'_>> {
        match self.levels.last() {
            None => Ok(self.root.dir.as_fd()),
            Some(Level {
                handle: Some(handle),
                ..
            }) => Ok(handle.as_fd()),
            Some(Level { handle: None, .. }) => Err(Problem::NotFound.into()),
        }
    }
}

impl Walker<'_> {
    /// Goes on where nothing has the name.
    fn miss(&mut self, name: OsString) -> Result<Option<Place>> {
        let makes = match self.walk.missing {
            Missing::LookAhead if !self.pending.is_empty() => {
                self.ahead = Some(self.path_ahead(&name)?);
                false
            }
            Missing::Refuse | Missing::LookAhead => false,
            Missing::MakeParents => !self.pending.is_empty(),
            Missing::MakeAll => true,
        };
        if makes {
            return self.make(name).map(|()| None);
        }
        if self.pending.is_empty() {
            return self.place_at(name, None).map(Some);
        }
        Err(Problem::NotFound.into())
    }

    /// Makes the directory `name` here and lets it be entered.
    fn make(&mut self, name: OsString) -> Result<()> {
        if self.zone_of(Some(&name)) != Zone::Inside {
            return Err(Problem::NotFound.into());
        }
        if !self.checked {
            self.check_rights()?;
            self.check_pending(&name)?;
            self.checked = true;
        }
        self.made += 1;
        if self.made > MAX_MADE {
            return Err(Errno::AGAIN.into());
        }
        match rustix::fs::mkdirat(self.here()?, &name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.pending.push(Step::Name(name)),
            Err(errno) => return Err(sys::refusal(errno)),
        }
        Ok(())
    }

    /// Returns the path that the names to come lead to below a missing one.
    fn path_ahead(&self, name: &OsStr) -> Result<RelPath> {
        if self.zone_of(Some(name)) != Zone::Inside {
            return Err(Problem::NotFound.into());
        }
        self.check_rights()?;
        self.check_pending(name)?;
        let mut path = self.path_of(name);
        path.extend(self.pending.iter().rev().filter_map(|step| match step {
            Step::Name(name) => Some(name),
            Step::Up => None,
        }));
        RelPath::parse(path)
    }

    /// Checks all names to come below a missing one, before anything is made.
    fn check_pending(&self, name: &OsStr) -> Result<()> {
        let mut folded = self.folded.clone();
        folded.push(name);
        for step in self.pending.iter().rev() {
            let Step::Name(next) = step else {
                return Err(Problem::NotFound.into());
            };
            folded.push(next);
            if self.walk.policy.forbids_last(self.walk.need, &folded) {
                return Err(rights::forbidden(self.walk.need));
            }
        }
        Ok(())
    }

    fn check_name(&mut self, name: &OsStr) -> Result<()> {
        let Walk { need, policy, .. } = self.walk;
        let mut forbidden = self.levels.is_empty() && is_kernels(&self.root, name);
        if policy.concerns(need) {
            let mark = self.folded.mark();
            self.folded.push(name);
            forbidden |= policy.forbids_last(need, &self.folded);
            self.folded.back_to(mark);
        }
        if forbidden {
            return Err(rights::forbidden(need));
        }
        Ok(())
    }

    /// Returns where `name` here, or the directory here, lies for the scope.
    fn zone_of(&self, name: Option<&OsStr>) -> Zone {
        let Some(scope) = self.walk.scope else {
            return Zone::Inside;
        };
        let names = self.levels.iter().map(|level| level.name.as_os_str());
        scope.zone(&self.root, names.chain(name))
    }

    fn check_crossing(&self, handle: &OwnedFd, stat: &Stat) -> Result<()> {
        if stat.st_dev != self.root.device && sys::is_kernel_made(handle) {
            return Err(rights::forbidden(self.walk.need));
        }
        if self.walk.one_filesystem
            && (stat.st_dev != self.root.device || sys::mount_of(handle) != self.root.mount)
        {
            return Err(Problem::OutsideSandbox.into());
        }
        Ok(())
    }

    fn check_rights(&self) -> Result<()> {
        let missing = self.walk.need.without(self.root.rights);
        if missing == Rights::NONE {
            return Ok(());
        }
        Err(rights::lacking(missing))
    }

    /// Returns the error that may be told here: without the right, nothing of what was found.
    fn discreet(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::OutsideSandbox {
            return error;
        }
        self.check_rights().err().unwrap_or(error)
    }

    fn path_of(&self, name: &OsStr) -> PathBuf {
        let names = self.levels.iter().map(|level| level.name.as_os_str());
        names.chain([name]).collect()
    }

    fn place_at(&mut self, name: OsString, found: Option<Stat>) -> Result<Place> {
        let there = match found.as_ref().map(sys::kind_of) {
            None => There::Nothing,
            Some(FileType::Directory) => There::Directory,
            Some(_) => There::Other,
        };
        self.zone_of(Some(&name)).check_end(there)?;
        let rel = RelPath::parse(self.path_of(&name))?;
        let dir = match self.levels.last_mut().and_then(|level| level.handle.take()) {
            Some(handle) => sys::into_dir(handle),
            None => self.root.dir.try_clone()?,
        };
        Ok(Place {
            root: Arc::clone(&self.root),
            dir,
            name,
            rel,
            found,
            dir_only: self.dir_only,
        })
    }

    /// Returns the place of the directory that the walk is in.
    fn place_here(&mut self) -> Result<Place> {
        let stat = rustix::fs::fstat(self.here()?)?;
        if let Some(level) = self.levels.pop() {
            self.reopen()?;
            return self.place_at(level.name, Some(stat));
        }
        self.zone_of(None).check_end(There::Directory)?;
        Ok(Place {
            root: Arc::clone(&self.root),
            dir: self.root.dir.try_clone()?,
            name: OsString::from("."),
            rel: RelPath::root(),
            found: Some(stat),
            dir_only: true,
        })
    }
}

/// Returns whether `name` at the top of a root is the kernel's, not a file's.
pub(crate) fn is_kernels(root: &Root, name: &OsStr) -> bool {
    root.is_disk()
        && ["proc", "sys", "dev"]
            .iter()
            .any(|kernels| name == *kernels)
}
