//! A file that a call is about: what the disk and the editor have of it.

use std::sync::Arc;

use fs_core::{Cancel, Error, ErrorKind, FileBytes, ReadOptions, Result, TextFormat, Version};
use fs_sandbox::{Opened, RealPlace, Rights};

use crate::buffers::{Buffers, Document, OnDisk, Snapshot};
use crate::methods::FileMethods;
use crate::served::Belief;
use crate::session::{Session, is_missing};
use crate::wire::RpcError;

/// A file that a call is about: what the disk has of it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) disk: Option<OnDisk>,
    /// Where the file is, or would be; `None` where the path leads nowhere.
    pub(crate) place: Option<RealPlace>,
    pub(crate) opened: Option<Opened>,
    /// Why the bytes on the disk are no text.
    pub(crate) trouble: Option<Error>,
}

/// A call on a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) session: &'c Session,
    pub(crate) session_id: &'c str,
    pub(crate) asked: &'c str,
    /// The path for the workspace.
    pub(crate) path: &'c str,
    pub(crate) cancel: &'c Cancel,
}

impl<B: Buffers> FileMethods<B> {
    /// Returns the document as the editor has it, with what the disk has if the editor had not
    /// changed it.
    ///
    /// # Errors
    /// Those of the editor.
    pub(crate) fn snapshot(&self, call: Call<'_>, found: &Found) -> Result<Option<Snapshot>> {
        let snapshot = call.with_document(found, |document| {
            let Some(snapshot) = self.buffers.snapshot(document)? else {
                return Ok(None);
            };
            let disk = found.disk.as_ref().filter(|_| !snapshot.is_dirty);
            let changed = disk.filter(|disk| snapshot.disk.as_ref() != Some(&disk.version));
            match changed.and_then(|disk| Some((disk.text.as_ref()?, &disk.version))) {
                Some((text, version)) => {
                    let reloaded = self.buffers.reload(document, text, version)?;
                    Ok(Some(reloaded))
                }
                None => Ok(Some(snapshot)),
            }
        });
        snapshot.unwrap_or(Ok(None))
    }

    /// Returns what the disk has of the file.
    ///
    /// # Errors
    /// Those of [`Workspace::open`], except that nothing may be there; `cancelled`, `io`.
    pub(crate) fn find(&self, call: Call<'_>) -> Result<Found> {
        let opened = call.open()?;
        self.look(call, opened)
    }

    /// Returns what an open file holds.
    pub(crate) fn look(&self, call: Call<'_>, opened: Option<Opened>) -> Result<Found> {
        let Some(opened) = opened else {
            return Found::nothing(call);
        };
        let mut version = None;
        let mut text = None;
        let mut format = None;
        let mut trouble = None;
        if opened.size <= Version::STRONG_BYTES {
            let options = ReadOptions {
                fallback: self.options.fallback,
                cancel: call.cancel.clone(),
                ..ReadOptions::default()
            };
            match call.session.workspace.read_opened(&opened, &options) {
                Ok(window) => {
                    format = Some(window.format);
                    version = Some(window.version);
                    text = Some(window.text.into());
                }
                Err(error) if is_no_text(&error) => trouble = Some(error),
                Err(error) => return Err(error),
            }
        }
        let version = match (version, &trouble) {
            (Some(version), _) => version,
            // Up to this size a version is made of the bytes, whatever they are.
            (None, Some(_)) => {
                let bytes = FileBytes::read(&opened.file, 0, opened.size)?;
                Version::of_bytes(&bytes)
            }
            (None, None) => Version::of_handle(&opened.file)?,
        };
        Ok(Found {
            disk: Some(OnDisk {
                size: opened.size,
                text,
                format,
                version,
            }),
            place: Some(opened.place()),
            opened: Some(opened),
            trouble,
        })
    }
}

impl Found {
    /// Returns that nothing is there, in a place where something could be for this session: an editor
    /// may have it unsaved.
    ///
    /// # Errors
    /// `outside_sandbox`, `denied_by_policy`, also of a file in directories that are not there yet.
    fn nothing(call: Call<'_>) -> Result<Self> {
        use ErrorKind::{DeniedByPolicy, OutsideSandbox};
        let place = call.session.workspace.place_to_be(call.path, Rights::READ);
        let place = match place {
            Err(error) if matches!(error.kind(), DeniedByPolicy | OutsideSandbox) => {
                return Err(error);
            }
            place => place.ok(),
        };
        Ok(Self {
            disk: None,
            place,
            opened: None,
            trouble: None,
        })
    }

    pub(crate) fn version(&self) -> Option<&Version> {
        self.disk.as_ref().map(|disk| &disk.version)
    }

    pub(crate) fn text(&self) -> Option<&Arc<str>> {
        self.disk.as_ref().and_then(|disk| disk.text.as_ref())
    }

    pub(crate) fn format(&self) -> Option<TextFormat> {
        self.disk.as_ref().and_then(|disk| disk.format)
    }
}

impl Call<'_> {
    /// Returns the error as the agent may have it: with the path that it sent.
    pub(crate) fn told(&self, error: Error) -> RpcError {
        error.spelt(self.asked).into()
    }

    /// Opens the file; `None` when nothing is there.
    pub(crate) fn open(&self) -> Result<Option<Opened>> {
        match self.session.workspace.open(self.path) {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Remembers what the session knows of the file from now on.
    pub(crate) fn serve(&self, found: &Found, text: Option<&Arc<str>>) {
        let Some(place) = &found.place else { return };
        let disk = found.disk.as_ref();
        let is_disks = disk.is_some_and(|disk| match (&disk.text, text) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
            _ => text.is_none(),
        });
        let version = disk.filter(|_| is_disks).map(|disk| disk.version.clone());
        let text = text.map(Arc::clone);
        self.session
            .served
            .remember(place.clone(), Belief::of(text, version));
    }

    /// Hands the document to an editor; `None` where the path leads nowhere, since an editor would make
    /// something else of it.
    pub(crate) fn with_document<T>(
        &self,
        found: &Found,
        then: impl FnOnce(&Document<'_>) -> T,
    ) -> Option<T> {
        let path = self.session.spelled(found.place.as_ref()?);
        Some(then(&Document {
            session_id: self.session_id,
            asked: self.asked,
            path: &path,
            on_disk: found.disk.as_ref(),
            cancel: self.cancel,
        }))
    }
}

fn is_no_text(error: &Error) -> bool {
    use ErrorKind::{BinaryFile, EncodingMismatch, NotText};
    matches!(error.kind(), BinaryFile | EncodingMismatch | NotText)
}
