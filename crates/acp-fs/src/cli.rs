//! `log`, `show` and `undo`: what sessions asked for and changed, for people.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::process::ExitCode;

use fs_core::{Error, FileBytes, Problem, one_line};
use fs_edit::{DiffOptions, WholeText, diff_between};
use fs_sandbox::{HistorySide, UndoOptions, Workspace};

use crate::config::Print;
use crate::failure::Failure;
use crate::journal::{self, Record};

/// The largest file, in bytes, that is shown as a diff.
const SHOWN: u64 = 16 * 1024 * 1024;
/// How much of a diff is shown.
const PAGE: DiffOptions = DiffOptions {
    context: 3,
    max_lines: 10_000,
    max_bytes: 1024 * 1024,
    first_line: 1,
};

/// A file that a session changed.
struct Changed {
    /// Its absolute path.
    path: String,
    /// The session's changes of it in the history, oldest first.
    entries: Vec<u64>,
}

/// Lists what sessions asked for, oldest first.
pub(crate) fn log(
    workspace: &Workspace,
    session: Option<&str>,
    print: Print,
) -> Result<ExitCode, Failure> {
    let records = records(workspace)?;
    let wanted = records
        .iter()
        .filter(|record| session.is_none_or(|session| record.session == session));
    let lines = wanted.map(|record| match print {
        Print::Text => line(record),
        Print::Json => serde_json::to_string(record).unwrap_or_default() + "\n",
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        let _unprinted = writeln!(io::stderr(), "acp-fs: nothing was asked for in these roots");
    }
    print_out(&lines)
}

/// Shows what a session changed, from before its first change of each file to after its last.
pub(crate) fn show(
    workspace: &Workspace,
    session: &str,
    path: Option<&str>,
) -> Result<ExitCode, Failure> {
    let mut said = String::new();
    let mut code = ExitCode::SUCCESS;
    for changed in changes(workspace, session, path)? {
        match changed.diff(workspace) {
            Ok(diff) => said += &diff,
            Err(error) => {
                code = ExitCode::FAILURE;
                complain(&error);
            }
        }
    }
    print_out(&said)?;
    Ok(code)
}

/// Takes back what a session changed; a file that somebody else has changed since stays as it is.
pub(crate) fn undo(
    workspace: &Workspace,
    session: &str,
    path: Option<&str>,
) -> Result<ExitCode, Failure> {
    let workspace = workspace.for_tool("acp-fs undo");
    let mut said = String::new();
    let mut code = ExitCode::SUCCESS;
    for changed in changes(&workspace, session, path)? {
        match changed.take_back(&workspace) {
            Ok(done) => said += &done,
            Err(error) => {
                code = ExitCode::FAILURE;
                complain(&error);
            }
        }
    }
    print_out(&said)?;
    Ok(code)
}

impl Changed {
    fn diff(&self, workspace: &Workspace) -> Result<String, Error> {
        let side = |id: Option<&u64>, side| -> Result<Vec<u8>, Error> {
            let id = id.copied().unwrap_or_default();
            let Some(file) = workspace.open_history(&self.path, id, side)? else {
                return Ok(Vec::new());
            };
            let bytes =
                FileBytes::read(&file, 0, SHOWN + 1).map_err(|error| error.at(&self.path))?;
            if bytes.len() as u64 > SHOWN {
                let problem = Problem::TooLarge {
                    size: bytes.len() as u64,
                    limit: SHOWN,
                    hint: "compare the file by other means",
                };
                return Err(Error::from(problem).at(&self.path));
            }
            Ok(bytes.to_vec())
        };
        let before = side(self.entries.first(), HistorySide::Before)?;
        let after = side(self.entries.last(), HistorySide::After)?;
        Ok(diff_between(
            WholeText::of(&before),
            WholeText::of(&after),
            &self.path,
            &PAGE,
        ))
    }

    fn take_back(&self, workspace: &Workspace) -> Result<String, Error> {
        let shown = one_line(&self.path);
        let ours: HashSet<u64> = self.entries.iter().copied().collect();
        let history = workspace.history(&self.path, usize::MAX)?;
        let is_standing = |id: u64| {
            let entry = history.iter().find(|entry| entry.id == id);
            entry.is_some_and(|entry| entry.undone_by.is_none())
        };
        let Some(first) = self.entries.iter().copied().find(|id| is_standing(*id)) else {
            return Ok(format!("{shown}: nothing left to take back\n"));
        };
        let is_others = history.iter().any(|entry| {
            entry.id > first
                && !ours.contains(&entry.id)
                && entry.undone_by.is_none()
                && entry.undoes.is_none()
        });
        if is_others {
            return Err(Error::from(Problem::ChangedSince).at(&self.path));
        }
        let options = UndoOptions {
            entry: Some(first),
            ..UndoOptions::default()
        };
        let undone = workspace.undo(&self.path, &options)?;
        let now = undone.names.iter().find_map(|name| name.now.as_ref());
        let warnings = undone.warnings.iter();
        let warnings = warnings.map(|warning| format!("{shown}: {warning}\n"));
        Ok(match now {
            Some(file) => format!("{shown}: as it was, {} bytes\n", file.size),
            None => format!("{shown}: removed, it was new\n"),
        } + &warnings.collect::<String>())
    }
}

/// Returns the files that the latest session of this id changed, in the order of their first change.
fn changes(
    workspace: &Workspace,
    session: &str,
    path: Option<&str>,
) -> Result<Vec<Changed>, Failure> {
    let path = path.map(|path| absolute(workspace, path));
    let path = path.as_deref();
    let records = records(workspace)?;
    let of_session = || records.iter().filter(|record| record.session == session);
    let Some(last) = of_session().next_back() else {
        let shown = one_line(session);
        return Err(Failure::failed(format!(
            "no session {shown} in these roots (name those that acp-fs was started with); \
             `acp-fs log` lists them"
        )));
    };
    let of_run = || of_session().filter(|record| record.run == last.run);
    // A file may have been written by several names, and all of that is the session's.
    let named = of_run().filter(|record| path.is_none_or(|path| path == record.path));
    let named: HashSet<String> = named.filter_map(Record::absolute).collect();
    let mut all: Vec<Changed> = Vec::new();
    for record in of_run() {
        let (Some(file), Some(entry)) = (record.absolute(), record.entry) else {
            continue;
        };
        if path != Some(file.as_str()) && !named.contains(&file) {
            continue;
        }
        let entries = std::iter::once(entry).chain(record.mending);
        match all.iter_mut().find(|changed| changed.path == file) {
            Some(changed) => changed.entries.extend(entries),
            None => all.push(Changed {
                path: file,
                entries: entries.collect(),
            }),
        }
    }
    if let (true, Some(path)) = (all.is_empty(), path) {
        let shown = one_line(path);
        return Err(Failure::failed(format!(
            "the session did not change {shown}"
        )));
    }
    if all.is_empty() {
        let _unprinted = writeln!(io::stderr(), "acp-fs: the session changed nothing there");
    }
    Ok(all)
}

/// Returns a path as sessions name it: a relative one is below the first root.
fn absolute(workspace: &Workspace, path: &str) -> String {
    let roots = workspace.roots();
    match roots.first() {
        Some(root) if !path.starts_with('/') => {
            let path = path.trim_start_matches("./");
            let root = fs_core::escape_name(root.real_path.as_os_str());
            format!("{}/{path}", root.trim_end_matches('/'))
        }
        _ => path.to_owned(),
    }
}

/// Returns the records of the runs in these roots, oldest first.
fn records(workspace: &Workspace) -> Result<Vec<Record>, Failure> {
    let dir = workspace.state_dir();
    let dir = dir.ok_or_else(|| Failure::failed("there is no journal: name --state"))?;
    let records = journal::records(&dir);
    let mut records = records.map_err(|error| Failure::failed(format!("the journal: {error}")))?;
    let roots = workspace.roots();
    let is_ours = |path: &String| {
        let mut roots = roots.iter();
        roots.any(|root| fs_core::escape_name(root.real_path.as_os_str()) == path.as_str())
    };
    records.retain(|record| match &record.root {
        Some(root) => is_ours(root),
        None => record.roots.iter().any(is_ours),
    });
    Ok(records)
}

impl Record {
    /// Returns the real path of the file.
    fn absolute(&self) -> Option<String> {
        let (root, file) = (self.root.as_ref()?, self.file.as_ref()?);
        Some(format!("{}/{file}", root.trim_end_matches('/')))
    }
}

/// Returns a record as one line.
fn line(record: &Record) -> String {
    let verb = record.method.trim_start_matches("fs/");
    let verb = verb.trim_end_matches("_text_file");
    let mut line = format!(
        "{}  {}  {verb}  {}",
        record.time,
        one_line(&record.session),
        one_line(&record.path)
    );
    if record.line.is_some() || record.limit.is_some() {
        line += &window(record);
    }
    line.extend(["  ", &record.outcome]);
    if let Some(entry) = record.entry {
        line.extend(["  #", &entry.to_string()]);
    }
    if record.merged {
        line += "  merged";
    }
    if record.source.as_deref() == Some("buffer") {
        line += "  in the editor";
    }
    line + "\n"
}

/// Returns the lines that were asked for: `:FROM+COUNT`.
fn window(record: &Record) -> String {
    let from = record.line.unwrap_or(1);
    let limit = record.limit.map(|limit| format!("+{limit}"));
    format!(":{from}{}", limit.unwrap_or_default())
}

/// Says what kept one file from being done.
fn complain(error: &Error) {
    let hint = error.hint().map(|hint| format!("\n  {hint}"));
    let hint = hint.unwrap_or_default();
    let _unprinted = writeln!(io::stderr(), "acp-fs: {error}{hint}");
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
