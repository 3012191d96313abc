//! `cargo xtask fuzz`: made-up bytes against the engines, as long as one likes.
//!
//! With cargo-fuzz and a nightly compiler it is they who run it, with the address sanitizer. Else the
//! pinned compiler builds the target itself, with the same coverage of branches and no sanitizer: the
//! engines have no unsafe code for it to look at.

mod seeds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// The targets, each a function of the crate in `fuzz/`.
const TARGETS: [&str; 5] = ["decode", "window", "plan", "relpath", "mcp_arguments"];

/// What cargo-fuzz passes to the compiler for coverage, but for the sanitizer.
const COVERAGE: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

/// An input that takes longer than this many seconds is a finding.
const TIMEOUT: u32 = 20;

/// What to do with a target.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Work {
    /// Look for findings this many seconds.
    Search(u64),
    /// Run one input.
    Repeat(PathBuf),
}

/// Runs a target.
///
/// # Errors
/// Fails on a finding, and when the target cannot be built.
pub(crate) fn run(target: &str, words: &[&str]) -> Result<()> {
    ensure!(
        TARGETS.contains(&target),
        "no target {target}; there are {}",
        TARGETS.join(", ")
    );
    let work = Work::of(words)?;
    let corpus = folder("corpus", target)?;
    let artifacts = folder("artifacts", target)?;
    let seeds = seeds::write(target, &corpus)?;
    println!("{target}: {seeds} seeds from tests/corpus");
    let scratch = Scratch::new()?;
    let mut command = if has_cargo_fuzz() {
        println!("{target}: cargo-fuzz, nightly, address sanitizer");
        by_cargo_fuzz(target)
    } else {
        println!("{target}: the pinned compiler with coverage, no sanitizer");
        by_ourselves(target)?
    };
    command.env("TMPDIR", &scratch.0);
    match &work {
        Work::Search(seconds) => {
            command
                .arg(&corpus)
                .arg(format!("-max_total_time={seconds}"));
        }
        Work::Repeat(input) => {
            command.arg(input);
        }
    }
    command
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-timeout={TIMEOUT}"))
        .arg("-print_final_stats=1")
        .arg("-max_len=4096");
    let (good, lines) = shell::tee(command)?;
    if !good {
        bail!("{target}: a finding; {}", again(target, &lines));
    }
    if let Some(count) = executions(&lines) {
        println!("{target}: {count} executions, no finding");
    }
    Ok(())
}

impl Work {
    fn of(words: &[&str]) -> Result<Self> {
        match words {
            ["--seconds", seconds] => Ok(Self::Search(seconds.parse()?)),
            ["--input", file] => Ok(Self::Repeat(PathBuf::from(file))),
            _ => bail!("fuzz TARGET needs --seconds N or --input FILE"),
        }
    }
}

/// A folder for what the target writes, gone when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    /// Lies in memory where that can be, since most of the time would be the disk's.
    fn new() -> Result<Self> {
        let name = format!("postern-fuzz-{}", std::process::id());
        let memory = Path::new("/dev/shm").join(&name);
        let made = fs::create_dir_all(&memory).map(|()| memory);
        let folder = made.or_else(|_| {
            let folder = std::env::temp_dir().join(&name);
            fs::create_dir_all(&folder).map(|()| folder)
        });
        Ok(Self(folder?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn has_cargo_fuzz() -> bool {
    shell::works("cargo", &["+nightly", "--version"])
        && shell::works("cargo", &["fuzz", "--version"])
}

fn by_cargo_fuzz(target: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "fuzz", "run"])
        .args(features(target))
        .args([target, "--"])
        .current_dir(shell::root());
    command
}

/// Builds the target and returns its program.
fn by_ourselves(target: &str) -> Result<Command> {
    let host = host()?;
    let folder = shell::root().join("fuzz/target");
    let manifest = ["--manifest-path", "fuzz/Cargo.toml"];
    // With a target named, what runs at build time has no coverage.
    let mut cargo = shell::cargo(&["build", "--quiet", "--release", "--locked"]);
    cargo
        .args(manifest)
        .args(features(target))
        .args(["--bin", target, "--target", &host, "--target-dir"])
        .arg(&folder)
        .env("RUSTFLAGS", COVERAGE.join(" "));
    shell::run(&mut cargo)?;
    let program = folder.join(host).join("release").join(target);
    let mut command = Command::new(program);
    command.current_dir(shell::root());
    Ok(command)
}

/// Returns what the target needs beside the engines.
fn features(target: &str) -> &'static [&'static str] {
    match target {
        "mcp_arguments" => &["--features", "tools"],
        _ => &[],
    }
}

fn host() -> Result<String> {
    let said = shell::output(Command::new("rustc").arg("-vV").current_dir(shell::root()))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}

fn folder(kind: &str, target: &str) -> Result<PathBuf> {
    let folder = shell::root().join("fuzz").join(kind).join(target);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Returns how many inputs were tried.
fn executions(lines: &[String]) -> Option<u64> {
    let mut counts = lines.iter().filter_map(|line| {
        let count = line.strip_prefix("stat::number_of_executed_units:")?;
        count.trim().parse().ok()
    });
    counts.next_back()
}

/// Says how a finding is repeated.
fn again(target: &str, lines: &[String]) -> String {
    let saved = lines
        .iter()
        .find_map(|line| line.split("Test unit written to ").nth(1));
    match saved {
        Some(file) => format!("again: cargo xtask fuzz {target} --input {file}"),
        None => "no input was saved".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_searched_for_a_time_or_repeats_an_input() {
        assert_eq!(Work::of(&["--seconds", "60"]).unwrap(), Work::Search(60));
        let file = Work::Repeat(PathBuf::from("a"));
        assert_eq!(Work::of(&["--input", "a"]).unwrap(), file);
        assert!(Work::of(&[]).is_err());
        assert!(Work::of(&["--seconds", "x"]).is_err());
    }

    #[test]
    fn what_the_fuzzer_says_is_understood() {
        let lines = ["stat::number_of_executed_units: 4096".to_owned()];
        assert_eq!(executions(&lines), Some(4096));
        let line = "artifact_prefix='a/'; Test unit written to a/crash-1".to_owned();
        assert!(again("plan", &[line]).ends_with("fuzz plan --input a/crash-1"));
    }

    #[test]
    fn every_target_is_a_program_of_the_crate() {
        let manifest = fs::read_to_string(shell::root().join("fuzz/Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(
                manifest.contains(&format!("name = \"{target}\"")),
                "{target}"
            );
        }
    }
}
