use std::fs;
use std::path::Path;

use cap_std::ambient_authority;
use serde_json::{Value, json};

use super::*;
use crate::walk::Everything;

mod cases;
mod code;
mod cuts;
mod encodings;
mod limits;
mod model;
mod names;
mod patterns;

fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

/// A tree of files.
fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.to_owned(),
        ..Query::default()
    }
}

fn regex(pattern: &str) -> Query {
    Query {
        syntax: Syntax::Regex,
        ..query(pattern)
    }
}

fn found(folder: &tempfile::TempDir, query: &Query) -> Found {
    search(&open(folder.path()), &RelPath::root(), query, &Everything).unwrap()
}

/// Returns the lines as `PATH:LINE:text`, those of context as `PATH-LINE-text`, and names as they are.
fn lines(found: &Found) -> Vec<String> {
    let mut lines: Vec<_> = found
        .names
        .iter()
        .map(|name| name.path.to_string())
        .collect();
    for block in &found.blocks {
        for (number, line) in (block.first_line..).zip(&block.lines) {
            let mark = if line.column.is_some() { ':' } else { '-' };
            lines.push(format!("{}{mark}{number}{mark}{}", block.path, line.text));
        }
    }
    lines
}

#[track_caller]
fn check(files: &[(&str, &[u8])], query: &Query, expected: &[&str]) {
    let folder = tree(files);
    for threads in [0, 1, 2] {
        let query = Query {
            threads,
            ..query.clone()
        };
        assert_eq!(
            lines(&found(&folder, &query)),
            expected,
            "{threads} threads"
        );
    }
}

fn skips(found: &Found) -> Vec<(&'static str, u64)> {
    let skips = found.skipped.iter();
    skips.map(|(skip, count)| (skip.name(), count)).collect()
}
