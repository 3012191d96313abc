//! The servers that are measured, and how they are started.

use std::path::{Path, PathBuf};

use crate::bench::built;
use crate::demo;
use crate::setup::{self, CargoTool, FD, RIPGREP, RUST_MCP_FILESYSTEM, Setup};

/// The name of our own row.
pub(super) const OURS: &str = "tool-server";
/// The row of the least a server can do; the driver does not count it as a peer.
pub(super) const LOOP: &str = "floor: hand-written loop";

/// A row of the benchmark: the driver's profile, the name it is printed by, and the command.
#[derive(Debug)]
pub(super) struct Row {
    profile: &'static str,
    label: &'static str,
    command: Vec<String>,
}

impl Row {
    fn new(label: &'static str, program: &Path, arguments: &[&str]) -> Self {
        let program = program.to_string_lossy().into_owned();
        let arguments = arguments.iter().map(|each| (*each).to_owned());
        Self {
            profile: label,
            label,
            command: std::iter::once(program).chain(arguments).collect(),
        }
    }

    /// Returns the row as the driver takes it, each word quoted for it.
    pub(super) fn argument(&self) -> String {
        let words = self.command.iter();
        let quoted: Vec<String> = words
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
            .collect();
        format!("{}@{}={}", self.profile, self.label, quoted.join(" "))
    }
}

/// Returns where our own server keeps the history of what it changes here.
pub(super) fn state() -> PathBuf {
    demo::target().join("bench").join("state")
}

/// Installs the peers and the programs; returns the rows, and for each that could not be installed the reason.
pub(super) fn rows() -> (Vec<Row>, Vec<String>) {
    let mut floor = Row::new(LOOP, &built("baseline"), &[]);
    floor.profile = "baseline";
    let state = state().to_string_lossy().into_owned();
    let arguments = ["--root", "{root}", "--state", &state];
    let mut rows = vec![Row::new(OURS, &built("tool-server"), &arguments), floor];
    let mut missing = Vec::new();
    if let Some(program) = built_by_cargo(&RUST_MCP_FILESYSTEM, &mut missing) {
        let arguments = ["--allow-write", "{root}"];
        rows.push(Row::new("rust-mcp-filesystem", &program, &arguments));
    }
    match setup::peers() {
        Ok(Setup::Ready((node, packages))) => rows.extend(on_node(&node, &packages)),
        Ok(Setup::Missing(what)) => missing.push(format!("the peers on Node: no {what}")),
        Err(error) => missing.push(format!("the peers on Node: {error:#}")),
    }
    for program in [RIPGREP, FD] {
        built_by_cargo(&program, &mut missing);
    }
    (rows, missing)
}

fn built_by_cargo(tool: &CargoTool, missing: &mut Vec<String>) -> Option<PathBuf> {
    let program = setup::cargo_tool(tool);
    program
        .map_err(|error| missing.push(format!("{error:#}")))
        .ok()
}

fn on_node(node: &Path, packages: &Path) -> [Row; 2] {
    let script = |path: &str| packages.join(path).to_string_lossy().into_owned();
    let reference = script("@modelcontextprotocol/server-filesystem/dist/index.js");
    let commander = script("@wonderwhy-er/desktop-commander/dist/index.js");
    [
        Row::new("reference", node, &[&reference, "{root}"]),
        Row::new("desktop-commander", node, &[&commander, "--no-onboarding"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_blanks_and_quotes() {
        let row = Row::new("a", Path::new("/a b/c'd"), &["{root}"]);
        assert_eq!(row.argument(), r"a@a='/a b/c'\''d' '{root}'");
    }
}
