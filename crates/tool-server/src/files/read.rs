//! `files_read`: a window of a file as exact text.

use fs_core::{ErrorKind, LineRange, ReadOptions, Window, one_line, read_window};
use fs_sandbox::Opened;

use crate::error::ToolError;
use crate::files::{ENCODING, PATH, encoding};
use crate::output::ToolOutput;
use crate::render::{counted, format_words, with_format};
use crate::schema::{Args, MAX_POSITION, Param};
use crate::stale::saw;
use crate::toolbox::{Call, Effect, Pace, ToolSet, ToolSpec, Toolbox};

/// Lines of an answer when the call names no limit.
const DEFAULT_LINES: u64 = 2_000;
/// Lines of an answer at most.
pub(crate) const MAX_LINES: i64 = 50_000;
/// Bytes of an answer when the call names no limit.
pub(crate) const DEFAULT_BYTES: u64 = 64 * 1024;
/// Bytes of an answer at most.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;
/// Characters of a line, unless the call reads inside one.
pub(crate) const LINE_CHARS: u64 = 2_000;
/// A file of this many bytes is read in less time than it takes to wake another thread.
pub(crate) const SHORT_BYTES: u64 = 64 * 1024;
/// Cut lines that are named one by one.
const NAMED_CUTS: usize = 5;

/// What is told of a window.
pub(crate) const FACTS: &[(&str, &str)] = &[
    ("first_line", "integer"),
    ("returned_lines", "integer"),
    ("total_lines", "integer"),
    ("eof", "boolean"),
    ("encoding", "string"),
    ("encoding_by", "string"),
    ("bom", "boolean"),
    ("eol", "string"),
    ("lossy", "boolean"),
    ("truncated", "boolean"),
    ("next", "object"),
    ("version", "string"),
    ("size", "integer"),
];

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "files_read",
    title: "Read a file",
    about: "Read a text file or a window of its lines as exact text; a second block says how to go \
            on and what is not plain. At most 2000 lines and 64 KiB, with limit 50000 and 1 MiB. \
            Longer lines than 2000 characters are read on by column.",
    params: &[
        PATH,
        Param::count("offset", MAX_POSITION, "First line, from 1."),
        Param::count("limit", MAX_LINES, "Lines at most."),
        Param::count("tail", MAX_LINES, "The last N lines instead."),
        Param::count(
            "column",
            MAX_POSITION,
            "Start at this character of the first line.",
        ),
        ENCODING,
        Param::flag("version", "For if_version."),
    ],
    effect: Effect::Reads,
    facts: FACTS,
    sets: &[ToolSet::Standard, ToolSet::Files, ToolSet::All],
    run,
    pace: Pace::Short(run_short),
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let options = options(toolbox, args, call)?;
    let opened = toolbox.workspace().open(path);
    let opened = opened.map_err(|error| explain(error, path))?;
    let window = toolbox.workspace().read_opened(&opened, &options);
    finish(toolbox, &opened, window, &options, args)
}

/// Reads a small file; answers nothing when the file is large, or when `run` is to say what is
/// wrong with the path.
fn run_short(toolbox: &Toolbox, args: &Args, call: &Call) -> Option<Result<ToolOutput, ToolError>> {
    let path = args.text("path").unwrap_or_default();
    let opened = toolbox.workspace().open(path).ok()?;
    if opened.size > SHORT_BYTES {
        return None;
    }
    let options = options(toolbox, args, call);
    Some(options.and_then(|options| {
        let window = read_window(&opened.file, &options, None);
        finish(toolbox, &opened, window, &options, args)
    }))
}

fn options(toolbox: &Toolbox, args: &Args, call: &Call) -> Result<ReadOptions, ToolError> {
    Ok(ReadOptions {
        range: range(args)?,
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
        lossy: true,
        max_bytes: Some(if is_limited(args) {
            MAX_BYTES
        } else {
            DEFAULT_BYTES
        }),
        max_line_chars: args.positive("column").is_none().then_some(LINE_CHARS),
        max_file_bytes: None,
        number_lines: false,
        cancel: call.cancel.clone(),
    })
}

fn finish(
    toolbox: &Toolbox,
    opened: &Opened,
    window: fs_core::Result<Window>,
    options: &ReadOptions,
    args: &Args,
) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let window = window.map_err(|error| explain(error, path))?;
    refuse_past_end(&window, options.range, "offset", path)?;
    saw(toolbox, opened, &window, options.range);
    Ok(render(window, options, args))
}

/// Returns the lines that the call asks for, at most as many as it may have.
fn range(args: &Args) -> Result<LineRange, ToolError> {
    let limit = args.positive("limit");
    let (offset, column) = (args.positive("offset"), args.positive("column"));
    let Some(tail) = args.positive("tail") else {
        return Ok(LineRange::From {
            line: offset.unwrap_or(1),
            column: column.unwrap_or(1),
            limit: Some(limit.unwrap_or(DEFAULT_LINES)),
        });
    };
    if offset.is_some() || column.is_some() {
        let reason = "it cannot be combined with offset or column";
        return Err(ToolError::invalid("tail", reason));
    }
    Ok(LineRange::Tail {
        count: limit.map_or(tail, |limit| limit.min(tail)),
    })
}

/// Returns whether the call says itself how much it wants.
fn is_limited(args: &Args) -> bool {
    args.positive("limit").is_some() || args.positive("tail").is_some()
}

fn explain(error: fs_core::Error, path: &str) -> ToolError {
    let error = ToolError::from(error.at(path));
    if error.code() == ErrorKind::IsADirectory.code() {
        return error.hinting("use files_ls to list a directory");
    }
    error
}

/// Refuses a window that begins behind the last line; `field` is the parameter that named it.
pub(crate) fn refuse_past_end(
    window: &Window,
    range: LineRange,
    field: &str,
    path: &str,
) -> Result<(), ToolError> {
    let LineRange::From { line, .. } = range else {
        return Ok(());
    };
    let total = window.total_lines.unwrap_or_default();
    if window.returned_lines > 0 || line == 1 || line <= total {
        return Ok(());
    }
    let length = match window.total_lines {
        Some(total) => format!(" ({total} lines)"),
        None => String::new(),
    };
    let path_shown = one_line(path);
    let message = format!("{field} {line} exceeds file length{length}: {path_shown}");
    Err(ToolError::new(ErrorKind::OutOfRange, message)
        .with("field", field)
        .with("value", line)
        .with("last", total)
        .at(path))
}

fn render(mut window: Window, options: &ReadOptions, args: &Args) -> ToolOutput {
    let shortened = !is_limited(args) && window.next.is_some();
    let text = std::mem::take(&mut window.text);
    let mut output = with_window(ToolOutput::new(text), &window)
        .with_fact("truncated", window.truncated || shortened);
    if let Some(note) = position_note(&window, options.range, "offset") {
        output = output.with_note(note);
    }
    output.with_words(&words(&window, args))
}

/// Returns the answer with the facts of a window.
pub(crate) fn with_window(output: ToolOutput, window: &Window) -> ToolOutput {
    let next = window.next.map(|next| {
        serde_json::json!({
            "line": next.line,
            "column": next.column,
        })
    });
    let output = output
        .with_known("first_line", window.first_line)
        .with_fact("returned_lines", window.returned_lines)
        .with_known("total_lines", window.total_lines)
        .with_fact("eof", window.eof)
        .with_fact("encoding_by", window.encoding_by.name())
        .with_fact("lossy", window.invalid_bytes > 0)
        .with_fact("truncated", window.truncated)
        .with_known("next", next)
        .with_fact("version", window.version.as_str())
        .with_fact("size", window.size);
    with_format(output, window.format)
}

/// Returns where the window stands in the file, unless it is the whole file; `field` is the
/// parameter that goes on.
pub(crate) fn position_note(window: &Window, range: LineRange, field: &str) -> Option<String> {
    let of_total = window
        .total_lines
        .map(|total| format!(" of {total}"))
        .unwrap_or_default();
    let shown = window.first_line.map(|first| {
        let last = first + window.returned_lines.saturating_sub(1);
        format!("Showing lines {first}-{last}{of_total}.")
    });
    match (window.next, range) {
        (Some(next), _) => {
            let column = if next.column > 1 {
                format!(" column={}", next.column)
            } else {
                String::new()
            };
            let shown = shown.unwrap_or_default();
            Some(format!(
                "{shown} Use {field}={}{column} to continue.",
                next.line
            ))
        }
        (None, LineRange::Tail { .. }) if window.first_line != Some(1) => {
            let last = counted(window.returned_lines, "line");
            shown.or_else(|| Some(format!("Showing the last {last}.")))
        }
        (None, LineRange::From { line: 2.., .. }) => window
            .total_lines
            .map(|total| format!("{total} lines total")),
        (None, _) => None,
    }
}

/// Returns what else is to be said: format, replaced bytes, cut lines, clamps, the version.
pub(crate) fn words(window: &Window, args: &Args) -> Vec<String> {
    let mut words = format_words(window.format, Some(window.encoding_by));
    if window.invalid_bytes > 0 {
        let bad = counted(window.invalid_bytes, "bad sequence");
        words.push(format!("{bad} shown with U+FFFD"));
    }
    for cut in window.cut_lines.iter().take(NAMED_CUTS) {
        let (line, column) = (cut.line, cut.next_column);
        words.push(format!("line {line} cut: column={column} goes on"));
    }
    if let Some(more @ 1..) = window.cut_lines.len().checked_sub(NAMED_CUTS) {
        words.push(format!("{} cut", counted(more as u64, "more line")));
    }
    words.extend_from_slice(args.clamped());
    if args.flag("version") {
        words.push(format!("version {}", window.version.as_str()));
    }
    words
}
