//! `files_edit`: exact replacements, all or none.

use fs_core::{Error, one_line};
use fs_edit::{Edit, EditOptions, Edited, EolMode, Request, Target, edit_file};
use fs_sandbox::{HardLinks, Links};

use crate::error::ToolError;
use crate::files::{
    Aftermath, CREATE_BACKUP, ENCODING, IF_VERSION, PATH, encoding, update_options,
};
use crate::output::ToolOutput;
use crate::render::{counted, fenced};
use crate::schema::{Args, Kind, MAX_POSITION, Param};
use crate::stale::Stake;
use crate::toolbox::{Call, Effect, Pace, ToolSet, ToolSpec, Toolbox};

pub(crate) const EOL: Param = Param::choice(
    "eol",
    &["auto", "exact", "lf", "crlf"],
    "auto: LF also matches CRLF.",
);
pub(crate) const DRY_RUN: Param = Param::flag("dry_run", "Only show the diff.");
pub(crate) const DIFF: Param = Param::flag("diff", "");
pub(crate) const ON_HARD_LINK: Param = Param::word(
    "on_hard_link",
    &["break", "refuse", "in_place"],
    "If it has several names.",
);

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "files_edit",
    title: "Edit a file",
    about: "Replace exact text in a file. Each `old` must occur exactly once in the original, \
            blanks and line breaks included; all edits are applied or none. All other bytes stay.",
    params: &[
        PATH,
        Param::optional(
            "edits",
            Kind::Objects(&[
                Param::text("old", "Literal text.").required(),
                Param::text("new", "").required(),
                Param::optional(
                    "expected_count",
                    Kind::Integer {
                        default: Some(1),
                        min: -1,
                        max: MAX_POSITION,
                    },
                    "How often `old` must occur; -1: any.",
                ),
            ]),
            "",
        )
        .required(),
        ENCODING,
        EOL,
        IF_VERSION,
        DRY_RUN,
        DIFF,
        ON_HARD_LINK,
        CREATE_BACKUP,
    ],
    effect: Effect::Changes,
    facts: &[
        ("edit_count", "integer"),
        ("replacements", "integer"),
        ("lines_changed", "integer"),
        ("diff", "string"),
        ("dry_run", "boolean"),
        ("encoding", "string"),
        ("bom", "boolean"),
        ("eol", "string"),
        ("version", "string"),
        ("backup", "string"),
        ("parted_links", "integer"),
        ("warnings", "array"),
    ],
    sets: &[ToolSet::Standard, ToolSet::Files, ToolSet::All],
    run,
    pace: Pace::Plain,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let mut update = update_options(toolbox, args, call)?;
    update.hard_links = hard_links(args);
    let options = EditOptions {
        update,
        dry_run: args.flag("dry_run"),
    };
    let edits: Vec<Edit> = args
        .take_objects("edits")
        .into_iter()
        .map(replacement)
        .collect();
    let count = edits.len() as u64;
    let request = Request {
        target: Target::Text(edits),
        eol: eol(args),
        encoding: encoding(args)?,
        fallback: toolbox.settings().fallback,
    };
    let path = args.take_text("path");
    let edited = edit(toolbox, &path, &request, &options, args).map_err(|failed| {
        let (error, stake) = *failed;
        stake.explain(error).at(&path)
    })?;
    Ok(render(&edited, count, &path, args))
}

fn replacement(mut args: Args) -> Edit {
    Edit {
        old: args.take_text("old"),
        new: args.take_text("new"),
        expected_count: args.integer("expected_count").unwrap_or(1),
    }
}

/// Edits, and remembers what has become of the file; an error comes with the file that it is about.
pub(crate) fn edit<'t>(
    toolbox: &'t Toolbox,
    path: &str,
    request: &Request,
    options: &EditOptions,
    args: &Args,
) -> Result<Edited, Box<(Error, Stake<'t>)>> {
    let stake = Stake::new(toolbox, path, Links::Follow, args);
    match edit_served(&stake, path, request, options) {
        Ok(edited) => {
            if let Some(before) = &edited.before {
                stake.edited(before, &edited.version);
            }
            Ok(edited)
        }
        Err(error) => Err(Box::new((error, stake))),
    }
}

/// Edits; lines that are meant by their numbers only as the session has seen them.
fn edit_served(
    stake: &Stake<'_>,
    path: &str,
    request: &Request,
    options: &EditOptions,
) -> Result<Edited, Error> {
    let workspace = stake.workspace();
    if matches!(request.target, Target::Text(_)) {
        return edit_file(&workspace, path, request, options);
    }
    let mut options = options.clone();
    stake.as_served(|served| {
        options.update.served = served;
        edit_file(&workspace, path, request, &options)
    })
}

pub(crate) fn eol(args: &Args) -> EolMode {
    match args.choice("eol") {
        "exact" => EolMode::Exact,
        "lf" => EolMode::Lf,
        "crlf" => EolMode::CrLf,
        _ => EolMode::Auto,
    }
}

pub(crate) fn hard_links(args: &Args) -> Option<HardLinks> {
    match args.choice("on_hard_link") {
        "break" => Some(HardLinks::Break),
        "refuse" => Some(HardLinks::Refuse),
        "in_place" => Some(HardLinks::InPlace),
        _ => None,
    }
}

fn render(edited: &Edited, count: u64, path: &str, args: &Args) -> ToolOutput {
    let aftermath = Aftermath {
        format: edited.format,
        backup: edited.backup.as_deref(),
        parted_links: edited.parted_links,
        warnings: &edited.warnings,
        version: &edited.version,
        show_version: args.text("if_version").is_some() && !edited.dry_run,
    };
    let done = done(edited, count, &one_line(path));
    let mut output = ToolOutput::new(done + &aftermath.clauses());
    if edited.dry_run || args.flag("diff") {
        output = output.with_block(diff(edited));
    }
    let output = output
        .with_fact("edit_count", count)
        .with_fact("replacements", edited.replacements)
        .with_fact("lines_changed", edited.lines_changed)
        .with_fact("diff", edited.diff.as_str())
        .with_fact("dry_run", edited.dry_run);
    aftermath.finish(output, args)
}

/// Returns the diff as a block, or why there is none.
pub(crate) fn diff(edited: &Edited) -> String {
    if edited.diff.is_empty() {
        return "[No diff: the read right is missing.]".to_owned();
    }
    fenced(&edited.diff, "diff")
}

fn done(edited: &Edited, count: u64, path: &str) -> String {
    let did = if edited.dry_run {
        "Would apply"
    } else {
        "Applied"
    };
    let edits = counted(count, "edit");
    let times = if edited.replacements == count {
        String::new()
    } else {
        format!(" ({})", counted(edited.replacements, "replacement"))
    };
    let lines = counted(edited.lines_changed, "line");
    format!("{did} {edits} to {path}{times}: {lines} changed")
}
