//! A directory with a file, and a replace of it with every choice spelled out.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use fs_core::{Cancel, Patch, RelPath, Result};
use rustix::fs::{CWD, FileType, Mode};

use super::super::{BackupNames, Content, OldFile, ReplaceOptions, Replaced, Target};
use crate::history::Pending;
use crate::policy::Policy;
use crate::write::{Backup, Durability, HardLinks};

pub(super) struct Scene {
    place: PathBuf,
    dir: Dir,
    _keeps: Option<tempfile::TempDir>,
}

pub(super) struct Job<'a> {
    scene: &'a Scene,
    name: OsString,
    backup: Backup,
    policy: Policy,
    rel: RelPath,
    hard_links: HardLinks,
    durability: Durability,
    cancel: Cancel,
    pending: Pending,
}

impl Scene {
    pub(super) fn empty() -> Self {
        let keeps = tempfile::tempdir().unwrap();
        let place = keeps.path().to_owned();
        Self::over(&place, Some(keeps))
    }

    pub(super) fn with_file(bytes: &[u8]) -> Self {
        let scene = Self::empty();
        fs::write(scene.path("f"), bytes).unwrap();
        scene
    }

    pub(super) fn at(place: &Path) -> Self {
        Self::over(place, None)
    }

    fn over(place: &Path, keeps: Option<tempfile::TempDir>) -> Self {
        Self {
            place: place.to_owned(),
            dir: Dir::open_ambient_dir(place, ambient_authority()).unwrap(),
            _keeps: keeps,
        }
    }

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.place.join(name)
    }

    pub(super) fn bytes(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(super) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(super) fn stat(&self, name: impl AsRef<Path>) -> fs::Metadata {
        fs::symlink_metadata(self.path(name)).unwrap()
    }

    /// All mode bits, the special ones too.
    pub(super) fn mode(&self, name: impl AsRef<Path>) -> u32 {
        self.stat(name).permissions().mode() & 0o7777
    }

    pub(super) fn chmod(&self, name: impl AsRef<Path>, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn symlink(&self, target: &str, name: &str) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    pub(super) fn hard_link(&self, name: &str, other: &str) {
        fs::hard_link(self.path(name), self.path(other)).unwrap();
    }

    pub(super) fn fifo(&self, name: &str) {
        let mode = Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(CWD, self.path(name), FileType::Fifo, mode, 0).unwrap();
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The names in the directory, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<_> = fs::read_dir(&self.place).unwrap().map(name).collect();
        names.sort();
        names
    }

    /// What must stay when a replace fails: bytes, inode, mode, owner, size, time, names.
    pub(super) fn state(&self) -> Vec<String> {
        let line = |name: String| {
            let stat = self.stat(&name);
            let content = if stat.is_symlink() {
                fs::read_link(self.path(&name)).unwrap().into_os_string()
            } else if stat.is_file() {
                OsString::from(format!("{:?}", self.bytes(&name)))
            } else {
                OsString::new()
            };
            let (ino, mode, uid, gid) = (stat.ino(), stat.mode(), stat.uid(), stat.gid());
            let (links, mtime) = (stat.nlink(), (stat.mtime(), stat.mtime_nsec()));
            format!("{name} {ino} {mode:o} {uid} {gid} {links} {mtime:?} {content:?}")
        };
        self.names().into_iter().map(line).collect()
    }

    /// The names with what they hold, whatever the inodes.
    pub(super) fn contents(&self) -> Vec<String> {
        let line = |name: String| {
            let stat = self.stat(&name);
            match stat.file_type() {
                kind if kind.is_symlink() => {
                    format!("{name} -> {:?}", fs::read_link(self.path(&name)).unwrap())
                }
                kind if kind.is_dir() => {
                    format!("{name}/ {:?}", Self::at(&self.path(&name)).contents())
                }
                _ => format!("{name} {:o} {:?}", self.mode(&name), self.bytes(&name)),
            }
        };
        self.names().into_iter().map(line).collect()
    }

    pub(super) fn job(&self) -> Job<'_> {
        self.job_for("f")
    }

    pub(super) fn job_for(&self, name: impl AsRef<OsStr>) -> Job<'_> {
        Job {
            scene: self,
            name: name.as_ref().to_owned(),
            backup: Backup::Off,
            policy: Policy::default(),
            rel: RelPath::parse(name.as_ref()).unwrap(),
            hard_links: HardLinks::Break,
            durability: Durability::None,
            cancel: Cancel::default(),
            pending: unrecorded(),
        }
    }

    pub(super) fn replace(&self, bytes: &[u8]) -> Result<Replaced> {
        self.job().replace(&Patch::whole(bytes.to_vec()))
    }
}

impl Job<'_> {
    pub(super) fn backup(mut self, backup: Backup) -> Self {
        self.backup = backup;
        self
    }

    pub(super) fn hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    pub(super) fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    pub(super) fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    pub(super) fn target(&self) -> Target<'_> {
        Target {
            dir: &self.scene.dir,
            name: &self.name,
        }
    }

    pub(super) fn create(&self, bytes: &[u8]) -> Result<Replaced> {
        let patch = Patch::whole(bytes.to_vec());
        super::super::create(self.target(), Content::Patch(&patch), self.options())
    }

    pub(super) fn replace(&self, patch: &Patch) -> Result<Replaced> {
        let old = OldFile::open(self.target())?.unwrap();
        self.target().check_writable()?;
        super::super::replace(self.target(), &old, Content::Patch(patch), self.options())
    }

    pub(super) fn replace_with(&self, bytes: &[u8]) -> Result<Replaced> {
        self.replace(&Patch::whole(bytes.to_vec()))
    }

    fn options(&self) -> ReplaceOptions<'_> {
        ReplaceOptions {
            backup: self.backup,
            names: BackupNames {
                policy: &self.policy,
                file: &self.rel,
            },
            hard_links: self.hard_links,
            durability: self.durability,
            cancel: &self.cancel,
            pending: &self.pending,
        }
    }
}

/// A change that no history knows of.
pub(super) fn unrecorded() -> Pending {
    Pending::new(Vec::new(), "", None).unwrap()
}

pub(super) fn code<T>(result: Result<T>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => error.code(),
    }
}

pub(super) fn set_attribute(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).unwrap();
}

pub(super) fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 70_000];
    let len = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}
