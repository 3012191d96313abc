//! `edit_file`: one exact change, by text or by position.

use fs_core::{ErrorKind, one_line};
use fs_edit::{Edit, EditOptions, Edited, Positional, Request, Target};

use crate::error::ToolError;
use crate::file::media::Media;
use crate::file::{TWIN, artifact, changed};
use crate::files::edit::{self, DIFF, DRY_RUN, EOL, ON_HARD_LINK, diff, eol, hard_links};
use crate::files::{Aftermath, ENCODING, IF_VERSION, PATH, encoding, update_options};
use crate::output::ToolOutput;
use crate::render::counted;
use crate::schema::{Args, Kind, MAX_POSITION, Param};
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "edit_file",
    title: "Edit a file",
    about: "Change a file exactly: insert text at a position, replace a line, a range, or literal \
            text. Lines and columns (in characters) count from 1; end_column is not included.",
    params: &[
        PATH,
        Param::word(
            "mode",
            &["insert", "replace_line", "replace_range", "replace_text"],
            "",
        )
        .required(),
        Param::text("text", "").required(),
        Param::number("line", 1, MAX_POSITION, "Last line + 1 appends."),
        Param::number("column", 1, MAX_POSITION, ""),
        Param::number("end_line", 0, MAX_POSITION, "0: line."),
        Param::number("end_column", 0, MAX_POSITION, "0: end of line."),
        Param::text("old_text", "For replace_text."),
        Param::optional(
            "expected_count",
            Kind::Integer {
                default: Some(1),
                min: -1,
                max: MAX_POSITION,
            },
            "How often old_text must occur; -1: any.",
        ),
        Param::flag_on("create_backup", "Keep NAME.bak."),
        ENCODING,
        EOL,
        IF_VERSION,
        DRY_RUN,
        DIFF,
        ON_HARD_LINK,
    ],
    effect: Effect::Changes,
    facts: &[
        ("replacements", "integer"),
        ("lines_changed", "integer"),
        ("diff", "string"),
        ("dry_run", "boolean"),
        ("size", "integer"),
        ("encoding", "string"),
        ("bom", "boolean"),
        ("eol", "string"),
        ("version", "string"),
        ("backup", "string"),
        ("parted_links", "integer"),
        ("warnings", "array"),
    ],
    sets: TWIN,
    run,
    pace: Pace::Plain,
};

/// Parameters that only some modes take, by the value at which they say nothing.
const ONLY: [(&str, i64, &[&str]); 5] = [
    ("line", 1, &["insert", "replace_line", "replace_range"]),
    ("column", 1, &["insert", "replace_range"]),
    ("end_line", 0, &["replace_range"]),
    ("end_column", 0, &["replace_range"]),
    ("expected_count", 1, &["replace_text"]),
];

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    check_mode(args)?;
    let mut update = update_options(toolbox, args, call)?;
    update.hard_links = hard_links(args);
    let options = EditOptions {
        update,
        dry_run: args.flag("dry_run"),
    };
    let request = Request {
        eol: eol(args),
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
        target: target(args),
    };
    let path = args.take_text("path");
    let edited = edit::edit(toolbox, &path, &request, &options, args);
    let edited = edited.map_err(|failed| match (failed.0.kind(), *failed) {
        (ErrorKind::Conflict, (error, stake)) => stake.explain(error).at(&path),
        (_, (error, _)) => explain(&error, &path),
    })?;
    Ok(render(toolbox, &edited, &path, args))
}

/// Refuses what the mode would not look at: whoever sends it expects it to matter.
fn check_mode(args: &Args) -> Result<(), ToolError> {
    let mode = args.choice("mode");
    let refuse = |name: &str, modes: &[&str]| {
        let reason = format!("only mode {} takes it, not {mode}", modes.join(" or "));
        Err(ToolError::invalid(name, reason))
    };
    for (name, silent, modes) in ONLY {
        let value = args.integer(name).unwrap_or(silent);
        if value != silent && !modes.contains(&mode) {
            return refuse(name, modes);
        }
    }
    let has_old = args.text("old_text").is_some_and(|old| !old.is_empty());
    if has_old && mode != "replace_text" {
        return refuse("old_text", &["replace_text"]);
    }
    Ok(())
}

fn target(args: &mut Args) -> Target {
    let text = args.take_text("text");
    let number = |name| args.integer(name).map_or(0, i64::unsigned_abs);
    let (line, column) = (number("line"), number("column"));
    match args.choice("mode") {
        "insert" => Target::Position(Positional::Insert { line, column, text }),
        "replace_line" => Target::Position(Positional::ReplaceLine { line, text }),
        "replace_range" => Target::Position(Positional::ReplaceRange {
            line,
            column,
            end_line: number("end_line"),
            end_column: number("end_column"),
            text,
        }),
        _ => Target::Text(vec![Edit {
            expected_count: args.integer("expected_count").unwrap_or(1),
            old: args.take_text("old_text"),
            new: text,
        }]),
    }
}

/// Returns the error in the words of this tool: there is one edit, and its text is `old_text`.
fn explain(error: &fs_core::Error, path: &str) -> ToolError {
    let message = error
        .problem()
        .to_string()
        .replacen("\"old\"", "old_text", 1);
    let message = match message.strip_prefix("old is") {
        Some(rest) => format!("old_text is{rest}"),
        None => message,
    };
    let details = error.problem().details().map(|details| {
        // What is behind the first line are lines of the file.
        let (words, lines) = details.split_at(details.find('\n').unwrap_or(details.len()));
        let words = words
            .replace("\"old\"", "old_text")
            .replace("\"new\"", "text");
        format!("; {words}{lines}")
    });
    let details = details.unwrap_or_default();
    let shown = ToolError::of(error)
        .without("edit")
        .saying(format!("{message}: {}{details}", one_line(path)))
        .at(path);
    match shown.hint() {
        Some(hint) => {
            let hint = hint.replace("`old`", "`old_text`");
            shown.hinting(hint)
        }
        None => shown,
    }
}

fn render(toolbox: &Toolbox, edited: &Edited, path: &str, args: &Args) -> ToolOutput {
    let aftermath = Aftermath {
        format: edited.format,
        backup: edited.backup.as_deref(),
        parted_links: edited.parted_links,
        warnings: &edited.warnings,
        version: &edited.version,
        show_version: args.text("if_version").is_some() && !edited.dry_run,
    };
    let message = done(edited, &one_line(path), args) + &aftermath.clauses();
    let artifact = artifact(toolbox, path, edited.size, Media::Text);
    let mut output = changed(&message, artifact);
    if edited.dry_run || args.flag("diff") {
        output = output.with_block(diff(edited));
    }
    let output = output
        .with_fact("replacements", edited.replacements)
        .with_fact("lines_changed", edited.lines_changed)
        .with_fact("diff", edited.diff.as_str())
        .with_fact("dry_run", edited.dry_run)
        .with_fact("size", edited.size);
    aftermath.finish(output, args)
}

fn done(edited: &Edited, path: &str, args: &Args) -> String {
    let would = if edited.dry_run {
        "Would edit"
    } else {
        "Edited"
    };
    let times = match args.choice("mode") {
        "replace_text" => format!(" ({})", counted(edited.replacements, "replacement")),
        _ => String::new(),
    };
    let lines = counted(edited.lines_changed, "line");
    format!("{would} {path}{times}: {lines} changed")
}
