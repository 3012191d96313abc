//! Why a run ended early, and the exit code that says so.

use std::io::Write as _;
use std::process::ExitCode;

/// Why a run ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line cannot be followed: exit code 2.
    Usage(String),
    /// It can, but it failed: exit code 1.
    Failed(String),
    /// The command line is wrong, or asks for help or the version, in the parser's words.
    Line(Box<clap::Error>),
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// Says why on standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (message, code) = match self {
            Self::Usage(message) => (message, 2),
            Self::Failed(message) => (message, 1),
            Self::Line(error) => {
                // A closed terminal is no reason to fail in another way.
                let _unprinted = error.print();
                return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            }
        };
        let _unprinted = writeln!(std::io::stderr(), "acp-fs: {message}");
        ExitCode::from(code)
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self::Line(Box::new(error))
    }
}

impl From<fs_core::Error> for Failure {
    fn from(error: fs_core::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
