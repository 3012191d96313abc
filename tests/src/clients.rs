//! The real clients and agents, which `cargo xtask setup clients` installs, pinned.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// Where the real clients and agents are.
#[derive(Debug)]
pub struct Clients {
    /// The interpreter that has the official Python SDKs.
    pub python: PathBuf,
    /// Node, which runs all that follow.
    pub node: PathBuf,
    /// The MCP inspector's launcher.
    pub inspector: PathBuf,
    /// The agent gemini-cli.
    pub gemini: PathBuf,
    /// The agent Qwen Code.
    pub qwen: PathBuf,
    /// The editor's side acpx.
    pub acpx: PathBuf,
    /// The folder of the official ACP SDK's package.
    pub acp_sdk: PathBuf,
}

impl Clients {
    /// Returns the clients, or `None` where the machine lacks what they need; with `CI` set that fails.
    pub fn get() -> Option<&'static Self> {
        static CLIENTS: OnceLock<Result<Clients, String>> = OnceLock::new();
        match CLIENTS.get_or_init(set_up) {
            Ok(clients) => Some(clients),
            Err(missing) => {
                let ci = std::env::var("CI").unwrap_or_default();
                assert!(
                    ["", "0", "false"].contains(&&*ci),
                    "this machine has no {missing}"
                );
                skip(missing);
                None
            }
        }
    }

    /// Says of each value, by the definition of the ACP schema that it is to be, what the official
    /// SDK finds wrong with it; nothing where all is well.
    pub fn findings(&self, values: &[(&str, Value)]) -> Vec<String> {
        let mut judge = Command::new(&self.node);
        judge.arg(script("acp_schema.mjs")).arg(&self.acp_sdk);
        let line = |(definition, value): &(&str, Value)| {
            json!({"definition": definition, "value": value}).to_string() + "\n"
        };
        let done = feed(&mut judge, &values.iter().map(line).collect::<String>());
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        let verdicts = String::from_utf8(done.stdout).unwrap();
        assert_eq!(verdicts.lines().count(), values.len(), "{verdicts}");
        let wrong = |(verdict, (_, value)): (&str, &(&str, Value))| {
            let well = serde_json::from_str::<Value>(verdict).unwrap()["ok"] == true;
            (!well).then(|| format!("{verdict} {value}"))
        };
        verdicts.lines().zip(values).filter_map(wrong).collect()
    }
}

/// Returns the path of a script of `tests/clients`.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(name)
}

/// Runs a program that reads all of its input before it ends.
fn feed(program: &mut Command, input: &str) -> Output {
    let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    drop(writer.join());
    output
}

fn set_up() -> Result<Clients, String> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "run",
        "--quiet",
        "--package",
        "xtask",
        "--",
        "setup",
        "clients",
    ]);
    let done = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let said = String::from_utf8(done.stdout).unwrap();
    let answer: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    if let Some(missing) = answer["missing"].as_str() {
        return Err(missing.to_owned());
    }
    let path = |name: &str| PathBuf::from(answer[name].as_str().unwrap());
    Ok(Clients {
        python: path("python"),
        node: path("node"),
        inspector: path("inspector"),
        gemini: path("gemini"),
        qwen: path("qwen"),
        acpx: path("acpx"),
        acp_sdk: path("acp_sdk"),
    })
}

/// Says that a test could not run, where `cargo xtask test` counts it.
fn skip(missing: &str) {
    eprintln!("skipped: this machine has no {missing}");
    if let Some(list) = std::env::var_os("POSTERN_SKIPS") {
        let mut list = std::fs::OpenOptions::new().append(true).open(list).unwrap();
        let test = std::thread::current();
        let test = test.name().unwrap_or("a real client");
        writeln!(list, "{test}: this machine has no {missing}").unwrap();
    }
}
