//! `files_write`: the whole content, more at the end, or lines in between.

use fs_core::{Encoding, ErrorKind, one_line};
use fs_sandbox::{Breaks, Change, Links, WriteMode, WriteOptions, Written};

use crate::error::ToolError;
use crate::files::{
    Aftermath, CREATE_BACKUP, ENCODING, IF_VERSION, PATH, encoding, update_options,
};
use crate::output::ToolOutput;
use crate::schema::{Args, MAX_POSITION, Param};
use crate::stale::Stake;
use crate::toolbox::{Call, Effect, Pace, ToolSet, ToolSpec, Toolbox};

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "files_write",
    title: "Write a file",
    about: "Write to a file: overwrite it, append, insert before a line, or create it and refuse \
            when it exists. Missing folders are made. An existing file keeps its encoding. To \
            change parts use files_edit.",
    params: &[
        PATH,
        Param::text("content", "").required(),
        Param::choice("mode", &["overwrite", "append", "insert", "create"], ""),
        Param::count(
            "line",
            MAX_POSITION,
            "For insert: the line it comes before; last line + 1 appends.",
        ),
        ENCODING,
        IF_VERSION,
        CREATE_BACKUP,
    ],
    effect: Effect::Changes,
    facts: &[
        ("bytes", "integer"),
        ("size", "integer"),
        ("change", "string"),
        ("encoding", "string"),
        ("bom", "boolean"),
        ("eol", "string"),
        ("version", "string"),
        ("backup", "string"),
        ("parted_links", "integer"),
        ("warnings", "array"),
    ],
    sets: &[ToolSet::Standard, ToolSet::Files, ToolSet::All],
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let mode = mode(args)?;
    let path = args.take_text("path");
    let stake = Stake::new(toolbox, &path, Links::Follow, args);
    let mut options = WriteOptions {
        mode,
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
        breaks: Breaks::Keep,
        create_dirs: !matches!(mode, WriteMode::InsertBefore { .. }),
        update: update_options(toolbox, args, call)?,
    };
    let content = args.take_text("content");
    let written = write(&path, &content, &mut options, &stake);
    let written = written.map_err(|error| explain(error, &path))?;
    let bytes = bytes_of(&content, &written);
    Ok(render(&written, bytes, mode, &path, args))
}

/// Writes, overwriting or counting lines only in what the session has seen as it is.
pub(crate) fn write(
    path: &str,
    content: &str,
    options: &mut WriteOptions,
    stake: &Stake<'_>,
) -> Result<Written, ToolError> {
    let workspace = stake.workspace();
    let written = match options.mode {
        WriteMode::Overwrite | WriteMode::InsertBefore { .. } => stake.as_served(|served| {
            options.update.served = served;
            workspace.write(path, content, options)
        }),
        WriteMode::Append | WriteMode::CreateNew => workspace.write(path, content, options),
    };
    let written = written.map_err(|error| stake.explain(error))?;
    match options.mode {
        WriteMode::Overwrite | WriteMode::CreateNew => stake.wrote(&written.version, content),
        WriteMode::Append | WriteMode::InsertBefore { .. } => stake.added(&written, content),
    }
    Ok(written)
}

fn mode(args: &Args) -> Result<WriteMode, ToolError> {
    let line = args.integer("line");
    let mode = args.choice("mode");
    match (mode, line) {
        ("insert", Some(line @ 1..)) => Ok(WriteMode::InsertBefore {
            line: line.unsigned_abs(),
        }),
        ("insert", Some(_)) => Err(ToolError::new(
            ErrorKind::OutOfRange,
            "line must be >= 1 for insert mode",
        )
        .with("field", "line")
        .with("value", 0)),
        ("insert", None) => Err(ToolError::invalid("line", "mode insert needs it")),
        (_, Some(1..)) => {
            let reason = format!("only mode insert takes it, not {mode}");
            Err(ToolError::invalid("line", reason))
        }
        ("append", _) => Ok(WriteMode::Append),
        ("create", _) => Ok(WriteMode::CreateNew),
        _ => Ok(WriteMode::Overwrite),
    }
}

fn explain(error: ToolError, path: &str) -> ToolError {
    let numbers = (error.field("value"), error.field("last"));
    let (Some(value), Some(last)) = (numbers.0.cloned(), numbers.1.cloned()) else {
        return error.at(path);
    };
    let total = last.as_u64().unwrap_or_default().saturating_sub(1);
    let path_shown = one_line(path);
    error
        .saying(format!(
            "line {value} exceeds file length ({total} lines): {path_shown}"
        ))
        .at(path)
}

/// Returns how long the given text is in the file's encoding; the break that an insert may add is
/// not the caller's.
pub(crate) fn bytes_of(content: &str, written: &Written) -> u64 {
    let encoding = written
        .format
        .map_or(Encoding::UTF_8, |format| format.encoding);
    if encoding == Encoding::UTF_8 {
        return content.len() as u64;
    }
    let encoded = encoding.encode(content);
    encoded.map_or(written.text_bytes, |bytes| bytes.len() as u64)
}

fn render(written: &Written, bytes: u64, mode: WriteMode, path: &str, args: &Args) -> ToolOutput {
    let aftermath = Aftermath {
        format: written.format,
        backup: written.backup.as_deref(),
        parted_links: written.parted_links,
        warnings: &written.warnings,
        version: &written.version,
        show_version: args.text("if_version").is_some(),
    };
    let done = done(written, bytes, mode, &one_line(path));
    let output = ToolOutput::new(done + &aftermath.clauses())
        .with_fact("bytes", bytes)
        .with_fact("size", written.size)
        .with_fact("change", change(written.change));
    aftermath.finish(output, args)
}

pub(crate) fn done(written: &Written, bytes: u64, mode: WriteMode, path: &str) -> String {
    if written.change == Change::Unchanged {
        return format!(
            "Unchanged: {path} holds that already ({} bytes)",
            written.size
        );
    }
    match mode {
        WriteMode::Overwrite => format!("Wrote {bytes} bytes to {path}"),
        WriteMode::Append => format!("Appended {bytes} bytes to {path}"),
        WriteMode::InsertBefore { line } => {
            format!("Inserted {bytes} bytes at line {line} in {path}")
        }
        WriteMode::CreateNew => format!("Created {path} ({bytes} bytes)"),
    }
}

pub(crate) fn change(change: Change) -> &'static str {
    match change {
        Change::Created => "created",
        Change::Replaced => "replaced",
        Change::Unchanged => "unchanged",
    }
}
