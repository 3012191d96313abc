//! How the project is worked on. `cargo xtask` without arguments lists the commands.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it talks to a person at a terminal"
)]

mod bench;
mod client;
mod demo;
mod docs;
mod faults;
mod fuzz;
mod lint;
mod mutants;
mod setup;
mod shell;
mod source;
mod test;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  lint            format, clippy, rustdoc, cargo-deny, and the project's own rules
  test            every test, with the real clients and agents; installs what they need into .tools/
  demo [--dev]    a session with the gate on a copy of this source tree
  bench [--quick] the speed goals, measured against other servers; keeps docs/bench.md
  bench acp [--quick]
                  what the proxy between editor and agent costs; keeps docs/bench-acp.md
  mutants [NAME]  breaks the engines on purpose, one named way at a time; a test must fail
  faults [--seed N] [--seconds N] [--full] [--only NAME] [--dev] [--no-fail-fast]
                  breaks each system call of each change, and kills the process there
  fuzz TARGET --seconds N | --input FILE
                  throws made-up bytes at decode, window, plan, relpath or mcp_arguments
  docs [--check]  writes docs/errors.md and docs/tools.md from the code, or compares them
  setup clients   installs the clients and agents the tests use and prints where they are, as JSON
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["lint"] => lint::run(),
        ["test"] => test::run(),
        ["demo"] => demo::run(demo::Profile::Release),
        ["demo", "--dev"] => demo::run(demo::Profile::Dev),
        ["bench"] => bench::run(bench::Scale::Full),
        ["bench", "--quick"] => bench::run(bench::Scale::Quick),
        ["bench", "acp"] => bench::acp::run(bench::Scale::Full),
        ["bench", "acp", "--quick"] => bench::acp::run(bench::Scale::Quick),
        ["mutants"] => mutants::run(None),
        ["mutants", name] => mutants::run(Some(name)),
        ["faults", rest @ ..] => faults::run(&faults::Options::of(rest)?),
        ["fuzz", target, rest @ ..] => fuzz::run(target, rest),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["setup", "clients"] => setup::print_clients(),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!("no such command: {}\n\n{USAGE}", words.join(" ")),
    }
}
