//! Changes by position.

use std::borrow::Cow;
use std::ops::Range;

use fs_core::{Encoding, Error, LineSpan, Lines, Problem, Result};

use crate::breaks::Style;
use crate::document::Document;
use crate::haystack::{Form, Haystack};
use crate::request::{EolMode, Positional};
use crate::splice::{Core, Splice, Writer};

/// A line and a column as the caller names them, and the names by which it knows them.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    column: u64,
    line_name: &'static str,
    column_name: &'static str,
}

/// Returns the splice that `position` asks for.
pub(crate) fn splice(
    document: &Document<'_>,
    position: &Positional,
    eol: EolMode,
) -> Result<Splice> {
    document.check_new(position.text())?;
    let (range, text) = match position {
        Positional::Insert { line, column, text } => {
            let place = Place::first(*line, *column);
            insertion(document, place, text, eol)?
        }
        Positional::ReplaceLine { line, text } => {
            let span = line_at(document, *line, "line")?;
            (
                span.start..span.text_end,
                Cow::Borrowed(without_final_break(text)),
            )
        }
        Positional::ReplaceRange { text, .. } => (range_of(document, position)?, text.into()),
    };
    let old = document.text().get(range.clone()).unwrap_or_default();
    let form = match eol {
        EolMode::Exact => Form::Raw,
        EolMode::Auto | EolMode::Lf | EolMode::CrLf => Form::Collapsed,
    };
    let old = Haystack::new(old, document.decoded_as(), form)?;
    let core = Core::of(old.bytes(), &text, eol);
    let edges = [core.prefix, old.bytes().len() - core.suffix];
    let core_range = match old.to_text(&edges)?.as_slice() {
        [start, end] => range.start + start..range.start + end,
        _ => range,
    };
    Ok(Writer::new(document, eol).splice(&core, core_range))
}

impl Place {
    fn first(line: u64, column: u64) -> Self {
        Self {
            line,
            column,
            line_name: "line",
            column_name: "column",
        }
    }

    fn last(line: u64, column: u64) -> Self {
        Self {
            line,
            column,
            line_name: "end_line",
            column_name: "end_column",
        }
    }
}

/// Returns where an insertion goes, and its text: after a last line without a break, one is put
/// between.
fn insertion<'a>(
    document: &Document<'_>,
    place: Place,
    text: &'a str,
    eol: EolMode,
) -> Result<(Range<usize>, Cow<'a, str>)> {
    let all = document.text();
    let count = lines(document).count();
    let appended = count.saturating_add(1);
    if place.line > appended {
        return Err(no_line(place.line_name, place.line, appended, count));
    }
    if place.line < appended {
        let offset = offset_of(document, place)?;
        return Ok((offset..offset, Cow::Borrowed(text)));
    }
    check_first_column(place)?;
    let open = count > 0 && document.breaks().line_start(all, all.len()) != all.len();
    let text = if open {
        Cow::Owned(format!("{}{text}", joint(document, text, eol)))
    } else {
        Cow::Borrowed(text)
    };
    Ok((all.len()..all.len(), text))
}

/// Returns the break that is put between an open last line and appended text.
fn joint(document: &Document<'_>, text: &str, eol: EolMode) -> &'static str {
    let all = document.text();
    let last = document.breaks().previous(all, all.len());
    let style = match (eol, last) {
        (EolMode::Lf, _) => Style::Lf,
        (EolMode::CrLf, _) => Style::CrLf,
        (_, Some(last)) => last.style,
        (_, None) => match text.split_once('\n') {
            Some((line, _)) if line.ends_with('\r') => Style::CrLf,
            _ => Style::Lf,
        },
    };
    style.text()
}

fn range_of(document: &Document<'_>, position: &Positional) -> Result<Range<usize>> {
    let Positional::ReplaceRange {
        line,
        column,
        end_line,
        end_column,
        ..
    } = position
    else {
        return Ok(0..0);
    };
    let start = edge_of(document, Place::first(*line, *column))?;
    let end_line = if *end_line == 0 { *line } else { *end_line };
    let end = match *end_column {
        0 if is_after_the_end(document, end_line) => document.text().len(),
        0 => line_at(document, end_line, "end_line")?.text_end,
        column => edge_of(document, Place::last(end_line, column))?,
    };
    if end < start {
        // Only an omitted end column gets here: the end of the text stands before no column of it.
        return Err(Problem::invalid("end_column", "the range ends before it begins").into());
    }
    Ok(start..end)
}

/// Returns an edge of a range: besides the places in lines, the one after the last break is one.
fn edge_of(document: &Document<'_>, place: Place) -> Result<usize> {
    if is_after_the_end(document, place.line) {
        check_first_column(place)?;
        return Ok(document.text().len());
    }
    offset_of(document, place)
}

/// Returns whether `line` is the one that a last break, or an empty file, leaves to be begun.
fn is_after_the_end(document: &Document<'_>, line: u64) -> bool {
    let all = document.text();
    line == lines(document).count().saturating_add(1)
        && document.breaks().line_start(all, all.len()) == all.len()
}

fn check_first_column(place: Place) -> Result<()> {
    if place.column == 1 {
        return Ok(());
    }
    let problem = Problem::OutOfRange {
        what: place.column_name,
        value: place.column,
        last: 1,
        bound: format!("line {} is not there yet", place.line),
    };
    Err(problem.into())
}

fn offset_of(document: &Document<'_>, place: Place) -> Result<usize> {
    let span = line_at(document, place.line, place.line_name)?;
    let line = document.text().get(span.start..span.text_end);
    let offset = offset_of_column(document, line.unwrap_or_default(), place)?;
    Ok(span.start + offset)
}

/// Returns the offset of a column in the bytes of a line.
fn offset_of_column(document: &Document<'_>, line: &[u8], place: Place) -> Result<usize> {
    let before = usize::try_from(place.column.saturating_sub(1)).unwrap_or(usize::MAX);
    if let Some(encoding) = document.encoding() {
        let edges = encoding.chars(line).map(|character| character.bytes.start);
        let mut edges = edges.chain([line.len()]).skip(before.saturating_sub(1));
        let left = if before == 0 { None } else { edges.next() };
        return match edges.next().filter(|_| place.column > 0) {
            // Two characters of Big5 on one pair of bytes have no edge between them.
            Some(edge) if left == Some(edge) => Err(Problem::EncodingUnknown.into()),
            Some(edge) => Ok(edge),
            None => Err(no_column(place, encoding.chars(line).count() as u64)),
        };
    }
    // Opaque bytes: where nothing but ASCII precedes, a byte is a character.
    match line.get(..before) {
        Some(head) if place.column > 0 && head.is_ascii() => Ok(before),
        Some(_) if place.column > 0 => Err(Problem::EncodingUnknown.into()),
        _ => Err(no_column(place, line.len() as u64)),
    }
}

fn no_column(place: Place, characters: u64) -> Error {
    Problem::OutOfRange {
        what: place.column_name,
        value: place.column,
        last: characters + 1,
        bound: format!("line {} has {characters} characters", place.line),
    }
    .into()
}

fn line_at(document: &Document<'_>, line: u64, what: &'static str) -> Result<LineSpan> {
    let lines = lines(document);
    lines.get(line).ok_or_else(|| {
        let count = lines.count();
        no_line(what, line, count, count)
    })
}

fn no_line(what: &'static str, value: u64, last: u64, count: u64) -> Error {
    Problem::OutOfRange {
        what,
        value,
        last,
        bound: format!("the file has {count} lines, counted from 1"),
    }
    .into()
}

fn lines<'a>(document: &Document<'a>) -> Lines<'a> {
    Lines::new(
        document.text(),
        document.encoding().unwrap_or(Encoding::UTF_8),
    )
}

/// Returns `text` without one final break: the line keeps its own.
fn without_final_break(text: &str) -> &str {
    let line = text.strip_suffix('\n');
    line.map_or(text, |line| line.strip_suffix('\r').unwrap_or(line))
}
