use fs_core::{Encoding, TextFormat};

use super::*;
use crate::{Edit, Positional, Request, Target, plan};

#[track_caller]
fn check(source: &str, edits: &[(&str, &str)], expected: &str) {
    let edits = edits
        .iter()
        .map(|(old, new)| Edit::new(*old, *new))
        .collect();
    check_request(source.as_bytes(), &Request::edits(edits), expected);
}

#[track_caller]
fn check_request(source: &[u8], request: &Request, expected: &str) {
    let plan = plan(source, request).unwrap();
    let diff = plan.diff(source, "f", &DiffOptions::default());
    assert_eq!(diff.strip_prefix("--- f\n+++ f\n").unwrap(), expected);
}

fn numbered(count: usize) -> String {
    (1..=count)
        .flat_map(|line| [line.to_string(), "\n".to_owned()])
        .collect()
}

#[test]
fn three_lines_of_context_stand_around_a_change() {
    let expected = "@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n";
    check(&numbered(9), &[("6", "six")], expected);
}

#[test]
fn changes_whose_context_touches_share_a_hunk() {
    let both = &[("2\n", "two\n"), ("9\n", "nine\n")];
    let one = "@@ -1,9 +1,9 @@\n 1\n-2\n+two\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+nine\n";
    check(&numbered(9), both, one);
    let far = &[("2\n", "two\n"), ("11", "eleven")];
    let two = "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
               @@ -8,4 +8,4 @@\n 8\n 9\n 10\n-11\n+eleven\n";
    check(&numbered(11), far, two);
}

#[test]
fn later_hunks_count_the_lines_that_earlier_ones_add() {
    let edits = &[("\n2\n", "\n"), ("20\n", "20\na\nb\n")];
    let expected = "@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n\
                    @@ -18,6 +17,8 @@\n 18\n 19\n 20\n+a\n+b\n 21\n 22\n 23\n";
    check(&numbered(30), edits, expected);
}

#[test]
fn a_line_that_stands_in_both_is_context_inside_a_block() {
    let expected = "@@ -1,4 +1,4 @@\n-a\n+A\n b\n-c\n+C\n d\n";
    check("a\nb\nc\nd\n", &[("a\nb\nc", "A\nb\nC")], expected);
}

#[test]
fn a_missing_final_break_is_said() {
    let open = "\\ No newline at end of file\n";
    check(
        "a\nb",
        &[("b", "B")],
        &format!("@@ -1,2 +1,2 @@\n a\n-b\n{open}+B\n{open}"),
    );
    check(
        "a\nb",
        &[("b", "b\n")],
        &format!("@@ -1,2 +1,2 @@\n a\n-b\n{open}+b\n"),
    );
    check(
        "a\nb\n",
        &[("b\n", "b")],
        &format!("@@ -1,2 +1,2 @@\n a\n-b\n+b\n{open}"),
    );
    check(
        "a\nb",
        &[("a", "A")],
        &format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{open}"),
    );
}

#[test]
fn an_empty_side_is_a_span_of_no_lines() {
    let insert = Positional::Insert {
        line: 1,
        column: 1,
        text: "a\n".to_owned(),
    };
    check_request(b"", &Request::position(insert), "@@ -0,0 +1 @@\n+a\n");
    check("a\n", &[("a\n", "")], "@@ -1 +0,0 @@\n-a\n");
}

#[test]
fn breaks_are_hidden_while_they_are_alike_and_marked_where_they_are_not() {
    check("a\r\nb\r\n", &[("b", "B")], "@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
    check("a\r\nb\n", &[("b", "B")], "@@ -1,2 +1,2 @@\n a␍\n-b\n+B\n");
    let mut request = Request::edits(vec![Edit::new("\na", "\r\na")]);
    request.eol = crate::EolMode::Exact;
    check_request(b"x\na\n", &request, "@@ -1,2 +1,2 @@\n-x\n+x␍\n a\n");
}

#[test]
fn text_is_shown_decoded_and_without_its_mark() {
    let source = [
        b"\xFF\xFE".as_slice(),
        &Encoding::UTF_16LE.encode("é\nb\n").unwrap(),
    ]
    .concat();
    let request = Request::edits(vec![Edit::new("b", "中")]);
    check_request(&source, &request, "@@ -1,2 +1,2 @@\n é\n-b\n+中\n");
    check("\u{feff}a\n", &[("a", "b")], "@@ -1 +1 @@\n-a\n+b\n");
    let request = Request::edits(vec![Edit::new("n", "m")]);
    check_request(
        b"caf\xE9\nn\n",
        &request,
        "@@ -1,2 +1,2 @@\n caf\u{fffd}\n-n\n+m\n",
    );
}

#[test]
fn a_long_line_is_shown_from_shortly_before_its_change() {
    let source = format!("{}old{}\n", "x".repeat(5_000), "y".repeat(3_000));
    let shown = |word: &str, left: usize| {
        let tail = "y".repeat(MAX_SHOWN - SHOWN_BEFORE - word.len());
        format!(
            "[4800 bytes]…{}{word}{tail}…[{left} bytes]\n",
            "x".repeat(SHOWN_BEFORE)
        )
    };
    let expected = format!(
        "@@ -1 +1 @@\n-{}+{}",
        shown("old", 2_203),
        shown("new!", 2_204)
    );
    check(&source, &[("old", "new!")], &expected);
}

#[test]
fn what_is_over_a_cap_is_counted() {
    let source = numbered(1_000);
    let new = source.replace('\n', "!\n");
    let plan = plan(
        source.as_bytes(),
        &Request::edits(vec![Edit::new(source.as_str(), new.as_str())]),
    );
    let plan = plan.unwrap();
    assert_eq!(plan.lines_changed(), 1_000);
    let options = DiffOptions {
        max_lines: 10,
        ..DiffOptions::default()
    };
    let diff = plan.diff(source.as_bytes(), "f", &options);
    assert_eq!(diff.lines().count(), 11);
    assert!(
        diff.ends_with("\n[cut: 1993 more lines of this hunk]\n"),
        "{diff}"
    );
    let options = DiffOptions {
        max_bytes: 100,
        ..DiffOptions::default()
    };
    let diff = plan.diff(source.as_bytes(), "f", &options);
    assert!(diff.len() <= 100 + "[cut: 1993 more lines of this hunk]\n".len());
}

#[test]
fn hunks_after_a_cap_are_counted_and_no_more() {
    let source = numbered(100);
    let edits = (1..=9)
        .map(|ten| Edit::new(format!("{ten}5\n"), "x\n"))
        .collect();
    let plan = plan(source.as_bytes(), &Request::edits(edits)).unwrap();
    let options = DiffOptions {
        max_lines: 12,
        ..DiffOptions::default()
    };
    let diff = plan.diff(source.as_bytes(), "f", &options);
    assert!(diff.ends_with("[cut: 8 more hunks]\n"), "{diff}");
}

#[test]
fn a_name_takes_one_line() {
    let patch = Patch::splice(1, [(0..1, b"b".to_vec())]);
    let diff = diff_of(b"a", &patch, None, "x\ny", &DiffOptions::default());
    assert!(diff.starts_with("--- x\\ny\n+++ x\\ny\n@@"), "{diff}");
}

#[test]
fn a_patch_without_change_has_no_diff() {
    let patch = Patch::splice(2, []);
    assert_eq!(
        diff_of(b"a\n", &patch, None, "f", &DiffOptions::default()),
        ""
    );
}

#[test]
fn a_whole_new_content_is_compared_line_by_line() {
    let patch = Patch::whole(b"a\nB\nc\n".to_vec());
    let format = TextFormat {
        encoding: Encoding::UTF_8,
        bom: false,
        eol: Eol::Lf,
    };
    let diff = diff_of(
        b"a\nb\nc\n",
        &patch,
        Some(format),
        "f",
        &DiffOptions::default(),
    );
    assert_eq!(diff, "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
}

#[test]
fn lines_changed_counts_new_lines_and_those_that_go_without_substitute() {
    let changed = |source: &str, old: &str, new: &str| {
        let request = Request {
            target: Target::Text(vec![Edit::new(old, new)]),
            ..Request::edits(Vec::new())
        };
        plan(source.as_bytes(), &request).unwrap().lines_changed()
    };
    assert_eq!(changed("a\nb\nc\n", "b", "B"), 1);
    assert_eq!(changed("a\nb\nc\n", "b\n", ""), 1);
    assert_eq!(changed("a\nb\nc\n", "b\n", "b\nx\ny\n"), 2);
    assert_eq!(changed("a\nb\nc\n", "a\nb\nc\n", "z\n"), 3);
    assert_eq!(changed("a\nb\nc\n", "b\nc", "bc"), 2);
}
