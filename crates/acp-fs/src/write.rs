//! Writing: what becomes of a text that an agent sends, between what it was served and what is
//! there by now.

use std::borrow::Cow;
use std::sync::Arc;

use fs_core::{Cancel, Error, ErrorKind, Problem, Result, Version};
use fs_edit::merge;
use fs_sandbox::{
    Breaks, Links, RealPlace, Rights, UpdateOptions, Witnessed, WriteMode, WriteOptions, Written,
};

use crate::buffers::{Buffers, Change, Snapshot, Taken};
use crate::found::{Call, Found};
use crate::methods::{FileMethods, Stale};
use crate::served::Belief;
use crate::wire::{RpcError, Saved, Source, WriteTextFile};

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
    pub(crate) fn write(&self, call: Call<'_>, request: &WriteTextFile) -> Result<Saved, RpcError> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.write_once(call, request) {
                Err(Disturbed::Again) if tries > 0 => {}
                Err(Disturbed::Again) => return Err(call.told(Problem::Conflict.into())),
                Err(Disturbed::For(error)) => return Err(call.told(error)),
                Err(Disturbed::After(error, seen)) => {
                    return Err(call.told(error).after_change(seen.entry));
                }
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
        let mine = match shown.or(found.text().map(|text| &**text)) {
            Some(theirs) if request.turned_breaks => turned_back(mine, theirs),
            _ => Cow::Borrowed(mine),
        };
        call.look_first(&found, snapshot.as_ref());
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
        if self.options.stale == Stale::Allow {
            return Ok(own(mine));
        }
        if snapshot.is_some_and(|snapshot| snapshot.is_behind(found)) {
            return Err(Problem::Conflict.into());
        }
        let current = Current::of(found, snapshot);
        if !current.is_news_to(belief.as_ref()) {
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
        let as_sent = format!("{mark}{}", settled.text);
        let (seen, taken) = self.offer(call, found, &change)?;
        let mut saved = match taken {
            Taken::Kept => self.kept(call, found, seen, &as_sent),
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

    /// Offers the text to the editor. Where that writes files itself, the history looks on.
    fn offer(
        &self,
        call: Call<'_>,
        found: &Found,
        change: &Change<'_>,
    ) -> Result<(Option<Witnessed>, Taken), Disturbed> {
        let apply = || {
            let taken = call.with_document(found, |document| self.buffers.apply(document, change));
            taken.unwrap_or_else(|| Err(Problem::NotFound.into()))
        };
        let writes = call.with_document(found, |document| self.buffers.writes_files(document));
        if !writes.unwrap_or_default() {
            // Nobody is given what the disk would not take.
            let taken = if is_writable(found, change.text) {
                apply().map_err(Disturbed::by)?
            } else {
                Taken::Declined
            };
            return Ok((None, taken));
        }
        call.make_parents(found)?;
        let workspace = &call.session.workspace;
        let witnessed = workspace.witness(call.path, call.cancel, || Ok(apply()));
        match witnessed.map_err(Disturbed::by)? {
            (seen, Ok(taken)) => Ok((Some(seen), taken)),
            (seen, Err(error)) if seen.change.is_some() => Err(Disturbed::After(error, seen)),
            (_, Err(error)) => Err(Disturbed::by(error)),
        }
    }

    /// Writes the text to the disk, over what was found there.
    fn put(&self, call: Call<'_>, found: &Found, text: &str) -> Result<Saved, Disturbed> {
        // Who may overwrite whatever is there may do so whenever it came there.
        let is_any = self.options.stale == Stale::Allow;
        let mut options = WriteOptions {
            fallback: self.options.fallback,
            breaks: Breaks::AsGiven,
            update: UpdateOptions {
                if_version: found.version().filter(|_| !is_any).cloned(),
                cancel: call.cancel.clone(),
                ..UpdateOptions::default()
            },
            ..WriteOptions::default()
        };
        let workspace = &call.session.workspace;
        let written = match &found.place {
            Some(place) if found.disk.is_none() && !is_any => {
                options.mode = WriteMode::CreateNew;
                workspace.write(&call.session.path_of(place), text, &options)
            }
            _ => workspace.write(call.path, text, &options),
        };
        written.map(Saved::from).map_err(Disturbed::by)
    }

    /// Returns what an editor did that saves its documents itself. One that has put other line
    /// breaks on the disk than the text has, or lost the byte order mark, is mended.
    fn kept(&self, call: Call<'_>, before: &Found, seen: Option<Witnessed>, text: &str) -> Saved {
        let Some(seen) = seen else {
            return Saved {
                before: before.version().cloned(),
                after: None,
                to: Source::Buffer,
                is_merged: false,
                entry: None,
                mending: None,
                parted_links: 0,
                warnings: Vec::new(),
                place: None,
            };
        };
        let mut saved = Saved {
            before: seen.before,
            after: seen.after,
            to: Source::Buffer,
            is_merged: false,
            entry: seen.entry,
            mending: None,
            parted_links: 0,
            warnings: seen.warnings,
            place: None,
        };
        if seen.change.is_some() {
            match self.mended(call, before, text) {
                Ok(None) => {}
                Ok(Some(mended)) => {
                    saved.after = mended.after;
                    saved.mending = mended.entry;
                    saved.parted_links = mended.parted_links;
                }
                Err(error) => saved.warnings.push(unmended(&error)),
            }
        }
        saved
    }

    /// Gives the file back what an editor has lost of it; `None` where that is nothing.
    fn mended(
        &self,
        call: Call<'_>,
        before: &Found,
        text: &str,
    ) -> Result<Option<Saved>, Disturbed> {
        // What the editor has done is done, whoever calls it off now.
        let cancel = &Cancel::default();
        let call = Call { cancel, ..call };
        let now = self.find(call)?;
        let wanted = wanted_instead(before, &now, text);
        wanted
            .map(|wanted| self.put(call, &now, &wanted))
            .transpose()
    }
}

impl Call<'_> {
    /// Checks that something may be written there, before an editor is asked for anything.
    fn check_place(&self) -> Result<()> {
        let place = self.session.workspace.place_to_be(self.path, Rights::EDIT);
        place.map(drop)
    }

    /// Makes the directories above a new file, which not every editor does.
    fn make_parents(&self, found: &Found) -> Result<()> {
        let place = found.place.as_ref().filter(|_| found.disk.is_none());
        let Some((place, above)) = place.and_then(|place| Some((place, place.path.parent()?)))
        else {
            return Ok(());
        };
        let above = RealPlace {
            root: place.root.clone(),
            path: above,
        };
        let workspace = &self.session.workspace;
        workspace.create_dir_all(&self.session.path_of(&above))
    }

    /// Remembers what is there when a session writes to a file that it never read: what comes later,
    /// while an editor takes its time, is news to it. What is unsaved was news before.
    fn look_first(&self, found: &Found, snapshot: Option<&Snapshot>) {
        let place = found.place.as_ref();
        let is_known = place.is_none_or(|place| self.session.served.recall(place).is_some());
        if is_known || snapshot.is_some_and(|snapshot| snapshot.is_dirty) {
            return;
        }
        match snapshot.map(|snapshot| &snapshot.text).or(found.text()) {
            None if found.disk.is_none() => self.serve(found, Some(&"".into())),
            text => self.serve(found, text),
        }
    }

    /// Remembers what the session believes to be there: what it sent, even where others' changes
    /// were merged into it.
    fn believe(&self, saved: &Saved, mine: &str) {
        let Some(place) = saved.place.clone() else {
            return;
        };
        let is_small = mine.len() as u64 <= Version::STRONG_BYTES;
        let text = is_small.then(|| mine.into());
        let version = saved.after.clone().filter(|_| !saved.is_merged);
        self.session
            .served
            .remember(place, Belief::of(text, version));
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

impl Snapshot {
    /// Returns whether the disk has got something of which the editor knows nothing, beside what is
    /// unsaved there: neither is to be lost.
    fn is_behind(&self, found: &Found) -> bool {
        let known = self.disk.as_ref().filter(|_| self.is_dirty);
        known.is_some_and(|known| found.version().is_some_and(|version| version != known))
    }
}

impl From<Written> for Saved {
    fn from(written: Written) -> Self {
        Self {
            before: written.before,
            after: Some(written.version),
            to: Source::Disk,
            is_merged: false,
            entry: written.entry,
            mending: None,
            parted_links: written.parted_links,
            warnings: written.warnings,
            place: None,
        }
    }
}

/// Why a write came to nothing.
#[derive(Debug)]
enum Disturbed {
    /// Somebody was faster: what is there is looked at again.
    Again,
    /// For good.
    For(Error),
    /// For good, as the editor says, but the file was changed all the same.
    After(Error, Witnessed),
}

impl Disturbed {
    /// Returns what an error means that may say that somebody was faster.
    fn by(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Conflict | ErrorKind::AlreadyExists => Self::Again,
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
    let had_mark = before.format().is_some_and(|format| format.bom);
    let has_mark = now.format().is_some_and(|format| format.bom);
    let needs_mark = (had_mark || plain.len() < text.len()) && !has_mark;
    let is_exact = **on_disk == *plain;
    if (is_exact && !needs_mark) || !same_but_for_breaks(on_disk, plain) {
        return None;
    }
    let mark = if needs_mark { "\u{FEFF}" } else { "" };
    Some(format!("{mark}{plain}"))
}

/// Returns whether the disk would take a text over what was found there: a file that is no text, or whose
/// encoding has not all of its characters, is left to the write itself, which says so.
fn is_writable(found: &Found, text: &str) -> bool {
    let encoding = found.format().map(|format| format.encoding);
    found.trouble.is_none() && encoding.is_none_or(|encoding| encoding.encode(text).is_ok())
}

fn unmended(why: &Disturbed) -> String {
    let why = match why {
        Disturbed::Again => &Error::from(Problem::Conflict),
        Disturbed::For(error) | Disturbed::After(error, _) => error,
    };
    format!("line breaks or byte order mark may differ from what was sent: {why}")
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
