//! `history`, `undo` and `show`: what tools changed, for people.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use fs_core::{FileBytes, one_line};
use fs_edit::{DiffOptions, WholeText, diff_between};
use fs_sandbox::{HistorySide, UndoOptions, Workspace};
use serde_json::Value;
use tool_server::history::{line, object, said};

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
    // One more tells whether there are more.
    let entries = match path {
        Some(path) => workspace.history(path, LISTED + 1),
        None => workspace.history_of_all(LISTED + 1),
    };
    let mut entries = entries.map_err(|error| Failure::failed(error.to_string()))?;
    if entries.len() > LISTED {
        entries.truncate(LISTED);
        tracing::warn!("only the newest {LISTED} changes are listed; name a file to see its own");
    } else if entries.is_empty() {
        tracing::warn!("no changes");
    }
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
    let diff = diff_between(WholeText::of(&before), WholeText::of(&after), path, &PAGE);
    print_coloured(&format!("{}\n{diff}", line(found, Some(path), workspace)))
}

/// Writes a diff to standard output: to a terminal in colours, if it takes them, and without what
/// would steer it; to anything else as it is.
fn print_coloured(diff: &str) -> Result<ExitCode, Failure> {
    if !io::stdout().is_terminal() {
        return print_out(diff);
    }
    let mut out = anstream::stdout().lock();
    let mut write = || {
        let lines = diff.split_terminator('\n');
        let head = lines.clone().take_while(|line| !line.starts_with("@@"));
        let head = head.count();
        for (index, line) in lines.enumerate() {
            let style = if index < head {
                style_of_head(line)
            } else {
                style_of(line)
            };
            writeln!(out, "{style}{}{style:#}", harmless(line))?;
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

/// Returns the text with its control characters spelt out.
fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let spelt = |c: char| match c {
        c if steers(c) => c.escape_default().collect(),
        c => c.to_string(),
    };
    Cow::Owned(text.chars().map(spelt).collect())
}

/// Returns the style of a line before the first hunk.
fn style_of_head(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+' | b'-') => Style::new().bold(),
        _ => style_of(line),
    }
}

fn style_of(line: &str) -> Style {
    let colour = |colour: AnsiColor| colour.on_default();
    match line.as_bytes().first() {
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
    fn nothing_steers_the_terminal() {
        assert_eq!(harmless("+a\tb"), "+a\tb");
        assert_eq!(harmless("+\u{1b}[2J\u{9b}é"), "+\\u{1b}[2J\\u{9b}é");
    }

    #[test]
    fn lines_of_a_diff_have_the_usual_colours() {
        check("+new", AnsiColor::Green.on_default());
        check("-old", AnsiColor::Red.on_default());
        check("@@ -1 +1 @@", AnsiColor::Cyan.on_default());
        check("--- a", AnsiColor::Red.on_default());
        assert_eq!(style_of_head("--- a"), Style::new().bold());
        check(" same", Style::new());
        check("", Style::new());
    }
}
