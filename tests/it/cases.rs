//! Running a file of cases: each one twice, the second time with `openat2` blocked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use tests::conditions::skip;
use tests::corpus::text;
use tests::{Answer, Conditions, Openat2, Refusal};

/// What a run of one case came to.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The answer and what the disk held after it, to be compared between two runs; empty where
    /// chance has a part in it.
    pub(crate) summary: String,
    /// What was not as the case says.
    pub(crate) failures: Vec<String>,
}

/// How the cases of a file are run.
pub(crate) struct Runner {
    /// Says why a case cannot be put to this front end; `None` when it can.
    pub(crate) reason: fn(&Value) -> Option<&'static str>,
    /// The conditions of the case besides `openat2`.
    pub(crate) conditions: fn(&Value) -> Conditions,
    /// Runs the case.
    pub(crate) run: fn(&Value, Conditions) -> Seen,
}

impl Seen {
    /// Notes a failure unless `holds`.
    pub(crate) fn check(&mut self, holds: bool, words: impl FnOnce() -> String) {
        if !holds {
            self.failures.push(words());
        }
    }

    /// Notes a failure unless both are equal.
    pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        seen: &T,
        wanted: &T,
    ) {
        self.check(seen == wanted, || {
            format!("{what} is {seen:?}, not {wanted:?}")
        });
    }
}

impl Runner {
    /// Runs the cases and returns how many ran and which did not, with the reasons.
    pub(crate) fn report(&self, cases: &[Value]) -> String {
        let mut skipped = BTreeMap::<&str, Vec<&str>>::new();
        let mut failures = String::new();
        let mut count = 0;
        for case in cases {
            let id = text(case, "id");
            if let Some(reason) = (self.reason)(case) {
                skipped.entry(reason).or_default().push(id);
                continue;
            }
            count += 1;
            if !(self.conditions)(case).are_possible() {
                skip(&format!("{id} takes root"));
                continue;
            }
            for failure in self.failures(case) {
                let title = case["title"]
                    .as_str()
                    .or(case["why"].as_str())
                    .unwrap_or_default();
                writeln!(failures, "{id} ({title}): {failure}").unwrap();
            }
        }
        assert!(failures.is_empty(), "of {count} cases:\n{failures}");
        let mut report = format!("{count} run\n");
        for (reason, ids) in skipped {
            writeln!(report, "{reason}: {}", ids.join(" ")).unwrap();
        }
        report
    }

    fn failures(&self, case: &Value) -> Vec<String> {
        let [open, blocked] =
            [Openat2::Open, Openat2::Blocked].map(|openat2| self.run(case, openat2));
        let mut failures = open.failures;
        failures.extend(
            blocked
                .failures
                .iter()
                .map(|failure| format!("openat2 blocked: {failure}")),
        );
        if open.summary != blocked.summary {
            failures.push(format!(
                "open: {}\nblocked: {}",
                open.summary, blocked.summary
            ));
        }
        failures
    }

    fn run(&self, case: &Value, openat2: Openat2) -> Seen {
        let conditions = Conditions {
            openat2,
            ..(self.conditions)(case)
        };
        let seen = catch_unwind(AssertUnwindSafe(|| (self.run)(case, conditions)));
        seen.unwrap_or_else(|panic| Seen {
            summary: String::new(),
            failures: vec![format!("panicked: {}", words(panic.as_ref()))],
        })
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

/// Returns what an answer says apart from the path, for comparing two of them.
pub(crate) fn essence(answer: &Answer, path: &str) -> String {
    match &answer.result {
        Ok(done) => format!("ok {:?} {:?} {:?}", done.text, done.names, done.blocks),
        Err(Refusal { code, fields }) => {
            let mut fields = fields.clone();
            let message = fields["message"]
                .as_str()
                .unwrap_or_default()
                .replace(&format!(": {path}"), ": PATH");
            fields["path"] = Value::Null;
            fields["message"] = message.into();
            format!("{code} {fields}")
        }
    }
}
