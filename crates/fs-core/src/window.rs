//! Windows: runs of whole lines, read without loading the file.

mod cut;
mod emit;
mod read;
mod sample;
mod scan;
mod source;
mod survey;

use cap_std::fs::File;

use crate::cancel::Cancel;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::{EncodingBy, Fallback, TextFormat};
use crate::index::IndexCache;
use crate::version::Version;

/// The lines wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineRange {
    /// The whole text.
    #[default]
    All,
    /// From `line` on, and in that line from `column` on; both counted from 1.
    From {
        /// The first line.
        line: u64,
        /// The first column of that line, in code points.
        column: u64,
        /// How many lines at most; `None` for the rest.
        limit: Option<u64>,
    },
    /// The last `count` lines.
    Tail {
        /// How many lines at most.
        count: u64,
    },
}

/// What to read and how much of it.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The lines wanted.
    pub range: LineRange,
    /// The encoding that the caller names; strict.
    pub encoding: Option<Encoding>,
    /// What to take bytes for that are in no sure encoding.
    pub fallback: Fallback,
    /// Whether mostly-UTF-8 bytes may be shown with U+FFFD.
    pub lossy: bool,
    /// The most bytes of text (UTF-8) to return; the cut falls on a line's edge, or inside the first
    /// line on a character's edge. `None` for no cap.
    pub max_bytes: Option<u64>,
    /// The most characters of a line to return. `None` for no cap.
    pub max_line_chars: Option<u64>,
    /// A file larger than this many bytes is `too_large`, before its content is looked at.
    pub max_file_bytes: Option<u64>,
    /// Whether the number of the first line and the total are wanted even where they cost a scan
    /// (tail of a large file).
    pub number_lines: bool,
    /// Stops the read.
    pub cancel: Cancel,
}

/// A run of whole lines and how to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The text with its line breaks as they are, without BOM.
    pub text: String,
    /// The number of the first line; `None` when no line is returned, or when it is not known.
    pub first_line: Option<u64>,
    /// How many lines `text` holds, a cut one included.
    pub returned_lines: u64,
    /// The number of lines of the file; `None` when not known.
    pub total_lines: Option<u64>,
    /// Whether the window reaches the end of the file.
    pub eof: bool,
    /// The file's format (of a large file: as far as it was seen).
    pub format: TextFormat,
    /// How the encoding was found.
    pub encoding_by: EncodingBy,
    /// How many bad sequences are shown as U+FFFD; 0 when the text is exact.
    pub invalid_bytes: u64,
    /// Whether a cap (bytes or characters of a line) cut something that the range asked for.
    pub truncated: bool,
    /// The lines that were cut.
    pub cut_lines: Vec<CutLine>,
    /// Where to go on; `None` at the end of the file.
    pub next: Option<Next>,
    /// What the file was.
    pub version: Version,
    /// The file's size in bytes.
    pub size: u64,
}

/// A line of which only the head is in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutLine {
    /// Its number, counted from 1.
    pub line: u64,
    /// How many characters are shown.
    pub shown_chars: u64,
    /// Its length in bytes in the file, without its break.
    pub line_bytes: u64,
    /// The column to go on from, counted from 1.
    pub next_column: u64,
}

/// Where to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The line, counted from 1.
    pub line: u64,
    /// The column in code points, counted from 1.
    pub column: u64,
}

impl Window {
    /// Returns whether U+FFFD stands in the text for bytes that are none.
    pub fn is_lossy(&self) -> bool {
        self.invalid_bytes > 0
    }
}

/// Reads a window of an open regular file.
pub fn read_window(
    file: &File,
    options: &ReadOptions,
    index: Option<&IndexCache>,
) -> Result<Window> {
    read::read_file(file, options, index, read::BLOCK_BYTES)
}

/// Returns the window of a text in memory, such as an editor's buffer.
pub fn window_of(text: &str, options: &ReadOptions) -> Result<Window> {
    read::read_text(text, options, read::BLOCK_BYTES)
}

#[cfg(test)]
mod tests;
