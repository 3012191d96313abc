use super::*;

#[track_caller]
fn check(text: &str, expected: Result<&str, &str>) {
    let parsed = RelPath::parse(text);
    let shown = parsed.as_ref().map(RelPath::to_string);
    assert_eq!(shown.as_deref().map_err(|error| error.code()), expected);
}

#[test]
fn dots_and_doubled_slashes_are_dropped() {
    check("./a//b/./c/", Ok("a/b/c"));
    check("", Ok("."));
    check(".", Ok("."));
}

#[track_caller]
fn check_shown(name: &[u8], shown: &str) {
    assert_eq!(escape_name(OsStr::from_bytes(name)), shown);
    assert_eq!(unescape_name(shown).as_bytes(), name);
}

#[test]
fn plain_names_are_shown_as_they_are() {
    for name in [
        "a",
        "a b",
        "中文 é",
        r"a\b",
        r"\x",
        r"a\x4",
        r"\\",
        r"\xe9",
        r"\x00",
        r"\x2F",
        r"\x2E",
    ] {
        check_shown(name.as_bytes(), name);
    }
}

#[test]
fn what_is_no_text_is_shown_by_its_bytes() {
    check_shown(b"caf\xE9", r"caf\xE9");
    check_shown(b"\xE4\xB8", r"\xE4\xB8");
    check_shown(b"a\nb\x7F\x1B", r"a\x0Ab\x7F\x1B");
    check_shown("a\u{85}\u{2028}".as_bytes(), r"a\xC2\x85\xE2\x80\xA8");
}

#[test]
fn a_backslash_that_looks_like_an_escape_is_one() {
    check_shown(br"\xE9", r"\x5CxE9");
    check_shown(br"\x5C", r"\x5Cx5C");
    check_shown(b"\\\xE9", r"\\xE9");
    check_shown(b"\\x\xE9", r"\x\xE9");
    check_shown(b"\\x5\xE9", r"\x5\xE9");
}

#[test]
fn an_escape_makes_no_way_out() {
    for text in [r"\x2E\x2E/a", r"a\x00", r"..\x2Fa"] {
        assert_eq!(RelPath::parse_escaped(text).unwrap().to_string(), text);
    }
    assert_eq!(
        RelPath::parse_escaped("a/../b").unwrap_err().code(),
        "invalid_path"
    );
}

proptest::proptest! {
    #[test]
    fn every_name_comes_back(name in proptest::collection::vec(
        proptest::prop_oneof![
            proptest::sample::select(b"\\xX59CEe\xE9\x0A\xC3\xA9".to_vec()),
            1_u8..=255,
        ], 0..12,
    )) {
        let name = OsStr::from_bytes(&name);
        let shown = escape_name(name);
        proptest::prop_assert_eq!(&*unescape_name(&shown), name);
        proptest::prop_assert_eq!(crate::one_line(&shown), shown);
    }
}

#[test]
fn what_could_leave_the_root_is_refused() {
    check("..", Err("invalid_path"));
    check("a/../b", Err("invalid_path"));
    check("/a", Err("invalid_path"));
    check("a\0b", Err("invalid_path"));
}

#[test]
fn long_names_and_long_paths_are_refused() {
    check(&"n".repeat(256), Err("invalid_path"));
    check(&"n/".repeat(2049), Err("invalid_path"));
    assert!(RelPath::parse("n".repeat(255)).is_ok());
}

#[test]
fn the_parent_of_a_name_is_the_root() {
    let path = RelPath::parse("a").unwrap();
    assert_eq!(path.parent(), Some(RelPath::root()));
    assert_eq!(RelPath::root().parent(), None);
}
