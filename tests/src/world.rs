//! A fresh base folder with a root and an outside.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::conditions::{Conditions, Openat2, is_root};
use crate::front_end::{Answer, Op, Settings};
use crate::setup::tmpfs;
use crate::snapshot::Tree;

/// What no answer may hold: it stands in files outside.
pub const CANARY: &str = "CANARY-7f3a";

/// A fresh base folder that holds `root` and `out`.
#[derive(Debug)]
pub struct World {
    base: PathBuf,
    folder: TempDir,
}

impl World {
    /// Returns a world with an empty root and an empty outside.
    pub fn new() -> Self {
        let world = Self::bare();
        std::fs::create_dir(world.root()).unwrap();
        std::fs::create_dir(world.out()).unwrap();
        world
    }

    /// Returns a world without root and outside: its case makes them.
    pub fn bare() -> Self {
        let folder = TempDir::with_prefix("postern-").unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let base = folder.path().canonicalize().unwrap();
        Self { base, folder }
    }

    /// Does the work in a world that lies in memory where this process may mount, so that no sync
    /// costs anything.
    pub fn in_memory<T: Send>(openat2: Openat2, work: impl FnOnce(&Self) -> T + Send) -> T {
        let world = Self::bare();
        let conditions = Conditions {
            openat2,
            own_mounts: is_root(),
            nobody: false,
        };
        conditions.run(|| {
            if is_root() {
                tmpfs(world.base(), 256 << 20);
            }
            std::fs::create_dir(world.root()).unwrap();
            std::fs::create_dir(world.out()).unwrap();
            work(&world)
        })
    }

    /// Returns the base folder.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the root.
    pub fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    /// Returns the outside.
    pub fn out(&self) -> PathBuf {
        self.base.join("out")
    }

    /// Returns settings with the root and all rights.
    pub fn settings(&self) -> Settings {
        Settings::on(self.root())
    }

    /// Returns the path of `name` below the base folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Writes a log of up to so many bytes below the base folder, and returns how many lines it has.
    pub fn log(&self, name: &str, bytes: usize) -> u64 {
        const LINES: u32 = 16_384;
        let line = |number| {
            format!("{number:06} a line of a log that says nothing much at all, with 64 bytes\n")
        };
        let chunk: String = (0..LINES).map(line).collect();
        let mut file = std::fs::File::create(self.path(name)).unwrap();
        let chunks = bytes / chunk.len();
        for _ in 0..chunks {
            std::io::Write::write_all(&mut file, chunk.as_bytes()).unwrap();
        }
        chunks as u64 * u64::from(LINES)
    }

    /// Writes a file below the base folder, with its parents, and returns the world.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    /// Removes all that a folder below the base folder holds; the folder itself stays the same one.
    pub fn clear(&self, name: &str) -> &Self {
        for entry in self.path(name).read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        self
    }

    /// Returns the bytes of a file below the base folder.
    #[track_caller]
    pub fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes a link below the base folder; `target` may hold `${ROOT}`, `${OUT}` and `${BASE}`.
    pub fn link(&self, name: &str, target: &str) -> &Self {
        std::os::unix::fs::symlink(self.expand(target), self.path(name)).unwrap();
        self
    }

    /// Returns `text` with the absolute paths of this world in it.
    pub fn expand(&self, text: &str) -> String {
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        text.replace("${ROOT}", &path(self.root()))
            .replace("${OUT}", &path(self.out()))
            .replace("${BASE}", &path(self.base.clone()))
    }

    /// Returns what the base folder holds.
    pub fn tree(&self) -> Tree {
        Tree::of(&self.base)
    }

    /// Returns what the base folder holds besides the root.
    pub fn outside(&self) -> Tree {
        self.tree().without("root")
    }

    /// Says which path that the caller did not send an answer discloses, if any.
    pub fn leak(&self, op: &Op, answer: &Answer) -> Option<String> {
        self.leak_besides(&answer.raw, &op.paths())
    }

    /// Says which path other than `sent` a line from a server discloses, if any.
    pub fn leak_in(&self, raw: &str, sent: &str) -> Option<String> {
        self.leak_besides(raw, &[sent])
    }

    /// Says which path other than those `sent` a line from a server discloses, if any.
    pub fn leak_besides(&self, raw: &str, sent: &[&str]) -> Option<String> {
        let base = self.base.to_str().unwrap();
        let folder = self.folder.path().file_name().unwrap().to_str().unwrap();
        let mut sent: Vec<&&str> = sent.iter().filter(|path| path.contains(base)).collect();
        sent.sort_by_key(|path| std::cmp::Reverse(path.len()));
        let rest = sent
            .into_iter()
            .fold(raw.to_owned(), |rest, path| rest.replace(*path, ""));
        let needle = [base, folder]
            .into_iter()
            .find(|needle| rest.contains(needle))?;
        Some(format!("{needle} in {raw}"))
    }
}

/// Opens directories that a case has closed, so that they can be removed.
impl Drop for World {
    fn drop(&mut self) {
        let mut closed = vec![self.base.clone()];
        while let Some(dir) = closed.pop() {
            drop(std::fs::set_permissions(
                &dir,
                PermissionsExt::from_mode(0o755),
            ));
            let below = dir.read_dir().into_iter().flatten().flatten();
            closed.extend(
                below
                    .map(|entry| entry.path())
                    .filter(|path| path.is_dir() && !path.is_symlink()),
            );
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
