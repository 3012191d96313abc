//! `undo_edit` and `edit_history`: what changed files, and back.

use std::fmt::Write as _;

use fs_core::{FileBytes, one_line};
use fs_edit::{DiffOptions, WholeText, diff_between};
use fs_sandbox::{HistoryEntry, HistoryFile, HistoryName, Links, UndoOptions, Undone, Workspace};
use serde_json::{Value, json};

use crate::error::ToolError;
use crate::files::edit::DIFF;
use crate::files::{IF_VERSION, PATH, if_version};
use crate::output::ToolOutput;
use crate::render::{counted, fenced, time};
use crate::schema::{Args, Kind, MAX_POSITION, Param};
use crate::stale::Stake;
use crate::toolbox::{Call, Effect, Pace, ToolSet, ToolSpec, Toolbox};

/// The sets of these two: all that have tools.
const EVERY: &[ToolSet] = &[
    ToolSet::Standard,
    ToolSet::Files,
    ToolSet::File,
    ToolSet::All,
];
/// How many entries are listed unless told otherwise, and at most.
const LIMIT: (i64, i64) = (20, 1_000);
/// The largest file, in bytes, whose undo is shown as a diff.
const DIFFED: u64 = 1024 * 1024;

pub(crate) static UNDO: ToolSpec = ToolSpec {
    name: "undo_edit",
    title: "Undo a change",
    about: "Take back the last change these tools made to a file, a delete too.",
    params: &[
        PATH,
        Param::optional(
            "entry",
            Kind::Integer {
                default: None,
                min: 1,
                max: MAX_POSITION,
            },
            "Back to before this one.",
        ),
        IF_VERSION,
        DIFF,
    ],
    effect: Effect::Changes,
    facts: &[
        ("entries", "array"),
        ("exists", "boolean"),
        ("size", "integer"),
        ("version", "string"),
        ("diff", "string"),
        ("warnings", "array"),
    ],
    sets: EVERY,
    run: undo,
    pace: Pace::Plain,
};

pub(crate) static LIST: ToolSpec = ToolSpec {
    name: "edit_history",
    title: "List changes",
    about: "List changes for undo_edit.",
    params: &[
        Param::text("path", ""),
        Param::count("limit", LIMIT.1, "Else 20."),
    ],
    effect: Effect::Reads,
    facts: &[("entries", "array")],
    sets: EVERY,
    run: list,
    pace: Pace::Plain,
};

/// Returns a change as one line: number, time, tool, what became of which name, and what undid it.
///
/// `path` is shown in place of a single name; a root but the first of `workspace` is named.
pub fn line(entry: &HistoryEntry, path: Option<&str>, workspace: &Workspace) -> String {
    let when = time(entry.time).unwrap_or_default();
    let tool = if entry.tool.is_empty() {
        "-"
    } else {
        &entry.tool
    };
    let mut line = format!("#{} {when} {tool} ", entry.id);
    let shown = |name: &HistoryName| match path {
        Some(path) if entry.names.len() == 1 => one_line(path),
        _ => shown_path(entry, name, workspace),
    };
    // Writing to a string cannot fail.
    _ = match entry.names.as_slice() {
        [from, to] => write!(line, "{} -> {}: {}", shown(from), shown(to), moved(to)),
        [name] => write!(line, "{}: {}", shown(name), became(name)),
        _ => Ok(()),
    };
    if let Some(undoes) = entry.undoes {
        _ = write!(line, ", undid #{undoes}");
    }
    if let Some(by) = entry.undone_by {
        _ = write!(line, ", undone by #{by}");
    }
    if !entry.is_certain {
        line.push_str(", perhaps not completed");
    }
    line
}

/// Returns a change as an object.
pub fn object(entry: &HistoryEntry, workspace: &Workspace) -> Value {
    let file = |file: &Option<HistoryFile>| {
        file.as_ref().map(|file| {
            json!({
                "size": file.size,
                "version": file.version.as_ref().map(fs_core::Version::as_str),
                "is_link": file.is_link,
            })
        })
    };
    let name = |name: &HistoryName| {
        json!({
            "path": shown_path(entry, name, workspace),
            "before": file(&name.before),
            "after": file(&name.after),
        })
    };
    json!({
        "entry": entry.id,
        "time": time(entry.time),
        "tool": entry.tool,
        "names": entry.names.iter().map(name).collect::<Vec<_>>(),
        "undoes": entry.undoes,
        "undone_by": entry.undone_by,
        "certain": entry.is_certain,
    })
}

/// Returns what an undo did, in one line.
pub fn said(undone: &Undone, path: &str) -> String {
    let numbers: Vec<_> = undone.entries.iter().map(|id| format!("#{id}")).collect();
    let now = match undone.names.as_slice() {
        [source, target] => match (&source.now, &target.now) {
            (Some(_), None) => "it has its old name again".to_owned(),
            (source, _) => held(source.as_ref()),
        },
        names => held(names.first().and_then(|name| name.now.as_ref())),
    };
    format!("Undid {} of {}: {now}", numbers.join(", "), one_line(path))
}

fn undo(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.take_text("path");
    let options = UndoOptions {
        entry: args.integer("entry").map(i64::unsigned_abs),
        if_version: if_version(args)?,
        cancel: call.cancel.clone(),
    };
    let stake = Stake::new(toolbox, &path, Links::Follow, args);
    let workspace = toolbox.workspace_for(args);
    let before = small_text(&workspace, &path);
    let undone = workspace.undo(&path, &options);
    let undone = undone.map_err(ToolError::from)?;
    let after = small_text(&workspace, &path);
    let diff = diff(before.as_deref(), after.as_deref(), &path);
    let now = undone.names.iter().find_map(|name| name.now.as_ref());
    match now.and_then(|now| now.version.as_ref()) {
        Some(version) => stake.restored(version),
        None => stake.removed(),
    }
    let mut output = ToolOutput::new(said(&undone, &path));
    if args.flag("diff") && !diff.is_empty() {
        output = output.with_block(fenced(&diff, "diff"));
    }
    for warning in &undone.warnings {
        output = output.with_note(format!("warning: {warning}"));
    }
    let version = now.and_then(|now| now.version.as_ref());
    Ok(output
        .with_fact("entries", undone.entries)
        .with_fact("exists", now.is_some())
        .with_known("size", now.map(|now| now.size))
        .with_known("version", version.map(fs_core::Version::as_str))
        .with_fact("diff", diff)
        .with_fact("warnings", undone.warnings))
}

fn list(toolbox: &Toolbox, args: &mut Args, _call: &Call) -> Result<ToolOutput, ToolError> {
    let workspace = toolbox.workspace();
    let limit = args.integer("limit").unwrap_or(LIMIT.0).unsigned_abs();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let path = args.text("path").filter(|path| !path.is_empty());
    let entries = match path {
        // One more tells whether there are more.
        Some(path) => workspace.history(path, limit + 1)?,
        None => workspace.history_of_all(limit + 1)?,
    };
    let shown = entries.get(..limit).unwrap_or(&entries);
    let lines: Vec<_> = shown
        .iter()
        .map(|entry| line(entry, path, workspace))
        .collect();
    let text = if lines.is_empty() {
        "No changes.".to_owned()
    } else {
        lines.join("\n")
    };
    let mut output = ToolOutput::new(text);
    if shown.len() < entries.len() {
        let count = counted(shown.len() as u64, "change");
        output = output.with_note(format!(
            "The newest {count}; limit={} shows more.",
            limit * 2
        ));
    }
    output = output.with_words(args.clamped());
    let objects = shown.iter().map(|entry| object(entry, workspace));
    Ok(output.with_fact("entries", objects.collect::<Vec<_>>()))
}

fn shown_path(entry: &HistoryEntry, name: &HistoryName, workspace: &Workspace) -> String {
    let first = workspace.roots().into_iter().next().map(|root| root.name);
    match &entry.root {
        root if *root == first => name.path.to_string(),
        Some(root) => format!("{root}:{}", name.path),
        None => format!("/{}", name.path),
    }
}

fn size(file: &HistoryFile) -> String {
    if file.is_link {
        "a link".to_owned()
    } else {
        counted(file.size, "byte")
    }
}

fn became(name: &HistoryName) -> String {
    match (&name.before, &name.after) {
        (None, Some(after)) => format!("new, {}", size(after)),
        (Some(before), None) => format!("removed, {}", size(before)),
        (Some(before), Some(after)) => format!("{}, now {}", size(before), size(after)),
        (None, None) => "nothing".to_owned(),
    }
}

fn moved(to: &HistoryName) -> String {
    let moved = to.after.as_ref().map_or_else(|| "moved".to_owned(), size);
    match &to.before {
        Some(replaced) => format!("{moved}, in place of {}", size(replaced)),
        None => moved,
    }
}

fn held(now: Option<&HistoryFile>) -> String {
    match now {
        None => "it is gone again".to_owned(),
        Some(link) if link.is_link => "it is a link again".to_owned(),
        Some(file) => format!("it holds {} again", counted(file.size, "byte")),
    }
}

/// Returns the bytes of a file that is small enough to be shown; none where it cannot be read.
fn small_text(workspace: &Workspace, path: &str) -> Option<Vec<u8>> {
    let Ok(opened) = workspace.open(path) else {
        return Some(Vec::new());
    };
    let bytes = FileBytes::read(&opened.file, 0, opened.size.min(DIFFED + 1)).ok()?;
    (bytes.len() as u64 <= DIFFED).then(|| bytes.to_vec())
}

fn diff(before: Option<&[u8]>, after: Option<&[u8]>, path: &str) -> String {
    let (Some(before), Some(after)) = (before, after) else {
        return String::new();
    };
    diff_between(
        WholeText::of(before),
        WholeText::of(after),
        path,
        &DiffOptions::default(),
    )
}

#[cfg(test)]
mod tests;
