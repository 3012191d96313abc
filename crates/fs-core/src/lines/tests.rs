use proptest::prelude::*;

use super::*;

/// Lines by one step at a time over characters with their bytes.
fn model(bytes: &[u8], encoding: Encoding) -> Vec<LineSpan> {
    let (mut lines, mut start) = (Vec::new(), 0);
    let mut last = None;
    for char in encoding.chars(bytes) {
        if char.character == '\n' {
            lines.push(LineSpan {
                start,
                text_end: last.filter(|at| *at >= start).unwrap_or(char.bytes.start),
                end: char.bytes.end,
            });
            start = char.bytes.end;
        }
        last = (char.character == '\r').then_some(char.bytes.start);
    }
    if start < bytes.len() {
        lines.push(LineSpan {
            start,
            text_end: bytes.len(),
            end: bytes.len(),
        });
    }
    lines
}

#[track_caller]
fn check(text: &str, label: &str) {
    let encoding = Encoding::for_label(label).unwrap();
    let bytes = encoding.encode(text).unwrap();
    let lines = Lines::new(&bytes, encoding);
    let expected = model(&bytes, encoding);
    assert_eq!(lines.count(), expected.len() as u64);
    assert_eq!(lines.iter().collect::<Vec<_>>(), expected);
    assert_eq!(lines.get(0), None);
    assert_eq!(lines.get(expected.len() as u64 + 1), None);
    for (at, line) in expected.iter().enumerate() {
        let number = at as u64 + 1;
        assert_eq!(lines.get(number), Some(*line));
        assert_eq!(lines.start_of(line.start), line.start);
        assert_eq!(lines.line_of(line.start), number);
        assert_eq!(lines.line_of(line.end - encoding.unit_bytes()), number);
    }
}

#[test]
fn an_empty_text_has_no_line() {
    check("", "utf-8");
    assert_eq!(Lines::new(b"", Encoding::UTF_8).line_of(0), 1);
}

#[test]
fn the_end_after_a_final_break_is_the_line_to_come() {
    let lines = Lines::new(b"a\nb\n", Encoding::UTF_8);
    assert_eq!(lines.count(), 2);
    assert_eq!(lines.line_of(4), 3);
    assert_eq!(lines.line_of(99), 3);
    assert_eq!(lines.iter_from(2).count(), 1);
}

#[test]
fn only_lf_and_crlf_end_a_line() {
    check("a\rb\u{85}c\u{2028}d\x0Be\x0Cf\r\r\ng", "utf-8");
    assert_eq!(
        Lines::new(b"\r\r\n", Encoding::UTF_8).get(1),
        Some(LineSpan {
            start: 0,
            text_end: 1,
            end: 3
        })
    );
}

proptest! {
    #[test]
    fn lines_are_the_models(
        text in "[a中上\u{A00}\r\n]{0,30}",
        label in prop::sample::select(vec!["utf-8", "utf-16le", "utf-16be", "gb18030"]),
    ) {
        check(&text, label);
    }
}
