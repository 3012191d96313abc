//! `cargo xtask test`: every test of the workspace, the real clients among them, and a round of faults.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::setup::{self, Setup};
use crate::{demo, faults, shell};

/// A test that cannot run here for want of a program appends its reason to the file of this name.
const SKIPS: &str = "POSTERN_SKIPS";

/// The history of the folders that earlier runs have changed and removed.
const STATE: &str = "state-of-tests";

/// What a run of tests came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
}

/// Installs the clients, builds once, runs everything and prints one line that sums up.
///
/// # Errors
/// Fails when a test fails, when none ran, when a fault costs a byte, or when something was skipped
/// and `CI` is set.
pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    if let Setup::Missing(what) = setup::clients()? {
        println!("the real clients cannot run: this machine has no {what}");
    }
    let everything = ["build", "--locked", "--workspace", "--all-targets"];
    shell::run(&mut shell::cargo(&everything))?;
    println!("built after {:.0} s", start.elapsed().as_secs_f64());

    let skips = demo::target().join("skipped-tests");
    fs::write(&skips, "")?;
    shell::remove_dir(&demo::target().join("debug").join(STATE))?;
    let (good, tally) = run_tests(&skips)?;
    let skipped = fs::read_to_string(&skips)?;
    for reason in skipped.lines() {
        println!("skipped: {reason}");
    }
    let skips = skipped.lines().count();
    println!("all tests, in {:.0} s:", start.elapsed().as_secs_f64());
    println!(
        "{} passed, {} failed, {skips} skipped",
        tally.passed, tally.failed
    );
    if !good || tally.failed > 0 {
        bail!("a test failed");
    }
    if tally.passed == 0 {
        bail!("no test ran");
    }
    faults::test()?;
    if skips > 0 && shell::in_ci() {
        bail!("nothing may be skipped here");
    }
    println!("all done after {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the tests by nextest where it is installed, else by cargo alone.
fn run_tests(skips: &Path) -> Result<(bool, Tally)> {
    let nextest = shell::works("cargo", &["nextest", "--version"]);
    let runs: &[&[&str]] = if nextest {
        &[
            &[
                "nextest",
                "run",
                "--locked",
                "--workspace",
                "--no-fail-fast",
            ],
            &["test", "--locked", "--workspace", "--doc", "--no-fail-fast"],
        ]
    } else {
        &[&["test", "--locked", "--workspace", "--no-fail-fast"]]
    };
    let mut good = true;
    let mut tally = Tally::default();
    for arguments in runs {
        let mut cargo = shell::cargo(arguments);
        cargo.env(SKIPS, skips).env("CARGO_TERM_COLOR", "never");
        let (succeeded, lines) = shell::tee(cargo)?;
        good &= succeeded;
        for line in &lines {
            tally.add(line);
        }
    }
    Ok((good, tally))
}

impl Tally {
    /// Adds the counts of a closing line, of cargo's own runner or of nextest; other lines count nothing.
    fn add(&mut self, line: &str) {
        let line = line.trim_start();
        if !(line.starts_with("test result:") || line.starts_with("Summary [")) {
            return;
        }
        let words: Vec<&str> = line.split([' ', ';', ',']).collect();
        for pair in words.windows(2) {
            let [count, what] = pair else { continue };
            let count = count.parse().unwrap_or(0);
            match *what {
                "passed" => self.passed += count,
                "failed" | "timed" => self.failed += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, passed: u64, failed: u64) {
        let mut tally = Tally::default();
        tally.add(line);
        assert_eq!(tally, Tally { passed, failed }, "{line}");
    }

    #[test]
    fn closing_lines_are_counted() {
        let cargo =
            "test result: FAILED. 12 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        check(cargo, 12, 2);
        let nextest =
            "     Summary [   1.204s] 31 tests run: 30 passed (1 slow), 1 failed, 0 skipped";
        check(nextest, 30, 1);
        check("30 passed, 2 failed", 0, 0);
    }
}
