//! Texts without what the eye passes over.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::field::edge;

/// How many bytes are folded between two looks at the clock.
const STEP: usize = 64 * 1024;

/// A text without blanks, in lower case, composed, look-alikes folded; breaks stay.
pub(super) struct Skeleton {
    pub(super) bytes: Vec<u8>,
    /// Where the steps begin: in the text, and here.
    marks: Vec<(usize, usize)>,
}

impl Skeleton {
    /// Returns the skeleton of `text`; `None` when `stop` says so.
    pub(super) fn of(text: &[u8], stop: impl Fn() -> bool) -> Option<Self> {
        let (mut bytes, mut marks) = (Vec::with_capacity(text.len()), Vec::new());
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            marks.push((at, bytes.len()));
            let (step, _) = rest.split_at(edge(rest, STEP));
            for line in step.split_inclusive(|byte| *byte == b'\n') {
                fold_line(line, &mut bytes);
            }
            at += step.len();
            if stop() {
                return None;
            }
        }
        Some(Self { bytes, marks })
    }

    /// Returns where in `text`, of which this is the skeleton, what stands here at `folded` begins.
    pub(super) fn place_of(&self, text: &[u8], folded: usize) -> usize {
        let next = self.marks.partition_point(|(_, mark)| *mark <= folded);
        let mark = next.checked_sub(1).and_then(|index| self.marks.get(index));
        let (mut at, mut left) = mark.map_or((0, folded), |(at, mark)| (*at, folded - mark));
        let rest = text.get(at..).unwrap_or_default();
        let mut scratch = Vec::new();
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            // As it was cut when it was folded.
            let line = line.get(..edge(line, STEP)).unwrap_or(line);
            scratch.clear();
            fold_line(line, &mut scratch);
            if left < scratch.len() {
                return at + place_in(line, left);
            }
            left -= scratch.len();
            at += line.len();
        }
        at
    }
}

/// Returns where in a line that begins which is folded to what stands at `folded`.
fn place_in(line: &[u8], folded: usize) -> usize {
    if is_bare(line) {
        let kept = line
            .iter()
            .enumerate()
            .filter(|(_, byte)| !is_blank(**byte));
        return kept.map(|(at, _)| at).nth(folded).unwrap_or(line.len());
    }
    let Ok(text) = str::from_utf8(line) else {
        return 0;
    };
    let (mut at, mut left, mut scratch) = (0, folded, Vec::new());
    for unit in units(text) {
        scratch.clear();
        fold_line(unit.as_bytes(), &mut scratch);
        if left < scratch.len() {
            break;
        }
        left -= scratch.len();
        at += unit.len();
    }
    at
}

/// Returns the characters of a text, each with those that may be composed with it.
pub(super) fn units(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let joins = |c: char| is_combining_mark(c) || ('\u{1160}'..='\u{11ff}').contains(&c);
        let mut next = rest.char_indices().skip(1).filter(|(_, c)| !joins(*c));
        let end = next.next().map_or(rest.len(), |(at, _)| at);
        let (unit, after) = rest.split_at(end);
        rest = after;
        (!unit.is_empty()).then_some(unit)
    })
}

fn fold_line(line: &[u8], folded: &mut Vec<u8>) {
    if is_bare(line) {
        let kept = line.iter().filter(|byte| !is_blank(**byte));
        return folded.extend(kept.map(u8::to_ascii_lowercase));
    }
    let line = String::from_utf8_lossy(line);
    if line.chars().any(may_compose) {
        fold_characters(line.nfc(), folded);
    } else {
        fold_characters(line.chars(), folded);
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn fold_characters(characters: impl Iterator<Item = char>, folded: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    let characters = characters.filter_map(fold).flat_map(char::to_lowercase);
    for character in characters.filter(|c| !matches!(c, ' ' | '\t' | '\r')) {
        let character = letter_class(character);
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

/// Returns whether a character is what it looks like: not blank but for the space, not invisible,
/// not a look-alike of an ASCII mark, not combining.
pub(super) fn is_plain(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    fold(character) == Some(character)
        && !character.is_whitespace()
        && !is_combining_mark(character)
        && !character.is_control()
}

/// Returns the common character that one looks like, mostly in ASCII, `None` for one that is not seen at all, and
/// every other one as it is; letters of other scripts are these letters.
pub(super) fn fold(character: char) -> Option<char> {
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
        // The micro sign is the letter.
        '\u{b5}' => '\u{3bc}',
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = u32::from(character).checked_sub(0xfee0);
            return ascii.and_then(char::from_u32);
        }
        other => other,
    })
}

/// Returns the ASCII letter that a Cyrillic or Greek letter looks like.
pub(super) fn ascii_letter(character: char) -> Option<char> {
    Some(match character {
        '\u{391}' | '\u{410}' => 'A',
        '\u{3b1}' | '\u{430}' => 'a',
        '\u{392}' | '\u{412}' => 'B',
        '\u{3f9}' | '\u{421}' => 'C',
        '\u{3f2}' | '\u{441}' => 'c',
        '\u{501}' => 'd',
        '\u{395}' | '\u{415}' => 'E',
        '\u{435}' => 'e',
        '\u{397}' | '\u{41d}' => 'H',
        '\u{4bb}' => 'h',
        '\u{399}' | '\u{406}' | '\u{4c0}' => 'I',
        '\u{3b9}' | '\u{456}' => 'i',
        '\u{408}' => 'J',
        '\u{3f3}' | '\u{458}' => 'j',
        '\u{39a}' | '\u{41a}' => 'K',
        '\u{3ba}' => 'k',
        '\u{4cf}' => 'l',
        '\u{39c}' | '\u{41c}' => 'M',
        '\u{39d}' => 'N',
        '\u{39f}' | '\u{41e}' => 'O',
        '\u{3bf}' | '\u{43e}' => 'o',
        '\u{3a1}' | '\u{420}' => 'P',
        '\u{3c1}' | '\u{440}' => 'p',
        '\u{51a}' => 'Q',
        '\u{51b}' => 'q',
        '\u{405}' => 'S',
        '\u{455}' => 's',
        '\u{3a4}' | '\u{422}' => 'T',
        '\u{3c5}' => 'u',
        '\u{474}' => 'V',
        '\u{3bd}' | '\u{475}' => 'v',
        '\u{51c}' => 'W',
        '\u{3c9}' | '\u{51d}' => 'w',
        '\u{3a7}' | '\u{425}' => 'X',
        '\u{3c7}' | '\u{445}' => 'x',
        '\u{3a5}' | '\u{423}' => 'Y',
        '\u{3b3}' | '\u{443}' => 'y',
        '\u{396}' => 'Z',
        _ => return None,
    })
}

/// Returns the character that stands in a skeleton for one that is not composed; `None` for one
/// that is not seen.
pub(super) fn class(character: char) -> Option<char> {
    let seen = fold(character).filter(|c| !matches!(c, ' ' | '\t' | '\r'))?;
    seen.to_lowercase().next().map(letter_class)
}

/// Returns the same letter for all that look alike in upper or in lower case; `lower` is in lower
/// case. Whether two do look alike takes a closer look.
fn letter_class(lower: char) -> char {
    if !('\u{370}'..='\u{52f}').contains(&lower) {
        return lower;
    }
    let upper = || lower.to_uppercase().next().and_then(ascii_letter);
    let letter = ascii_letter(lower).or_else(upper);
    letter.map_or(lower, |letter| letter.to_ascii_lowercase())
}
