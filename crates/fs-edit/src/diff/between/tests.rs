use super::*;

const UTF_8: TextFormat = TextFormat {
    encoding: Encoding::UTF_8,
    bom: false,
    eol: Eol::Lf,
};

fn between(old: &[u8], new: &[u8]) -> String {
    let side = |bytes| WholeText {
        bytes,
        format: None,
    };
    diff_between(side(old), side(new), "f", &DiffOptions::default())
}

#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    let diff = between(old.as_bytes(), new.as_bytes());
    let body = diff.strip_prefix("--- f\n+++ f\n").unwrap_or(&diff);
    assert_eq!(body, expected);
}

#[test]
fn only_lines_that_differ_are_shown() {
    check("a\n", "a\n", "");
    check("", "a\n", "@@ -0,0 +1 @@\n+a\n");
    check("a\n", "", "@@ -1 +0,0 @@\n-a\n");
    check("a\nb\n", "a\nx\nb\n", "@@ -1,2 +1,3 @@\n a\n+x\n b\n");
    check("a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n");
    check(
        "a\nb",
        "a\nb\n",
        "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
    );
    check("é\n", "è\n", "@@ -1 +1 @@\n-é\n+è\n");
    check("a\r\n", "a\n", "@@ -1 +1 @@\n-a␍\n+a\n");
}

#[test]
fn changes_far_from_each_other_are_hunks_of_their_own() {
    let lines = |changed: &[usize]| -> String {
        let line = |n| {
            if changed.contains(&n) {
                "X\n".to_owned()
            } else {
                format!("{n}\n")
            }
        };
        (0..40).map(line).collect()
    };
    let diff = between(lines(&[]).as_bytes(), lines(&[5, 30]).as_bytes());
    assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
    assert!(
        diff.contains("-5\n+X\n") && diff.contains("-30\n+X\n"),
        "{diff}"
    );
}

#[test]
fn a_side_that_is_no_text_is_said_in_words() {
    assert_eq!(
        between(b"a", b"\0"),
        "[f: 1 bytes by now, which are no text]\n"
    );
    assert_eq!(
        between(b"\xFF\xFE", b"a"),
        "[f: 2 bytes that were no text are text by now]\n"
    );
}

#[test]
fn each_side_has_a_format_of_its_own() {
    let gbk = TextFormat {
        encoding: Encoding::GBK,
        ..UTF_8
    };
    let text = "中文\n";
    let bytes = Encoding::GBK.encode(text).unwrap();
    let old = WholeText {
        bytes: &bytes,
        format: Some(gbk),
    };
    let new = |bytes| WholeText {
        bytes,
        format: Some(UTF_8),
    };
    let options = DiffOptions::default();
    let same = diff_between(old, new(text.as_bytes()), "f", &options);
    assert_eq!(
        same,
        "[f: the same text in other bytes: gb18030 before, utf-8 now]\n"
    );
    let other = diff_between(old, new("中国\n".as_bytes()), "f", &options);
    assert_eq!(other, "--- f\n+++ f\n@@ -1 +1 @@\n-中文\n+中国\n");
}

#[test]
fn hostile_texts_take_bounded_time_and_space() {
    let joined = |numbers: Vec<String>| numbers.join("\n");
    let ones = joined((0..60_000).map(|n| n.to_string()).collect());
    let twos = joined((0..60_000).rev().map(|n| n.to_string()).collect());
    let line = "x".repeat(16 << 20);
    let began = Instant::now();
    for (old, new) in [(&*ones, &*twos), (&*line, "x")] {
        let diff = between(old.as_bytes(), new.as_bytes());
        assert!(!diff.is_empty() && diff.len() < 20_000);
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// The diff applied by a reader that knows only its lines.
fn applied(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.lines().collect();
    let (mut new, mut at) = (Vec::new(), 0);
    for row in diff.lines().skip(2) {
        if let Some(spans) = row.strip_prefix("@@ -") {
            let span = spans.split(' ').next().unwrap();
            let (first, count) = span.split_once(',').unwrap_or((span, "1"));
            let first: usize = first.parse().unwrap();
            let start = if count == "0" { first } else { first - 1 };
            new.extend_from_slice(&old[at..start]);
            at = start;
        } else if let Some(line) = row.strip_prefix('+') {
            new.push(line);
        } else {
            let line = row.get(1..).unwrap();
            assert_eq!(old[at], line);
            at += 1;
            if row.starts_with(' ') {
                new.push(line);
            }
        }
    }
    new.extend_from_slice(&old[at..]);
    new.iter().flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn a_diff_leads_from_one_text_to_the_other() {
    use proptest::prelude::*;
    let text = || proptest::collection::vec("[ab]{0,1}", 0..12);
    proptest!(|(old in text(), new in text())| {
        let join = |lines: Vec<String>| -> String {
            lines.iter().flat_map(|line| [line, "\n"]).collect()
        };
        let (old, new) = (join(old), join(new));
        let diff = between(old.as_bytes(), new.as_bytes());
        prop_assert_eq!(applied(&old, &diff), new);
    });
}
