//! The pure plan.

use fs_core::{Content, Patch, Result, TextFormat};

use crate::changes::blocks;
use crate::diff::{DiffOptions, diff_of, diff_of_content};
use crate::document::Document;
use crate::explain::Budget;
use crate::position;
use crate::request::{Request, Target};
use crate::splice::Writer;
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

    /// Returns the unified diff against `content`, as [`Self::diff`] does.
    ///
    /// # Errors
    /// `conflict` when the file has become shorter, `cancelled`, `io`.
    pub fn diff_content(
        &self,
        content: &Content<'_>,
        name: &str,
        options: &DiffOptions,
    ) -> Result<String> {
        diff_of_content(content, &self.patch, self.format, name, options)
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
    plan_content(&Content::of_bytes(source), request)
}

/// Returns the plan of `request` for a file that holds `content`: that of [`plan()`], made block by
/// block where the content is not in memory.
///
/// # Errors
/// Those of [`plan()`]; `conflict` when the file has become shorter or is no longer the text that it
/// was at first, `cancelled`, `io`.
pub fn plan_content(content: &Content<'_>, request: &Request) -> Result<Plan> {
    plan_within(content, request, &Budget::standard())
}

/// As [`plan_content`], with another budget for the explanation of a miss.
pub(crate) fn plan_within(
    content: &Content<'_>,
    request: &Request,
    budget: &Budget,
) -> Result<Plan> {
    request.check()?;
    let document = Document::open(content, request)?;
    let mut writer = Writer::new(&document, request.eol);
    match &request.target {
        Target::Text(edits) => text::write(&document, edits, request.eol, budget, &mut writer)?,
        Target::Position(position) => {
            position::write(&document, position, request.eol, &mut writer)?;
        }
    }
    let replacements = writer.places();
    let patch = writer.finish()?;
    let mut lines_changed = 0;
    for block in blocks(document.body(), &patch, document.bom_bytes()) {
        lines_changed += block?.lines_changed();
    }
    Ok(Plan {
        patch,
        format: document.format(),
        replacements,
        lines_changed,
    })
}
