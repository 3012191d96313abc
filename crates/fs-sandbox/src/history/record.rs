//! What the history holds of a change: the names, and what had each before and after.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File};
use fs_core::{FileBytes, RelPath, Result, Version, escape_name};
use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// One change, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When it was made, in milliseconds since 1970.
    pub(crate) at: u64,
    /// Who made it.
    pub(crate) by: String,
    /// The names that changed: one, or the source and the target of a move.
    pub(crate) names: Vec<NameChange>,
    /// The change that this one took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<u64>,
}

/// What became of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameChange {
    /// Its path below the root, escaped as answers show names.
    pub(crate) path: String,
    /// What had the name before.
    pub(crate) before: State,
    /// What has it since.
    pub(crate) after: State,
}

/// What has a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Nothing.
    Absent,
    /// A link with this text, escaped.
    Link(String),
    /// A file.
    File(FileState),
}

/// What a file is, as far as it takes to know it again and to put it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    /// The hash of its content, up to 4 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// Its permission bits.
    pub(crate) mode: u32,
    /// Its inode and when that was last written to: what is known of a larger file.
    pub(crate) stamp: Stamp,
    /// Where its bytes are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<ObjectRef>,
}

/// Where bytes are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObjectRef {
    /// The object's name.
    pub(crate) address: String,
    /// When the object was last written to, in seconds and nanoseconds: a large one may have another
    /// name, by which somebody can write to it.
    pub(crate) written: (i64, i64),
}

/// Device, inode, and time of the last write; links, renames and modes do not move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp(u64, u64, i64, i64);

impl Record {
    /// Returns when the change was made.
    pub(crate) fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.at)
    }

    /// Returns whether the change was made to that name.
    pub(crate) fn concerns(&self, path: &RelPath) -> bool {
        let shown = path.to_string();
        self.names.iter().any(|change| change.path == shown)
    }

    /// Returns the addresses of the objects that it refers to.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &str> {
        let states = self.names.iter().map(|change| &change.before);
        states.filter_map(|state| match state {
            State::File(file) => file.object.as_ref().map(|object| object.address.as_str()),
            State::Absent | State::Link(_) => None,
        })
    }
}

impl FileState {
    /// Returns what an open file is now; up to 4 MiB it is read.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn of(file: &File) -> Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let version = if size <= Version::STRONG_BYTES {
            Some(hash(file, size)?)
        } else {
            None
        };
        Ok(Self {
            version,
            ..Self::seen(&stat)
        })
    }

    /// Returns what a file is as far as its directory tells; its content is not looked at.
    pub(crate) fn seen(stat: &Stat) -> Self {
        Self {
            version: None,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            mode: stat.st_mode & 0o777,
            stamp: Stamp::of(stat),
            object: None,
        }
    }

    /// Returns a text that names the inode and the time of its last write.
    pub(crate) fn stamp_digest(&self) -> String {
        let Stamp(device, inode, seconds, nanos) = self.stamp;
        format!("{device:x}-{inode:x}-{seconds:x}-{nanos:x}-{}", self.size)
    }

    /// Returns what is known of the file while it is rewritten: that it is this one.
    pub(crate) fn being_rewritten(&self) -> Self {
        let Stamp(device, inode, ..) = self.stamp;
        Self {
            version: None,
            size: 0,
            mode: self.mode,
            stamp: Stamp(device, inode, 0, 0),
            object: None,
        }
    }

    /// Returns whether no more is known than that.
    pub(crate) fn is_being_rewritten(&self) -> bool {
        self.version.is_none() && self.size == 0 && self.stamp.written() == (0, 0)
    }

    /// Returns whether `now` has the same content, or any where none is known: equal bytes where both were read, else the same
    /// inode, which nobody has written to. Of a file that was touched and not read this says no.
    pub(crate) fn has_content_of(&self, now: &Self) -> bool {
        if self.is_being_rewritten() {
            return self.stamp.is_same_inode(now.stamp);
        }
        match (&self.version, &now.version) {
            (Some(before), Some(now)) => before == now,
            _ => self.size == now.size && self.stamp == now.stamp,
        }
    }
}

impl State {
    /// Returns a link with this text.
    pub(crate) fn link(text: &OsStr) -> Self {
        Self::Link(escape_name(text).into_owned())
    }

    /// Returns the link that has a name; for anything else, nothing.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn link_at(dir: &Dir, name: &OsStr) -> Result<Self> {
        match rustix::fs::readlinkat(dir, name, Vec::new()) {
            Ok(text) => Ok(Self::link(OsStr::from_bytes(text.as_bytes()))),
            Err(Errno::INVAL | Errno::NOENT) => Ok(Self::Absent),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns what has a name, as far as the directory tells it; no file is read.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn seen_at(dir: &Dir, name: &OsStr) -> Result<Self> {
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                Self::link_at(dir, name)
            }
            Ok(stat) => Ok(Self::File(FileState::seen(&stat))),
            Err(Errno::NOENT) => Ok(Self::Absent),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the file, if it is one.
    pub(crate) fn file(&self) -> Option<&FileState> {
        match self {
            Self::File(file) => Some(file),
            Self::Absent | Self::Link(_) => None,
        }
    }

    /// Returns whether `now` is the same.
    pub(crate) fn is_still(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Absent, Self::Absent) => true,
            (Self::Link(before), Self::Link(now)) => before == now,
            (Self::File(before), Self::File(now)) => before.has_content_of(now),
            _ => false,
        }
    }
}

impl Stamp {
    /// Returns whether both are the same inode.
    pub(crate) fn is_same_inode(self, other: Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }

    /// Returns when the file was last written to, in seconds and nanoseconds.
    pub(crate) fn written(self) -> (i64, i64) {
        (self.2, self.3)
    }

    fn of(stat: &Stat) -> Self {
        // The types of these fields differ between machines.
        let signed = |value: i64| value;
        Self(
            stat.st_dev,
            stat.st_ino,
            signed(stat.st_mtime),
            i64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
        )
    }
}

/// Returns now, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or_default()
    })
}

fn hash(file: &File, size: u64) -> Result<String> {
    // One more byte tells a file that has grown meanwhile: its hash is no other file's.
    let bytes = FileBytes::read(file, 0, size + 1)?;
    Ok(Version::of_bytes(&bytes).as_str().to_owned())
}
