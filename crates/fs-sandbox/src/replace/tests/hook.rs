//! Lets a test act between two system calls of a replace.

use std::cell::RefCell;

use super::super::Stage;

type Act = Box<dyn FnMut()>;

thread_local! {
    static ACTS: RefCell<Vec<(Stage, Act)>> = const { RefCell::new(Vec::new()) };
}

/// Runs `act` once, when this thread's next replace reaches `stage`.
pub(in crate::replace) fn at(stage: Stage, act: impl FnMut() + 'static) {
    ACTS.with_borrow_mut(|acts| acts.push((stage, Box::new(act))));
}

/// As [`at`], for the tests of what calls a replace.
pub(crate) fn when_written(act: impl FnMut() + 'static) {
    at(Stage::Written, act);
}

/// As [`when_written`], before the name is taken.
pub(crate) fn when_checked(act: impl FnMut() + 'static) {
    at(Stage::Checked, act);
}

/// As [`when_written`], when two names are exchanged and nobody has looked yet.
pub(crate) fn when_exchanged(act: impl FnMut() + 'static) {
    at(Stage::Exchanged, act);
}

pub(in crate::replace) fn reached(stage: Stage) {
    let due = ACTS.with_borrow_mut(|acts| {
        let due = acts.iter().position(|(wanted, _)| *wanted == stage);
        due.map(|index| acts.remove(index))
    });
    if let Some((_, mut act)) = due {
        act();
    }
}
