//! What a session remembers of the files that it was shown, on the real wire.

use serde_json::{Value, json};
use tests::mcp::{arguments, command};
use tests::{Mcp, World};

/// The command line of a server that refuses to overwrite what it has not seen, as by default.
fn line(world: &World) -> Vec<String> {
    let mut line = arguments(&world.settings());
    let stale = line.iter().position(|word| word == "--stale").unwrap();
    line.drain(stale..stale + 2);
    line
}

#[test]
fn an_overwrite_of_what_has_changed_is_refused_once_with_the_change() {
    let world = World::new();
    world.put("root/f", "one\ntwo\n");
    let mcp = Mcp::with(&line(&world));
    let write = |mcp: &Mcp| mcp.tool("write_file", &json!({"path": "f", "content": "mine\n"}));
    mcp.tool("read_file", &json!({"path": "f"})).done();
    world.put("root/f", "one\nTWO\n");
    let refused = write(&mcp);
    assert_eq!(refused.code(), "conflict", "{}", refused.raw);
    let answer: Value = serde_json::from_str(&refused.raw).unwrap();
    let error = &answer["result"]["structuredContent"];
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("\n one\n-two\n+TWO\n"), "{message}");
    assert!(error["version"].is_string() && error["hint"].is_string());
    let words = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("-two\n+TWO\n"), "{words}");
    assert_eq!(world.get("root/f"), b"one\nTWO\n");
    assert_eq!(write(&mcp).code(), "ok");
    assert_eq!(world.get("root/f"), b"mine\n");
    // Another session knows nothing of this one.
    world.put("root/f", "other\n");
    assert_eq!(write(&Mcp::with(&line(&world))).code(), "ok");
}

#[test]
fn a_call_by_itself_remembers_nothing() {
    let world = World::new();
    world.put("root/f", "one\n");
    let call = |words: &[&str]| {
        let mut command = command();
        command.arg("call").args(words).args(line(&world));
        command.output().unwrap().status.success()
    };
    assert!(call(&["read_file", "path=f"]));
    world.put("root/f", "two\n");
    assert!(call(&["write_file", "path=f", "content=mine\n"]));
    assert_eq!(world.get("root/f"), b"mine\n");
}
