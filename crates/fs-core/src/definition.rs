//! Where a name is defined: by parsing, and by a table of line rules where nothing parses.

#[cfg(feature = "definitions")]
mod grammar;
mod language;
mod mask;
mod rules;
#[cfg(feature = "definitions")]
mod sources;
mod syntax;
mod table;

use std::fmt;
use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

use crate::cancel::Cancel;
use crate::error::Result;
use crate::path::RelPath;
use rules::Found;
use table::LANGUAGES;

/// A place where a name is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The line that holds the name, from 1.
    pub line: u64,
    /// The column where the name begins, from 1, in code points.
    pub column: u64,
    /// What is defined.
    pub kind: DefinitionKind,
    /// The line without its break.
    pub text: String,
}

/// What a definition defines. Languages differ, so this is the nearest word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefinitionKind {
    /// A function of its own.
    Function,
    /// A function of a type.
    Method,
    /// A class, or an object that is declared like one.
    Class,
    /// A struct, a union or a record.
    Struct,
    /// An enumeration.
    Enum,
    /// A member of an enumeration.
    Variant,
    /// An interface, a trait or a protocol.
    Interface,
    /// Another name for a type, or a type of any other sort.
    Type,
    /// A module or a namespace.
    Module,
    /// A macro.
    Macro,
    /// A constant.
    Constant,
    /// A variable outside of functions.
    Variable,
    /// A field or a property.
    Field,
}

/// Returns whether `path` may hold definitions: its name is that of a language, or has no
/// extension, so that only its first line tells.
///
/// ```
/// let may_define = |path| fs_core::RelPath::parse(path).map(|path| fs_core::may_define(&path));
/// assert_eq!(may_define("src/main.rs")?, true);
/// assert_eq!(may_define("notes.txt")?, false);
/// # Ok::<(), fs_core::Error>(())
/// ```
pub fn may_define(path: &RelPath) -> bool {
    language::may_have_language(path)
}

/// Returns the definitions in `text` whose name is exactly `name`, in their order.
///
/// Comments, strings, calls, imports, locals and parameters are none; neither is a declaration
/// without a body where the language has definitions apart from it (C, C++). The language is that
/// of the name of `path`, or of the first line of `text` when the name has no extension; without a
/// language there is no definition. With the cargo feature `definitions` the text is parsed where
/// a grammar is at hand and the text is at most 256 KiB; all else goes by a table of rules, which
/// now and then takes a line for what it is not.
///
/// # Errors
/// `cancelled`.
///
/// # Example
///
/// ```
/// use fs_core::{Cancel, RelPath, definitions};
///
/// let text = "// open is called below\npub fn open() {}\nfn main() { open() }\n";
/// let found = definitions(&RelPath::parse("a.rs")?, text, "open", &Cancel::default())?;
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].line, found[0].column), (2, 8));
/// # Ok::<(), fs_core::Error>(())
/// ```
pub fn definitions(
    path: &RelPath,
    text: &str,
    name: &str,
    cancel: &Cancel,
) -> Result<Vec<Definition>> {
    cancel.check()?;
    let starts_odd = name
        .chars()
        .next()
        .is_none_or(|first| first.is_ascii_digit());
    let is_name = !starts_odd && !name.contains(char::is_whitespace);
    let Some(language) = language::language_of(path, text).filter(|_| is_name) else {
        return Ok(Vec::new());
    };
    let places = places_of(text, name, language);
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let found = by_grammar(text, language, &places, cancel)
        .unwrap_or_else(|| rules::matching(text, language, &places, cancel));
    cancel.check()?;
    Ok(described(text, &found))
}

impl DefinitionKind {
    #[cfg(any(test, feature = "definitions"))]
    const ALL: [Self; 13] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::Variant,
        Self::Interface,
        Self::Type,
        Self::Module,
        Self::Macro,
        Self::Constant,
        Self::Variable,
        Self::Field,
    ];

    /// Returns the kind's word, as `function`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
        }
    }

    /// Returns the kind of that word.
    #[cfg(any(test, feature = "definitions"))]
    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for DefinitionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns where `name` stands as a whole word.
fn places_of(text: &str, name: &str, language: usize) -> Vec<Range<usize>> {
    let more = LANGUAGES
        .get(language)
        .map_or("", |language| language.syntax.word);
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || more.contains(c);
    let begins = name.starts_with(is_word);
    let ends = name.ends_with(is_word);
    let is_whole = |place: &Range<usize>| {
        let before = text
            .get(..place.start)
            .and_then(|text| text.chars().next_back());
        let after = text.get(place.end..).and_then(|text| text.chars().next());
        let goes_on =
            (begins && before.is_some_and(is_word)) || (ends && after.is_some_and(is_word));
        !goes_on
    };
    let finder = Finder::new(name);
    let starts = finder.find_iter(text.as_bytes());
    starts
        .map(|start| start..start + name.len())
        .filter(is_whole)
        .collect()
}

#[cfg(feature = "definitions")]
fn by_grammar(
    text: &str,
    language: usize,
    places: &[Range<usize>],
    cancel: &Cancel,
) -> Option<Vec<Found>> {
    let parsed = grammar::parsed(text, LANGUAGES.get(language)?, places, cancel)?;
    let mut found = parsed.found;
    if !parsed.unclear.is_empty() {
        found.extend(rules::matching(text, language, &parsed.unclear, cancel));
        found.sort_unstable_by_key(|(place, _)| place.start);
    }
    Some(found)
}

#[cfg(not(feature = "definitions"))]
fn by_grammar(_: &str, _: usize, _: &[Range<usize>], _: &Cancel) -> Option<Vec<Found>> {
    None
}

/// Returns the definitions at these places, which are in order.
fn described(text: &str, found: &[Found]) -> Vec<Definition> {
    let bytes = text.as_bytes();
    let (mut line, mut counted) = (1, 0);
    let describe = |(place, kind): &Found| {
        let start = memrchr(b'\n', bytes.get(..place.start)?).map_or(0, |found| found + 1);
        let rest = bytes.get(place.start..)?;
        let end = memchr(b'\n', rest).map_or(text.len(), |found| place.start + found);
        line += memchr_iter(b'\n', bytes.get(counted..place.start)?).count() as u64;
        counted = place.start;
        let whole = text.get(start..end)?;
        Some(Definition {
            line,
            column: text.get(start..place.start)?.chars().count() as u64 + 1,
            kind: *kind,
            text: whole.strip_suffix('\r').unwrap_or(whole).to_owned(),
        })
    };
    found.iter().filter_map(describe).collect()
}

#[cfg(test)]
mod tests;
