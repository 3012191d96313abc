//! Why an entry or a file was passed over, and how often.

use std::fmt;

/// Why a walk did not enter an entry, or a search did not look into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Skip {
    /// A directory that is on the list of those that hold no sources.
    SkipList,
    /// An ignore file names it.
    Ignored,
    /// Its name begins with a dot.
    Hidden,
    /// A backup beside its file.
    Backup,
    /// A symbolic link, which is shown and never followed.
    Link,
    /// A FIFO, socket or device.
    Special,
    /// The caller may not read it: a root of its own, another file system, a mount of the kernel's.
    Denied,
    /// The operating system did not let it be read.
    Unreadable,
    /// Its path is longer than [`MAX_PATH_BYTES`](crate::MAX_PATH_BYTES), so that no call could name it.
    TooDeep,
    /// A NUL: no text, or text only up to there.
    Binary,
    /// A file over the limit, or with a line over it.
    TooLarge,
}

/// How often each [`Skip`] occurred.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Skips([u64; Skip::ALL.len()]);

impl Skip {
    /// All reasons, in the order in which they are told.
    pub const ALL: [Self; 11] = [
        Self::SkipList,
        Self::Ignored,
        Self::Hidden,
        Self::Backup,
        Self::Link,
        Self::Special,
        Self::Denied,
        Self::Unreadable,
        Self::TooDeep,
        Self::Binary,
        Self::TooLarge,
    ];

    /// Returns `skip_list`, `ignored`, `hidden`, `backup`, `link`, `special`, `denied`,
    /// `unreadable`, `too_deep`, `binary` or `too_large`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SkipList => "skip_list",
            Self::Ignored => "ignored",
            Self::Hidden => "hidden",
            Self::Backup => "backup",
            Self::Link => "link",
            Self::Special => "special",
            Self::Denied => "denied",
            Self::Unreadable => "unreadable",
            Self::TooDeep => "too_deep",
            Self::Binary => "binary",
            Self::TooLarge => "too_large",
        }
    }
}

impl Skips {
    /// Returns how often `skip` occurred.
    pub fn count(&self, skip: Skip) -> u64 {
        self.0.get(skip as usize).copied().unwrap_or_default()
    }

    /// Returns the reasons that occurred, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Skip, u64)> + '_ {
        let all = Skip::ALL.into_iter().map(|skip| (skip, self.count(skip)));
        all.filter(|(_, count)| *count > 0)
    }

    /// Returns how often any reason occurred.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts one more.
    pub(crate) fn add(&mut self, skip: Skip) {
        if let Some(count) = self.0.get_mut(skip as usize) {
            *count += 1;
        }
    }

    /// Counts all that `other` has counted.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

impl fmt::Debug for Skips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_place_and_a_name_of_its_own() {
        for (index, skip) in Skip::ALL.into_iter().enumerate() {
            assert_eq!(skip as usize, index);
            assert_eq!(
                Skip::ALL
                    .iter()
                    .filter(|other| other.name() == skip.name())
                    .count(),
                1
            );
        }
    }

    #[test]
    fn counts_are_added_by_reason() {
        let mut skips = Skips::default();
        skips.add(Skip::Hidden);
        let mut more = Skips::default();
        more.add(Skip::TooLarge);
        more.add(Skip::Hidden);
        skips.add_all(&more);
        let counts: Vec<_> = skips.iter().collect();
        assert_eq!(counts, [(Skip::Hidden, 2), (Skip::TooLarge, 1)]);
        assert_eq!((skips.total(), skips.count(Skip::Ignored)), (3, 0));
    }
}
