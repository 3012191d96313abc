//! Globs over names and paths: of bytes where that is the same, of characters where it is not.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use globset::{GlobBuilder, GlobMatcher};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::search::Case;

/// The largest compiled expression in bytes.
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;

/// A glob: `*` and `?` stand for characters other than `/`, `**` for whole names, `[ab]` and `{a,b}`
/// for one of several.
///
/// A character is a code point; of a name that is not UTF-8 each bad sequence counts as one.
///
/// ```
/// use fs_core::Glob;
///
/// let glob = Glob::new("caf?.{txt,md}", fs_core::Case::Sensitive)?;
/// assert!(glob.is_match("café.md".as_bytes()));
/// assert!(!glob.is_match(b"cafe/.md"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Glob(Inner);

#[derive(Debug)]
enum Inner {
    Bytes(GlobMatcher),
    Chars(RegexMatcher),
}

impl Glob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn new(pattern: &str, case: Case) -> Result<Self, String> {
        let insensitive = ignores_case(case, pattern);
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .case_insensitive(insensitive)
            .build()
            .map_err(|error| error.kind().to_string())?;
        if is_of_bytes(pattern, insensitive) {
            return Ok(Self(Inner::Bytes(glob.compile_matcher())));
        }
        let matcher = RegexMatcherBuilder::new()
            .dot_matches_new_line(true)
            .case_insensitive(insensitive)
            .size_limit(MAX_COMPILED_BYTES)
            .build(&of_chars(glob.regex()));
        let matcher = matcher.map_err(|error| error.to_string())?;
        Ok(Self(Inner::Chars(matcher)))
    }

    /// Returns whether a name or a path matches as a whole.
    #[must_use]
    pub fn is_match(&self, name: &[u8]) -> bool {
        match &self.0 {
            Inner::Bytes(glob) => glob.is_match(OsStr::from_bytes(name)),
            // The matcher's error is one that nobody can make.
            Inner::Chars(regex) => regex
                .is_match(String::from_utf8_lossy(name).as_bytes())
                .unwrap_or_default(),
        }
    }
}

fn ignores_case(case: Case, pattern: &str) -> bool {
    match case {
        Case::Sensitive => false,
        Case::Insensitive => true,
        Case::Smart => !pattern.chars().any(char::is_uppercase),
    }
}

/// Returns whether a glob says the same of bytes as of characters: without `?` and classes it does,
/// but for the cases of letters beyond ASCII.
fn is_of_bytes(pattern: &str, insensitive: bool) -> bool {
    !pattern.contains(['?', '[']) && (pattern.is_ascii() || !insensitive)
}

/// Returns the expression over characters that one over bytes stands for: `globset` switches Unicode
/// off in front, and writes what is not ASCII as the bytes of its UTF-8.
fn of_chars(regex: &str) -> String {
    let mut rest = regex.strip_prefix("(?-u)").unwrap_or(regex);
    let mut text = Vec::with_capacity(rest.len());
    while let Some((before, escaped)) = rest.split_once('\\') {
        text.extend_from_slice(before.as_bytes());
        let byte = escaped.get(1..3).filter(|_| escaped.starts_with('x'));
        let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let len = match byte {
            Some(byte) => {
                text.push(byte);
                3
            }
            None => {
                text.push(b'\\');
                let len = escaped.chars().next().map_or(0, char::len_utf8);
                text.extend_from_slice(escaped.get(..len).unwrap_or_default().as_bytes());
                len
            }
        };
        rest = escaped.get(len..).unwrap_or_default();
    }
    text.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, case: Case, name: &[u8], expected: bool) {
        let glob = Glob::new(pattern, case).unwrap();
        assert_eq!(glob.is_match(name), expected, "{pattern} {name:?}");
    }

    #[test]
    fn characters_count_and_not_bytes() {
        let sensitive = |pattern, name: &str, expected| {
            check(pattern, Case::Sensitive, name.as_bytes(), expected);
        };
        sensitive("?", "中", true);
        sensitive("??", "中", false);
        sensitive("???", "中", false);
        sensitive("?.rs", "é.rs", true);
        sensitive("[é]", "é", true);
        sensitive("[é]", "è", false);
        sensitive("[à-ï]x", "éx", true);
        sensitive("[!é]", "中", true);
        sensitive("[!é]", "/", false);
        sensitive("中?.{txt,md}", "中文.md", true);
        sensitive("?", "/", false);
        sensitive("a?c", "a\nc", true);
    }

    #[test]
    fn signs_of_expressions_are_themselves() {
        let sensitive = |pattern, name: &str, expected| {
            check(pattern, Case::Sensitive, name.as_bytes(), expected);
        };
        sensitive("?.+", "a.+", true);
        sensitive("?.+", "abb", false);
        sensitive("(?)|$", "(é)|$", true);
        sensitive("?\\*", "a*", true);
        sensitive("?\\*", "ab", false);
        sensitive("?\\xff", "axff", true);
    }

    #[test]
    fn stars_stay_in_a_name_and_two_go_beyond() {
        let sensitive = |pattern, name: &str, expected| {
            check(pattern, Case::Sensitive, name.as_bytes(), expected);
        };
        sensitive("*.rs", "中.rs", true);
        sensitive("*.rs", "a/b.rs", false);
        sensitive("**/?.rs", "a/b/é.rs", true);
        sensitive("**/?.rs", "é.rs", true);
        sensitive("src/**", "src/a/b", true);
    }

    #[test]
    fn cases_of_letters_beyond_ascii() {
        check("é*", Case::Smart, "ÉA".as_bytes(), true);
        check("É*", Case::Smart, "éa".as_bytes(), false);
        check("ж?", Case::Insensitive, "Жа".as_bytes(), true);
        check("é*", Case::Sensitive, "ÉA".as_bytes(), false);
    }

    #[test]
    fn a_bad_sequence_is_one_character() {
        check("a?c", Case::Sensitive, b"a\xffc", true);
        check("a*c", Case::Sensitive, b"a\xff\xfec", true);
        check("a??c", Case::Sensitive, b"a\xffc", false);
    }

    #[test]
    fn what_is_no_glob_is_refused() {
        assert!(Glob::new("[a", Case::Sensitive).is_err());
        assert!(Glob::new("{a", Case::Sensitive).is_err());
        let many = format!("{}?", "{a,b}".repeat(4000));
        assert!(Glob::new(&many, Case::Sensitive).is_ok());
    }
}
