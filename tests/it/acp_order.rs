//! Requests for one file are answered in their order, however it is spelt and in whatever session;
//! those for different files do not wait for each other.

use std::time::Duration;

use serde_json::{Value, json};
use tests::acp::{SESSION, Stage};
use tests::mcp::parse;
use tests::{Pending, World};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";

/// A session and a path below the base folder.
type Spelling = (&'static str, &'static str);

fn read(world: &World, (session, name): Spelling) -> Value {
    json!({"sessionId": session, "path": format!("{}/{name}", world.base().display())})
}

fn write(world: &World, spelling: Spelling, text: &str) -> Value {
    let mut params = read(world, spelling);
    params["content"] = text.into();
    params
}

/// Writes and reads a file by its spellings, sent without waiting for any answer; each read sees the
/// write before it.
fn check_in_order(spellings: &[Spelling]) {
    let world = World::new();
    world
        .put("root/d/f", "start\n")
        .link("root/link", "d/f")
        .link("alias", "root");
    // What other sessions wrote is no reason to refuse here.
    let stage = Stage::on(&world, &["--serve", "disk", "--stale", "allow"]);
    let root = world.root().display().to_string();
    let alias = world.path("alias").display().to_string();
    stage.open("second", &[&root]);
    stage.open("alias", &[&alias]);
    for round in 0..12 {
        let mut sent: Vec<(String, Pending)> = Vec::new();
        for turn in 0..20 {
            let at = |step: usize| spellings[(round + turn * 7 + step) % spellings.len()];
            let text = format!("{round}-{turn}\n");
            stage.agent.post(WRITE, &write(&world, at(0), &text));
            sent.push((text, stage.agent.post(READ, &read(&world, at(1)))));
        }
        for (text, pending) in sent {
            let answer = parse(&stage.agent.wait(&pending).expect("an answer"));
            assert_eq!(answer["result"]["content"], text, "{answer}");
        }
    }
    assert_eq!(world.get("root/d/f"), b"11-19\n");
}

#[test]
fn requests_for_one_path_are_answered_in_their_order() {
    check_in_order(&[(SESSION, "root/d/f")]);
}

#[test]
fn requests_for_one_file_by_many_names_are_answered_in_their_order() {
    check_in_order(&[
        (SESSION, "root/d/f"),
        (SESSION, "root/link"),
        (SESSION, "root/d/../d/./f"),
        (SESSION, "root//d//f"),
    ]);
}

#[test]
fn requests_for_one_file_from_many_sessions_are_answered_in_their_order() {
    check_in_order(&[
        (SESSION, "root/d/f"),
        ("second", "root/d/f"),
        ("alias", "alias/d/f"),
        ("second", "root/link"),
    ]);
}

#[test]
fn a_new_file_is_there_for_the_request_that_follows() {
    let world = World::new();
    world.put("root/d/f", "");
    let stage = Stage::on(&world, &["--serve", "disk"]);
    for turn in 0..120 {
        let name = |form: &str| -> &str { form.replace("NEW", &format!("new-{turn}")).leak() };
        let [one, other] = match turn % 3 {
            0 => ["root/NEW/deep/f"; 2],
            1 => ["root/NEW/deep/f", "root/./NEW//deep/f"],
            _ => ["root/d/../NEW/deep/f", "root/NEW/./deep/.//./f"],
        };
        let (one, other) = ((SESSION, name(one)), (SESSION, name(other)));
        stage.agent.post(WRITE, &write(&world, one, "new\n"));
        let pending = stage.agent.post(READ, &read(&world, other));
        let answer = parse(&stage.agent.wait(&pending).expect("an answer"));
        assert_eq!(answer["result"]["content"], "new\n", "{answer}");
    }
}

/// The editor takes its time for one file.
#[test]
fn a_slow_file_delays_no_other_one() {
    let world = World::new();
    for name in ["slow", "a", "b", "c"] {
        world.put(&format!("root/{name}"), format!("{name}\n"));
    }
    let root = world.root().display().to_string();
    let stage = Stage::with(&["--root", &root]);
    stage.greet(&json!({"readTextFile": true}));
    stage.open(SESSION, &[&root]);
    let slow = stage
        .agent
        .post(READ, &read(&world, (SESSION, "root/slow")));
    let asked = parse(
        &stage
            .editor
            .stray(Duration::from_secs(10))
            .expect("a question"),
    );
    assert_eq!(asked["params"]["path"], format!("{root}/slow"));
    // These wait for it, being about the same file.
    let behind: Vec<Pending> = (0..20)
        .map(|_| {
            stage
                .agent
                .post(READ, &read(&world, (SESSION, "root/slow")))
        })
        .collect();
    for name in ["a", "b", "c", "a"] {
        let path: &str = format!("root/{name}").leak();
        let pending = stage.agent.post(READ, &read(&world, (SESSION, path)));
        answer_editor(&stage, &format!("{name}\n"));
        let answer = parse(&stage.agent.wait(&pending).expect("an answer at once"));
        assert_eq!(answer["result"]["content"], format!("{name}\n"));
    }
    assert_eq!(stage.agent.wait_for(&slow, Duration::from_millis(50)), None);
    assert_eq!(
        stage.editor.stray(Duration::from_millis(50)),
        None,
        "nobody is asked twice"
    );
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": "SLOW\n"}});
    stage.editor.send(&answer.to_string());
    assert_eq!(
        parse(&stage.agent.wait(&slow).unwrap())["result"]["content"],
        "SLOW\n"
    );
    for (number, pending) in behind.iter().enumerate() {
        answer_editor(&stage, &format!("{number}\n"));
        let answer = parse(&stage.agent.wait(pending).expect("an answer"));
        assert_eq!(answer["result"]["content"], format!("{number}\n"));
    }
}

/// Answers the next question of the proxy.
fn answer_editor(stage: &Stage, text: &str) {
    let asked = parse(
        &stage
            .editor
            .stray(Duration::from_secs(10))
            .expect("a question"),
    );
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": text}});
    stage.editor.send(&answer.to_string());
}
