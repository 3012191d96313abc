//! Whole sessions, as both sides see them.

use serde_json::{Map, Value, json};
use tests::acp::{Acp, PLAIN, READER, SESSION, Stage};
use tests::{FrontEnd as _, World};

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";

/// Makes the agent's calls and returns what it is answered, line by line.
fn answers(world: &World, stage: &Stage, calls: &[(&str, &str, Value)]) -> String {
    let answers = calls.iter().map(|(method, name, more)| {
        let mut params = json!({"sessionId": SESSION, "path": world.expand(name)});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        stage.call(method, &params)
    });
    let lines: Vec<String> = answers.collect();
    lines
        .join("\n")
        .replace(world.base().to_str().unwrap(), "BASE")
}

#[test]
fn reads_and_writes_of_a_session() {
    let world = World::new();
    world
        .put("root/notes.txt", "one\r\ntwo\r\nthree")
        .put("root/bom.txt", "\u{feff}one\n")
        .put("root/image", b"\x89PNG\r\n\0\0")
        .put("root/latin", b"caf\xe9\n");
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let none = || json!({});
    let calls = [
        (READ, "${ROOT}/notes.txt", none()),
        (READ, "${ROOT}/notes.txt", json!({"line": 2, "limit": 1})),
        (READ, "${ROOT}/notes.txt", json!({"line": 4})),
        (READ, "${ROOT}/notes.txt", json!({"line": 9})),
        (READ, "${ROOT}/bom.txt", none()),
        (WRITE, "${ROOT}/bom.txt", json!({"content": "two\n"})),
        (WRITE, "${ROOT}/new/file", json!({"content": ""})),
        (READ, "${ROOT}/new/file", none()),
        (READ, "${ROOT}/none", none()),
        (READ, "${ROOT}/new", none()),
        (READ, "${ROOT}/image", none()),
        (READ, "${ROOT}/latin", none()),
        (READ, "${OUT}/secret", none()),
        (WRITE, "${ROOT}/../out/secret", json!({"content": "x"})),
        (READ, "notes.txt", none()),
        (READ, "${ROOT}/notes.txt", json!({"line": "2"})),
        (WRITE, "${ROOT}/notes.txt", none()),
        ("fs/delete", "${ROOT}/notes.txt", none()),
        (READ, "${ROOT}/notes.txt", json!({"sessionId": "other"})),
    ];
    insta::assert_snapshot!(answers(&world, &stage, &calls), @r#"
    {"jsonrpc":"2.0","id":1,"result":{"content":"one\r\ntwo\r\nthree","_meta":{"postern/facts":{"first_line":1,"returned_lines":3,"total_lines":3,"encoding":"utf-8","bom":false,"eol":"crlf","version":"ae43f8212c906ca748926169ddb863bc-15","source":"disk"}}}}
    {"jsonrpc":"2.0","id":2,"result":{"content":"two\r\n","_meta":{"postern/facts":{"first_line":2,"returned_lines":1,"total_lines":3,"encoding":"utf-8","bom":false,"eol":"crlf","version":"ae43f8212c906ca748926169ddb863bc-15","source":"disk"}}}}
    {"jsonrpc":"2.0","id":3,"result":{"content":"","_meta":{"postern/facts":{"first_line":null,"returned_lines":0,"total_lines":3,"encoding":"utf-8","bom":false,"eol":"crlf","version":"ae43f8212c906ca748926169ddb863bc-15","source":"disk"}}}}
    {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"line 9 is out of range: the last line is 3: BASE/root/notes.txt; read fewer lines, or from a line that is there","data":{"code":"out_of_range","path":"BASE/root/notes.txt","hint":"read fewer lines, or from a line that is there","field":"line","value":9,"last":3,"total_lines":3}}}
    {"jsonrpc":"2.0","id":5,"result":{"content":"one\n","_meta":{"postern/facts":{"first_line":1,"returned_lines":1,"total_lines":1,"encoding":"utf-8","bom":true,"eol":"lf","version":"5479f2acc19e665b7c6deae7759d4b62-7","source":"disk"}}}}
    {"jsonrpc":"2.0","id":6,"result":{}}
    {"jsonrpc":"2.0","id":7,"result":{}}
    {"jsonrpc":"2.0","id":8,"result":{"content":"","_meta":{"postern/facts":{"first_line":null,"returned_lines":0,"total_lines":0,"encoding":"utf-8","bom":false,"eol":"none","version":"af1349b9f5f9a1a6a0404dea36dcc949-0","source":"disk"}}}}
    {"jsonrpc":"2.0","id":9,"error":{"code":-32002,"message":"Resource not found: BASE/root/none (ENOENT: no such file or directory)","data":{"code":"not_found","path":"BASE/root/none","hint":"check the path, or write the file to create it"}}}
    {"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"is a directory: BASE/root/new; name a file in it","data":{"code":"is_a_directory","path":"BASE/root/new","hint":"name a file in it"}}}
    {"jsonrpc":"2.0","id":11,"error":{"code":-32602,"message":"binary file of 8 bytes: BASE/root/image; have the operator name the encoding by --fallback-encoding, or leave the file alone","data":{"code":"binary_file","path":"BASE/root/image","hint":"have the operator name the encoding by --fallback-encoding, or leave the file alone","size":8}}}
    {"jsonrpc":"2.0","id":12,"error":{"code":-32602,"message":"not text in a known encoding, from byte 3: BASE/root/latin; have the operator name the encoding by --fallback-encoding, or leave the file alone","data":{"code":"not_text","path":"BASE/root/latin","hint":"have the operator name the encoding by --fallback-encoding, or leave the file alone","offset":3}}}
    {"jsonrpc":"2.0","id":13,"error":{"code":-32602,"message":"path outside sandbox: BASE/out/secret; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"BASE/out/secret","hint":"use a path below the directories of the session"}}}
    {"jsonrpc":"2.0","id":14,"error":{"code":-32602,"message":"path outside sandbox: BASE/root/../out/secret; use a path below the directories of the session","data":{"code":"outside_sandbox","path":"BASE/root/../out/secret","hint":"use a path below the directories of the session"}}}
    {"jsonrpc":"2.0","id":15,"error":{"code":-32602,"message":"invalid path: it must be absolute: notes.txt; send a plain absolute path of this system","data":{"code":"invalid_path","path":"notes.txt","hint":"send a plain absolute path of this system"}}}
    {"jsonrpc":"2.0","id":16,"error":{"code":-32602,"message":"invalid line: it must be a whole number from 0 to 4294967295, not \"2\"","data":{"code":"invalid_argument","field":"line"}}}
    {"jsonrpc":"2.0","id":17,"error":{"code":-32602,"message":"invalid content: it is missing","data":{"code":"invalid_argument","field":"content"}}}
    {"jsonrpc":"2.0","id":18,"error":{"code":-32601,"message":"Method not found: fs/delete","data":{"code":"unknown_method","hint":"the methods for files are fs/read_text_file and fs/write_text_file"}}}
    {"jsonrpc":"2.0","id":19,"error":{"code":-32002,"message":"Session not found: other","data":{"code":"not_found","sessionId":"other","hint":"use a session that is open: session/new opens one"}}}
    "#);
    assert_eq!(world.get("root/bom.txt"), "\u{feff}two\n".as_bytes());
}

#[test]
fn a_file_that_somebody_else_changes_meanwhile() {
    let world = World::new();
    world.put("root/f", "a\nb\nc\nd\ne\n");
    let stage = Stage::on(&world, &["--serve", "disk"]);
    let read = || (READ, "${ROOT}/f", json!({}));
    let write = |content: &str| (WRITE, "${ROOT}/f", json!({ "content": content }));
    let mut said = answers(&world, &stage, &[read()]);
    world.put("root/f", "a\nb\nc\nd\nTHEIRS\n");
    let calls = [
        write("OURS\nb\nc\nd\ne\n"),
        write("OURS\nb\nc\nd\nours\n"),
        read(),
    ];
    said += "\n-- somebody changes the last line\n";
    said += &answers(&world, &stage, &calls);
    insta::assert_snapshot!(said, @r#"
    {"jsonrpc":"2.0","id":1,"result":{"content":"a\nb\nc\nd\ne\n","_meta":{"postern/facts":{"first_line":1,"returned_lines":5,"total_lines":5,"encoding":"utf-8","bom":false,"eol":"lf","version":"7152b047c793dcaa30b38535eec2c3a0-10","source":"disk"}}}}
    -- somebody changes the last line
    {"jsonrpc":"2.0","id":2,"result":{"_meta":{"postern/facts":{"merged":true}}}}
    {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"the file has changed since it was read: BASE/root/f; read the file again and repeat the change on what it holds now","data":{"code":"conflict","path":"BASE/root/f","hint":"read the file again and repeat the change on what it holds now"}}}
    {"jsonrpc":"2.0","id":4,"result":{"content":"OURS\nb\nc\nd\nTHEIRS\n","_meta":{"postern/facts":{"first_line":1,"returned_lines":5,"total_lines":5,"encoding":"utf-8","bom":false,"eol":"lf","version":"577d7ed79f3bb5176272a9161e4bec09-18","source":"disk"}}}}
    "#);
}

#[test]
fn a_file_that_was_written_by_two_names_is_undone_by_either() {
    for name in ["f", "link"] {
        let world = World::new();
        world.put("root/f", "one\n").link("root/link", "f");
        let acp = Acp::start_with(&world.settings(), &PLAIN);
        for (name, text) in [("f", "two\n"), ("link", "three\n"), ("f", "four\n")] {
            let content = Map::from_iter([("content".to_owned(), text.into())]);
            assert_eq!(acp.request(WRITE, name, content).code(), "ok");
        }
        let said = acp.run(["undo", "--session", READER, &acp.absolute(name)]);
        assert!(said.status.success(), "{said:?}");
        assert_eq!(world.get("root/f"), b"one\n");
    }
}

/// Agents count their sessions, and begin with 1 in each project.
#[test]
fn a_session_of_the_same_name_in_another_project_is_another_one() {
    let (one, other, state) = (World::new(), World::new(), World::new());
    one.put("root/f", "one\n");
    let start = |world: &World| Acp::start_in(&state.path("state"), &world.settings(), &PLAIN);
    let first = start(&one);
    first.write("f", "two\n");
    let second = start(&other);
    assert_eq!(second.read("/etc/passwd").code(), "outside_sandbox");
    let writer = "writer-1";
    assert_eq!(second.write("/etc/none", "x").code(), "outside_sandbox");
    let log = String::from_utf8(first.run(["log"]).stdout).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    let said = first.run(["undo", "--session", writer, "none"]);
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let said = first.run(["undo", "--session", writer, "f"]);
    assert!(said.status.success(), "{said:?}");
    assert_eq!(one.get("root/f"), b"one\n");
}

/// What people see of it afterwards.
#[test]
fn the_journal_of_a_session_and_what_is_taken_back() {
    let world = World::new();
    world.put("root/f", "one\n");
    let acp = Acp::start_with(&world.settings(), &PLAIN);
    acp.read("f");
    acp.write("f", "two\n");
    acp.write("new", "new\n");
    acp.read("none");
    let say = |words: &[&str]| {
        let said = acp.run(words);
        let out = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
        let times = |line: &str| {
            line.split_once("Z  ")
                .map_or(line.to_owned(), |(_, rest)| rest.to_owned())
        };
        let lines: Vec<String> = out.lines().map(times).collect();
        format!("$ acp-fs {}\n{}\n", words.join(" "), lines.join("\n"))
    };
    let path = world.path("root/f").display().to_string();
    let said = [
        say(&["log"]),
        say(&["log", "--session", "writer-1"]),
        say(&["show", "--session", "writer-1"]),
        say(&["undo", "--session", "writer-1", &path]),
        say(&["undo", "--session", "writer-2"]),
        say(&["undo", "--session", "writer-2"]),
        say(&["undo", "--session", "nobody"]),
    ];
    let said = said
        .concat()
        .replace(world.base().to_str().unwrap(), "BASE");
    insta::assert_snapshot!(said, @"
    $ acp-fs log
    reader  read  BASE/root/f  ok
    writer-1  write  BASE/root/f  ok  #1
    writer-2  write  BASE/root/new  ok  #2
    reader  read  BASE/root/none  not_found
    $ acp-fs log --session writer-1
    writer-1  write  BASE/root/f  ok  #1
    $ acp-fs show --session writer-1
    --- BASE/root/f
    +++ BASE/root/f
    @@ -1 +1 @@
    -one
    +two
    $ acp-fs undo --session writer-1 BASE/root/f
    BASE/root/f: as it was, 4 bytes
    $ acp-fs undo --session writer-2
    BASE/root/new: removed, it was new
    $ acp-fs undo --session writer-2
    BASE/root/new: nothing left to take back
    $ acp-fs undo --session nobody
    acp-fs: no session nobody in these roots (name those that acp-fs was started with); `acp-fs log` lists them
    ");
    assert_eq!(world.get("root/f"), b"one\n");
    assert!(!world.path("root/new").exists());
}
