//! Which language a file is in, and what the rules know of one.

use std::ffi::OsStr;

use super::DefinitionKind;
use super::syntax::Syntax;
use super::table::LANGUAGES;
use crate::path::RelPath;

/// The longest first line that is looked at for a program's name, in bytes.
const FIRST_LINE_BYTES: usize = 256;
/// Marks of C++ in a header whose name is that of C, too.
const CPP_MARKS: [&str; 7] = [
    "class ",
    "namespace ",
    "template",
    "public:",
    "private:",
    "::",
    "constexpr ",
];

/// What the rules know of a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    /// Its name, in lower case.
    pub(super) name: &'static str,
    /// The extensions of its files, in lower case.
    pub(super) extensions: &'static [&'static str],
    /// Whole names of its files.
    pub(super) files: &'static [&'static str],
    /// The programs in `#!` lines.
    pub(super) programs: &'static [&'static str],
    /// Its comments and strings.
    pub(super) syntax: &'static Syntax,
    /// How far back from a name its statement begins.
    pub(super) unit: Unit,
    /// The heads of blocks that hold declarations rather than code.
    pub(super) types: &'static str,
    /// Words that are never names, between blanks.
    pub(super) reserved: &'static str,
    /// What makes a definition; the first rule that fits decides.
    pub(super) rules: &'static [Rule],
}

/// How far a statement reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// From the last `;`, `{` or `}`.
    Statement,
    /// From these or the line's beginning, unless a bracket is open.
    Line,
    /// From the line's beginning; blocks are told by indentation.
    Indent,
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Everywhere.
    Any,
    /// At the top of the file, or in a block whose head is one of `Language::types`.
    Outer,
    /// In a block whose head and bracket match this.
    Head(&'static str),
}

/// One way to define a name. All patterns are of bytes, with comments and strings blanked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) kind: DefinitionKind,
    pub(super) place: Place,
    /// What ends right before the name; `^` is the beginning of the statement.
    pub(super) before: &'static str,
    /// What begins right after the name; empty for anything.
    pub(super) after: &'static str,
    /// What must not be before the name; empty for nothing.
    pub(super) not_before: &'static str,
    /// What must not be after the name; empty for nothing.
    pub(super) not_after: &'static str,
    pub(super) name: Name,
    /// Whether it counts only where no other rule finds the name, and then once.
    pub(super) rank: Rank,
}

/// Whether a rule yields to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    Sure,
    Otherwise,
}

/// What a name must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Any,
    /// It begins with a capital letter.
    Capital,
}

/// Returns a rule that holds everywhere.
pub(super) const fn rule(kind: DefinitionKind, before: &'static str) -> Rule {
    Rule {
        kind,
        place: Place::Any,
        before,
        after: "",
        not_before: "",
        not_after: "",
        name: Name::Any,
        rank: Rank::Sure,
    }
}

impl Name {
    pub(super) fn fits(self, name: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Capital => name.first().is_some_and(u8::is_ascii_uppercase),
        }
    }
}

impl Rule {
    pub(super) const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    pub(super) const fn not_before(self, not_before: &'static str) -> Self {
        Self { not_before, ..self }
    }

    pub(super) const fn not_after(self, not_after: &'static str) -> Self {
        Self { not_after, ..self }
    }

    pub(super) const fn name(self, name: Name) -> Self {
        Self { name, ..self }
    }

    pub(super) const fn otherwise(self) -> Self {
        Self {
            rank: Rank::Otherwise,
            ..self
        }
    }

    pub(super) const fn outer(self) -> Self {
        Self {
            place: Place::Outer,
            ..self
        }
    }

    pub(super) const fn head(self, head: &'static str) -> Self {
        Self {
            place: Place::Head(head),
            ..self
        }
    }
}

/// Returns whether the name alone tells the language, or leaves it to the first line.
pub(super) fn may_have_language(path: &RelPath) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    by_name(name).is_some() || extension(name).is_none()
}

/// Returns the place of the language of the file `path` in the table.
pub(super) fn language_of(path: &RelPath, text: &str) -> Option<usize> {
    let name = path.file_name()?;
    let found = by_name(name).or_else(|| match extension(name) {
        None => by_first_line(text),
        Some(_) => None,
    })?;
    let is_header = extension(name).is_some_and(|extension| extension == "h");
    if is_header && CPP_MARKS.iter().any(|mark| text.contains(mark)) {
        return by_language("cpp");
    }
    Some(found)
}

fn by_name(name: &OsStr) -> Option<usize> {
    let whole = name.to_str()?;
    let extension = extension(name).unwrap_or_default();
    LANGUAGES.iter().position(|language| {
        language.files.contains(&whole) || language.extensions.contains(&extension.as_str())
    })
}

fn by_first_line(text: &str) -> Option<usize> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    if line.len() > FIRST_LINE_BYTES {
        return None;
    }
    let program = line
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES
        .iter()
        .position(|language| language.programs.contains(&bare))
}

fn by_language(name: &str) -> Option<usize> {
    LANGUAGES.iter().position(|language| language.name == name)
}

fn extension(name: &OsStr) -> Option<String> {
    let (stem, extension) = name.to_str()?.rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_ascii_lowercase())
}
