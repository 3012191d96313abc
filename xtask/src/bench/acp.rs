//! `cargo xtask bench acp`: what the proxy between an editor and an agent costs.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Scale, built, machine};
use crate::{demo, shell};

const REPORT: &str = "docs/bench-acp.md";

/// What is measured: the work, the unit, our figure, the one that it is held against, and the bound.
#[derive(Debug, Clone, Copy)]
struct Row {
    work: &'static str,
    unit: &'static str,
    ours: &'static str,
    against: Option<(&'static str, &'static str)>,
    bound: Bound,
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    /// Ours is at most this.
    Most(f64),
    /// Ours is at least this.
    Least(f64),
    /// Ours is at most this many times the other one.
    Ratio(f64),
    /// Printed only.
    None,
}

const ROWS: [Row; 13] = [
    row(
        "a frame there and back, what the proxy adds",
        "µs",
        "frame",
        Bound::Most(100.0),
    )
    .against("the way without it", "frame_direct"),
    row("the same with 100 kB", "µs", "frame_100k", Bound::None)
        .against("the way without it", "frame_100k_direct"),
    row(
        "100 MB in frames of 160 B",
        "MB/s",
        "stream_small",
        Bound::Least(300.0),
    )
    .against("cat", "cat_small"),
    row(
        "100 MB in frames of 16 kB",
        "MB/s",
        "stream_16k",
        Bound::Least(300.0),
    )
    .against("cat", "cat_16k"),
    row(
        "100 MB in frames of 1 MB",
        "MB/s",
        "stream_1m",
        Bound::Least(300.0),
    )
    .against("cat", "cat_1m"),
    row(
        "100 MB of nested values",
        "MB/s",
        "stream_structured",
        Bound::Least(300.0),
    )
    .against("cat", "cat_structured"),
    row("4 KiB read, p50", "µs", "read", Bound::Ratio(1.5))
        .against("tool-server", "read_tool_server"),
    row(
        "100 lines in the middle of 1 GiB, first",
        "ms",
        "log_first",
        Bound::Ratio(0.2),
    )
    .against("sed -n 'A,Bp;Bq'", "log_sed"),
    row("the same again", "ms", "log_again", Bound::Most(1.0)),
    row(
        "memory of these, over idle",
        "MiB",
        "log_memory",
        Bound::Most(4.0),
    ),
    row(
        "memory after the start",
        "MiB",
        "memory_start",
        Bound::Most(10.0),
    ),
    row(
        "memory of 6,000 frames of 16 kB, over the start",
        "MiB",
        "memory_frames",
        Bound::Most(8.0),
    ),
    row(
        "memory left by a frame of 50 MB and its answer",
        "MiB",
        "memory_after_huge",
        Bound::Most(16.0),
    ),
];

const fn row(work: &'static str, unit: &'static str, ours: &'static str, bound: Bound) -> Row {
    Row {
        work,
        unit,
        ours,
        against: None,
        bound,
    }
}

impl Row {
    const fn against(mut self, name: &'static str, figure: &'static str) -> Self {
        self.against = Some((name, figure));
        self
    }

    /// Returns the row of the table, and whether the goal is reached.
    fn line(&self, figures: &Value) -> Result<(String, bool)> {
        let figure = |name: &str| {
            let found = figures.get(name).and_then(Value::as_f64);
            found.with_context(|| format!("no figure {name}"))
        };
        let ours = figure(self.ours)?;
        let (name, theirs) = match self.against {
            Some((name, other)) => (name, Some(figure(other)?)),
            None => ("", None),
        };
        let (goal, reached) = self.bound.judge(ours, theirs);
        let theirs = theirs.map_or(String::new(), |theirs| format!("{theirs:.3} {}", self.unit));
        let said = match self.bound {
            Bound::None => "",
            _ if reached => "yes",
            _ => "MISSED",
        };
        let (work, unit) = (self.work, self.unit);
        let line = format!("| {work} | {ours:.3} {unit} | {name} | {theirs} | {goal} | {said} |\n");
        Ok((line, reached))
    }
}

impl Bound {
    fn judge(self, ours: f64, theirs: Option<f64>) -> (String, bool) {
        match self {
            Self::Most(most) => (format!("≤ {most}"), ours <= most),
            Self::Least(least) => (format!("≥ {least}"), ours >= least),
            Self::Ratio(ratio) => {
                let reached = theirs.is_some_and(|theirs| ours <= ratio * theirs);
                (format!("≤ {ratio} ×"), reached)
            }
            Self::None => ("none".to_owned(), true),
        }
    }
}

/// Builds the programs, measures, and prints the table; a full run keeps it.
///
/// # Errors
/// Fails when an answer was not right, or a goal is missed.
pub(crate) fn run(scale: Scale) -> Result<()> {
    let mut release = shell::cargo(&["build", "--release", "--locked"]);
    shell::run(release.args(["--package", "tool-server", "--package", "acp-fs"]))?;
    let folder = demo::target().join("bench/acp");
    shell::remove_dir(&folder)?;
    fs::create_dir_all(&folder)?;
    let mut driver = Command::new("python3");
    driver
        .arg(shell::root().join("bench/acp_bench.py"))
        .arg("--acp-fs")
        .arg(built("acp-fs"))
        .arg("--tool-server")
        .arg(built("tool-server"))
        .arg("--folder")
        .arg(&folder)
        .args((scale == Scale::Quick).then_some("--quick"));
    let figures = serde_json::from_str(&shell::output(&mut driver)?)?;
    let (table, missed) = table(&figures)?;
    println!("{table}");
    if scale == Scale::Quick {
        println!(
            "These were few runs and small files: what is said of the goals says nothing yet."
        );
        return Ok(());
    }
    let head = "# Speed of acp-fs\n\nWritten by `cargo xtask bench acp`: medians, compared within one run; bytes and windows are checked.";
    let report = format!("{head}\n{}\n\n{table}", machine()?);
    fs::write(shell::root().join(REPORT), report)?;
    println!("kept in {REPORT}");
    if missed.is_empty() {
        return Ok(());
    }
    bail!("missed: {}", missed.join("; "))
}

/// Returns the table, and the work whose goal is missed.
fn table(figures: &Value) -> Result<(String, Vec<&'static str>)> {
    let mut table = String::new();
    writeln!(table, "| work | ours | against | theirs | goal | reached |")?;
    writeln!(table, "|---|--:|---|--:|--:|---|")?;
    let mut missed = Vec::new();
    for row in &ROWS {
        let (line, reached) = row.line(figures)?;
        table.push_str(&line);
        missed.extend((!reached).then_some(row.work));
    }
    Ok((table, missed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bound: Bound, ours: f64, theirs: Option<f64>, reached: bool) {
        assert_eq!(
            bound.judge(ours, theirs).1,
            reached,
            "{bound:?} {ours} {theirs:?}"
        );
    }

    #[test]
    fn a_goal_is_reached_at_its_bound_and_not_beyond() {
        check(Bound::Most(100.0), 100.0, None, true);
        check(Bound::Most(100.0), 100.1, None, false);
        check(Bound::Least(300.0), 300.0, None, true);
        check(Bound::Least(300.0), 299.9, None, false);
        check(Bound::Ratio(1.5), 3.0, Some(2.0), true);
        check(Bound::Ratio(1.5), 3.1, Some(2.0), false);
        check(Bound::Ratio(1.5), 1.0, None, false);
        check(Bound::None, 1e9, None, true);
    }

    #[test]
    fn each_row_needs_its_figures() {
        assert!(table(&serde_json::json!({"frame": 1.0})).is_err());
    }
}
