//! Text as a list of tokens: line breaks and code points.
//!
//! In collapsed form each CR LF is one LF, so that equal tokens are equal bytes. The form is made
//! once and never made again from its own result: a lone CR before a break would be lost.

use std::borrow::Cow;

use memchr::memmem;

use crate::request::EolMode;

/// Returns `text` in collapsed form.
pub(crate) fn collapse(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns `text` in the form in which tokens are compared under `eol`.
pub(crate) fn tokens_of(text: &str, eol: EolMode) -> Cow<'_, str> {
    match eol {
        EolMode::Exact => Cow::Borrowed(text),
        EolMode::Auto | EolMode::Lf | EolMode::CrLf => collapse(text),
    }
}

/// Returns whether two texts are the same tokens under `eol`.
pub(crate) fn equal_as_tokens(left: &str, right: &str, eol: EolMode) -> bool {
    tokens_of(left, eol) == tokens_of(right, eol)
}

/// Returns `bytes` of an ASCII-compatible encoding in collapsed form; owned ones are not copied.
pub(crate) fn collapse_bytes(bytes: Cow<'_, [u8]>) -> Vec<u8> {
    let finder = memmem::Finder::new(b"\r\n");
    let mut collapsed = bytes.into_owned();
    let (mut read, mut written) = (0, 0);
    while let Some(line) = collapsed.get(read..).and_then(|rest| finder.find(rest)) {
        collapsed.copy_within(read..read + line, written);
        written += line;
        read += line + 1;
    }
    collapsed.copy_within(read.., written);
    collapsed.truncate(collapsed.len() - (read - written));
    collapsed
}

/// Returns where `offsets` of the collapsed form, ascending, stand in `bytes` themselves; the place
/// of a break is where its CR stands.
pub(crate) fn expand_offsets(bytes: &[u8], offsets: &[usize]) -> Vec<usize> {
    let expander = expander(bytes);
    offsets.iter().copied().map(expander).collect()
}

/// Returns what [`expand_offsets`] does with each offset, for offsets that ascend.
pub(crate) fn expander(bytes: &[u8]) -> impl FnMut(usize) -> usize {
    let mut breaks = memmem::find_iter(bytes, b"\r\n").peekable();
    let mut removed = 0;
    move |offset| {
        while breaks.next_if(|cr| cr - removed < offset).is_some() {
            removed += 1;
        }
        offset + removed
    }
}

/// Returns the length in bytes of the longest run of whole tokens with which both begin; both are
/// in collapsed form, and `new` is UTF-8.
pub(crate) fn common_prefix(old: &[u8], new: &[u8]) -> usize {
    whole_prefix(new, equal_start(old, new))
}

/// Returns the length in bytes of the longest run of whole tokens with which both end.
pub(crate) fn common_suffix(old: &[u8], new: &[u8]) -> usize {
    whole_suffix(new, equal_end(old, new))
}

/// Returns with how many equal bytes both begin.
pub(crate) fn equal_start(old: &[u8], new: &[u8]) -> usize {
    old.iter().zip(new).take_while(|(a, b)| a == b).count()
}

/// Returns with how many equal bytes both end.
pub(crate) fn equal_end(old: &[u8], new: &[u8]) -> usize {
    let pairs = old.iter().rev().zip(new.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Returns the length of the whole tokens in the first `equal` bytes of `new`.
pub(crate) fn whole_prefix(new: &[u8], equal: usize) -> usize {
    (0..=equal)
        .rev()
        .find(|at| new.get(*at).is_none_or(|byte| !is_continuation(*byte)))
        .unwrap_or(0)
}

/// Returns the length of the whole tokens in the last `equal` bytes of `new`.
pub(crate) fn whole_suffix(new: &[u8], equal: usize) -> usize {
    (0..=equal)
        .rev()
        .find(|len| {
            let first = new.get(new.len() - len);
            *len == 0 || first.is_some_and(|byte| !is_continuation(*byte))
        })
        .unwrap_or(0)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests;
