//! Lines put together to a window under its caps, from pieces of decoded text.

use super::{CutLine, Next, ReadOptions};
use crate::error::Result;
use crate::newline::{Before, Breaks, Unit};
use crate::problem::Problem;

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// By the end of the text.
    End,
    Lf,
    CrLf,
}

/// The window so far. Lines are counted from 0, the window's first.
#[derive(Debug)]
pub(crate) struct Cutter {
    max_bytes: usize,
    max_line_chars: usize,
    max_lines: u64,
    /// The column of the first line to begin at, counted from 1.
    first_column: u64,
    text: String,
    lines: u64,
    replaced: u64,
    breaks: Breaks,
    cut_lines: Vec<CutLine>,
    /// The break of a cut line, which is shown only with a line after it.
    withheld: Break,
    line: Line,
    stop: Option<Stop>,
}

/// The line that is being put together.
#[derive(Debug, Default)]
struct Line {
    /// Where in the text it begins; `None` before the first of it has come.
    start: Option<usize>,
    /// The length of the text, and the characters replaced, as they were before the line.
    before: (usize, u64),
    /// How many characters are still to be skipped.
    skip: u64,
    full: Option<Cap>,
}

/// The cap that a line reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cap {
    Chars,
    Bytes,
}

/// Why the window ended before the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// All lines that were wanted are there.
    Lines,
    /// The next piece did not fit; where to go on.
    Bytes(Next),
}

/// A finished window's parts; lines are counted from 0.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) text: String,
    pub(crate) lines: u64,
    pub(crate) replaced: u64,
    pub(crate) breaks: Breaks,
    pub(crate) cut_lines: Vec<CutLine>,
    /// Where the byte cap made it stop.
    pub(crate) next: Option<Next>,
}

impl Break {
    fn text(self) -> &'static str {
        match self {
            Self::End => "",
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

impl Cutter {
    pub(crate) fn new(options: &ReadOptions, column: u64, limit: Option<u64>) -> Self {
        let cap = |cap: Option<u64>| cap.map_or(usize::MAX, saturated);
        Self {
            max_bytes: cap(options.max_bytes),
            max_line_chars: cap(options.max_line_chars).max(1),
            max_lines: limit.unwrap_or(u64::MAX),
            first_column: column,
            text: String::new(),
            lines: 0,
            replaced: 0,
            breaks: Breaks::default(),
            cut_lines: Vec::new(),
            withheld: Break::End,
            line: Line {
                skip: column - 1,
                ..Line::default()
            },
            stop: (limit == Some(0)).then_some(Stop::Lines),
        }
    }

    /// Returns whether no further line is wanted.
    pub(crate) fn is_done(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns whether the rest of the line is not wanted, only where it ends.
    pub(crate) fn is_full(&self) -> bool {
        self.line.full.is_some()
    }

    /// Puts on as many whole lines of `text` as fit without a cut, and returns their length in
    /// bytes; 0 when a line has been begun. What is left is for [`Self::push`].
    pub(crate) fn push_lines(&mut self, text: &str) -> usize {
        if self.line.start.is_some() || self.line.skip > 0 || self.is_done() {
            return 0;
        }
        let room = self.room().saturating_sub(self.withheld.text().len());
        let wanted = self.max_lines - self.lines;
        let (mut end, mut lines) = (0, 0);
        for feed in memchr::memchr_iter(b'\n', text.as_bytes()) {
            if lines == wanted || feed - end > self.max_line_chars || feed >= room {
                break;
            }
            end = feed + 1;
            lines += 1;
        }
        if lines > 0 {
            let text = text.get(..end).unwrap_or_default();
            self.text.push_str(self.withheld.text());
            self.text.push_str(text);
            self.withheld = Break::End;
            self.breaks = self.breaks + Unit::Byte.breaks(text.as_bytes(), Before::Other);
            self.add_lines(lines);
        }
        end
    }

    /// Puts on a piece of the line, without its break.
    pub(crate) fn push(&mut self, piece: &str) {
        if self.is_full() || self.is_done() {
            return;
        }
        self.begin_line();
        let piece = self.line.skipped(piece);
        let shown = self.within_chars(piece);
        if shown.len() < piece.len() {
            self.line.full = Some(Cap::Chars);
        }
        if shown.len() <= self.room() {
            self.text.push_str(shown);
        } else if self.lines == 0 {
            let least = usize::from(self.line_text().is_empty());
            self.text.push_str(head(shown, self.room(), least));
            self.line.full = Some(Cap::Bytes);
        } else {
            self.take_back();
        }
    }

    /// Puts on a U+FFFD for bytes that are no character.
    pub(crate) fn push_replacement(&mut self) {
        let len = self.text.len();
        self.push("\u{FFFD}");
        self.replaced += u64::from(self.text.len() > len);
    }

    /// Ends the line, which has `line_bytes` bytes in the file.
    ///
    /// # Errors
    /// `out_of_range` when the first line is shorter than the column that was asked for.
    pub(crate) fn end_line(&mut self, end: Break, line_bytes: u64) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        self.begin_line();
        if self.line.skip > 0 {
            return Err(self.past_line_end());
        }
        let fits = end.text().len() <= self.room();
        match self.line.full {
            None if end == Break::End && self.column() > 1 && self.line_text().is_empty() => {
                return Ok(());
            }
            None if fits || (self.lines == 0 && self.line_text().is_empty()) => {
                self.text.push_str(end.text());
            }
            None if self.lines == 0 => self.cut_line(Cap::Bytes, line_bytes),
            None => {
                self.take_back();
                return Ok(());
            }
            Some(cap) => self.cut_line(cap, line_bytes),
        }
        self.count_line(end);
        Ok(())
    }

    pub(crate) fn finish(self) -> Finished {
        Finished {
            text: self.text,
            lines: self.lines,
            replaced: self.replaced,
            breaks: self.breaks,
            cut_lines: self.cut_lines,
            next: match self.stop {
                Some(Stop::Bytes(next)) => Some(next),
                Some(Stop::Lines) | None => None,
            },
        }
    }

    fn count_line(&mut self, end: Break) {
        self.breaks.feeds += u64::from(end != Break::End);
        self.breaks.with_return += u64::from(end == Break::CrLf);
        self.withheld = if self.is_full() { end } else { Break::End };
        self.add_lines(1);
        self.line = Line::default();
    }

    fn add_lines(&mut self, lines: u64) {
        self.lines += lines;
        if self.lines >= self.max_lines {
            self.stop.get_or_insert(Stop::Lines);
        }
    }

    /// Shows the break that was withheld: a line comes after it.
    fn begin_line(&mut self) {
        if self.line.start.is_none() {
            self.line.before = (self.text.len(), self.replaced);
            self.text.push_str(self.withheld.text());
            self.line.start = Some(self.text.len());
        }
    }

    fn cut_line(&mut self, cap: Cap, line_bytes: u64) {
        let shown_chars = bytecount::num_chars(self.line_text().as_bytes()) as u64;
        let next_column = self.column() + shown_chars;
        self.cut_lines.push(CutLine {
            line: self.lines,
            shown_chars,
            line_bytes,
            next_column,
        });
        if cap == Cap::Bytes {
            self.stop = Some(Stop::Bytes(Next {
                line: self.lines,
                column: next_column,
            }));
        }
    }

    /// Leaves out the line, for which there is no room.
    fn take_back(&mut self) {
        let (len, replaced) = self.line.before;
        self.text.truncate(len);
        self.replaced = replaced;
        self.stop = Some(Stop::Bytes(Next {
            line: self.lines,
            column: 1,
        }));
    }

    /// Returns the column of the first character shown of the line.
    fn column(&self) -> u64 {
        if self.lines == 0 {
            self.first_column
        } else {
            1
        }
    }

    fn line_text(&self) -> &str {
        let start = self.line.start.unwrap_or(self.text.len());
        self.text.get(start..).unwrap_or_default()
    }

    fn room(&self) -> usize {
        self.max_bytes.saturating_sub(self.text.len())
    }

    /// Returns the head of `piece` that the line has room for in characters.
    fn within_chars<'p>(&self, piece: &'p str) -> &'p str {
        let bytes = self.line_text().len();
        if bytes.saturating_add(piece.len()) <= self.max_line_chars {
            return piece;
        }
        let shown = bytecount::num_chars(self.line_text().as_bytes());
        let (head, _) = split_chars(piece, self.max_line_chars.saturating_sub(shown));
        head
    }

    fn past_line_end(&self) -> crate::Error {
        let last = self.first_column - self.line.skip;
        Problem::OutOfRange {
            what: "column",
            value: self.first_column,
            last,
            bound: format!("the line has {} characters", last - 1),
        }
        .into()
    }
}

impl Line {
    /// Returns `piece` without the characters that are to be skipped.
    fn skipped<'p>(&mut self, piece: &'p str) -> &'p str {
        if self.skip == 0 {
            return piece;
        }
        let (head, rest) = split_chars(piece, saturated(self.skip));
        self.skip -= bytecount::num_chars(head.as_bytes()) as u64;
        rest
    }
}

/// Splits `text` after `count` characters, or at its end.
fn split_chars(text: &str, count: usize) -> (&str, &str) {
    if bytecount::num_chars(text.as_bytes()) <= count {
        return (text, "");
    }
    let at = text.char_indices().nth(count);
    text.split_at(at.map_or(text.len(), |(at, _)| at))
}

/// Returns the longest head of `text` of at most `room` bytes, but at least `least` characters.
fn head(text: &str, room: usize, least: usize) -> &str {
    let mut end = room.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (shortest, _) = split_chars(text.get(..4.min(text.len())).unwrap_or(text), least);
    text.get(..end.max(shortest.len())).unwrap_or(text)
}

fn saturated(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
