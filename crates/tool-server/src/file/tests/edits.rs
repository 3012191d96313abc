//! `edit_file`.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::world::{World, check_fails};

/// Asserts what an edit makes of a file, and that the old bytes are beside it.
#[track_caller]
fn check(content: impl AsRef<[u8]>, mut arguments: Value, expected: impl AsRef<[u8]>) {
    let world = World::with("f", &content);
    arguments["path"] = json!("f");
    let answer = world.call("edit_file", &arguments);
    assert!(answer.is_ok(), "{}", answer.unwrap_err());
    assert_eq!(
        String::from_utf8_lossy(&world.bytes("f")),
        String::from_utf8_lossy(expected.as_ref())
    );
    assert_eq!(world.bytes("f"), expected.as_ref());
    assert_eq!(world.bytes("f.bak"), content.as_ref());
}

/// Asserts that an edit fails, changes nothing and leaves no backup.
#[track_caller]
fn check_refused(content: impl AsRef<[u8]>, mut arguments: Value, code: &str, says: &str) {
    let world = World::with("f", &content);
    arguments["path"] = json!("f");
    check_fails(&world, "edit_file", &arguments, code, says);
    assert_eq!(world.bytes("f"), content.as_ref());
    assert_eq!(world.names(""), ["f"]);
}

fn replace(old: &str, new: &str) -> Value {
    json!({"mode": "replace_text", "old_text": old, "text": new})
}

/// B6, K1 and K2 (a lone CR is data).
#[test]
fn breaks_match_each_other_and_keep_their_style() {
    check("a\r\nb\r\nc", replace("b", "B"), "a\r\nB\r\nc");
    check("alpha\nbeta", replace("alpha\nbeta", "A\nB"), "A\nB");
    check("alpha\r\nbeta", replace("alpha\nbeta", "A\nB"), "A\r\nB");
    check_refused(
        "alpha\rbeta",
        replace("alpha\nbeta", "A\nB"),
        "no_match",
        "old_text",
    );
    check("a\r\nb\nc\rd", replace("b\nc", "B\nC"), "a\r\nB\nC\rd");
}

/// B7.
#[test]
fn a_byte_order_mark_stays() {
    let line = json!({"mode": "replace_line", "line": 1, "text": "ho"});
    check("\u{feff}hi\nx\n", line, "\u{feff}ho\nx\n");
}

/// B8 and B9.
#[test]
fn a_gbk_file_stays_gbk_or_as_it_is() {
    let gbk = b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\n\xd4\xd9\xbc\xfb\xc5\xf3\xd3\xd1\n";
    let after = b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\n\xd4\xd9\xbc\xfb\xc0\xcf\xd3\xd1\n";
    check(gbk, replace("朋", "老"), after);
    let mut emoji = replace("朋", "\u{1f600}");
    emoji["encoding"] = json!("gbk");
    check_refused(gbk, emoji, "unencodable", "U+1F600");
}

/// B10 and B11.
#[test]
fn occurrences_are_counted() {
    let count = |expected: i64| {
        let mut arguments = replace("aa", "b");
        arguments["expected_count"] = json!(expected);
        arguments
    };
    let says = "found 3 occurrences of old_text, expected 1: f";
    check_refused("aa aa aa", count(1), "count_mismatch", says);
    check("aa aa aa", count(3), "b b b");
    check("aa aa aa", count(-1), "b b b");
    check_refused("x", count(-1), "no_match", "could not find old_text");
    check_refused("x", count(0), "invalid_argument", "expected_count");
    check_refused("x", count(-2), "invalid_argument", "expected_count");
    check_refused("aa", replace("aa", "aa"), "no_op", "");
    check_refused("aa", replace("", "b"), "empty_old", "old_text is empty");
    let mut absent = replace("", "b");
    absent.as_object_mut().unwrap().remove("old_text");
    check_refused("aa", absent, "empty_old", "");
}

#[test]
fn a_hint_names_this_tools_parameter() {
    let world = World::with("f", "x x");
    let mut arguments = replace("x", "y");
    arguments["path"] = json!("f");
    let error = Value::from(world.failed("edit_file", &arguments).object());
    assert_eq!(error["found"], json!(2));
    assert_eq!(error["edit"], Value::Null);
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("`old_text`"), "{hint}");
}

fn insert(line: u64, column: u64, text: &str) -> Value {
    json!({"mode": "insert", "line": line, "column": column, "text": text})
}

/// B12: the position after the last line is the one way to append, and puts a break between.
#[test]
fn text_is_inserted_at_a_position() {
    check("ab\ncd", insert(1, 2, "X"), "aXb\ncd");
    check("ab\ncd", insert(2, 3, "X"), "ab\ncdX");
    check("ab\ncd", insert(3, 1, "Y"), "ab\ncd\nY");
    check("ab\ncd\n", insert(3, 1, "Y"), "ab\ncd\nY");
    check(
        "ab\n",
        json!({"mode": "insert", "text": "first\n"}),
        "first\nab\n",
    );
    check_refused("ab\ncd", insert(2, 99, "Y"), "out_of_range", "column 99");
    check_refused("ab\ncd", insert(4, 1, "Y"), "out_of_range", "line 4");
    check_refused("ab\ncd", insert(3, 2, "Y"), "out_of_range", "column 2");
    check_refused("ab\ncd", insert(0, 1, "Y"), "out_of_range", "line 0");
}

/// B13 and K3.
#[test]
fn a_replaced_line_keeps_its_own_break() {
    let line = |line: u64, text: &str| json!({"mode": "replace_line", "line": line, "text": text});
    check("p\no\nr\n", line(2, "q\n"), "p\nq\nr\n");
    check("p\no\nr\n", line(2, "q"), "p\nq\nr\n");
    check("p\r\no\r\n", line(2, "q\n"), "p\r\nq\r\n");
    check("p\no", line(2, "q"), "p\nq");
    check("p\no", line(2, "q\n"), "p\nq");
    check_refused("p\n", line(2, "q"), "out_of_range", "line 2");
}

fn range(from: (u64, u64), to: (u64, u64), text: &str) -> Value {
    json!({
        "mode": "replace_range", "text": text,
        "line": from.0, "column": from.1, "end_line": to.0, "end_column": to.1,
    })
}

/// B14, B15 and B16.
#[test]
fn a_range_is_exclusive_and_counts_characters() {
    check("abcd", range((1, 2), (1, 3), "X"), "aXcd");
    let whole = json!({"mode": "replace_range", "line": 1, "end_line": 2, "text": "Y"});
    check("abcd\nefgh\nij", whole, "Y\nij");
    check("你好世界", range((1, 2), (1, 4), "X"), "你X界");
    check("abcd", range((1, 3), (0, 0), "X"), "abX");
    check_refused(
        "abcd",
        range((1, 3), (1, 2), "X"),
        "invalid_argument",
        "end_column",
    );
    check_refused(
        "a\nb",
        range((2, 1), (1, 1), "X"),
        "invalid_argument",
        "end_line",
    );
    check_refused(
        "abcd",
        range((1, 2), (1, 9), "X"),
        "out_of_range",
        "end_column 9",
    );
}

/// B17 and K5, with numbered backups.
#[test]
fn every_earlier_version_is_kept_when_the_server_keeps_them() {
    let world = World::keeping_backups();
    world.write("f", "one");
    for (old, new, backup) in [("one", "two", "f.bak"), ("two", "three", "f.bak.1")] {
        let mut arguments = replace(old, new);
        arguments["path"] = json!("f");
        let (_, facts) = world.full("edit_file", &arguments).unwrap();
        assert_eq!(facts["backup"], backup);
    }
    assert_eq!(world.text("f.bak"), "one");
    assert_eq!(world.text("f.bak.1"), "two");
    assert_eq!(world.text("f"), "three");
}

/// B18: a backup is never made through a link.
#[test]
fn a_link_in_the_backups_place_leads_nowhere() {
    for (world, names) in [
        (World::new(), vec!["f", "f.bak"]),
        (World::keeping_backups(), vec!["f", "f.bak", "f.bak.1"]),
    ] {
        world.write("f", "one");
        fs::write(world.out("o"), "OUTSIDE").unwrap();
        symlink(world.out("o"), world.path("f.bak")).unwrap();
        let mut arguments = replace("one", "two");
        arguments["path"] = json!("f");
        world.call("edit_file", &arguments).unwrap();
        assert_eq!(fs::read(world.out("o")).unwrap(), b"OUTSIDE");
        assert_eq!(world.names(""), names);
        assert_eq!(world.text("f"), "two");
    }
}

#[test]
fn a_backup_is_made_unless_told_not_to() {
    let world = World::with("f", "one");
    let arguments = json!({
        "path": "f", "mode": "replace_text", "old_text": "one", "text": "two",
        "create_backup": false,
    });
    let (_, facts) = world.full("edit_file", &arguments).unwrap();
    assert_eq!(facts["backup"], Value::Null);
    assert_eq!(world.names(""), ["f"]);
}

#[test]
fn an_edit_answers_the_file_as_an_artifact() {
    let world = World::with("notes.md", "one\ntwo\n");
    let arguments = json!({
        "path": "notes.md", "mode": "replace_text", "old_text": "one", "text": "1",
    });
    let (blocks, facts) = world.full("edit_file", &arguments).unwrap();
    let expected = r#"{
  "success": true,
  "message": "Edited notes.md (1 replacement): 1 line changed, backup notes.md.bak",
  "artifacts": [
    {
      "kind": "file",
      "name": "notes.md",
      "path": "notes.md",
      "mimeType": "text/markdown",
      "size": 6
    }
  ]
}"#;
    assert_eq!(blocks, [expected]);
    assert_eq!(
        (&facts["replacements"], &facts["size"]),
        (&json!(1), &json!(6))
    );
    let rehearsal = json!({
        "path": "notes.md", "mode": "insert", "line": 2, "column": 4, "text": "!", "dry_run": true,
    });
    let blocks = world.call("edit_file", &rehearsal).unwrap();
    assert!(
        blocks[0].contains("\"Would edit notes.md: 1 line changed\""),
        "{}",
        blocks[0]
    );
    assert!(blocks[1].contains("-two\n+two!\n"), "{}", blocks[1]);
    assert_eq!(world.text("notes.md"), "1\ntwo\n");
}

/// A parameter that the mode does not look at is a mistake, unless it says what it says by default.
#[test]
fn what_a_mode_does_not_take_is_refused() {
    let all = json!({
        "mode": "replace_line", "line": 1, "column": 1, "end_line": 0, "end_column": 0,
        "old_text": "", "expected_count": 1, "create_backup": true, "text": "b",
    });
    check("a", all, "b");
    for (mode, name, value) in [
        ("replace_text", "line", json!(2)),
        ("replace_line", "column", json!(2)),
        ("insert", "end_line", json!(2)),
        ("replace_line", "end_column", json!(2)),
        ("insert", "old_text", json!("a")),
        ("replace_range", "expected_count", json!(-1)),
    ] {
        let mut arguments = json!({"mode": mode, "text": "b"});
        if mode == "replace_text" {
            arguments["old_text"] = json!("a");
        }
        arguments[name] = value;
        check_refused("a\n", arguments, "invalid_argument", name);
    }
    check_refused(
        "a",
        json!({"mode": "delete", "text": ""}),
        "invalid_argument",
        "mode",
    );
    check_refused("a", json!({"mode": "insert"}), "invalid_argument", "text");
    let world = World::new();
    let missing = json!({"path": "no", "mode": "insert", "text": "x"});
    check_fails(&world, "edit_file", &missing, "not_found", "no");
    assert_eq!(world.names(""), Vec::<String>::new());
}
