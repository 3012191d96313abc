//! A session: the directories it works in, and what it was served.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_core::{ErrorKind, Problem, RelPath, Result, escape_name};
use fs_sandbox::{RealPlace, RootInfo, Workspace};

use crate::served::Served;

/// What a read of a file that is not there is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingFile {
    /// `not_found`.
    #[default]
    Error,
    /// An empty text: some agents cannot create a file otherwise, because they read it first and
    /// take every error for a failure.
    Empty,
}

/// A session that is open.
#[derive(Debug)]
pub(crate) struct Session {
    /// The roots, cut down to the session's directories.
    pub(crate) workspace: Workspace,
    pub(crate) missing: MissingFile,
    pub(crate) served: Arc<Served>,
    /// The session's directories as the editor spells them, with their real paths.
    spellings: Vec<(String, PathBuf)>,
    /// The real paths of the roots by their names.
    roots: HashMap<String, PathBuf>,
}

impl Session {
    /// Opens a session over `directories`, as far as they lie in the roots of `workspace`, or hold
    /// one. One that is not there adds nothing.
    ///
    /// # Errors
    /// `invalid_path` for one that is not absolute.
    pub(crate) fn open(
        workspace: &Workspace,
        directories: &[PathBuf],
        missing: MissingFile,
    ) -> Result<Self> {
        let within = within(workspace, directories)?;
        let within: Vec<_> = within.iter().map(|path| spelt(path)).collect();
        let within: Vec<&str> = within.iter().map(AsRef::as_ref).collect();
        let spellings = directories.iter().filter_map(|directory| {
            let spelling = spelt(directory).trim_end_matches('/').to_owned();
            Some((spelling, real_path(directory)?))
        });
        let roots = workspace.roots().into_iter();
        Ok(Self {
            workspace: workspace.narrowed(&within)?.for_tool("fs/write_text_file"),
            missing,
            served: Arc::default(),
            spellings: spellings.collect(),
            roots: roots.map(|root| (root.name, root.real_path)).collect(),
        })
    }

    /// Returns the path for the workspace: with the session's directories by their real names. It is
    /// taken as it is, a backslash for a backslash.
    ///
    /// # Errors
    /// `invalid_path` for one that is not absolute, or is a URI or of another system.
    pub(crate) fn path<'p>(&self, asked: &'p str) -> Result<Cow<'p, str>> {
        check_absolute(asked).map_err(|error| error.at(asked))?;
        let fitting = self.spellings.iter().filter_map(|(spelling, real)| {
            let below = asked.strip_prefix(spelling.as_str())?;
            let is_below = below.is_empty() || below.starts_with('/');
            is_below.then_some((spelling.len(), real, below))
        });
        Ok(match fitting.max_by_key(|(length, ..)| *length) {
            Some((_, real, below)) => {
                let real = spelt(real);
                let below = spelt(Path::new(below));
                Cow::Owned(format!("{}{below}", real.trim_end_matches('/')))
            }
            None => spelt(Path::new(asked)),
        })
    }

    /// Returns the path of a place as the session spells its directories.
    pub(crate) fn spelled(&self, place: &RealPlace) -> PathBuf {
        let real = self.real(place);
        let fitting = self.spellings.iter().filter_map(|(spelling, directory)| {
            let below = real.strip_prefix(directory).ok()?;
            Some((directory.as_os_str().len(), Path::new(spelling).join(below)))
        });
        let nearest = fitting.max_by_key(|(length, _)| *length);
        nearest.map_or(real, |(_, path)| path)
    }

    /// Returns the path of a place for the workspace.
    pub(crate) fn path_of(&self, place: &RealPlace) -> String {
        spelt(&self.real(place)).into_owned()
    }

    fn real(&self, place: &RealPlace) -> PathBuf {
        let root = place.root.as_ref().and_then(|name| self.roots.get(name));
        let root = root.map_or(Path::new("/"), PathBuf::as_path);
        root.join(RelPath::as_path(&place.path))
    }
}

/// Returns the directories that lie in a root, and the roots that lie in a directory. What is not
/// there adds nothing.
///
/// # Errors
/// `invalid_path` for one that is not absolute.
pub(crate) fn within(workspace: &Workspace, directories: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let roots = workspace.roots();
    let mut within: Vec<PathBuf> = Vec::new();
    for directory in directories {
        check_absolute(&directory.to_string_lossy())?;
        let Some(real) = real_path(directory) else {
            continue;
        };
        for path in roots.iter().filter_map(|root| common(root, &real)) {
            let is_dir = workspace.open_dir(&spelt(path)).is_ok();
            if is_dir && !within.iter().any(|other| other == path) {
                within.push(path.to_owned());
            }
        }
    }
    Ok(within)
}

/// Returns the inner one of a root and a directory, when one lies in the other.
fn common<'p>(root: &'p RootInfo, directory: &'p Path) -> Option<&'p Path> {
    if directory.starts_with(&root.real_path) {
        Some(directory)
    } else if root.real_path.starts_with(directory) {
        Some(&root.real_path)
    } else {
        None
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the editor's directories are compared with the operator's roots by their real paths"
)]
fn real_path(directory: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(directory).ok()
}

fn spelt(path: &Path) -> Cow<'_, str> {
    escape_name(path.as_os_str())
}

/// Checks that a path is one of this system from its top.
///
/// # Errors
/// `invalid_path`.
fn check_absolute(path: &str) -> Result<()> {
    let reason = match path.as_bytes() {
        bytes if bytes.contains(&0) => "it holds a NUL",
        [b'/', ..] => return Ok(()),
        [] => "it is empty",
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => {
            "it is a path of Windows; this is another system"
        }
        [b'\\', b'\\', ..] => "it is a path of Windows; this is another system",
        _ if is_uri(path) => "it is a URI; the protocol takes plain absolute paths",
        _ => "it must be absolute",
    };
    Err(Problem::InvalidPath { reason }.into())
}

fn is_uri(path: &str) -> bool {
    path.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns whether an error says that nothing has the name.
pub(crate) fn is_missing(error: &fs_core::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}
