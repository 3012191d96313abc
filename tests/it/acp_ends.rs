//! How a run ends: with its agent and as its agent did, and never later than one end is gone.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use tests::acp::{Meeting, SESSION, Stage, command};
use tests::mcp::parse;
use tests::{World, wire::TIMEOUT};

/// How long the agent has after its editor is gone, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.cast_signed()).expect("a process")
}

/// Starts the proxy with the agent behind a line of a shell, in which `AGENT` is the agent.
fn behind_shell(world: &World, line: &str) -> Stage {
    let meeting = Meeting::new();
    let mut proxy = command();
    proxy.arg("--root").arg(world.root());
    let agent = meeting.agent().join(" ");
    proxy.args(["--", "/bin/sh", "-c", &line.replace("AGENT", &agent)]);
    Stage::of(&mut proxy, &meeting)
}

#[test]
fn the_agents_exit_code_is_the_proxys_while_the_editor_still_listens() {
    let world = World::new();
    for code in [0, 1, 7, 255] {
        let stage = Stage::on(&world, &[]);
        stage.agent.end(code);
        let status = stage.editor.ended(TIMEOUT).expect("an end");
        assert_eq!(status.code(), Some(code.into()));
    }
}

#[test]
fn the_agents_signal_is_the_proxys() {
    let world = World::new();
    for signal in [Signal::TERM, Signal::KILL, Signal::INT] {
        let stage = Stage::on(&world, &[]);
        kill_process(pid(stage.agent.pid()), signal).unwrap();
        let status = stage.editor.ended(TIMEOUT).expect("an end");
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
    }
}

#[test]
fn a_signal_to_the_proxy_reaches_the_agent() {
    let world = World::new();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let stage = Stage::on(&world, &[]);
        let agent = pid(stage.agent.pid());
        kill_process(pid(stage.editor.pid()), signal).unwrap();
        let status = stage.editor.ended(TIMEOUT).expect("an end");
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert!(test_kill_process(agent).is_err(), "the agent is gone, too");
    }
}

#[test]
fn an_agent_is_told_that_its_editor_is_gone() {
    let world = World::new();
    let stage = Stage::on(&world, &[]);
    let start = Instant::now();
    stage.editor.hang_up();
    assert!(stage.agent.ends(TIMEOUT), "its input ends");
    stage.agent.send("{\"method\":\"_goodbye\"}");
    stage.agent.end(3);
    assert_eq!(
        stage.editor.stray(TIMEOUT).as_deref(),
        Some("{\"method\":\"_goodbye\"}")
    );
    assert_eq!(
        stage.editor.ended(TIMEOUT).and_then(|end| end.code()),
        Some(3)
    );
    assert!(start.elapsed() < GRACE, "took {:?}", start.elapsed());
}

#[test]
fn an_agent_that_does_not_end_is_asked_to() {
    let world = World::new();
    let stage = Stage::on(&world, &[]);
    let start = Instant::now();
    stage.editor.hang_up();
    let status = stage.editor.ended(GRACE * 2).expect("an end");
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    assert!(start.elapsed() >= GRACE, "after {:?}", start.elapsed());
}

#[test]
fn an_agent_that_does_not_listen_is_ended() {
    let world = World::new();
    let stage = behind_shell(&world, "trap '' TERM; exec AGENT");
    let start = Instant::now();
    stage.editor.hang_up();
    let status = stage.editor.ended(GRACE * 4).expect("an end");
    assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
    assert!(start.elapsed() >= GRACE * 2, "after {:?}", start.elapsed());
}

#[test]
fn who_the_agent_has_started_keeps_nothing_open() {
    let world = World::new();
    let stage = behind_shell(&world, "exec 3<&0; sleep 30 <&3 2>/dev/null & exec AGENT");
    stage.agent.send("{\"method\":\"_goodbye\"}");
    assert_eq!(
        stage.editor.stray(TIMEOUT).as_deref(),
        Some("{\"method\":\"_goodbye\"}")
    );
    stage.agent.end(4);
    let status = stage.editor.ended(TIMEOUT).expect("an end");
    assert_eq!(status.code(), Some(4));
}

/// What an agent has asked for before it ended is done, whoever reads the answer.
#[test]
fn writes_that_were_sent_are_made_before_the_end() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    for number in 0..40 {
        let path = world.path(&format!("root/f{number}"));
        let write = json!({"sessionId": SESSION, "path": path, "content": "done\n"});
        stage.agent.post("fs/write_text_file", &write);
    }
    stage.agent.end(0);
    assert!(stage.editor.ended(TIMEOUT).is_some());
    for number in 0..40 {
        assert_eq!(world.get(&format!("root/f{number}")), b"done\n");
    }
}

/// A scan of a hole of 256 GiB goes on for minutes.
#[test]
fn a_read_that_nobody_waits_for_delays_no_end() {
    let world = World::new();
    let text = "line\n".repeat(4000);
    world.set_up(&json!({"op": "file", "path": "root/huge", "text": text, "size": 256_u64 << 30}));
    for is_editors in [false, true] {
        let stage = Stage::on(&world, &["--serve", "disk"]);
        let path = world.path("root/huge");
        let far = json!({"sessionId": SESSION, "path": path, "line": 5000, "limit": 1});
        let scan = stage.agent.post("fs/read_text_file", &far);
        let moment = Duration::from_millis(100);
        assert_eq!(
            stage.agent.wait_for(&scan, moment),
            None,
            "it is a long one"
        );
        if is_editors {
            stage.editor.hang_up();
        }
        stage.agent.end(5);
        let status = stage.editor.ended(TIMEOUT).expect("an end");
        assert_eq!(status.code(), Some(5));
    }
}

/// The agent has ended and left a line that nobody reads.
#[test]
fn a_signal_ends_what_an_editor_does_not_read() {
    let world = World::new();
    let line =
        "printf '{\"a\":\"'; head -c 1900000 /dev/zero | tr '\\0' x; printf '\"}\\n'; exit 3";
    let mut proxy = command();
    proxy.arg("--root").arg(world.root());
    proxy.args(["--", "/bin/sh", "-c", line]);
    let (stdin, stdout) = (Stdio::piped(), Stdio::piped());
    let mut proxy = proxy.stdin(stdin).stdout(stdout).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(proxy.try_wait().unwrap(), None, "it waits for its editor");
    kill_process(pid(proxy.id()), Signal::TERM).unwrap();
    let until = Instant::now() + TIMEOUT;
    let status = loop {
        match proxy.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            None => panic!("it does not end"),
        }
    };
    assert_eq!(status.code(), Some(3));
}

#[test]
fn an_agent_that_cannot_be_started_is_named() {
    let world = World::new();
    let mut proxy = command();
    proxy
        .arg("--root")
        .arg(world.root())
        .args(["--", "/nowhere/agent"]);
    let done = proxy.output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("/nowhere/agent: No such file"), "{said}");
    assert_eq!(done.stdout, b"");
}

#[test]
fn a_killed_proxy_leaves_old_or_new_bytes_and_no_agent_waiting() {
    let world = World::new();
    let texts = ["A", "B"].map(|letter| letter.repeat(1 << 20));
    world.put("root/f", &texts[0]);
    for turn in 0..24_u64 {
        let stage = Stage::on(&world, &["--serve", "disk"]);
        for text in texts.iter().cycle().take(4) {
            let write =
                json!({"sessionId": SESSION, "path": world.path("root/f"), "content": text});
            stage.agent.post("fs/write_text_file", &write);
        }
        std::thread::sleep(Duration::from_micros(turn * 700));
        stage.editor.kill();
        let bytes = world.get("root/f");
        let is_whole = texts.iter().any(|text| text.as_bytes() == bytes);
        assert!(is_whole, "{} bytes of a mix", bytes.len());
        assert!(stage.agent.ends(TIMEOUT), "its input ends");
    }
    // The next run reads what is there.
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let read = json!({"sessionId": SESSION, "path": world.path("root/f"), "limit": 1});
    let answer = parse(&stage.call("fs/read_text_file", &read));
    assert_eq!(
        answer["result"]["content"].as_str().map(str::len),
        Some(1 << 20)
    );
}
