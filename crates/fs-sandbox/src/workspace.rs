//! The workspace and its operations on whole files and directories.

mod builder;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File};
use fs_core::{
    Entry, EntryKind, Error, ErrorKind, IndexCache, ListOptions, Listing, Problem, ReadOptions,
    RelPath, Result, Window,
};
use rustix::fs::{FileType, Mode, Stat};

use crate::history::History;
use crate::lock::FileLocks;
use crate::policy::Policy;
use crate::resolve::{Follow, Missing, Place, Roots, Scope};
use crate::rights::{OpenFlags, Operation, Rights, needed};
use crate::write::{Change, Durability, HardLinks};

pub use builder::WorkspaceBuilder;

/// The roots an agent may touch, with their rights; cheap to clone.
///
/// Paths come as text: relative ones lie in the first root, `NAME:path` in the root of that name,
/// absolute ones in the root that holds them. Names that are no text are written as answers show
/// them, see [`fs_core::escape_name`].
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # std::fs::create_dir(dir.path().join("src")).unwrap();
/// use fs_sandbox::{Rights, Workspace};
///
/// let workspace = Workspace::builder()
///     .root("project", dir.path(), Rights::READ | Rights::EDIT)
///     .deny("*.pem")
///     .build()?;
/// workspace.open_dir("src")?;
/// let refused = workspace.open("../etc/passwd").unwrap_err();
/// assert_eq!(refused.code(), "outside_sandbox");
/// # Ok::<(), fs_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
    tool: &'static str,
    /// Where it works, if it was narrowed.
    scope: Option<Arc<Scope>>,
}

/// What the clones of a workspace share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) roots: Roots,
    pub(crate) policy: Policy,
    pub(crate) one_filesystem: bool,
    /// Set once the kernel has shown that it cannot open beneath a directory in one call.
    pub(crate) no_openat2: AtomicBool,
    hard_links: HardLinks,
    durability: Durability,
    locks: FileLocks,
    index: IndexCache,
    pub(crate) history: History,
}

/// A root as front ends show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootInfo {
    /// Its name.
    pub name: String,
    /// Its path as configured.
    pub path: PathBuf,
    /// Its path with links resolved at start.
    pub real_path: PathBuf,
    /// Its rights.
    pub rights: Rights,
}

/// How to create a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CreateDirOptions {
    /// Whether missing directories above it are created too.
    pub parents: bool,
    /// Whether a directory that is there will do.
    pub exist_ok: bool,
}

/// An open regular file with its place.
#[derive(Debug)]
pub struct Opened {
    /// The handle.
    pub file: File,
    /// The name of its root; `None` outside the roots.
    pub root: Option<String>,
    /// Its link-free path below that root.
    pub path: RelPath,
    /// Its size in bytes when it was opened.
    pub size: u64,
}

/// Where a path really leads, for a caller that keeps something about a file: one file that keeps
/// its name has one place, whatever paths and links lead there. It is not for answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RealPlace {
    /// The name of its root; `None` outside the roots.
    pub root: Option<String>,
    /// Its link-free path below that root.
    pub path: RelPath,
}

/// Which links a path is taken through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// All of them: what a read and a write do.
    Follow,
    /// A link that has the last name is meant itself: what a move and a removal do.
    KeepLast,
}

impl Opened {
    /// Returns the place of the file.
    pub fn place(&self) -> RealPlace {
        RealPlace {
            root: self.root.clone(),
            path: self.path.clone(),
        }
    }
}

impl Workspace {
    /// Returns a builder.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// Returns the roots in the order in which they were added.
    pub fn roots(&self) -> Vec<RootInfo> {
        let roots = self.shared.roots.named.iter();
        let infos = roots.map(|root| RootInfo {
            name: root.name.clone().unwrap_or_default(),
            path: root.path.clone(),
            real_path: root.real_path.clone(),
            rights: root.rights,
        });
        infos.collect()
    }

    /// Returns what may be done to paths in no root.
    pub fn outside(&self) -> Rights {
        let outside = self.shared.roots.outside.as_ref();
        outside.map_or(Rights::NONE, |outside| outside.rights)
    }

    /// Returns this workspace cut down to some of its directories, each named as any path is; roots,
    /// rights, deny rules, locks and history stay the same, and so do the names of paths.
    ///
    /// What is in none of the directories is `outside_sandbox`, and so is what is above one: nothing
    /// there is opened, listed, changed or told of, whichever way a path takes, and the answer is the
    /// same whether something is there or not. A directory counts by its path without links: if its
    /// name goes to a link later, what that leads to is outside. One that is gone is `not_found` and
    /// is not made again. Without any directory everything is outside. `.gitignore` files above still hide names
    /// from a walk, see [`Workspace::walk`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # std::fs::create_dir_all(dir.path().join("app/src")).unwrap();
    /// # std::fs::create_dir_all(dir.path().join("notes")).unwrap();
    /// use fs_sandbox::{Rights, Workspace, WriteOptions};
    ///
    /// let all = Workspace::builder().root("project", dir.path(), Rights::ALL).build()?;
    /// let app = all.narrowed(&["app"])?;
    /// app.write("app/src/main.rs", "", &WriteOptions::default())?;
    /// assert_eq!(app.stat("notes").unwrap_err().code(), "outside_sandbox");
    /// assert_eq!(app.stat("none").unwrap_err().code(), "outside_sandbox");
    /// assert_eq!(app.narrowed(&["."]).unwrap_err().code(), "outside_sandbox");
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Workspace::open_dir`], for the first directory that cannot be opened.
    pub fn narrowed(&self, directories: &[&str]) -> Result<Self> {
        let mut scope = Scope::default();
        for path in directories {
            let found = self.open_found(path, FileType::Directory)?;
            scope.add(&found.root, &found.rel);
        }
        Ok(Self {
            scope: Some(Arc::new(scope)),
            ..self.clone()
        })
    }

    /// Opens a regular file for reading; links are followed while they stay inside.
    ///
    /// A FIFO, socket or device is refused at once.
    ///
    /// # Errors
    /// `invalid_path`, `outside_sandbox`, `denied_by_policy`, `not_found`, `not_a_directory`,
    /// `is_a_directory`, `not_a_file`, `permission_denied`, `io`.
    pub fn open(&self, path: &str) -> Result<Opened> {
        let found = self.open_found(path, FileType::RegularFile)?;
        Ok(Opened {
            file: File::from_std(found.handle.into()),
            root: found.root.name.clone(),
            path: found.rel,
            size: size_of(&found.stat),
        })
    }

    /// Opens a directory for listing; links are followed while they stay inside.
    ///
    /// What is opened below the handle is not checked by the workspace any more.
    ///
    /// # Errors
    /// `invalid_path`, `outside_sandbox`, `denied_by_policy`, `not_found`, `not_a_directory`,
    /// `permission_denied`, `io`.
    pub fn open_dir(&self, path: &str) -> Result<Dir> {
        let found = self.open_found(path, FileType::Directory)?;
        Ok(Dir::from(found.handle))
    }

    /// Reads a window of a file.
    ///
    /// # Errors
    /// Those of [`Workspace::open`] and of [`fs_core::read_window`].
    pub fn read(&self, path: &str, options: &ReadOptions) -> Result<Window> {
        let opened = self.open(path)?;
        let window = self.read_opened(&opened, options);
        window.map_err(|error| error.at(path))
    }

    /// Reads a window of a file that is open.
    ///
    /// # Errors
    /// Those of [`fs_core::read_window`], without the path.
    pub fn read_opened(&self, opened: &Opened, options: &ReadOptions) -> Result<Window> {
        fs_core::read_window(&opened.file, options, Some(self.index()))
    }

    /// Returns the place that a path leads to, for whoever may edit there; nothing need be there.
    ///
    /// # Errors
    /// Those of [`Workspace::stat`].
    pub fn place_of(&self, path: &str, links: Links) -> Result<RealPlace> {
        let follow = match links {
            Links::Follow => Follow::Last,
            Links::KeepLast => Follow::No,
        };
        let place = self.locate(path, Rights::EDIT, follow)?;
        Ok(RealPlace {
            root: place.root.name.clone(),
            path: place.rel,
        })
    }

    /// Returns the place that a path leads to for whoever needs these rights there, or will lead to once
    /// the directories that are missing on its way are made. The rules are looked at for all of it, as
    /// they are when [`Workspace::write`] makes those directories.
    ///
    /// # Errors
    /// `not_found` where `..` follows a directory that is missing; `is_a_directory` where a name with a
    /// slash at its end is missing; else those of [`Workspace::stat`].
    pub fn place_to_be(&self, path: &str, need: Rights) -> Result<RealPlace> {
        let (root, path) = self.locate_ahead(path, need)?;
        Ok(RealPlace {
            root: root.name.clone(),
            path,
        })
    }

    /// Returns what the path names; a link is a link, unless a slash follows it.
    ///
    /// # Errors
    /// `invalid_path`, `outside_sandbox`, `denied_by_policy`, `not_found`, `not_a_directory`,
    /// `permission_denied`, `io`.
    pub fn stat(&self, path: &str) -> Result<Entry> {
        let need = needed(Operation::Stat, OpenFlags::NONE);
        let place = self.locate(path, need, Follow::No)?;
        let entry = entry_of(&place);
        entry.ok_or_else(|| Error::from(Problem::NotFound).at(path))
    }

    /// Lists a directory; denied names are not there, links are links.
    ///
    /// # Errors
    /// Those of [`Workspace::open_dir`], and `cancelled`.
    pub fn list(&self, path: &str, options: &ListOptions) -> Result<Listing> {
        let found = self.open_found(path, FileType::Directory)?;
        let dir = Dir::from(found.handle);
        let mut visible = self.visible(&found.root, &found.rel);
        let listing = fs_core::list(&dir, options, &mut |name, _| visible(name));
        listing.map_err(|error| error.at(path))
    }

    /// Creates a directory.
    ///
    /// # Errors
    /// `already_exists` when anything has the name, a dangling link too; else those of
    /// [`Workspace::stat`].
    pub fn create_dir(&self, path: &str) -> Result<()> {
        let need = needed(Operation::CreateDir, OpenFlags::NONE);
        let place = self.locate(path, need, Follow::No)?;
        let made = match place.found {
            Some(_) => Err(Problem::AlreadyExists.into()),
            None => make_dir(&place),
        };
        made.map_err(|error| error.at(path))
    }

    /// Creates a directory and its parents; one that is there is left as it is.
    ///
    /// # Errors
    /// `already_exists` when the name is that of something else, `not_a_directory` when a parent's
    /// is; else those of [`Workspace::stat`].
    pub fn create_dir_all(&self, path: &str) -> Result<()> {
        let need = needed(Operation::CreateDir, OpenFlags::NONE);
        let place = self.locate_or_make(path, need, Follow::Last, Missing::MakeAll)?;
        match place.kind() {
            Some(FileType::Directory) => Ok(()),
            _ => Err(Error::from(Problem::AlreadyExists).at(path)),
        }
    }

    /// Creates a directory as `options` say and returns whether it is new.
    ///
    /// # Errors
    /// `already_exists` when something else has the name, or anything without `exist_ok`;
    /// `not_found` for a missing parent without `parents`; else those of [`Workspace::stat`].
    pub fn create_dir_with(&self, path: &str, options: CreateDirOptions) -> Result<Change> {
        let need = needed(Operation::CreateDir, OpenFlags::NONE);
        let missing = if options.parents {
            Missing::MakeParents
        } else {
            Missing::Refuse
        };
        let place = self.locate_or_make(path, need, Follow::No, missing)?;
        let made = match place.found {
            None => make_dir(&place),
            Some(_) => Err(Problem::AlreadyExists.into()),
        };
        match made {
            Ok(()) => Ok(Change::Created),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && options.exist_ok => {
                // A link that leads to a directory will do.
                let there = self.locate(path, need, Follow::Last)?;
                let is_dir = there.kind() == Some(FileType::Directory);
                let unchanged = is_dir.then_some(Change::Unchanged);
                unchanged.ok_or_else(|| error.at(path))
            }
            Err(error) => Err(error.at(path)),
        }
    }

    /// Returns this workspace with another name for who changes files through it.
    pub(crate) fn with_tool(&self, tool: &'static str) -> Self {
        Self {
            tool,
            ..self.clone()
        }
    }

    /// Returns who changes files through this.
    pub(crate) fn tool(&self) -> &'static str {
        self.tool
    }

    /// Returns this workspace with all that its roots hold, to know a file again and not to tell of it.
    pub(crate) fn unscoped(&self) -> Self {
        Self {
            scope: None,
            ..self.clone()
        }
    }

    /// Returns where this works, if it was narrowed.
    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.scope.as_deref()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns what happens to the other names of a file unless a call says so.
    pub(crate) fn hard_link_policy(&self) -> HardLinks {
        self.shared.hard_links
    }

    /// Returns how sure a write is to outlive a power failure.
    pub(crate) fn durability(&self) -> Durability {
        self.shared.durability
    }

    /// Returns the locks of the files that are being changed.
    pub(crate) fn locks(&self) -> &FileLocks {
        &self.shared.locks
    }

    /// Returns the line index of large files.
    pub(crate) fn index(&self) -> &IndexCache {
        &self.shared.index
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.roots()).finish()
    }
}

fn make_dir(place: &Place) -> Result<()> {
    Ok(rustix::fs::mkdirat(
        &place.dir,
        &place.name,
        Mode::from_raw_mode(0o777),
    )?)
}

pub(crate) fn entry_of(place: &Place) -> Option<Entry> {
    let stat = place.found.as_ref()?;
    let kind = match place.kind()? {
        FileType::Directory => EntryKind::Dir,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    };
    Some(Entry {
        name: place.name.clone(),
        kind,
        size: Some(size_of(stat)),
        modified: modified(stat),
    })
}

pub(crate) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}

fn modified(stat: &Stat) -> Option<SystemTime> {
    time(stat.st_mtime, u32::try_from(stat.st_mtime_nsec).ok()?)
}

/// Returns the time that lies so far from 1970; `None` beyond what can be said.
pub(crate) fn time(seconds: i64, nanos: u32) -> Option<SystemTime> {
    let away = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds >= 0 {
        SystemTime::UNIX_EPOCH.checked_add(away)
    } else {
        SystemTime::UNIX_EPOCH.checked_sub(away)
    };
    whole?.checked_add(Duration::from_nanos(u64::from(nanos)))
}
