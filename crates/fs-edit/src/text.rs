//! Replacements by text: every edit is matched against the original.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use fs_core::{Eol, ErrorKind, Problem, Result};

use crate::document::Document;
use crate::explain::{Budget, Miss, explain};
use crate::failure::{fail_on_any, gather};
use crate::haystack::{Form, Haystack};
use crate::request::{Edit, EolMode};
use crate::search::{MAX_PLACES, Matches, REPORTED, Wanted, find};
use crate::splice::{Core, Splice, Writer};
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

/// Returns the splices of `edits`, ascending.
pub(crate) fn splices(
    document: &Document<'_>,
    edits: &[Edit],
    eol: EolMode,
    budget: &Budget,
) -> Result<Vec<Splice>> {
    fail_on_any(edits, |edit| {
        document.check_old(&edit.old)?;
        document.check_new(&edit.new)
    })?;
    let form = form_for(document, edits, eol);
    let haystack = Haystack::new(document.text(), document.decoded_as(), form)?;
    let needles: Vec<_> = edits
        .iter()
        .map(|edit| Needle::new(edit, document, form, eol))
        .collect();
    let places = needles.iter().map(|it| it.places(document, &haystack, eol));
    let places = gather(places, |index, error| {
        if error.kind() != ErrorKind::NoMatch {
            return error;
        }
        let miss = Miss {
            text: haystack.bytes(),
            edits,
            index,
            eol,
        };
        explain(&miss, budget).into()
    })?;
    let spans = disjoint_spans(&needles, &places)?;
    cores(document, &haystack, &needles, &spans, eol)
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

    /// Returns where the edit applies: as often as it is expected to.
    fn places(
        &self,
        document: &Document<'_>,
        haystack: &Haystack<'_>,
        eol: EolMode,
    ) -> Result<Vec<usize>> {
        let bytes = haystack.bytes();
        // A lone CR is a token of its own: it is not the first half of a CR LF.
        let whole_tokens = haystack.form() == Form::Collapsed
            || eol == EolMode::Exact
            || !self.bytes.ends_with(b"\r");
        let matches = find(bytes, &self.bytes, self.wanted(), |start| {
            whole_tokens || bytes.get(start + self.bytes.len()) != Some(&b'\n')
        });
        self.check_count(&matches, haystack)?;
        self.check_size(&matches)?;
        let after_lead_byte =
            |start: &usize| start.checked_sub(1).and_then(|at| bytes.get(at)) >= Some(&0x80);
        if document.is_opaque() && matches.starts.iter().any(after_lead_byte) {
            return Err(Problem::EncodingUnknown.into());
        }
        Ok(matches.starts)
    }

    fn check_count(&self, matches: &Matches, haystack: &Haystack<'_>) -> Result<()> {
        let found = matches.count;
        let problem = match self.wanted() {
            _ if found == 0 => Problem::no_match(),
            Wanted::Exactly(expected) if found != expected => Problem::CountMismatch {
                found,
                expected,
                lines: lines_of(matches, haystack),
            },
            Wanted::Exactly(_) if matches.overlap => Problem::OverlappingMatches {
                found,
                lines: lines_of(matches, haystack),
            },
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

fn lines_of(matches: &Matches, haystack: &Haystack<'_>) -> Vec<u64> {
    let starts = matches.starts.iter().take(REPORTED);
    starts.map(|start| haystack.line_of(*start)).collect()
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

/// Returns what is written in each span: only the part where old and new differ.
fn cores(
    document: &Document<'_>,
    haystack: &Haystack<'_>,
    needles: &[Needle<'_>],
    spans: &[Span],
    eol: EolMode,
) -> Result<Vec<Splice>> {
    let places: Vec<_> = spans
        .iter()
        .filter_map(|span| needles.get(span.edit).map(|needle| (span, &needle.core)))
        .collect();
    let edges =
        |(span, core): &(&Span, &Core<'_>)| [span.start + core.prefix, span.end - core.suffix];
    let offsets: Vec<usize> = places.iter().flat_map(edges).collect();
    let offsets = haystack.to_text(&offsets)?;
    let ranges = offsets.chunks_exact(2).filter_map(|pair| match pair {
        [start, end] => Some(Range {
            start: *start,
            end: *end,
        }),
        _ => None,
    });
    let mut writer = Writer::new(document, eol);
    let pairs = places.iter().zip(ranges);
    let splices = pairs.map(|((_, core), range)| writer.splice(core, range));
    Ok(splices.collect())
}
