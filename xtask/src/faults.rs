//! `cargo xtask faults`: every system call of every change fails in turn, and the process is killed
//! before each; whatever happens, a file holds its old or its new bytes.
//!
//! A first run of an operation under strace gives its calls. Then the operation is run again and
//! again, each time with another call broken: strace counts calls by name and thread, so a call is
//! its name and its number. An oracle that shares nothing with the product judges what is there then.

mod fault;
mod operations;
mod oracle;
pub(crate) mod random;
mod report;
mod said;
mod session;
mod trace;
mod world;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{demo, shell};
use fault::{Errors, Fault};
use operations::{OPERATIONS, Operation};
use random::Random;
use report::Report;
use session::{Session, Verdict};
use trace::Call;
use world::World;

/// How many faults are tried at the same time.
const WORKERS: usize = 2;
/// How long the round takes that is a part of all tests.
const ROUND: Duration = Duration::from_secs(120);
/// So many faults that went wrong are enough to look at.
const ENOUGH: usize = 12;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    seed: u64,
    /// Ends the round after this time, wherever it is.
    limit: Option<Duration>,
    errors: Errors,
    profile: demo::Profile,
    /// One fault alone, `OPERATION:CALL:NUMBER:ERROR`, or those of one operation or of one call.
    only: Option<String>,
    /// How many faults that went wrong end the round.
    enough: usize,
}

/// A fault at a call of an operation.
#[derive(Debug, Clone)]
struct Point {
    operation: &'static Operation,
    call: Call,
    fault: Fault,
}

/// Checks that this machine can break system calls.
///
/// # Errors
/// Says what to install, or to allow: some containers forbid it.
fn check_strace() -> Result<()> {
    ensure!(
        shell::works("strace", &["-V"]),
        "no fault can be injected: install strace (apt-get install strace)"
    );
    ensure!(
        shell::works("strace", &["-f", "-qq", "-o", "/dev/null", "true"]),
        "no fault can be injected: strace may not trace here; allow ptrace (for a container: \
         --cap-add SYS_PTRACE)"
    );
    Ok(())
}

/// Breaks the server for two minutes, as a part of all tests: the release build where there is one.
///
/// # Errors
/// As [`run`].
pub(crate) fn test() -> Result<()> {
    let mut options = Options::round(ROUND);
    if !demo::target().join("release/tool-server").exists() {
        options.profile = demo::Profile::Dev;
    }
    run(&options)
}

impl Options {
    /// Returns a round of this length with a seed from the clock.
    fn round(limit: Duration) -> Self {
        Self {
            seed: Random::seed(),
            limit: Some(limit),
            errors: Errors::Likely,
            profile: demo::Profile::Release,
            only: None,
            enough: ENOUGH,
        }
    }

    /// Reads the words after the command.
    ///
    /// # Errors
    /// Names the word that is not understood.
    pub(crate) fn of(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            limit: None,
            ..Self::round(Duration::ZERO)
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} needs a value"))
            };
            match *word {
                "--seed" => options.seed = value()?.parse()?,
                "--seconds" => options.limit = Some(Duration::from_secs(value()?.parse()?)),
                "--dev" => options.profile = demo::Profile::Dev,
                "--no-fail-fast" => options.enough = usize::MAX,
                "--full" => options.errors = Errors::All,
                "--only" => options.only = Some((*value()?).to_owned()),
                other => bail!("faults has no {other}"),
            }
        }
        Ok(options)
    }

    fn wants(&self, point: &Point) -> bool {
        let wanted = self.only.as_deref();
        let names = [&*point.name(), point.operation.name, &*point.call.name];
        wanted.is_none_or(|only| names.contains(&only))
    }
}

impl Point {
    fn name(&self) -> String {
        let (operation, call, fault) = (self.operation.name, &self.call, self.fault);
        format!("{operation}:{}:{}:{fault}", call.name, call.ordinal)
    }
}

/// Builds the server and breaks it.
///
/// # Errors
/// Fails when a fault costs a byte, or a call of a trace was never broken.
pub(crate) fn run(options: &Options) -> Result<()> {
    check_strace()?;
    round(&demo::build(options.profile)?, options)
}

/// Breaks `program`.
///
/// # Errors
/// As [`run`].
fn round(program: &Path, options: &Options) -> Result<()> {
    let _alone = lock()?;
    let tools = tools_of(program)?;
    let sessions = sessions(program, &tools)?;
    let seed = options.seed;
    println!("faults: seed {seed}, {}", program.display());
    let mut points = points(&sessions, options)?;
    points.retain(|point| options.wants(point));
    ensure!(!points.is_empty(), "no fault is called that");
    let report = Mutex::new(Report::new(points.len()));
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    let result = std::thread::scope(|scope| {
        let work = |session| work(session, &points, &next, &report, start, options);
        let workers = sessions
            .iter()
            .map(|session| scope.spawn(move || work(session)));
        let workers: Vec<_> = workers.collect();
        let results = workers.into_iter().map(ScopedJoinHandle::join);
        let results = results.map(|done| done.unwrap_or_else(|_| bail!("a worker panicked")));
        results.collect::<Result<Vec<()>>>()
    });
    result?;
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    if options.limit.is_none() && report.bad() == 0 {
        report.check_complete()?;
    }
    report.close(&report_file(), seed, start.elapsed())
}

/// Keeps two rounds from working in the same folders, until the file is dropped.
fn lock() -> Result<File> {
    let folder = demo::target().join("faults");
    fs::create_dir_all(&folder)?;
    let file = File::create(folder.join("lock"))?;
    file.lock().context("cannot lock the folder of faults")?;
    Ok(file)
}

fn report_file() -> PathBuf {
    demo::target().join("faults/report.tsv")
}

fn sessions<'a>(program: &'a Path, tools: &'a [String]) -> Result<Vec<Session<'a>>> {
    let names = (0..WORKERS).map(|number| format!("world-{number}"));
    let sessions = names.map(|name| {
        Ok(Session {
            program,
            world: World::new(&demo::target(), &name)?,
            tools,
        })
    });
    sessions.collect()
}

fn tools_of(program: &Path) -> Result<Vec<String>> {
    let mut command = Command::new(program);
    let text = shell::output(command.args(["tools", "--json", "--tools=all", "--root=."]))?;
    let tools: Vec<Value> = serde_json::from_str(&text)?;
    let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    Ok(names.map(str::to_owned).collect())
}

/// Returns every fault of every operation that can be run here, in the seed's order, the operations
/// by turns: a round that ends early has seen all of them.
fn points(sessions: &[Session<'_>], options: &Options) -> Result<Vec<Point>> {
    let session = sessions.first().context("no worker")?;
    let mut random = Random::of(options.seed);
    let mut piles = Vec::new();
    for operation in &OPERATIONS {
        if let Some(reason) = lacks(session, operation) {
            println!("  {:18} left out: {reason}", operation.name);
            continue;
        }
        let calls = session.record(operation)?;
        let mut pile: Vec<Point> = calls
            .iter()
            .flat_map(|call| faults(operation, call, options))
            .collect();
        println!(
            "  {:18} {} calls, {} faults",
            operation.name,
            calls.len(),
            pile.len()
        );
        random.shuffle(&mut pile);
        piles.push(pile);
    }
    let longest = piles.iter().map(Vec::len).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|turn| piles.iter().filter_map(move |pile| pile.get(turn)));
    Ok(turns.cloned().collect())
}

fn lacks(session: &Session<'_>, operation: &Operation) -> Option<String> {
    if !session.has(operation.tool()) {
        return Some(format!("the server has no {}", operation.tool()));
    }
    let lacks_far = operation.is_far() && !session.world.has_far();
    lacks_far.then(|| "there is no second file system here".to_owned())
}

fn faults(operation: &'static Operation, call: &Call, options: &Options) -> Vec<Point> {
    let faults = Fault::of(call, options.errors).into_iter();
    let point = |fault| Point {
        operation,
        call: call.clone(),
        fault,
    };
    faults.map(point).collect()
}

/// Takes one point after the other until none is left, or the time is over.
fn work(
    session: &Session<'_>,
    points: &[Point],
    next: &AtomicUsize,
    report: &Mutex<Report>,
    start: Instant,
    options: &Options,
) -> Result<()> {
    let lock = || report.lock().unwrap_or_else(PoisonError::into_inner);
    while options.limit.is_none_or(|limit| start.elapsed() < limit) {
        let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) else {
            break;
        };
        let verdict = session.inject(point.operation, &point.call, point.fault)?;
        if !matches!(verdict, Verdict::Good(_)) {
            println!("  {}: {}", point.name(), report::words(&verdict));
            println!(
                "    again: cargo xtask faults --seed {} --only {}",
                options.seed,
                point.name()
            );
            let line = session.line(point.operation, &point.call, point.fault);
            println!("    {line}");
        }
        lock().add(point, &verdict);
        if lock().bad() >= options.enough {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_a_word_too_many_is_refused() {
        let options = Options::of(&["--seed", "7", "--seconds", "120"]).unwrap();
        assert_eq!(options.seed, 7);
        assert_eq!(options.limit, Some(Duration::from_secs(120)));
        assert_eq!(options.errors, Errors::Likely);
        assert_eq!(Options::of(&["--full"]).unwrap().errors, Errors::All);
        assert!(Options::of(&["--seed"]).is_err());
        assert!(Options::of(&["--all"]).is_err());
    }
}
