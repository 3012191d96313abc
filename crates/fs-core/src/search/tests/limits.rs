//! Files that are no text, or too much of it; and what ends a search.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Instant;

use super::*;

#[test]
fn binary_files_are_told() {
    let late = [&b"hit\n".repeat(3000), b"\0hit\nhit\n".as_slice()].concat();
    let files: [(&str, &[u8]); 3] = [("a", b"hit\0\n"), ("b", b"\xFF\xFE\0\0hit"), ("c", &late)];
    let all = Query {
        max_results: 5000,
        ..query("hit")
    };
    let found = found(&tree(&files), &all);
    assert_eq!(found.hits, 3000, "what comes before a late NUL is text");
    assert_eq!(skips(&found), [("binary", 3)]);
}

#[test]
fn a_late_nul_ends_a_large_file_alike() {
    let text = [&b"x\n".repeat(1_000_000), b"hit\n".as_slice(), b"\0hit\n"].concat();
    for query in [query("hit"), regex("h.t")] {
        let found = found(&tree(&[("f", &text)]), &query);
        assert_eq!(lines(&found), ["f:1000001:hit"]);
        assert_eq!(skips(&found), [("binary", 1)]);
    }
}

#[test]
fn a_huge_line_is_told_and_what_is_before_it_found() {
    let text = [
        b"hit 1\n",
        vec![b'x'; 20 * 1024 * 1024].as_slice(),
        b"\nhit 2\n",
    ]
    .concat();
    let found = found(&tree(&[("f", &text)]), &query("hit"));
    assert_eq!(lines(&found), ["f:1:hit 1"]);
    assert_eq!(skips(&found), [("too_large", 1)]);
}

#[test]
fn links_and_devices_are_told_and_not_opened() {
    let folder = tree(&[("a/f", b"hit\n"), ("out", b"hit\n")]);
    let root = folder.path().join("a");
    symlink("../out", root.join("link")).unwrap();
    symlink(".", root.join("self")).unwrap();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(open(&root), "fifo", rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let found = search(&open(&root), &RelPath::root(), &query("hit"), &Everything).unwrap();
    assert_eq!(lines(&found), ["f:1:hit"]);
    assert_eq!(skips(&found), [("link", 2), ("special", 1)]);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tree(&[("a/f", b"hit\n"), ("b", b"hit\n"), ("c", b"hit\n")]);
    let lock = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    lock("a", 0o000);
    lock("b", 0o000);
    let readable = fs::read(folder.path().join("b")).is_ok();
    let found = found(&folder, &query("hit"));
    lock("a", 0o700);
    if readable {
        // Who may read everything cannot see this.
        return;
    }
    assert_eq!(lines(&found), ["c:1:hit"]);
    let named: Vec<_> = found.unreadable.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["a", "b"]);
    assert_eq!(skips(&found), [("unreadable", 2)]);
}

#[test]
fn a_cancelled_search_is_an_error() {
    for threads in [0, 2] {
        let query = Query {
            threads,
            ..query("hit")
        };
        query.walk.cancel.cancel();
        let folder = tree(&[("f", b"hit\n")]);
        let found = search(&open(folder.path()), &RelPath::root(), &query, &Everything);
        assert_eq!(found.unwrap_err().code(), "cancelled");
    }
}

#[test]
fn a_search_ends_when_its_time_is_up() {
    let folder = tree(&[("f", b"hit\n")]);
    for target in [Target::Text, Target::Names] {
        let hurried = Query {
            time_limit: Duration::ZERO,
            target,
            ..query("f")
        };
        let found = found(&folder, &hurried);
        assert_eq!((found.hits, found.cut), (0, Some(Cut::Time)));
    }
}

/// An expression that takes microseconds a byte, whatever the engine.
const SLOW: &str = "(?:[a-z ]{1,40}[a-z]){1,25}[^a-z ]";

fn letters(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        b"abcdefghijklmnopqrstuvwxyz    "[usize::try_from(state >> 33).unwrap() % 30]
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn a_line_too_long_for_a_slow_expression_is_told() {
    let text = [b"abc.\n", letters(900_000).as_slice(), b"\nabc.\n"].concat();
    let start = Instant::now();
    let found = found(&tree(&[("f", &text)]), &regex(SLOW));
    assert_eq!(lines(&found), ["f:1:abc."]);
    assert_eq!(skips(&found), [("too_large", 1)]);
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_search_stops_soon_after_it_is_cancelled() {
    let lines: Vec<_> = letters(400_000).chunks(100).map(<[u8]>::to_vec).collect();
    let text = lines.join(&b'\n');
    let files: Vec<_> = (0..40)
        .map(|number| (format!("f{number}"), text.as_slice()))
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    let folder = tree(&files);
    let slow = regex(SLOW);
    let cancel = slow.walk.cancel.clone();
    let root = open(folder.path());
    std::thread::scope(|scope| {
        let search = scope.spawn(|| search(&root, &RelPath::root(), &slow, &Everything));
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
        let start = Instant::now();
        assert_eq!(search.join().unwrap().unwrap_err().code(), "cancelled");
        assert!(start.elapsed() < Duration::from_secs(2));
    });
}

#[test]
fn a_slow_expression_is_stopped_within_a_file() {
    let lines: Vec<_> = letters(900_000).chunks(100).map(<[u8]>::to_vec).collect();
    let folder = tree(&[("f", &lines.join(&b'\n'))]);
    let slow = Query {
        time_limit: Duration::from_millis(200),
        ..regex(SLOW)
    };
    let start = Instant::now();
    assert_eq!(found(&folder, &slow).cut, Some(Cut::Time));
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[test]
fn pieces_of_a_text_are_matched_as_the_whole() {
    let text = "line\n\n".repeat(20_000);
    let all = |pattern: &str| Query {
        max_results: 100_000,
        max_bytes: 1 << 30,
        ..regex(pattern)
    };
    let folder = tree(&[("f", text.as_bytes())]);
    for (pattern, hits) in [
        ("^$", 20_000),
        ("^", 40_000),
        ("e$", 20_000),
        ("x*", 40_000),
        ("^l.*e$", 20_000),
        (r"\Aline\z", 20_000),
    ] {
        assert_eq!(found(&folder, &all(pattern)).hits, hits, "{pattern}");
    }
}

#[test]
fn a_start_that_is_named_is_searched_though_it_is_ignored() {
    let folder = tree(&[
        (".gitignore", b"gen/\n"),
        ("gen/f", b"hit\n"),
        ("gen/target/g", b"hit\n"),
    ]);
    let root = open(folder.path());
    let start = RelPath::parse("gen").unwrap();
    let found = search(&root, &start, &query("hit"), &Everything).unwrap();
    assert_eq!(lines(&found), ["gen/f:1:hit"]);
    assert_eq!(skips(&found), [("skip_list", 1)]);
}
