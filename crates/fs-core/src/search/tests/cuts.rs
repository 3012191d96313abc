//! Answers that cannot hold everything.

use super::*;

fn ten() -> Vec<(String, Vec<u8>)> {
    let text = "x\nhit 1\nhit 2\nx\nx\nx\nhit 3\nx\n";
    (0..10)
        .map(|n| (format!("d{}/f{n}", n % 3), text.as_bytes().to_vec()))
        .collect()
}

fn ten_files() -> tempfile::TempDir {
    let files = ten();
    let files: Vec<_> = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    tree(&files)
}

#[track_caller]
fn check_cut(query: &Query, expected: &[&str], cut: Option<Cut>) {
    let folder = ten_files();
    for threads in [0, 1, 2, 4] {
        let found = found(
            &folder,
            &Query {
                threads,
                ..query.clone()
            },
        );
        assert_eq!(lines(&found), expected);
        assert_eq!(found.cut, cut);
        let hits: usize = found.blocks.iter().map(|block| block.hits().count()).sum();
        assert_eq!(found.hits, hits);
    }
}

#[test]
fn the_first_hits_in_path_order_are_kept() {
    let all = Query {
        max_results: 30,
        ..query("hit")
    };
    let everything = found(&ten_files(), &all);
    assert_eq!((everything.hits, everything.cut), (30, None));
    let whole = lines(&everything);
    for max_results in 0..30 {
        let kept: Vec<_> = whole.iter().take(max_results).map(String::as_str).collect();
        check_cut(
            &Query {
                max_results,
                ..query("hit")
            },
            &kept,
            Some(Cut::Results),
        );
    }
}

#[test]
fn the_last_hit_keeps_its_context_and_no_more() {
    let context = |max_results, context_lines| Query {
        context_lines,
        max_results,
        ..query("hit")
    };
    check_cut(
        &context(1, 1),
        &["d0/f0-1-x", "d0/f0:2:hit 1", "d0/f0-3-hit 2"],
        Some(Cut::Results),
    );
    check_cut(
        &context(2, 1),
        &["d0/f0-1-x", "d0/f0:2:hit 1", "d0/f0:3:hit 2", "d0/f0-4-x"],
        Some(Cut::Results),
    );
    let expected = [
        "d0/f0-1-x",
        "d0/f0:2:hit 1",
        "d0/f0-3-hit 2",
        "d0/f0-4-x",
        "d0/f0-5-x",
    ];
    check_cut(&context(1, 3), &expected, Some(Cut::Results));
    let expected = [
        "d0/f0-1-x",
        "d0/f0:2:hit 1",
        "d0/f0:3:hit 2",
        "d0/f0-4-x",
        "d0/f0-5-x",
        "d0/f0-6-x",
        "d0/f0:7:hit 3",
        "d0/f0-8-x",
        "d0/f3-1-x",
        "d0/f3:2:hit 1",
        "d0/f3-3-hit 2",
        "d0/f3-4-x",
    ];
    check_cut(&context(4, 2), &expected, Some(Cut::Results));
}

#[test]
fn the_bytes_of_an_answer_are_limited_but_one_hit_fits() {
    let bytes = |max_bytes| Query {
        max_bytes,
        ..query("hit")
    };
    check_cut(&bytes(0), &["d0/f0:2:hit 1"], Some(Cut::Bytes));
    check_cut(
        &bytes(52),
        &["d0/f0:2:hit 1", "d0/f0:3:hit 2"],
        Some(Cut::Bytes),
    );
    check_cut(
        &bytes(78),
        &["d0/f0:2:hit 1", "d0/f0:3:hit 2", "d0/f0:7:hit 3"],
        Some(Cut::Bytes),
    );
}

#[test]
fn what_was_passed_over_before_the_cut_never_varies() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..400 {
        let path = folder.path().join(format!("f{number:03}"));
        let bytes: &[u8] = match number % 4 {
            0 => b"bin\0ary",
            1 => b"hit\n",
            _ => b"none\n",
        };
        fs::write(path, bytes).unwrap();
    }
    let cut = Query {
        max_results: 20,
        ..query("hit")
    };
    let first = found(&folder, &cut);
    assert_eq!((first.hits, first.cut), (20, Some(Cut::Results)));
    for threads in [0, 1, 2, 3, 8] {
        assert_eq!(
            found(
                &folder,
                &Query {
                    threads,
                    ..cut.clone()
                }
            ),
            first
        );
    }
}

#[test]
fn a_long_line_is_cut_around_its_match() {
    let line = format!("{}needle{}\n", "中".repeat(2000), "é".repeat(2000));
    let folder = tree(&[("f", line.as_bytes())]);
    let found = found(&folder, &query("needle"));
    let hit = &found.blocks[0].lines[0];
    assert_eq!(hit.text.chars().count(), 500);
    assert_eq!(hit.column, Some(2001));
    assert!(hit.is_cut);
    let (before, _) = hit.text.split_once("needle").unwrap();
    let before = before.chars().count() as u64;
    assert_eq!(hit.first_column + before, 2001);
    assert_eq!(before, 247);
}

#[track_caller]
fn check_shown(line: &str, max_line_chars: usize, text: &str, first_column: u64) {
    let folder = tree(&[("f", line.as_bytes())]);
    let found = found(
        &folder,
        &Query {
            max_line_chars,
            ..query("hit")
        },
    );
    let hit = &found.blocks[0].lines[0];
    assert_eq!((hit.text.as_str(), hit.first_column), (text, first_column));
    assert_eq!(hit.is_cut, text != line);
}

#[test]
fn a_cut_line_is_full() {
    check_shown("hit456789", 5, "hit45", 1);
    check_shown("123456hit", 5, "56hit", 5);
    check_shown("1234hit89", 5, "4hit8", 4);
    check_shown("1234hit89", 9, "1234hit89", 1);
    check_shown("1234hit89", 2, "hi", 5);
    check_shown("1234hit89", 0, "", 5);
}

#[test]
fn the_path_that_is_written_with_each_line_counts() {
    let dir = vec!["d".repeat(250); 8].join("/");
    let path = format!("{dir}/f");
    let text = "x\n\n\n".repeat(1000);
    let folder = tree(&[(&path, text.as_bytes())]);
    let query = Query {
        max_results: 5000,
        max_bytes: 64 * 1024,
        context_lines: 1,
        ..query("x")
    };
    let found = found(&folder, &query);
    let bytes: usize = lines(&found).iter().map(|line| line.len() + 1).sum();
    assert_eq!(found.cut, Some(Cut::Bytes));
    assert!((32 * 1024..=64 * 1024).contains(&bytes), "{bytes}");
}
