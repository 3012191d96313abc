//! `cargo xtask lint`: what compilers and tools check, and the project's own rules.

mod arrows;
mod budgets;
mod fence;
mod modules;
mod traces;
mod unfinished;

use std::time::Instant;

use anyhow::{Result, bail, ensure};

use crate::tree::{Breach, Tree};
use crate::{docs, setup, shell};

type Check = (&'static str, fn(&Tree) -> Vec<Breach>);

/// The project's own rules; each reads files and takes no time.
const RULES: [Check; 7] = [
    ("libraries in their own files", arrows::check_named),
    ("lengths of files and functions", budgets::check),
    ("the fence and its exceptions", fence::check),
    ("no file without a module", modules::check),
    ("nothing unfinished or switched off", unfinished::check),
    ("no traces of one machine", traces::check),
    ("docs/errors.md", docs::check_text),
];

type Tool = (&'static str, fn() -> Result<()>);

const TOOLS: [Tool; 8] = [
    ("arrows between crates", arrows::check),
    ("planted breaches of the fence", fence::holds),
    ("fuzz/Cargo.lock fits", fuzz_lock),
    ("cargo fmt --check", format),
    ("cargo clippy", clippy),
    ("rustdoc", rustdoc),
    ("cargo deny", deny),
    ("docs/tools.md", docs::check_tools),
];

/// Runs every check, also after one has failed, and prints a line for each.
///
/// # Errors
/// Fails when one of them has.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::of_project()?;
    let mut failed = Vec::new();
    for (name, breaches) in breaches(&tree) {
        for breach in &breaches {
            println!("  {breach}");
        }
        say(name, breaches.is_empty(), None);
        if !breaches.is_empty() {
            failed.push(name);
        }
    }
    budgets::report(&tree);
    for (name, tool) in TOOLS {
        let start = Instant::now();
        let outcome = tool();
        if let Err(error) = &outcome {
            println!("  {error:#}");
            failed.push(name);
        }
        say(name, outcome.is_ok(), Some(start));
    }
    if failed.is_empty() {
        println!("lint: all clean");
        return Ok(());
    }
    bail!("lint: {}", failed.join(", "))
}

/// Returns every breach of the project's own rules, with the rule's name.
fn breaches(tree: &Tree) -> Vec<(&'static str, Vec<Breach>)> {
    let checked = RULES.iter().map(|(name, check)| (*name, check(tree)));
    checked.collect()
}

fn say(name: &str, good: bool, since: Option<Instant>) {
    let mark = if good { "ok  " } else { "FAIL" };
    match since {
        Some(start) => println!("{mark} {name} ({:.1} s)", start.elapsed().as_secs_f64()),
        None => println!("{mark} {name}"),
    }
}

fn format() -> Result<()> {
    shell::run(&mut shell::cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    let arguments = ["clippy", "--quiet", "--locked", "--workspace"];
    let mut cargo = shell::cargo(&arguments);
    cargo.args(["--all-targets", "--", "-D", "warnings"]);
    let (clean, said) = shell::tee(cargo)?;
    // A misspelt post of the fence is a warning that `-D warnings` does not deny.
    let misspelt = said.iter().any(|line| line.contains("does not refer to"));
    ensure!(clean && !misspelt, "clippy has something to say");
    Ok(())
}

/// The fuzz targets are a workspace of their own, whose lock file no other build looks at.
fn fuzz_lock() -> Result<()> {
    let arguments = [
        "fetch",
        "--quiet",
        "--locked",
        "--manifest-path",
        "fuzz/Cargo.toml",
    ];
    shell::run(&mut shell::cargo(&arguments))
}

fn rustdoc() -> Result<()> {
    let arguments = ["doc", "--quiet", "--locked", "--workspace", "--no-deps"];
    let mut cargo = shell::cargo(&arguments);
    shell::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Checks licences, sources and bans; advisories need a database that not every machine reaches.
fn deny() -> Result<()> {
    let program = setup::cargo_tool(&setup::CARGO_DENY)?;
    shell::run(&mut shell::cargo(&["fetch", "--quiet", "--locked"]))?;
    let mut deny = std::process::Command::new(program);
    deny.current_dir(shell::root())
        .args(["--offline", "--log-level", "error", "check"])
        .args(["--hide-inclusion-graph", "bans", "licenses", "sources"]);
    shell::run(&mut deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clippy_refuses_planted_breaches_of_the_fence() {
        fence::holds().unwrap();
    }

    #[test]
    fn the_project_keeps_its_own_rules() {
        let tree = Tree::of_project().unwrap();
        let found = breaches(&tree)
            .into_iter()
            .flat_map(|(_, breaches)| breaches);
        let found: Vec<String> = found.map(|breach| breach.to_string()).collect();
        assert!(found.is_empty(), "\n{}", found.join("\n"));
    }
}
