//! `acp-fs`: a proxy between an editor and an agent that speak the Agent Client Protocol, and what
//! people want to know of it afterwards.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

mod cli;
mod config;
mod environment;
mod failure;
mod journal;
mod mcp_server;
mod proxy;

use std::process::ExitCode;

use fs_sandbox::{HistoryStatus, Workspace};
use tracing::{info, warn};
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Command, Config};
use crate::failure::Failure;
use crate::proxy::Ending;

fn main() -> ExitCode {
    run().unwrap_or_else(|failure| failure.report())
}

fn run() -> Result<ExitCode, Failure> {
    let config = Config::from_line(
        std::env::args_os(),
        environment::state_directory(),
        environment::own_program(),
    )?;
    let workspace = &config.workspace;
    match config.command {
        Command::Pass(settings) => {
            log_from(LevelFilter::INFO);
            tell(workspace);
            Ok(end_as(proxy::run(settings)?))
        }
        Command::Log { session, print } => cli::log(workspace, session.as_deref(), print),
        Command::Show { session, path } => cli::show(workspace, &session, path.as_deref()),
        Command::Undo { session, path } => cli::undo(workspace, &session, path.as_deref()),
    }
}

/// Says where sessions may work, and whether what they change can be undone.
fn tell(workspace: &Workspace) {
    let roots = workspace.roots().into_iter();
    let roots: Vec<String> = roots.map(|root| root.path.display().to_string()).collect();
    info!("roots: {}", roots.join(", "));
    match workspace.history_status() {
        HistoryStatus::Off(reason) => warn!("no history and no journal, so no undo: {reason}"),
        HistoryStatus::On { swept: 0 } => {}
        HistoryStatus::On { swept } => {
            warn!("removed temporary files that a killed process left: {swept}");
        }
    }
}

/// Ends as the agent did: with its exit code, or by its signal.
fn end_as(ending: Ending) -> ExitCode {
    match ending {
        Ending::Code(code) => ExitCode::from(code),
        Ending::Signal(signal) => {
            let _not_ours = signal_hook::low_level::emulate_default_handler(signal);
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
    }
}

/// Sends logs from `level` on to standard error; standard output belongs to the protocol.
fn log_from(level: LevelFilter) {
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;

    let targets = Targets::new()
        .with_target("acp_fs", level)
        .with_default(LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .init();
}
