//! Finding a request's id in a line that could not be read as a message.

use serde_json::Value;

/// Bytes of an id that are looked at.
const MAX_ID_BYTES: usize = 1024;

/// Looks for the `id` of the outermost object in bytes that arrive in pieces.
///
/// What it finds is right for JSON, whatever its length, and as good as can be for what is none.
#[derive(Debug, Default)]
pub(crate) struct RequestIdFinder {
    depth: usize,
    reading: Reading,
    place: Place,
    /// The last string or number of the outermost object.
    token: Vec<u8>,
    found: Option<Value>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Reading {
    #[default]
    Plain,
    Text,
    Escape,
}

/// A place in the outermost object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Name,
    /// Before the colon after the name `id`.
    IdName,
    Value,
    Id,
}

impl RequestIdFinder {
    /// Returns the id that `line` seems to have.
    pub(crate) fn find(line: &[u8]) -> Option<Value> {
        let mut finder = Self::default();
        finder.feed(line);
        finder.finish()
    }

    /// Looks at the next piece.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match self.reading {
                Reading::Plain => self.feed_plain(*byte),
                Reading::Text | Reading::Escape => self.feed_text(*byte),
            }
        }
    }

    /// Returns the id, a string or a whole number, if there was one.
    pub(crate) fn finish(mut self) -> Option<Value> {
        self.end_number();
        self.found
    }

    fn feed_text(&mut self, byte: u8) {
        self.reading = match (self.reading, byte) {
            (Reading::Text, b'"') => {
                self.reading = Reading::Plain;
                return self.end_text();
            }
            (Reading::Text, b'\\') => Reading::Escape,
            _ => Reading::Text,
        };
        self.keep(byte);
    }

    fn feed_plain(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.reading = Reading::Text;
                self.token.clear();
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_number();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.place = match self.place {
                    Place::IdName => Place::Id,
                    _ => Place::Value,
                };
                self.token.clear();
            }
            b',' if self.depth == 1 => {
                self.end_number();
                self.place = Place::Name;
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_text(&mut self) {
        match self.place {
            _ if self.depth != 1 => {}
            Place::Name if self.token == b"id" => self.place = Place::IdName,
            Place::Id if self.found.is_none() => {
                let quoted = [b"\"", self.token.as_slice(), b"\""].concat();
                self.found = serde_json::from_slice(&quoted).ok();
            }
            _ => {}
        }
        self.token.clear();
    }

    fn end_number(&mut self) {
        if self.depth == 1 && self.place == Place::Id && self.found.is_none() {
            let number: Option<i64> = serde_json::from_slice(&self.token).ok();
            self.found = number.map(Value::from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(line: &str, expected: impl Into<Option<Value>>) {
        let expected = expected.into();
        assert_eq!(RequestIdFinder::find(line.as_bytes()), expected);
        let mut finder = RequestIdFinder::default();
        for byte in line.as_bytes() {
            finder.feed(&[*byte]);
        }
        assert_eq!(finder.finish(), expected, "byte by byte");
    }

    #[test]
    fn the_outermost_id_is_found_wherever_it_stands() {
        check(r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, Some(json!(7)));
        check(r#"{"params":{"id":1},"id" : "a\"b"}"#, Some(json!("a\"b")));
        check(r#"{"params":["id",{"id":3}],"id":-4}"#, Some(json!(-4)));
    }

    #[test]
    fn the_id_of_a_broken_line_is_found_as_far_as_it_can_be() {
        check(
            r#"{"id":12,"method":"tools/call","params":{"x":"#,
            Some(json!(12)),
        );
        check(r#"{"id":12"#, Some(json!(12)));
        check(r#"{"id":"unfinished"#, None);
    }

    #[test]
    fn what_is_no_id_is_not_taken_for_one() {
        check("not json", None);
        check(r#"{"a":"id","b":5}"#, None);
        check(r#"{"id":1.5}"#, None);
        check(r#"{"id":null}"#, None);
        check(r#"{"id":{"x":1}}"#, None);
        check("", None);
    }
}
