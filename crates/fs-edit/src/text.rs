//! Replacements by text: every edit is matched against the original.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::ControlFlow;

use fs_core::{Eol, Error, ErrorKind, Problem, Result};

use crate::chunks::Reading;
use crate::document::Document;
use crate::explain::{Budget, Extent, LargeMiss, Miss, explain, explain_large};
use crate::failure::{fail_on_any, gather};
use crate::haystack::{Form, Haystack};
use crate::request::{Edit, EolMode};
use crate::search::{After, MAX_PLACES, Matches, REPORTED, Search, Searches, Wanted};
use crate::splice::{Core, Writer};
use crate::tokens::tokens_of;

/// The most bytes of new text that one request may write, all places together.
const MAX_WRITTEN: u64 = 1024 * 1024 * 1024;

/// A place of an edit, as offsets of the haystack. Spans order by where they start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: usize,
    end: usize,
    edit: usize,
}

/// The text to replace, in the form of the haystack.
#[derive(Debug)]
struct Needle<'a> {
    edit: &'a Edit,
    bytes: Cow<'a, [u8]>,
    core: Core<'a>,
}

/// Writes `edits`, from place to place.
pub(crate) fn write(
    document: &Document<'_>,
    edits: &[Edit],
    eol: EolMode,
    budget: &Budget,
    writer: &mut Writer<'_>,
) -> Result<()> {
    fail_on_any(edits, |edit| {
        document.check_old(&edit.old)?;
        document.check_new(&edit.new)
    })?;
    let reading = Reading {
        decoded_as: document.decoded_as(),
        form: form_for(document, edits, eol),
    };
    let needles: Vec<_> = edits
        .iter()
        .map(|edit| Needle::new(edit, document, reading.form, eol))
        .collect();
    let body = document.body();
    let mut haystack = Haystack::new(body, 0..body.len(), reading);
    let found = find(&mut haystack, &needles, eol)?;
    let checked = needles.iter().zip(&found);
    let checked = checked.map(|(needle, matches)| needle.check(document, matches));
    gather(checked, |index, error| {
        let missed = Missed {
            haystack: &haystack,
            edits,
            index,
            eol,
        };
        match found.get(index) {
            Some(matches) => missed.told(error, matches, budget).unwrap_or_else(|it| it),
            None => error,
        }
    })?;
    let places: Vec<_> = found.into_iter().map(|matches| matches.starts).collect();
    let spans = disjoint_spans(&needles, &places)?;
    drop(places);
    write_cores(&haystack, &needles, &spans, writer)
}

/// Finds all needles in one pass.
fn find(
    haystack: &mut Haystack<'_, '_>,
    needles: &[Needle<'_>],
    eol: EolMode,
) -> Result<Vec<Matches>> {
    // A lone CR is a token of its own: it is not the first half of a CR LF.
    let whole_tokens = haystack.form() == Form::Collapsed || eol == EolMode::Exact;
    let searches = needles.iter().map(|needle| {
        let after = if whole_tokens || !needle.bytes.ends_with(b"\r") {
            After::Anything
        } else {
            After::NoLineFeed
        };
        Search::new(&needle.bytes, needle.wanted(), after)
    });
    let mut searches = Searches::new(searches.collect());
    let overlaps = needles.iter().map(|needle| Search::overlap(&needle.bytes));
    haystack.pass(overlaps.max().unwrap_or(0), |window| {
        searches.see(window);
        ControlFlow::Continue(())
    })?;
    Ok(searches.into_matches())
}

/// An edit that does not apply, and where it was looked for.
struct Missed<'m, 't, 'a> {
    haystack: &'m Haystack<'t, 'a>,
    edits: &'m [Edit],
    index: usize,
    eol: EolMode,
}

impl Missed<'_, '_, '_> {
    /// Returns the error with what takes another look to say.
    fn told(&self, error: Error, matches: &Matches, budget: &Budget) -> Result<Error> {
        let lines = || {
            let starts = matches.starts.get(..REPORTED).unwrap_or(&matches.starts);
            self.haystack.lines_of(starts)
        };
        let found = matches.count;
        let expected = self
            .edits
            .get(self.index)
            .map_or(0, |edit| edit.expected_count);
        Ok(match error.kind() {
            ErrorKind::NoMatch => self.explained(budget)?.into(),
            ErrorKind::CountMismatch => Problem::CountMismatch {
                found,
                expected: u64::try_from(expected).unwrap_or(0),
                lines: lines()?,
            }
            .into(),
            ErrorKind::OverlappingMatches => Problem::OverlappingMatches {
                found,
                lines: lines()?,
            }
            .into(),
            _ => error,
        })
    }

    fn explained(&self, budget: &Budget) -> Result<Problem> {
        let (edits, index, eol) = (self.edits, self.index, self.eol);
        if self.haystack.is_large() {
            let miss = LargeMiss {
                body: self.haystack.body(),
                reading: self.haystack.reading(),
                edits,
                index,
                eol,
            };
            // The passes over the file are no part of the explanation.
            return explain_large(&miss, &budget.again());
        }
        // What is not in memory is small here.
        let text = self.haystack.bytes()?;
        let miss = Miss {
            text: &text,
            form: self.haystack.form(),
            extent: Extent::All,
            edits,
            index,
            eol,
        };
        Ok(explain(&miss, budget))
    }
}

impl<'a> Needle<'a> {
    fn new(edit: &'a Edit, document: &Document<'_>, form: Form, eol: EolMode) -> Self {
        let tokens = tokens_of(&edit.old, eol);
        let mut core = Core::of(tokens.as_bytes(), &edit.new, eol);
        let spelled_crlf =
            form == Form::Raw && eol != EolMode::Exact && document.eol() == Eol::CrLf;
        let bytes = if spelled_crlf && tokens.contains('\n') {
            let breaks = |text: Option<&str>| text.map_or(0, |it| it.matches('\n').count());
            let (prefix, suffix) = (core.prefix, core.suffix);
            core.prefix += breaks(tokens.get(..prefix));
            core.suffix += breaks(tokens.get(tokens.len() - suffix..));
            Cow::Owned(tokens.replace('\n', "\r\n").into_bytes())
        } else {
            match tokens {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            }
        };
        Self { edit, bytes, core }
    }

    fn wanted(&self) -> Wanted {
        u64::try_from(self.edit.expected_count).map_or(Wanted::LeftToRight, Wanted::Exactly)
    }

    /// Checks that the edit applies as often as it is expected to; the error lacks what takes
    /// another look to say.
    fn check(&self, document: &Document<'_>, matches: &Matches) -> Result<()> {
        self.check_count(matches)?;
        self.check_size(matches)?;
        if matches.after_high {
            document.check_after_high(&self.edit.old)?;
        }
        Ok(())
    }

    fn check_count(&self, matches: &Matches) -> Result<()> {
        let (found, lines) = (matches.count, Vec::new());
        let problem = match self.wanted() {
            _ if found == 0 => Problem::no_match(),
            Wanted::Exactly(expected) if found != expected => Problem::CountMismatch {
                found,
                expected,
                lines,
            },
            Wanted::Exactly(_) if matches.overlap => Problem::OverlappingMatches { found, lines },
            _ => return Ok(()),
        };
        Err(problem.into())
    }

    fn check_size(&self, matches: &Matches) -> Result<()> {
        if matches.count > MAX_PLACES as u64 {
            let reason = format!("{} matches, the limit is {MAX_PLACES}", matches.count);
            return Err(Problem::invalid("expected_count", reason).into());
        }
        let size = matches.count.saturating_mul(self.core.new_len() as u64);
        if size > MAX_WRITTEN {
            let problem = Problem::TooLarge {
                size,
                limit: MAX_WRITTEN,
                hint: "replace fewer matches in one call",
            };
            return Err(problem.into());
        }
        Ok(())
    }
}

/// Chooses the form in which all edits are searched: a copy without the CR of each CR LF is made
/// only where breaks are mixed and a needle holds one.
fn form_for(document: &Document<'_>, edits: &[Edit], eol: EolMode) -> Form {
    let mixed = document.eol() == Eol::Mixed && eol != EolMode::Exact;
    if mixed && edits.iter().any(|edit| edit.old.contains('\n')) {
        Form::Collapsed
    } else {
        Form::Raw
    }
}

/// Returns the spans of all edits, ascending.
fn disjoint_spans(needles: &[Needle<'_>], places: &[Vec<usize>]) -> Result<Vec<Span>> {
    let total: usize = places.iter().map(Vec::len).sum();
    if total > MAX_PLACES {
        let reason = format!("{total} matches of all edits, the limit is {MAX_PLACES}");
        return Err(Problem::invalid("edits", reason).into());
    }
    let mut spans = Vec::with_capacity(total);
    for (edit, (needle, starts)) in needles.iter().zip(places).enumerate() {
        spans.extend(starts.iter().map(|start| Span {
            start: *start,
            end: start + needle.bytes.len(),
            edit,
        }));
    }
    spans.sort_unstable();
    match first_overlap(&spans) {
        Some((first, second)) => Err(Problem::OverlappingEdits { first, second }.into()),
        None => Ok(spans),
    }
}

/// Returns the lowest pair of edits that want the same text, so that the answer depends on the
/// edits alone and not on where they apply.
fn first_overlap(spans: &[Span]) -> Option<(usize, usize)> {
    let mut open = BTreeSet::new();
    let mut ends = BinaryHeap::new();
    let mut lowest = None;
    for span in spans {
        while let Some(Reverse((end, edit))) = ends.peek().copied() {
            if end > span.start {
                break;
            }
            ends.pop();
            open.remove(&edit);
        }
        if let Some(other) = open.first().copied() {
            let pair = (span.edit.min(other), span.edit.max(other));
            lowest = Some(lowest.map_or(pair, |least: (usize, usize)| least.min(pair)));
        }
        open.insert(span.edit);
        ends.push(Reverse((span.end, span.edit)));
    }
    lowest
}

/// Writes each span: only the part where old and new differ.
fn write_cores(
    haystack: &Haystack<'_, '_>,
    needles: &[Needle<'_>],
    spans: &[Span],
    writer: &mut Writer<'_>,
) -> Result<()> {
    let core = |span: &Span| Some((span.edit, &needles.get(span.edit)?.core));
    let edges = |span: &Span| {
        let (_, core) = core(span)?;
        Some([span.start + core.prefix, span.end - core.suffix])
    };
    let mut cores = spans.iter().filter_map(core);
    let mut start = None;
    let offsets = spans.iter().filter_map(edges).flatten();
    haystack.to_text(offsets, &mut |at| match start.take() {
        None => {
            start = Some(at);
            Ok(())
        }
        Some(start) => match cores.next() {
            Some((edit, core)) => writer.write(core, edit, start..at),
            None => Ok(()),
        },
    })
}
