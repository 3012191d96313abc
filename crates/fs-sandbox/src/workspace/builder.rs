//! What a workspace is made of.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fs_core::{IndexCache, Problem, Result};

use super::{Shared, Workspace};
use crate::history::{History, HistoryLimits};
use crate::lock::FileLocks;
use crate::policy::Policy;
use crate::resolve::{Root, Roots};
use crate::rights::Rights;
use crate::write::{Durability, HardLinks};

/// Builds a workspace.
#[derive(Debug, Default)]
pub struct WorkspaceBuilder {
    roots: Vec<(String, PathBuf, Rights)>,
    outside: Rights,
    deny: Vec<String>,
    deny_edit: Vec<String>,
    hard_links: HardLinks,
    one_filesystem: bool,
    durability: Durability,
    history: Option<(PathBuf, HistoryLimits)>,
}

impl WorkspaceBuilder {
    /// Adds a root: the directory at `path`, called `name` in `NAME:path`.
    ///
    /// Of roots that lie in each other the innermost decides alone. Relative paths lie in the root
    /// that was added first. A relative `path` is taken from the current directory once, by
    /// [`WorkspaceBuilder::build`].
    #[must_use]
    pub fn root(mut self, name: &str, path: &Path, rights: Rights) -> Self {
        self.roots.push((name.to_owned(), path.to_owned(), rights));
        self
    }

    /// Sets the rights for paths in no root; none by default.
    ///
    /// With any right the whole disk is walked like a root, under the deny rules; a path that
    /// climbs out of a root by `..` or by a link goes on there.
    #[must_use]
    pub fn outside(mut self, rights: Rights) -> Self {
        self.outside = rights;
        self
    }

    /// Adds a glob of names that do not exist for callers.
    ///
    /// Globs are written as in a `.gitignore` file: without a slash they match at any depth, else
    /// from the top of a root; `*` stops at a slash, `**` does not; there is no `!`. They are
    /// compared without regard to case and normal form, with the real path and with every directory
    /// above it. Unlike git, `dir/**` covers `dir` itself, which could be swapped otherwise.
    #[must_use]
    pub fn deny(mut self, glob: &str) -> Self {
        self.deny.push(glob.to_owned());
        self
    }

    /// Adds a glob of names that are read-only; see [`WorkspaceBuilder::deny`] for the globs.
    #[must_use]
    pub fn deny_edit(mut self, glob: &str) -> Self {
        self.deny_edit.push(glob.to_owned());
        self
    }

    /// Sets what happens to other names of a file; they keep the old bytes by default.
    #[must_use]
    pub fn hard_links(mut self, policy: HardLinks) -> Self {
        self.hard_links = policy;
        self
    }

    /// Refuses paths that cross into another mount as `outside_sandbox`; off by default.
    #[must_use]
    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "a switch by its name, as on the command line"
    )]
    pub fn one_filesystem(mut self, on: bool) -> Self {
        self.one_filesystem = on;
        self
    }

    /// Sets the durability; the file is synced by default.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Keeps what changes take away in `dir`, a directory for state outside of the roots, so that they
    /// can be undone; none is kept by default.
    ///
    /// It is made if it is not there, for this user alone. Where it lies in a root it does not exist
    /// for callers. Files that usually hold secrets ([`SECRETS`](crate::SECRETS)) are never kept. A
    /// directory that cannot be used is no error: see [`Workspace::history_status`].
    #[must_use]
    pub fn history(mut self, dir: &Path, limits: HistoryLimits) -> Self {
        self.history = Some((dir.to_owned(), limits));
        self
    }

    /// Opens the roots.
    ///
    /// # Errors
    /// `invalid_argument` for field `root` (none, a name twice, a name with `/` or `:`), `deny` or
    /// `deny_edit`; `not_found`, `not_a_directory`, `permission_denied` and `denied_by_policy` (a
    /// file system of the kernel) with a root's path as configured.
    pub fn build(mut self) -> Result<Workspace> {
        check_names(&self.roots)?;
        let roots = self.roots.iter();
        let named = roots.map(|(name, path, rights)| Root::open(Some(name), path, *rights));
        let outside = match self.outside {
            Rights::NONE => None,
            rights => Some(Root::open(None, Path::new("/"), rights)?),
        };
        let roots = Roots::new(named.collect::<Result<_>>()?, outside);
        let history = match &self.history {
            Some((dir, limits)) => History::open(dir, *limits, &roots),
            None => History::default(),
        };
        self.deny.extend(history.globs_below(&roots));
        let shared = Shared {
            roots,
            history,
            policy: Policy::new(&self.deny, &self.deny_edit)?,
            one_filesystem: self.one_filesystem,
            no_openat2: AtomicBool::new(false),
            hard_links: self.hard_links,
            durability: self.durability,
            locks: FileLocks::default(),
            index: IndexCache::new(),
        };
        Ok(Workspace {
            shared: Arc::new(shared),
            tool: "",
            scope: None,
        })
    }
}

fn check_names(roots: &[(String, PathBuf, Rights)]) -> Result<()> {
    let refused = |reason: &str| Err(Problem::invalid("root", reason).into());
    if roots.is_empty() {
        return refused("none is given, and nothing is allowed without one");
    }
    for (index, (name, ..)) in roots.iter().enumerate() {
        if name.is_empty() || name.contains(['/', ':', '\0']) {
            return refused("a name is empty or holds `/`, `:` or a NUL");
        }
        if roots.iter().take(index).any(|(other, ..)| other == name) {
            return refused("two have the same name");
        }
    }
    Ok(())
}
