//! Files that changed since the session saw them: what a change is checked against, what is told
//! when the check fails, and what is remembered afterwards.
//!
//! Whole files are only overwritten as they were last shown, and lines only meant by their numbers as
//! they were counted then; an edit of a text or an append checks nothing, since the text is the check,
//! or none is needed. A refusal shows what has changed and counts as having
//! shown the file, so that the same call again is a decision, and goes through. Where nothing can be
//! shown, because the file cannot be read, it is forgotten, to the same end.

use std::borrow::Cow;
use std::thread;
use std::time::Duration;

use fs_core::{
    Encoding, Eol, Error, ErrorKind, LineRange, ReadOptions, TextFormat, Version, Window,
};
use fs_edit::{DiffOptions, WholeText, diff_between};
use fs_sandbox::{Links, Opened, RealPlace, Workspace, Written};

use crate::error::ToolError;
use crate::files::encoding;
use crate::memory::{Known, Memory, Shown};
use crate::schema::Args;
use crate::toolbox::Toolbox;

/// How much of a diff a refusal shows.
const SHOWN: DiffOptions = DiffOptions {
    context: 2,
    max_lines: 40,
    max_bytes: 4 * 1024,
    first_line: 1,
};
/// How often it is looked whether another call of the session has changed the file.
const WAITS: u32 = 10;
/// How many lines are shown of a file that was rewritten, and how many bytes.
const HEAD_LINES: usize = 20;
const HEAD_BYTES: usize = 2 * 1024;

/// A file that a call is about to change, as far as the session knows it.
#[derive(Debug)]
pub(crate) struct Stake<'t> {
    toolbox: &'t Toolbox,
    tool: &'static str,
    path: String,
    links: Links,
    place: Option<RealPlace>,
    encoding: Option<Encoding>,
    names_version: bool,
}

/// A window that a call has read, to be remembered.
pub(crate) fn saw(toolbox: &Toolbox, opened: &Opened, window: &Window, range: LineRange) {
    let Some(memory) = toolbox.memory() else {
        return;
    };
    match range {
        LineRange::From { column: 2.., .. } => memory.heard(opened.place(), window.version.clone()),
        _ => memory.saw(opened.place(), window),
    }
}

impl<'t> Stake<'t> {
    /// Returns the file at `path`, which a call with these arguments is about to change.
    pub(crate) fn new(toolbox: &'t Toolbox, path: &str, links: Links, args: &Args) -> Self {
        let mut stake = Self {
            toolbox,
            tool: args.tool(),
            path: path.to_owned(),
            links,
            place: None,
            encoding: named_encoding(args),
            names_version: args.takes("if_version") && args.is_given("if_version"),
        };
        stake.place = stake.find();
        stake
    }

    /// Returns the workspace for changes by the call's tool.
    pub(crate) fn workspace(&self) -> Workspace {
        self.toolbox.workspace().for_tool(self.tool)
    }

    /// Returns this as a file to which the version of the call does not belong.
    pub(crate) fn into_target(self) -> Self {
        Self {
            names_version: false,
            ..self
        }
    }

    /// Returns the version that an overwrite is to find; none where the call names one itself.
    pub(crate) fn served(&self) -> Option<Version> {
        let (memory, place) = self.remembered().filter(|_| !self.names_version)?;
        memory.version(place)
    }

    /// Makes a change that is right only for the version that the session has seen, which it is given;
    /// again when another call of the session was faster, since that is no news to it.
    ///
    /// # Errors
    /// Those of the change.
    pub(crate) fn as_served<T>(
        &self,
        mut change: impl FnMut(Option<Version>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let served = self.served();
            match change(served.clone()) {
                Err(error)
                    if error.kind() == ErrorKind::Conflict
                        && self.is_served_anew(served.as_ref()) => {}
                done => return done,
            }
        }
    }

    /// Returns whether the session knows of another version by now: a change of its own is on the disk
    /// shortly before it is known.
    fn is_served_anew(&self, served: Option<&Version>) -> bool {
        (0..WAITS).any(|wait| {
            if wait > 0 {
                thread::sleep(Duration::from_millis(2));
            }
            self.served().as_ref() != served
        })
    }

    /// Returns the error, a conflict with what has changed.
    pub(crate) fn explain(&self, error: Error) -> ToolError {
        let is_conflict = error.kind() == ErrorKind::Conflict;
        let error = ToolError::from(error);
        let Some((memory, place)) = self.remembered().filter(|_| is_conflict) else {
            return error;
        };
        let known = memory.recall(place);
        let found = self.look();
        let Some((version, window)) = found else {
            memory.forget(place.clone());
            return error;
        };
        let Some(known) = known.filter(|known| known.version != version) else {
            return error;
        };
        match &window {
            Some(window) => memory.saw(place.clone(), window),
            None => memory.heard(place.clone(), version.clone()),
        }
        let changed = changed(&known, window.as_ref(), &self.path);
        let message = format!("{}{changed}", error.message());
        error
            .saying(message)
            .with("version", version.as_str())
            .hinting(self.way_on(&version))
    }

    fn way_on(&self, version: &Version) -> String {
        let how = if self.names_version {
            format!("with if_version={version}")
        } else {
            "as it is".to_owned()
        };
        format!("nothing was changed; take over what is new, or repeat the call {how}")
    }

    /// All of the file was written.
    pub(crate) fn wrote(&self, version: &Version, text: &str) {
        self.remember(|memory, place| memory.wrote(place, version.clone(), text));
    }

    /// A part of the file was changed; a new file is what `text` says.
    pub(crate) fn added(&self, written: &Written, text: &str) {
        match &written.before {
            Some(before) => self.edited(before, &written.version),
            None => self.wrote(&written.version, text),
        }
    }

    /// A part of the file was changed.
    pub(crate) fn edited(&self, before: &Version, after: &Version) {
        self.remember(|memory, place| memory.edited(place, before, after.clone()));
    }

    /// The file was put back as it was at some time; the session asked for that.
    pub(crate) fn restored(&self, version: &Version) {
        self.remember(|memory, place| memory.heard(place, version.clone()));
    }

    /// The file is gone.
    pub(crate) fn removed(&self) {
        self.remember(Memory::forget);
    }

    /// The file has what `from` has, or had.
    pub(crate) fn took(&self, from: &Self) {
        self.remember(|memory, place| match &from.place {
            Some(from) => memory.copied(from, place),
            None => memory.forget(place),
        });
    }

    fn remember(&self, act: impl FnOnce(&Memory, RealPlace)) {
        if let Some(memory) = self.toolbox.memory()
            && let Some(place) = self.place.clone().or_else(|| self.find())
        {
            act(memory, place);
        }
    }

    fn remembered(&self) -> Option<(&'t Memory, &RealPlace)> {
        self.toolbox.memory().zip(self.place.as_ref())
    }

    /// Returns the file's place; none where the session remembers nothing.
    fn find(&self) -> Option<RealPlace> {
        self.toolbox.memory()?;
        self.toolbox
            .workspace()
            .place_of(&self.path, self.links)
            .ok()
    }

    /// Returns what the file is now, with its text where it has one of no more than 4 MiB; `None` where
    /// it may not be read.
    fn look(&self) -> Option<(Version, Option<Window>)> {
        let workspace = self.toolbox.workspace();
        let opened = workspace.open(&self.path).ok()?;
        if opened.size > Version::STRONG_BYTES {
            return Some((Version::of_handle(&opened.file).ok()?, None));
        }
        let options = ReadOptions {
            range: LineRange::All,
            encoding: self.encoding,
            fallback: self.toolbox.settings().fallback,
            lossy: true,
            max_file_bytes: Some(Version::STRONG_BYTES),
            ..ReadOptions::default()
        };
        if let Ok(window) = workspace.read_opened(&opened, &options) {
            return Some((window.version.clone(), Some(window)));
        }
        let bytes = fs_core::FileBytes::read(&opened.file, 0, opened.size).ok()?;
        Some((Version::of_bytes(&bytes), None))
    }
}

/// Returns the encoding that the call names, if it takes one; a wrong one is refused elsewhere.
fn named_encoding(args: &Args) -> Option<Encoding> {
    if !args.takes("encoding") {
        return None;
    }
    encoding(args).ok().flatten()
}

/// Returns what has changed since the session saw the file, in lines of their own.
fn changed(known: &Known, window: Option<&Window>, path: &str) -> String {
    let Some(window) = window else {
        return "\nIt is over 4 MiB, or no text, so the change is not shown.".to_owned();
    };
    let Some(shown) = &known.text else {
        return "\nWhat it held is not remembered, so the change is not shown.".to_owned();
    };
    let since = if known.is_edited {
        " (your own edits since then are in it)"
    } else {
        ""
    };
    let last = shown.first_line + shown.lines().saturating_sub(1);
    let (old, new) = (plain(&shown.text), plain(part(&window.text, shown)));
    let options = DiffOptions {
        first_line: shown.first_line,
        ..SHOWN
    };
    let diff = diff_between(side(&old), side(&new), path, &options);
    if tells_of_the_old_only(&diff) {
        return rewritten(&new, shown.first_line, last);
    }
    match (diff.is_empty(), shown.is_whole) {
        (true, true) => "\nOnly its line breaks, its encoding or its byte order mark.".to_owned(),
        (true, false) => {
            format!(
                "\nLines {}-{last}, which were shown, are the same.",
                shown.first_line
            )
        }
        (false, true) => format!("\nThe change since it was shown{since}:\n{diff}"),
        (false, false) => format!(
            "\nThe change of lines {}-{last} since they were shown{since}:\n{diff}",
            shown.first_line
        ),
    }
}

/// Returns whether a diff was cut before it came to what is there now.
fn tells_of_the_old_only(diff: &str) -> bool {
    let mut rows = diff.lines().skip(2);
    diff.contains("\n[cut: ") && !rows.any(|row| row.starts_with('+'))
}

/// Says how lines that were rewritten begin now.
fn rewritten(new: &str, first: u64, last: u64) -> String {
    let mut head = String::new();
    for line in new.split_inclusive('\n').take(HEAD_LINES) {
        if head.len() + line.len() > HEAD_BYTES {
            break;
        }
        head.push_str(line);
    }
    let place = format!("\nLines {first}-{last}, which were shown, were rewritten");
    if head.is_empty() {
        return place + ".";
    }
    format!("{place}; there it begins now:\n{head}")
}

/// Returns the lines of `text` that were shown of it before.
fn part<'a>(text: &'a str, shown: &Shown) -> &'a str {
    if shown.is_whole {
        return text;
    }
    let start = line_start(text, shown.first_line - 1);
    let rest = text.get(start..).unwrap_or_default();
    let end = line_start(rest, shown.lines());
    rest.get(..end).unwrap_or_default()
}

/// Returns where the line after `count` lines begins.
fn line_start(text: &str, count: u64) -> usize {
    let lines = text.split_inclusive('\n');
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    lines.take(count).map(str::len).sum()
}

/// A text whose breaks are all alike: how they are written is not what a diff is to show.
fn plain(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

fn side(text: &str) -> WholeText<'_> {
    WholeText {
        bytes: text.as_bytes(),
        format: Some(TextFormat {
            encoding: Encoding::UTF_8,
            bom: false,
            eol: Eol::None,
        }),
    }
}

#[cfg(test)]
mod tests;
