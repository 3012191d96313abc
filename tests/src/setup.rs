//! What the cases set up in a world.

use std::fs::OpenOptions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};
use rustix::mount::MountFlags;
use serde_json::Value;

use crate::corpus::text;
use crate::race::Race;
use crate::world::World;

impl World {
    /// Does one step of a case's setup.
    pub fn set_up(&self, step: &Value) {
        let path = || self.path(text(step, "path"));
        let target = || self.path(text(step, "target"));
        match text(step, "op") {
            "mkdir" => std::fs::create_dir_all(path()).unwrap(),
            "file" => self.put_file(step),
            "symlink" => drop(self.link(text(step, "path"), text(step, "target"))),
            "hardlink" => std::fs::hard_link(target(), path()).unwrap(),
            "fifo" => make_node(&path(), FileType::Fifo, 0),
            "chardev" => make_node(&path(), FileType::CharacterDevice, device(step)),
            "socket" => drop(UnixListener::bind(path()).unwrap()),
            "chmod" => chmod(&path(), text(step, "mode")),
            "bind" => bind(&target(), &path()),
            "tmpfs" => tmpfs(&path(), step["size"].as_u64().unwrap()),
            "rename-race" | "background-append" => {}
            other => panic!("no setup step {other}"),
        }
    }

    /// Starts a step that goes on beside the request, if it is one.
    pub fn start_race(&self, step: &Value) -> Option<Race> {
        let path = |field| self.path(text(step, field));
        match (text(step, "op"), step["kind"].as_str()) {
            ("rename-race", Some("exchange")) => Some(Race::exchange(path("a"), path("b"))),
            ("rename-race", Some("flip")) => Some(Race::flip(path("a"), path("b"))),
            ("background-append", _) => {
                let bytes = step["bytes"].as_u64().unwrap();
                Some(Race::append(path("path"), usize::try_from(bytes).unwrap()))
            }
            _ => None,
        }
    }

    fn put_file(&self, step: &Value) {
        let name = text(step, "path");
        self.put(name, text(step, "text"));
        if let Some(size) = step["size"].as_u64() {
            let file = OpenOptions::new()
                .write(true)
                .open(self.path(name))
                .unwrap();
            file.set_len(size).unwrap();
        }
    }
}

/// Sets permission bits given in octal.
pub fn chmod(path: &Path, octal: &str) {
    let mode = u32::from_str_radix(octal, 8).expect("octal digits");
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Mounts `from` at `at`; takes mounts of one's own.
pub fn bind(from: &Path, at: &Path) {
    rustix::mount::mount_bind(from, at).expect("a bind mount");
}

/// Mounts an empty disk of `size` bytes at `at`; takes mounts of one's own.
pub fn tmpfs(at: &Path, size: u64) {
    std::fs::create_dir_all(at).unwrap();
    let options = std::ffi::CString::new(format!("size={size},mode=0777")).unwrap();
    rustix::mount::mount(
        "tmpfs",
        at,
        "tmpfs",
        MountFlags::empty(),
        options.as_c_str(),
    )
    .expect("a tmpfs");
}

fn make_node(path: &Path, kind: FileType, device: u64) {
    rustix::fs::mknodat(CWD, path, kind, Mode::from_raw_mode(0o666), device).expect("a node");
}

fn device(step: &Value) -> u64 {
    let number = |field: &str| u32::try_from(step[field].as_u64().unwrap()).unwrap();
    rustix::fs::makedev(number("major"), number("minor"))
}
