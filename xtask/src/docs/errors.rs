//! The page of error codes, from the texts beside the codes in fs-core.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

const HEAD: &str = "\
# Error codes

Made by `cargo xtask docs` from `Problem` and `ErrorKind` in `crates/fs-core`; change it there.

Every failure is an object `{code, message, path?, hint?, …}`; the fields of a code are listed with it.
A code never changes its meaning. `path` is always the path as the caller wrote it, and no text holds another one.
Over MCP a failure is a tool error: `isError` is true, `structuredContent` is the object, and `content` says the same in words.
A cancelled call gets no reply there. Over the Agent Client Protocol it is the `data` of an error, see [acp.md](acp.md).

| code | when | fields | next step |
|---|---|---|---|
";

/// Problems that share the code of another one.
const TWINS: [(&str, &str); 2] = [("NothingToUndo", "NotFound"), ("ChangedSince", "Conflict")];

/// A kind of problem with all that the source says of it.
#[derive(Debug, Default)]
struct Kind {
    variant: String,
    code: String,
    when: String,
    fields: Vec<String>,
    hints: Vec<String>,
}

/// Returns the page for the source of the error type.
pub(super) fn page(source: &str) -> Result<String> {
    let mut page = HEAD.to_owned();
    for kind in kinds(source)? {
        let fields: Vec<String> = kind.fields.iter().map(|name| format!("`{name}`")).collect();
        writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            kind.code,
            kind.when,
            fields.join(", "),
            kind.hints.join("; or ").replace('|', "\\|"),
        )?;
    }
    Ok(page)
}

/// Returns every code, in the order of the source.
pub(super) fn codes(source: &str) -> Result<Vec<String>> {
    Ok(kinds(source)?.into_iter().map(|kind| kind.code).collect())
}

fn kinds(source: &str) -> Result<Vec<Kind>> {
    let tokens = TokenStream::from_str(source).map_err(|error| anyhow!("{error}"))?;
    let body =
        |name: &str| body_of(tokens.clone(), "fn", name).with_context(|| format!("no fn {name}"));
    let codes = arms(body("code")?.stream());
    let hints = arms(body("hint")?.stream());
    let fields = arms(body("fields")?.stream());
    let problems = body_of(tokens.clone(), "enum", "Problem").context("no enum Problem")?;
    let mut texts = variants(problems.stream());
    let of = |arms: &[(String, Arm)], variant: &str| -> Vec<Arm> {
        let own = arms.iter().filter(|(name, _)| name == variant);
        own.map(|(_, arm)| arm.clone()).collect()
    };
    let kind = |(variant, arm): &(String, Arm)| {
        Ok(Kind {
            code: arm.texts.first().cloned().context("a code is no literal")?,
            when: texts
                .get(variant)
                .cloned()
                .with_context(|| format!("{variant} is not explained"))?,
            fields: of(&fields, variant)
                .into_iter()
                .flat_map(|arm| arm.names)
                .collect(),
            hints: of(&hints, variant)
                .into_iter()
                .flat_map(|arm| arm.texts)
                .collect(),
            variant: variant.clone(),
        })
    };
    let mut kinds: Vec<Kind> = codes.iter().map(kind).collect::<Result<_>>()?;
    for (variant, of_kind) in TWINS {
        let kind = kinds.iter_mut().find(|kind| kind.variant == of_kind);
        if let (Some(text), Some(kind)) = (texts.remove(variant), kind) {
            kind.when = format!("{} {text}", kind.when);
            let words = of(&hints, variant).into_iter().flat_map(|arm| arm.texts);
            kind.hints.extend(words);
        }
    }
    let without = texts
        .keys()
        .find(|name| !kinds.iter().any(|kind| kind.variant == **name));
    match without {
        Some(name) => Err(anyhow!("{name} has no code")),
        None => Ok(kinds),
    }
}

/// Returns the braces after `keyword name`.
fn body_of(tokens: TokenStream, keyword: &str, name: &str) -> Option<Group> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        if is_word(token, keyword) && next.is_some_and(|next| is_word(next, name)) {
            let rest = tokens.iter().skip(index).find_map(braces);
            return rest.cloned();
        }
        if let TokenTree::Group(group) = token
            && let Some(found) = body_of(group.stream(), keyword, name)
        {
            return Some(found);
        }
    }
    None
}

/// What stands on the right of an arm: texts, and the names that begin pairs, as `("lines", …)`.
#[derive(Debug, Default, Clone)]
struct Arm {
    texts: Vec<String>,
    names: Vec<String>,
}

/// Returns the arms of the first `match` of a body, by the variants on their left.
fn arms(body: TokenStream) -> Vec<(String, Arm)> {
    let mut tokens = body
        .into_iter()
        .skip_while(|token| !is_word(token, "match"));
    let arms = tokens.find_map(|token| braces(&token).cloned());
    let mut found: Vec<(String, Arm)> = Vec::new();
    let (mut on_the_right, mut before) = (false, ' ');
    for token in arms.into_iter().flat_map(|group| group.stream()) {
        match &token {
            TokenTree::Punct(mark) => {
                on_the_right |= before == '=' && mark.as_char() == '>';
                on_the_right &= mark.as_char() != ',';
                before = mark.as_char();
                continue;
            }
            TokenTree::Ident(word) if !on_the_right && before == ':' => {
                found.push((word.to_string(), Arm::default()));
            }
            _ if on_the_right => {
                if let Some((_, arm)) = found.last_mut() {
                    arm.read(&token);
                }
                // An arm in braces needs no comma.
                on_the_right &= braces(&token).is_none();
            }
            _ => {}
        }
        before = ' ';
    }
    found
}

impl Arm {
    fn read(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Literal(_) => self.texts.extend(text_of(token)),
            TokenTree::Group(group) => {
                let first = group.stream().into_iter().next();
                let pair = group.delimiter() == Delimiter::Parenthesis;
                let name = first.as_ref().filter(|_| pair).and_then(text_of);
                self.names.extend(name);
                group
                    .stream()
                    .into_iter()
                    .for_each(|token| self.read(&token));
            }
            _ => {}
        }
    }
}

/// Returns the variants of an enum with the first sentence that documents each.
fn variants(body: TokenStream) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut text = String::new();
    for token in body {
        match &token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                if inside.first().is_some_and(|word| is_word(word, "doc")) {
                    text.extend(inside.get(2).and_then(text_of));
                }
            }
            TokenTree::Ident(name) => {
                found.insert(
                    name.to_string(),
                    std::mem::take(&mut text).trim().to_owned(),
                );
            }
            _ => {}
        }
    }
    found
}

fn is_word(token: &TokenTree, text: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == text)
}

fn braces(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Returns the value of a plain string literal.
fn text_of(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else {
        return None;
    };
    let text = literal.to_string();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
        pub enum Problem {
            /// Nothing has this name.
            #[error("x")]
            NotFound,
            /// The text occurs
            /// nowhere.
            NoMatch { lines: Vec<u64> },
        }
        impl ErrorKind {
            fn code(self) -> &'static str {
                match self { Self::NotFound => "not_found", Self::NoMatch => "no_match" }
            }
        }
        impl Problem {
            fn hint(&self) -> Option<String> {
                let text = match self {
                    Self::NoMatch { lines } if lines.is_empty() => { "read it again" }
                    Self::NoMatch { .. } => "look there",
                    _ => return None,
                };
                Some(text)
            }
            fn fields(&self) -> Vec<(&'static str, Field)> {
                match self { Self::NoMatch { lines } => vec![("lines", Numbers(lines))], _ => Vec::new() }
            }
        }
    "#;

    #[test]
    fn every_code_has_a_row() {
        let page = page(SOURCE).unwrap();
        let rows: Vec<&str> = page.lines().rev().take(2).collect();
        assert_eq!(
            rows,
            [
                "| `no_match` | The text occurs nowhere. | `lines` | read it again; or look there |",
                "| `not_found` | Nothing has this name. |  |  |",
            ]
        );
    }

    #[test]
    fn a_problem_without_a_code_is_found() {
        let source = SOURCE.replace("Self::NotFound => \"not_found\",", "");
        assert!(page(&source).unwrap_err().to_string().contains("NotFound"));
    }
}
