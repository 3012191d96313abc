//! `search_files`: names, text, and definitions.

mod places;
mod render;

use fs_core::{Encoding, Fallback, Query, Syntax, Target, WalkOptions};

use crate::error::ToolError;
use crate::file::OWN;
use crate::output::ToolOutput;
use crate::schema::{Args, Param};
use crate::toolbox::{Call, Effect, Pace, ToolSpec, Toolbox};

/// Results of an answer when the call names no limit.
const DEFAULT_RESULTS: i64 = 50;
/// Results of an answer at most.
const MAX_RESULTS: i64 = 5_000;
/// Lines of context at most.
const MAX_CONTEXT: i64 = 100;
/// Bytes of an answer when the call names no limit.
const DEFAULT_BYTES: usize = 64 * 1024;
/// Bytes of an answer at most.
const MAX_BYTES: usize = 1024 * 1024;

pub(crate) static TOOL: ToolSpec = ToolSpec {
    name: "search_files",
    title: "Search files",
    about: "Search below a folder for text (`PATH:LINE:text`), for file names, or with mode code \
            for definitions of a name. The query is literal unless regex; among names `*` and `?` \
            make it a glob. Ignored and binary files are passed over and counted.",
    params: &[
        Param::text("query", "").required(),
        Param::text("root", "Folder to search; goes before scope."),
        Param::choice(
            "mode",
            &["text", "content", "file", "name", "code"],
            "text = content, file = name.",
        ),
        Param::choice(
            "scope",
            &["workspace", "user", "both"],
            "user: the root of that name; workspace: the others.",
        ),
        Param::text("file_glob", "Only files that match, such as *.py."),
        Param::number("max_results", DEFAULT_RESULTS, MAX_RESULTS, ""),
        Param::number("context_lines", 0, MAX_CONTEXT, "Lines around each hit."),
        Param::flag("include_hidden", "Search dot names too."),
        Param::flag("regex", "Without look-around."),
        Param::text("encoding", "Of files that are not UTF-8."),
    ],
    effect: Effect::Reads,
    facts: &[
        ("results", "integer"),
        ("files", "integer"),
        ("truncated", "string"),
        ("skipped", "object"),
        ("unreadable", "array"),
    ],
    sets: OWN,
    run,
    pace: Pace::Walk,
};

fn run(toolbox: &Toolbox, args: &mut Args, call: &Call) -> Result<ToolOutput, ToolError> {
    let query = query(toolbox, args, call)?;
    let places = places::of(toolbox.workspace(), args)?;
    let root = args.text("root");
    let answer = render::search(toolbox.workspace(), root, &places, query)?;
    Ok(answer.output(args))
}

fn query(toolbox: &Toolbox, args: &Args, call: &Call) -> Result<Query, ToolError> {
    let target = match args.choice("mode") {
        "file" | "name" => Target::Names,
        "code" => Target::Definitions,
        _ => Target::Text,
    };
    let limit = args.positive("max_results");
    let limit = limit.unwrap_or(DEFAULT_RESULTS.unsigned_abs());
    let context = args.integer("context_lines").unwrap_or_default();
    let glob = args.text("file_glob").filter(|glob| !glob.is_empty());
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Query {
        pattern: pattern(args, target)?,
        syntax: if args.flag("regex") {
            Syntax::Regex
        } else {
            Syntax::Literal
        },
        target,
        file_glob: glob.map(str::to_owned),
        context_lines: size(context.unsigned_abs()),
        max_results: size(limit),
        max_bytes: if args.is_given("max_results") {
            MAX_BYTES
        } else {
            DEFAULT_BYTES
        },
        fallback: fallback(toolbox, args)?,
        walk: WalkOptions {
            include_hidden: args.flag("include_hidden"),
            cancel: call.cancel.clone(),
            progress: call.progress.clone(),
            ..WalkOptions::default()
        },
        ..Query::default()
    })
}

/// Returns what to search for: blanks around a name mean nothing, in a text they do.
fn pattern(args: &Args, target: Target) -> Result<String, ToolError> {
    let query = args.text("query").unwrap_or_default();
    let pattern = match target {
        Target::Text => query.trim_end_matches(['\r', '\n']),
        _ => query.trim(),
    };
    if pattern.trim().is_empty() {
        return Err(ToolError::invalid("query", "it is empty"));
    }
    let is_sign = |sign: char| "\\^.|?*+()[]{}".contains(sign);
    if target == Target::Definitions && args.flag("regex") && pattern.contains(is_sign) {
        let reason = "mode code takes a name as it is written, not a regular expression";
        return Err(ToolError::invalid("query", reason));
    }
    Ok(pattern.to_owned())
}

fn fallback(toolbox: &Toolbox, args: &Args) -> Result<Fallback, ToolError> {
    match args.text("encoding").filter(|label| !label.is_empty()) {
        None => Ok(toolbox.settings().fallback),
        Some(label) => Ok(Fallback::Encoding(Encoding::for_label(label)?)),
    }
}
