//! Rights and which of them an operation needs.

/// What may be done below a root: read, edit, delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights(u8);

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
