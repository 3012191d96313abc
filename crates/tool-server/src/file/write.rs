//! `write_file` and `append_file`.

use fs_core::one_line;
use fs_sandbox::{Breaks, Links, WriteMode, WriteOptions};

use crate::error::ToolError;
use crate::file::media::Media;
use crate::file::{TWIN, artifact, changed};
use crate::files::write::{bytes_of, change, done, write};
use crate::files::{Aftermath, ENCODING, IF_VERSION, PATH, encoding, update_options};
use crate::output::ToolOutput;
use crate::schema::{Args, Param};
use crate::stale::Stake;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

const PARAMS: &[Param] = &[
    PATH,
    Param::text("content", "").required(),
    ENCODING,
    IF_VERSION,
];

const FACTS: &[(&str, &str)] = &[
    ("bytes", "integer"),
    ("size", "integer"),
    ("change", "string"),
    ("encoding", "string"),
    ("bom", "boolean"),
    ("eol", "string"),
    ("version", "string"),
    ("parted_links", "integer"),
    ("warnings", "array"),
];

pub(crate) static WRITE: ToolSpec = ToolSpec {
    name: "write_file",
    title: "Write a whole file",
    about: "Write the whole content of a file, in place of what it held; missing folders are made. \
            It keeps its encoding. Add text by append_file, change parts by edit_file.",
    params: PARAMS,
    effect: Effect::Changes,
    facts: FACTS,
    sets: TWIN,
    run: |toolbox, args, call| run(WriteMode::Overwrite, toolbox, args, call),
    pace: Pace::Plain,
};

pub(crate) static APPEND: ToolSpec = ToolSpec {
    name: "append_file",
    title: "Append to a file",
    about: "Add text at the end of a file, in its encoding; file and folders are made when missing. \
            No line break is put before it.",
    params: PARAMS,
    effect: Effect::Adds,
    facts: FACTS,
    sets: TWIN,
    run: |toolbox, args, call| run(WriteMode::Append, toolbox, args, call),
    pace: Pace::Plain,
};

fn run(
    mode: WriteMode,
    toolbox: &Toolbox,
    args: &mut Args,
    call: &Call,
) -> Result<ToolOutput, ToolError> {
    let (path, content) = (args.take_text("path"), args.take_text("content"));
    let stake = Stake::new(toolbox, &path, Links::Follow, args);
    let mut options = WriteOptions {
        mode,
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
        breaks: Breaks::Keep,
        create_dirs: true,
        update: update_options(toolbox, args, call)?,
    };
    let written = write(&path, &content, &mut options, &stake);
    let written = written.map_err(|error| error.at(&path))?;
    let aftermath = Aftermath {
        format: written.format,
        backup: None,
        parted_links: written.parted_links,
        warnings: &written.warnings,
        version: &written.version,
        show_version: args.text("if_version").is_some(),
    };
    let bytes = bytes_of(&content, &written);
    let message = done(&written, bytes, mode, &one_line(&path)) + &aftermath.clauses();
    let artifact = artifact(toolbox, &path, written.size, Media::Text);
    let output = changed(&message, artifact)
        .with_fact("bytes", bytes)
        .with_fact("size", written.size)
        .with_fact("change", change(written.change));
    Ok(aftermath.finish(output, args))
}
