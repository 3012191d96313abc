//! The shared cases, and the vectors that are about searching.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

const CASES: &str = include_str!("../../../../../tests/corpus/read-cases.jsonl");

fn build(root: &Path, tree: &Value) {
    for (name, content) in tree["files"].as_object().unwrap() {
        let bytes = match content {
            Value::String(text) => text.clone().into_bytes(),
            other => STANDARD.decode(other["base64"].as_str().unwrap()).unwrap(),
        };
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn query_of(request: &Value) -> Query {
    let number = |name: &str| {
        request[name]
            .as_u64()
            .map(|number| usize::try_from(number).unwrap())
    };
    let default = Query::default();
    Query {
        pattern: request["query"].as_str().unwrap().to_owned(),
        syntax: match request["regex"].as_bool() {
            Some(true) => Syntax::Regex,
            _ => Syntax::Literal,
        },
        target: match request["mode"].as_str() {
            Some("code") => Target::Definitions,
            _ => Target::Text,
        },
        context_lines: number("context_lines").unwrap_or_default(),
        max_results: number("max_results").unwrap_or(default.max_results),
        max_line_chars: number("max_line_chars").unwrap_or(default.max_line_chars),
        ..default
    }
}

/// Checks that `actual` is what a case says of a match, field by field.
fn check_match(id: &str, expected: &Value, actual: &Value) {
    for (field, value) in expected.as_object().unwrap() {
        match field.as_str() {
            "text_contains" => {
                assert!(
                    actual["text"]
                        .as_str()
                        .unwrap()
                        .contains(value.as_str().unwrap()),
                    "{id}"
                );
            }
            _ => assert_eq!(&actual[field], value, "{id}: {field}"),
        }
    }
}

fn matches(found: &Found) -> Vec<Value> {
    let blocks = found.blocks.iter();
    let hits = blocks.flat_map(|block| {
        block.hits().map(move |(number, line)| {
            json!({
                "path": block.path.to_string(),
                "line": number,
                "column": line.column,
                "text": line.text,
                "text_chars": line.text.chars().count(),
                "line_truncated": line.is_cut,
                "encoding": block.encoding.map(Encoding::name),
            })
        })
    });
    hits.collect()
}

fn blocks(found: &Found) -> Value {
    let blocks = found.blocks.iter().map(|block| {
        json!({
            "path": block.path.to_string(),
            "first_line": block.first_line,
            "lines": block.lines.iter().map(|line| &line.text).collect::<Vec<_>>(),
            "match_lines": block.hits().map(|(number, _)| number).collect::<Vec<_>>(),
        })
    });
    blocks.collect()
}

#[test]
fn the_search_cases_hold() {
    let cases = CASES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let searches = cases.filter(|case| case["request"]["op"] == "search");
    let mut count = 0;
    for case in searches {
        count += 1;
        let (id, expect) = (case["id"].as_str().unwrap(), &case["expect"]);
        let folder = tempfile::tempdir().unwrap();
        build(folder.path(), &case["tree"]);
        let found = found(&folder, &query_of(&case["request"]));
        if let Some(expected) = expect["matches"].as_array() {
            let actual = matches(&found);
            assert_eq!(actual.len(), expected.len(), "{id}");
            for (expected, actual) in expected.iter().zip(&actual) {
                check_match(id, expected, actual);
            }
        }
        if !expect["blocks"].is_null() {
            assert_eq!(blocks(&found), expect["blocks"], "{id}");
        }
        if let Some(expected) = expect["skipped"].as_object() {
            // The case calls the reason by the file that it is in.
            let name = |name: &str| if name == "gitignore" { "ignored" } else { name }.to_owned();
            let expected: Vec<_> = expected
                .iter()
                .map(|(key, count)| (name(key), count.as_u64().unwrap()))
                .collect();
            let mut actual: Vec<_> = skips(&found)
                .iter()
                .map(|(key, count)| ((*key).to_owned(), *count))
                .collect();
            let mut expected = expected;
            expected.sort();
            actual.sort();
            assert_eq!(actual, expected, "{id}");
        }
        assert_eq!(json!(found.cut.is_some()), expect["truncated"], "{id}");
    }
    assert_eq!(count, 7);
}

#[test]
fn a_query_that_looks_like_a_flag_is_text() {
    let files: [(&str, &[u8]); 2] = [("a", b"x --pre=PROG y\n--files\n-x\n"), ("b", b"plain\n")];
    check(&files, &query("--pre=PROG"), &["a:1:x --pre=PROG y"]);
    check(&files, &query("--files"), &["a:2:--files"]);
    check(&files, &query("-x"), &["a:3:-x"]);
    check(&files, &regex("--files"), &["a:2:--files"]);
}

#[test]
fn context_of_consecutive_hits_is_merged() {
    let with_context = Query {
        context_lines: 1,
        ..query("hit")
    };
    let text = b"a\nhit\nhit\nhit\nhit\nhit\nb\nc\n";
    let expected = [
        "f-1-a", "f:2:hit", "f:3:hit", "f:4:hit", "f:5:hit", "f:6:hit", "f-7-b",
    ];
    check(&[("f", text)], &with_context, &expected);
}

#[test]
fn oversize_files_are_told_and_files_without_extension_searched() {
    let small = Query {
        max_file_bytes: 10,
        ..query("hit")
    };
    let folder = tree(&[
        ("Makefile", b"hit\n"),
        ("i.svg", b"<hit/>\n"),
        ("large", &[b'x'; 11]),
    ]);
    let found = found(&folder, &small);
    assert_eq!(lines(&found), ["Makefile:1:hit", "i.svg:1:<hit/>"]);
    assert_eq!(skips(&found), [("too_large", 1)]);
}
