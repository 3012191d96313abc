//! Ignore rules: read through our own handles, matched from the innermost directory outwards.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::handles::{OpenDir, read_small};
use crate::list::EntryKind;
use crate::path::RelPath;

/// A file of rules over this size is no file of rules.
const MAX_BYTES: u64 = 1024 * 1024;
/// How much the rules may cost that hold in one directory, by [`cost`]: they are compiled, and take a
/// hundred times their length. What people write costs a hundredth of this.
const MAX_COST: usize = 64 * 1024;

/// The rules of a directory and of those above it.
#[derive(Debug)]
pub(crate) struct Rules {
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    border: Border,
    /// How many bytes of a path lead to the directory, the slash included.
    depth: usize,
    above: Option<Arc<Self>>,
    /// What more rules may cost further down.
    budget: usize,
}

/// The files of rules that a directory has, and whether a repository begins there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RuleFiles {
    pub(crate) ignore: bool,
    pub(crate) git: bool,
    pub(crate) exclude: bool,
    pub(crate) border: Border,
}

/// Whether a repository begins in a directory: what git is told above it does not hold in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Border {
    Repository,
    #[default]
    None,
}

/// Which files of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Ignore,
    Git,
    Exclude,
}

/// What the rules say of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ignored,
    /// Taken back by `!`, so that even a dot does not hide it.
    Kept,
    Open,
}

impl RuleFiles {
    /// Returns whether a file of this name holds rules.
    pub(crate) fn are_named(name: &[u8]) -> bool {
        matches!(name, b".gitignore" | b".ignore")
    }
}

impl Rules {
    /// Returns the rules that hold in `dir`: those of its own `files` and those `above`.
    pub(crate) fn of_dir(
        dir: &OpenDir,
        files: RuleFiles,
        above: Option<&Arc<Self>>,
    ) -> Option<Arc<Self>> {
        let mut budget = above.map_or(MAX_COST, |rules| rules.budget);
        let mut read = |wanted: bool, names: &[&str]| {
            let bytes = wanted.then(|| read_small(dir, names, MAX_BYTES));
            compile(&bytes.flatten().unwrap_or_default(), &mut budget)
        };
        let rules = Self {
            ignore: read(files.ignore, &[".ignore"]),
            git: read(files.git, &[".gitignore"]),
            exclude: read(files.exclude, &[".git", "info", "exclude"]),
            border: files.border,
            budget,
            depth: match dir.path.as_os_str().len() {
                0 => 0,
                len => len + 1,
            },
            above: above.cloned(),
        };
        let is_empty = [&rules.ignore, &rules.git, &rules.exclude].map(Gitignore::is_empty);
        let is_border = rules.border == Border::Repository && above.is_some();
        if is_empty == [true; 3] && !is_border {
            return above.cloned();
        }
        Some(Arc::new(rules))
    }

    /// Returns what the rules say of the entry at `path`.
    ///
    /// The innermost directory that says anything decides; `.ignore` files come before `.gitignore`,
    /// and these before `.git/info/exclude`. Of the latter two none counts from outside of the
    /// repository that the directory lies in.
    pub(crate) fn verdict(&self, path: &RelPath, kind: EntryKind) -> Verdict {
        let path = path.as_os_str().as_bytes();
        let mut verdict = Verdict::Open;
        for source in [Source::Ignore, Source::Git, Source::Exclude] {
            let mut level = Some(self);
            while let (Some(rules), Verdict::Open) = (level, verdict) {
                let below = path.get(rules.depth..).unwrap_or_default();
                verdict = rules.says(source, Path::new(OsStr::from_bytes(below)), kind);
                let ends = rules.border == Border::Repository && source != Source::Ignore;
                level = rules.above.as_deref().filter(|_| !ends);
            }
        }
        verdict
    }

    fn says(&self, source: Source, path: &Path, kind: EntryKind) -> Verdict {
        let rules = match source {
            Source::Ignore => &self.ignore,
            Source::Git => &self.git,
            Source::Exclude => &self.exclude,
        };
        match rules.matched(path, kind == EntryKind::Dir) {
            Match::None => Verdict::Open,
            Match::Ignore(_) => Verdict::Ignored,
            Match::Whitelist(_) => Verdict::Kept,
        }
    }
}

/// Returns the rules of a file, as many as the budget allows; lines that are no UTF-8 or no glob hold
/// none, as in git.
fn compile(bytes: &[u8], budget: &mut usize) -> Gitignore {
    if bytes.is_empty() {
        return Gitignore::empty();
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut builder = GitignoreBuilder::new("");
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(left) = budget.checked_sub(cost(line)) else {
            break;
        };
        *budget = left;
        if let Ok(line) = std::str::from_utf8(line) {
            drop(builder.add_line(None, line));
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Returns what a rule costs: plain names are looked up, patterns become a part of an automaton.
fn cost(line: &[u8]) -> usize {
    match line {
        b"" | [b'#', ..] => 0,
        _ if line.iter().any(|byte| b"*?[{\\".contains(byte)) => line.len() + 16,
        _ => 4 + line.len() / 16,
    }
}
