//! What can go wrong, as data: codes, fields and the next step.

mod system;
mod words;

use std::io;

use crate::encoding::Encoding;
use crate::error::Field;

use system::{describe, is_full};
use words::{guessed, places};

/// What went wrong, with the numbers and texts that a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An argument has a value that no call may have.
    #[error("invalid {field}: {reason}")]
    InvalidArgument {
        /// The argument's name as the caller knows it.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The path cannot name anything: empty, a NUL, too long, a loop of links.
    #[error("invalid path: {reason}")]
    InvalidPath {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The text to replace is empty, so it would match everywhere.
    #[error("old is empty")]
    EmptyOld,
    /// A line or column that the text does not have; nothing is clamped.
    #[error("{what} {value} is out of range: {bound}")]
    OutOfRange {
        /// `line`, `column`, `end_line`, `end_column` or `offset`.
        what: &'static str,
        /// The value that was asked for.
        value: u64,
        /// The largest value that would have been right.
        last: u64,
        /// What the text holds instead, in words.
        bound: String,
    },
    /// No root holds the path, or a link on it leads out of the roots.
    #[error("path outside sandbox")]
    OutsideSandbox,
    /// A right is missing or a deny rule applies.
    #[error("denied by policy: {reason}")]
    DeniedByPolicy {
        /// The operation and the missing right; never which rule matched.
        reason: String,
    },
    /// The operating system refuses the access.
    #[error("permission denied")]
    PermissionDenied,
    /// Nothing has this name.
    #[error("file not found")]
    NotFound,
    /// The history holds nothing that could be undone.
    #[error("nothing to undo: {reason}")]
    NothingToUndo {
        /// Why not.
        reason: &'static str,
    },
    /// Something has this name already.
    #[error("file already exists")]
    AlreadyExists,
    /// A directory, where a file is needed.
    #[error("is a directory")]
    IsADirectory,
    /// The path, or a part of it that must be a directory, is none.
    #[error("not a directory")]
    NotADirectory,
    /// A FIFO, socket or device; only regular files are opened.
    #[error("not a regular file")]
    NotAFile,
    /// The file has other names, and the policy refuses to part them.
    #[error("the file has {links} hard links")]
    HardLink {
        /// How many names the file has.
        links: u64,
    },
    /// The new file could not take the old one's place without losing something.
    #[error("cannot be replaced: {reason}")]
    NotReplaceable {
        /// What stands in the way.
        reason: &'static str,
    },
    /// The text to replace occurs nowhere.
    #[error("could not find \"old\"")]
    NoMatch {
        /// Where the nearest text stands and what differs, if that was found in time.
        explanation: Option<String>,
        /// The lines of the nearest text, counted from 1, first and last; empty when none is near.
        lines: Vec<u64>,
        /// What explains it, by name: `line_breaks`, `already_applied`, `in_another_edit`, `blanks`,
        /// `look_alikes`, `composition`, `escapes`, `line_numbers`, `case`, `several`, `nearest` or
        /// `empty_file`.
        probe: Option<&'static str>,
        /// Some of these lines as they stand in the file, without the last one's break.
        exact: Option<String>,
    },
    /// The text to replace occurs another number of times than expected.
    #[error("found {found} occurrences of \"old\", expected {expected}")]
    CountMismatch {
        /// How many starts match, overlapping ones included.
        found: u64,
        /// How many were expected.
        expected: u64,
        /// The line of each start, counted from 1; at most 20.
        lines: Vec<u64>,
    },
    /// The expected number of matches is there, but they overlap each other.
    #[error("found {found} occurrences of \"old\" that overlap each other")]
    OverlappingMatches {
        /// How many starts match.
        found: u64,
        /// The line of each start, counted from 1; at most 20.
        lines: Vec<u64>,
    },
    /// Two edits want the same text.
    #[error("edits[{first}] and edits[{second}] overlap")]
    OverlappingEdits {
        /// The lower index, counted from 0.
        first: usize,
        /// The higher index.
        second: usize,
    },
    /// The edit would change nothing.
    #[error("the edit changes nothing")]
    NoOp,
    /// The file is not, or no longer, the one that was read.
    #[error("the file has changed since it was read")]
    Conflict,
    /// The file is not as the change left it that is to be undone.
    #[error("somebody has written to the file since that change")]
    ChangedSince,
    /// The file or the answer is over a limit.
    #[error("too large: {size} bytes, the limit is {limit}")]
    TooLarge {
        /// The size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
        /// What to do instead.
        hint: &'static str,
    },
    /// The bytes are text in no encoding that is known here.
    #[error("not text in a known encoding, from byte {offset}")]
    NotText {
        /// The offset of the first byte that could not be read, counted from 0.
        offset: u64,
    },
    /// NUL bytes: the file is no text.
    #[error("binary file of {size} bytes")]
    BinaryFile {
        /// The file's size in bytes.
        size: u64,
    },
    /// The file is not in the encoding that the caller named.
    #[error("the file is not {encoding}: byte {offset} does not fit")]
    EncodingMismatch {
        /// The encoding that was named.
        encoding: String,
        /// The offset of the first byte that does not fit, counted from 0.
        offset: u64,
    },
    /// The file's encoding is not certain enough to find or write this text.
    #[error("the file's encoding is not certain{}", guessed(.guess.as_deref()))]
    EncodingUnknown {
        /// The encoding that it looks like; `None` where it looks like none.
        guess: Option<String>,
    },
    /// A character has no form in the file's encoding.
    #[error("{character} at line {line}, column {column} cannot be written in {encoding}")]
    Unencodable {
        /// The character as `U+XXXX`.
        character: String,
        /// Its line in the new text, counted from 1.
        line: u64,
        /// Its column in code points, counted from 1.
        column: u64,
        /// The encoding.
        encoding: String,
    },
    /// The caller went away; nothing was changed.
    #[error("cancelled")]
    Cancelled,
    /// The backup could not be made, so nothing was changed.
    #[error("the backup could not be made")]
    BackupFailed(#[source] io::Error),
    /// The machine failed.
    #[error("{}", describe(.source))]
    Io {
        /// What the operating system said.
        #[source]
        source: io::Error,
        /// Whether the same call may succeed later, once what the hint says has happened.
        retry: bool,
    },
}

/// The kind of a [`Problem`], for branching; its code is frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "each is the kind of the Problem of the same name"
)]
pub enum ErrorKind {
    InvalidArgument,
    InvalidPath,
    EmptyOld,
    OutOfRange,
    OutsideSandbox,
    DeniedByPolicy,
    PermissionDenied,
    NotFound,
    AlreadyExists,
    IsADirectory,
    NotADirectory,
    NotAFile,
    HardLink,
    NotReplaceable,
    NoMatch,
    CountMismatch,
    OverlappingMatches,
    OverlappingEdits,
    NoOp,
    Conflict,
    TooLarge,
    NotText,
    BinaryFile,
    EncodingMismatch,
    EncodingUnknown,
    Unencodable,
    Cancelled,
    BackupFailed,
    Io,
}

impl ErrorKind {
    /// Returns the stable `snake_case` code; a code never changes its meaning.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::InvalidPath => "invalid_path",
            Self::EmptyOld => "empty_old",
            Self::OutOfRange => "out_of_range",
            Self::OutsideSandbox => "outside_sandbox",
            Self::DeniedByPolicy => "denied_by_policy",
            Self::PermissionDenied => "permission_denied",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::IsADirectory => "is_a_directory",
            Self::NotADirectory => "not_a_directory",
            Self::NotAFile => "not_a_file",
            Self::HardLink => "hard_link",
            Self::NotReplaceable => "not_replaceable",
            Self::NoMatch => "no_match",
            Self::CountMismatch => "count_mismatch",
            Self::OverlappingMatches => "overlapping_matches",
            Self::OverlappingEdits => "overlapping_edits",
            Self::NoOp => "no_op",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::NotText => "not_text",
            Self::BinaryFile => "binary_file",
            Self::EncodingMismatch => "encoding_mismatch",
            Self::EncodingUnknown => "encoding_unknown",
            Self::Unencodable => "unencodable",
            Self::Cancelled => "cancelled",
            Self::BackupFailed => "backup_failed",
            Self::Io => "io",
        }
    }
}

impl Problem {
    /// Returns an [`Problem::InvalidArgument`] for `field`.
    pub fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidArgument {
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// Returns the kind of this problem.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidArgument { .. } => ErrorKind::InvalidArgument,
            Self::InvalidPath { .. } => ErrorKind::InvalidPath,
            Self::EmptyOld => ErrorKind::EmptyOld,
            Self::OutOfRange { .. } => ErrorKind::OutOfRange,
            Self::OutsideSandbox => ErrorKind::OutsideSandbox,
            Self::DeniedByPolicy { .. } => ErrorKind::DeniedByPolicy,
            Self::PermissionDenied => ErrorKind::PermissionDenied,
            Self::NotFound | Self::NothingToUndo { .. } => ErrorKind::NotFound,
            Self::AlreadyExists => ErrorKind::AlreadyExists,
            Self::IsADirectory => ErrorKind::IsADirectory,
            Self::NotADirectory => ErrorKind::NotADirectory,
            Self::NotAFile => ErrorKind::NotAFile,
            Self::HardLink { .. } => ErrorKind::HardLink,
            Self::NotReplaceable { .. } => ErrorKind::NotReplaceable,
            Self::NoMatch { .. } => ErrorKind::NoMatch,
            Self::CountMismatch { .. } => ErrorKind::CountMismatch,
            Self::OverlappingMatches { .. } => ErrorKind::OverlappingMatches,
            Self::OverlappingEdits { .. } => ErrorKind::OverlappingEdits,
            Self::NoOp => ErrorKind::NoOp,
            Self::Conflict | Self::ChangedSince => ErrorKind::Conflict,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::NotText { .. } => ErrorKind::NotText,
            Self::BinaryFile { .. } => ErrorKind::BinaryFile,
            Self::EncodingMismatch { .. } => ErrorKind::EncodingMismatch,
            Self::EncodingUnknown { .. } => ErrorKind::EncodingUnknown,
            Self::Unencodable { .. } => ErrorKind::Unencodable,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::BackupFailed(_) => ErrorKind::BackupFailed,
            Self::Io { .. } => ErrorKind::Io,
        }
    }

    /// Returns a `no_match` that explains nothing.
    pub fn no_match() -> Self {
        Self::NoMatch {
            explanation: None,
            lines: Vec::new(),
            probe: None,
            exact: None,
        }
    }

    /// Returns an `encoding_unknown` with the encoding that the bytes look like.
    pub fn encoding_unknown(guess: Option<Encoding>) -> Self {
        Self::EncodingUnknown {
            guess: guess.map(|guess| guess.name().to_owned()),
        }
    }

    /// Returns the next step in words, where there is one that is not plain from the message.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::EmptyOld => "name the text to replace; to add text use an insert or a write",
            Self::NoMatch {
                probe: Some("already_applied"),
                ..
            } => "if the edit was made before, nothing is left to do",
            Self::NoMatch { exact: Some(_), .. } => {
                "copy the text as the file has it, with its blanks and line breaks"
            }
            Self::NoMatch { .. } => {
                "read the file again and copy the text exactly, with its blanks and line breaks"
            }
            Self::CountMismatch {
                found, expected, ..
            } if found < expected => "lower `expected_count` to what is there",
            Self::BackupFailed(_) => {
                "make room for NAME.bak beside the file, or set `create_backup` to false"
            }
            Self::CountMismatch { .. } => {
                "add surrounding lines to `old` until it is unique, or set `expected_count`"
            }
            Self::OverlappingMatches { .. } => {
                "make `old` longer, or set `expected_count` to -1 to replace from left to right"
            }
            Self::OverlappingEdits { .. } => "join the two edits into one",
            Self::ChangedSince => {
                "nothing is put over what others wrote: read the file and write what it should hold"
            }
            Self::Conflict => "read the file again and repeat the change on what it holds now",
            Self::IsADirectory => "list the directory, or name a file in it",
            Self::AlreadyExists => "choose another name, or overwrite the file on purpose",
            Self::HardLink { .. } => {
                "break the link or write in place, by `on_hard_link`, or use another name"
            }
            Self::NotText { .. } | Self::EncodingUnknown { guess: None } => {
                "name the file's encoding by `encoding`"
            }
            Self::EncodingUnknown { .. } => {
                "name the file's encoding by `encoding`, the one that it looks like or another one"
            }
            Self::EncodingMismatch { .. } => "leave `encoding` out, or name the right one",
            Self::Unencodable { encoding, .. } if encoding == "gbk" => {
                "name `encoding=gb18030`, whose four-byte forms hold every character"
            }
            Self::Unencodable { .. } => "use characters that the encoding has",
            Self::TooLarge { hint, .. } => hint,
            Self::Io { source, .. } if is_full(source) => {
                "make room on the disk first, or write elsewhere"
            }
            Self::Io { retry: true, .. } => "try again",
            Self::OutsideSandbox => "use a path below one of the roots",
            Self::NotFound => "list the directory to see what is there",
            Self::NothingToUndo { .. } => "list what can be undone by `edit_history`",
            Self::NotADirectory => "list the directory above it to see what is there",
            Self::NotAFile => "name a regular file: others are not opened",
            Self::PermissionDenied => "have its mode or owner changed, or use another file",
            Self::OutOfRange { .. } => "read the file again to see which lines it has",
            Self::BinaryFile { .. } => "to replace it by text, write it whole and name `encoding`",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Returns what else the caller may want to see, in words: where the matches stand, or what is
    /// near to a text that does not match.
    pub fn details(&self) -> Option<String> {
        match self {
            Self::NoMatch { explanation, .. } => explanation.clone(),
            Self::CountMismatch { found, lines, .. }
            | Self::OverlappingMatches { found, lines } => places(*found, lines),
            _ => None,
        }
    }

    /// Returns the data of this problem by name, in a fixed order.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        use Field::{Flag, Number, Numbers, Text};
        match self {
            Self::InvalidArgument { field, .. } => vec![("field", Text(field.clone()))],
            Self::OutOfRange {
                what, value, last, ..
            } => vec![
                ("field", Text((*what).to_owned())),
                ("value", Number(*value)),
                ("last", Number(*last)),
            ],
            Self::HardLink { links } => vec![("links", Number(*links))],
            Self::NoMatch {
                lines,
                probe: Some(probe),
                exact: Some(exact),
                ..
            } => vec![
                ("lines", Numbers(lines.clone())),
                ("probe", Text((*probe).to_owned())),
                ("exact", Text(exact.clone())),
            ],
            Self::NoMatch {
                lines,
                probe: Some(probe),
                ..
            } if !lines.is_empty() => vec![
                ("lines", Numbers(lines.clone())),
                ("probe", Text((*probe).to_owned())),
            ],
            Self::NoMatch {
                probe: Some(probe), ..
            } => vec![("probe", Text((*probe).to_owned()))],
            Self::CountMismatch {
                found,
                expected,
                lines,
            } => vec![
                ("found", Number(*found)),
                ("expected", Number(*expected)),
                ("lines", Numbers(lines.clone())),
            ],
            Self::OverlappingMatches { found, lines } => {
                vec![("found", Number(*found)), ("lines", Numbers(lines.clone()))]
            }
            Self::OverlappingEdits { first, second } => {
                vec![("edits", Numbers(vec![*first as u64, *second as u64]))]
            }
            Self::TooLarge { size, limit, .. } => {
                vec![("size", Number(*size)), ("limit", Number(*limit))]
            }
            Self::NotText { offset } => vec![("offset", Number(*offset))],
            Self::BinaryFile { size } => vec![("size", Number(*size))],
            Self::EncodingMismatch { encoding, offset } => {
                vec![
                    ("encoding", Text(encoding.clone())),
                    ("offset", Number(*offset)),
                ]
            }
            Self::Unencodable {
                character,
                line,
                column,
                encoding,
            } => vec![
                ("char", Text(character.clone())),
                ("line", Number(*line)),
                ("column", Number(*column)),
                ("encoding", Text(encoding.clone())),
            ],
            Self::EncodingUnknown { guess: Some(guess) } => vec![("guess", Text(guess.clone()))],
            Self::Io { retry, .. } => vec![("retry", Flag(*retry))],
            _ => Vec::new(),
        }
    }
}
