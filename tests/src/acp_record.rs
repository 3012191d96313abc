//! What two sides of the Agent Client Protocol said, and a short and stable transcript of it.

use std::fmt::{self, Write as _};

use serde_json::Value;

use crate::world::World;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The editor, or who stands in for it.
    Client,
    /// The agent, or who stands in for it.
    Agent,
}

/// What was said, in order.
#[derive(Default)]
pub struct Record(Vec<(Side, Value)>);

/// A request and its answer.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The request's method.
    pub method: &'a str,
    /// The request's parameters.
    pub params: &'a Value,
    /// The whole answer, with its `result` or its `error`; `None` when there was none.
    pub answer: Option<&'a Value>,
}

impl Record {
    /// Reads what `tests/clients/tap.py` has kept.
    pub fn of_tap(kept: &str) -> Self {
        let frame = |line: &str| {
            let (side, message) = match line.split_at_checked(2) {
                Some(("> ", message)) => (Side::Client, message),
                Some(("< ", message)) => (Side::Agent, message),
                _ => panic!("not of a tap: {line}"),
            };
            let message = serde_json::from_str(message);
            (
                side,
                message.unwrap_or_else(|error| panic!("{error}: {line}")),
            )
        };
        Self(kept.lines().map(frame).collect())
    }

    /// Adds what a side says.
    pub fn add(&mut self, side: Side, message: Value) {
        self.0.push((side, message));
    }

    /// Returns the requests of one side, in order.
    pub fn requests(&self, of: Side) -> Vec<Exchange<'_>> {
        let exchange = |at: usize| {
            let (side, message) = &self.0[at];
            (*side == of && message.get("id").is_some()).then_some(())?;
            Some(Exchange {
                method: message["method"].as_str()?,
                params: &message["params"],
                answer: self.answer(at),
            })
        };
        (0..self.0.len()).filter_map(exchange).collect()
    }

    /// Returns the requests for files that the agent's side made.
    pub fn files(&self) -> Vec<Exchange<'_>> {
        let mut requests = self.requests(Side::Agent);
        requests.retain(|request| request.method.starts_with("fs/"));
        requests
    }

    /// Returns what each side said that has nothing to do with files, but the client's `initialize`.
    pub fn passed(&self) -> [Vec<&Value>; 2] {
        let passes = |at: &usize| {
            let method = self.method(*at).unwrap_or_default();
            let says_what_it_can = self.0[*at].1["method"] == "initialize";
            !method.starts_with("fs/") && !says_what_it_can
        };
        [Side::Client, Side::Agent].map(|side| {
            let of = |at: &usize| self.0[*at].0 == side;
            let places = (0..self.0.len()).filter(of).filter(passes);
            places.map(|at| &self.0[at].1).collect()
        })
    }

    /// Returns the answer of the first request with this method.
    #[track_caller]
    pub fn answer_to(&self, method: &str) -> &Value {
        let sides = [Side::Client, Side::Agent];
        let mut requests = sides.into_iter().flat_map(|side| self.requests(side));
        let request = requests.find(|request| request.method == method);
        request.and_then(|request| request.answer).unwrap()
    }

    /// Returns all that says something of files, by the definition of the schema that it is to be.
    pub fn definitions(&self) -> Vec<(&'static str, Value)> {
        let mut values = Vec::new();
        for side in [Side::Client, Side::Agent] {
            for request in self.requests(side) {
                let Some((params, result)) = definitions(request.method) else {
                    continue;
                };
                values.push((params, request.params.clone()));
                let answer = request.answer.unwrap_or(&Value::Null);
                match answer.get("error") {
                    Some(error) => values.push(("Error", error.clone())),
                    None => values.push((result, answer["result"].clone())),
                }
            }
        }
        values
    }

    /// Returns what was said of files, tools, permissions and the end of the turn, a line each, with
    /// the world's own paths replaced.
    pub fn transcript(&self, world: &World) -> String {
        let mut lines = String::new();
        for (at, (side, message)) in self.0.iter().enumerate() {
            if let Some(line) = self.line(at, message) {
                let who = match side {
                    Side::Client => "client",
                    Side::Agent => "agent",
                };
                writeln!(lines, "{who}: {line}").unwrap();
            }
        }
        let base = world.base().to_str().unwrap();
        let root = format!("{base}/root");
        lines.replace(&root, "<ROOT>").replace(base, "<BASE>")
    }

    fn line(&self, at: usize, message: &Value) -> Option<String> {
        match message["method"].as_str() {
            Some(method @ ("fs/read_text_file" | "fs/write_text_file")) => {
                let mut params = message["params"].as_object()?.clone();
                params.retain(|name, _| name != "sessionId");
                Some(format!("{method} {}", Value::Object(params)))
            }
            Some("session/request_permission") => {
                let call = &message["params"]["toolCall"];
                Some(format!("may I? {}", tool(call)))
            }
            Some("session/update") => update(&message["params"]["update"]),
            Some(_) => None,
            None => self.answer_line(at, message),
        }
    }

    fn answer_line(&self, at: usize, message: &Value) -> Option<String> {
        match (self.method(at)?, message.get("error")) {
            ("session/prompt", _) => message["result"]["stopReason"].as_str().map(str::to_owned),
            (method, Some(error)) if method.starts_with("fs/") => Some(format!("  error {error}")),
            (method, None) if method.starts_with("fs/") => Some(format!("  {}", plain(message))),
            _ => None,
        }
    }

    /// Returns the method of what was said here, or of the request that it answers.
    fn method(&self, at: usize) -> Option<&str> {
        let (side, message) = &self.0[at];
        if let Some(method) = message["method"].as_str() {
            return Some(method);
        }
        let asks = |(other, earlier): &(Side, Value)| {
            other != side && earlier["id"] == message["id"] && earlier["method"].is_string()
        };
        let asked = self.0[..at].iter().rposition(asks)?;
        self.0[asked].1["method"].as_str()
    }

    /// Returns the answer to the request at this place: the other side's next with its id.
    fn answer(&self, at: usize) -> Option<&Value> {
        let (side, request) = &self.0[at];
        let answers = |(other, message): &&(Side, Value)| {
            other != side && message["id"] == request["id"] && message.get("method").is_none()
        };
        self.0[at..]
            .iter()
            .find(answers)
            .map(|(_, message)| message)
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, message) in &self.0 {
            write!(formatter, "\n{side:?}: {message}")?;
        }
        Ok(())
    }
}

/// Names the definitions of a method's parameters and of its result.
fn definitions(method: &str) -> Option<(&'static str, &'static str)> {
    Some(match method {
        "initialize" => ("InitializeRequest", "InitializeResponse"),
        "session/new" => ("NewSessionRequest", "NewSessionResponse"),
        "fs/read_text_file" => ("ReadTextFileRequest", "ReadTextFileResponse"),
        "fs/write_text_file" => ("WriteTextFileRequest", "WriteTextFileResponse"),
        _ => return None,
    })
}

/// Returns the result without our facts about the file.
fn plain(answer: &Value) -> Value {
    let mut result = answer["result"].clone();
    if let Some(fields) = result.as_object_mut() {
        fields.retain(|name, meta| name != "_meta" || meta.get("postern/facts").is_none());
    }
    result
}

/// Returns the line for a piece of news, where it is one of a tool.
fn update(update: &Value) -> Option<String> {
    let news = ["tool_call", "tool_call_update"];
    news.contains(&update["sessionUpdate"].as_str()?)
        .then(|| tool(update))
}

/// Returns what is stable about a tool's call: kind, status, places, and why it failed.
fn tool(call: &Value) -> String {
    let mut words = vec!["tool"];
    words.extend(call["kind"].as_str());
    words.extend(call["status"].as_str());
    let places = call["locations"].as_array().into_iter().flatten();
    words.extend(places.filter_map(|place| place["path"].as_str()));
    let mut line = words.join(" ");
    if call["status"] == "failed" {
        let why = call["content"][0]["content"]["text"].as_str();
        write!(line, ": {}", why.unwrap_or_default().escape_debug()).unwrap();
    }
    line
}
