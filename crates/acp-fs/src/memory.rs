//! Buffers in memory: the reference of how an editor's documents behave, and enough for small ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fs_core::{Error, Problem, Result, Version};

use crate::buffers::{Buffers, Change, Document, Snapshot, Taken};

/// Open documents by the path of [`Document::path`]; clones share them.
///
/// ```
/// use acp_fs::MemoryBuffers;
///
/// let buffers = MemoryBuffers::default();
/// buffers.edit("/srv/app/notes.txt", "not saved yet\n");
/// assert_eq!(buffers.text("/srv/app/notes.txt").as_deref(), Some("not saved yet\n"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryBuffers(Arc<Mutex<HashMap<PathBuf, Snapshot>>>);

impl MemoryBuffers {
    /// Opens a document with the text that the disk holds as `version`.
    pub fn open(&self, path: impl AsRef<Path>, text: &str, version: Version) {
        let disk = Some(version);
        self.change(path.as_ref(), |buffer| {
            buffer.text = text.into();
            buffer.is_dirty = false;
            buffer.disk = disk;
        });
    }

    /// Gives a document a text that is not saved, as typing does; opens it if it is not open.
    pub fn edit(&self, path: impl AsRef<Path>, text: &str) {
        self.change(path.as_ref(), |buffer| {
            buffer.text = text.into();
            buffer.is_dirty = true;
        });
    }

    /// Closes a document; what was not saved is lost.
    pub fn close(&self, path: impl AsRef<Path>) {
        self.table().remove(path.as_ref());
    }

    /// Returns the text of a document; `None` when it is not open.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<Arc<str>> {
        let table = self.table();
        let buffer = table.get(path.as_ref())?;
        Some(Arc::clone(&buffer.text))
    }

    /// Returns whether a document has changes that are not on the disk; one that is not open has
    /// none.
    pub fn is_dirty(&self, path: impl AsRef<Path>) -> bool {
        let table = self.table();
        table
            .get(path.as_ref())
            .is_some_and(|buffer| buffer.is_dirty)
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut Snapshot)) {
        let mut table = self.table();
        let buffer = table.entry(path.to_owned()).or_insert_with(|| Snapshot {
            text: "".into(),
            version: 0,
            is_dirty: false,
            disk: None,
        });
        buffer.version += 1;
        change(buffer);
    }

    fn table(&self) -> MutexGuard<'_, HashMap<PathBuf, Snapshot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers for MemoryBuffers {
    fn snapshot(&self, document: &Document<'_>) -> Result<Option<Snapshot>> {
        Ok(self.table().get(document.path).cloned())
    }

    fn reload(&self, document: &Document<'_>, text: &str, version: &Version) -> Result<Snapshot> {
        let mut table = self.table();
        let buffer = table.get_mut(document.path);
        let buffer = buffer.ok_or_else(|| Error::from(Problem::Conflict))?;
        if !buffer.is_dirty {
            buffer.text = text.into();
            buffer.version += 1;
            buffer.disk = Some(version.clone());
        }
        Ok(buffer.clone())
    }

    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> Result<Taken> {
        let mut table = self.table();
        let Some(buffer) = table.get_mut(document.path) else {
            return Ok(Taken::Declined);
        };
        if change.version != Some(buffer.version) {
            return Err(Problem::Conflict.into());
        }
        buffer.text = change.text.into();
        buffer.version += 1;
        buffer.is_dirty = true;
        Ok(Taken::Save)
    }

    fn saved(&self, document: &Document<'_>, text: &str, version: &Version) {
        if let Some(buffer) = self.table().get_mut(document.path) {
            buffer.is_dirty = *buffer.text != *text;
            buffer.disk = Some(version.clone());
        }
    }
}
