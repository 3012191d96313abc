//! `files_ls`: the names in a directory, with sizes, page by page.

use fs_core::{Entry, EntryKind, ErrorKind, ListOptions, Listing, Order, Position, unescape_name};

use crate::error::ToolError;
use crate::output::ToolOutput;
use crate::render::{name, quoted, size};
use crate::schema::{Args, Param};
use crate::toolbox::{Call, Effect, Pace, ToolSet, ToolSpec, Toolbox};

/// Entries of an answer when the call names no limit.
const DEFAULT_ENTRIES: u64 = 500;
/// Entries of an answer at most.
pub(crate) const MAX_ENTRIES: i64 = 10_000;

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "files_ls",
    title: "List a directory",
    about: "List a directory by name, hidden entries too: `name  (size)`, `name/` for a \
            directory, `name@` for a link.",
    params: &[
        Param::text("path", "The first root when absent."),
        Param::count("limit", MAX_ENTRIES, "Entries at most, 500 when absent."),
        Param::text("after", "Only entries after this name, to read on."),
    ],
    effect: Effect::Reads,
    facts: &[
        ("returned", "integer"),
        ("total", "integer"),
        ("truncated", "boolean"),
        ("next", "string"),
    ],
    sets: &[ToolSet::Standard, ToolSet::Files, ToolSet::All],
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or(".");
    let after = args.text("after").filter(|after| !after.is_empty());
    let limit = args.positive("limit").unwrap_or(DEFAULT_ENTRIES);
    let options = ListOptions {
        order: Order::Name,
        limit: Some(usize::try_from(limit).unwrap_or(usize::MAX)),
        after: after.map(position),
        sizes: true,
        cancel: call.cancel.clone(),
    };
    let listing = toolbox
        .workspace()
        .list(path, &options)
        .map_err(|error| explain(error.into(), path))?;
    Ok(render(&listing, limit, args))
}

fn explain(error: ToolError, path: &str) -> ToolError {
    if error.code() == ErrorKind::NotADirectory.code() {
        return error.hinting("use files_read to read a file").at(path);
    }
    error.at(path)
}

fn render(listing: &Listing, limit: u64, args: &Args) -> ToolOutput {
    let next = listing.next.as_ref().map(next_cursor);
    let mut output = ToolOutput::new(rows(listing, args.text("after")))
        .with_fact("returned", listing.entries.len())
        .with_fact("total", listing.total)
        .with_fact("truncated", next.is_some())
        .with_known("next", next.as_deref());
    if let Some(next) = next {
        output = output.with_note(more_note(listing, limit, &next));
    } else if listing.total > listing.entries.len() as u64 {
        output = output.with_note(format!("{} entries total", listing.total));
    }
    output.with_words(args.clamped())
}

fn rows(listing: &Listing, after: Option<&str>) -> String {
    if listing.entries.is_empty() {
        let none = match after {
            Some(_) if listing.total > 0 => "(no more entries)",
            _ => "(empty directory)",
        };
        return none.to_owned();
    }
    let rows: Vec<String> = listing.entries.iter().map(row).collect();
    rows.join("\n")
}

fn row(entry: &Entry) -> String {
    let name = name(&entry.name);
    match (entry.kind, entry.size) {
        (EntryKind::Dir, _) => name + "/",
        (EntryKind::Link, _) => name + "@",
        (EntryKind::Other, _) => name + "  (special)",
        (EntryKind::File, Some(bytes)) => format!("{name}  ({})", size(bytes)),
        (EntryKind::File, None) => name + "  (size unknown)",
    }
}

/// Returns how to read on.
pub(crate) fn more_note(listing: &Listing, limit: u64, next: &str) -> String {
    let (shown, total) = (listing.entries.len(), listing.total);
    let largest = MAX_ENTRIES.unsigned_abs().min(total);
    let larger = if largest > limit {
        format!(", or limit={largest} for more")
    } else {
        String::new()
    };
    let after = quoted(next);
    format!("{shown} of {total} entries shown. Use after={after} to continue{larger}.")
}

/// Returns the cursor of a position: its name as it is listed.
pub(crate) fn next_cursor(next: &Position) -> String {
    let mark = if next.is_dir { "/" } else { "" };
    name(&next.name) + mark
}

/// Returns the position of a cursor, or of a name as it is listed.
pub(crate) fn position(cursor: &str) -> Position {
    let name = cursor.strip_suffix('/').unwrap_or(cursor);
    Position {
        is_dir: name.len() < cursor.len(),
        name: unescape_name(name).into_owned(),
    }
}
