//! The resolver: from a caller's path to a handle, never by way of an ambient name.
//!
//! A path is read as text, matched to a root, and opened beneath that root's handle in one call
//! that follows no link. Whatever that call refuses goes to the walk, which follows links name by
//! name on handles and says what is wrong; the link-free path that it finds goes to the one call
//! again. Where the kernel has no such call the walk is the whole resolver.

mod leads;
mod request;
mod roots;
mod scope;
mod sys;
mod walk;

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cap_std::fs::Dir;
use fs_core::{Problem, RelPath, Result};
use rustix::fs::{FileType, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::lock::LockKey;
use crate::policy::Folded;
use crate::replace::Target;
use crate::resolve::request::Request;
use crate::resolve::scope::Zone;
use crate::resolve::walk::{Walk, is_kernels};
use crate::rights::Rights;
use crate::workspace::Workspace;

pub(crate) use crate::resolve::roots::{Root, Roots, create_ambient, open_ambient};
pub(crate) use crate::resolve::scope::Scope;
pub(crate) use crate::resolve::sys::{is_kernel_made, mount_of, open_null};

/// How often a look-up is repeated that another process keeps disturbing.
const TRIES: u32 = 64;
/// How often what a walk has found is opened again from the root. A disturber can fall into step
/// with that; from then on the walk's own handle is used, which nobody can move a link under.
const TRIES_FROM_ROOT: u32 = 4;

/// Where a path leads: a directory by its handle, and a name in it.
#[derive(Debug)]
pub(crate) struct Place {
    /// The root it lies in; the outside is one without a name.
    pub(crate) root: Arc<Root>,
    /// The directory that holds the name: for look-ups, not to be listed or synced itself.
    pub(crate) dir: Dir,
    /// The name: of the file itself where a link led to it; `.` for the root.
    pub(crate) name: OsString,
    /// The link-free path below the root.
    pub(crate) rel: RelPath,
    /// What has the name; `None` when nothing has.
    pub(crate) found: Option<Stat>,
    /// Whether the path can only name a directory.
    pub(crate) dir_only: bool,
}

/// Whether a link that has the last name is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// To what it leads to, also when nothing is there.
    Last,
    /// No, unless the path ends with a slash: the link itself is meant.
    No,
}

/// What happens to directories that are missing on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// `not_found`.
    Refuse,
    /// They are made, but not the last name.
    MakeParents,
    /// They are made, the last name too.
    MakeAll,
    /// They are left missing, and the way is looked at as if they were made.
    LookAhead,
}

/// What is opened: the handle with what it is and where.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) handle: OwnedFd,
    pub(crate) stat: Stat,
    pub(crate) root: Arc<Root>,
    pub(crate) rel: RelPath,
}

impl Place {
    /// Returns the type of what has the name.
    pub(crate) fn kind(&self) -> Option<FileType> {
        self.found.as_ref().map(sys::kind_of)
    }

    /// Looks again at what has the name.
    ///
    /// # Errors
    /// `permission_denied`, `io`.
    pub(crate) fn look_again(&mut self) -> Result<()> {
        self.found = match sys::stat_entry(&self.dir, &self.name) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        Ok(())
    }

    /// Returns device and inode of what has the name.
    pub(crate) fn id(&self) -> Option<(u64, u64)> {
        self.found.as_ref().map(|stat| (stat.st_dev, stat.st_ino))
    }

    /// Returns the size of what has the name in bytes; 0 for nothing.
    pub(crate) fn size(&self) -> u64 {
        let size = self.found.as_ref().map(|stat| stat.st_size);
        size.and_then(|size| u64::try_from(size).ok())
            .unwrap_or_default()
    }

    /// Returns whether something is mounted on the name, where the kernel tells it.
    pub(crate) fn is_mount_point(&self) -> bool {
        let found = sys::open_entry(&self.dir, &self.name, sys::LOOKUP);
        found.is_ok_and(|found| sys::mount_of(found) != sys::mount_of(&self.dir))
    }

    /// Returns the name in its directory.
    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            dir: &self.dir,
            name: &self.name,
        }
    }

    /// Returns what whoever changes the name locks first.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn lock_key(&self) -> Result<LockKey> {
        Ok(LockKey::Name {
            dir: self.target().dir_id()?,
            name: self.name.clone(),
        })
    }
}

impl Workspace {
    /// Returns the place that a path leads to, for an operation that needs `need` there.
    ///
    /// # Errors
    /// `invalid_path`, `outside_sandbox`, `denied_by_policy`, `not_found` (of a directory on the
    /// way), `not_a_directory`, `is_a_directory` (a name with a slash at its end is to be created),
    /// `permission_denied`, `io`; all with the path.
    pub(crate) fn locate(&self, path: &str, need: Rights, follow: Follow) -> Result<Place> {
        self.locate_or_make(path, need, follow, Missing::Refuse)
    }

    /// Returns the place that a path leads to and makes the directories that are missing above it.
    ///
    /// Nothing is made when a name below is forbidden, or when `..` follows a missing directory.
    ///
    /// # Errors
    /// Those of [`Workspace::locate`].
    pub(crate) fn locate_creating(
        &self,
        path: &str,
        need: Rights,
        follow: Follow,
    ) -> Result<Place> {
        self.locate_or_make(path, need, follow, Missing::MakeParents)
    }

    /// Returns the place that a path leads to and treats missing directories as told.
    pub(crate) fn locate_or_make(
        &self,
        path: &str,
        need: Rights,
        follow: Follow,
        missing: Missing,
    ) -> Result<Place> {
        let place = self.place(path, self.walk_for(need, follow, missing));
        let place = place.and_then(|place| {
            if place.dir_only && place.found.is_none() && follow == Follow::Last {
                return Err(Problem::IsADirectory.into());
            }
            Ok(place)
        });
        place.map_err(|error| error.at(path))
    }

    /// Returns where a path leads, or would once the directories that are missing on its way were made.
    ///
    /// # Errors
    /// Those of [`Workspace::locate_creating`].
    pub(crate) fn locate_ahead(&self, path: &str, need: Rights) -> Result<(Arc<Root>, RelPath)> {
        let walk = self.walk_for(need, Follow::Last, Missing::LookAhead);
        let ahead = Request::parse(path, walk.roots).and_then(|request| {
            match self.place_at_once(&request, walk) {
                Some(place) => Ok((place.root, place.rel)),
                None => walk.look_ahead(request),
            }
        });
        ahead.map_err(|error| error.at(path))
    }

    /// Returns the place of a path below a root that the history knows, as itself.
    ///
    /// # Errors
    /// Those of [`Workspace::locate`], without a path.
    pub(crate) fn locate_below(
        &self,
        root: &Arc<Root>,
        path: &RelPath,
        need: Rights,
        missing: Missing,
    ) -> Result<Place> {
        let request = Request::of_rel(root, path);
        self.place_for(request, self.walk_for(need, Follow::No, missing))
    }

    /// Returns the root and the way of a path as its text says, if nothing on it is refused; what is
    /// there does not matter.
    pub(crate) fn spelled(&self, path: &str, need: Rights) -> Option<(Arc<Root>, RelPath)> {
        let request = Request::parse(path, &self.shared().roots).ok()?;
        let rel = self.plain(&request, need)?;
        self.check_scope(&request.root, &rel).ok()?;
        Some((request.root, rel))
    }

    /// Opens what a path leads to: with [`Rights::READ`], following links.
    pub(crate) fn open_found(&self, path: &str, wanted: FileType) -> Result<Found> {
        let walk = self.walk_for(Rights::READ, Follow::Last, Missing::Refuse);
        let found = Request::parse(path, walk.roots).and_then(|request| {
            match self.open_at_once(&request, flags_for(wanted)) {
                Some(found) => found,
                None => self.open_by_walk(&request, walk, wanted),
            }
        });
        let found = found.and_then(|found| {
            check_kind(sys::kind_of(&found.stat), wanted)?;
            Ok(found)
        });
        found.map_err(|error| error.at(path))
    }

    /// Returns which entries of the directory `rel` a caller may know of.
    pub(crate) fn visible<'w>(
        &'w self,
        root: &'w Root,
        rel: &RelPath,
    ) -> impl FnMut(&OsStr) -> bool + 'w {
        let policy = &self.shared().policy;
        let (is_top, concerned) = (rel.is_root(), policy.concerns(Rights::READ));
        let mut folded = Folded::default();
        if concerned {
            rel.names().for_each(|name| folded.push(name));
        }
        move |name| {
            if is_top && is_kernels(root, name) {
                return false;
            }
            let mark = folded.mark();
            if concerned {
                folded.push(name);
            }
            let forbidden = concerned && policy.forbids_last(Rights::READ, &folded);
            folded.back_to(mark);
            !forbidden
        }
    }
}

impl Workspace {
    fn walk_for(&self, need: Rights, follow: Follow, missing: Missing) -> Walk<'_> {
        let shared = self.shared();
        Walk {
            roots: &shared.roots,
            policy: &shared.policy,
            scope: self.scope(),
            one_filesystem: shared.one_filesystem,
            need,
            follow,
            missing,
        }
    }

    fn place(&self, path: &str, walk: Walk<'_>) -> Result<Place> {
        self.place_for(Request::parse(path, walk.roots)?, walk)
    }

    fn place_for(&self, request: Request, walk: Walk<'_>) -> Result<Place> {
        if let Some(place) = self.place_at_once(&request, walk) {
            return Ok(place);
        }
        for _ in 0..TRIES_FROM_ROOT {
            let place = walk.run(request.clone())?;
            if let Some(place) = self.confirmed(place)? {
                return Ok(place);
            }
        }
        walk.run(request)
    }

    /// Returns the place when no link and no `..` is on the way and nothing is refused.
    fn place_at_once(&self, request: &Request, walk: Walk<'_>) -> Option<Place> {
        let rel = self.plain(request, walk.need)?;
        let name = rel.file_name()?.to_owned();
        if request.dir_only || walk.one_filesystem {
            return None;
        }
        if self.zone_of(&request.root, &rel) != Zone::Inside {
            return None;
        }
        let dir = self
            .open_beneath(&request.root, &rel.parent()?, sys::LOOKUP_DIR)
            .ok()?;
        let device = rustix::fs::fstat(&dir).ok()?.st_dev;
        if device != request.root.device && sys::is_kernel_made(&dir) {
            return None;
        }
        let found = match sys::stat_entry(&dir, &name) {
            Ok(stat) if walk.follow == Follow::Last && is_link(&stat) => return None,
            Ok(stat) if stat.st_dev != device => return None,
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) if walk.missing != Missing::MakeAll => None,
            Err(_) => return None,
        };
        Some(Place {
            root: Arc::clone(&request.root),
            dir: sys::into_dir(dir),
            name,
            rel,
            found,
            dir_only: false,
        })
    }

    /// Opens the way of a request as it stands, when no link and no `..` is on it.
    ///
    /// `None` leaves it to the walk: to follow a link, or to say what is wrong.
    fn open_at_once(&self, request: &Request, flags: OFlags) -> Option<Result<Found>> {
        let rel = self.plain(request, Rights::READ)?;
        let listing = flags.contains(OFlags::DIRECTORY);
        if request.dir_only && !listing {
            return None;
        }
        match self.zone_of(&request.root, &rel) {
            Zone::Inside => {}
            Zone::Top if listing => {}
            _ => return None,
        }
        let handle = self.open_beneath(&request.root, &rel, flags).ok()?;
        let stat = rustix::fs::fstat(&handle).ok()?;
        if stat.st_dev != request.root.device && sys::is_kernel_made(&handle) {
            return None;
        }
        Some(Ok(Found {
            handle,
            stat,
            root: Arc::clone(&request.root),
            rel,
        }))
    }

    fn open_by_walk(&self, request: &Request, walk: Walk<'_>, wanted: FileType) -> Result<Found> {
        for attempt in 0..TRIES {
            let place = walk.run(request.clone())?;
            let Some(kind) = place.kind() else {
                return Err(Problem::NotFound.into());
            };
            check_kind(kind, wanted)?;
            match self.open_place(&place, flags_for(wanted), attempt) {
                Ok(handle) => {
                    return Ok(Found {
                        stat: rustix::fs::fstat(&handle)?,
                        handle,
                        root: place.root,
                        rel: place.rel,
                    });
                }
                Err(Errno::LOOP | Errno::NOTDIR | Errno::AGAIN) => {}
                Err(errno) => return Err(sys::refusal(errno)),
            }
        }
        Err(Errno::AGAIN.into())
    }

    /// Opens what a walk has found: beneath the root at first, where the kernel can, else in its
    /// directory.
    fn open_place(&self, place: &Place, flags: OFlags, attempt: u32) -> Result<OwnedFd, Errno> {
        if attempt < TRIES_FROM_ROOT {
            match self.open_beneath(&place.root, &place.rel, flags) {
                Err(Errno::NOSYS) => {}
                opened => return opened,
            }
        } else {
            // Out of step with whoever else is at work here.
            std::thread::sleep(Duration::from_micros(10));
        }
        sys::open_entry(&place.dir, &place.name, flags)
    }

    /// Returns the place with its directory opened beneath the root, or `None` when another process
    /// has changed the way since the walk.
    fn confirmed(&self, mut place: Place) -> Result<Option<Place>> {
        let parent = place.rel.parent().unwrap_or_default();
        match self.open_beneath(&place.root, &parent, sys::LOOKUP_DIR) {
            Ok(dir) => place.dir = sys::into_dir(dir),
            Err(Errno::NOSYS) => {}
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(sys::refusal(errno)),
        }
        Ok(Some(place))
    }

    /// Returns where a path below a root lies for the scope.
    fn zone_of(&self, root: &Root, rel: &RelPath) -> Zone {
        let scope = self.scope();
        scope.map_or(Zone::Inside, |scope| scope.zone(root, rel.names()))
    }

    /// Checks that a path below a root lies in the scope; what is there does not matter.
    ///
    /// # Errors
    /// `outside_sandbox`.
    pub(crate) fn check_scope(&self, root: &Root, rel: &RelPath) -> Result<()> {
        match self.zone_of(root, rel) {
            Zone::Inside => Ok(()),
            _ => Err(Problem::OutsideSandbox.into()),
        }
    }

    /// Returns the way of a request as a real path, if it is one and nothing on it is refused.
    fn plain(&self, request: &Request, need: Rights) -> Option<RelPath> {
        let shared = self.shared();
        let rel = request
            .plain()
            .filter(|_| request.root.rights.contains(need))?;
        let kernels = rel
            .names()
            .next()
            .is_some_and(|top| is_kernels(&request.root, top));
        (!kernels && !shared.policy.forbids(need, &rel)).then_some(rel)
    }

    /// Opens a link-free path beneath a root in one call; `NOSYS` where the kernel has no such call.
    fn open_beneath(&self, root: &Root, rel: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let shared = self.shared();
        if shared.no_openat2.load(Ordering::Relaxed) {
            return Err(Errno::NOSYS);
        }
        let extra = if shared.one_filesystem {
            ResolveFlags::NO_XDEV
        } else {
            ResolveFlags::empty()
        };
        let opened = sys::open_beneath(&root.dir, rel.as_path(), flags, extra);
        if matches!(opened, Err(Errno::NOSYS | Errno::PERM)) && !sys::has_openat2(&root.dir) {
            shared.no_openat2.store(true, Ordering::Relaxed);
            return Err(Errno::NOSYS);
        }
        opened
    }
}

fn flags_for(wanted: FileType) -> OFlags {
    match wanted {
        FileType::Directory => sys::LIST,
        _ => sys::READ,
    }
}

fn is_link(stat: &Stat) -> bool {
    sys::kind_of(stat) == FileType::Symlink
}

fn check_kind(kind: FileType, wanted: FileType) -> Result<()> {
    match wanted {
        FileType::Directory if kind == FileType::Directory => Ok(()),
        FileType::Directory => Err(Problem::NotADirectory.into()),
        _ => check_regular(kind),
    }
}

fn check_regular(kind: FileType) -> Result<()> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Problem::IsADirectory.into()),
        _ => Err(Problem::NotAFile.into()),
    }
}

#[cfg(test)]
mod tests;
