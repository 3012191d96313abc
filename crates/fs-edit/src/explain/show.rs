//! Lines as they are shown, around what tells them apart.

use memchr::memmem;

use super::alike::indent;
use super::fold::{Skeleton, ascii_letter, class, is_plain};
use super::voters::longest_words;

/// How many characters of a line are shown.
const MAX_SHOWN: usize = 120;
/// How many of them stand before what tells two lines apart.
const BEFORE: usize = 40;
/// How many bytes of two lines are compared to show them.
const MAX_COMPARED: usize = 64 * 1024;

/// A character and where it stands in its line.
type At = (usize, char);

/// Two lines, and where in them that begins which is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aligned<'a> {
    pub(super) file: &'a str,
    pub(super) old: &'a str,
    pub(super) file_at: usize,
    pub(super) old_at: usize,
}

impl<'a> Aligned<'a> {
    /// Returns two lines, of which that of `old` may be a part of the file's.
    pub(super) fn new(file: &'a str, old: &'a str) -> Self {
        let (file_at, old_at) = if file.len().max(old.len()) > MAX_COMPARED {
            None
        } else {
            by_skeleton(file, old).or_else(|| by_word(file, old))
        }
        .unwrap_or_else(|| (indent(file).len(), indent(old).len()));
        Self {
            file,
            old,
            file_at,
            old_at,
        }
    }

    /// Returns the texts that are compared.
    pub(super) fn texts(&self) -> (&'a str, &'a str) {
        let file = self.file.get(self.file_at..).unwrap_or_default();
        (file, self.old.get(self.old_at..).unwrap_or_default())
    }

    /// Returns where the lines differ first.
    pub(super) fn difference(&self) -> (usize, usize) {
        let head = self.file.get(..self.file_at).unwrap_or_default();
        let begins_alike = head.ends_with(self.old.get(..self.old_at).unwrap_or_default());
        let (file, old) = self.texts();
        let mut pairs = file.char_indices().zip(old.chars());
        let equal = if begins_alike {
            let unequal = pairs.find(|((_, file), old)| file != old);
            unequal.map_or(file.len().min(old.len()), |((at, _), _)| at)
        } else {
            0
        };
        (self.file_at + equal, self.old_at + equal)
    }

    /// Returns the letters that look alike and are not the same.
    fn letters_apart(&self) -> Vec<(At, At)> {
        let (file, old) = self.texts();
        let seen = |text: &'a str, from: usize| {
            let seen = text.char_indices().filter(|(_, c)| class(*c).is_some());
            seen.map(move |(at, c)| (from + at, c)).take(MAX_COMPARED)
        };
        let pairs = seen(file, self.file_at).zip(seen(old, self.old_at));
        let alike = pairs.take_while(|(file, old)| class(file.1) == class(old.1));
        let is_other = |c: char| ascii_letter(c).is_some();
        let apart = |(file, old): &(At, At)| {
            file.1.to_lowercase().ne(old.1.to_lowercase()) && (is_other(file.1) || is_other(old.1))
        };
        alike.filter(apart).collect()
    }
}

/// Returns where in the file's line that begins which is `old` but for its form, and where `old`
/// itself begins.
fn by_skeleton(file: &str, old: &str) -> Option<(usize, usize)> {
    let skeleton = Skeleton::of(file.as_bytes(), || false)?;
    let needle = Skeleton::of(old.as_bytes(), || false)?;
    let at = memmem::find(&skeleton.bytes, &needle.bytes).filter(|_| !needle.bytes.is_empty())?;
    let file_at = skeleton.place_of(file.as_bytes(), at);
    Some((file_at, needle.place_of(old.as_bytes(), 0)))
}

/// Returns where in a long line of the file `old` would begin for one of its words to stand where it
/// does.
fn by_word(file: &str, old: &str) -> Option<(usize, usize)> {
    file.chars().nth(MAX_SHOWN)?;
    longest_words(&[old]).iter().find_map(|word| {
        let start = file.find(word.text)?.checked_sub(word.at)?;
        file.is_char_boundary(start).then_some((start, 0))
    })
}

/// Returns the letters of two lines that look alike and are not the same.
pub(super) fn letters_apart(file: &str, old: &str) -> Vec<(At, At)> {
    Aligned::new(file, old).letters_apart()
}

/// Returns the two lines, one below the other, where they are long around their first difference.
pub(super) fn pair(file: &str, old: &str) -> String {
    let aligned = Aligned::new(file, old);
    let letters = aligned.letters_apart();
    let marks = |side: fn(&(At, At)) -> At| letters.iter().map(side).map(|(at, _)| at).collect();
    let in_file: Vec<usize> = marks(|letters| letters.0);
    let in_old: Vec<usize> = marks(|letters| letters.1);
    let (file_focus, old_focus) = aligned.difference();
    let file = shown(file, file_focus, &in_file);
    format!(
        "\n{}\nold:  {}",
        shown_line(&file),
        shown(old, old_focus, &in_old)
    )
}

/// Returns how a line of the file is shown.
pub(super) fn shown_line(line: &str) -> String {
    format!("file: {line}")
}

/// Returns whether a text is shown as it is.
pub(super) fn is_shown_whole(text: &str) -> bool {
    text.chars().all(is_plain) && text.chars().nth(MAX_SHOWN).is_none()
}

/// Returns a line as it is shown: what stands around `focus`, with all that is not plain to the eye,
/// and the letters at `marks` that are not ASCII, as `[U+XXXX]`.
fn shown(line: &str, focus: usize, marks: &[usize]) -> String {
    let start = start_of_shown(line, focus);
    let part = line.get(start..).unwrap_or_default();
    let mut shown = String::new();
    if start > 0 {
        shown.push('…');
    }
    for (at, character) in part.char_indices().take(MAX_SHOWN) {
        let is_apart = !character.is_ascii() && marks.binary_search(&(start + at)).is_ok();
        if is_plain(character) && !is_apart {
            shown.push(character);
        } else {
            shown.push_str(&code_point(character));
        }
    }
    if part.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn code_point(character: char) -> String {
    format!("[U+{:04X}]", u32::from(character))
}

/// Returns where what is shown of a line begins: at its head, unless `focus` is far from it.
fn start_of_shown(line: &str, focus: usize) -> usize {
    let is_long = line.chars().nth(MAX_SHOWN).is_some();
    let head = line.get(..focus).unwrap_or_default();
    let mut before = head.char_indices().rev();
    let start = before.nth(BEFORE - 1);
    let is_far = before.nth(MAX_SHOWN - 2 * BEFORE).is_some();
    match start {
        Some((start, _)) if is_long && is_far => start,
        _ => 0,
    }
}
