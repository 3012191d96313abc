use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use fs_core::Version;
use fs_sandbox::{Rights, Workspace};
use serde_json::{Value, json};

use crate::toolbox::Stale;
use crate::{Call, CallError, Settings, ToolError, ToolSet, Toolbox};

/// One session in a root `box`.
struct Session {
    base: tempfile::TempDir,
    toolbox: Toolbox,
}

impl Session {
    fn new() -> Self {
        Self::with(Rights::ALL, Stale::Refuse)
    }

    fn with(rights: Rights, stale: Stale) -> Self {
        let base = tempfile::tempdir().unwrap();
        let workspace = Workspace::builder().root("workspace", base.path(), rights);
        let settings = Settings {
            set: ToolSet::All,
            stale,
            ..Settings::default()
        };
        let toolbox = Toolbox::new(workspace.build().unwrap(), settings);
        Self { base, toolbox }
    }

    /// Somebody else writes.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.base.path().join(name), bytes).unwrap();
    }

    fn bytes(&self, name: &str) -> String {
        fs::read_to_string(self.base.path().join(name)).unwrap()
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        let Value::Object(arguments) = arguments else {
            panic!("{arguments}");
        };
        match self.toolbox.call(tool, arguments, &Call::default()) {
            Ok(output) => Ok(output.text().to_owned()),
            Err(CallError::Failed(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    fn read(&self, path: &str) {
        self.call("files_read", json!({"path": path})).unwrap();
    }

    fn write(&self, text: &str) -> Result<String, ToolError> {
        self.call("write_file", json!({"path": "f", "content": text}))
    }

    /// Asserts that a call is refused with this message, and changes nothing of `f`.
    #[track_caller]
    fn check_refused(&self, tool: &str, arguments: Value, message: &str) -> ToolError {
        let before = self.bytes("f");
        let error = self.call(tool, arguments).unwrap_err();
        assert_eq!((error.code(), error.message()), ("conflict", message));
        assert_eq!(self.bytes("f"), before);
        error
    }
}

const CHANGED: &str = "the file has changed since it was read: f\n\
                       The change since it was shown:\n\
                       --- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n";

#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    for (tool, more) in [
        ("write_file", json!({"path": "f", "content": "new"})),
        ("files_write", json!({"path": "f", "content": "new"})),
        (
            "copy_file",
            json!({"src_path": "other", "dst_path": "f", "overwrite": true}),
        ),
        (
            "move_file",
            json!({"src_path": "other", "dst_path": "f", "overwrite": true}),
        ),
    ] {
        let session = Session::new();
        session.put("f", "a\nb\n");
        session.put("other", "new");
        session.read("f");
        session.put("f", "a\nB\n");
        let error = session.check_refused(tool, more.clone(), CHANGED);
        let version = Version::of_bytes(b"a\nB\n");
        assert_eq!(error.field("version"), Some(&json!(version.as_str())));
        assert_eq!(
            error.hint(),
            Some("nothing was changed; take over what is new, or repeat the call as it is")
        );
        // The change was shown, so the same call is a decision.
        session.call(tool, more).unwrap();
        assert_eq!(session.bytes("f"), "new");
    }
}

#[test]
fn every_way_of_reading_counts() {
    for (tool, arguments) in [
        ("files_read", json!({"path": "workspace:f"})),
        ("read_file", json!({"path": "./f"})),
        ("read_file_range", json!({"path": "link"})),
    ] {
        let session = Session::new();
        session.put("f", "a\nb\n");
        symlink("f", session.base.path().join("link")).unwrap();
        session.call(tool, arguments).unwrap();
        session.put("f", "a\nB\n");
        let write = json!({"path": "f", "content": "new"});
        session.check_refused("write_file", write, CHANGED);
    }
}

#[test]
fn what_was_never_read_may_be_overwritten() {
    let session = Session::new();
    session.put("f", "a");
    session.write("new").unwrap();
    assert_eq!(session.bytes("f"), "new");
}

#[test]
fn what_is_gone_may_be_written_again() {
    let session = Session::new();
    session.put("f", "a");
    session.read("f");
    fs::remove_file(session.base.path().join("f")).unwrap();
    session.write("new").unwrap();
    assert_eq!(session.bytes("f"), "new");
}

#[test]
fn a_touched_file_is_the_same_file() {
    let session = Session::new();
    session.put("f", "a");
    session.read("f");
    session.put("f", "a");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(session.base.path().join("f"), mode).unwrap();
    session.write("new").unwrap();
}

#[test]
fn the_sessions_own_changes_are_known_to_it() {
    let session = Session::new();
    session.write("a\n").unwrap();
    session.write("a\nb\n").unwrap();
    session
        .call("append_file", json!({"path": "f", "content": "c\n"}))
        .unwrap();
    let edits = json!([{"old": "c", "new": "C"}]);
    session
        .call("files_edit", json!({"path": "f", "edits": edits}))
        .unwrap();
    let edit = json!({"path": "f", "mode": "replace_line", "line": 3, "text": "d"});
    session.call("edit_file", edit).unwrap();
    let insert = json!({"path": "f", "mode": "insert", "line": 1, "content": "0"});
    session.call("files_write", insert).unwrap();
    session.write("all\n").unwrap();
    assert_eq!(session.bytes("f"), "all\n");
    session.put("f", "foreign\n");
    let message = "the file has changed since it was read: f\n\
                   The change since it was shown:\n\
                   --- f\n+++ f\n@@ -1 +1 @@\n-all\n+foreign\n";
    let write = json!({"path": "f", "content": "new"});
    session.check_refused("write_file", write, message);
}

#[test]
fn edits_and_appends_are_not_refused_but_make_no_change_known() {
    let session = Session::new();
    session.put("f", "a\nb\n");
    session.read("f");
    session.put("f", "a\nB\n");
    session
        .call("append_file", json!({"path": "f", "content": "c\n"}))
        .unwrap();
    let edits = json!([{"old": "c", "new": "C"}]);
    session
        .call("files_edit", json!({"path": "f", "edits": edits}))
        .unwrap();
    let message = "the file has changed since it was read: f\n\
                   The change since it was shown:\n\
                   --- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n";
    let write = json!({"path": "f", "content": "new"});
    session.check_refused("write_file", write, message);
}

#[test]
fn lines_are_counted_in_what_was_shown() {
    let changes = [
        (
            "edit_file",
            json!({"path": "f", "mode": "replace_line", "line": 2, "text": "x"}),
        ),
        (
            "edit_file",
            json!({"path": "f", "mode": "insert", "line": 2, "text": "x\n"}),
        ),
        (
            "edit_file",
            json!({"path": "f", "mode": "replace_range", "line": 2, "end_line": 2, "end_column": 2, "text": "x"}),
        ),
        (
            "files_write",
            json!({"path": "f", "mode": "insert", "line": 2, "content": "x\n"}),
        ),
    ];
    for (tool, change) in changes {
        let session = Session::new();
        session.put("f", "a\nb\n");
        session.read("f");
        session.put("f", "new\na\nb\n");
        let message = "the file has changed since it was read: f\n\
                       The change since it was shown:\n\
                       --- f\n+++ f\n@@ -1,2 +1,3 @@\n+new\n a\n b\n";
        session.check_refused(tool, change.clone(), message);
        assert_eq!(session.bytes("f"), "new\na\nb\n");
        session.call(tool, change.clone()).unwrap();
        // Its own change is no news to the session.
        let own = json!({"path": "f", "mode": "replace_line", "line": 1, "text": "y"});
        session.call("edit_file", own).unwrap();
    }
}

#[test]
fn a_diff_says_when_the_sessions_own_edits_are_in_it() {
    let session = Session::new();
    session.put("f", "a\nb\n");
    session.read("f");
    let edits = json!([{"old": "a", "new": "A"}]);
    session
        .call("files_edit", json!({"path": "f", "edits": edits}))
        .unwrap();
    session.put("f", "A\nB\n");
    let message = "the file has changed since it was read: f\n\
                   The change since it was shown (your own edits since then are in it):\n\
                   --- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n-b\n+A\n+B\n";
    let write = json!({"path": "f", "content": "new"});
    session.check_refused("write_file", write, message);
}

#[test]
fn of_a_window_the_lines_that_were_shown_are_compared() {
    let text = |changed: usize| -> String {
        let line = |n: usize| {
            if n == changed {
                "X".to_owned()
            } else {
                n.to_string()
            }
        };
        (1..=9).map(|n| line(n) + "\n").collect()
    };
    let write = json!({"path": "f", "content": "new"});
    for (changed, says) in [
        (8, "\nLines 2-5, which were shown, are the same."),
        (
            3,
            "\nThe change of lines 2-5 since they were shown:\n--- f\n+++ f\n@@ -2,4 +2,4 @@\n 2\n-3\n+X\n 4\n 5\n",
        ),
    ] {
        let session = Session::new();
        session.put("f", text(0));
        for offset in [2, 4] {
            let window = json!({"path": "f", "offset": offset, "limit": 2});
            session.call("files_read", window).unwrap();
        }
        session.put("f", text(changed));
        let message = format!("the file has changed since it was read: f{says}");
        session.check_refused("write_file", write.clone(), &message);
    }
}

#[test]
fn a_diff_is_short() {
    let session = Session::new();
    let lines = |word: &str| -> String { [word, "\n"].concat().repeat(5_000) };
    session.put("f", lines("one"));
    session.read("f");
    session.put("f", lines("two"));
    let error = session.write("new").unwrap_err();
    assert!(error.message().len() < 5_000, "{}", error.message());
    let says = "Lines 1-2000, which were shown, were rewritten; there it begins now:\ntwo\n";
    assert!(error.message().contains(says), "{}", error.message());
}

#[test]
fn a_change_that_cannot_be_shown_is_told() {
    let shown = |before: &[u8], after: &[u8]| {
        let session = Session::new();
        session.put("f", before);
        session.read("f");
        session.put("f", after);
        let error = session.write("new").unwrap_err();
        assert_eq!(error.code(), "conflict");
        let again = session.write("new").map_err(|error| error.code());
        let expected = if after.contains(&0) {
            Some("binary_file")
        } else {
            None
        };
        assert_eq!(again.err(), expected);
        let (_, said) = error.message().split_once('\n').unwrap();
        said.to_owned()
    };
    assert_eq!(
        shown(b"a\n", b"a\r\n"),
        "Only its line breaks, its encoding or its byte order mark."
    );
    assert_eq!(
        shown(b"a\n", b"a\n\0\x01"),
        "It is over 4 MiB, or no text, so the change is not shown."
    );
    assert_eq!(
        shown(b"a\n", &vec![b'a'; 5 << 20]),
        "It is over 4 MiB, or no text, so the change is not shown."
    );
    let long = "x".repeat(70_000);
    assert_eq!(
        shown(long.as_bytes(), b"a\n"),
        "What it held is not remembered, so the change is not shown."
    );
}

#[test]
fn without_the_right_to_read_nothing_is_shown() {
    let session = Session::with(Rights::EDIT, Stale::Refuse);
    session.write("a\n").unwrap();
    session.put("f", "secret\n");
    let error = session.write("new").unwrap_err();
    assert_eq!(error.code(), "conflict");
    assert_eq!(error.message(), "the file has changed since it was read: f");
    assert_eq!(error.field("version"), None);
    session.write("new").unwrap();
    assert_eq!(session.bytes("f"), "new");
}

#[test]
fn a_copy_and_a_moved_file_are_known_by_their_source() {
    for (tool, left) in [("copy_file", true), ("move_file", false)] {
        let session = Session::new();
        session.write("a\nb\n").unwrap();
        let arguments = json!({"src_path": "f", "dst_path": "g"});
        session.call(tool, arguments).unwrap();
        session.put("g", "a\nB\n");
        let write = json!({"path": "g", "content": "new"});
        let error = session.call("write_file", write).unwrap_err();
        assert_eq!(error.code(), "conflict");
        assert!(error.message().ends_with("-b\n+B\n"), "{}", error.message());
        session.put("f", "foreign");
        assert_eq!(session.write("new").is_err(), left);
    }
}

#[test]
fn a_deleted_file_is_forgotten() {
    let session = Session::new();
    session.write("a").unwrap();
    session.call("delete_file", json!({"path": "f"})).unwrap();
    session.put("f", "b");
    session.write("new").unwrap();
}

#[test]
fn a_version_that_is_named_decides_alone() {
    let session = Session::new();
    session.put("f", "a\nb\n");
    session.read("f");
    session.put("f", "a\nB\n");
    let version = |text: &[u8]| Version::of_bytes(text).to_string();
    let write = |text: &[u8]| json!({"path": "f", "content": "new", "if_version": version(text)});
    let error = session.check_refused("write_file", write(b"a\nb\n"), CHANGED);
    let current = version(b"a\nB\n");
    let hint = format!(
        "nothing was changed; take over what is new, or repeat the call with if_version={current}"
    );
    assert_eq!(error.hint(), Some(hint.as_str()));
    session.call("write_file", write(b"a\nB\n")).unwrap();
    assert_eq!(session.bytes("f"), "new");
}

#[test]
fn every_tool_that_changes_a_file_takes_a_version() {
    let stale = Version::of_bytes(b"other").to_string();
    let edits = json!([{"old": "a", "new": "b"}]);
    for (tool, mut arguments) in [
        ("files_write", json!({"path": "f", "content": "b"})),
        ("files_edit", json!({"path": "f", "edits": edits})),
        ("write_file", json!({"path": "f", "content": "b"})),
        ("append_file", json!({"path": "f", "content": "b"})),
        (
            "edit_file",
            json!({"path": "f", "mode": "replace_line", "line": 1, "text": "b"}),
        ),
        ("copy_file", json!({"src_path": "f", "dst_path": "g"})),
        ("move_file", json!({"src_path": "f", "dst_path": "g"})),
        ("delete_file", json!({"path": "f"})),
    ] {
        let session = Session::new();
        session.put("f", "a\n");
        arguments["if_version"] = json!(stale);
        let message = "the file has changed since it was read: f";
        let error = session.check_refused(tool, arguments.clone(), message);
        assert!(error.hint().is_some(), "{tool}");
        arguments["if_version"] = json!(Version::of_bytes(b"a\n").as_str());
        session.call(tool, arguments).unwrap();
    }
}

#[test]
fn the_settings_switch_it_off() {
    let session = Session::with(Rights::ALL, Stale::Allow);
    session.put("f", "a");
    session.read("f");
    session.put("f", "b");
    session.write("new").unwrap();
    assert_eq!(session.bytes("f"), "new");
}

#[test]
fn calls_that_run_side_by_side_do_not_stand_in_each_others_way() {
    let session = Session::new();
    let lines: String = (0..8)
        .map(|n| format!("line {n}\n"))
        .collect::<Vec<_>>()
        .concat();
    session.write(&lines).unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let session = &session;
            scope.spawn(move || {
                for turn in 0..8 {
                    let of = |turn: i32| {
                        if turn == 0 {
                            format!("line {n}\n")
                        } else {
                            format!("line {n} {turn}\n")
                        }
                    };
                    let edits = json!([{"old": of(turn), "new": of(turn + 1)}]);
                    let edit = json!({"path": "f", "edits": edits});
                    session.call("files_edit", edit).unwrap();
                }
            });
        }
    });
    session.write("all\n").unwrap();
    assert_eq!(session.bytes("f"), "all\n");
}
