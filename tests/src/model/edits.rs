//! Exact edits over tokens, in quadratic time, straight from the contract's sentences.
//!
//! A token is a line break (LF or CR LF, equal unless `eol` is exact), a code point, or, in a file
//! of no known encoding, a byte.

use std::ops::Range;

use fs_edit::{Edit, EolMode};

/// What the bytes of the file are known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8 with or without BOM.
    Utf8,
    /// UTF-16 with BOM, low byte first.
    Utf16Le,
    /// UTF-16 with BOM, high byte first.
    Utf16Be,
    /// Not known: only ASCII is edited, by bytes.
    Opaque,
}

/// Why nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct No {
    /// The code.
    pub code: &'static str,
    /// The index of the edit.
    pub edit: Option<usize>,
    /// How many starts match.
    pub found: Option<u64>,
    /// Their lines, 20 at most.
    pub lines: Option<Vec<u64>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Symbol {
    Break,
    Char(char),
    Byte(u8),
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    symbol: Symbol,
    bytes: Range<usize>,
    pub(super) crlf: bool,
}

/// A file and how it is taken.
pub(super) struct File<'a> {
    pub(super) source: &'a [u8],
    pub(super) charset: Charset,
    pub(super) eol: EolMode,
    pub(super) tokens: Vec<Token>,
}

pub(super) struct Change {
    pub(super) span: Range<usize>,
    pub(super) bytes: Vec<u8>,
    whole: Range<usize>,
}

/// Returns the bytes after the edits.
///
/// # Errors
/// Why nothing is changed.
pub fn apply(source: &[u8], charset: Charset, edits: &[Edit], eol: EolMode) -> Result<Vec<u8>, No> {
    check_request(edits, eol)?;
    let file = File {
        source,
        charset,
        eol,
        tokens: tokens_of(source, charset, eol),
    };
    for (index, edit) in edits.iter().enumerate() {
        check_encodable(index, edit, charset)?;
    }
    let mut changes = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let (old, new) = (tokens(&edit.old, eol), tokens(&edit.new, eol));
        for start in wanted(index, edit, &old, &file.tokens)? {
            file.check_start(start).map_err(|code| no(code, index))?;
            changes.push(file.change(start, &old, &new));
        }
    }
    changes.sort_by_key(|change| (change.whole.start, change.whole.end));
    if changes
        .windows(2)
        .any(|pair| pair[1].whole.start < pair[0].whole.end)
    {
        return refused("overlapping_edits");
    }
    file.changed(changes)
}

impl File<'_> {
    /// In an unknown encoding a match after a byte that is not ASCII may begin inside a character.
    fn check_start(&self, start: usize) -> Result<(), &'static str> {
        let before = self.source[..self.tokens[start].bytes.start].last();
        match before {
            Some(0x80..) if self.charset == Charset::Opaque => Err("encoding_unknown"),
            _ => Ok(()),
        }
    }

    /// Drops the common prefix and suffix of tokens and writes what is left of `new`.
    pub(super) fn change(&self, start: usize, old: &[Token], new: &[Token]) -> Change {
        let (a, b) = (symbols(old), symbols(new));
        let equal = |(a, b): &(&&Symbol, &&Symbol)| a == b;
        let prefix = a.iter().zip(&b).take_while(equal).count();
        let (a, b) = (&a[prefix..], &b[prefix..]);
        let suffix = a.iter().rev().zip(b.iter().rev()).take_while(equal).count();
        let core = start + prefix..start + old.len() - suffix;
        let new = &new[prefix..new.len() - suffix];
        let text = spell(new, &styles(&core, new, &self.tokens, self.eol));
        Change {
            span: self.bytes_of(&core),
            bytes: encode(&text, self.charset),
            whole: self.bytes_of(&(start..start + old.len())),
        }
    }

    pub(super) fn bytes_of(&self, span: &Range<usize>) -> Range<usize> {
        let at = |index: usize| {
            self.tokens
                .get(index)
                .map_or(self.source.len(), |token| token.bytes.start)
        };
        at(span.start)..at(span.end)
    }

    /// The bytes after changes that go forward.
    pub(super) fn changed(&self, changes: Vec<Change>) -> Result<Vec<u8>, No> {
        let mut result = self.source.to_vec();
        for change in changes.into_iter().rev() {
            result.splice(change.span, change.bytes);
        }
        if result == self.source {
            refused("no_op")
        } else {
            Ok(result)
        }
    }
}

fn check_request(edits: &[Edit], eol: EolMode) -> Result<(), No> {
    if edits.is_empty() {
        return refused("invalid_argument");
    }
    let failing = |is: &dyn Fn(&Edit) -> bool| edits.iter().position(is);
    if let Some(index) = failing(&|edit| edit.expected_count == 0 || edit.expected_count < -1) {
        return Err(no("invalid_argument", index));
    }
    if let Some(index) = failing(&|edit| edit.old.is_empty()) {
        return Err(no("empty_old", index));
    }
    match failing(&|edit| symbols(&tokens(&edit.old, eol)) == symbols(&tokens(&edit.new, eol))) {
        Some(index) => Err(no("no_op", index)),
        None => Ok(()),
    }
}

fn check_encodable(index: usize, edit: &Edit, charset: Charset) -> Result<(), No> {
    let ascii = edit.old.is_ascii() && edit.new.is_ascii();
    if charset == Charset::Opaque && !ascii {
        Err(no("encoding_unknown", index))
    } else {
        Ok(())
    }
}

/// The starts that are to be replaced, as indices of tokens.
fn wanted(index: usize, edit: &Edit, old: &[Token], file: &[Token]) -> Result<Vec<usize>, No> {
    let fits = |start: &usize| symbols(&file[*start..*start + old.len()]) == symbols(old);
    let last = (file.len() + 1).saturating_sub(old.len());
    let starts: Vec<usize> = (0..last).filter(fits).collect();
    let line = |start: &usize| {
        file[..*start]
            .iter()
            .filter(|token| is_break(token))
            .count() as u64
            + 1
    };
    let counted = |code| No {
        found: Some(starts.len() as u64),
        lines: Some(starts.iter().map(line).take(20).collect()),
        ..no(code, index)
    };
    if starts.is_empty() {
        return Err(no("no_match", index));
    }
    if edit.expected_count == -1 {
        return Ok(leftmost(&starts, old.len()));
    }
    if i64::try_from(starts.len()) != Ok(edit.expected_count) {
        return Err(counted("count_mismatch"));
    }
    if starts.windows(2).any(|pair| pair[1] < pair[0] + old.len()) {
        return Err(counted("overlapping_matches"));
    }
    Ok(starts)
}

fn leftmost(starts: &[usize], len: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for start in starts {
        if kept.last().is_none_or(|last| last + len <= *start) {
            kept.push(*start);
        }
    }
    kept
}

/// Whether each break of `new` is CR LF; `None` for as given.
fn styles(core: &Range<usize>, new: &[Token], file: &[Token], eol: EolMode) -> Vec<Option<bool>> {
    let breaks = new.iter().filter(|token| is_break(token)).count();
    let old: Vec<Option<bool>> = file[core.clone()]
        .iter()
        .filter(|token| is_break(token))
        .map(|token| Some(token.crlf))
        .collect();
    let after = file[core.start..].iter().find(|token| is_break(token));
    let before = file[..core.start].iter().rfind(|token| is_break(token));
    match eol {
        EolMode::Exact => Vec::new(),
        EolMode::Lf => vec![Some(false); breaks],
        EolMode::CrLf => vec![Some(true); breaks],
        EolMode::Auto if old.len() == breaks => old,
        EolMode::Auto => vec![after.or(before).map(|token| token.crlf); breaks],
    }
}

fn spell(new: &[Token], styles: &[Option<bool>]) -> String {
    let mut styles = styles.iter();
    let mut text = String::new();
    for token in new {
        match &token.symbol {
            Symbol::Char(c) => text.push(*c),
            Symbol::Byte(byte) => text.push(char::from(*byte)),
            Symbol::Break => {
                let crlf = styles.next().copied().flatten().unwrap_or(token.crlf);
                text.push_str(if crlf { "\r\n" } else { "\n" });
            }
        }
    }
    text
}

pub(super) fn encode(text: &str, charset: Charset) -> Vec<u8> {
    match charset {
        Charset::Utf8 | Charset::Opaque => text.as_bytes().to_vec(),
        Charset::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Charset::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

pub(super) fn tokens(text: &str, eol: EolMode) -> Vec<Token> {
    let chars = text
        .char_indices()
        .map(|(at, c)| (Symbol::Char(c), at..at + c.len_utf8()));
    join_breaks(chars, eol)
}

pub(super) fn tokens_of(source: &[u8], charset: Charset, eol: EolMode) -> Vec<Token> {
    match charset {
        Charset::Opaque => {
            let symbol = |byte: u8| {
                if byte.is_ascii() {
                    Symbol::Char(char::from(byte))
                } else {
                    Symbol::Byte(byte)
                }
            };
            join_breaks(
                source
                    .iter()
                    .enumerate()
                    .map(|(at, byte)| (symbol(*byte), at..at + 1)),
                eol,
            )
        }
        Charset::Utf8 => {
            let text = std::str::from_utf8(source).expect("the generator made UTF-8");
            let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
            let chars = text[bom..].char_indices();
            join_breaks(
                chars.map(|(at, c)| (Symbol::Char(c), bom + at..bom + at + c.len_utf8())),
                eol,
            )
        }
        Charset::Utf16Le => join_breaks(utf16(source, u16::from_le_bytes).into_iter(), eol),
        Charset::Utf16Be => join_breaks(utf16(source, u16::from_be_bytes).into_iter(), eol),
    }
}

fn utf16(source: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<(Symbol, Range<usize>)> {
    let units = source[2..]
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]));
    let mut at = 2;
    let mut all = Vec::new();
    for c in char::decode_utf16(units) {
        let c = c.expect("the generator made UTF-16");
        all.push((Symbol::Char(c), at..at + 2 * c.len_utf16()));
        at += 2 * c.len_utf16();
    }
    all
}

fn join_breaks(symbols: impl Iterator<Item = (Symbol, Range<usize>)>, eol: EolMode) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    for (symbol, bytes) in symbols {
        let feed = symbol == Symbol::Char('\n') && eol != EolMode::Exact;
        let after_return = all
            .last()
            .is_some_and(|last| last.symbol == Symbol::Char('\r'));
        if feed && after_return {
            let start = all.pop().map_or(bytes.start, |last| last.bytes.start);
            all.push(Token {
                symbol: Symbol::Break,
                bytes: start..bytes.end,
                crlf: true,
            });
        } else if feed {
            all.push(Token {
                symbol: Symbol::Break,
                bytes,
                crlf: false,
            });
        } else {
            all.push(Token {
                symbol,
                bytes,
                crlf: false,
            });
        }
    }
    all
}

fn symbols(tokens: &[Token]) -> Vec<&Symbol> {
    tokens.iter().map(|token| &token.symbol).collect()
}

pub(super) fn is_break(token: &Token) -> bool {
    matches!(token.symbol, Symbol::Break | Symbol::Char('\n'))
}

fn no(code: &'static str, edit: usize) -> No {
    No {
        code,
        edit: Some(edit),
        found: None,
        lines: None,
    }
}

pub(super) fn refused<T>(code: &'static str) -> Result<T, No> {
    Err(No {
        edit: None,
        ..no(code, 0)
    })
}
