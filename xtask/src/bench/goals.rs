//! The speed goals and what a run says of them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::bench::peers::{LOOP, OURS};

/// A goal with both figures, as far as they were measured and their answers were right.
#[derive(Debug)]
pub(super) struct Goal {
    work: &'static str,
    unit: &'static str,
    ours: Option<f64>,
    against: String,
    theirs: Option<f64>,
    bound: Bound,
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    /// Ours is at most this many times theirs.
    Ratio(f64),
    /// Ours is at most this.
    Most(f64),
    /// Printed only.
    None,
}

/// What ours is measured against.
#[derive(Debug, Clone, Copy)]
enum Rival {
    /// The fastest server but ours whose answer was right.
    FastestPeer,
    Row(&'static str),
    /// Our own figure of another operation.
    Own(&'static str),
    Nothing,
}

/// What is measured: the work, the operation of the driver, the rival and the bound.
const GOALS: [(&str, &str, Rival, Bound); 27] = [
    (
        "start to initialize",
        "start",
        Rival::FastestPeer,
        Bound::Ratio(1.0),
    ),
    (
        "4 KiB read, p50",
        "read_small",
        Rival::FastestPeer,
        Bound::Ratio(0.75),
    ),
    (
        "4 KiB read, p50",
        "read_small",
        Rival::Row(LOOP),
        Bound::Ratio(1.3),
    ),
    (
        "4 KiB reads, 16 in flight",
        "in_flight",
        Rival::FastestPeer,
        Bound::None,
    ),
    (
        "first 100 lines of 256 MiB",
        "log_head",
        Rival::Row("cli: head -n"),
        Bound::Ratio(1.0),
    ),
    (
        "last 100 lines",
        "log_tail",
        Rival::Row("cli: tail -n"),
        Bound::Ratio(1.0),
    ),
    (
        "middle 100 lines, first",
        "log_mid_first",
        Rival::Row("cli: sed -n 'A,Bp;Bq'"),
        Bound::Ratio(0.2),
    ),
    (
        "middle 100 lines, first",
        "log_mid_first",
        Rival::Row(LOOP),
        Bound::Ratio(1.3),
    ),
    (
        "middle 100 lines, again",
        "log_mid",
        Rival::Nothing,
        Bound::Most(1.0),
    ),
    (
        "one edit in 10 MiB",
        "edit",
        Rival::Row("floor: copy + fsync"),
        Bound::Ratio(2.0),
    ),
    (
        "one edit in 10 MiB",
        "edit",
        Rival::FastestPeer,
        Bound::None,
    ),
    (
        "one edit in 1 GiB",
        "edit_giant",
        Rival::Row("floor: copy + fsync"),
        Bound::Ratio(2.0),
    ),
    (
        "write 1 MiB",
        "write",
        Rival::Row("floor: write + fsync"),
        Bound::None,
    ),
    ("write 1 MiB", "write", Rival::FastestPeer, Bound::None),
    (
        "list 5,000 with sizes",
        "list_sizes",
        Rival::FastestPeer,
        Bound::Ratio(1.0),
    ),
    (
        "tree of 20,000",
        "tree",
        Rival::Row("cli: fd"),
        Bound::Ratio(1.0),
    ),
    (
        "tree of 20,000",
        "tree",
        Rival::Row("cli: find"),
        Bound::None,
    ),
    ("tree of 20,000", "tree", Rival::FastestPeer, Bound::None),
    (
        "name search, 400 hits",
        "find_name",
        Rival::Row("cli: fd"),
        Bound::Ratio(1.0),
    ),
    (
        "name search, 400 hits",
        "find_name",
        Rival::Row("cli: find -name"),
        Bound::None,
    ),
    (
        "name search, 400 hits",
        "find_name",
        Rival::FastestPeer,
        Bound::None,
    ),
    (
        "content search, 200 hits",
        "grep",
        Rival::Row("cli: rg --sort path"),
        Bound::Ratio(1.0),
    ),
    (
        "content search, 200 hits",
        "grep",
        Rival::Row("cli: rg"),
        Bound::None,
    ),
    (
        "content search, 200 hits",
        "grep",
        Rival::FastestPeer,
        Bound::None,
    ),
    (
        "search cut at 50 hits",
        "grep_cut",
        Rival::Own("grep"),
        Bound::Ratio(1.0 / 30.0),
    ),
    (
        "page of 500 in 1,000,000",
        "page",
        Rival::Row("cli: ls -f"),
        Bound::Ratio(1.6),
    ),
    (
        "page in the middle of it",
        "page_further",
        Rival::Row("cli: ls -f"),
        Bound::Ratio(1.6),
    ),
];

/// The operations that read windows of the large log.
const WINDOWS: [&str; 4] = ["log_head", "log_mid_first", "log_mid", "log_tail"];

/// Returns every goal with the figures of a run.
pub(super) fn table(figures: &Value) -> Vec<Goal> {
    let mut goals: Vec<Goal> = GOALS
        .iter()
        .map(|(work, operation, rival, bound)| {
            let (against, theirs) = theirs(figures, operation, *rival);
            Goal {
                work,
                unit: if *operation == "in_flight" {
                    "req/s"
                } else {
                    "ms"
                },
                ours: figure(figures, operation, OURS, "value"),
                against,
                theirs,
                bound: *bound,
            }
        })
        .collect();
    goals.extend(memory(figures));
    goals
}

fn memory(figures: &Value) -> [Goal; 5] {
    let idle = figure(figures, "start", OURS, "peak");
    let peaks: Option<Vec<f64>> = WINDOWS
        .iter()
        .map(|operation| figure(figures, operation, OURS, "peak"))
        .collect();
    let peak = peaks.and_then(|peaks| peaks.into_iter().reduce(f64::max));
    let over = idle.zip(peak).map(|(idle, peak)| peak - idle);
    let goal = |work: &'static str, ours: Option<f64>, most: f64| Goal {
        work,
        unit: "MiB",
        ours,
        against: String::new(),
        theirs: None,
        bound: Bound::Most(most),
    };
    [
        goal("memory after the start", idle, 10.0),
        goal("memory after windows of 256 MiB", peak, 16.0),
        goal("the same, over the start", over, 4.0),
        goal(
            "memory after edits of 1 GiB",
            figure(figures, "edit_giant", OURS, "peak"),
            32.0,
        ),
        goal(
            "memory after a content search",
            figure(figures, "grep", OURS, "peak"),
            64.0,
        ),
    ]
}

/// Returns a figure of a row whose answer was checked and right.
fn figure(figures: &Value, operation: &str, row: &str, field: &str) -> Option<f64> {
    let cell = figures.get("tables")?.get(operation)?.get(row)?;
    let wrong = cell.get("warn").and_then(Value::as_str).unwrap_or_default();
    cell.get(field)?.as_f64().filter(|_| wrong.is_empty())
}

fn theirs(figures: &Value, operation: &str, rival: Rival) -> (String, Option<f64>) {
    match rival {
        Rival::Nothing => (String::new(), None),
        Rival::Row(row) => (
            row.rsplit(": ").next().unwrap_or(row).to_owned(),
            figure(figures, operation, row, "value"),
        ),
        Rival::Own(other) => (
            format!("our own {other}"),
            figure(figures, other, OURS, "value"),
        ),
        Rival::FastestPeer => match fastest(figures, operation) {
            Some((row, value)) => (row.clone(), Some(value)),
            None => ("fastest peer".to_owned(), None),
        },
    }
}

fn fastest<'f>(figures: &'f Value, operation: &str) -> Option<(&'f String, f64)> {
    let rows = figures.get("tables")?.get(operation)?.as_object()?;
    let peers = rows
        .keys()
        .filter(|row| *row != OURS && !row.contains(": "));
    let measured = peers.filter_map(|row| Some((row, figure(figures, operation, row, "value")?)));
    let more_is_better = operation == "in_flight";
    measured.reduce(|best, next| {
        let better = if more_is_better {
            next.1 > best.1
        } else {
            next.1 < best.1
        };
        if better { next } else { best }
    })
}

impl Goal {
    /// Returns the goal in words.
    pub(super) fn name(&self) -> String {
        match self.against.as_str() {
            "" => self.work.to_owned(),
            against => format!("{} against {against}", self.work),
        }
    }

    /// Returns whether a figure is missing.
    pub(super) fn is_empty(&self) -> bool {
        self.ours.is_none() || !self.against.is_empty() && self.theirs.is_none()
    }

    /// Returns whether both figures are there and the bound does not hold.
    pub(super) fn is_missed(&self) -> bool {
        match self.bound {
            Bound::Ratio(most) => self.ratio().is_some_and(|ratio| ratio > most),
            Bound::Most(most) => self.ours.is_some_and(|ours| ours > most),
            Bound::None => false,
        }
    }

    /// Returns how many times slower ours is; below 1 it is faster.
    fn ratio(&self) -> Option<f64> {
        let (ours, theirs) = self.ours.zip(self.theirs)?;
        Some(if self.unit == "req/s" {
            theirs / ours
        } else {
            ours / theirs
        })
    }

    fn verdict(&self) -> &'static str {
        match self.bound {
            _ if self.is_empty() => "not measured",
            Bound::None => "",
            _ if self.is_missed() => "MISSED",
            _ => "yes",
        }
    }

    fn bound(&self) -> String {
        match self.bound {
            Bound::Ratio(most) if most < 0.1 => format!("≤ 1/{:.0} ×", 1.0 / most),
            Bound::Ratio(most) => format!("≤ {most} ×"),
            Bound::Most(most) => format!("≤ {most} {}", self.unit),
            Bound::None => "none".to_owned(),
        }
    }
}

/// Returns the goals as a table.
pub(super) fn print(goals: &[Goal]) -> String {
    let mut text = "| work | ours | against | theirs | ratio | goal | reached |\n\
                    |---|--:|---|--:|--:|--:|---|\n"
        .to_owned();
    for goal in goals {
        let figure = |value: Option<f64>| {
            value.map_or(String::new(), |value| {
                format!("{} {}", short(value), goal.unit)
            })
        };
        let row = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            goal.work,
            figure(goal.ours),
            goal.against.replace('|', "\\|"),
            figure(goal.theirs),
            goal.ratio().map_or(String::new(), times),
            goal.bound(),
            goal.verdict(),
        );
        debug_assert!(row.is_ok(), "a String takes everything");
    }
    text
}

fn times(ratio: f64) -> String {
    let digits = if ratio < 0.1 { 3 } else { 2 };
    format!("{ratio:.digits$}")
}

fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn goal(figures: &Value, name: &str) -> Goal {
        let goals = table(figures).into_iter();
        let mut named = goals.filter(|goal| goal.name() == name);
        named.next().unwrap()
    }

    fn check(ours: &Value, theirs: &Value, verdict: &str) {
        let tables = json!({"start": {"tool-server": ours, "reference": theirs,
                            "floor: hand-written loop": {"value": 0.1}}});
        let figures = json!({"tables": tables});
        let found = table(&figures).into_iter().next().unwrap();
        assert_eq!(found.verdict(), verdict, "{found:?}");
    }

    #[test]
    fn a_goal_is_reached_or_missed() {
        check(&json!({"value": 2.0}), &json!({"value": 2.0}), "yes");
        check(&json!({"value": 2.1}), &json!({"value": 2.0}), "MISSED");
    }

    #[test]
    fn a_figure_whose_answer_was_wrong_is_none() {
        check(
            &json!({"value": 1.0, "warn": "99 lines"}),
            &json!({"value": 2.0}),
            "not measured",
        );
        check(
            &json!({"value": 1.0}),
            &json!({"value": 2.0, "warn": "none"}),
            "not measured",
        );
        check(
            &json!({"value": null, "note": "no"}),
            &json!({"value": 2.0}),
            "not measured",
        );
    }

    #[test]
    fn more_requests_a_second_are_better() {
        let rows =
            json!({"tool-server": {"value": 200.0}, "a": {"value": 100.0}, "b": {"value": 50.0}});
        let figures = json!({"tables": {"in_flight": rows}});
        let found = goal(&figures, "4 KiB reads, 16 in flight against a");
        assert_eq!(found.ratio(), Some(0.5));
    }

    #[test]
    fn a_cut_search_is_measured_against_a_whole_one() {
        let check = |cut: f64, verdict: &str| {
            let row = |value: f64| json!({"tool-server": {"value": value, "peak": 9.0}});
            let figures = json!({"tables": {"grep": row(60.0), "grep_cut": row(cut)}});
            let found = goal(&figures, "search cut at 50 hits against our own grep");
            assert_eq!(found.verdict(), verdict, "{found:?}");
            assert!(print(&[found]).contains("≤ 1/30 ×"));
        };
        check(1.9, "yes");
        check(2.1, "MISSED");
    }

    #[test]
    fn a_page_may_take_a_little_longer_than_its_names() {
        let rows =
            |ours: f64| json!({"tool-server": {"value": ours}, "cli: ls -f": {"value": 100.0}});
        let figures = json!({"tables": {"page": rows(150.0), "page_further": rows(170.0)}});
        let first = goal(&figures, "page of 500 in 1,000,000 against ls -f");
        let further = goal(&figures, "page in the middle of it against ls -f");
        assert_eq!((first.verdict(), further.verdict()), ("yes", "MISSED"));
    }

    #[test]
    fn a_program_is_no_peer() {
        let rows = json!({"tool-server": {"value": 2.0}, "cli: fd": {"value": 3.0},
                          "cli: find": {"value": 1.0}, "a": {"value": 9.0}});
        let figures = json!({"tables": {"tree": rows}});
        assert_eq!(goal(&figures, "tree of 20,000 against fd").verdict(), "yes");
        assert_eq!(goal(&figures, "tree of 20,000 against a").theirs, Some(9.0));
    }

    #[test]
    fn memory_of_a_search_is_that_of_its_server() {
        let figures = json!({"tables": {"grep": {"tool-server": {"value": 1.0, "peak": 65.0}}}});
        assert!(goal(&figures, "memory after a content search").is_missed());
    }

    #[test]
    fn memory_is_that_of_the_largest_window() {
        let cell = |peak: f64| json!({"tool-server": {"value": 1.0, "peak": peak}});
        let tables = json!({"start": cell(4.0), "log_head": cell(5.0), "log_mid": cell(9.0),
                            "log_mid_first": cell(6.0), "log_tail": cell(5.0)});
        let figures = json!({"tables": tables});
        assert_eq!(goal(&figures, "the same, over the start").ours, Some(5.0));
        assert!(goal(&figures, "the same, over the start").is_missed());
    }
}
