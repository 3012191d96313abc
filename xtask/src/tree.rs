//! The project's own files, as text.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;
use crate::source::Facts;

/// Folders that hold nothing of the project.
const FOREIGN: [&str; 3] = [".git", ".tools", "target"];

/// The text files of the project by their path below its root, with `/` as separator.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: BTreeMap<String, String>,
    /// The facts of the Rust files.
    pub(crate) facts: BTreeMap<String, Facts>,
}

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) file: String,
    /// Counted from 1; 0 is the file as a whole.
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Breach {
    pub(crate) fn new(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            text: text.into(),
        }
    }
}

impl std::fmt::Display for Breach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.text),
            line => write!(f, "{}:{line}: {}", self.file, self.text),
        }
    }
}

impl Tree {
    /// Reads every text file that is committed, or would be by `git add`.
    ///
    /// # Errors
    /// Fails when a file cannot be read.
    pub(crate) fn of_project() -> Result<Self> {
        let root = shell::root();
        let mut files = BTreeMap::new();
        for path in paths(&root)? {
            let bytes = match std::fs::read(root.join(&path)) {
                Ok(bytes) => bytes,
                // A file that is deleted in the work tree and not yet in the index.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error).context(path),
            };
            if let Ok(text) = String::from_utf8(bytes) {
                files.insert(path, text);
            }
        }
        Self::new(files)
    }

    fn new(files: BTreeMap<String, String>) -> Result<Self> {
        let is_rust = |path: &str| Path::new(path).extension().is_some_and(|end| end == "rs");
        let rust = files.iter().filter(|(path, _)| is_rust(path));
        let facts = rust
            .map(|(path, text)| {
                let facts = Facts::of(text).with_context(|| path.clone())?;
                Ok((path.clone(), facts))
            })
            .collect::<Result<_>>()?;
        Ok(Self { files, facts })
    }

    /// Returns a tree of the given files, for tests of the rules.
    #[cfg(test)]
    pub(crate) fn planted(files: &[(&str, &str)]) -> Self {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self::new(files.collect()).unwrap()
    }

    /// Returns the Rust files with their facts.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &Facts)> {
        let files = self.facts.iter();
        files.map(|(path, facts)| (path.as_str(), facts))
    }
}

/// Returns the paths of the project's files below `root`, sorted: what git knows, else every file.
///
/// # Errors
/// Fails when a folder cannot be listed.
pub(crate) fn paths(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others"])
        .arg("--exclude-standard")
        .current_dir(root);
    let mut found = Vec::new();
    if let Ok(list) = shell::output(&mut git) {
        let names = list.split('\0').filter(|path| !path.is_empty());
        found.extend(names.map(str::to_owned));
    } else {
        found = walked(root)?;
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Returns the paths of all files below `root`, in no order, but those in folders that hold nothing of the project.
///
/// # Errors
/// Fails when a folder cannot be listed.
pub(crate) fn walked(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    walk(root, "", &mut found)?;
    Ok(found)
}

fn walk(root: &Path, below: &str, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = match below {
            "" => name.clone(),
            _ => format!("{below}/{name}"),
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && !FOREIGN.contains(&name.as_str()) {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
