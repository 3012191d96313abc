//! The contract again, word by word and in quadratic time; it shares nothing with the engine but
//! the request.

use crate::{Edit, EolMode};

/// A token: what it is compared by, and its bytes in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    value: Value,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Break,
    Char(char),
    Byte(u8),
}

/// How the file spells characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Utf8,
    Utf16Le,
    Utf16Be,
    Opaque,
}

/// The code of a failure and the edit it belongs to, with the count where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) edit: Option<usize>,
    pub(super) found: Option<u64>,
}

struct Match {
    edit: usize,
    start: usize,
    len: usize,
}

/// Returns the file after `edits`.
pub(super) fn apply(
    file: &[u8],
    spelling: Spelling,
    edits: &[Edit],
    eol: EolMode,
) -> Result<Vec<u8>, Failure> {
    let (bom, file) = file.split_at(bom_len(file, spelling));
    let file = joined(characters(file, spelling), eol);
    for (edit, it) in edits.iter().enumerate() {
        if spelling == Spelling::Opaque && !(it.old.is_ascii() && it.new.is_ascii()) {
            return Err(failure("encoding_unknown", Some(edit), None));
        }
    }
    let mut matches = Vec::new();
    for (edit, it) in edits.iter().enumerate() {
        matches.extend(matches_of(&file, edit, it, spelling, eol)?);
    }
    for a in &matches {
        for b in &matches {
            let apart = a.start + a.len <= b.start || b.start + b.len <= a.start;
            if !std::ptr::eq(a, b) && !apart {
                return Err(failure("overlapping_edits", None, None));
            }
        }
    }
    matches.sort_by_key(|it| it.start);
    let mut result = bom.to_vec();
    let mut at = 0;
    for it in &matches {
        write(&mut result, &file[at..it.start]);
        let old = &file[it.start..it.start + it.len];
        let new = joined(
            characters(edits[it.edit].new.as_bytes(), Spelling::Utf8),
            eol,
        );
        replace(&mut result, &file, it.start, old, &new, spelling, eol);
        at = it.start + it.len;
    }
    write(&mut result, &file[at..]);
    let mut original = bom.to_vec();
    write(&mut original, &file);
    if result == original {
        return Err(failure("no_op", None, None));
    }
    Ok(result)
}

/// Returns how often `old` starts in `file`, overlapping ones included.
pub(super) fn count(file: &[u8], old: &str, eol: EolMode) -> usize {
    let file = joined(
        characters(&file[bom_len(file, Spelling::Utf8)..], Spelling::Utf8),
        eol,
    );
    let old = joined(characters(old.as_bytes(), Spelling::Utf8), eol);
    starts(&file, &old).len()
}

fn matches_of(
    file: &[Token],
    edit: usize,
    it: &Edit,
    spelling: Spelling,
    eol: EolMode,
) -> Result<Vec<Match>, Failure> {
    let old = joined(characters(it.old.as_bytes(), Spelling::Utf8), eol);
    let all = starts(file, &old);
    let found = Some(all.len() as u64);
    let mut chosen = Vec::new();
    let mut free = 0;
    for start in &all {
        if *start >= free {
            chosen.push(*start);
            free = start + old.len();
        }
    }
    if all.is_empty() {
        return Err(failure("no_match", Some(edit), None));
    }
    if it.expected_count != -1 {
        if i64::try_from(all.len()).unwrap() != it.expected_count {
            return Err(failure("count_mismatch", Some(edit), found));
        }
        if chosen.len() != all.len() {
            return Err(failure("overlapping_matches", Some(edit), found));
        }
    }
    let unsure = |start: &usize| {
        let before = start
            .checked_sub(1)
            .map(|at| file[at].bytes[file[at].bytes.len() - 1]);
        before.is_some_and(|byte| byte >= 0x80)
    };
    if spelling == Spelling::Opaque && chosen.iter().any(unsure) {
        return Err(failure("encoding_unknown", Some(edit), None));
    }
    let len = old.len();
    Ok(chosen
        .into_iter()
        .map(|start| Match { edit, start, len })
        .collect())
}

fn starts(file: &[Token], old: &[Token]) -> Vec<usize> {
    let same = |start: &usize| {
        old.iter().enumerate().all(|(k, token)| {
            file.get(start + k)
                .is_some_and(|other| other.value == token.value)
        })
    };
    (0..file.len()).filter(same).collect()
}

fn replace(
    result: &mut Vec<u8>,
    file: &[Token],
    start: usize,
    old: &[Token],
    new: &[Token],
    spelling: Spelling,
    eol: EolMode,
) {
    let mut head = 0;
    while head < old.len() && head < new.len() && old[head].value == new[head].value {
        head += 1;
    }
    let mut tail = 0;
    while head + tail < old.len()
        && head + tail < new.len()
        && old[old.len() - 1 - tail].value == new[new.len() - 1 - tail].value
    {
        tail += 1;
    }
    write(result, &old[..head]);
    let core = &old[head..old.len() - tail];
    let breaks = |tokens: &[Token]| -> Vec<Vec<u8>> {
        let breaks = tokens.iter().filter(|token| token.value == Value::Break);
        breaks.map(|token| token.bytes.clone()).collect()
    };
    let new = &new[head..new.len() - tail];
    let (old_breaks, new_breaks) = (breaks(core), breaks(new));
    let near = breaks(&file[start + head..]).first().cloned();
    let near = near.or_else(|| breaks(&file[..start + head]).last().cloned());
    for (k, token) in new.iter().enumerate() {
        let nth = breaks(&new[..k]).len();
        match (token.value, eol) {
            (Value::Break, EolMode::Lf) => spell(result, "\n", spelling),
            (Value::Break, EolMode::CrLf) => spell(result, "\r\n", spelling),
            (Value::Break, _) if old_breaks.len() == new_breaks.len() => {
                result.extend(&old_breaks[nth]);
            }
            (Value::Break, _) => match &near {
                Some(bytes) => result.extend(bytes),
                None => spell(result, std::str::from_utf8(&token.bytes).unwrap(), spelling),
            },
            (Value::Char(c), _) => spell(result, &c.to_string(), spelling),
            (Value::Byte(byte), _) => result.push(byte),
        }
    }
    write(result, &old[old.len() - tail..]);
}

fn spell(result: &mut Vec<u8>, text: &str, spelling: Spelling) {
    for unit in text.encode_utf16() {
        match spelling {
            Spelling::Utf16Le => result.extend(unit.to_le_bytes()),
            Spelling::Utf16Be => result.extend(unit.to_be_bytes()),
            Spelling::Utf8 | Spelling::Opaque => {}
        }
    }
    if matches!(spelling, Spelling::Utf8 | Spelling::Opaque) {
        result.extend(text.as_bytes());
    }
}

fn write(result: &mut Vec<u8>, tokens: &[Token]) {
    for token in tokens {
        result.extend(&token.bytes);
    }
}

fn bom_len(file: &[u8], spelling: Spelling) -> usize {
    match spelling {
        Spelling::Utf16Le | Spelling::Utf16Be => 2,
        Spelling::Utf8 if file.starts_with("\u{feff}".as_bytes()) => 3,
        Spelling::Utf8 | Spelling::Opaque => 0,
    }
}

fn characters(file: &[u8], spelling: Spelling) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut push = |value, bytes: &[u8]| {
        tokens.push(Token {
            value,
            bytes: bytes.to_vec(),
        });
    };
    match spelling {
        Spelling::Utf8 => {
            for c in std::str::from_utf8(file).unwrap().chars() {
                push(Value::Char(c), c.to_string().as_bytes());
            }
        }
        Spelling::Opaque => {
            for byte in file {
                let ascii = Value::Char(char::from(*byte));
                push(
                    if *byte < 0x80 {
                        ascii
                    } else {
                        Value::Byte(*byte)
                    },
                    &[*byte],
                );
            }
        }
        Spelling::Utf16Le | Spelling::Utf16Be => {
            let le = spelling == Spelling::Utf16Le;
            let units = file.chunks(2).map(|unit| {
                let unit = [unit[0], unit[1]];
                if le {
                    u16::from_le_bytes(unit)
                } else {
                    u16::from_be_bytes(unit)
                }
            });
            let mut at = 0;
            for c in char::decode_utf16(units) {
                let c = c.unwrap();
                push(Value::Char(c), &file[at..at + 2 * c.len_utf16()]);
                at += 2 * c.len_utf16();
            }
        }
    }
    tokens
}

fn joined(tokens: Vec<Token>, eol: EolMode) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    for mut token in tokens {
        if token.value == Value::Char('\n') && eol != EolMode::Exact {
            if all
                .last()
                .is_some_and(|last| last.value == Value::Char('\r'))
            {
                let cr = all.pop().unwrap();
                token.bytes = [cr.bytes, token.bytes].concat();
            }
            token.value = Value::Break;
        }
        all.push(token);
    }
    all
}

fn failure(code: &'static str, edit: Option<usize>, found: Option<u64>) -> Failure {
    Failure { code, edit, found }
}
