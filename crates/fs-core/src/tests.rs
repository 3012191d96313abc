//! The shared cases that reads and listings can express.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};
use serde_json::{Value, json};

use crate::{
    Encoding, EntryKind, Error, Fallback, LineRange, ListOptions, Order, ReadOptions, Result, list,
    read_window, window_of,
};

const CASES: &str = include_str!("../../../tests/corpus/read-cases.jsonl");

fn cases(op: &str) -> Vec<Value> {
    let all = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let wanted: Vec<Value> = all
        .filter(|case: &Value| case["request"]["op"] == op)
        .collect();
    assert!(!wanted.is_empty());
    wanted
}

/// Checks that `actual` has every field of the case's `expect`.
fn check(case: &Value, actual: &Value) {
    for (field, expected) in case["expect"].as_object().unwrap() {
        assert_eq!(&actual[field], expected, "{}: {field}", case["id"]);
    }
}

pub(crate) fn open(path: &Path) -> File {
    File::from_std(fs::File::open(path).unwrap())
}

fn read_options(request: &Value) -> Result<ReadOptions> {
    let number = |name: &str| request[name].as_u64();
    let range = match (number("tail"), number("line"), number("limit")) {
        (Some(count), ..) => LineRange::Tail { count },
        (None, None, None) => LineRange::All,
        (None, line, limit) => LineRange::From {
            line: line.unwrap_or(1),
            column: number("column").unwrap_or(1),
            limit,
        },
    };
    let label = request["encoding"].as_str();
    Ok(ReadOptions {
        range,
        encoding: label.map(Encoding::for_label).transpose()?,
        fallback: Fallback::Auto,
        lossy: true,
        max_bytes: number("max_bytes"),
        max_line_chars: number("max_line_chars"),
        ..ReadOptions::default()
    })
}

fn error_value(error: &Error) -> Value {
    let mut value = json!({ "error": error.code() });
    for (name, field) in error.fields() {
        value[name] = match field {
            crate::Field::Number(number) => json!(number),
            crate::Field::Numbers(numbers) => json!(numbers),
            crate::Field::Text(text) => json!(text),
            crate::Field::Flag(flag) => json!(flag),
        };
    }
    value
}

fn window_value(window: Result<crate::Window>) -> Value {
    let window = match window {
        Ok(window) => window,
        Err(error) => return error_value(&error),
    };
    let cut = window.cut_lines.iter().map(|cut| {
        json!({
            "line": cut.line,
            "shown_chars": cut.shown_chars,
            "line_bytes": cut.line_bytes,
            "next_column": cut.next_column,
        })
    });
    json!({
        "content": window.text,
        "returned_lines": window.returned_lines,
        "first_line": window.first_line,
        "total_lines": window.total_lines,
        "encoding": window.format.encoding.name(),
        "bom": window.format.bom,
        "eol": window.format.eol.name(),
        "eof": window.eof,
        "lossy": window.is_lossy(),
        "invalid_bytes": window.invalid_bytes,
        "writable": !window.is_lossy(),
        "truncated": window.truncated,
        "truncated_lines": cut.collect::<Vec<_>>(),
        "next": window.next.map(|next| json!({ "line": next.line, "column": next.column })),
    })
}

#[test]
fn the_read_cases_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for case in cases("read") {
        let bytes = STANDARD.decode(case["file"].as_str().unwrap()).unwrap();
        fs::write(&path, &bytes).unwrap();
        let options = read_options(&case["request"]);
        let window = options.and_then(|options| read_window(&open(&path), &options, None));
        check(&case, &window_value(window));
    }
}

#[test]
fn the_read_cases_hold_for_a_buffer_that_holds_the_text() {
    for case in cases("read") {
        let bytes = STANDARD.decode(case["file"].as_str().unwrap()).unwrap();
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        if text.contains(['\0', '\u{FEFF}']) {
            continue;
        }
        let options = read_options(&case["request"]);
        let window = options.and_then(|options| window_of(&text, &options));
        check(&case, &window_value(window));
    }
}

fn build(root: &Path, tree: &Value) {
    for dir in tree["dirs"].as_array().into_iter().flatten() {
        fs::create_dir_all(root.join(dir.as_str().unwrap())).unwrap();
    }
    for (name, content) in tree["files"].as_object().into_iter().flatten() {
        fs::write(root.join(name), content.as_str().unwrap()).unwrap();
    }
    for (name, target) in tree["symlinks"].as_object().into_iter().flatten() {
        std::os::unix::fs::symlink(target.as_str().unwrap(), root.join(name)).unwrap();
    }
}

fn listing_value(root: &Path, request: &Value) -> Value {
    let listing = Dir::open_ambient_dir(root, ambient_authority())
        .and_then(|dir| dir.open_dir(request["path"].as_str().unwrap_or(".")))
        .map_err(Error::from)
        .and_then(|dir| {
            let options = ListOptions {
                order: match request["order"].as_str() {
                    Some("folders_first") => Order::FoldersFirst,
                    _ => Order::Name,
                },
                limit: request["limit"]
                    .as_u64()
                    .map(|limit| limit.try_into().unwrap()),
                ..ListOptions::default()
            };
            list(&dir, &options, &mut |_, _| true)
        });
    let listing = match listing {
        Ok(listing) => listing,
        Err(error) => return error_value(&error),
    };
    let names = listing.entries.iter().map(|entry| {
        let mark = match entry.kind {
            EntryKind::Dir => "/",
            EntryKind::Link => "@",
            EntryKind::File | EntryKind::Other => "",
        };
        format!("{}{mark}", entry.name.to_string_lossy())
    });
    let next = listing.next.as_ref().map(|next| {
        let kind = if next.is_dir { 'd' } else { 'f' };
        format!("{kind}:{}", next.name.to_string_lossy())
    });
    json!({
        "names": names.collect::<Vec<_>>(),
        "truncated": next.is_some(),
        "next": next,
        "total": listing.total,
    })
}

#[test]
fn the_list_cases_hold() {
    for case in cases("list") {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path(), &case["tree"]);
        check(&case, &listing_value(folder.path(), &case["request"]));
    }
}
