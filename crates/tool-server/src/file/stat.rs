//! `stat_file`: what a path names, and when it was changed and created.

use fs_core::{EntryKind, one_line};
use fs_sandbox::Metadata;

use crate::error::ToolError;
use crate::file::OWN;
use crate::files::PATH;
use crate::output::ToolOutput;
use crate::render::{size, time};
use crate::schema::Args;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "stat_file",
    title: "Describe a file or directory",
    about: "Tell type, size, and times of change and creation of a file, a directory, or a link \
            itself.",
    params: &[PATH],
    effect: Effect::Reads,
    facts: &[
        ("type", "string"),
        ("size", "integer"),
        ("modified", "string"),
        ("created", "string"),
    ],
    sets: OWN,
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, _call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let found = toolbox.workspace().symlink_metadata(path)?;
    Ok(render(&found, path))
}

fn render(found: &Metadata, path: &str) -> ToolOutput {
    let kind = kind(found.kind);
    let (bytes, shown) = (found.size, size(found.size));
    let modified = found.modified.and_then(time);
    let created = found.created.and_then(time);
    let mut lines = vec![
        format!("Path: {}", one_line(path)),
        format!("Type: {kind}"),
        format!("Size: {bytes} bytes ({shown})"),
    ];
    lines.extend(modified.as_ref().map(|time| format!("Modified: {time}")));
    lines.extend(created.as_ref().map(|time| format!("Created: {time}")));
    lines.push("Exists: true".to_owned());
    ToolOutput::new(lines.join("\n"))
        .with_fact("type", kind)
        .with_fact("size", bytes)
        .with_known("modified", modified)
        .with_known("created", created)
}

fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Dir => "directory",
        EntryKind::File => "file",
        EntryKind::Link => "link",
        EntryKind::Other => "special",
    }
}
