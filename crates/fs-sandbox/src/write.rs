//! Writing: whole texts and patches, through the atomic replace.

use fs_core::{Cancel, Encoding, Fallback, Patch, Result, TextFormat, Version};

use crate::workspace::Workspace;

/// What happens to a file's other names when it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardLinks {
    /// The name gets the new file, the others keep the old bytes.
    #[default]
    Break,
    /// `hard_link`.
    Refuse,
    /// The file is rewritten in place, after a backup.
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
    /// `NAME.bak`, replaced each time.
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
    /// Before a line counted from 1; last line + 1 appends. The file must exist.
    InsertBefore {
        /// The line.
        line: u64,
    },
    /// `already_exists` when anything has the name.
    CreateNew,
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
    /// How many bytes of the new text were written, encoded.
    pub text_bytes: u64,
    /// The version of the file, after.
    pub version: Version,
    /// Its format; `None` when the bytes are opaque.
    pub format: Option<TextFormat>,
    /// The name of the backup beside the file.
    pub backup: Option<String>,
    /// How many other names kept the old bytes.
    pub parted_links: u64,
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

/// The file that an update works on, as it was read under the file's lock.
#[derive(Debug)]
pub struct Source {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their version.
    pub version: Version,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            mode: WriteMode::Overwrite,
            encoding: None,
            fallback: Fallback::None,
            create_dirs: true,
            update: UpdateOptions::default(),
        }
    }
}

impl Workspace {
    /// Writes text to a file.
    pub fn write(&self, _path: &str, _text: &str, _options: &WriteOptions) -> Result<Written> {
        todo!()
    }
    /// Changes a file by what `plan` makes of its bytes.
    pub fn update<T>(
        &self,
        _path: &str,
        _options: &UpdateOptions,
        _plan: impl FnOnce(&Source) -> Result<(Patch, T)>,
    ) -> Result<(Written, T)> {
        todo!()
    }
}
