//! A process and all that it starts, which end together.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// A process in a group of its own; whoever is left of the group is killed when this is dropped.
#[derive(Debug)]
pub struct Group(pub Child);

impl Group {
    /// Starts the process.
    pub fn start(command: &mut Command) -> Self {
        let child = command.process_group(0).spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Waits so long for the process to end by itself.
    pub fn ended(&mut self, time: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + time;
        loop {
            let status = self.0.try_wait().expect("our child");
            if status.is_some() || Instant::now() >= end {
                return status;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills whoever is left.
    pub fn kill(&mut self) {
        // It fails where nobody is.
        kill_process_group(Pid::from_child(&self.0), Signal::KILL).ok();
        drop(self.0.wait());
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
