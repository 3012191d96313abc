//! The directories of a session, within those that the operator has named.

use serde_json::{Value, json};
use tests::acp::Stage;
use tests::mcp::parse;
use tests::{CANARY, Conditions, Openat2, World};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";

#[test]
fn a_session_has_what_lies_in_its_directories_and_in_a_root() {
    walk(Openat2::Open);
}

#[test]
fn a_session_has_the_same_without_openat2() {
    walk(Openat2::Blocked);
}

/// Two roots, `root` and `more`, one of them also by a link `alias`; `out` is none.
fn plant(world: &World) {
    world
        .put("root/f", "f\n")
        .put("root/sub/f", "sub\n")
        .put("root/sub/deep/f", "deep\n")
        .put("root/side/f", "side\n")
        .put("more/f", "more\n")
        .put("out/f", CANARY);
    world
        .link("alias", "root")
        .link("root/sub/to-side", "../side/f")
        .link("root/sub/to-deep", "deep/f")
        .link("root/sub/to-more", "${BASE}/more/f")
        .link("root/sub/to-out", "${OUT}/f")
        .link("sub-link", "root/sub");
}

fn walk(openat2: Openat2) {
    let world = World::new();
    let conditions = Conditions {
        openat2,
        ..Conditions::default()
    };
    conditions.run(|| {
        plant(&world);
        let path = |name: &str| world.path(name).display().to_string();
        let stage = Stage::with(&[
            "--root",
            &path("root"),
            "--root",
            &path("more"),
            "--serve",
            "disk",
        ]);
        stage.greet(&json!({}));
        let sessions: [(&str, &[&str]); 7] = [
            ("root", &["root"]),
            ("sub", &["root/sub"]),
            ("both", &["root/sub", "more"]),
            ("alias", &["alias/sub"]),
            ("link", &["sub-link"]),
            ("above", &["."]),
            ("beside", &["out", "more", "none"]),
        ];
        for (session, names) in sessions {
            let directories: Vec<String> = names.iter().map(|name| path(name)).collect();
            let directories: Vec<&str> = directories.iter().map(String::as_str).collect();
            stage.open(session, &directories);
        }
        let check = |session: &str, name: &str, wanted: &str| {
            check(&world, &stage, session, name, wanted);
        };
        check("root", "root/f", "f\n");
        check("root", "root/sub/to-side", "side\n");
        check("root", "more/f", "<outside_sandbox>");
        check("root", "root/sub/to-more", "<outside_sandbox>");
        check("root", "out/f", "<outside_sandbox>");
        check("root", "root/sub/../../out/f", "<outside_sandbox>");
        check("sub", "root/sub/f", "sub\n");
        check("sub", "root/sub/deep/../f", "sub\n");
        check("sub", "root/sub/to-deep", "deep\n");
        check("sub", "root/f", "<outside_sandbox>");
        check("sub", "root/side/f", "<outside_sandbox>");
        check("sub", "root/side/none", "<outside_sandbox>");
        check("sub", "root/sub/../f", "<outside_sandbox>");
        // The way between a root and the session is no secret; whether anything else is there, is.
        check("sub", "root/sub/../sub/f", "sub\n");
        check("sub", "root/sub/../side/../sub/f", "<outside_sandbox>");
        check("sub", "root/sub/../nope/../sub/f", "<outside_sandbox>");
        check("sub", "root/sub/to-side", "<outside_sandbox>");
        check("sub", "root/sub/to-out", "<outside_sandbox>");
        check("sub", "root/sub-other", "<outside_sandbox>");
        check("both", "root/sub/to-more", "more\n");
        check("both", "more/f", "more\n");
        check("both", "root/side/f", "<outside_sandbox>");
        check("alias", "alias/sub/f", "sub\n");
        check("alias", "root/sub/f", "sub\n");
        check("alias", "alias/f", "<outside_sandbox>");
        check("link", "sub-link/f", "sub\n");
        check("link", "sub-link/deep/f", "deep\n");
        check("link", "root/sub/f", "sub\n");
        check("link", "sub-link/../f", "<outside_sandbox>");
        check("above", "root/f", "f\n");
        check("above", "more/f", "more\n");
        check("above", "out/f", "<outside_sandbox>");
        check("above", "none", "<outside_sandbox>");
        check("beside", "more/f", "more\n");
        check("beside", "out/f", "<outside_sandbox>");
        check("beside", "none/f", "<outside_sandbox>");
        check("beside", "root/f", "<outside_sandbox>");
    });
}

/// An agent may ask for files before it has said which session it opens; then it is that one or none.
#[test]
fn a_session_that_was_named_before_the_answer_is_the_one_that_is_answered() {
    let world = World::new();
    world.put("root/f", "f\n");
    let root = world.root().display().to_string();
    let answers = [
        (json!({"result": {"sessionId": "early"}}), "f\n"),
        (json!({"result": {"sessionId": "other"}}), "<not_found>"),
        (
            json!({"error": {"code": -32603, "message": "no"}}),
            "<not_found>",
        ),
    ];
    for (answer, wanted) in answers {
        let stage = Stage::with(&["--root", &root]);
        stage.greet(&json!({}));
        let setup = json!({"cwd": root, "mcpServers": []});
        let pending = stage.editor.post("session/new", &setup);
        let asked = parse(&stage.agent.next());
        let read = json!({"sessionId": "early", "path": world.path("root/f")});
        assert_eq!(shown(&stage.call(READ, &read), "content"), "f\n");
        let mut frame = json!({"jsonrpc": "2.0", "id": asked["id"]});
        let fields = answer.as_object().unwrap().clone();
        frame.as_object_mut().unwrap().extend(fields);
        stage.agent.send(&frame.to_string());
        stage.editor.wait(&pending).expect("an answer");
        assert_eq!(
            shown(&stage.call(READ, &read), "content"),
            wanted,
            "{answer}"
        );
    }
}

/// Reads, and writes the same bytes again; what is refused is not disclosed.
#[track_caller]
fn check(world: &World, stage: &Stage, session: &str, name: &str, wanted: &str) {
    let sent = format!("{}/{name}", world.base().display());
    let before = world.tree().timeless();
    let read = json!({"sessionId": session, "path": sent});
    let raw = stage.call(READ, &read);
    assert_eq!(shown(&raw, "content"), wanted, "{session} {name}");
    let mut write = read.clone();
    write["content"] = wanted.into();
    let written = stage.call(WRITE, &write);
    let code = if wanted.starts_with('<') { wanted } else { "" };
    assert_eq!(shown(&written, "none"), code, "{session} {name}");
    for raw in [raw, written] {
        assert_eq!(world.leak_in(&raw, &sent), None);
        assert!(!raw.contains(CANARY), "{raw}");
    }
    assert_eq!(
        before.differences(&world.tree().timeless()),
        Vec::<String>::new(),
        "{session} {name}"
    );
}

/// Returns a field of a result, or the code in angle brackets.
fn shown(raw: &str, field: &str) -> String {
    let answer: Value = parse(raw);
    match answer["error"]["data"]["code"].as_str() {
        Some(code) => format!("<{code}>"),
        None => answer["result"][field]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    }
}
