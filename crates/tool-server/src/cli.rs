//! `call` and `tools`: the tools for people and scripts.

mod history;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fs_core::Cancel;
use serde_json::{Map, Value, json};
use tool_server::schema::{Kind, Param};
use tool_server::{Call, CallError, Settings, ToolOutput, ToolSet, ToolSpec, Toolbox};

use crate::config::Print;
use crate::failure::Failure;
use crate::progress;

pub(crate) use history::{history, show, undo};

/// Calls one tool and prints its answer: exit code 0, or 1 when the tool failed.
pub(crate) fn call(
    toolbox: &Toolbox,
    tool: &str,
    arguments: &[String],
    print: Print,
) -> Result<ExitCode, Failure> {
    let spec = ToolSet::ALL
        .into_iter()
        .flat_map(ToolSet::specs)
        .find(|spec| spec.name == tool);
    let arguments = parse_arguments(spec, arguments)?;
    let call = Call::stopped_by(interrupted().map_err(Failure::failed)?);
    let watched = call.progress.clone();
    match progress::shown(&watched, || toolbox.call(tool, arguments, &call)) {
        Ok(output) => {
            let text = match print {
                Print::Text => lines(output),
                Print::Json => format!("{}\n", answer(output)),
            };
            print_out(&text)
        }
        Err(error @ CallError::UnknownTool(_)) => Err(Failure::usage(format!("{tool}: {error}"))),
        Err(CallError::Failed(error)) => {
            if print == Print::Json {
                let error = json!({ "error": error.object() });
                print_out(&format!("{error}\n"))?;
                return Ok(ExitCode::FAILURE);
            }
            Err(Failure::failed(error.to_string()))
        }
    }
}

/// Prints the tools that the settings offer, with the size of what a client is sent about them.
pub(crate) fn tools(settings: &Settings, print: Print) -> Result<ExitCode, Failure> {
    if let Some(missing) = missing_tools(settings.set) {
        let _unprinted = writeln!(io::stderr(), "tool-server: {missing}");
    }
    let specs: Vec<&ToolSpec> = settings.specs().collect();
    let text = match print {
        Print::Json => {
            let all: Vec<Value> = specs.iter().map(|spec| described(spec)).collect();
            format!("{}\n", Value::from(all))
        }
        Print::Text => overview(settings, &specs),
    };
    print_out(&text)
}

/// Returns why a set has no tool in this version, if it has none.
pub(crate) fn missing_tools(set: ToolSet) -> Option<String> {
    let name = set.name();
    let is_empty = set.specs().next().is_none();
    is_empty.then(|| format!("set {name}: this version has none of its tools yet"))
}

/// Returns what a first signal to end sets, so that the call undoes what it has begun; a second one
/// ends the process at once.
fn interrupted() -> Result<Cancel, String> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag::{register, register_conditional_default};

    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let set = register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| register(signal, Arc::clone(&flag)));
        set.map_err(|error| format!("signals: {error}"))?;
    }
    Ok(Cancel::from(flag))
}

fn parse_arguments(
    spec: Option<&ToolSpec>,
    arguments: &[String],
) -> Result<Map<String, Value>, Failure> {
    let mut parsed = Map::new();
    for argument in arguments {
        let Some((name, value)) = argument.split_once('=') else {
            let reason = format!("{argument:?} is no ARG=VALUE");
            return Err(Failure::usage(reason));
        };
        let param = spec.and_then(|spec| spec.params.iter().find(|param| param.name == name));
        if parsed
            .insert(name.to_owned(), parse_value(param, name, value)?)
            .is_some()
        {
            return Err(Failure::usage(format!("{name} is given twice")));
        }
    }
    Ok(parsed)
}

/// Returns a value as its parameter wants it: text as it stands, everything else as JSON.
fn parse_value(param: Option<&Param>, name: &str, value: &str) -> Result<Value, Failure> {
    match param.map(|param| param.kind) {
        None | Some(Kind::Text | Kind::Choice { .. }) => Ok(value.into()),
        Some(_) => serde_json::from_str(value)
            .map_err(|error| Failure::usage(format!("{name} is no JSON: {error}"))),
    }
}

/// Returns the blocks one after the other, each from the start of a line.
fn lines(output: ToolOutput) -> String {
    let (mut text, further, _) = output.into_parts();
    for block in further {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&block);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn answer(output: ToolOutput) -> Value {
    let (text, further, facts) = output.into_parts();
    json!({ "text": text, "further": further, "facts": facts })
}

fn described(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.about,
        "inputSchema": spec.input_schema(),
    })
}

fn overview(settings: &Settings, specs: &[&ToolSpec]) -> String {
    let mut lines = Vec::new();
    let mut bytes = 0;
    for spec in specs {
        lines.push(format!("{}: {}\n", spec.name, spec.about));
        let params = spec.params.iter().map(param_line);
        lines.extend(params.map(|line| format!("    {line}\n")));
        bytes += described(spec).to_string().len();
    }
    let (count, set) = (specs.len(), settings.set.name());
    lines.push(format!(
        "{count} tools in set {set}, {bytes} bytes of schemas\n"
    ));
    lines.concat()
}

fn param_line(param: &Param) -> String {
    let need = if param.required { ", required" } else { "" };
    let (name, about) = (param.name, param.about);
    match param.kind {
        Kind::Text => format!("{name} (text{need}): {about}"),
        Kind::Integer { .. } => format!("{name} (whole number{need}): {about}"),
        Kind::Flag { .. } => format!("{name} (true or false{need}): {about}"),
        Kind::Choice { words, .. } => format!("{name} ({}{need}): {about}", words.join("|")),
        Kind::Objects(params) => {
            let names: Vec<&str> = params.iter().map(|param| param.name).collect();
            format!("{name} (list of {{{}}}{need}): {about}", names.join(", "))
        }
        _ => format!("{name}{need}: {about}"),
    }
}

/// Writes to standard output; a reader that has gone away is no failure.
fn print_out(text: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::failed(format!("standard output: {error}"))),
    }
}

#[cfg(test)]
mod tests;
