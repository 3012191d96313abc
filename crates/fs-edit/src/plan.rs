//! The pure plan.

use std::ops::Range;

use fs_core::{Patch, Piece, Problem, Result, TextFormat};

use crate::changes::blocks;
use crate::diff::{DiffOptions, diff_of};
use crate::document::Document;
use crate::explain::Budget;
use crate::position;
use crate::request::{Request, Target};
use crate::splice::{Splice, encode};
use crate::stateful::check_reads_back;
use crate::text;

/// The checked result of a request.
#[derive(Debug, Clone)]
pub struct Plan {
    patch: Patch,
    format: Option<TextFormat>,
    replacements: u64,
    lines_changed: u64,
}

impl Plan {
    /// Returns the change as keep-ranges and new bytes.
    pub fn patch(&self) -> &Patch {
        &self.patch
    }

    /// Returns the change itself, for a workspace that is to commit it.
    pub fn into_patch(self) -> Patch {
        self.patch
    }

    /// Returns the source's format; `None` when it is opaque.
    pub fn format(&self) -> Option<TextFormat> {
        self.format
    }

    /// Returns how many matches are replaced; 1 for a positional change.
    pub fn replacements(&self) -> u64 {
        self.replacements
    }

    /// Returns how many lines of the result are new or changed, plus those removed without
    /// substitute.
    ///
    /// Lines are counted from the first to the last that a change touches, so a line that stands
    /// unchanged between two changed lines of one edit counts too.
    pub fn lines_changed(&self) -> u64 {
        self.lines_changed
    }

    /// Returns the unified diff against `source`, cut at the options' caps; `name` heads it.
    ///
    /// See [`diff_of`] for how line breaks and opaque bytes are shown.
    pub fn diff(&self, source: &[u8], name: &str, options: &DiffOptions) -> String {
        diff_of(source, &self.patch, self.format, name, options)
    }
}

/// Returns the plan of `request` for a file that holds `source`.
///
/// Pure: it reads nothing but its arguments, and the same arguments give the same plan or the same
/// code. Only the words that explain a `no_match` are bound by time (50 ms) and may be missing.
///
/// # Errors
/// The first of these that applies decides; where several edits fail at one step, the error is that
/// of the lowest index and names all of them.
/// 1. As [`Request::check`].
/// 2. `binary_file`, `encoding_mismatch`, `not_text` (a UTF-32 byte order mark).
/// 3. For an edit: `encoding_unknown` (the file's encoding is unknown, or only guessed, and the text
///    does not fit), `unencodable`.
/// 4. For an edit: `no_match`, `count_mismatch`, `overlapping_matches`, `encoding_unknown` (a match
///    in an opaque file after a byte of 0x80 or more), `too_large`, `invalid_argument` (more than a
///    million matches); for a change by position: `out_of_range`, `encoding_unknown` (a column
///    after bytes that are no ASCII, in an opaque file).
/// 5. `overlapping_edits`.
/// 6. `no_op`, when the result would be the source.
///
/// ```
/// use fs_edit::{Edit, Request, plan};
///
/// let source = b"port = 1\r\nhost = a\r\n";
/// let request = Request::edits(vec![Edit::new("port = 1\nhost", "port = 2\nname")]);
/// let plan = plan(source, &request)?;
/// assert_eq!(plan.patch().apply(source), b"port = 2\r\nname = a\r\n");
/// # Ok::<(), fs_core::Error>(())
/// ```
pub fn plan(source: &[u8], request: &Request) -> Result<Plan> {
    plan_within(source, request, &Budget::standard())
}

/// As [`plan()`], with another budget for the explanation of a miss.
pub(crate) fn plan_within(source: &[u8], request: &Request, budget: &Budget) -> Result<Plan> {
    request.check()?;
    let document = Document::open(source, request)?;
    let splices = match &request.target {
        Target::Text(edits) => text::splices(&document, edits, request.eol, budget)?,
        Target::Position(position) => vec![position::splice(&document, position, request.eol)?],
    };
    let replacements = splices.len() as u64;
    let patch = patch_of(&document, source, splices)?;
    let changed = blocks(source, &patch, document.breaks(), document.bom_bytes());
    let lines_changed = changed.map(|block| block.lines_changed()).sum();
    Ok(Plan {
        patch,
        format: document.format(),
        replacements,
        lines_changed,
    })
}

fn patch_of(document: &Document<'_>, source: &[u8], splices: Vec<Splice>) -> Result<Patch> {
    let offset = document.bom_bytes();
    let checked = document.is_stateful().then(|| splices.clone());
    let encoded = encode(document, splices)?.into_iter();
    let changed = encoded.filter_map(|(range, bytes)| {
        let changes = document.text().get(range.clone()) != Some(&bytes);
        changes.then(|| (in_file(&range, offset), bytes))
    });
    let patch = Patch::splice(source.len() as u64, changed);
    if is_identity(source, &patch) {
        return Err(Problem::NoOp.into());
    }
    if let Some(splices) = checked {
        check_reads_back(document, &splices, &patch.apply(source))?;
    }
    Ok(patch)
}

fn in_file(range: &Range<usize>, offset: usize) -> Range<u64> {
    (range.start + offset) as u64..(range.end + offset) as u64
}

/// Returns whether the result is the source, without making it.
fn is_identity(source: &[u8], patch: &Patch) -> bool {
    if patch.result_len() != source.len() as u64 {
        return false;
    }
    let mut rest = source;
    patch.pieces().iter().all(|piece| {
        let bytes = match piece {
            Piece::Keep(range) => kept(source, range),
            Piece::New(bytes) => bytes,
        };
        let Some((head, tail)) = rest.split_at_checked(bytes.len()) else {
            return false;
        };
        rest = tail;
        // Kept bytes that stay where they are need no look.
        std::ptr::eq(head, bytes) || head == bytes
    })
}

/// Returns the kept bytes of `source` in `range`.
pub(crate) fn kept<'a>(source: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let start = usize::try_from(range.start).unwrap_or(usize::MAX);
    let end = usize::try_from(range.end).unwrap_or(usize::MAX);
    source.get(start..end).unwrap_or_default()
}
