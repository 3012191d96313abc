//! What is written: the part where old and new differ, with breaks in the style of the place.

mod writer;

use std::ops::{ControlFlow, Range};

use fs_core::Result;

use crate::haystack::Haystack;
use crate::request::EolMode;
use crate::tokens::{
    common_prefix, common_suffix, equal_end, equal_start, expand_offsets, tokens_of, whole_prefix,
    whole_suffix,
};

pub(crate) use writer::{Splice, Writer};

/// The part in which an old and a new text differ, by whole tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Core<'a> {
    /// How many bytes of the old text, in the form of the haystack, precede it.
    pub(crate) prefix: usize,
    /// How many bytes of the old text follow it.
    pub(crate) suffix: usize,
    pub(crate) old_breaks: usize,
    pub(crate) new_breaks: usize,
    pub(crate) new: &'a str,
}

impl<'a> Core<'a> {
    /// Returns the core of the change from `old`, in token form, to `new`, as given.
    pub(crate) fn of(old: &[u8], new: &'a str, eol: EolMode) -> Self {
        let tokens = tokens_of(new, eol);
        let prefix = common_prefix(old, tokens.as_bytes());
        let old = old.get(prefix..).unwrap_or_default();
        let rest = tokens.as_bytes().get(prefix..).unwrap_or_default();
        let suffix = common_suffix(old, rest);
        let old = old.get(..old.len() - suffix).unwrap_or_default();
        Self::between(prefix, suffix, count_breaks(old), &tokens, new)
    }

    /// Returns the core of the change from what `haystack` holds, which is passed by this, to `new`,
    /// as given.
    ///
    /// # Errors
    /// Those of reading.
    pub(crate) fn in_haystack(
        haystack: &mut Haystack<'_, '_>,
        new: &'a str,
        eol: EolMode,
    ) -> Result<Self> {
        let tokens = tokens_of(new, eol);
        let wanted = tokens.as_bytes();
        let (mut equal, mut breaks) = (0, 0);
        haystack.pass(0, |window| {
            breaks += count_breaks(window.bytes);
            if equal == window.start {
                let rest = wanted.get(equal..).unwrap_or_default();
                equal += equal_start(window.bytes, rest);
            }
            ControlFlow::Continue(())
        })?;
        let prefix = whole_prefix(wanted, equal);
        let rest = wanted.get(prefix..).unwrap_or_default();
        let most = rest.len().min(haystack.len() - prefix);
        let mut equal = 0;
        haystack.each_back(|chunk| {
            let rest = rest.get(..rest.len() - equal).unwrap_or_default();
            let more = equal_end(chunk.hay(), rest);
            equal += more;
            if more == chunk.hay().len() && equal < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let suffix = whole_suffix(rest, equal.min(most));
        let same = [wanted.get(..prefix), rest.get(rest.len() - suffix..)];
        let same = same.map(|part| count_breaks(part.unwrap_or_default()));
        let old_breaks = breaks - same.iter().sum::<usize>();
        Ok(Self::between(prefix, suffix, old_breaks, &tokens, new))
    }

    fn between(
        prefix: usize,
        suffix: usize,
        old_breaks: usize,
        tokens: &str,
        new: &'a str,
    ) -> Self {
        let new = as_given(new, tokens, prefix..tokens.len() - suffix);
        Self {
            prefix,
            suffix,
            old_breaks,
            new_breaks: count_breaks(new.as_bytes()),
            new,
        }
    }

    /// Returns the length of the new text in bytes of UTF-8.
    pub(crate) fn new_len(&self) -> usize {
        self.new.len()
    }
}

/// Returns the part of `new`, as given, whose token form is `range` of `tokens`.
fn as_given<'a>(new: &'a str, tokens: &str, range: Range<usize>) -> &'a str {
    if new.len() == tokens.len() {
        return new.get(range).unwrap_or_default();
    }
    match expand_offsets(new.as_bytes(), &[range.start, range.end]).as_slice() {
        [start, end] => new.get(*start..*end).unwrap_or_default(),
        _ => "",
    }
}

fn count_breaks(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}
