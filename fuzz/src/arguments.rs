//! Calls of tools with any arguments.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use fs_sandbox::{Rights, Workspace};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tool_server::schema::{Kind, Param};
use tool_server::{Call, CallError, Settings, ToolSet, ToolSpec, Toolbox};

use crate::input::Input;

/// No answer is longer, whatever was asked for.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// What stands outside of the root.
const SECRET: &str = "nobody-may-read-this";
const NAMES: [&str; 10] = [
    "a.txt",
    "sub/b.txt",
    "sub",
    ".",
    "missing",
    "../out.txt",
    "link",
    "sub/../a.txt",
    "workspace:a.txt",
    "",
];

thread_local! {
    static PLACE: RefCell<Place> = RefCell::new(Place::new());
}

/// No arguments make a tool panic, answer without bound, or reach what lies outside.
pub fn mcp_arguments(data: &[u8]) {
    let mut input = Input::new(data);
    let specs: Vec<&ToolSpec> = ToolSet::All.specs().collect();
    let spec = specs[usize::from(input.byte()) % specs.len()];
    let arguments = match input.byte() % 4 {
        0 => serde_json::from_slice(input.rest()).unwrap_or_default(),
        _ => arguments(spec.params, &mut input),
    };
    PLACE.with_borrow(|place| place.call(spec, arguments));
}

/// A root with little in it, and a file beside it.
struct Place {
    folder: TempDir,
    toolbox: Toolbox,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new();
        let folder = folder.unwrap_or_else(|error| panic!("no folder: {error}"));
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap_or_else(|error| panic!("no root: {error}"));
        let workspace = Workspace::builder()
            .root("workspace", &root, Rights::ALL)
            .build();
        let workspace = workspace.unwrap_or_else(|error| panic!("no workspace: {error}"));
        let settings = Settings {
            set: ToolSet::All,
            ..Settings::default()
        };
        Self {
            toolbox: Toolbox::new(workspace, settings),
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts everything in its place; the root itself stays the same one.
    fn lay(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(self.path("root"))? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        fs::create_dir(self.path("root/sub"))?;
        fs::write(self.path("root/a.txt"), "one\ntwo two\r\nthree")?;
        fs::write(self.path("root/sub/b.txt"), "fn two() {}\n")?;
        std::os::unix::fs::symlink("../out.txt", self.path("root/link"))?;
        fs::write(self.path("out.txt"), SECRET)
    }

    fn call(&self, spec: &ToolSpec, arguments: Map<String, Value>) {
        self.lay()
            .unwrap_or_else(|error| panic!("no place: {error}"));
        let asked = Value::from(arguments.clone()).to_string();
        let answer = match self.toolbox.call(spec.name, arguments, &Call::default()) {
            Ok(output) => {
                let (text, further, facts) = output.into_parts();
                format!("{text}{}{}", further.concat(), Value::from(facts))
            }
            Err(CallError::Failed(error)) => Value::from(error.object()).to_string(),
            Err(error) => panic!("{}: {error}", spec.name),
        };
        assert!(answer.len() < MAX_ANSWER, "{} bytes", answer.len());
        assert!(
            asked.contains(SECRET) || !answer.contains(SECRET),
            "{} {asked}",
            spec.name
        );
        let outside = fs::read_to_string(self.path("out.txt"));
        assert_eq!(
            outside.ok().as_deref(),
            Some(SECRET),
            "{} {asked}",
            spec.name
        );
        let beside = fs::read_dir(self.folder.path()).map(Iterator::count);
        assert_eq!(beside.ok(), Some(2), "{} {asked}", spec.name);
    }
}

/// Returns arguments that mostly fit.
fn arguments(params: &[Param], input: &mut Input<'_>) -> Map<String, Value> {
    let mut all = Map::new();
    for param in params {
        let choice = input.byte();
        if param.required || choice & 1 == 0 {
            all.insert(param.name.to_owned(), value(param, choice >> 1, input));
        }
    }
    all
}

fn value(param: &Param, choice: u8, input: &mut Input<'_>) -> Value {
    if choice == 0x7f {
        return json!([null, input.byte()]);
    }
    match param.kind {
        Kind::Text if choice & 1 == 0 => NAMES[usize::from(input.byte()) % NAMES.len()].into(),
        Kind::Integer { .. } if choice & 1 == 0 => (i64::from(input.byte()) - 8).into(),
        Kind::Integer { .. } => i64::from_le_bytes([
            input.byte(),
            input.byte(),
            input.byte(),
            0,
            0,
            0,
            input.byte(),
            input.byte(),
        ])
        .into(),
        Kind::Flag { .. } => (choice & 1 == 0).into(),
        Kind::Choice { words, .. } => words[usize::from(input.byte()) % words.len()].into(),
        Kind::Objects(params) => {
            let count = input.byte() % 3;
            let all = (0..count).map(|_| Value::from(arguments(params, input)));
            all.collect()
        }
        _ => input.text().into(),
    }
}
