//! Walking and searching below a path, with the workspace's eyes: what a caller may not read is not
//! there.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use fs_core::{
    Error, ErrorKind, Found, Query, RelPath, Result, Sight, Visible, Visited, WalkOptions, Walked,
};
use rustix::fs::FileType;

use crate::resolve::{Root, is_kernel_made, mount_of};
use crate::rights::Rights;
use crate::workspace::Workspace;

/// What a search has found, and in which root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The name of the root; `None` outside the roots.
    pub root: Option<String>,
    /// The link-free path of the directory that was searched, below that root.
    pub path: RelPath,
    /// What was found, with paths below that root.
    pub found: Found,
}

/// What a caller may see of the tree of a root.
struct Eyes<'w> {
    workspace: &'w Workspace,
    root: &'w Root,
}

impl Workspace {
    /// Walks a directory and calls `visit` with each entry, by its path below the root; see
    /// [`fs_core::walk`].
    ///
    /// Names under a deny rule are not there, and neither is what they hold. A root that lies in
    /// this one is walked with its own rights and rules: without [`Rights::READ`] it is shown and
    /// not entered, as are directories on the kernel's file systems and, where only one file system
    /// is allowed, on others.
    ///
    /// # Errors
    /// Those of [`Workspace::open_dir`], `cancelled`, and `io` with `retry` when no handle is left.
    pub fn walk(
        &self,
        path: &str,
        options: &WalkOptions,
        visit: &mut dyn FnMut(&Visited<'_>) -> ControlFlow<()>,
    ) -> Result<Walked> {
        let (root, rel) = self.start(path)?;
        let eyes = Eyes::new(self, &root);
        let walked = fs_core::walk(&root.dir, &rel, options, &eyes, visit);
        walked.map_err(|error| error.at(path))
    }

    /// Searches a directory; see [`fs_core::search`]. What is seen is what [`Workspace::walk`] sees.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # std::fs::create_dir(dir.path().join("src")).unwrap();
    /// # std::fs::write(dir.path().join("src/main.rs"), "fn main() {}\n").unwrap();
    /// # std::fs::write(dir.path().join(".env"), "main\n").unwrap();
    /// use fs_core::{Query, WalkOptions};
    /// use fs_sandbox::{Rights, Workspace};
    ///
    /// let builder = Workspace::builder().root("project", dir.path(), Rights::READ);
    /// let workspace = builder.deny(".env").build()?;
    /// let query = Query {
    ///     pattern: "main".to_owned(),
    ///     walk: WalkOptions { include_hidden: true, ..WalkOptions::default() },
    ///     ..Query::default()
    /// };
    /// let searched = workspace.search(".", &query)?;
    /// assert_eq!(searched.root.as_deref(), Some("project"));
    /// assert_eq!(searched.found.hits, 1);
    /// assert_eq!(searched.found.blocks[0].path.to_string(), "src/main.rs");
    /// # Ok::<(), fs_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_argument` for field `query` or `file_glob`; else those of [`Workspace::walk`].
    pub fn search(&self, path: &str, query: &Query) -> Result<Searched> {
        let (root, rel) = self.start(path)?;
        let eyes = Eyes::new(self, &root);
        let found = fs_core::search(&root.dir, &rel, query, &eyes);
        let found = found.map_err(|error| at_path(error, path))?;
        Ok(Searched {
            root: root.name.clone(),
            path: rel,
            found,
        })
    }

    /// Returns the root of a directory that may be listed, and its path there.
    fn start(&self, path: &str) -> Result<(Arc<Root>, RelPath)> {
        let found = self.open_found(path, FileType::Directory)?;
        Ok((found.root, found.rel))
    }
}

impl<'w> Eyes<'w> {
    fn new(workspace: &'w Workspace, root: &'w Root) -> Self {
        Self { workspace, root }
    }

    /// Returns the root that decides about `path`, and the path there: of roots that lie in each
    /// other the innermost decides alone.
    fn innermost(&self, path: &RelPath) -> (&'w Root, RelPath) {
        let names: Vec<&OsStr> = path.names().collect();
        let roots = &self.workspace.shared().roots;
        let Some((inner, count)) = roots.within(self.root, &names) else {
            return (self.root, path.clone());
        };
        let mut below = names.iter().skip(count);
        let below = below.try_fold(RelPath::root(), |path, name| path.join(name));
        // A part of a path is a path.
        (inner, below.unwrap_or_default())
    }
}

impl Sight for Eyes<'_> {
    fn visible<'s>(&'s self, dir: &RelPath) -> Visible<'s> {
        let (root, rel) = self.innermost(dir);
        let mut visible = self.workspace.visible(root, &rel);
        Box::new(move |name, _| visible(name))
    }

    fn admits(&self, path: &RelPath, handle: BorrowedFd<'_>, device: u64) -> bool {
        let (root, _) = self.innermost(path);
        let crosses = device != root.device;
        let one_filesystem = self.workspace.shared().one_filesystem;
        root.rights.contains(Rights::READ)
            && !(crosses && is_kernel_made(handle))
            && !(one_filesystem && (crosses || mount_of(handle) != root.mount))
    }

    /// A file may be a mount of its own, also of one on the same device.
    fn asks_of_files(&self) -> bool {
        self.workspace.shared().one_filesystem
    }
}

/// Returns the error with the caller's path, unless it is about another argument.
fn at_path(error: Error, path: &str) -> Error {
    match error.kind() {
        ErrorKind::InvalidArgument => error,
        _ => error.at(path),
    }
}
