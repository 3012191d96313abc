//! What a text makes of bytes, without a file.

use fs_core::{Content, Encoding, Eol, Fallback, Result};

use super::super::text::{Composed, Existing, append, insert, new_file, overwrite};
use super::super::{Breaks, WriteOptions};

fn plain() -> WriteOptions {
    WriteOptions::default()
}

fn named(label: &str) -> WriteOptions {
    WriteOptions {
        encoding: Some(Encoding::for_label(label).unwrap()),
        ..plain()
    }
}

fn falling_back(fallback: Fallback) -> WriteOptions {
    WriteOptions {
        fallback,
        ..plain()
    }
}

fn gbk() -> WriteOptions {
    falling_back(Fallback::Encoding(Encoding::GBK))
}

fn existing(bytes: &[u8]) -> Existing<'_> {
    Existing {
        content: Content::of_bytes(bytes),
        size: bytes.len() as u64,
    }
}

/// Returns what `write` makes of the file, after checking that blocks make no difference.
fn in_blocks_too(
    bytes: &[u8],
    write: impl Fn(&Existing<'_>) -> Result<Composed>,
) -> Result<Composed> {
    let expected = write(&existing(bytes));
    for block_bytes in [1, 2, 3, 7] {
        let content = Content::in_blocks(bytes, block_bytes);
        let size = content.len();
        let seen = write(&Existing { content, size });
        assert_eq!(
            format!("{seen:?}"),
            format!("{expected:?}"),
            "in blocks of {block_bytes}"
        );
    }
    expected
}

/// The bytes of the result, or the code.
fn outcome(source: &[u8], composed: Result<Composed>) -> Result<Vec<u8>, &'static str> {
    match composed {
        Ok(composed) => Ok(composed.patch.apply(source)),
        Err(error) => Err(error.code()),
    }
}

#[track_caller]
fn check_overwrite(old: &[u8], text: &str, options: &WriteOptions, expected: Result<&[u8], &str>) {
    let outcome = outcome(old, in_blocks_too(old, |it| overwrite(it, text, options)));
    assert_eq!(outcome.as_deref().map_err(|code| *code), expected);
}

#[track_caller]
fn check_append(old: &[u8], text: &str, options: &WriteOptions, expected: Result<&[u8], &str>) {
    let outcome = outcome(old, in_blocks_too(old, |it| append(it, text, options)));
    assert_eq!(outcome.as_deref().map_err(|code| *code), expected);
}

#[track_caller]
fn check_insert(old: &[u8], line: u64, text: &str, expected: Result<&[u8], &str>) {
    let outcome = outcome(
        old,
        in_blocks_too(old, |it| insert(it, text, line, &plain())),
    );
    assert_eq!(outcome.as_deref().map_err(|code| *code), expected);
}

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn utf16be(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

/// "中文" in GBK.
const ZHONGWEN: &[u8] = b"\xD6\xD0\xCE\xC4";

#[test]
fn an_insert_is_lines_of_its_own() {
    check_insert(b"", 1, "X", Ok(b"X\n"));
    check_insert(b"a\nb\n", 1, "X", Ok(b"X\na\nb\n"));
    check_insert(b"a\nb\n", 2, "X", Ok(b"a\nX\nb\n"));
    check_insert(b"a\nb\n", 2, "X\n", Ok(b"a\nX\nb\n"));
    check_insert(b"a\nb\n", 2, "X\n\n", Ok(b"a\nX\n\nb\n"));
    check_insert(b"a\nb\n", 3, "X", Ok(b"a\nb\nX\n"));
    check_insert(b"a\nb", 3, "X", Ok(b"a\nb\nX"));
    check_insert(b"a\nb", 3, "X\n", Ok(b"a\nb\nX"));
    check_insert(b"a\nb", 2, "X", Ok(b"a\nX\nb"));
    check_insert(b"a\nb\n", 2, "", Ok(b"a\n\nb\n"));
    check_insert(b"a\nb\n", 2, "X\nY", Ok(b"a\nX\nY\nb\n"));
    check_insert(b"\n", 1, "X", Ok(b"X\n\n"));
    check_insert(b"a", 1, "X", Ok(b"X\na"));
    check_insert(b"a", 2, "X", Ok(b"a\nX"));
}

#[test]
fn an_insert_takes_the_style_of_its_place() {
    check_insert(b"a\r\nb\r\n", 2, "X", Ok(b"a\r\nX\r\nb\r\n"));
    check_insert(b"a\r\nb\r\n", 3, "X\nY\n", Ok(b"a\r\nb\r\nX\r\nY\r\n"));
    check_insert(b"a\r\nb", 3, "X", Ok(b"a\r\nb\r\nX"));
    check_insert(b"a\nb\n", 2, "X\r\nY\r\n", Ok(b"a\nX\nY\nb\n"));
    // Mixed: the break of the line after, or of the last line.
    check_insert(b"a\nb\r\nc\n", 2, "X", Ok(b"a\nX\r\nb\r\nc\n"));
    check_insert(b"a\nb\r\nc\n", 3, "X", Ok(b"a\nb\r\nX\nc\n"));
    check_insert(b"a\nb\r\n", 3, "X", Ok(b"a\nb\r\nX\r\n"));
    check_insert(b"a\nb\r\nc", 3, "X", Ok(b"a\nb\r\nX\r\nc"));
    // No break in the file: the text's own.
    check_insert(b"a", 1, "X\r\nY", Ok(b"X\r\nY\r\na"));
    check_insert(b"", 1, "X\r\nY\r\n", Ok(b"X\r\nY\r\n"));
}

#[test]
fn a_lone_carriage_return_stays_what_it_is() {
    check_insert(b"a\r", 2, "X", Ok(b"a\r\r\nX"));
    check_insert(b"a\nb\r", 3, "X\nY", Ok(b"a\nb\r\r\nX\nY"));
    check_insert(b"a\rb\n", 1, "X\r", Ok(b"X\r\na\rb\n"));
}

#[test]
fn a_line_beyond_the_end_is_out_of_range() {
    check_insert(b"a\nb\n", 4, "X", Err("out_of_range"));
    check_insert(b"a\nb\n", 0, "X", Err("out_of_range"));
    check_insert(b"a", 3, "X", Err("out_of_range"));
    check_insert(b"", 2, "X", Err("out_of_range"));
    check_insert(b"", 0, "X", Err("out_of_range"));
    check_insert(b"a", u64::MAX, "X", Err("out_of_range"));
    let error = in_blocks_too(b"a\nb\n", |it| insert(it, "X", 7, &plain())).unwrap_err();
    let text = "line 7 is out of range: the file has 2 lines";
    assert_eq!(error.to_string(), text);
    let number = fs_core::Field::Number;
    let field = fs_core::Field::Text("line".to_owned());
    let fields = [("field", field), ("value", number(7)), ("last", number(3))];
    assert_eq!(error.fields(), fields);
}

#[test]
fn an_overwrite_keeps_crlf_only_where_nothing_else_was_meant() {
    check_overwrite(b"a\r\nb\r\n", "x\ny\n", &plain(), Ok(b"x\r\ny\r\n"));
    check_overwrite(b"a\r\n", "x", &plain(), Ok(b"x"));
    check_overwrite(b"a\r\nb\r\n", "x\r\ny\n", &plain(), Ok(b"x\r\ny\n"));
    check_overwrite(b"a\r\nb\n", "x\ny\n", &plain(), Ok(b"x\ny\n"));
    check_overwrite(b"a\nb\n", "x\r\ny\r\n", &plain(), Ok(b"x\r\ny\r\n"));
    check_overwrite(b"ab", "x\ny", &plain(), Ok(b"x\ny"));
    check_overwrite(b"", "x\r\n", &plain(), Ok(b"x\r\n"));
    let as_given = WriteOptions {
        breaks: Breaks::AsGiven,
        ..plain()
    };
    check_overwrite(b"a\r\nb\r\n", "x\ny\n", &as_given, Ok(b"x\ny\n"));
}

#[test]
fn an_append_takes_the_style_of_the_file() {
    check_append(b"a\r\n", "x\ny\n", &plain(), Ok(b"a\r\nx\r\ny\r\n"));
    check_append(b"a\r\n", "x\r\ny\n", &plain(), Ok(b"a\r\nx\r\ny\r\n"));
    check_append(b"a\n", "x\r\ny\n", &plain(), Ok(b"a\nx\ny\n"));
    check_append(b"a\nb\r\n", "x\r\ny\n", &plain(), Ok(b"a\nb\r\nx\r\ny\n"));
    check_append(b"a", "x\r\ny\n", &plain(), Ok(b"ax\r\ny\n"));
    check_append(b"", "x\r\ny\n", &plain(), Ok(b"x\r\ny\n"));
    // Nothing is put between.
    check_append(b"a\nb", "c\n", &plain(), Ok(b"a\nbc\n"));
    let as_given = WriteOptions {
        breaks: Breaks::AsGiven,
        ..plain()
    };
    check_append(b"a\r\n", "x\n", &as_given, Ok(b"a\r\nx\n"));
}

#[test]
fn a_byte_order_mark_is_kept_and_never_doubled() {
    check_overwrite(b"\xEF\xBB\xBFa", "b", &plain(), Ok(b"\xEF\xBB\xBFb"));
    check_overwrite(
        b"\xEF\xBB\xBFa",
        "\u{FEFF}b",
        &plain(),
        Ok(b"\xEF\xBB\xBFb"),
    );
    check_overwrite(b"\xEF\xBB\xBFa", "", &plain(), Ok(b"\xEF\xBB\xBF"));
    check_overwrite(b"a", "\u{FEFF}b", &plain(), Ok(b"\xEF\xBB\xBFb"));
    check_append(
        b"\xEF\xBB\xBFa",
        "\u{FEFF}b",
        &plain(),
        Ok(b"\xEF\xBB\xBFab"),
    );
    check_append(b"\xEF\xBB\xBF", "b", &plain(), Ok(b"\xEF\xBB\xBFb"));
    check_insert(
        b"\xEF\xBB\xBFa\n",
        1,
        "\u{FEFF}b",
        Ok(b"\xEF\xBB\xBFb\na\n"),
    );
    check_insert(b"\xEF\xBB\xBF", 1, "b", Ok(b"\xEF\xBB\xBFb\n"));
    check_overwrite(b"\xEF\xBB\xBFa", "b", &named("utf-8"), Ok(b"\xEF\xBB\xBFb"));
    check_overwrite(b"\xEF\xBB\xBFa", "b", &named("gbk"), Ok(b"b"));
}

#[test]
fn an_overwrite_in_the_named_encoding_of_the_file_adds_no_mark() {
    let old = utf16le("中\n");
    check_overwrite(&old, "国\n", &named("utf-16le"), Ok(&utf16le("国\n")));
    let marked = [b"\xFF\xFE", &utf16le("国")[..]].concat();
    check_overwrite(b"ab", "国", &named("utf-16le"), Ok(&marked));
}

#[test]
fn utf16_is_kept() {
    for (mark, encode) in [
        (b"\xFF\xFE", utf16le as fn(&str) -> Vec<u8>),
        (b"\xFE\xFF", utf16be),
    ] {
        let file = |text: &str| [&mark[..], &encode(text)].concat();
        let old = file("a\r\nb\r\n");
        check_overwrite(&old, "中😀\n", &plain(), Ok(&file("中😀\r\n")));
        check_append(&old, "中\n", &plain(), Ok(&file("a\r\nb\r\n中\r\n")));
        check_insert(&old, 2, "中", Ok(&file("a\r\n中\r\nb\r\n")));
        check_insert(&old, 3, "中\n", Ok(&file("a\r\nb\r\n中\r\n")));
        check_insert(&file("a\r"), 2, "X", Ok(&file("a\r\r\nX")));
    }
    let unmarked = utf16le("plain text\n");
    check_append(
        &unmarked,
        "more\n",
        &plain(),
        Ok(&utf16le("plain text\nmore\n")),
    );
    check_overwrite(&unmarked, "more\n", &plain(), Ok(&utf16le("more\n")));
    check_overwrite(
        &unmarked,
        "more\n",
        &named("utf-16le"),
        Ok(&utf16le("more\n")),
    );
}

#[test]
fn a_new_file_is_utf8_unless_another_encoding_is_named() {
    let bytes = |text: &str, options: &WriteOptions| outcome(b"", new_file(text, options));
    assert_eq!(
        bytes("中\r\n\n", &plain()),
        Ok("中\r\n\n".as_bytes().to_vec())
    );
    assert_eq!(bytes("中文", &named("gbk")), Ok(ZHONGWEN.to_vec()));
    assert_eq!(bytes("中", &gbk()), Ok("中".as_bytes().to_vec()));
    assert_eq!(bytes("😀", &named("gbk")), Err("unencodable"));
    assert_eq!(
        bytes("😀", &named("gb18030")),
        Ok(b"\x94\x39\xFC\x36".to_vec())
    );
    // Who reads UTF-16 could hardly tell without its mark.
    assert_eq!(
        bytes("中", &named("utf-16le")),
        Ok(b"\xFF\xFE\x2D\x4E".to_vec())
    );
    assert_eq!(
        bytes("\u{FEFF}中", &named("utf-16be")),
        Ok(b"\xFE\xFF\x4E\x2D".to_vec())
    );
    check_append(b"", "中", &named("utf-16le"), Ok(b"\xFF\xFE\x2D\x4E"));
    check_overwrite(b"", "中", &named("utf-16le"), Ok(b"\xFF\xFE\x2D\x4E"));
    check_overwrite(b"abc", "中", &named("utf-16le"), Ok(b"\xFF\xFE\x2D\x4E"));
}

#[test]
fn a_configured_encoding_is_kept_and_its_limits_are_told() {
    let old = [ZHONGWEN, b"\r\n"].concat();
    check_overwrite(&old, "文中\n", &gbk(), Ok(b"\xCE\xC4\xD6\xD0\r\n"));
    check_append(
        &old,
        "中\n",
        &gbk(),
        Ok(&[&old[..], b"\xD6\xD0\r\n"].concat()),
    );
    check_overwrite(&old, "😀", &gbk(), Err("unencodable"));
    check_append(&old, "😀", &gbk(), Err("unencodable"));
    let error = in_blocks_too(&old, |it| append(it, "x\n ab😀", &gbk())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "U+1F600 at line 2, column 4 cannot be written in gbk"
    );
    let hint = error.hint().unwrap();
    assert!(hint.contains("gb18030"), "{hint}");
    check_append(
        &old,
        "😀",
        &named("gb18030"),
        Ok(&[&old[..], b"\x94\x39\xFC\x36"].concat()),
    );
}

#[test]
fn a_guessed_encoding_takes_only_what_fits_it() {
    // A Russian text in windows-1251, long enough to be sure enough.
    let text = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n".repeat(4);
    let windows = Encoding::for_label("windows-1251").unwrap();
    let old = windows.encode(&text).unwrap();
    let auto = falling_back(Fallback::Auto);
    let added = [&old[..], &windows.encode("Ещё\n").unwrap()].concat();
    check_append(&old, "Ещё\n", &auto, Ok(&added));
    check_append(&old, "中文\n", &auto, Err("encoding_unknown"));
    check_overwrite(&old, "中文\n", &auto, Err("encoding_unknown"));
    check_overwrite(&old, "中文\n", &named("utf-8"), Ok("中文\n".as_bytes()));
}

#[test]
fn opaque_bytes_take_ascii_after_ascii_only() {
    let opaque = b"caf\xE9 au lait\n";
    check_append(opaque, "more\n", &plain(), Ok(b"caf\xE9 au lait\nmore\n"));
    check_append(b"caf\xE9", "more", &plain(), Err("encoding_unknown"));
    check_append(opaque, "é", &plain(), Err("encoding_unknown"));
    check_insert(opaque, 1, "first", Ok(b"first\ncaf\xE9 au lait\n"));
    check_insert(b"\xE9\r\n\xE9", 2, "X", Ok(b"\xE9\r\nX\r\n\xE9"));
    check_insert(b"\xE9", 2, "X", Err("encoding_unknown"));
    check_overwrite(opaque, "text", &plain(), Err("encoding_unknown"));
    check_overwrite(opaque, "text", &named("utf-8"), Ok(b"text"));
    check_append(
        opaque,
        "é",
        &named("windows-1252"),
        Ok(b"caf\xE9 au lait\n\xE9"),
    );
    check_append(opaque, "é", &named("utf-8"), Err("encoding_mismatch"));
    let lossy = format!("{}\u{20AC}\n", "é".repeat(40)).into_bytes();
    let lossy = [&lossy[..], b"\xFF\n"].concat();
    check_overwrite(&lossy, "text", &plain(), Err("encoding_unknown"));
    check_append(
        &lossy,
        "text",
        &plain(),
        Ok(&[&lossy[..], b"text"].concat()),
    );
}

#[test]
fn binary_bytes_are_overwritten_only_with_an_encoding_named() {
    let binary = b"\x7FELF\0\0\0\x01\x02\0";
    check_overwrite(binary, "text", &plain(), Err("binary_file"));
    check_append(binary, "text", &plain(), Err("binary_file"));
    check_insert(binary, 1, "text", Err("binary_file"));
    check_overwrite(binary, "text\n", &named("utf-8"), Ok(b"text\n"));
    let error = in_blocks_too(binary, |it| append(it, "x", &plain())).unwrap_err();
    assert_eq!(error.fields(), [("size", fs_core::Field::Number(10))]);
    let utf32 = b"\xFF\xFE\0\0a\0\0\0";
    check_overwrite(utf32, "text", &plain(), Err("not_text"));
    check_overwrite(utf32, "text", &named("utf-8"), Ok(b"text"));
}

#[test]
fn text_goes_into_iso_2022_jp_only_where_it_is_ascii_before() {
    let jp = named("iso-2022-jp");
    let old = b"\x1B$B$\"\x1B(B\n";
    check_append(
        old,
        "\u{3042}\n",
        &jp,
        Ok(b"\x1B$B$\"\x1B(B\n\x1B$B$\"\x1B(B\n"),
    );
    check_append(b"\x1B$B$\"", "a", &jp, Err("encoding_unknown"));
}

#[track_caller]
fn check_format(composed: Result<Composed>, expected: (&str, bool, Eol)) {
    let format = composed.unwrap().format.unwrap();
    assert_eq!((format.encoding.name(), format.bom, format.eol), expected);
}

#[test]
fn the_format_after_is_told() {
    check_format(new_file("a", &plain()), ("utf-8", false, Eol::None));
    check_format(new_file("\u{FEFF}a\n", &plain()), ("utf-8", true, Eol::Lf));
    check_format(
        new_file("a\r\n", &named("utf-16le")),
        ("utf-16le", true, Eol::CrLf),
    );
    let old = b"\xEF\xBB\xBFa\r\n";
    check_format(
        in_blocks_too(old, |it| overwrite(it, "b\nc", &plain())),
        ("utf-8", true, Eol::CrLf),
    );
    check_format(
        in_blocks_too(old, |it| append(it, "b\nc\n", &plain())),
        ("utf-8", true, Eol::CrLf),
    );
    check_format(
        in_blocks_too(b"a\nb\r\n", |it| append(it, "x", &plain())),
        ("utf-8", false, Eol::Mixed),
    );
    check_format(
        in_blocks_too(b"a\n", |it| append(it, "x", &plain())),
        ("utf-8", false, Eol::Lf),
    );
    check_format(
        in_blocks_too(b"a", |it| append(it, "x\r\n", &plain())),
        ("utf-8", false, Eol::CrLf),
    );
    check_format(
        in_blocks_too(b"a\r", |it| append(it, "\nx", &plain())),
        ("utf-8", false, Eol::CrLf),
    );
    check_format(
        in_blocks_too(b"a\r", |it| insert(it, "x", 2, &plain())),
        ("utf-8", false, Eol::CrLf),
    );
    check_format(
        in_blocks_too(b"", |it| insert(it, "x", 1, &plain())),
        ("utf-8", false, Eol::Lf),
    );
    let opaque = in_blocks_too(b"\xE9\n", |it| append(it, "x", &plain())).unwrap();
    assert_eq!(opaque.format, None);
}

#[test]
fn the_bytes_of_the_new_text_are_counted_without_the_mark() {
    let bytes = |composed: Result<Composed>| composed.unwrap().text_bytes;
    assert_eq!(
        bytes(in_blocks_too(b"\xEF\xBB\xBFa", |it| overwrite(
            it,
            "é",
            &plain()
        ))),
        2
    );
    assert_eq!(
        bytes(in_blocks_too(b"a\r\n", |it| append(it, "x\n", &plain()))),
        3
    );
    assert_eq!(
        bytes(in_blocks_too(b"a\n", |it| insert(it, "x", 1, &plain()))),
        2
    );
    assert_eq!(bytes(new_file("x", &named("utf-16le"))), 2);
}

#[test]
fn what_is_written_reads_back_as_the_text() {
    use proptest::prelude::*;
    let texts = "[a\u{e9}\u{4e2d}\r\n ]{0,12}";
    let as_given = WriteOptions {
        breaks: Breaks::AsGiven,
        ..plain()
    };
    proptest!(|(old in texts, new in texts)| {
        let source = old.as_bytes();
        let overwritten = outcome(source, in_blocks_too(source, |it| overwrite(it, &new, &as_given)));
        prop_assert_eq!(overwritten, Ok(new.clone().into_bytes()));
        let appended = outcome(source, in_blocks_too(source, |it| append(it, &new, &as_given)));
        prop_assert_eq!(appended, Ok([source, new.as_bytes()].concat()));
        // With the style kept only breaks may differ.
        let styled = outcome(source, in_blocks_too(source, |it| append(it, &new, &plain()))).unwrap();
        let styled = String::from_utf8(styled).unwrap();
        let joined = format!("{old}{new}");
        prop_assert_eq!(styled.replace("\r\n", "\n"), joined.replace("\r\n", "\n"));
    });
}

#[test]
fn an_insert_by_line_agrees_with_a_list_of_lines() {
    use proptest::prelude::*;
    let lines = proptest::collection::vec("[ab]{0,3}", 0..6);
    let parts = (lines, "[xy]{0,3}", 0_usize..7, any::<bool>(), any::<bool>());
    proptest!(|((lines, text, at, crlf, open) in parts)| {
        let style = if crlf { "\r\n" } else { "\n" };
        let file = |lines: &[String]| {
            let text = lines.join(style);
            // An open last line that is empty is no line.
            let closed = !open || lines.last().is_some_and(String::is_empty);
            if lines.is_empty() || !closed { text } else { text + style }
        };
        let old = file(&lines);
        let line = at as u64 + 1;
        let new = outcome(old.as_bytes(), in_blocks_too(old.as_bytes(), |it| insert(it, &text, line, &plain())));
        if at > lines.len() {
            prop_assert_eq!(new, Err("out_of_range"));
        } else {
            let mut expected = lines.clone();
            expected.insert(at, text);
            let was_open = !old.is_empty() && !old.ends_with('\n');
            if was_open && expected.last().is_some_and(String::is_empty) {
                // An empty line without a break is no line, but the one before has its break now.
                expected.pop();
            }
            let new = String::from_utf8(new.unwrap()).unwrap();
            let found: Vec<_> = new.split_terminator('\n').collect();
            let found: Vec<_> = found.iter().map(|line| line.trim_end_matches('\r')).collect();
            prop_assert_eq!(found, expected);
            if lines.len() > 1 {
                prop_assert_eq!(new.contains("\r\n"), crlf);
            }
        }
    });
}
