//! Frames: what a line is, as far as a proxy needs to know, and as another peer may read it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What stands before the names of the methods that are served here.
const FILES: &str = "fs/";

/// A line.
#[derive(Debug)]
pub(crate) enum Line<'l> {
    /// Nothing but blanks.
    Blank,
    /// An object.
    Frame(Frame<'l>),
    /// A list of frames, which the protocol does not have.
    List,
    /// What a program prints: it does not even begin like a frame.
    Noise,
    /// It begins like a frame, and is none.
    Broken(String),
}

/// The fields of a frame that the protocol's rules are about.
#[derive(Debug, Default)]
pub(crate) struct Frame<'l> {
    pub(crate) id: Option<&'l RawValue>,
    pub(crate) method: Option<Cow<'l, str>>,
    pub(crate) params: Option<&'l RawValue>,
    pub(crate) result: Option<&'l RawValue>,
    pub(crate) error: Option<&'l RawValue>,
    /// Whether one reader may take it for a request for files and another one for something else:
    /// a field stands there twice or in capitals, the method is no text, or a CR parts it.
    pub(crate) is_ambiguous: bool,
    /// What the methods are for, in whatever letters their fields are.
    purpose: Purpose,
    has_odd_fields: bool,
}

/// What a method is for; of several the last one here counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Purpose {
    #[default]
    Other,
    /// It is no text, so nobody knows what others take it for.
    Unknown,
    Files,
}

impl<'l> Line<'l> {
    /// Returns what a line is, with or without its line feed.
    pub(crate) fn parse(line: &'l [u8]) -> Self {
        let begins = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let Some(first) = begins else {
            return Self::Blank;
        };
        let looks_like_one = matches!(first, b'{' | b'[');
        let text = match simdutf8::basic::from_utf8(line) {
            Ok(text) => text,
            Err(_) if looks_like_one => return Self::Broken("it is not UTF-8".to_owned()),
            Err(_) => return Self::Noise,
        };
        match first {
            b'{' => match serde_json::from_str(text) {
                Ok(frame) => Self::Frame(frame).checked(line),
                Err(error) => Self::Broken(error.to_string()),
            },
            b'[' => match serde_json::from_str::<IgnoredAny>(text) {
                Ok(_) => Self::List,
                // A program's log often begins its lines like this.
                Err(_) => Self::Noise,
            },
            _ => Self::Noise,
        }
    }
}

impl Line<'_> {
    /// Returns the frame as ambiguous where a reader that takes a CR for the end of a line, too,
    /// finds a request for files between two of them.
    fn checked(mut self, line: &[u8]) -> Self {
        let inner = line.strip_suffix(b"\n").unwrap_or(line);
        let inner = inner.strip_suffix(b"\r").unwrap_or(inner);
        if let Self::Frame(frame) = &mut self
            && memchr::memchr(b'\r', inner).is_some()
        {
            let mut parts = inner.split(|byte| *byte == b'\r');
            frame.is_ambiguous |= parts.any(asks_for_files);
        }
        self
    }
}

/// Returns whether a part of a line is a request for files, or a list with one in it.
fn asks_for_files(part: &[u8]) -> bool {
    match Line::parse(part) {
        Line::Frame(frame) => frame.purpose == Purpose::Files,
        Line::List => {
            let items = serde_json::from_slice::<Vec<&RawValue>>(part).unwrap_or_default();
            let mut items = items.iter();
            items.any(|item| {
                let item = object::<Frame<'_>>(item.get());
                item.is_some_and(|item| item.purpose == Purpose::Files)
            })
        }
        _ => false,
    }
}

impl Frame<'_> {
    /// Returns whether the frame asks for files, for anybody who reads it.
    pub(crate) fn is_for_files(&self) -> bool {
        self.purpose > Purpose::Other || self.is_ambiguous
    }

    fn settle(&mut self) {
        self.is_ambiguous = self.has_odd_fields && self.purpose > Purpose::Other;
    }

    fn name_method(&mut self, raw: &RawValue) {
        // So some write a field that they do not have.
        if is_null(raw) {
            return;
        }
        let Ok(method) = serde_json::from_str::<String>(raw.get()) else {
            self.purpose = self.purpose.max(Purpose::Unknown);
            self.has_odd_fields = true;
            return;
        };
        self.purpose = self.purpose.max(Purpose::of(&method));
        self.has_odd_fields |= self.method.is_some();
        self.method = Some(Cow::Owned(method));
    }
}

/// Puts a field where it belongs, and says whether it was there already.
fn put<'l>(field: &mut Option<&'l RawValue>, value: &'l RawValue) -> bool {
    field.replace(value).is_some()
}

impl<'l> Deserialize<'l> for Frame<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'l> Visitor<'l> for Fields {
            type Value = Frame<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a frame")
            }

            fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Frame<'l>, A::Error> {
                let mut frame = Frame::default();
                while let Some(Key(key)) = map.next_key()? {
                    match &*key {
                        "method" => frame.name_method(map.next_value()?),
                        "id" => frame.has_odd_fields |= put(&mut frame.id, map.next_value()?),
                        "params" => {
                            frame.has_odd_fields |= put(&mut frame.params, map.next_value()?);
                        }
                        "result" => drop(put(&mut frame.result, map.next_value()?)),
                        "error" => {
                            let error: &RawValue = map.next_value()?;
                            frame.error = Some(error).filter(|error| !is_null(error));
                        }
                        other => {
                            let is_odd = ["method", "id", "params"]
                                .iter()
                                .any(|name| name.eq_ignore_ascii_case(other));
                            if is_odd && other.eq_ignore_ascii_case("method") {
                                frame.name_oddly(map.next_value()?);
                            } else {
                                frame.has_odd_fields |= is_odd;
                                let IgnoredAny = map.next_value()?;
                            }
                        }
                    }
                }
                frame.settle();
                Ok(frame)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Frame<'_> {
    /// Some readers take a field in capitals for the one in small letters.
    fn name_oddly(&mut self, raw: &RawValue) {
        let purpose = match serde_json::from_str::<String>(raw.get()) {
            Ok(method) => Purpose::of(&method),
            Err(_) if is_null(raw) => Purpose::Other,
            Err(_) => Purpose::Unknown,
        };
        self.purpose = self.purpose.max(purpose);
        self.has_odd_fields = true;
    }
}

impl Purpose {
    fn of(method: &str) -> Self {
        if method.starts_with(FILES) {
            Self::Files
        } else {
            Self::Other
        }
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// The name of a field, borrowed where it has no escapes.
struct Key<'l>(Cow<'l, str>);

impl<'l> Deserialize<'l> for Key<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'l> Visitor<'l> for Text {
            type Value = Key<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_borrowed_str<E>(self, text: &'l str) -> Result<Key<'l>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'l>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Reads an object; a list is none, although its values could be taken for the fields in turn.
pub(crate) fn object<'t, T: Deserialize<'t>>(text: &'t str) -> Option<T> {
    let is_object = text.trim_start().starts_with('{');
    is_object.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Returns an id in one spelling, so that an answer is found however its id is written.
pub(crate) fn id_key(id: &RawValue) -> String {
    let is_whole = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    if id.get().bytes().all(is_whole) {
        // However large it is.
        return id.get().to_owned();
    }
    match serde_json::from_str::<serde_json::Value>(id.get()) {
        Ok(value) => match value.as_f64().filter(|_| value.as_i64().is_none()) {
            Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
            _ => value.to_string(),
        },
        Err(_) => id.get().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn frame(line: &str) -> Frame<'_> {
        match Line::parse(line.as_bytes()) {
            Line::Frame(frame) => frame,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[track_caller]
    fn check(line: &str, wanted: &str) {
        let frame = frame(line);
        let seen = match (frame.is_for_files(), frame.is_ambiguous) {
            (true, false) => "files",
            (true, true) => "ambiguous",
            (false, false) => "passes",
            (false, true) => "ambiguous, and passes",
        };
        assert_eq!(seen, wanted, "{line}");
    }

    #[test]
    fn requests_for_files_are_found_by_what_their_method_says() {
        check(r#"{"id":1,"method":"fs/read_text_file"}"#, "files");
        check(r#"{"id":1,"method":"fs\/read_text_file"}"#, "files");
        check(r#"{"\u006dethod":"\u0066s/x"}"#, "files");
        check(r#"{"method":"session/update"}"#, "passes");
        check(r#"{"method":"_fs/x"}"#, "passes");
        check(r#"{"params":{"method":"fs/x"},"method":"a"}"#, "passes");
        check(r#"{"id":1,"result":{}}"#, "passes");
    }

    #[test]
    fn a_field_of_null_is_not_there() {
        check(r#"{"id":1,"method":null,"result":{}}"#, "passes");
        check(r#"{"id":1,"Method":null,"result":{}}"#, "passes");
        check(r#"{"id":1,"method":null,"method":"fs/x"}"#, "files");
        check(r#"{"id":1,"method":"fs/x","method":null}"#, "files");
        assert!(
            frame(r#"{"id":1,"result":{},"error":null}"#)
                .error
                .is_none()
        );
        assert!(frame(r#"{"id":1,"error":{}}"#).error.is_some());
    }

    #[test]
    fn what_two_readers_may_read_differently_is_told() {
        check(r#"{"method":"a","method":"fs/x"}"#, "ambiguous");
        check(r#"{"method":"fs/x","method":"a"}"#, "ambiguous");
        check(r#"{"METHOD":"fs/x"}"#, "ambiguous");
        check(r#"{"method":"a","Method":"fs/x"}"#, "ambiguous");
        check(r#"{"method":"fs/x","params":1,"params":2}"#, "ambiguous");
        check(r#"{"method":"fs/x","Params":2}"#, "ambiguous");
        check(r#"{"method":["fs/x"]}"#, "ambiguous");
        check(r#"{"id":1,"Method":["fs/x"]}"#, "ambiguous");
        // Some readers take a CR for the end of a line.
        check("{\"a\":\r{\"method\":\"fs/x\"}\r}", "ambiguous");
        check("{\"a\":\r[{\"method\":\"fs/x\"}]\r}", "ambiguous");
        check("{\"a\":\r{\"Method\":\"fs/x\"}\r}", "ambiguous");
        check("{\"a\":\r{\"method\":\"b\"}\r}", "passes");
        check("{\"a\":\r[]\r,\"b\":\r[{\"method\":1}]\r}", "passes");
        check("{\"method\":\"fs/x\"}\r\n", "files");
        // These concern no file, and are the peers' business.
        check(r#"{"method":"a","method":"b"}"#, "passes");
        check(r#"{"method":"a","ID":1}"#, "passes");
        check(r#"{"id":1,"id":2,"result":{}}"#, "passes");
        check(r#"{"id":1,"result":{},"Params":1}"#, "passes");
        check(r#"{"id":1,"result":{},"Method":"a"}"#, "passes");
    }

    #[test]
    fn lines_that_are_no_frames() {
        let kind = |line: &[u8]| match Line::parse(line) {
            Line::Blank => "blank",
            Line::Frame(_) => "frame",
            Line::List => "list",
            Line::Noise => "noise",
            Line::Broken(_) => "broken",
        };
        assert_eq!(kind(b" \r\n"), "blank");
        assert_eq!(kind(b"{}\n"), "frame");
        assert_eq!(kind(b"[{\"method\":\"fs/x\"}]"), "list");
        assert_eq!(kind(b"[info] starting"), "noise");
        assert_eq!(kind(b"Loading...\n"), "noise");
        assert_eq!(kind(b"\"text\""), "noise");
        assert_eq!(kind(b"\xff\xfe"), "noise");
        assert_eq!(kind(b"{\"a\":\"\xff\"}"), "broken");
        assert_eq!(kind(b"{\"a\":"), "broken");
        assert_eq!(kind(b"{} {}"), "broken");
        assert_eq!(kind(br#"{"a":"\ud800"}"#), "frame");
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(kind(deep.as_bytes()), "frame");
    }

    #[test]
    fn ids_are_compared_by_what_they_are() {
        let key = |raw: &str| id_key(frame(&format!("{{\"id\":{raw}}}")).id.unwrap());
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key(r#""a""#), key(r#""\u0061""#));
        assert_ne!(key("1"), key(r#""1""#));
        assert_eq!(key("null"), "null");
        assert_ne!(key("1.5"), key("1"));
        assert_ne!(key("18446744073709551616"), key("18446744073709551617"));
    }
}
