mod changes;
mod edits;
mod reads;
mod searches;
mod switches;
mod trees;
mod world;

use serde_json::{Value, json};

use crate::{Effect, ToolSet};
use world::World;

#[track_caller]
fn check_set(set: ToolSet, names: &[&str]) {
    let specs: Vec<&str> = set.specs().map(|spec| spec.name).collect();
    assert_eq!(specs, names);
}

#[test]
fn each_set_has_its_tools() {
    let files = ["files_read", "files_write", "files_edit", "files_ls"];
    let twins = [
        "read_file",
        "read_file_range",
        "write_file",
        "append_file",
        "edit_file",
        "list_dir",
    ];
    let own = [
        "tree_dir",
        "stat_file",
        "search_files",
        "copy_file",
        "move_file",
        "make_dir",
        "delete_file",
    ];
    let every = ["undo_edit", "edit_history"];
    check_set(ToolSet::Files, &[&files[..], &every].concat());
    check_set(ToolSet::File, &[&twins[..], &own, &every].concat());
    check_set(ToolSet::Standard, &[&files[..], &own, &every].concat());
    check_set(ToolSet::All, &[&files[..], &twins, &own, &every].concat());
}

#[test]
fn what_only_reads_or_adds_is_told_from_what_destroys() {
    let of = |effect: Effect| {
        let specs = ToolSet::File.specs().filter(|spec| spec.effect == effect);
        specs.map(|spec| spec.name).collect::<Vec<_>>()
    };
    let reads = [
        "read_file",
        "read_file_range",
        "list_dir",
        "tree_dir",
        "stat_file",
        "search_files",
        "edit_history",
    ];
    assert_eq!(of(Effect::Reads), reads);
    assert_eq!(of(Effect::Adds), ["append_file", "make_dir"]);
    assert_eq!(
        of(Effect::Changes),
        ["write_file", "edit_file", "copy_file", "undo_edit"]
    );
    assert_eq!(of(Effect::Deletes), ["move_file", "delete_file"]);
}

/// The seed's defaults, as the schema states them: B's table of parameters.
#[test]
fn the_schema_states_the_seeds_parameters_and_defaults() {
    let check = |tool: &str, param: &str, default: Value| {
        let spec = ToolSet::File
            .specs()
            .find(|spec| spec.name == tool)
            .unwrap();
        let schema = Value::from(spec.input_schema());
        let stated = &schema["properties"][param];
        assert!(stated.is_object(), "{tool} {param}");
        assert_eq!(stated["default"], default, "{tool} {param}");
    };
    for (param, default) in [
        ("start_line", 1),
        ("end_line", 0),
        ("tail", 0),
        ("max_lines", 500),
    ] {
        check("read_file_range", param, json!(default));
    }
    for (param, default) in [
        ("line", json!(1)),
        ("column", json!(1)),
        ("end_line", json!(0)),
        ("end_column", json!(0)),
        ("expected_count", json!(1)),
        ("create_backup", json!(true)),
        ("old_text", Value::Null),
        ("encoding", Value::Null),
    ] {
        check("edit_file", param, default);
    }
    check("tree_dir", "max_depth", json!(2));
    check("tree_dir", "max_entries", json!(200));
    check("tree_dir", "include_hidden", Value::Null);
    for (param, default) in [
        ("mode", json!("text")),
        ("scope", json!("workspace")),
        ("max_results", json!(50)),
        ("context_lines", json!(0)),
        ("include_hidden", Value::Null),
        ("regex", Value::Null),
        ("root", Value::Null),
        ("file_glob", Value::Null),
        ("encoding", Value::Null),
    ] {
        check("search_files", param, default);
    }
    check("make_dir", "parents", json!(true));
    check("make_dir", "exist_ok", json!(true));
    for tool in ["copy_file", "move_file"] {
        check(tool, "overwrite", Value::Null);
    }
}

/// B31, and its reverse: a mark is for readers, the code is the truth.
#[test]
fn errors_are_marked_in_words_only() {
    let world = World::with("f", "ERROR: not an error\n");
    let read = world.call("read_file", &json!({"path": "f"}));
    assert_eq!(read.unwrap(), ["ERROR: not an error\n"]);
    let error = world.failed("read_file", &json!({"path": "no"}));
    assert_eq!(error.code(), "not_found");
    let text = "not_found: file not found: no\nlist the directory to see what is there";
    assert_eq!(error.to_string(), format!("ERROR: {text}"));
    let object = Value::from(error.object());
    assert_eq!(
        object,
        json!({
            "code": "not_found",
            "message": "file not found: no",
            "path": "no",
            "hint": "list the directory to see what is there",
        })
    );
    let error = world.failed("read_file", &json!({"path": "f", "limit": 1}));
    assert!(error.to_string().starts_with("ERROR: invalid_argument: "));
    let error = world.failed("files_read", &json!({"path": "no"}));
    assert_eq!(error.to_string(), text);
}
