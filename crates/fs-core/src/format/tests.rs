use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;
use crate::judge::Blocks;

fn label(label: &str) -> Encoding {
    Encoding::for_label(label).unwrap()
}

/// Says in one word what `bytes` were found to be.
fn verdict(found: &Result<Detected>) -> String {
    match found {
        Ok(Detected { shape, bom_bytes }) => match shape {
            Shape::Text { encoding, by } => {
                format!("{} by {}, bom {bom_bytes}", encoding.name(), by.name())
            }
            Shape::Lossy {
                invalid_bytes,
                offset,
            } => format!("lossy {invalid_bytes} at {offset}"),
            Shape::Opaque { offset } => format!("opaque at {offset}"),
            Shape::Binary => "binary".to_owned(),
        },
        Err(error) => format!("{} {:?}", error.code(), error.fields()),
    }
}

#[track_caller]
fn check(bytes: &[u8], declared: Option<&str>, fallback: Fallback, expected: &str) {
    let found = detect(bytes, declared.map(label), fallback);
    assert_eq!(verdict(&found), expected);
}

fn utf16le(text: &str) -> Vec<u8> {
    Encoding::UTF_16LE.encode(text).unwrap()
}

#[test]
fn a_byte_order_mark_decides_first() {
    let none = Fallback::None;
    check(b"\xEF\xBB\xBFx", None, none, "utf-8 by bom, bom 3");
    check(b"\xFF\xFEx\0", None, none, "utf-16le by bom, bom 2");
    check(b"\xFE\xFF\0x", None, none, "utf-16be by bom, bom 2");
    check(b"\xFF\xFE", None, none, "utf-16le by bom, bom 2");
    check(
        b"\xFF\xFEx\0",
        Some("utf-16le"),
        none,
        "utf-16le by bom, bom 2",
    );
    check(b"\xFF\xFEx\0y", None, Fallback::Auto, "opaque at 4");
    check(b"\xEF\xBB\xBFa\xFF", None, Fallback::Auto, "opaque at 4");
}

#[test]
fn a_label_that_contradicts_the_mark_is_a_mismatch() {
    check(
        b"\xEF\xBB\xBFx",
        Some("gbk"),
        Fallback::None,
        r#"encoding_mismatch [("encoding", Text("gb18030")), ("offset", Number(0))]"#,
    );
}

#[test]
fn a_mark_of_utf32_is_no_text() {
    let expected = r#"not_text [("offset", Number(0))]"#;
    check(b"\xFF\xFE\0\0x\0\0\0", None, Fallback::Auto, expected);
    check(
        b"\0\0\xFE\xFF\0\0\0x",
        Some("utf-8"),
        Fallback::Auto,
        expected,
    );
}

#[test]
fn a_declared_encoding_is_strict() {
    check(
        b"\xD6\xD0",
        Some("gbk"),
        Fallback::None,
        "gb18030 by declared, bom 0",
    );
    check(
        b"a\xD6\xD0\xFF",
        Some("gbk"),
        Fallback::Auto,
        r#"encoding_mismatch [("encoding", Text("gb18030")), ("offset", Number(3))]"#,
    );
    check(
        b"a\0b\0",
        Some("utf-8"),
        Fallback::None,
        "utf-8 by declared, bom 0",
    );
    check(
        b"\xEF\xBB\xBFab\xFF",
        Some("utf-8"),
        Fallback::None,
        r#"encoding_mismatch [("encoding", Text("utf-8")), ("offset", Number(5))]"#,
    );
}

#[test]
fn nuls_at_one_parity_are_utf16() {
    let none = Fallback::None;
    check(b"h\0i\0", None, none, "utf-16le by nul_parity, bom 0");
    check(b"\0h\0i", None, none, "utf-16be by nul_parity, bom 0");
    let mixed = utf16le("中文 and 上 text");
    check(&mixed, None, none, "utf-16le by nul_parity, bom 0");
}

#[test]
fn other_nuls_are_binary() {
    let all = Fallback::Encoding(Encoding::GBK);
    check(b"a\0b", None, all, "binary");
    check(b"h\0", None, all, "binary");
    check(b"h\0i\0\0\0", None, all, "binary");
    check(b"\x01\0\x02\0\x03\0", None, all, "binary");
    check(b"h\0i\0x", None, all, "binary");
    // Two letters of ten units are too few.
    let few: Vec<u8> = (1..9).chain(*b"ab").flat_map(|byte| [byte, 0]).collect();
    check(&few, None, all, "binary");
}

#[test]
fn a_nul_after_the_first_8_kib_is_a_character() {
    let mut bytes = vec![b'a'; 8192];
    bytes.push(0);
    check(&bytes, None, Fallback::None, "utf-8 by utf8, bom 0");
    bytes.remove(0);
    check(&bytes, None, Fallback::None, "binary");
}

#[test]
fn utf8_with_few_bad_bytes_is_lossy() {
    let good = "中".repeat(10);
    let bytes = [good.as_bytes(), b"\xFF"].concat();
    check(&bytes, None, Fallback::Auto, "lossy 1 at 30");
    let bytes = [&good.as_bytes()[3..], b"\xFF"].concat();
    check(&bytes, None, Fallback::None, "opaque at 27");
    check(b"a\xFF", None, Fallback::None, "opaque at 1");
    check(
        "中".as_bytes(),
        None,
        Fallback::None,
        "utf-8 by utf8, bom 0",
    );
    check(b"", None, Fallback::None, "utf-8 by utf8, bom 0");
}

#[test]
fn the_fallback_comes_last_and_is_strict() {
    let gbk = b"\xD6\xD0\xCE\xC4\n";
    let label = |name| Fallback::Encoding(label(name));
    check(gbk, None, Fallback::None, "opaque at 0");
    check(gbk, None, label("gbk"), "gb18030 by fallback, bom 0");
    check(gbk, None, label("big5"), "big5 by fallback, bom 0");
    check(b"a\xFF", None, label("gbk"), "opaque at 1");
}

#[test]
fn guesses_tell_short_lines_apart() {
    let check = |text: &str, encoding: &str| {
        let name = label(encoding).name();
        let bytes = label(encoding).encode(text).unwrap();
        check(
            &bytes,
            None,
            Fallback::Auto,
            &format!("{name} by guess, bom 0"),
        );
    };
    check("你好\n", "gbk");
    check("x = 1  # 中文注释\n", "gbk");
    check("这是简体中文的文件，用来测试编码检测的结果。\n", "gbk");
    check("這是繁體中文的文件，用來測試編碼偵測的結果。\n", "big5");
    check(
        "日本語のテキストです。文字コードの判定を試す。\n",
        "shift_jis",
    );
    check("日本語のテキストです。文字コードの判定を試す。\n", "euc-jp");
    check("한국어 문장입니다. 인코딩을 추정합니다.\n", "euc-kr");
    check("파일을 찾을 수 없습니다\n", "euc-kr");
    check("ファイルがない\n", "euc-jp");
    check("für die Prüfung der Größe\n", "windows-1252");
    check("Привет, мир! Это русский текст.\n", "windows-1251");
}

#[test]
fn a_guess_must_fit_the_whole_file() {
    let mut bytes = Encoding::GBK
        .encode(&"中文文件内容\n".repeat(3000))
        .unwrap();
    bytes.extend(b"\xFF\xFF");
    check(&bytes, None, Fallback::Auto, "opaque at 0");
}

#[track_caller]
fn check_eol(bytes: &[u8], encoding: Encoding, name: &str) {
    assert_eq!(Eol::of(bytes, encoding).name(), name);
}

#[test]
fn line_breaks_are_lf_crlf_both_or_none() {
    check_eol(b"a\rb", Encoding::UTF_8, "none");
    check_eol(b"a\nb", Encoding::UTF_8, "lf");
    check_eol(b"a\r\nb\r\n", Encoding::UTF_8, "crlf");
    check_eol(b"a\r\nb\n", Encoding::UTF_8, "mixed");
    check_eol(b"\r\r\n", Encoding::UTF_8, "crlf");
    check_eol(&utf16le("上\r\n"), Encoding::UTF_16LE, "crlf");
    check_eol(&utf16le("上上"), Encoding::UTF_16LE, "none");
    check_eol(b"\0\n\0\r\0\n", Encoding::UTF_16BE, "mixed");
}

/// Bytes that come in blocks of any size.
struct Pieces<'a>(&'a [u8], usize);

impl Blocks for Pieces<'_> {
    fn each(&mut self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let _: ControlFlow<()> = self.0.chunks(self.1).try_for_each(see);
        Ok(())
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"word ".to_vec()),
        Just("中文".as_bytes().to_vec()),
        Just("😀é".as_bytes().to_vec()),
        Just(b"\xD6\xD0\xCE\xC4".to_vec()),
        Just(b"\xA4\xA4".to_vec()),
        Just(b"\0".to_vec()),
        Just(b"\xFF\xFE".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just("中文字".repeat(10).into_bytes()),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_block_size_does_not_matter(bytes in bytes(), block in 1_usize..9, declared in 0..4) {
        let declared = match declared {
            0 => Some(Encoding::UTF_8),
            1 => Some(Encoding::GBK),
            _ => None,
        };
        let whole = detect(&bytes, declared, Fallback::Auto);
        let pieces = judge(&mut Pieces(&bytes, block), declared, Fallback::Auto);
        assert_eq!(verdict(&pieces), verdict(&whole));
    }

    #[test]
    fn what_is_found_to_be_text_decodes(bytes in bytes()) {
        if let Ok(found) = detect(&bytes, None, Fallback::Auto) && let Some(encoding) = found.encoding() {
            let text = encoding.decode(&bytes[found.bom_bytes..]);
            assert!(text.is_ok(), "{found:?}");
        }
    }

    #[test]
    fn lossy_counts_are_the_standard_librarys(bytes in bytes()) {
        if let Ok(Detected { shape: Shape::Lossy { invalid_bytes, offset }, .. }) =
            detect(&bytes, None, Fallback::None)
        {
            let bad = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
            assert_eq!(invalid_bytes, bad as u64);
            let valid = std::str::from_utf8(&bytes).unwrap_err().valid_up_to();
            assert_eq!(offset, valid as u64);
        }
    }
}
