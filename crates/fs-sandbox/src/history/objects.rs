//! The objects of a root: the bytes of earlier files, by address.
//!
//! Up to 4 MiB the address is the hash of the content (and of owner and attributes, where there is
//! something to say of them); a larger file is known by its inode and the time of its last write,
//! as its version is. Until its entry is written down an object has a staged name, which nobody
//! else touches.

use std::ffi::OsStr;

use cap_std::fs::{Dir, File};
use fs_core::{Cancel, Problem, Result, Version};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::record::{FileState, ObjectRef};
use crate::replace::{OldFile, Target, attributes, pieces};

/// An object that has no address yet; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Staged<'o> {
    objects: &'o Dir,
    name: String,
    address: String,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// The hash of its content, up to 4 MiB.
    version: Option<String>,
    /// Whether it is the old file itself, which has no other name once the change is made.
    pub(crate) is_the_file: bool,
    placed: bool,
}

/// Whether the old file itself may become the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Its name goes: where it has no other one nothing else can write to it.
    Whole,
    /// It keeps a name that somebody may write to: only what is too large to be copied lightly.
    Large,
    /// No: it lives on.
    Never,
}

/// What is to be kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The name that it has.
    pub(crate) target: Target<'a>,
    /// The file.
    pub(crate) old: &'a OldFile,
    /// What it is.
    pub(crate) state: &'a FileState,
    /// Whether it may be the object itself.
    pub(crate) share: Share,
    /// Stops a copy.
    pub(crate) cancel: &'a Cancel,
}

impl Source<'_> {
    fn may_be_linked(&self) -> bool {
        let is_large = self.state.size > Version::STRONG_BYTES;
        match self.share {
            Share::Whole => is_large || self.old.links() == 1,
            Share::Large => is_large,
            Share::Never => false,
        }
    }
}

impl<'o> Staged<'o> {
    /// Keeps the bytes of a file: the file itself under another name where that can be, else a copy,
    /// but none of more than `max_copy` bytes.
    ///
    /// # Errors
    /// `conflict` when the name is not that file any more, `cancelled`, `io`.
    pub(crate) fn keep(
        objects: &'o Dir,
        name: String,
        max_copy: u64,
        source: &Source<'_>,
    ) -> Result<Option<Self>> {
        let mut staged = Self {
            objects,
            name,
            address: address_of(source.old, source.state)?,
            size: source.state.size,
            version: source.state.version.clone(),
            is_the_file: false,
            placed: false,
        };
        if source.may_be_linked() && staged.link(source.target, source.old)? {
            staged.is_the_file = source.share == Share::Whole && source.old.links() == 1;
        } else if staged.size > max_copy {
            return Ok(None);
        } else {
            staged.copy(source.old, source.cancel)?;
        }
        Ok(Some(staged))
    }

    /// Gives the object its address and returns whether it is new; one that has it already stays, if
    /// it still holds what it should: somebody may have written to it, or a crash cut it short.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn place(&mut self) -> Result<bool, Errno> {
        if !self.is_kept_already() {
            rustix::fs::renameat(self.objects, &*self.name, self.objects, &*self.address)?;
            self.placed = true;
        }
        Ok(self.placed)
    }

    /// Lets nobody else read the object, once it is the only name of the old file.
    pub(crate) fn close(&self) {
        if self.placed && self.is_the_file {
            let (own, flags) = (Mode::RUSR | Mode::WUSR, AtFlags::empty());
            // Its directory lets nobody else in either.
            _ = rustix::fs::chmodat(self.objects, &*self.address, own, flags);
        }
    }

    /// Returns the address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns where the bytes are kept, before the object has its address.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn reference(&self) -> Result<ObjectRef> {
        let stat = rustix::fs::statat(self.objects, &*self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(ObjectRef {
            address: self.address.clone(),
            written: FileState::seen(&stat).stamp.written(),
        })
    }

    /// Takes the object away again that was placed for a change that was not made.
    pub(crate) fn take_back(&mut self) {
        if std::mem::take(&mut self.placed) {
            // Best effort: what no entry refers to goes when the log is shortened.
            _ = rustix::fs::unlinkat(self.objects, &*self.address, AtFlags::empty());
        }
    }

    fn is_kept_already(&self) -> bool {
        let kept = || FileState::of(open(self.objects, &self.address).ok()?.file()).ok();
        self.version.is_some() && kept().is_some_and(|kept| kept.version == self.version)
    }

    fn link(&mut self, source: Target<'_>, old: &OldFile) -> Result<bool> {
        let flags = AtFlags::empty();
        let linked = rustix::fs::linkat(source.dir, source.name, self.objects, &*self.name, flags);
        if linked.is_err() {
            return Ok(false);
        }
        if old.is_at(self.objects, OsStr::new(&self.name))? {
            return Ok(true);
        }
        Err(Problem::Conflict.into())
    }

    fn copy(&mut self, old: &OldFile, cancel: &Cancel) -> Result<()> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let made = rustix::fs::openat(self.objects, &*self.name, flags, mode)?;
        let made = File::from(made);
        pieces::copy_sparse(old.file(), old.size(), &made, cancel, &mut |_| {})?;
        attributes::carry_to_object(old, &made)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // Nothing has the staged name once it is placed.
        _ = rustix::fs::unlinkat(self.objects, &*self.name, AtFlags::empty());
    }
}

/// Opens an object.
///
/// # Errors
/// `not_found` when it is not kept any more, `io`.
pub(crate) fn open(objects: &Dir, address: &str) -> Result<OldFile> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let opened = rustix::fs::openat(objects, address, flags, Mode::empty())?;
    OldFile::opened(File::from(opened))
}

/// Removes the objects that `is_kept` does not name; staged ones stay.
///
/// # Errors
/// `io`.
pub(crate) fn sweep(objects: &Dir, is_kept: impl Fn(&str) -> bool) -> Result<()> {
    for entry in objects.entries()? {
        let name = entry?.file_name();
        let goes = |name: &&str| !is_staged(name) && !is_kept(name);
        if let Some(name) = name.to_str().filter(goes) {
            // The rest goes next time.
            _ = rustix::fs::unlinkat(objects, name, AtFlags::empty());
        }
    }
    Ok(())
}

/// Returns the size of an object in bytes; `None` when it is not kept.
pub(crate) fn size_of(objects: &Dir, address: &str) -> Option<u64> {
    let stat = rustix::fs::statat(objects, address, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    u64::try_from(stat.st_size).ok()
}

/// Returns the staged name of the object with this number of a change.
pub(crate) fn staged_name(token: &str, number: usize) -> String {
    format!(".{token}-{number}")
}

fn is_staged(name: &str) -> bool {
    name.starts_with('.')
}

fn address_of(old: &OldFile, state: &FileState) -> Result<String> {
    let content = match &state.version {
        Some(version) => version.clone(),
        None => format!("w{}", state.stamp_digest()),
    };
    let facets = attributes::digest(old)?;
    Ok(match facets {
        Some(facets) => format!("{content}-{facets}"),
        None => content,
    })
}
