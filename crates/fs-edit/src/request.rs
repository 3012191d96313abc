//! What is asked for.

use fs_core::{Encoding, Fallback};

/// One exact replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The text to replace, literally.
    pub old: String,
    /// What takes its place, literally.
    pub new: String,
    /// How many times `old` must occur: N >= 1 exactly, -1 any number but zero.
    pub expected_count: i64,
}

/// A change at a position; lines and columns from 1, columns in code points, ends exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Positional {
    /// Puts `text` in at a position.
    Insert {
        /// The line; last line + 1 with column 1 appends.
        line: u64,
        /// The column.
        column: u64,
        /// The text, as given.
        text: String,
    },
    /// Replaces a line's text and keeps its break; one final break of `text` is absorbed.
    ReplaceLine {
        /// The line.
        line: u64,
        /// The text.
        text: String,
    },
    /// Replaces what stands between two positions.
    ReplaceRange {
        /// The first line.
        line: u64,
        /// The first column.
        column: u64,
        /// The last line; 0 is `line`.
        end_line: u64,
        /// The column after the last; 0 is the end of `end_line`'s text.
        end_column: u64,
        /// The text, as given.
        text: String,
    },
}

/// The change that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Replacements by text, all matched against the original.
    Text(Vec<Edit>),
    /// One change by position.
    Position(Positional),
}

/// How line breaks are matched and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EolMode {
    /// LF and CR LF are equal; new breaks take the style of the place.
    #[default]
    Auto,
    /// Every code point is itself.
    Exact,
    /// As `Auto`, but new breaks are LF.
    Lf,
    /// As `Auto`, but new breaks are CR LF.
    CrLf,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The change.
    pub target: Target,
    /// How line breaks are treated.
    pub eol: EolMode,
    /// The encoding that the caller names.
    pub encoding: Option<Encoding>,
    /// What the bytes are taken for that are in no sure encoding.
    pub fallback: Fallback,
}
