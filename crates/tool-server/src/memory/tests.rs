use fs_core::{Encoding, EncodingBy, Eol, Next, RelPath, TextFormat};

use super::*;

fn place(name: &str) -> RealPlace {
    RealPlace {
        root: Some("workspace".to_owned()),
        path: RelPath::root().join(name.as_ref()).unwrap(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    More,
    None,
}

/// A window of a file whose version is that of `version`.
fn window(version: &str, first_line: u64, text: &str, rest: Rest) -> Window {
    Window {
        text: text.to_owned(),
        first_line: Some(first_line),
        returned_lines: text.lines().count() as u64,
        total_lines: None,
        eof: rest == Rest::None,
        format: TextFormat {
            encoding: Encoding::UTF_8,
            bom: false,
            eol: Eol::Lf,
        },
        encoding_by: EncodingBy::Utf8,
        invalid_bytes: 0,
        truncated: false,
        cut_lines: Vec::new(),
        next: None,
        version: Version::of_bytes(version.as_bytes()),
        size: text.len() as u64,
    }
}

/// What is remembered of `f` as text, its first line, and whether it is all.
fn text(memory: &Memory) -> Option<(String, u64, bool)> {
    let shown = memory.recall(&place("f"))?.text?;
    Some((shown.text, shown.first_line, shown.is_whole))
}

#[track_caller]
fn check(windows: &[Window], expected: Option<(&str, u64, bool)>) {
    let memory = Memory::default();
    for window in windows {
        memory.saw(place("f"), window);
    }
    let expected = expected.map(|(text, first, whole)| (text.to_owned(), first, whole));
    assert_eq!(text(&memory), expected);
}

#[test]
fn windows_that_follow_each_other_are_one() {
    let (one, two) = (
        window("v", 1, "a\n", Rest::More),
        window("v", 2, "b\n", Rest::None),
    );
    check(std::slice::from_ref(&one), Some(("a\n", 1, false)));
    check(std::slice::from_ref(&two), Some(("b\n", 2, false)));
    check(&[one.clone(), two.clone()], Some(("a\nb\n", 1, true)));
    check(&[two.clone(), one.clone()], Some(("a\n", 1, false)));
    let whole = window("v", 1, "a\nb\n", Rest::None);
    check(&[whole, two], Some(("a\nb\n", 1, true)));
    let other = window("w", 2, "b\n", Rest::None);
    check(&[one, other], Some(("b\n", 2, false)));
}

#[test]
fn only_whole_lines_are_kept_and_not_too_many() {
    let mut inside = window("v", 1, "a", Rest::More);
    inside.next = Some(Next { line: 1, column: 2 });
    check(&[inside], None);
    let long = "x".repeat(MAX_TEXT + 1);
    check(&[window("v", 1, &long, Rest::None)], None);
    let half = "x\n".repeat(MAX_TEXT / 2);
    let lines = half.lines().count() as u64;
    let next = window("v", 1 + lines, "y\n", Rest::None);
    check(
        &[window("v", 1, &half, Rest::More), next],
        Some(("y\n", 1 + lines, false)),
    );
}

#[test]
fn an_edit_is_followed_from_the_known_version_only() {
    let version = |text: &str| Version::of_bytes(text.as_bytes());
    let memory = Memory::default();
    memory.wrote(place("f"), version("v1"), "v1");
    memory.edited(place("f"), &version("v1"), version("v2"));
    assert_eq!(memory.version(&place("f")), Some(version("v2")));
    assert!(memory.recall(&place("f")).unwrap().is_edited);
    memory.edited(place("f"), &version("other"), version("v3"));
    assert_eq!(memory.version(&place("f")), Some(version("v2")));
    memory.edited(place("g"), &version("v1"), version("v2"));
    assert_eq!(memory.version(&place("g")), None);
}

#[test]
fn edits_that_are_told_out_of_order_are_followed_all_the_same() {
    let version = |text: &str| Version::of_bytes(text.as_bytes());
    let memory = Memory::default();
    memory.wrote(place("f"), version("v1"), "v1");
    memory.edited(place("f"), &version("v3"), version("v4"));
    memory.edited(place("f"), &version("v2"), version("v3"));
    assert_eq!(memory.version(&place("f")), Some(version("v1")));
    memory.edited(place("f"), &version("v1"), version("v2"));
    assert_eq!(memory.version(&place("f")), Some(version("v4")));
    // There and back is followed once each.
    memory.edited(place("f"), &version("v4"), version("v1"));
    assert_eq!(memory.version(&place("f")), Some(version("v1")));
}

#[test]
fn memory_is_bounded_and_keeps_what_was_used_last() {
    let memory = Memory::default();
    let version = Version::of_bytes(b"v");
    for n in 0..5_000 {
        memory.wrote(place("first"), version.clone(), "kept");
        memory.wrote(place(&n.to_string()), version.clone(), "x");
        assert!(memory.table().files.len() <= MAX_FILES);
    }
    assert_eq!(
        memory.recall(&place("first")).unwrap().text.unwrap().text,
        "kept"
    );
    assert_eq!(memory.version(&place("4999")), Some(version.clone()));
    assert_eq!(memory.version(&place("0")), None);
    let text = "x".repeat(MAX_TEXT);
    for n in 0..200 {
        memory.wrote(place(&n.to_string()), version.clone(), &text);
        let table = memory.table();
        let texts = table.files.values().map(|entry| entry.known.text_bytes());
        assert_eq!(table.text_bytes, texts.sum::<usize>());
        assert!(table.text_bytes <= MAX_TEXTS);
    }
    assert!(memory.recall(&place("199")).unwrap().text.is_some());
}
