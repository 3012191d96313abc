//! Lines of bytes, none longer than a limit.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use crate::request_id::RequestIdFinder;

/// The longest line that is read, in bytes: a file of 16 MiB fits, however it is escaped.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;
/// What is read at once, in bytes: what a pipe holds.
const BUFFER_BYTES: usize = 64 * 1024;

/// Lines of a reader.
///
/// A call of [`Lines::next`] that is dropped before it ends loses nothing.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Set while the rest of a line that is too long passes by.
    too_long: Option<RequestIdFinder>,
    limit: usize,
}

/// A line, or what came instead.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    /// A line without its break; the last one may lack it.
    Whole(Vec<u8>),
    /// A line of more than `limit` bytes, and the request's id that stood in it.
    TooLong {
        /// The id.
        id: Option<Value>,
        /// The limit in bytes.
        limit: usize,
    },
    /// The end of the input; a reader that fails has ended.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Returns the lines of `reader`.
    pub(crate) fn new(reader: R) -> Self {
        Self::with_limit(reader, MAX_LINE_BYTES)
    }

    fn with_limit(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            line: Vec::new(),
            too_long: None,
            limit,
        }
    }

    /// Returns the next line.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let Ok(available) = self.reader.fill_buf().await else {
                return Line::End;
            };
            if available.is_empty() {
                return self.last();
            }
            let end = memchr::memchr(b'\n', available);
            let piece = available.get(..end.unwrap_or(available.len()));
            let piece = piece.unwrap_or_default();
            // From here to `consume` nothing waits, so no byte is taken twice or lost.
            match &mut self.too_long {
                Some(finder) => finder.feed(piece),
                None if self.line.len() + piece.len() > self.limit => {
                    let mut finder = RequestIdFinder::default();
                    finder.feed(&self.line);
                    finder.feed(piece);
                    self.line = Vec::new();
                    self.too_long = Some(finder);
                }
                None => self.line.extend_from_slice(piece),
            }
            let taken = piece.len() + usize::from(end.is_some());
            self.reader.consume(taken);
            if end.is_some() {
                return self.take();
            }
        }
    }

    fn last(&mut self) -> Line {
        if self.line.is_empty() && self.too_long.is_none() {
            Line::End
        } else {
            self.take()
        }
    }

    fn take(&mut self) -> Line {
        match self.too_long.take() {
            Some(finder) => Line::TooLong {
                id: finder.finish(),
                limit: self.limit,
            },
            None => Line::Whole(std::mem::take(&mut self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(input: &str, expected: &[Line]) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let lines = runtime.unwrap().block_on(async {
            let mut lines = Lines::with_limit(input.as_bytes(), 20);
            let mut all = Vec::new();
            loop {
                match lines.next().await {
                    Line::End => return all,
                    line => all.push(line),
                }
            }
        });
        assert_eq!(lines, expected);
    }

    fn whole(line: &str) -> Line {
        Line::Whole(line.into())
    }

    #[test]
    fn a_last_line_needs_no_break() {
        check("a\n\nb", &[whole("a"), whole(""), whole("b")]);
        check("", &[]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_by_its_id_and_the_next_one_is_read() {
        let too_long = |id| Line::TooLong { id, limit: 20 };
        check(
            "{\"x\":\"aaaaaaaaaaaa\",\"id\":9}\nnext\n",
            &[too_long(Some(json!(9))), whole("next")],
        );
        check("aaaaaaaaaaaaaaaaaaaaaaaaa", &[too_long(None)]);
        check("aaaaaaaaaaaaaaaaaaaa\n", &[whole("aaaaaaaaaaaaaaaaaaaa")]);
    }
}
