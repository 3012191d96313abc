//! Every answer is bounded and says how to go on; memory does not grow with the file.

use serde_json::{Value, json};
use tests::{FrontEnd as _, Mcp, World};

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
    let lines = world.log("root/log", 256 << 20);
    world.put("root/small", "one\n");
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
