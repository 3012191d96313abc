//! Text, windows and listing over open handles and bytes.
//!
//! This crate is told what to read by whoever holds the handle: it takes a [`cap_std::fs::File`], a
//! [`cap_std::fs::Dir`] or bytes, and never opens anything by name, save the directory it was given.
//! It blocks, prints nothing, and knows no environment, no current directory and no protocol.
//!
//! # Words
//!
//! - A **line** ends at LF or CR LF, and its break belongs to it. A lone CR and every other control
//!   character are data. A text that ends in a break has no further line; an empty one has none.
//! - Lines and **columns** count from 1, columns in code points; ends of ranges are exclusive.
//! - A **window** ([`Window`]) is a run of whole lines with what it takes to go on ([`Next`]).
//! - A **format** ([`TextFormat`]) is an encoding, a byte order mark or none, and the line breaks;
//!   [`detect`] is the one rule that finds the encoding, and says by what ([`EncodingBy`]).
//! - A **version** ([`Version`]) is what a file was when it was read; the **index** ([`IndexCache`]) is
//!   where its lines are, kept between reads.
//! - A **walk** ([`walk()`]) visits a tree, a **search** ([`search()`]) what is in it; a **skip**
//!   ([`Skip`]) is why something was passed over, and a [`Sight`] what the caller may see of it.
//! - A **patch** ([`Patch`]) is a change that is decided, as ranges to keep and new bytes.
//! - A **problem** ([`Problem`]) is what went wrong, as data; an [`Error`] adds the caller's path.
//!
//! # Promises
//!
//! - Windows read one after another by [`Next`], and cut lines by their `next_column`, are the text,
//!   byte for byte; a tail of n is the last n lines.
//! - Decoding and encoding are strict: nothing is replaced, except where U+FFFD is asked for and
//!   counted, and decoding what was encoded gives the same text.
//! - A read takes the memory of its answer and at most 4 MiB, a page of a listing that of its
//!   entries, whatever the size of the file or the directory.
//! - A walk is opened name by name and through no link, so it never leaves its root, and holds some
//!   40 handles at most, whatever the depth. What is passed over is counted by reason.
//! - A search returns the first hits in path order, the same ones however many threads look for
//!   them, and ends once they are known. Its time is linear in the text, and an expression that
//!   would take more memory than a text is worth is refused.
//! - A handle's position is neither used nor moved, so threads may share one.
//! - Every long operation stops soon after its [`Cancel`] does.
//! - No input makes it panic, and no error holds a path that the caller did not send.
//!
//! # No promises
//!
//! - A read is no snapshot: of a file that is written meanwhile, a window may hold some of the new
//!   bytes. It stops at the size the file had at the start, and its version is not newer than its
//!   text, so an edit that names the version is refused.
//! - A change through a shared memory map shows in a file's times when the system writes it, not
//!   before; until then an index or a weak version cannot see it.
//! - A file over 4 MiB is judged by its ends and the window. What lies between may be in no encoding.
//! - A guess is a guess: few bytes are taken for Chinese rather than for a rarer set.
//!
//! # Example
//!
//! ```
//! # #![allow(clippy::disallowed_methods, clippy::disallowed_types)]
//! use fs_core::{LineRange, ReadOptions, read_window};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("log"), "one\ntwo\nthree\n")?;
//! # let file = cap_std::fs::File::from_std(std::fs::File::open(folder.path().join("log"))?);
//! let mut options = ReadOptions { max_bytes: Some(8), ..ReadOptions::default() };
//! let mut text = String::new();
//! loop {
//!     let window = read_window(&file, &options, None)?;
//!     text += &window.text;
//!     let Some(next) = window.next else { break };
//!     options.range = LineRange::From { line: next.line, column: next.column, limit: None };
//! }
//! assert_eq!(text, "one\ntwo\nthree\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

#[cfg(not(any(target_os = "linux", target_os = "android")))]
compile_error!("fs-core reads directories by getdents: only Linux is supported so far");

mod cancel;
mod chars;
mod content;
mod definition;
mod encoding;
mod error;
mod file_bytes;
mod format;
mod glob;
mod guess;
mod index;
mod judge;
mod lines;
mod list;
mod lock;
mod newline;
mod patch;
mod path;
mod problem;
mod progress;
mod search;
mod skip;
mod version;
mod walk;
mod window;

pub use cancel::Cancel;
pub use content::Content;
pub use definition::{Definition, DefinitionKind, definitions, may_define};
pub use encoding::{Encoding, Stream as DecodeStream, TextChar};
pub use error::{Error, Field, Result, one_line};
pub use file_bytes::FileBytes;
pub use format::{Detected, EncodingBy, Eol, Fallback, Shape, TextFormat, detect};
pub use glob::Glob;
pub use index::IndexCache;
pub use lines::{LineSpan, Lines};
pub use list::{Entry, EntryKind, ListOptions, Listing, Order, Position, list};
pub use patch::{NewBytes, Patch, PatchBuilder, Piece, Pieces};
pub use path::{MAX_NAME_BYTES, MAX_PATH_BYTES, RelPath, escape_name, unescape_name};
pub use problem::{ErrorKind, Problem};
pub use progress::Progress;
pub use search::{Block, Case, Cut, Found, FoundLine, FoundName, Query, Syntax, Target, search};
pub use skip::{Skip, Skips};
pub use version::Version;
pub use walk::{Everything, SKIP_LIST, Sight, Visible, Visited, WalkOptions, Walked, walk};
pub use window::{CutLine, LineRange, Next, ReadOptions, Window, read_window, window_of};

#[cfg(test)]
mod tests;
