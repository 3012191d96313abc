//! Paths below a root.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::error::Result;
use crate::problem::Problem;

/// The longest path that is accepted, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;
/// The longest name that is accepted, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// A path below a root: no `..`, no `.`, no leading or doubled slash, no NUL. A value is proof.
///
/// The empty path is the root itself. Names are bytes as the file system has them, so they need
/// not be UTF-8; [`fmt::Display`] shows them in one line, as [`escape_name`] does, and
/// [`RelPath::parse_escaped`] takes that back.
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

    /// Returns the path that was shown as `text`, whatever its bytes are.
    ///
    /// ```
    /// # use std::os::unix::ffi::OsStrExt;
    /// let path = fs_core::RelPath::parse_escaped(r"caf\xE9/\d.txt")?;
    /// assert_eq!(path.as_os_str().as_bytes(), b"caf\xE9/\\d.txt");
    /// assert_eq!(path.to_string(), r"caf\xE9/\d.txt");
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`RelPath::parse`].
    pub fn parse_escaped(text: &str) -> Result<Self> {
        Self::parse(unescape_name(text))
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
        let bytes = self.0.as_os_str().as_bytes();
        let start = memchr::memrchr(b'/', bytes).map_or(0, |slash| slash + 1);
        let name = bytes.get(start..).filter(|name| !name.is_empty());
        name.map(OsStr::from_bytes)
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

    /// Goes to the entry `name`, which a directory has.
    pub(crate) fn push(&mut self, name: &OsStr) {
        self.0.push(name);
    }

    /// Goes to the directory above.
    pub(crate) fn pop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0).into_os_string().into_vec();
        bytes.truncate(memchr::memrchr(b'/', &bytes).unwrap_or_default());
        self.0 = OsString::from_vec(bytes).into();
    }

    /// Returns the path as an owned string of the operating system.
    pub fn into_os_string(self) -> OsString {
        self.0.into_os_string()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_name(self.as_path().as_os_str()))
    }
}

/// Returns a name or path as text in one line that [`unescape_name`] turns back into its bytes.
///
/// What is not UTF-8, control characters, U+2028 and U+2029 become `\xHH` for each byte, in capitals.
/// A backslash stays one, unless it would be taken for the start of such an escape: it becomes `\x5C`
/// then. So almost every name is shown as it is.
///
/// ```
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
/// assert_eq!(fs_core::escape_name(OsStr::from_bytes(b"caf\xE9\n")), r"caf\xE9\x0A");
/// assert_eq!(fs_core::escape_name(OsStr::new(r"a\b")), r"a\b");
/// assert_eq!(fs_core::escape_name(OsStr::new(r"a\xE9")), r"a\x5CxE9");
/// ```
pub fn escape_name(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str().filter(|text| is_plain(text)) {
        return Cow::Borrowed(text);
    }
    let bytes = name.as_bytes();
    let mut shown = String::with_capacity(bytes.len() + 16);
    let mut start = 0;
    for chunk in bytes.utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            let rest = bytes.get(start + at..).unwrap_or_default();
            let is_shown = !is_control(character) && escaped(rest).is_none();
            if is_shown {
                shown.push(character);
            } else {
                push_escaped(
                    rest.get(..character.len_utf8()).unwrap_or_default(),
                    &mut shown,
                );
            }
        }
        push_escaped(chunk.invalid(), &mut shown);
        start += chunk.valid().len() + chunk.invalid().len();
    }
    Cow::Owned(shown)
}

/// Returns the name or path that [`escape_name`] shows as `text`.
///
/// Only what it makes is an escape: `\x5C`, and bytes of control characters and outside ASCII. So a
/// NUL, a slash or a dot cannot be written by one, and all else stays as it is.
///
/// ```
/// use std::os::unix::ffi::OsStrExt;
/// assert_eq!(fs_core::unescape_name(r"caf\xE9").as_bytes(), b"caf\xE9");
/// assert_eq!(fs_core::unescape_name(r"a\x2Fb").as_bytes(), br"a\x2Fb");
/// ```
pub fn unescape_name(text: &str) -> Cow<'_, OsStr> {
    let mut rest = text.as_bytes();
    if memchr::memmem::find(rest, b"\\x").is_none() {
        return Cow::Borrowed(OsStr::new(text));
    }
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((first, after)) = rest.split_first() {
        if let Some(byte) = escaped(rest) {
            bytes.push(byte);
            rest = rest.get(4..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Cow::Owned(OsString::from_vec(bytes))
}

/// Returns whether a text is shown as it is.
fn is_plain(text: &str) -> bool {
    let mut backslashes = memchr::memchr_iter(b'\\', text.as_bytes());
    let escapes = |at| escaped(text.as_bytes().get(at..).unwrap_or_default()).is_some();
    !text.chars().any(is_control) && !backslashes.any(escapes)
}

fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Writes each of `bytes` as `\xHH`.
pub(crate) fn push_escaped(bytes: &[u8], shown: &mut String) {
    for byte in bytes {
        // A String takes whatever is written.
        let _: fmt::Result = write!(shown, "\\x{byte:02X}");
    }
}

/// Returns the byte that the escape at the start of `bytes` stands for, if there is one.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    match bytes {
        [b'\\', b'x', high, low, ..] => match digit(*high)? * 16 + digit(*low)? {
            byte @ (0x01..=0x1F | b'\\' | 0x7F..) => Some(byte),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
