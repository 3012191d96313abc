//! The search of several places, and its answer as lines.

use std::fmt::Write as _;

use fs_core::{Block, Cut, EntryKind, Error, ErrorKind, FoundName, Query, RelPath, Skips};
use fs_sandbox::{Searched, Workspace};
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::file::search::MAX_RESULTS;
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

/// How the paths of one place are written.
enum Names<'n> {
    /// Below the root of this name.
    In(&'n Naming, &'n str),
    /// Outside of the roots: as the caller wrote the place, for where it leads is not told. The
    /// link-free path is that of the place.
    Outside(&'n str, &'n RelPath),
}

/// Searches the places one after the other, as far as the limits of the whole answer go; `root` is the
/// place that the caller named.
///
/// # Errors
/// Those of [`Workspace::search`].
pub(super) fn search(
    workspace: &Workspace,
    root: Option<&str>,
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
        let searched = workspace.search(place, &query);
        let searched = searched.map_err(|error| named(&error, place, root))?;
        if left == 0 && searched.found.hits > 0 {
            answer.cut = Some(Cut::Results);
        } else {
            answer.add(&searched, query.context_lines, &naming.of(place, &searched));
        }
        if answer.cut.is_some() {
            break;
        }
    }
    Ok(answer)
}

/// Returns the error with the place, if the caller named it.
fn named(error: &Error, place: &str, root: Option<&str>) -> ToolError {
    let mut shown = ToolError::of(error);
    if error.kind() == ErrorKind::NotADirectory {
        shown =
            shown.hinting("root must be a folder; to search one file set file_glob to its name");
    }
    if error.path().is_none() || root == Some(place) {
        return shown;
    }
    shown.nowhere().saying(error.problem().to_string())
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
            Cut::Results if self.hits as u64 >= MAX_RESULTS.unsigned_abs() => {
                format!("The first {shown}; there are more. Narrow the query or the root.")
            }
            Cut::Results => {
                format!("The first {shown}; there are more. Narrow the query or raise max_results.")
            }
            Cut::Bytes => {
                format!("The first {shown}; more would be too long. Narrow the query.")
            }
            Cut::Time => format!("{shown} when the time was over. Narrow the query or the root."),
        })
    }

    fn add(&mut self, searched: &Searched, context_lines: usize, names: &Names<'_>) {
        let found = &searched.found;
        let path = |path: &RelPath| names.path(path);
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
    /// Returns how to write what was found at `place`.
    fn of<'n>(&'n self, place: &'n str, searched: &'n Searched) -> Names<'n> {
        match &searched.root {
            Some(root) => Names::In(self, root),
            None => Names::Outside(place, &searched.path),
        }
    }

    fn path(&self, root: &str, path: &RelPath) -> String {
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

impl Names<'_> {
    fn path(&self, path: &RelPath) -> String {
        match self {
            Self::In(naming, root) => naming.path(root, path),
            Self::Outside(place, start) => {
                let mut below = path.names().skip(start.names().count());
                let below = below.try_fold(RelPath::root(), |path, name| path.join(name));
                // A part of a path is a path.
                let below = below.unwrap_or_default();
                format!("{}/{below}", place.trim_end_matches('/'))
            }
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
