//! What stands on the wire.

use serde_json::{Value, json};
use tests::mcp::{arguments, parse};
use tests::{FrontEnd as _, Mcp, World};

fn world() -> World {
    let world = World::new();
    world
        .put("root/notes.txt", "one\ntwo\nthree\n")
        .put("root/src/main.rs", "fn main() {}\n");
    world
}

/// Returns the line of an answer, laid out, with the world's own paths replaced.
fn shown(world: &World, line: &str) -> String {
    let mut answer = parse(line);
    answer.as_object_mut().unwrap().remove("id");
    let text = serde_json::to_string_pretty(&answer).unwrap();
    text.replace(world.base().to_str().unwrap(), "BASE")
}

fn call(world: &World, mcp: &Mcp, tool: &str, arguments: &Value) -> String {
    shown(world, &mcp.tool(tool, arguments).raw)
}

#[test]
fn initialize() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    insta::assert_snapshot!(shown(&world, &mcp.welcome.to_string()), @r#"
    {
      "protocolVersion": "2025-06-18",
      "capabilities": {
        "tools": {}
      },
      "serverInfo": {
        "name": "tool-server",
        "title": "Postern tool-server",
        "version": "0.1.0"
      },
      "instructions": "Files below these roots can be reached, and nothing else:\n- ws: BASE/root (read, edit, delete)\nA relative path starts at the first root; absolute paths below a root work too. Lines and columns count from 1. Text is exact, without line numbers; what is not plain stands in a second block."
    }
    "#);
}

#[test]
fn what_the_log_says_first() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    mcp.list(".");
    mcp.wire.close();
    let log = mcp
        .wire
        .stderr()
        .replace(world.base().to_str().unwrap(), "BASE");
    insta::assert_snapshot!(log, @" INFO roots: ws=BASE/root (read, edit, delete)");
}

#[test]
fn tools_list() {
    let world = world();
    let mut line = arguments(&world.settings());
    line[1] = "files".to_owned();
    let list = parse(&Mcp::with(&line).wire.request("tools/list", &json!({})));
    let tool = |tool: &Value| {
        let parameters: Vec<&str> = tool["inputSchema"]["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        format!(
            "{}({}) {}",
            tool["name"].as_str().unwrap(),
            parameters.join(", "),
            tool["annotations"]
        )
    };
    let tools: Vec<String> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(tool)
        .collect();
    insta::assert_snapshot!(tools.join("\n"), @r#"
    files_read(path, offset, limit, tail, column, encoding, version) {"readOnlyHint":true,"openWorldHint":false}
    files_write(path, content, mode, line, encoding, if_version, create_backup) {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}
    files_edit(path, edits, encoding, eol, if_version, dry_run, diff, on_hard_link, create_backup) {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}
    files_ls(path, limit, after) {"readOnlyHint":true,"openWorldHint":false}
    undo_edit(path, entry, if_version, diff) {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}
    edit_history(path, limit) {"readOnlyHint":true,"openWorldHint":false}
    "#);
}

#[test]
fn a_read_with_its_hint() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    let answer = call(
        &world,
        &mcp,
        "files_read",
        &json!({"path": "notes.txt", "limit": 2}),
    );
    insta::assert_snapshot!(answer, @r#"
    {
      "jsonrpc": "2.0",
      "result": {
        "content": [
          {
            "type": "text",
            "text": "one\ntwo\n"
          },
          {
            "type": "text",
            "text": "[Showing lines 1-2 of 3. Use offset=3 to continue.]"
          }
        ],
        "isError": false,
        "_meta": {
          "postern/facts": {
            "first_line": 1,
            "returned_lines": 2,
            "total_lines": 3,
            "eof": false,
            "encoding_by": "utf8",
            "lossy": false,
            "truncated": false,
            "next": {
              "line": 3,
              "column": 1
            },
            "version": "10e1a16f0805bd7128d2ff11264ffd33-14",
            "size": 14,
            "encoding": "utf-8",
            "bom": false,
            "eol": "lf"
          }
        }
      }
    }
    "#);
}

#[test]
fn an_edit_with_its_diff() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    let edits = json!([{"old": "two", "new": "2"}]);
    let answer = call(
        &world,
        &mcp,
        "files_edit",
        &json!({"path": "notes.txt", "edits": edits, "diff": true}),
    );
    insta::assert_snapshot!(answer, @r#"
    {
      "jsonrpc": "2.0",
      "result": {
        "content": [
          {
            "type": "text",
            "text": "Applied 1 edit to notes.txt: 1 line changed"
          },
          {
            "type": "text",
            "text": "```diff\n--- notes.txt\n+++ notes.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n```"
          }
        ],
        "isError": false,
        "_meta": {
          "postern/facts": {
            "edit_count": 1,
            "replacements": 1,
            "lines_changed": 1,
            "diff": "--- notes.txt\n+++ notes.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
            "dry_run": false,
            "encoding": "utf-8",
            "bom": false,
            "eol": "lf",
            "version": "ba13ea9b04ef16c1a4a5b305069b68b3-12",
            "parted_links": 0,
            "warnings": []
          }
        }
      }
    }
    "#);
}

#[test]
fn a_listing() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    insta::assert_snapshot!(call(&world, &mcp, "files_ls", &json!({})), @r#"
    {
      "jsonrpc": "2.0",
      "result": {
        "content": [
          {
            "type": "text",
            "text": "notes.txt  (14 B)\nsrc/"
          }
        ],
        "isError": false,
        "_meta": {
          "postern/facts": {
            "returned": 2,
            "total": 2,
            "truncated": false
          }
        }
      }
    }
    "#);
}

#[test]
fn an_error() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    let edits = json!([{"old": "four", "new": "4"}]);
    let answer = call(
        &world,
        &mcp,
        "files_edit",
        &json!({"path": "notes.txt", "edits": edits}),
    );
    insta::assert_snapshot!(answer, @r#"
    {
      "jsonrpc": "2.0",
      "result": {
        "content": [
          {
            "type": "text",
            "text": "no_match: edits[0]: could not find \"old\": notes.txt\nread the file again and copy the text exactly, with its blanks and line breaks"
          }
        ],
        "structuredContent": {
          "edit": 0,
          "code": "no_match",
          "message": "edits[0]: could not find \"old\": notes.txt",
          "path": "notes.txt",
          "hint": "read the file again and copy the text exactly, with its blanks and line breaks"
        },
        "isError": true
      }
    }
    "#);
}

#[test]
fn a_refused_escape() {
    let world = world();
    let mcp = Mcp::start(&world.settings());
    insta::assert_snapshot!(call(&world, &mcp, "files_read", &json!({"path": "../out/x"})), @r#"
    {
      "jsonrpc": "2.0",
      "result": {
        "content": [
          {
            "type": "text",
            "text": "outside_sandbox: path outside sandbox: ../out/x\nuse a path below one of the roots"
          }
        ],
        "structuredContent": {
          "code": "outside_sandbox",
          "message": "path outside sandbox: ../out/x",
          "path": "../out/x",
          "hint": "use a path below one of the roots"
        },
        "isError": true
      }
    }
    "#);
}
