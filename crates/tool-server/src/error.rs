//! What a failed call answers: `{code, message, path?, hint?, …fields}`.

use std::fmt;

use fs_core::{Error, ErrorKind, Field, Problem, one_line};
use serde_json::{Map, Value};

/// A failed call as a model reads it in words and a program as an object.
///
/// Invariant: it holds no path but the one that the caller sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError(Box<Body>);

#[derive(Debug, Clone, PartialEq)]
struct Body {
    mark: &'static str,
    code: &'static str,
    message: String,
    path: Option<String>,
    hint: Option<String>,
    fields: Map<String, Value>,
}

impl ToolError {
    /// Returns an `invalid_argument` for `field`.
    pub fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        let field = one_line(&field.into());
        Self::from(Error::from(Problem::invalid(
            field,
            one_line(&reason.into()),
        )))
    }

    /// Returns an error of `kind` with a message that stands alone.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Body {
            mark: "",
            code: kind.code(),
            message: message.into(),
            path: None,
            hint: None,
            fields: Map::new(),
        }))
    }

    /// Returns the error with one more datum.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the error with the caller's path, unless it has one already.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Returns the error without a path, for one that the caller did not send.
    #[must_use]
    pub fn nowhere(mut self) -> Self {
        self.0.path = None;
        self
    }

    /// Returns the error with another next step.
    #[must_use]
    pub fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Returns the error with another message.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Returns the error without a datum.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.fields.shift_remove(name);
        self
    }

    /// Returns the error with a mark before its words; the object stays without.
    #[must_use]
    pub(crate) fn marked(mut self, mark: &'static str) -> Self {
        self.0.mark = mark;
        self
    }

    /// Returns the next step in words.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the message without the code.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// Returns the datum `name`.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.0.fields.get(name)
    }

    /// Returns the whole error as an object.
    pub fn object(&self) -> Map<String, Value> {
        let mut object = self.0.fields.clone();
        object.insert("code".to_owned(), self.0.code.into());
        object.insert("message".to_owned(), self.0.message.as_str().into());
        if let Some(path) = &self.0.path {
            object.insert("path".to_owned(), path.as_str().into());
        }
        if let Some(hint) = &self.0.hint {
            object.insert("hint".to_owned(), hint.as_str().into());
        }
        object
    }

    pub(crate) fn with_nearest(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(nearest) => self.with("nearest", nearest),
            None => self,
        }
    }
}

/// The code and the message (`not_found: file not found: a.txt`), the next step on a line of its own.
impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.0.mark, self.0.code, self.0.message)?;
        match &self.0.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl ToolError {
    /// Returns the error as a call answers it.
    pub(crate) fn of(error: &Error) -> Self {
        let fields = error
            .fields()
            .into_iter()
            .map(|(name, field)| (name.to_owned(), value(field)));
        Self(Box::new(Body {
            mark: "",
            code: error.code(),
            message: error.to_string(),
            path: error.path().map(str::to_owned),
            hint: error.hint(),
            fields: fields.collect(),
        }))
    }
}

fn value(field: Field) -> Value {
    match field {
        Field::Number(number) => number.into(),
        Field::Numbers(numbers) => numbers.into(),
        Field::Text(text) => text.into(),
        Field::Flag(flag) => flag.into(),
        _ => Value::Null,
    }
}
