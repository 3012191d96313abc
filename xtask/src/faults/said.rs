//! What a run said: its exit status, its answer and its words for people.

use serde_json::Value;

use super::oracle::End;

/// The codes with which a call may fail when the system fails it; the others would say that the caller
/// or the file is at fault, which they are not.
const CODES: [&str; 4] = [
    "io",
    "permission_denied",
    "backup_failed",
    "not_replaceable",
];

/// What a server says at its start that cannot keep a history.
const NO_HISTORY: &str = "no history, so no undo";

/// What a run said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Said {
    /// The exit status; `None` after a signal.
    pub(super) status: Option<i32>,
    /// Standard output.
    pub(super) output: String,
    /// Standard error.
    pub(super) errors: String,
}

impl Said {
    /// Checks that the run ended with a documented exit status, and said why.
    ///
    /// # Errors
    /// Says what it did instead.
    pub(super) fn check(&self, end: End) -> Result<(), String> {
        match (end, self.status) {
            (End::Signal, _) => Ok(()),
            (End::Success, _) if self.answer().is_some_and(|it| it.get("text").is_some()) => Ok(()),
            (End::Success, _) => Err(format!("success without an answer: {self}")),
            (End::Failure, Some(1)) => self.check_error(),
            // The command line cannot be followed: a root or the directory of the state.
            (End::Failure, Some(2)) => self.check_words(),
            (End::Failure, status) => Err(format!("exit status {status:?}: {self}")),
        }
    }

    /// Returns whether it said that the change cannot be undone.
    pub(super) fn gives_up_history(&self) -> bool {
        let says = |text: &str| text.contains("cannot be undone") || text.contains(NO_HISTORY);
        says(&self.output) || says(&self.errors)
    }

    /// Returns whether it said that something may not be on the disk yet.
    pub(super) fn says_unsynced(&self) -> bool {
        self.output.contains("could not be synced")
    }

    fn check_error(&self) -> Result<(), String> {
        let answer = self.answer();
        let Some(answer) = answer else {
            return self.check_words();
        };
        let code = answer.pointer("/error/code").and_then(Value::as_str);
        match code {
            Some(code) if CODES.contains(&code) => Ok(()),
            // A server that said at its start that it has no history has nothing to undo either.
            Some("not_found") if self.errors.contains(NO_HISTORY) => Ok(()),
            _ => Err(format!("a failure of the system is no {code:?}: {self}")),
        }
    }

    fn check_words(&self) -> Result<(), String> {
        if self.errors.starts_with("tool-server: ") {
            return Ok(());
        }
        Err(format!("a failure without a reason: {self}"))
    }

    fn answer(&self) -> Option<Value> {
        serde_json::from_str(&self.output).ok()
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}{}", self.errors, self.output);
        f.write_str(text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(end: End, status: i32, output: &str, errors: &str, wanted: bool) {
        let said = Said {
            status: Some(status),
            output: output.to_owned(),
            errors: errors.to_owned(),
        };
        let found = said.check(end);
        assert_eq!(found.is_ok(), wanted, "{found:?}");
    }

    #[test]
    fn a_failure_has_a_documented_status_and_code() {
        let error = |code: &str| format!("{{\"error\":{{\"code\":\"{code}\"}}}}");
        check(End::Failure, 1, &error("io"), "", true);
        check(End::Failure, 1, &error("no_match"), "", false);
        check(End::Failure, 1, &error("oops"), "", false);
        check(
            End::Failure,
            1,
            "",
            "tool-server: signals: no memory\n",
            true,
        );
        check(End::Failure, 2, "", "tool-server: the root is gone\n", true);
        check(End::Failure, 1, "", "", false);
        check(End::Failure, 2, "", "", false);
        check(End::Failure, 101, "", "thread 'main' panicked\n", false);
    }

    #[test]
    fn a_success_has_an_answer() {
        check(End::Success, 0, "{\"text\":\"done\"}", "", true);
        check(End::Success, 0, "", "", false);
        check(End::Success, 0, "{\"error\":{}}", "", false);
    }
}
