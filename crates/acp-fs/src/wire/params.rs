//! The parameters of the two methods: strict types, and what is wrong with one by its name.

use serde_json::{Map, Value};

use super::{ReadTextFile, Request, RpcError, WriteTextFile, cut};

/// The most bytes that a path and the id of a session may have: no file system takes more.
const MAX_NAME: usize = 64 * 1024;

/// The parameters of a request.
pub(super) struct Params(Map<String, Value>);

impl Params {
    pub(super) fn parse(params: &str) -> Result<Self, RpcError> {
        match serde_json::from_str(params) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(RpcError::invalid("params", "it must be an object")),
            Err(error) => {
                // The line was JSON, so it is something that JSON can say and a text cannot.
                let reason = format!("half of a surrogate pair, or too deep a nest: {error}");
                Err(RpcError::invalid("params", reason))
            }
        }
    }

    pub(super) fn into_read(mut self) -> Result<Request, RpcError> {
        Ok(Request::Read(ReadTextFile {
            session_id: self.text("sessionId")?,
            path: self.text("path")?,
            line: self.count("line")?,
            limit: self.count("limit")?,
        }))
    }

    pub(super) fn into_write(mut self) -> Result<Request, RpcError> {
        Ok(Request::Write(WriteTextFile {
            session_id: self.text("sessionId")?,
            path: self.text("path")?,
            content: self.text("content")?,
            turned_breaks: self.says_crlf(),
        }))
    }

    fn text(&mut self, name: &str) -> Result<String, RpcError> {
        match self.0.remove(name) {
            // What cannot be the name of anything is neither sent back nor written down.
            Some(Value::String(text)) if name != "content" && text.len() > MAX_NAME => {
                let reason = format!("it has {} bytes, {MAX_NAME} are allowed", text.len());
                Err(RpcError::invalid(name, reason))
            }
            Some(Value::String(text)) => Ok(text),
            Some(other) => {
                let reason = format!("it must be a text, not {}", shown(&other));
                Err(RpcError::invalid(name, reason))
            }
            None => Err(RpcError::invalid(name, "it is missing")),
        }
    }

    /// Returns whether `_meta` says that the file has CR LF.
    fn says_crlf(&self) -> bool {
        let meta = self.0.get("_meta").and_then(|meta| meta.get("lineEnding"));
        meta.and_then(Value::as_str)
            .is_some_and(|ending| ending.eq_ignore_ascii_case("crlf"))
    }

    fn count(&mut self, name: &str) -> Result<Option<u32>, RpcError> {
        let value = self.0.remove(name).filter(|value| !value.is_null());
        let Some(value) = value else { return Ok(None) };
        whole(&value).map(Some).ok_or_else(|| {
            let reason = format!(
                "it must be a whole number from 0 to {}, not {}",
                u32::MAX,
                shown(&value)
            );
            RpcError::invalid(name, reason)
        })
    }
}

/// Returns a number that is whole and fits, whatever its spelling: `10`, `10.0` and `1e1`.
fn whole(value: &Value) -> Option<u32> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok();
    }
    let number = value.as_f64()?;
    let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    fits.then_some(number as u32)
}

/// Returns a value in a few words.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => cut(&other.to_string()),
    }
}
