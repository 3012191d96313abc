//! From a query to matchers.

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::watched::Speed;
use super::{Case, Query, Syntax};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::Fallback;
use crate::path::push_escaped;
use crate::problem::Problem;

/// A longer pattern is a mistake.
const MAX_PATTERN_BYTES: usize = 64 * 1024;
/// What a compiled pattern may take, and what a thread may keep of its states.
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;
const MAX_STATE_BYTES: usize = 4 * 1024 * 1024;

/// What the statistics may take a text for; GBK is GB18030 when it is read.
const GUESSES: [&str; 23] = [
    "gb18030",
    "big5",
    "euc-jp",
    "euc-kr",
    "shift_jis",
    "ibm866",
    "iso-8859-2",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "koi8-u",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
];

/// The matchers of a search of texts.
#[derive(Debug)]
pub(super) struct TextPattern {
    /// Matches UTF-8.
    pub(super) matcher: RegexMatcher,
    /// Matches, in the bytes as they are, whatever may hold a match in any encoding; `None` when
    /// there is no such short cut.
    pub(super) candidates: Option<RegexMatcher>,
    /// Whether the matcher takes a carriage return for a part of the line's break.
    pub(super) crlf: bool,
    /// Matches one line without its break, in which a carriage return is data; `None` when `matcher`
    /// does.
    line: Option<RegexMatcher>,
    /// When lines are matched one by one.
    pub(super) by_line: ByLine,
    /// Whether a match may end in a carriage return that belongs to a break.
    pub(super) may_end_in_break: bool,
    /// How fast the matcher is.
    pub(super) speed: Speed,
}

/// When lines are matched one by one, which is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByLine {
    Never,
    /// Among lines with a carriage return that is no part of a break.
    WhereCrIsData,
    Always,
}

impl TextPattern {
    /// Returns the matchers of a query.
    pub(super) fn new(query: &Query) -> Result<Self> {
        check_pattern(query)?;
        let case = query.case.unwrap_or(Case::Sensitive);
        let crlf = query.syntax == Syntax::Regex;
        let (matcher, line) = if crlf {
            regex_matchers(&query.pattern, case)?
        } else {
            (build(&query.pattern, &of_lf(query.syntax, case))?, None)
        };
        let candidates = match query.syntax {
            Syntax::Literal => candidates(query, case, &matcher),
            Syntax::Regex => None,
        };
        Ok(Self {
            matcher,
            candidates,
            crlf,
            by_line: match (crlf, &line) {
                (false, _) => ByLine::Never,
                (true, Some(_)) => ByLine::WhereCrIsData,
                (true, None) => ByLine::Always,
            },
            line,
            may_end_in_break: !crlf && query.pattern.ends_with('\r'),
            speed: match query.syntax {
                Syntax::Literal => Speed::Fast,
                Syntax::Regex => Speed::Unknown,
            },
        })
    }
}

impl TextPattern {
    /// Returns what matches a line without its break.
    pub(super) fn of_lines(&self) -> &RegexMatcher {
        self.line.as_ref().unwrap_or(&self.matcher)
    }
}

/// Returns the matcher of an expression in texts, and the one of single lines where it differs.
///
/// The first takes every carriage return for a part of a break, which is fast and right where all of
/// them are. An expression that names one is matched with every line by itself.
fn regex_matchers(pattern: &str, case: Case) -> Result<(RegexMatcher, Option<RegexMatcher>)> {
    let of_lines = build(pattern, &regex_builder(Syntax::Regex, case))?;
    if let Ok(matcher) = regex_builder(Syntax::Regex, case).crlf(true).build(pattern) {
        return Ok((matcher, Some(of_lines)));
    }
    build(pattern, &of_lf(Syntax::Regex, case))?;
    Ok((of_lines, None))
}

/// Returns a matcher of names.
pub(super) fn name_matcher(query: &Query) -> Result<RegexMatcher> {
    check_pattern(query)?;
    let case = query.case.unwrap_or(Case::Smart);
    build(&query.pattern, &regex_builder(query.syntax, case))
}

/// Returns whether a matcher finds anything in `bytes`.
pub(super) fn is_match(matcher: &RegexMatcher, bytes: &[u8]) -> bool {
    // The matcher's error is one that nobody can make.
    matcher.is_match(bytes).unwrap_or_default()
}

fn check_pattern(query: &Query) -> Result<()> {
    let reason = match query.syntax {
        _ if query.pattern.is_empty() => "it is empty",
        _ if query.pattern.len() > MAX_PATTERN_BYTES => "it is longer than 65536 bytes",
        Syntax::Literal if query.pattern.contains('\n') => {
            "a line break in it, but lines are searched one by one"
        }
        _ => return Ok(()),
    };
    Err(Problem::invalid("query", reason).into())
}

fn build(pattern: &str, builder: &RegexMatcherBuilder) -> Result<RegexMatcher> {
    let built = builder.build(pattern);
    built.map_err(|error| refusal(&error))
}

/// Returns the builder of matchers that stay within what ends in LF.
fn of_lf(syntax: Syntax, case: Case) -> RegexMatcherBuilder {
    let mut builder = regex_builder(syntax, case);
    builder.line_terminator(Some(b'\n'));
    builder
}

fn regex_builder(syntax: Syntax, case: Case) -> RegexMatcherBuilder {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .fixed_strings(syntax == Syntax::Literal)
        .case_insensitive(case == Case::Insensitive)
        .case_smart(case == Case::Smart)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_STATE_BYTES);
    builder
}

/// Returns the matcher that finds a literal in the bytes of every encoding that a file may have.
///
/// All of them spell ASCII alike. In other texts it is looked for as each spells it, as long as case
/// counts or the text has none.
fn candidates(query: &Query, case: Case, matcher: &RegexMatcher) -> Option<RegexMatcher> {
    let pattern = &query.pattern;
    if pattern.is_ascii() {
        return Some(matcher.clone());
    }
    let has_case = |c: char| c.is_lowercase() || c.is_uppercase();
    if case != Case::Sensitive && pattern.chars().any(has_case) {
        return None;
    }
    let mut spellings: Vec<Vec<u8>> = vec![pattern.as_bytes().to_vec()];
    for encoding in fallbacks(query.fallback) {
        spellings.extend(encoding.encode(pattern));
    }
    spellings.sort();
    spellings.dedup();
    let spelt: Vec<String> = spellings.iter().map(|bytes| hexadecimal(bytes)).collect();
    let mut builder = RegexMatcherBuilder::new();
    builder
        .unicode(false)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_STATE_BYTES);
    builder.build(&spelt.join("|")).ok()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4);
    push_escaped(bytes, &mut text);
    text
}

/// Returns the encodings that a file may be taken for which says nothing of its own.
fn fallbacks(fallback: Fallback) -> Vec<Encoding> {
    match fallback {
        Fallback::None => Vec::new(),
        Fallback::Encoding(encoding) => vec![encoding],
        Fallback::Auto => {
            let labels = GUESSES.iter();
            labels
                .flat_map(|label| Encoding::for_label(label))
                .collect()
        }
    }
}

/// Returns why a pattern is refused, in one line.
fn refusal(error: &grep_regex::Error) -> crate::Error {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    let reason = last.strip_prefix("error: ").unwrap_or(last);
    Problem::invalid("query", reason).into()
}
