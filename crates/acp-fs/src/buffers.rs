//! What an editor has open: text that may not be on the disk yet, and that wins over the disk.

use std::path::Path;
use std::sync::Arc;

use fs_core::{Cancel, Patch, Result, TextFormat, Version};

/// An editor's open documents, saved or not.
///
/// Calls come from several threads, for one document one after the other. Whoever implements this
/// may take its time: an answer to the agent waits for it.
pub trait Buffers: Send + Sync {
    /// Returns the document as the editor has it now; `None` when it is not open there.
    ///
    /// # Errors
    /// Whatever keeps the editor from saying so; the agent is told.
    fn snapshot(&self, document: &Document<'_>) -> Result<Option<Snapshot>>;

    /// Replaces the text of a document without unsaved changes by what the disk holds, and returns
    /// the document as it is then: with unsaved changes if somebody was faster.
    ///
    /// # Errors
    /// Whatever keeps the editor from it.
    fn reload(&self, document: &Document<'_>, text: &str, version: &Version) -> Result<Snapshot>;

    /// Gives a document a new text.
    ///
    /// # Errors
    /// `conflict` when the document is not [`Change::version`] any more, upon which the change is
    /// made again on what it is; whatever else keeps the editor from taking it, or its user.
    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> Result<Taken>;

    /// The text that [`Taken::Save`] left to us is on the disk, as this version; the document may
    /// have got another one meanwhile.
    fn saved(&self, document: &Document<'_>, text: &str, version: &Version) {
        let _ = (document, text, version);
    }

    /// Returns whether [`Buffers::apply`] may write this file itself, so that the history has to look
    /// at the disk before and after, and the directories above it have to be there.
    fn writes_files(&self, document: &Document<'_>) -> bool {
        let _ = document;
        false
    }
}

/// A document that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Document<'d> {
    /// The session that asks.
    pub session_id: &'d str,
    /// The path as the agent sent it.
    pub asked: &'d str,
    /// The path as the session spells its directories, free of links below them.
    pub path: &'d Path,
    /// The file on the disk; `None` where none is there.
    pub on_disk: Option<&'d OnDisk>,
    /// Stops the work.
    pub cancel: &'d Cancel,
}

/// A file on the disk.
#[derive(Debug, Clone)]
pub struct OnDisk {
    /// Its size in bytes.
    pub size: u64,
    /// Its text without byte order mark; `None` over 4 MiB, and where it is no text.
    pub text: Option<Arc<str>>,
    /// Its encoding, byte order mark and line breaks; `None` where there is no text.
    pub format: Option<TextFormat>,
    /// Its version.
    pub version: Version,
}

/// A document as an editor has it.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The text, without byte order mark.
    pub text: Arc<str>,
    /// A number that changes with each change of the text.
    pub version: u64,
    /// Whether the text has changes that are not on the disk.
    pub is_dirty: bool,
    /// What the file was on the disk when the editor last read or wrote it; `None` where it does
    /// not know, or there was none.
    pub disk: Option<Version>,
}

/// A new text for a document.
#[derive(Debug, Clone, Copy)]
pub struct Change<'c> {
    /// All of the text.
    pub text: &'c str,
    /// What leads from the document's text to it, over its bytes as UTF-8; `None` when it is not
    /// open.
    pub patch: Option<&'c Patch>,
    /// The version that the change was made upon; `None` when it is not open.
    pub version: Option<u64>,
}

/// What an editor did with a new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: the document is not open, the disk gets the text.
    Declined,
    /// It has the text, and saves it by itself or not yet.
    Kept,
    /// It has the text, and leaves it to us to write it to the disk.
    Save,
}

/// No editor: every text is the disk's.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBuffers;

impl Buffers for NoBuffers {
    fn snapshot(&self, _: &Document<'_>) -> Result<Option<Snapshot>> {
        Ok(None)
    }

    fn reload(&self, document: &Document<'_>, _: &str, _: &Version) -> Result<Snapshot> {
        let problem = fs_core::Problem::Conflict;
        Err(fs_core::Error::from(problem).at(document.asked))
    }

    fn apply(&self, _: &Document<'_>, _: &Change<'_>) -> Result<Taken> {
        Ok(Taken::Declined)
    }
}

impl<B: Buffers + ?Sized> Buffers for Arc<B> {
    fn snapshot(&self, document: &Document<'_>) -> Result<Option<Snapshot>> {
        (**self).snapshot(document)
    }

    fn reload(&self, document: &Document<'_>, text: &str, version: &Version) -> Result<Snapshot> {
        (**self).reload(document, text, version)
    }

    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> Result<Taken> {
        (**self).apply(document, change)
    }

    fn saved(&self, document: &Document<'_>, text: &str, version: &Version) {
        (**self).saved(document, text, version);
    }

    fn writes_files(&self, document: &Document<'_>) -> bool {
        (**self).writes_files(document)
    }
}
