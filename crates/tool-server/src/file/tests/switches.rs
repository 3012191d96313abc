//! What each right outside the roots opens, alone and together: B32.

use std::fs;

use fs_sandbox::Rights;
use serde_json::{Value, json};

use super::world::{World, settings};

/// What a call on the outside needs: the rights, the tool, and its arguments by the outside's path.
fn calls(out: &str) -> Vec<(Rights, &'static str, Value)> {
    let at = |name: &str| format!("{out}/{name}");
    let (read, edit, delete) = (Rights::READ, Rights::EDIT, Rights::DELETE);
    vec![
        (read, "read_file", json!({"path": at("f")})),
        (read, "read_file_range", json!({"path": at("f")})),
        (read, "files_read", json!({"path": at("f")})),
        (read, "list_dir", json!({"path": out})),
        (read, "files_ls", json!({"path": out})),
        (read, "tree_dir", json!({"path": out})),
        (read, "stat_file", json!({"path": at("f")})),
        (read, "search_files", json!({"root": out, "query": "x"})),
        (
            edit,
            "write_file",
            json!({"path": at("new"), "content": "x"}),
        ),
        (
            edit,
            "append_file",
            json!({"path": at("f"), "content": "x"}),
        ),
        (
            edit,
            "files_write",
            json!({"path": at("f"), "content": "x"}),
        ),
        (
            edit,
            "edit_file",
            json!({"path": at("f"), "mode": "insert", "text": "x"}),
        ),
        (
            edit,
            "files_edit",
            json!({"path": at("f"), "edits": [{"old": "OUTSIDE", "new": "x"}]}),
        ),
        (edit, "make_dir", json!({"path": at("dir")})),
        (
            edit,
            "copy_file",
            json!({"src_path": "in", "dst_path": at("new")}),
        ),
        (
            edit,
            "move_file",
            json!({"src_path": "in", "dst_path": at("new")}),
        ),
        (
            read,
            "copy_file",
            json!({"src_path": at("f"), "dst_path": "new"}),
        ),
        (
            edit | delete,
            "move_file",
            json!({"src_path": at("f"), "dst_path": "new"}),
        ),
        (
            read | edit,
            "copy_file",
            json!({"src_path": at("f"), "dst_path": at("new")}),
        ),
        (
            edit | delete,
            "move_file",
            json!({"src_path": at("f"), "dst_path": at("new")}),
        ),
        (delete, "delete_file", json!({"path": at("f")})),
    ]
}

fn world(outside: Rights) -> World {
    let world = World::built(settings(), |builder, _| builder.outside(outside));
    world.write("in", "INSIDE");
    fs::write(world.out("f"), "OUTSIDE").unwrap();
    world
}

#[test]
fn every_call_outside_needs_its_rights_and_no_others() {
    let (read, edit, delete) = (Rights::READ, Rights::EDIT, Rights::DELETE);
    for outside in [
        Rights::NONE,
        read,
        edit,
        delete,
        read | edit,
        read | delete,
        edit | delete,
        Rights::ALL,
    ] {
        for index in 0..calls("").len() {
            let world = world(outside);
            let out = world
                .out("")
                .to_str()
                .unwrap()
                .trim_end_matches('/')
                .to_owned();
            let (needed, tool, arguments) = calls(&out).swap_remove(index);
            let answer = world.call(tool, &arguments);
            let code = answer.as_ref().err().map(crate::ToolError::code);
            let expected = if outside == Rights::NONE {
                Some("outside_sandbox")
            } else if outside.contains(needed) {
                None
            } else {
                Some("denied_by_policy")
            };
            assert_eq!(code, expected, "{outside:?} {tool} {arguments}");
            if expected.is_some() {
                assert_eq!(fs::read(world.out("f")).unwrap(), b"OUTSIDE");
                assert_eq!(fs::read_dir(world.out("")).unwrap().count(), 1);
                assert_eq!(world.names(""), ["in"]);
            }
        }
    }
}

#[test]
fn what_is_found_outside_is_named_by_its_whole_path() {
    let world = world(Rights::READ);
    let out = world
        .out("")
        .to_str()
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    let found = world.answer("search_files", &json!({"root": out, "query": "OUTSIDE"}));
    assert_eq!(found, format!("{out}/f:1:OUTSIDE"));
}
