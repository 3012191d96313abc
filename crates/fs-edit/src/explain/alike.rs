//! Texts that are the same but for what the eye passes over.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem;
use unicode_normalization::UnicodeNormalization as _;

use super::field::{Field, edge, seek};
use super::finding::Finding;
use super::fold::{Skeleton, ascii_letter, fold};
use super::show::{letters_apart, pair};
use super::{breaks_inside, count_breaks};
use crate::tokens::equal_start;

/// A skeleton shorter than this many bytes says nothing.
const MIN_SKELETON: usize = 3;
/// How many places are looked at for the best likeness.
const MAX_PLACES: usize = 8;
/// Longer texts are alike or not, but in what they differ is not looked at, in bytes.
const MAX_COMPARED: usize = 64 * 1024;
/// Of longer lines only what stands around a place is compared and shown, in bytes.
const LONG: usize = 2_000;
const AROUND: usize = 200;

/// In what two texts differ, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trait {
    /// Blanks and tabs at the ends of lines.
    Edges,
    /// Blanks and tabs anywhere.
    Blanks,
    /// A CR that belongs to no break.
    Returns,
    /// Quotes, dashes, odd blanks, full-width forms, invisible characters.
    LookAlikes,
    /// Letters of other scripts that look like ASCII letters.
    Letters,
    /// Equal under NFC.
    Composition,
    /// Upper and lower case.
    Case,
}

/// How far two texts are from being equal, the nearest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// In what they differ: not much, and all of it is known.
    Known(usize, Vec<Trait>),
    /// They are too long to say.
    Long,
}

/// What stands at a place where the skeleton is that of `old`.
struct Place {
    likeness: Likeness,
    range: Range<usize>,
    first: u64,
    /// The lines, or of long ones what stands around.
    text: String,
}

impl Field<'_> {
    /// Returns the place that is most like `old`.
    pub(super) fn alike(&self, old: &str) -> Option<(Finding, Likeness)> {
        let needle = Skeleton::of(old.as_bytes(), || false)?.bytes;
        if needle.iter().filter(|byte| **byte != b'\n').count() < MIN_SKELETON {
            return None;
        }
        let skeleton = Skeleton::of(&self.text, || self.budget.is_spent())?;
        let finder = memmem::Finder::new(&needle);
        let next = |from| seek(&skeleton.bytes, &finder, from, self.budget);
        let places = std::iter::successors(next(0), |at| next(at + 1)).take(MAX_PLACES);
        let mut places = places.filter_map(|at| {
            let place = |folded| skeleton.place_of(&self.text, folded);
            let last = place((at + needle.len()).saturating_sub(1));
            self.place(place(at), last, old)
        });
        // What was found counts, even if there is no time to look for better.
        let first = places.next()?;
        let best = places
            .take_while(|_| !self.budget.is_spent())
            .fold(first, nearer);
        let last = best.first + breaks_inside(old);
        let at = best.range.start + self.equal_from(best.range.start, old);
        let (index, file, old) = first_unequal(&best.text, old);
        let finding = self.found(best.likeness.probe(), best.first, last, |place| {
            let verb = if last == best.first {
                "differs"
            } else {
                "differ"
            };
            let what = best.likeness.words(file, old);
            format!("{place} {verb} only in {what}{}", pair(file, old))
        });
        let finding = self.with_exact(finding, best.first + index, best.range, at);
        Some((finding, best.likeness))
    }

    /// Returns with how many equal bytes `old` and what stands at `start` begin, indents apart.
    fn equal_from(&self, start: usize, old: &str) -> usize {
        let old = old.trim_start_matches([' ', '\t']);
        equal_start(old.as_bytes(), self.text.get(start..).unwrap_or_default())
    }

    /// Returns what stands from `start` to the character at `last`, if it is like `old`.
    fn place(&self, start: usize, last: usize, old: &str) -> Option<Place> {
        let end = edge(&self.text, last + 1);
        let (from, to) = (self.line_around(start).0, self.line_around(last).1);
        let text = if to.saturating_sub(from) <= LONG {
            self.piece(from, to)
        } else {
            let from = from.max(start.saturating_sub(AROUND));
            self.piece(from, to.min(end + AROUND))
        };
        Some(Place {
            likeness: Likeness::of(&text, old)?,
            range: start..end,
            first: 1 + count_breaks(self.text.get(..start).unwrap_or_default()),
            text: text.into_owned(),
        })
    }
}

fn nearer(best: Place, next: Place) -> Place {
    if next.likeness < best.likeness {
        next
    } else {
        best
    }
}

impl Likeness {
    /// Returns by what `file`, which holds the skeleton of `old`, differs from it.
    fn of(file: &str, old: &str) -> Option<Self> {
        use Trait::{Blanks, Case, Composition, Edges, Letters, LookAlikes, Returns};
        if file.len() > MAX_COMPARED || old.len() > MAX_COMPARED {
            return Some(Self::Long);
        }
        // The break at the end of `old` is that of the file's last line.
        let file = if old.ends_with('\n') {
            Cow::Owned(format!("{file}\n"))
        } else {
            Cow::Borrowed(file)
        };
        let holds = |traits: &Vec<Trait>| formed(&file, traits).contains(&formed(old, traits));
        let without = |traits: &[Trait], other: Trait| -> Vec<Trait> {
            traits.iter().copied().filter(|it| *it != other).collect()
        };
        let all = vec![Blanks, Returns, LookAlikes, Letters, Composition, Case];
        // Letters of another script are folded in one case, and may be none of ASCII in the other.
        let no_letters = without(&all, Letters);
        let mut traits = [all, no_letters].into_iter().find(holds)?;
        for other in [Case, Composition, Letters, LookAlikes, Returns, Blanks] {
            traits = Some(without(&traits, other))
                .filter(holds)
                .unwrap_or(traits);
        }
        let only_edges = |it: &Trait| if *it == Blanks { Edges } else { *it };
        let edges: Vec<_> = traits.iter().map(only_edges).collect();
        let traits = Some(edges).filter(holds).unwrap_or(traits);
        (!traits.is_empty()).then_some(Self::Known(traits.len(), traits))
    }

    /// Returns whether nothing else is nearer.
    pub(super) fn is_near(&self) -> bool {
        matches!(self, Self::Known(1, traits) if !traits.contains(&Trait::Case))
    }

    /// Returns the name of what tells texts apart by this.
    fn probe(&self) -> &'static str {
        let Self::Known(_, traits) = self else {
            return "several";
        };
        match traits.as_slice() {
            [Trait::Edges | Trait::Blanks] => "blanks",
            [Trait::Returns] => "line_breaks",
            [Trait::LookAlikes | Trait::Letters] | [Trait::LookAlikes, Trait::Letters] => {
                "look_alikes"
            }
            [Trait::Composition] => "composition",
            [Trait::Case] => "case",
            _ => "several",
        }
    }

    /// Says in what two lines differ.
    fn words(&self, file: &str, old: &str) -> String {
        let Self::Known(_, traits) = self else {
            return "blanks, case or characters that look alike".to_owned();
        };
        if let [only] = traits.as_slice() {
            return only.words(file, old);
        }
        let mut names: Vec<String> = traits.iter().map(|it| it.name(file, old)).collect();
        names.dedup();
        let last = names.pop().unwrap_or_default();
        match names.join(", ") {
            names if names.is_empty() => last,
            names => format!("{names} and {last}"),
        }
    }
}

impl Trait {
    /// Says in what two lines differ that differ in nothing else.
    fn words(self, file: &str, old: &str) -> String {
        match self {
            Self::Edges if indent(file) != indent(old) => format!(
                "blanks: the line begins with {}, \"old\" with {}",
                described(indent(file)),
                described(indent(old))
            ),
            Self::Edges => "blanks at the ends of lines".to_owned(),
            Self::Composition => {
                "how accented characters are composed (equal under NFC)".to_owned()
            }
            Self::Case => "upper and lower case".to_owned(),
            Self::LookAlikes | Self::Letters => {
                let odd = odd_character(file, old).map(|odd| format!(": {odd}"));
                format!(
                    "look-alike or invisible characters{}",
                    odd.unwrap_or_default()
                )
            }
            Self::Blanks | Self::Returns => self.name(file, old),
        }
    }

    /// Returns its name among others.
    fn name(self, file: &str, old: &str) -> String {
        let name = match self {
            Self::Edges | Self::Blanks => "blanks",
            Self::Returns => "a CR (U+000D) that is no part of a line break",
            Self::Composition => "the composition of accented characters",
            Self::Case => "case",
            Self::LookAlikes | Self::Letters => {
                let odd = odd_character(file, old).map(|odd| format!(" ({odd})"));
                return format!(
                    "look-alike or invisible characters{}",
                    odd.unwrap_or_default()
                );
            }
        };
        name.to_owned()
    }
}

/// Returns a text in the form in which what differs by `traits` is equal.
fn formed(text: &str, traits: &[Trait]) -> String {
    let mut text = text.to_owned();
    if traits.contains(&Trait::Composition) {
        text = text.nfc().collect();
    }
    if traits.contains(&Trait::LookAlikes) {
        text = text.chars().filter_map(fold).collect();
    }
    if traits.contains(&Trait::Letters) {
        text = text.chars().map(|c| ascii_letter(c).unwrap_or(c)).collect();
    }
    if traits.contains(&Trait::Case) {
        text = text.chars().flat_map(char::to_lowercase).collect();
    }
    if traits.contains(&Trait::Returns) {
        text = text.replace('\r', "");
    }
    if traits.contains(&Trait::Blanks) {
        text = text.replace([' ', '\t'], "");
    }
    if traits.contains(&Trait::Edges) {
        let lines = text.split('\n').map(|line| line.trim_matches([' ', '\t']));
        text = lines.collect::<Vec<_>>().join("\n");
    }
    text
}

/// Returns the first lines that are not equal, of the file and of `old`, with their index. A single
/// line, and the ends of several, may be part of the file's line.
fn first_unequal<'a>(file: &'a str, old: &'a str) -> (u64, &'a str, &'a str) {
    let (old, is_closed) = match old.strip_suffix('\n') {
        Some(old) => (old, true),
        None => (old, false),
    };
    let count = old.split('\n').count();
    let mut pairs = file.split('\n').zip(old.split('\n')).enumerate();
    let unequal = pairs.find(|(index, (file, old))| match (*index, index + 1 == count) {
        (0, true) if is_closed => !file.ends_with(old),
        (0, true) => !file.contains(old),
        (0, false) => !file.ends_with(old),
        (_, true) if is_closed => file != old,
        (_, true) => !file.starts_with(old),
        (_, false) => file != old,
    });
    unequal.map_or((0, file, old), |(index, (file, old))| {
        (index as u64, file, old)
    })
}

pub(super) fn indent(line: &str) -> &str {
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

/// Names the first character of `file` that looks like another one in `old`, or is not seen.
fn odd_character(file: &str, old: &str) -> Option<String> {
    let named = |of: &str, c: char| format!("{of} has U+{:04X}", u32::from(c));
    if let Some(((_, file), (_, old))) = letters_apart(file, old).first() {
        let (file, old) = (u32::from(*file), u32::from(*old));
        return Some(format!("the file has U+{file:04X}, \"old\" U+{old:04X}"));
    }
    let odd = |c: &char| fold(*c) != Some(*c);
    let in_file = file.chars().find(|c| odd(c) && !old.contains(*c));
    let in_old = || old.chars().find(|c| odd(c) && !file.contains(*c));
    let in_file = in_file.map(|c| named("the file", c));
    in_file.or_else(|| in_old().map(|c| named("\"old\"", c)))
}
