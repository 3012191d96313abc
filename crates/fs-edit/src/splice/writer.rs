//! Cores written into their places, each new text held once.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use fs_core::{Eol, NewBytes, Patch, PatchBuilder, Problem, Result};

use super::Core;
use crate::breaks::{LineBreak, Style};
use crate::document::Document;
use crate::request::EolMode;
use crate::stateful::check_reads_back;

/// New text for a range of the file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    /// The bytes that go, as offsets from the start of the text.
    pub(crate) range: Range<usize>,
    /// The number of the text that stands there instead.
    pub(crate) text: usize,
}

/// Writes cores into places of one document, which come in ascending order.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    document: &'a Document<'a>,
    eol: EolMode,
    /// The break that the last place took its style from, or `None` past the last break.
    ahead: Option<LineBreak>,
    asked: bool,
    /// The last break of all, once it was asked for.
    last: OnceCell<Option<LineBreak>>,
    texts: Texts,
    patch: PatchBuilder,
    places: u64,
    /// All places, where the result is read back.
    splices: Vec<Splice>,
}

/// The new texts.
#[derive(Debug, Default)]
struct Texts {
    /// By the edit and the style of all breaks, `None` for as given.
    uniform: HashMap<(usize, Option<Style>), usize>,
    /// Those with breaks of several styles.
    mixed: HashMap<String, usize>,
    held: Vec<NewBytes>,
    /// The characters, where the result is read back.
    characters: Vec<String>,
}

/// The breaks of a new text.
enum Breaks {
    Uniform(Option<Style>),
    OneByOne,
}

impl<'a> Writer<'a> {
    /// Returns a writer at the start of `document`.
    pub(crate) fn new(document: &'a Document<'a>, eol: EolMode) -> Self {
        Self {
            document,
            eol,
            ahead: None,
            asked: false,
            last: OnceCell::new(),
            texts: Texts::default(),
            patch: PatchBuilder::new(document.body().content().len()),
            places: 0,
            splices: Vec::new(),
        }
    }

    /// Puts `core`, which is that of an edit, in the place of `range` of the document's text.
    ///
    /// # Errors
    /// Those of reading the breaks near it, and of encoding.
    pub(crate) fn write(
        &mut self,
        core: &Core<'_>,
        edit: usize,
        range: Range<usize>,
    ) -> Result<()> {
        let text = self.text_at(core, edit, &range)?;
        self.places += 1;
        if self.document.is_stateful() {
            let range = range.clone();
            self.splices.push(Splice { range, text });
        }
        let Some(held) = self.texts.held.get(text).copied() else {
            return Ok(());
        };
        let body = self.document.body();
        let bytes = self.patch.held(held);
        let same = range.len() == bytes.len() && body.holds(bytes, range.start)?;
        if !same {
            self.patch.replace(body.in_file(&range), held);
        }
        Ok(())
    }

    /// Returns how many places were written.
    pub(crate) fn places(&self) -> u64 {
        self.places
    }

    /// Returns the change.
    ///
    /// # Errors
    /// `no_op` when there is none; `encoding_unknown` when it would change how its neighbours read.
    pub(crate) fn finish(self) -> Result<Patch> {
        let patch = self.patch.finish();
        let document = self.document;
        if document.body().content().is_unchanged_by(&patch)? {
            return Err(Problem::NoOp.into());
        }
        if document.is_stateful() {
            check_reads_back(document, &self.splices, &self.texts.characters, &patch)?;
        }
        Ok(patch)
    }

    fn text_at(&mut self, core: &Core<'_>, edit: usize, range: &Range<usize>) -> Result<usize> {
        let style = match self.breaks_at(core, range.start)? {
            Breaks::Uniform(style) => style,
            Breaks::OneByOne => return self.text_one_by_one(core.new, range.start),
        };
        if let Some(number) = self.texts.uniform.get(&(edit, style)) {
            return Ok(*number);
        }
        let text = match style {
            None => core.new.to_owned(),
            Some(style) => with_breaks(core.new, || Ok(style))?,
        };
        let number = self.hold(text)?;
        self.texts.uniform.insert((edit, style), number);
        Ok(number)
    }

    fn breaks_at(&mut self, core: &Core<'_>, from: usize) -> Result<Breaks> {
        if core.new_breaks == 0 {
            return Ok(Breaks::Uniform(None));
        }
        Ok(Breaks::Uniform(match (self.eol, self.document.eol()) {
            (EolMode::Exact, _) | (EolMode::Auto, Eol::None) => None,
            (EolMode::Lf, _) | (EolMode::Auto, Eol::Lf) => Some(Style::Lf),
            (EolMode::CrLf, _) | (EolMode::Auto, Eol::CrLf) => Some(Style::CrLf),
            (EolMode::Auto, Eol::Mixed) if core.old_breaks == core.new_breaks => {
                return Ok(Breaks::OneByOne);
            }
            (EolMode::Auto, Eol::Mixed) => self.style_at(from)?,
        }))
    }

    /// Gives the k-th break of `new` the style of the k-th break from `from` on.
    fn text_one_by_one(&mut self, new: &str, from: usize) -> Result<usize> {
        let mut at = from;
        let text = with_breaks(new, || {
            let found = self.document.body().next_break(at)?;
            at = found.map_or(at, |found| found.end);
            Ok(found.map_or(Style::Lf, |found| found.style))
        })?;
        if let Some(number) = self.texts.mixed.get(&text) {
            return Ok(*number);
        }
        let number = self.hold(text.clone())?;
        self.texts.mixed.insert(text, number);
        Ok(number)
    }

    fn hold(&mut self, text: String) -> Result<usize> {
        if self.document.is_stateful() {
            self.texts.characters.push(text.clone());
        }
        let bytes = self.document.encode(Cow::Owned(text))?;
        self.texts.held.push(self.patch.hold(bytes));
        Ok(self.texts.held.len() - 1)
    }

    /// Returns the style of the first break at or after `from`, else of the last break before it.
    fn style_at(&mut self, from: usize) -> Result<Option<Style>> {
        let body = self.document.body();
        let passed = self.ahead.is_some_and(|found| found.end <= from);
        if !self.asked || passed {
            self.asked = true;
            self.ahead = body.next_break(from)?;
        }
        if let Some(ahead) = self.ahead {
            return Ok(Some(ahead.style));
        }
        let last = if let Some(last) = self.last.get() {
            *last
        } else {
            let found = body.previous_break(body.len())?;
            *self.last.get_or_init(|| found)
        };
        Ok(last.map(|found| found.style))
    }
}

fn with_breaks(text: &str, mut style: impl FnMut() -> Result<Style>) -> Result<String> {
    let mut written = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        written.push_str(line.strip_suffix('\r').unwrap_or(line));
        written.push_str(style()?.text());
        rest = after;
    }
    written.push_str(rest);
    Ok(written)
}
