//! `read_file`, `read_file_range`, `list_dir` and `stat_file`.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::world::{World, check_fails, settings};
use crate::Settings;

/// Asserts the blocks of a range; the header's lines stand before the text.
#[track_caller]
fn check_range(content: impl AsRef<[u8]>, mut arguments: Value, header: &str, blocks: &[&str]) {
    let world = World::with("f", content);
    arguments["path"] = json!("f");
    let answer = world.call("read_file_range", &arguments).unwrap();
    let (first, more) = blocks.split_first().unwrap();
    let body = if first.is_empty() {
        format!("File: f\n{header}\n")
    } else {
        format!("File: f\n{header}\n\n{first}")
    };
    assert_eq!(answer.first(), Some(&body));
    assert_eq!(answer.get(1..).unwrap(), more);
}

#[track_caller]
fn check_range_fails(content: &str, mut arguments: Value, code: &str, says: &str) {
    let world = World::with("f", content);
    arguments["path"] = json!("f");
    check_fails(&world, "read_file_range", &arguments, code, says);
}

const THREE: &str = "l1\nl2\nl3\n";
const UTF8_3: &str = "Encoding: utf-8\nLines: 3";

/// B1 and B2: the total is the file's, and what is cut says how to go on.
#[test]
fn a_range_has_numbers_under_a_header() {
    let more = "[Showing lines 2-2 of 3. Use start_line=3 to continue.]";
    check_range(
        THREE,
        json!({"start_line": 2, "end_line": 2}),
        UTF8_3,
        &["2: l2", more],
    );
    let more = "[Showing lines 1-1 of 3. Use start_line=2 to continue.]";
    check_range(THREE, json!({"max_lines": 1}), UTF8_3, &["1: l1", more]);
    check_range(THREE, json!({}), UTF8_3, &["1: l1\n2: l2\n3: l3"]);
    check_range(
        THREE,
        json!({"start_line": 2, "end_line": 9}),
        UTF8_3,
        &["2: l2\n3: l3", "[3 lines total]"],
    );
    check_range(
        THREE,
        json!({"start_line": 0, "end_line": 0, "tail": 0, "max_lines": 0}),
        UTF8_3,
        &["1: l1\n2: l2\n3: l3"],
    );
}

/// B3.
#[test]
fn a_range_past_the_end_or_backwards_is_an_error() {
    let past = "start_line 4 exceeds file length (3 lines): f";
    check_range_fails(THREE, json!({"start_line": 4}), "out_of_range", past);
    let backwards = json!({"start_line": 3, "end_line": 2});
    check_range_fails(THREE, backwards, "invalid_argument", "end_line");
    check_range_fails(
        THREE,
        json!({"start_line": -1}),
        "invalid_argument",
        "start_line",
    );
}

/// B4: an empty file has no line, and is read all the same.
#[test]
fn an_empty_file_has_an_empty_body() {
    let header = "Encoding: utf-8\nLines: 0";
    check_range("", json!({}), header, &[""]);
    check_range(
        "",
        json!({"tail": 3}),
        header,
        &["", "[Showing the last 0 lines.]"],
    );
    check_range_fails("", json!({"start_line": 2}), "out_of_range", "0 lines");
}

/// A thousand lines, each its own number.
fn numbers() -> String {
    let lines: Vec<String> = (1..=1000).map(|number| number.to_string()).collect();
    lines.join("\n")
}

/// B5: of two limits the smaller one holds, and the answer says so.
#[test]
fn a_tail_is_numbered_and_limited_when_told() {
    check_range(
        THREE,
        json!({"tail": 2}),
        UTF8_3,
        &["2: l2\n3: l3", "[Showing lines 2-3 of 3.]"],
    );
    check_range(
        THREE,
        json!({"tail": 2, "max_lines": 1}),
        UTF8_3,
        &[
            "3: l3",
            "[Showing lines 3-3 of 3.]\n[tail of 2 lines cut by max_lines=1]",
        ],
    );
    check_range(
        THREE,
        json!({"tail": 1, "start_line": 1, "end_line": 2}),
        UTF8_3,
        &["3: l3", "[Showing lines 3-3 of 3.]"],
    );
    let world = World::with("f", numbers());
    let (_, facts) = world
        .full("read_file_range", &json!({"path": "f", "tail": 700}))
        .unwrap();
    assert_eq!(
        (&facts["first_line"], &facts["returned_lines"]),
        (&json!(301), &json!(700))
    );
}

#[test]
fn five_hundred_lines_are_read_unless_told() {
    let world = World::with("f", numbers());
    let check = |arguments: Value, last: u64| {
        let (_, facts) = world.full("read_file_range", &arguments).unwrap();
        assert_eq!(facts["returned_lines"], json!(last), "{arguments}");
    };
    check(json!({"path": "f"}), 500);
    check(json!({"path": "f", "end_line": 600}), 500);
    check(
        json!({"path": "f", "end_line": 600, "max_lines": 50_000}),
        600,
    );
    check(json!({"path": "f", "max_lines": 900}), 900);
    let (blocks, _) = world
        .full("read_file_range", &json!({"path": "f", "max_lines": 1e30}))
        .unwrap();
    assert_eq!(blocks.last().unwrap(), "[max_lines 1e+30 clamped to 50000]");
}

#[test]
fn a_range_is_cut_by_bytes_and_by_long_lines_and_says_how_to_go_on() {
    let world = World::with("f", format!("{}\nshort\n", "x".repeat(3_000)));
    let (blocks, facts) = world
        .full("read_file_range", &json!({"path": "f"}))
        .unwrap();
    assert!(blocks[0].ends_with(&format!("1: {}\n2: short", "x".repeat(2_000))));
    assert_eq!(blocks[1], "[line 1 cut: column=2001 goes on]");
    assert_eq!(facts["truncated"], json!(true));
    let on = json!({"path": "f", "start_line": 1, "end_line": 1, "column": 2001});
    let (blocks, _) = world.full("read_file_range", &on).unwrap();
    assert!(blocks[0].ends_with(&format!("\n\n1: {}", "x".repeat(1_000))));
    let wide: String = (0..1_000).map(|_| "y".repeat(199) + "\n").collect();
    let world = World::with("f", wide);
    let bytes = |arguments: Value| world.answer("read_file_range", &arguments).len();
    assert!(bytes(json!({"path": "f"})) < 70 * 1024);
    assert!(bytes(json!({"path": "f", "max_lines": 1_000})) > 190 * 1024);
}

#[test]
fn breaks_are_left_out_of_numbered_lines_and_told() {
    let header = "Encoding: utf-8\nLines: 3";
    check_range(
        "a\r\nb\nc",
        json!({}),
        header,
        &["1: a\n2: b\n3: c", "[mixed line breaks]"],
    );
    let header = "Encoding: utf-8\nLines: 2";
    check_range("a\r\n\r\n", json!({}), header, &["1: a\n2: ", "[CRLF]"]);
}

/// B23: a line ends at LF only; an edit counts the same.
#[test]
fn separators_of_other_kinds_end_no_line() {
    let header = "Encoding: utf-8\nLines: 1";
    let text = "a\u{2028}b\u{c}c\u{85}d";
    check_range(text, json!({}), header, &[&format!("1: {text}")]);
    let world = World::with("f", text);
    let edit = json!({"path": "f", "mode": "replace_line", "line": 2, "text": "x"});
    check_fails(&world, "edit_file", &edit, "out_of_range", "line 2");
}

/// B24: one answer for the whole file, wherever it is looked at.
#[test]
fn the_encoding_is_that_of_the_whole_file() {
    let mut bytes = "line\n".repeat(5_000).into_bytes();
    bytes.extend_from_slice(b"\xc4\xe3\xba\xc3\xca\xc0\xbd\xe7\n");
    let world = World::with("f", &bytes);
    for arguments in [
        json!({"path": "f", "end_line": 1}),
        json!({"path": "f", "tail": 1}),
    ] {
        let (blocks, facts) = world.full("read_file_range", &arguments).unwrap();
        assert_eq!(facts["encoding"], "gb18030");
        assert!(blocks[0].contains("Encoding: gb18030\nLines: 5001\n"));
    }
    assert!(
        world
            .answer("read_file_range", &json!({"path": "f", "tail": 1}))
            .ends_with("5001: 你好世界")
    );
}

/// K7: a cut falls between characters.
#[test]
fn no_character_is_cut_in_two() {
    let world = World::with("f", "字".repeat(30_000));
    let (blocks, facts) = world
        .full("read_file_range", &json!({"path": "f"}))
        .unwrap();
    assert!(!blocks[0].contains('\u{fffd}'));
    assert!(blocks[0].ends_with(&format!("1: {}", "字".repeat(2_000))));
    assert_eq!(facts["lossy"], json!(false));
}

/// B7 and what else a file begins with.
#[test]
fn a_whole_file_is_exact_and_its_mark_is_told() {
    let world = World::with("f", "\u{feff}hi\nx\n");
    let (blocks, facts) = world.full("read_file", &json!({"path": "f"})).unwrap();
    assert_eq!(blocks, ["hi\nx\n", "[utf-8 with BOM]"]);
    assert_eq!(
        (&facts["bom"], &facts["total_lines"]),
        (&json!(true), &json!(2))
    );
    let long = format!("{}\r\n", "x".repeat(100_000)).repeat(5);
    world.write("long", &long);
    let (blocks, _) = world.full("read_file", &json!({"path": "long"})).unwrap();
    assert_eq!(blocks, [long.as_str(), "[CRLF]"]);
    let gbk = json!({"path": "g", "encoding": "gbk"});
    world.write("g", b"\xc4\xe3\xba\xc3");
    assert_eq!(world.answer("read_file", &gbk), "你好");
    check_fails(
        &world,
        "read_file",
        &json!({"path": "g", "encoding": "utf-8"}),
        "encoding_mismatch",
        "utf-8",
    );
    check_fails(
        &world,
        "read_file",
        &json!({"path": "g", "encoding": "klingon"}),
        "invalid_argument",
        "encoding",
    );
}

#[test]
fn a_file_over_the_limit_is_not_read_whole() {
    let limit = |max_read_bytes| {
        let settings = Settings {
            max_read_bytes,
            ..settings()
        };
        World::built(settings, |builder, _| builder)
    };
    let world = limit(Some(10));
    world.write("f", "0123456789");
    world.write("g", "0123456789X");
    assert_eq!(
        world.answer("read_file", &json!({"path": "f"})),
        "0123456789"
    );
    let error = world.failed("read_file", &json!({"path": "g"}));
    let object = Value::from(error.object());
    assert_eq!(
        object,
        json!({
            "code": "too_large", "size": 11, "limit": 10, "path": "g",
            "message": "too large: 11 bytes, the limit is 10: g",
            "hint": "use read_file_range to read a part of it",
        })
    );
    let large = "x".repeat(5 << 20);
    for (world, code) in [(World::new(), Some("too_large")), (limit(None), None)] {
        world.write("f", &large);
        let answer = world.call("read_file", &json!({"path": "f"}));
        assert_eq!(answer.err().map(|error| error.code()), code);
    }
}

#[test]
fn what_is_no_text_file_says_what_it_is() {
    let world = World::with("d/f", "x");
    world.write("bin", b"a\0b\x01\0");
    for tool in ["read_file", "read_file_range"] {
        let check = |path: &str, code: &str, says: &str| {
            check_fails(&world, tool, &json!({"path": path}), code, says);
        };
        check("d", "is_a_directory", "use list_dir");
        check("no", "not_found", "no");
        check("bin", "binary_file", "5 bytes");
        check("../out", "outside_sandbox", "");
        check("", "invalid_path", "");
        check("d/f/", "not_a_directory", "");
    }
}

#[track_caller]
fn check_list(world: &World, arguments: &Value, expected: &[&str]) {
    let blocks = world.call("list_dir", arguments).unwrap();
    assert_eq!(blocks, expected);
}

#[test]
fn a_directory_is_listed_folders_first_with_sizes() {
    let world = World::with("b.txt", "x".repeat(1536));
    world.write("A", "");
    world.write("z/inside", "");
    world.write(".h", "1");
    world.write("B/inside", "");
    symlink("/etc/passwd", world.path("link")).unwrap();
    let rows = "Directory: .  (6 items)\n[D] B  (-)\n[D] z  (-)\n[F] .h  (1 B)\n[F] A  (0 B)\n\
                [F] b.txt  (1.5 KB)\n[L] link  (-)";
    check_list(&world, &json!({"path": "."}), &[rows]);
    fs::create_dir(world.path("empty")).unwrap();
    check_list(
        &world,
        &json!({"path": "empty/"}),
        &["Directory: empty/  (0 items)\n(empty)"],
    );
    check_fails(
        &world,
        "list_dir",
        &json!({"path": "A"}),
        "not_a_directory",
        "use read_file",
    );
    check_fails(
        &world,
        "list_dir",
        &json!({"path": "no"}),
        "not_found",
        "no",
    );
    check_fails(
        &world,
        "list_dir",
        &json!({"path": "link"}),
        "outside_sandbox",
        "",
    );
}

/// K8's paging, by the last entry instead of an offset.
#[test]
fn pages_neither_repeat_nor_lose_an_entry() {
    let world = World::new();
    for name in ["e", "d/x", "c/x", "b", "a"] {
        world.write(name, "");
    }
    let (mut after, mut seen) = (Value::Null, Vec::new());
    loop {
        let arguments = json!({"path": ".", "limit": 2, "after": after});
        let (blocks, facts) = world.full("list_dir", &arguments).unwrap();
        let rows = blocks[0].lines().skip(1).map(str::to_owned);
        seen.extend(rows);
        assert_eq!(facts["total"], json!(5));
        after = facts["next"].clone();
        if after.is_null() {
            assert_eq!(blocks.len(), 1);
            break;
        }
        let next = after.as_str().unwrap();
        assert_eq!(
            blocks[1],
            format!(
                "[2 of 5 entries shown. Use after=\"{next}\" to continue, or limit=5 for more.]"
            )
        );
    }
    assert_eq!(
        seen,
        [
            "[D] c  (-)",
            "[D] d  (-)",
            "[F] a  (0 B)",
            "[F] b  (0 B)",
            "[F] e  (0 B)"
        ]
    );
    check_list(
        &world,
        &json!({"path": ".", "after": "d/", "limit": 9}),
        &["Directory: .  (5 items)\n[F] a  (0 B)\n[F] b  (0 B)\n[F] e  (0 B)"],
    );
    check_list(
        &world,
        &json!({"path": ".", "after": "zz"}),
        &["Directory: .  (5 items)\n(no more entries)"],
    );
}

#[test]
fn a_file_is_described_with_its_times() {
    let world = World::with("f", "x".repeat(1536));
    let past = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 999_999_999);
    let file = fs::File::open(world.path("f")).unwrap();
    file.set_modified(past).unwrap();
    let (blocks, facts) = world.full("stat_file", &json!({"path": "./f"})).unwrap();
    let mut lines: Vec<&str> = blocks[0].lines().collect();
    if file.metadata().unwrap().created().is_ok() {
        let created = lines.remove(4);
        assert!(
            created.starts_with("Created: 20") && created.ends_with('Z'),
            "{created}"
        );
        assert!(facts["created"].is_string());
    }
    assert_eq!(
        lines,
        [
            "Path: ./f",
            "Type: file",
            "Size: 1536 bytes (1.5 KB)",
            "Modified: 2023-11-14T22:13:20Z",
            "Exists: true"
        ]
    );
    assert_eq!(facts["type"], "file");
    assert_eq!(facts["size"], json!(1536));
}

#[test]
fn a_link_is_described_as_itself() {
    let world = World::new();
    symlink("/etc/passwd", world.path("l")).unwrap();
    symlink("gone", world.path("m")).unwrap();
    for (path, kind, size) in [("l", "link", 11), ("m", "link", 4), (".", "directory", -1)] {
        let (_, facts) = world.full("stat_file", &json!({"path": path})).unwrap();
        assert_eq!(facts["type"], kind);
        assert!(size < 0 || facts["size"] == json!(size));
    }
    let said = world.answer("stat_file", &json!({"path": "l"}));
    assert!(!said.contains("passwd"), "{said}");
    check_fails(
        &world,
        "stat_file",
        &json!({"path": "l/"}),
        "outside_sandbox",
        "",
    );
    check_fails(
        &world,
        "stat_file",
        &json!({"path": "no"}),
        "not_found",
        "no",
    );
}
