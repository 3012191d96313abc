//! Searches and copies that take long: how far they are is told, and they stop when they are told to.

use std::fs::hard_link;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::mcp::parse;
use tests::{FrontEnd as _, Mcp, Openat2, Pending, World};

use crate::cancel::processor_time;

/// What a call takes that is answered at once; the real number is milliseconds.
const QUICK: Duration = Duration::from_millis(700);

/// 20,000 names of one text of 512 KiB: some gigabytes to look through.
fn plant(world: &World) {
    let text = "some words of a text that is long and holds nothing much\n".repeat(9_000);
    world
        .put("root/seed", text)
        .put("root/small", "small\n".repeat(600));
    let seed = world.path("root/seed");
    for dir in 0..200 {
        let dir = world.path(&format!("root/d{dir:03}"));
        std::fs::create_dir(&dir).unwrap();
        for file in 0..100 {
            hard_link(&seed, dir.join(format!("f{file:02}"))).unwrap();
        }
    }
}

fn search(mcp: &Mcp, token: Option<&str>) -> Pending {
    let arguments = json!({"query": "no(t|where)hing [0-9]+", "regex": true});
    let mut call = json!({"name": "search_files", "arguments": arguments});
    if let Some(token) = token {
        call["_meta"] = json!({"progressToken": token});
    }
    mcp.wire.post("tools/call", &call)
}

fn cancel(mcp: &Mcp, pending: &Pending) {
    mcp.wire.notify(
        "notifications/cancelled",
        &json!({"requestId": pending.id(), "reason": "enough"}),
    );
}

/// Checks that no answer comes and that the processor rests.
#[track_caller]
fn check_quiet(mcp: &Mcp, pending: &Pending) {
    std::thread::sleep(Duration::from_millis(150));
    let used = processor_time(mcp);
    std::thread::sleep(Duration::from_millis(400));
    let more = processor_time(mcp) - used;
    assert!(
        more < 10,
        "{more} ticks of work after the call was cancelled"
    );
    assert_eq!(
        mcp.wire.wait_for(pending, Duration::from_millis(50)),
        None,
        "no reply"
    );
}

#[test]
fn a_cancelled_search_has_no_reply_and_stops_its_work() {
    World::in_memory(Openat2::Open, |world| {
        plant(world);
        let mcp = Mcp::start(&world.settings());
        for wait in [0, 40, 300] {
            let pending = search(&mcp, None);
            std::thread::sleep(Duration::from_millis(wait));
            cancel(&mcp, &pending);
            check_quiet(&mcp, &pending);
        }
    });
}

#[test]
fn a_small_read_beside_a_search_is_quick() {
    World::in_memory(Openat2::Open, |world| {
        plant(world);
        let mcp = Mcp::start(&world.settings());
        let pending = search(&mcp, None);
        std::thread::sleep(Duration::from_millis(100));
        for tool in ["read_file", "files_read", "read_file_range", "stat_file"] {
            let start = Instant::now();
            let answer = mcp.tool(tool, &json!({"path": "small"}));
            assert_eq!(answer.code(), "ok");
            assert!(start.elapsed() < QUICK, "{tool} took {:?}", start.elapsed());
        }
        assert_eq!(
            mcp.wire.wait_for(&pending, Duration::from_millis(1)),
            None,
            "it still runs"
        );
        cancel(&mcp, &pending);
        check_quiet(&mcp, &pending);
    });
}

#[test]
fn a_read_does_not_wait_for_many_searches() {
    World::in_memory(Openat2::Open, |world| {
        plant(world);
        let mcp = Mcp::start(&world.settings());
        let searches: Vec<Pending> = (0..40).map(|_| search(&mcp, None)).collect();
        for tool in ["read_file_range", "stat_file", "list_dir"] {
            let path = if tool == "list_dir" { "." } else { "small" };
            let answer = mcp.tool(tool, &json!({ "path": path }));
            assert_eq!(answer.code(), "ok");
        }
        let moment = Duration::from_millis(1);
        let ended = searches
            .iter()
            .filter(|search| mcp.wire.wait_for(search, moment).is_some());
        assert_eq!(ended.count(), 0, "searches had to end first");
        for search in &searches {
            cancel(&mcp, search);
        }
        check_quiet(&mcp, &searches[39]);
    });
}

/// Returns the next so many notifications.
#[track_caller]
fn steps(mcp: &Mcp, count: usize) -> Vec<Value> {
    let next = || {
        let line = mcp
            .wire
            .stray(Duration::from_secs(10))
            .expect("a notification");
        let note = parse(&line);
        assert_eq!(note["method"], "notifications/progress", "{line}");
        assert!(note.get("id").is_none());
        note["params"].clone()
    };
    (0..count).map(|_| next()).collect()
}

/// Checks that each step is further than the one before.
#[track_caller]
fn check_steps(steps: &[Value], token: &str) {
    assert!(
        steps.iter().all(|step| step["progressToken"] == token),
        "{steps:?}"
    );
    let done: Vec<f64> = steps
        .iter()
        .map(|step| step["progress"].as_f64().unwrap())
        .collect();
    assert!(
        done.is_sorted_by(|one, two| one < two) && done[0] > 0.0,
        "{done:?}"
    );
}

#[test]
fn a_search_tells_how_far_it_is_when_it_is_asked() {
    World::in_memory(Openat2::Open, |world| {
        plant(world);
        let mcp = Mcp::start(&world.settings());
        let pending = search(&mcp, Some("of this search"));
        let told = steps(&mcp, 3);
        check_steps(&told, "of this search");
        cancel(&mcp, &pending);
        check_quiet(&mcp, &pending);
        while mcp.wire.stray(Duration::from_millis(1)).is_some() {}
        let unasked = search(&mcp, None);
        assert_eq!(
            mcp.wire.stray(Duration::from_millis(900)),
            None,
            "nobody asked"
        );
        cancel(&mcp, &unasked);
        check_quiet(&mcp, &unasked);
        // What is short tells nothing on the way.
        let call = json!({"name": "read_file", "arguments": {"path": "small"}, "_meta": {"progressToken": 7}});
        let answer = parse(&mcp.wire.request("tools/call", &call));
        assert_eq!(answer["result"]["isError"], false);
        assert_eq!(mcp.wire.stray(Duration::from_millis(300)), None);
    });
}

/// A copy of 1 GiB, no hole in it, tells its bytes and their total, and leaves nothing when it is cancelled.
#[test]
fn a_cancelled_copy_leaves_nothing() {
    let world = World::new();
    let mut huge = std::fs::File::create(world.path("root/huge")).unwrap();
    let block = "line\n".repeat(1 << 18);
    let block = block.get(..1 << 20).unwrap();
    for _ in 0..1024 {
        huge.write_all(block.as_bytes()).unwrap();
    }
    world
        .put("root/there", "old\n")
        .put("root/small", "small\n");
    let mcp = Mcp::start(&world.settings());
    let before = world.tree();
    for (target, overwrite) in [("copy", false), ("there", true)] {
        let arguments = json!({"src_path": "huge", "dst_path": target, "overwrite": overwrite});
        let call = json!({"name": "copy_file", "arguments": arguments, "_meta": {"progressToken": target}});
        let pending = mcp.wire.post("tools/call", &call);
        let told = steps(&mcp, 1);
        cancel(&mcp, &pending);
        check_steps(&told, target);
        assert_eq!(told[0]["total"].as_f64(), Some(1_073_741_824.0));
        check_quiet(&mcp, &pending);
        while mcp.wire.stray(Duration::from_millis(1)).is_some() {}
        assert_eq!(
            before.differences(&world.tree()),
            Vec::<String>::new(),
            "onto {target}"
        );
    }
    assert_eq!(mcp.read("small").shown(), "small\n");
}

#[test]
fn a_server_that_is_told_to_end_stops_its_searches() {
    World::in_memory(Openat2::Open, |world| {
        plant(world);
        let mcp = Mcp::start(&world.settings());
        for _ in 0..4 {
            search(&mcp, None);
        }
        std::thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        let pid = rustix::process::Pid::from_raw(mcp.wire.pid().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = mcp.wire.ended(Duration::from_secs(5));
        let status = status.expect("the server ends when it is told to");
        assert!(status.success(), "{status} after {:?}", start.elapsed());
    });
}

/// What was asked before the input ended is answered.
#[test]
fn an_input_that_ends_leaves_its_calls_their_answers() {
    let world = World::new();
    let text = "some words of a text that is long and holds nothing much\n".repeat(90_000);
    world.put("root/seed", text + "needle\n");
    for link in 0..30 {
        hard_link(
            world.path("root/seed"),
            world.path(&format!("root/f{link:02}")),
        )
        .unwrap();
    }
    let mcp = Mcp::start(&world.settings());
    let arguments = json!({"query": "ne{2}dle", "regex": true});
    let call = json!({"name": "search_files", "arguments": arguments});
    let pending = mcp.wire.post("tools/call", &call);
    assert!(mcp.wire.close().is_some(), "the server ends");
    let answer = mcp
        .wire
        .wait_for(&pending, Duration::from_secs(1))
        .expect("an answer");
    assert_eq!(
        parse(&answer)["result"]["_meta"]["postern/facts"]["results"],
        31
    );
}
