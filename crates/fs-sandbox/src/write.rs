//! Writing: whole texts and patches, under the file's lock, through the atomic replace.

mod held;
#[cfg(test)]
mod tests;
mod text;

use std::thread;
use std::time::Duration;

use fs_core::{
    Cancel, Content, Encoding, ErrorKind, Fallback, Patch, Problem, Result, TextFormat, Version,
};

use crate::resolve::{Follow, Place};
use crate::rights::{OpenFlags, Operation, needed};
use crate::workspace::Workspace;
pub(crate) use held::{Held, open_locked};

/// How often a write starts again that needs nothing of what somebody changed meanwhile.
pub(crate) const TRIES: u32 = 64;

/// What happens to a file's other names when it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardLinks {
    /// The name gets the new file, the others keep the old bytes.
    #[default]
    Break,
    /// `hard_link`.
    Refuse,
    /// The file is rewritten in place, so that all names get the new bytes. A backup is always made
    /// first; where none is asked for it takes a free name, as with [`Backup::Keep`]. Not atomic: a
    /// failure puts the old bytes back, a crash leaves the backup.
    InPlace,
}

/// How sure a write is to outlive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Nothing is synced.
    None,
    /// The file is synced before it takes its name.
    #[default]
    File,
    /// The directory too.
    Full,
}

/// What is kept of the old bytes beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backup {
    /// Nothing.
    #[default]
    Off,
    /// `NAME.bak`, replaced each time; a link of that name is replaced itself, never followed.
    Single,
    /// `NAME.bak`, then `NAME.bak.1`, ...: no older backup is replaced.
    Keep,
}

/// How a write treats what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteMode {
    /// The whole content, whether the file exists or not.
    #[default]
    Overwrite,
    /// At the end; creates the file.
    Append,
    /// As lines of its own before a line counted from 1; last line + 1 appends. One final break of
    /// the text is its last line's own. The file must exist.
    InsertBefore {
        /// The line.
        line: u64,
    },
    /// `already_exists` when anything has the name.
    CreateNew,
}

/// What happens to the line breaks of a written text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breaks {
    /// They take the file's style.
    ///
    /// An append: all of them, where the file has one style. An overwrite: LF becomes CR LF where
    /// the file has only CR LF and the text has none; any other text is taken as given. A new file:
    /// as given.
    #[default]
    Keep,
    /// They are written as given. An insert by line takes the style of the place all the same.
    AsGiven,
}

/// How to write.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// How what is there is treated.
    pub mode: WriteMode,
    /// The encoding that the caller names.
    pub encoding: Option<Encoding>,
    /// What existing bytes are taken for that are in no sure encoding.
    pub fallback: Fallback,
    /// What happens to the line breaks of the text.
    pub breaks: Breaks,
    /// Whether missing parents are created.
    pub create_dirs: bool,
    /// What becomes of the old file.
    pub update: UpdateOptions,
}

/// How a file is replaced.
#[derive(Debug, Clone, Default)]
pub struct UpdateOptions {
    /// Refuses (`conflict`) a file that is not this version.
    pub if_version: Option<Version>,
    /// What the caller believes to be there: refuses (`conflict`) a file that is another version,
    /// but a file that is gone may be created again.
    pub served: Option<Version>,
    /// What is kept beside the file.
    pub backup: Backup,
    /// What happens to other names; `None` for the workspace's default.
    pub hard_links: Option<HardLinks>,
    /// Stops the work before the file takes its name.
    pub cancel: Cancel,
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Whether the file was created, replaced or left alone.
    pub change: Change,
    /// The size of the file in bytes, after.
    pub size: u64,
    /// How many bytes of the new text were written, encoded, without a byte order mark.
    pub text_bytes: u64,
    /// The version of the file, after.
    pub version: Version,
    /// The version of the file, before; `None` when it is new.
    pub before: Option<Version>,
    /// Its format; `None` when the bytes are opaque, and after an update.
    pub format: Option<TextFormat>,
    /// The name of the backup beside the file; where a link led there, `*` stands for the file's
    /// own name, which the caller did not send.
    pub backup: Option<String>,
    /// How many other names kept the old bytes.
    pub parted_links: u64,
    /// The number of the entry that the history has of this change, see
    /// [`HistoryEntry::id`](crate::HistoryEntry::id); `None` where nothing was written and where
    /// nothing is kept of it: without a history, of what usually holds secrets, and when it failed.
    pub entry: Option<u64>,
    /// What was done but could not be made sure (a directory that could not be synced).
    pub warnings: Vec<String>,
}

/// What became of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file is new.
    Created,
    /// The file has new bytes.
    Replaced,
    /// The bytes were equal; nothing was written.
    Unchanged,
}

/// The file that an update works on, as it is under the file's lock.
#[derive(Debug)]
pub struct Source<'a> {
    /// What it holds: in memory up to 4 MiB, above that read from the open file where it is looked at.
    /// Where that changes meanwhile the update is a `conflict`.
    pub content: Content<'a>,
    /// Its version.
    pub version: Version,
    /// Whether whoever changes the file may read it, too: if not, nothing of it may be told.
    pub may_read: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            mode: WriteMode::Overwrite,
            encoding: None,
            fallback: Fallback::None,
            breaks: Breaks::Keep,
            create_dirs: true,
            update: UpdateOptions::default(),
        }
    }
}

impl UpdateOptions {
    fn is_of_any_version(&self) -> bool {
        self.if_version.is_none() && self.served.is_none()
    }

    /// Checks that a file of this version is the one that is meant.
    ///
    /// # Errors
    /// `conflict`.
    fn check_version(&self, version: &Version) -> Result<()> {
        let mut wanted = self.if_version.iter().chain(&self.served);
        if wanted.all(|wanted| wanted == version) {
            return Ok(());
        }
        Err(Problem::Conflict.into())
    }
}

impl Workspace {
    /// Writes text to a file: all of it, at its end, before a line, or as a new file.
    ///
    /// The file keeps its encoding and byte order mark; [`Breaks`] says what becomes of line
    /// breaks. A new file is UTF-8 without a mark unless `encoding` is named (UTF-16 gets a mark).
    /// An overwrite with `encoding` named is in that encoding, whatever was there. Bytes that would
    /// be equal are not written: [`Change::Unchanged`]. Links are followed while they stay inside,
    /// and a dangling one gets its target; for [`WriteMode::CreateNew`] every link counts as there.
    ///
    /// An overwrite or append without a version that somebody disturbs starts again. Files over
    /// 64 MiB are judged by their first and last 64 KiB when the text is ASCII or the encoding
    /// named. No file over 4 MiB is held in memory.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// use fs_sandbox::{Rights, Workspace, WriteMode, WriteOptions};
    ///
    /// let workspace = Workspace::builder()
    ///     .root("project", dir.path(), Rights::READ | Rights::EDIT)
    ///     .build()?;
    /// let written = workspace.write("notes/today.md", "one\n", &WriteOptions::default())?;
    /// assert_eq!(written.size, 4);
    /// let options = WriteOptions {
    ///     mode: WriteMode::Append,
    ///     ..WriteOptions::default()
    /// };
    /// assert_eq!(workspace.write("notes/today.md", "two\n", &options)?.size, 8);
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// In the order in which they are found: those of the path (`invalid_path`, `outside_sandbox`,
    /// `denied_by_policy`, `not_found`, `not_a_directory`), `is_a_directory`, `not_a_file`,
    /// `already_exists`, `permission_denied`, `hard_link`, `conflict`, `encoding_mismatch`, `not_text`, `binary_file`, `encoding_unknown`,
    /// `out_of_range`, `unencodable`, `backup_failed`, `not_replaceable`, `cancelled`, `io`. The
    /// file is then as it was.
    pub fn write(&self, path: &str, text: &str, options: &WriteOptions) -> Result<Written> {
        let again = options.update.is_of_any_version()
            && matches!(options.mode, WriteMode::Overwrite | WriteMode::Append);
        let mut tries = if again { TRIES } else { 1 };
        loop {
            tries -= 1;
            match self.write_once(path, text, options) {
                Err(error) if error.kind() == ErrorKind::Conflict && tries > 0 => pause(tries),
                written => return written.map_err(|error| error.at(path)),
            }
        }
    }

    /// Changes a file by what `plan` makes of its bytes; nothing else changes it meanwhile through
    /// this workspace or a clone.
    ///
    /// A file is never created. Bytes that would be equal are not written. [`Written::format`] is
    /// `None`: whoever planned knows more.
    ///
    /// # Errors
    /// Those of [`Workspace::write`], `not_found`, and those of `plan`.
    pub fn update<T>(
        &self,
        path: &str,
        options: &UpdateOptions,
        plan: impl FnOnce(&Source<'_>) -> Result<(Patch, T)>,
    ) -> Result<(Written, T)> {
        self.update_once(path, options, plan)
            .map_err(|error| error.at(path))
    }

    fn write_once(&self, path: &str, text: &str, options: &WriteOptions) -> Result<Written> {
        let place = self.place_to_write(path, text, options)?;
        if options.mode == WriteMode::CreateNew {
            return self.create_new(place, text, options);
        }
        let held = Held::of(self, place, &options.update)?;
        if held.is_file() {
            let written = held.write(text, options)?;
            return Ok(held.told(path, written));
        }
        check_new(options)?;
        let created = held.create(&text::new_file(text, options)?);
        created.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Problem::Conflict.into(),
            _ => error,
        })
    }

    fn create_new(&self, place: Place, text: &str, options: &WriteOptions) -> Result<Written> {
        if place.found.is_some() {
            return Err(Problem::AlreadyExists.into());
        }
        check_new(options)?;
        let composed = text::new_file(text, options)?;
        match Held::of(self, place, &options.update) {
            Ok(held) if !held.is_file() => held.create(&composed),
            // Something came meanwhile, a link or a directory perhaps.
            Ok(_) => Err(Problem::AlreadyExists.into()),
            Err(error) => Err(match error.kind() {
                ErrorKind::Conflict | ErrorKind::IsADirectory | ErrorKind::NotAFile => {
                    Problem::AlreadyExists.into()
                }
                _ => error,
            }),
        }
    }

    /// Returns where to write; makes the directories above only when the text can be written.
    fn place_to_write(&self, path: &str, text: &str, options: &WriteOptions) -> Result<Place> {
        let (flags, follow) = match options.mode {
            WriteMode::Overwrite => (OpenFlags::CREATE | OpenFlags::TRUNCATE, Follow::Last),
            WriteMode::Append => (OpenFlags::CREATE | OpenFlags::APPEND, Follow::Last),
            WriteMode::InsertBefore { .. } => (OpenFlags::WRITE, Follow::Last),
            WriteMode::CreateNew => (OpenFlags::CREATE | OpenFlags::WRITE, Follow::No),
        };
        let need = needed(Operation::Open, flags);
        let place = match self.locate(path, need, follow) {
            Err(error) if error.kind() == ErrorKind::NotFound && options.create_dirs => {
                check_new(options)?;
                text::new_file(text, options)?;
                self.locate_creating(path, need, follow)?
            }
            place => place?,
        };
        if place.dir_only && place.found.is_none() {
            return Err(Problem::IsADirectory.into());
        }
        Ok(place)
    }

    fn update_once<T>(
        &self,
        path: &str,
        options: &UpdateOptions,
        plan: impl FnOnce(&Source<'_>) -> Result<(Patch, T)>,
    ) -> Result<(Written, T)> {
        let need = needed(Operation::Update, OpenFlags::NONE);
        let mut tries = TRIES;
        let held = loop {
            tries -= 1;
            let place = self.locate(path, need, Follow::Last)?;
            match Held::of(self, place, options) {
                // A link has the name by now: it is resolved again.
                Err(error) if error.kind() == ErrorKind::Conflict && tries > 0 => pause(tries),
                held => break held?,
            }
        };
        let (written, value) = held.update(plan)?;
        Ok((held.told(path, written), value))
    }
}

/// What a name that nothing has cannot be: the place of an insert, or of a known version.
fn check_new(options: &WriteOptions) -> Result<()> {
    match (options.mode, &options.update.if_version) {
        (WriteMode::InsertBefore { .. }, _) => Err(Problem::NotFound.into()),
        (_, Some(_)) => Err(Problem::Conflict.into()),
        _ => Ok(()),
    }
}

/// Lets whoever disturbs get done: a moment at first, then a millisecond.
pub(crate) fn pause(tries_left: u32) {
    if tries_left > TRIES - 8 {
        thread::yield_now();
    } else {
        thread::sleep(Duration::from_millis(1));
    }
}
