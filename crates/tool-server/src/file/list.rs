//! `list_dir`: a directory's entries, directories first.

use fs_core::{Entry, EntryKind, ErrorKind, ListOptions, Listing, Order, one_line};

use crate::error::ToolError;
use crate::file::TWIN;
use crate::files::PATH;
use crate::files::ls::{MAX_ENTRIES, more_note, next_cursor, position};
use crate::output::ToolOutput;
use crate::render::{counted, name, size};
use crate::schema::{Args, Param};
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

/// Entries of an answer when the call names no limit.
const DEFAULT_ENTRIES: i64 = 500;

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "list_dir",
    title: "List a directory",
    about: "List a directory, folders first, hidden entries too: `[D] name  (-)`, \
            `[F] name  (size)`, `[L] name  (-)` for a link.",
    params: &[
        PATH,
        Param::number("limit", DEFAULT_ENTRIES, MAX_ENTRIES, ""),
        Param::text("after", "Only entries after this one, to read on."),
    ],
    effect: Effect::Reads,
    facts: &[
        ("returned", "integer"),
        ("total", "integer"),
        ("truncated", "boolean"),
        ("next", "string"),
    ],
    sets: TWIN,
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let after = args.text("after").filter(|after| !after.is_empty());
    let limit = args.positive("limit");
    let limit = limit.unwrap_or(DEFAULT_ENTRIES.unsigned_abs());
    let options = ListOptions {
        order: Order::FoldersFirst,
        limit: Some(usize::try_from(limit).unwrap_or(usize::MAX)),
        after: after.map(position),
        sizes: true,
        cancel: call.cancel.clone(),
    };
    let listing = toolbox
        .workspace()
        .list(path, &options)
        .map_err(|error| explain(error, path))?;
    Ok(render(&listing, limit, path, args))
}

fn explain(error: fs_core::Error, path: &str) -> ToolError {
    let kind = error.kind();
    let error = ToolError::from(error).at(path);
    match kind {
        ErrorKind::NotADirectory => error.hinting("use read_file to read a file"),
        _ => error,
    }
}

fn render(listing: &Listing, limit: u64, path: &str, args: &Args) -> ToolOutput {
    let header = format!(
        "Directory: {}  ({})",
        one_line(path),
        counted(listing.total, "item")
    );
    let next = listing.next.as_ref().map(next_cursor);
    let mut output = ToolOutput::new(format!("{header}\n{}", rows(listing)))
        .with_fact("returned", listing.entries.len())
        .with_fact("total", listing.total)
        .with_fact("truncated", next.is_some())
        .with_known("next", next.as_deref());
    if let Some(next) = next {
        output = output.with_note(more_note(listing, limit, &next));
    }
    output.with_words(args.clamped())
}

fn rows(listing: &Listing) -> String {
    if listing.entries.is_empty() {
        let none = match listing.total {
            0 => "(empty)",
            _ => "(no more entries)",
        };
        return none.to_owned();
    }
    let rows: Vec<String> = listing.entries.iter().map(row).collect();
    rows.join("\n")
}

fn row(entry: &Entry) -> String {
    let name = name(&entry.name);
    match (entry.kind, entry.size) {
        (EntryKind::Dir, _) => format!("[D] {name}  (-)"),
        (EntryKind::Link, _) => format!("[L] {name}  (-)"),
        (EntryKind::Other, _) => format!("[S] {name}  (-)"),
        (EntryKind::File, Some(bytes)) => format!("[F] {name}  ({})", size(bytes)),
        (EntryKind::File, None) => format!("[F] {name}  (size unknown)"),
    }
}
