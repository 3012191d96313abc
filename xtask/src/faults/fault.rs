//! What is done to a call: an error in its place, or the end of the process before it.

use std::fmt;

use super::trace::{Call, On};

/// What happens instead of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// The call is not made and answers this error.
    Error(&'static str),
    /// The process is killed before the call; that is after the call before it, too.
    Kill,
}

/// Which errors a call gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errors {
    /// Those that it can give.
    Likely,
    /// All of them.
    All,
}

const ALL: [&str; 6] = ["ENOSPC", "EIO", "EDQUOT", "EINTR", "EMFILE", "EPERM"];
const CHANGES_A_NAME: &[&str] = &["ENOSPC", "EIO", "EDQUOT", "EPERM"];
const WRITES: &[&str] = &["ENOSPC", "EIO", "EDQUOT", "EINTR", "EPERM"];
const LOOKS: &[&str] = &["EIO", "EPERM"];

/// Calls by the errors that they can give; any other may give all.
const LIKELY: [(&[&str], &[&str]); 7] = [
    (
        &[
            "linkat",
            "link",
            "mkdirat",
            "mkdir",
            "renameat",
            "renameat2",
            "rename",
            "symlinkat",
            "unlinkat",
            "unlink",
            "rmdir",
            "fchmod",
            "fchmodat",
            "fchown",
            "fchownat",
            "fsetxattr",
            "fremovexattr",
            "utimensat",
            "ftruncate",
        ],
        CHANGES_A_NAME,
    ),
    (
        &[
            "write",
            "writev",
            "pwrite64",
            "copy_file_range",
            "fsync",
            "fdatasync",
            "fallocate",
            "syncfs",
            "ioctl",
        ],
        WRITES,
    ),
    (&["read", "pread64", "getdents64"], &["EIO", "EINTR"]),
    (
        &[
            "newfstatat",
            "fstat",
            "statx",
            "stat",
            "lstat",
            "fstatfs",
            "readlink",
            "readlinkat",
            "lseek",
            "faccessat2",
            "faccessat",
            "flistxattr",
            "fgetxattr",
            "getcwd",
        ],
        LOOKS,
    ),
    (&["flock", "futex"], &["EIO", "EINTR"]),
    (&["getrandom"], &["EINTR", "EPERM"]),
    (
        &[
            "mmap",
            "munmap",
            "mprotect",
            "madvise",
            "brk",
            "mremap",
            "sigaltstack",
            "rt_sigaction",
            "rt_sigprocmask",
            "sched_getaffinity",
            "clone3",
            "set_robust_list",
            "rseq",
        ],
        &["EPERM"],
    ),
];

/// Calls that get no error: an exit has no answer, and a close that fails has closed all the same, while
/// strace would leave the file open, with its lock.
const ENDINGS: [&str; 3] = ["close", "exit_group", "exit"];

/// Calls that no system lets fail, and that get no error: POSIX reserves no value for it, and what
/// is made of one differs between builds.
const UNFAILING: [&str; 6] = ["getpid", "gettid", "getuid", "geteuid", "getgid", "getegid"];

/// Where the system interrupts a call that is simply made again: with this error such a call must
/// change nothing about the outcome.
const REPEATED: [&str; 6] = [
    "pread64",
    "pwrite64",
    "copy_file_range",
    "flock",
    "write",
    "close",
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Fault {
    /// Returns the error's name, or KILL.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Error(name) => name,
            Self::Kill => "KILL",
        }
    }

    /// Returns the faults that `call` gets.
    pub(super) fn of(call: &Call, errors: Errors) -> Vec<Self> {
        let name = call.name.as_str();
        let likely = LIKELY.iter().find(|(names, _)| names.contains(&name));
        let errors = match (errors, likely) {
            _ if ENDINGS.contains(&name) || UNFAILING.contains(&name) => &[],
            (Errors::Likely, Some((_, errors))) => *errors,
            _ => &ALL[..],
        };
        let errors = errors.iter().map(|name| Self::Error(name));
        errors.chain([Self::Kill]).collect()
    }

    /// Returns strace's words for this fault at `call`.
    pub(super) fn words(self, call: &Call) -> [String; 4] {
        let what = match self {
            Self::Error(name) => format!("error={name}"),
            Self::Kill => "signal=SIGKILL".to_owned(),
        };
        let (name, ordinal) = (&call.name, call.ordinal);
        [
            "-e".to_owned(),
            format!("trace={name}"),
            "-e".to_owned(),
            format!("inject={name}:{what}:when={ordinal}"),
        ]
    }

    /// Returns whether the outcome must be as without the fault.
    pub(super) fn is_harmless(self, call: &Call) -> bool {
        let repeated = REPEATED.contains(&call.name.as_str());
        repeated && call.on != On::Process && self == Self::Error("EINTR")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, errors: Errors, wanted: &str) {
        let call = Call {
            name: name.to_owned(),
            ordinal: 2,
            thread: 0,
            on: On::Tree,
        };
        let found: Vec<_> = Fault::of(&call, errors)
            .iter()
            .map(|it| it.name())
            .collect();
        assert_eq!(found.join(" "), wanted, "{name}");
    }

    #[test]
    fn a_call_gets_the_errors_that_it_can_give_and_the_kill() {
        check("renameat2", Errors::Likely, "ENOSPC EIO EDQUOT EPERM KILL");
        check("fstat", Errors::Likely, "EIO EPERM KILL");
        check(
            "fstat",
            Errors::All,
            "ENOSPC EIO EDQUOT EINTR EMFILE EPERM KILL",
        );
        check(
            "openat2",
            Errors::Likely,
            "ENOSPC EIO EDQUOT EINTR EMFILE EPERM KILL",
        );
        check("exit_group", Errors::All, "KILL");
        check("geteuid", Errors::All, "KILL");
    }
}
