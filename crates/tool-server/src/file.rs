//! The family `file`: thirteen tools that are named by verb and noun.
//!
//! What changes files answers a JSON object with the file as an artifact, `make_dir` and
//! `delete_file` a line that begins with `OK: `, and an error's words begin with `ERROR: `. These
//! marks are for readers: whether a call failed is never told by them, as a file may hold the same.

pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod make_dir;
pub(crate) mod range;
pub(crate) mod read;
pub(crate) mod search;
pub(crate) mod stat;
pub(crate) mod transfer;
pub(crate) mod tree;
pub(crate) mod write;

mod media;
#[cfg(test)]
mod tests;

use fs_core::{Skip, Skips};
use serde_json::{Map, Value};

use crate::output::ToolOutput;
use crate::toolbox::{ToolSet, Toolbox};
use media::Media;

/// The sets of a tool that the family `files` has too.
const TWIN: &[ToolSet] = &[ToolSet::File, ToolSet::All];
/// The sets of a tool that the family `files` lacks.
const OWN: &[ToolSet] = &[ToolSet::Standard, ToolSet::File, ToolSet::All];

/// Returns the answer of a tool that changed a file: what was done, and the file as an artifact.
fn changed(message: &str, artifact: Map<String, Value>) -> ToolOutput {
    let mut object = Map::new();
    object.insert("success".to_owned(), true.into());
    object.insert("message".to_owned(), message.into());
    object.insert("artifacts".to_owned(), vec![Value::from(artifact)].into());
    let object = Value::from(object);
    // The alternate form is indented by two blanks and leaves all characters as they are.
    ToolOutput::new(format!("{object:#}"))
}

/// Returns the artifact of a file: its name, its path as the caller wrote it, and its size.
fn artifact(toolbox: &Toolbox, path: &str, size: u64, media: Media) -> Map<String, Value> {
    let name = file_name(toolbox, path);
    let mut artifact = Map::new();
    artifact.insert("kind".to_owned(), media.kind(name).into());
    artifact.insert("name".to_owned(), name.into());
    artifact.insert("path".to_owned(), path.into());
    if let Some(mime_type) = media::mime_type(name) {
        artifact.insert("mimeType".to_owned(), mime_type.into());
    }
    artifact.insert("size".to_owned(), size.into());
    artifact
}

/// Returns the last name of a path, without the name of a root before it.
fn file_name<'p>(toolbox: &Toolbox, path: &'p str) -> &'p str {
    let below = path.split_once(':').filter(|(root, _)| {
        let roots = toolbox.workspace().roots();
        roots.iter().any(|known| known.name == *root)
    });
    let below = below.map_or(path, |(_, below)| below);
    below.rsplit('/').next().unwrap_or(below)
}

/// Returns how often each reason to pass over an entry occurred.
fn skipped_fact(skips: &Skips) -> Map<String, Value> {
    let each = skips.iter();
    each.map(|(skip, count)| (skip.name().to_owned(), count.into()))
        .collect()
}

/// Returns the same in words.
fn skipped_words(skipped: &Map<String, Value>) -> Vec<String> {
    let word = |name: &str| match name {
        "skip_list" => "not entered",
        "link" => "links",
        "too_large" => "too large",
        "too_deep" => "too deep",
        "backup" => "backups",
        other => Skip::ALL
            .iter()
            .map(|skip| skip.name())
            .find(|name| *name == other)
            .unwrap_or_default(),
    };
    skipped
        .iter()
        .map(|(name, count)| format!("{count} {}", word(name)))
        .collect()
}
