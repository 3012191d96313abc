//! `cargo xtask docs`: the pages that are made from the code, so that they cannot fall behind it.

mod errors;
mod tools;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell;
use crate::tree::{Breach, Tree};

const ERRORS: &str = "docs/errors.md";
const TOOLS: &str = "docs/tools.md";
/// Where the codes and their texts are: in the file of fs-core that holds this.
const ENUM: &str = "pub enum Problem {";

/// Writes both pages.
///
/// # Errors
/// Fails when the code cannot be read or the server's tools cannot be listed.
pub(crate) fn write() -> Result<()> {
    let tree = Tree::of_project()?;
    put(ERRORS, &errors::page(source(&tree))?)?;
    put(TOOLS, &tools::page(&listed_tools()?)?)
}

/// Compares both pages with the code.
///
/// # Errors
/// Fails when one of them is not what [`write()`] would write.
pub(crate) fn check() -> Result<()> {
    let tree = Tree::of_project()?;
    let breaches = check_text(&tree);
    if let Some(breach) = breaches.first() {
        bail!("{breach}");
    }
    check_tools()
}

/// Compares the page of errors with the source it is made from.
pub(crate) fn check_text(tree: &Tree) -> Vec<Breach> {
    let have = tree.files.get(ERRORS).map_or("", String::as_str);
    let source = source(tree);
    let (codes, wanted) = match (errors::codes(source), errors::page(source)) {
        (Ok(codes), Ok(page)) => (codes, page),
        (Err(error), _) | (_, Err(error)) => {
            return vec![Breach::new(ERRORS, 0, format!("cannot be made: {error}"))];
        }
    };
    let explained = |code: &String| have.contains(&format!("| `{code}` |"));
    let missing = codes.iter().filter(|code| !explained(code));
    let mut breaches: Vec<Breach> = missing
        .map(|code| Breach::new(ERRORS, 0, format!("does not explain `{code}`")))
        .collect();
    if breaches.is_empty() && have != wanted {
        breaches.push(Breach::new(ERRORS, 0, "is old; run `cargo xtask docs`"));
    }
    breaches
}

fn source(tree: &Tree) -> &str {
    let core = tree
        .files
        .iter()
        .filter(|(path, _)| path.starts_with("crates/fs-core/src/"));
    let mut texts = core.map(|(_, text)| text.as_str());
    texts.find(|text| text.contains(ENUM)).unwrap_or_default()
}

/// Compares the page of tools with what the server lists.
///
/// # Errors
/// Fails when they differ.
pub(crate) fn check_tools() -> Result<()> {
    let wanted = tools::page(&listed_tools()?)?;
    let have = fs::read_to_string(shell::root().join(TOOLS)).unwrap_or_default();
    if have == wanted {
        return Ok(());
    }
    bail!("{TOOLS} is old; run `cargo xtask docs`")
}

/// Asks the server for all its tools.
fn listed_tools() -> Result<String> {
    let mut cargo = shell::cargo(&["run", "--quiet", "--locked", "--package", "tool-server"]);
    cargo.args(["--", "tools", "--json", "--tools", "all", "--root", "."]);
    shell::output(&mut cargo)
}

fn put(path: &str, text: &str) -> Result<()> {
    let target = shell::root().join(path);
    fs::create_dir_all(target.parent().unwrap_or(Path::new(".")))?;
    fs::write(&target, text).context(path.to_owned())?;
    println!("wrote {path}");
    Ok(())
}
