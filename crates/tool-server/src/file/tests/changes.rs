//! `write_file`, `append_file`, `make_dir`, `copy_file`, `move_file` and `delete_file`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use fs_sandbox::{HardLinks, WorkspaceBuilder};
use serde_json::{Value, json};

use super::world::{World, check_fails, settings};

/// The message and the artifact of an answer.
#[track_caller]
fn changed(world: &World, tool: &str, arguments: &Value) -> (String, Value) {
    let answer: Value = serde_json::from_str(&world.answer(tool, arguments)).unwrap();
    assert_eq!(answer["success"], json!(true));
    let artifacts = answer["artifacts"].as_array().unwrap();
    assert_eq!(artifacts.len(), 1);
    let message = answer["message"].as_str().unwrap().to_owned();
    (message, artifacts[0].clone())
}

#[test]
fn a_file_is_written_with_its_folders() {
    let world = World::new();
    let arguments = json!({"path": "d/e/a.py", "content": "x = 1\n"});
    let (message, artifact) = changed(&world, "write_file", &arguments);
    assert_eq!(message, "Wrote 6 bytes to d/e/a.py");
    let expected = json!({
        "kind": "file", "name": "a.py", "path": "d/e/a.py",
        "mimeType": "text/x-python", "size": 6,
    });
    assert_eq!(artifact, expected);
    assert_eq!(world.text("d/e/a.py"), "x = 1\n");
    let again = changed(&world, "write_file", &arguments).0;
    assert_eq!(again, "Unchanged: d/e/a.py holds that already (6 bytes)");
    let named = json!({"path": "workspace:d/p.png", "content": "no image"});
    let (_, artifact) = changed(&world, "write_file", &named);
    assert_eq!(
        (&artifact["name"], &artifact["kind"]),
        (&json!("p.png"), &json!("file"))
    );
    check_fails(
        &world,
        "write_file",
        &json!({"path": "d", "content": ""}),
        "is_a_directory",
        "d",
    );
}

/// B21's other half: text that cannot be encoded leaves the file as it was.
#[test]
fn nothing_is_touched_before_all_of_it_is_encoded() {
    let world = World::with("f", b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\n");
    let before = world.bytes("f");
    let arguments = json!({"path": "f", "content": "\u{1f600}", "encoding": "gbk"});
    for tool in ["write_file", "append_file"] {
        check_fails(&world, tool, &arguments, "unencodable", "gb18030");
        assert_eq!(world.bytes("f"), before);
    }
    assert_eq!(world.names(""), ["f"]);
}

/// B22.
#[test]
fn text_is_appended_in_the_files_encoding() {
    let world = World::with("f", b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\n");
    let (message, artifact) = changed(
        &world,
        "append_file",
        &json!({"path": "f", "content": "你"}),
    );
    assert_eq!(message, "Appended 2 bytes to f");
    assert_eq!(artifact["size"], json!(13));
    assert_eq!(
        world.bytes("f"),
        b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\n\xc4\xe3"
    );
    changed(
        &world,
        "append_file",
        &json!({"path": "new/g", "content": "a"}),
    );
    changed(
        &world,
        "append_file",
        &json!({"path": "new/g", "content": "b"}),
    );
    assert_eq!(world.text("new/g"), "ab");
}

#[test]
fn a_stale_version_is_refused() {
    let world = World::with("f", "one");
    let read = json!({"path": "f", "version": true});
    let (blocks, facts) = world.full("read_file", &read).unwrap();
    let version = facts["version"].as_str().unwrap();
    assert_eq!(blocks[1], format!("[version {version}]"));
    world.write("f", "two");
    for tool in ["write_file", "append_file"] {
        let arguments = json!({"path": "f", "content": "x", "if_version": version});
        check_fails(&world, tool, &arguments, "conflict", "changed");
    }
    assert_eq!(world.text("f"), "two");
}

#[test]
fn a_directory_is_made_as_told() {
    let world = World::with("f", "");
    let make = |arguments: Value| world.answer("make_dir", &arguments);
    assert_eq!(make(json!({"path": "a/b"})), "OK: directory created: a/b");
    assert_eq!(make(json!({"path": "a/b"})), "OK: directory exists: a/b");
    let refused = |arguments: Value, code: &str| {
        check_fails(&world, "make_dir", &arguments, code, "");
    };
    refused(json!({"path": "a/b", "exist_ok": false}), "already_exists");
    refused(json!({"path": "x/y", "parents": false}), "not_found");
    refused(json!({"path": "f"}), "already_exists");
    refused(json!({"path": "../out/x"}), "outside_sandbox");
    assert_eq!(
        make(json!({"path": "x/", "parents": false})),
        "OK: directory created: x/"
    );
    assert_eq!(world.names(""), ["a", "f", "x"]);
}

#[test]
fn a_file_is_copied_and_moved() {
    let world = World::with("a.JPG", "image");
    fs::set_permissions(world.path("a.JPG"), fs::Permissions::from_mode(0o640)).unwrap();
    let copy = json!({"src_path": "a.JPG", "dst_path": "d/b.JPG"});
    let (message, artifact) = changed(&world, "copy_file", &copy);
    assert_eq!(message, "Copied a.JPG to d/b.JPG");
    let expected = json!({
        "kind": "image", "name": "b.JPG", "path": "d/b.JPG", "mimeType": "image/jpeg", "size": 5,
    });
    assert_eq!(artifact, expected);
    let mode = fs::metadata(world.path("d/b.JPG")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o640);
    for tool in ["copy_file", "move_file"] {
        check_fails(&world, tool, &copy, "already_exists", "overwrite=true");
    }
    let over = json!({"src_path": "a.JPG", "dst_path": "d/b.JPG", "overwrite": true});
    let (blocks, facts) = world.full("move_file", &over).unwrap();
    assert!(blocks[0].contains("\"Moved a.JPG to d/b.JPG, in place of what was there\""));
    assert_eq!(
        (&facts["replaced"], &facts["type"]),
        (&json!(true), &json!("file"))
    );
    assert_eq!(world.names(""), ["d"]);
    assert_eq!(world.names("d"), ["b.JPG"]);
}

/// B19.
#[test]
fn a_file_is_not_moved_onto_itself() {
    let world = World::with("f", "F");
    for tool in ["copy_file", "move_file"] {
        for overwrite in [false, true] {
            for to in ["f", "./f", "workspace:f"] {
                let arguments = json!({"src_path": "f", "dst_path": to, "overwrite": overwrite});
                let error = world.failed(tool, &arguments);
                let expected = json!({
                    "code": "invalid_argument", "field": "dst_path", "path": to,
                    "message": format!("dst_path is the source itself, or what it leads to: {to}"),
                });
                assert_eq!(Value::from(error.object()), expected);
                assert_eq!(world.text("f"), "F");
            }
        }
    }
}

#[test]
fn a_link_is_not_moved_over_what_it_leads_to() {
    let world = World::with("f", "F");
    symlink("f", world.path("l")).unwrap();
    let over = json!({"src_path": "l", "dst_path": "f", "overwrite": true});
    check_fails(
        &world,
        "move_file",
        &over,
        "invalid_argument",
        "what it leads to",
    );
    assert_eq!(world.text("l"), "F");
}

#[test]
fn a_target_with_other_names_comes_with_a_way_on_that_these_tools_have() {
    for policy in [HardLinks::Refuse, HardLinks::InPlace] {
        let build = |builder: WorkspaceBuilder, _: &Path| builder.hard_links(policy);
        let world = World::built(settings(), build);
        world.write("f", "F");
        world.write("g", "G");
        fs::hard_link(world.path("g"), world.path("h")).unwrap();
        let over = json!({"src_path": "f", "dst_path": "g", "overwrite": true});
        for tool in ["copy_file", "move_file"] {
            check_fails(&world, tool, &over, "hard_link", "delete this one first");
        }
        world.answer("delete_file", &json!({"path": "g"}));
        changed(&world, "copy_file", &over);
        assert_eq!((world.text("g"), world.text("h")), ("F".into(), "G".into()));
    }
}

#[test]
fn the_end_that_is_wrong_is_named() {
    let world = World::with("f", "F");
    fs::create_dir(world.path("d")).unwrap();
    let check = |from: &str, to: &str, code: &str, at: &str, says: &str| {
        for tool in ["copy_file", "move_file"] {
            let arguments = json!({"src_path": from, "dst_path": to});
            let error = world.failed(tool, &arguments);
            assert_eq!(error.code(), code, "{error}");
            assert_eq!(error.object()["path"], at);
            assert!(error.to_string().contains(says), "{error}");
        }
    };
    check("f", "d", "is_a_directory", "d", "with the file's name");
    check(
        "f",
        "new/",
        "is_a_directory",
        "new/",
        "with the file's name",
    );
    check("d", "e", "is_a_directory", "d", "only files and links");
    check("no", "e", "not_found", "no", "");
    check("f", "../out/e", "outside_sandbox", "../out/e", "");
    check("../out/e", "e", "outside_sandbox", "../out/e", "");
    assert_eq!(world.names(""), ["d", "f"]);
}

/// B20, and what `delete_file` refuses.
#[test]
fn a_link_is_deleted_and_not_its_target() {
    let world = World::with("f", "F");
    fs::create_dir(world.path("d")).unwrap();
    symlink("f", world.path("l")).unwrap();
    symlink(world.out(""), world.path("o")).unwrap();
    assert_eq!(
        world.answer("delete_file", &json!({"path": "l"})),
        "OK: deleted: l"
    );
    assert_eq!(
        world.answer("delete_file", &json!({"path": "o"})),
        "OK: deleted: o"
    );
    assert!(world.out("").exists());
    let refused = |path: &str, code: &str| {
        check_fails(&world, "delete_file", &json!({"path": path}), code, "");
    };
    refused("d", "is_a_directory");
    refused("d/", "is_a_directory");
    refused(".", "is_a_directory");
    refused("l", "not_found");
    refused("../out", "outside_sandbox");
    assert_eq!(
        world.answer("delete_file", &json!({"path": "./f"})),
        "OK: deleted: ./f"
    );
    assert_eq!(world.names(""), ["d"]);
}

#[test]
fn a_link_moves_as_itself() {
    let world = World::new();
    symlink("/etc/passwd", world.path("l")).unwrap();
    let (blocks, facts) = world
        .full("move_file", &json!({"src_path": "l", "dst_path": "m"}))
        .unwrap();
    assert!(blocks[0].contains("\"Moved link l to m\"") && !blocks[0].contains("passwd"));
    assert_eq!(facts["type"], "link");
    assert!(fs::symlink_metadata(world.path("m")).unwrap().is_symlink());
    let copy = json!({"src_path": "m", "dst_path": "c"});
    check_fails(&world, "copy_file", &copy, "outside_sandbox", "");
}
