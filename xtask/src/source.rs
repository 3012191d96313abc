//! What the rules need to know of a Rust file, read from its tokens: comments and strings never count.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The facts of one file.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) functions: Vec<Function>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) macros: Vec<Word>,
    /// Every identifier outside of attributes.
    pub(crate) words: Vec<Word>,
    /// `mod name;`, with the inline modules around it.
    pub(crate) modules: Vec<Vec<String>>,
    /// The lines of inline modules under `#[cfg(test)]`: first and last.
    pub(crate) tests: Vec<(usize, usize)>,
}

/// A function with a body, by its lines; both ends belong to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// An attribute, without its brackets: `ignore`, `expect ( clippy :: disallowed_methods , … )`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// An identifier and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Function {
    pub(crate) fn lines(&self) -> usize {
        self.last + 1 - self.first
    }
}

impl Attribute {
    /// Returns the attribute's own name.
    pub(crate) fn name(&self) -> &str {
        self.text.split([' ', '(']).next().unwrap_or_default()
    }

    /// Returns whether one of the attribute's words is `word`.
    pub(crate) fn names(&self, word: &str) -> bool {
        let mut words = self
            .text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.any(|each| each == word)
    }
}

impl Facts {
    /// Reads the facts of a file with this text.
    ///
    /// # Errors
    /// Fails when the text is no sequence of Rust tokens.
    pub(crate) fn of(text: &str) -> anyhow::Result<Self> {
        let tokens = TokenStream::from_str(text)
            .map_err(|error| anyhow::anyhow!("line {}: {error}", error.span().start().line))?;
        let mut facts = Self::default();
        facts.visit(tokens, &[]);
        Ok(facts)
    }

    /// Returns whether `line` is inside of an inline test module.
    pub(crate) fn tests_hold(&self, line: usize) -> bool {
        self.tests
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&line))
    }

    fn visit(&mut self, tokens: TokenStream, inside: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut under_test = false;
        for (index, token) in tokens.iter().enumerate() {
            let rest = tokens.get(index + 1..).unwrap_or_default();
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    under_test |= self.attribute(rest);
                }
                TokenTree::Ident(word) if word == "fn" => self.function(token, rest),
                TokenTree::Ident(word) if word == "mod" => {
                    self.module(token, rest, under_test, inside);
                }
                _ => {}
            }
            match token {
                TokenTree::Group(group) => self.enter(group, &tokens, index, inside),
                TokenTree::Ident(word) => self.word(&word.to_string(), token, rest),
                TokenTree::Punct(mark) if mark.as_char() == ';' => under_test = false,
                _ => {}
            }
            if matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace) {
                under_test = false;
            }
        }
    }

    /// Notes an attribute and returns whether it is `cfg(test)`.
    fn attribute(&mut self, rest: &[TokenTree]) -> bool {
        let inner = matches!(rest.first(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
        let Some(TokenTree::Group(group)) = rest.get(usize::from(inner)) else {
            return false;
        };
        let text = group.stream().to_string();
        let is_test = text.replace(' ', "") == "cfg(test)";
        let line = group.span_open().start().line;
        self.attributes.push(Attribute { text, line });
        is_test
    }

    fn function(&mut self, token: &TokenTree, rest: &[TokenTree]) {
        let Some(TokenTree::Ident(name)) = rest.first() else {
            return; // A function pointer's type.
        };
        for next in rest {
            match next {
                TokenTree::Punct(mark) if mark.as_char() == ';' => return,
                TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                    self.functions.push(Function {
                        name: name.to_string(),
                        first: token.span().start().line,
                        last: body.span_close().end().line,
                    });
                    return;
                }
                _ => {}
            }
        }
    }

    fn module(&mut self, token: &TokenTree, rest: &[TokenTree], test: bool, inside: &[String]) {
        let (Some(TokenTree::Ident(name)), Some(next)) = (rest.first(), rest.get(1)) else {
            return;
        };
        match next {
            TokenTree::Punct(mark) if mark.as_char() == ';' => {
                let mut path = inside.to_vec();
                path.push(name.to_string());
                self.modules.push(path);
            }
            TokenTree::Group(body) if test => {
                let last = body.span_close().end().line;
                self.tests.push((token.span().start().line, last));
            }
            _ => {}
        }
    }

    /// Visits what is inside of `group`, unless it belongs to an attribute.
    fn enter(&mut self, group: &Group, tokens: &[TokenTree], index: usize, inside: &[String]) {
        let before = |distance: usize| index.checked_sub(distance).and_then(|at| tokens.get(at));
        let is_mark = |token: Option<&TokenTree>, wanted: char| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == wanted);
        let of_attribute = group.delimiter() == Delimiter::Bracket
            && (is_mark(before(1), '#') || is_mark(before(1), '!') && is_mark(before(2), '#'));
        if of_attribute {
            return;
        }
        let mut path = inside.to_vec();
        if let (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(name))) = (before(2), before(1))
            && word == "mod"
        {
            path.push(name.to_string());
        }
        self.visit(group.stream(), &path);
    }

    fn word(&mut self, text: &str, token: &TokenTree, rest: &[TokenTree]) {
        let line = token.span().start().line;
        let word = |text: &str| Word {
            text: text.to_owned(),
            line,
        };
        self.words.push(word(text));
        if let [TokenTree::Punct(mark), TokenTree::Group(_), ..] = rest
            && mark.as_char() == '!'
        {
            self.macros.push(word(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        Facts::of(text).unwrap()
    }

    #[test]
    fn a_function_spans_its_braces_and_a_pointer_type_is_none() {
        let text = "// fn not() {}\nfn one(f: fn(u8)) -> u8\nwhere\n{\n    \"fn two() {\"\n}\ntrait T { fn three(); }\n";
        let found = facts(text).functions;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].lines()), ("one", 5));
    }

    #[test]
    fn functions_and_attributes_inside_of_macros_count() {
        let found = facts("proptest! { #[test]\n#[ignore]\nfn slow() { todo!() } }");
        assert_eq!(found.functions.len(), 1);
        assert!(found.attributes.iter().any(|each| each.name() == "ignore"));
        assert!(found.macros.iter().any(|each| each.text == "todo"));
    }

    #[test]
    fn comments_and_strings_hold_no_words() {
        let found = facts("// rmcp\n/// rmcp\nconst A: &str = \"rmcp\";");
        assert!(found.words.iter().all(|word| word.text != "rmcp"));
    }

    #[test]
    fn modules_are_known_by_their_inline_parents() {
        let found = facts("mod a; mod b { mod c; } #[cfg(test)] mod tests {\n}\n");
        assert_eq!(found.modules, [vec!["a"], vec!["b", "c"]]);
        assert_eq!(found.tests, [(1, 2)]);
        assert!(found.tests_hold(2) && !found.tests_hold(3));
    }
}
