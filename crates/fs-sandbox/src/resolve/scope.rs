//! Scopes: the directories that a narrowed workspace works in, by their real paths.

use std::ffi::OsStr;
use std::path::PathBuf;

use fs_core::{Problem, RelPath, Result};

use crate::resolve::roots::Root;

/// Directories below the roots, each by its path without links from the top of the disk. Of a root
/// that lies in another one the same path says the same, whichever of them a way begins in.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    tops: Vec<PathBuf>,
}

/// Where a name lies, as its path says; what is there does not matter. Later ones allow more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Zone {
    /// Neither in a directory of the scope nor above one.
    Beyond,
    /// Above one.
    Above,
    /// It is one.
    Top,
    /// Below one.
    Inside,
}

impl Scope {
    /// Adds the directory with that link-free path below a root.
    pub(crate) fn add(&mut self, root: &Root, path: &RelPath) {
        self.tops.push(real_path(root, path.names()));
    }

    /// Returns where the names below a root lead.
    pub(crate) fn zone<'n>(&self, root: &Root, names: impl IntoIterator<Item = &'n OsStr>) -> Zone {
        let path = real_path(root, names);
        let zones = self.tops.iter().map(|top| match path.strip_prefix(top) {
            Ok(below) if below.as_os_str().is_empty() => Zone::Top,
            Ok(_) => Zone::Inside,
            Err(_) if top.starts_with(&path) => Zone::Above,
            Err(_) => Zone::Beyond,
        });
        zones.max().unwrap_or(Zone::Beyond)
    }
}

impl Zone {
    /// Checks that a way may go on here.
    ///
    /// # Errors
    /// `outside_sandbox`.
    pub(crate) fn check_way(self) -> Result<()> {
        match self {
            Self::Beyond => outside(),
            Self::Above | Self::Top | Self::Inside => Ok(()),
        }
    }

    /// Checks that a way may end here, where a directory is or something else, or nothing.
    ///
    /// The name of the scope's directory is an entry of the directory above, which is not inside: so
    /// it is given to nothing else.
    ///
    /// # Errors
    /// `outside_sandbox`; `not_found` where a directory of the scope is gone.
    pub(crate) fn check_end(self, there: There) -> Result<()> {
        match (self, there) {
            (Self::Inside, _) | (Self::Top, There::Directory) => Ok(()),
            (Self::Top, There::Nothing) => Err(Problem::NotFound.into()),
            _ => outside(),
        }
    }
}

/// What is where a way ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum There {
    Nothing,
    Directory,
    Other,
}

fn real_path<'n>(root: &Root, names: impl IntoIterator<Item = &'n OsStr>) -> PathBuf {
    let mut path = root.real_path.clone();
    path.extend(names);
    path
}

fn outside<T>() -> Result<T> {
    Err(Problem::OutsideSandbox.into())
}
