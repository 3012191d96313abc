//! The unified diff, made from the known spans: never by comparing whole files.

mod between;
mod page;

use std::borrow::Cow;
use std::ops::Range;

use fs_core::{Content, Encoding, Eol, Patch, Result, TextFormat, one_line};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::body::Body;
use crate::breaks::{Breaks, Style};
use crate::changes::{Block, blocks};
use crate::side::{Gap, Side};

use page::Page;

pub use between::{WholeText, diff_between};

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
    /// The number of the source's first line: more than 1 where it is a part of a file.
    pub first_line: u64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            context: 3,
            max_lines: 200,
            max_bytes: 16 * 1024,
            first_line: 1,
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
    // Bytes in memory are read without fail.
    diff_of_content(&Content::of_bytes(source), patch, format, name, options).unwrap_or_default()
}

/// Returns the unified diff from `content` to what `patch` makes of it, as [`diff_of`] does. Where the
/// content is not in memory, of a run of over 256 KiB without change only the two ends are looked at
/// to show it.
///
/// # Errors
/// `conflict` when the file has become shorter, `cancelled`, `io`.
pub fn diff_of_content(
    content: &Content<'_>,
    patch: &Patch,
    format: Option<TextFormat>,
    name: &str,
    options: &DiffOptions,
) -> Result<String> {
    let view = View::new(content, format)?;
    // The one looks ahead for where a hunk ends, the other is what of it is shown.
    let mut ahead = blocks(&view.body, patch, view.text_start);
    let mut shown = blocks(&view.body, patch, view.text_start);
    let mut next = ahead.next().transpose()?;
    let mut page = Page::new(options);
    let mut place = Place {
        lines: options.first_line.saturating_sub(1),
        ..Place::default()
    };
    let mut hunks_left_out = 0_u64;
    while let Some(first) = next {
        let mut hunk = Hunk::at(first.old.start);
        hunk.add(&first, view.breaks);
        next = ahead.next().transpose()?;
        while let Some(block) = &next
            && view.joins(&hunk, block, options.context)?
        {
            hunk.add(block, view.breaks);
            next = ahead.next().transpose()?;
        }
        if page.is_full() || !page.has_room(2) {
            hunks_left_out += 1;
            continue;
        }
        if page.text.is_empty() {
            let name = one_line(name);
            page.head(&format!("--- {name}\n+++ {name}\n"), 2);
        }
        let blocks = shown.by_ref().take(hunk.blocks);
        view.write_hunk(&mut page, &mut place, &hunk, blocks, options.context)?;
    }
    Ok(page.finish(hunks_left_out))
}

/// A source as it is shown.
struct View<'a> {
    body: Body<'a>,
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

/// Blocks that are shown together.
struct Hunk {
    old: Range<usize>,
    blocks: usize,
    removed: u64,
    added: u64,
    /// The breaks of the new lines.
    eol: Eol,
}

/// How a line takes part in a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Kept,
    Removed,
    Added,
}

impl Hunk {
    fn at(start: usize) -> Self {
        Self {
            old: start..start,
            blocks: 0,
            removed: 0,
            added: 0,
            eol: Eol::None,
        }
    }

    fn add(&mut self, block: &Block<'_>, breaks: Breaks) {
        self.old.end = block.old.end;
        self.blocks += 1;
        self.removed += block.old_side.lines(breaks);
        self.added += block.new_side.lines(breaks);
        self.eol = self.eol.and(breaks.eol(&block.new_side.bytes));
    }
}

impl<'a> View<'a> {
    fn new(content: &Content<'a>, format: Option<TextFormat>) -> Result<Self> {
        let encoding = format.map(|format| format.encoding);
        let text_start = match format {
            Some(format) if !format.bom => 0,
            Some(format) if format.encoding == Encoding::UTF_8 => 3,
            Some(_) => 2,
            None if *content.read(0..3)? == *b"\xEF\xBB\xBF" => 3,
            None => 0,
        };
        Ok(Self {
            body: Body::new(content, text_start, encoding)?,
            text_start,
            encoding,
            breaks: Breaks::of(encoding),
        })
    }

    /// Returns whether the context of `next` touches that of the hunk.
    fn joins(&self, hunk: &Hunk, next: &Block<'_>, context: usize) -> Result<bool> {
        let mut at = hunk.old.end;
        for _ in 0..context.saturating_mul(2) {
            if at >= next.old.start || at >= self.body.len() {
                break;
            }
            at = self.body.line_end(at)?;
        }
        Ok(at >= next.old.start)
    }

    fn write_hunk(
        &self,
        page: &mut Page<'_>,
        place: &mut Place,
        hunk: &Hunk,
        blocks: impl Iterator<Item = Result<Block<'a>>>,
        context: usize,
    ) -> Result<()> {
        let range =
            self.lines_before(hunk.old.start, context)?..self.lines_after(hunk.old.end, context)?;
        place.lines += self.body.count_breaks(&(place.offset..range.start))?;
        place.offset = range.start;
        let rows = Rows {
            view: self,
            marks_cr: hunk.eol.and(self.body.eol(&range)?) == Eol::Mixed,
        };
        page.head(&self.header(place, &range, hunk)?, 1);
        let mut at = range.start;
        for block in blocks {
            let block = block?;
            rows.write_kept(page, at..block.old.start)?;
            rows.write_block(page, &block);
            at = block.old.end;
        }
        rows.write_kept(page, at..range.end)
    }

    /// Returns the line that says which lines a hunk spans, and passes its changes.
    fn header(&self, place: &mut Place, range: &Range<usize>, hunk: &Hunk) -> Result<String> {
        let old_lines = self.body.count_lines(range)?;
        let new_lines = old_lines + hunk.added - hunk.removed;
        let new_before = place.lines + place.added - place.removed;
        place.added += hunk.added;
        place.removed += hunk.removed;
        Ok(format!(
            "@@ -{} +{} @@\n",
            span_of(place.lines, old_lines),
            span_of(new_before, new_lines)
        ))
    }

    /// Returns where the `count` lines before `offset` begin.
    fn lines_before(&self, offset: usize, count: usize) -> Result<usize> {
        let mut at = offset;
        for _ in 0..count {
            match self.body.previous_break(at)? {
                Some(own) => at = self.body.line_start(own.start)?,
                None => return Ok(0),
            }
        }
        Ok(at)
    }

    /// Returns where the `count` lines after `offset` end.
    fn lines_after(&self, offset: usize, count: usize) -> Result<usize> {
        let mut at = offset;
        for _ in 0..count {
            if at >= self.body.len() {
                break;
            }
            at = self.body.line_end(at)?;
        }
        Ok(at)
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
struct Rows<'v, 'a> {
    view: &'v View<'a>,
    marks_cr: bool,
}

/// A line of a side.
struct Line<'s> {
    bytes: &'s [u8],
    gaps: Vec<Gap>,
}

impl Rows<'_, '_> {
    fn write_kept(&self, page: &mut Page<'_>, range: Range<usize>) -> Result<()> {
        let body = &self.view.body;
        let mut at = range.start;
        while at < range.end {
            if page.is_full() {
                page.left_out += body.count_lines(&(at..range.end))?;
                break;
            }
            let end = body.line_end(at)?.min(range.end);
            let side = Side::of_text(body, at..end)?;
            self.write(page, Sign::Kept, &Line::whole(&side), 0);
            at = end;
        }
        Ok(())
    }

    fn write_block(&self, page: &mut Page<'_>, block: &Block<'_>) {
        let breaks = self.view.breaks;
        let old: Vec<_> = breaks.lines(&block.old_side.bytes).collect();
        let new: Vec<_> = breaks.lines(&block.new_side.bytes).collect();
        let is_whole = block.old_side.gaps.is_empty() && block.new_side.gaps.is_empty();
        if old.len() + new.len() > MAX_COMPARED || !is_whole {
            return self.write_change(page, (&block.old_side, &old), (&block.new_side, &new));
        }
        let (none, mut kept) = (Side::default(), Side::default());
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let old = old.get(op.old_range()).unwrap_or_default();
            if let DiffOp::Equal { .. } = op {
                for line in old {
                    kept.bytes = Cow::Borrowed(line);
                    self.write(page, Sign::Kept, &Line::whole(&kept), 0);
                }
            } else {
                let new = new.get(op.new_range()).unwrap_or_default();
                self.write_change(page, (&none, old), (&none, new));
            }
        }
    }

    fn write_change(
        &self,
        page: &mut Page<'_>,
        old: (&Side<'_>, &[&[u8]]),
        new: (&Side<'_>, &[&[u8]]),
    ) {
        let sides = [(Sign::Removed, old, new), (Sign::Added, new, old)];
        for (sign, (side, lines), (_, others)) in sides {
            let mut at = 0;
            for (index, bytes) in lines.iter().enumerate() {
                let other = others.get(index).copied().unwrap_or_default();
                let gaps = side.gaps_in(at..at + bytes.len()).collect();
                at += bytes.len();
                let focus = self.first_difference(bytes, other);
                self.write(page, sign, &Line { bytes, gaps }, focus);
            }
            page.left_out += side.hidden_lines();
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

    fn write(&self, page: &mut Page<'_>, sign: Sign, line: &Line<'_>, focus: usize) {
        if page.is_full() {
            page.left_out += 1;
            return;
        }
        let end = self.view.breaks.previous(line.bytes, line.bytes.len());
        let text = line
            .bytes
            .get(..end.map_or(line.bytes.len(), |end| end.start));
        let text = self.view.decode(text.unwrap_or_default());
        let mut row = String::from(match sign {
            Sign::Kept => ' ',
            Sign::Removed => '-',
            Sign::Added => '+',
        });
        push_part(&mut row, &text, &line.gaps, focus);
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

impl<'s> Line<'s> {
    /// Returns the one line of a side.
    fn whole(side: &'s Side<'_>) -> Self {
        Self {
            bytes: &side.bytes,
            gaps: side.gaps.clone(),
        }
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

/// Adds the part of `text` around `focus`, with how many bytes are missing on both sides; `gaps` are
/// missing in the text already.
fn push_part(row: &mut String, text: &str, gaps: &[Gap], focus: usize) {
    if text.len() <= MAX_SHOWN && gaps.is_empty() {
        return row.push_str(text);
    }
    let hidden = |is_before: bool, edge: usize| -> usize {
        let gaps = gaps.iter().filter(|gap| (gap.at <= edge) == is_before);
        gaps.map(|gap| gap.bytes).sum()
    };
    let start = character_edge(text, focus.saturating_sub(SHOWN_BEFORE));
    let end = character_edge(text, start.saturating_add(MAX_SHOWN));
    let before = start + hidden(true, start);
    let after = text.len() - end + hidden(false, start);
    if before > 0 {
        row.extend(["[", &before.to_string(), " bytes]…"]);
    }
    row.push_str(text.get(start..end).unwrap_or_default());
    if after > 0 {
        row.extend(["…[", &after.to_string(), " bytes]"]);
    }
}

/// Returns the last edge of a character at or before `at`.
fn character_edge(text: &str, at: usize) -> usize {
    let mut edges = (0..=at.min(text.len())).rev();
    edges.find(|edge| text.is_char_boundary(*edge)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
