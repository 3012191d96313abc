//! The read cases: windows, tails, encodings, long lines, whole writes and listings.

use fs_edit::{Edit as Replacement, Target};
use serde_json::{Value, json};
use tests::corpus::{bytes, cases, text};
use tests::model::lines;
use tests::{
    Answer, Conditions, Done, Edit, FrontEnd, List, Op, Order, Range, Read, Search, Tree, Walk,
    Within, World, Write,
};

use crate::cases::{Runner, Seen, essence};

tests::suite!(read_cases);
tests::suite!([acp] read_cases);

fn read_cases<F: FrontEnd>() {
    let runner = Runner {
        reason: reason::<F>,
        conditions: |_| Conditions::default(),
        run: run::<F>,
    };
    let report = runner.report(&cases(include_str!("../corpus/read-cases.jsonl")));
    match F::NAME {
        "engines" => insta::assert_snapshot!(report, @"37 run"),
        "mcp" => insta::assert_snapshot!(report, @"
        32 run
        files_ls lists by name only: d01-list-order d02-list-page
        files_read has a fixed cap of bytes: l03-first-line-over-cap
        files_read takes limit 0 as absent: r04-limit-zero
        files_read takes offset 0 as absent: r07-line-zero
        "),
        "acp" => insta::assert_snapshot!(report, @"
        15 run
        acp-fs has a fixed cap of bytes: l03-first-line-over-cap
        acp-fs shows no U+FFFD in place of bytes: e10-invalid-utf8-one-byte
        the protocol cuts no lines: l01-long-line
        the protocol declares no encoding: e06-declared-encoding w02-unmappable
        the protocol has no tails: t01-tail t02-tail-no-final-newline t03-tail-more-than-file t05-tail-blank-lines
        the protocol reads and writes whole texts, and nothing else: w04-edit-keeps-other-bytes d01-list-order d02-list-page d04-list-on-file d05-tree-skip s01-ignored-reported s03-cap-deterministic s04-regex-off s06-context-merge s07-utf16-content s09-long-match-line c01-def-pub-fn
        the protocol takes line 0 for the first: r07-line-zero
        "),
        _ => insta::assert_snapshot!(report, @"
        33 run
        read_file cuts no lines: l01-long-line
        read_file_range takes max_lines 0 as absent: r04-limit-zero
        read_file_range takes start_line 0 as absent: r07-line-zero
        the family `file` has fixed caps of bytes: l03-first-line-over-cap
        "),
    }
}

fn reason<F: FrontEnd>(case: &Value) -> Option<&'static str> {
    if F::NAME == "acp" && case["expect"]["lossy"] == true {
        return Some("acp-fs shows no U+FFFD in place of bytes");
    }
    F::lacks(&op(&case["request"]))
}

fn run<F: FrontEnd>(case: &Value, conditions: Conditions) -> Seen {
    let world = World::new();
    if case["file"].is_string() {
        world.put("root/f", bytes(&case["file"]));
    } else {
        plant(&world, &case["tree"]);
    }
    conditions.run(|| {
        let front = F::start(&world.settings());
        let (op, before) = (op(&case["request"]), world.tree());
        let answer = front.call(&op);
        let mut seen = judge::<F>(&world, case, &answer, &before);
        if let Some(leak) = world.leak(&op, &answer) {
            seen.failures.push(format!("discloses {leak}"));
        }
        if case["expect"]["writable"] == false {
            seen.equal(
                "an overwrite",
                &front.write("f", "x\n").code(),
                &"encoding_unknown",
            );
        }
        seen
    })
}

fn plant(world: &World, tree: &Value) {
    for dir in tree["dirs"].as_array().into_iter().flatten() {
        std::fs::create_dir_all(world.root().join(dir.as_str().unwrap())).unwrap();
    }
    for (name, content) in tree["files"].as_object().into_iter().flatten() {
        world.put(&format!("root/{name}"), text_or_base64(content));
    }
    for (name, target) in tree["symlinks"].as_object().into_iter().flatten() {
        world.link(&format!("root/{name}"), target.as_str().unwrap());
    }
}

fn text_or_base64(content: &Value) -> Vec<u8> {
    content.as_str().map_or_else(
        || bytes(&content["base64"]),
        |text| text.as_bytes().to_vec(),
    )
}

fn op(request: &Value) -> Op {
    let encoding = request["encoding"].as_str().map(str::to_owned);
    match text(request, "op") {
        "read" => Op::Read(Read {
            encoding,
            max_bytes: request["max_bytes"].as_u64(),
            max_line_chars: request["max_line_chars"].as_u64(),
            ..Read::lines("f", range(request))
        }),
        "write" => Op::Write(Write {
            encoding,
            ..Write::over("f", text(request, "content"))
        }),
        "edit" => {
            let (old, new) = (
                text(request, "old").to_owned(),
                text(request, "new").to_owned(),
            );
            Op::Edit(Edit::to(
                "f",
                Target::Text(vec![Replacement {
                    old,
                    new,
                    expected_count: 1,
                }]),
            ))
        }
        "list" => Op::List(List {
            limit: request["limit"].as_u64(),
            order: match request["order"].as_str() {
                Some("folders_first") => Order::FoldersFirst,
                _ => Order::Own,
            },
            ..List::of(request["path"].as_str().unwrap_or("."))
        }),
        "tree" => Op::Tree(Walk::of(".")),
        "search" => Op::Search(search(request)),
        other => panic!("no request {other}"),
    }
}

fn search(request: &Value) -> Search {
    Search {
        within: match request["mode"].as_str() {
            Some("code") => Within::Definitions,
            _ => Within::Text,
        },
        regex: request["regex"] == true,
        max_results: request["max_results"].as_u64(),
        context_lines: request["context_lines"].as_u64().unwrap_or_default(),
        ..Search::text(".", text(request, "query"))
    }
}

fn range(request: &Value) -> Range {
    let (line, limit) = (request["line"].as_u64(), request["limit"].as_u64());
    match request["tail"].as_u64() {
        Some(count) => Range::Tail(count),
        None if line.is_none() && limit.is_none() => Range::All,
        None => Range::From {
            line: line.unwrap_or(1),
            column: 1,
            limit,
        },
    }
}

fn judge<F: FrontEnd>(world: &World, case: &Value, answer: &Answer, before: &Tree) -> Seen {
    let mut seen = Seen::default();
    let expect = case["expect"].as_object().unwrap();
    let code = expect
        .get("error")
        .map_or("ok", |code| code.as_str().unwrap());
    seen.check(answer.code() == code, || {
        format!("{} instead of {code}: {}", answer.code(), answer.raw)
    });
    if code != "ok" || !expect.contains_key("file") {
        let changes = before.differences(&world.tree());
        seen.check(changes.is_empty(), || {
            format!("the disk changed: {changes:?}")
        });
    }
    for (name, wanted) in expect {
        match &answer.result {
            _ if ["error", "writable", "file_unchanged"].contains(&name.as_str()) => {}
            // The protocol's answer to a write says nothing.
            Ok(_) if F::NAME == "acp" && case["request"]["op"] == "write" && name != "file" => {}
            Ok(done) if name == "content" => {
                let wanted = wanted_text::<F>(&case["request"], wanted.as_str().unwrap());
                seen.equal("the text", &done.text, &wanted);
            }
            Ok(done) => judge_done(world, name, wanted, done, &mut seen),
            Err(no) => seen.equal(name, &no.fields[name], wanted),
        }
    }
    seen.summary = format!("{} {:?}", essence(answer, "f"), world.tree().timeless());
    seen
}

/// A window of the family `file` shows lines without their breaks, a whole file as it is.
fn wanted_text<F: FrontEnd>(request: &Value, text: &str) -> String {
    if F::BREAKS || matches!(range(request), Range::All) {
        text.to_owned()
    } else {
        lines::bare(text)
    }
}

fn judge_done(world: &World, name: &str, wanted: &Value, done: &Done, seen: &mut Seen) {
    let fact = |name: &str| &done.facts[name];
    match name {
        "file" => seen.equal("the file", &world.get("root/f"), &bytes(wanted)),
        "names" => seen.equal("the names", &Value::from(done.names.clone()), wanted),
        // A server tells a model in words what the engines tell a program in numbers.
        "truncated_lines" if fact("cut_lines").is_null() => {
            let (line, column) = (&wanted[0]["line"], &wanted[0]["next_column"]);
            let words = format!("line {line} cut: column={column} goes on");
            seen.check(done.hint.contains(&words), || {
                format!("no {words:?} in {:?}", done.hint)
            });
        }
        "invalid_bytes" if fact(name).is_null() => {
            let words = format!("{wanted} bad sequence");
            seen.check(done.hint.contains(&words), || {
                format!("no {words:?} in {:?}", done.hint)
            });
        }
        "matches" => judge_matches(wanted, done, seen),
        "blocks" => seen.equal("the blocks", &blocks(done), wanted),
        "lines" => seen.equal("the rows", &Value::from(done.names.clone()), wanted),
        "skipped" if wanted.is_array() => judge_passed_over(wanted, done, seen),
        "skipped" => {
            let told = fact(name).to_string().replace("ignored", "gitignore");
            let told: Value = serde_json::from_str(&told).unwrap();
            seen.equal("the skipped", &told, wanted);
        }
        // A search tells why it was cut, if it was.
        "truncated" if !fact("results").is_null() => {
            seen.equal("truncated", &Value::from(!fact(name).is_null()), wanted);
        }
        "truncated_lines" => seen.equal("the cut lines", fact("cut_lines"), wanted),
        "next" if wanted.is_string() => {
            let cursor = wanted.as_str().unwrap();
            let cursor = match cursor.split_once(':') {
                Some(("d", name)) => format!("{name}/"),
                Some((_, name)) => name.to_owned(),
                None => panic!("no cursor {cursor}"),
            };
            seen.equal("next", fact("next"), &Value::from(cursor));
        }
        _ => seen.equal(name, fact(name), wanted),
    }
}

/// Columns and encodings are told to programs, by the engines.
fn judge_matches(wanted: &Value, done: &Done, seen: &mut Seen) {
    let hits = done.hits();
    let wanted = wanted.as_array().unwrap();
    seen.equal("the number of hits", &hits.len(), &wanted.len());
    for (index, (hit, wanted)) in hits.iter().zip(wanted).enumerate() {
        let start = format!("{}:{}:", text(wanted, "path"), wanted["line"]);
        let Some(shown) = hit.strip_prefix(&start) else {
            seen.failures.push(format!("{hit:?} is not at {start}"));
            continue;
        };
        let told = |fact: &str| &done.facts[fact][index];
        if let Some(text) = wanted["text"].as_str() {
            seen.equal("the line", &shown, &text);
        } else {
            let chars = shown.chars().count() as u64;
            seen.equal("its length", &Some(chars), &wanted["text_chars"].as_u64());
            let part = text(wanted, "text_contains");
            seen.check(shown.contains(part), || format!("no {part} in {shown}"));
        }
        if !done.facts["columns"].is_null() {
            let told_of =
                |fact: &str, name: &str| wanted[name].is_null() || told(fact) == &wanted[name];
            seen.check(told_of("columns", "column"), || {
                format!("at {}", told("columns"))
            });
            seen.check(told_of("encodings", "encoding"), || {
                format!("in {}", told("encodings"))
            });
        } else if wanted["line_truncated"] == true {
            let words = "long lines cut around the match";
            seen.check(done.hint.contains(words), || {
                format!("no {words:?} in {:?}", done.hint)
            });
        }
    }
}

fn blocks(done: &Done) -> Value {
    let block = |block: &tests::Block| {
        let lines: Vec<&str> = block.lines.iter().map(|(text, _)| text.as_str()).collect();
        let numbered = (block.first_line..).zip(&block.lines);
        let hits = numbered.filter(|(_, (_, is_hit))| *is_hit);
        let hits: Vec<u64> = hits.map(|(number, _)| number).collect();
        json!({"path": block.path, "first_line": block.first_line, "lines": lines, "match_lines": hits})
    };
    done.blocks.iter().map(block).collect()
}

/// What was passed over: by name where the engines tell it, by number everywhere.
fn judge_passed_over(wanted: &Value, done: &Done, seen: &mut Seen) {
    let named = &done.facts["passed_over"];
    if !named.is_null() {
        seen.equal("what was passed over", named, wanted);
    }
    let wanted = wanted.as_array().unwrap();
    assert!(wanted.iter().all(|one| one["reason"] == "skip_list"));
    let counts = json!({"skip_list": wanted.len()});
    seen.equal("the skipped", &done.facts["skipped"], &counts);
}
