//! The shared cases that need no file system.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fs_core::{Encoding, Error, Fallback, Field};
use serde_json::Value;

use crate::{Edit, EolMode, Positional, Request, Target, plan};

#[test]
fn every_pure_case_comes_out_as_written() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/corpus/edit-cases.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // What only a file system decides has a setup; a pure request is judged all the same.
    let pure = |case: &&Value| case["setup"].is_null() || case["setup"]["block_bytes"].is_array();
    let wrong: Vec<String> = cases.iter().filter(pure).filter_map(misfit).collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert!(
        cases.iter().filter(pure).count() >= 70,
        "the cases are there"
    );
}

/// Returns what came out instead of what the case expects.
fn misfit(case: &Value) -> Option<String> {
    let before = bytes(&case["before_b64"]);
    let request = request(case);
    let seen = match plan(&before, &request) {
        Ok(plan) => format!(
            "{:?}",
            String::from_utf8_lossy(&plan.patch().apply(&before))
        ),
        Err(error) => summary(&error),
    };
    let expected = expected(&case["expect"]);
    (seen != expected).then(|| format!("{}: {seen} instead of {expected}", case["id"]))
}

fn expected(expect: &Value) -> String {
    let Some(code) = expect["error"].as_str() else {
        return format!(
            "{:?}",
            String::from_utf8_lossy(&bytes(&expect["after_b64"]))
        );
    };
    let fields = ["edit", "edits", "found", "lines"].iter();
    let fields = fields.filter(|field| !expect[**field].is_null());
    let fields: Vec<String> = fields
        .map(|field| format!("{field}={}", expect[*field]))
        .collect();
    format!("{code} {}", fields.join(" "))
}

fn summary(error: &Error) -> String {
    let known = ["edit", "edits", "found", "lines"];
    let fields = error.fields().into_iter().filter_map(|(name, field)| {
        // The lines of a miss are those of the nearest text, of which the cases say nothing.
        let told = known.contains(&name) && !(name == "lines" && error.code() == "no_match");
        let value = match field {
            Field::Number(number) => number.to_string(),
            Field::Numbers(numbers) => format!("{numbers:?}").replace(' ', ""),
            _ => return None,
        };
        told.then(|| format!("{name}={value}"))
    });
    format!("{} {}", error.code(), fields.collect::<Vec<_>>().join(" "))
}

fn request(case: &Value) -> Request {
    let asked = &case["request"];
    Request {
        target: target(asked),
        eol: match asked["eol"].as_str() {
            None | Some("auto") => EolMode::Auto,
            Some("exact") => EolMode::Exact,
            Some("lf") => EolMode::Lf,
            Some("crlf") => EolMode::CrLf,
            Some(other) => panic!("no eol {other}"),
        },
        encoding: asked["encoding"].as_str().map(label),
        fallback: match case["fallback"].as_str() {
            None | Some("none") => Fallback::None,
            Some("auto") => Fallback::Auto,
            Some(name) => Fallback::Encoding(label(name)),
        },
    }
}

fn target(asked: &Value) -> Target {
    let number = |field: &str, absent: u64| asked[field].as_u64().unwrap_or(absent);
    let text = || asked["text"].as_str().unwrap().to_owned();
    let (line, column) = (number("line", 1), number("column", 1));
    Target::Position(match asked["mode"].as_str() {
        None => {
            let edits = asked["edits"].as_array().unwrap();
            return Target::Text(edits.iter().map(edit).collect());
        }
        Some("insert") => Positional::Insert {
            line,
            column,
            text: text(),
        },
        Some("replace_line") => Positional::ReplaceLine { line, text: text() },
        Some("replace_range") => Positional::ReplaceRange {
            line,
            column,
            end_line: number("end_line", 0),
            end_column: number("end_column", 0),
            text: text(),
        },
        Some(other) => panic!("no mode {other}"),
    })
}

fn edit(edit: &Value) -> Edit {
    Edit {
        old: edit["old"].as_str().unwrap().to_owned(),
        new: edit["new"].as_str().unwrap().to_owned(),
        expected_count: edit["expected_count"].as_i64().unwrap_or(1),
    }
}

fn label(name: &str) -> Encoding {
    Encoding::for_label(name).unwrap()
}

fn bytes(text: &Value) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap()).unwrap()
}
