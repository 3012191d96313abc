//! The one error type: a problem, the caller's path, and the edit it belongs to.

use std::fmt;
use std::io;

use crate::problem::{ErrorKind, Problem};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed operation: the [`Problem`], the path as the caller wrote it, and the edit it belongs to.
///
/// Engines raise a [`Problem`]; whoever knows the caller's path adds it with [`Error::at`].
/// Invariant: no value of this type holds a path that the caller did not send.
#[derive(Debug)]
pub struct Error(Box<Context>);

#[derive(Debug)]
struct Context {
    problem: Problem,
    path: Option<String>,
    edit: Option<usize>,
    failing: Vec<usize>,
}

/// A datum of an error, for the object that every protocol carries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// A number: bytes, lines, counts, indices.
    Number(u64),
    /// A list of numbers.
    Numbers(Vec<u64>),
    /// A word or a sentence.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl Error {
    /// Returns the problem.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Returns the kind of the problem.
    pub fn kind(&self) -> ErrorKind {
        self.0.problem.kind()
    }

    /// Returns the stable code of the kind.
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Returns the path as the caller wrote it.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Returns the index of the edit that failed, counted from 0.
    pub fn edit(&self) -> Option<usize> {
        self.0.edit
    }

    /// Returns the next step in words.
    pub fn hint(&self) -> Option<String> {
        self.0.problem.hint()
    }

    /// Returns the error's data by name: the edit's index, all failing edits where there are
    /// several, then the problem's own.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        let mut fields = Vec::new();
        if let Some(edit) = self.0.edit {
            fields.push(("edit", Field::Number(edit as u64)));
        }
        if self.0.failing.len() > 1 {
            let all = self.0.failing.iter().map(|index| *index as u64).collect();
            fields.push(("failing_edits", Field::Numbers(all)));
        }
        fields.extend(self.0.problem.fields());
        fields
    }

    /// Returns the error with the caller's path, unless it has one already.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Returns the error with another path in place of the one it has, if any: the caller's own
    /// spelling of it.
    #[must_use]
    pub fn spelt(mut self, path: &str) -> Self {
        self.0.path = Some(path.to_owned());
        self
    }

    /// Returns the error as that of edit `index`, counted from 0.
    #[must_use]
    pub fn in_edit(mut self, index: usize) -> Self {
        self.0.edit = Some(index);
        self
    }

    /// Returns the error with the indices of all edits that fail.
    #[must_use]
    pub fn with_failing(mut self, edits: Vec<usize>) -> Self {
        self.0.failing = edits;
        self
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self(Box::new(Context {
            problem,
            path: None,
            edit: None,
            failing: Vec::new(),
        }))
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Problem::from(source).into()
    }
}

impl From<rustix::io::Errno> for Error {
    fn from(errno: rustix::io::Errno) -> Self {
        io::Error::from(errno).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(edit) = self.0.edit {
            write!(f, "edits[{edit}]: ")?;
        }
        write!(f, "{}", self.0.problem)?;
        if let Some(path) = &self.0.path {
            write!(f, ": {}", one_line(path))?;
        }
        match self.0.problem.details() {
            Some(details) => write!(f, "; {details}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.0.problem)
    }
}

/// Returns `text` with control characters escaped, so that it takes one line.
///
/// ```
/// assert_eq!(fs_core::one_line("a\nb"), "a\\nb");
/// ```
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{2028}' | '\u{2029}' => line.extend(character.escape_unicode()),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &Error, code: &str, message: &str) {
        assert_eq!(error.code(), code);
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn the_message_names_the_edit_and_the_callers_path() {
        let error = Error::from(Problem::no_match());
        check(
            &error.in_edit(1).at("a.txt"),
            "no_match",
            "edits[1]: could not find \"old\": a.txt",
        );
    }

    #[test]
    fn the_first_path_stays() {
        check(
            &Error::from(Problem::NotFound).at("a").at("b"),
            "not_found",
            "file not found: a",
        );
    }

    #[test]
    fn a_control_character_in_a_path_takes_no_line_of_its_own() {
        check(
            &Error::from(Problem::NotFound).at("a\nb"),
            "not_found",
            "file not found: a\\nb",
        );
    }

    #[test]
    fn a_full_disk_is_io_and_may_be_tried_again_once_there_is_room() {
        use rustix::io::Errno;
        for errno in [Errno::NOSPC, Errno::DQUOT] {
            let error = Error::from(errno);
            assert_eq!(error.code(), "io");
            assert_eq!(error.fields(), vec![("retry", Field::Flag(true))]);
            assert!(error.hint().unwrap().starts_with("make room"));
        }
        let error = Error::from(Errno::MFILE);
        assert_eq!(error.hint().as_deref(), Some("try again"));
    }
}
