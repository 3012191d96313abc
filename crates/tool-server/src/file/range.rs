//! `read_file_range`: numbered lines, from a range or from the end.

use std::fmt::Write as _;

use fs_core::{LineRange, ReadOptions, Window, one_line};

use crate::error::ToolError;
use crate::file::TWIN;
use crate::file::read::{VERSION, explain};
use crate::files::read::{
    DEFAULT_BYTES, FACTS, LINE_CHARS, MAX_BYTES, MAX_LINES, position_note, refuse_past_end,
    with_window, words,
};
use crate::files::{ENCODING, PATH, encoding};
use crate::output::ToolOutput;
use crate::render::counted;
use crate::schema::{Args, MAX_POSITION, Param};
use crate::stale::saw;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

/// Lines of an answer when the call names no limit.
const DEFAULT_LINES: i64 = 500;

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "read_file_range",
    title: "Read lines of a file",
    about: "Read lines of a text file as `12: text`, after a header with path, encoding and number \
            of lines. Longer lines than 2000 characters are read on by column.",
    params: &[
        PATH,
        Param::number("start_line", 1, MAX_POSITION, "First line, from 1."),
        Param::number("end_line", 0, MAX_POSITION, "0: as far as max_lines goes."),
        Param::number("tail", 0, MAX_LINES, "The last N lines instead."),
        Param::number("max_lines", DEFAULT_LINES, MAX_LINES, ""),
        Param::count(
            "column",
            MAX_POSITION,
            "Start at this character of the first line.",
        ),
        ENCODING,
        VERSION,
    ],
    effect: Effect::Reads,
    facts: FACTS,
    sets: TWIN,
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let range = range(args)?;
    let options = ReadOptions {
        range,
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
        lossy: true,
        max_bytes: Some(max_bytes(args)),
        max_line_chars: args.positive("column").is_none().then_some(LINE_CHARS),
        max_file_bytes: None,
        number_lines: true,
        cancel: call.cancel.clone(),
    };
    let opened = toolbox.workspace().open(path);
    let opened = opened.map_err(|error| explain(error, path))?;
    let window = toolbox.workspace().read_opened(&opened, &options);
    let window = window.map_err(|error| explain(error, path))?;
    refuse_past_end(&window, range, "start_line", path)?;
    saw(toolbox, &opened, &window, range);
    Ok(render(&window, range, path, args))
}

/// Returns the lines that the call asks for, at most as many as it may have.
fn range(args: &Args) -> Result<LineRange, ToolError> {
    let max_lines = args.positive("max_lines");
    if let Some(tail) = args.positive("tail") {
        // What is left at its default limits no tail that is asked for by number.
        let limit = max_lines.filter(|_| args.is_given("max_lines"));
        return Ok(LineRange::Tail {
            count: limit.map_or(tail, |limit| limit.min(tail)),
        });
    }
    let line = args.positive("start_line").unwrap_or(1);
    let limit = max_lines.unwrap_or(DEFAULT_LINES.unsigned_abs());
    let limit = match args.positive("end_line") {
        Some(end) if end < line => {
            let reason = format!("it comes before start_line {line}");
            return Err(ToolError::invalid("end_line", reason));
        }
        Some(end) => limit.min(end - line + 1),
        None => limit,
    };
    Ok(LineRange::From {
        line,
        column: args.positive("column").unwrap_or(1),
        limit: Some(limit),
    })
}

/// Returns how much the answer may hold: more when the call says itself how much it wants.
fn max_bytes(args: &Args) -> u64 {
    let named = ["end_line", "tail", "max_lines"];
    if named.iter().any(|name| args.is_given(name)) {
        MAX_BYTES
    } else {
        DEFAULT_BYTES
    }
}

fn render(window: &Window, range: LineRange, path: &str, args: &Args) -> ToolOutput {
    let mut output = with_window(ToolOutput::new(numbered(window, path)), window);
    if let Some(note) = position_note(window, range, "start_line") {
        output = output.with_note(note);
    }
    let mut words = words(window, args);
    words.extend(short_tail(range, args));
    output.with_words(&words)
}

/// Returns the header and the lines with their numbers, without their breaks.
fn numbered(window: &Window, path: &str) -> String {
    let total = window.total_lines;
    let mut text = format!(
        "File: {}\nEncoding: {}\nLines: {}\n",
        one_line(path),
        window.format.encoding.name(),
        total.map_or_else(|| "unknown".to_owned(), |total| total.to_string()),
    );
    let numbers = window.first_line.unwrap_or(1)..;
    for (number, line) in numbers.zip(window.text.split_inclusive('\n')) {
        // Without a break behind it a carriage return is data.
        let whole = line.strip_suffix('\n');
        let line = whole.map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        // Writing to a string cannot fail.
        _ = write!(text, "\n{number}: {line}");
    }
    text
}

/// Returns that the tail is shorter than the one that was asked for, when it is.
fn short_tail(range: LineRange, args: &Args) -> Option<String> {
    let wanted = args.positive("tail")?;
    let LineRange::Tail { count } = range else {
        return None;
    };
    let lines = counted(wanted, "line");
    (count < wanted).then(|| format!("tail of {lines} cut by max_lines={count}"))
}
