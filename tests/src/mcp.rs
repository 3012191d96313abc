//! The tool server over its pipes, as an MCP client sees it.

pub(crate) mod parse;

use std::process::Command;
use std::time::Duration;

use fs_edit::{Edit as Replacement, EolMode, Positional, Target};
use serde_json::{Map, Value, json};

use crate::binary;
use crate::front_end::{
    Answer, Done, Edit, FrontEnd, List, Mode, NewDir, Op, Order, Range, Read, Refusal, Root,
    Search, Settings, Transfer, Walk, Within, Write,
};
use crate::wire::{Pending, Wire};

/// The protocol version that the suite speaks.
pub const PROTOCOL: &str = "2025-06-18";

/// A running tool server.
#[derive(Debug)]
pub struct Mcp {
    /// Its lines.
    pub wire: Wire,
    /// Its answer to `initialize`.
    pub welcome: Value,
}

impl Mcp {
    /// Starts the binary with `arguments` and shakes hands.
    pub fn with(arguments: &[String]) -> Self {
        Self::of(command().args(arguments))
    }

    /// Starts this command and shakes hands.
    pub fn of(command: &mut Command) -> Self {
        let wire = Wire::start(command);
        let client = json!({"name": "postern-tests", "version": "0"});
        let hello = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        let answer = parse(&wire.request("initialize", &hello));
        wire.notify("notifications/initialized", &json!({}));
        Self {
            wire,
            welcome: answer["result"].clone(),
        }
    }

    /// Calls a tool with any arguments.
    #[track_caller]
    pub fn tool(&self, name: &str, arguments: &Value) -> Answer {
        answer(
            self.wire
                .request("tools/call", &json!({"name": name, "arguments": arguments})),
        )
    }

    /// Calls a tool that may take so long.
    #[track_caller]
    pub fn patient_tool(&self, name: &str, arguments: &Value, time: Duration) -> Answer {
        let call = json!({"name": name, "arguments": arguments});
        let pending = self.wire.post("tools/call", &call);
        answer(
            self.wire
                .wait_for(&pending, time)
                .expect("an answer in time"),
        )
    }

    /// Calls a tool and does not wait: its answer comes by [`Mcp::answer_to`].
    pub fn post_tool(&self, name: &str, arguments: &Value) -> Pending {
        let call = json!({"name": name, "arguments": arguments});
        self.wire.post("tools/call", &call)
    }

    /// Waits for the answer to a call that was posted.
    #[track_caller]
    pub fn answer_to(&self, pending: &Pending) -> Answer {
        answer(self.wire.wait(pending).expect("an answer in time"))
    }

    /// Returns the tools that are offered.
    pub fn tools(&self) -> Vec<Value> {
        let list = parse(&self.wire.request("tools/list", &json!({})));
        list["result"]["tools"].as_array().expect("tools").clone()
    }

    /// Makes a call that has the same words in both families.
    #[track_caller]
    pub(crate) fn common(&self, op: &Op) -> Answer {
        match op {
            Op::Tree(walk) => parse::tree(self.tool("tree_dir", &walk_arguments(walk))),
            Op::Search(search) => {
                parse::search(self.tool("search_files", &search_arguments(search)), search)
            }
            Op::Copy(transfer) => self.tool("copy_file", &transfer_arguments(transfer)),
            Op::Move(transfer) => self.tool("move_file", &transfer_arguments(transfer)),
            Op::Stat(path) => self.tool("stat_file", &on(path).into()),
            Op::CreateDir(dir) => self.tool("make_dir", &dir_arguments(dir)),
            Op::Remove(path) => self.tool("delete_file", &on(path).into()),
            Op::Undo(path) => self.tool("undo_edit", &on(path).into()),
            other => panic!("each family has words of its own for {other:?}"),
        }
    }

    /// Returns a field of the process's status in KiB, such as `VmHWM`.
    pub fn status_kib(&self, field: &str) -> u64 {
        self.wire.status_kib(field)
    }
}

/// Returns the command without arguments and with an environment that says nothing but where state is
/// kept.
pub fn command() -> Command {
    let mut command = Command::new(binary::tool_server());
    command.env_clear();
    command.env("XDG_STATE_HOME", binary::state());
    command
}

/// Returns the command line for these settings.
pub fn arguments(settings: &Settings) -> Vec<String> {
    // Files change behind the server's back here, and what a session remembers of them is this front
    // end's own.
    let all = ["--tools", "all", "--stale", "allow"];
    let mut all: Vec<String> = all.map(str::to_owned).into();
    let mut flag = |name: &str, value: String| all.extend([name.to_owned(), value]);
    for root in &settings.roots {
        flag(
            root_flag(root),
            format!("{}={}", root.name, root.path.display()),
        );
    }
    for glob in &settings.deny {
        flag("--deny", glob.clone());
    }
    if let Some(policy) = &settings.hard_links {
        flag("--hard-links", policy.clone());
    }
    if let Some(fallback) = &settings.fallback {
        flag("--fallback-encoding", fallback.clone());
    }
    if let Some(bytes) = settings.max_read_bytes {
        flag("--max-read-bytes", bytes.to_string());
    }
    let lacks_delete = settings
        .roots
        .iter()
        .any(|root| !has(root, "delete") && has(root, "edit"));
    all.extend(lacks_delete.then(|| "--no-delete".to_owned()));
    all.extend(
        settings
            .one_filesystem
            .then(|| "--one-filesystem".to_owned()),
    );
    all
}

/// Parses a line of the wire.
#[track_caller]
pub fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

impl FrontEnd for Mcp {
    const NAME: &'static str = "mcp";

    fn start(settings: &Settings) -> Self {
        let mut command = command();
        for right in &settings.outside {
            command.env(
                format!("VOTX_FILE_{}_OUTSIDE_SANDBOX", right.to_uppercase()),
                "1",
            );
        }
        Self::of(command.args(arguments(settings)))
    }

    fn lacks(op: &Op) -> Option<&'static str> {
        match op {
            Op::Read(read) => read_lacks(read),
            Op::List(list) if list.order == Order::FoldersFirst => {
                Some("files_ls lists by name only")
            }
            _ => None,
        }
    }

    fn call(&self, op: &Op) -> Answer {
        match op {
            Op::Read(read) => self.tool("files_read", &read_arguments(read)),
            Op::Write(write) => self.tool("files_write", &write_arguments(write)),
            Op::Edit(edit) => match &edit.target {
                Target::Text(edits) => self.tool("files_edit", &edit_arguments(edit, edits)),
                Target::Position(_) => self.tool("edit_file", &edit_file_arguments(edit)),
            },
            Op::List(list) => parse::listed(self.tool("files_ls", &list_arguments(list))),
            _ => self.common(op),
        }
    }

    fn peak_memory(&self) -> Option<u64> {
        Some(self.status_kib("VmHWM") * 1024)
    }
}

fn has(root: &Root, right: &str) -> bool {
    root.rights.iter().any(|held| held == right)
}

fn root_flag(root: &Root) -> &'static str {
    if has(root, "edit") {
        "--root"
    } else {
        "--read-only-root"
    }
}

fn read_lacks(read: &Read) -> Option<&'static str> {
    match read.range {
        _ if read.max_bytes.is_some() => Some("files_read has a fixed cap of bytes"),
        _ if read.max_line_chars.is_some_and(|chars| chars != 2000) => {
            Some("files_read cuts lines at 2,000")
        }
        Range::From { limit: Some(0), .. } => Some("files_read takes limit 0 as absent"),
        Range::From { line: 0, .. } => Some("files_read takes offset 0 as absent"),
        Range::Tail(0) => Some("files_read takes tail 0 as absent"),
        _ => None,
    }
}

fn read_arguments(read: &Read) -> Value {
    let mut arguments = on(&read.path);
    match read.range {
        Range::All => {}
        Range::Tail(count) => put(&mut arguments, "tail", count),
        Range::From {
            line,
            column,
            limit,
        } => {
            put(&mut arguments, "offset", line);
            put_some(&mut arguments, "limit", limit);
            put_some(&mut arguments, "column", (column > 1).then_some(column));
        }
    }
    put_some(&mut arguments, "encoding", read.encoding.clone());
    arguments.into()
}

pub(crate) fn walk_arguments(walk: &Walk) -> Value {
    let mut arguments = on(&walk.path);
    put(&mut arguments, "max_depth", walk.max_depth);
    put(&mut arguments, "max_entries", walk.max_entries);
    let hidden = walk.include_hidden.then_some(true);
    put_some(&mut arguments, "include_hidden", hidden);
    arguments.into()
}

pub(crate) fn search_arguments(search: &Search) -> Value {
    let mut arguments = Map::new();
    put(&mut arguments, "query", search.query.clone());
    put(&mut arguments, "root", search.path.clone());
    let mode = match search.within {
        Within::Text => "text",
        Within::Names => "name",
        Within::Definitions => "code",
    };
    put(&mut arguments, "mode", mode);
    put_some(&mut arguments, "regex", search.regex.then_some(true));
    put_some(&mut arguments, "file_glob", search.file_glob.clone());
    put_some(&mut arguments, "max_results", search.max_results);
    put(&mut arguments, "context_lines", search.context_lines);
    let hidden = search.include_hidden.then_some(true);
    put_some(&mut arguments, "include_hidden", hidden);
    put_some(&mut arguments, "encoding", search.encoding.clone());
    arguments.into()
}

fn transfer_arguments(transfer: &Transfer) -> Value {
    let mut arguments = Map::new();
    put(&mut arguments, "src_path", transfer.from.clone());
    put(&mut arguments, "dst_path", transfer.to.clone());
    let overwrite = transfer.overwrite.then_some(true);
    put_some(&mut arguments, "overwrite", overwrite);
    arguments.into()
}

fn dir_arguments(dir: &NewDir) -> Value {
    let mut arguments = on(&dir.path);
    put(&mut arguments, "parents", dir.parents);
    put(&mut arguments, "exist_ok", dir.exist_ok);
    arguments.into()
}

/// The arguments of `edit_file`, for a change by position or of one text.
pub(crate) fn edit_file_arguments(edit: &Edit) -> Value {
    let mut arguments = on(&edit.path);
    let mut set = |name: &str, value: Value| put(&mut arguments, name, value);
    match &edit.target {
        Target::Text(edits) => {
            let [only] = edits.as_slice() else {
                panic!("edit_file makes one edit")
            };
            set("mode", json!("replace_text"));
            set("old_text", json!(only.old));
            set("text", json!(only.new));
            set("expected_count", json!(only.expected_count));
        }
        Target::Position(Positional::Insert { line, column, text }) => {
            set("mode", json!("insert"));
            set("line", json!(line));
            set("column", json!(column));
            set("text", json!(text));
        }
        Target::Position(Positional::ReplaceLine { line, text }) => {
            set("mode", json!("replace_line"));
            set("line", json!(line));
            set("text", json!(text));
        }
        Target::Position(Positional::ReplaceRange {
            line,
            column,
            end_line,
            end_column,
            text,
        }) => {
            set("mode", json!("replace_range"));
            set("line", json!(line));
            set("column", json!(column));
            set("end_line", json!(end_line));
            set("end_column", json!(end_column));
            set("text", json!(text));
        }
    }
    put(&mut arguments, "create_backup", edit.backup);
    add_edit_options(&mut arguments, edit);
    arguments.into()
}

fn write_arguments(write: &Write) -> Value {
    let mut arguments = on(&write.path);
    put(&mut arguments, "content", write.text.clone());
    let (mode, line) = match write.mode {
        Mode::Overwrite => (None, None),
        Mode::Append => (Some("append"), None),
        Mode::Insert(line) => (Some("insert"), Some(line)),
        Mode::Create => (Some("create"), None),
    };
    put_some(&mut arguments, "mode", mode);
    put_some(&mut arguments, "line", line);
    put_some(&mut arguments, "encoding", write.encoding.clone());
    put_some(&mut arguments, "if_version", write.if_version.clone());
    arguments.into()
}

fn edit_arguments(edit: &Edit, edits: &[Replacement]) -> Value {
    let mut arguments = on(&edit.path);
    put(
        &mut arguments,
        "edits",
        edits.iter().map(replacement).collect::<Vec<_>>(),
    );
    put_some(&mut arguments, "create_backup", edit.backup.then_some(true));
    add_edit_options(&mut arguments, edit);
    arguments.into()
}

fn add_edit_options(arguments: &mut Map<String, Value>, edit: &Edit) {
    let eol = match edit.eol {
        EolMode::Auto => None,
        EolMode::Exact => Some("exact"),
        EolMode::Lf => Some("lf"),
        EolMode::CrLf => Some("crlf"),
    };
    put_some(arguments, "eol", eol);
    put_some(arguments, "encoding", edit.encoding.clone());
    put_some(arguments, "if_version", edit.if_version.clone());
    put_some(arguments, "dry_run", edit.dry_run.then_some(true));
}

fn replacement(edit: &Replacement) -> Value {
    let mut arguments = Map::new();
    put(&mut arguments, "old", edit.old.clone());
    put(&mut arguments, "new", edit.new.clone());
    put_some(
        &mut arguments,
        "expected_count",
        (edit.expected_count != 1).then_some(edit.expected_count),
    );
    arguments.into()
}

pub(crate) fn list_arguments(list: &List) -> Value {
    let mut arguments = on(&list.path);
    put_some(&mut arguments, "limit", list.limit);
    put_some(&mut arguments, "after", list.after.clone());
    arguments.into()
}

pub(crate) fn on(path: &str) -> Map<String, Value> {
    Map::from_iter([("path".to_owned(), path.into())])
}

pub(crate) fn put(arguments: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    arguments.insert(name.to_owned(), value.into());
}

pub(crate) fn put_some(
    arguments: &mut Map<String, Value>,
    name: &str,
    value: Option<impl Into<Value>>,
) {
    if let Some(value) = value {
        put(arguments, name, value);
    }
}

fn answer(raw: String) -> Answer {
    let line = parse(&raw);
    let result = &line["result"];
    let failed = |code: String, fields: &Value| {
        Err(Refusal {
            code,
            fields: fields.clone(),
        })
    };
    let result = if let Some(code) = line["error"]["code"].as_i64() {
        failed(format!("rpc {code}"), &line["error"])
    } else if result["isError"] == true {
        let fields = &result["structuredContent"];
        failed(
            fields["code"].as_str().unwrap_or("no code").to_owned(),
            fields,
        )
    } else {
        Ok(done(result))
    };
    Answer { result, raw }
}

fn done(result: &Value) -> Done {
    let block = |index: usize| {
        result["content"][index]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    Done {
        text: block(0),
        hint: block(1),
        facts: result["_meta"]["postern/facts"].clone(),
        ..Done::default()
    }
}
