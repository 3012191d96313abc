//! The folders that an operation works in, and what they hold.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::operations::{Holds, State};

/// The time of every file before a call: long ago, so that any change of it is seen.
const LONG_AGO: Duration = Duration::from_secs(1_000_000_000);

/// Two roots, a state directory, and a tree outside.
#[derive(Debug)]
pub(super) struct World {
    /// Holds `near/`, which is the first root, `state/`, and `out/`, which nobody may touch.
    base: PathBuf,
    /// Another root, on another file system where there is one.
    far: PathBuf,
    /// The mode of a new file.
    new_mode: u32,
    outside: BTreeMap<String, Found>,
}

/// What a name was found to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) mtime: (i64, i64),
    pub(super) id: (u64, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

/// What the roots hold; directories do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Seen {
    pub(super) names: BTreeMap<String, Found>,
    /// The server's temporary names.
    pub(super) temps: Vec<String>,
}

impl World {
    /// Makes a world in a folder of this name in `target`, with its far root in memory where that is
    /// another file system.
    pub(super) fn new(target: &Path, name: &str) -> Result<Self> {
        let base = target.join("faults").join(name);
        let shared = Path::new("/dev/shm");
        remove(&base)?;
        fs::create_dir_all(base.join("out/folder"))?;
        let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
        let far = match device(shared) {
            Some(id) if Some(id) != device(&base) => {
                shared.join(format!("postern-faults-{}-{name}", std::process::id()))
            }
            _ => base.join("far"),
        };
        fs::write(base.join("out/file"), "nobody may change this\n")?;
        fs::write(base.join("out/folder/file"), "nor this\n")?;
        symlink("../near/f", base.join("out/link"))?;
        let new_mode = fs::metadata(base.join("out/file"))?.mode() & 0o777;
        let mut world = Self {
            base,
            far,
            new_mode,
            outside: BTreeMap::new(),
        };
        world.outside = world.outside_now()?;
        Ok(world)
    }

    /// Returns whether the far root is on another file system.
    pub(super) fn has_far(&self) -> bool {
        !self.far.starts_with(&self.base)
    }

    /// Returns the folder for logs and what else belongs to no root.
    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the flags that give a server this world.
    pub(super) fn flags(&self) -> Vec<String> {
        let flag = |name: &str, path: PathBuf| format!("--{name}={}", path.display());
        let mut all = vec!["--tools=all".to_owned(), "--json".to_owned()];
        all.push(flag("root", self.base.join("near")));
        all.push(format!("--root=far={}", self.far.display()));
        all.push(flag("state", self.state()));
        all
    }

    /// Returns the state directory.
    pub(super) fn state(&self) -> PathBuf {
        self.base.join("state")
    }

    /// Returns whether a text names one of the roots or the state directory.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        let names = |path: &Path| text.contains(&*path.to_string_lossy());
        names(&self.base.join("near")) || names(&self.far) || names(&self.state())
    }

    /// Makes the roots hold `state` and nothing else, and empties the state directory.
    pub(super) fn lay(&self, state: State) -> Result<()> {
        for folder in [self.base.join("near"), self.far.clone(), self.state()] {
            remove(&folder)?;
            fs::create_dir_all(&folder)?;
        }
        for (name, holds) in state {
            self.put(name, *holds).with_context(|| (*name).to_owned())?;
        }
        Ok(())
    }

    fn put(&self, name: &str, holds: Holds) -> Result<()> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match holds {
            Holds::Link(text) => symlink(text, path)?,
            Holds::Same(other) => fs::hard_link(self.path(other), path)?,
            Holds::File(text, mode) => put_file(&path, text, mode)?,
            Holds::New(text) => put_file(&path, text, self.new_mode)?,
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("far/") {
            Some(below) => self.far.join(below),
            None => self.base.join(name),
        }
    }

    /// Returns what the roots hold.
    pub(super) fn look(&self) -> Result<Seen> {
        let mut all = BTreeMap::new();
        walk(&self.base.join("near"), "near", &mut all)?;
        walk(&self.far, "far", &mut all)?;
        let (temps, names): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| is_temp(name));
        Ok(Seen {
            names: names.into_iter().collect(),
            temps: temps.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// Says what changed outside of the roots, if anything did.
    pub(super) fn outside_change(&self) -> Result<Option<String>> {
        let now = self.outside_now()?;
        let name = now.keys().chain(self.outside.keys());
        let mut changed = name.filter(|name| now.get(*name) != self.outside.get(*name));
        Ok(changed.next().map(|name| format!("{name} changed")))
    }

    fn outside_now(&self) -> Result<BTreeMap<String, Found>> {
        let mut all = BTreeMap::new();
        walk(&self.base.join("out"), "out", &mut all)?;
        Ok(all)
    }

    /// Returns what a name would hold if only its owner could use the file.
    pub(super) fn narrowed(holds: Holds) -> Holds {
        match holds {
            Holds::File(text, mode) => Holds::File(text, mode & 0o700),
            other => other,
        }
    }

    /// Returns whether `seen` has just what `holds` says under `name`.
    pub(super) fn fits(&self, seen: &Seen, name: &str, holds: Option<Holds>) -> bool {
        let found = seen.names.get(name);
        let (Some(found), Some(holds)) = (found, holds) else {
            return found.is_none() && holds.is_none();
        };
        let is = |text: &str, mode: u32| {
            found.kind == Kind::File(text.as_bytes().to_vec()) && found.mode == mode
        };
        match holds {
            Holds::File(text, mode) => is(text, mode),
            Holds::New(text) => is(text, self.new_mode),
            Holds::Link(text) => found.kind == Kind::Link(PathBuf::from(text)),
            Holds::Same(other) => seen.names.get(other) == Some(found),
        }
    }
}

impl Seen {
    /// Returns what an undo brings back: names, bytes and modes, but for backups, which stay.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&str, &Kind, u32)> {
        let names = self.names.iter().filter(|(name, _)| !is_backup(name));
        names.map(|(name, found)| (name.as_str(), &found.kind, found.mode))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.has_far() {
            // What stays there stays in memory, until somebody looks.
            drop(fs::remove_dir_all(&self.far));
        }
    }
}

fn put_file(path: &Path, text: &str, mode: u32) -> Result<()> {
    fs::write(path, text)?;
    let file = File::options().write(true).open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    let time = UNIX_EPOCH + LONG_AGO;
    Ok(file.set_times(FileTimes::new().set_accessed(time).set_modified(time))?)
}

fn is_temp(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let inside = last.strip_prefix(".postern-");
    inside.is_some_and(|rest| rest.strip_suffix(".tmp").is_some())
}

fn is_backup(name: &str) -> bool {
    name.contains(".bak")
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

fn walk(folder: &Path, below: &str, all: &mut BTreeMap<String, Found>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        let stat = entry.metadata()?;
        if stat.is_dir() {
            walk(&entry.path(), &name, all)?;
            continue;
        }
        let kind = if stat.is_file() {
            Kind::File(fs::read(entry.path())?)
        } else if stat.is_symlink() {
            Kind::Link(fs::read_link(entry.path())?)
        } else {
            Kind::Other
        };
        let found = Found {
            kind,
            mode: stat.mode() & 0o7777,
            mtime: (stat.mtime(), stat.mtime_nsec()),
            id: (stat.dev(), stat.ino()),
        };
        all.insert(name, found);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: State = &[
        ("near/f", Holds::File("text\n", 0o640)),
        ("near/g", Holds::Same("near/f")),
        ("near/l", Holds::Link("f")),
    ];

    #[test]
    fn a_world_holds_what_it_is_given_and_sees_each_change() {
        let target = tempfile::tempdir().unwrap();
        let world = World::new(target.path(), "a").unwrap();
        world.lay(STATE).unwrap();
        let seen = world.look().unwrap();
        assert_eq!(seen.names.len(), 3);
        for (name, holds) in STATE {
            assert!(world.fits(&seen, name, Some(*holds)), "{name}");
        }
        let other = Some(Holds::File("text\n", 0o600));
        assert!(!world.fits(&seen, "near/f", other));
        assert!(!world.fits(&seen, "near/f", None));
        assert!(!world.fits(&seen, "near/m", Some(STATE[0].1)));
        fs::write(world.path("near/f"), "text\n").unwrap();
        assert_ne!(world.look().unwrap(), seen);
        assert_eq!(world.outside_change().unwrap(), None);
        fs::write(world.path("out/file"), "x").unwrap();
        assert!(world.outside_change().unwrap().is_some());
    }

    #[test]
    fn temporary_names_are_no_names_of_the_state() {
        let target = tempfile::tempdir().unwrap();
        let world = World::new(target.path(), "b").unwrap();
        world.lay(&[]).unwrap();
        fs::write(world.path("near/.postern-0.tmp"), "").unwrap();
        let seen = world.look().unwrap();
        assert_eq!(seen.temps, ["near/.postern-0.tmp"]);
        assert!(seen.names.is_empty());
    }
}
