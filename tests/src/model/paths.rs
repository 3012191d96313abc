//! Paths in a tree in memory, walked name by name as POSIX does, inside one root.

use std::collections::BTreeMap;
use std::path::Path;

/// What has a name in the model's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A directory.
    Dir(BTreeMap<String, Self>),
    /// A file with its text.
    File(String),
    /// A link with its target.
    Link(String),
}

/// What a path comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A directory, by its names from the root.
    Dir(Vec<String>),
    /// A file, by its names.
    File(Vec<String>),
    /// A link that was not to be followed, by its names.
    Link(Vec<String>),
    /// Nothing, in a directory that is there; the names it would have.
    Free(Vec<String>),
    /// Refused with this code.
    No(&'static str),
}

/// Whether a link at the end is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It is.
    Followed,
    /// It is taken itself.
    Taken,
}

/// A tree below a root that has this absolute path.
#[derive(Debug, Clone)]
pub struct Model {
    /// The absolute path of the root.
    pub root: String,
    /// What is below it.
    pub tree: Node,
}

impl Node {
    /// Returns an empty directory.
    pub fn dir() -> Self {
        Self::Dir(BTreeMap::new())
    }

    /// Returns what has these names below.
    pub fn at(&self, names: &[String]) -> Option<&Self> {
        names.iter().try_fold(self, |node, name| match node {
            Self::Dir(entries) => entries.get(name),
            Self::File(_) | Self::Link(_) => None,
        })
    }

    /// Puts a node at these names; a directory on the way that is missing is made. Gives up where
    /// something else is in the way.
    pub fn put(&mut self, names: &[String], node: Self) {
        let Self::Dir(entries) = self else { return };
        match names {
            [] => {}
            [name] => drop(entries.entry(name.clone()).or_insert(node)),
            [name, rest @ ..] => entries
                .entry(name.clone())
                .or_insert_with(Self::dir)
                .put(rest, node),
        }
    }

    /// Makes the tree on disk.
    pub fn build(&self, at: &Path) {
        match self {
            Self::File(text) => std::fs::write(at, text).unwrap(),
            Self::Link(target) => std::os::unix::fs::symlink(target, at).unwrap(),
            Self::Dir(entries) => {
                std::fs::create_dir_all(at).unwrap();
                for (name, node) in entries {
                    node.build(&at.join(name));
                }
            }
        }
    }
}

impl Model {
    /// Resolves a path that a caller sent.
    pub fn resolve(&self, path: &str, last: Last) -> Found {
        match self.start(path) {
            Some(_) if path.is_empty() => Found::No("invalid_path"),
            Some(names) => self.walk(Vec::new(), names, path, last),
            None => Found::No("outside_sandbox"),
        }
    }

    /// The names to walk from the root; `None` for an absolute path elsewhere.
    fn start(&self, path: &str) -> Option<Vec<String>> {
        let names = |text: &str| {
            let all = text
                .split('/')
                .filter(|name| !name.is_empty() && *name != ".");
            all.map(str::to_owned).collect::<Vec<_>>()
        };
        if !path.starts_with('/') {
            return Some(names(path));
        }
        let (path, root) = (names(path), names(&self.root));
        path.strip_prefix(root.as_slice()).map(<[String]>::to_vec)
    }

    fn walk(&self, from: Vec<String>, names: Vec<String>, path: &str, last: Last) -> Found {
        let mut at = from;
        let mut names = names;
        names.reverse();
        let mut to_dir = ends_as_dir(path);
        let mut links = 0;
        while let Some(name) = names.pop() {
            let node = self.tree.at(&at).expect("where we are");
            let Node::Dir(entries) = node else {
                return Found::No("not_a_directory");
            };
            if name == ".." {
                if at.pop().is_none() {
                    return Found::No("outside_sandbox");
                }
                continue;
            }
            let end = names.is_empty();
            match entries.get(&name) {
                None if end && !to_dir => {
                    at.push(name);
                    return Found::Free(at);
                }
                None => return Found::No("not_found"),
                Some(Node::Link(_)) if end && last == Last::Taken && !to_dir => {
                    at.push(name);
                    return Found::Link(at);
                }
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > 40 {
                        return Found::No("invalid_path");
                    }
                    let Some(more) = self.start(target) else {
                        return Found::No("outside_sandbox");
                    };
                    if target.starts_with('/') {
                        at.clear();
                    }
                    to_dir |= end && ends_as_dir(target);
                    names.extend(more.into_iter().rev());
                }
                Some(_) => at.push(name),
            }
        }
        match self.tree.at(&at).expect("where we are") {
            Node::Dir(_) => Found::Dir(at),
            _ if to_dir => Found::No("not_a_directory"),
            _ => Found::File(at),
        }
    }
}

/// Whether the text says that it names a directory.
fn ends_as_dir(path: &str) -> bool {
    path.ends_with('/') || path.ends_with("/.")
}
