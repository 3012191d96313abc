//! The ways in which the engines are broken.

/// A change of one place of the source, and the test that must see it.
#[derive(Debug)]
pub(super) struct Mutant {
    pub(super) name: &'static str,
    /// What the mutant does, in words.
    pub(super) what: &'static str,
    pub(super) file: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    /// Where the test is: the package, its kind of target, and a part of its name.
    pub(super) package: &'static str,
    pub(super) target: &'static [&'static str],
    pub(super) test: &'static str,
}

pub(super) const MUTANTS: [Mutant; 0] = [];
