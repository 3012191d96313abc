//! A place that nobody else changes through this workspace, with the file that is there.

use cap_std::fs::File;
use fs_core::{Cancel, Content as Bytes, FileBytes, Patch, Piece, Problem, Result, Version};

use super::text::{self, Composed, Existing};
use super::{Change, HardLinks, Source, UpdateOptions, WriteMode, WriteOptions, Written};
use crate::history::Pending;
use crate::lock::{FileLock, FileLocks, LockKey};
use crate::replace::{
    self, BackupNames, Content as NewContent, OldFile, ReplaceOptions, Replaced, Restored, Target,
};
use crate::resolve::Place;
use crate::rights::Rights;
use crate::workspace::Workspace;

/// What is larger is not read where its two ends are enough.
const SAMPLED_OVER: u64 = if cfg!(test) { 5 } else { 64 } * 1024 * 1024;
/// A content hash is made of all bytes, so they have to be there.
const _: () = assert!(SAMPLED_OVER >= Version::STRONG_BYTES);
/// How much of each end is looked at then.
const END: u64 = 64 * 1024;
/// How often a file is opened again that somebody replaces meanwhile.
const TRIES: u32 = 16;

/// A place with its locks and what has the name.
#[derive(Debug)]
pub(crate) struct Held<'o> {
    workspace: &'o Workspace,
    place: Place,
    old: Option<OldFile>,
    options: &'o UpdateOptions,
    how: How,
    _name: FileLock,
    _file: Option<FileLock>,
}

#[derive(Debug, Clone, Copy)]
struct How {
    hard_links: HardLinks,
    durability: super::Durability,
}

/// What is held of the file in memory: all of it, its two ends or, of a file over
/// [`Version::STRONG_BYTES`], nothing.
struct Content {
    bytes: FileBytes,
    is_whole: bool,
}

impl<'o> Held<'o> {
    /// Locks the name and the file that has it, and opens that.
    ///
    /// # Errors
    /// `is_a_directory`, `not_a_file`, `permission_denied`, `conflict` when what has the name keeps
    /// changing, `cancelled`.
    pub(crate) fn of(
        workspace: &'o Workspace,
        place: Place,
        options: &'o UpdateOptions,
    ) -> Result<Self> {
        let name = workspace.locks().lock(place.lock_key()?, &options.cancel)?;
        Self::under(workspace, place, options, name)
    }

    /// Locks the file that has a name which is locked already, and opens it.
    ///
    /// # Errors
    /// As [`Held::of`].
    pub(crate) fn under(
        workspace: &'o Workspace,
        place: Place,
        options: &'o UpdateOptions,
        name: FileLock,
    ) -> Result<Self> {
        let locks = workspace.locks();
        let (old, file) = open_locked(place.target(), locks, &options.cancel)?;
        let policy = workspace.hard_link_policy();
        let how = How {
            hard_links: options.hard_links.unwrap_or(policy),
            durability: workspace.durability(),
        };
        Ok(Self {
            workspace,
            place,
            old,
            options,
            how,
            _name: name,
            _file: file,
        })
    }

    /// Returns whether a file has the name.
    pub(super) fn is_file(&self) -> bool {
        self.old.is_some()
    }

    /// Gives the name a file.
    ///
    /// # Errors
    /// `already_exists` when something has it by now, and those of a create.
    pub(super) fn create(&self, composed: &Composed) -> Result<Written> {
        let content = NewContent::Patch(&composed.patch);
        let pending = self.pending(None)?;
        let replaced = replace::create(self.place.target(), content, self.replacing(&pending))?;
        written(Change::Created, &[], composed, replaced)
    }

    /// Gives the name what the history has kept.
    ///
    /// # Errors
    /// Those of a create or replace.
    pub(crate) fn restore(&self, restored: &Restored<'_>, pending: &Pending) -> Result<Replaced> {
        let options = self.replacing(pending);
        let content = NewContent::Restored(restored);
        match &self.old {
            Some(_) => {
                let old = self.checked()?;
                replace::replace(self.place.target(), old, content, options)
            }
            None => replace::create(self.place.target(), content, options),
        }
    }

    /// Returns the place.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Changes the file as a write does.
    ///
    /// # Errors
    /// Those of [`Workspace::write`].
    pub(super) fn write(&self, text: &str, options: &WriteOptions) -> Result<Written> {
        let old = self.checked()?;
        let content = content_for(old, text, options)?;
        let version = self.checked_version(&content.bytes)?;
        let existing = Existing {
            content: content.of(old, &self.options.cancel),
            size: old.size(),
        };
        let composed = match options.mode {
            WriteMode::Overwrite => text::overwrite(&existing, text, options)?,
            WriteMode::Append => text::append(&existing, text, options)?,
            WriteMode::InsertBefore { line } => text::insert(&existing, text, line, options)?,
            WriteMode::CreateNew => return Err(Problem::AlreadyExists.into()),
        };
        self.commit(&content, version, &composed)
    }

    /// Changes the file as `plan` says.
    ///
    /// # Errors
    /// Those of [`Workspace::update`].
    pub(super) fn update<T>(
        &self,
        plan: impl FnOnce(&Source<'_>) -> Result<(Patch, T)>,
    ) -> Result<(Written, T)> {
        let old = self.checked()?;
        let content = Content::read(old)?;
        let version = self.checked_version(&content.bytes)?;
        let source = Source {
            content: content.of(old, &self.options.cancel),
            version: version.clone(),
            may_read: self.place.root.rights.contains(Rights::READ),
        };
        let (patch, value) = plan(&source)?;
        let composed = Composed {
            text_bytes: new_bytes(&patch),
            patch,
            format: None,
        };
        Ok((self.commit(&content, version, &composed)?, value))
    }

    /// Returns the report as the caller of `path` may have it: a link tells nothing of where it leads.
    pub(super) fn told(&self, path: &str, mut written: Written) -> Written {
        let name = self.place.name.to_string_lossy();
        if !path.ends_with(&*name)
            && let Some(backup) = &mut written.backup
        {
            *backup = format!("*{}", backup.strip_prefix(&*name).unwrap_or_default());
        }
        written
    }

    fn commit(&self, content: &Content, version: Version, composed: &Composed) -> Result<Written> {
        let old = self.file()?;
        if is_identity(&composed.patch, old, content)? {
            return Ok(Written {
                change: Change::Unchanged,
                size: old.size(),
                text_bytes: 0,
                before: Some(version.clone()),
                version,
                format: composed.format,
                backup: None,
                parted_links: 0,
                entry: None,
                warnings: Vec::new(),
            });
        }
        let in_place = self.how.hard_links == HardLinks::InPlace && old.links() > 1;
        let shorter = (in_place && content.is_whole)
            .then(|| from_first_change(&composed.patch, &content.bytes));
        let patch = shorter.as_ref().unwrap_or(&composed.patch);
        let pending = self.pending(None)?;
        let options = self.replacing(&pending);
        let new = NewContent::Patch(patch);
        let replaced = replace::replace(self.place.target(), old, new, options)?;
        let written = written(Change::Replaced, &content.bytes, composed, replaced)?;
        Ok(Written {
            before: Some(version),
            ..written
        })
    }

    /// Returns the file, if it may be changed at all.
    fn checked(&self) -> Result<&OldFile> {
        let old = self.file()?;
        self.place.target().check_writable()?;
        old.check_links(self.how.hard_links)?;
        Ok(old)
    }

    fn checked_version(&self, bytes: &[u8]) -> Result<Version> {
        let old = self.file()?;
        let version = match old.size() {
            0..=Version::STRONG_BYTES => Version::of_bytes(bytes),
            _ => Version::of_handle(old.file())?,
        };
        self.options.check_version(&version)?;
        Ok(version)
    }

    fn file(&self) -> Result<&OldFile> {
        self.old.as_ref().ok_or_else(|| Problem::NotFound.into())
    }

    /// Returns what is about to happen to the name, where wanted as the change that takes back another.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn pending(&self, undoes: Option<u64>) -> Result<Pending> {
        self.workspace.pending(&[&self.place], undoes)
    }

    fn replacing<'a>(&'a self, pending: &'a Pending) -> ReplaceOptions<'a> {
        ReplaceOptions {
            backup: self.options.backup,
            names: BackupNames {
                policy: &self.workspace.shared().policy,
                file: &self.place.rel,
            },
            hard_links: self.how.hard_links,
            durability: self.how.durability,
            pending,
            cancel: &self.options.cancel,
        }
    }
}

/// Opens the file that has the name and locks it. It is opened again under its lock, since whoever
/// had that may have changed it.
pub(crate) fn open_locked(
    target: Target<'_>,
    locks: &FileLocks,
    cancel: &Cancel,
) -> Result<(Option<OldFile>, Option<FileLock>)> {
    for _ in 0..TRIES {
        let Some(seen) = OldFile::open(target)? else {
            return Ok((None, None));
        };
        let id = seen.id();
        let lock = locks.lock(LockKey::File { id }, cancel)?;
        match OldFile::open(target)? {
            None => return Ok((None, None)),
            Some(old) if old.id() == id => return Ok((Some(old.settled(cancel)?), Some(lock))),
            Some(_) => {}
        }
    }
    Err(Problem::Conflict.into())
}

impl Content {
    /// Reads the file, if it is small.
    fn read(old: &OldFile) -> Result<Self> {
        let is_whole = old.size() <= Version::STRONG_BYTES;
        let bytes = if is_whole {
            read(old, 0, old.size())?
        } else {
            FileBytes::default()
        };
        Ok(Self { bytes, is_whole })
    }

    /// Returns what is known of the file: what is in memory or, where nothing is, all of it, block by
    /// block.
    fn of<'c>(&'c self, old: &'c OldFile, cancel: &Cancel) -> Bytes<'c> {
        if self.is_whole || !self.bytes.is_empty() {
            Bytes::of_bytes(&self.bytes)
        } else {
            Bytes::of_file(old.file(), old.size(), cancel)
        }
    }
}

/// Reads what has to be known of the file to write `text` into it.
///
/// ASCII is spelt alike in all encodings of a large file that its ends leave open, and whoever names
/// the encoding answers for it; so the ends are enough for both.
fn content_for(old: &OldFile, text: &str, options: &WriteOptions) -> Result<Content> {
    let size = old.size();
    let inserts = matches!(options.mode, WriteMode::InsertBefore { .. });
    let ends_do = !inserts && (text.is_ascii() || options.encoding.is_some());
    if size > SAMPLED_OVER
        && ends_do
        && let Some(bytes) = ends(old)?
    {
        return Ok(Content {
            bytes: bytes.into(),
            is_whole: false,
        });
    }
    Content::read(old)
}

/// Returns the whole lines of both ends of a large file; `None` where lines cannot be told.
fn ends(old: &OldFile) -> Result<Option<Vec<u8>>> {
    let mut bytes = read(old, 0, END)?.to_vec();
    let tail = read(old, old.size() - END, END)?;
    let last = bytes.iter().rposition(|byte| *byte == b'\n');
    let first = tail.iter().position(|byte| *byte == b'\n');
    // Zeros and marks are those of UTF-16 or of no text at all: that takes all bytes to tell.
    let is_plain =
        !bytes.contains(&0) && !matches!(bytes.get(..2), Some([0xFF, 0xFE] | [0xFE, 0xFF]));
    let (Some(last), Some(first), true) = (last, first, is_plain) else {
        return Ok(None);
    };
    bytes.truncate(last + 1);
    bytes.extend_from_slice(tail.get(first + 1..).unwrap_or_default());
    Ok(Some(bytes))
}

/// Reads `len` bytes from `start`.
///
/// # Errors
/// `conflict` when the file has become shorter, `io`.
fn read(old: &OldFile, start: u64, len: u64) -> Result<FileBytes> {
    let bytes = FileBytes::read(old.file(), start, len)?;
    if bytes.len() as u64 == len {
        return Ok(bytes);
    }
    Err(Problem::Conflict.into())
}

/// Returns whether a patch makes of the file what it is.
fn is_identity(patch: &Patch, old: &OldFile, content: &Content) -> Result<bool> {
    if patch.result_len() != old.size() {
        return Ok(false);
    }
    let mut at = 0;
    for piece in patch.pieces() {
        let (same, len) = match piece {
            Piece::Keep(range) => (range.start == at, range.end - range.start),
            Piece::New(bytes) => (holds(old, content, at, bytes)?, bytes.len() as u64),
        };
        if !same {
            return Ok(false);
        }
        at += len;
    }
    Ok(true)
}

/// Returns whether the file holds `bytes` at `at`.
fn holds(old: &OldFile, content: &Content, at: u64, bytes: &[u8]) -> Result<bool> {
    if content.is_whole {
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        let there = content.bytes.get(start..).unwrap_or_default();
        return Ok(there.starts_with(bytes));
    }
    let mut at = at;
    for block in bytes.chunks(1024 * 1024) {
        if *read(old, at, block.len() as u64)? != *block {
            return Ok(false);
        }
        at += block.len() as u64;
    }
    Ok(true)
}

/// Returns the same change with everything kept before the first byte that differs.
fn from_first_change(patch: &Patch, source: &[u8]) -> Patch {
    let result = patch.apply(source);
    let same = source
        .iter()
        .zip(&result)
        .take_while(|(a, b)| a == b)
        .count();
    let (kept, len) = (same as u64, source.len() as u64);
    let rest = result.get(same..).unwrap_or_default().to_vec();
    Patch::splice(len, [(kept..len, rest)])
}

fn new_bytes(patch: &Patch) -> u64 {
    let len = |piece: Piece<'_>| match piece {
        Piece::Keep(_) => 0,
        Piece::New(bytes) => bytes.len() as u64,
    };
    patch.pieces().map(len).sum()
}

/// Returns the report; `source` is what of the file that the patch was made for is in memory.
fn written(
    change: Change,
    source: &[u8],
    composed: &Composed,
    replaced: Replaced,
) -> Result<Written> {
    let size = composed.patch.result_len();
    let version = match size {
        0..=Version::STRONG_BYTES => version_of(&composed.patch, source, &replaced.file)?,
        _ => Version::of_handle(&replaced.file)?,
    };
    Ok(Written {
        change,
        size,
        text_bytes: composed.text_bytes,
        version,
        before: None,
        format: composed.format,
        backup: replaced.backup,
        parted_links: replaced.parted_links,
        entry: replaced.entry,
        warnings: replaced.warnings,
    })
}

/// Returns the version of a small result: of the bytes in memory or, where it keeps some that are not
/// there, of those that were written.
fn version_of(patch: &Patch, source: &[u8], written: &File) -> Result<Version> {
    let is_there = |piece: Piece<'_>| match piece {
        Piece::Keep(range) => range.end <= source.len() as u64,
        Piece::New(_) => true,
    };
    if patch.pieces().all(is_there) {
        return Ok(Version::of_bytes(&patch.apply(source)));
    }
    Ok(Version::of_bytes(&FileBytes::read(
        written,
        0,
        patch.result_len(),
    )?))
}
