//! The case files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Returns the cases of a file of JSON lines.
pub fn cases(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a case is JSON"))
        .collect()
}

/// Returns the bytes that a base64 text spells.
pub fn bytes(text: &Value) -> Vec<u8> {
    STANDARD
        .decode(text.as_str().expect("base64 text"))
        .expect("base64")
}

/// Returns the field as text.
pub fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field} is text: {case}"))
}

/// Returns the field as a list of texts; absent is empty.
pub fn texts(case: &Value, field: &str) -> Vec<String> {
    let list = case[field].as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .map(|item| item.as_str().expect("text").to_owned())
        .collect()
}
