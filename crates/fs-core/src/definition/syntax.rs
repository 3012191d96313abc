//! What comments and strings look like in a language.

/// The comments and strings of a language.
#[derive(Debug)]
pub(super) struct Syntax {
    /// What begins a comment to the end of the line.
    pub(super) line: &'static [&'static str],
    /// What begins and ends a comment. One that begins with `=` does so at the line's beginning.
    pub(super) block: &'static [(&'static str, &'static str)],
    /// Its strings, longer openings first.
    pub(super) quotes: &'static [Quote],
    /// What else the language has.
    pub(super) extras: &'static [Extra],
    /// What is part of a word besides letters, digits and `_`.
    pub(super) word: &'static str,
}

/// A string.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) escape: Escape,
    pub(super) reach: Reach,
    /// What opens code inside the string, as `${`; empty for nothing.
    pub(super) hole: &'static str,
}

/// How a string holds its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    Backslash,
    Doubled,
    None,
}

/// How far an unfinished string reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Line,
    Lines,
}

/// What only some languages have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    /// `'x'` is a character, any other `'` is none.
    Char,
    /// `r#"..."#`.
    RustRaw,
    /// `R"mark(...)mark"`.
    CppRaw,
    /// `[==[...]==]`, also as a comment.
    LuaLong,
    /// `/.../` where a value may begin.
    Regex,
    /// `<<MARK` up to the line `MARK`.
    Heredoc,
    /// `%w[...]` and its like.
    Percent,
    /// A `#` begins a comment only after a blank.
    SpacedHash,
    /// `#[` begins an attribute, not a comment.
    HashAttribute,
    /// All but `<?...?>` is no code.
    PhpTags,
    /// Block comments may hold block comments.
    Nested,
}

/// A string in one line, with backslashes.
pub(super) const fn quote(mark: &'static str) -> Quote {
    Quote {
        open: mark,
        close: mark,
        escape: Escape::Backslash,
        reach: Reach::Line,
        hole: "",
    }
}

impl Quote {
    pub(super) const fn lines(self) -> Self {
        Self {
            reach: Reach::Lines,
            ..self
        }
    }

    pub(super) const fn raw(self) -> Self {
        Self {
            escape: Escape::None,
            ..self
        }
    }

    pub(super) const fn doubled(self) -> Self {
        Self {
            escape: Escape::Doubled,
            ..self
        }
    }

    pub(super) const fn hole(self, hole: &'static str) -> Self {
        Self { hole, ..self }
    }

    pub(super) const fn open(self, open: &'static str) -> Self {
        Self { open, ..self }
    }
}
