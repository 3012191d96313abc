//! Corners of the contract: positions, encodings, limits and the order of checks.

use fs_core::{Encoding, Fallback};

use super::blocks;
use crate::{Edit, EolMode, MAX_EDITS, MAX_OLD_BYTES, Positional, Request, plan};

/// Bytes after, as text, or the code and the edit.
type Outcome<'a> = Result<&'a [u8], (&'a str, Option<usize>)>;

#[track_caller]
fn check(source: &[u8], request: &Request, expected: Outcome<'_>) {
    let seen = plan(source, request).map(|plan| plan.patch().apply(source));
    let seen = seen
        .as_deref()
        .map_err(|error| (error.code(), error.edit()));
    assert_eq!(seen, expected);
    blocks::check(source, request);
}

fn edits(pairs: &[(&str, &str)]) -> Request {
    Request::edits(
        pairs
            .iter()
            .map(|(old, new)| Edit::new(*old, *new))
            .collect(),
    )
}

fn counted(old: &str, new: &str, expected_count: i64) -> Request {
    Request::edits(vec![Edit {
        expected_count,
        ..Edit::new(old, new)
    }])
}

fn insert(line: u64, column: u64, text: &str) -> Request {
    Request::position(Positional::Insert {
        line,
        column,
        text: text.to_owned(),
    })
}

fn line(line: u64, text: &str) -> Request {
    Request::position(Positional::ReplaceLine {
        line,
        text: text.to_owned(),
    })
}

fn range(from: (u64, u64), to: (u64, u64), text: &str) -> Request {
    Request::position(Positional::ReplaceRange {
        line: from.0,
        column: from.1,
        end_line: to.0,
        end_column: to.1,
        text: text.to_owned(),
    })
}

fn in_encoding(request: Request, label: &str) -> Request {
    Request {
        encoding: Some(Encoding::for_label(label).unwrap()),
        ..request
    }
}

fn failed(code: &str) -> Outcome<'_> {
    Err((code, None))
}

fn failed_in(code: &str, edit: usize) -> Outcome<'_> {
    Err((code, Some(edit)))
}

#[test]
fn insert_is_by_code_points_and_never_clamped() {
    check(b"ab\ncd", &insert(1, 2, "X"), Ok(b"aXb\ncd"));
    check(
        "中é😀\n".as_bytes(),
        &insert(1, 3, "X"),
        Ok("中éX😀\n".as_bytes()),
    );
    check(b"ab\ncd", &insert(2, 3, "Y"), Ok(b"ab\ncdY"));
    check(b"ab\ncd", &insert(2, 4, "Y"), failed("out_of_range"));
    check(b"ab\ncd", &insert(2, 99, "Y"), failed("out_of_range"));
    check(b"ab\ncd", &insert(0, 1, "Y"), failed("out_of_range"));
    check(b"ab\ncd", &insert(1, 0, "Y"), failed("out_of_range"));
    check(b"ab\ncd", &insert(4, 1, "Y"), failed("out_of_range"));
    check(
        b"ab\ncd",
        &insert(u64::MAX, u64::MAX, "Y"),
        failed("out_of_range"),
    );
}

#[test]
fn insert_after_the_last_line_appends() {
    check(b"", &insert(1, 1, "a"), Ok(b"a"));
    check(b"", &insert(1, 2, "a"), failed("out_of_range"));
    check(b"", &insert(2, 1, "a"), failed("out_of_range"));
    check(b"a\n", &insert(2, 1, "b"), Ok(b"a\nb"));
    check(b"a\n", &insert(2, 2, "b"), failed("out_of_range"));
    check(b"a", &insert(2, 1, "b\n"), Ok(b"a\nb\n"));
    check(b"x\r\na", &insert(3, 1, "b\nc"), Ok(b"x\r\na\r\nb\r\nc"));
    check(b"a", &insert(2, 1, "b\r\nc"), Ok(b"a\r\nb\r\nc"));
    check(b"\xEF\xBB\xBF", &insert(1, 1, "a"), Ok(b"\xEF\xBB\xBFa"));
    let exact = Request {
        eol: EolMode::Exact,
        ..insert(3, 1, "b\nc")
    };
    check(b"x\r\na", &exact, Ok(b"x\r\na\r\nb\nc"));
    let forced = Request {
        eol: EolMode::Lf,
        ..insert(3, 1, "b\r\nc")
    };
    check(b"x\r\na", &forced, Ok(b"x\r\na\nb\nc"));
}

#[test]
fn replace_line_keeps_the_lines_own_break() {
    check(b"a\nb\nc\n", &line(2, "q\n"), Ok(b"a\nq\nc\n"));
    check(b"a\r\nb\r\n", &line(2, "q\n"), Ok(b"a\r\nq\r\n"));
    check(b"a\nb", &line(2, "q\n"), Ok(b"a\nq"));
    check(
        b"a\r\nb\r\n",
        &line(1, "p\nq\n\n"),
        Ok(b"p\r\nq\r\n\r\nb\r\n"),
    );
    check(b"a\nb\n", &line(1, ""), Ok(b"\nb\n"));
    check(b"a\nb\n", &line(3, "x"), failed("out_of_range"));
    check(b"", &line(1, "x"), failed("out_of_range"));
    check(b"a\nb\n", &line(2, "b\r\n"), failed("no_op"));
    check(
        "\u{feff}hi\nx\n".as_bytes(),
        &line(1, "ho"),
        Ok("\u{feff}ho\nx\n".as_bytes()),
    );
}

#[test]
fn replace_range_ends_before_its_end_column() {
    check(b"abcd", &range((1, 2), (1, 3), "X"), Ok(b"aXcd"));
    check(
        "中文字句".as_bytes(),
        &range((1, 2), (1, 4), "X"),
        Ok("中X句".as_bytes()),
    );
    check(b"abcd\nefgh\n", &range((1, 1), (2, 0), "Y"), Ok(b"Y\n"));
    check(
        b"abcd\nefgh\n",
        &range((1, 3), (0, 0), "Y"),
        Ok(b"abY\nefgh\n"),
    );
    check(
        b"a\r\nb\r\nc\r\n",
        &range((1, 1), (3, 1), "x\ny\n"),
        Ok(b"x\r\ny\r\nc\r\n"),
    );
    check(b"a\nb\n", &range((2, 1), (3, 1), ""), Ok(b"a\n"));
    check(b"a\nb\n", &range((3, 1), (0, 0), "c"), Ok(b"a\nb\nc"));
    check(b"a\nb", &range((2, 1), (3, 1), ""), failed("out_of_range"));
    check(
        b"a\nb\n",
        &range((1, 3), (0, 0), "x"),
        failed("out_of_range"),
    );
    check(
        b"a\nb\n",
        &range((1, 1), (1, 3), "x"),
        failed("out_of_range"),
    );
    check(b"abc\n", &range((1, 1), (1, 3), "ab"), failed("no_op"));
    check(
        b"ab\n",
        &range((1, 2), (1, 1), "x"),
        failed("invalid_argument"),
    );
    check(
        b"ab\ncd\n",
        &range((2, 1), (1, 1), "x"),
        failed("invalid_argument"),
    );
}

#[test]
fn breaks_that_both_have_keep_their_bytes() {
    check(
        b"1\r\n2\n3\r\n",
        &range((1, 1), (3, 2), "1\nTWO\n3"),
        Ok(b"1\r\nTWO\n3\r\n"),
    );
    check(
        b"1\r\n2\n3\r\n",
        &range((1, 1), (4, 1), "1\nx\ny\n3\n"),
        Ok(b"1\r\nx\ny\n3\r\n"),
    );
}

#[test]
fn lines_end_at_lf_and_crlf_only() {
    check(
        "a\u{2028}b\u{c}c\u{85}d\n".as_bytes(),
        &line(1, "x"),
        Ok(b"x\n"),
    );
    check(b"a\rb\nc\n", &line(2, "x"), Ok(b"a\rb\nx\n"));
}

#[test]
fn mixed_breaks_take_the_style_of_the_place() {
    check(
        b"a\r\nb\nc\rd",
        &edits(&[("b\nc", "B\nC")]),
        Ok(b"a\r\nB\nC\rd"),
    );
    check(
        b"a\r\nb\nc\n",
        &edits(&[("a", "a\nx")]),
        Ok(b"a\r\nx\r\nb\nc\n"),
    );
    check(
        b"a\r\nb\nc\n",
        &edits(&[("b", "b\nx")]),
        Ok(b"a\r\nb\nx\nc\n"),
    );
    check(
        b"a\nb\r\nc",
        &edits(&[("c", "c\nd")]),
        Ok(b"a\nb\r\nc\r\nd"),
    );
    check(
        b"a\r\nb\nc",
        &edits(&[("a\nb\nc", "x\ny\nz")]),
        Ok(b"x\r\ny\nz"),
    );
    check(
        b"a\r\nb\nc",
        &edits(&[("a\nb\nc", "x\ny\nz\nw")]),
        Ok(b"x\r\ny\r\nz\r\nw"),
    );
}

#[test]
fn many_places_in_mixed_breaks_take_one_pass() {
    let source = [b"\r\n\n".as_slice(), &b"a".repeat(200_000)].concat();
    let expected = [b"\r\n\n".as_slice(), &b"b\n".repeat(200_000)].concat();
    check(&source, &counted("a", "b\n", -1), Ok(&expected));
}

#[test]
fn a_lone_cr_is_no_half_of_a_break() {
    check(
        b"a\r\nb\r\n",
        &edits(&[("a\r", "X")]),
        failed_in("no_match", 0),
    );
    check(b"a\r\r\n", &edits(&[("a\r", "X")]), Ok(b"X\r\n"));
    check(
        b"a\r\r\n",
        &edits(&[("a\r\r", "X")]),
        failed_in("no_match", 0),
    );
    check(
        b"a\r\r\nb\n",
        &edits(&[("a\r\n", "X")]),
        failed_in("no_match", 0),
    );
    check(b"a\r\nb\rc\n", &counted("\r", "X", -1), Ok(b"a\r\nbXc\n"));
    let exact = Request {
        eol: EolMode::Exact,
        ..edits(&[("a\r", "X")])
    };
    check(b"a\r\nb\r\n", &exact, Ok(b"X\nb\r\n"));
}

#[test]
fn counting_sees_overlaps_and_replacing_all_does_not() {
    check(
        b"aa aa aa",
        &edits(&[("aa", "b")]),
        failed_in("count_mismatch", 0),
    );
    check(b"aa aa aa", &counted("aa", "b", 3), Ok(b"b b b"));
    check(b"aa aa aa", &counted("aa", "b", -1), Ok(b"b b b"));
    check(
        b"aaa",
        &edits(&[("aa", "X")]),
        failed_in("count_mismatch", 0),
    );
    check(
        b"aaa",
        &counted("aa", "X", 2),
        failed_in("overlapping_matches", 0),
    );
    check(b"a", &counted("x", "y", -1), failed_in("no_match", 0));
}

#[test]
fn a_report_of_matches_is_cut_at_twenty_lines() {
    let error = plan(&b"k\n".repeat(100), &edits(&[("k", "m")])).unwrap_err();
    let lines = fs_core::Field::Numbers((1..=20).collect());
    assert!(error.fields().contains(&("lines", lines)));
    assert!(
        error
            .fields()
            .contains(&("found", fs_core::Field::Number(100)))
    );
}

#[test]
fn edits_are_matched_against_the_original() {
    check(b"a b", &edits(&[("a", "b"), ("b", "c")]), Ok(b"b c"));
    check(
        b"foo",
        &edits(&[("foo", "bar"), ("bar", "baz")]),
        failed_in("no_match", 1),
    );
    check(
        b"abcd",
        &edits(&[("abc", "X"), ("bcd", "Y")]),
        failed("overlapping_edits"),
    );
    check(b"abcd", &edits(&[("ab", "X"), ("cd", "Y")]), Ok(b"XY"));
    check(
        b"a1a2",
        &edits(&[("1", "1a"), ("a2", "2")]),
        failed("no_op"),
    );
}

#[test]
fn the_lowest_overlapping_pair_is_named() {
    let request = edits(&[("cd", "1"), ("ab", "2"), ("de", "3"), ("bc", "4")]);
    let error = plan(b"abcdef", &request).unwrap_err();
    let pair = fs_core::Field::Numbers(vec![0, 2]);
    assert_eq!(error.fields(), vec![("edits", pair)]);
}

#[test]
fn of_many_matches_the_first_lines_are_named_and_the_rest_is_counted() {
    let says = |count: usize| {
        let text = "a\n".repeat(count);
        let error = plan(text.as_bytes(), &edits(&[("a", "b")])).unwrap_err();
        error.to_string()
    };
    let twenty: Vec<_> = (1..=20).map(|line| line.to_string()).collect();
    let twenty = twenty.join(", ");
    let found =
        |count| format!("edits[0]: found {count} occurrences of \"old\", expected 1; at lines ");
    assert_eq!(says(3), found(3) + "1, 2, 3");
    assert_eq!(says(20), found(20) + &twenty);
    assert_eq!(says(25), found(25) + &twenty + " and 5 more");
}

#[test]
fn every_failing_edit_is_named() {
    let error = plan(b"a a", &edits(&[("a", "b"), ("  ", "b"), (" ", "-")])).unwrap_err();
    assert_eq!((error.code(), error.edit()), ("count_mismatch", Some(0)));
    let failing = ("failing_edits", fs_core::Field::Numbers(vec![0, 1]));
    assert!(error.fields().contains(&failing));
}

#[test]
fn the_order_of_checks_is_the_contracts() {
    check(b"a", &edits(&[]), failed("invalid_argument"));
    let mut request = edits(&[("", "x"), ("a", "a"), ("b", "c")]);
    check(b"\0", &request, failed_in("empty_old", 0));
    if let crate::Target::Text(edits) = &mut request.target {
        edits[2].expected_count = 0;
    }
    check(b"\0", &request, failed_in("invalid_argument", 2));
    check(b"\0", &edits(&[("a", "a")]), failed_in("no_op", 0));
    check(b"\0", &edits(&[("a\n", "a\r\n")]), failed_in("no_op", 0));
    check(b"\0", &edits(&[("a", "b")]), failed("binary_file"));
    check(
        b"\xE9",
        &edits(&[("z", "b"), ("é", "x")]),
        failed_in("encoding_unknown", 1),
    );
    check(
        b"a",
        &counted("a", "b", -2),
        failed_in("invalid_argument", 0),
    );
    check(b"a", &insert(9, 9, ""), failed("no_op"));
}

#[test]
fn limits_are_checked_before_the_file() {
    let many = edits(&vec![("a", "b"); MAX_EDITS + 1]);
    check(b"\0", &many, failed("invalid_argument"));
    let long = "x".repeat(MAX_OLD_BYTES + 1);
    check(b"\0", &edits(&[(&long, "b")]), failed_in("too_large", 0));
    let million = b"a".repeat(1_000_001);
    check(
        &million,
        &counted("a", "b", -1),
        failed_in("invalid_argument", 0),
    );
    let new = "n".repeat(2_000);
    check(
        &million[..1_000_000],
        &counted("a", &new, -1),
        failed_in("too_large", 0),
    );
}

#[test]
fn opaque_files_take_ascii_after_ascii() {
    let source = b"n = 1;\n// caf\xE9x\n";
    check(
        source,
        &edits(&[("n = 1", "n = 2")]),
        Ok(b"n = 2;\n// caf\xE9x\n"),
    );
    check(
        source,
        &edits(&[("x", "y")]),
        failed_in("encoding_unknown", 0),
    );
    check(source, &edits(&[("zz", "y")]), failed_in("no_match", 0));
    check(
        source,
        &edits(&[("n = 1", "é")]),
        failed_in("encoding_unknown", 0),
    );
    check(
        source,
        &counted("n", "m", 2),
        failed_in("count_mismatch", 0),
    );
    check(source, &line(2, "// coffee"), Ok(b"n = 1;\n// coffee\n"));
    check(source, &insert(2, 7, "f"), Ok(b"n = 1;\n// caff\xE9x\n"));
    check(source, &insert(2, 8, "f"), failed("encoding_unknown"));
    check(source, &insert(2, 99, "f"), failed("out_of_range"));
    check(source, &line(2, "é"), failed("encoding_unknown"));
}

#[test]
fn a_mostly_utf8_file_is_edited_as_opaque_bytes() {
    let good = "é".repeat(20);
    let source = [good.as_bytes(), b"\nn = 1\n\xFF\n"].concat();
    let after = [good.as_bytes(), b"\nn = 2\n\xFF\n"].concat();
    let request = Request {
        fallback: Fallback::Auto,
        ..edits(&[("n = 1", "n = 2")])
    };
    check(&source, &request, Ok(&after));
    let request = Request {
        fallback: Fallback::Auto,
        ..edits(&[("é\n", "x\n")])
    };
    check(&source, &request, failed_in("encoding_unknown", 0));
}

#[test]
fn a_guessed_encoding_takes_what_fits_it() {
    let text = "名称 = 旧的值\r\n说明 = 这是一个用来测试的文件\r\n";
    let source = Encoding::GBK.encode(text).unwrap();
    let guess = |pairs: &[(&str, &str)]| Request {
        fallback: Fallback::Auto,
        ..edits(pairs)
    };
    let after = Encoding::GBK.encode(&text.replace('旧', "新")).unwrap();
    check(&source, &guess(&[("旧", "新")]), Ok(&after));
    check(&source, &guess(&[("没有", "新")]), failed_in("no_match", 0));
    let latin = Encoding::for_label("windows-1252").unwrap();
    let text = "déjà vu, l'été est là où naît la forêt, très près des côtes brûlées à noël\n";
    let source = latin.encode(text).unwrap();
    check(
        &source,
        &guess(&[("forêt", "中")]),
        failed_in("encoding_unknown", 0),
    );
}

#[test]
fn ascii_that_may_be_half_a_character_is_not_replaced_by_guess() {
    let guess = |request: Request| Request {
        fallback: Fallback::Auto,
        ..request
    };
    // Shift_JIS that looks like windows-1252: the first backslash is a half of U+8868.
    let source = b"name = \x95\x5C\ndir = a\\b\n";
    let error = plan(source, &guess(counted("\\", "/", -1))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "edits[0]: the file's encoding is not certain: it looks like windows-1252"
    );
    blocks::check(source, &guess(counted("\\", "/", -1)));
    let named = in_encoding(counted("\\", "/", -1), "shift_jis");
    check(source, &named, Ok(b"name = \x95\x5C\ndir = a/b\n"));
    let named = in_encoding(counted("\\", "/", -1), "windows-1252");
    check(source, &named, Ok(b"name = \x95/\ndir = a/b\n"));
    check(
        source,
        &guess(edits(&[("a\\", "a/")])),
        Ok(b"name = \x95\x5C\ndir = a/b\n"),
    );
    check(
        source,
        &guess(insert(1, 9, "x")),
        failed("encoding_unknown"),
    );
    check(
        source,
        &guess(insert(1, 8, "x")),
        Ok(b"name = x\x95\x5C\ndir = a\\b\n"),
    );
    // What no set of two bytes has there.
    let source = b"caf\xE9 (noir)\n";
    check(
        source,
        &guess(edits(&[(" (noir", " (vert")])),
        Ok(b"caf\xE9 (vert)\n"),
    );
}

#[test]
fn legacy_sets_are_searched_by_characters() {
    // The backslash is the second byte of the first character.
    let source = b"\x83\x5C\x5C\n";
    let request = in_encoding(edits(&[("\\", "/")]), "shift_jis");
    check(source, &request, Ok(b"\x83\x5C/\n"));
    let request = in_encoding(edits(&[("ソ", "x")]), "shift_jis");
    check(source, &request, Ok(b"x\x5C\n"));
    let request = in_encoding(insert(1, 2, "x\ny"), "shift_jis");
    check(source, &request, Ok(b"\x83\x5Cx\ny\x5C\n"));
    let request = in_encoding(edits(&[("x", "é")]), "shift_jis");
    check(b"x\n", &request, failed_in("unencodable", 0));
}

#[test]
fn unencodable_names_the_place_in_the_new_text() {
    let request = in_encoding(edits(&[("b", "b\nab中")]), "windows-1252");
    let error = plan(b"b\xE9", &request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "edits[0]: U+4E2D at line 2, column 3 cannot be written in windows-1252"
    );
}

#[test]
fn one_pair_of_big5_that_spells_two_characters_is_not_cut() {
    // 88 62 is U+00CA U+0304.
    let source = b"x\x88\x62y";
    check(
        source,
        &in_encoding(edits(&[("x\u{ca}\u{304}", "z")]), "big5"),
        Ok(b"zy"),
    );
    let request = in_encoding(edits(&[("\u{304}y", "z")]), "big5");
    check(source, &request, failed("encoding_unknown"));
    let request = in_encoding(insert(1, 3, "z"), "big5");
    check(source, &request, failed("encoding_unknown"));
}

#[test]
fn a_run_of_iso_2022_jp_is_never_spoilt() {
    let label = Encoding::for_label("iso-2022-jp").unwrap();
    let text = "日本語 x\n日本\n";
    let source = label.encode(text).unwrap();
    let ascii = in_encoding(edits(&[("x", "y")]), "iso-2022-jp");
    check(
        &source,
        &ascii,
        Ok(&label.encode("日本語 y\n日本\n").unwrap()),
    );
    let inside = in_encoding(edits(&[("本語", "x")]), "iso-2022-jp");
    match plan(&source, &inside) {
        Ok(plan) => {
            let after = plan.patch().apply(&source);
            assert_eq!(label.decode(&after).unwrap(), "日x x\n日本\n");
        }
        Err(error) => assert_eq!(error.code(), "encoding_unknown"),
    }
}

#[test]
fn utf16_is_matched_at_code_units() {
    let utf16 = |text: &str| {
        [
            b"\xFF\xFE".as_slice(),
            &Encoding::UTF_16LE.encode(text).unwrap(),
        ]
        .concat()
    };
    // Across two units the bytes of U+6100 stand here: 00 61.
    let source = utf16("\u{0041}\u{0061}\r\n\u{4141}\r\n");
    check(
        &source,
        &edits(&[("\u{6100}", "x")]),
        failed_in("no_match", 0),
    );
    check(
        &source,
        &edits(&[("Aa\n", "B\nC\n")]),
        Ok(&utf16("B\r\nC\r\n\u{4141}\r\n")),
    );
    check(
        &source,
        &insert(2, 2, "x"),
        Ok(&utf16("Aa\r\n\u{4141}x\r\n")),
    );
    check(
        &utf16("a\r\nb\nc"),
        &edits(&[("a\nb", "x\ny")]),
        Ok(&utf16("x\r\ny\nc")),
    );
}

#[test]
fn a_plan_says_what_it_is_about() {
    let plan = plan(b"\xEF\xBB\xBFk\r\nk\r\n", &counted("k", "m", 2)).unwrap();
    let format = plan.format().unwrap();
    assert_eq!(format.encoding, Encoding::UTF_8);
    assert_eq!((format.bom, format.eol.name()), (true, "crlf"));
    assert_eq!((plan.replacements(), plan.lines_changed()), (2, 2));
    assert_eq!(plan.patch().result_len(), 9);
}
