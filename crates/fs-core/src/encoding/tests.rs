use proptest::prelude::*;

use super::*;
use crate::Error;

const LABELS: [&str; 39] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "gbk",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "euc-kr",
    "ibm866",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "x-mac-cyrillic",
    "x-user-defined",
    "windows-874",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
];

fn encoding(label: &str) -> Encoding {
    Encoding::for_label(label).unwrap()
}

#[test]
fn every_whatwg_encoding_has_its_lower_case_name() {
    for label in LABELS {
        let name = encoding(label).name();
        let expected = if label == "gbk" { "gb18030" } else { label };
        assert_eq!(name, expected);
    }
}

#[track_caller]
fn check_label(label: &str, name: Result<&str, &str>) {
    let found = Encoding::for_label(label);
    let actual = found.as_ref().map(|encoding| encoding.name());
    assert_eq!(actual.map_err(Error::code), name);
}

#[test]
fn labels_are_whatwg_labels() {
    check_label(" UTF8 ", Ok("utf-8"));
    check_label("latin1", Ok("windows-1252"));
    check_label("GB2312", Ok("gb18030"));
    check_label("utf-16", Ok("utf-16le"));
    check_label("sjis", Ok("shift_jis"));
    check_label("iso-2022-kr", Err("invalid_argument"));
    check_label("replacement", Err("invalid_argument"));
    check_label("", Err("invalid_argument"));
    assert_eq!(Encoding::for_label("gbk").unwrap(), Encoding::GBK);
    assert_ne!(Encoding::GBK, Encoding::GB18030);
}

#[track_caller]
fn check_unencodable(label: &str, text: &str, message: &str) {
    let error = encoding(label).encode(text).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_unencodable_character_is_named_with_its_place() {
    check_unencodable(
        "windows-1252",
        "a\r\nb你",
        "U+4F60 at line 2, column 2 cannot be written in windows-1252",
    );
    check_unencodable(
        "gbk",
        "😀",
        "U+1F600 at line 1, column 1 cannot be written in gbk",
    );
    let hint = Encoding::GBK.encode("😀").unwrap_err().hint();
    assert!(hint.is_some_and(|hint| hint.contains("gb18030")));
    assert_eq!(Encoding::GB18030.encode("😀").unwrap(), b"\x94\x39\xFC\x36");
}

#[test]
fn a_character_that_would_come_back_as_another_is_unencodable() {
    check_unencodable(
        "shift_jis",
        "1 \u{A5}",
        "U+00A5 at line 1, column 3 cannot be written in shift_jis",
    );
    check_unencodable(
        "iso-2022-jp",
        "\u{FF71}",
        "U+FF71 at line 1, column 1 cannot be written in iso-2022-jp",
    );
    check_unencodable(
        "iso-2022-jp",
        "a\u{1B}",
        "U+001B at line 1, column 2 cannot be written in iso-2022-jp",
    );
}

#[track_caller]
fn check_misfit(label: &str, bytes: &[u8], offset: u64) {
    let error = encoding(label).decode(bytes).unwrap_err();
    let fields = error.fields();
    assert_eq!(error.code(), "encoding_mismatch");
    assert_eq!(fields[1], ("offset", crate::Field::Number(offset)));
}

#[test]
fn the_first_byte_that_does_not_fit_is_named() {
    check_misfit("utf-8", b"ab\xE4\xB8", 2);
    check_misfit("utf-8", b"\xE4\xB8\xAD\xFF", 3);
    check_misfit("utf-16le", b"a\0b", 2);
    check_misfit("utf-16le", b"a\0\x00\xD8b\0", 2);
    check_misfit("utf-16be", b"\0a\xDC\x00", 2);
    check_misfit("gb18030", b"a\xD6\nb", 1);
    check_misfit("gb18030", b"a\xD6", 1);
    check_misfit("shift_jis", b"ok\xFF", 2);
    check_misfit("big5", b"\xA4\xA4\x80", 2);
}

#[test]
fn every_character_of_the_basic_plane_comes_back_or_is_unencodable() {
    for label in LABELS {
        let encoding = encoding(label);
        for character in ('\0'..='\u{FFFF}').step_by(3) {
            let text = String::from(character);
            match encoding.encode(&text) {
                Ok(bytes) => assert_eq!(encoding.decode(&bytes).unwrap(), text, "{label}"),
                Err(error) => assert_eq!(error.code(), "unencodable"),
            }
        }
    }
}

#[test]
fn a_big5_pair_that_spells_two_characters_gives_both_its_bytes() {
    let chars: Vec<_> = encoding("big5").chars(b"a\x88\x62b").collect();
    let found: Vec<_> = chars
        .iter()
        .map(|char| (char.character, char.bytes.clone()))
        .collect();
    let expected = [
        ('a', 0..1),
        ('\u{CA}', 1..3),
        ('\u{304}', 1..3),
        ('b', 3..4),
    ];
    assert_eq!(found, expected);
}

/// Checks that the characters are those of the decoded text, side by side, up to the misfit.
fn check_chars(encoding: Encoding, bytes: &[u8]) {
    let chars: Vec<_> = encoding.chars(bytes).collect();
    let text: String = chars.iter().map(|char| char.character).collect();
    let end = chars.last().map_or(0, |char| char.bytes.end);
    for pair in chars.windows(2) {
        let touches = pair[0].bytes.end == pair[1].bytes.start;
        assert!(touches || pair[0].bytes == pair[1].bytes);
    }
    let misfit = match encoding.decode(bytes) {
        Ok(whole) => {
            assert_eq!(text, whole);
            bytes.len() as u64
        }
        Err(error) => match error.fields()[1] {
            (_, crate::Field::Number(offset)) => offset,
            _ => panic!(),
        },
    };
    // An escape sequence at the end belongs to no character.
    assert!(end as u64 == misfit || encoding.is_stateful());
    if !encoding.is_stateful() {
        assert_eq!(encoding.decode(&bytes[..end]).unwrap(), text);
    }
}

fn any_encoding() -> impl Strategy<Value = Encoding> {
    (0..LABELS.len()).prop_map(|at| encoding(LABELS[at]))
}

/// UTF-16 by the standard library.
fn utf16_model(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let units = bytes.chunks(2).map(|pair| pair.try_into().ok().map(unit));
    let units: Option<Vec<u16>> = units.collect();
    String::from_utf16(&units?).ok()
}

proptest! {
    #[test]
    fn characters_agree_with_the_decoded_text(
        encoding in any_encoding(),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        check_chars(encoding, &bytes);
    }

    #[test]
    fn characters_of_an_encoded_text_are_the_text(
        encoding in any_encoding(),
        text in "[a中б\n語é 上𝄞ア]{0,20}",
    ) {
        if let Ok(bytes) = encoding.encode(&text) {
            check_chars(encoding, &bytes);
            assert_eq!(encoding.decode(&bytes).unwrap(), text);
        }
    }

    #[test]
    fn utf16_is_the_standard_librarys(
        units in prop::collection::vec(prop_oneof![0..0x80_u16, 0xD7F0..0xE010_u16, any::<u16>()], 0..20),
        odd in any::<bool>(),
    ) {
        let mut bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        bytes.extend(odd.then_some(b'x'));
        let model = utf16_model(&bytes, u16::from_le_bytes);
        assert_eq!(Encoding::UTF_16LE.decode(&bytes).ok(), model);
        let model = utf16_model(&bytes, u16::from_be_bytes);
        assert_eq!(Encoding::UTF_16BE.decode(&bytes).ok(), model);
    }
}
