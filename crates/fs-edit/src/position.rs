//! Changes by position.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use fs_core::{Encoding, Error, Problem, Result};

use crate::breaks::Style;
use crate::chunks::{Chunks, Reading};
use crate::document::Document;
use crate::haystack::{Form, Haystack};
use crate::request::{EolMode, Positional};
use crate::splice::{Core, Writer};

/// A line and a column as the caller names them, and the names by which it knows them.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    column: u64,
    line_name: &'static str,
    column_name: &'static str,
}

/// Writes what `position` asks for.
pub(crate) fn write(
    document: &Document<'_>,
    position: &Positional,
    eol: EolMode,
    writer: &mut Writer<'_>,
) -> Result<()> {
    document.check_new(position.text())?;
    let (range, text) = match position {
        Positional::Insert { line, column, text } => {
            let place = Place::first(*line, *column);
            insertion(document, place, text, eol)?
        }
        Positional::ReplaceLine { line, text } => {
            let (span, text_end) = line_at(document, *line, "line")?;
            (
                span.start..text_end,
                Cow::Borrowed(without_final_break(text)),
            )
        }
        Positional::ReplaceRange { text, .. } => (range_of(document, position)?, text.into()),
    };
    let form = match eol {
        EolMode::Exact => Form::Raw,
        EolMode::Auto | EolMode::Lf | EolMode::CrLf => Form::Collapsed,
    };
    let reading = Reading {
        decoded_as: document.decoded_as(),
        form,
    };
    let mut old = Haystack::new(document.body(), range.clone(), reading);
    let core = Core::in_haystack(&mut old, &text, eol)?;
    let edges = [core.prefix, old.len() - core.suffix];
    let mut core_range = range;
    let mut edge = None;
    old.to_text(edges.into_iter(), &mut |at| {
        core_range = edge.unwrap_or(at)..at;
        edge = Some(at);
        Ok(())
    })?;
    writer.write(&core, 0, core_range)
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
    let body = document.body();
    let count = body.lines()?;
    let appended = count.saturating_add(1);
    if place.line > appended {
        return Err(no_line(place.line_name, place.line, appended, count));
    }
    if place.line < appended {
        let offset = offset_of(document, place)?;
        return Ok((offset..offset, Cow::Borrowed(text)));
    }
    check_first_column(place)?;
    let text = if count > 0 && !body.ends_in_break()? {
        Cow::Owned(format!("{}{text}", joint(document, text, eol)?))
    } else {
        Cow::Borrowed(text)
    };
    Ok((body.len()..body.len(), text))
}

/// Returns the break that is put between an open last line and appended text.
fn joint(document: &Document<'_>, text: &str, eol: EolMode) -> Result<&'static str> {
    let body = document.body();
    let last = body.previous_break(body.len())?;
    let style = match (eol, last) {
        (EolMode::Lf, _) => Style::Lf,
        (EolMode::CrLf, _) => Style::CrLf,
        (_, Some(last)) => last.style,
        (_, None) => match text.split_once('\n') {
            Some((line, _)) if line.ends_with('\r') => Style::CrLf,
            _ => Style::Lf,
        },
    };
    Ok(style.text())
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
        0 if is_after_the_end(document, end_line)? => document.body().len(),
        0 => line_at(document, end_line, "end_line")?.1,
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
    if is_after_the_end(document, place.line)? {
        check_first_column(place)?;
        return Ok(document.body().len());
    }
    offset_of(document, place)
}

/// Returns whether `line` is the one that a last break, or an empty file, leaves to be begun.
fn is_after_the_end(document: &Document<'_>, line: u64) -> Result<bool> {
    let body = document.body();
    Ok(line == body.lines()?.saturating_add(1) && body.ends_in_break()?)
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
    let (line, text_end) = line_at(document, place.line, place.line_name)?;
    offset_of_column(document, line.start..text_end, place)
}

/// Returns the offset of a column in a line's text.
fn offset_of_column(document: &Document<'_>, line: Range<usize>, place: Place) -> Result<usize> {
    let before = usize::try_from(place.column.saturating_sub(1)).unwrap_or(usize::MAX);
    if let Some(encoding) = document.encoding() {
        return edge_before(document, encoding, line, place);
    }
    // Opaque bytes: where nothing but ASCII precedes, a byte is a character.
    if place.column == 0 || before > line.len() {
        return Err(no_column(place, line.len() as u64));
    }
    let end = line.start + before;
    let mut is_ascii = true;
    document.body().each(&(line.start..end), &mut |block| {
        is_ascii &= block.is_ascii();
        ControlFlow::Continue(())
    })?;
    if is_ascii {
        Ok(end)
    } else {
        Err(Problem::encoding_unknown(None).into())
    }
}

/// Returns the edge before the character at a column, or at the end of the line's text.
fn edge_before(
    document: &Document<'_>,
    encoding: Encoding,
    line: Range<usize>,
    place: Place,
) -> Result<usize> {
    let reading = Reading {
        decoded_as: Some(encoding),
        form: Form::Raw,
    };
    let mut chunks = Chunks::new(document.body(), &line, reading);
    let (mut count, mut last, mut is_after_high) = (0, None, false);
    while let Some(chunk) = chunks.next()? {
        for character in chunk.mark.spelled(&chunk.raw).chars(encoding) {
            let edge = chunk.mark.text + character.bytes.start;
            count += 1;
            if count == place.column {
                if is_after_high {
                    document.check_after_high(character.character.encode_utf8(&mut [0; 4]))?;
                }
                return other_edge(edge, last);
            }
            last = Some(edge);
            is_after_high = !character.character.is_ascii();
        }
    }
    if count + 1 == place.column {
        return other_edge(line.end, last);
    }
    Err(no_column(place, count))
}

/// Returns `edge`, unless it is the one before too: two characters of Big5 on one pair of bytes have
/// no edge between them.
fn other_edge(edge: usize, last: Option<usize>) -> Result<usize> {
    if last == Some(edge) {
        return Err(Problem::encoding_unknown(None).into());
    }
    Ok(edge)
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

/// Returns a line with its break, and where its text ends.
fn line_at(
    document: &Document<'_>,
    line: u64,
    what: &'static str,
) -> Result<(Range<usize>, usize)> {
    let body = document.body();
    if let Some(found) = body.line(line)? {
        return Ok(found);
    }
    let count = body.lines()?;
    Err(no_line(what, line, count, count))
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

/// Returns `text` without one final break: the line keeps its own.
fn without_final_break(text: &str) -> &str {
    let line = text.strip_suffix('\n');
    line.map_or(text, |line| line.strip_suffix('\r').unwrap_or(line))
}
