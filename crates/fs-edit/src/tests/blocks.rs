//! The size of the blocks makes no difference: what is planned in blocks is what is planned in memory.

use std::time::{Duration, Instant};

use fs_core::{Content, Encoding, Fallback};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::explain::Budget;
use crate::plan::plan_within;
use crate::{DiffOptions, Edit, EolMode, Positional, Request, Target, plan, plan_content};

const BLOCKS: [usize; 9] = [1, 2, 3, 4, 5, 7, 16, 61, 1 << 20];

const LETTERS: [&str; 18] = [
    "a", "b", "ab", "\n", "\r\n", "\r", "\n", "\r\n", " ", "\t", "é", "e\u{301}", "中", "文", "😀",
    "日本", "\u{FEFF}", "\u{85}",
];

const LABELS: [&str; 14] = [
    "utf-8",
    "utf-8",
    "utf-16le",
    "utf-16be",
    "gbk",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "iso-2022-jp",
    "iso-2022-jp",
    "windows-1252",
    "koi8-r",
];

/// What a plan comes to, with everything that is told of it.
fn outcome(content: &Content<'_>, request: &Request) -> String {
    // An explanation that runs out of time would be another one.
    let patient = Budget {
        until: Instant::now() + Duration::from_secs(600),
        max_bytes: 16 * 1024 * 1024,
    };
    let planned = match plan_within(content, request, &patient) {
        Ok(planned) => planned,
        Err(error) => return format!("{error:?}"),
    };
    let few = DiffOptions {
        context: 1,
        max_lines: 6,
        max_bytes: 200,
        first_line: 1,
    };
    let diffs = [DiffOptions::default(), few].map(|options| {
        let diff = planned.diff_content(content, "f", &options);
        diff.expect("memory is read without fail")
    });
    format!("{planned:?} {diffs:?}")
}

/// Checks that blocks of every size give what memory gives.
#[track_caller]
pub(super) fn check(source: &[u8], request: &Request) {
    let expected = outcome(&Content::of_bytes(source), request);
    // A pass over a large source in small blocks takes long.
    let least = source.len() / 1_000;
    for block_bytes in BLOCKS.into_iter().filter(|it| *it >= least) {
        let seen = outcome(&Content::in_blocks(source, block_bytes), request);
        assert_eq!(
            seen, expected,
            "{source:?} in blocks of {block_bytes}, {request:?}"
        );
    }
}

fn text(len: usize) -> impl Strategy<Value = String> {
    let any = proptest::collection::vec(select(&LETTERS[..]), 0..len);
    let dense = proptest::collection::vec(select(&LETTERS[..6]), 0..len);
    prop_oneof![any, dense].prop_map(|letters| letters.concat())
}

/// A file in some encoding, whole or spoilt, and the text that it was made of.
#[derive(Debug, Clone)]
struct File {
    text: String,
    bytes: Vec<u8>,
    encoding: Option<Encoding>,
}

fn file() -> impl Strategy<Value = File> {
    let spoilt =
        proptest::option::weighted(0.15, (any::<Index>(), select(vec![0xFF, 0xE9, 0x81, 0])));
    let marked = any::<bool>();
    (text(24), select(&LABELS[..]), marked, spoilt).prop_map(|(text, label, marked, spoilt)| {
        let encoding = Encoding::for_label(label).unwrap();
        let fits = |c: &char| encoding.encode(&c.to_string()).is_ok();
        let text: String = text.chars().filter(fits).collect();
        let mut bytes = encoding.encode(&text).unwrap();
        let is_unicode = label.starts_with("utf");
        if is_unicode && marked {
            bytes = [encoding.encode("\u{FEFF}").unwrap(), bytes].concat();
        }
        if let Some((at, byte)) = spoilt {
            let at = at.index(bytes.len() + 1);
            bytes.insert(at, byte);
        }
        let encoding = (!is_unicode && spoilt.is_none()).then_some(encoding);
        File {
            text,
            bytes,
            encoding,
        }
    })
}

fn eol() -> impl Strategy<Value = EolMode> {
    use EolMode::{Auto, CrLf, Exact, Lf};
    select(vec![Auto, Auto, Auto, Exact, Lf, CrLf])
}

fn edit(text: &str, cut: Option<(Index, Index)>, old: String, new: String, count: i64) -> Edit {
    let chars: Vec<char> = text.chars().collect();
    let old = match cut {
        Some((start, len)) if !chars.is_empty() => {
            let start = start.index(chars.len());
            let end = (start + 1 + len.index(9)).min(chars.len());
            chars[start..end].iter().collect()
        }
        _ => old,
    };
    Edit {
        old,
        new,
        expected_count: count,
    }
}

fn request(target: Target, file: &File, eol: EolMode) -> Request {
    Request {
        eol,
        encoding: file.encoding,
        fallback: Fallback::Auto,
        ..Request {
            target,
            ..Request::edits(Vec::new())
        }
    }
}

fn position() -> impl Strategy<Value = Positional> {
    let insert = (0..8_u64, 0..6_u64, text(5));
    let insert = insert.prop_map(|(line, column, text)| Positional::Insert { line, column, text });
    let line = (0..8_u64, text(5)).prop_map(|(line, text)| Positional::ReplaceLine { line, text });
    let range = (1..6_u64, 1..5_u64, 0..8_u64, 0..5_u64, text(9));
    let range =
        range.prop_map(
            |(line, column, end_line, end_column, text)| Positional::ReplaceRange {
                line,
                column,
                end_line,
                end_column,
                text,
            },
        );
    prop_oneof![insert, line, range]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn an_edit_in_blocks_is_the_edit_in_memory(
        file in file(),
        recipes in proptest::collection::vec(
            (proptest::option::weighted(0.85, any::<(Index, Index)>()), text(4), text(6),
             select(vec![1_i64, 1, 1, 2, 3, -1, -1])),
            1..4,
        ),
        eol in eol(),
    ) {
        let edits = recipes.into_iter().map(|(cut, old, new, count)| {
            edit(&file.text, cut, old, new, count)
        });
        check(&file.bytes, &request(Target::Text(edits.collect()), &file, eol));
    }

    #[test]
    fn a_change_by_position_in_blocks_is_that_in_memory(
        file in file(),
        position in position(),
        eol in eol(),
    ) {
        check(&file.bytes, &request(Target::Position(position), &file, eol));
    }

    #[test]
    fn any_bytes_in_blocks_are_what_they_are_in_memory(
        bytes in proptest::collection::vec(
            select(vec![b'a', b'b', b'\n', b'\r', b' ', 0, 0x1B, b'(', b'J', 0x81, 0xA4, 0xE4, 0xFF]),
            0..40,
        ),
        label in proptest::option::of(select(&LABELS[..])),
        old in select(vec!["a", "ab", "aa", "a\n", "\r", "\n", "a\r\n"]),
        new in text(4),
    ) {
        let file = File {
            text: String::new(),
            bytes,
            encoding: label.map(|label| Encoding::for_label(label).unwrap()),
        };
        let edit = Edit { expected_count: -1, ..Edit::new(old, new) };
        check(&file.bytes, &request(Target::Text(vec![edit]), &file, EolMode::Auto));
    }
}

#[test]
fn a_break_or_a_needle_over_the_edge_of_a_block_is_seen() {
    let source = b"one\r\ntwo\nthree\r\r\nfour aaaa\r\n";
    for (old, new, count) in [
        ("one\ntwo\nthree", "1\n2\n3", 1),
        ("\n", "\n\n", -1),
        ("\r\n", "", -1),
        ("\r", "x", 1),
        ("aa", "b", -1),
        ("aa", "b", 3),
        ("four aaaa\n", "", 1),
        ("nothing of it", "", 1),
    ] {
        let edit = Edit {
            expected_count: count,
            ..Edit::new(old, new)
        };
        check(source, &Request::edits(vec![edit]));
    }
}

#[test]
fn long_changes_in_blocks_are_told_as_in_memory() {
    // Over the size at which a side is no longer held whole, with its lines at both ends alike.
    let line = "0123456789 0123456789 0123456789 0123456789\n";
    let source = line.repeat(100_000);
    let last = 99_000;
    for text in [String::new(), line.repeat(3), format!("{line}new\n{line}")] {
        let request = Request::position(Positional::ReplaceRange {
            line: 5,
            column: 1,
            end_line: last,
            end_column: 1,
            text,
        });
        let memory = Content::of_bytes(source.as_bytes());
        let blocks = Content::in_blocks(source.as_bytes(), 1 << 20);
        assert_eq!(outcome(&blocks, &request), outcome(&memory, &request));
    }
}

#[test]
fn edits_in_a_long_line_are_told_as_in_memory() {
    let run = "x".repeat(900_000);
    let source = format!("a\n{run}ONE{run}TWO{run}\r\nb\n{run}{run}{run}");
    for (old, new) in [
        ("ONE", "1"),
        ("TWO", "2\n3"),
        ("a\n", "a\nb\n"),
        ("\r\nb", "\nb\nc"),
    ] {
        let request = Request::edits(vec![Edit::new(old, new)]);
        let memory = Content::of_bytes(source.as_bytes());
        let blocks = Content::in_blocks(source.as_bytes(), 1 << 20);
        assert_eq!(outcome(&blocks, &request), outcome(&memory, &request));
    }
}

#[test]
fn plans_of_both_kinds_are_one() {
    let source = b"a\nb\n";
    let request = Request::edits(vec![Edit::new("b", "c")]);
    let planned = plan_content(&Content::in_blocks(source, 1), &request).unwrap();
    assert_eq!(planned.patch(), plan(source, &request).unwrap().patch());
    assert_eq!(
        planned.diff(source, "f", &DiffOptions::default()),
        "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    );
}
