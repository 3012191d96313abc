use std::fs;

use cap_std::ambient_authority;
use proptest::prelude::*;

use super::*;

/// A directory with empty files, and directories where a name ends in a slash.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            fs::create_dir(path).unwrap();
        } else {
            fs::write(path, name).unwrap();
        }
    }
    folder
}

fn open(folder: &tempfile::TempDir) -> Dir {
    Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap()
}

fn names(listing: &Listing) -> Vec<&str> {
    let names = listing.entries.iter().map(|entry| entry.name.to_str());
    names.map(Option::unwrap).collect()
}

#[track_caller]
fn check(files: &[&str], options: &ListOptions, expected: &[&str]) {
    let folder = folder(files);
    let listing = list(&open(&folder), options, &mut |_, _| true).unwrap();
    assert_eq!(names(&listing), expected);
    assert_eq!(listing.total, files.len() as u64);
}

#[test]
fn names_are_ordered_without_case_and_then_by_bytes() {
    let by_name = ListOptions::default();
    check(
        &["b", "B", "a", "C", "É", "é", "d/", "_"],
        &by_name,
        &["_", "a", "B", "b", "C", "d", "É", "é"],
    );
    let folders_first = ListOptions {
        order: Order::FoldersFirst,
        ..ListOptions::default()
    };
    check(
        &["a", "B/", "c/", ".d"],
        &folders_first,
        &["B", "c", ".d", "a"],
    );
}

#[test]
fn sizes_are_those_of_the_links_themselves() {
    let folder = folder(&["four"]);
    std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("link")).unwrap();
    let options = ListOptions {
        sizes: true,
        ..ListOptions::default()
    };
    let listing = list(&open(&folder), &options, &mut |_, _| true).unwrap();
    let sizes: Vec<_> = listing.entries.iter().map(|entry| entry.size).collect();
    assert_eq!(sizes, [Some(4), Some(15)]);
    assert_eq!(listing.entries[1].kind, EntryKind::Link);
    let modified = fs::metadata(folder.path().join("four")).unwrap().modified();
    assert_eq!(listing.entries[0].modified, modified.ok());
}

#[test]
fn invisible_entries_do_not_exist() {
    let folder = folder(&["a", "b", "c/"]);
    let options = ListOptions::default();
    let listing = list(&open(&folder), &options, &mut |name, kind| {
        name != "a" && kind != EntryKind::Dir
    });
    let listing = listing.unwrap();
    assert_eq!(names(&listing), ["b"]);
    assert_eq!(listing.total, 1);
}

#[test]
fn a_fifo_is_another_kind() {
    let folder = folder(&[]);
    let dir = open(&folder);
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(dir.as_fd(), "fifo", FileType::Fifo, mode, 0).unwrap();
    let listing = list(&dir, &ListOptions::default(), &mut |_, _| true).unwrap();
    assert_eq!(listing.entries[0].kind, EntryKind::Other);
}

#[test]
fn a_name_that_is_no_utf8_is_listed_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"a\xFFb");
    fs::write(folder.path().join(name), "").unwrap();
    let listing = list(&open(&folder), &ListOptions::default(), &mut |_, _| true).unwrap();
    assert_eq!(listing.entries[0].name, name);
}

#[test]
fn a_limit_of_0_counts_only() {
    let folder = folder(&["a", "b"]);
    let options = ListOptions {
        limit: Some(0),
        ..ListOptions::default()
    };
    let listing = list(&open(&folder), &options, &mut |_, _| true).unwrap();
    assert_eq!((listing.entries.len(), listing.total), (0, 2));
}

#[test]
fn a_cancelled_listing_stops() {
    let folder = folder(&["a"]);
    let options = ListOptions::default();
    options.cancel.cancel();
    let error = list(&open(&folder), &options, &mut |_, _| true).unwrap_err();
    assert_eq!(error.code(), "cancelled");
}

#[test]
fn a_removed_directory_is_not_found() {
    let folder = folder(&[]);
    let dir = open(&folder);
    folder.close().unwrap();
    let result = list(&dir, &ListOptions::default(), &mut |_, _| true);
    assert!(result.is_err_and(|error| error.code() == "not_found"));
}

#[test]
fn a_page_goes_on_after_an_entry_that_is_gone() {
    let folder = folder(&["a", "c", "d"]);
    let options = ListOptions {
        limit: Some(1),
        after: Some(Position {
            name: "B".into(),
            is_dir: false,
        }),
        ..ListOptions::default()
    };
    let listing = list(&open(&folder), &options, &mut |_, _| true).unwrap();
    assert_eq!(names(&listing), ["c"]);
    assert_eq!(listing.next.map(|next| next.name), Some("c".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pages_one_after_another_are_the_sorted_directory(
        names in prop::collection::btree_set("[aAbBéÉ.]{1,4}/?", 0..30),
        limit in 1_usize..8,
        folders_first in any::<bool>(),
    ) {
        let plain = |name: &str| name.trim_end_matches('/').to_owned();
        let is_name = |name: &&str| !matches!(plain(name).as_str(), "." | "..");
        let mut seen = std::collections::HashSet::new();
        let names: Vec<&str> = names.iter().map(String::as_str).filter(is_name)
            .filter(|name| seen.insert(plain(name))).collect();
        let folder = folder(&names);
        let mut sorted = names.clone();
        sorted.sort_by_key(|name| {
            let is_file = folders_first && !name.ends_with('/');
            (is_file, plain(name).to_lowercase(), plain(name))
        });
        let expected: Vec<String> = sorted.iter().map(|name| plain(name)).collect();

        let mut options = ListOptions { limit: Some(limit), ..ListOptions::default() };
        if folders_first {
            options.order = Order::FoldersFirst;
        }
        let mut found = Vec::new();
        loop {
            let page = list(&open(&folder), &options, &mut |_, _| true).unwrap();
            assert!(page.entries.len() <= limit);
            assert_eq!(page.total, names.len() as u64);
            found.extend(page.entries.iter().map(|entry| entry.name.to_str().unwrap().to_owned()));
            assert!(found.len() <= expected.len(), "an entry came twice");
            if page.next.is_none() { break }
            options.after = page.next;
        }
        assert_eq!(found, expected);
    }
}
