//! What the operating system says, as problems.

use std::io;

use super::Problem;

/// Maps what the operating system says to the problem that it means; the rest is [`Problem::Io`].
///
/// An operation that knows better (a write that finds the disk full, a resolver that sees a link)
/// raises its own problem before this mapping is asked.
impl From<io::Error> for Problem {
    fn from(source: io::Error) -> Self {
        use io::ErrorKind as Kind;
        match source.kind() {
            Kind::NotFound => Self::NotFound,
            Kind::AlreadyExists | Kind::DirectoryNotEmpty => Self::AlreadyExists,
            Kind::IsADirectory => Self::IsADirectory,
            Kind::NotADirectory => Self::NotADirectory,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::PermissionDenied,
            Kind::InvalidFilename => Self::InvalidPath {
                reason: "a name is too long",
            },
            Kind::ResourceBusy => Self::NotReplaceable {
                reason: "it is in use as a mount point",
            },
            _ if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                Self::InvalidPath {
                    reason: "too many links",
                }
            }
            _ => Self::Io {
                retry: is_transient(&source),
                source,
            },
        }
    }
}

/// Returns whether the disk, or the user's share of it, is full.
pub(super) fn is_full(source: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(source.kind(), StorageFull | QuotaExceeded)
}

fn is_transient(source: &io::Error) -> bool {
    use rustix::io::Errno;
    let transient = [
        Errno::INTR,
        Errno::AGAIN,
        Errno::TIMEDOUT,
        Errno::STALE,
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::MFILE,
        Errno::NFILE,
    ];
    transient
        .iter()
        .any(|errno| Some(errno.raw_os_error()) == source.raw_os_error())
}

/// Describes an I/O error in words that hold no path.
pub(super) fn describe(source: &io::Error) -> String {
    match source.raw_os_error() {
        Some(_) => source.to_string(),
        None => source.kind().to_string(),
    }
}
