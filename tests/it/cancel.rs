//! Calls that are cancelled, and sessions that end.

use std::time::{Duration, Instant};

use fs_core::Cancel;
use fs_edit::{Edit as Replacement, EditOptions, Request, edit_file};
use fs_sandbox::{UpdateOptions, WriteOptions};
use serde_json::json;
use tests::{Engines, FrontEnd, Mcp, World};

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
pub(crate) fn processor_time(mcp: &Mcp) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", mcp.wire.pid())).unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
