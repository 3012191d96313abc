//! A matcher that can be stopped: expressions take time in proportion to the text, but some take a
//! thousand times as much as others.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::RegexMatcher;
use rustix::time::{ClockId, clock_gettime};

use super::body::Watch;
use super::compile::{ByLine, TextPattern};
use super::sink::without_break;

/// How much text is matched at once, in whole lines: by a literal, and by an expression, of which the
/// slowest take 20 microseconds a byte.
const FAST_BYTES: usize = 64 * 1024;
const PIECE_BYTES: usize = 4 * 1024;
/// A longer line is matched only if that can be expected to take less than this.
const MAX_TIME: Duration = Duration::from_secs(1);

/// A matcher that stops when the search is over, and refuses lines that would keep it too long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched<'a> {
    matcher: &'a RegexMatcher,
    /// Matches single lines.
    line: &'a RegexMatcher,
    by_line: ByLine,
    watch: &'a Watch,
    speed: Speed,
    /// Whether what is found may end in the CR of a break, which is no part of the line.
    may_end_in_break: bool,
}

/// Whether every text is matched fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speed {
    Fast,
    Unknown,
}

/// Why a match was not looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

impl<'a> Watched<'a> {
    /// Returns the matcher of lines.
    pub(super) fn new(pattern: &'a TextPattern, watch: &'a Watch) -> Self {
        Self {
            matcher: &pattern.matcher,
            line: pattern.of_lines(),
            by_line: pattern.by_line,
            watch,
            speed: pattern.speed,
            may_end_in_break: pattern.may_end_in_break,
        }
    }

    /// Returns the matcher of what may hold a match: it is fast, and looks at no line.
    pub(super) fn of_candidates(matcher: &'a RegexMatcher, watch: &'a Watch) -> Self {
        Self {
            matcher,
            line: matcher,
            by_line: ByLine::Never,
            watch,
            speed: Speed::Fast,
            may_end_in_break: false,
        }
    }

    fn goes_by_line(&self, lines: &[u8]) -> bool {
        match self.by_line {
            ByLine::Never => false,
            ByLine::WhereCrIsData => has_data_cr(lines),
            ByLine::Always => true,
        }
    }

    /// Returns where the first line begins that matches without its break.
    fn find_line(&self, text: &[u8]) -> Result<Option<usize>, Stopped> {
        let mut start = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let bare = without_break(line);
            self.probe(bare)?;
            if self.line.is_match(bare)? {
                return Ok(Some(start));
            }
            start += line.len();
        }
        Ok(None)
    }

    /// Returns whether a line has a match when its break is left out.
    fn is_in_line(&self, text: &[u8], line: &Range<usize>) -> Result<bool, Stopped> {
        let line = text.get(line.clone()).unwrap_or_default();
        Ok(self.matcher.is_match(without_break(line))?)
    }

    fn check(&self) -> Result<(), Stopped> {
        if self.watch.is_over() {
            return Err(Stopped);
        }
        Ok(())
    }

    /// Finds out whether a line can be matched in a while, by its head, twice as long each time: what
    /// has begun to match cannot be stopped.
    fn probe(&self, line: &[u8]) -> Result<(), Stopped> {
        let mut len = PIECE_BYTES;
        while let Some(head) = line.get(..len).filter(|_| self.speed == Speed::Unknown) {
            self.check()?;
            let start = thread_time();
            if matches!(self.matcher.is_match(head), Ok(true)) {
                break;
            }
            let spent = thread_time().saturating_sub(start);
            let times = u32::try_from(line.len().div_ceil(len)).unwrap_or(u32::MAX);
            if spent.saturating_mul(times) > MAX_TIME {
                return Err(Stopped);
            }
            len *= 2;
        }
        Ok(())
    }
}

impl Matcher for Watched<'_> {
    type Captures = NoCaptures;
    type Error = Stopped;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, Stopped> {
        self.check()?;
        self.probe(haystack)?;
        Ok(self.matcher.find_at(haystack, at)?)
    }

    fn new_captures(&self) -> Result<NoCaptures, Stopped> {
        Ok(NoCaptures::new())
    }

    /// Looks into a line; its break is left out, which a searcher does only for one kind.
    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, Stopped> {
        self.check()?;
        let line = without_break(haystack);
        self.probe(line)?;
        Ok(self.matcher.shortest_match_at(line, at.min(line.len()))?)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    /// Looks into one piece after another. A match lies within a line, so none is lost.
    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, Stopped> {
        let mut start = 0;
        while let Some(rest) = haystack.get(start..).filter(|rest| !rest.is_empty()) {
            self.check()?;
            let end = piece_end(rest, self.speed);
            let piece = rest.get(..end).unwrap_or(rest);
            // The last break is not part of the text, or an empty line would seem to follow it.
            let text = without_break(piece);
            if self.goes_by_line(piece) {
                match self.find_line(piece)? {
                    Some(at) => return Ok(Some(LineMatchKind::Confirmed(start + at))),
                    None => start += end,
                }
                continue;
            }
            self.probe(text)?;
            let Some(found) = self.matcher.find_candidate_line(text)? else {
                start += end;
                continue;
            };
            match found {
                LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at)
                    if self.may_end_in_break =>
                {
                    let line = line_around(haystack, start + at);
                    if self.is_in_line(haystack, &line)? {
                        return Ok(Some(LineMatchKind::Confirmed(line.start)));
                    }
                    start = line.end;
                }
                LineMatchKind::Confirmed(at) => {
                    return Ok(Some(LineMatchKind::Confirmed(start + at)));
                }
                LineMatchKind::Candidate(at) => {
                    return Ok(Some(LineMatchKind::Candidate(start + at)));
                }
            }
        }
        Ok(None)
    }
}

/// Returns whether a carriage return in whole lines is no part of a break.
fn has_data_cr(lines: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', lines).any(|at| lines.get(at + 1) != Some(&b'\n'))
}

/// Returns where the line lies in which a match ends.
fn line_around(text: &[u8], match_end: usize) -> Range<usize> {
    let last = match_end.saturating_sub(1);
    let (head, rest) = text.split_at_checked(last).unwrap_or((text, &[]));
    let start = memchr::memrchr(b'\n', head).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', rest).map_or(text.len(), |at| last + at + 1);
    start..end
}

/// Returns the length of the first whole lines that make a piece, or of the first line if it is
/// longer than one.
fn piece_end(text: &[u8], speed: Speed) -> usize {
    let len = match speed {
        Speed::Fast => FAST_BYTES,
        Speed::Unknown => PIECE_BYTES,
    };
    let Some((head, rest)) = text.split_at_checked(len) else {
        return text.len();
    };
    let within = memchr::memrchr(b'\n', head).map(|at| at + 1);
    let behind = || memchr::memchr(b'\n', rest).map_or(text.len(), |at| len + at + 1);
    within.unwrap_or_else(behind)
}

/// Returns how long this thread has worked: what else the machine does must not count.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(now.tv_nsec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

impl From<NoError> for Stopped {
    fn from(_: NoError) -> Self {
        Self
    }
}

impl std::error::Error for Stopped {}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the search was stopped")
    }
}
