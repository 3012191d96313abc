//! A root with an outside beside it, and calls of tools over it.

use std::fs;
use std::path::{Path, PathBuf};

use fs_core::Fallback;
use fs_sandbox::{Backup, Rights, Workspace, WorkspaceBuilder};
use serde_json::Value;

use crate::{Call, CallError, Settings, ToolError, ToolSet, Toolbox};

/// A root `box` named `workspace`, with a directory `out` beside it.
pub(super) struct World {
    base: tempfile::TempDir,
    toolbox: Toolbox,
}

impl World {
    pub(super) fn new() -> Self {
        Self::built(settings(), |builder, _| builder)
    }

    pub(super) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let world = Self::new();
        world.write(name, content);
        world
    }

    pub(super) fn keeping_backups() -> Self {
        let settings = Settings {
            backup: Backup::Keep,
            ..settings()
        };
        Self::built(settings, |builder, _| builder)
    }

    /// A world whose workspace is as `build` makes it; it is told where the world lies.
    pub(super) fn built(
        settings: Settings,
        build: impl FnOnce(WorkspaceBuilder, &Path) -> WorkspaceBuilder,
    ) -> Self {
        let base = tempfile::tempdir().unwrap();
        for name in ["box", "out"] {
            fs::create_dir(base.path().join(name)).unwrap();
        }
        let root = base.path().join("box");
        let builder = Workspace::builder().root("workspace", &root, Rights::ALL);
        let workspace = build(builder, base.path()).build().unwrap();
        let toolbox = Toolbox::new(workspace, settings);
        Self { base, toolbox }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.base.path().join("box").join(name)
    }

    pub(super) fn out(&self, name: &str) -> PathBuf {
        self.base.path().join("out").join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The names in a directory below the root, sorted.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The blocks of an answer, or the error.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Result<Vec<String>, ToolError> {
        Ok(self.full(tool, arguments)?.0)
    }

    /// The blocks of an answer with its facts.
    pub(super) fn full(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<(Vec<String>, Value), ToolError> {
        let arguments = arguments.as_object().cloned().unwrap();
        match self.toolbox.call(tool, arguments, &Call::default()) {
            Ok(output) => {
                let (text, further, facts) = output.into_parts();
                let blocks = std::iter::once(text).chain(further).collect();
                Ok((blocks, facts.into()))
            }
            Err(CallError::Failed(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    /// The first block of an answer.
    #[track_caller]
    pub(super) fn answer(&self, tool: &str, arguments: &Value) -> String {
        self.call(tool, arguments).unwrap().swap_remove(0)
    }

    #[track_caller]
    pub(super) fn failed(&self, tool: &str, arguments: &Value) -> ToolError {
        self.call(tool, arguments).unwrap_err()
    }
}

pub(super) fn settings() -> Settings {
    Settings {
        set: ToolSet::All,
        fallback: Fallback::Auto,
        ..Settings::default()
    }
}

/// Asserts that a call fails with `code` and says `says`.
#[track_caller]
pub(super) fn check_fails(world: &World, tool: &str, arguments: &Value, code: &str, says: &str) {
    let error = world.failed(tool, arguments);
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}
