//! Searching texts: the lines that match.

use cap_std::fs::Dir;

use super::body::Watch;
use super::compile::TextPattern;
use super::look::{Look, skip_of};
use super::run::{self, Examine, Examined, Subject};
use super::sink::{LineSink, Runs, Taker};
use super::watched::Watched;
use super::{Found, Query};
use crate::error::Result;
use crate::path::RelPath;
use crate::walk::Sight;

/// Searches the files below `start`.
pub(super) fn search(
    root: &Dir,
    start: &RelPath,
    query: &Query,
    sight: &dyn Sight,
) -> Result<Found> {
    let pattern = TextPattern::new(query)?;
    let watch = Watch::new(query);
    let job = run::Job {
        query,
        sight,
        watch: &watch,
        wants: |_| true,
        make: &|| Texts {
            query,
            pattern: &pattern,
            watch: &watch,
            look: Look::new(query, &pattern, &watch),
        },
    };
    run::search(root, start, &job)
}

struct Texts<'q> {
    query: &'q Query,
    pattern: &'q TextPattern,
    watch: &'q Watch,
    look: Look<'q>,
}

impl Examine for Texts<'_> {
    fn examine(&mut self, subject: &Subject<'_>) -> Examined {
        let mut runs = Runs::default();
        let watched = Watched::new(self.pattern, self.watch);
        let (encoding, outcome) = self.look.at(subject, &mut |searcher, body, encoding| {
            let taker = Taker::new(self.query, &(subject.path)(), &mut runs);
            let sink = LineSink::new(taker, self.pattern);
            let searched = body.search(searcher, watched, encoding, sink);
            searched.map_err(|error| skip_of(&error))
        });
        Examined {
            runs,
            encoding,
            skip: outcome.err(),
        }
    }
}
