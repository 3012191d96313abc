//! Which entries an undo takes back, from what the log holds.

use std::collections::HashMap;

use fs_core::{Problem, RelPath, Result};

use super::log::Entry;
use super::nothing;
use super::record::{NameChange, State};

/// Returns whether `now` is `expected`, or what undos put in its place: a copy has another inode.
pub(super) fn stands_for(entries: &[Entry], path: &str, now: &State, expected: &State) -> bool {
    if expected.is_still(now) {
        return true;
    }
    let changes = entries
        .iter()
        .filter_map(|it| Some((it, it.change_of(path)?)));
    let changes: HashMap<u64, (Option<u64>, &NameChange)> = changes
        .map(|(entry, change)| (entry.id, (entry.record.undoes, change)))
        .collect();
    // What an undo put there, and what that was once: each is looked at once.
    let mut puts: Vec<(&State, &State)> = changes
        .values()
        .filter_map(|(undoes, put)| Some((&put.after, &changes.get(&(*undoes)?)?.1.before)))
        .collect();
    let mut states = vec![now];
    while let Some(state) = states.pop() {
        if expected.is_still(state) {
            return true;
        }
        puts.retain(|(put, once)| {
            let is_put = put.is_still(state);
            states.extend(is_put.then_some(*once));
            !is_put
        });
    }
    false
}

/// Returns which entries are to be taken back, newest first.
pub(super) fn steps(entries: &[Entry], path: &RelPath, to: Option<u64>) -> Result<Vec<u64>> {
    let of_file = || {
        entries
            .iter()
            .rev()
            .filter(|entry| entry.record.concerns(path))
    };
    if of_file().next().is_none() {
        return Err(nothing("the history has no change of this file"));
    }
    let undone: HashMap<u64, u64> = undone_by(entries);
    let Some(to) = to else {
        let open = |entry: &&Entry| !is_undo(entries, entry) && !undone.contains_key(&entry.id);
        let newest = of_file().find(open).map(|entry| vec![entry.id]);
        return newest
            .ok_or_else(|| nothing("all changes of this file that are still kept are undone"));
    };
    if !of_file().any(|entry| entry.id == to) {
        return Err(nothing("the history has no such change of this file"));
    }
    // A change and the undo of it are nothing together.
    let counts = |entry: &&Entry| {
        let is_undone = undone.get(&entry.id).is_some_and(|by| *by >= to);
        let undoes_later = entry.record.undoes.is_some_and(|it| it >= to);
        entry.id >= to && !is_undone && !undoes_later
    };
    let ids: Vec<u64> = of_file().filter(counts).map(|entry| entry.id).collect();
    if ids.is_empty() {
        return Err(nothing("it is undone already"));
    }
    Ok(ids)
}

/// Returns which entry took which back.
pub(super) fn undone_by(entries: &[Entry]) -> HashMap<u64, u64> {
    let undos = entries
        .iter()
        .filter_map(|entry| Some((entry.record.undoes?, entry.id)));
    undos.collect()
}

/// Returns whether an entry took a change back: the undo of an undo is a change.
fn is_undo(entries: &[Entry], entry: &Entry) -> bool {
    let mut undoes = entry.record.undoes;
    let mut is_undo = false;
    while let Some(id) = undoes {
        is_undo = !is_undo;
        let before = entries.iter().find(|entry| entry.id == id);
        undoes = before.and_then(|entry| entry.record.undoes);
    }
    is_undo
}

/// Checks that each change began where the one before it ended: else somebody wrote in between.
pub(super) fn check_chain(entries: &[Entry], ids: &[u64]) -> Result<()> {
    let mut states: HashMap<&str, &State> = HashMap::new();
    let steps = ids
        .iter()
        .filter_map(|id| entries.iter().find(|entry| entry.id == *id));
    for change in steps.flat_map(|entry| entry.record.names.iter().rev()) {
        if let Some(state) = states.insert(&change.path, &change.before)
            && !stands_for(entries, &change.path, state, &change.after)
        {
            return Err(Problem::ChangedSince.into());
        }
    }
    Ok(())
}
