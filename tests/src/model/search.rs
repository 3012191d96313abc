//! Searches of a tree in memory: every file split at its line feeds, every line looked at.

use std::collections::BTreeMap;
use std::path::Path;

use encoding_rs::GBK;

use crate::front_end::{Block, Search, Within};

/// What has a name in the model's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Dir(BTreeMap<String, Self>),
    /// A file: its text and how it is spelt.
    File(String, Spelling),
    /// A link, which leads to a file that would match.
    Link,
}

/// How a text lies on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// UTF-8.
    Utf8,
    /// UTF-8 behind a byte order mark.
    Utf8Mark,
    /// UTF-16 behind a byte order mark, low byte first.
    Utf16Le,
    /// UTF-16 behind a byte order mark, high byte first.
    Utf16Be,
    /// GBK where the text has only such characters as cannot be taken for UTF-8, else UTF-8.
    Gbk,
    /// A NUL and then UTF-8: no text.
    Binary,
}

/// What a search comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The names that match.
    pub names: Vec<String>,
    /// The lines that match and those around them.
    pub blocks: Vec<Block>,
    /// Whether there are more results than were wanted.
    pub truncated: bool,
    /// What was passed over, by reason; of a search that is not cut.
    pub skipped: BTreeMap<&'static str, u64>,
}

/// The characters whose bytes in GBK are never UTF-8.
const GBK_LETTERS: [char; 2] = ['中', '文'];

impl Entry {
    /// Returns an empty directory.
    pub fn dir() -> Self {
        Self::Dir(BTreeMap::new())
    }

    /// Puts an entry at these names; a directory on the way that is missing is made. Gives up where
    /// something else is in the way.
    pub fn put(&mut self, names: &[String], entry: Self) {
        let Self::Dir(entries) = self else { return };
        match names {
            [] => {}
            [name] => drop(entries.entry(name.clone()).or_insert(entry)),
            [name, rest @ ..] => entries
                .entry(name.clone())
                .or_insert_with(Self::dir)
                .put(rest, entry),
        }
    }

    /// Makes it on disk; links lead to `target`.
    pub fn build(&self, at: &Path, target: &Path) {
        match self {
            Self::Dir(entries) => {
                std::fs::create_dir_all(at).unwrap();
                for (name, entry) in entries {
                    entry.build(&at.join(name), target);
                }
            }
            Self::File(text, spelling) => std::fs::write(at, spelling.bytes(text)).unwrap(),
            Self::Link => std::os::unix::fs::symlink(target, at).unwrap(),
        }
    }
}

impl Spelling {
    fn bytes(self, text: &str) -> Vec<u8> {
        let plain = text.as_bytes();
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        match self {
            Self::Utf8Mark => [b"\xef\xbb\xbf", plain].concat(),
            Self::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => units().flat_map(u16::to_be_bytes).collect(),
            Self::Gbk
                if text
                    .chars()
                    .all(|c| c.is_ascii() || GBK_LETTERS.contains(&c)) =>
            {
                GBK.encode(text).0.into_owned()
            }
            Self::Utf8 | Self::Gbk => plain.to_vec(),
            Self::Binary => [b"\0", plain].concat(),
        }
    }
}

/// Returns what a search of the whole tree finds.
pub fn search(tree: &Entry, search: &Search) -> Found {
    let mut walk = Walk {
        search,
        found: Found::default(),
        results: 0,
    };
    walk.dir(tree, &mut Vec::new(), &mut Vec::new());
    walk.found
}

struct Walk<'s> {
    search: &'s Search,
    found: Found,
    results: u64,
}

/// The rules of a directory: those of `.ignore`, and those of `.gitignore`.
type Rules<'t> = [&'t str; 2];

impl Walk<'_> {
    fn dir<'t>(&mut self, dir: &'t Entry, path: &mut Vec<&'t str>, rules: &mut Vec<Rules<'t>>) {
        let Entry::Dir(entries) = dir else { return };
        let file = |name: &str| match entries.get(name) {
            Some(Entry::File(text, Spelling::Utf8)) => text.as_str(),
            _ => "",
        };
        rules.push([file(".ignore"), file(".gitignore")]);
        for (name, entry) in entries {
            path.push(name);
            let skip = self.skip(entries, entry, path, rules);
            let is_rules = [".ignore", ".gitignore"].contains(&name.as_str());
            match skip {
                Some("hidden") if is_rules => {}
                Some(skip) => self.count(skip),
                None => {}
            }
            if self.search.within == Within::Names {
                self.name(entry, path, skip);
            } else if skip.is_none() {
                self.entry(entry, path);
            }
            if skip.is_none() {
                self.dir(entry, path, rules);
            }
            path.pop();
        }
        rules.pop();
    }

    /// Why an entry is passed over by its name.
    fn skip(
        &self,
        siblings: &BTreeMap<String, Entry>,
        entry: &Entry,
        path: &[&str],
        rules: &[Rules<'_>],
    ) -> Option<&'static str> {
        let name = path[path.len() - 1];
        let is_dir = matches!(entry, Entry::Dir(_));
        let of = |name: &str| matches!(siblings.get(name), Some(Entry::File(..)));
        let is_backup = || name.strip_suffix(".bak").is_some_and(of);
        let is_file = matches!(entry, Entry::File(..));
        match verdict(rules, path, is_dir) {
            _ if is_dir && name == "node_modules" => Some("skip_list"),
            Some(true) => Some("ignored"),
            None if name.starts_with('.') && !self.search.include_hidden => Some("hidden"),
            _ if is_file && is_backup() => Some("backup"),
            _ => None,
        }
    }

    fn count(&mut self, skip: &'static str) {
        *self.found.skipped.entry(skip).or_default() += 1;
    }

    fn name(&mut self, entry: &Entry, path: &[&str], skip: Option<&'static str>) {
        let whole = path.join("/");
        let is_shown = !matches!(skip, Some("ignored" | "hidden" | "backup"));
        if is_shown && name_matches(&self.search.query, path) && self.has_room() {
            let mark = if matches!(entry, Entry::Dir(_)) {
                "/"
            } else {
                ""
            };
            self.found.names.push(format!("{whole}{mark}"));
        }
    }

    fn entry(&mut self, entry: &Entry, path: &[&str]) {
        let name = path[path.len() - 1];
        let glob = self.search.file_glob.as_deref();
        if glob.is_some_and(|glob| !glob_matches(glob, name)) {
            return;
        }
        match entry {
            Entry::Dir(_) => {}
            Entry::Link => self.count("link"),
            Entry::File(_, Spelling::Binary) => self.count("binary"),
            Entry::File(text, _) => self.text(text, &path.join("/")),
        }
    }

    fn text(&mut self, text: &str, path: &str) {
        let bare = super::lines::bare(text);
        let bare: Vec<&str> = match bare.as_str() {
            "" if text.is_empty() => Vec::new(),
            bare => bare.split('\n').collect(),
        };
        let matching = (0..bare.len()).filter(|at| bare[*at].contains(&self.search.query));
        let hits: Vec<usize> = matching.take_while(|_| self.has_room()).collect();
        let context = usize::try_from(self.search.context_lines).unwrap();
        let near = |at: usize| hits.iter().any(|hit| hit.abs_diff(at) <= context);
        let mut last = None;
        for at in (0..bare.len()).filter(|at| near(*at)) {
            if last.is_none_or(|last| last + 1 != at) {
                self.found.blocks.push(Block {
                    path: path.to_owned(),
                    first_line: at as u64 + 1,
                    lines: Vec::new(),
                });
            }
            let line = (bare[at].to_owned(), hits.contains(&at));
            self.found.blocks.last_mut().unwrap().lines.push(line);
            last = Some(at);
        }
    }

    /// Takes a place of the answer, if one is left.
    fn has_room(&mut self) -> bool {
        let most = self.search.max_results.unwrap_or(50);
        self.found.truncated |= self.results == most;
        if self.found.truncated {
            return false;
        }
        self.results += 1;
        true
    }
}

/// Whether the rules ignore an entry (`true`) or take it back; `None` where they say nothing.
///
/// `.ignore` goes before `.gitignore`, a directory before those above it, a line before those above.
fn verdict(rules: &[Rules<'_>], path: &[&str], is_dir: bool) -> Option<bool> {
    let levels = |source: usize| {
        let levels = rules.iter().enumerate().rev();
        levels.map(move |(depth, rules)| (rules[source], &path[depth..]))
    };
    let all = levels(0).chain(levels(1));
    all.into_iter()
        .find_map(|(rules, below)| verdict_of(rules, below, is_dir))
}

fn verdict_of(rules: &str, below: &[&str], is_dir: bool) -> Option<bool> {
    let name = below[below.len() - 1];
    rules.lines().rev().find_map(|line| {
        let (line, ignores) = match line.strip_prefix('!') {
            Some(line) => (line, false),
            None => (line, true),
        };
        let (line, fits_kind) = match line.strip_suffix('/') {
            Some(line) => (line, is_dir),
            None => (line, true),
        };
        let (line, fits_place) = match line.strip_prefix('/') {
            Some(line) => (line, below.len() == 1),
            None => (line, true),
        };
        let fits = !line.is_empty() && fits_kind && fits_place && glob_matches(line, name);
        fits.then_some(ignores)
    })
}

/// Names are compared without case unless the query has a capital; with a slash in it whole paths are.
fn name_matches(query: &str, path: &[&str]) -> bool {
    let whole = path.join("/");
    let name = if query.contains('/') {
        whole.as_str()
    } else {
        path[path.len() - 1]
    };
    let folded = name.to_lowercase();
    let has_capital = query.chars().any(char::is_uppercase);
    let name = if has_capital { name } else { &folded };
    if query.contains(['*', '?']) {
        glob_matches(query, name)
    } else {
        name.contains(query)
    }
}

/// `*` stands for any characters, `?` for one, a slash for neither.
fn glob_matches(glob: &str, name: &str) -> bool {
    let Some(first) = glob.chars().next() else {
        return name.is_empty();
    };
    let rest = &glob[first.len_utf8()..];
    let mut chars = name.chars();
    match first {
        '*' => {
            let stops = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            let mut open = stops.take_while(|at| !name[..*at].contains('/'));
            open.any(|at| glob_matches(rest, &name[at..]))
        }
        '?' => chars.next().is_some_and(|c| c != '/') && glob_matches(rest, chars.as_str()),
        _ => chars.next() == Some(first) && glob_matches(rest, chars.as_str()),
    }
}
