//! The binaries under test, each built once.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The packages whose sources are in every binary.
const ENGINES: [&str; 3] = ["fs-core", "fs-sandbox", "fs-edit"];

/// A binary of this workspace, which has its package's name.
struct Binary(&'static str);

/// Returns the path of `tool-server`, beside this test's own binary; builds it when it is missing
/// or older than its sources. Every user can start it.
pub fn tool_server() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| Binary("tool-server").ready())
}

/// Returns the path of `acp-fs`, as [`tool_server()`] does its own.
pub fn acp_fs() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| Binary("acp-fs").ready())
}

/// Returns the path of `puppet`, which cargo builds before it runs the tests of its package. Every
/// user can start it.
pub fn puppet() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| Binary("puppet").reachable())
}

/// Returns the directory in which the processes under test keep their state: their roots are all
/// different ones, so it can be the same for all.
pub fn state() -> PathBuf {
    profile_dir().join("state-of-tests")
}

impl Binary {
    fn ready(&self) -> PathBuf {
        let path = profile_dir().join(self.0);
        if self.is_stale(&path) {
            self.build();
        }
        self.reachable()
    }

    /// Returns a path by which every user can start it: its own, or that of a copy.
    fn reachable(&self) -> PathBuf {
        let path = profile_dir().join(self.0);
        if is_reachable(&path) {
            path
        } else {
            self.copy(&path)
        }
    }

    /// Returns the path of a copy in the folder for temporary files, made once per build.
    fn copy(&self, path: &Path) -> PathBuf {
        let built = path
            .metadata()
            .and_then(|meta| meta.modified())
            .expect("the binary");
        let stamp = built
            .duration_since(SystemTime::UNIX_EPOCH)
            .expect("a time")
            .as_nanos();
        let copy = std::env::temp_dir().join(format!("postern-{}-{stamp}", self.0));
        if !copy.exists() {
            let part = copy.with_extension(std::process::id().to_string());
            std::fs::copy(path, &part).expect("a copy of the binary");
            std::fs::rename(&part, &copy).expect("its name");
        }
        copy
    }

    fn is_stale(&self, binary: &Path) -> bool {
        let Ok(built) = binary.metadata().and_then(|meta| meta.modified()) else {
            return true;
        };
        let sources = ENGINES.iter().chain([&self.0]);
        let newest = sources.map(|name| newest_under(&workspace().join("crates").join(name)));
        newest.max().is_some_and(|newest| newest > built)
    }

    /// Builds with the same selection of packages as this suite, so that no dependency is built twice.
    fn build(&self) {
        let mut cargo = Command::new("cargo");
        cargo.args([
            "build", "--quiet", "-p", "tests", "-p", self.0, "--bin", self.0,
        ]);
        match profile_dir().file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => {}
            Some(profile) => drop(cargo.args(["--profile", profile])),
        }
        let done = cargo.current_dir(workspace()).output().expect("cargo runs");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

/// Whether every user can come to the file: a checkout may lie in a private home.
fn is_reachable(path: &Path) -> bool {
    let open = |dir: &Path| dir.metadata().is_ok_and(|meta| meta.mode() & 0o001 != 0);
    path.ancestors().all(open)
}

/// The folder of the build profile: this binary lies in its `deps`.
fn profile_dir() -> PathBuf {
    let me = std::env::current_exe().expect("this binary's path");
    me.ancestors().nth(2).expect("a target folder").to_owned()
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

fn newest_under(dir: &Path) -> SystemTime {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in dir.read_dir().expect("a source folder").flatten() {
        let meta = entry.metadata().expect("a source file");
        let time = if meta.is_dir() {
            newest_under(&entry.path())
        } else {
            meta.modified().unwrap()
        };
        newest = newest.max(time);
    }
    newest
}
