//! The edit cases as an agent makes them that reads and writes whole texts: it reads the file, has
//! the text that the case wants, writes it, and the bytes are those of the case.

use serde_json::{Map, Value};
use tests::acp::Acp;
use tests::corpus::{bytes, cases, text};
use tests::{Answer, Conditions, FrontEnd as _, Op, World};

use crate::cases::{Runner, Seen};
use crate::edit_cases::{conditions, judge_disk, set_up, show};

/// What is wrong with edits before a file is written.
const OF_PLACES: [&str; 8] = [
    "no_match",
    "count_mismatch",
    "overlapping_edits",
    "overlapping_matches",
    "empty_old",
    "no_op",
    "invalid_argument",
    "out_of_range",
];

#[test]
fn an_agent_that_writes_the_whole_text_makes_the_same_bytes() {
    let runner = Runner {
        reason,
        conditions,
        run,
    };
    let report = runner.report(&cases(include_str!("../corpus/edit-cases.jsonl")));
    insta::assert_snapshot!(report, @"
    62 run
    a file that is no text is not read: enc-01 enc-02
    an agent finds the place of its edits itself: eol-10 eol-12 lit-11 uniq-01 uniq-02 uniq-04 uniq-08 uniq-14 fuzz-01 fuzz-03 fuzz-04 fuzz-06 fuzz-07 fuzz-09 fuzz-10 multi-02 multi-04 multi-05 multi-10 empty-01 empty-03 empty-04 empty-05 empty-06 pos-04 pos-11 uniq-91
    an agent makes its backups itself: fs-14 fs-21
    an agent's own edits are in order: fs-13
    ");
}

fn reason(case: &Value) -> Option<&'static str> {
    let request = &case["request"];
    let error = case["expect"]["error"].as_str();
    if request["create_backup"] == true {
        Some("an agent makes its backups itself")
    } else if case["setup"]["concurrent"].is_array() {
        Some("an agent's own edits are in order")
    } else if error.is_some_and(|code| OF_PLACES.contains(&code)) {
        Some("an agent finds the place of its edits itself")
    } else if error.is_none() && read_as(case).is_none() {
        Some("a file that is no text is not read")
    } else {
        None
    }
}

/// Returns the label of the encoding that the case's file is read as and how many bytes stand before
/// its text; `None` where it is no text.
fn read_as(case: &Value) -> Option<(&str, usize)> {
    let before = bytes(&case["before_b64"]);
    let marks: [(&str, &[u8]); 3] = [
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16le", b"\xff\xfe"),
        ("utf-16be", b"\xfe\xff"),
    ];
    let marked = marks.iter().find(|(_, mark)| before.starts_with(mark));
    match (marked, declared(case)) {
        (Some((label, mark)), _) => Some((label, mark.len())),
        (None, _) if std::str::from_utf8(&before).is_ok() => Some(("utf-8", 0)),
        (None, declared) => Some((declared?, 0)),
    }
}

fn declared(case: &Value) -> Option<&str> {
    case["request"]["encoding"]
        .as_str()
        .or(case["fallback"].as_str())
        .filter(|label| *label != "none")
}

/// Returns the text that the bytes after the edit are; for an edit that fails what stands in the
/// file with plain replacements.
fn wanted(case: &Value, read: &str) -> String {
    let Some(after) = case["expect"]["after_b64"].as_str() else {
        let edits = case["request"]["edits"].as_array().unwrap();
        if case["expect"]["error"] == "conflict" {
            return format!("{}\n", text(&edits[0], "new"));
        }
        return edits.iter().fold(read.to_owned(), |text, edit| {
            text.replace(self::text(edit, "old"), self::text(edit, "new"))
        });
    };
    let after = bytes(&after.into());
    let (label, mark) = read_as(case).expect("a text");
    decode(label, &after[mark..])
}

fn decode(label: &str, bytes: &[u8]) -> String {
    let units = |unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        assert!(rest.is_empty());
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16(&units).expect("pairs of surrogates")
    };
    match label {
        "utf-8" => String::from_utf8(bytes.to_vec()).expect("UTF-8"),
        "utf-16le" => units(u16::from_le_bytes),
        "utf-16be" => units(u16::from_be_bytes),
        label => {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).expect("a label");
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
            text.expect("a text").into_owned()
        }
    }
}

fn run(case: &Value, conditions: Conditions) -> Seen {
    let world = World::bare();
    conditions.run(|| {
        set_up(&world, case);
        let mut settings = world.settings();
        settings.fallback = Some(declared(case).unwrap_or("none").to_owned());
        let acp = Acp::start_with(&settings, &["--serve", "disk"]);
        let path = match case["setup"]["via"].as_str() {
            Some("symlink") => "link",
            _ => "f",
        };
        if case["request"]["op"] == "restore" {
            return restore(&acp, &world, case);
        }
        let read = read(&acp, &world, case, path);
        let before = world.tree();
        let answer = match &read.result {
            Ok(done) => overwrite(&acp, path, &wanted(case, &done.text)),
            Err(_) => read.clone(),
        };
        let mut seen = Seen::default();
        judge(&world, case, &answer, &mut seen);
        if answer.result.is_err() {
            let changes = before.differences(&world.tree());
            seen.check(changes.is_empty(), || format!("changed: {changes:?}"));
        }
        if read.result.is_err() {
            // What cannot be read is not written over either.
            let code = match case["expect"]["error"].as_str() {
                Some("binary_file") => "binary_file",
                _ => "encoding_unknown",
            };
            let answer = overwrite(&acp, path, "mine\n");
            seen.equal("an overwrite", &answer.code(), &code);
        }
        judge_disk(&world, case, &mut seen);
        seen.summary = format!("{:?} {:?}", answer.code(), world.tree().timeless());
        seen
    })
}

/// Reads the file; where the case wants it, before somebody else writes what is there.
fn read(acp: &Acp, world: &World, case: &Value, path: &str) -> Answer {
    let Some(shown) = case["setup"]["read_version"].as_str() else {
        return acp.read(path);
    };
    let now = world.get("root/f");
    world.put("root/f", shown);
    let read = acp.read(path);
    world.put("root/f", now);
    read
}

fn overwrite(acp: &Acp, path: &str, text: &str) -> Answer {
    let content = Map::from_iter([("content".to_owned(), text.into())]);
    acp.request("fs/write_text_file", path, content)
}

fn judge(world: &World, case: &Value, answer: &Answer, seen: &mut Seen) {
    if let Some(leak) = world.leak_in(&answer.raw, "f") {
        seen.failures.push(format!("discloses {leak}"));
    }
    let Some(code) = case["expect"]["error"].as_str() else {
        seen.check(answer.code() == "ok", || format!("refused: {}", answer.raw));
        let after = bytes(&case["expect"]["after_b64"]);
        seen.equal("the file", &show(&world.get("root/f")), &show(&after));
        return;
    };
    // A read says what it could not make of the bytes, an edit that it does not know.
    let code = match code {
        "encoding_unknown" | "encoding_mismatch" => "not_text",
        code => code,
    };
    seen.equal("the code", &answer.code(), &code);
}

/// Makes the edits of a sequence, then takes back as many.
fn restore(acp: &Acp, world: &World, case: &Value) -> Seen {
    let mut seen = Seen::default();
    for step in case["setup"]["sequence"].as_array().unwrap() {
        let answer = match step.as_str().unwrap().strip_prefix("edit ") {
            None => acp.call(&Op::Undo("f".to_owned())),
            Some(edit) => {
                let (old, new) = edit.split_once("->").unwrap();
                let text = acp.read("f").shown();
                acp.write("f", &text.replace(old, new))
            }
        };
        judge_step(&answer, &mut seen);
    }
    let after = bytes(&case["expect"]["after_b64"]);
    seen.equal("the file", &show(&world.get("root/f")), &show(&after));
    seen
}

fn judge_step(answer: &Answer, seen: &mut Seen) {
    seen.check(answer.code() == "ok", || format!("refused: {}", answer.raw));
}
