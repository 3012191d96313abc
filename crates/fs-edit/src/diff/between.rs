//! The diff of two whole texts of which nothing is known but their bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use fs_core::{Encoding, Eol, Fallback, Patch, TextFormat, one_line};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::{DiffOptions, diff_of};

/// How long is looked for the shortest way from one text to the other.
const PATIENCE: Duration = Duration::from_millis(50);
/// The most lines, old and new, among which it is looked for; more are shown as one block.
const MAX_LINES: usize = 100_000;

/// A whole text as it stands in a file.
#[derive(Debug, Clone, Copy)]
pub struct WholeText<'a> {
    /// The bytes, with their byte order mark.
    pub bytes: &'a [u8],
    /// What they are taken for; `None` where they are no text that is known.
    pub format: Option<TextFormat>,
}

/// Returns the unified diff from one whole text to another, as [`diff_of`] shows it; `name` heads
/// it, on both sides. Equal bytes give the empty string.
///
/// The lines with which both begin and end are set aside first. Among the rest the shortest change
/// is looked for within 50 ms and 100,000 lines; beyond that it is one block. Where there is no
/// line to show, one sentence in brackets says what differs: a side that is no text (one without a
/// format that is not UTF-8, or that holds a NUL), the encoding, or the byte order mark.
///
/// ```
/// use fs_edit::{DiffOptions, WholeText, diff_between};
///
/// let side = |bytes| WholeText { bytes, format: None };
/// let options = DiffOptions::default();
/// let diff = diff_between(side(b"a\nb\nc\n"), side(b"a\nB\nc\n"), "f", &options);
/// assert_eq!(diff, "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
/// let diff = diff_between(side(b"a\n"), side(b"\0\0"), "f", &options);
/// assert_eq!(diff, "[f: 2 bytes by now, which are no text]\n");
/// ```
pub fn diff_between(
    old: WholeText<'_>,
    new: WholeText<'_>,
    name: &str,
    options: &DiffOptions,
) -> String {
    if old.bytes == new.bytes {
        return String::new();
    }
    let name = one_line(name);
    let (old_text, new_text) = match (old.text(), new.text()) {
        (Some(old), Some(new)) => (old, new),
        (_, None) => {
            let size = new.bytes.len();
            return format!("[{name}: {size} bytes by now, which are no text]\n");
        }
        (None, _) => {
            let size = old.bytes.len();
            return format!("[{name}: {size} bytes that were no text are text by now]\n");
        }
    };
    let patch = patch_between(&old_text, &new_text);
    let format = TextFormat {
        encoding: Encoding::UTF_8,
        bom: false,
        eol: Eol::None,
    };
    let diff = diff_of(old_text.as_bytes(), &patch, Some(format), &name, options);
    if diff.is_empty() {
        return format!(
            "[{name}: the same text in other bytes: {}]\n",
            spelling(old, new)
        );
    }
    diff
}

impl<'a> WholeText<'a> {
    /// Returns the bytes of a file as text in the encoding that is found for them.
    pub fn of(bytes: &'a [u8]) -> Self {
        let found = fs_core::detect(bytes, None, Fallback::Auto).ok();
        let format = found.and_then(|found| {
            let encoding = found.encoding()?;
            Some(TextFormat {
                encoding,
                bom: found.bom_bytes > 0,
                eol: Eol::of(bytes, encoding),
            })
        });
        Self { bytes, format }
    }

    /// Returns the text without its byte order mark; `None` where there is none.
    fn text(self) -> Option<Cow<'a, str>> {
        let bytes = self.bytes.get(self.mark_bytes()..).unwrap_or_default();
        match self.format.map(|format| format.encoding) {
            Some(encoding) if encoding != Encoding::UTF_8 => {
                encoding.decode(bytes).ok().map(Cow::Owned)
            }
            Some(_) => Some(String::from_utf8_lossy(bytes)),
            None if bytes.contains(&0) => None,
            None => str::from_utf8(bytes).ok().map(Cow::Borrowed),
        }
    }

    /// Returns the length of the byte order mark.
    fn mark_bytes(self) -> usize {
        match self.format {
            Some(format) if !format.bom => 0,
            Some(format) if format.encoding == Encoding::UTF_8 => 3,
            Some(_) => 2,
            None if self.bytes.starts_with(b"\xEF\xBB\xBF") => 3,
            None => 0,
        }
    }
}

/// Says what differs of two spellings of one text.
fn spelling(old: WholeText<'_>, new: WholeText<'_>) -> String {
    let said = |side: WholeText<'_>| match side.format {
        Some(format) => {
            let mark = if format.bom { " with BOM" } else { "" };
            format!("{}{mark}", format.encoding.name())
        }
        None => "other bytes".to_owned(),
    };
    format!("{} before, {} now", said(old), said(new))
}

/// Returns the change from `old` to `new`, line by line.
fn patch_between(old: &str, new: &str) -> Patch {
    let head = common_head(old.as_bytes(), new.as_bytes());
    let (old_rest, new_rest) = (from(old, head), from(new, head));
    let tail = common_tail(old_rest.as_bytes(), new_rest.as_bytes());
    let old_lines = lines(old_rest, tail);
    let new_lines = lines(new_rest, tail);
    let (old_ends, new_ends) = (ends(&old_lines), ends(&new_lines));
    let ops = if old_lines.len() + new_lines.len() > MAX_LINES {
        whole(old_lines.len(), new_lines.len())
    } else {
        let until = Some(Instant::now() + PATIENCE);
        capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, until)
    };
    let changes = ops.into_iter().filter_map(|op| {
        let range = span(&old_ends, &op.old_range());
        let text = span(&new_ends, &op.new_range());
        let text = new_rest.get(text).unwrap_or_default();
        let range = (head + range.start) as u64..(head + range.end) as u64;
        (!matches!(op, DiffOp::Equal { .. })).then(|| (range, text.as_bytes().to_vec()))
    });
    Patch::splice(old.len() as u64, changes)
}

fn whole(old_len: usize, new_len: usize) -> Vec<DiffOp> {
    vec![DiffOp::Replace {
        old_index: 0,
        old_len,
        new_index: 0,
        new_len,
    }]
}

/// Returns how many bytes of whole lines both begin with.
fn common_head(old: &[u8], new: &[u8]) -> usize {
    let equal = equal_bytes(old.iter().zip(new));
    if equal == old.len() && equal == new.len() {
        return equal;
    }
    let equal = old.get(..equal).unwrap_or_default();
    memchr::memrchr(b'\n', equal).map_or(0, |at| at + 1)
}

/// Returns how many bytes of whole lines both end with.
fn common_tail(old: &[u8], new: &[u8]) -> usize {
    let equal = equal_bytes(old.iter().rev().zip(new.iter().rev()));
    let starts_line = |text: &[u8]| {
        let before = text.len().checked_sub(equal + 1);
        before.is_none_or(|at| text.get(at) == Some(&b'\n'))
    };
    if starts_line(old) && starts_line(new) {
        return equal;
    }
    let tail = old.get(old.len() - equal..).unwrap_or_default();
    memchr::memchr(b'\n', tail).map_or(0, |at| equal - at - 1)
}

fn equal_bytes<'a>(pairs: impl Iterator<Item = (&'a u8, &'a u8)>) -> usize {
    pairs.take_while(|(old, new)| old == new).count()
}

fn from(text: &str, start: usize) -> &str {
    text.get(start..).unwrap_or_default()
}

fn lines(text: &str, tail: usize) -> Vec<&str> {
    let text = text.get(..text.len() - tail).unwrap_or_default();
    text.split_inclusive('\n').collect()
}

/// Returns where each line ends; the first is 0, before all of them.
fn ends(lines: &[&str]) -> Vec<usize> {
    let mut end = 0;
    let after = lines.iter().map(|line| {
        end += line.len();
        end
    });
    std::iter::once(0).chain(after).collect()
}

/// Returns the bytes of the lines in `range`.
fn span(ends: &[usize], range: &Range<usize>) -> Range<usize> {
    let at = |index: usize| ends.get(index).copied().unwrap_or_default();
    at(range.start)..at(range.end)
}

#[cfg(test)]
mod tests;
