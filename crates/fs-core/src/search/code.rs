//! Searching definitions: the files that hold the name are read, and asked where they define it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use cap_std::fs::Dir;

use super::body::{Body, Watch};
use super::compile::TextPattern;
use super::look::{Look, skip_of};
use super::run::{self, Examine, Examined, Subject};
use super::sink::{Runs, Taker, shown, without_break};
use super::{Case, Found, Query, Syntax};
use crate::definition::{Definition, definitions, may_define};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::lock::lock;
use crate::path::RelPath;
use crate::problem::Problem;
use crate::skip::Skip;
use crate::walk::Sight;

/// A larger file that holds the name is no source that somebody wrote.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Of larger texts one is looked at at a time.
const HEAVY_BYTES: usize = 32 * 1024;

/// Searches the files below `start`.
pub(super) fn search(
    root: &Dir,
    start: &RelPath,
    query: &Query,
    sight: &dyn Sight,
) -> Result<Found> {
    if query.pattern.contains(char::is_whitespace) {
        return Err(Problem::invalid("query", "a blank in it, but a name has none").into());
    }
    let pattern = TextPattern::new(&Query {
        syntax: Syntax::Literal,
        case: Some(Case::Sensitive),
        ..query.clone()
    })?;
    let watch = Watch::new(query);
    let heavy = Mutex::new(());
    let job = run::Job {
        query,
        sight,
        watch: &watch,
        wants: may_define,
        make: &|| Sources {
            query,
            watch: &watch,
            heavy: &heavy,
            look: Look::new(query, &pattern, &watch),
        },
    };
    run::search(root, start, &job)
}

struct Sources<'q> {
    query: &'q Query,
    watch: &'q Watch,
    /// Held while a large text is looked at, for that takes memory.
    heavy: &'q Mutex<()>,
    look: Look<'q>,
}

impl Examine for Sources<'_> {
    fn examine(&mut self, subject: &Subject<'_>) -> Examined {
        let mut runs = Runs::default();
        let Self {
            query,
            watch,
            heavy,
            look,
        } = self;
        let (encoding, outcome) = look.at(subject, &mut |_, body, encoding| {
            let text = text_of(body, encoding)?;
            let path = (subject.path)();
            let is_heavy = text.len() > HEAVY_BYTES;
            let _alone = is_heavy.then(|| lock(heavy));
            let found = definitions(&path, &text, &query.pattern, &watch.cancel);
            let found = found.map_err(|_| Skip::Unreadable)?;
            take(&text, &found, query, Taker::new(query, &path, &mut runs));
            Ok(())
        });
        Examined {
            runs,
            encoding,
            skip: outcome.err(),
        }
    }
}

fn text_of(body: &Body<'_>, encoding: Option<Encoding>) -> Result<String, Skip> {
    if body.len() > MAX_BYTES {
        return Err(Skip::TooLarge);
    }
    body.text(encoding).map_err(|error| skip_of(&error))
}

/// Takes the lines that define, and those around them.
fn take(text: &str, found: &[Definition], query: &Query, mut taker: Taker<'_>) {
    let context = query.context_lines as u64;
    let hits: BTreeMap<u64, &Definition> =
        found.iter().rev().map(|each| (each.line, each)).collect();
    let mut next = hits.keys().copied().peekable();
    let mut last = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let hit = hits.get(&number);
        if hit.is_some() {
            next.next();
            last = number + context;
        }
        let is_near = number <= last || next.peek().is_some_and(|hit| number + context >= *hit);
        if is_near {
            let name = hit.map(|hit| name_in(line, hit.column, query.pattern.len()));
            let line = without_break(line.as_bytes());
            let mut line = shown(line, name, query.max_line_chars);
            line.defines = hit.map(|hit| hit.kind);
            if !taker.take(number, line) {
                return;
            }
        }
        if number >= last && next.peek().is_none() {
            return;
        }
    }
}

/// Returns where in a line a name of `len` bytes is that begins at a column.
fn name_in(line: &str, column: u64, len: usize) -> std::ops::Range<usize> {
    let skipped = usize::try_from(column.saturating_sub(1)).unwrap_or_default();
    let start = line
        .char_indices()
        .nth(skipped)
        .map_or(line.len(), |(at, _)| at);
    start..(start + len).min(line.len())
}
