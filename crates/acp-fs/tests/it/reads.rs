//! Windows, and what is no text.

use acp_fs::{BeyondEof, FileOptions, NoBuffers};
use fs_core::{Encoding, Fallback};

use crate::place::{Place, check};

/// Checks a window of a file with these bytes.
#[track_caller]
fn check_window(bytes: &[u8], line: Option<u32>, limit: Option<u32>, wanted: &str) {
    let place = Place::new();
    place.put("a.txt", bytes);
    let read = place.open(NoBuffers).window("a.txt", line, limit).unwrap();
    assert_eq!(read.content, wanted, "{bytes:?} {line:?} {limit:?}");
}

#[test]
fn a_window_is_an_exact_part_of_the_file() {
    let bytes = b"one\r\ntwo\rstill two\nthree\x0cstill\xe2\x80\xa8three\nend";
    check_window(bytes, None, None, std::str::from_utf8(bytes).unwrap());
    check_window(bytes, Some(1), Some(1), "one\r\n");
    check_window(bytes, Some(2), Some(1), "two\rstill two\n");
    check_window(bytes, Some(3), None, "three\x0cstill\u{2028}three\nend");
    check_window(bytes, Some(4), Some(9), "end");
}

#[test]
fn line_zero_is_the_first_and_limit_zero_none() {
    check_window(b"a\nb\n", Some(0), Some(1), "a\n");
    check_window(b"a\nb\n", Some(2), Some(0), "");
    check_window(b"a\nb\n", None, Some(1), "a\n");
    check_window(b"", None, None, "");
}

#[test]
fn one_line_past_the_end_is_empty_and_beyond_is_an_error() {
    check_window(b"a\nb\n", Some(3), None, "");
    check_window(b"a\nb", Some(3), None, "");
    check_window(b"", Some(1), Some(5), "");
    for (bytes, line, last) in [(&b"a\nb\n"[..], 4, 2), (b"", 2, 0), (b"a", 3, 1)] {
        let place = Place::new();
        place.put("a.txt", bytes);
        let open = place.open(NoBuffers);
        let error = open.window("a.txt", Some(line), None).unwrap_err();
        assert_eq!((error.code, error.stable_code()), (-32602, "out_of_range"));
        assert_eq!(error.data["last"], last);
        assert_eq!(error.data["total_lines"], last);
        check(
            open.window("a.txt", Some(line), Some(0)),
            -32602,
            "out_of_range",
        );
    }
    let options = FileOptions {
        beyond_eof: BeyondEof::Empty,
        ..FileOptions::default()
    };
    let place = Place::new();
    place.put("a.txt", "a\n");
    let open = place.open_with(NoBuffers, options);
    assert_eq!(open.window("a.txt", Some(99), None).unwrap().content, "");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    check_window(b"\xef\xbb\xbfa\nb\n", None, None, "a\nb\n");
    check_window(b"\xff\xfea\0\n\0", None, None, "a\n");
}

#[test]
fn bytes_that_are_no_text_are_never_shown_as_text() {
    let place = Place::new();
    place.put("gbk.txt", b"\xc4\xe3\xba\xc3\n");
    place.put(
        "bad.txt",
        [b"caf\xc3\xa9 ".repeat(50).as_slice(), b"\xff\n"].concat(),
    );
    place.put("binary", b"\x7fELF\0\0\0");
    let open = place.open(NoBuffers);
    check(open.read("gbk.txt"), -32602, "not_text");
    check(open.read("bad.txt"), -32602, "not_text");
    check(open.read("binary"), -32602, "binary_file");
    let options = FileOptions {
        fallback: Fallback::Encoding(Encoding::GBK),
        ..FileOptions::default()
    };
    assert_eq!(
        place.open_with(NoBuffers, options).text("gbk.txt"),
        "你好\n"
    );
}

#[test]
fn an_answer_over_the_limit_is_refused_with_the_way_on() {
    let place = Place::new();
    place.put("a.txt", "0123456789\n".repeat(100));
    place.put("escapes.txt", "\u{1}".repeat(200) + "\n");
    let options = FileOptions {
        max_reply_bytes: 1_000,
        ..FileOptions::default()
    };
    let open = place.open_with(NoBuffers, options);
    let error = open.read("a.txt").unwrap_err();
    assert_eq!(error.stable_code(), "too_large");
    assert_eq!(error.data["total_lines"], 100);
    assert!(error.data["hint"].as_str().unwrap().contains("`limit`"));
    // 12 bytes as JSON for each line of 11.
    assert_eq!(
        open.window("a.txt", Some(1), Some(83))
            .unwrap()
            .returned_lines,
        83
    );
    check(open.window("a.txt", Some(1), Some(84)), -32602, "too_large");
    // It is the answer's size that counts.
    check(open.read("escapes.txt"), -32602, "too_large");
}

#[test]
fn a_large_file_is_read_in_windows() {
    let place = Place::new();
    let mut lines = String::new();
    for number in 1..=1_000_000 {
        lines.extend(["line ", &number.to_string(), "\n"]);
    }
    place.put("log", &lines);
    let open = place.open(NoBuffers);
    let read = open.window("log", Some(500_000), Some(2)).unwrap();
    assert_eq!(read.content, "line 500000\nline 500001\n");
    assert_eq!(
        open.window("log", Some(1_000_001), None).unwrap().content,
        ""
    );
    check(
        open.window("log", Some(1_000_002), None),
        -32602,
        "out_of_range",
    );
    assert_eq!(open.text("log"), lines);
    place.put("log", "x".repeat(40 * 1024 * 1024));
    check(open.read("log"), -32602, "too_large");
}

#[test]
fn other_things_than_files_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("root/dir")).unwrap();
    place.put("a.txt", "a\n");
    let open = place.open(NoBuffers);
    check(open.read("dir"), -32602, "is_a_directory");
    check(open.read("a.txt/x"), -32602, "not_a_directory");
    check(open.read("a\0b"), -32602, "invalid_path");
    check(open.read("no.txt"), -32002, "not_found");
    let error = open.read("no.txt").unwrap_err();
    assert!(error.message.starts_with("Resource not found: "), "{error}");
    assert!(error.message.contains("ENOENT"), "{error}");
}
