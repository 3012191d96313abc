//! Landlock as a second wall.

use std::os::fd::AsFd;
use std::path::Path;

use fs_core::Result;
use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, PathBeneath, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
};

use crate::resolve::{Root, open_ambient, open_null};
use crate::rights::Rights;
use crate::workspace::Workspace;

/// What the kernel could enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// All of it.
    Full,
    /// A part; the text says which Landlock ABI.
    Partial(String),
    /// Nothing; the text says why.
    None(String),
}

/// The version that rules are written for; an older kernel enforces what it knows.
const RULES: ABI = ABI::V7;

/// Confines this thread and those it starts to the workspace's roots and `extra` directories.
///
/// Whatever the resolver should let through by a mistake, the kernel then refuses: to open, create,
/// remove or rename outside. Roots that are only read get rules for reading only; `extra`
/// directories, which must exist, get all. `/dev/null` stays usable; no program can be started any
/// more. It cannot be taken back, does not reach threads that run already (call it before any is
/// started), does not hide that a name exists, and knows whole trees only: deny rules and roots
/// within roots stay the resolver's.
///
/// ```no_run
/// # fn main() -> fs_core::Result<()> {
/// use std::path::Path;
/// use fs_sandbox::{Confinement, Rights, Workspace, confine};
///
/// let workspace = Workspace::builder()
///     .root("project", Path::new("."), Rights::ALL)
///     .build()?;
/// match confine(&workspace, &[])? {
///     Confinement::Full => {}
///     Confinement::Partial(how) | Confinement::None(how) => eprintln!("confined in part: {how}"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `not_found`, `not_a_directory` and `permission_denied` with the path of an `extra` directory. A
/// kernel without Landlock is no error.
pub fn confine(workspace: &Workspace, extra: &[&Path]) -> Result<Confinement> {
    let mut rules = Vec::new();
    let roots = &workspace.shared().roots;
    for root in roots.named.iter().chain(&roots.outside) {
        rules.push((root.dir.try_clone()?, access_of(root)));
    }
    for path in extra {
        let opened = open_ambient(path).map_err(|error| error.at(&path.to_string_lossy()));
        rules.push((opened?.0, changing()));
    }
    let (disk, _) = open_ambient(Path::new("/"))?;
    let null = open_null(&disk).ok();
    let confined = restrict(&rules, null.as_ref());
    Ok(confined.map_or_else(
        |error| Confinement::None(error.to_string()),
        |status| describe(&status),
    ))
}

fn restrict(
    rules: &[(impl AsFd, BitFlags<AccessFs>)],
    null: Option<&impl AsFd>,
) -> Result<RestrictionStatus, RulesetError> {
    let handled = AccessFs::from_all(RULES);
    let mut ruleset = Ruleset::default().handle_access(handled)?.create()?;
    for (dir, access) in rules.iter().filter(|(_, access)| !access.is_empty()) {
        ruleset = ruleset.add_rule(PathBeneath::new(dir, *access))?;
    }
    if let Some(null) = null {
        let access = AccessFs::from_file(RULES) & !AccessFs::Execute;
        ruleset = ruleset.add_rule(PathBeneath::new(null, access))?;
    }
    ruleset.restrict_self()
}

fn access_of(root: &Root) -> BitFlags<AccessFs> {
    if root.rights.changes() {
        changing()
    } else if root.rights == Rights::NONE {
        BitFlags::EMPTY
    } else {
        AccessFs::ReadFile | AccessFs::ReadDir
    }
}

/// Everything but programs and special files.
fn changing() -> BitFlags<AccessFs> {
    let special =
        AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::MakeFifo;
    AccessFs::from_all(RULES) & !(special | AccessFs::Execute | AccessFs::IoctlDev)
}

fn describe(status: &RestrictionStatus) -> Confinement {
    let known = match status.landlock {
        LandlockStatus::NotEnabled => "Landlock is not enabled".to_owned(),
        LandlockStatus::NotImplemented => "the kernel has no Landlock".to_owned(),
        LandlockStatus::Available { effective_abi, .. } => {
            format!("Landlock ABI {}", effective_abi as i32)
        }
    };
    match status.ruleset {
        RulesetStatus::FullyEnforced => Confinement::Full,
        RulesetStatus::PartiallyEnforced => Confinement::Partial(known),
        RulesetStatus::NotEnforced => Confinement::None(known),
    }
}

#[cfg(test)]
mod tests;
