//! A small MCP client over standard input and output: enough to hold a session with the real binary.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::shell;

const PROTOCOL: &str = "2025-11-25";
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server and the session with it; dropped, the server is ended.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

/// The answer to a call of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    result: Value,
}

impl Client {
    /// Starts `command` and reads its answers; its log goes nowhere.
    ///
    /// # Errors
    /// Fails when it cannot be started.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("the server has no output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.try_for_each(|line| sender.send(line))
        });
        Ok(Self {
            child,
            stdin,
            lines,
            next: 1,
        })
    }

    /// Opens the session and returns what the server says of itself.
    ///
    /// # Errors
    /// Fails when the server refuses, or does not answer in time.
    pub(crate) fn initialize(&mut self) -> Result<Value> {
        let info = json!({"name": "xtask", "version": env!("CARGO_PKG_VERSION")});
        let asked = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info});
        let answer = self.request("initialize", &asked)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(answer)
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// Fails on an error of the protocol; an error of the tool is an [`Answer`].
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer> {
        let asked = json!({"name": tool, "arguments": arguments});
        let result = self.request("tools/call", &asked)?;
        Ok(Answer { result })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// Fails on an error of the protocol, when the server is gone, or when it takes too long.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.map_err(|_| anyhow!("no answer to {method}"))?;
            let mut message: Value = serde_json::from_str(&line).context("an answer is no JSON")?;
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {error}");
            }
            let result = message.get_mut("result").map(Value::take);
            return result.context("an answer without a result");
        }
    }

    /// Ends the session as clients do, by closing the input, and waits for the server to leave.
    ///
    /// # Errors
    /// Fails when the server does not leave by itself, or leaves with an error.
    pub(crate) fn close(mut self) -> Result<()> {
        drop(self.stdin.take());
        let status = shell::wait(&mut self.child, Duration::from_secs(5))?;
        if status.success() {
            return Ok(());
        }
        bail!("the server ended with {status}")
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the session is closed")?;
        let mut line = message.to_string();
        line.push('\n');
        stdin
            .write_all(line.as_bytes())
            .context("the server reads no more")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both fail only when the server is gone already.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Answer {
    /// Returns the texts of the answer's blocks, in their order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let blocks = self.result.get("content").and_then(Value::as_array);
        let blocks = blocks.into_iter().flatten();
        blocks
            .filter_map(|block| block.get("text")?.as_str())
            .collect()
    }

    /// Returns the first block's text, which is the answer itself.
    pub(crate) fn text(&self) -> &str {
        self.texts().first().copied().unwrap_or_default()
    }

    /// Returns the code of an error, or `None` for a success.
    pub(crate) fn code(&self) -> Option<&str> {
        let failed = self.result.get("isError") == Some(&Value::Bool(true));
        let code = self
            .result
            .pointer("/structuredContent/code")
            .and_then(Value::as_str);
        failed.then(|| code.unwrap_or("(without a code)"))
    }

    /// Returns the whole answer, to be searched.
    pub(crate) fn raw(&self) -> String {
        self.result.to_string()
    }
}
