//! `tree_dir`: a directory and what is below it, as a tree.

use std::ops::ControlFlow;

use fs_core::{EntryKind, Order, SKIP_LIST, Skip, Visited, WalkOptions, Walked, one_line};

use crate::error::ToolError;
use crate::file::{OWN, skipped_fact};
use crate::files::PATH;
use crate::output::ToolOutput;
use crate::render::name;
use crate::schema::{Args, Param};
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

/// How deep the tree goes when the call does not say.
const DEFAULT_DEPTH: i64 = 2;
/// How deep it goes at most.
const MAX_DEPTH: i64 = 50;
/// Entries of an answer when the call names no limit.
const DEFAULT_ENTRIES: i64 = 200;
/// Entries of an answer at most.
const MAX_ENTRIES: i64 = 5_000;

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "tree_dir",
    title: "Show a directory tree",
    about: "Show what is below a directory as a tree, folders first. Folders such as node_modules, \
            .venv and build are not entered, unless include_hidden.",
    params: &[
        PATH,
        Param::number("max_depth", DEFAULT_DEPTH, MAX_DEPTH, ""),
        Param::number("max_entries", DEFAULT_ENTRIES, MAX_ENTRIES, ""),
        Param::flag(
            "include_hidden",
            "Show dot names too, and enter every folder.",
        ),
    ],
    effect: Effect::Reads,
    facts: &[
        ("entries", "integer"),
        ("truncated", "boolean"),
        ("skipped", "object"),
    ],
    sets: OWN,
    run,
    pace: Pace::Walk,
};

/// A line of the tree before its branches are drawn.
struct Row {
    depth: usize,
    label: String,
}

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let limit = args.positive("max_entries");
    let limit = limit.unwrap_or(DEFAULT_ENTRIES.unsigned_abs());
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let options = options(args, call);
    let mut rows = Vec::new();
    let workspace = toolbox.workspace();
    let mut visit = |entry: &Visited<'_>| {
        if is_shown(entry, &options) {
            rows.push(row(entry));
        }
        // One more tells whether the tree is cut, and that what is before it has a sibling.
        if rows.len() > limit {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let walked = match options.max_depth {
        // Nothing is below: it only has to be a directory.
        Some(0) => workspace.open_dir(path).map(|_| Walked::default()),
        _ => workspace.walk(path, &options, &mut visit),
    };
    let walked = walked.map_err(ToolError::from)?;
    Ok(render(&rows, limit, &walked, path, args))
}

fn options(args: &Args, call: &Call) -> WalkOptions {
    let include_hidden = args.flag("include_hidden");
    let depth = args.integer("max_depth").unwrap_or(DEFAULT_DEPTH);
    WalkOptions {
        order: Order::FoldersFirst,
        max_depth: Some(usize::try_from(depth).unwrap_or_default()),
        include_hidden,
        respect_ignore: false,
        include_backups: include_hidden,
        skip_list: if include_hidden { &[] } else { SKIP_LIST },
        cancel: call.cancel.clone(),
        progress: call.progress.clone(),
        ..WalkOptions::default()
    }
}

fn is_shown(entry: &Visited<'_>, options: &WalkOptions) -> bool {
    let is_dotted = entry.name.as_encoded_bytes().starts_with(b".");
    match entry.skip {
        Some(Skip::Hidden | Skip::Ignored | Skip::Backup) => false,
        _ => options.include_hidden || !is_dotted,
    }
}

fn row(entry: &Visited<'_>) -> Row {
    let mark = match entry.kind {
        EntryKind::Dir => "/",
        EntryKind::Link => "@",
        EntryKind::File | EntryKind::Other => "",
    };
    let why = match entry.skip {
        Some(Skip::SkipList) => "  (not entered)",
        Some(Skip::Denied) => "  (denied)",
        Some(Skip::Unreadable) => "  (unreadable)",
        Some(Skip::TooDeep) => "  (too deep)",
        _ if entry.kind == EntryKind::Other => "  (special)",
        _ => "",
    };
    Row {
        depth: entry.depth,
        label: format!("{}{mark}{why}", name(entry.name)),
    }
}

fn render(rows: &[Row], limit: usize, walked: &Walked, path: &str, args: &Args) -> ToolOutput {
    let is_cut = rows.len() > limit;
    let mut lines = vec![one_line(path)];
    lines.extend(drawn(rows).into_iter().take(limit));
    if is_cut {
        lines.push(format!("... (truncated at {limit} entries)"));
    }
    let mut output = ToolOutput::new(lines.join("\n"));
    if is_cut {
        let is_most = limit as u64 >= MAX_ENTRIES.unsigned_abs();
        output = output.with_note(if is_most {
            "Name a directory below to see more."
        } else {
            "Raise max_entries, or name a directory below."
        });
    }
    output
        .with_fact("entries", rows.len().min(limit))
        .with_fact("truncated", is_cut)
        .with_fact("skipped", skipped_fact(&walked.skipped))
        .with_words(args.clamped())
}

/// Returns the lines with their branches: what is last among its siblings closes its branch.
fn drawn(rows: &[Row]) -> Vec<String> {
    // Whether a later sibling exists, by depth, seen from the end.
    let mut open: Vec<bool> = Vec::new();
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        open.resize(row.depth + 1, false);
        let above = open.get(1..row.depth).unwrap_or_default();
        let has_next = open.last().is_some_and(|next| *next);
        let indent = above.iter().map(|next| if *next { "|   " } else { "    " });
        let branch = if has_next { "|-- " } else { "`-- " };
        let indent: String = indent.collect();
        lines.push(format!("{indent}{branch}{}", row.label));
        if let Some(next) = open.last_mut() {
            *next = true;
        }
    }
    lines.reverse();
    lines
}
