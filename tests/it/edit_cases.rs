//! The edit cases: a file, a request, the bytes after it or the code.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use fs_core::Version;
use fs_edit::{Edit as Replacement, EolMode, Positional, Target};
use serde_json::Value;
use tests::corpus::{bytes, cases, text};
use tests::setup::{bind, chmod, tmpfs};
use tests::{Answer, Conditions, Edit, FrontEnd, Op, Tree, World};

use crate::cases::{Runner, Seen, essence};

tests::suite!(edit_cases);

fn edit_cases<F: FrontEnd>() {
    let runner = Runner {
        reason: reason::<F>,
        conditions,
        run: run::<F>,
    };
    let report = runner.report(&cases(include_str!("../corpus/edit-cases.jsonl")));
    match F::NAME {
        "engines" => insta::assert_snapshot!(report, @"
        94 run
        "),
        "mcp" => insta::assert_snapshot!(report, @"
        94 run
        "),
        _ => insta::assert_snapshot!(report, @"
        87 run
        edit_file makes one edit: multi-01 multi-02 multi-04 multi-05 multi-06 multi-10 empty-06
        "),
    }
}

fn reason<F: FrontEnd>(case: &Value) -> Option<&'static str> {
    if case["request"]["op"] == "restore" {
        return None;
    }
    F::lacks(&op(case))
}

pub(crate) fn conditions(case: &Value) -> Conditions {
    Conditions {
        nobody: case["setup"]["uid"] == "non-root",
        own_mounts: case["setup"]["fault"].is_string(),
        ..Conditions::default()
    }
}

fn run<F: FrontEnd>(case: &Value, conditions: Conditions) -> Seen {
    let world = World::bare();
    conditions.run(|| {
        set_up(&world, case);
        let before = world.tree();
        let mut settings = world.settings();
        settings.fallback = Some(case["fallback"].as_str().unwrap_or("none").to_owned());
        let answer = request::<F>(&F::start(&settings), case);
        judge::<F>(&world, case, &answer, &before)
    })
}

pub(crate) fn set_up(world: &World, case: &Value) {
    let setup = &case["setup"];
    let file = world.path("root/f");
    std::fs::create_dir(world.root()).unwrap();
    std::fs::create_dir(world.out()).unwrap();
    if setup["fault"] == "ENOSPC on write" {
        tmpfs(&world.root(), 64 << 10);
    }
    world.put("root/f", bytes(&case["before_b64"]));
    if let Some(mode) = setup["mode"].as_str() {
        chmod(&file, mode);
    }
    if setup["via"] == "symlink" {
        world.link("root/link", "f");
    }
    if setup["nlink"] == 2 {
        std::fs::hard_link(&file, world.path("out/other")).unwrap();
    }
    match setup["fault"].as_str() {
        Some("ENOSPC on write") => fill(&world.path("root/filler")),
        Some("EBUSY on rename") => bind(&file, &file),
        _ => {}
    }
}

/// Fills the disk with one file.
fn fill(path: &Path) {
    let zeros = vec![0; 128 << 10];
    assert!(std::fs::write(path, zeros).is_err(), "the disk is full");
}

fn request<F: FrontEnd>(front: &F, case: &Value) -> Answer {
    if case["request"]["op"] == "restore" {
        return restore(front, case);
    }
    let op = op(case);
    let Some(others) = case["setup"]["concurrent"].as_array() else {
        return front.call(&op);
    };
    let others: Vec<Op> = others
        .iter()
        .map(|other| Op::Edit(edit(other, "f")))
        .collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = others
            .iter()
            .map(|other| scope.spawn(|| front.call(other)))
            .collect();
        let answer = front.call(&op);
        for thread in threads {
            assert_eq!(thread.join().unwrap().code(), "ok");
        }
        answer
    })
}

/// Makes the edits of a sequence, then takes back as many; the last answer counts.
fn restore<F: FrontEnd>(front: &F, case: &Value) -> Answer {
    let steps = case["setup"]["sequence"].as_array().unwrap();
    let mut answers = steps.iter().map(|step| match step.as_str().unwrap() {
        "restore" => front.call(&Op::Undo("f".to_owned())),
        edit => {
            let (old, new) = edit
                .strip_prefix("edit ")
                .unwrap()
                .split_once("->")
                .unwrap();
            front.call(&Op::Edit(Edit::once("f", old, new)))
        }
    });
    let mut last = answers.next().unwrap();
    for answer in answers {
        assert_eq!(last.code(), "ok");
        last = answer;
    }
    last
}

fn op(case: &Value) -> Op {
    let path = if case["setup"]["via"] == "symlink" {
        "link"
    } else {
        "f"
    };
    Op::Edit(edit(&case["request"], path))
}

fn edit(request: &Value, path: &str) -> Edit {
    let mut edit = Edit::to(path, target(request));
    edit.eol = match request["eol"].as_str() {
        None => EolMode::Auto,
        Some("exact") => EolMode::Exact,
        Some("lf") => EolMode::Lf,
        Some("crlf") => EolMode::CrLf,
        Some(other) => panic!("no eol {other}"),
    };
    edit.encoding = request["encoding"].as_str().map(str::to_owned);
    edit.backup = request["create_backup"] == true;
    edit.if_version = request["if_match"].as_str().map(version);
    edit
}

fn version(tag: &str) -> String {
    let text = tag
        .strip_prefix("etag-of:")
        .expect("an etag")
        .replace("\\n", "\n");
    Version::of_bytes(text.as_bytes()).as_str().to_owned()
}

fn target(request: &Value) -> Target {
    let number = |field: &str, absent: u64| request[field].as_u64().unwrap_or(absent);
    let words = || text(request, "text").to_owned();
    let (line, column) = (number("line", 1), number("column", 1));
    Target::Position(match request["mode"].as_str() {
        Some("insert") => Positional::Insert {
            line,
            column,
            text: words(),
        },
        Some("replace_line") => Positional::ReplaceLine {
            line,
            text: words(),
        },
        Some(other) => panic!("no mode {other}"),
        None => {
            return Target::Text(
                request["edits"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(replacement)
                    .collect(),
            );
        }
    })
}

fn replacement(edit: &Value) -> Replacement {
    Replacement {
        old: text(edit, "old").to_owned(),
        new: text(edit, "new").to_owned(),
        expected_count: edit["expected_count"].as_i64().unwrap_or(1),
    }
}

fn judge<F: FrontEnd>(world: &World, case: &Value, answer: &Answer, before: &Tree) -> Seen {
    let expect = &case["expect"];
    let mut seen = Seen::default();
    let path = if case["setup"]["via"] == "symlink" {
        "link"
    } else {
        "f"
    };
    if let Some(leak) = world.leak_in(&answer.raw, path) {
        seen.failures.push(format!("discloses {leak}"));
    }
    let after = world.tree();
    if let Some(code) = expect["error"].as_str() {
        seen.equal("the code", &answer.code(), &code);
        let changes = before.differences(&after);
        seen.check(changes.is_empty(), || {
            format!("a failed edit left {changes:?}")
        });
        if answer.code() == code {
            judge_fields::<F>(expect, answer, &mut seen);
        }
    } else {
        seen.check(answer.code() == "ok", || format!("refused: {}", answer.raw));
        seen.equal(
            "the file",
            &show(&world.get("root/f")),
            &show(&bytes(&expect["after_b64"])),
        );
        let names = after.0.len() - before.0.len();
        let backups = usize::from(case["request"]["create_backup"] == true);
        seen.equal("the number of new names", &names, &backups);
    }
    judge_disk(world, case, &mut seen);
    // Which of several edits is the last is chance.
    if case["setup"]["concurrent"].is_null() {
        seen.summary = format!("{} {:?}", essence(answer, "f"), after.timeless());
    }
    seen
}

pub(crate) fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn judge_fields<F: FrontEnd>(expect: &Value, answer: &Answer, seen: &mut Seen) {
    for name in ["edit", "edits", "found", "lines"] {
        // A tool that makes one edit has no index for it.
        let is_told = name != "edit" || F::NAME != "mcp-file";
        if is_told && !expect[name].is_null() {
            seen.equal(name, &answer.refusal().fields[name], &expect[name]);
        }
    }
}

pub(crate) fn judge_disk(world: &World, case: &Value, seen: &mut Seen) {
    let before = bytes(&case["before_b64"]);
    let mode = |name: &str| {
        format!(
            "{:04o}",
            world.path(name).metadata().unwrap().permissions().mode() & 0o7777
        )
    };
    for (name, wanted) in case["expect"]["fs"].as_object().into_iter().flatten() {
        match name.as_str() {
            "mode" => seen.equal(
                "the mode",
                &mode("root/f").as_str(),
                &wanted.as_str().unwrap(),
            ),
            "backup_mode" => seen.equal(
                "the backup's mode",
                &mode("root/f.bak").as_str(),
                &wanted.as_str().unwrap(),
            ),
            "backup_equals_before" => seen.equal(
                "the backup",
                &show(&world.get("root/f.bak")),
                &show(&before),
            ),
            "nlink" => seen.equal(
                "nlink",
                &Some(world.path("root/f").metadata().unwrap().nlink()),
                &wanted.as_u64(),
            ),
            "other_name_unchanged" => seen.equal(
                "the other name",
                &show(&world.get("out/other")),
                &show(&before),
            ),
            "via_is_symlink" => seen.check(world.path("root/link").is_symlink(), || {
                "the link is gone".to_owned()
            }),
            "link_target_unchanged" => {
                seen.equal(
                    "the link's target",
                    &world.path("root/link").read_link().unwrap().as_path(),
                    &Path::new("f"),
                );
            }
            // An error leaves the whole tree, its times and its names as they were.
            "unchanged" | "no_temp_left" | "mtime_unchanged" | "no_backup" => {
                assert!(
                    case["expect"]["error"].is_string(),
                    "{name} belongs to an error"
                );
            }
            other => panic!("no expectation {other}"),
        }
    }
}
