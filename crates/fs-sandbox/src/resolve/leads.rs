//! Where a link leads, link by link.

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use fs_core::{ErrorKind, Result};

use crate::policy::Policy;
use crate::resolve::request::{Request, Step, is_dir_only, steps};
use crate::resolve::walk::{MAX_LINKS, Walk};
use crate::resolve::{Follow, Missing, Place};
use crate::rights::Rights;
use crate::workspace::Workspace;

impl Workspace {
    /// Returns whether a link leads to the file that has `goal`, or by way of that name; from where
    /// it is, or once it has that name itself.
    ///
    /// The answer only keeps a link from taking the place of what it leads to. So no rule and no
    /// right is asked, and the kernel may look beyond the roots: nothing is opened there or told.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn leads_to(&self, link: &Place, goal: &Place) -> Result<bool> {
        let followed = rustix::fs::statat(&link.dir, &link.name, AtFlags::empty());
        if followed.is_ok_and(|stat| Some((stat.st_dev, stat.st_ino)) == goal.id()) {
            return Ok(true);
        }
        Ok(self.passes(link, link, goal)? || self.passes(link, goal, goal)?)
    }

    /// Returns whether a link, read as if it stood beside `beside`, leads by way of the name `goal`.
    fn passes(&self, link: &Place, beside: &Place, goal: &Place) -> Result<bool> {
        let Some(mut next) = self.next(link, beside)? else {
            return Ok(false);
        };
        let goal_key = goal.lock_key()?;
        for _ in 0..MAX_LINKS {
            if next.lock_key()? == goal_key {
                return Ok(true);
            }
            if next.kind() != Some(FileType::Symlink) {
                return Ok(false);
            }
            match self.next(&next, &next)? {
                Some(after) => next = after,
                None => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Returns the place that the text of a link names, as if it stood beside `beside`; `None` when
    /// that is nowhere in the roots.
    fn next(&self, link: &Place, beside: &Place) -> Result<Option<Place>> {
        let roots = &self.shared().roots;
        let text = match super::sys::link_text_at(&link.dir, &link.name) {
            Ok(text) => text,
            Err(Errno::INVAL | Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let request = if text.as_encoded_bytes().starts_with(b"/") {
            Request::of_text(&text, roots, Ok(&link.root))
        } else {
            steps(&text).map(|way| {
                let above = beside.rel.parent().unwrap_or_default();
                let above = above.names().map(|name| Step::Name(name.to_owned()));
                Request {
                    root: beside.root.clone(),
                    steps: above.chain(way).collect(),
                    dir_only: is_dir_only(&text),
                }
            })
        };
        let policy = Policy::default();
        let walk = Walk {
            policy: &policy,
            scope: None,
            ..self.walk_for(Rights::NONE, Follow::No, Missing::Refuse)
        };
        match request.and_then(|request| walk.run(request)) {
            Ok(place) => Ok(Some(place)),
            Err(error) if error.kind() == ErrorKind::Io => Err(error),
            Err(_) => Ok(None),
        }
    }
}
