//! The sandbox cases: what a path, a link, a right, a special file or a race comes to.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::conditions::is_root;
use tests::corpus::{cases, text, texts};
use tests::setup::tmpfs;
use tests::{
    Answer, CANARY, Conditions, FrontEnd, List, NewDir, Op, Race, Read, Root, Search, Settings,
    Transfer, Tree, World, Write,
};

use crate::cases::{Runner, Seen, essence};

tests::suite!(sandbox_cases);
tests::suite!([acp] sandbox_cases);

fn sandbox_cases<F: FrontEnd>() {
    let runner = Runner {
        reason: reason::<F>,
        conditions,
        run: run::<F>,
    };
    let report = runner.report(&cases(include_str!("../corpus/sandbox-cases.jsonl")));
    match F::NAME {
        "engines" => insta::assert_snapshot!(report, @"
        84 run
        not for Linux: SB-137 SB-139 SB-141 SB-142 SB-144 SB-146 SB-147 SB-148
        uploads and exports come with the host: SB-131 SB-132 SB-134 SB-136
        "),
        "mcp" => insta::assert_snapshot!(report, @"
        83 run
        files_read takes files of any size: SB-068
        not for Linux: SB-137 SB-139 SB-141 SB-142 SB-144 SB-146 SB-147 SB-148
        uploads and exports come with the host: SB-131 SB-132 SB-134 SB-136
        "),
        "acp" => insta::assert_snapshot!(report, @"
        57 run
        acp-fs breaks hard links: SB-074
        acp-fs crosses into other file systems: SB-076
        acp-fs gives no rights outside its roots: SB-090 SB-091
        not for Linux: SB-137 SB-139 SB-141 SB-142 SB-144 SB-146 SB-147 SB-148
        the protocol reads and writes whole texts, and nothing else: SB-008 SB-036 SB-037 SB-040 SB-067 SB-087 SB-088 SB-097 SB-098 SB-100 SB-102 SB-103 SB-104 SB-105 SB-107 SB-108 SB-109 SB-112 SB-114 SB-116 SB-118 SB-119 SB-129
        uploads and exports come with the host: SB-131 SB-132 SB-134 SB-136
        "),
        _ => insta::assert_snapshot!(report, @"
        84 run
        not for Linux: SB-137 SB-139 SB-141 SB-142 SB-144 SB-146 SB-147 SB-148
        uploads and exports come with the host: SB-131 SB-132 SB-134 SB-136
        "),
    }
}

fn reason<F: FrontEnd>(case: &Value) -> Option<&'static str> {
    if !texts(case, "platform").contains(&"linux".to_owned()) {
        return Some("not for Linux");
    }
    match text(&case["request"], "op") {
        "upload" | "export" => Some("uploads and exports come with the host"),
        _ if F::NAME == "mcp" && case["expect"]["error"] == "too_large" => {
            Some("files_read takes files of any size")
        }
        _ => {
            let world = World::bare();
            F::lacks(&op(&world, &case["request"]))
                .or_else(|| F::lacks_settings(&settings(&world, case)))
        }
    }
}

fn conditions(case: &Value) -> Conditions {
    let requires = texts(case, "requires");
    let needs = |what: &str| requires.iter().any(|need| need == what);
    Conditions {
        nobody: needs("non_root"),
        own_mounts: needs("mount") || needs("root") || (is_race(case) && is_root()),
        ..Conditions::default()
    }
}

fn is_race(case: &Value) -> bool {
    text(case, "class") == "race"
}

fn run<F: FrontEnd>(case: &Value, conditions: Conditions) -> Seen {
    let world = World::bare();
    conditions.run(|| {
        if is_race(case) && is_root() {
            tmpfs(world.base(), 64 << 20);
        }
        let steps = case["setup"].as_array().unwrap();
        for step in steps {
            world.set_up(step);
        }
        let front = F::start(&settings(&world, case));
        let before = world.tree();
        let op = op(&world, &case["request"]);
        let races: Vec<_> = steps
            .iter()
            .filter_map(|step| start_race(&world, step, &op))
            .collect();
        let (answers, slowest) = answers(&front, &op, &case["request"], &races);
        let mut seen = Seen::default();
        for race in races {
            let faults = race.faults();
            race.stop();
            seen.equal("what the race saw go wrong", &faults, &0);
        }
        for answer in &answers {
            // Over a file that somebody else puts there meanwhile an agent's text is not written.
            let is_late = is_race(case) && F::NAME == "acp" && answer.code() == "conflict";
            if seen.failures.len() < 5 && !is_late {
                judge_answer(&world, case, &op, answer, &mut seen);
            }
        }
        if let Some(other) = case["expect"].get("same_as") {
            let (path, other_path) = (op.path().to_owned(), text(other, "path"));
            let other = front.call(&self::op(&world, other));
            seen.equal(
                "the same error",
                &essence(&answers[0], &path),
                &essence(&other, other_path),
            );
        }
        judge_disk(&world, case, &answers, &before, &mut seen);
        judge_invariants(&world, case, &answers, slowest, &mut seen);
        judge_memory(&front, case, &mut seen);
        if answers.len() == 1 && case["expect"].get("any_of").is_none() {
            let tree = format!("{:?}", world.tree().timeless());
            let all = format!("{} {tree}", essence(&answers[0], op.path()));
            seen.summary = all.replace(world.base().to_str().unwrap(), "BASE");
        }
        seen
    })
}

fn settings(world: &World, case: &Value) -> Settings {
    let root = |root: &Value| Root {
        name: text(root, "name").to_owned(),
        path: match text(root, "at") {
            "/" => "/".into(),
            name => world.path(name),
        },
        rights: texts(root, "rights"),
    };
    let policy = &case["policy"];
    Settings {
        roots: case["roots"].as_array().unwrap().iter().map(root).collect(),
        deny: texts(policy, "deny"),
        outside: texts(policy, "outside"),
        hard_links: policy["hardlinks"].as_str().map(str::to_owned),
        one_filesystem: policy["one_filesystem"] == true,
        fallback: None,
        max_read_bytes: policy["max_read_bytes"].as_u64(),
    }
}

fn op(world: &World, request: &Value) -> Op {
    let path = world.expand(text(request, "path"));
    match text(request, "op") {
        "read" => Op::Read(Read::whole(&path)),
        "list" => Op::List(List::of(&path)),
        "delete" => Op::Remove(path),
        "mkdir" => Op::CreateDir(NewDir::new(&path)),
        "search" => Op::Search(Search {
            include_hidden: true,
            ..Search::text(&path, text(request, "query"))
        }),
        "copy" => Op::Copy(transfer(world, &path, request)),
        "move" => Op::Move(transfer(world, &path, request)),
        "write" => {
            let bytes = request["text_bytes"]
                .as_u64()
                .map(|bytes| "x".repeat(bytes.try_into().unwrap()));
            Op::Write(Write::over(
                &path,
                bytes.as_deref().unwrap_or_else(|| text(request, "text")),
            ))
        }
        other => panic!("no request {other}"),
    }
}

fn transfer(world: &World, from: &str, request: &Value) -> Transfer {
    let to = world.expand(text(request, "to"));
    Transfer {
        overwrite: request["overwrite"] == true,
        ..Transfer::new(from, &to)
    }
}

fn start_race(world: &World, step: &Value, op: &Op) -> Option<Race> {
    if step["kind"] != "create-loop" {
        return world.start_race(step);
    }
    let source = world.root().join(op.path());
    Some(Race::create(world.path(text(step, "path")), source))
}

/// Makes the call as often as the case says, and until each race took a few turns.
fn answers<F: FrontEnd>(
    front: &F,
    op: &Op,
    request: &Value,
    races: &[Race],
) -> (Vec<Answer>, Duration) {
    let mut slowest = Duration::ZERO;
    let mut all = Vec::new();
    let wanted = request["repeat"].as_u64().unwrap_or(1);
    while (all.len() as u64) < wanted || races.iter().any(|race| race.turns() < 3) {
        let start = Instant::now();
        all.push(front.call(op));
        slowest = slowest.max(start.elapsed());
    }
    (all, slowest)
}

fn judge_answer(world: &World, case: &Value, op: &Op, answer: &Answer, seen: &mut Seen) {
    let expect = &case["expect"];
    let choices = expect["each"].as_array().or(expect["any_of"].as_array());
    let fits = choices.map_or_else(
        || fits(expect, answer),
        |all| all.iter().any(|one| fits(one, answer)),
    );
    seen.check(fits, || format!("answered {}", answer.raw));
    if let Some(leak) = world.leak(op, answer) {
        seen.failures.push(format!("discloses {leak}"));
    }
}

fn fits(expect: &Value, answer: &Answer) -> bool {
    let any = texts(expect, "error_any");
    if let Some(matches) = expect["matches"].as_array() {
        let found = answer.result.as_ref().map(|done| {
            let paths = done.blocks.iter().map(|block| block.path.clone().into());
            paths.collect::<Vec<Value>>()
        });
        return found.is_ok_and(|found| found == *matches);
    }
    match (expect["content"].as_str(), expect["error"].as_str()) {
        (Some(content), _) => answer
            .result
            .as_ref()
            .is_ok_and(|done| done.text == content),
        (None, Some(code)) => answer.code() == code,
        (None, None) if !any.is_empty() => any.iter().any(|code| answer.code() == code),
        (None, None) => expect["ok"] == true && answer.code() == "ok",
    }
}

/// Nothing outside ever changes; and nothing at all when every answer is an error, or only reads.
fn judge_disk(world: &World, case: &Value, answers: &[Answer], before: &Tree, seen: &mut Seen) {
    let after = world.tree();
    let outside = before
        .clone()
        .without("root")
        .differences(&after.clone().without("root"));
    if text(case, "id") != "SB-128" {
        seen.check(outside.is_empty(), || format!("outside: {outside:?}"));
    }
    let reads = ["read", "list", "search"].contains(&text(&case["request"], "op"));
    let raced = case["setup"]
        .as_array()
        .unwrap()
        .iter()
        .any(|step| step["op"] == "background-append");
    if !is_race(case) && !raced && (reads || answers.iter().all(|answer| answer.result.is_err())) {
        let all = before.differences(&after);
        seen.check(all.is_empty(), || format!("changed: {all:?}"));
    }
}

fn judge_invariants(
    world: &World,
    case: &Value,
    answers: &[Answer],
    slowest: Duration,
    seen: &mut Seen,
) {
    let mode = |name: &str| world.path(name).metadata().unwrap().permissions().mode() & 0o7777;
    let octal = |text: &str| u32::from_str_radix(text, 8).unwrap();
    for invariant in texts(case, "invariants") {
        let words: Vec<&str> = invariant.splitn(3, ' ').collect();
        match words.as_slice() {
            // The race itself sees whether its file was overwritten.
            [
                "outside_unchanged" | "no_path_leak" | "memory_below_mb" | "never_overwrites",
                ..,
            ] => {}
            ["not_disclosed"] => {
                let told = answers.iter().find(|answer| answer.raw.contains(CANARY));
                seen.check(told.is_none(), || format!("disclosed: {told:?}"));
            }
            ["name_not_disclosed", name] => {
                let told = answers.iter().find(|answer| answer.raw.contains(name));
                seen.check(told.is_none(), || format!("disclosed: {told:?}"));
            }
            ["file_is", name, content] => {
                seen.equal(
                    name,
                    &String::from_utf8_lossy(&world.get(name)).as_ref(),
                    content,
                );
            }
            ["absent", name] => {
                seen.check(!world.path(name).exists(), || format!("{name} is there"));
            }
            ["still_symlink", name] => seen.check(world.path(name).is_symlink(), || {
                format!("{name} is no link")
            }),
            ["mode_is", name, wanted] => seen.equal(name, &mode(name), &octal(wanted)),
            ["mode_at_most", name, most] => {
                let seen_mode = mode(name);
                seen.equal("wider bits", &(seen_mode & !octal(most)), &0);
            }
            ["no_special_bits", name] => seen.equal("special bits", &(mode(name) & 0o7000), &0),
            ["no_temp_left", name] => {
                let names = names(world, name);
                seen.check(
                    names.iter().all(|name| name == "f" || name == "secret.txt"),
                    || format!("left {names:?}"),
                );
            }
            ["returns_within_ms", most] => {
                let most = Duration::from_millis(most.parse().unwrap());
                seen.check(slowest < most, || format!("took {slowest:?}"));
            }
            ["one_line_per_entry"] => {
                let names = &answers[0].done().names;
                seen.check(names.len() == 1 && !names[0].contains('\n'), || {
                    format!("listed {names:?}")
                });
            }
            other => panic!("no invariant {other:?}"),
        }
    }
}

fn names(world: &World, dir: &str) -> Vec<String> {
    let entries = world.path(dir).read_dir().unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn judge_memory<F: FrontEnd>(front: &F, case: &Value, seen: &mut Seen) {
    let most = texts(case, "invariants")
        .iter()
        .find_map(|all| all.strip_prefix("memory_below_mb ")?.parse::<u64>().ok());
    if let (Some(most), Some(peak)) = (most, front.peak_memory()) {
        seen.check(peak < most << 20, || format!("took {peak} bytes of memory"));
    }
}
