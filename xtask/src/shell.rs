//! Programs that are run, and where the project lies.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

/// Returns the project's root folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns whether this run must not skip anything: `CI` is set to something true.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "0" && value != "false")
}

/// Returns a `cargo` that works on this project.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Returns whether `program` can be started with `arguments` and succeeds.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs `command` with its output on this terminal.
///
/// # Errors
/// Says which program failed and how.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", name_of(command)))?;
    if status.success() {
        return Ok(());
    }
    bail!("{} failed: {status}", name_of(command))
}

/// Runs `command` and returns what it printed.
///
/// # Errors
/// Says which program failed, with the end of what it wrote to its error output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", name_of(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} failed: {}\n{}",
            name_of(command),
            output.status,
            last_lines(&said, 20)
        );
    }
    String::from_utf8(output.stdout)
        .map_err(|_| anyhow!("{} printed what is no UTF-8", name_of(command)))
}

/// Runs `command`, shows both of its outputs as they come and returns their lines with whether it succeeded.
///
/// # Errors
/// Fails only when the program cannot be started or read.
pub(crate) fn tee(mut command: Command) -> Result<(bool, Vec<String>)> {
    let (reader, writer) = std::io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", name_of(&command)))?;
    drop(command); // With it goes our end for writing, so that reading comes to an end.
    let mut lines = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        lines.push(line);
    }
    Ok((child.wait()?.success(), lines))
}

/// Waits for `child` and ends it when `limit` is over.
///
/// # Errors
/// Fails when the time is over, or the process cannot be waited for.
pub(crate) fn wait(
    child: &mut std::process::Child,
    limit: Duration,
) -> Result<std::process::ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("not done after {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the last `count` lines of `text`.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(count);
    lines
        .into_iter()
        .skip(skipped)
        .collect::<Vec<_>>()
        .join("\n")
}

fn name_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut words = vec![name.to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .take(4)
            .map(|argument| argument.to_string_lossy().into_owned()),
    );
    words.join(" ")
}
/// Removes a directory, if it is there.
///
/// # Errors
/// Fails when it stays.
pub(crate) fn remove_dir(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
