//! Text, windows and listing over open handles and bytes.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

mod cancel;
mod chars;
mod encoding;
mod error;
mod format;
mod guess;
mod index;
mod judge;
mod lines;
mod list;
mod newline;
mod patch;
mod path;
mod problem;
mod version;
mod window;

pub use cancel::Cancel;
pub use encoding::{Encoding, TextChar};
pub use error::{Error, Field, Result, one_line};
pub use format::{Detected, EncodingBy, Eol, Fallback, Shape, TextFormat, detect};
pub use index::IndexCache;
pub use lines::{LineSpan, Lines};
pub use list::{Entry, EntryKind, ListOptions, Listing, Order, Position, list};
pub use patch::{Patch, Piece};
pub use path::{MAX_NAME_BYTES, MAX_PATH_BYTES, RelPath};
pub use problem::{ErrorKind, Problem};
pub use version::Version;
pub use window::{CutLine, LineRange, Next, ReadOptions, Window, read_window, window_of};

#[cfg(test)]
mod tests;
