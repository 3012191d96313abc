//! Texts that are the same but for what the eye passes over.

use std::cmp::Ordering;

use memchr::memmem;
use unicode_normalization::UnicodeNormalization as _;

use super::{Field, Finding, count_breaks, pair, seek};

/// A skeleton shorter than this many bytes says nothing.
const MIN_SKELETON: usize = 3;
/// How many places are looked at for the best likeness.
const MAX_PLACES: usize = 8;
/// Longer texts are alike or not, but in what they differ is not looked at, in bytes.
const MAX_COMPARED: usize = 64 * 1024;
/// How many bytes are folded between two looks at the clock.
const STEP: usize = 64 * 1024;

/// How far two texts are from being equal, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// Blanks and tabs at the ends of lines.
    Edges,
    /// Blanks and tabs anywhere.
    Blanks,
    /// Quotes, dashes, odd blanks, full-width forms, invisible characters.
    LookAlikes,
    /// Equal under NFC.
    Composition,
    /// Upper and lower case.
    Case,
    /// More than one of these.
    Several,
}

/// Makes texts that are alike equal.
type Form = fn(&str) -> String;

impl Field<'_> {
    /// Returns the place that is most like `old`.
    pub(super) fn alike(&self, old: &str) -> Option<(Finding, Likeness)> {
        let needle = skeleton(old.as_bytes(), || false)?;
        if needle.iter().filter(|byte| **byte != b'\n').count() < MIN_SKELETON {
            return None;
        }
        let folded = skeleton(&self.text, || self.budget.is_spent())?;
        let inside = needle.strip_suffix(b"\n").unwrap_or(&needle);
        let more = count_breaks(inside);
        let finder = memmem::Finder::new(&needle);
        let next = |from| seek(&folded, &finder, from, self.budget);
        let places = std::iter::successors(next(0), |at| next(at + 1)).take(MAX_PLACES);
        let best = places
            .map(|at| 1 + count_breaks(folded.get(..at).unwrap_or_default()))
            .take_while(|_| !self.budget.is_spent())
            .map(|first| (likeness(&self.lines(first, first + more), old), first))
            .min()?;
        let (likeness, first) = best;
        let lines = self.lines(first, first + more);
        let (index, file, old) = first_unequal(&lines, old);
        let finding = self.found(likeness.probe(), first, first + more, |place| {
            let verb = if more == 0 { "differs" } else { "differ" };
            let what = words(likeness, file, old);
            format!("{place} {verb} only in {what}{}", pair(file, old))
        });
        Some((self.with_exact(finding, first + index), likeness))
    }
}

impl Likeness {
    /// Returns the name of what tells texts apart by this.
    fn probe(self) -> &'static str {
        match self {
            Self::Edges | Self::Blanks => "blanks",
            Self::LookAlikes => "look_alikes",
            Self::Composition => "composition",
            Self::Case => "case",
            Self::Several => "several",
        }
    }
}

/// Returns whether a character is what it looks like: not blank but for the space, not invisible,
/// not a look-alike of an ASCII character, not combining.
pub(super) fn is_plain(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    fold(character) == Some(character)
        && !character.is_whitespace()
        && !unicode_normalization::char::is_combining_mark(character)
        && !character.is_control()
}

/// Returns `bytes` without blanks, in lower case, composed, look-alikes folded; breaks stay. `None`
/// when `stop` says so.
fn skeleton(bytes: &[u8], stop: impl Fn() -> bool) -> Option<Vec<u8>> {
    let mut folded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (step, after) = rest.split_at(character_edge(rest, STEP));
        for line in step.split_inclusive(|byte| *byte == b'\n') {
            fold_line(line, &mut folded);
        }
        rest = after;
        if stop() {
            return None;
        }
    }
    Some(folded)
}

/// Returns an edge of a character near `at`, or the end of `bytes`.
fn character_edge(bytes: &[u8], at: usize) -> usize {
    let mut edges = (at..bytes.len()).take(4);
    let is_edge = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 != 0x80);
    edges.find(is_edge).unwrap_or(at.min(bytes.len()))
}

fn fold_line(line: &[u8], folded: &mut Vec<u8>) {
    if is_bare(line) {
        let kept = line
            .iter()
            .filter(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        return folded.extend(kept.map(u8::to_ascii_lowercase));
    }
    let line = String::from_utf8_lossy(line);
    if line.chars().any(may_compose) {
        fold_characters(line.nfc(), folded);
    } else {
        fold_characters(line.chars(), folded);
    }
}

fn fold_characters(characters: impl Iterator<Item = char>, folded: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    let characters = characters.filter_map(fold).flat_map(char::to_lowercase);
    for character in characters.filter(|c| !matches!(c, ' ' | '\t' | '\r')) {
        folded.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    }
}

/// Returns whether a line can be folded byte by byte: it holds ASCII and the common characters of
/// CJK texts, which have neither case nor look-alikes.
fn is_bare(line: &[u8]) -> bool {
    let is_bare =
        |character: char| character.is_ascii() || ('\u{3001}'..='\u{9fff}').contains(&character);
    line.is_ascii() || str::from_utf8(line).is_ok_and(|line| line.chars().all(is_bare))
}

/// Returns whether NFC may change a text for this character; most texts hold none, and need no
/// costly look.
fn may_compose(character: char) -> bool {
    let stable = matches!(character, ..'\u{300}' | '\u{2000}'..='\u{3098}' | '\u{309b}'..='\u{d7ff}')
        || matches!(character, '\u{ff00}'..='\u{ffef}');
    !stable
}

/// Returns the ASCII character that one looks like, `None` for one that is not seen at all, and
/// every other one as it is.
fn fold(character: char) -> Option<char> {
    Some(match character {
        '\u{ad}'
        | '\u{feff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' => return None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2b9}' | '\u{2bc}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = u32::from(character).checked_sub(0xfee0);
            return ascii.and_then(char::from_u32);
        }
        other => other,
    })
}

/// Returns by what `file`, whole lines whose skeleton holds that of `old`, differs from it.
fn likeness(file: &str, old: &str) -> Likeness {
    if file.len() > MAX_COMPARED || old.len() > MAX_COMPARED {
        return Likeness::Several;
    }
    let holds = |form: Form| form(file).contains(form(old).trim_matches('\n'));
    let steps: [(Likeness, Form); 5] = [
        (Likeness::Edges, without_edges),
        (Likeness::Blanks, without_blanks),
        (Likeness::LookAlikes, |text| {
            without_blanks(&text.chars().filter_map(fold).collect::<String>())
        }),
        (Likeness::Composition, |text| {
            without_edges(&text.nfc().collect::<String>())
        }),
        (Likeness::Case, |text| without_edges(&text.to_lowercase())),
    ];
    let step = steps.into_iter().find(|(_, form)| holds(*form));
    step.map_or(Likeness::Several, |(likeness, _)| likeness)
}

fn without_edges(text: &str) -> String {
    let lines: Vec<_> = text
        .split('\n')
        .map(|line| line.trim_matches([' ', '\t']))
        .collect();
    lines.join("\n")
}

fn without_blanks(text: &str) -> String {
    text.replace([' ', '\t'], "")
}

/// Returns the first lines that are not equal, of the file and of `old`, with their index. A single
/// line, and the ends of several, may be part of the file's line.
fn first_unequal<'a>(file: &'a str, old: &'a str) -> (u64, &'a str, &'a str) {
    let old = old.strip_suffix('\n').unwrap_or(old);
    let count = old.split('\n').count();
    let mut pairs = file.split('\n').zip(old.split('\n')).enumerate();
    let unequal = pairs.find(|(index, (file, old))| match (*index, index + 1 == count) {
        (0, true) => !file.contains(old),
        (0, false) => !file.ends_with(old),
        (_, true) => !file.starts_with(old),
        (_, false) => file != old,
    });
    unequal.map_or((0, file, old), |(index, (file, old))| {
        (index as u64, file, old)
    })
}

fn words(likeness: Likeness, file: &str, old: &str) -> String {
    match likeness {
        Likeness::Edges if indent(file) != indent(old) => format!(
            "blanks: the line begins with {}, \"old\" with {}",
            described(indent(file)),
            described(indent(old))
        ),
        Likeness::Edges => "blanks at the ends of lines".to_owned(),
        Likeness::Blanks => "blanks".to_owned(),
        Likeness::LookAlikes => format!(
            "look-alike or invisible characters{}",
            first_difference(file, old)
        ),
        Likeness::Composition => {
            "how accented characters are composed (equal under NFC)".to_owned()
        }
        Likeness::Case => "upper and lower case".to_owned(),
        Likeness::Several => "blanks, case and look-alike characters".to_owned(),
    }
}

fn indent(line: &str) -> &str {
    let text = line.trim_start_matches([' ', '\t']);
    line.strip_suffix(text).unwrap_or_default()
}

fn described(indent: &str) -> String {
    let count = |wanted: char| indent.chars().filter(|c| *c == wanted).count();
    let named = |count: usize, name: &str| match count.cmp(&1) {
        Ordering::Less => String::new(),
        Ordering::Equal => format!("1 {name}"),
        Ordering::Greater => format!("{count} {name}s"),
    };
    match (named(count('\t'), "tab"), named(count(' '), "blank")) {
        (tabs, blanks) if tabs.is_empty() && blanks.is_empty() => "no blank".to_owned(),
        (tabs, blanks) if tabs.is_empty() || blanks.is_empty() => tabs + &blanks,
        (tabs, blanks) => format!("{tabs} and {blanks}"),
    }
}

/// Names the first character of `file` that is folded on the way to `old`.
fn first_difference(file: &str, old: &str) -> String {
    let odd = |c: &char| fold(*c) != Some(*c);
    let file_odd = file.chars().find(|c| odd(c) && !old.contains(*c));
    let old_odd = old.chars().find(|c| odd(c) && !file.contains(*c));
    match (file_odd, old_odd) {
        (Some(c), _) => format!(": the file has U+{:04X}", u32::from(c)),
        (None, Some(c)) => format!(": \"old\" has U+{:04X}", u32::from(c)),
        (None, None) => String::new(),
    }
}
