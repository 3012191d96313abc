//! Numbers, formats and names in words.

use std::ffi::OsStr;
use std::time::SystemTime;

use chrono::{Datelike as _, SecondsFormat};
use fs_core::{EncodingBy, Eol, TextFormat, escape_name};
use serde_json::Value;

use crate::output::ToolOutput;

/// Returns a size as `12 B`, `3.4 KB` or `5.6 MB`, by 1,024.
///
/// ```
/// # use tool_server::render::size;
/// assert_eq!(size(1023), "1023 B");
/// assert_eq!(size(1536), "1.5 KB");
/// assert_eq!(size(3 << 30), "3072.0 MB");
/// ```
pub fn size(bytes: u64) -> String {
    const KB: u64 = 1024;
    const MB: u64 = 1024 * 1024;
    match bytes {
        0..KB => format!("{bytes} B"),
        KB..MB => tenths(bytes, KB, "KB"),
        MB.. => tenths(bytes, MB, "MB"),
    }
}

/// Returns `1 line`, `2 lines`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns a name as one line of text that every path takes back: what is no text, by its bytes.
pub fn name(name: &OsStr) -> String {
    escape_name(name).into_owned()
}

/// Returns `text` between fences that are longer than any run of backticks in it.
pub fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// Returns what is not plain about a format: another encoding than UTF-8 and how it was found, a
/// byte order mark, line breaks that are not LF.
pub fn format_words(format: TextFormat, by: Option<EncodingBy>) -> Vec<String> {
    let name = format.encoding.name();
    let found = match by {
        Some(EncodingBy::Guess) => " by guess",
        Some(EncodingBy::Fallback) => " by fallback",
        Some(EncodingBy::NulParity) => " by its NULs",
        _ if format.bom => " with BOM",
        _ => "",
    };
    let mut words = Vec::new();
    if name != "utf-8" || !found.is_empty() {
        words.push(format!("{name}{found}"));
    }
    match format.eol {
        Eol::CrLf => words.push("CRLF".to_owned()),
        Eol::Mixed => words.push("mixed line breaks".to_owned()),
        Eol::None | Eol::Lf => {}
    }
    words
}

/// Returns the answer with the facts of a format.
pub fn with_format(output: ToolOutput, format: TextFormat) -> ToolOutput {
    output
        .with_fact("encoding", format.encoding.name())
        .with_fact("bom", format.bom)
        .with_fact("eol", format.eol.name())
}

/// Returns a time to the second, in UTC: `2026-01-02T03:04:05Z`; `None` beyond the year 9999.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use tool_server::render::time;
/// let day = Duration::from_secs(86_400);
/// assert_eq!(time(SystemTime::UNIX_EPOCH + day).as_deref(), Some("1970-01-02T00:00:00Z"));
/// assert_eq!(time(SystemTime::UNIX_EPOCH - day).as_deref(), Some("1969-12-31T00:00:00Z"));
/// ```
pub fn time(time: SystemTime) -> Option<String> {
    let (away, before) = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (after, false),
        Err(error) => (error.duration(), true),
    };
    let seconds = i64::try_from(away.as_secs()).ok()?;
    let begun = i64::from(away.subsec_nanos() > 0);
    let seconds = if before { -seconds - begun } else { seconds };
    let time = chrono::DateTime::from_timestamp(seconds, 0)?;
    (time.year() <= 9999).then(|| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// Returns `text` as JSON writes it, quotes included: one line that a caller can paste back.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn tenths(bytes: u64, unit: u64, name: &str) -> String {
    let tenths = (u128::from(bytes) * 10 + u128::from(unit) / 2) / u128::from(unit);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let check = |text: &str, expected: &str| assert_eq!(fenced(text, "diff"), expected);
        check("a\n", "```diff\na\n```");
        check("a", "```diff\na\n```");
        check("```\nb````\n", "`````diff\n```\nb````\n`````");
    }

    #[test]
    fn sizes_have_one_decimal_from_1024_bytes_on() {
        let check = |bytes: u64, expected: &str| assert_eq!(size(bytes), expected);
        check(0, "0 B");
        check(1023, "1023 B");
        check(1024, "1.0 KB");
        check(1_048_575, "1024.0 KB");
        check(1_048_576, "1.0 MB");
        check(u64::MAX, "17592186044416.0 MB");
    }

    #[test]
    fn a_name_takes_one_line() {
        assert_eq!(name(OsStr::new("a\nb")), "a\\x0Ab");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(0, "line"), "0 lines");
    }
}
