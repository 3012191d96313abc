//! Searching names.

use std::ops::ControlFlow;

use cap_std::fs::Dir;
use grep_regex::RegexMatcher;

use super::body::Watch;
use super::compile::{is_match, name_matcher};
use super::filter::{Filter, Scope};
use super::{Case, Cut, Found, FoundName, Query, Syntax};
use crate::error::Result;
use crate::glob::Glob;
use crate::list::Order;
use crate::path::RelPath;
use crate::skip::Skip;
use crate::walk::{Sight, Visited, WalkOptions, walk};

/// Searches the names of the entries below `start`.
pub(super) fn search(
    root: &Dir,
    start: &RelPath,
    query: &Query,
    sight: &dyn Sight,
) -> Result<Found> {
    let options = WalkOptions {
        order: Order::Bytes,
        ..query.walk.clone()
    };
    let mut names = Names {
        query,
        pattern: Pattern::new(query)?,
        scope: Scope::of(&query.pattern),
        filter: Filter::new(query, start)?,
        watch: Watch::new(query),
        bytes: 0,
        found: Found::default(),
    };
    let walked = walk(root, start, &options, sight, &mut |entry| {
        names.visit(entry)
    })?;
    let mut found = names.found;
    found.hits = found.names.len();
    found.skipped = walked.skipped;
    found.unreadable = walked.unreadable;
    Ok(found)
}

struct Names<'q> {
    query: &'q Query,
    pattern: Pattern,
    scope: Scope,
    filter: Filter,
    watch: Watch,
    bytes: usize,
    found: Found,
}

enum Pattern {
    Glob(Glob),
    Regex(RegexMatcher),
}

impl Names<'_> {
    fn visit(&mut self, entry: &Visited<'_>) -> ControlFlow<()> {
        if self.watch.is_over() {
            return self.end(Cut::Time);
        }
        if !is_named(entry.skip) || !self.filter.admits(entry.path) {
            return ControlFlow::Continue(());
        }
        if !self
            .pattern
            .matches(self.filter.part(entry.path, self.scope))
        {
            return ControlFlow::Continue(());
        }
        if self.found.names.len() == self.query.max_results {
            return self.end(Cut::Results);
        }
        // The slash of a directory, and the break.
        self.bytes += entry.path.to_string().len() + 2;
        if self.bytes > self.query.max_bytes && !self.found.names.is_empty() {
            return self.end(Cut::Bytes);
        }
        self.found.names.push(FoundName {
            path: entry.path.clone(),
            kind: entry.kind,
        });
        ControlFlow::Continue(())
    }

    fn end(&mut self, cut: Cut) -> ControlFlow<()> {
        self.found.cut = Some(cut);
        ControlFlow::Break(())
    }
}

impl Pattern {
    fn new(query: &Query) -> Result<Self> {
        let regex = name_matcher(query)?;
        let is_glob = query.syntax == Syntax::Literal && query.pattern.contains(['*', '?', '[']);
        let case = query.case.unwrap_or(Case::Smart);
        let glob = is_glob.then(|| Glob::new(&query.pattern, case).ok());
        Ok(glob.flatten().map_or(Self::Regex(regex), Self::Glob))
    }

    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Glob(glob) => glob.is_match(name),
            Self::Regex(regex) => is_match(regex, name),
        }
    }
}

/// Returns whether an entry that is passed over has a name all the same: it is there for whoever
/// lists the directory, only not entered.
fn is_named(skip: Option<Skip>) -> bool {
    !matches!(skip, Some(Skip::Ignored | Skip::Hidden | Skip::Backup))
}
