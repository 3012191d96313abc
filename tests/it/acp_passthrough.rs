//! Everything but requests for files passes byte for byte and in order; what is changed on the way is
//! shown here to its last byte.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::json;
use tests::acp::{Acp, Meeting, Stage, command};
use tests::mcp::parse;
use tests::property::{check, equal};
use tests::wire::TIMEOUT;
use tests::{FrontEnd as _, Lines, World};

/// Blanks of JSON; a line feed would end the line.
fn blanks() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => select(vec![" ", "  ", "\t", "\r", " \t "])]
}

/// Texts as they may be spelt: escapes, lone surrogates, what other languages take for line ends.
fn texts() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "a",
        "B",
        " ",
        "é",
        "中",
        "😀",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u0000",
        "\\u00e9",
        "\\uD83D\\uDE00",
        "\\ud800",
        "\u{2028}",
        "\u{85}",
        "\u{feff}",
        "\u{7f}",
        "fs/",
        "method",
        "id",
    ]);
    vec(pieces, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn scalars() -> impl Strategy<Value = String> {
    let numbers = select(vec![
        "0",
        "-0",
        "1",
        "1.0",
        "1e5",
        "-1.50E-3",
        "18446744073709551616",
        "0.1000000000000000055511151231257827",
        "1e400",
        "null",
        "true",
        "false",
    ]);
    prop_oneof![3 => texts(), 2 => numbers.prop_map(str::to_owned)]
}

fn values() -> impl Strategy<Value = String> {
    scalars().prop_recursive(4, 40, 6, |inner| {
        let list = (vec((blanks(), inner.clone()), 0..6), blanks()).prop_map(|(items, last)| {
            let items: Vec<String> = items
                .iter()
                .map(|(blank, item)| format!("{blank}{item}"))
                .collect();
            format!("[{}{last}]", items.join(","))
        });
        prop_oneof![list, fields(inner, texts().boxed(), 0..6)]
    })
}

/// An object, in which a field may stand twice.
fn fields(
    values: impl Strategy<Value = String> + 'static,
    names: impl Strategy<Value = String> + 'static,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = String> {
    let field = (blanks(), names, blanks(), blanks(), values)
        .prop_map(|(a, name, b, c, value)| format!("{a}{name}{b}:{c}{value}"));
    (vec(field, count), blanks()).prop_map(|(all, last)| format!("{{{}{last}}}", all.join(",")))
}

fn methods() -> impl Strategy<Value = String> {
    let known = select(vec![
        "session/update",
        "session/prompt",
        "session/cancel",
        "session/request_permission",
        "terminal/create",
        "_fs/read_text_file",
        "FS/read_text_file",
        "fs",
        "filesystem/read",
        " fs/read_text_file",
        "$/cancel_request",
        "authenticate",
        "",
        "session/set_mode",
        "\\u005ffs/x",
    ]);
    known.prop_map(|method| format!("\"{method}\""))
}

/// Frames that are no requests for files, nor such as the proxy has to learn from: in any order of
/// their fields, with any ids, and with fields that no protocol knows.
fn frames() -> impl Strategy<Value = String> {
    let field = |name: &'static str, value: proptest::strategy::BoxedStrategy<String>| {
        (Just(name), blanks(), blanks(), value)
            .prop_map(|(name, a, b, value)| format!("{a}\"{name}\"{b}:{value}"))
    };
    let request = (
        option::of(field("id", values().boxed())),
        field("method", methods().boxed()),
        option::of(field("params", values().boxed())),
        option::of(field("_meta", values().boxed())),
    );
    let request = request.prop_map(|(id, method, params, meta)| {
        [id, Some(method), params, meta]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    });
    let response = (
        field("id", values().boxed()),
        prop_oneof![
            field("result", values().boxed()),
            field("error", values().boxed())
        ],
        option::of(field("result", values().boxed())),
        // What some readers take for other fields concerns no file here.
        option::of(field("ID", values().boxed())),
        option::of(field("params", values().boxed())),
        option::of(field("Params", values().boxed())),
    );
    let response = response.prop_map(|(id, result, more, other_id, params, other_params)| {
        [Some(id), Some(result), more, other_id, params, other_params]
            .into_iter()
            .flatten()
            .collect()
    });
    let version = option::of(Just("\"jsonrpc\":\"2.0\"".to_owned()));
    (
        prop_oneof![request, response],
        version,
        any::<proptest::sample::Index>(),
        blanks(),
        blanks(),
    )
        .prop_map(
            |(mut fields, version, turn, start, end): (Vec<String>, _, _, _, _)| {
                fields.extend(version);
                let turn = turn.index(fields.len());
                fields.rotate_left(turn);
                format!("{start}{{{}}}{end}", fields.join(","))
            },
        )
}

/// Sends lines at once and checks that they come out on the other side as they went in.
fn pass(from: &Lines, to: &Lines, lines: &[String]) -> Result<(), String> {
    from.send(&lines.join("\n"));
    for line in lines {
        let passed = to.stray(TIMEOUT);
        equal("the line", &passed.as_ref(), &Some(line))?;
    }
    Ok(())
}

#[test]
fn any_frame_passes_byte_for_byte_in_both_directions() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    check(
        400,
        &(vec(frames(), 1..8), vec(frames(), 1..8)),
        |(to_editor, to_agent)| {
            pass(&stage.agent, &stage.editor, &to_editor)?;
            pass(&stage.editor, &stage.agent, &to_agent)
        },
    );
}

#[test]
fn many_frames_of_all_sizes_keep_their_order_both_ways_at_once() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let lines = |side: &str| -> Vec<String> {
        let line = |number: usize| {
            let size = [0, 1, 17, 4096, 65_536, 300_000][number % 6] + number % 5;
            format!(
                "{{\"method\":\"_{side}\",\"params\":[{number},\"{}\"]}}",
                "x".repeat(size)
            )
        };
        (0..600).map(line).collect()
    };
    let (agents, editors) = (lines("agent"), lines("editor"));
    std::thread::scope(|scope| {
        scope.spawn(|| agents.iter().for_each(|line| stage.agent.send(line)));
        scope.spawn(|| editors.iter().for_each(|line| stage.editor.send(line)));
        let seen =
            scope.spawn(|| [(); 600].map(|()| stage.agent.stray(TIMEOUT).unwrap_or_default()));
        for line in &agents {
            assert!(
                stage.editor.stray(TIMEOUT).as_ref() == Some(line),
                "{line:.60}"
            );
        }
        assert!(seen.join().unwrap().iter().eq(&editors));
    });
}

/// A line that comes in pieces goes on when it is whole.
#[test]
fn a_line_in_pieces_passes_when_it_is_whole() {
    let world = World::new();
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let line = "{\"method\":\"_pieces\",\"params\":\"é中😀\"}";
    for byte in line.bytes() {
        stage.agent.send_bytes(&[byte]);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(
        stage.editor.stray(std::time::Duration::from_millis(100)),
        None
    );
    stage.agent.send_bytes(b"\n");
    assert_eq!(stage.editor.stray(TIMEOUT).as_deref(), Some(line));
}

#[test]
fn frames_pass_between_requests_for_files_in_their_order() {
    let world = World::new();
    world.put("root/f", "one\n");
    let acp = Acp::start(&world.settings());
    let (editor, agent) = (&acp.stage.editor, &acp.stage.agent);
    let path = world.path("root/f");
    let mut lines = Vec::new();
    for number in 0..50 {
        let update = format!("{{\"method\":\"session/update\",\"params\":{number}}}");
        let read = json!({"id": format!("r{number}"), "method": "fs/read_text_file",
            "params": {"sessionId": "reader", "path": path}});
        lines.extend([update, read.to_string()]);
    }
    agent.send(&lines.join("\n"));
    for update in lines.iter().step_by(2) {
        assert_eq!(editor.stray(TIMEOUT).as_ref(), Some(update));
    }
    let mut answered: Vec<String> = (0..50)
        .map(|_| parse(&agent.next())["id"].as_str().unwrap().to_owned())
        .collect();
    let wanted: Vec<String> = (0..50).map(|number| format!("r{number}")).collect();
    assert_eq!(answered, wanted, "of one file in their order");
    answered.clear();
    assert_eq!(editor.stray(std::time::Duration::from_millis(100)), None);
}

/// Starts the proxy without a word of either side.
fn bare(world: &World, further: &[&str]) -> Stage {
    let meeting = Meeting::new();
    let mut proxy = command();
    proxy.arg("--root").arg(world.root()).args(further);
    proxy.arg("--").args(meeting.agent());
    Stage::of(&mut proxy, &meeting)
}

/// Returns what the agent gets for a line of the editor, between marks that keep blanks.
#[track_caller]
fn marked(stage: &Stage, line: &str) -> String {
    format!("[{}]", received(stage, line))
}

/// Returns what the agent gets for a line of the editor.
#[track_caller]
fn received(stage: &Stage, line: &str) -> String {
    stage.editor.send(line);
    stage.agent.next()
}

#[test]
fn of_initialize_only_the_flags_for_files_are_changed() {
    let world = World::new();
    let full = concat!(
        r#" {"jsonrpc" : "2.0", "id":0,"method":"initialize","params":{"protocolVersion":1 ,"#,
        r#""clientCapabilities":{ "fs":{"writeTextFile" : false,"_meta":{"a":1e5}, "readTextFile":false },"terminal":true},"#,
        r#""clientInfo":{"name":"\u00e9","version":"1"}},"_x":[]} "#,
    );
    insta::assert_snapshot!(marked(&bare(&world, &[]), full), @r#"[ {"jsonrpc" : "2.0", "id":0,"method":"initialize","params":{"protocolVersion":1 ,"clientCapabilities":{ "fs":{"writeTextFile" : true,"_meta":{"a":1e5}, "readTextFile":true },"terminal":true},"clientInfo":{"name":"\u00e9","version":"1"}},"_x":[]} ]"#);
    insta::assert_snapshot!(marked(&bare(&world, &["--read-only"]), full), @r#"[ {"jsonrpc" : "2.0", "id":0,"method":"initialize","params":{"protocolVersion":1 ,"clientCapabilities":{ "fs":{"writeTextFile" : false,"_meta":{"a":1e5}, "readTextFile":true },"terminal":true},"clientInfo":{"name":"\u00e9","version":"1"}},"_x":[]} ]"#);
    insta::assert_snapshot!(marked(&bare(&world, &["--serve", "editor"]), full), @r#"[ {"jsonrpc" : "2.0", "id":0,"method":"initialize","params":{"protocolVersion":1 ,"clientCapabilities":{ "fs":{"writeTextFile" : false,"_meta":{"a":1e5}, "readTextFile":false },"terminal":true},"clientInfo":{"name":"\u00e9","version":"1"}},"_x":[]} ]"#);
    let short = r#"{"id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
    insta::assert_snapshot!(marked(&bare(&world, &[]), short), @r#"[{"id":0,"method":"initialize","params":{"clientCapabilities":{"fs":{"writeTextFile":true,"readTextFile":true}},"protocolVersion":1}}]"#);
    // A version without files of the editor, and what no reader takes for version 1.
    for params in [
        r#"{"protocolVersion":2,"clientCapabilities":{}}"#,
        r#"{"protocolVersion":"1"}"#,
        "[]",
        "{}",
    ] {
        let line = format!(r#"{{"id":0,"method":"initialize","params":{params}}}"#);
        assert_eq!(received(&bare(&world, &[]), &line), line);
    }
}

#[test]
fn a_new_session_is_unchanged_but_for_the_tool_server_that_was_asked_for() {
    let world = World::new();
    let root = world.root().display().to_string();
    let setups = [
        r#"{ "jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"ROOT", "mcpServers": [ ] ,"_meta":{"k" : 1.0}}}"#,
        r#"{"id":1,"method":"session/new","params":{"mcpServers":[{"name":"other","command":"/bin/x","args":[],"env":[]}],"cwd":"ROOT"}}"#,
        r#"{"id":2,"method":"session/load","params":{"sessionId":"s","cwd":"ROOT"}}"#,
        r#"{"id":3,"method":"session/new","params":{"cwd":"/nowhere","mcpServers":[]}}"#,
    ];
    let setups = setups.map(|setup| setup.replace("ROOT", &root));
    let plain = bare(&world, &[]);
    for setup in &setups {
        assert_eq!(&received(&plain, setup), setup);
    }
    let with_server = bare(
        &world,
        &[
            "--mcp",
            "--mcp-server",
            "/opt/tool-server",
            "--deny",
            "*.key",
        ],
    );
    let seen = setups.each_ref().map(|setup| received(&with_server, setup));
    let shown = seen.join("\n").replace(&root, "ROOT");
    insta::assert_snapshot!(shown, @r#"
    { "jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"ROOT", "mcpServers": [{"name":"postern","command":"/opt/tool-server","args":["--root","ROOT","--deny","*.key"],"env":[]} ] ,"_meta":{"k" : 1.0}}}
    {"id":1,"method":"session/new","params":{"mcpServers":[{"name":"postern","command":"/opt/tool-server","args":["--root","ROOT","--deny","*.key"],"env":[]},{"name":"other","command":"/bin/x","args":[],"env":[]}],"cwd":"ROOT"}}
    {"id":2,"method":"session/load","params":{"mcpServers":[{"name":"postern","command":"/opt/tool-server","args":["--root","ROOT","--deny","*.key"],"env":[]}],"sessionId":"s","cwd":"ROOT"}}
    {"id":3,"method":"session/new","params":{"cwd":"/nowhere","mcpServers":[]}}
    "#);
    for (seen, setup) in seen.iter().zip(&setups) {
        let is_one_insertion = (0..=setup.len()).any(|at| {
            let parts = setup.split_at_checked(at);
            parts.is_some_and(|(head, tail)| seen.starts_with(head) && seen.ends_with(tail))
        });
        assert!(is_one_insertion, "{seen}");
    }
}
