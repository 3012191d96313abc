//! The search of several places, and its answer as lines.

use std::fmt::Write as _;

use fs_core::{Block, Cut, EntryKind, FoundName, Query, RelPath, Skips};
use fs_sandbox::{Searched, Workspace};
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::file::{skipped_fact, skipped_words};
use crate::output::ToolOutput;
use crate::render::counted;
use crate::schema::Args;

/// What was found in all places.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    hits: usize,
    files: u64,
    cut: Option<Cut>,
    skipped: Map<String, Value>,
    passed_over: Vec<String>,
    unreadable: Vec<String>,
    has_cut_lines: bool,
}

/// How found paths are written: relative to the first root, with the root's name in the others.
struct Naming(Vec<String>);

/// Searches the places one after the other, as far as the limits of the whole answer go.
///
/// # Errors
/// Those of [`Workspace::search`].
pub(super) fn search(
    workspace: &Workspace,
    places: &[String],
    mut query: Query,
) -> Result<Answer, ToolError> {
    let naming = Naming(
        workspace
            .roots()
            .into_iter()
            .map(|root| root.name)
            .collect(),
    );
    let (results, bytes) = (query.max_results, query.max_bytes);
    let mut answer = Answer::default();
    for place in places {
        let left = results.saturating_sub(answer.hits);
        // Where no room is left, one more hit tells that there are more.
        query.max_results = left.max(1);
        query.max_bytes = bytes.saturating_sub(answer.text.len());
        let searched = workspace.search(place, &query)?;
        if left == 0 && searched.found.hits > 0 {
            answer.cut = Some(Cut::Results);
        } else {
            answer.add(&searched, query.context_lines, &naming);
        }
        if answer.cut.is_some() {
            break;
        }
    }
    Ok(answer)
}

impl Answer {
    /// Returns the answer of the tool.
    pub(super) fn output(self, args: &Args) -> ToolOutput {
        let cut_note = self.cut_note();
        let text = match self.text.strip_suffix('\n') {
            Some(text) => text.to_owned(),
            None => "(no matches)".to_owned(),
        };
        let mut output = ToolOutput::new(text)
            .with_fact("results", self.hits)
            .with_fact("files", self.files)
            .with_known("truncated", self.cut.map(cut_name))
            .with_fact("skipped", self.skipped)
            .with_fact("unreadable", self.unreadable.clone());
        if let Some(note) = cut_note {
            output = output.with_note(note);
        }
        let mut words = Vec::new();
        if !self.passed_over.is_empty() {
            words.push(format!("passed over: {}", self.passed_over.join(", ")));
        }
        if !self.unreadable.is_empty() {
            words.push(format!("unreadable: {}", self.unreadable.join(", ")));
        }
        if self.has_cut_lines {
            words.push("long lines cut around the match".to_owned());
        }
        words.extend_from_slice(args.clamped());
        output.with_words(&words)
    }

    fn cut_note(&self) -> Option<String> {
        let shown = counted(self.hits as u64, "result");
        Some(match self.cut? {
            Cut::Results => {
                format!("The first {shown}; there are more. Narrow the query or raise max_results.")
            }
            Cut::Bytes => {
                format!("The first {shown}; more would be too long. Narrow the query.")
            }
            Cut::Time => format!("{shown} when the time was over. Narrow the query or the root."),
        })
    }

    fn add(&mut self, searched: &Searched, context_lines: usize, naming: &Naming) {
        let found = &searched.found;
        let path = |path: &RelPath| naming.path(searched.root.as_deref(), path);
        for name in &found.names {
            self.add_name(name, &path(&name.path));
        }
        for block in &found.blocks {
            if context_lines > 0 && !self.text.is_empty() {
                self.text.push_str("--\n");
            }
            self.add_block(block, &path(&block.path));
        }
        self.hits += found.hits;
        self.files += found.files;
        self.cut = found.cut;
        self.unreadable.extend(found.unreadable.iter().map(path));
        self.add_skips(&found.skipped);
    }

    fn add_name(&mut self, name: &FoundName, path: &str) {
        let mark = match name.kind {
            EntryKind::Dir => "/",
            _ => "",
        };
        // Writing to a string cannot fail.
        _ = writeln!(self.text, "{path}{mark}");
    }

    fn add_block(&mut self, block: &Block, path: &str) {
        for (number, line) in (block.first_line..).zip(&block.lines) {
            let mark = match line.column {
                Some(_) => ':',
                None => '-',
            };
            self.has_cut_lines |= line.is_cut;
            _ = writeln!(self.text, "{path}{mark}{number}{mark}{}", line.text);
        }
    }

    fn add_skips(&mut self, skips: &Skips) {
        for (name, count) in skipped_fact(skips) {
            let before = self.skipped.get(&name).and_then(Value::as_u64);
            let count = count.as_u64().unwrap_or_default() + before.unwrap_or_default();
            self.skipped.insert(name, count.into());
        }
        self.passed_over = skipped_words(&self.skipped);
    }
}

impl Naming {
    fn path(&self, root: Option<&str>, path: &RelPath) -> String {
        let Some(root) = root else {
            return format!("/{path}");
        };
        let text = path.to_string();
        let is_first = self.0.first().is_some_and(|first| first == root);
        // In the first root a name may begin as if it were in another one.
        let is_plain = text
            .split_once(':')
            .is_none_or(|(name, _)| !self.0.iter().any(|root| root == name));
        if is_first && is_plain {
            text
        } else {
            format!("{root}:{text}")
        }
    }
}

fn cut_name(cut: Cut) -> &'static str {
    match cut {
        Cut::Results => "results",
        Cut::Bytes => "bytes",
        Cut::Time => "time",
    }
}
