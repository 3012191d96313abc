use std::path::Path;

use fs_sandbox::Rights;
use serde_json::json;

use super::*;

fn toolbox(root: &Path, settings: Settings) -> Toolbox {
    let workspace = Workspace::builder().root("workspace", root, Rights::ALL);
    Toolbox::new(workspace.build().unwrap(), settings)
}

#[track_caller]
fn check_call(settings: Settings, tool: &str, expected: &str) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "x\n").unwrap();
    let arguments = json!({"path": "a", "content": "y\n"});
    let arguments = arguments.as_object().cloned().unwrap();
    let answer = toolbox(dir.path(), settings).call(tool, arguments, &Call::default());
    let shown = match answer {
        Ok(output) => output.text().to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected);
    assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"x\n");
}

#[test]
fn a_tool_that_is_taken_away_is_denied_and_not_listed() {
    let read_only = Settings {
        read_only: true,
        ..Settings::default()
    };
    let names: Vec<&str> = read_only.specs().map(|spec| spec.name).collect();
    let readers = [
        "files_read",
        "files_ls",
        "tree_dir",
        "stat_file",
        "search_files",
        "edit_history",
    ];
    assert_eq!(names, readers);
    check_call(
        read_only,
        "files_write",
        "denied_by_policy: denied by policy: files_write changes files, and this server is \
         read-only",
    );
    let no_delete = Settings {
        no_delete: true,
        set: ToolSet::All,
        ..Settings::default()
    };
    let offered: Vec<&str> = no_delete.specs().map(|spec| spec.name).collect();
    let all = ToolSet::All.specs().map(|spec| spec.name);
    let gone: Vec<&str> = all.filter(|name| !offered.contains(name)).collect();
    assert_eq!(gone, ["move_file", "delete_file"]);
    check_call(
        no_delete,
        "move_file",
        "ERROR: denied_by_policy: denied by policy: move_file deletes, which this server does not",
    );
    let disabled = Settings {
        disabled: HashSet::from(["files_write".to_owned()]),
        ..Settings::default()
    };
    check_call(
        disabled,
        "files_write",
        "denied_by_policy: denied by policy: files_write is disabled on this server",
    );
}

#[test]
fn an_unknown_tool_is_told_which_there_are() {
    let tools = "files_read, files_write, files_edit, files_ls, tree_dir, stat_file, \
                 search_files, copy_file, move_file, make_dir, delete_file, undo_edit, \
                 edit_history";
    let expected = format!("unknown tool; there are {tools}");
    check_call(Settings::default(), "files_raed", &expected);
}

#[test]
fn every_fact_of_an_answer_is_in_its_output_schema() {
    let dir = tempfile::tempdir().unwrap();
    let toolbox = toolbox(dir.path(), Settings::default());
    let call = |tool: &str, arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap();
        let output = toolbox.call(tool, arguments, &Call::default()).unwrap();
        let spec = toolbox.specs().find(|spec| spec.name == tool).unwrap();
        let schema = spec.output_schema();
        for (name, value) in output.facts() {
            let kind = match value {
                Value::Bool(_) => "boolean",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::Null => "null",
            };
            assert_eq!(schema["properties"][name]["type"], kind, "{tool} {name}");
        }
    };
    call("files_write", json!({"path": "a", "content": "x\ny\n"}));
    call("files_read", json!({"path": "a", "limit": 1}));
    call(
        "files_edit",
        json!({"path": "a", "edits": [{"old": "x", "new": "z"}], "create_backup": true}),
    );
    call("files_ls", json!({"limit": 1}));
}

#[test]
fn a_call_that_was_stopped_before_it_began_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "x\n").unwrap();
    let settings = Settings {
        set: ToolSet::All,
        ..Settings::default()
    };
    let toolbox = toolbox(dir.path(), settings);
    let call = Call::default();
    call.cancel.cancel();
    for (tool, arguments) in [
        ("move_file", json!({"src_path": "a", "dst_path": "b"})),
        ("copy_file", json!({"src_path": "a", "dst_path": "b"})),
        ("delete_file", json!({"path": "a"})),
        ("make_dir", json!({"path": "b"})),
        ("files_write", json!({"path": "b", "content": ""})),
        ("append_file", json!({"path": "a", "content": "y"})),
    ] {
        let arguments = arguments.as_object().cloned().unwrap();
        match toolbox.call(tool, arguments, &call) {
            Err(CallError::Failed(error)) => assert_eq!(error.code(), "cancelled", "{tool}"),
            other => panic!("{tool}: {other:?}"),
        }
    }
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"x\n");
}
