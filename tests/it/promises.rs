//! The promises that no case file holds: whole or not at all, bounded answers, flat memory, equal
//! answers through every front end, cancelled calls.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use fs_core::Cancel;
use fs_edit::{Edit as Replacement, EditOptions, Request, Target, edit_file};
use fs_sandbox::{UpdateOptions, WriteOptions};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};
use tests::property::{check, equal};
use tests::setup::chmod;
use tests::{Edit, Engines, FrontEnd, List, Mcp, Mode, Op, Race, Range, Read, World, Write};

tests::suite!(
    a_reader_sees_old_or_new_bytes,
    a_backup_has_the_exact_bytes_and_mode,
    edits_at_the_same_time_all_land,
    a_page_after_a_page_is_the_whole_listing,
);

fn a_reader_sees_old_or_new_bytes<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let texts = ["A", "B"].map(|letter| letter.repeat(300_000));
    world.put("root/f", &texts[0]);
    let path = world.path("root/f");
    let bad = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&bad);
    let reader = Race::of(move || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let first = text.chars().next().unwrap_or_default();
        let whole = text.len() == 300_000 && text.trim_start_matches(first).is_empty();
        if !whole {
            seen.lock().unwrap().push(text.len());
        }
    });
    let mut turn = 0;
    while turn < 60 || reader.turns() < 200 {
        turn += 1;
        assert_eq!(front.write("f", &texts[turn % 2]).code(), "ok");
    }
    reader.stop();
    assert_eq!(*bad.lock().unwrap(), Vec::<usize>::new());
    assert_eq!(world.tree().0.len(), 3, "no temporary file is left");
}

fn a_backup_has_the_exact_bytes_and_mode<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let modes = select(vec!["0600", "0644", "0755", "0640"]);
    let cases = if F::NAME == "engines" { 200 } else { 60 };
    check(
        cases,
        &(vec(0x80..=0xff_u8, 0..40), modes),
        |(junk, mode)| {
            let bytes = [b"KEY\n", junk.as_slice(), b"\r\n"].concat();
            world.put("root/f", &bytes);
            chmod(&world.path("root/f"), mode);
            let edit = Edit {
                backup: true,
                ..Edit::once("f", "KEY", "NEW")
            };
            equal("the code", &front.call(&Op::Edit(edit)).code(), &"ok")?;
            equal("the backup", &world.get("root/f.bak"), &bytes)?;
            let bits =
                |name: &str| world.path(name).metadata().unwrap().permissions().mode() & 0o7777;
            equal("the modes", &(bits("root/f"), bits("root/f.bak")), &{
                let wanted = u32::from_str_radix(mode, 8).unwrap();
                (wanted, wanted)
            })?;
            equal(
                "the file",
                &world.get("root/f"),
                &[b"NEW\n", junk.as_slice(), b"\r\n"].concat(),
            )
        },
    );
}

fn edits_at_the_same_time_all_land<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let words: Vec<String> = (0..24).map(|number| format!("word-{number:02}")).collect();
    world.put("root/f", words.join("\n"));
    std::thread::scope(|scope| {
        for chunk in words.chunks(6) {
            let front = &front;
            scope.spawn(move || {
                for word in chunk {
                    assert_eq!(front.edit("f", word, &word.to_uppercase()).code(), "ok");
                }
            });
        }
    });
    assert_eq!(
        world.get("root/f"),
        words.join("\n").to_uppercase().into_bytes()
    );
}

fn a_page_after_a_page_is_the_whole_listing<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let names = vec("[aAbB.é\u{301}% -]{1,5}", 0..40);
    let cases = if F::NAME == "engines" { 150 } else { 30 };
    check(cases, &(names, 1..7_u64), |(names, limit)| {
        std::fs::remove_dir_all(world.path("root/d")).ok();
        std::fs::create_dir(world.path("root/d")).unwrap();
        for (number, name) in names
            .iter()
            .enumerate()
            .filter(|(_, name)| !["..", "."].contains(&name.as_str()))
        {
            let path = world.path("root/d").join(name);
            if number % 3 == 0 {
                std::fs::create_dir_all(path).unwrap_or_default();
            } else {
                std::fs::write(path, "x").unwrap_or_default();
            }
        }
        let whole = front.list("d").done().names.clone();
        let on_disk = world.path("root/d").read_dir().unwrap().count();
        equal("the number of names", &whole.len(), &on_disk)?;
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let list = List {
                limit: Some(limit),
                after: after.clone(),
                ..List::of("d")
            };
            let answer = front.call(&Op::List(list));
            let done = answer.result.as_ref().map_err(|no| format!("{no:?}"))?;
            equal("total", &done.facts["total"], &on_disk.into())?;
            paged.extend(done.names.clone());
            after = done.facts["next"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        equal("the pages", &paged, &whole)
    });
}

/// The same calls on the same files: the same codes, texts and bytes through both.
#[test]
fn every_front_end_answers_the_same() {
    let worlds = [World::new(), World::new()];
    let engines = Engines::start(&worlds[0].settings());
    let mcp = Mcp::start(&worlds[1].settings());
    check(150, &vec(calls(), 1..8), |calls| {
        worlds.iter().for_each(plant);
        for op in calls {
            let (a, b) = (engines.call(&op), mcp.call(&op));
            equal(&format!("{op:?}"), &b.code(), &a.code())?;
            match (&op, &a.result, &b.result) {
                (Op::List(_), Ok(a), Ok(b)) => equal(&format!("{op:?}"), &b.names, &a.names)?,
                (_, Err(a), Err(b)) => {
                    equal(&format!("{op:?}"), &told(&b.fields), &told(&a.fields))?;
                }
                _ => {}
            }
            if matches!(op, Op::Read(_)) {
                equal(&format!("{op:?}"), &b.shown(), &a.shown())?;
            }
            let trees = worlds.each_ref().map(|world| world.tree().timeless());
            equal(
                &format!("after {op:?}"),
                &trees[1].differences(&trees[0]),
                &Vec::new(),
            )?;
        }
        Ok(())
    });
}

/// What both front ends tell in numbers about a failure.
fn told(fields: &Value) -> Value {
    let names = [
        "edit", "edits", "found", "expected", "lines", "char", "column", "size", "last",
    ];
    names.iter().map(|name| fields[*name].clone()).collect()
}

const PLANTED: [(&str, &[u8]); 8] = [
    ("plain", b"one\ntwo\nthree\n"),
    ("crlf", b"one\r\ntwo\r\n"),
    ("bom", b"\xef\xbb\xbfone\ntwo"),
    ("utf16", b"\xff\xfeo\0n\0e\0\n\0"),
    (
        "gbk",
        b"\xd6\xd0\xce\xc4\xc4\xda\xc8\xdd\xb2\xe2\xca\xd4 one\n",
    ),
    ("opaque", b"one\xff\xfe\xfd\x00"),
    ("empty", b""),
    ("d/inner", b"one\n"),
];

fn plant(world: &World) {
    std::fs::remove_dir_all(world.root()).ok();
    std::fs::create_dir_all(world.root()).unwrap();
    for (name, content) in PLANTED {
        world.put(&format!("root/{name}"), content);
    }
    world
        .link("root/link", "plain")
        .link("root/dir-link", "d")
        .link("root/out-link", "../out");
}

fn calls() -> impl Strategy<Value = Op> {
    let names: Vec<String> = PLANTED.iter().map(|(name, _)| (*name).to_owned()).collect();
    let others = [
        "link",
        "dir-link/inner",
        "out-link",
        "d",
        "missing",
        "new/file",
        "plain/x",
        "d/../plain",
        "",
    ];
    let paths = prop_oneof![5 => select(names), 2 => select(others.map(str::to_owned).to_vec())];
    let words = select(vec![
        "one", "two", "o", "e\n", "中", "x\ny\n", "", "😀", "\r\n",
    ]);
    let modes = prop_oneof![
        3 => Just(Mode::Overwrite), 2 => Just(Mode::Append), 1 => Just(Mode::Create), 2 => (1..5_u64).prop_map(Mode::Insert)
    ];
    let edits = vec(
        (
            words.clone(),
            words.clone(),
            select(vec![1_i64, 1, 1, 2, -1]),
        ),
        1..3,
    );
    let edits = edits.prop_map(|all| {
        let edit = |(old, new, expected_count): (&str, &str, i64)| Replacement {
            old: old.into(),
            new: new.into(),
            expected_count,
        };
        Target::Text(all.into_iter().map(edit).collect())
    });
    (0..4, paths, words, modes, edits, any::<bool>()).prop_map(
        |(kind, path, text, mode, target, flag)| match kind {
            0 => Op::Read(Read::lines(
                &path,
                if flag { Range::All } else { Range::Tail(2) },
            )),
            1 => Op::Write(Write::in_mode(&path, text, mode)),
            2 => Op::Edit(Edit {
                backup: flag,
                ..Edit::to(&path, target)
            }),
            _ => Op::List(List::of(if flag { "." } else { &path })),
        },
    )
}

#[test]
fn a_killed_write_leaves_old_or_new_bytes() {
    let world = World::new();
    let texts = ["A", "B"].map(|letter| letter.repeat(1 << 20));
    world.put("root/f", &texts[0]);
    for turn in 0..24_u64 {
        let mcp = Mcp::start(&world.settings());
        for text in texts.iter().cycle().take(4) {
            let call = json!({"name": "files_write", "arguments": {"path": "f", "content": text}});
            mcp.wire.post("tools/call", &call);
        }
        std::thread::sleep(Duration::from_micros(turn * 700));
        mcp.wire.kill();
        let bytes = world.get("root/f");
        assert!(
            texts.iter().any(|text| text.as_bytes() == bytes),
            "{} bytes of a mix",
            bytes.len()
        );
    }
}

#[test]
fn an_answer_is_bounded_and_says_how_to_go_on() {
    let world = World::new();
    world
        .put("root/lines", "0123456789abcdef\n".repeat(200_000))
        .put("root/line", "é".repeat(3 << 20));
    let mcp = Mcp::start(&world.settings());
    let read = |arguments: Value| mcp.tool("files_read", &arguments);

    let whole = read(json!({"path": "lines"}));
    assert_eq!(whole.done().facts["returned_lines"], 2000);
    assert!(whole.shown().len() <= 64 << 10);
    assert!(
        whole
            .done()
            .hint
            .starts_with("[Showing lines 1-2000 of 200000. Use offset=2001 to continue.]"),
        "{}",
        whole.done().hint
    );

    let most = read(json!({"path": "lines", "limit": 1_000_000_000}));
    assert_eq!(most.done().facts["returned_lines"], 50_000);
    assert!(most.shown().len() <= 1 << 20);
    assert!(
        most.done().hint.contains("clamped to 50000"),
        "{}",
        most.done().hint
    );

    let line = read(json!({"path": "line"}));
    assert_eq!(line.shown(), "é".repeat(2000));
    assert!(
        line.done().hint.contains("line 1 cut: column=2001 goes on"),
        "{}",
        line.done().hint
    );
    let rest = read(json!({"path": "line", "offset": 1, "column": 2001}));
    assert!(rest.shown().len() <= 64 << 10 && rest.shown().chars().all(|c| c == 'é'));
    let next = &rest.done().facts["next"];
    assert_eq!(
        (&next["line"], next["column"].as_u64()),
        (&json!(1), Some(2001 + rest.shown().chars().count() as u64))
    );
}

#[test]
fn a_listing_is_bounded_and_says_how_to_go_on() {
    let world = World::new();
    for number in 0..10_050 {
        world.put(&format!("root/f{number:05}"), "");
    }
    let mcp = Mcp::start(&world.settings());
    let first = mcp.tool("files_ls", &json!({}));
    assert_eq!(first.shown().lines().count(), 500);
    assert!(
        first
            .done()
            .hint
            .contains("500 of 10050 entries shown. Use after=\"f00499\" to continue"),
        "{}",
        first.done().hint
    );
    let most = mcp.tool("files_ls", &json!({"limit": 1e9}));
    assert_eq!(most.shown().lines().count(), 10_000);
    assert!(
        most.done().hint.contains("clamped to 10000"),
        "{}",
        most.done().hint
    );
    let rest = mcp.tool("files_ls", &json!({"after": "f09999"}));
    assert_eq!(rest.shown().lines().count(), 50);
}

/// 256 MiB of log: the server's peak grows by its blocks and the answers, not by the file.
#[test]
fn memory_does_not_grow_with_the_file() {
    let world = World::new();
    let mut chunk = String::new();
    for number in 0..16_384 {
        writeln!(
            chunk,
            "{number:06} a line of a log that says nothing much at all, with 64 bytes"
        )
        .unwrap();
    }
    let mut file = std::fs::File::create(world.path("root/log")).unwrap();
    let chunks = (256 << 20) / chunk.len();
    for _ in 0..chunks {
        std::io::Write::write_all(&mut file, chunk.as_bytes()).unwrap();
    }
    world.put("root/small", "one\n");
    let lines = chunks as u64 * 16_384;
    let mcp = Mcp::start(&world.settings());
    mcp.read("small");
    let idle = mcp.peak_memory().unwrap();
    for offset in [1, lines / 2, lines - 100, lines / 3] {
        let answer = mcp.tool(
            "files_read",
            &json!({"path": "log", "offset": offset, "limit": 100}),
        );
        let wanted = format!("{:06} a line", (offset - 1) % 16_384);
        assert!(
            answer.shown().starts_with(&wanted),
            "at {offset}: {:.40}",
            answer.shown()
        );
        assert_eq!(answer.shown().lines().count(), 100);
    }
    let tail = mcp.tool("files_read", &json!({"path": "log", "tail": 3}));
    assert!(
        tail.shown().starts_with("016381 a line"),
        "{}",
        tail.shown()
    );
    let peak = mcp.peak_memory().unwrap();
    assert!(
        peak - idle <= 4 << 20,
        "{} KiB over idle",
        (peak - idle) >> 10
    );
    assert!(peak <= 16 << 20, "{} KiB in all", peak >> 10);
}

#[test]
fn an_engine_that_is_stopped_changes_nothing() {
    let world = World::new();
    world.put("root/f", "one\n");
    let engines = Engines::start(&world.settings());
    let before = world.tree();
    let cancel = Cancel::default();
    cancel.cancel();
    let update = UpdateOptions {
        cancel,
        ..UpdateOptions::default()
    };
    let options = WriteOptions {
        update: update.clone(),
        ..WriteOptions::default()
    };
    for path in ["f", "new"] {
        assert_eq!(
            engines
                .workspace
                .write(path, "two\n", &options)
                .unwrap_err()
                .code(),
            "cancelled"
        );
    }
    let request = Request::edits(vec![Replacement::new("one", "two")]);
    let options = EditOptions {
        update,
        dry_run: false,
    };
    assert_eq!(
        edit_file(&engines.workspace, "f", &request, &options)
            .unwrap_err()
            .code(),
        "cancelled"
    );
    assert_eq!(before.differences(&world.tree()), Vec::<String>::new());
}

/// A scan of a hole of 256 GiB is stopped: no reply comes, and the processor rests.
#[test]
fn a_cancelled_call_has_no_reply_and_stops_its_work() {
    let world = World::new();
    let text = "line\n".repeat(4000);
    world.set_up(&json!({"op": "file", "path": "root/huge", "text": text, "size": 256_u64 << 30}));
    world.put("root/small", "one\n");
    let mcp = Mcp::start(&world.settings());
    let call =
        json!({"name": "files_read", "arguments": {"path": "huge", "offset": 5000, "limit": 1}});
    let pending = mcp.wire.post("tools/call", &call);
    assert_eq!(
        mcp.wire.wait_for(&pending, Duration::from_millis(200)),
        None,
        "the scan is a long one"
    );
    mcp.wire.notify(
        "notifications/cancelled",
        &json!({"requestId": pending.id(), "reason": "enough"}),
    );
    assert_eq!(
        mcp.wire.wait_for(&pending, Duration::from_millis(500)),
        None
    );
    assert_eq!(mcp.read("small").shown(), "one\n");
    let used = processor_time(&mcp);
    std::thread::sleep(Duration::from_millis(400));
    let more = processor_time(&mcp) - used;
    assert!(
        more < 10,
        "{more} ticks of work after the call was cancelled"
    );
}

/// Whatever a cancelled write came to, it is old or new bytes, and stays what it is.
#[test]
fn a_cancelled_write_changes_nothing_later() {
    let world = World::new();
    let (old, new) = ("A".repeat(8 << 20), "B".repeat(8 << 20));
    let mcp = Mcp::start(&world.settings());
    for turn in 0..10_u64 {
        world.put("root/f", &old);
        let call = json!({"name": "files_write", "arguments": {"path": "f", "content": new}});
        let pending = mcp.wire.post("tools/call", &call);
        std::thread::sleep(Duration::from_millis(turn * 4));
        mcp.wire.notify(
            "notifications/cancelled",
            &json!({"requestId": pending.id()}),
        );
        let reply = mcp.wire.wait_for(&pending, Duration::from_millis(300));
        let after = world.get("root/f");
        assert!(
            after == old.as_bytes() || after == new.as_bytes(),
            "a mix of {} bytes",
            after.len()
        );
        assert!(
            reply.is_none() || after == new.as_bytes(),
            "a reply, but no write"
        );
        mcp.list(".");
        std::thread::sleep(Duration::from_millis(50));
        assert!(
            world.get("root/f") == after,
            "it changed after the call was over"
        );
        assert_eq!(world.tree().0.len(), 3, "no temporary file is left");
    }
}

#[test]
fn a_session_ends_cleanly() {
    let world = World::new();
    world.put("root/f", "one\n");
    let mcp = Mcp::start(&world.settings());
    mcp.read("f");
    let status = mcp.wire.close().expect("the server ends with its input");
    assert!(status.success(), "{status}: {}", mcp.wire.stderr());

    let mcp = Mcp::start(&world.settings());
    let pid = rustix::process::Pid::from_raw(mcp.wire.pid().try_into().unwrap()).unwrap();
    let start = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let status = mcp
        .wire
        .ended(Duration::from_secs(5))
        .expect("the server ends when it is told to");
    assert!(status.success(), "{status} after {:?}", start.elapsed());
}

/// User and system time of the process, in ticks of 10 ms.
fn processor_time(mcp: &Mcp) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", mcp.wire.pid())).unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
