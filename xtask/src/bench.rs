//! `cargo xtask bench`: how fast the gate is beside other servers and plain programs, as ratios of one run.

pub(crate) mod acp;
mod goals;
mod peers;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{demo, setup, shell};
use peers::Row;

/// How large the files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A log of 256 MiB, an edit in 10 MiB and in 1 GiB, folders of 5,000 and 1,000,000, a tree of 20,000: what the goals are about.
    Full,
    /// Small files, to try the benchmark; no goal is judged.
    Quick,
}

/// What the driver measures.
const OPERATIONS: &str = "start,tools_list,read_small,in_flight,log_head,log_mid_first,log_mid,\
                          log_tail,edit,edit_giant,write,list_dir,list_sizes,tree,find_name,\
                          grep,grep_cut,page,page_further";
const REPORT: &str = "docs/bench.md";

/// Builds and installs what is measured, measures, and prints the goals; a full run keeps its report.
///
/// # Errors
/// Fails when a peer is missing, an answer was not right, or a goal is missed.
pub(crate) fn run(scale: Scale) -> Result<()> {
    let mut release = shell::cargo(&["build", "--release", "--locked"]);
    shell::run(release.args(["--package", "tool-server", "--package", "baseline"]))?;
    let (rows, missing) = peers::rows();
    for reason in &missing {
        println!("missing: {reason}");
    }
    let (figures, tables) = measure(scale, &rows)?;
    let goals = goals::table(&figures);
    let report = report(&goals, &missing, &tables)?;
    println!("\n{}", goals::print(&goals));
    if scale == Scale::Quick {
        println!("These were small files: what is said of the goals says nothing yet.");
    } else {
        fs::write(shell::root().join(REPORT), report)?;
        println!("kept in {REPORT}");
    }
    judge(scale, &goals, &missing)
}

/// Runs the driver and returns its figures and its own report.
fn measure(scale: Scale, rows: &[Row]) -> Result<(Value, String)> {
    let folder = demo::target().join("bench");
    let name = match scale {
        Scale::Full => "full",
        Scale::Quick => "quick",
    };
    let corpus = folder.join(format!("corpus-{name}"));
    fs::create_dir_all(&folder)?;
    shell::remove_dir(&peers::state())?;
    let (json, markdown) = (folder.join("figures.json"), folder.join("report.md"));
    let mut driver = Command::new("python3");
    driver
        .arg(shell::root().join("bench/mcp_bench.py"))
        .args(["--scale", name, "--subject", peers::OURS])
        .args(["--only", OPERATIONS, "--corpus"])
        .args([&corpus, Path::new("--json"), &json])
        .args([Path::new("--md"), &markdown])
        .args([Path::new("--programs"), &setup::cargo_programs()])
        .args(rows.iter().map(Row::argument))
        .stdout(std::process::Stdio::null());
    shell::run(&mut driver)?;
    let figures = serde_json::from_str(&fs::read_to_string(json)?)?;
    Ok((figures, fs::read_to_string(markdown)?))
}

fn judge(scale: Scale, goals: &[goals::Goal], missing: &[String]) -> Result<()> {
    let names = |wanted: fn(&goals::Goal) -> bool| -> Vec<String> {
        let found = goals.iter().filter(|goal| wanted(goal));
        found.map(goals::Goal::name).collect()
    };
    let empty = names(goals::Goal::is_empty);
    let missed = names(goals::Goal::is_missed);
    if !missing.is_empty() || !empty.is_empty() {
        bail!("not measured: {}", [missing, &empty].concat().join("; "));
    }
    if scale == Scale::Full && !missed.is_empty() {
        bail!("missed: {}", missed.join("; "));
    }
    Ok(())
}

fn report(goals: &[goals::Goal], missing: &[String], tables: &str) -> Result<String> {
    let mut text = format!(
        "# Speed\n\nWritten by `cargo xtask bench`. Ratios of one run count; single figures move with the machine.\n\
         {}\n\n{}\n",
        machine()?,
        goals::print(goals),
    );
    for reason in missing {
        writeln!(text, "- missing: {reason}")?;
    }
    text.push_str("\n# The run\n\n");
    let tables = tables.trim_start_matches("# MCP file servers, measured");
    text.push_str(tables.trim_start());
    Ok(text)
}

/// Describes the machine without naming it.
fn machine() -> Result<String> {
    let processors = fs::read_to_string("/proc/cpuinfo")?;
    let model = processors
        .lines()
        .find(|line| line.starts_with("model name"));
    let model = model
        .and_then(|line| line.split(": ").nth(1))
        .unwrap_or("unknown processor");
    let memory = fs::read_to_string("/proc/meminfo")?;
    let kib = memory.split_whitespace().nth(1).context("/proc/meminfo")?;
    let cores = std::thread::available_parallelism()?;
    Ok(format!(
        "Measured on {cores} cores of {model}, {} GiB of memory, files in the page cache.",
        kib.parse::<u64>()? >> 20
    ))
}

/// Returns the path of a program that `cargo build --release` made.
fn built(name: &str) -> PathBuf {
    demo::target().join("release").join(name)
}
