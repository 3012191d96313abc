use std::fs;

use fs_sandbox::{HistoryLimits, Rights};
use serde_json::json;

use super::*;
use crate::{CallError, Settings, ToolError};

/// A root with a history.
struct World {
    base: tempfile::TempDir,
    toolbox: Toolbox,
}

impl World {
    fn new() -> Self {
        Self::with(Rights::ALL)
    }

    fn with(rights: Rights) -> Self {
        let base = tempfile::tempdir().unwrap();
        for name in ["first", "second"] {
            fs::create_dir(base.path().join(name)).unwrap();
        }
        let builder = Workspace::builder()
            .root("first", &base.path().join("first"), rights)
            .root("second", &base.path().join("second"), rights);
        let state = base.path().join("state");
        let workspace = builder.history(&state, HistoryLimits::default()).build();
        let settings = Settings {
            set: ToolSet::All,
            ..Settings::default()
        };
        let toolbox = Toolbox::new(workspace.unwrap(), settings);
        Self { base, toolbox }
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.base.path().join(name), text).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.base.path().join(name)).unwrap()
    }

    fn full(&self, tool: &str, arguments: &Value) -> Result<ToolOutput, ToolError> {
        let arguments = arguments.as_object().cloned().unwrap();
        match self.toolbox.call(tool, arguments, &Call::default()) {
            Ok(output) => Ok(output),
            Err(CallError::Failed(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: &Value) -> String {
        let output = self.full(tool, arguments).unwrap();
        let (text, further, _) = output.into_parts();
        [vec![text], further].concat().join("\n")
    }

    /// The list with its times taken out.
    #[track_caller]
    fn listed(&self, arguments: &Value) -> String {
        let list = self.call("edit_history", arguments);
        let lines = list.lines().map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            let is_time = |word: &str| word.len() == 20 && word.ends_with('Z');
            let kept = words.into_iter().filter(|word| !is_time(word));
            kept.collect::<Vec<_>>().join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn fails(&self, tool: &str, arguments: &Value, code: &str, says: &str) {
        let error = self.full(tool, arguments).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "edits": [{"old": old, "new": new}]})
}

#[test]
fn each_tool_leaves_an_entry_that_tells_what_it_did() {
    let world = World::new();
    world.put("first/a", "one\n");
    world.call("files_edit", &edit("a", "one", "three"));
    world.call("files_write", &json!({"path": "b", "content": "b"}));
    world.call("append_file", &json!({"path": "b", "content": "c"}));
    world.call(
        "copy_file",
        &json!({"src_path": "a", "dst_path": "second:c"}),
    );
    world.call(
        "move_file",
        &json!({"src_path": "b", "dst_path": "a", "overwrite": true}),
    );
    world.call("delete_file", &json!({"path": "a"}));
    world.call("undo_edit", &json!({"path": "a"}));
    let listed = world.listed(&json!({}));
    let mut lines: Vec<_> = listed.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "#1 copy_file second:c: new, 6 bytes",
            "#1 files_edit a: 4 bytes, now 6 bytes",
            "#2 files_write b: new, 1 byte",
            "#3 append_file b: 1 byte, now 2 bytes",
            "#4 move_file b -> a: 2 bytes, in place of 6 bytes",
            "#5 delete_file a: removed, 2 bytes, undone by #6",
            "#6 undo_edit a: new, 2 bytes, undid #5",
        ]
    );
    assert_eq!(
        world.listed(&json!({"path": "b", "limit": 2})),
        "#4 move_file b -> a: 2 bytes, in place of 6 bytes\n#3 append_file b: 1 byte, now 2 bytes\n\
         [The newest 2 changes; limit=4 shows more.]"
    );
}

#[test]
fn an_undo_answers_one_line_and_shows_its_diff_when_asked() {
    let world = World::new();
    world.put("first/a", "one\ntwo\n");
    world.call("files_edit", &edit("a", "two", "2"));
    let output = world.full("undo_edit", &json!({"path": "a"})).unwrap();
    assert_eq!(output.text(), "Undid #1 of a: it holds 8 bytes again");
    assert_eq!(output.further(), Vec::<String>::new());
    let facts = output.facts();
    assert_eq!(facts["entries"], json!([1]));
    assert_eq!(facts["exists"], true);
    assert_eq!(facts["size"], 8);
    let version = fs_core::Version::of_bytes(b"one\ntwo\n");
    assert_eq!(facts["version"], version.as_str());
    assert_eq!(
        facts["diff"],
        "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n"
    );
    let again = world.call("undo_edit", &json!({"path": "a", "entry": 2, "diff": true}));
    assert_eq!(
        again,
        "Undid #2 of a: it holds 6 bytes again\n```diff\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n```"
    );
    world.call("delete_file", &json!({"path": "a"}));
    world.call("files_write", &json!({"path": "n", "content": "x"}));
    let gone = world.call("undo_edit", &json!({"path": "n"}));
    assert_eq!(gone, "Undid #5 of n: it is gone again");
}

#[test]
fn an_undo_that_cannot_be_says_why() {
    let world = World::new();
    let undo = |path: &str| json!({"path": path});
    world.fails(
        "undo_edit",
        &undo("a"),
        "not_found",
        "no change of this file",
    );
    world.put("first/a", "one\n");
    world.call("files_edit", &edit("a", "one", "two"));
    world.fails(
        "undo_edit",
        &json!({"path": "a", "entry": 9}),
        "not_found",
        "no such change",
    );
    let other = fs_core::Version::of_bytes(b"other");
    let versioned = json!({"path": "a", "if_version": other.as_str()});
    world.fails("undo_edit", &versioned, "conflict", "changed");
    world.put("first/a", "theirs\n");
    world.fails("undo_edit", &undo("a"), "conflict", "somebody has written");
    assert_eq!(world.get("first/a"), "theirs\n");
    world.put("first/a", "two\n");
    world.call("undo_edit", &undo("a"));
    world.fails("undo_edit", &undo("a"), "not_found", "are undone");
    world.fails(
        "undo_edit",
        &json!({"path": "a", "entry": 0}),
        "invalid_argument",
        "entry",
    );
}

#[test]
fn a_session_may_overwrite_what_it_put_back() {
    let world = World::new();
    world.put("first/a", "one\n");
    world.call("files_read", &json!({"path": "a"}));
    world.call("files_edit", &edit("a", "one", "two"));
    world.call("undo_edit", &json!({"path": "a"}));
    world.call("files_write", &json!({"path": "a", "content": "three\n"}));
    assert_eq!(world.get("first/a"), "three\n");
}

#[test]
fn without_the_right_to_read_nothing_is_shown() {
    let world = World::with(Rights::EDIT);
    world.put("first/a", "secret\n");
    world.call("files_write", &json!({"path": "a", "content": "new\n"}));
    let output = world
        .full("undo_edit", &json!({"path": "a", "diff": true}))
        .unwrap();
    assert_eq!(output.facts()["diff"], "");
    assert_eq!(world.get("first/a"), "secret\n");
    world.fails(
        "edit_history",
        &json!({"path": "a"}),
        "denied_by_policy",
        "read",
    );
    assert_eq!(world.call("edit_history", &json!({})), "No changes.");
}
