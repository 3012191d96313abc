//! Running the server in a world, by itself or under strace.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::fault::Fault;
use super::operations::{Operation, Words};
use super::oracle::{End, Outcome, Run};
use super::said::Said;
use super::trace::{self, Call};
use super::world::{Seen, World};
use crate::shell;

/// A call that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a fault is tried that did not come to its call.
const TRIES: u32 = 3;

/// A server and the world it works in.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) program: &'a Path,
    pub(super) world: World,
    /// The names of the server's tools.
    pub(super) tools: &'a [String],
}

/// What came of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All is as it must be.
    Good(Outcome),
    /// It is not; the text says how.
    Bad(String),
    /// The call did not come, in any try.
    Missed,
}

impl Session<'_> {
    /// Runs an operation without a fault and returns its system calls.
    ///
    /// # Errors
    /// Says what of the operation itself is not as it must be.
    pub(super) fn record(&self, operation: &Operation) -> Result<Vec<Call>> {
        let before = self.prepare(operation)?;
        let words = ["-y".to_owned()];
        let end = self.run(&mut self.traced(&words, operation.call))?;
        ensure!(end == End::Success, "{}: {}", operation.name, self.said()?);
        let log = self.log()?;
        let state = self.world.state();
        let calls = trace::calls(
            &log,
            |text| self.world.is_named_in(text),
            &state.to_string_lossy(),
        );
        let call = calls.first().context("no system call names a root")?;
        let run = Run {
            world: &self.world,
            operation,
            call,
            fault: Fault::Kill,
            end,
            said: &self.said()?,
            before: &before,
            after: &self.world.look()?,
        };
        match run.judge().and_then(|it| self.check_history(&run, it)) {
            Ok(Outcome::Made) => Ok(calls),
            Ok(other) => bail!("{} without a fault: {}", operation.name, other.name()),
            Err(error) => bail!("{} without a fault: {error}", operation.name),
        }
    }

    /// Breaks one call of an operation and judges what comes of it.
    ///
    /// # Errors
    /// Fails when nothing can be run or looked at.
    pub(super) fn inject(
        &self,
        operation: &Operation,
        call: &Call,
        fault: Fault,
    ) -> Result<Verdict> {
        for _ in 0..TRIES {
            let before = self.prepare(operation)?;
            let words = fault.words(call);
            let Ok(end) = self.run(&mut self.traced(&words, operation.call)) else {
                return Ok(Verdict::Bad("it hangs".to_owned()));
            };
            let hit = match fault {
                Fault::Kill => end == End::Signal,
                Fault::Error(_) => trace::injected(&self.log()?) == Some(call.thread),
            };
            if !hit {
                continue;
            }
            let run = Run {
                world: &self.world,
                operation,
                call,
                fault,
                end,
                said: &self.said()?,
                before: &before,
                after: &self.world.look()?,
            };
            return self.verdict(&run);
        }
        Ok(Verdict::Missed)
    }

    /// Judges what the fault left, then what the next start and an undo make of it.
    fn verdict(&self, run: &Run<'_>) -> Result<Verdict> {
        let outcome = run.judge().and_then(|outcome| {
            let outcome = self.check_start(run, outcome)?;
            let outcome = self.check_history(run, outcome)?;
            self.check_again(run, outcome).map(|()| outcome)
        });
        let outside = self.world.outside_change()?;
        Ok(match (outcome, outside) {
            (Ok(outcome), None) => Verdict::Good(outcome),
            (Ok(_), Some(change)) => Verdict::Bad(change),
            (Err(error), _) => Verdict::Bad(error),
        })
    }

    /// Returns the command that repeats a fault, in a world that is prepared.
    pub(super) fn line(&self, operation: &Operation, call: &Call, fault: Fault) -> String {
        let command = self.traced(&fault.words(call), operation.call);
        let words = command
            .get_args()
            .map(|word| quoted(&word.to_string_lossy()));
        let words: Vec<String> = words.collect();
        format!("strace {}", words.join(" "))
    }

    fn prepare(&self, operation: &Operation) -> Result<Seen> {
        self.world.lay(operation.before)?;
        for words in operation.first {
            let end = self.run(&mut self.plain(words))?;
            ensure!(
                end == End::Success,
                "{}: {words:?}: {}",
                operation.name,
                self.said()?
            );
        }
        self.world.look()
    }

    /// After an end by a signal the next start takes away what was left, or puts it back where it was;
    /// after a name that could not be taken away it changes nothing else.
    fn check_start(&self, run: &Run<'_>, outcome: Outcome) -> Result<Outcome, String> {
        if run.end != End::Signal && run.after.temps.is_empty() {
            return Ok(outcome);
        }
        self.must(&["files_ls", "path=."], "the next start")?;
        let now = self.look()?;
        if let Some(temp) = now.temps.first() {
            return Err(format!("{temp} is there even after the next start"));
        }
        if now.names == run.after.names {
            return Ok(outcome);
        }
        let again = Run {
            after: &now,
            ..*run
        };
        match run.end {
            End::Signal => again.judge(),
            _ => Err("the next start changed a file".to_owned()),
        }
    }

    /// The history reads, and a change that was made is undone as a whole; only an error may cost the
    /// history, and then the answer says so. A change that was not made leaves nothing to undo.
    fn check_history(&self, run: &Run<'_>, outcome: Outcome) -> Result<Outcome, String> {
        if !self.has("undo_edit") {
            return Ok(outcome);
        }
        self.must(&["edit_history"], "the history")?;
        let paths = run.operation.undo;
        if paths.is_empty() {
            return Ok(outcome);
        }
        let left = self.look()?;
        let mut before = left.names.clone();
        let mut undone = 0;
        for path in paths {
            let end = self.run(&mut self.plain(&["undo_edit", &format!("path={path}")]));
            let now = self.look()?.names;
            if end.map_err(|error| format!("{error:#}"))? == End::Success {
                undone += 1;
            } else if now != before {
                return Err("an undo that failed changed a file".to_owned());
            }
            before = now;
        }
        let now = self.look()?;
        let is_back = now.contents().eq(run.before.contents());
        let is_left = now.names == left.names;
        match outcome.is_made() {
            true if undone == paths.len() && is_back => Ok(outcome),
            true if undone < paths.len() && run.end != End::Signal => {
                run.check_says_no_undo().map(|()| outcome.without_history())
            }
            true => Err(format!(
                "undo did not bring back what was there: {}",
                self.told()
            )),
            false if is_back || is_left => Ok(outcome),
            false => Err("undo of a change that was not made changed a file".to_owned()),
        }
    }

    /// A change that was not made can be made now: the fault has left nothing that is in its way.
    fn check_again(&self, run: &Run<'_>, outcome: Outcome) -> Result<(), String> {
        if !outcome.is_not_made() {
            return Ok(());
        }
        self.must(run.operation.call, "the same call again")?;
        let again = Run {
            // No error this time; a kill leaves nothing to be lenient about.
            fault: Fault::Kill,
            end: End::Success,
            said: &self.said().map_err(|error| format!("{error:#}"))?,
            after: &self.look()?,
            ..*run
        };
        again
            .judge()
            .map(drop)
            .map_err(|error| format!("again: {error}"))
    }

    fn look(&self) -> Result<Seen, String> {
        self.world.look().map_err(|error| format!("{error:#}"))
    }

    fn must(&self, words: &[&str], what: &str) -> Result<(), String> {
        match self.run(&mut self.plain(words)) {
            Ok(End::Success) => Ok(()),
            Ok(_) => Err(format!("{what} fails: {}", self.told())),
            Err(error) => Err(format!("{what}: {error:#}")),
        }
    }

    /// Returns whether the server has a tool.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|each| each == tool)
    }

    fn plain(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.arg("call").args(words).args(self.world.flags());
        command
    }

    fn traced(&self, strace: &[String], words: Words) -> Command {
        let mut command = Command::new("strace");
        command
            .args(["-f", "-qq", "-o"])
            .arg(self.file("strace.log"));
        command.args(strace).arg("--").arg(self.program);
        command.arg("call").args(words).args(self.world.flags());
        command
    }

    fn run(&self, command: &mut Command) -> Result<End> {
        let mut child = command
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(File::create(self.file("stdout.log"))?)
            .stderr(File::create(self.file("stderr.log"))?)
            .spawn()?;
        let status = shell::wait(&mut child, PATIENCE)?;
        let code = status.code().map(|code| code.to_string());
        fs::write(self.file("status.log"), code.unwrap_or_default())?;
        Ok(match (status.success(), status.signal()) {
            (true, _) => End::Success,
            (_, None) => End::Failure,
            (_, Some(_)) => End::Signal,
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.world.base().join(name)
    }

    fn log(&self) -> Result<String> {
        let bytes = fs::read(self.file("strace.log"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns what the last run said.
    fn said(&self) -> Result<Said> {
        let status = fs::read_to_string(self.file("status.log"))?;
        Ok(Said {
            status: status.parse().ok(),
            output: fs::read_to_string(self.file("stdout.log"))?,
            errors: fs::read_to_string(self.file("stderr.log"))?,
        })
    }

    /// Returns the same in a line for people.
    fn told(&self) -> String {
        self.said().map(|said| said.to_string()).unwrap_or_default()
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.:,".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
