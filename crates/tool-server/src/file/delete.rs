//! `delete_file`: a file or a link itself, never a directory.

use fs_core::{ErrorKind, one_line};

use crate::error::ToolError;
use crate::file::OWN;
use crate::files::PATH;
use crate::output::ToolOutput;
use crate::schema::Args;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "delete_file",
    title: "Delete a file",
    about: "Delete a file, or a link itself; directories are refused.",
    params: &[PATH],
    effect: Effect::Deletes,
    facts: &[],
    sets: OWN,
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, _call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let removed = toolbox.workspace().remove_file(path);
    removed.map_err(|error| {
        let kind = error.kind();
        let error = ToolError::from(error);
        match kind {
            ErrorKind::IsADirectory => error.hinting("this tool deletes no directories"),
            _ => error,
        }
    })?;
    Ok(ToolOutput::new(format!("OK: deleted: {}", one_line(path))))
}
