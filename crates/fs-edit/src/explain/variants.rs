//! Texts that are found once something that was pasted in is taken out.

use memchr::memmem;

use super::field::Field;
use super::finding::Finding;

impl Field<'_> {
    /// Returns the place of `old` with its escapes resolved or its line numbers taken off.
    pub(super) fn variants(&self, old: &str) -> Option<Finding> {
        let ampersands = Some(old.replace('&', "&amp;")).filter(|text| text != old);
        let escapes = [
            unescaped(old),
            without_entities(old),
            with_entities(old),
            ampersands,
        ];
        let escapes = escapes.into_iter().flatten().map(|text| {
            let words = "\"old\" matches %, but for its escapes: text is compared as it is given";
            (text, "escapes", words)
        });
        let numbers = numberless(old).into_iter().map(|text| {
            let words = "\"old\" matches % once the line numbers at the heads of its lines are \
                         taken off";
            (text, "line_numbers", words)
        });
        let mut candidates = escapes.chain(numbers);
        candidates.find_map(|(text, probe, words)| {
            if text.trim().is_empty() || self.budget.is_spent() {
                return None;
            }
            let at = self.seek(&memmem::Finder::new(text.as_bytes()), 0)?;
            let (first, last) = self.lines_at(at, &text);
            let finding = self.found(probe, first, last, |place| words.replace('%', place));
            Some(self.with_exact(finding, first, at..at + text.len(), at))
        })
    }
}

/// Returns `text` with its backslash escapes resolved, if it has any.
fn unescaped(text: &str) -> Option<String> {
    let (head, mut rest) = text.split_once('\\')?;
    let mut resolved = head.to_owned();
    loop {
        let (character, length) = escape(rest);
        resolved.push(character.unwrap_or('\\'));
        let after = rest.get(length..).unwrap_or_default();
        let Some((plain, next)) = after.split_once('\\') else {
            resolved.push_str(after);
            return (resolved != text).then_some(resolved);
        };
        resolved.push_str(plain);
        rest = next;
    }
}

/// Returns the character that an escape stands for, and how long it is after its backslash.
fn escape(rest: &str) -> (Option<char>, usize) {
    let code = |digits: usize| {
        let number = rest
            .get(1..=digits)
            .filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        let number = number.and_then(|it| u32::from_str_radix(it, 16).ok());
        number
            .and_then(char::from_u32)
            .map(|c| (Some(c), digits + 1))
    };
    let simple = |c: char| (Some(c), 1);
    match rest.chars().next() {
        Some('n') => simple('\n'),
        Some('t') => simple('\t'),
        Some('r') => simple('\r'),
        Some(c @ ('\\' | '"' | '\'' | '/' | '`' | '$')) => simple(c),
        Some('u') => code(4).unwrap_or((None, 0)),
        Some('x') => code(2).unwrap_or((None, 0)),
        _ => (None, 0),
    }
}

const ENTITIES: [(&str, &str); 5] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&amp;", "&"),
];

/// Returns `text` with its character entities resolved, if it has any.
fn without_entities(text: &str) -> Option<String> {
    let resolved = ENTITIES
        .iter()
        .fold(text.to_owned(), |text, (entity, plain)| {
            text.replace(entity, plain)
        });
    (resolved != text).then_some(resolved)
}

/// Returns `text` as markup spells it, if that is another text.
fn with_entities(text: &str) -> Option<String> {
    let spelled = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    (spelled != text).then_some(spelled)
}

/// Returns `text` without the numbers before its lines, if every line that is not blank has one:
/// once with the blank after the number's mark kept, once without.
fn numberless(text: &str) -> Vec<String> {
    let strip = |drops_blank: fn(&str) -> &str| {
        let lines = text.split('\n').map(|line| match numbered(line) {
            None if line.trim().is_empty() => Some(line),
            rest => rest.map(drops_blank),
        });
        let lines: Option<Vec<_>> = lines.collect();
        lines.map(|lines| lines.join("\n"))
    };
    let without_blank = strip(|rest| rest.strip_prefix(' ').unwrap_or(rest));
    let with_blank = strip(|rest| rest);
    without_blank.into_iter().chain(with_blank).collect()
}

/// Returns what follows a line number and its mark.
fn numbered(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    let marks = ["\t", "|", "\u{2192}", ":", "->", "."];
    let marked = rest.trim_start_matches(' ');
    marks.iter().find_map(|mark| marked.strip_prefix(mark))
}
