//! The languages: their files, their comments and strings, and their rules.

mod braces;
mod classes;
mod others;
mod scripts;

use super::language::{Language, Unit};
use super::syntax::{Extra, Quote, Syntax, quote};

/// Every language that has rules. The first that claims a file has it.
pub(super) static LANGUAGES: &[Language] = &[
    braces::RUST,
    scripts::PYTHON,
    braces::JAVASCRIPT,
    braces::TYPESCRIPT,
    braces::TSX,
    braces::GO,
    classes::JAVA,
    classes::C,
    classes::CPP,
    classes::C_SHARP,
    scripts::RUBY,
    classes::PHP,
    braces::KOTLIN,
    braces::SWIFT,
    braces::SCALA,
    classes::DART,
    classes::OBJECTIVE_C,
    classes::GROOVY,
    braces::ZIG,
    braces::PROTO,
    scripts::SHELL,
    scripts::LUA,
    scripts::PERL,
    scripts::R,
    scripts::JULIA,
    scripts::ELIXIR,
    scripts::POWERSHELL,
    others::HASKELL,
    others::OCAML,
    others::F_SHARP,
    others::LISP,
    others::ERLANG,
    others::NIM,
    others::SQL,
    others::MAKE,
];

/// What patterns name between `%`s.
pub(super) const FRAGMENTS: [(&str, &str); 6] = [
    // Arguments in round brackets, with brackets inside.
    (
        "%args%",
        r"\((?:[^(){};]|\((?:[^(){};]|\([^(){};]*\))*\))*\)",
    ),
    // The same, with `{}` and `;` inside, as for patterns and defaults.
    (
        "%params%",
        r"\((?:[^(){}]|\((?:[^()]|\([^()]*\))*\)|\{(?:[^{}]|\{[^{}]*\})*\})*\)",
    ),
    // Annotations and attributes before a declaration.
    (
        "%notes%",
        r"(?:@[\w.]+(?:\s*\((?:[^()]|\([^()]*\))*\))?\s*|\[[^\]]*\]\s*)*",
    ),
    // A type: a name, its parameters, its brackets.
    (
        "%type%",
        r"[\w$.]+(?:\s*<[^;(){}=]*>)?(?:\s*\[[\s,]*\])*[?*&]*",
    ),
    // What a member of a class may begin with.
    (
        "%member%",
        r"(?:(?:static|async|get|set|public|private|protected|internal|readonly|abstract|override|declare|accessor|final|const|late|external|covariant)\s+)*",
    ),
    // A value that is a function or a class.
    (
        "%callable%",
        r"=\s*(?:async\s+)?(?:function\b|class\b|(?:<[^=(]*>\s*)?\((?:[^(){}]|\([^()]*\)|\{[^{}]*\})*\)\s*(?::[^=;]+)?=>|[\w$]+\s*=>)",
    ),
];

/// What most languages have in common; each names what differs.
const PLAIN: Language = Language {
    name: "",
    extensions: &[],
    files: &[],
    programs: &[],
    syntax: &C_LIKE,
    unit: Unit::Line,
    types: "",
    reserved: "",
    rules: &[],
};

/// `//`, `/* */`, `"..."` and `'x'`.
const C_LIKE: Syntax = Syntax {
    line: &["//"],
    block: &[("/*", "*/")],
    quotes: &[quote("\"")],
    extras: &[Extra::Char],
    word: "",
};

/// Strings that reach over lines, raw, between three marks.
const TRIPLE: Quote = quote("\"\"\"").lines();
