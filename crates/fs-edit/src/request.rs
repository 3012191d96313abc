//! What is asked for, and what of it can be judged before any file is looked at.

use fs_core::{Encoding, Fallback, Problem, Result};

use crate::failure::fail_on_any;
use crate::tokens::equal_as_tokens;

/// The most edits of one request.
pub const MAX_EDITS: usize = 1_000;
/// The longest text to replace, in bytes of UTF-8.
pub const MAX_OLD_BYTES: usize = 1024 * 1024;
/// The longest new text, in bytes of UTF-8.
pub const MAX_NEW_BYTES: usize = 16 * 1024 * 1024;

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

impl Edit {
    /// Returns the replacement of `old`, which must occur exactly once, by `new`.
    pub fn new(old: impl Into<String>, new: impl Into<String>) -> Self {
        Self {
            old: old.into(),
            new: new.into(),
            expected_count: 1,
        }
    }
}

impl Positional {
    /// Returns the text that is put in.
    pub fn text(&self) -> &str {
        match self {
            Self::Insert { text, .. }
            | Self::ReplaceLine { text, .. }
            | Self::ReplaceRange { text, .. } => text,
        }
    }
}

impl Request {
    /// Returns a request for `edits` with every option at its default.
    pub fn edits(edits: Vec<Edit>) -> Self {
        Self::of(Target::Text(edits))
    }

    /// Returns a request for a change by position with every option at its default.
    pub fn position(position: Positional) -> Self {
        Self::of(Target::Position(position))
    }

    /// Checks what can be judged without the file, so that a misfit costs no I/O.
    ///
    /// [`plan`](crate::plan()) calls this too.
    ///
    /// # Errors
    /// In this order: `invalid_argument` (no edits, more than [`MAX_EDITS`], an `expected_count` of
    /// 0 or below -1, a range that ends before it begins), `too_large` (over [`MAX_OLD_BYTES`] or
    /// [`MAX_NEW_BYTES`]), `empty_old`, `no_op` (`old` equals `new`, or an insert of nothing).
    ///
    /// ```
    /// use fs_edit::{Edit, Request};
    ///
    /// assert!(Request::edits(vec![Edit::new("a", "b")]).check().is_ok());
    /// let error = Request::edits(vec![Edit::new("", "b")]).check().unwrap_err();
    /// assert_eq!((error.code(), error.edit()), ("empty_old", Some(0)));
    /// ```
    pub fn check(&self) -> Result<()> {
        match &self.target {
            Target::Text(edits) => check_edits(edits, self.eol),
            Target::Position(position) => check_position(position),
        }
    }

    fn of(target: Target) -> Self {
        Self {
            target,
            eol: EolMode::Auto,
            encoding: None,
            fallback: Fallback::None,
        }
    }
}

fn check_edits(edits: &[Edit], eol: EolMode) -> Result<()> {
    if edits.is_empty() {
        return Err(Problem::invalid("edits", "it is empty").into());
    }
    if edits.len() > MAX_EDITS {
        let reason = format!("{} edits, the limit is {MAX_EDITS}", edits.len());
        return Err(Problem::invalid("edits", reason).into());
    }
    fail_on_any(edits, check_count)?;
    fail_on_any(edits, check_sizes)?;
    fail_on_any(edits, check_old)?;
    fail_on_any(edits, |edit| check_difference(edit, eol))
}

fn check_count(edit: &Edit) -> Result<()> {
    if edit.expected_count >= 1 || edit.expected_count == -1 {
        return Ok(());
    }
    let reason = "it is a number from 1, or -1 for any number of times";
    Err(Problem::invalid("expected_count", reason).into())
}

fn check_sizes(edit: &Edit) -> Result<()> {
    check_size(edit.old.len(), MAX_OLD_BYTES)?;
    check_size(edit.new.len(), MAX_NEW_BYTES)
}

fn check_size(size: usize, limit: usize) -> Result<()> {
    if size <= limit {
        return Ok(());
    }
    let problem = Problem::TooLarge {
        size: size as u64,
        limit: limit as u64,
        hint: "make several smaller edits, or write the whole file",
    };
    Err(problem.into())
}

fn check_old(edit: &Edit) -> Result<()> {
    if edit.old.is_empty() {
        return Err(Problem::EmptyOld.into());
    }
    Ok(())
}

fn check_difference(edit: &Edit, eol: EolMode) -> Result<()> {
    if equal_as_tokens(&edit.old, &edit.new, eol) {
        return Err(Problem::NoOp.into());
    }
    Ok(())
}

fn check_position(position: &Positional) -> Result<()> {
    check_direction(position)?;
    check_size(position.text().len(), MAX_NEW_BYTES)?;
    if matches!(position, Positional::Insert { text, .. } if text.is_empty()) {
        return Err(Problem::NoOp.into());
    }
    Ok(())
}

fn check_direction(position: &Positional) -> Result<()> {
    let Positional::ReplaceRange {
        line,
        column,
        end_line,
        end_column,
        ..
    } = position
    else {
        return Ok(());
    };
    let one_line = *end_line == 0 || end_line == line;
    let field = if *end_line != 0 && end_line < line {
        "end_line"
    } else if one_line && *end_column != 0 && end_column < column {
        "end_column"
    } else {
        return Ok(());
    };
    Err(Problem::invalid(field, "the range ends before it begins").into())
}
