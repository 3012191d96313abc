//! Windows by the slow way: all text as a list of characters, cut by hand.

use super::{CutLine, LineRange, Next, ReadOptions, Result, Window};

/// What a window should be; the fields as in `Window`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) text: String,
    pub(super) first_line: Option<u64>,
    pub(super) lines: u64,
    pub(super) eof: bool,
    pub(super) cut_lines: Vec<CutLine>,
    pub(super) next: Option<Next>,
    pub(super) truncated: bool,
}

impl Model {
    pub(super) fn of_window(window: &Window) -> Self {
        Self {
            text: window.text.clone(),
            first_line: window.first_line,
            lines: window.returned_lines,
            eof: window.eof,
            cut_lines: window.cut_lines.clone(),
            next: window.next,
            truncated: window.truncated,
        }
    }
}

/// Splits a text into lines without and their breaks.
pub(super) fn split(text: &str) -> Vec<(Vec<char>, &'static str)> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    for character in text.chars() {
        if character != '\n' {
            line.push(character);
            continue;
        }
        let brk = if line.last() == Some(&'\r') {
            line.pop();
            "\r\n"
        } else {
            "\n"
        };
        lines.push((std::mem::take(&mut line), brk));
    }
    if !line.is_empty() {
        lines.push((line, ""));
    }
    lines
}

fn bytes_of(chars: &[char]) -> usize {
    chars.iter().map(|character| character.len_utf8()).sum()
}

/// A request in the model's terms: no cap is the largest number.
struct Wanted {
    first: u64,
    column: usize,
    limit: u64,
    max_bytes: usize,
    max_chars: usize,
}

impl Wanted {
    fn of(options: &ReadOptions, total: u64) -> Self {
        let (first, column, limit) = match options.range {
            LineRange::All => (1, 1, None),
            LineRange::From {
                line,
                column,
                limit,
            } => (line, column, limit),
            LineRange::Tail { count } => (total - count.min(total) + 1, 1, None),
        };
        Self {
            first,
            column: size(column),
            limit: limit.unwrap_or(u64::MAX),
            max_bytes: options.max_bytes.map_or(usize::MAX, size),
            max_chars: options.max_line_chars.map_or(usize::MAX, size),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    First,
    Later,
}

/// How much of a line is shown.
struct Shown {
    chars: usize,
    is_cut: bool,
    stops: bool,
}

/// Returns the window of `text`, whose lines take `line_bytes` bytes in the file; `Err` with the
/// last column for a column out of range.
pub(super) fn window(
    text: &str,
    options: &ReadOptions,
    line_bytes: &dyn Fn(&str) -> u64,
) -> Result<Model, u64> {
    let lines = split(text);
    let wanted = Wanted::of(options, lines.len() as u64);
    let mut model = Model::default();
    let mut withheld = "";
    for number in wanted.first.. {
        let Some((content, brk)) = lines.get(size(number) - 1) else {
            model.eof = true;
            break;
        };
        let (which, skip) = if number == wanted.first {
            (Which::First, wanted.column - 1)
        } else {
            (Which::Later, 0)
        };
        if model.lines == wanted.limit {
            model.next = Some(at(number, skip));
            break;
        }
        if skip > content.len() {
            return Err(content.len() as u64 + 1);
        }
        let rest = &content[skip..];
        if skip > 0 && rest.is_empty() && brk.is_empty() {
            model.eof = true;
            break;
        }
        let room = wanted
            .max_bytes
            .saturating_sub(model.text.len() + withheld.len());
        let Some(shown) = fit(rest, brk, room, wanted.max_chars, which) else {
            model.next = Some(at(number, 0));
            model.truncated = true;
            break;
        };
        model.text.push_str(withheld);
        model.text.extend(&rest[..shown.chars]);
        model.text.push_str(if shown.is_cut { "" } else { brk });
        withheld = if shown.is_cut { brk } else { "" };
        model.lines += 1;
        model.first_line = Some(wanted.first);
        if shown.is_cut {
            model.cut_lines.push(CutLine {
                line: number,
                shown_chars: shown.chars as u64,
                line_bytes: line_bytes(&content.iter().collect::<String>()),
                next_column: (skip + shown.chars) as u64 + 1,
            });
            model.truncated = true;
        }
        if shown.stops {
            model.next = Some(at(number, skip + shown.chars));
            break;
        }
    }
    Ok(model)
}

/// Fits a line into `room` bytes; `None` when it is left out.
fn fit(rest: &[char], brk: &str, room: usize, max_chars: usize, which: Which) -> Option<Shown> {
    let mut shown = Shown {
        chars: rest.len().min(max_chars),
        is_cut: max_chars < rest.len(),
        stops: false,
    };
    let break_bytes = if shown.is_cut { 0 } else { brk.len() };
    if bytes_of(&rest[..shown.chars]) + break_bytes <= room {
        return Some(shown);
    }
    if which == Which::Later {
        return None;
    }
    if rest.is_empty() {
        // A break alone is shown whatever the room.
        return Some(shown);
    }
    while shown.chars > 1 && bytes_of(&rest[..shown.chars]) > room {
        shown.chars -= 1;
    }
    shown.is_cut = true;
    shown.stops = true;
    Some(shown)
}

fn at(line: u64, skipped: usize) -> Next {
    Next {
        line,
        column: skipped as u64 + 1,
    }
}

fn size(number: u64) -> usize {
    number.try_into().unwrap()
}
