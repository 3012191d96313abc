//! What a new file takes over from the old one: owner, mode, attributes, access lists.

use cap_std::fs::File;
use fs_core::{Problem, Result};
use rustix::buffer::spare_capacity;
use rustix::fs::{Gid, Mode, Uid, XattrFlags};
use rustix::io::Errno;

use super::old_file::{OldFile, Snapshot};

/// The POSIX access list, beyond what the mode says.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Attributes that vouch for the old bytes, or give them privileges: new bytes get none of them.
const LEFT_BEHIND: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// Gives `new` the owner, mode, attributes and access list of `old`.
///
/// # Errors
/// `not_replaceable` when the owner, a `user.*` attribute or an access list cannot be carried
/// over; `io` when the disk is full.
pub(super) fn carry(old: &OldFile, new: &File) -> Result<()> {
    // The owner's own attributes need the right to write, which the old mode may not give.
    carry_attributes(old.file(), new)?;
    let found = old.snapshot();
    carry_owner(&found, new).map_err(|errno| refused(errno, "its owner cannot be kept"))?;
    carry_access(old.file(), &found, new)
        .map_err(|errno| refused(errno, "its mode or access list cannot be kept"))
}

/// Gives a backup the owner, mode, times and attributes of `old`, as far as the system lets us;
/// where owner or access list cannot be kept, only the owner may read it.
///
/// # Errors
/// What the system says when not even the mode can be set.
pub(super) fn carry_to_backup(old: &OldFile, new: &File) -> Result<(), Errno> {
    let found = old.snapshot();
    // What an attribute says is lost with the copy, the bytes are not.
    carry_attributes(old.file(), new).unwrap_or_default();
    let narrow = found.mode() & Mode::RWXU;
    let kept = carry_owner(&found, new).and_then(|()| carry_access(old.file(), &found, new));
    if kept.is_err() {
        remove_access_list(new)?;
        rustix::fs::fchmod(new, narrow)?;
    }
    rustix::fs::futimens(new, &found.times())
}

/// Gives a copy of `source` its mode, times, attributes and access list, as far as the system lets us,
/// and the owner of the file that the copy replaces; without one it stays with who makes it.
///
/// Where an access list cannot be kept only the owner may use the copy.
///
/// # Errors
/// `not_replaceable` when the owner of the replaced file cannot be kept; `io`.
pub(super) fn carry_to_copy(
    source: &OldFile,
    new: &File,
    replaced: Option<&OldFile>,
) -> Result<()> {
    let found = source.snapshot();
    let listed = offer_attributes(source.file(), new)?;
    if let Some(replaced) = replaced {
        carry_owner(&replaced.snapshot(), new)
            .map_err(|errno| refused(errno, "its owner cannot be kept"))?;
    }
    if carry_access(source.file(), &found, new).is_err() || !listed {
        remove_access_list(new)?;
        rustix::fs::fchmod(new, found.mode() & Mode::RWXU)?;
    }
    Ok(rustix::fs::futimens(new, &found.times())?)
}

/// Carries over what attributes the system takes, and returns whether no access list is missing.
fn offer_attributes(source: &File, new: &File) -> Result<bool, Errno> {
    let mut listed = true;
    for name in attribute_names(source)? {
        if name == ACCESS_LIST || LEFT_BEHIND.contains(&name.as_slice()) {
            continue;
        }
        match carry_attribute(source, new, &name) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT)) => return Err(errno),
            Err(_) if name.starts_with(b"system.") => listed = false,
            // What an attribute says is lost with the copy, the bytes are not.
            Ok(()) | Err(_) => {}
        }
    }
    Ok(listed)
}

fn carry_owner(old: &Snapshot, new: &File) -> Result<(), Errno> {
    let (uid, gid) = old.owner();
    let (new_uid, new_gid) = Snapshot::of(new)?.owner();
    let owner = (uid != new_uid).then(|| Uid::from_raw(uid));
    let group = (gid != new_gid).then(|| Gid::from_raw(gid));
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    rustix::fs::fchown(new, owner, group)
}

/// Sets mode and access list. A list that the directory made `new` inherit goes first: together
/// with the mode it would let in whom the old file kept out.
fn carry_access(old: &File, found: &Snapshot, new: &File) -> Result<(), Errno> {
    let list = attribute(old, ACCESS_LIST)?;
    if list.is_none() {
        remove_access_list(new)?;
    }
    rustix::fs::fchmod(new, found.mode())?;
    match list {
        Some(list) => rustix::fs::fsetxattr(new, ACCESS_LIST, &list, XattrFlags::empty()),
        None => Ok(()),
    }
}

fn remove_access_list(file: &File) -> Result<(), Errno> {
    match rustix::fs::fremovexattr(file, ACCESS_LIST) {
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        answer => answer,
    }
}

fn carry_attributes(old: &File, new: &File) -> Result<()> {
    for name in attribute_names(old)? {
        if name == ACCESS_LIST || LEFT_BEHIND.contains(&name.as_slice()) {
            continue;
        }
        match carry_attribute(old, new, &name) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT)) => return Err(errno.into()),
            Err(errno) if is_needed(&name) => {
                return Err(refused(errno, "an extended attribute cannot be kept"));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn carry_attribute(old: &File, new: &File, name: &[u8]) -> Result<(), Errno> {
    match attribute(old, name)? {
        // Some (the labels of a security module) are there already, and may not be set by us.
        Some(value) if attribute(new, name)? != Some(value.clone()) => {
            rustix::fs::fsetxattr(new, name, &value, XattrFlags::empty())
        }
        _ => Ok(()),
    }
}

/// The user's own data, and access lists of other kinds.
fn is_needed(name: &[u8]) -> bool {
    name.starts_with(b"user.") || name.starts_with(b"system.")
}

fn attribute_names(file: &File) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    loop {
        let len = match rustix::fs::flistxattr_query(file) {
            Ok(0) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(Vec::new()),
            answer => answer?,
        };
        names.clear();
        names.reserve(len);
        match rustix::fs::flistxattr(file, spare_capacity(&mut names)) {
            // It grew between the two calls.
            Err(Errno::RANGE) => {}
            answer => {
                answer?;
                break;
            }
        }
    }
    let each = names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    Ok(each.map(<[u8]>::to_vec).collect())
}

/// Returns the attribute's value; `None` when the file has no such attribute.
fn attribute(file: &File, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    loop {
        let len = match rustix::fs::fgetxattr_query(file, name) {
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
            answer => answer?,
        };
        let mut value = Vec::with_capacity(len);
        if len == 0 {
            return Ok(Some(value));
        }
        match rustix::fs::fgetxattr(file, name, spare_capacity(&mut value)) {
            Err(Errno::RANGE) => {}
            Err(Errno::NODATA) => return Ok(None),
            answer => {
                answer?;
                return Ok(Some(value));
            }
        }
    }
}

fn refused(errno: Errno, reason: &'static str) -> fs_core::Error {
    match errno {
        Errno::NOSPC | Errno::DQUOT | Errno::IO => errno.into(),
        _ => Problem::NotReplaceable { reason }.into(),
    }
}

/// Gives a kept copy the owner and attributes of `old`, as far as the system lets us; who may use it
/// is for the store to say.
pub(crate) fn carry_to_object(old: &OldFile, new: &File) -> Result<()> {
    offer_attributes(old.file(), new)?;
    // Only who may give a file away can take one back for another owner.
    carry_owner(&old.snapshot(), new).unwrap_or_default();
    if let Some(list) = attribute(old.file(), ACCESS_LIST)? {
        // A list that cannot be kept is missing after an undo; the mode is not.
        rustix::fs::fsetxattr(new, ACCESS_LIST, &list, XattrFlags::empty()).unwrap_or_default();
    }
    Ok(rustix::fs::fchmod(new, Mode::RUSR | Mode::WUSR)?)
}

/// Returns a short hash of what a file has besides content and mode: a foreign owner, attributes;
/// `None` when there is nothing to say.
pub(crate) fn digest(file: &OldFile) -> Result<Option<String>> {
    let mut told = Vec::new();
    let (uid, gid) = file.snapshot().owner();
    let ours = (rustix::process::geteuid(), rustix::process::getegid());
    if (uid, gid) != (ours.0.as_raw(), ours.1.as_raw()) {
        told.extend(format!("{uid}:{gid}\0").into_bytes());
    }
    let mut names = attribute_names(file.file())?;
    names.sort();
    for name in names
        .iter()
        .filter(|name| !LEFT_BEHIND.contains(&name.as_slice()))
    {
        told.extend_from_slice(name);
        told.push(0);
        told.extend(attribute(file.file(), name)?.unwrap_or_default());
        told.push(0);
    }
    let hex = || blake3::hash(&told).to_hex().chars().take(16).collect();
    Ok((!told.is_empty()).then(hex))
}
