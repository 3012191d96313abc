//! Searching a tree for names and for text.

mod body;
mod code;
mod collect;
mod compile;
mod filter;
mod look;
mod names;
mod run;
mod sink;
mod text;
mod watched;

use std::time::Duration;

use cap_std::fs::Dir;

use crate::definition::DefinitionKind;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::Fallback;
use crate::list::EntryKind;
use crate::path::RelPath;
use crate::skip::Skips;
use crate::walk::{Sight, WalkOptions};

/// What to search for, where, and how much of it to return.
#[derive(Debug, Clone)]
pub struct Query {
    /// What is searched for; not empty.
    pub pattern: String,
    /// How the pattern is meant.
    pub syntax: Syntax,
    /// What is searched.
    pub target: Target,
    /// Whether case counts; `None` for what is usual: it does in texts, and is [`Case::Smart`] in
    /// names.
    pub case: Option<Case>,
    /// Globs that files must match, parted by commas: by their name, or with a slash in it by their
    /// path below the directory that is searched. `*` stops at a slash, `**` does not; `/a` is the `a`
    /// right there, `d/` all that is in a `d`, and after `!` follows what must not match.
    pub file_glob: Option<String>,
    /// How many lines to show before and after each line that matches.
    pub context_lines: usize,
    /// The most matching lines, or names, of the whole answer.
    pub max_results: usize,
    /// The most bytes of text of the whole answer; its first line always fits.
    pub max_bytes: usize,
    /// The most characters of a line; of a longer one, those around the match.
    pub max_line_chars: usize,
    /// Files larger than so many bytes are passed over.
    pub max_file_bytes: u64,
    /// What to take files for that say nothing of their encoding and are not UTF-8.
    pub fallback: Fallback,
    /// After so long the search ends with what it has found.
    pub time_limit: Duration,
    /// How many threads look into files, beside the one that walks; with 0 that one does both.
    pub threads: usize,
    /// Which entries are searched, and what cancels it. Its order is not looked at: hits come in the
    /// order of paths, compared name by name and names by their bytes, as [`RelPath`] compares.
    pub walk: WalkOptions,
}

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// As it stands. Among names a pattern with `*`, `?` or `[` is a glob that the whole name must
    /// match, unless it cannot be one.
    #[default]
    Literal,
    /// As a regular expression without look-around and back-references, so that time is linear in
    /// the text.
    Regex,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Target {
    /// The lines of text files.
    #[default]
    Text,
    /// The names of entries, whatever they are; their paths below the directory that is searched,
    /// when the pattern holds a slash.
    Names,
    /// The definitions of exactly this name in sources, by [`definitions`](crate::definitions);
    /// neither syntax nor case is looked at. A source over 4 MiB that holds the name is too large.
    Definitions,
}

/// Whether case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// It does.
    Sensitive,
    /// It does not.
    Insensitive,
    /// It does when the pattern holds a capital.
    Smart,
}

/// What a search has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The names that match, in path order.
    pub names: Vec<FoundName>,
    /// The lines that match and those around them, in path order.
    pub blocks: Vec<Block>,
    /// How many lines or names match, of those returned.
    pub hits: usize,
    /// Why there may be more; `None` when this is all.
    pub cut: Option<Cut>,
    /// What was passed over; of a search that was cut, what comes before its last hit.
    pub skipped: Skips,
    /// The first 20 directories and files that could not be read.
    pub unreadable: Vec<RelPath>,
    /// How many files were looked into; of a search that was cut, about how many.
    pub files: u64,
}

/// An entry whose name matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundName {
    /// Its path below the root.
    pub path: RelPath,
    /// What it is.
    pub kind: EntryKind,
}

/// Consecutive lines of a file, one of which matches at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The file's path below the root.
    pub path: RelPath,
    /// The file's encoding; `None` when it is in none that is known, or mostly in UTF-8. What is no
    /// text there is shown as U+FFFD.
    pub encoding: Option<Encoding>,
    /// The number of the first line, counted from 1.
    pub first_line: u64,
    /// The lines, in order.
    pub lines: Vec<FoundLine>,
}

/// A line of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// The text without its break, cut to `max_line_chars`.
    pub text: String,
    /// The column of the first match, in code points from 1; `None` for a line of context.
    pub column: Option<u64>,
    /// The column at which `text` begins: 1 unless the line was cut before it.
    pub first_column: u64,
    /// Whether the line has more text than is shown.
    pub is_cut: bool,
    /// What is defined there, of a search for definitions.
    pub defines: Option<DefinitionKind>,
}

/// Why a search has not returned everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// There are more than `max_results`.
    Results,
    /// They take more than `max_bytes`.
    Bytes,
    /// It took longer than `time_limit`. What was found by then depends on the machine.
    Time,
}

/// Searches the directory `start` below `root`.
///
/// The hits are the first ones in path order, and always the same ones, however many threads look
/// for them; the search ends as soon as these are known. Entries are passed over as by
/// [`walk`](crate::walk()), and so are links, whatever is no regular file, binary files (a NUL in
/// the first 8 KiB that is not UTF-16's; a later NUL ends the text), and files over
/// `max_file_bytes`, or with a line over 16 MiB or too long for a slow expression. Texts are matched as what they are read as: a file
/// in GB18030 or UTF-16 is found by the same pattern as one in UTF-8, and a match that only the bytes
/// have is none.
///
/// A line ends at LF or CR LF; a lone CR is data to `^`, `$` and `.`, too.
///
/// ```
/// # #![allow(clippy::disallowed_methods)]
/// use fs_core::{Everything, Query, RelPath, search};
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.txt"), "one\ntwo\n")?;
/// # let root = cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority())?;
/// let query = Query { pattern: "wo".to_owned(), ..Query::default() };
/// let found = search(&root, &RelPath::root(), &query, &Everything)?;
/// let block = &found.blocks[0];
/// assert_eq!((block.path.to_string().as_str(), block.first_line), ("a.txt", 2));
/// assert_eq!((block.lines[0].text.as_str(), block.lines[0].column), ("two", Some(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `invalid_argument` for field `query` (empty, a line break in a literal, a blank in a definition's
/// name, no regular expression, one too large) or `file_glob`; else those of [`walk`](crate::walk()).
pub fn search(root: &Dir, start: &RelPath, query: &Query, sight: &dyn Sight) -> Result<Found> {
    match query.target {
        Target::Names => names::search(root, start, query, sight),
        Target::Text => text::search(root, start, query, sight),
        Target::Definitions => code::search(root, start, query, sight),
    }
}

impl Default for Query {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            syntax: Syntax::default(),
            target: Target::default(),
            case: None,
            file_glob: None,
            context_lines: 0,
            max_results: 50,
            max_bytes: 1024 * 1024,
            max_line_chars: 500,
            max_file_bytes: 64 * 1024 * 1024,
            fallback: Fallback::Auto,
            time_limit: Duration::from_secs(20),
            threads: 2,
            walk: WalkOptions::default(),
        }
    }
}

impl Block {
    /// Returns the lines that match, with their numbers.
    pub fn hits(&self) -> impl Iterator<Item = (u64, &FoundLine)> {
        let numbered = (self.first_line..).zip(&self.lines);
        numbered.filter(|(_, line)| line.column.is_some())
    }
}

#[cfg(test)]
mod tests;
