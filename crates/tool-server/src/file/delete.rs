//! `delete_file`: a file or a link itself, never a directory.

use fs_core::{ErrorKind, one_line};
use fs_sandbox::{Links, RemoveOptions};

use crate::error::ToolError;
use crate::file::OWN;
use crate::files::{IF_VERSION, PATH, if_version};
use crate::output::ToolOutput;
use crate::schema::Args;
use crate::stale::Stake;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "delete_file",
    title: "Delete a file",
    about: "Delete a file, or a link itself; directories are refused.",
    params: &[PATH, IF_VERSION],
    effect: Effect::Deletes,
    facts: &[("warnings", "array")],
    sets: OWN,
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let options = RemoveOptions {
        if_version: if_version(args)?,
        cancel: call.cancel.clone(),
    };
    let stake = Stake::new(toolbox, path, Links::KeepLast, args);
    let removed = toolbox.workspace_for(args).remove_file_with(path, &options);
    let removed = removed.map_err(|error| match error.kind() {
        ErrorKind::IsADirectory => {
            ToolError::from(error).hinting("this tool deletes no directories")
        }
        _ => stake.explain(error),
    })?;
    stake.removed();
    let mut output = ToolOutput::new(format!("OK: deleted: {}", one_line(path)));
    for warning in &removed.warnings {
        output = output.with_note(format!("warning: {warning}"));
    }
    Ok(output.with_fact("warnings", removed.warnings))
}
