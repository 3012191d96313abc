//! Windows: runs of whole lines, read without loading the file.

mod cut;
mod emit;
mod read;
mod sample;
mod scan;
mod source;
mod stripes;
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
        /// How many lines at most, 0 for none; `None` for the rest.
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
    /// line on a character's edge. Whatever the cap, one character or break is returned, so that
    /// `next` moves on. `None` for no cap.
    pub max_bytes: Option<u64>,
    /// The most characters of a line to return, at least 1. A longer line is cut; its break is kept
    /// where the window goes on with further lines. `None` for no cap.
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
    /// Where to go on; `None` at the end of the file. It lies behind all that was returned; the rest
    /// of a line cut by `max_line_chars` is reached by its `next_column`.
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
///
/// Memory stays at one block of 128 KiB, the text itself and what decoding a block takes, whatever
/// the file's size; the longest line is never held as a whole when `max_bytes` or `max_line_chars` is
/// set. Up to [`Version::STRONG_BYTES`] all of the file is read, so encoding, line breaks, total and
/// version are those of the whole; above, encoding and line breaks are judged by the first and last
/// 64 KiB and the window, and the total is known when the read came to the end or `index` has it.
/// With an `index`, a window in a part that an earlier read has counted is found without a scan.
///
/// A window that begins past the end is empty, says the total and is no error. A file that grows
/// meanwhile is read as long as it was at the start.
///
/// ```
/// # #![allow(clippy::disallowed_methods, clippy::disallowed_types)]
/// use fs_core::{LineRange, ReadOptions, read_window};
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.txt"), "one\ntwo\nthree\n")?;
/// # let file = cap_std::fs::File::from_std(std::fs::File::open(folder.path().join("a.txt"))?);
/// let range = LineRange::From { line: 2, column: 1, limit: Some(1) };
/// let window = read_window(&file, &ReadOptions { range, ..ReadOptions::default() }, None)?;
/// assert_eq!(window.text, "two\n");
/// assert_eq!(window.total_lines, Some(3));
/// assert_eq!(window.next.map(|next| next.line), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `invalid_argument` for line or column 0; `out_of_range` for a column beyond the end of its line;
/// `too_large`; `is_a_directory` and `not_a_file`; `encoding_mismatch`, `not_text`, `binary_file`;
/// `cancelled`; `io`, with `retry` when the file shrank or changed under the read each time.
pub fn read_window(
    file: &File,
    options: &ReadOptions,
    index: Option<&IndexCache>,
) -> Result<Window> {
    read::read_file(file, options, index, source::Sizes::DEFAULT)
}

/// Returns the window of a text in memory, such as an editor's buffer.
///
/// The text is what it is: `encoding`, `fallback` and `lossy` are not looked at, and a leading
/// U+FEFF is a character. The total is always known.
///
/// ```
/// use fs_core::{LineRange, ReadOptions, window_of};
/// let range = LineRange::Tail { count: 1 };
/// let window = window_of("one\ntwo", &ReadOptions { range, ..ReadOptions::default() })?;
/// assert_eq!((window.text.as_str(), window.first_line), ("two", Some(2)));
/// # Ok::<(), fs_core::Error>(())
/// ```
///
/// # Errors
/// `invalid_argument`, `out_of_range`, `too_large` and `cancelled`, as [`read_window`].
pub fn window_of(text: &str, options: &ReadOptions) -> Result<Window> {
    read::read_text(text, options, source::Sizes::DEFAULT)
}

#[cfg(test)]
mod tests;
