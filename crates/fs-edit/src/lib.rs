//! Exact edits: an edit changes the bytes it names and no others, or changes nothing and says why.
//!
//! [`plan()`] is pure: from the bytes of a file and a [`Request`] it makes a [`Plan`], whose
//! [`Patch`](fs_core::Patch) an editor applies to a buffer and a workspace to a file.
//! [`edit_file`] is the second of these: it plans on the bytes that it reads under the file's lock,
//! and replaces the file in one step.
//!
//! [`merge()`] makes one change of two that were made of one text apart from each other.
//!
//! # Words
//!
//! - **Token**: a line break or one code point. LF and CR LF are the same token, unless the request
//!   says [`EolMode::Exact`]; a lone CR, a form feed, U+0085 and U+2028 are code points like others.
//!   A byte order mark is no text.
//! - **Match**: a place where the tokens of `old` stand one after the other. Every start counts,
//!   overlapping ones included.
//! - **Core**: what is left of `old` and `new` without the tokens with which both begin and end. Only
//!   the core is written.
//! - **Opaque**: bytes in no known encoding. They are edited as bytes, by ASCII texts alone, and only
//!   where the byte before the match proves that no character is cut.
//!
//! # Promises
//!
//! - Matching is literal: no trimming, folding, unescaping or patterns, neither of `old` nor of `new`.
//! - `old` must occur as often as `expected_count` says, and -1 means at least once. Nothing is
//!   guessed: the first of several matches is never taken for the one that was meant.
//! - All edits of a request are matched against the original text, so their order has no effect, and
//!   either all are made or none.
//! - Bytes outside the cores stay as they are, whatever they are: they are neither transcoded nor
//!   re-ended, and no final break is added or taken away.
//! - New breaks take the style of the place: the k-th that of the k-th where a core has as many as
//!   before, else that of the next break, else that of the last one.
//! - New text is written in the file's encoding, or refused. No character is replaced by a substitute.
//! - Lines and columns are those of a read; a position that is not there is an error.
//! - Planning takes one pass over the text and, for UTF-8 with breaks of one style, no copy of it. A
//!   needle that overlaps itself costs no more.
//! - An explanation of a miss is only that: what it found is never applied. It is bound by 50 ms and
//!   16 MiB.
//!
//! # Non-promises
//!
//! - A lone CR that comes to stand before a break, because what was between is gone, reads as a part
//!   of that break from then on.
//! - Columns are code points, not what a screen shows; nothing is normalised, so a composed and a
//!   decomposed `é` are different texts.
//! - Words of messages, explanations and diffs may change; codes and fields do not.
//!
//! # Example
//!
//! ```
//! use fs_edit::{DiffOptions, Edit, Request, plan};
//!
//! let source = b"[server]\r\nport = 8080\r\nhost = localhost\r\n";
//! let request = Request::edits(vec![
//!     Edit::new("port = 8080", "port = 9090\ntls = true"),
//!     Edit::new("localhost", "example.org"),
//! ]);
//! let planned = plan(source, &request)?;
//! let after = planned.patch().apply(source);
//! assert_eq!(after, b"[server]\r\nport = 9090\r\ntls = true\r\nhost = example.org\r\n");
//! assert_eq!((planned.replacements(), planned.lines_changed()), (2, 3));
//! assert!(planned.diff(source, "server.conf", &DiffOptions::default()).contains("+tls = true\n"));
//!
//! let error = plan(source, &Request::edits(vec![Edit::new("o", "0")])).unwrap_err();
//! assert_eq!(error.to_string(), "edits[0]: found 4 occurrences of \"old\", expected 1; at lines 2, 3, 3, 3");
//! # Ok::<(), fs_core::Error>(())
//! ```
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests set up trees by ambient path"
    )
)]

mod body;
mod breaks;
mod changes;
mod chunks;
mod commit;
mod diff;
mod document;
mod explain;
mod failure;
mod haystack;
mod merge;
mod plan;
mod position;
mod request;
mod search;
mod side;
mod splice;
mod stateful;
mod text;
mod tokens;

#[cfg(test)]
mod tests;

pub use commit::{EditOptions, Edited, edit_file};
pub use diff::{DiffOptions, WholeText, diff_between, diff_of, diff_of_content};
pub use merge::{Merged, catch_up, merge};
pub use plan::{Plan, plan, plan_content};
pub use request::{
    Edit, EolMode, MAX_EDITS, MAX_NEW_BYTES, MAX_OLD_BYTES, Positional, Request, Target,
};

/// The README's example is compiled here, the highest crate of the engines.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
