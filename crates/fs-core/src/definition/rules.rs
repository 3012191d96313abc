//! The rules at work: is the name at this place being defined?

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::DefinitionKind;
use super::language::{Language, Name, Place, Rank, Rule, Unit};
use super::mask::masked;
use super::table::{FRAGMENTS, LANGUAGES};
use crate::cancel::Cancel;

/// How much of a statement is looked at before a name and after it, in bytes.
const REACH_BYTES: usize = 800;
/// How far up the line is looked for that a block belongs to, in bytes.
const MAX_ABOVE_BYTES: usize = 64 * 1024;
/// The most brackets that are counted as open.
const MAX_OPEN: usize = 4096;

static COMPILED: [OnceLock<Compiled>; LANGUAGES.len()] =
    [const { OnceLock::new() }; LANGUAGES.len()];

/// A name's place in a text, with its kind where it is being defined.
pub(super) type Found = (Range<usize>, DefinitionKind);

/// Returns those of the places of a name, given in order, where the rules of the language
/// at `index` see a definition of it.
pub(super) fn matching(
    text: &str,
    index: usize,
    places: &[Range<usize>],
    cancel: &Cancel,
) -> Vec<Found> {
    let (Some(language), Some(compiled)) = (LANGUAGES.get(index), COMPILED.get(index)) else {
        return Vec::new();
    };
    let compiled = compiled.get_or_init(|| Compiled::new(language));
    let name = places.first().and_then(|place| text.get(place.clone()));
    if name.is_some_and(|name| language.reserved.split(' ').any(|word| word == name)) {
        return Vec::new();
    }
    let code = masked(text.as_bytes(), language.syntax);
    let mut scan = Scan::new(&code, language.unit);
    let (mut sure, mut otherwise) = (Vec::new(), None);
    for place in places {
        if cancel.is_cancelled() {
            break;
        }
        scan.advance(place.start);
        if code.get(place.start).is_none_or(u8::is_ascii_whitespace) {
            continue;
        }
        let context = scan.context(place);
        match compiled.kind_of(&context) {
            Some((kind, Rank::Sure)) => sure.push((place.clone(), kind)),
            Some((kind, Rank::Otherwise)) if otherwise.is_none() => {
                otherwise = Some((place.clone(), kind));
            }
            _ => {}
        }
    }
    if sure.is_empty() {
        sure.extend(otherwise);
    }
    sure
}

/// A language's patterns, compiled.
struct Compiled {
    types: Option<Regex>,
    rules: Vec<CompiledRule>,
}

struct CompiledRule {
    kind: DefinitionKind,
    place: CompiledPlace,
    before: Regex,
    after: Option<Regex>,
    not_before: Option<Regex>,
    not_after: Option<Regex>,
    name: Name,
    rank: Rank,
}

enum CompiledPlace {
    Any,
    Outer,
    Head(Regex),
}

/// What surrounds a name, comments and strings blanked.
struct Context<'a> {
    name: &'a [u8],
    before: &'a [u8],
    after: &'a [u8],
    /// The head of the innermost block or bracket, with the bracket; `None` at the top.
    head: Option<&'a [u8]>,
}

impl Compiled {
    fn new(language: &Language) -> Self {
        Self {
            types: pattern(language.types),
            rules: language
                .rules
                .iter()
                .filter_map(CompiledRule::new)
                .collect(),
        }
    }

    fn kind_of(&self, context: &Context<'_>) -> Option<(DefinitionKind, Rank)> {
        let fits = |rule: &&CompiledRule| rule.fits(context, self.types.as_ref());
        let found = self.rules.iter().find(fits)?;
        Some((found.kind, found.rank))
    }
}

impl CompiledRule {
    fn new(rule: &Rule) -> Option<Self> {
        Some(Self {
            kind: rule.kind,
            place: match rule.place {
                Place::Any => CompiledPlace::Any,
                Place::Outer => CompiledPlace::Outer,
                Place::Head(head) => CompiledPlace::Head(pattern(head)?),
            },
            before: pattern(&format!("(?:{})$", rule.before))?,
            after: anchored(rule.after),
            not_before: pattern(rule.not_before),
            not_after: anchored(rule.not_after),
            name: rule.name,
            rank: rule.rank,
        })
    }

    fn fits(&self, context: &Context<'_>, types: Option<&Regex>) -> bool {
        self.name.fits(context.name)
            && has(self.after.as_ref(), context.after)
            && !has_unwanted(self.not_after.as_ref(), context.after)
            && self.before.is_match(context.before)
            && !has_unwanted(self.not_before.as_ref(), context.before)
            && self.place.holds(context, types)
    }
}

impl CompiledPlace {
    fn holds(&self, context: &Context<'_>, types: Option<&Regex>) -> bool {
        match (self, context.head) {
            (Self::Any, _) | (Self::Outer, None) => true,
            (Self::Outer, Some(found)) => types.is_some_and(|types| types.is_match(found)),
            (Self::Head(head), found) => found.is_some_and(|found| head.is_match(found)),
        }
    }
}

/// Returns whether what must be there is there.
fn has(wanted: Option<&Regex>, text: &[u8]) -> bool {
    wanted.is_none_or(|wanted| wanted.is_match(text))
}

/// Returns whether what must not be there is there.
fn has_unwanted(unwanted: Option<&Regex>, text: &[u8]) -> bool {
    unwanted.is_some_and(|unwanted| unwanted.is_match(text))
}

/// Returns the pattern, or `None` for an empty one; a test compiles them all.
fn pattern(text: &str) -> Option<Regex> {
    if text.is_empty() {
        return None;
    }
    let mut text = text.to_owned();
    for (name, fragment) in FRAGMENTS {
        text = text.replace(name, fragment);
    }
    RegexBuilder::new(&text).unicode(false).build().ok()
}

fn anchored(text: &str) -> Option<Regex> {
    if text.is_empty() {
        return None;
    }
    pattern(&format!("^(?:{text})"))
}

/// Follows brackets and statements through a text.
struct Scan<'a> {
    code: &'a [u8],
    unit: Unit,
    at: usize,
    /// Where the statement at `at` begins.
    start: usize,
    open: Vec<Open>,
    in_directive: bool,
}

/// An open bracket: where its statement begins, and where it is.
struct Open {
    start: usize,
    at: usize,
    byte: u8,
}

impl<'a> Scan<'a> {
    fn new(code: &'a [u8], unit: Unit) -> Self {
        Self {
            code,
            unit,
            at: 0,
            start: 0,
            open: Vec::new(),
            in_directive: code.trim_ascii_start().starts_with(b"#"),
        }
    }

    fn advance(&mut self, end: usize) {
        while self.at < end {
            let Some(byte) = self.code.get(self.at).copied() else {
                return;
            };
            match byte {
                b'\n' => self.line_break(),
                b'(' | b'[' | b'{' => self.opened(byte),
                b')' => self.closed(b'('),
                b']' => self.closed(b'['),
                b'}' => self.closed(b'{'),
                b';' => self.start = self.at + 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn opened(&mut self, byte: u8) {
        if self.open.len() < MAX_OPEN {
            let (start, at) = (self.start, self.at);
            self.open.push(Open { start, at, byte });
        }
        if byte == b'{' {
            self.start = self.at + 1;
        }
    }

    /// A `}` closes what was left open inside; another bracket closes only its like.
    fn closed(&mut self, byte: u8) {
        let is_block = byte == b'{';
        match self.open.last() {
            Some(open) if open.byte == byte => drop(self.open.pop()),
            Some(_) if is_block => {
                let found = self.open.iter().rposition(|open| open.byte == byte);
                self.open.truncate(found.unwrap_or(0));
            }
            _ => {}
        }
        if is_block {
            self.start = self.at + 1;
        }
    }

    fn line_break(&mut self) {
        let next = self.at + 1;
        let in_bracket = self.open.last().is_some_and(|open| open.byte != b'{');
        match self.unit {
            Unit::Indent | Unit::Line if !in_bracket => self.start = next,
            Unit::Indent | Unit::Line => {}
            Unit::Statement => self.directive(next),
        }
    }

    /// A line that begins with `#` is a statement of its own.
    fn directive(&mut self, next: usize) {
        let line = self.code.get(self.start..self.at).unwrap_or_default();
        let goes_on = self.in_directive && line.trim_ascii_end().ends_with(b"\\");
        if goes_on {
            return;
        }
        let rest = self.code.get(next..).unwrap_or_default();
        let blanks = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let line = rest.get(blanks..).unwrap_or_default();
        let begins =
            (line.starts_with(b"#") && !line.starts_with(b"#[")) || line.starts_with(b"@end");
        if begins || self.in_directive {
            self.start = next;
        }
        self.in_directive = begins;
    }

    fn context(&self, name: &Range<usize>) -> Context<'a> {
        let start = self.start.max(name.start.saturating_sub(REACH_BYTES));
        let end = self.code.len().min(name.end + REACH_BYTES);
        Context {
            name: self.code.get(name.clone()).unwrap_or_default(),
            before: self.code.get(start..name.start).unwrap_or_default(),
            after: self.code.get(name.end..end).unwrap_or_default(),
            head: self.head(),
        }
    }

    fn head(&self) -> Option<&'a [u8]> {
        if let Some(open) = self.open.last() {
            let start = open.start.max(open.at.saturating_sub(REACH_BYTES));
            return self.code.get(start..=open.at);
        }
        if self.unit == Unit::Indent {
            return self.indented_head();
        }
        None
    }

    /// Returns the nearest line above that is indented less.
    fn indented_head(&self) -> Option<&'a [u8]> {
        let above = self
            .code
            .get(self.start.saturating_sub(MAX_ABOVE_BYTES)..self.start)?;
        let own = indent_of(self.code.get(self.start..)?);
        if own == 0 {
            return None;
        }
        above
            .rsplit(|byte| *byte == b'\n')
            .find(|line| !line.trim_ascii().is_empty() && indent_of(line) < own)
    }
}

fn indent_of(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

#[cfg(test)]
pub(super) fn patterns_that_fail() -> Vec<String> {
    let mut failed = Vec::new();
    for language in LANGUAGES {
        let rules = language.rules.iter().flat_map(|rule| {
            let head = if let Place::Head(head) = rule.place {
                head
            } else {
                ""
            };
            [
                rule.before,
                rule.after,
                rule.not_before,
                rule.not_after,
                head,
            ]
        });
        let all = rules
            .chain([language.types])
            .filter(|text| !text.is_empty());
        failed.extend(
            all.filter(|text| pattern(text).is_none())
                .map(|text| format!("{}: {text}", language.name)),
        );
    }
    failed
}
