//! Texts that are not UTF-8.

use super::*;
use crate::format::Fallback;

const CHINESE: &str = "第一行文字，说明这个文件的用途。\n查找这里的内容\nalphabet 字母表\n";

fn encoded(encoding: &str, text: &str) -> Vec<u8> {
    Encoding::for_label(encoding).unwrap().encode(text).unwrap()
}

#[track_caller]
fn check_in(encoding: &str, text: &str, query: &Query, expected: &[&str]) {
    let bytes = encoded(encoding, text);
    check(&[("f", &bytes)], query, expected);
    let found = found(&tree(&[("f", &bytes)]), query);
    let encodings = found
        .blocks
        .iter()
        .map(|block| block.encoding.map(Encoding::name));
    assert!(encodings.into_iter().all(|name| name == Some(encoding)));
}

#[test]
fn gb18030_is_found_by_literals_and_expressions() {
    check_in("gb18030", CHINESE, &query("这里"), &["f:2:查找这里的内容"]);
    check_in(
        "gb18030",
        CHINESE,
        &query("alphabet"),
        &["f:3:alphabet 字母表"],
    );
    check_in(
        "gb18030",
        CHINESE,
        &regex("^查.*容$"),
        &["f:2:查找这里的内容"],
    );
    check_in(
        "gb18030",
        CHINESE,
        &regex(r"[a-z]+ \w+表"),
        &["f:3:alphabet 字母表"],
    );
    let any_case = Query {
        case: Some(Case::Insensitive),
        ..query("ALPHABET 字")
    };
    check_in("gb18030", CHINESE, &any_case, &["f:3:alphabet 字母表"]);
}

#[test]
fn a_trail_byte_is_no_letter() {
    // The second byte of this character is `@`, of that one `A`.
    let text = "丂丄和一些别的文字，让它看起来像中文。\n写信到 @ 去\n";
    assert!(encoded("gb18030", "丂").ends_with(b"@"));
    check_in("gb18030", text, &query("@"), &["f:2:写信到 @ 去"]);
    check_in("gb18030", text, &regex("[@A]"), &["f:2:写信到 @ 去"]);
}

#[test]
fn bytes_that_straddle_characters_are_no_match() {
    let text = "查找这里的内容，再看看别的地方有没有相同的字节。\n";
    let bytes = encoded("gb18030", text);
    // The second half of one character and the first of the next are a character, too.
    let straddling = Encoding::GB18030.decode(&bytes[1..3]).unwrap();
    assert!(!text.contains(&straddling));
    check_in("gb18030", text, &query(&straddling), &[]);
}

#[test]
fn utf16_is_found_with_and_without_a_mark() {
    let text = "one\r\nzwei ä\nthree\n";
    for (label, bom) in [
        ("utf-16le", "\u{FEFF}"),
        ("utf-16be", "\u{FEFF}"),
        ("utf-16le", ""),
        ("utf-16be", ""),
    ] {
        let marked = format!("{bom}{text}");
        check_in(label, &marked, &query("zwei ä"), &["f:2:zwei ä"]);
        check_in(label, &marked, &regex("^one$"), &["f:1:one"]);
    }
}

#[test]
fn a_mark_is_no_part_of_the_first_line() {
    let found = found(&tree(&[("f", b"\xEF\xBB\xBFone\n")]), &regex("^one"));
    let line = &found.blocks[0].lines[0];
    assert_eq!((line.text.as_str(), line.column), ("one", Some(1)));
}

#[test]
fn other_sets_are_found_as_they_are_read() {
    let cyrillic =
        "Это обычный русский текст, в котором есть слова.\nИскомое слово здесь.\n".repeat(3);
    let line = "f:2:Искомое слово здесь.";
    let expected = [line, "f:4:Искомое слово здесь.", "f:6:Искомое слово здесь."];
    check_in("windows-1251", &cyrillic, &query("Искомое"), &expected);
    let any_case = Query {
        case: Some(Case::Insensitive),
        ..query("иСКОМОЕ")
    };
    check_in("windows-1251", &cyrillic, &any_case, &expected);
    let japanese =
        "これは日本語の文章です。検索するための文字列を含みます。\nここにある\n".repeat(3);
    let hits = ["f:2:ここにある", "f:4:ここにある", "f:6:ここにある"];
    check_in("shift_jis", &japanese, &query("ここに"), &hits);
}

#[test]
fn the_fallback_decides() {
    let bytes = encoded("gb18030", CHINESE);
    let none = Query {
        fallback: Fallback::None,
        ..query("alphabet")
    };
    let found = found(&tree(&[("f", &bytes)]), &none);
    assert_eq!(found.blocks[0].encoding, None);
    let text = &found.blocks[0].lines[0].text;
    assert!(text.starts_with("alphabet \u{FFFD}"));
    let named = Query {
        fallback: Fallback::Encoding(Encoding::GBK),
        ..query("字母")
    };
    check(&[("f", &bytes)], &named, &["f:3:alphabet 字母表"]);
    let other = Query {
        fallback: Fallback::Encoding(Encoding::for_label("koi8-r").unwrap()),
        ..query("字母")
    };
    check(&[("f", &bytes)], &other, &[]);
}

#[test]
fn mostly_utf8_is_shown_with_marks() {
    let text = [CHINESE.as_bytes(), b"bad \xFF needle\n"].concat();
    let found = found(&tree(&[("f", &text)]), &query("needle"));
    let block = &found.blocks[0];
    assert_eq!(
        (block.encoding, block.lines[0].text.as_str()),
        (None, "bad \u{FFFD} needle")
    );
    assert_eq!(block.lines[0].column, Some(7));
}

#[test]
fn every_guess_is_looked_for() {
    let texts = ["ä", "ß", "ж", "Ω", "ש", "ع", "ก", "あ", "한", "國", "ł"];
    for text in texts {
        let pattern = super::super::compile::TextPattern::new(&query(text)).unwrap();
        assert!(pattern.candidates.is_some(), "{text}");
    }
}

#[test]
fn large_files_are_found_alike() {
    let filler = "这是一行填充文字，没有别的意思。\n".repeat(40_000);
    let body = format!("{filler}查找 needle 这里\n{filler}");
    for (label, mark) in [("utf-8", ""), ("gb18030", ""), ("utf-16le", "\u{FEFF}")] {
        let text = format!("{mark}{body}");
        let bytes = encoded(label, &text);
        assert!(bytes.len() > 2 * 1024 * 1024);
        let expected = ["f:40001:查找 needle 这里"];
        check_in(label, &text, &query("needle"), &expected);
        check_in(label, &text, &query("查找"), &expected);
        check_in(label, &text, &regex("查.+ne{2}"), &expected);
        check_in(label, &text, &query("nowhere"), &[]);
    }
}
