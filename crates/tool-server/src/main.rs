//! `tool-server`: the toolbox over MCP, and for people and scripts on a command line.

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
mod failure;
mod flags;
mod instructions;
mod lines;
mod mcp;
mod progress;
mod request_id;
mod switches;
mod transport;

use std::process::ExitCode;

use fs_sandbox::HistoryStatus;
use tool_server::Toolbox;
use tracing::{info, warn};
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Command, Config, describe_outside, describe_roots};
use crate::failure::Failure;
use crate::mcp::Structured;
use crate::switches::{Outside, state_directory};

/// Calls that run at the same time at most; the others wait.
const MAX_CALLS: usize = 32;

fn main() -> ExitCode {
    run().unwrap_or_else(|failure| failure.report())
}

fn run() -> Result<ExitCode, Failure> {
    let config = Config::from_line(std::env::args_os())?;
    let config = config
        .with_outside(Outside::of_environment())
        .with_state(state_directory());
    match config.command.clone() {
        Command::Tools { print } => cli::tools(&config.settings, print),
        Command::Call {
            tool,
            arguments,
            print,
        } => {
            log_from(LevelFilter::WARN);
            let toolbox = open(&config)?;
            cli::call(&toolbox, &tool, &arguments, print)
        }
        Command::History { path, print } => {
            log_from(LevelFilter::WARN);
            cli::history(open(&config)?.workspace(), path.as_deref(), print)
        }
        Command::Undo { path, entry } => {
            log_from(LevelFilter::WARN);
            cli::undo(open(&config)?.workspace(), &path, entry)
        }
        Command::Show { path, entry } => {
            log_from(LevelFilter::WARN);
            cli::show(open(&config)?.workspace(), &path, entry)
        }
        Command::Serve => serve(&config),
    }
}

fn serve(config: &Config) -> Result<ExitCode, Failure> {
    log_from(LevelFilter::INFO);
    let toolbox = open(config)?;
    let structured = if config.structured_content {
        Structured::Yes
    } else {
        Structured::No
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_CALLS)
        .build()
        .map_err(|error| Failure::failed(format!("no runtime: {error}")))?;
    let served = runtime.block_on(mcp::serve(toolbox, structured));
    // A read that waits for input cannot be stopped; do not wait for it.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Opens the roots, says which they are, and confines this process to them where that is wanted.
fn open(config: &Config) -> Result<Toolbox, Failure> {
    let workspace = config.workspace()?;
    info!("roots: {}", describe_roots(&workspace));
    if let Some(outside) = describe_outside(&config.outside) {
        warn!("{outside}");
    }
    if let Some(missing) = cli::missing_tools(config.settings.set) {
        warn!("{missing}");
    }
    match workspace.history_status() {
        HistoryStatus::Off(reason) => warn!("no history, so no undo: {reason}"),
        HistoryStatus::On { swept: 0 } => {}
        HistoryStatus::On { swept } => {
            warn!("removed temporary files that a killed process left: {swept}");
        }
    }
    if config.confine {
        let state = match workspace.history_status() {
            HistoryStatus::On { .. } => config.state(),
            HistoryStatus::Off(_) => None,
        };
        let confinement = fs_sandbox::confine(&workspace, &Vec::from_iter(state))
            .map_err(|error| Failure::failed(format!("--confine: {error}")))?;
        warn!("confinement by the kernel: {confinement:?}");
    }
    Ok(Toolbox::new(workspace, config.settings.clone()))
}

/// Sends logs from `level` on to standard error; standard output belongs to the protocol.
fn log_from(level: LevelFilter) {
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;

    let targets = Targets::new()
        .with_target("tool_server", level)
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
