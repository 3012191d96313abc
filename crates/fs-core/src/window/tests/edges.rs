//! The edges of windows, one by one.

use std::io::{Seek, SeekFrom};

use super::*;
use crate::error::Error;
use crate::format::Fallback;
use crate::version::Version;

fn read(bytes: &[u8], options: &ReadOptions) -> Result<Window> {
    read_file(&file_of(bytes), options, None, Sizes::DEFAULT)
}

#[track_caller]
fn check_error(result: Result<Window>, code: &str, message: &str) {
    let error: Error = result.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (code, message));
}

#[test]
fn lines_and_columns_count_from_1() {
    check_error(
        read(b"a\n", &options(from(0, 1, None))),
        "invalid_argument",
        "invalid line: it counts from 1",
    );
    check_error(
        read(b"a\n", &options(from(1, 0, None))),
        "invalid_argument",
        "invalid column: it counts from 1",
    );
}

#[test]
fn a_column_beyond_the_line_is_out_of_range() {
    check_error(
        read("a\n中文\n".as_bytes(), &options(from(2, 4, None))),
        "out_of_range",
        "column 4 is out of range: the line has 2 characters",
    );
    let window = read("a\n中文\nb".as_bytes(), &options(from(2, 3, None))).unwrap();
    assert_eq!(window.text, "\nb");
}

#[test]
fn a_window_past_the_end_is_empty_and_says_the_total() {
    for sizes in [Sizes::DEFAULT, all_large(8)] {
        let file = file_of(b"a\nb\n");
        let window = read_file(&file, &options(from(3, 9, None)), None, sizes).unwrap();
        assert_eq!((window.text.as_str(), window.total_lines), ("", Some(2)));
        assert!(window.eof && window.next.is_none() && window.first_line.is_none());
    }
}

#[test]
fn no_lines_are_asked_for_and_none_come() {
    let window = read(b"a\nb\n", &options(from(2, 1, Some(0)))).unwrap();
    assert_eq!((window.text.as_str(), window.eof), ("", false));
    assert_eq!(window.next, Some(Next { line: 2, column: 1 }));
    let window = read(b"a\nb\n", &options(LineRange::Tail { count: 0 })).unwrap();
    assert_eq!((window.text.as_str(), window.eof), ("", true));
}

#[test]
fn the_break_of_a_cut_line_comes_with_the_next_line() {
    let cut = ReadOptions {
        max_line_chars: Some(2),
        ..ReadOptions::default()
    };
    let window = read(b"abc\r\nd\nefg\n", &cut).unwrap();
    assert_eq!(window.text, "ab\r\nd\nef");
    let cut: Vec<_> = window.cut_lines.iter().map(|cut| cut.line).collect();
    assert_eq!(cut, [1, 3]);
    assert!(window.eof && window.truncated && window.next.is_none());
}

#[test]
fn a_byte_cap_under_the_first_character_still_moves_on() {
    let capped = |column| ReadOptions {
        range: from(1, column, None),
        max_bytes: Some(1),
        ..ReadOptions::default()
    };
    let text = "中文\r\nb".as_bytes();
    let window = read(text, &capped(1)).unwrap();
    assert_eq!(window.text, "中");
    assert_eq!(window.next, Some(Next { line: 1, column: 2 }));
    let window = read(text, &capped(3)).unwrap();
    assert_eq!(window.text, "\r\n");
    assert_eq!(window.next, Some(Next { line: 2, column: 1 }));
}

#[test]
fn a_file_over_the_cap_is_refused_before_its_content() {
    let capped = ReadOptions {
        max_file_bytes: Some(3),
        ..ReadOptions::default()
    };
    check_error(
        read(b"\0\0\0\0", &capped),
        "too_large",
        "too large: 4 bytes, the limit is 3",
    );
    assert_eq!(read(b"abc", &capped).unwrap().text, "abc");
}

#[test]
fn what_is_no_text_says_where_or_how_large() {
    let plain = ReadOptions::default();
    check_error(
        read(b"ab\xFF", &plain),
        "not_text",
        "not text in a known encoding, from byte 2",
    );
    check_error(
        read(b"a\0b", &plain),
        "binary_file",
        "binary file of 3 bytes",
    );
    let mostly = ["中".repeat(20).as_bytes(), b"\xFF\n"].concat();
    check_error(
        read(&mostly, &plain),
        "not_text",
        "not text in a known encoding, from byte 60",
    );
    let declared = ReadOptions {
        encoding: Some(Encoding::UTF_8),
        lossy: true,
        ..ReadOptions::default()
    };
    check_error(
        read(&mostly, &declared),
        "encoding_mismatch",
        "the file is not utf-8: byte 60 does not fit",
    );
}

#[test]
fn bad_bytes_are_counted_where_they_are_shown() {
    let mostly = ["中".repeat(20).as_bytes(), b"\n\xFF\n"].concat();
    let lossy = |range| ReadOptions {
        lossy: true,
        ..options(range)
    };
    let shown = read(&mostly, &lossy(LineRange::Tail { count: 1 })).unwrap();
    assert_eq!(
        (shown.text.as_str(), shown.invalid_bytes),
        ("\u{FFFD}\n", 1)
    );
    let hidden = read(&mostly, &lossy(from(1, 1, Some(1)))).unwrap();
    assert!(!hidden.is_lossy());
    let taken_back = ReadOptions {
        max_bytes: Some(64),
        ..lossy(LineRange::All)
    };
    let taken_back = read(&mostly, &taken_back).unwrap();
    assert_eq!(
        (taken_back.returned_lines, taken_back.invalid_bytes),
        (1, 0)
    );
}

#[test]
fn the_version_is_that_of_the_bytes() {
    let bytes = b"text\n".repeat(100);
    for block in [8, 64, 128 * 1024] {
        let window = read_file(
            &file_of(&bytes),
            &options(from(2, 1, Some(1))),
            None,
            small_blocks(block),
        );
        assert_eq!(window.unwrap().version, Version::of_bytes(&bytes));
    }
}

#[test]
fn utf16_as_fallback_is_counted_in_its_own_units() {
    let bytes = Encoding::UTF_16LE.encode("上中上中\u{4E0A}语").unwrap();
    let fallback = ReadOptions {
        fallback: Fallback::Encoding(Encoding::UTF_16LE),
        ..ReadOptions::default()
    };
    let window = read(&bytes, &fallback).unwrap();
    assert_eq!(
        (window.text.as_str(), window.total_lines),
        ("上中上中上语", Some(1))
    );
}

#[test]
fn a_cancelled_read_stops() {
    let options = ReadOptions::default();
    options.cancel.cancel();
    check_error(read(b"a", &options), "cancelled", "cancelled");
}

#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let dir = crate::tests::open(folder.path());
    let result = read_file(&dir, &ReadOptions::default(), None, Sizes::DEFAULT);
    check_error(result, "is_a_directory", "is a directory");
    let null = crate::tests::open("/dev/null".as_ref());
    let result = read_file(&null, &ReadOptions::default(), None, Sizes::DEFAULT);
    check_error(result, "not_a_file", "not a regular file");
}

#[test]
fn the_handles_position_neither_matters_nor_moves() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"a\nb\n").unwrap();
    file.seek(SeekFrom::Start(3)).unwrap();
    let handle = File::from_std(file.try_clone().unwrap());
    let window = read_file(&handle, &ReadOptions::default(), None, Sizes::DEFAULT);
    assert_eq!(window.unwrap().text, "a\nb\n");
    assert_eq!(file.stream_position().unwrap(), 3);
}

#[test]
fn a_file_that_changes_under_the_read_gives_an_answer_or_an_error() {
    let file = tempfile::tempfile().unwrap();
    let writer = file.try_clone().unwrap();
    let handle = File::from_std(file);
    let stop = crate::Cancel::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut size = 0;
            while !stop.is_cancelled() {
                size = (size * 7 + 4001) % 20_000;
                writer.set_len(size % 97).unwrap();
                writer.set_len(size).unwrap();
                std::os::unix::fs::FileExt::write_all_at(&writer, &b"line\n".repeat(40), 0)
                    .unwrap();
            }
        });
        for round in 0..400 {
            let sizes = if round % 2 == 0 {
                small_blocks(64)
            } else {
                all_large(64)
            };
            let options = ReadOptions {
                encoding: Some(Encoding::UTF_8),
                ..options(LineRange::Tail { count: 5 })
            };
            if let Err(error) = read_file(&handle, &options, None, sizes) {
                assert_eq!(error.code(), "io");
            }
        }
        stop.cancel();
    });
}
