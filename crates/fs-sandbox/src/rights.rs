//! Rights and which of them an operation needs.

use fs_core::{Error, Problem};

/// What may be done below a root: read, edit, delete.
///
/// ```
/// use fs_sandbox::Rights;
/// let rights = Rights::READ | Rights::EDIT;
/// assert!(rights.contains(Rights::EDIT));
/// assert!(!rights.contains(Rights::ALL));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rights(u8);

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// A file is opened; the flags decide.
    Open,
    /// A directory's names are listed, once or deeply.
    List,
    /// What a name is, is looked up.
    Stat,
    /// Content or names are searched.
    Search,
    /// A file's bytes are changed in part.
    Update,
    /// A directory is created.
    CreateDir,
    /// A file or link is removed.
    Remove,
    /// The file that a copy is made of.
    CopySource,
    /// The name that a copy gets.
    CopyTarget,
    /// The name that a move takes away.
    MoveSource,
    /// The name that a move gives.
    MoveTarget,
}

/// How a file is opened, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OpenFlags(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Read, list, stat.
    pub const READ: Self = Self(1);
    /// Write, create, replace.
    pub const EDIT: Self = Self(2);
    /// Remove, move away.
    pub const DELETE: Self = Self(4);
    /// All of them.
    pub const ALL: Self = Self(7);

    /// Returns whether all of `other` is held.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether something is held that changes files.
    pub const fn changes(self) -> bool {
        self.0 & (Self::EDIT.0 | Self::DELETE.0) != 0
    }

    /// Returns the rights that `self` has and `other` has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the first right held as a verb: read, edit or delete.
    const fn verb(self) -> &'static str {
        if self.contains(Self::DELETE) && self.0 != Self::ALL.0 {
            "delete"
        } else if self.contains(Self::EDIT) {
            "edit"
        } else {
            "read"
        }
    }
}

impl OpenFlags {
    /// None.
    pub const NONE: Self = Self(0);
    /// Its bytes are read.
    pub const READ: Self = Self(1);
    /// Its bytes are written.
    pub const WRITE: Self = Self(2);
    /// Bytes are added at its end.
    pub const APPEND: Self = Self(4);
    /// It is emptied.
    pub const TRUNCATE: Self = Self(8);
    /// It is created when it is missing.
    pub const CREATE: Self = Self(16);

    const CHANGES: u8 = Self::WRITE.0 | Self::APPEND.0 | Self::TRUNCATE.0 | Self::CREATE.0;
}

impl std::ops::BitOr for Rights {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitAnd for Rights {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::BitOr for OpenFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Returns the rights that an operation needs; `flags` count for [`Operation::Open`] only.
///
/// Every flag that changes the file needs [`Rights::EDIT`], whatever else is asked for with it. An
/// open that neither reads nor changes still needs [`Rights::READ`]: it tells that the file exists.
/// Replacing an existing target counts as an edit, not as a removal.
pub const fn needed(operation: Operation, flags: OpenFlags) -> Rights {
    match operation {
        Operation::Open => opening(flags),
        Operation::List | Operation::Stat | Operation::Search | Operation::CopySource => {
            Rights::READ
        }
        Operation::Update
        | Operation::CreateDir
        | Operation::CopyTarget
        | Operation::MoveTarget => Rights::EDIT,
        Operation::Remove | Operation::MoveSource => Rights::DELETE,
    }
}

/// Returns the refusal for rights that are not held.
pub(crate) fn lacking(missing: Rights) -> Error {
    let verb = missing.verb();
    let reason = format!("this is no place to {verb}, the {verb} right is missing");
    Problem::DeniedByPolicy { reason }.into()
}

/// Returns the refusal for a name that a deny rule matches.
pub(crate) fn forbidden(need: Rights) -> Error {
    let reason = format!("a rule forbids to {} this", need.verb());
    Problem::DeniedByPolicy { reason }.into()
}

const fn opening(flags: OpenFlags) -> Rights {
    let changes = flags.0 & OpenFlags::CHANGES != 0;
    let reads = flags.0 & OpenFlags::READ.0 != 0;
    match (changes, reads) {
        (true, true) => Rights(Rights::READ.0 | Rights::EDIT.0),
        (true, false) => Rights::EDIT,
        (false, _) => Rights::READ,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(operation: Operation, flags: OpenFlags, expected: Rights) {
        assert_eq!(
            needed(operation, flags),
            expected,
            "{operation:?} {flags:?}"
        );
    }

    #[test]
    fn every_set_of_open_flags_that_changes_something_needs_the_edit_right() {
        for bits in 0..32 {
            let expected = match (bits & 1 != 0, bits >> 1 != 0) {
                (true, true) => Rights::READ | Rights::EDIT,
                (false, true) => Rights::EDIT,
                (_, false) => Rights::READ,
            };
            check(Operation::Open, OpenFlags(bits), expected);
        }
    }

    #[test]
    fn flags_count_for_opening_only() {
        let table = [
            (Operation::List, Rights::READ),
            (Operation::Stat, Rights::READ),
            (Operation::Search, Rights::READ),
            (Operation::CopySource, Rights::READ),
            (Operation::Update, Rights::EDIT),
            (Operation::CreateDir, Rights::EDIT),
            (Operation::CopyTarget, Rights::EDIT),
            (Operation::MoveTarget, Rights::EDIT),
            (Operation::Remove, Rights::DELETE),
            (Operation::MoveSource, Rights::DELETE),
        ];
        for (operation, expected) in table {
            for bits in 0..32 {
                check(operation, OpenFlags(bits), expected);
            }
        }
    }

    #[test]
    fn a_refusal_names_the_right_that_is_missing() {
        let texts = [Rights::READ, Rights::EDIT, Rights::DELETE].map(|r| lacking(r).to_string());
        assert_eq!(
            texts,
            [
                "denied by policy: this is no place to read, the read right is missing",
                "denied by policy: this is no place to edit, the edit right is missing",
                "denied by policy: this is no place to delete, the delete right is missing",
            ]
        );
    }
}
