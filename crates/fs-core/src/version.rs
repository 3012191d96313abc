//! What a file was when it was read.

use std::os::fd::AsFd;

use crate::error::Result;
use crate::index::Stamp;
use crate::problem::Problem;

/// What a file was when it was read: a hash of its content and its size up to 4 MiB; above that
/// identity, size and times, marked weak.
///
/// The text form is `HASH-SIZE`, with `w:` before it when it is weak; it discloses the size and
/// nothing else. A weak version cannot see a change that keeps the size and reaches the disk within
/// one tick of the file system's clock, nor one by a shared memory map whose time is not written yet.
///
/// ```
/// let version = fs_core::Version::of_bytes(b"text");
/// assert_eq!(fs_core::Version::parse(version.as_str())?, version);
/// assert!(version.as_str().ends_with("-4") && !version.is_weak());
/// # Ok::<(), fs_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(String);

const WEAK: &str = "w:";
const HASH_DIGITS: usize = 32;

impl Version {
    /// Up to this size in bytes a version is a content hash.
    pub const STRONG_BYTES: u64 = 4 * 1024 * 1024;

    /// Returns the version of a file that holds `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::of_hash(blake3::hash(bytes), bytes.len() as u64)
    }

    /// Returns the version of a large file by its open handle, weak.
    ///
    /// # Errors
    /// `io` when the handle's state cannot be read.
    pub fn of_handle(file: &cap_std::fs::File) -> Result<Self> {
        let stat = rustix::fs::fstat(file.as_fd())?;
        Ok(Self::of_stamp(&Stamp::of(&stat)))
    }

    /// Returns the version that `text` spells.
    ///
    /// # Errors
    /// `invalid_argument` for field `if_version` when `text` is not what [`Self::as_str`] gives.
    pub fn parse(text: &str) -> Result<Self> {
        let plain = text.strip_prefix(WEAK).unwrap_or(text);
        let is_version = plain
            .split_once('-')
            .is_some_and(|(hash, size)| is_hash(hash) && is_size(size));
        if is_version {
            Ok(Self(text.to_owned()))
        } else {
            let reason = "it is not a version that a read gave out";
            Err(Problem::invalid("if_version", reason).into())
        }
    }

    /// Returns the text form: what `parse` takes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it says nothing about the content, only about identity, size and times.
    pub fn is_weak(&self) -> bool {
        self.0.starts_with(WEAK)
    }

    pub(crate) fn of_hash(hash: blake3::Hash, size: u64) -> Self {
        let hex = hash.to_hex();
        let head = hex.get(..HASH_DIGITS).unwrap_or_default();
        Self(format!("{head}-{size}"))
    }

    pub(crate) fn of_stamp(stamp: &Stamp) -> Self {
        let strong = Self::of_hash(blake3::hash(&stamp.to_bytes()), stamp.size);
        Self(format!("{WEAK}{}", strong.0))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_hash(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == HASH_DIGITS && text.bytes().all(is_digit)
}

fn is_size(text: &str) -> bool {
    text.parse::<u64>()
        .is_ok_and(|size| size.to_string() == text)
}

#[cfg(test)]
mod tests;
