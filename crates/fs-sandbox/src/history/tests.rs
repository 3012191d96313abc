//! A store, by itself.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::HistoryLimits;
use super::record::{NameChange, Record, State};
use super::store::Store;

fn change(path: &str) -> Record {
    Record {
        at: 0,
        by: String::new(),
        names: vec![NameChange {
            path: path.to_owned(),
            before: State::Absent,
            after: State::Absent,
        }],
        undoes: None,
    }
}

fn store(base: &Path, entries: u64) -> Store {
    let base = Dir::open_ambient_dir(base, ambient_authority()).unwrap();
    let limits = HistoryLimits {
        entries,
        ..HistoryLimits::default()
    };
    Store::open(&base, Path::new("/root"), limits).unwrap()
}

fn ids(store: &Store) -> Vec<u64> {
    let entries = store.entries().unwrap();
    entries.iter().map(|entry| entry.id).collect()
}

#[test]
fn a_change_that_was_not_made_drops_no_entry() {
    let base = tempfile::tempdir().unwrap();
    let store = store(base.path(), 1);
    let one = store.begin(&change("f"), &mut []).unwrap();
    store.done(one).unwrap();
    let two = store.begin(&change("f"), &mut []).unwrap();
    store.void(two, &mut []).unwrap();
    assert_eq!(ids(&store), [one]);
    let three = store.begin(&change("f"), &mut []).unwrap();
    store.done(three).unwrap();
    assert_eq!(ids(&store), [three]);
}
