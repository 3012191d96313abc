use std::fs;

use super::super::operations::OPERATIONS;
use super::*;

/// Judges what `act` leaves of the operation's files, after an error at a call of this name.
fn judge(name: &str, call: &str, end: End, act: impl Fn(&str)) -> Result<Outcome, String> {
    let target = tempfile::tempdir().unwrap();
    let world = World::new(target.path(), "judged").unwrap();
    let operation = OPERATIONS.iter().find(|each| each.name == name).unwrap();
    world.lay(operation.before).unwrap();
    let before = world.look().unwrap();
    act(world.base().to_str().unwrap());
    let call = Call {
        name: call.to_owned(),
        ordinal: 1,
        thread: 0,
        on: if call == "write" {
            On::Answer
        } else {
            On::Tree
        },
    };
    let run = Run {
        said: &said(end),
        world: &world,
        operation,
        call: &call,
        fault: if end == End::Signal {
            Fault::Kill
        } else {
            Fault::Error("EINTR")
        },
        end,
        before: &before,
        after: &world.look().unwrap(),
    };
    run.judge()
}

/// Returns what a run says that ends like this.
fn said(end: End) -> Said {
    let (status, output) = match end {
        End::Success => (Some(0), r#"{"text":"done"}"#),
        End::Failure => (Some(1), r#"{"error":{"code":"io"}}"#),
        End::Signal => (None, ""),
    };
    let output = output.to_owned();
    let errors = String::new();
    Said {
        status,
        output,
        errors,
    }
}

#[track_caller]
fn check(name: &str, call: &str, end: End, act: impl Fn(&str), wanted: Option<Outcome>) {
    let found = judge(name, call, end, act);
    assert_eq!(found.as_ref().ok().copied(), wanted, "{name}: {found:?}");
}

fn nothing(_base: &str) {}

fn made(base: &str) {
    let file = format!("{base}/near/f");
    fs::write(file, "one\nzwei, drei\nthree\n").unwrap();
}

fn torn(base: &str) {
    fs::write(format!("{base}/near/f"), "one\nzwei").unwrap();
}

fn touched(base: &str) {
    fs::write(format!("{base}/near/f"), "one\ntwo\nthree\n").unwrap();
}

fn backed_up(base: &str) {
    let (file, backup) = (format!("{base}/near/f"), format!("{base}/near/f.bak"));
    fs::copy(file, backup).unwrap();
}

#[test]
fn a_success_has_the_new_and_a_failure_the_old() {
    check("edit", "fchmod", End::Success, made, Some(Outcome::Made));
    check("edit", "fsync", End::Success, nothing, None);
    check(
        "edit",
        "fsync",
        End::Failure,
        nothing,
        Some(Outcome::Refused),
    );
    check("edit", "fsync", End::Failure, made, None);
    check("edit", "fsync", End::Failure, torn, None);
    check("edit", "fsync", End::Failure, touched, None);
}

#[test]
fn what_could_not_be_synced_is_no_plain_success() {
    check("edit", "fsync", End::Success, made, None);
    check("edit", "fstat", End::Success, made, Some(Outcome::Made));
    let unsynced = r#"{"text":"done, but the directory could not be synced"}"#;
    let said = Said {
        output: unsynced.to_owned(),
        ..said(End::Success)
    };
    assert!(said.says_unsynced());
}

#[test]
fn an_answer_that_does_not_get_out_says_nothing_about_the_file() {
    check("edit", "fsync", End::Failure, made, None);
    // Interrupted, it is to be written again.
    check("edit", "write", End::Failure, made, None);
}

#[test]
fn a_kill_leaves_old_or_new_and_a_backup_before_the_new() {
    check(
        "edit",
        "fsync",
        End::Signal,
        nothing,
        Some(Outcome::EndedBefore),
    );
    check(
        "edit",
        "fsync",
        End::Signal,
        made,
        Some(Outcome::EndedAfter),
    );
    check("edit", "fsync", End::Signal, torn, None);
    check("edit-backup", "fsync", End::Signal, made, None);
    check(
        "edit-backup",
        "fsync",
        End::Signal,
        backed_up,
        Some(Outcome::EndedBetween),
    );
    let both = |base: &str| {
        backed_up(base);
        made(base);
    };
    check(
        "edit-backup",
        "fsync",
        End::Signal,
        both,
        Some(Outcome::EndedAfter),
    );
}

#[test]
fn only_a_rewrite_in_place_with_its_backup_may_be_torn() {
    let both = |base: &str| {
        backed_up(base);
        torn(base);
    };
    check("edit-backup", "fsync", End::Signal, both, None);
    check(
        "edit-in-place",
        "fsync",
        End::Signal,
        both,
        Some(Outcome::EndedBetween),
    );
    check("edit-in-place", "fsync", End::Signal, torn, None);
}

#[test]
fn a_move_never_loses_both_names() {
    let gone = |base: &str| fs::remove_file(format!("{base}/near/f")).unwrap();
    check("move", "fsync", End::Signal, gone, None);
    check(
        "delete",
        "fsync",
        End::Signal,
        gone,
        Some(Outcome::EndedAfter),
    );
}

#[test]
fn a_temporary_name_and_a_stranger_are_seen() {
    let temp = |base: &str| fs::write(format!("{base}/near/.postern-1.tmp"), "").unwrap();
    check("edit", "fsync", End::Failure, temp, None);
    check(
        "edit",
        "unlinkat",
        End::Failure,
        temp,
        Some(Outcome::Refused),
    );
    check(
        "edit",
        "fsync",
        End::Signal,
        temp,
        Some(Outcome::EndedBefore),
    );
    let stranger = |base: &str| fs::write(format!("{base}/near/new"), "").unwrap();
    check("edit", "fsync", End::Failure, stranger, None);
}
