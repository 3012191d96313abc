//! Requests: what a path asks for, found out from its text alone.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use fs_core::{MAX_NAME_BYTES, MAX_PATH_BYTES, Problem, RelPath, Result, unescape_name};

use crate::resolve::roots::{Root, Roots};

/// A path, matched to its root.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The root to start in.
    pub(crate) root: Arc<Root>,
    /// The way from there.
    pub(crate) steps: Vec<Step>,
    /// Whether the text says that it names a directory: it ends with `/`, `/.` or `..`.
    pub(crate) dir_only: bool,
}

/// A part of a path between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the entry of this name.
    Name(OsString),
    /// To the directory above: `..`.
    Up,
}

impl Request {
    /// Returns the request that a caller's path makes; asks the disk nothing. Bytes that are no text
    /// come as answers show them, by `\xHH`.
    ///
    /// # Errors
    /// `invalid_path` for a text that no path has, `outside_sandbox` for an absolute path in no root.
    pub(crate) fn parse(path: &str, roots: &Roots) -> Result<Self> {
        if path.is_empty() {
            return Err(invalid("it is empty"));
        }
        if let Some((root, rest)) = named(path, roots) {
            if rest.starts_with('/') {
                return Err(invalid("a slash follows the name of a root"));
            }
            return Self::below(Arc::clone(root), &unescape_name(rest), roots);
        }
        Self::of_text(&unescape_name(path), roots, roots.first())
    }

    /// Returns the request that the text of a path makes; a relative one starts in `base`.
    pub(crate) fn of_text(text: &OsStr, roots: &Roots, base: Result<&Arc<Root>>) -> Result<Self> {
        if !text.as_bytes().starts_with(b"/") {
            return Self::below(Arc::clone(base?), text, roots);
        }
        let mut steps = steps(text)?;
        let names = leading_names(&steps);
        let (root, count) = roots.of_absolute(&names)?;
        let root = Arc::clone(root);
        steps.drain(..count);
        Ok(Self::settled(root, steps, text, roots))
    }

    /// Returns the request for a path below a root.
    pub(crate) fn of_rel(root: &Arc<Root>, path: &RelPath) -> Self {
        let name = |name: &OsStr| Step::Name(name.to_owned());
        Self {
            root: Arc::clone(root),
            steps: path.names().map(name).collect(),
            dir_only: false,
        }
    }

    fn below(root: Arc<Root>, text: &OsStr, roots: &Roots) -> Result<Self> {
        Ok(Self::settled(root, steps(text)?, text, roots))
    }

    /// Returns the request from the innermost root on its way.
    fn settled(root: Arc<Root>, mut steps: Vec<Step>, text: &OsStr, roots: &Roots) -> Self {
        let inner = roots.within(&root, &leading_names(&steps));
        let inner = inner.map(|(root, count)| (Arc::clone(root), count));
        let root = match inner {
            Some((inner, count)) => {
                steps.drain(..count);
                inner
            }
            None => root,
        };
        Self {
            root,
            steps,
            dir_only: is_dir_only(text),
        }
    }

    /// Returns the way as a path, when it holds no `..`.
    pub(crate) fn plain(&self) -> Option<RelPath> {
        let names = leading_names(&self.steps);
        if names.len() < self.steps.len() {
            return None;
        }
        RelPath::parse(names.iter().collect::<PathBuf>()).ok()
    }
}

/// Returns the steps of a text in order; `.` and doubled slashes are none.
///
/// # Errors
/// `invalid_path` for a NUL, a text over 4096 bytes and a name over 255.
pub(crate) fn steps(text: &OsStr) -> Result<Vec<Step>> {
    let bytes = text.as_bytes();
    if bytes.len() > MAX_PATH_BYTES {
        return Err(invalid("it is longer than 4096 bytes"));
    }
    if bytes.contains(&0) {
        return Err(invalid("it holds a NUL"));
    }
    let mut steps = Vec::new();
    for part in bytes.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => steps.push(Step::Up),
            _ if part.len() > MAX_NAME_BYTES => {
                return Err(invalid("a name is longer than 255 bytes"));
            }
            name => steps.push(Step::Name(OsStr::from_bytes(name).to_owned())),
        }
    }
    Ok(steps)
}

/// Returns whether the last part of a text can only name a directory.
pub(crate) fn is_dir_only(text: &OsStr) -> bool {
    let last = text.as_bytes().rsplit(|byte| *byte == b'/').next();
    matches!(last, Some(b"" | b"." | b".."))
}

fn leading_names(steps: &[Step]) -> Vec<&OsStr> {
    let names = steps.iter().map_while(|step| match step {
        Step::Name(name) => Some(name.as_os_str()),
        Step::Up => None,
    });
    names.collect()
}

fn named<'p, 'r>(path: &'p str, roots: &'r Roots) -> Option<(&'r Arc<Root>, &'p str)> {
    let (name, rest) = path.split_once(':')?;
    Some((roots.named(name)?, rest))
}

fn invalid(reason: &'static str) -> fs_core::Error {
    Problem::InvalidPath { reason }.into()
}
