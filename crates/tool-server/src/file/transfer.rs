//! `copy_file` and `move_file`.

use fs_core::{EntryKind, Error, ErrorKind, one_line};
use fs_sandbox::{Links, TransferOptions, Transferred, Workspace};

use crate::error::ToolError;
use crate::file::media::Media;
use crate::file::{OWN, artifact, changed};
use crate::files::if_version;
use crate::output::ToolOutput;
use crate::render::counted;
use crate::schema::{Args, Param};
use crate::stale::Stake;
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

const PARAMS: &[Param] = &[
    Param::text("src_path", "").required(),
    Param::text("dst_path", "With the file's name.").required(),
    Param::flag("overwrite", ""),
    Param::text("if_version", "Refuse another version."),
];

const FACTS: &[(&str, &str)] = &[
    ("type", "string"),
    ("size", "integer"),
    ("replaced", "boolean"),
    ("parted_links", "integer"),
    ("warnings", "array"),
];

pub(crate) static COPY: ToolSpec = ToolSpec {
    name: "copy_file",
    title: "Copy a file",
    about: "Copy a file with its mode and times; missing folders are made.",
    params: PARAMS,
    effect: Effect::Changes,
    facts: FACTS,
    sets: OWN,
    run: |toolbox, args, call| run(&COPYING, toolbox, args, call),
    pace: Pace::Copy,
};

pub(crate) static MOVE: ToolSpec = ToolSpec {
    name: "move_file",
    title: "Move or rename a file",
    about: "Move or rename a file, or a link itself; missing folders are made.",
    params: PARAMS,
    effect: Effect::Deletes,
    facts: FACTS,
    sets: OWN,
    run: |toolbox, args, call| run(&MOVING, toolbox, args, call),
    pace: Pace::Copy,
};

/// What is done between the two paths, and the word for it.
struct Way {
    links: Links,
    go: fn(&Workspace, &str, &str, &TransferOptions) -> Result<Transferred, Error>,
    did: &'static str,
}

static COPYING: Way = Way {
    links: Links::Follow,
    go: Workspace::copy,
    did: "Copied",
};
static MOVING: Way = Way {
    links: Links::KeepLast,
    go: Workspace::rename,
    did: "Moved",
};

fn run(
    way: &Way,
    toolbox: &Toolbox,
    args: &mut Args,
    call: &Call,
) -> Result<ToolOutput, ToolError> {
    let (from, to) = (args.take_text("src_path"), args.take_text("dst_path"));
    let source = Stake::new(toolbox, &from, way.links, args);
    let target = Stake::new(toolbox, &to, way.links, args).into_target();
    let options = TransferOptions {
        overwrite: args.flag("overwrite"),
        if_version: if_version(args)?,
        served: target.served(),
        progress: call.progress.clone(),
        cancel: call.cancel.clone(),
    };
    let done = (way.go)(&toolbox.workspace_for(args), &from, &to, &options);
    let done = done.map_err(|error| match (error.kind(), error.path()) {
        (ErrorKind::Conflict, Some(path)) if path == to => target.explain(error),
        (ErrorKind::Conflict, _) => source.explain(error),
        _ => explain(&error, &from, &to),
    })?;
    target.took(&source);
    if way.links == Links::KeepLast {
        source.removed();
    }
    let artifact = artifact(toolbox, &to, done.size, Media::Any);
    let mut output = changed(&said(way, &done, &from, &to), artifact);
    for warning in &done.warnings {
        output = output.with_note(format!("warning: {warning}"));
    }
    Ok(output
        .with_fact("type", kind(done.kind))
        .with_fact("size", done.size)
        .with_fact("replaced", done.replaced)
        .with_fact("parted_links", done.parted_links)
        .with_fact("warnings", done.warnings))
}

/// Returns the error in the words of these tools.
fn explain(error: &Error, from: &str, to: &str) -> ToolError {
    let shown = ToolError::of(error);
    let at_target = error.path() == Some(to) && from != to;
    match error.kind() {
        ErrorKind::InvalidArgument => {
            let message = format!(
                "dst_path is the source itself, or what it leads to: {}",
                one_line(to)
            );
            shown.with("field", "dst_path").saying(message)
        }
        ErrorKind::IsADirectory if at_target => {
            shown.hinting("dst_path must be the whole path, with the file's name")
        }
        ErrorKind::IsADirectory => shown.hinting("only files and links are copied and moved"),
        ErrorKind::AlreadyExists => {
            shown.hinting("choose another name, or set overwrite=true to replace it")
        }
        ErrorKind::HardLink => shown.hinting("choose another name, or delete this one first"),
        _ => shown,
    }
}

fn said(way: &Way, done: &Transferred, from: &str, to: &str) -> String {
    let (from, to, did) = (one_line(from), one_line(to), way.did);
    let what = match done.kind {
        EntryKind::Link => "link ",
        _ => "",
    };
    let replaced = if done.replaced {
        ", in place of what was there"
    } else {
        ""
    };
    let links = match done.parted_links {
        0 => String::new(),
        links => {
            let names = counted(links, "other name");
            format!(", {names} of that kept its bytes")
        }
    };
    format!("{did} {what}{from} to {to}{replaced}{links}")
}

fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Link => "link",
        _ => "file",
    }
}
