//! Paths below a root.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::error::{Result, one_line};
use crate::problem::Problem;

/// The longest path that is accepted, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;
/// The longest name that is accepted, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// A path below a root: no `..`, no `.`, no leading or doubled slash, no NUL. A value is proof.
///
/// The empty path is the root itself. Names are bytes as the file system has them, so they need
/// not be UTF-8; [`fmt::Display`] shows those with U+FFFD and control characters escaped.
///
/// ```
/// let path = fs_core::RelPath::parse("src/./main.rs")?;
/// assert_eq!(path.to_string(), "src/main.rs");
/// assert!(fs_core::RelPath::parse("../main.rs").is_err());
/// # Ok::<(), fs_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RelPath(PathBuf);

impl RelPath {
    /// Returns the root itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the path that `text` spells; `.` and doubled slashes are dropped.
    ///
    /// # Errors
    /// `invalid_path` for a `..`, a leading slash, a NUL, and for names over [`MAX_NAME_BYTES`] or
    /// paths over [`MAX_PATH_BYTES`].
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self> {
        let text = text.as_ref();
        if text.len() > MAX_PATH_BYTES {
            return Err(Problem::InvalidPath {
                reason: "it is longer than 4096 bytes",
            }
            .into());
        }
        let mut path = Self::root();
        for component in Path::new(text).components() {
            match component {
                Component::Normal(name) => path = path.join(name)?,
                Component::CurDir => {}
                Component::ParentDir => {
                    return Err(Problem::InvalidPath {
                        reason: "`..` in it",
                    }
                    .into());
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(Problem::InvalidPath {
                        reason: "it is absolute",
                    }
                    .into());
                }
            }
        }
        Ok(path)
    }

    /// Returns the path of the entry `name` below this one.
    ///
    /// # Errors
    /// `invalid_path` for a name that is empty, `.` or `..`, holds a slash or a NUL, or is longer
    /// than [`MAX_NAME_BYTES`].
    pub fn join(&self, name: &OsStr) -> Result<Self> {
        let bytes = name.as_encoded_bytes();
        let reason = match bytes {
            b"" => "a name is empty",
            b"." | b".." => "a name is a dot",
            _ if bytes.contains(&b'/') => "a name holds a slash",
            _ if bytes.contains(&0) => "it holds a NUL",
            _ if bytes.len() > MAX_NAME_BYTES => "a name is longer than 255 bytes",
            _ => return Ok(Self(self.0.join(name))),
        };
        Err(Problem::InvalidPath { reason }.into())
    }

    /// Returns the path without its last name, or `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_owned()))
    }

    /// Returns the last name, or `None` for the root.
    pub fn file_name(&self) -> Option<&OsStr> {
        self.0.file_name()
    }

    /// Returns the names from the root down.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.0.iter()
    }

    /// Returns whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// Returns the path for calls relative to the root's handle; `.` for the root.
    pub fn as_path(&self) -> &Path {
        if self.is_root() {
            Path::new(".")
        } else {
            &self.0
        }
    }

    /// Returns the path as the file system spells it; empty for the root.
    pub fn as_os_str(&self) -> &OsStr {
        self.0.as_os_str()
    }

    /// Returns the path as an owned string of the operating system.
    pub fn into_os_string(self) -> OsString {
        self.0.into_os_string()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.as_path().to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let parsed = RelPath::parse(text);
        let shown = parsed.as_ref().map(RelPath::to_string);
        assert_eq!(shown.as_deref().map_err(|error| error.code()), expected);
    }

    #[test]
    fn dots_and_doubled_slashes_are_dropped() {
        check("./a//b/./c/", Ok("a/b/c"));
        check("", Ok("."));
        check(".", Ok("."));
    }

    #[test]
    fn what_could_leave_the_root_is_refused() {
        check("..", Err("invalid_path"));
        check("a/../b", Err("invalid_path"));
        check("/a", Err("invalid_path"));
        check("a\0b", Err("invalid_path"));
    }

    #[test]
    fn long_names_and_long_paths_are_refused() {
        check(&"n".repeat(256), Err("invalid_path"));
        check(&"n/".repeat(2049), Err("invalid_path"));
        assert!(RelPath::parse("n".repeat(255)).is_ok());
    }

    #[test]
    fn the_parent_of_a_name_is_the_root() {
        let path = RelPath::parse("a").unwrap();
        assert_eq!(path.parent(), Some(RelPath::root()));
        assert_eq!(RelPath::root().parent(), None);
    }
}
