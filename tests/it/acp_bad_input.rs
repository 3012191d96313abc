//! Requests of an agent that are wrong, each with its number and its code: nothing is changed, nothing
//! reaches the editor, and the next request is answered.

use std::time::Duration;

use serde_json::{Value, json};
use tests::acp::{SESSION, Stage};
use tests::mcp::parse;
use tests::{CANARY, Tree, World};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";
/// How long nothing may come where nothing is to come.
const QUIET: Duration = Duration::from_millis(150);

/// A root with a file `f`, and the proxy over it.
struct Ground {
    stage: Stage,
    world: World,
    before: Tree,
}

impl Ground {
    fn with(further: &[&str]) -> Self {
        let world = World::new();
        world.put("root/f", "one\ntwo\n").put("out/f", CANARY);
        Self {
            stage: Stage::on(&world, &[&["--serve", "disk"], further].concat()),
            before: world.tree(),
            world,
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.world.root().display())
    }

    fn read(&self) -> Value {
        json!({"sessionId": SESSION, "path": self.path("f")})
    }

    fn write(&self) -> Value {
        json!({"sessionId": SESSION, "path": self.path("f"), "content": "three\n"})
    }

    /// Checks that a request is refused and returns the error.
    #[track_caller]
    fn refused(&self, method: &str, params: &Value, number: i64, code: &str) -> Value {
        let answer = parse(&self.stage.call(method, params));
        is_refusal(&answer, number, code, &params.to_string())
    }

    /// Checks that a line is refused and returns the answer; what is sent has an id of its own.
    #[track_caller]
    fn line_refused(&self, line: &[u8], number: i64, code: &str) -> Value {
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        self.stage.agent.send_bytes(&[line, b"\n"].concat());
        let answer = parse(&self.stage.agent.next());
        is_refusal(&answer, number, code, &shown);
        answer
    }

    #[track_caller]
    fn content(&self, params: &Value) -> String {
        let answer = parse(&self.stage.call(READ, params));
        let content = answer["result"]["content"].as_str();
        content
            .unwrap_or_else(|| panic!("{params}: {answer}"))
            .to_owned()
    }

    /// Checks that nothing was changed, that the editor got nothing, and that all goes on.
    #[track_caller]
    fn is_untouched(&self) {
        assert_eq!(self.content(&self.read()), "one\ntwo\n");
        assert_eq!(self.stage.editor.stray(QUIET), None);
        assert_eq!(self.stage.agent.stray(Duration::ZERO), None);
        assert_eq!(
            self.before.differences(&self.world.tree()),
            Vec::<String>::new()
        );
    }
}

#[track_caller]
fn is_refusal(answer: &Value, number: i64, code: &str, what: &str) -> Value {
    let error = &answer["error"];
    let seen = (error["code"].as_i64(), error["data"]["code"].as_str());
    assert_eq!(seen, (Some(number), Some(code)), "{what}: {answer}");
    assert!(answer.get("result").is_none(), "{answer}");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|words| !words.is_empty())
    );
    assert!(!answer.to_string().contains(CANARY), "{answer}");
    error.clone()
}

fn with(params: &Value, field: &str, value: Value) -> Value {
    let mut params = params.clone();
    params[field] = value;
    params
}

fn without(params: &Value, field: &str) -> Value {
    let mut params = params.clone();
    params.as_object_mut().unwrap().remove(field);
    params
}

#[test]
fn paths_that_are_none_of_this_system_are_refused_as_they_were_sent() {
    let ground = Ground::with(&[]);
    let uri = format!("file://{}", ground.path("f"));
    let nul = ground.path("f\0.txt");
    let paths = [
        "",
        "f",
        "./f",
        "../root/f",
        "~/f",
        &uri,
        "https://host/f",
        "C:\\f",
        "c:/f",
        "\\\\host\\f",
        &nul,
    ];
    for path in paths {
        for params in [ground.read(), ground.write()] {
            let method = if params["content"].is_null() {
                READ
            } else {
                WRITE
            };
            let error = ground.refused(
                method,
                &with(&params, "path", path.into()),
                -32602,
                "invalid_path",
            );
            assert_eq!(error["data"]["path"], path);
        }
    }
    ground.is_untouched();
}

#[test]
fn fields_of_another_type_are_named() {
    let ground = Ground::with(&[]);
    let no_texts = [
        json!(null),
        json!(1),
        json!(["f"]),
        json!({"a": 1}),
        json!(true),
    ];
    let no_counts = [
        json!(-1),
        json!(1.5),
        json!("10"),
        json!(""),
        json!([1]),
        json!({}),
        json!(false),
        json!(4_294_967_296_u64),
        json!(1e300),
        json!(-0.5),
    ];
    let check = |method: &str, params: &Value, field: &str| {
        let error = ground.refused(method, params, -32602, "invalid_argument");
        assert_eq!(error["data"]["field"], field, "{params}");
        assert!(
            error["message"].as_str().unwrap().contains(field),
            "{error}"
        );
    };
    for (method, params) in [(READ, ground.read()), (WRITE, ground.write())] {
        for field in params.as_object().unwrap().keys() {
            check(method, &without(&params, field), field);
            for value in &no_texts {
                check(method, &with(&params, field, value.clone()), field);
            }
        }
    }
    for field in ["line", "limit"] {
        for value in &no_counts {
            check(READ, &with(&ground.read(), field, value.clone()), field);
        }
    }
    ground.is_untouched();
}

#[test]
fn numbers_are_taken_for_what_they_are() {
    let ground = Ground::with(&[]);
    let check = |line: &str, limit: &str, wanted: &str| {
        let path = ground.path("f");
        let params = format!(
            r#"{{"sessionId":"s","path":"{path}","line":{line},"limit":{limit},"_meta":{{"x":1}},"more":[]}}"#
        );
        let frame = format!(r#"{{"jsonrpc":"2.0","id":"n","method":"{READ}","params":{params}}}"#);
        ground.stage.agent.send(&frame);
        let answer = parse(&ground.stage.agent.next());
        assert_eq!(answer["result"]["content"], wanted, "{params}: {answer}");
    };
    check("null", "null", "one\ntwo\n");
    check("0", "1", "one\n");
    check("1", "1.0", "one\n");
    check("2.0", "1e1", "two\n");
    check("2", "4294967295", "two\n");
    check("20e-1", "0", "");
    check("3", "10.0", "");
    check("-0", "1", "one\n");
    let beyond = with(&ground.read(), "line", 4.into());
    let error = ground.refused(READ, &beyond, -32602, "out_of_range");
    assert_eq!(error["data"]["last"], 2);
    ground.is_untouched();
}

#[test]
fn params_that_are_no_object_are_refused() {
    let ground = Ground::with(&[]);
    for method in [READ, WRITE] {
        for params in ["[1]", "[]", "null", "\"f\"", "7"] {
            let frame =
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
            let answer = ground.line_refused(frame.as_bytes(), -32602, "invalid_argument");
            assert_eq!(answer["id"], 7);
        }
        let frame = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}"}}"#);
        ground.line_refused(frame.as_bytes(), -32602, "invalid_argument");
    }
    ground.is_untouched();
}

#[test]
fn unknown_methods_for_files_are_answered_here() {
    let ground = Ground::with(&[]);
    for method in [
        "fs/readTextFile",
        "fs/",
        "fs/list_directory",
        "fs/Read_text_file",
        "fs/read_text_file ",
    ] {
        ground.refused(method, &ground.read(), -32601, "unknown_method");
    }
    ground.is_untouched();
}

#[test]
fn a_session_is_one_that_is_open() {
    let ground = Ground::with(&[]);
    for session in ["", "S", "s ", "other"] {
        for params in [ground.read(), ground.write()] {
            let method = if params["content"].is_null() {
                READ
            } else {
                WRITE
            };
            let params = with(&params, "sessionId", session.into());
            let error = ground.refused(method, &params, -32002, "not_found");
            assert_eq!(error["data"]["sessionId"], session);
        }
    }
    ground.is_untouched();
    ground.stage.close(SESSION);
    ground.refused(READ, &ground.read(), -32002, "not_found");
    ground.refused(WRITE, &ground.write(), -32002, "not_found");
    // It is opened again as any other.
    ground.stage.open(SESSION, &[&ground.path("")]);
    ground.is_untouched();
}

#[test]
fn an_agent_may_ask_while_it_opens_or_loads_a_session() {
    let ground = Ground::with(&[]);
    let setup = json!({"cwd": ground.path(""), "mcpServers": []});
    for (method, session) in [
        ("session/load", "loaded"),
        ("session/resume", "resumed"),
        ("session/new", "new"),
    ] {
        let mut setup = setup.clone();
        if method != "session/new" {
            setup["sessionId"] = session.into();
        }
        let pending = ground.stage.editor.post(method, &setup);
        let id = parse(&ground.stage.agent.next())["id"].clone();
        let read = with(&ground.read(), "sessionId", session.into());
        assert_eq!(ground.content(&read), "one\ntwo\n", "{method}");
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"sessionId": session}});
        ground.stage.agent.send(&answer.to_string());
        assert!(ground.stage.editor.wait(&pending).is_some());
        assert_eq!(ground.content(&read), "one\ntwo\n", "{method}");
    }
    ground.is_untouched();
}

#[test]
fn a_session_that_could_not_be_loaded_is_none() {
    let ground = Ground::with(&[]);
    let setup = json!({"sessionId": "lost", "cwd": ground.path(""), "mcpServers": []});
    let pending = ground.stage.editor.post("session/load", &setup);
    let id = parse(&ground.stage.agent.next())["id"].clone();
    let error = json!({"code": -32002, "message": "no such session"});
    ground
        .stage
        .agent
        .send(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
    assert!(ground.stage.editor.wait(&pending).is_some());
    let read = with(&ground.read(), "sessionId", "lost".into());
    ground.refused(READ, &read, -32002, "not_found");
    ground.is_untouched();
}

#[test]
fn a_session_that_could_not_be_loaded_again_is_as_it_was() {
    let ground = Ground::with(&[]);
    std::fs::create_dir(ground.path("sub")).unwrap();
    let setup = json!({"sessionId": SESSION, "cwd": ground.path("sub"), "mcpServers": []});
    let pending = ground.stage.editor.post("session/load", &setup);
    let id = parse(&ground.stage.agent.next())["id"].clone();
    // While it is being loaded its new directories count.
    ground.refused(READ, &ground.read(), -32602, "outside_sandbox");
    let error = json!({"code": -32603, "message": "not now"});
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
    ground.stage.agent.send(&answer.to_string());
    assert!(ground.stage.editor.wait(&pending).is_some());
    assert_eq!(ground.content(&ground.read()), "one\ntwo\n");
}

#[test]
fn directories_of_a_session_that_make_no_sense_hold_nothing() {
    let ground = Ground::with(&[]);
    let root = ground.path("");
    let setups = [
        json!({"cwd": "relative"}),
        json!({"cwd": 7}),
        json!({}),
        json!({"cwd": root, "additionalDirectories": "x"}),
        json!({"cwd": root, "additionalDirectories": ["relative"]}),
        json!({"cwd": root, "additionalDirectories": [null]}),
        json!({"cwd": ground.world.out()}),
        json!({"cwd": "/nowhere/at/all"}),
    ];
    for (number, setup) in setups.iter().enumerate() {
        let session = format!("odd-{number}");
        ground
            .stage
            .ask("session/new", setup, &json!({"sessionId": session}));
        let read = with(&ground.read(), "sessionId", session.clone().into());
        ground.refused(READ, &read, -32602, "outside_sandbox");
        let write = with(&ground.write(), "sessionId", session.into());
        ground.refused(WRITE, &write, -32602, "outside_sandbox");
    }
    ground.is_untouched();
}

#[test]
fn every_id_comes_back_as_it_was_sent() {
    let ground = Ground::with(&[]);
    let ids = [
        "0",
        "-7",
        "1.5",
        "1.0",
        "9223372036854775807",
        "123456789012345678901234567890",
        "null",
        r#""""#,
        r#""a b""#,
        r#""\u00e9\ud83d\ude00""#,
        "[1, 2]",
        r#"{"a": 1}"#,
        "true",
    ];
    for id in ids {
        let params = ground.read();
        ground.stage.agent.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"{READ}","params":{params},"id": {id} }}"#
        ));
        let answer = ground.stage.agent.next();
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"one\ntwo\n","#);
        assert!(answer.starts_with(&start), "{id}: {answer}");
    }
    ground.is_untouched();
}

#[test]
fn requests_of_one_id_are_all_answered() {
    let ground = Ground::with(&[]);
    let frame = |path: &str| {
        let params = json!({"sessionId": SESSION, "path": ground.path(path)});
        json!({"jsonrpc": "2.0", "id": "twin", "method": READ, "params": params}).to_string()
    };
    let lines = [frame("f"), frame("none"), frame("f")].join("\n");
    ground.stage.agent.send(&lines);
    let mut answers = [(); 3].map(|()| parse(&ground.stage.agent.next()));
    assert!(
        answers.iter().all(|answer| answer["id"] == "twin"),
        "{answers:?}"
    );
    answers.sort_by_key(|answer| answer["error"].is_null());
    assert_eq!(answers[0]["error"]["data"]["code"], "not_found");
    assert_eq!(answers[1]["result"]["content"], "one\ntwo\n");
    assert_eq!(answers[2]["result"]["content"], "one\ntwo\n");
    ground.is_untouched();
}

#[test]
fn a_notification_for_files_does_nothing() {
    let ground = Ground::with(&[]);
    ground.stage.agent.notify(WRITE, &ground.write());
    ground.stage.agent.notify(READ, &ground.read());
    ground.stage.agent.notify("fs/nothing", &json!({}));
    ground.is_untouched();
    let log = ground.stage.editor.stderr();
    assert_eq!(log.matches("notification for files").count(), 3, "{log}");
}

#[test]
fn frames_that_two_readers_read_differently_are_refused() {
    let ground = Ground::with(&[]);
    let (read, write) = (ground.read(), ground.write());
    let frames = [
        format!(r#"{{"id":1,"method":"session/update","method":"{WRITE}","params":{write}}}"#),
        format!(r#"{{"id":1,"method":"{WRITE}","method":"session/update","params":{write}}}"#),
        format!(r#"{{"id":1,"METHOD":"{WRITE}","params":{write}}}"#),
        format!(r#"{{"id":1,"method":"session/update","Method":"{WRITE}","params":{write}}}"#),
        format!(r#"{{"id":1,"method":"{WRITE}","params":{read},"params":{write}}}"#),
        format!(r#"{{"id":1,"method":"{WRITE}","params":{write},"PARAMS":{read}}}"#),
        format!(r#"{{"id":1,"ID":2,"method":"{WRITE}","params":{write}}}"#),
        format!(r#"{{"id":1,"method":["{WRITE}"],"params":{write}}}"#),
        format!(r#"{{"id":1,"m\u0065thod":"{WRITE}","method":"{WRITE}","params":{write}}}"#),
    ];
    for frame in frames {
        ground.line_refused(frame.as_bytes(), -32600, "invalid_request");
    }
    ground.is_untouched();
}

#[test]
fn what_json_cannot_say_is_refused() {
    let ground = Ground::with(&[]);
    let path = ground.path("f");
    let lone = format!(
        r#"{{"id":1,"method":"{WRITE}","params":{{"sessionId":"s","path":"{path}","content":"\ud800"}}}}"#
    );
    ground.line_refused(lone.as_bytes(), -32602, "invalid_argument");
    let lone = format!(
        r#"{{"id":1,"method":"{READ}","params":{{"sessionId":"s","path":"{path}\udc00"}}}}"#
    );
    ground.line_refused(lone.as_bytes(), -32602, "invalid_argument");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!(
        r#"{{"id":1,"method":"{READ}","params":{{"sessionId":"s","path":"{path}","_meta":{deep}}}}}"#
    );
    ground.line_refused(deep.as_bytes(), -32602, "invalid_argument");
    ground.is_untouched();
}

#[test]
fn a_root_that_vanishes_is_no_root_any_more() {
    let ground = Ground::with(&[]);
    std::fs::remove_dir_all(ground.world.root()).unwrap();
    ground.refused(READ, &ground.read(), -32002, "not_found");
    let answer = parse(&ground.stage.call(WRITE, &ground.write()));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    assert!(!ground.world.root().exists());
    // What has the name now is not what the operator allowed.
    ground.world.put("root/f", CANARY);
    ground.refused(READ, &ground.read(), -32002, "not_found");
}

#[test]
fn a_read_only_proxy_withdraws_writes_and_refuses_them() {
    let world = World::new();
    world.put("root/f", "one\ntwo\n");
    let root = world.root().display().to_string();
    let stage = Stage::with(&["--root", &root, "--read-only"]);
    let (hello, _) = stage.greet(&json!({"readTextFile": true, "writeTextFile": true}));
    let files = &parse(&hello)["params"]["clientCapabilities"]["fs"];
    assert_eq!(
        files,
        &json!({"readTextFile": true, "writeTextFile": false})
    );
    drop(stage);
    let ground = Ground::with(&["--read-only"]);
    ground.refused(WRITE, &ground.write(), -32602, "denied_by_policy");
    let new = with(&ground.write(), "path", ground.path("d/new").into());
    ground.refused(WRITE, &new, -32602, "denied_by_policy");
    ground.is_untouched();
}
