//! The binary under test, built once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The packages whose sources are in the binary.
const SOURCES: [&str; 4] = ["fs-core", "fs-sandbox", "fs-edit", "tool-server"];

/// Returns the path of `tool-server`, beside this test's own binary; builds it when it is missing
/// or older than its sources.
pub fn tool_server() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = profile_dir().join("tool-server");
        if is_stale(&path) {
            build();
        }
        path
    })
}

/// The folder of the build profile: this binary lies in its `deps`.
fn profile_dir() -> PathBuf {
    let me = std::env::current_exe().expect("this binary's path");
    me.ancestors().nth(2).expect("a target folder").to_owned()
}

fn is_stale(binary: &Path) -> bool {
    let Ok(built) = binary.metadata().and_then(|meta| meta.modified()) else {
        return true;
    };
    let newest = SOURCES
        .iter()
        .map(|name| newest_under(&workspace().join("crates").join(name)));
    newest.max().is_some_and(|newest| newest > built)
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

/// Builds with the same selection of packages as this suite, so that no dependency is built twice.
fn build() {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--quiet",
        "-p",
        "tests",
        "-p",
        "tool-server",
        "--bin",
        "tool-server",
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
