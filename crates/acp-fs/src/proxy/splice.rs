//! Changes of single fields in a frame whose every other byte stays.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of an object, in their order.
struct Object<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

/// Returns `text`, an object, with the value at the end of `path` replaced by what `change` makes of
/// it; objects that are missing on the way are put in, and so is the field. `None` for what is no
/// object.
pub(crate) fn with(
    text: &str,
    path: &[&str],
    change: &dyn Fn(Option<&str>) -> String,
) -> Option<String> {
    let (name, further) = path.split_first()?;
    let Object(fields) = serde_json::from_str(text).ok()?;
    // Most readers take the last one of several.
    let field = fields.iter().rev().find(|(key, _)| key == name);
    let value = field.map(|(_, value)| value.get());
    let new = if further.is_empty() {
        change(value)
    } else {
        let inner = value.and_then(|value| with(value, further, change));
        inner.or_else(|| with("{}", further, change))?
    };
    if let Some(value) = value {
        let start = value.as_ptr().addr() - text.as_ptr().addr();
        let (before, rest) = text.split_at_checked(start)?;
        let after = rest.get(value.len()..)?;
        return Some(format!("{before}{new}{after}"));
    }
    let (before, after) = text.split_once('{')?;
    let comma = if fields.is_empty() { "" } else { "," };
    let key = serde_json::to_string(name).ok()?;
    Some(format!("{before}{{{key}:{new}{comma}{after}"))
}

/// Returns a list with one more value at its front; a list of this value alone for what is no list.
pub(crate) fn with_first(list: Option<&str>, value: &str) -> String {
    let inside = list.and_then(|list| list.trim_start().strip_prefix('['));
    match inside {
        Some(rest) if rest.trim_start().starts_with(']') => format!("[{value}{rest}"),
        Some(rest) => format!("[{value},{rest}"),
        None => format!("[{value}]"),
    }
}

impl<'t> Deserialize<'t> for Object<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'t> Visitor<'t> for Fields {
            type Value = Object<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Object<'t>, A::Error> {
                let mut fields = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    fields.push((Cow::Owned(key), map.next_value()?));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &[&str], wanted: &str) {
        let changed = with(text, path, &|_| "true".to_owned());
        assert_eq!(changed.as_deref(), Some(wanted));
    }

    #[test]
    fn a_field_is_replaced_and_all_else_stays() {
        check(
            r#"{ "a" : {"b": false , "c":1} , "d":2 }"#,
            &["a", "b"],
            r#"{ "a" : {"b": true , "c":1} , "d":2 }"#,
        );
        check(
            r#"{"a":1,"a":{"x":2}}"#,
            &["a", "x"],
            r#"{"a":1,"a":{"x":true}}"#,
        );
    }

    #[test]
    fn what_is_missing_is_put_in() {
        check("{}", &["a", "b"], r#"{"a":{"b":true}}"#);
        check(r#" {"z":1}"#, &["a"], r#" {"a":true,"z":1}"#);
        check(
            r#"{"a":null,"z":1}"#,
            &["a", "b"],
            r#"{"a":{"b":true},"z":1}"#,
        );
        assert_eq!(with("[]", &["a"], &|_| "1".to_owned()), None);
    }

    #[test]
    fn a_value_comes_first_in_a_list() {
        assert_eq!(with_first(Some("[]"), "1"), "[1]");
        assert_eq!(with_first(Some("[ ]"), "1"), "[1 ]");
        assert_eq!(with_first(Some("[2, 3]"), "1"), "[1,2, 3]");
        assert_eq!(with_first(Some("null"), "1"), "[1]");
        assert_eq!(with_first(None, "1"), "[1]");
    }
}
