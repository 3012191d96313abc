//! The read cases: windows, tails, encodings, long lines, whole writes and listings.

use fs_edit::{Edit as Replacement, Target};
use serde_json::Value;
use tests::corpus::{bytes, cases, text};
use tests::{Answer, Conditions, Done, Edit, FrontEnd, List, Op, Range, Read, Tree, World, Write};

use crate::cases::{Runner, Seen, essence};

tests::suite!(read_cases);

fn read_cases<F: FrontEnd>() {
    let runner = Runner {
        reason: reason::<F>,
        conditions: |_| Conditions::default(),
        run: run::<F>,
    };
    let report = runner.report(&cases(include_str!("../corpus/read-cases.jsonl")));
    match F::NAME {
        "engines" => insta::assert_snapshot!(report, @"
        29 run
        searches come later: s01-ignored-reported s03-cap-deterministic s04-regex-off s06-context-merge s07-utf16-content s09-long-match-line c01-def-pub-fn
        trees come later: d05-tree-skip
        "),
        _ => insta::assert_snapshot!(report, @"
        24 run
        files_ls lists by name only: d01-list-order d02-list-page
        files_read has a fixed cap of bytes: l03-first-line-over-cap
        files_read takes limit 0 as absent: r04-limit-zero
        files_read takes offset 0 as absent: r07-line-zero
        searches come later: s01-ignored-reported s03-cap-deterministic s04-regex-off s06-context-merge s07-utf16-content s09-long-match-line c01-def-pub-fn
        trees come later: d05-tree-skip
        "),
    }
}

fn reason<F: FrontEnd>(case: &Value) -> Option<&'static str> {
    match text(&case["request"], "op") {
        "tree" => Some("trees come later"),
        "search" => Some("searches come later"),
        _ => F::lacks(&op(&case["request"])),
    }
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
        let mut seen = judge(&world, case, &answer, &before);
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
            folders_first: request["order"] == "folders_first",
            ..List::of(request["path"].as_str().unwrap_or("."))
        }),
        other => panic!("no request {other}"),
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

fn judge(world: &World, case: &Value, answer: &Answer, before: &Tree) -> Seen {
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
            Ok(done) => judge_done(world, name, wanted, done, &mut seen),
            Err(no) => seen.equal(name, &no.fields[name], wanted),
        }
    }
    seen.summary = format!("{} {:?}", essence(answer, "f"), world.tree().timeless());
    seen
}

fn judge_done(world: &World, name: &str, wanted: &Value, done: &Done, seen: &mut Seen) {
    let fact = |name: &str| &done.facts[name];
    match name {
        "content" => seen.equal("the text", &Some(done.text.as_str()), &wanted.as_str()),
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
