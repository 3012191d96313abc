//! A tool's parameters as data: the JSON schema, the check of a call and the words of `tools`
//! all come from here.
//!
//! A call is checked whole before anything else happens. A number above its largest value is
//! clamped, and the answer says so; everything else that does not fit is refused.

mod nearest;

use serde_json::{Map, Number, Value, json};

use crate::error::ToolError;

pub use nearest::nearest;

/// The largest line or column that is taken as given, 2^53 - 1: what every JSON reader keeps exact.
pub const MAX_POSITION: i64 = (1 << 53) - 1;

/// A parameter of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name in a call.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether a call must give it.
    pub required: bool,
    /// What it is for, in a few words.
    pub about: &'static str,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Integer {
        /// What it is when absent; `None` for "not given".
        default: Option<i64>,
        /// The smallest value; a smaller one is refused.
        min: i64,
        /// The largest value; a larger one is clamped to it.
        max: i64,
    },
    /// Yes or no.
    Flag {
        /// What it is when absent.
        default: bool,
    },
    /// One of some words.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// What it is when absent; `None` for "not given".
        default: Option<&'static str>,
    },
    /// A list, not empty, of objects with parameters of their own.
    Objects(&'static [Param]),
}

/// The arguments of a call, checked against a tool's parameters.
///
/// Invariant: every required argument is there, and each has the kind of its parameter.
#[derive(Debug, Clone)]
pub struct Args {
    tool: &'static str,
    params: &'static [Param],
    given: Vec<Option<Arg>>,
    clamped: Vec<String>,
}

#[derive(Debug, Clone)]
enum Arg {
    Text(String),
    Integer(i64),
    Flag(bool),
    Choice(&'static str),
    Objects(Vec<Args>),
}

impl Param {
    /// Returns an optional parameter that takes text.
    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::optional(name, Kind::Text, about)
    }

    /// Returns an optional parameter that takes a number from 0, counted up to `max`.
    pub const fn count(name: &'static str, max: i64, about: &'static str) -> Self {
        let kind = Kind::Integer {
            default: None,
            min: 0,
            max,
        };
        Self::optional(name, kind, about)
    }

    /// Returns an optional parameter that takes yes or no; no when absent.
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::optional(name, Kind::Flag { default: false }, about)
    }

    /// Returns an optional parameter that takes yes or no; yes when absent.
    pub const fn flag_on(name: &'static str, about: &'static str) -> Self {
        Self::optional(name, Kind::Flag { default: true }, about)
    }

    /// Returns an optional parameter that takes a number from 0, counted up to `max`; `default`
    /// when absent.
    pub const fn number(name: &'static str, default: i64, max: i64, about: &'static str) -> Self {
        let kind = Kind::Integer {
            default: Some(default),
            min: 0,
            max,
        };
        Self::optional(name, kind, about)
    }

    /// Returns an optional parameter that takes one of `words`; the first when absent.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        let default = words.first().copied();
        Self::optional(name, Kind::Choice { words, default }, about)
    }

    /// Returns an optional parameter that takes one of `words`, without a default.
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        let kind = Kind::Choice {
            words,
            default: None,
        };
        Self::optional(name, kind, about)
    }

    /// Returns an optional parameter.
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            required: false,
            about,
        }
    }

    /// Returns this parameter as one that a call must give.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Integer { default, min, max } => integer_schema(default, min, max),
            // What is absent is no, everywhere; only a yes has to be said.
            Kind::Flag { default: false } => json!({"type": "boolean"}),
            Kind::Flag { default: true } => json!({"type": "boolean", "default": true}),
            Kind::Choice { words, default } => choice_schema(words, default),
            Kind::Objects(params) => {
                json!({"type": "array", "minItems": 1, "items": object_schema(params)})
            }
        };
        if let (Some(schema), false) = (schema.as_object_mut(), self.about.is_empty()) {
            schema.insert("description".to_owned(), self.about.into());
        }
        schema
    }
}

impl Args {
    /// Returns the checked arguments of a call of `tool`.
    ///
    /// `null` for an optional parameter is absence.
    ///
    /// # Errors
    /// `invalid_argument`, naming the field: an unknown name (with the accepted names and the
    /// nearest one), a missing one, a wrong type, a number below its smallest value.
    pub fn check(
        tool: &'static str,
        params: &'static [Param],
        given: Map<String, Value>,
    ) -> Result<Self, ToolError> {
        Self::check_below(tool, "", params, given)
    }

    /// Returns the name of the tool.
    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// Returns the text of `name`, or `None` when it was not given.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Arg::Text(text)) => Some(text),
            Some(Arg::Choice(word)) => Some(word),
            _ => None,
        }
    }

    /// Takes the text of `name` out of the arguments; empty when it was not given.
    pub fn take_text(&mut self, name: &str) -> String {
        let index = self.params.iter().position(|param| param.name == name);
        match index.and_then(|index| self.given.get_mut(index)?.take()) {
            Some(Arg::Text(text)) => text,
            _ => String::new(),
        }
    }

    /// Returns the number of `name`, its default when it was not given.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match (self.get(name), self.kind(name)) {
            (Some(Arg::Integer(number)), _) => Some(*number),
            (None, Some(Kind::Integer { default, .. })) => default,
            _ => None,
        }
    }

    /// Returns the number of `name` where 0 means the same as not given.
    pub fn positive(&self, name: &str) -> Option<u64> {
        let number = self.integer(name)?;
        u64::try_from(number).ok().filter(|number| *number > 0)
    }

    /// Returns the yes or no of `name`, its default when it was not given.
    pub fn flag(&self, name: &str) -> bool {
        match (self.get(name), self.kind(name)) {
            (Some(Arg::Flag(flag)), _) => *flag,
            (_, Some(Kind::Flag { default })) => default,
            _ => false,
        }
    }

    /// Returns whether the tool has a parameter of this name.
    pub fn takes(&self, name: &str) -> bool {
        knows(self.params, name)
    }

    /// Returns whether the call gives `name`.
    pub fn is_given(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the word of `name`, its default when it was not given; empty without one.
    pub fn choice(&self, name: &str) -> &'static str {
        match (self.get(name), self.kind(name)) {
            (Some(Arg::Choice(word)), _) => word,
            (_, Some(Kind::Choice { default, .. })) => default.unwrap_or_default(),
            _ => "",
        }
    }

    /// Takes the list of `name` out of the arguments.
    pub fn take_objects(&mut self, name: &str) -> Vec<Self> {
        let index = self.params.iter().position(|param| param.name == name);
        match index.and_then(|index| self.given.get_mut(index)?.take()) {
            Some(Arg::Objects(objects)) => objects,
            _ => Vec::new(),
        }
    }

    /// Returns what was clamped, each in words.
    pub fn clamped(&self) -> &[String] {
        &self.clamped
    }

    fn check_below(
        tool: &'static str,
        prefix: &str,
        params: &'static [Param],
        mut given: Map<String, Value>,
    ) -> Result<Self, ToolError> {
        if let Some(name) = given.keys().find(|name| !knows(params, name)) {
            return Err(unknown_name(tool, prefix, name, params));
        }
        let mut args = Self {
            tool,
            params,
            given: Vec::with_capacity(params.len()),
            clamped: Vec::new(),
        };
        for param in params {
            let field = format!("{prefix}{}", param.name);
            let arg = match given.remove(param.name) {
                None | Some(Value::Null) if param.required => {
                    return Err(ToolError::invalid(field, "it is missing"));
                }
                None | Some(Value::Null) => None,
                Some(value) => Some(args.convert(tool, &field, param.kind, value)?),
            };
            args.given.push(arg);
        }
        Ok(args)
    }

    fn convert(
        &mut self,
        tool: &'static str,
        field: &str,
        kind: Kind,
        value: Value,
    ) -> Result<Arg, ToolError> {
        match (kind, value) {
            (Kind::Text, Value::String(text)) => Ok(Arg::Text(text)),
            (Kind::Flag { .. }, Value::Bool(flag)) => Ok(Arg::Flag(flag)),
            (Kind::Choice { words, .. }, Value::String(text)) => choose(field, words, &text),
            (Kind::Integer { min, max, .. }, Value::Number(number)) => {
                self.bound(field, &number, min, max)
            }
            (Kind::Objects(params), Value::Array(items)) => {
                self.convert_items(tool, field, params, items)
            }
            (kind, value) => Err(wrong_type(field, kind, &value)),
        }
    }

    fn bound(
        &mut self,
        field: &str,
        number: &Number,
        min: i64,
        max: i64,
    ) -> Result<Arg, ToolError> {
        let Some(integer) = whole(number) else {
            let reason = format!("it must be a whole number, not {number}");
            return Err(ToolError::invalid(field, reason));
        };
        if integer < min {
            let reason = format!("it must be at least {min}, not {number}");
            return Err(ToolError::invalid(field, reason));
        }
        if integer > max {
            self.clamped
                .push(format!("{field} {number} clamped to {max}"));
        }
        Ok(Arg::Integer(integer.min(max)))
    }

    fn convert_items(
        &mut self,
        tool: &'static str,
        field: &str,
        params: &'static [Param],
        items: Vec<Value>,
    ) -> Result<Arg, ToolError> {
        if items.is_empty() {
            return Err(ToolError::invalid(field, "it must hold at least one item"));
        }
        let mut objects = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let Value::Object(item) = item else {
                let field = format!("{field}[{index}]");
                return Err(wrong_type(&field, Kind::Objects(params), &item));
            };
            let prefix = format!("{field}[{index}].");
            let mut object = Self::check_below(tool, &prefix, params, item)?;
            self.clamped.append(&mut object.clamped);
            objects.push(object);
        }
        Ok(Arg::Objects(objects))
    }

    fn get(&self, name: &str) -> Option<&Arg> {
        let index = self.params.iter().position(|param| param.name == name);
        debug_assert!(index.is_some(), "no parameter {name}");
        self.given.get(index?)?.as_ref()
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        let param = self.params.iter().find(|param| param.name == name)?;
        Some(param.kind)
    }
}

/// Returns the JSON schema of an object with these parameters and no others.
pub fn object_schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<String, Value> = params
        .iter()
        .map(|param| (param.name.to_owned(), param.schema()))
        .collect();
    let required: Vec<Value> = params
        .iter()
        .filter(|param| param.required)
        .map(|param| param.name.into())
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn integer_schema(default: Option<i64>, min: i64, max: i64) -> Value {
    let mut schema = json!({"type": "integer", "minimum": min});
    if let Some(object) = schema.as_object_mut() {
        if let Some(default) = default {
            object.insert("default".to_owned(), default.into());
        }
        if max < MAX_POSITION {
            object.insert("maximum".to_owned(), max.into());
        }
    }
    schema
}

fn choice_schema(words: &[&str], default: Option<&str>) -> Value {
    match default {
        Some(default) => json!({"type": "string", "enum": words, "default": default}),
        None => json!({"type": "string", "enum": words}),
    }
}

fn knows(params: &[Param], name: &str) -> bool {
    params.iter().any(|param| param.name == name)
}

fn choose(field: &str, words: &'static [&'static str], text: &str) -> Result<Arg, ToolError> {
    if let Some(word) = words.iter().find(|word| **word == text) {
        return Ok(Arg::Choice(word));
    }
    let reason = format!("it must be one of {}, not {text:?}", words.join(", "));
    Err(ToolError::invalid(field, reason)
        .with("accepted", words.to_vec())
        .with_nearest(nearest(text, words.iter().copied())))
}

/// Returns the whole number that `number` is, saturated; `None` when it has a fraction.
fn whole(number: &Number) -> Option<i64> {
    if let Some(integer) = number.as_i64() {
        return Some(integer);
    }
    if number.is_u64() {
        return Some(i64::MAX);
    }
    let float = number.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float cast saturates, which is what is wanted"
    )]
    (float.fract() == 0.0).then_some(float as i64)
}

fn unknown_name(tool: &str, prefix: &str, name: &str, params: &[Param]) -> ToolError {
    let names: Vec<&str> = params.iter().map(|param| param.name).collect();
    let near = nearest(name, names.iter().copied());
    let meant = near
        .map(|near| format!("did you mean \"{near}\"? "))
        .unwrap_or_default();
    let owner = if prefix.is_empty() { tool } else { "each item" };
    let reason = format!(
        "there is no such argument; {meant}{owner} takes {}",
        names.join(", ")
    );
    ToolError::invalid(format!("{prefix}{name}"), reason)
        .with("accepted", names)
        .with_nearest(near)
}

fn wrong_type(field: &str, kind: Kind, value: &Value) -> ToolError {
    let wanted = match kind {
        Kind::Text | Kind::Choice { .. } => "a string",
        Kind::Integer { .. } => "a whole number",
        Kind::Flag { .. } => "true or false",
        Kind::Objects(_) if field.ends_with(']') => "an object",
        Kind::Objects(_) => "a list of objects",
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    ToolError::invalid(field, format!("it must be {wanted}, not {found}"))
}

#[cfg(test)]
mod tests;
