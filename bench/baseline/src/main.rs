//! The least a file server can do: one loop that reads a line, reads the file and writes the answer.
//!
//! It knows no roots, checks nothing and serves one request at a time; the benchmark measures what the
//! gate costs above it. `read` sends a whole file, `pread` reads a file in blocks from its start as far
//! as a window goes, and sends the window.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measure without any guard"
)]

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::unix::fs::FileExt;

use serde_json::{Value, json};

const BLOCK: usize = 128 * 1024;

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        if let Some(answer) = answer(&line) {
            let mut answer = answer.to_string();
            answer.push('\n');
            output.write_all(answer.as_bytes())?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// Returns the answer to a request, or `None` for a notification.
fn answer(line: &str) -> Option<Value> {
    let request: Value = serde_json::from_str(line).ok()?;
    let id = request.get("id")?;
    let result = match request.get("method")?.as_str()? {
        "initialize" => json!({
            "protocolVersion": request.pointer("/params/protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "baseline", "version": env!("CARGO_PKG_VERSION")},
        }),
        "tools/list" => json!({"tools": [tool("read"), tool("pread")]}),
        _ => call(request.get("params")?),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn call(params: &Value) -> Value {
    let text = match params.get("name").and_then(Value::as_str) {
        Some("read") => read(params),
        _ => window(params),
    };
    match text {
        Some(text) => json!({"content": [{"type": "text", "text": text}]}),
        None => json!({"content": [{"type": "text", "text": "failed"}], "isError": true}),
    }
}

fn read(params: &Value) -> Option<String> {
    let path = params.pointer("/arguments/path")?.as_str()?;
    std::fs::read_to_string(path).ok()
}

fn window(params: &Value) -> Option<String> {
    let number = |name: &str| params.pointer(name).and_then(Value::as_u64);
    let offset = number("/arguments/offset")?;
    let length = usize::try_from(number("/arguments/length")?).ok()?;
    let file = File::open(params.pointer("/arguments/path")?.as_str()?).ok()?;
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    while at < offset {
        let read = file.read_at(&mut block, at).ok().filter(|read| *read > 0)?;
        at += read as u64;
    }
    let mut window = vec![0; length];
    file.read_exact_at(&mut window, offset).ok()?;
    String::from_utf8(window).ok()
}
