//! `cargo xtask demo`: a session with the gate on a copy of this source tree, over the real protocol.

mod acp;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::{shell, tree};

/// How the server is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    Dev,
}

/// The file the demo works on, and a text that stands in it exactly once.
const FILE: &str = "xtask/src/shell.rs";
const OLD: &str = "/// Returns the project's root folder.";
const NEW: &str = "/// Returns the folder that holds the whole project.";

/// Runs the demo and checks every answer.
///
/// # Errors
/// Says which answer was not the right one.
pub(crate) fn run(profile: Profile) -> Result<()> {
    let program = build(profile)?;
    let place = Place::new()?;
    let root = place.root();
    let count = copy_project(&root)?;
    fs::write(place.0.join("secret.txt"), "not for agents\n")?;
    println!("A copy of this project ({count} files) is the one root; beside it lies secret.txt.");

    let mut command = Command::new(&program);
    command.arg("--root").arg(&root);
    command.arg("--state").arg(place.0.join("state"));
    let mut client = Client::start(&mut command)?;
    let server = client.initialize()?;
    let said = |field: &str| server.pointer(field).and_then(Value::as_str).unwrap_or("?");
    let (name, version) = (said("/serverInfo/name"), said("/serverInfo/version"));
    say("initialize", &format!("{name} {version}"));
    list(&mut client, &root)?;
    read(&mut client, &root)?;
    edit(&mut client, &root)?;
    undo(&mut client, &root)?;
    search(&mut client, &root)?;
    arrange(&mut client, &root)?;
    escape(&mut client, &root)?;
    client.close()?;
    acp::run(profile, &root, &place.0.join("state"))?;
    println!(
        "\nEvery answer was the right one. To give your agent this gate, paste into its MCP client:\n"
    );
    println!("{}", configuration(&program));
    println!(
        "\nOne --root for each folder it may touch; `--read-only` lets it look and change nothing."
    );
    acp::say_settings(profile)
}

fn list(client: &mut Client, root: &Path) -> Result<()> {
    let answer = client.call("files_ls", &json!({"path": ".", "limit": 8}))?;
    say("files_ls ., the first 8", &answer.texts().join("\n"));
    expect(&answer, None)?;
    let size = fs::metadata(root.join(".gitignore"))?.len();
    let small = format!(".gitignore  ({size} B)");
    for line in ["bench/", &small] {
        let mut lines = answer.text().lines();
        ensure!(lines.any(|each| each == line), "the listing lacks {line}");
    }
    Ok(())
}

fn read(client: &mut Client, root: &Path) -> Result<()> {
    let asked = json!({"path": FILE, "offset": 10, "limit": 5});
    let answer = client.call("files_read", &asked)?;
    let title = format!("files_read {FILE}, 5 lines from 10, and how to go on");
    say(&title, &answer.texts().join(""));
    expect(&answer, None)?;
    let whole = fs::read_to_string(root.join(FILE))?;
    let wanted: String = whole.split_inclusive('\n').skip(9).take(5).collect();
    ensure!(
        answer.text() == wanted,
        "the window is not those lines of the file"
    );
    let hint = answer.texts().get(1).copied().unwrap_or_default();
    ensure!(hint.contains("offset=15"), "no hint how to go on");
    Ok(())
}

fn edit(client: &mut Client, root: &Path) -> Result<()> {
    let before = fs::read_to_string(root.join(FILE))?;
    let edits = json!([{"old": OLD, "new": NEW}]);
    let asked = json!({"path": FILE, "edits": edits, "create_backup": true, "diff": true});
    let answer = client.call("files_edit", &asked)?;
    say(
        "files_edit with a backup and its diff",
        &answer.texts().join("\n"),
    );
    expect(&answer, None)?;
    let after = fs::read_to_string(root.join(FILE))?;
    ensure!(
        after == before.replacen(OLD, NEW, 1),
        "the file is not the edited one"
    );
    let backup = fs::read_to_string(root.join(backup()))?;
    ensure!(backup == before, "the backup is not the file as it was");
    let again = client.call("files_edit", &json!({"path": FILE, "edits": edits}))?;
    say("the same edit again", again.text());
    expect(&again, Some("no_match"))
}

fn undo(client: &mut Client, root: &Path) -> Result<()> {
    let before = fs::read(root.join(backup()))?;
    let answer = client.call("undo_edit", &json!({"path": FILE, "diff": true}))?;
    say("undo_edit", &answer.texts().join("\n"));
    expect(&answer, None)?;
    let is_back = fs::read(root.join(FILE))? == before;
    ensure!(is_back, "the file is not as it was");
    let answer = client.call("edit_history", &json!({"path": FILE}))?;
    say("edit_history", answer.text());
    expect(&answer, None)?;
    ensure!(
        answer.text().contains("undone by"),
        "the history lacks the undo"
    );
    Ok(())
}

/// Finds a text, a definition and a name.
fn search(client: &mut Client, root: &Path) -> Result<()> {
    let asked = json!({"query": OLD, "file_glob": "*.rs"});
    let answer = client.call("search_files", &asked)?;
    say("search_files, a text", answer.text());
    expect(&answer, None)?;
    let source = fs::read_to_string(root.join(FILE))?;
    let line = source.lines().position(|line| line == OLD);
    let line = line.context("the file lacks its text")? + 1;
    let wanted = format!("{FILE}:{line}:{OLD}");
    ensure!(has_line(&answer, &wanted), "the search lacks {wanted}");

    let asked = json!({"mode": "code", "query": "Workspace", "root": "crates"});
    let answer = client.call("search_files", &asked)?;
    say("search_files, a definition", answer.text());
    expect(&answer, None)?;
    let is_found = answer.text().contains(":pub struct Workspace");
    ensure!(is_found, "the definition is not found");

    let answer = client.call("tree_dir", &json!({"path": "crates", "max_depth": 1}))?;
    say("tree_dir crates", answer.text());
    expect(&answer, None)?;
    ensure!(has_line(&answer, "|-- fs-core/"), "the tree lacks fs-core");
    Ok(())
}

/// Copies a file, moves the copy into a new folder, and removes it.
fn arrange(client: &mut Client, root: &Path) -> Result<()> {
    let copied = json!({"src_path": FILE, "dst_path": "copy.rs"});
    let moved = json!({"src_path": "copy.rs", "dst_path": "attic/shell.rs"});
    for (tool, asked) in [("copy_file", &copied), ("move_file", &moved)] {
        let answer = client.call(tool, asked)?;
        say(tool, answer.text());
        expect(&answer, None)?;
    }
    let same = fs::read(root.join(FILE))? == fs::read(root.join("attic/shell.rs"))?;
    ensure!(same, "the copy is not the file");
    let answer = client.call("delete_file", &json!({"path": "attic/shell.rs"}))?;
    say("delete_file", answer.text());
    expect(&answer, None)?;
    let answer = client.call("undo_edit", &json!({"path": "attic/shell.rs"}))?;
    say("undo_edit, the delete", answer.text());
    expect(&answer, None)?;
    let same = fs::read(root.join(FILE))? == fs::read(root.join("attic/shell.rs"))?;
    ensure!(same, "the deleted file is not back");
    Ok(())
}

fn has_line(answer: &Answer, line: &str) -> bool {
    answer.text().lines().any(|each| each == line)
}

fn escape(client: &mut Client, root: &Path) -> Result<()> {
    let outside = root.with_file_name("secret.txt");
    std::os::unix::fs::symlink(&outside, root.join("door.txt"))?;
    for path in ["../secret.txt", "door.txt"] {
        let answer = client.call("files_read", &json!({"path": path}))?;
        say(&format!("files_read {path}"), answer.text());
        expect(&answer, Some("outside_sandbox"))?;
        let raw = answer.raw();
        let told = raw.contains("not for agents") || raw.contains(&*root.to_string_lossy());
        ensure!(!told, "the refusal tells what it must not");
    }
    Ok(())
}

/// Fails unless the answer is an error with this code, or a success for `None`.
fn expect(answer: &Answer, code: Option<&str>) -> Result<()> {
    if answer.code() == code {
        return Ok(());
    }
    bail!(
        "wanted {}, got {}",
        code.unwrap_or("a success"),
        answer.raw()
    )
}

fn say(step: &str, answer: &str) {
    const SHOWN: usize = 14;
    println!("\n> {step}");
    for line in answer.trim_end().lines().take(SHOWN) {
        println!("    {line}");
    }
    if answer.trim_end().lines().count() > SHOWN {
        println!("    …");
    }
}

fn backup() -> String {
    format!("{FILE}.bak")
}

/// Builds the server and returns its path.
///
/// # Errors
/// Fails when the build does.
pub(crate) fn build(profile: Profile) -> Result<PathBuf> {
    let folder = programs(profile, &["--package", "tool-server"])?;
    Ok(folder.join("tool-server"))
}

/// Builds what cargo is told to, if anything, and returns the folder that it comes to lie in.
///
/// # Errors
/// Fails when the build does.
fn programs(profile: Profile, what: &[&str]) -> Result<PathBuf> {
    let mut cargo = shell::cargo(&["build", "--quiet", "--locked"]);
    let folder = match profile {
        Profile::Release => {
            cargo.arg("--release");
            "release"
        }
        Profile::Dev => "debug",
    };
    if let Some(name) = what.last() {
        println!("Building {name} ({folder}) …");
        shell::run(cargo.args(what))?;
    }
    Ok(target().join(folder))
}

/// Returns the folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => shell::root().join(folder),
        None => shell::root().join("target"),
    }
}

fn configuration(program: &Path) -> Value {
    json!({"mcpServers": {"postern": {
        "command": program,
        "args": ["--root", "/path/to/your/project"],
    }}})
}

/// Copies the project's files below `to` and returns how many they are.
fn copy_project(to: &Path) -> Result<usize> {
    let from = shell::root();
    let mut count = 0;
    for path in tree::paths(&from)? {
        let target = to.join(&path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        if from.join(&path).is_file() {
            fs::copy(from.join(&path), &target).context(path)?;
            count += 1;
        }
    }
    Ok(count)
}

/// A folder of the demo's own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("postern-demo-{}", std::process::id()));
        fs::create_dir_all(folder.join("project"))?;
        Ok(Self(folder))
    }

    fn root(&self) -> PathBuf {
        self.0.join("project")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays behind lies in the folder for temporary files.
        let _left = fs::remove_dir_all(&self.0);
    }
}
