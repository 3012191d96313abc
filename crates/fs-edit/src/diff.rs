//! The unified diff, made from the known spans: never by comparing whole files.

mod between;

use std::borrow::Cow;
use std::ops::Range;

use fs_core::{Encoding, Eol, Patch, TextFormat, one_line};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::breaks::{Breaks, Style};
use crate::changes::{Block, blocks};

pub use between::{Side, diff_between};

/// The most lines, old and new, that are compared with each other; a larger block is shown as its
/// old lines and then its new ones.
const MAX_COMPARED: usize = 1_000;
/// A longer line is shown in part, in bytes of UTF-8.
const MAX_SHOWN: usize = 1_000;
/// How much of a longer line is shown before the first difference.
const SHOWN_BEFORE: usize = 200;

/// How much of a diff is shown.
#[derive(Debug, Clone)]
pub struct DiffOptions {
    /// Lines of context around a change.
    pub context: usize,
    /// The most lines.
    pub max_lines: usize,
    /// The most bytes.
    pub max_bytes: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            context: 3,
            max_lines: 200,
            max_bytes: 16 * 1024,
        }
    }
}

/// Returns the unified diff from `source` to what `patch` makes of it; `name` heads it, on both
/// sides. A patch that changes nothing gives the empty string.
///
/// Text is decoded by `format`; without one, and for bytes that do not fit, U+FFFD stands for what
/// is no UTF-8. The byte order mark is not shown. A CR LF break is shown as a plain one, but where
/// the breaks of a hunk differ each CR of a break is shown as `␍`, so that a change of breaks is
/// visible. A line over 1,000 bytes is shown from shortly before its first difference. At a cap the
/// last line says what was left out: `[cut: N more lines of this hunk, M more hunks]`.
///
/// ```
/// use fs_core::{Fallback, Patch};
/// use fs_edit::{DiffOptions, diff_of};
///
/// let patch = Patch::splice(6, [(2..3, b"B".to_vec())]);
/// let diff = diff_of(b"a\nb\nc\n", &patch, None, "f", &DiffOptions::default());
/// assert_eq!(diff, "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
/// ```
pub fn diff_of(
    source: &[u8],
    patch: &Patch,
    format: Option<TextFormat>,
    name: &str,
    options: &DiffOptions,
) -> String {
    let view = View::new(source, format);
    let mut blocks = blocks(source, patch, view.breaks, view.text_start).peekable();
    let mut page = Page::new(options);
    let mut place = Place::default();
    let mut hunks_left_out = 0_u64;
    while let Some(first) = blocks.next() {
        let mut hunk = vec![first];
        while let Some(block) = blocks.next_if(|next| view.joins(&hunk, next, options.context)) {
            hunk.push(block);
        }
        if page.is_full() || !page.has_room(2) {
            hunks_left_out += 1;
            continue;
        }
        if page.text.is_empty() {
            let name = one_line(name);
            page.head(&format!("--- {name}\n+++ {name}\n"), 2);
        }
        view.write_hunk(&mut page, &mut place, &hunk, options.context);
    }
    page.finish(hunks_left_out)
}

/// A source as it is shown.
struct View<'a> {
    text: &'a [u8],
    text_start: usize,
    encoding: Option<Encoding>,
    breaks: Breaks,
}

/// How far the lines have been counted.
#[derive(Default)]
struct Place {
    offset: usize,
    lines: u64,
    added: u64,
    removed: u64,
}

/// The diff so far, and what no longer went in.
struct Page<'a> {
    options: &'a DiffOptions,
    text: String,
    lines: usize,
    left_out: u64,
}

/// How a line takes part in a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Kept,
    Removed,
    Added,
}

impl<'a> View<'a> {
    fn new(source: &'a [u8], format: Option<TextFormat>) -> Self {
        let encoding = format.map(|format| format.encoding);
        let text_start = match format {
            Some(format) if !format.bom => 0,
            Some(format) if format.encoding == Encoding::UTF_8 => 3,
            Some(_) => 2,
            None if source.starts_with(b"\xEF\xBB\xBF") => 3,
            None => 0,
        };
        Self {
            text: source.get(text_start..).unwrap_or_default(),
            text_start,
            encoding,
            breaks: Breaks::of(encoding),
        }
    }

    /// Returns whether the context of `next` touches that of the hunk.
    fn joins(&self, hunk: &[Block<'_>], next: &Block<'_>, context: usize) -> bool {
        let end = hunk.last().map_or(0, |block| block.old.end);
        self.lines_after(end, context.saturating_mul(2)) >= next.old.start
    }

    fn write_hunk(
        &self,
        page: &mut Page<'_>,
        place: &mut Place,
        hunk: &[Block<'_>],
        context: usize,
    ) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            return;
        };
        let range =
            self.lines_before(first.old.start, context)..self.lines_after(last.old.end, context);
        place.lines += self.breaks.count(self.slice(place.offset..range.start));
        place.offset = range.start;
        let rows = Rows {
            view: self,
            marks_cr: self.has_mixed_breaks(&range, hunk),
        };
        page.head(&self.header(place, &range, hunk), 1);
        let mut at = range.start;
        for block in hunk {
            rows.write_kept(page, at..block.old.start);
            rows.write_block(page, block);
            at = block.old.end;
        }
        rows.write_kept(page, at..range.end);
    }

    /// Returns the line that says which lines a hunk spans, and passes its changes.
    fn header(&self, place: &mut Place, range: &Range<usize>, hunk: &[Block<'_>]) -> String {
        let count = |bytes: &[u8]| self.breaks.count_lines(bytes);
        let removed: u64 = hunk.iter().map(|block| count(block.old_bytes)).sum();
        let added: u64 = hunk.iter().map(|block| count(&block.new_bytes)).sum();
        let old_lines = count(self.slice(range.clone()));
        let new_lines = old_lines + added - removed;
        let new_before = place.lines + place.added - place.removed;
        place.added += added;
        place.removed += removed;
        format!(
            "@@ -{} +{} @@\n",
            span_of(place.lines, old_lines),
            span_of(new_before, new_lines)
        )
    }

    fn has_mixed_breaks(&self, range: &Range<usize>, hunk: &[Block<'_>]) -> bool {
        let old = self.breaks.eol(self.slice(range.clone()));
        let new = hunk.iter().map(|block| self.breaks.eol(&block.new_bytes));
        let mut seen = Eol::None;
        for eol in std::iter::once(old).chain(new) {
            match (seen, eol) {
                (_, Eol::Mixed) | (Eol::Lf, Eol::CrLf) | (Eol::CrLf, Eol::Lf) => return true,
                (Eol::None, eol) => seen = eol,
                _ => {}
            }
        }
        false
    }

    /// Returns where the `count` lines before `offset` begin.
    fn lines_before(&self, offset: usize, count: usize) -> usize {
        let mut at = offset;
        for _ in 0..count {
            match self.breaks.previous(self.text, at) {
                Some(own) => at = self.breaks.line_start(self.text, own.start),
                None => return 0,
            }
        }
        at
    }

    /// Returns where the `count` lines after `offset` end.
    fn lines_after(&self, offset: usize, count: usize) -> usize {
        let mut at = offset;
        for _ in 0..count {
            if at >= self.text.len() {
                break;
            }
            at = self.breaks.line_end(self.text, at);
        }
        at
    }

    fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.text.get(range).unwrap_or_default()
    }

    fn decode<'b>(&self, bytes: &'b [u8]) -> Cow<'b, str> {
        let decoded = match self.encoding {
            Some(encoding) if encoding != Encoding::UTF_8 => encoding.decode(bytes).ok(),
            _ => None,
        };
        decoded.map_or_else(|| String::from_utf8_lossy(bytes), Cow::Owned)
    }
}

/// Writes the rows of one hunk.
struct Rows<'v> {
    view: &'v View<'v>,
    marks_cr: bool,
}

impl Rows<'_> {
    fn write_kept(&self, page: &mut Page<'_>, range: Range<usize>) {
        for line in self.view.breaks.lines(self.view.slice(range)) {
            self.write(page, Sign::Kept, line, 0);
        }
    }

    fn write_block(&self, page: &mut Page<'_>, block: &Block<'_>) {
        let breaks = self.view.breaks;
        let old: Vec<_> = breaks.lines(block.old_bytes).collect();
        let new: Vec<_> = breaks.lines(&block.new_bytes).collect();
        if old.len() + new.len() > MAX_COMPARED {
            return self.write_change(page, &old, &new);
        }
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let old = old.get(op.old_range()).unwrap_or_default();
            match op {
                DiffOp::Equal { .. } => {
                    for line in old {
                        self.write(page, Sign::Kept, line, 0);
                    }
                }
                _ => self.write_change(page, old, new.get(op.new_range()).unwrap_or_default()),
            }
        }
    }

    fn write_change(&self, page: &mut Page<'_>, old: &[&[u8]], new: &[&[u8]]) {
        for (sign, lines, others) in [(Sign::Removed, old, new), (Sign::Added, new, old)] {
            for (index, line) in lines.iter().enumerate() {
                let other = others.get(index).copied().unwrap_or_default();
                self.write(page, sign, line, self.first_difference(line, other));
            }
        }
    }

    /// Returns where two lines begin to differ, in bytes of the decoded line; only a line that is
    /// not shown whole is worth the look.
    fn first_difference(&self, line: &[u8], other: &[u8]) -> usize {
        if line.len() <= MAX_SHOWN {
            return 0;
        }
        let (line, other) = (self.view.decode(line), self.view.decode(other));
        line.bytes()
            .zip(other.bytes())
            .take_while(|(a, b)| a == b)
            .count()
    }

    fn write(&self, page: &mut Page<'_>, sign: Sign, line: &[u8], focus: usize) {
        if page.is_full() {
            page.left_out += 1;
            return;
        }
        let end = self.view.breaks.previous(line, line.len());
        let text = line.get(..end.map_or(line.len(), |end| end.start));
        let text = self.view.decode(text.unwrap_or_default());
        let mut row = String::from(match sign {
            Sign::Kept => ' ',
            Sign::Removed => '-',
            Sign::Added => '+',
        });
        push_part(&mut row, &text, focus);
        if self.marks_cr && end.is_some_and(|end| end.style == Style::CrLf) {
            row.push('␍');
        }
        row.push('\n');
        if end.is_none() {
            row.push_str("\\ No newline at end of file\n");
        }
        page.row(&row, if end.is_none() { 2 } else { 1 });
    }
}

impl<'a> Page<'a> {
    fn new(options: &'a DiffOptions) -> Self {
        Self {
            options,
            text: String::new(),
            lines: 0,
            left_out: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.left_out > 0
    }

    fn has_room(&self, lines: usize) -> bool {
        self.lines + lines <= self.options.max_lines
    }

    /// Adds lines that are shown whatever the caps say.
    fn head(&mut self, text: &str, lines: usize) {
        self.text.push_str(text);
        self.lines += lines;
    }

    /// Adds a row, unless it is over a cap.
    fn row(&mut self, text: &str, lines: usize) {
        let fits = self.has_room(lines) && self.text.len() + text.len() <= self.options.max_bytes;
        if fits {
            self.head(text, lines);
        } else {
            self.left_out += 1;
        }
    }

    fn finish(mut self, hunks_left_out: u64) -> String {
        let lines = format!("{} more lines of this hunk", self.left_out);
        let hunks = format!("{hunks_left_out} more hunks");
        match (self.left_out, hunks_left_out) {
            (0, 0) => {}
            (_, 0) => self.text.extend(["[cut: ", &lines, "]\n"]),
            (0, _) => self.text.extend(["[cut: ", &hunks, "]\n"]),
            _ => self.text.extend(["[cut: ", &lines, ", ", &hunks, "]\n"]),
        }
        self.text
    }
}

/// Returns a hunk's lines as unified diffs spell them: from 1, `,1` left out, and an empty span at
/// the line before it.
fn span_of(lines_before: u64, lines: u64) -> String {
    match lines {
        0 => format!("{lines_before},0"),
        1 => format!("{}", lines_before + 1),
        _ => format!("{},{lines}", lines_before + 1),
    }
}

/// Adds the part of `text` around `focus`, with how many bytes are missing on both sides.
fn push_part(row: &mut String, text: &str, focus: usize) {
    if text.len() <= MAX_SHOWN {
        return row.push_str(text);
    }
    let start = character_edge(text, focus.saturating_sub(SHOWN_BEFORE));
    let end = character_edge(text, start.saturating_add(MAX_SHOWN));
    if start > 0 {
        row.extend(["[", &start.to_string(), " bytes]…"]);
    }
    row.push_str(text.get(start..end).unwrap_or_default());
    if end < text.len() {
        row.extend(["…[", &(text.len() - end).to_string(), " bytes]"]);
    }
}

/// Returns the last edge of a character at or before `at`.
fn character_edge(text: &str, at: usize) -> usize {
    let mut edges = (0..=at.min(text.len())).rev();
    edges.find(|edge| text.is_char_boundary(*edge)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
