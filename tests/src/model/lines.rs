//! Windows of a text: a line ends at LF, the break belongs to it, nothing else is a line.

/// Returns the lines with their breaks.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
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
