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
        if Self::is_of_bytes(pattern, case) {
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

    /// Returns whether a glob says the same of bytes as of characters: without `?` and classes it does,
    /// but for the cases of letters beyond ASCII. Whoever compiles such globs together needs no more.
    #[must_use]
    pub fn is_of_bytes(pattern: &str, case: Case) -> bool {
        let is_plain = pattern.is_ascii() || !ignores_case(case, pattern);
        is_plain && !pattern.contains(['?', '['])
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

/// Returns the expression over characters that one over bytes stands for: `globset` switches Unicode
/// off in front, and writes what is not ASCII as the bytes of its UTF-8.
fn of_chars(regex: &str) -> String {
    let mut rest = regex.strip_prefix("(?-u)").unwrap_or(regex);
    let mut text = Vec::with_capacity(rest.len());
    while let Some((before, escaped)) = rest.split_once('\\') {
        text.extend_from_slice(before.as_bytes());
        let (byte, behind) = unescaped(escaped);
        text.extend(byte.is_none().then_some(b'\\'));
        text.extend(byte);
        rest = behind;
        // What an escape stands for is no escape itself.
        if let (None, Some(first)) = (byte, rest.chars().next()) {
            let (sign, behind) = rest.split_at(first.len_utf8());
            text.extend_from_slice(sign.as_bytes());
            rest = behind;
        }
    }
    text.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the byte that `xHH` stands for, and what comes behind it; without it all of the text.
fn unescaped(text: &str) -> (Option<u8>, &str) {
    let digits = text
        .strip_prefix('x')
        .and_then(|text| text.split_at_checked(2));
    let byte = digits.and_then(|(digits, _)| u8::from_str_radix(digits, 16).ok());
    match (byte, digits) {
        (Some(byte), Some((_, behind))) => (Some(byte), behind),
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests;
