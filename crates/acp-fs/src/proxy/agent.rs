//! The agent's process: started with our environment and standard error, ended when nobody needs
//! it any more.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// An agent that was started.
#[derive(Debug)]
pub(crate) struct Agent {
    child: Child,
    handle: Option<OwnedFd>,
}

/// How an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With this exit code.
    Code(u8),
    /// By this signal.
    Signal(i32),
}

impl Agent {
    /// Starts the agent; returns it with the ends of its standard input and output.
    ///
    /// # Errors
    /// What the operating system says, `NotFound` where there is no such program.
    pub(crate) fn start(words: &[OsString]) -> io::Result<(Self, OwnedFd, OwnedFd)> {
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the operator names the agent on the command line"
        )]
        let mut command = std::process::Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        let handle = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let handle = handle.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok((Self { child, handle }, stdin.into(), stdout.into()))
    }

    /// Returns what can be told of the agent from other threads.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn leash(&self) -> io::Result<Leash> {
        let handle = self.handle.as_ref();
        Ok(Leash(handle.map(OwnedFd::try_clone).transpose()?))
    }

    /// Waits until the agent has ended.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn wait(&mut self) -> io::Result<Ending> {
        self.child.wait().map(Ending::of)
    }
}

/// The means to send an agent signals.
#[derive(Debug)]
pub(crate) struct Leash(Option<OwnedFd>);

impl Leash {
    /// Sends a signal; an agent that has ended gets none, nor does anybody else.
    pub(crate) fn send(&self, signal: i32) {
        let signal = Signal::from_named_raw(signal);
        if let (Some(handle), Some(signal)) = (&self.0, signal) {
            let _ended = pidfd_send_signal(handle, signal);
        }
    }
}

impl Ending {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(u8::try_from(code).unwrap_or(u8::MAX)),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(u8::MAX),
        }
    }
}
