//! Roots: directories opened once, found again by the two spellings of their paths.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use fs_core::{Error, Problem, Result};

use crate::resolve::sys;
use crate::rights::Rights;

/// A directory that was opened once, with its rights.
#[derive(Debug)]
pub(crate) struct Root {
    /// Its name; `None` for the outside, which is no root but is walked like one.
    pub(crate) name: Option<String>,
    /// Its path as configured.
    pub(crate) path: PathBuf,
    /// Its path with links resolved when it was opened.
    pub(crate) real_path: PathBuf,
    /// What may be done below it.
    pub(crate) rights: Rights,
    /// The handle.
    pub(crate) dir: Dir,
    /// The device it lies on.
    pub(crate) device: u64,
    /// The mount it lies on, where the kernel tells it.
    pub(crate) mount: Option<u64>,
    /// How many names lead to the deepest root that lies in this one.
    pub(crate) inner_depth: usize,
    /// The names of its two paths, from the top of the disk.
    spellings: Vec<Vec<OsString>>,
}

/// The roots of a workspace and what surrounds them.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// In the order of the command line.
    pub(crate) named: Vec<Arc<Root>>,
    /// The whole disk with the rights of the outside; `None` when it has none.
    pub(crate) outside: Option<Arc<Root>>,
}

impl Root {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// `not_found` and `not_a_directory` with the path as configured; `denied_by_policy` for a
    /// directory on a file system that the kernel makes up.
    pub(crate) fn open(name: Option<&str>, path: &Path, rights: Rights) -> Result<Self> {
        Self::try_open(name, path, rights).map_err(|error| error.at(&path.to_string_lossy()))
    }

    fn try_open(name: Option<&str>, path: &Path, rights: Rights) -> Result<Self> {
        let (dir, real_path) = open_ambient(path)?;
        if sys::is_kernel_made(&dir) {
            let reason = "no root lies on a file system that the kernel makes up".to_owned();
            return Err(Problem::DeniedByPolicy { reason }.into());
        }
        let spellings = [names_of(path), names_of(&real_path)];
        Ok(Self {
            name: name.map(str::to_owned),
            path: path.to_owned(),
            rights,
            device: rustix::fs::fstat(&dir)?.st_dev,
            mount: sys::mount_of(&dir),
            inner_depth: 0,
            spellings: spellings.into_iter().flatten().collect(),
            real_path,
            dir,
        })
    }

    /// Returns whether this is the top of the disk.
    pub(crate) fn is_disk(&self) -> bool {
        self.real_path.parent().is_none()
    }

    /// Returns how many of the first names lead to this root by its longest spelling that fits.
    fn matched(&self, names: &[&OsStr]) -> Option<usize> {
        let fitting = self
            .spellings
            .iter()
            .filter(|path| starts_with(names, path));
        fitting.map(Vec::len).max()
    }

    /// Returns the names that lead from `outer` to this root by real paths.
    fn names_below(&self, outer: &Path) -> Option<Vec<&OsStr>> {
        let below = self.real_path.strip_prefix(outer).ok()?;
        let below: Vec<_> = below.iter().collect();
        (!below.is_empty()).then_some(below)
    }
}

impl Roots {
    /// Returns the roots, in the order of the command line, and the outside.
    pub(crate) fn new(mut named: Vec<Root>, mut outside: Option<Root>) -> Self {
        let paths: Vec<_> = named.iter().map(|root| root.real_path.clone()).collect();
        for outer in named.iter_mut().chain(&mut outside) {
            let below = paths
                .iter()
                .filter_map(|path| path.strip_prefix(&outer.real_path).ok());
            outer.inner_depth = below
                .map(|below| below.iter().count())
                .max()
                .unwrap_or_default();
        }
        Self {
            named: named.into_iter().map(Arc::new).collect(),
            outside: outside.map(Arc::new),
        }
    }

    /// Returns all roots and the outside.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Root>> {
        self.named.iter().chain(&self.outside)
    }

    /// Returns the first root: that of relative paths.
    pub(crate) fn first(&self) -> Result<&Arc<Root>> {
        self.named
            .first()
            .ok_or_else(|| Problem::OutsideSandbox.into())
    }

    /// Returns the root of that name.
    pub(crate) fn named(&self, name: &str) -> Option<&Arc<Root>> {
        let mut named = self.named.iter();
        named.find(|root| root.name.as_deref() == Some(name))
    }

    /// Returns the root in which the names of an absolute path lie, and how many lead to it.
    ///
    /// The longest spelling wins, the first root among equals. `..` is no name: only the names
    /// before the first one are to be given.
    ///
    /// # Errors
    /// `outside_sandbox` when no root fits and the outside has no rights.
    pub(crate) fn of_absolute(&self, names: &[&OsStr]) -> Result<(&Arc<Root>, usize)> {
        let fitting = self.named.iter().rev();
        let fitting = fitting.filter_map(|root| Some((root, root.matched(names)?)));
        match (fitting.max_by_key(|(_, count)| *count), &self.outside) {
            (Some(found), _) => Ok(found),
            (None, Some(outside)) => Ok((outside, 0)),
            (None, None) => Err(Problem::OutsideSandbox.into()),
        }
    }

    /// Returns the innermost root that lies on the way from `outer` along `names`, and how many
    /// names lead to it.
    pub(crate) fn within(&self, outer: &Root, names: &[&OsStr]) -> Option<(&Arc<Root>, usize)> {
        if outer.inner_depth == 0 {
            return None;
        }
        let fitting = self.named.iter().rev().filter_map(|root| {
            let below = root.names_below(&outer.real_path)?;
            starts_with(names, &below).then_some((root, below.len()))
        });
        fitting.max_by_key(|(_, count)| *count)
    }
}

/// Opens a directory for state by its path, makes it and those above it for this user alone if they
/// are not there, and returns it with its path free of links.
///
/// # Errors
/// `invalid_argument` where it is not this user's alone to write to; `not_a_directory`,
/// `permission_denied`, `io`.
#[expect(
    clippy::disallowed_types,
    reason = "the operator names this directory before there is a workspace"
)]
pub(crate) fn create_ambient(path: &Path) -> Result<(Dir, PathBuf)> {
    use std::os::unix::fs::DirBuilderExt as _;

    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    let (dir, real_path) = open_ambient(path)?;
    let stat = rustix::fs::fstat(&dir)?;
    if stat.st_mode & 0o022 != 0 {
        return Err(Problem::invalid("state", "others may write to it: `chmod 700` it").into());
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Problem::invalid("state", "it is somebody else's").into());
    }
    Ok((dir, real_path))
}

/// Opens a directory by its path and returns it with its path free of links.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where a path from the operator becomes a handle"
)]
pub(crate) fn open_ambient(path: &Path) -> Result<(Dir, PathBuf)> {
    let real_path = std::fs::canonicalize(path)?;
    let opened = Dir::open_ambient_dir(&real_path, cap_std::ambient_authority());
    Ok((opened.map_err(Error::from)?, real_path))
}

/// Returns the names of an absolute path without `..`.
fn names_of(path: &Path) -> Option<Vec<OsString>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_owned()),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    path.is_absolute().then_some(names)
}

fn starts_with(names: &[&OsStr], start: &[impl AsRef<OsStr>]) -> bool {
    names.len() >= start.len() && names.iter().zip(start).all(|(a, b)| *a == b.as_ref())
}
