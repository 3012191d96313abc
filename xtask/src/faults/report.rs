//! What the faults of a round came to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::Point;
use super::fault::Fault;
use super::session::Verdict;

/// Counts by operation, call and fault.
#[derive(Debug)]
pub(super) struct Report {
    planned: usize,
    rows: BTreeMap<(&'static str, String, Fault), BTreeMap<&'static str, usize>>,
}

/// Returns the verdict in words.
pub(super) fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Good(outcome) => outcome.name().to_owned(),
        Verdict::Bad(error) => format!("WRONG: {error}"),
        Verdict::Missed => "MISSED: the call did not come".to_owned(),
    }
}

impl Report {
    /// Returns an empty report for so many faults.
    pub(super) fn new(planned: usize) -> Self {
        Self {
            planned,
            rows: BTreeMap::new(),
        }
    }

    /// Counts a fault.
    pub(super) fn add(&mut self, point: &Point, verdict: &Verdict) {
        let outcome = match verdict {
            Verdict::Good(outcome) => outcome.name(),
            Verdict::Bad(_) => "WRONG",
            Verdict::Missed => "MISSED",
        };
        let key = (point.operation.name, point.call.name.clone(), point.fault);
        *self
            .rows
            .entry(key)
            .or_default()
            .entry(outcome)
            .or_default() += 1;
    }

    /// Returns how many faults did not come to a good end.
    pub(super) fn bad(&self) -> usize {
        self.count("WRONG") + self.count("MISSED")
    }

    fn count(&self, outcome: &str) -> usize {
        let counts = self.rows.values();
        counts.filter_map(|counts| counts.get(outcome)).sum()
    }

    fn runs(&self) -> usize {
        self.rows.values().flat_map(BTreeMap::values).sum()
    }

    /// Checks that every fault was tried.
    ///
    /// # Errors
    /// Says how many were not.
    pub(super) fn check_complete(&self) -> Result<()> {
        let (runs, planned) = (self.runs(), self.planned);
        ensure!(
            runs == planned,
            "a gap: {runs} of {planned} faults were tried"
        );
        Ok(())
    }

    /// Writes the whole table to `file` and prints a line for each operation.
    ///
    /// # Errors
    /// Fails when a fault was wrong or missed.
    pub(super) fn close(&self, file: &Path, seed: u64, took: Duration) -> Result<()> {
        fs::write(file, self.table())?;
        for (operation, counts) in self.by_operation() {
            let counts = counts
                .iter()
                .map(|(outcome, count)| format!("{count} {outcome}"));
            let counts: Vec<String> = counts.collect();
            println!("  {operation:18} {}", counts.join(", "));
        }
        let (runs, seconds) = (self.runs(), took.as_secs());
        println!(
            "{runs} of {} faults in {seconds} s; each call, error and outcome: {}",
            self.planned,
            file.display()
        );
        let (wrong, missed) = (self.count("WRONG"), self.count("MISSED"));
        if wrong + missed > 0 {
            bail!("{wrong} faults went wrong and {missed} calls did not come; seed {seed}");
        }
        println!("faults: every file held its old or its new bytes");
        Ok(())
    }

    fn table(&self) -> String {
        let mut text = "operation\tcall\tfault\toutcome\tcount\n".to_owned();
        for ((operation, call, fault), counts) in &self.rows {
            for (outcome, count) in counts {
                // Writing to a string cannot fail.
                _ = writeln!(text, "{operation}\t{call}\t{fault}\t{outcome}\t{count}");
            }
        }
        text
    }

    fn by_operation(&self) -> BTreeMap<&'static str, BTreeMap<&'static str, usize>> {
        let mut all: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for ((operation, _, _), counts) in &self.rows {
            for (outcome, count) in counts {
                *all.entry(*operation)
                    .or_default()
                    .entry(*outcome)
                    .or_default() += count;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::OPERATIONS;
    use super::super::oracle::Outcome;
    use super::super::trace::{Call, On};
    use super::*;

    fn point() -> Point {
        Point {
            operation: OPERATIONS.first().unwrap(),
            call: Call {
                name: "fsync".to_owned(),
                ordinal: 1,
                thread: 0,
                on: On::Tree,
            },
            fault: Fault::Kill,
        }
    }

    #[test]
    fn a_gap_and_a_fault_that_went_wrong_fail_the_round() {
        let folder = tempfile::tempdir().unwrap();
        let close = |report: &Report| {
            let file = folder.path().join("report.tsv");
            report.close(&file, 1, Duration::ZERO)
        };
        let mut report = Report::new(2);
        report.add(&point(), &Verdict::Good(Outcome::Refused));
        assert!(report.check_complete().is_err());
        report.add(&point(), &Verdict::Good(Outcome::Made));
        assert!(report.check_complete().is_ok() && close(&report).is_ok());
        for bad in [Verdict::Missed, Verdict::Bad("torn".to_owned())] {
            let mut report = Report::new(1);
            report.add(&point(), &bad);
            assert!(close(&report).is_err(), "{bad:?}");
        }
        let row = "create\tfsync\tKILL\tmade\t1\n";
        assert!(report.table().contains(row), "{}", report.table());
    }
}
