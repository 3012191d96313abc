//! Languages of scripts.

use super::super::DefinitionKind::{
    Class, Constant, Enum, Field, Function, Macro, Method, Module, Struct, Type, Variable,
};
use super::super::language::{Language, Name, Unit, rule};
use super::super::syntax::{Extra, Syntax, quote};
use super::{PLAIN, TRIPLE};

/// `#`, `"..."` and `'...'`.
const HASH: Syntax = Syntax {
    line: &["#"],
    block: &[],
    quotes: &[quote("\""), quote("'")],
    extras: &[],
    word: "",
};

pub(super) const PYTHON: Language = Language {
    name: "python",
    extensions: &["py", "pyi", "pyw", "pyx", "bzl", "star"],
    files: &["SConstruct", "SConscript", "BUILD", "WORKSPACE"],
    programs: &["python", "pypy", "ipython"],
    syntax: &Syntax {
        quotes: &[TRIPLE, quote("'''").lines(), quote("\""), quote("'")],
        ..HASH
    },
    unit: Unit::Indent,
    rules: &[
        rule(Method, r"^\s*(async\s+|c?p?)def\s+")
            .after(r"\s*[\[(]")
            .head(r"^\s*class\b"),
        rule(Function, r"^\s*(async\s+|c?p?)def\s+").after(r"\s*[\[(]"),
        rule(Class, r"^\s*class\s+").after(r"\s*[\[(:]"),
        rule(Type, r"^\s*type\s+").after(r"\s*[\[=]"),
        rule(Variable, r"^(\w+\s*,\s*)*")
            .after(r"\s*(,\s*\w+\s*)*(:[^=\n]+)?(=[^=]|\n)")
            .not_after(r"\s*\n"),
        rule(Variable, r"^").after(r"[ \t]*:[ \t]*\w[^=\n]*\n"),
        rule(Field, r"^\s+")
            .after(r"\s*(:[^=\n]+)?=[^=]")
            .head(r"^\s*class\b"),
        rule(Field, r"^\s+")
            .after(r"\s*:\s*\w")
            .head(r"^\s*class\b"),
    ],
    ..PLAIN
};

pub(super) const RUBY: Language = Language {
    name: "ruby",
    extensions: &["rb", "rake", "gemspec", "ru", "podspec", "cr"],
    files: &["Rakefile", "Gemfile", "Vagrantfile", "Podfile", "Brewfile", "Guardfile"],
    programs: &["ruby", "rake"],
    syntax: &Syntax {
        block: &[("=begin", "=end")],
        quotes: &[quote("\"").lines().hole("#{"), quote("'").lines(), quote("`").hole("#{")],
        extras: &[Extra::Regex, Extra::Heredoc, Extra::Percent],
        ..HASH
    },
    rules: &[
        rule(Method, r"\bdef\s+((self|\w+)\.)?").after(r"(=?\s*\(|\s|;|=)"),
        rule(Class, r"^\s*class\s+(\w+::)*").after(r"\s*(<|;|\n)"),
        rule(Module, r"^\s*module\s+(\w+::)*"),
        rule(Constant, r"^\s*(\w+::)*")
            .after(r"\s*(\|\|)?=[^=~>]")
            .name(Name::Capital),
        rule(Method, r"^\s*(\w+\s+)?(attr_accessor|attr_reader|attr_writer|attr|define_method|alias_method)[\s(]+(:\w+[?!]?\s*,\s*)*:")
            .not_before(r"\balias_method[\s(]+:\w+[?!]?\s*,"),
        rule(Method, r"^\s*alias\s+:?"),
    ],
    ..PLAIN
};

pub(super) const SHELL: Language = Language {
    name: "shell",
    extensions: &["sh", "bash", "zsh", "ksh", "fish", "bats", "ebuild"],
    files: &[
        ".bashrc",
        ".bash_profile",
        ".bash_aliases",
        ".zshrc",
        ".profile",
        ".zshenv",
        "PKGBUILD",
        "configure",
    ],
    programs: &["sh", "bash", "zsh", "ksh", "dash", "fish", "ash"],
    syntax: &Syntax {
        quotes: &[
            quote("\"").lines().hole("$("),
            quote("'").lines().raw(),
            quote("`").lines(),
        ],
        extras: &[Extra::SpacedHash, Extra::Heredoc],
        word: "-",
        ..HASH
    },
    rules: &[
        rule(Function, r"^\s*(function\s+)?").after(r"\s*\(\s*\)"),
        rule(Function, r"^\s*function\s+"),
        rule(
            Variable,
            r"^((export|readonly|declare|typeset|local|set)\s+(-\w+\s+)*)?",
        )
        .after(r"(\+?=)")
        .not_before(r"local")
        .not_after(r#"\+?=("[^"\n]*"|'[^'\n]*'|[^\s"'(])*[ \t]+\w"#),
        rule(Constant, r"^\s*(export|readonly)\s+(-\w+\s+)*")
            .after(r"=")
            .outer(),
        rule(Function, r"^\s*alias\s+(-\w+\s+)*").after(r"="),
        rule(Variable, r"^set\s+(-\w+\s+)+").after(r"[ \t]+\S"),
    ],
    ..PLAIN
};

pub(super) const LUA: Language = Language {
    name: "lua",
    extensions: &["lua", "luau"],
    programs: &["lua", "luajit"],
    syntax: &Syntax {
        line: &["--"],
        extras: &[Extra::LuaLong],
        ..HASH
    },
    rules: &[
        rule(Function, r"\bfunction\s+").after(r"\s*\("),
        rule(Method, r"\bfunction\s+[\w.]+[.:]").after(r"\s*\("),
        rule(Function, r"(^|[{,])\s*(local\s+)?([\w.]+\.)?").after(r"\s*=\s*function\b"),
        rule(Variable, r"^local\s+(\w+\s*,\s*)*")
            .after(r"\s*(<\w+>\s*)?[=,\n]")
            .not_after(r"\s*=\s*require\b"),
        rule(Variable, r"^")
            .after(r"\s*=[^=]")
            .not_after(r"\s*=\s*require\b"),
        rule(Field, r"^[A-Z]\w*\.").after(r"\s*=[^=]"),
        rule(Type, r"^(export\s+)?type\s+").after(r"\s*(<[^=]*>)?\s*="),
    ],
    ..PLAIN
};

pub(super) const PERL: Language = Language {
    name: "perl",
    extensions: &["pl", "pm", "t"],
    programs: &["perl"],
    syntax: &Syntax {
        block: &[
            ("=pod", "=cut"),
            ("=head", "=cut"),
            ("=over", "=cut"),
            ("=item", "=cut"),
            ("=begin", "=cut"),
        ],
        quotes: &[quote("\"").lines(), quote("'").lines()],
        extras: &[Extra::SpacedHash, Extra::Heredoc, Extra::Regex],
        ..HASH
    },
    rules: &[
        rule(Function, r"\bsub\s+(\w+::)*")
            .after(r"\s*([({:;]|\n)")
            .not_after("::"),
        rule(Module, r"^\s*(package|class)\s+(\w+::)*").after(r"\s*(v?[\d.]+\s*)?[;{]"),
        rule(Constant, r"^\s*use\s+constant\s+").after(r"\s*=>"),
        rule(Constant, r"^\s*")
            .after(r"\s*=>")
            .head(r"\buse\s+constant\s*\{$"),
        rule(Variable, r"^(our|my)\s+(\([^)]*)?[$@%]").after(r"\s*[=;,)]"),
        rule(Method, r"^\s*method\s+").after(r"\s*[({]"),
    ],
    ..PLAIN
};

pub(super) const R: Language = Language {
    name: "r",
    extensions: &["r"],
    programs: &["Rscript"],
    syntax: &Syntax {
        quotes: &[quote("\"").lines(), quote("'").lines(), quote("`")],
        word: ".",
        ..HASH
    },
    rules: &[
        rule(Function, r"^\s*").after(r"\s*(<-|<<-|=)\s*(function\b|\\\()"),
        rule(Variable, r"^").after(r"\s*(<-|<<-|=[^=])"),
        rule(Class, r"^").after(r"\s*(<-|=)\s*(setRefClass|R6Class|R6::R6Class)\b"),
        rule(Method, r"(^|[(,])\s*").after(r"\s*=\s*function\b"),
    ],
    ..PLAIN
};

pub(super) const JULIA: Language = Language {
    name: "julia",
    extensions: &["jl"],
    programs: &["julia"],
    syntax: &Syntax {
        block: &[("#=", "=#")],
        quotes: &[TRIPLE, quote("\"").lines()],
        extras: &[Extra::Char, Extra::Nested],
        word: "!",
        ..HASH
    },
    rules: &[
        rule(Function, r"\bfunction\s+([\w.]+\.)?").after(r"\s*([({]|\n)"),
        rule(Macro, r"\bmacro\s+").after(r"\s*\("),
        rule(Struct, r"^\s*(mutable\s+)?struct\s+"),
        rule(Type, r"^\s*(abstract|primitive)\s+type\s+"),
        rule(Module, r"^\s*(bare)?module\s+"),
        rule(Function, r"^\s*([\w.]+\.)?")
            .after(r"(\{[^}]*\})?%args%(::[\w{}., ]+)?\s*(where\s[^=]+)?=[^=]"),
        rule(Constant, r"^\s*const\s+").after(r"\s*(::[^=]+)?="),
        rule(Variable, r"^(global\s+)?").after(r"\s*(::[^=]+)?=[^=>]"),
        rule(Enum, r"^@enum\s+"),
    ],
    ..PLAIN
};

pub(super) const ELIXIR: Language = Language {
    name: "elixir",
    reserved: "moduledoc doc impl behaviour",
    extensions: &["ex", "exs"],
    programs: &["elixir"],
    syntax: &Syntax {
        quotes: &[
            TRIPLE.hole("#{"),
            quote("'''").lines(),
            quote("\"").lines().hole("#{"),
            quote("'"),
        ],
        word: "?!",
        ..HASH
    },
    rules: &[
        rule(Module, r"^\s*def(module|protocol)\s+([\w.]+\.)?").after(r"\s*(do\b|,)"),
        rule(
            Function,
            r"^\s*def(p|delegate|guard|guardp|n|np|callback)?\s+",
        )
        .after(r"(\(|\s|,)"),
        rule(Macro, r"^\s*defmacrop?\s+").after(r"(\(|\s|,)"),
        rule(Type, r"^\s*@(type|typep|opaque)\s+").after(r"(\([^)]*\))?\s*::"),
        rule(Method, r"^\s*@(callback|macrocallback)\s+").after(r"\("),
        rule(Field, r"^\s*@")
            .after(r"\s+[^:\s(].*")
            .not_after(r"\s+(do\b|[^\n]*::)"),
    ],
    ..PLAIN
};

pub(super) const POWERSHELL: Language = Language {
    name: "powershell",
    extensions: &["ps1", "psm1"],
    programs: &["pwsh"],
    syntax: &Syntax {
        block: &[("<#", "#>")],
        quotes: &[
            quote("\n\"@").lines().raw().open("@\""),
            quote("\n'@").lines().raw().open("@'"),
            quote("\"").lines().raw().hole("$("),
            quote("'").lines().raw(),
        ],
        word: "-",
        ..HASH
    },
    types: r"^\s*class\b",
    rules: &[
        rule(
            Function,
            r"(?i)^\s*(function|filter|workflow)\s+((global|script|private):)?",
        )
        .not_after(":"),
        rule(Class, r"(?i)^\s*class\s+"),
        rule(Enum, r"(?i)^\s*enum\s+"),
        rule(Variable, r"(?i)^(\[[^\]]*\]\s*)*\$((global|script):)?").after(r"\s*=[^=]"),
        rule(Variable, r"(?i)^\s*\$(global|script):").after(r"\s*=[^=]"),
        rule(Field, r"(?i)^\s*((static|hidden)\s+)*(\[[^\]]*\]+\s*)*\$")
            .head(r"(?i)^\s*class\b[^()]*\{$"),
        rule(Method, r"(?i)^\s*((static|hidden)\s+)*(\[[^\]]*\]+\s*)*")
            .after(r"\s*%args%\s*\{")
            .head(r"(?i)^\s*class\b[^()]*\{$"),
        rule(Constant, r"^\s*")
            .after(r"\s*(=|\n)")
            .head(r"(?i)^\s*enum\b[^()]*\{$"),
        rule(Function, r"(?i)^\s*(set|new)-alias\s+(-name\s+)?"),
    ],
    ..PLAIN
};
