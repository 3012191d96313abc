//! Files that are judged by samples, and the index over them.

use std::time::Duration;

use super::*;
use crate::error::Error;
use crate::format::{EncodingBy, Eol, Fallback};
use crate::version::Version;

const LINES: u64 = 600_000;

/// A file of 5.5 MiB whose lines hold their number.
fn numbered() -> Vec<u8> {
    (1..=LINES)
        .flat_map(|n| format!("{n:08}\n").into_bytes())
        .collect()
}

fn read(file: &File, range: LineRange, index: Option<&IndexCache>) -> Window {
    read_file(file, &options(range), index, Sizes::DEFAULT).unwrap()
}

#[track_caller]
fn check(window: &Window, text: &str, first_line: Option<u64>, total: Option<u64>) {
    assert_eq!(window.text, text);
    assert_eq!((window.first_line, window.total_lines), (first_line, total));
}

#[test]
fn a_large_file_is_read_without_its_total() {
    let file = file_of(&numbered());
    let window = read(&file, from(300_000, 1, Some(2)), None);
    check(&window, "00300000\n00300001\n", Some(300_000), None);
    assert_eq!(window.encoding_by, EncodingBy::Sample);
    assert_eq!(window.format.eol, Eol::Lf);
    assert_eq!(window.version, Version::of_handle(&file).unwrap());
    assert!(!window.eof);
    let next = Next {
        line: 300_002,
        column: 1,
    };
    assert_eq!(window.next, Some(next));
}

#[test]
fn the_total_is_known_at_the_end() {
    let file = file_of(&numbered());
    let end = read(&file, from(LINES, 1, Some(5)), None);
    check(&end, "00600000\n", Some(LINES), Some(LINES));
    let beyond = read(&file, from(LINES + 2, 1, None), None);
    check(&beyond, "", None, Some(LINES));
}

#[test]
fn a_tail_is_numbered_when_that_is_wanted_or_needed() {
    let file = file_of(&numbered());
    let tail = LineRange::Tail { count: 2 };
    let plain = read(&file, tail, None);
    check(&plain, "00599999\n00600000\n", None, None);
    assert!(plain.eof);
    let wanted = ReadOptions {
        number_lines: true,
        ..options(tail)
    };
    let numbered = read_file(&file, &wanted, None, Sizes::DEFAULT).unwrap();
    check(&numbered, &plain.text, Some(LINES - 1), Some(LINES));
    let capped = ReadOptions {
        max_bytes: Some(12),
        ..options(tail)
    };
    let capped = read_file(&file, &capped, None, Sizes::DEFAULT).unwrap();
    check(&capped, "00599999\n", Some(LINES - 1), None);
    let next = Next {
        line: LINES,
        column: 1,
    };
    assert_eq!(capped.next, Some(next));
}

#[test]
fn the_index_answers_again_until_the_file_changes() {
    let cache = IndexCache::new();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&numbered()).unwrap();
    let handle = File::from_std(file.try_clone().unwrap());
    let middle = from(300_000, 1, Some(1));
    read(&handle, from(LINES, 1, None), Some(&cache));
    assert_eq!(
        read(&handle, middle, Some(&cache)).total_lines,
        None,
        "too young"
    );

    std::thread::sleep(Duration::from_millis(2100));
    read(&handle, from(200_000, 1, Some(1)), Some(&cache));
    let partial = read(&handle, middle, Some(&cache));
    check(&partial, "00300000\n", Some(300_000), None);
    read(&handle, from(LINES, 1, None), Some(&cache));
    let warm = read(&handle, middle, Some(&cache));
    check(&warm, "00300000\n", Some(300_000), Some(LINES));
    let tail = read(&handle, LineRange::Tail { count: 1 }, Some(&cache));
    check(&tail, "00600000\n", Some(LINES), Some(LINES));

    file.write_all(b"more\n").unwrap();
    let changed = read(&handle, middle, Some(&cache));
    check(&changed, "00300000\n", Some(300_000), None);
    let end = read(&handle, from(LINES + 1, 1, None), Some(&cache));
    check(&end, "more\n", Some(LINES + 1), Some(LINES + 1));
}

/// A file whose ends are ASCII and whose middle is `middle`, three lines of it.
fn with_middle(middle: &[u8]) -> File {
    let ascii = b"plain text here\n".repeat(200_000);
    file_of(&[&ascii, middle, &ascii].concat())
}

fn read_middle(file: &File, options: ReadOptions) -> Result<Window, Error> {
    let range = from(200_001, 1, Some(3));
    let options = ReadOptions { range, ..options };
    read_file(file, &options, None, Sizes::DEFAULT)
}

#[test]
fn a_window_that_the_ends_do_not_foretell_is_judged_with_them() {
    let auto = ReadOptions {
        fallback: Fallback::Auto,
        ..ReadOptions::default()
    };
    let lossy = ReadOptions {
        lossy: true,
        ..ReadOptions::default()
    };
    let text = "这是简体中文的文件\n用来测试编码检测的结果\n第三行\n";
    let file = with_middle(&Encoding::GBK.encode(text).unwrap());
    let window = read_middle(&file, auto).unwrap();
    assert_eq!(window.text, text);
    assert_eq!(window.format.encoding.name(), "gb18030");
    assert_eq!(window.encoding_by, EncodingBy::Guess);
    let error = read_middle(&file, lossy.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not text in a known encoding, from byte 3200000"
    );

    let text = ["中".repeat(20).as_bytes(), b"\na\xFFb\nc\n"].concat();
    let file = with_middle(&text);
    let window = read_middle(&file, lossy).unwrap();
    assert_eq!(window.text, String::from_utf8_lossy(&text));
    assert_eq!(window.invalid_bytes, 1);
    assert_eq!(window.encoding_by, EncodingBy::Sample);
    let error = read_middle(&file, ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), "not_text");
}

#[test]
fn a_declared_encoding_that_the_window_does_not_fit_is_a_mismatch() {
    let file = with_middle(b"\xFF\xFF\n\n\n");
    let options = ReadOptions {
        encoding: Some(Encoding::GBK),
        ..options(from(200_001, 1, Some(1)))
    };
    let error = read_file(&file, &options, None, Sizes::DEFAULT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file is not gb18030: byte 3200000 does not fit"
    );
}

#[test]
fn large_files_in_other_encodings_are_known_by_their_ends() {
    let line = "这是简体中文的文件，用来测试 the words\r\n";
    let text = line.repeat(160_000);
    for (label, by) in [
        ("utf-16be", EncodingBy::NulParity),
        ("gb18030", EncodingBy::Guess),
    ] {
        let encoding = Encoding::for_label(label).unwrap();
        let file = file_of(&encoding.encode(&text).unwrap());
        let auto = ReadOptions {
            fallback: Fallback::Auto,
            ..options(from(150_000, 1, Some(1)))
        };
        let window = read_file(&file, &auto, None, Sizes::DEFAULT).unwrap();
        assert_eq!(window.text, line);
        assert_eq!(window.format.encoding.name(), label);
        assert_eq!((window.encoding_by, window.format.eol), (by, Eol::CrLf));
    }
}

#[test]
fn a_line_longer_than_a_block_is_cut_and_gone_on_with() {
    let mut bytes = b"x".repeat(6_000_000);
    bytes.extend(b"\nlast\n");
    let file = file_of(&bytes);
    let capped = |column| ReadOptions {
        max_line_chars: Some(10),
        max_bytes: Some(1000),
        ..options(from(1, column, None))
    };
    let window = read_file(&file, &capped(1), None, Sizes::DEFAULT).unwrap();
    assert_eq!(window.text, "xxxxxxxxxx\nlast\n");
    let cut = CutLine {
        line: 1,
        shown_chars: 10,
        line_bytes: 6_000_000,
        next_column: 11,
    };
    assert_eq!(window.cut_lines, [cut]);
    let window = read_file(&file, &capped(5_999_996), None, Sizes::DEFAULT).unwrap();
    assert_eq!(window.text, "xxxxx\nlast\n");
}
