//! An editor that serves files itself: its unsaved text is what an agent reads, what an agent writes
//! goes to it, and the bytes on the disk stay as exact as they were.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::acp::{SESSION, Stage, command};
use tests::mcp::parse;
use tests::wire::TIMEOUT;
use tests::{Pending, World};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";
const QUIET: Duration = Duration::from_millis(100);

/// A desk with an editor, the agent that works with it, and the files.
struct Desk {
    stage: Stage,
    world: World,
}

/// What the editor does with a question for a text.
#[derive(Clone, Copy)]
enum Shows<'t> {
    Text(&'t str),
    Refuses(i64),
}

use Shows::{Refuses, Text};

impl Desk {
    fn with(file: &[u8], further: &[&str]) -> Self {
        Self::serving(
            file,
            further,
            &json!({"readTextFile": true, "writeTextFile": true}),
        )
    }

    fn serving(file: &[u8], further: &[&str], files: &Value) -> Self {
        let world = World::new();
        world.put("root/f", file);
        let root = world.root().display().to_string();
        let stage = Stage::with(&[&["--root", &root], further].concat());
        stage.greet(files);
        stage.open(SESSION, &[&root]);
        Self { stage, world }
    }

    fn params(&self, name: &str) -> Value {
        json!({"sessionId": SESSION, "path": self.world.path(&format!("root/{name}"))})
    }

    fn post_write(&self, name: &str, text: &str) -> Pending {
        let mut params = self.params(name);
        params["content"] = text.into();
        self.stage.agent.post(WRITE, &params)
    }

    /// Waits until the editor is asked by this method and returns the question.
    #[track_caller]
    fn asked(&self, method: &str) -> Value {
        let line = self.stage.editor.stray(TIMEOUT);
        let line = line.unwrap_or_else(|| panic!("no {method}; {}", self.stage.editor.stderr()));
        let question = parse(&line);
        assert_eq!(question["method"], method, "{line}");
        question
    }

    fn answer(&self, question: &Value, answer: &Value) {
        let mut frame = json!({"jsonrpc": "2.0", "id": question["id"]});
        frame
            .as_object_mut()
            .unwrap()
            .extend(answer.as_object().unwrap().clone());
        self.stage.editor.send(&frame.to_string());
    }

    /// Answers the next question for a text; returns the question.
    #[track_caller]
    fn show(&self, shows: Shows<'_>) -> Value {
        let question = self.asked(READ);
        let answer = match shows {
            Text(text) => json!({"result": {"content": text}}),
            Refuses(code) => json!({"error": {"code": code, "message": "no"}}),
        };
        self.answer(&question, &answer);
        question
    }

    #[track_caller]
    fn done(&self, pending: &Pending) -> Value {
        parse(&self.stage.agent.wait(pending).expect("an answer"))
    }

    /// Lets the agent read a file that the editor shows so.
    #[track_caller]
    fn read(&self, name: &str, shows: Shows<'_>) -> Value {
        let pending = self.stage.agent.post(READ, &self.params(name));
        self.show(shows);
        self.done(&pending)
    }

    /// Lets the agent write; returns what the editor is to take, and the answer once it has.
    #[track_caller]
    fn write(&self, text: &str, shows: Shows<'_>, save: impl Fn(&str)) -> (String, Value) {
        let pending = self.post_write("f", text);
        self.show(shows);
        let question = self.asked(WRITE);
        let taken = question["params"]["content"].as_str().unwrap().to_owned();
        save(&taken);
        self.answer(&question, &json!({"result": {}}));
        (taken, self.done(&pending))
    }

    /// Lets the agent write what is refused before the editor is asked to take it.
    #[track_caller]
    fn write_refused(&self, text: &str, shows: Shows<'_>, code: &str) {
        let before = self.world.tree();
        let pending = self.post_write("f", text);
        self.show(shows);
        let answer = self.done(&pending);
        assert_eq!(answer["error"]["data"]["code"], code, "{answer}");
        assert_eq!(self.stage.editor.stray(QUIET), None);
        assert_eq!(before.differences(&self.world.tree()), Vec::<String>::new());
    }

    fn save(&self) -> impl Fn(&str) + '_ {
        |text| std::fs::write(self.world.path("root/f"), text).unwrap()
    }
}

#[track_caller]
fn check_read(disk: &[u8], shows: Shows<'_>, content: &str, source: &str) {
    let desk = Desk::with(disk, &[]);
    let answer = desk.read("f", shows);
    assert_eq!(answer["result"]["content"], content, "{answer}");
    assert_eq!(answer["result"]["_meta"]["postern/facts"]["source"], source);
}

#[test]
fn unsaved_text_is_what_is_read_and_the_window_is_cut_here() {
    let desk = Desk::with(b"one\ntwo\n", &[]);
    let mut params = desk.params("f");
    params["line"] = 2.into();
    params["limit"] = 1.into();
    let pending = desk.stage.agent.post(READ, &params);
    let question = desk.show(Text("ONE\nTWO\nTHREE"));
    assert_eq!(
        question["params"],
        desk.params("f"),
        "the whole text is asked for"
    );
    let answer = desk.done(&pending);
    assert_eq!(answer["result"]["content"], "TWO\n");
    let facts = &answer["result"]["_meta"]["postern/facts"];
    assert_eq!(
        (&facts["total_lines"], &facts["source"]),
        (&3.into(), &"buffer".into())
    );
}

#[test]
fn a_text_without_changes_is_the_disks_to_the_byte() {
    check_read(b"one\ntwo\n", Text("one\ntwo\n"), "one\ntwo\n", "disk");
    check_read(b"a\r\nb\r\n", Text("a\nb\n"), "a\r\nb\r\n", "disk");
    check_read(b"a\r\nb\n", Text("a\nb\n"), "a\r\nb\n", "disk");
    check_read(b"a\rb", Text("a\nb"), "a\rb", "disk");
    check_read(b"a\nb", Text("a\nb\n"), "a\nb", "disk");
    check_read(b"a\nb\n", Text("a\nb"), "a\nb\n", "disk");
    check_read(b"\xef\xbb\xbfa\n", Text("\u{feff}a\n"), "a\n", "disk");
    check_read(b"\xef\xbb\xbfa\r\n", Text("a\n"), "a\r\n", "disk");
    check_read(b"\xff\xfea\0\n\0", Text("a\n"), "a\n", "disk");
}

#[test]
fn unsaved_text_has_the_line_breaks_of_its_file() {
    check_read(b"a\r\nb\r\n", Text("a\nB\n"), "a\r\nB\r\n", "buffer");
    check_read(b"a\r\nb\r\n", Text("a\r\nB\r\n"), "a\r\nB\r\n", "buffer");
    check_read(b"a\nb\n", Text("a\nB\n"), "a\nB\n", "buffer");
    check_read(b"\xef\xbb\xbfa\n", Text("\u{feff}A\n"), "A\n", "buffer");
    check_read(b"", Text("new"), "new", "buffer");
}

#[test]
fn an_editor_that_refuses_leaves_the_read_to_the_disk() {
    for code in [-32603, -32002, -32601, -32602, 1] {
        check_read(b"one\n", Refuses(code), "one\n", "disk");
    }
}

#[test]
fn an_editor_that_answers_without_a_text_leaves_the_read_to_the_disk() {
    let desk = Desk::with(b"one\n", &[]);
    for result in [
        json!(null),
        json!({}),
        json!({"content": null}),
        json!(["text"]),
    ] {
        let pending = desk.stage.agent.post(READ, &desk.params("f"));
        let question = desk.asked(READ);
        desk.answer(&question, &json!({ "result": result }));
        assert_eq!(
            desk.done(&pending)["result"]["content"],
            "one\n",
            "{result}"
        );
    }
}

#[test]
fn a_missing_file_is_missing_whatever_an_editor_makes_of_it() {
    let desk = Desk::with(b"one\n", &[]);
    for shows in [Text(""), Text("\u{feff}"), Refuses(-32002)] {
        let answer = desk.read("none", shows);
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
    let answer = desk.read("none", Text("not saved yet\n"));
    assert_eq!(answer["result"]["content"], "not saved yet\n");
}

#[test]
fn the_editor_is_not_asked_for_what_nobody_may_have() {
    let desk = Desk::with(b"\x7fELF\0\0\x01\0", &[]);
    let code = |params: Value| {
        let answer = parse(&desk.stage.call(READ, &params));
        answer["error"]["data"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(code(desk.params("f")), "binary_file");
    assert_eq!(code(desk.params("../out/f")), "outside_sandbox");
    assert_eq!(
        code(json!({"sessionId": SESSION, "path": "f"})),
        "invalid_path"
    );
    assert_eq!(
        code(json!({"sessionId": "other", "path": "/f"})),
        "not_found"
    );
    assert_eq!(desk.stage.editor.stray(QUIET), None);
}

#[test]
fn a_write_goes_to_the_editor_and_is_answered_after_it() {
    let desk = Desk::with(b"one\n", &[]);
    desk.read("f", Text("one\n"));
    let pending = desk.post_write("f", "two\n");
    desk.show(Text("one\n"));
    let question = desk.asked(WRITE);
    let mut wanted = desk.params("f");
    wanted["content"] = "two\n".into();
    assert_eq!(question["params"], wanted);
    assert_eq!(
        desk.stage.agent.wait_for(&pending, QUIET),
        None,
        "no answer yet"
    );
    assert_eq!(desk.world.get("root/f"), b"one\n");
    desk.answer(&question, &json!({"result": null}));
    assert_eq!(desk.done(&pending)["result"], json!({}));
    // It has the text, and does not want it on the disk yet.
    assert_eq!(desk.world.get("root/f"), b"one\n");
    let answer = desk.read("f", Text("two\n"));
    assert_eq!(answer["result"]["content"], "two\n");
}

#[test]
fn what_an_editor_loses_on_the_disk_is_mended() {
    let check = |disk: &[u8], shown: &str, text: &str, taken: &str, after: &[u8]| {
        let desk = Desk::with(disk, &[]);
        let read = desk.read("f", Text(shown));
        assert!(read["result"]["content"].is_string(), "{read}");
        let (seen, answer) = desk.write(text, Text(shown), desk.save());
        assert_eq!(seen, taken);
        assert_eq!(answer["result"], json!({}), "{answer}");
        assert_eq!(
            desk.world.get("root/f").escape_ascii().to_string(),
            after.escape_ascii().to_string()
        );
    };
    check(
        b"a\r\nb\r\n",
        "a\nb\n",
        "x\r\ny\r\n",
        "x\ny\n",
        b"x\r\ny\r\n",
    );
    check(
        b"a\r\nb\r\n",
        "a\r\nb\r\n",
        "x\r\ny\r\n",
        "x\r\ny\r\n",
        b"x\r\ny\r\n",
    );
    check(b"a\nb\n", "a\nb\n", "x\ny", "x\ny", b"x\ny");
    check(b"a\nb\n", "a\nb\n", "x\r\ny\n", "x\r\ny\n", b"x\r\ny\n");
    check(b"\xef\xbb\xbfa\n", "a\n", "b\n", "b\n", b"\xef\xbb\xbfb\n");
    check(
        b"\xef\xbb\xbfa\n",
        "\u{feff}a\n",
        "b\n",
        "\u{feff}b\n",
        b"\xef\xbb\xbfb\n",
    );
    check(
        b"\xef\xbb\xbfa\r\n",
        "a\n",
        "b\r\n",
        "b\n",
        b"\xef\xbb\xbfb\r\n",
    );
}

/// The editor saves LF, and its file gets CR LF again: both are the session's.
#[test]
fn what_the_editor_saved_for_an_agent_is_shown_and_taken_back() {
    let state = TempDir::new().unwrap();
    let state = state.path().display().to_string();
    for (shown, text) in [
        ("one\n", "two\r\n"),
        ("one\r\n", "two\r\n"),
        ("one\n", "two\n"),
    ] {
        let desk = Desk::with(b"one\r\n", &["--state", &state]);
        desk.read("f", Text(shown));
        desk.write(text, Text(shown), desk.save());
        assert_eq!(desk.world.get("root/f"), text.as_bytes());
        let run = |word: &str| {
            let mut command = command();
            command.args([word, "--session", SESSION, "--state", &state]);
            let said = command
                .arg("--root")
                .arg(desk.world.root())
                .output()
                .unwrap();
            assert!(said.status.success(), "{said:?}");
            String::from_utf8(said.stdout).unwrap()
        };
        // A break is shown where it is another one.
        let old = if text.ends_with("\r\n") {
            "one"
        } else {
            "one\u{240d}"
        };
        let diff = run("show");
        assert!(diff.ends_with(&format!("-{old}\n+two\n")), "{diff}");
        run("undo");
        assert_eq!(desk.world.get("root/f"), b"one\r\n");
    }
}

#[test]
fn unsaved_lines_of_others_are_merged() {
    let desk = Desk::with(b"a\nb\nc\nd\ne\n", &[]);
    desk.read("f", Text("a\nb\nc\nd\ne\n"));
    let unsaved = Text("A\nb\nc\nd\ne\n");
    let (taken, answer) = desk.write("a\nb\nc\nd\nE\n", unsaved, desk.save());
    assert_eq!(taken, "A\nb\nc\nd\nE\n");
    assert_eq!(answer["result"]["_meta"]["postern/facts"]["merged"], true);
    assert_eq!(desk.world.get("root/f"), b"A\nb\nc\nd\nE\n");
}

/// The editor shows LF where the disk has CR LF.
#[test]
fn unsaved_lines_are_merged_whatever_breaks_the_editor_shows() {
    let desk = Desk::with(b"a\r\nb\r\nc\r\n", &[]);
    let read = desk.read("f", Text("a\nb\nc\n"));
    assert_eq!(read["result"]["content"], "a\r\nb\r\nc\r\n");
    let (taken, answer) = desk.write("a\r\nb\r\nC\r\n", Text("A\nb\nc\n"), desk.save());
    assert_eq!(taken, "A\nb\nC\n");
    assert_eq!(answer["result"]["_meta"]["postern/facts"]["merged"], true);
    assert_eq!(desk.world.get("root/f"), b"A\r\nb\r\nC\r\n");
}

#[test]
fn unsaved_lines_that_are_the_same_ones_are_kept() {
    let desk = Desk::with(b"a\nb\nc\n", &[]);
    desk.read("f", Text("a\nb\nc\n"));
    desk.write_refused("a\nmine\nc\n", Text("a\ntheirs\nc\n"), "conflict");
    // Once it has read them, the agent knows what it writes over.
    desk.read("f", Text("a\ntheirs\nc\n"));
    let (taken, _) = desk.write("a\nmine\nc\n", Text("a\ntheirs\nc\n"), desk.save());
    assert_eq!(taken, "a\nmine\nc\n");
}

#[test]
fn unsaved_lines_that_an_agent_never_read_are_kept() {
    let desk = Desk::with(b"a\n", &[]);
    desk.write_refused("mine\n", Text("a\nunsaved\n"), "conflict");
    // Without unsaved changes there is nothing to lose.
    let (taken, _) = desk.write("mine\n", Text("a\n"), desk.save());
    assert_eq!(taken, "mine\n");
}

#[test]
fn a_write_that_the_editor_refuses_is_refused() {
    let desk = Desk::with(b"one\n", &[]);
    desk.read("f", Text("one\n"));
    for (refusal, number, code) in [
        (-32603, -32603, "io"),
        (-32800, -32800, "cancelled"),
        (-32000, -32603, "io"),
    ] {
        let pending = desk.post_write("f", "two\n");
        desk.show(Text("one\n"));
        let question = desk.asked(WRITE);
        desk.answer(
            &question,
            &json!({"error": {"code": refusal, "message": "the user said no"}}),
        );
        let error = desk.done(&pending)["error"].clone();
        assert_eq!(
            (error["code"].as_i64(), &error["data"]["code"]),
            (Some(number), &code.into()),
            "{error}"
        );
        let message = error["message"].as_str().unwrap();
        assert_eq!(
            message.contains("the user said no"),
            code == "io",
            "{message}"
        );
        assert_eq!(desk.world.get("root/f"), b"one\n");
    }
    // An editor that only says that it does leaves it to the disk.
    let pending = desk.post_write("f", "two\n");
    desk.show(Text("one\n"));
    let question = desk.asked(WRITE);
    desk.answer(
        &question,
        &json!({"error": {"code": -32601, "message": "no such method"}}),
    );
    assert_eq!(desk.done(&pending)["result"], json!({}));
    assert_eq!(desk.world.get("root/f"), b"two\n");
}

#[test]
fn an_editor_that_is_late_is_not_waited_for() {
    let desk = Desk::with(b"one\n", &["--editor-timeout", "0.3"]);
    let pending = desk.stage.agent.post(READ, &desk.params("f"));
    let question = desk.asked(READ);
    let answer = desk.done(&pending);
    assert_eq!(answer["error"]["data"]["code"], "io", "{answer}");
    assert_eq!(answer["error"]["data"]["retry"], true);
    let note = desk.asked("$/cancel_request");
    assert_eq!(note["params"]["requestId"], question["id"]);
    // What it says later is for nobody.
    desk.answer(&question, &json!({"result": {"content": "late\n"}}));
    assert_eq!(desk.stage.agent.stray(QUIET), None);
    assert_eq!(
        desk.read("f", Text("in time\n"))["result"]["content"],
        "in time\n"
    );
}

#[test]
fn a_cancelled_read_is_cancelled_at_the_editor_too() {
    let desk = Desk::with(b"one\n", &[]);
    let pending = desk.stage.agent.post(READ, &desk.params("f"));
    let question = desk.asked(READ);
    desk.stage
        .agent
        .notify("$/cancel_request", &json!({"requestId": pending.id()}));
    let answer = desk.done(&pending);
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    let note = desk.asked("$/cancel_request");
    assert_eq!(note["params"]["requestId"], question["id"]);
}

#[test]
fn an_editor_is_asked_for_no_more_than_it_offers() {
    let desk = Desk::serving(b"one\n", &[], &json!({"readTextFile": true}));
    let pending = desk.post_write("f", "two\n");
    desk.show(Text("one\n"));
    assert_eq!(desk.done(&pending)["result"], json!({}));
    assert_eq!(desk.world.get("root/f"), b"two\n");
    let desk = Desk::serving(
        b"one\n",
        &[],
        &json!({"readTextFile": false, "writeTextFile": false}),
    );
    let pending = desk.post_write("f", "two\n");
    assert_eq!(desk.done(&pending)["result"], json!({}));
    assert_eq!(desk.stage.editor.stray(QUIET), None);
    let desk = Desk::with(b"one\n", &["--serve", "disk"]);
    let answer = parse(&desk.stage.call(READ, &desk.params("f")));
    assert_eq!(answer["result"]["content"], "one\n");
    assert_eq!(desk.stage.editor.stray(QUIET), None);
}

#[test]
fn a_read_only_proxy_asks_for_texts_and_gives_none() {
    let desk = Desk::with(b"one\n", &["--read-only"]);
    assert_eq!(desk.read("f", Text("ONE\n"))["result"]["content"], "ONE\n");
    let pending = desk.post_write("f", "two\n");
    let answer = desk.done(&pending);
    assert_eq!(
        answer["error"]["data"]["code"], "denied_by_policy",
        "{answer}"
    );
    assert_eq!(desk.stage.editor.stray(QUIET), None);
}

/// An editor that puts paths in order by their text would leave the root.
#[test]
fn a_path_through_a_directory_that_is_missing_is_shown_to_no_editor() {
    for serve in ["auto", "editor"] {
        let desk = Desk::with(b"one\n", &["--serve", serve]);
        let (root, outside) = (desk.world.path("root"), desk.world.outside());
        for path in [
            "none/../../out/secret.txt",
            "none/../f",
            "none/../.git/config",
            "none/..",
        ] {
            let path = format!("{}/{path}", root.display());
            let mut params = json!({"sessionId": SESSION, "path": path});
            let read = parse(&desk.stage.call(READ, &params));
            assert_eq!(read["error"]["data"]["code"], "not_found", "{read}");
            params["content"] = "mine\n".into();
            let written = parse(&desk.stage.call(WRITE, &params));
            assert_eq!(written["error"]["data"]["code"], "not_found", "{written}");
        }
        assert_eq!(desk.stage.editor.stray(QUIET), None);
        assert_eq!(desk.world.outside(), outside);
    }
}

#[test]
fn rules_hold_in_directories_that_are_not_there_yet() {
    for serve in ["auto", "editor", "disk"] {
        let desk = Desk::with(b"one\n", &["--serve", serve, "--deny", "*.key"]);
        let before = desk.world.tree();
        let refused = |method: &str, name: &str| {
            let mut params = desk.params(name);
            params["content"] = "mine\n".into();
            let answer = parse(&desk.stage.call(method, &params));
            assert_eq!(
                answer["error"]["data"]["code"], "denied_by_policy",
                "{answer}"
            );
        };
        refused(WRITE, "sub/.git/hooks/pre-commit");
        refused(WRITE, ".git/config");
        refused(WRITE, "new/dir/a.key");
        refused(READ, "new/dir/a.key");
        assert_eq!(desk.stage.editor.stray(QUIET), None);
        assert_eq!(before.differences(&desk.world.tree()), Vec::<String>::new());
    }
}

/// It is the editor's file in a directory that we make, since not every editor does.
#[test]
fn a_new_file_is_given_to_the_editor_in_directories_that_are_there() {
    let desk = Desk::with(b"one\n", &[]);
    let pending = desk.post_write("new/dir/g", "two\n");
    desk.show(Refuses(-32603));
    let question = desk.asked(WRITE);
    let path = desk.world.path("root/new/dir/g");
    assert_eq!(question["params"]["path"], path.to_str().unwrap());
    std::fs::write(path, "two\n").unwrap();
    desk.answer(&question, &json!({"result": {}}));
    assert_eq!(desk.done(&pending)["result"], json!({}));
}

/// An editor that is asked by this protocol would make text of it, in UTF-8.
#[test]
fn what_is_not_utf_8_or_large_is_written_by_the_disk() {
    let large = "a line of the large file\n".repeat(250_000);
    let refused: [(&[u8], &str); 2] = [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary_file"),
        (b"\xc4\xe3\xba\xc3\n", "encoding_unknown"),
    ];
    for (disk, code) in refused {
        let desk = Desk::with(disk, &[]);
        let answer = desk.done(&desk.post_write("f", "text\n"));
        assert_eq!(answer["error"]["data"]["code"], code, "{answer}");
        assert_eq!(desk.world.get("root/f"), disk);
        assert_eq!(desk.stage.editor.stray(QUIET), None);
    }
    let taken = |disk: &[u8], flags: &[&str], shown: &str, after: &[u8]| {
        let desk = Desk::with(disk, flags);
        let pending = desk.post_write("f", "\u{597d}\n");
        desk.show(Text(shown));
        assert_eq!(desk.done(&pending)["result"], json!({}));
        assert_eq!(desk.world.get("root/f"), after);
        assert_eq!(desk.stage.editor.stray(QUIET), None);
    };
    let gbk = ["--fallback-encoding", "gbk"];
    taken(b"\xc4\xe3\n", &gbk, "\u{4f60}\n", b"\xba\xc3\n");
    taken(b"\xc4\xe3\n", &gbk, "\u{fffd}\u{fffd}\n", b"\xba\xc3\n");
    taken(b"\xff\xfea\0\n\0", &[], "a\n", b"\xff\xfe\x7d\x59\n\0");
    let desk = Desk::with(large.as_bytes(), &[]);
    let answer = desk.done(&desk.post_write("f", "small\n"));
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(desk.world.get("root/f"), b"small\n");
    assert_eq!(desk.stage.editor.stray(QUIET), None);
}

#[test]
fn unsaved_text_in_another_encoding_is_read_and_kept() {
    let desk = Desk::with(b"\xc4\xe3\n", &["--fallback-encoding", "gbk"]);
    let unsaved = Text("\u{4f60}\nunsaved\n");
    assert_eq!(
        desk.read("f", unsaved)["result"]["content"],
        "\u{4f60}\nunsaved\n"
    );
    desk.write_refused("mine\n", unsaved, "io");
}

/// The mark of what could not be read is text like any other where the disk is UTF-8.
#[test]
fn unsaved_text_with_a_replacement_character_is_kept() {
    let desk = Desk::with(b"a\nb\n", &[]);
    let unsaved = Text("a\nb\ntyped \u{fffd}\n");
    desk.write_refused("mine\n", unsaved, "conflict");
    assert_eq!(
        desk.read("f", unsaved)["result"]["content"],
        "a\nb\ntyped \u{fffd}\n"
    );
}

/// Busy, or a text with half a surrogate pair: it may hold anything.
#[test]
fn a_write_is_refused_while_nobody_knows_what_is_unsaved() {
    let desk = Desk::with(b"one\n", &[]);
    desk.write_refused("mine\n", Refuses(-32603), "io");
    for result in [r#"{"content":5}"#, r#"{"content":"\ud83d"}"#, "null", "{}"] {
        let pending = desk.post_write("f", "mine\n");
        let id = desk.asked(READ)["id"].clone();
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        desk.stage.editor.send(&line);
        let answer = desk.done(&pending);
        assert_eq!(answer["error"]["data"]["code"], "io", "{answer}");
        assert_eq!(answer["error"]["data"]["retry"], true);
        assert_eq!(desk.world.get("root/f"), b"one\n");
    }
    // It knows no such document, or has nothing like it.
    for code in [-32601, -32602, -32002] {
        let (taken, answer) = desk.write("mine\n", Refuses(code), |_| ());
        assert_eq!((&*taken, &answer["result"]), ("mine\n", &json!({})));
    }
}

/// The formatter fails after the file was saved; the answer never comes; the agent cancels.
#[test]
fn what_an_editor_saved_without_saying_so_can_be_taken_back() {
    let state = TempDir::new().unwrap();
    let state = state.path().display().to_string();
    for (way, code) in [("error", "io"), ("silence", "io"), ("cancel", "cancelled")] {
        let desk = Desk::with(b"one\n", &["--state", &state, "--editor-timeout", "0.1"]);
        let pending = desk.post_write("f", "two\n");
        desk.show(Text("one\n"));
        let question = desk.asked(WRITE);
        desk.save()("two\n");
        match way {
            "error" => {
                let error = json!({"error": {"code": -32603, "message": "formatter failed"}});
                desk.answer(&question, &error);
            }
            "cancel" => {
                let id = json!({"requestId": pending.id()});
                desk.stage.agent.notify("$/cancel_request", &id);
            }
            _ => {}
        }
        let error = desk.done(&pending)["error"].clone();
        assert_eq!(error["data"]["code"], code, "{way}: {error}");
        assert_eq!(error["data"]["changed"], true, "{way}: {error}");
        if way != "error" {
            desk.asked("$/cancel_request");
        }
        // A second write that works hides nothing of the first.
        desk.read("f", Text("two\n"));
        desk.write("three\n", Text("two\n"), desk.save());
        let mut undo = command();
        undo.args(["undo", "--session", SESSION, "--state", &state, "--root"]);
        let said = undo.arg(desk.world.root()).output().unwrap();
        assert!(said.status.success(), "{way}: {said:?}");
        assert_eq!(desk.world.get("root/f"), b"one\n", "{way}");
    }
}

/// Who is called off may have done it already: then that is what is answered.
#[test]
fn a_cancelled_write_that_the_editor_has_made_is_a_success() {
    let desk = Desk::with(b"one\n", &[]);
    let pending = desk.post_write("f", "two\n");
    desk.show(Text("one\n"));
    let question = desk.asked(WRITE);
    let id = json!({"requestId": pending.id()});
    desk.stage.agent.notify("$/cancel_request", &id);
    assert_eq!(
        desk.asked("$/cancel_request")["params"]["requestId"],
        question["id"]
    );
    desk.save()("two\n");
    desk.answer(&question, &json!({"result": {}}));
    assert_eq!(desk.done(&pending)["result"], json!({}));
}

/// An editor may ask a person about each write.
#[test]
fn requests_that_wait_for_the_editor_hold_up_no_others() {
    let desk = Desk::serving(b"one\n", &[], &json!({"writeTextFile": true}));
    let waiting: Vec<_> = (0..40)
        .map(|number| desk.post_write(&format!("g{number}"), "text\n"))
        .collect();
    let questions: Vec<_> = waiting.iter().map(|_| desk.asked(WRITE)).collect();
    let answer = parse(&desk.stage.call(READ, &desk.params("f")));
    assert_eq!(answer["result"]["content"], "one\n");
    let answer = parse(&desk.stage.call("fs/nonsense", &json!({})));
    assert_eq!(answer["error"]["code"], -32601);
    for question in &questions {
        desk.answer(question, &json!({"result": {}}));
    }
    for pending in &waiting {
        assert_eq!(desk.done(pending)["result"], json!({}));
    }
}

/// What an agent wrote before it asked for a file has come to the editor before it is asked.
#[test]
fn the_editor_is_asked_after_what_the_agent_wrote_before() {
    let desk = Desk::with(b"one\n", &[]);
    for number in 0..200 {
        let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": number});
        let request =
            json!({"jsonrpc": "2.0", "id": number, "method": READ, "params": desk.params("f")});
        desk.stage.agent.send(&format!("{update}\n{request}"));
        assert_eq!(desk.asked("session/update")["params"], number);
        desk.show(Text("one\n"));
    }
}

#[test]
fn the_editor_alone_serves_what_it_offers() {
    let files = json!({"readTextFile": true, "writeTextFile": false});
    let desk = Desk::serving(b"one\n", &["--serve", "editor"], &files);
    assert_eq!(
        desk.read("f", Text("shown\n"))["result"]["content"],
        "shown\n"
    );
    let answer = desk.done(&desk.post_write("f", "two\n"));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    assert_eq!(desk.world.get("root/f"), b"one\n");
    assert_eq!(desk.stage.editor.stray(QUIET), None);
}
