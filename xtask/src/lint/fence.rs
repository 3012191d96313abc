//! The fence: where a path may reach the disk by its name, and where processes and variables may be used.

use std::fs;

use anyhow::{Result, ensure};

use crate::lint::budgets::is_test;
use crate::source::Attribute;
use crate::tree::{Breach, Tree};
use crate::{demo, shell};

/// An exception of the product: the file, and what for. One more, also in the same file, is a decision, made here.
const SITES: [(&str, &str); 7] = [
    (
        "crates/acp-fs/src/environment.rs",
        "where the operator keeps state is read once",
    ),
    (
        "crates/acp-fs/src/proxy/agent.rs",
        "the operator's agent is started",
    ),
    (
        "crates/acp-fs/src/session.rs",
        "the editor's directories are compared with the roots by their real paths",
    ),
    (
        "crates/fs-sandbox/src/resolve/roots.rs",
        "the operator's roots become handles",
    ),
    (
        "crates/fs-sandbox/src/resolve/roots.rs",
        "the operator's directory for the history is made",
    ),
    (
        "crates/tool-server/src/config.rs",
        "the operator's configuration file is read before there is a workspace",
    ),
    (
        "crates/tool-server/src/switches.rs",
        "the operator's switches for the outside are read once",
    ),
];

/// Where a `clippy.toml` stands: each replaces the workspace's wholly, so one more takes the fence away.
const CONFIGURATIONS: [&str; 3] = ["clippy.toml", "tests/clippy.toml", "xtask/clippy.toml"];

/// Calls that the fence must name; without one of them it has a hole.
const POSTS: [&str; 8] = [
    "std::fs::read",
    "std::fs::write",
    "std::path::Path::exists",
    "std::env::var",
    "std::env::current_dir",
    "std::process::Command::new",
    "cap_std::ambient_authority",
    "rustix::fs::open",
];

/// A crate that breaks the fence once in each of these functions.
const PLANTED: &str = r#"//! Every function here must be refused.
use std::path::{Path, PathBuf};
pub fn a() { let _ = std::fs::read("x"); }
pub fn b() -> Option<String> { Some("x").map(std::fs::read_to_string)?.ok() }
pub fn c(path: &PathBuf) -> bool { path.exists() }
pub fn d(path: &Path) -> bool { Path::is_dir(path) }
pub fn e() -> Option<PathBuf> { std::env::current_dir().ok() }
pub fn f() -> Option<String> { std::env::var("HOME").ok() }
pub fn g() { let _ = std::process::Command::new("x"); }
pub fn h(file: &std::fs::File) { drop(file); }
pub fn i() { std::process::exit(1) }
"#;

/// Checks that clippy, as the project configures it, refuses breaches that are planted.
pub(super) fn holds() -> Result<()> {
    let folder = demo::target().join("fence");
    fs::create_dir_all(folder.join("src"))?;
    let manifest = "[package]\nname = \"planted\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/lib.rs"), PLANTED)?;
    let mut clippy = shell::cargo(&["clippy", "--quiet", "--offline"]);
    clippy
        .current_dir(&folder)
        .env("CLIPPY_CONF_DIR", shell::root())
        .env("CARGO_TARGET_DIR", folder.join("target"));
    // Clippy repeats nothing that it has said of a file which has not changed.
    fs::remove_dir_all(folder.join("target")).or_else(absent)?;
    let said = clippy.stdin(std::process::Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&said.stderr);
    let refused = said.matches("use of a disallowed").count();
    let planted = PLANTED.matches("pub fn").count();
    ensure!(
        refused == planted,
        "{refused} of {planted} planted breaches are refused:\n{said}"
    );
    Ok(())
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

pub(super) fn check(tree: &Tree) -> Vec<Breach> {
    check_with(tree, &SITES)
}

fn check_with(tree: &Tree, sites: &[(&str, &str)]) -> Vec<Breach> {
    let mut breaches = configurations(tree);
    breaches.extend(posts(tree));
    breaches.extend(unlinted(tree));
    let mut idle = sites.to_vec();
    for (path, facts) in tree.rust().filter(|(path, _)| is_product(path)) {
        for attribute in facts.attributes.iter().filter(|each| is_exception(each)) {
            if let Some(index) = idle.iter().position(|(site, _)| *site == path) {
                idle.swap_remove(index);
                continue;
            }
            let text = "an exception to the fence that xtask does not list";
            breaches.push(Breach::new(path, attribute.line, text));
        }
    }
    let idle = idle.iter();
    breaches.extend(idle.map(|(site, _)| Breach::new(site, 0, "listed, but has no exception")));
    breaches
}

fn is_product(path: &str) -> bool {
    path.starts_with("crates/") && !is_test(path) && !path.contains("/examples/")
}

/// Returns whether `attribute` opens the fence for anything but unit tests.
fn is_exception(attribute: &Attribute) -> bool {
    let opens = attribute.names("disallowed_methods")
        || attribute.names("disallowed_types")
        || attribute.names("all") && !attribute.text.starts_with("cfg");
    let for_tests = attribute.name() == "cfg_attr" && attribute.text.contains("test ,")
        || attribute
            .text
            .replace(' ', "")
            .starts_with("cfg_attr(test,");
    opens && !for_tests && ["allow", "expect", "cfg_attr"].contains(&attribute.name())
}

fn configurations(tree: &Tree) -> Vec<Breach> {
    let named = |path: &str| path.ends_with("clippy.toml");
    let stray = tree.files.keys().filter(|path| named(path));
    stray
        .filter(|path| !CONFIGURATIONS.contains(&path.as_str()))
        .map(|path| Breach::new(path, 0, "replaces the workspace's fence wholly"))
        .collect()
}

fn posts(tree: &Tree) -> Vec<Breach> {
    let Some(text) = tree.files.get("clippy.toml") else {
        return vec![Breach::new("clippy.toml", 0, "the fence is missing")];
    };
    let missing = POSTS
        .iter()
        .filter(|post| !text.contains(&format!("\"{post}\"")));
    missing
        .map(|post| Breach::new("clippy.toml", 0, format!("the fence does not name {post}")))
        .collect()
}

/// Finds crates that do not take the workspace's lints.
fn unlinted(tree: &Tree) -> Vec<Breach> {
    let manifests = tree
        .files
        .iter()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"));
    manifests
        .filter(|(_, text)| {
            let manifest: toml::Table = text.parse().unwrap_or_default();
            let lints = manifest
                .get("lints")
                .and_then(|lints| lints.get("workspace"));
            lints.and_then(toml::Value::as_bool) != Some(true)
        })
        .map(|(path, _)| Breach::new(path, 0, "does not take the workspace's lints"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FENCE: &str = include_str!("../../../clippy.toml");

    fn check_one(path: &str, text: &str, breaches: usize) {
        let tree = Tree::planted(&[("clippy.toml", FENCE), (path, text)]);
        let listed = [("crates/a/src/door.rs", "the door")];
        let found = check_with(&tree, &listed);
        let found: Vec<_> = found.iter().filter(|each| each.file == path).collect();
        assert_eq!(found.len(), breaches, "{found:?}");
    }

    #[test]
    fn an_exception_that_is_not_listed_is_found() {
        let site = "#[expect(clippy::disallowed_methods, reason = \"x\")]\nfn f() {}\n";
        check_one("crates/a/src/lib.rs", site, 1);
        check_one("crates/a/src/door.rs", site, 0);
        check_one("crates/a/src/door.rs", &site.repeat(2), 1);
        check_one("xtask/src/lib.rs", site, 0);
        check_one(
            "crates/a/src/b.rs",
            "#![allow(clippy::disallowed_types)]",
            1,
        );
        check_one("crates/a/src/b.rs", "#![allow(clippy::all)]", 1);
    }

    #[test]
    fn unit_tests_are_outside_of_the_fence() {
        let root = "#![cfg_attr(test, allow(clippy::disallowed_methods, reason = \"x\"))]";
        check_one("crates/a/src/lib.rs", root, 0);
        let hidden = "#![cfg_attr(not(test), allow(clippy::disallowed_methods))]";
        check_one("crates/a/src/lib.rs", hidden, 1);
    }

    #[test]
    fn a_site_without_an_exception_is_found() {
        check_one("crates/a/src/door.rs", "fn f() {}", 1);
    }

    #[test]
    fn a_stray_configuration_is_found() {
        check_one("crates/a/clippy.toml", "", 1);
        check_one("crates/a/.clippy.toml", "", 1);
    }

    #[test]
    fn a_hole_in_the_fence_is_found() {
        let tree = Tree::planted(&[("clippy.toml", &FENCE.replace("\"std::fs::read\"", "\"x\""))]);
        assert_eq!(check_with(&tree, &[]).len(), 1);
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        check_one("crates/a/Cargo.toml", "[package]\nname = \"a\"", 1);
        check_one("crates/a/Cargo.toml", "[lints]\nworkspace = true", 0);
    }
}
