//! The tool server in the words of the family `file` alone.

use std::ops::Deref;

use fs_edit::Target;
use serde_json::Value;

use crate::front_end::{Answer, Edit, FrontEnd, Mode, Op, Order, Range, Read, Settings, Write};
use crate::mcp::{Mcp, edit_file_arguments, list_arguments, on, parse, put, put_some};

/// The most lines of a window: `read_file_range` counts 500 as none.
const MOST_LINES: u64 = 50_000;

/// A running tool server that is spoken to by `read_file`, `read_file_range`, `write_file`,
/// `append_file`, `edit_file`, `list_dir` and what both families have in common.
#[derive(Debug)]
pub struct McpFile(Mcp);

impl Deref for McpFile {
    type Target = Mcp;

    fn deref(&self) -> &Mcp {
        &self.0
    }
}

impl FrontEnd for McpFile {
    const NAME: &'static str = "mcp-file";
    const BREAKS: bool = false;

    fn start(settings: &Settings) -> Self {
        Self(Mcp::start(settings))
    }

    fn lacks(op: &Op) -> Option<&'static str> {
        match op {
            Op::Read(read) => read_lacks(read),
            Op::Write(write) => write_lacks(write.mode),
            Op::Edit(edit) => edit_lacks(edit),
            Op::List(list) if list.order == Order::Name => Some("list_dir lists folders first"),
            _ => None,
        }
    }

    fn call(&self, op: &Op) -> Answer {
        match op {
            Op::Read(read) => self.read_lines(read),
            Op::Write(write) => self.write_whole(write),
            Op::Edit(edit) => self.tool("edit_file", &edit_file_arguments(edit)),
            Op::List(list) => parse::listed_dir(self.tool("list_dir", &list_arguments(list))),
            _ => self.common(op),
        }
    }

    fn peak_memory(&self) -> Option<u64> {
        self.0.peak_memory()
    }
}

impl McpFile {
    fn read_lines(&self, read: &Read) -> Answer {
        let mut arguments = on(&read.path);
        put_some(&mut arguments, "encoding", read.encoding.clone());
        match read.range {
            Range::All => return self.tool("read_file", &arguments.into()),
            Range::Tail(count) => put(&mut arguments, "tail", count),
            Range::From {
                line,
                column,
                limit,
            } => {
                put(&mut arguments, "start_line", line);
                put(&mut arguments, "max_lines", limit.unwrap_or(MOST_LINES));
                put_some(&mut arguments, "column", (column > 1).then_some(column));
            }
        }
        parse::range(self.tool("read_file_range", &arguments.into()))
    }

    fn write_whole(&self, write: &Write) -> Answer {
        let mut arguments = on(&write.path);
        put(&mut arguments, "content", write.text.clone());
        put_some(&mut arguments, "encoding", write.encoding.clone());
        put_some(&mut arguments, "if_version", write.if_version.clone());
        let tool = match write.mode {
            Mode::Append => "append_file",
            _ => "write_file",
        };
        self.tool(tool, &Value::from(arguments))
    }
}

fn read_lacks(read: &Read) -> Option<&'static str> {
    let cuts = read.max_line_chars.is_some();
    match read.range {
        _ if read.max_bytes.is_some() => Some("the family `file` has fixed caps of bytes"),
        Range::All if cuts => Some("read_file cuts no lines"),
        _ if read.max_line_chars.is_some_and(|chars| chars != 2000) => {
            Some("read_file_range cuts lines at 2,000")
        }
        Range::From { limit: Some(0), .. } => Some("read_file_range takes max_lines 0 as absent"),
        Range::From { line: 0, .. } => Some("read_file_range takes start_line 0 as absent"),
        Range::Tail(0) => Some("read_file_range takes tail 0 as absent"),
        _ => None,
    }
}

fn write_lacks(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::Overwrite | Mode::Append => None,
        Mode::Insert(_) => Some("edit_file inserts by position"),
        Mode::Create => Some("write_file creates and overwrites alike"),
    }
}

fn edit_lacks(edit: &Edit) -> Option<&'static str> {
    match &edit.target {
        Target::Text(edits) if edits.len() != 1 => Some("edit_file makes one edit"),
        _ => None,
    }
}
