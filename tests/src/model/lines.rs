//! Windows of a text: a line ends at LF, the break belongs to it, nothing else is a line.

/// Returns the lines with their breaks.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the lines without their breaks, joined by LF.
pub fn bare(text: &str) -> String {
    let bare = lines(text).into_iter().map(|line| match break_of(line) {
        Some(own) => line.strip_suffix(own).unwrap_or(line),
        None => line,
    });
    bare.collect::<Vec<_>>().join("\n")
}

/// Returns `limit` lines from line `line`, counted from 1; past the end it is empty.
pub fn window(text: &str, line: u64, limit: Option<u64>) -> String {
    let skip = usize::try_from(line - 1).unwrap();
    let take = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
    lines(text).into_iter().skip(skip).take(take).collect()
}

/// Returns the last `count` lines.
pub fn tail(text: &str, count: u64) -> String {
    let all = lines(text);
    let skip = all.len().saturating_sub(usize::try_from(count).unwrap());
    all[skip..].concat()
}

/// Returns the text from `column` of line `line` on, both from 1, columns in code points.
pub fn from_column(text: &str, line: u64, column: u64) -> String {
    let rest = window(text, line, None);
    rest.chars()
        .skip(usize::try_from(column - 1).unwrap())
        .collect()
}

/// Returns `none`, `lf`, `crlf` or `mixed`.
pub fn style(text: &str) -> &'static str {
    let crlf = text.matches("\r\n").count();
    match (crlf, text.matches('\n').count() - crlf) {
        (0, 0) => "none",
        (0, _) => "lf",
        (_, 0) => "crlf",
        _ => "mixed",
    }
}

/// Returns the text with the lines of `more` before line `line`; `None` past the last line + 1.
///
/// One final break of `more` is its own last line's. Breaks are written as the next one from the
/// place on, else as the last one before it, else as given. At the end of a text that lacks its last
/// break, one is put between and none is added.
pub fn insert(text: &str, line: u64, more: &str) -> Option<String> {
    let all = lines(text);
    let at = usize::try_from(line)
        .ok()?
        .checked_sub(1)
        .filter(|at| *at <= all.len())?;
    let (before, after) = (all[..at].concat(), all[at..].concat());
    let near = first_break(&after).or_else(|| last_break(&before));
    let style = near.or_else(|| first_break(more)).unwrap_or("\n");
    let body = more
        .strip_suffix("\r\n")
        .or_else(|| more.strip_suffix('\n'))
        .unwrap_or(more);
    let unended = after.is_empty() && !before.is_empty() && !before.ends_with('\n');
    let mut text = before;
    if unended {
        push_break(&mut text, style);
    }
    for line in lines(body) {
        match break_of(line) {
            Some(own) => {
                text.push_str(line.strip_suffix(own).unwrap_or(line));
                push_break(&mut text, near.unwrap_or(own));
            }
            None => text.push_str(line),
        }
    }
    if !unended {
        push_break(&mut text, style);
    }
    Some(text + &after)
}

/// A CR that is data stays data: LF after it would make one break of the two.
fn push_break(text: &mut String, style: &str) {
    text.push_str(if text.ends_with('\r') { "\r\n" } else { style });
}

fn first_break(text: &str) -> Option<&'static str> {
    lines(text).first().copied().and_then(break_of)
}

fn last_break(text: &str) -> Option<&'static str> {
    lines(text).into_iter().rev().find_map(break_of)
}

fn break_of(line: &str) -> Option<&'static str> {
    match line {
        line if line.ends_with("\r\n") => Some("\r\n"),
        line if line.ends_with('\n') => Some("\n"),
        _ => None,
    }
}
