//! Writing: what becomes of a text that an agent sends, between what it was served and what is
//! there by now.

use std::borrow::Cow;
use std::sync::Arc;

use fs_core::{Error, ErrorKind, Problem, Result, Version};
use fs_edit::merge;
use fs_sandbox::{Breaks, Links, UpdateOptions, Witnessed, WriteOptions};

use crate::buffers::{Buffers, Change, Snapshot, Taken};
use crate::found::{Call, Found};
use crate::methods::{FileMethods, Stale};
use crate::served::Belief;
use crate::session::is_missing;
use crate::wire::{Saved, Source, WriteTextFile};

/// How often a write is made again that somebody disturbs.
const TRIES: u32 = 8;
/// The mark that may stand before a text on the disk.
const BOM: char = '\u{FEFF}';

/// The text that a write comes to.
#[derive(Debug)]
struct Settled {
    text: Arc<str>,
    is_merged: bool,
}

impl<B: Buffers> FileMethods<B> {
    /// Writes a whole text.
    ///
    /// # Errors
    /// Those of [`fs_sandbox::Workspace::write`]; `conflict` when somebody else has changed the same
    /// lines since the session was served the file, or has unsaved changes that it was never served;
    /// those of the editor.
    pub(crate) fn write(&self, call: Call<'_>, request: &WriteTextFile) -> Result<Saved> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.write_once(call, request) {
                Err(Disturbed::Again) if tries > 0 => {}
                Err(Disturbed::Again) => return Err(Problem::Conflict.into()),
                Err(Disturbed::For(error)) => return Err(error),
                Ok(saved) => return Ok(saved),
            }
        }
    }

    fn write_once(&self, call: Call<'_>, request: &WriteTextFile) -> Result<Saved, Disturbed> {
        call.cancel.check()?;
        call.check_place()?;
        let found = self.find(call)?;
        let snapshot = self.snapshot(call, &found)?;
        let content = request.content.as_str();
        let mine = content.strip_prefix(BOM).unwrap_or(content);
        let shown = snapshot.as_ref().map(|snapshot| &*snapshot.text);
        let mine = match shown.or(found.text()) {
            Some(theirs) if request.turned_breaks => turned_back(mine, theirs),
            _ => Cow::Borrowed(mine),
        };
        let settled = self.settle(call, &found, snapshot.as_ref(), &mine)?;
        let mark = if content.starts_with(BOM) {
            "\u{FEFF}"
        } else {
            ""
        };
        let mut saved = self.hand_over(call, &found, snapshot.as_ref(), &settled, mark)?;
        saved.place = call
            .session
            .workspace
            .place_of(call.path, Links::Follow)
            .ok();
        call.believe(&saved, &mine);
        Ok(saved)
    }

    /// Returns the text that is to be there: the session's own, or merged with what others wrote.
    fn settle(
        &self,
        call: Call<'_>,
        found: &Found,
        snapshot: Option<&Snapshot>,
        mine: &str,
    ) -> Result<Settled> {
        let own = |text: &str| Settled {
            text: text.into(),
            is_merged: false,
        };
        let belief = found.place.as_ref();
        let belief = belief.and_then(|place| call.session.served.recall(place));
        let current = Current::of(found, snapshot);
        if self.options.stale == Stale::Allow || !current.is_news_to(belief.as_ref()) {
            return Ok(own(mine));
        }
        let theirs = current.text.ok_or(Problem::Conflict)?;
        if theirs == mine {
            return Ok(own(mine));
        }
        let base = belief.and_then(|belief| belief.text);
        let base = base.filter(|_| self.options.stale == Stale::Merge);
        let merged = base.and_then(|base| merge(&base, mine, theirs));
        let merged = merged.ok_or(Problem::Conflict)?;
        Ok(Settled {
            is_merged: merged.text != mine,
            text: merged.text.into(),
        })
    }

    /// Gives the text to the editor where it takes it, and to the disk where that is left to us.
    fn hand_over(
        &self,
        call: Call<'_>,
        found: &Found,
        snapshot: Option<&Snapshot>,
        settled: &Settled,
        mark: &str,
    ) -> Result<Saved, Disturbed> {
        let patch = snapshot.and_then(|snapshot| {
            let change = merge(&snapshot.text, &settled.text, &snapshot.text)?;
            Some(change.patch)
        });
        let change = Change {
            text: &settled.text,
            patch: patch.as_ref(),
            version: snapshot.map(|snapshot| snapshot.version),
        };
        let apply = || call.with_document(found, |document| self.buffers.apply(document, &change));
        let (seen, taken) = if self.buffers.writes_files() {
            let workspace = &call.session.workspace;
            let witnessed = workspace.witness(call.path, call.cancel, apply);
            let (seen, taken) = witnessed.map_err(Disturbed::by)?;
            (Some(seen), taken)
        } else {
            (None, apply().map_err(Disturbed::by)?)
        };
        let as_sent = format!("{mark}{}", settled.text);
        let mut saved = match taken {
            Taken::Kept => self.kept(call, found, seen, &as_sent)?,
            Taken::Declined => self.put(call, found, &as_sent)?,
            Taken::Save => {
                let saved = self.put(call, found, &as_sent)?;
                if let Some(version) = &saved.after {
                    let text = &*settled.text;
                    call.with_document(found, |document| {
                        self.buffers.saved(document, text, version);
                    });
                }
                Saved {
                    to: Source::Buffer,
                    ..saved
                }
            }
        };
        saved.is_merged = settled.is_merged;
        Ok(saved)
    }

    /// Writes the text to the disk, over what was found there.
    fn put(&self, call: Call<'_>, found: &Found, text: &str) -> Result<Saved, Disturbed> {
        let version = found.version();
        // Who may overwrite whatever is there may do so whenever it came there.
        let version = version.filter(|_| self.options.stale != Stale::Allow);
        let options = WriteOptions {
            fallback: self.options.fallback,
            breaks: Breaks::AsGiven,
            update: UpdateOptions {
                if_version: version,
                cancel: call.cancel.clone(),
                ..UpdateOptions::default()
            },
            ..WriteOptions::default()
        };
        let written = call.session.workspace.write(call.path, text, &options);
        let written = written.map_err(Disturbed::by)?;
        Ok(Saved {
            before: written.before,
            after: Some(written.version),
            to: Source::Disk,
            is_merged: false,
            entry: written.entry,
            mending: None,
            warnings: written.warnings,
            place: None,
        })
    }

    /// Returns what an editor did that saves its documents itself. One that has put other line
    /// breaks on the disk than the text has, or lost the byte order mark, is mended.
    fn kept(
        &self,
        call: Call<'_>,
        before: &Found,
        seen: Option<Witnessed>,
        text: &str,
    ) -> Result<Saved, Disturbed> {
        let Some(seen) = seen else {
            return Ok(Saved {
                before: before.version(),
                after: None,
                to: Source::Buffer,
                is_merged: false,
                entry: None,
                mending: None,
                warnings: Vec::new(),
                place: None,
            });
        };
        let saved = Saved {
            before: seen.before,
            after: seen.after,
            to: Source::Buffer,
            is_merged: false,
            entry: seen.entry,
            mending: None,
            warnings: seen.warnings,
            place: None,
        };
        let now = self.find(call)?;
        let Some(wanted) = wanted_instead(before, &now, text).filter(|_| seen.change.is_some())
        else {
            return Ok(saved);
        };
        let mended = self.put(call, &now, &wanted)?;
        Ok(Saved {
            after: mended.after,
            mending: mended.entry,
            ..saved
        })
    }
}

impl Call<'_> {
    /// Checks that something may be written there, before an editor is asked for anything.
    fn check_place(&self) -> Result<()> {
        match self.session.workspace.place_of(self.path, Links::Follow) {
            Err(error) if !is_missing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Remembers what the session believes to be there: what it sent, even where others' changes
    /// were merged into it.
    fn believe(&self, saved: &Saved, mine: &str) {
        let Some(place) = saved.place.clone() else {
            return;
        };
        let is_small = mine.len() as u64 <= Version::STRONG_BYTES;
        let belief = Belief {
            text: is_small.then(|| mine.into()),
            version: saved.after.clone().filter(|_| !saved.is_merged),
        };
        self.session.served.remember(place, belief);
    }
}

/// What is there when a write comes.
struct Current<'f> {
    text: Option<&'f str>,
    version: Option<&'f Version>,
    has_unsaved: bool,
}

impl<'f> Current<'f> {
    fn of(found: &'f Found, snapshot: Option<&'f Snapshot>) -> Self {
        let disk = found.disk.as_ref();
        match snapshot {
            Some(snapshot) => Self {
                text: Some(&snapshot.text),
                version: None,
                has_unsaved: snapshot.is_dirty,
            },
            None => Self {
                text: disk.and_then(|disk| disk.text.as_deref()),
                version: disk.map(|disk| &disk.version),
                has_unsaved: false,
            },
        }
    }

    /// Returns whether this is not what the session believes to be there. Of what it was never
    /// served only unsaved changes are news: a write over them would be the end of them.
    fn is_news_to(&self, belief: Option<&Belief>) -> bool {
        let Some(belief) = belief else {
            return self.has_unsaved;
        };
        let is_nothing = self.text.is_none() && self.version.is_none();
        let is_same_text = self.text.is_some() && self.text == belief.text.as_deref();
        let is_same_file = self.version.is_some() && self.version == belief.version.as_ref();
        !(is_nothing || is_same_text || is_same_file)
    }
}

impl Found {
    fn version(&self) -> Option<Version> {
        self.disk.as_ref().map(|disk| disk.version.clone())
    }

    fn text(&self) -> Option<&str> {
        self.disk.as_ref().and_then(|disk| disk.text.as_deref())
    }
}

/// Why a write came to nothing.
#[derive(Debug)]
enum Disturbed {
    /// Somebody was faster: what is there is looked at again.
    Again,
    /// For good.
    For(Error),
}

impl Disturbed {
    /// Returns what an error means that may say that somebody was faster.
    fn by(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Conflict => Self::Again,
            _ => Self::For(error),
        }
    }
}

impl From<Error> for Disturbed {
    fn from(error: Error) -> Self {
        Self::For(error)
    }
}

/// Returns what the disk should hold instead of what an editor wrote there: the same text with the
/// line breaks that were sent, and the byte order mark that was there before. `None` where it holds
/// just that, or a text that differs in more.
fn wanted_instead(before: &Found, now: &Found, text: &str) -> Option<String> {
    let on_disk = now.text()?;
    let plain = text.strip_prefix(BOM).unwrap_or(text);
    let had_mark = before.format.is_some_and(|format| format.bom);
    let has_mark = now.format.is_some_and(|format| format.bom);
    let needs_mark = (had_mark || plain.len() < text.len()) && !has_mark;
    let is_exact = on_disk == plain;
    if (is_exact && !needs_mark) || !same_but_for_breaks(on_disk, plain) {
        return None;
    }
    let mark = if needs_mark { "\u{FEFF}" } else { "" };
    Some(format!("{mark}{plain}"))
}

/// Returns the text with CR LF where somebody has turned them into LF: all of its breaks, if all of
/// the file's are CR LF.
fn turned_back<'t>(text: &'t str, theirs: &str) -> Cow<'t, str> {
    if text.contains('\r') || !is_all_crlf(theirs) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\n', "\r\n"))
}

/// Returns whether a text has line breaks, and all of them are CR LF.
pub fn is_all_crlf(text: &str) -> bool {
    let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    feeds > 0 && text.matches("\r\n").count() == feeds
}

/// Returns whether two texts differ in nothing but how their lines end: by LF, CR LF or CR.
pub fn same_but_for_breaks(one: &str, other: &str) -> bool {
    fn with_feeds(text: &str) -> impl Iterator<Item = u8> + '_ {
        let mut bytes = text.bytes().peekable();
        std::iter::from_fn(move || match bytes.next()? {
            b'\r' => {
                bytes.next_if_eq(&b'\n');
                Some(b'\n')
            }
            byte => Some(byte),
        })
    }
    with_feeds(one).eq(with_feeds(other))
}
