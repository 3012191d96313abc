//! `read_file`: a whole file as exact text.

use fs_core::{ErrorKind, LineRange, ReadOptions, Window, read_window};
use fs_sandbox::Opened;

use crate::error::ToolError;
use crate::file::TWIN;
use crate::files::read::{FACTS, SHORT_BYTES, with_window, words};
use crate::files::{ENCODING, PATH, encoding};
use crate::output::ToolOutput;
use crate::schema::{Args, Param};
use crate::stale::saw;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

pub(super) const VERSION: Param = Param::flag("version", "For if_version.");

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "read_file",
    title: "Read a whole file",
    about: "Read a whole text file as exact text; its encoding (UTF-8, UTF-16, GBK and others) is \
            detected. For large files and logs use read_file_range.",
    params: &[PATH, ENCODING, VERSION],
    effect: Effect::Reads,
    facts: FACTS,
    sets: TWIN,
    run,
    pace: Pace::Short(run_short),
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let options = options(toolbox, args, call)?;
    let opened = toolbox.workspace().open(path);
    let opened = opened.map_err(|error| explain(error, path))?;
    let window = toolbox.workspace().read_opened(&opened, &options);
    finish(toolbox, &opened, window, args)
}

/// Reads a small file; answers nothing when the file is large, or when `run` is to say what is
/// wrong with the path.
fn run_short(toolbox: &Toolbox, args: &Args, call: &Call) -> Option<Result<ToolOutput, ToolError>> {
    let opened = toolbox.workspace().open(args.text("path")?).ok()?;
    if opened.size > SHORT_BYTES {
        return None;
    }
    let options = options(toolbox, args, call);
    Some(options.and_then(|options| {
        let window = read_window(&opened.file, &options, None);
        finish(toolbox, &opened, window, args)
    }))
}

fn options(toolbox: &Toolbox, args: &Args, call: &Call) -> Result<ReadOptions, ToolError> {
    Ok(ReadOptions {
        range: LineRange::All,
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
        lossy: true,
        max_file_bytes: toolbox.settings().max_read_bytes,
        cancel: call.cancel.clone(),
        ..ReadOptions::default()
    })
}

fn finish(
    toolbox: &Toolbox,
    opened: &Opened,
    window: fs_core::Result<Window>,
    args: &Args,
) -> Result<ToolOutput, ToolError> {
    let path = args.text("path").unwrap_or_default();
    let mut window = window.map_err(|error| explain(error, path))?;
    saw(toolbox, opened, &window, LineRange::All);
    let text = std::mem::take(&mut window.text);
    let output = with_window(ToolOutput::new(text), &window);
    Ok(output.with_words(&words(&window, args)))
}

/// Returns the error with the tool that does what was meant.
pub(super) fn explain(error: fs_core::Error, path: &str) -> ToolError {
    let kind = error.kind();
    let error = ToolError::from(error.at(path));
    match kind {
        ErrorKind::IsADirectory => error.hinting("use list_dir to list a directory"),
        ErrorKind::TooLarge => error.hinting("use read_file_range to read a part of it"),
        _ => error,
    }
}
