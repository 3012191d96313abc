//! An agent without a model: it reads each file that the prompt names, changes what it was asked to
//! change, and writes it back.

use std::io::{BufRead as _, Lines, StdinLock, stdin, stdout};

use serde_json::{Value, json};

use crate::{Result, send};

/// Talks to the editor on standard input and output until that is gone.
pub(crate) fn run() -> Result<()> {
    let mut lines = stdin().lock().lines();
    while let Some(frame) = next(&mut lines)? {
        let mut answer = json!({ "id": frame["id"] });
        match frame["method"].as_str() {
            Some("initialize") => answer["result"] = json!({"protocolVersion": 1}),
            Some("session/new") => answer["result"] = json!({"sessionId": "s1"}),
            Some("session/prompt") => match edit(&mut lines, &frame["params"]) {
                Ok(()) => answer["result"] = json!({"stopReason": "end_turn"}),
                Err(error) => {
                    answer["error"] = json!({"code": -32603, "message": error.to_string()});
                }
            },
            _ => continue,
        }
        send(&mut stdout(), &answer)?;
    }
    Ok(())
}

/// Does what a prompt of the form "In FILE, change `this` to `that`." says.
fn edit(lines: &mut Lines<StdinLock<'static>>, params: &Value) -> Result<()> {
    let words = params["prompt"][0]["text"].as_str().unwrap_or_default();
    let path = words
        .strip_prefix("In ")
        .and_then(|rest| rest.split_once(", change `"));
    let (path, change) = path.ok_or("no file in the prompt")?;
    let (old, new) = change
        .split_once("` to `")
        .ok_or("no change in the prompt")?;
    let new = new.trim_end_matches("`.");
    let mut request = json!({"sessionId": params["sessionId"], "path": path});
    let read = ask(lines, "fs/read_text_file", &request)?;
    let text = read["content"].as_str().ok_or("no text")?;
    request["content"] = text.replace(old, new).into();
    ask(lines, "fs/write_text_file", &request)?;
    Ok(())
}

fn ask(lines: &mut Lines<StdinLock<'static>>, method: &str, params: &Value) -> Result<Value> {
    send(
        &mut stdout(),
        &json!({"id": method, "method": method, "params": params}),
    )?;
    let answer = next(lines)?.ok_or("the editor is gone")?;
    match answer.get("result") {
        Some(result) => Ok(result.clone()),
        None => Err(answer["error"]["message"].as_str().unwrap_or("?").into()),
    }
}

fn next(lines: &mut Lines<StdinLock<'static>>) -> Result<Option<Value>> {
    let line = lines.next().transpose()?;
    Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
}
