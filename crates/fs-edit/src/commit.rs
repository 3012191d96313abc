//! A plan committed through a workspace.

use fs_core::{
    Content, Eol, Error, ErrorKind, FileBytes, Patch, Piece, Problem, Result, TextFormat, Version,
};
use fs_sandbox::{Opened, Source, UpdateOptions, Workspace, Written};

use crate::diff::DiffOptions;
use crate::plan::{Plan, plan_content};
use crate::request::Request;

/// How to commit.
#[derive(Debug, Clone, Default)]
pub struct EditOptions {
    /// How the file is replaced: `if_version`, backup, hard links, cancel.
    pub update: UpdateOptions,
    /// Only say what would change. This needs the right to read and no more, takes no lock, and
    /// does not find out whether the file could be replaced.
    pub dry_run: bool,
}

/// What an edit did, or with `dry_run` would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// How many matches were replaced.
    pub replacements: u64,
    /// How many lines changed, as [`Plan::lines_changed`](crate::Plan::lines_changed) counts them.
    pub lines_changed: u64,
    /// The unified diff, capped; empty where the caller may edit and not read.
    pub diff: String,
    /// The size after, in bytes.
    pub size: u64,
    /// The version after; of a dry run, the hash of the bytes that the result would have.
    pub version: Version,
    /// The version before: of what the edit was planned on; `None` for a dry run.
    pub before: Option<Version>,
    /// The file's format after; `None` when it is opaque. Of a file over 4 MiB, removed line breaks
    /// are still counted.
    pub format: Option<TextFormat>,
    /// The backup's name beside the file.
    pub backup: Option<String>,
    /// How many other names kept the old bytes.
    pub parted_links: u64,
    /// What could not be made sure.
    pub warnings: Vec<String>,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

/// Edits a file exactly, or changes nothing and says why. The file must exist.
///
/// The request is checked before the file is opened, and planned on the bytes that are read under
/// the file's lock; without `if_version` the edit works on what it reads itself. A file over 4 MiB is
/// not held in memory: it is planned on block by block, and what is kept of it is copied by the kernel.
///
/// ```no_run
/// use fs_edit::{Edit, EditOptions, Request, edit_file};
/// # fn demo(workspace: &fs_sandbox::Workspace) -> fs_core::Result<()> {
/// let request = Request::edits(vec![Edit::new("port = 1", "port = 2")]);
/// let edited = edit_file(workspace, "server.conf", &request, &EditOptions::default())?;
/// println!("{}", edited.diff);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// In this order: those of [`Request::check`]; those of the workspace on the way to the file
/// (`invalid_path`, `outside_sandbox`, `denied_by_policy`, `not_found`, `is_a_directory`,
/// `not_a_file`, `permission_denied`, `hard_link`); `conflict` when the file is not
/// `if_version`; those of [`plan`](crate::plan()); and those of the replacement (`backup_failed`,
/// `not_replaceable`, `conflict`, `io`, `cancelled`). After any of them the file is as it was.
pub fn edit_file(
    workspace: &Workspace,
    path: &str,
    request: &Request,
    options: &EditOptions,
) -> Result<Edited> {
    let edited = request.check().and_then(|()| {
        if options.dry_run {
            rehearse(workspace, path, request, &options.update)
        } else {
            commit(workspace, path, request, &options.update)
        }
    });
    edited.map_err(|error| error.at(path))
}

fn commit(
    workspace: &Workspace,
    path: &str,
    request: &Request,
    options: &UpdateOptions,
) -> Result<Edited> {
    let (written, told) = workspace.update(path, options, |source| {
        let planned = told(&source.content, path, request);
        let (mut told, patch) = planned.map_err(|error| may_tell(error, source))?;
        if !source.may_read {
            told.diff.clear();
        }
        Ok((patch, told))
    })?;
    Ok(told.edited(written))
}

/// Returns the error without what it tells of the text, unless that may be read.
fn may_tell(error: Error, source: &Source<'_>) -> Error {
    if source.may_read || error.kind() != ErrorKind::NoMatch {
        return error;
    }
    let bare = Error::from(Problem::no_match());
    match error.edit() {
        Some(index) => bare.in_edit(index),
        None => bare,
    }
}

fn rehearse(
    workspace: &Workspace,
    path: &str,
    request: &Request,
    options: &UpdateOptions,
) -> Result<Edited> {
    let opened = workspace.open(path)?;
    let (bytes, size) = read_small(&opened)?;
    let before = version_of(&opened, bytes.as_deref())?;
    if options.if_version.as_ref().is_some_and(|it| *it != before) {
        return Err(Problem::Conflict.into());
    }
    let content = match &bytes {
        Some(bytes) => Content::of_bytes(bytes),
        None => Content::of_file(&opened.file, size, &options.cancel),
    };
    options.cancel.check()?;
    let (told, patch) = told(&content, path, request)?;
    let version = content.version_after(&patch)?;
    // What was read in blocks is told only where it was one file all the time.
    if version_of(&opened, bytes.as_deref())? != before {
        return Err(Problem::Conflict.into());
    }
    Ok(told.rehearsed(patch.result_len(), version))
}

/// What a plan says about itself, apart from its bytes.
struct Told {
    replacements: u64,
    lines_changed: u64,
    diff: String,
    format: Option<TextFormat>,
}

impl Told {
    fn of(plan: &Plan, content: &Content<'_>, path: &str) -> Result<Self> {
        Ok(Self {
            replacements: plan.replacements(),
            lines_changed: plan.lines_changed(),
            diff: plan.diff_content(content, path, &DiffOptions::default())?,
            format: format_after(plan, content)?,
        })
    }

    fn edited(self, written: Written) -> Edited {
        Edited {
            backup: written.backup,
            before: written.before,
            parted_links: written.parted_links,
            warnings: written.warnings,
            dry_run: false,
            ..self.rehearsed(written.size, written.version)
        }
    }

    fn rehearsed(self, size: u64, version: Version) -> Edited {
        Edited {
            replacements: self.replacements,
            lines_changed: self.lines_changed,
            diff: self.diff,
            size,
            version,
            before: None,
            format: self.format,
            backup: None,
            parted_links: 0,
            warnings: Vec::new(),
            dry_run: true,
        }
    }
}

fn format_after(plan: &Plan, content: &Content<'_>) -> Result<Option<TextFormat>> {
    let Some(format) = plan.format() else {
        return Ok(None);
    };
    let eol = if content.as_bytes().is_some() {
        content.eol_after(plan.patch(), format.encoding)?
    } else {
        let pieces = plan.patch().pieces();
        pieces.fold(format.eol, |eol, piece| match piece {
            Piece::Keep(_) => eol,
            Piece::New(bytes) => eol.and(Eol::of(bytes, format.encoding)),
        })
    };
    Ok(Some(TextFormat { eol, ..format }))
}

fn told(content: &Content<'_>, path: &str, request: &Request) -> Result<(Told, Patch)> {
    let plan = plan_content(content, request)?;
    Ok((Told::of(&plan, content, path)?, plan.into_patch()))
}

/// Returns the bytes of a small file, and the size of any.
fn read_small(opened: &Opened) -> Result<(Option<FileBytes>, u64)> {
    if opened.size > Version::STRONG_BYTES {
        return Ok((None, opened.size));
    }
    let bytes = FileBytes::read(&opened.file, 0, opened.size)?;
    let size = bytes.len() as u64;
    Ok((Some(bytes), size))
}

/// Returns the version that a read of the file gives out; `bytes` are those of a small one.
fn version_of(opened: &Opened, bytes: Option<&[u8]>) -> Result<Version> {
    match bytes {
        Some(bytes) => Ok(Version::of_bytes(bytes)),
        None => Version::of_handle(&opened.file),
    }
}

#[cfg(test)]
mod tests;
