//! Which entries of a tree are looked at, by their names.

use std::os::unix::ffi::OsStrExt;

use super::{Case, Query};
use crate::error::Result;
use crate::glob::Glob;
use crate::path::RelPath;
use crate::problem::Problem;

/// A longer list of globs is a mistake: each is compiled.
const MAX_BYTES: usize = 4096;

/// Which entries of a tree are looked at, by name.
#[derive(Debug)]
pub(super) struct Filter {
    /// One of these must match, if there are any.
    wanted: Vec<(Glob, Scope)>,
    /// None of these may.
    unwanted: Vec<(Glob, Scope)>,
    /// How many bytes of a path lead to the directory that is searched, the slash included.
    depth: usize,
}

/// What of an entry a pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Name,
    Path,
}

impl Filter {
    /// Returns the filter of a query's file globs, for paths below `start`.
    pub(super) fn new(query: &Query, start: &RelPath) -> Result<Self> {
        let mut filter = Self {
            wanted: Vec::new(),
            unwanted: Vec::new(),
            depth: match start.as_os_str().len() {
                0 => 0,
                len => len + 1,
            },
        };
        let list = query.file_glob.as_deref().unwrap_or_default();
        if list.len() > MAX_BYTES {
            return Err(Problem::invalid("file_glob", "it is longer than 4096 bytes").into());
        }
        for glob in globs(list) {
            match glob.strip_prefix('!') {
                Some(glob) => filter.unwanted.push(compiled(glob)?),
                None => filter.wanted.push(compiled(glob)?),
            }
        }
        Ok(filter)
    }

    /// Returns whether the entry at `path` is looked at.
    pub(super) fn admits(&self, path: &RelPath) -> bool {
        let matches = |(glob, scope): &(Glob, Scope)| glob.is_match(self.part(path, *scope));
        (self.wanted.is_empty() || self.wanted.iter().any(matches))
            && !self.unwanted.iter().any(matches)
    }

    /// Returns what of a path a pattern is compared with.
    pub(super) fn part<'p>(&self, path: &'p RelPath, scope: Scope) -> &'p [u8] {
        match scope {
            Scope::Name => path.file_name().unwrap_or_default().as_bytes(),
            Scope::Path => path
                .as_os_str()
                .as_bytes()
                .get(self.depth..)
                .unwrap_or_default(),
        }
    }
}

impl Scope {
    /// Returns what a pattern is compared with: paths when it holds a slash.
    pub(super) fn of(pattern: &str) -> Self {
        if pattern.contains('/') {
            Self::Path
        } else {
            Self::Name
        }
    }
}

/// Compiles a glob: `/a` and `./a` mean the `a` right below the start, `a/` all that is in an `a`.
fn compiled(glob: &str) -> Result<(Glob, Scope)> {
    let here = glob.strip_prefix("./").or_else(|| glob.strip_prefix('/'));
    let bare = here.unwrap_or(glob);
    let scope = here.map_or(Scope::of(bare), |_| Scope::Path);
    if bare == ".." || bare.starts_with("../") {
        let reason = "it leads out of the folder that is searched";
        return Err(Problem::invalid("file_glob", reason).into());
    }
    let whole = match bare.strip_suffix('/') {
        _ if bare.is_empty() => "**".to_owned(),
        Some(dir) if here.is_none() && !dir.contains('/') => format!("**/{dir}/**"),
        Some(dir) => format!("{dir}/**"),
        None => bare.to_owned(),
    };
    let compiled = Glob::new(&whole, Case::Sensitive);
    let compiled = compiled.map_err(|reason| Problem::invalid("file_glob", reason))?;
    Ok((compiled, scope))
}

/// Returns the globs of a list, which commas outside of brackets part.
fn globs(list: &str) -> Vec<&str> {
    let (mut open, mut escaped) = (0_usize, false);
    let parts = list.split(|character| {
        let is_escaped = std::mem::take(&mut escaped);
        match character {
            _ if is_escaped => {}
            '\\' => escaped = true,
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            ',' => return open == 0,
            _ => {}
        }
        false
    });
    let parts = parts.map(str::trim);
    parts.filter(|glob| !glob.is_empty()).collect()
}
