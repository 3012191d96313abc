//! What a folder holds, to be compared before and after.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A folder's content by relative path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree(pub BTreeMap<PathBuf, Item>);

/// What has a name.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    /// Type and permission bits.
    pub mode: u32,
    /// The bytes of a small file, the target of a link.
    pub content: Vec<u8>,
    /// Size and time of the last change of a regular file; zero in a [`Tree::timeless`] one.
    pub stamp: (u64, i64, i64),
}

impl std::fmt::Debug for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (size, seconds, nanos) = self.stamp;
        write!(
            f,
            "{:o} \"{}\" {size} {seconds}.{nanos:09}",
            self.mode,
            self.content.escape_ascii()
        )
    }
}

/// Files over this many bytes are compared by size and time.
const SMALL: u64 = 4 << 20;

impl Tree {
    /// Returns what `dir` holds.
    pub fn of(dir: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(dir, Path::new(""));
        tree
    }

    /// Returns the tree without what is at or below `path`.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.0.retain(|name, _| !name.starts_with(path));
        self
    }

    /// Returns the tree without times.
    #[must_use]
    pub fn timeless(mut self) -> Self {
        for item in self.0.values_mut() {
            item.stamp = (0, 0, 0);
        }
        self
    }

    /// Returns the names that stand or hold something else in `other`, in words.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let names = self
            .0
            .keys()
            .chain(other.0.keys().filter(|name| !self.0.contains_key(*name)));
        let differ = names.filter(|name| self.0.get(*name) != other.0.get(*name));
        differ
            .map(|name| {
                format!(
                    "{}: {:?} -> {:?}",
                    name.display(),
                    self.0.get(name),
                    other.0.get(name)
                )
            })
            .collect()
    }

    fn add(&mut self, dir: &Path, below: &Path) {
        for entry in dir.read_dir().into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), below.join(entry.file_name()));
            let Ok(meta) = path.symlink_metadata() else {
                continue;
            };
            let regular = meta.is_file();
            let content = match () {
                () if meta.is_symlink() => path
                    .read_link()
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes(),
                () if regular && meta.len() <= SMALL => std::fs::read(&path).unwrap_or_default(),
                () => Vec::new(),
            };
            let stamp = if regular {
                (meta.len(), meta.mtime(), meta.mtime_nsec())
            } else {
                (0, 0, 0)
            };
            self.0.insert(
                name.clone(),
                Item {
                    mode: meta.mode(),
                    content,
                    stamp,
                },
            );
            if meta.is_dir() {
                self.add(&path, &name);
            }
        }
    }
}
