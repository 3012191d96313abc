//! `make_dir`: a directory, with those above it.

use fs_core::{ErrorKind, one_line};
use fs_sandbox::{Change, CreateDirOptions};

use crate::error::ToolError;
use crate::file::OWN;
use crate::files::PATH;
use crate::output::ToolOutput;
use crate::schema::{Args, Param};
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "make_dir",
    title: "Make a directory",
    about: "Make a directory.",
    params: &[
        PATH,
        Param::flag_on("parents", "Make those above it too."),
        Param::flag_on("exist_ok", "A directory that is there will do."),
    ],
    effect: Effect::Adds,
    facts: &[("created", "boolean")],
    sets: OWN,
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, _call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let options = CreateDirOptions {
        parents: args.flag("parents"),
        exist_ok: args.flag("exist_ok"),
    };
    let change = toolbox.workspace().create_dir_with(path, options);
    let change = change.map_err(|error| explain(error, options))?;
    let created = change == Change::Created;
    let did = if created { "created" } else { "exists" };
    let text = format!("OK: directory {did}: {}", one_line(path));
    Ok(ToolOutput::new(text).with_fact("created", created))
}

/// Returns the error with the step that this tool has.
fn explain(error: fs_core::Error, options: CreateDirOptions) -> ToolError {
    let kind = error.kind();
    let error = ToolError::from(error);
    match kind {
        ErrorKind::NotFound if !options.parents => {
            error.hinting("make the directory above it first, or leave parents out")
        }
        ErrorKind::AlreadyExists if options.exist_ok => error.hinting("choose another name"),
        ErrorKind::AlreadyExists => error.hinting("choose another name, or leave exist_ok out"),
        _ => error,
    }
}
