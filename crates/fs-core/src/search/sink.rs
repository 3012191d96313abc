//! From the lines that match to blocks of text.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::compile::TextPattern;
use super::{FoundLine, Query};
use crate::path::RelPath;

/// What each line takes of an answer besides its text and the file's path.
const LINE_BYTES: usize = 16;

/// Consecutive lines.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) first_line: u64,
    pub(super) lines: Vec<FoundLine>,
}

/// The lines that were found in a file, and how many of them match.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) list: Vec<Run>,
    pub(super) hits: usize,
    bytes: usize,
}

/// What a line takes of an answer, which names the file in each.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineCost(usize);

/// Takes lines until there are more than the whole answer may hold.
pub(super) struct Taker<'a> {
    query: &'a Query,
    found: &'a mut Runs,
    cost: LineCost,
    last_hit: u64,
    /// The last line that is wanted, once there are hits enough.
    end: Option<u64>,
}

/// Takes the lines that a searcher finds.
pub(super) struct LineSink<'a> {
    taker: Taker<'a>,
    pattern: &'a TextPattern,
}

impl LineCost {
    pub(super) fn of(path: &RelPath) -> Self {
        Self(path.to_string().len() + LINE_BYTES)
    }

    /// Returns how many bytes the line takes.
    pub(super) fn of_line(self, line: &FoundLine) -> usize {
        self.0 + line.text.len()
    }
}

impl<'a> Taker<'a> {
    pub(super) fn new(query: &'a Query, path: &RelPath, found: &'a mut Runs) -> Self {
        Self {
            query,
            found,
            cost: LineCost::of(path),
            last_hit: 0,
            end: None,
        }
    }

    /// Takes a line, and returns whether more are wanted.
    pub(super) fn take(&mut self, number: u64, line: FoundLine) -> bool {
        if self.end.is_some_and(|end| number > end) {
            return false;
        }
        if line.column.is_some() && self.end.is_none() {
            self.found.hits += 1;
            if self.found.hits > self.query.max_results {
                // One more than wanted shows that there are more; what follows the last that is
                // wanted goes with it.
                let context = self.query.context_lines as u64;
                self.end = Some((self.last_hit + context).max(number));
            }
            self.last_hit = number;
        }
        self.found.bytes += self.cost.of_line(&line);
        self.found.push(number, line);
        let is_full = self.found.hits > 1 && self.found.bytes > self.query.max_bytes;
        !is_full && self.end.is_none_or(|end| number < end)
    }
}

impl<'a> LineSink<'a> {
    pub(super) fn new(taker: Taker<'a>, pattern: &'a TextPattern) -> Self {
        Self { taker, pattern }
    }

    fn max_chars(&self) -> usize {
        self.taker.query.max_line_chars
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = without_break(found.bytes());
        let place = self.pattern.of_lines().find(line).ok().flatten();
        let place = place.map_or(0..0, |place| place.start()..place.end());
        let line = shown(line, Some(place), self.max_chars());
        let number = found.line_number().unwrap_or_default();
        Ok(self.taker.take(number, line))
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let line = without_break(found.bytes());
        let line = shown(line, None, self.max_chars());
        let number = found.line_number().unwrap_or_default();
        Ok(self.taker.take(number, line))
    }
}

impl Runs {
    fn push(&mut self, number: u64, line: FoundLine) {
        match self.list.last_mut() {
            Some(run) if run.first_line + run.lines.len() as u64 == number => run.lines.push(line),
            _ => self.list.push(Run {
                first_line: number,
                lines: vec![line],
            }),
        }
    }
}

/// Returns a line without LF or CR LF.
pub(super) fn without_break(line: &[u8]) -> &[u8] {
    let Some(line) = line.strip_suffix(b"\n") else {
        return line;
    };
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns a line as it is shown: whole, or `max_chars` of it around the match.
pub(super) fn shown(
    line: &[u8],
    found: Option<std::ops::Range<usize>>,
    max_chars: usize,
) -> FoundLine {
    let text = String::from_utf8_lossy(line);
    let chars_of = |range: &[u8]| String::from_utf8_lossy(range).chars().count();
    let before = found
        .as_ref()
        .map(|found| chars_of(line.get(..found.start).unwrap_or_default()));
    let column = before.map(|before| before as u64 + 1);
    if text.len() <= max_chars || text.chars().count() <= max_chars {
        return FoundLine {
            text: text.into_owned(),
            column,
            first_column: 1,
            is_cut: false,
            defines: None,
        };
    }
    let first = first_shown(
        &text,
        before,
        found.map_or(0, |found| chars_of(line.get(found).unwrap_or_default())),
        max_chars,
    );
    FoundLine {
        text: text.chars().skip(first).take(max_chars).collect(),
        column,
        first_column: first as u64 + 1,
        is_cut: true,
        defines: None,
    }
}

/// Returns how many characters of a long line are left out before what is shown: the match, with as
/// much before it as after it.
fn first_shown(text: &str, before: Option<usize>, len: usize, max_chars: usize) -> usize {
    let room = max_chars.saturating_sub(len) / 2;
    let last = text.chars().count().saturating_sub(max_chars);
    before.map_or(0, |before| before.saturating_sub(room).min(last))
}
