//! Blanking comments and strings, so that a rule sees code alone.

use memchr::{memchr, memchr2};

use super::syntax::{Escape, Extra, Quote, Reach, Syntax};

/// How deep strings may stand in the holes of strings.
const MAX_HOLES: u8 = 8;
/// The longest regular expression in bytes, so that a `/` costs little.
const MAX_REGEX_BYTES: usize = 1000;
/// The longest escaped character in bytes.
const MAX_CHAR_BYTES: usize = 14;
/// The longest mark of a raw string in C++.
const MAX_MARK_BYTES: usize = 16;

/// Returns `text` with every byte of a comment or of the inside of a string made a blank; line
/// breaks and the marks of strings stay, and so does the length. Every byte of a letter that is not
/// ASCII becomes an `x`, a letter to every pattern.
pub(super) fn masked(text: &[u8], syntax: &Syntax) -> Vec<u8> {
    let mut mask = Mask {
        text,
        syntax,
        out: text.to_vec(),
        heredocs: Vec::new(),
    };
    mask.run();
    for byte in &mut mask.out {
        if !byte.is_ascii() {
            *byte = b'x';
        }
    }
    mask.out
}

struct Mask<'a> {
    text: &'a [u8],
    syntax: &'a Syntax,
    out: Vec<u8>,
    /// The marks of heredocs that begin after this line.
    heredocs: Vec<&'a [u8]>,
}

impl Mask<'_> {
    fn run(&mut self) {
        let mut at = 0;
        if self.has(Extra::PhpTags) {
            at = self.no_php(0);
        }
        while let Some(byte) = self.byte(at) {
            at = match self.thing_at(at, byte, 0) {
                Some(end) => end.max(at + 1),
                None if byte == b'\n' && !self.heredocs.is_empty() => self.heredoc_bodies(at + 1),
                None => at + 1,
            };
        }
    }

    /// Blanks the comment or string that begins at `at` and returns its end.
    fn thing_at(&mut self, at: usize, byte: u8, depth: u8) -> Option<usize> {
        // Most bytes begin nothing.
        if byte.is_ascii_whitespace() || (is_word(byte) && !matches!(byte, b'r' | b'b' | b'R')) {
            return None;
        }
        if let Some(end) = self.extra(at, byte) {
            return Some(end);
        }
        if let Some(end) = self.comment(at) {
            return Some(end);
        }
        let quotes = self.syntax.quotes;
        let found = quotes.iter().find(|quote| self.starts(at, quote.open))?;
        Some(self.string(at, found, depth))
    }

    fn comment(&mut self, at: usize) -> Option<usize> {
        let syntax = self.syntax;
        for (open, close) in syntax.block {
            let fits = !open.starts_with('=') || self.is_line_start(at);
            if fits && self.starts(at, open) {
                let end = self.block_end(at + open.len(), open, close);
                self.blank(at, end);
                return Some(end);
            }
        }
        let open = syntax.line.iter().find(|open| self.starts(at, open))?;
        if *open == "#" && !self.is_hash_comment(at) {
            return None;
        }
        let end = self.line_end(at);
        self.blank(at, end);
        Some(end)
    }

    fn is_hash_comment(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.byte(before));
        let is_spaced =
            before.is_none_or(|byte| byte.is_ascii_whitespace() || b";&|()".contains(&byte));
        let is_attribute = self.has(Extra::HashAttribute) && self.byte(at + 1) == Some(b'[');
        (is_spaced || !self.has(Extra::SpacedHash)) && !is_attribute
    }

    fn block_end(&self, mut at: usize, open: &str, close: &str) -> usize {
        let mut depth = 1_u32;
        while at < self.text.len() {
            if self.starts(at, close) && (!open.starts_with('=') || self.is_line_start(at)) {
                depth -= 1;
                at += close.len();
                if depth == 0 {
                    return at;
                }
            } else if self.has(Extra::Nested) && self.starts(at, open) {
                depth += 1;
                at += open.len();
            } else {
                at += 1;
            }
        }
        at
    }

    /// Blanks the inside of the string at `at` and returns the end of the string.
    fn string(&mut self, at: usize, quote: &Quote, depth: u8) -> usize {
        let inside = at + quote.open.len();
        let (end, next) = self.string_end(inside, quote, depth);
        self.blank(inside, end);
        next
    }

    /// Returns where the inside ends, and where the string does.
    fn string_end(&mut self, mut at: usize, quote: &Quote, depth: u8) -> (usize, usize) {
        while let Some(byte) = self.byte(at) {
            if byte == b'\n' && quote.reach == Reach::Line {
                return (at, at);
            }
            if !quote.hole.is_empty() && depth < MAX_HOLES && self.starts(at, quote.hole) {
                at = self.hole_end(at + quote.hole.len(), quote, depth + 1);
            } else if byte == b'\\' && quote.escape == Escape::Backslash {
                at += if quote.reach == Reach::Line && self.byte(at + 1) == Some(b'\r') {
                    3
                } else {
                    2
                };
            } else if self.starts(at, quote.close) {
                let next = at + quote.close.len();
                if quote.escape != Escape::Doubled || !self.starts(next, quote.close) {
                    return (at, next);
                }
                at = next + quote.close.len();
            } else {
                at += 1;
            }
        }
        (self.text.len(), self.text.len())
    }

    /// Returns the end of the code in a string's hole, which begins at `at`.
    fn hole_end(&mut self, mut at: usize, quote: &Quote, depth: u8) -> usize {
        let (open, close) = if quote.hole.ends_with('(') {
            (b'(', b')')
        } else {
            (b'{', b'}')
        };
        let mut level = 1_u32;
        while let Some(byte) = self.byte(at) {
            if byte == b'\n' && quote.reach == Reach::Line {
                return at;
            } else if byte == close {
                level -= 1;
                if level == 0 {
                    return at + 1;
                }
            } else if byte == open {
                level += 1;
            } else if let Some(end) = self.thing_at(at, byte, depth) {
                at = end.max(at + 1);
                continue;
            }
            at += 1;
        }
        at
    }

    fn extra(&mut self, at: usize, byte: u8) -> Option<usize> {
        match byte {
            b'\'' if self.has(Extra::Char) => Some(self.char_end(at)),
            b'r' | b'b' if self.has(Extra::RustRaw) => self.rust_raw(at),
            b'R' if self.has(Extra::CppRaw) => self.cpp_raw(at),
            b'[' | b'-' if self.has(Extra::LuaLong) => self.lua_long(at),
            b'/' if self.has(Extra::Regex) => self.regex(at),
            b'%' if self.has(Extra::Percent) => self.percent(at),
            b'<' if self.has(Extra::Heredoc) => self.heredoc(at),
            b'?' if self.has(Extra::PhpTags) && self.starts(at, "?>") => Some(self.no_php(at + 2)),
            _ => None,
        }
    }

    /// Returns the end of the character at `at`, or of the lone `'`.
    fn char_end(&mut self, at: usize) -> usize {
        let end = match self.byte(at + 1) {
            Some(b'\\') => {
                let end = self.text.len().min(at + 2 + MAX_CHAR_BYTES);
                let rest = self.text.get(at + 3..end).unwrap_or_default();
                let found = memchr2(b'\'', b'\n', rest).map(|found| at + 3 + found);
                found.filter(|found| self.byte(*found) == Some(b'\''))
            }
            Some(first) if first != b'\'' && first != b'\n' => {
                let after = at + 1 + char_len(first);
                (self.byte(after) == Some(b'\'')).then_some(after)
            }
            _ => None,
        };
        let Some(end) = end else { return at + 1 };
        self.blank(at + 1, end);
        end + 1
    }

    fn rust_raw(&mut self, at: usize) -> Option<usize> {
        if self.is_in_word(at) {
            return None;
        }
        let start = if self.byte(at) == Some(b'b') {
            at + 1
        } else {
            at
        };
        if self.byte(start) != Some(b'r') {
            return None;
        }
        let hashes = self.run_of(b'#', start + 1);
        let inside = start + 1 + hashes + 1;
        if self.byte(inside - 1) != Some(b'"') {
            return None;
        }
        let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
        Some(self.blank_to(inside, &close))
    }

    fn cpp_raw(&mut self, at: usize) -> Option<usize> {
        let rest = self.text.get(at + 1..)?.strip_prefix(b"\"")?;
        let head = rest.get(..rest.len().min(MAX_MARK_BYTES + 1))?;
        let mark = rest.get(..memchr(b'(', head)?)?;
        let close = [b")".as_slice(), mark, b"\""].concat();
        Some(self.blank_to(at + 3 + mark.len(), &close))
    }

    fn lua_long(&mut self, at: usize) -> Option<usize> {
        let start = if self.starts(at, "--") { at + 2 } else { at };
        if self.byte(start) != Some(b'[') {
            return None;
        }
        let level = self.run_of(b'=', start + 1);
        if self.byte(start + 1 + level) != Some(b'[') {
            return None;
        }
        let close = [b"]".as_slice(), &b"=".repeat(level), b"]"].concat();
        Some(self.blank_to(start + 2 + level, &close))
    }

    fn regex(&mut self, at: usize) -> Option<usize> {
        if matches!(self.byte(at + 1), Some(b'/' | b'*')) || !self.is_value_wanted(at) {
            return None;
        }
        let mut in_set = false;
        let mut end = at + 1;
        loop {
            match self.byte(end).filter(|_| end - at < MAX_REGEX_BYTES)? {
                b'\n' => return None,
                b'\\' => end += 1,
                b'[' => in_set = true,
                b']' => in_set = false,
                b'/' if !in_set => break,
                _ => {}
            }
            end += 1;
        }
        self.blank(at + 1, end);
        Some(end + 1)
    }

    /// Returns whether a value, not an operator, is to be expected at `at`.
    fn is_value_wanted(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default().trim_ascii_end();
        let Some(last) = before.last() else {
            return true;
        };
        if !is_word(*last) {
            return b"(,=:[!&|?{};+-*<>~^%".contains(last);
        }
        let start = before
            .iter()
            .rposition(|byte| !is_word(*byte))
            .map_or(0, |found| found + 1);
        let words: [&[u8]; 9] = [
            b"return", b"typeof", b"case", b"in", b"of", b"if", b"unless", b"when", b"and",
        ];
        before
            .get(start..)
            .is_some_and(|word| words.contains(&word))
    }

    fn percent(&mut self, at: usize) -> Option<usize> {
        let kind = self.byte(at + 1)?;
        let open_at = if b"qQwWiIrxs".contains(&kind) {
            at + 2
        } else {
            return None;
        };
        let close = match self.byte(open_at)? {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            mark @ (b'|' | b'!' | b'/') => mark,
            _ => return None,
        };
        Some(self.blank_to(open_at + 1, &[close]))
    }

    /// Notes the heredoc that `at` announces.
    fn heredoc(&mut self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?.strip_prefix(b"<<")?;
        let php = rest.first() == Some(&b'<');
        if php && !self.has(Extra::PhpTags) {
            return Some(at + 3);
        }
        let rest = rest.strip_prefix(b"<").unwrap_or(rest);
        let dashed = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"~"));
        let rest = dashed.unwrap_or(rest);
        let rest = if php || self.has(Extra::SpacedHash) {
            rest.trim_ascii_start()
        } else {
            rest
        };
        let bare = rest
            .strip_prefix(b"'")
            .or_else(|| rest.strip_prefix(b"\""))
            .unwrap_or(rest);
        let len = bare.iter().take_while(|byte| is_word(**byte)).count();
        let mark = bare
            .get(..len)
            .filter(|mark| mark.first().is_some_and(|byte| !byte.is_ascii_digit()))?;
        let is_sure =
            dashed.is_some() || php || self.has(Extra::SpacedHash) || bare.len() < rest.len();
        if !is_sure && (!mark.first()?.is_ascii_uppercase() || self.is_in_word(at)) {
            return None;
        }
        let quote = usize::from(bare.len() < rest.len());
        self.heredocs.push(mark);
        Some(self.text.len() - bare.len() + len + quote)
    }

    /// Blanks the bodies of the heredocs announced, the first of which begins at `at`.
    fn heredoc_bodies(&mut self, mut at: usize) -> usize {
        for mark in std::mem::take(&mut self.heredocs) {
            let start = at;
            loop {
                let end = self.line_end(at);
                let line = self.text.get(at..end).unwrap_or_default().trim_ascii();
                let is_last = line
                    .strip_prefix(mark)
                    .is_some_and(|rest| !rest.first().is_some_and(|byte| is_word(*byte)));
                at = (end + 1).min(self.text.len());
                if is_last || at >= self.text.len() {
                    break;
                }
            }
            self.blank(start, at);
        }
        at
    }

    /// Blanks up to the next `<?` and returns its end.
    fn no_php(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let end = memchr::memmem::find(rest, b"<?").map_or(self.text.len(), |found| at + found);
        self.blank(at, end);
        end + if self.starts(end, "<?php") { 5 } else { 2 }
    }

    /// Blanks up to `close` and returns its end.
    fn blank_to(&mut self, at: usize, close: &[u8]) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let end = memchr::memmem::find(rest, close).map_or(self.text.len(), |found| at + found);
        self.blank(at, end);
        (end + close.len()).min(self.text.len())
    }

    fn blank(&mut self, start: usize, end: usize) {
        let end = end.min(self.out.len());
        for byte in self.out.get_mut(start..end).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn has(&self, extra: Extra) -> bool {
        self.syntax.extras.contains(&extra)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn starts(&self, at: usize, mark: &str) -> bool {
        self.text
            .get(at..)
            .is_some_and(|rest| rest.starts_with(mark.as_bytes()))
    }

    fn run_of(&self, byte: u8, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.iter().take_while(|found| **found == byte).count()
    }

    fn line_end(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        memchr(b'\n', rest).map_or(self.text.len(), |found| at + found)
    }

    fn is_line_start(&self, at: usize) -> bool {
        at == 0 || self.byte(at - 1) == Some(b'\n')
    }

    fn is_in_word(&self, at: usize) -> bool {
        at.checked_sub(1)
            .and_then(|before| self.byte(before))
            .is_some_and(is_word)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn char_len(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}
