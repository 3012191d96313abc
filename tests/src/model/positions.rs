//! Changes by position over the same tokens: lines and columns from 1, ends exclusive.

use std::ops::Range;

use fs_edit::{EolMode, Positional};

use super::edits::{Charset, File, No, Token, encode, is_break, refused, tokens, tokens_of};

/// Returns the bytes after a change by position.
///
/// # Errors
/// Why nothing is changed.
pub fn apply_position(
    source: &[u8],
    charset: Charset,
    position: &Positional,
    eol: EolMode,
) -> Result<Vec<u8>, No> {
    check_position(position)?;
    // What a line is does not hang on how breaks are matched.
    let tokens_in = |text: &str| tokens(text, EolMode::Auto);
    let file = File {
        source,
        charset,
        eol,
        tokens: tokens_of(source, charset, EolMode::Auto),
    };
    let Some((span, text)) = span(position, &file.tokens, eol) else {
        return refused("out_of_range");
    };
    let mut change = file.change(span.start, &file.tokens[span.clone()], &tokens_in(&text));
    if eol == EolMode::Exact {
        change.span = file.bytes_of(&span);
        change.bytes = encode(&text, charset);
    }
    file.changed(vec![change])
}

fn check_position(position: &Positional) -> Result<(), No> {
    match *position {
        Positional::Insert { ref text, .. } if text.is_empty() => refused("no_op"),
        Positional::ReplaceRange {
            line,
            column,
            end_line,
            end_column,
            ..
        } => {
            let one_line = end_line == 0 || end_line == line;
            let backwards = one_line && end_column != 0 && end_column < column;
            if backwards || (end_line != 0 && end_line < line) {
                return refused("invalid_argument");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The tokens that a position means and the text that takes their place.
fn span(position: &Positional, file: &[Token], eol: EolMode) -> Option<(Range<usize>, String)> {
    let unended = file.last().is_some_and(|token| !is_break(token));
    let lines = line_spans(file);
    let line_at = |line: u64| {
        lines
            .get(usize::try_from(line.checked_sub(1)?).ok()?)
            .cloned()
    };
    let place = |line: u64, column: u64| {
        let span = line_at(line)?;
        let at = span.start + usize::try_from(column.checked_sub(1)?).ok()?;
        (at <= span.end).then_some(at)
    };
    match position {
        Positional::Insert { line, column, text } => {
            let past_end = *line == lines.len() as u64 + 1 && *column == 1;
            match place(*line, *column) {
                Some(at) => Some((at..at, text.clone())),
                None if past_end && unended => {
                    let between = joint(file, text, eol);
                    Some((file.len()..file.len(), format!("{between}{text}")))
                }
                None if past_end => Some((file.len()..file.len(), text.clone())),
                None => None,
            }
        }
        Positional::ReplaceLine { line, text } => {
            let text = text
                .strip_suffix("\r\n")
                .or_else(|| text.strip_suffix('\n'))
                .unwrap_or(text);
            Some((line_at(*line)?, text.to_owned()))
        }
        Positional::ReplaceRange {
            line,
            column,
            end_line,
            end_column,
            text,
        } => {
            let end_line = if *end_line == 0 { *line } else { *end_line };
            // What follows the last break is an edge too.
            let begun = |line: u64| line == lines.len() as u64 + 1 && !unended;
            let edge = |line: u64, column: u64| match column {
                1 if begun(line) => Some(file.len()),
                _ => place(line, column),
            };
            let start = edge(*line, *column)?;
            let end = match *end_column {
                0 if begun(end_line) => file.len(),
                0 => line_at(end_line)?.end,
                column => edge(end_line, column)?,
            };
            Some((start..end, text.clone()))
        }
    }
}

/// The break between an open last line and what is put after it.
fn joint(file: &[Token], text: &str, eol: EolMode) -> &'static str {
    let last = file
        .iter()
        .rfind(|token| is_break(token))
        .map(|token| token.crlf);
    let given = || {
        text.split_once('\n')
            .is_some_and(|(line, _)| line.ends_with('\r'))
    };
    let crlf = match eol {
        EolMode::Lf => false,
        EolMode::CrLf => true,
        EolMode::Auto | EolMode::Exact => last.unwrap_or_else(given),
    };
    if crlf { "\r\n" } else { "\n" }
}

/// The tokens of each line without its break.
fn line_spans(file: &[Token]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    for (index, token) in file.iter().enumerate() {
        if is_break(token) {
            spans.push(start..index);
            start = index + 1;
        }
    }
    if start < file.len() {
        spans.push(start..file.len());
    }
    spans
}
