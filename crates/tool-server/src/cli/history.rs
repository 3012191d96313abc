//! `history`, `undo` and `show`: what tools changed, for people.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use fs_core::{FileBytes, one_line};
use fs_edit::{DiffOptions, diff_between};
use fs_sandbox::{HistorySide, UndoOptions, Workspace};
use serde_json::Value;
use tool_server::history::{line, object, said, whole};

use super::print_out;
use crate::config::Print;
use crate::failure::Failure;

/// How many changes are listed.
const LISTED: usize = 100;
/// The largest file, in bytes, that is shown as a diff.
const SHOWN: u64 = 16 * 1024 * 1024;
/// How much of a diff is shown.
const PAGE: DiffOptions = DiffOptions {
    context: 3,
    max_lines: 10_000,
    max_bytes: 1024 * 1024,
    first_line: 1,
};

/// Lists changes, of one file or of all, newest first.
pub(crate) fn history(
    workspace: &Workspace,
    path: Option<&str>,
    print: Print,
) -> Result<ExitCode, Failure> {
    let entries = match path {
        Some(path) => workspace.history(path, LISTED),
        None => workspace.history_of_all(LISTED),
    };
    let entries = entries.map_err(|error| Failure::failed(error.to_string()))?;
    if print == Print::Json {
        let objects = entries.iter().map(|entry| object(entry, workspace));
        return print_out(&format!("{}\n", objects.collect::<Value>()));
    }
    let lines = entries
        .iter()
        .map(|entry| line(entry, path, workspace) + "\n");
    print_out(&lines.collect::<String>())
}

/// Takes changes back.
pub(crate) fn undo(
    workspace: &Workspace,
    path: &str,
    entry: Option<u64>,
) -> Result<ExitCode, Failure> {
    let options = UndoOptions {
        entry,
        cancel: super::interrupted().map_err(Failure::failed)?,
        ..UndoOptions::default()
    };
    let undone = workspace.for_tool("undo").undo(path, &options);
    let undone = undone.map_err(|error| match error.hint() {
        // Tools and people have other names for it.
        Some(hint) => {
            let hint = hint.replace("`edit_history`", "`tool-server history`");
            Failure::failed(format!("{error}\n{hint}"))
        }
        None => Failure::failed(error.to_string()),
    })?;
    for warning in &undone.warnings {
        tracing::warn!("{warning}");
    }
    print_out(&format!("{}\n", said(&undone, path)))
}

/// Shows what a change did, by default the newest one of a file.
pub(crate) fn show(
    workspace: &Workspace,
    path: &str,
    entry: Option<u64>,
) -> Result<ExitCode, Failure> {
    let failed = |error: fs_core::Error| Failure::failed(error.to_string());
    let entries = workspace.history(path, usize::MAX).map_err(failed)?;
    let wanted = |id: &u64| entry.is_none_or(|entry| entry == *id);
    let Some(found) = entries.iter().find(|entry| wanted(&entry.id)) else {
        let reason = format!("{}: the history has no such change of it", one_line(path));
        return Err(Failure::failed(reason));
    };
    let side = |side| -> Result<Vec<u8>, Failure> {
        let file = workspace
            .open_history(path, found.id, side)
            .map_err(failed)?;
        let Some(file) = file else {
            return Ok(Vec::new());
        };
        let bytes = FileBytes::read(&file, 0, SHOWN + 1).map_err(failed)?;
        if bytes.len() as u64 > SHOWN {
            return Err(Failure::failed(format!("{path}: too large to be shown")));
        }
        Ok(bytes.to_vec())
    };
    let (before, after) = (side(HistorySide::Before)?, side(HistorySide::After)?);
    let diff = diff_between(whole(&before), whole(&after), path, &PAGE);
    print_coloured(&format!("{}\n{diff}", line(found, Some(path), workspace)))
}

/// Writes a diff to standard output, in colours where that is a terminal that takes them.
fn print_coloured(diff: &str) -> Result<ExitCode, Failure> {
    let mut out = anstream::stdout().lock();
    let mut write = || {
        for line in diff.split_inclusive('\n') {
            let (text, end) = line
                .strip_suffix('\n')
                .map_or((line, ""), |text| (text, "\n"));
            let style = style_of(text);
            write!(out, "{style}{text}{style:#}{end}")?;
        }
        out.flush()
    };
    match write() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn style_of(line: &str) -> Style {
    let colour = |colour: AnsiColor| colour.on_default();
    match line.as_bytes().first() {
        _ if line.starts_with("---") || line.starts_with("+++") => Style::new().bold(),
        Some(b'+') => colour(AnsiColor::Green),
        Some(b'-') => colour(AnsiColor::Red),
        Some(b'@') => colour(AnsiColor::Cyan),
        Some(b'#') => colour(AnsiColor::Yellow),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, style: Style) {
        assert_eq!(style_of(line), style, "{line}");
    }

    #[test]
    fn lines_of_a_diff_have_the_usual_colours() {
        check("+new", AnsiColor::Green.on_default());
        check("-old", AnsiColor::Red.on_default());
        check("@@ -1 +1 @@", AnsiColor::Cyan.on_default());
        check("--- a", Style::new().bold());
        check(" same", Style::new());
        check("", Style::new());
    }
}
