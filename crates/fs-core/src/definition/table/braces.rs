//! Languages whose definitions begin with a word of their own.

use super::super::DefinitionKind::{
    Class, Constant, Enum, Field, Function, Interface, Macro, Method, Module, Struct, Type,
    Variable, Variant,
};
use super::super::language::{Language, Rule, Unit, rule};
use super::super::syntax::{Extra, Syntax, quote};
use super::{C_LIKE, PLAIN, TRIPLE};

pub(super) const RUST: Language = Language {
    name: "rust",
    extensions: &["rs"],
    syntax: &Syntax {
        quotes: &[quote("\"").lines()],
        extras: &[Extra::Char, Extra::RustRaw, Extra::Nested],
        ..C_LIKE
    },
    unit: Unit::Statement,
    types: r"^(?:[^(]|pub\s*\(|#\[[^\]]*\])*\b(struct|union|enum|trait|impl|mod|extern)\b",
    rules: &[
        rule(Function, r"\bfn\s+").after(r"\s*[<(]"),
        rule(Struct, r"\b(struct|union)\s+").after(r"\s*([<({;:]|where\b)"),
        rule(Enum, r"\benum\s+"),
        rule(Interface, r"\btrait\s+"),
        rule(Type, r"\btype\s+").after(r"\s*([<=:;]|where\b)"),
        rule(Module, r"\bmod\s+").after(r"\s*[{;]"),
        rule(Macro, r"\bmacro_rules!\s*"),
        rule(Constant, r"(^|[^*\w])const\s+")
            .after(r"\s*(:|=[^=])")
            .not_before(r"[<,]\s*const\s+$"),
        rule(Variable, r"\bstatic\s+((ref|mut)\s+)?").after(r"\s*:"),
        rule(Variant, r"(^|[,\]])\s*")
            .after(r"\s*[,({=}]")
            .head(r"\benum\s[^()]*\{$"),
        rule(Field, r"(^|[,\]])\s*(pub\s*(\([^)]*\)\s*)?)?")
            .after(r"\s*:[^:]")
            .head(r"\b(struct|union)\s[^()]*\{$"),
    ],
    ..PLAIN
};

const SCRIPT_SYNTAX: Syntax = Syntax {
    quotes: &[quote("\""), quote("'"), quote("`").lines().hole("${")],
    extras: &[Extra::Regex],
    word: "$",
    ..C_LIKE
};

pub(super) const JAVASCRIPT: Language = Language {
    name: "javascript",
    extensions: &["js", "mjs", "cjs", "jsx", "vue", "svelte"],
    programs: &["node", "nodejs", "deno", "bun"],
    syntax: &SCRIPT_SYNTAX,
    types: r"\b(class|interface|namespace|module|global)\b[^()]*\{$",
    reserved: "if else for while do switch case catch return new throw with function class extends typeof delete void await",
    rules: SCRIPT_RULES,
    ..PLAIN
};

pub(super) const TYPESCRIPT: Language = Language {
    name: "typescript",
    extensions: &["ts", "mts", "cts"],
    programs: &["ts-node", "tsx"],
    ..JAVASCRIPT
};

pub(super) const TSX: Language = Language {
    name: "tsx",
    extensions: &["tsx"],
    programs: &[],
    ..JAVASCRIPT
};

const SCRIPT_RULES: &[Rule] = &[
    rule(Function, r"\bfunction\s*\*?\s*").after(r"\s*[<(]"),
    rule(Class, r"(^|[^.\w$])class\s+").after(r"\s*(<\s*\w|\{|extends\b|implements\b)"),
    rule(Interface, r"\binterface\s+").after(r"\s*([<{]|extends\b)"),
    rule(Enum, r"\benum\s+").after(r"\s*\{"),
    rule(Type, r"^\s*(export\s+)?(declare\s+)?type\s+").after(r"\s*(<[^;]*>)?\s*="),
    rule(
        Module,
        r"^\s*(export\s+)?(declare\s+)?(namespace|module)\s+([\w.]+\.)?",
    )
    .after(r"\s*\{"),
    rule(Function, r"\b(const|let|var)\s+").after(r"\s*(:[^=;]*)?%callable%"),
    rule(Variable, r"^\s*(export\s+)?(declare\s+)?(const|let|var)\s+")
        .after(r"\s*!?\s*(:[^=;]+)?(=[^=]|[,;\n])")
        .not_after(r"\s*=\s*(await\s+)?(require|import)\s*\(")
        .outer(),
    rule(Variable, r"^\s*(export\s+)?(const|let|var)\s+[^;(){}]*,\s*")
        .after(r"\s*=[^=>]")
        .outer(),
    rule(Method, r"^\s*%notes%%member%[*#]?\s*")
        .after(r"\s*(<[^({]*>)?\s*\(")
        .head(r"\bclass\b[^()]*\{$"),
    rule(Field, r"^\s*%notes%%member%#?\s*")
        .after(r"\s*[?!]?\s*(:|=[^=>]|;|\n)")
        .head(r"\bclass\b[^()]*\{$"),
    rule(Field, r"(^|[,;])\s*(readonly\s+)?")
        .after(r"\s*\??\s*:")
        .head(r"\binterface\b[^()]*\{$|^\s*(export\s+)?(declare\s+)?type\s[^()]*=\s*\{$"),
    rule(Method, r"(^|[,;])\s*")
        .after(r"\s*\??\s*(<[^(]*>)?\s*\(")
        .head(r"\binterface\b[^()]*\{$|^\s*(export\s+)?(declare\s+)?type\s[^()]*=\s*\{$"),
    rule(Variant, r"(^|,)\s*")
        .after(r"\s*[,=}]")
        .head(r"\benum\b[^()]*\{$"),
    rule(Field, r"[(,]\s*((public|private|protected|readonly)\s+)+").after(r"\s*\??\s*:"),
    rule(Method, r"(^|,)\s*").after(r"\s*:\s*(async\s+)?(function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)"),
    rule(Method, r"(^|,)\s*((async|get|set)\s+)*\*?\s*").after(r"\s*%params%\s*(:[^;{}()=]+)?\{"),
    rule(Function, r"(^|\.)\s*").after(r"\s*%callable%"),
];

pub(super) const GO: Language = Language {
    name: "go",
    extensions: &["go"],
    syntax: &Syntax {
        quotes: &[quote("\""), quote("`").lines().raw()],
        ..C_LIKE
    },
    rules: &[
        rule(Function, r"^func\s+").after(r"\s*[\[(]"),
        rule(Method, r"^func\s*\([^)]*\)\s*").after(r"\s*\("),
        rule(Struct, r"^\s*type\s+").after(r"\s*(\[[^\n]*\]\s*)?struct\b"),
        rule(Interface, r"^\s*type\s+").after(r"\s*(\[[^\n]*\]\s*)?interface\b"),
        rule(Type, r"^\s*type\s+"),
        rule(Type, r"(^|\n)\s*")
            .after(r"\s+[\w*=\[(<]")
            .head(r"^\s*type\s*\($"),
        rule(Constant, r"^const\s+(\w+,\s*)*"),
        rule(Variable, r"^var\s+(\w+,\s*)*"),
        rule(Constant, r"(^|\n)[ \t]*(\w+,\s*)*")
            .after(r"\s*([,=\n]|\w)")
            .head(r"^const\s*\($"),
        rule(Variable, r"(^|\n)[ \t]*(\w+,\s*)*")
            .after(r"\s*([,=]|[\w*\[(<])")
            .head(r"^var\s*\($"),
        rule(Field, r"^\s*(\w+,\s*)*")
            .after(r"(,\s*\w+)*[ \t]+[\w*\[(<]")
            .head(r"\bstruct\s*\{$"),
        rule(Method, r"^\s*")
            .after(r"\(")
            .head(r"\binterface\s*\{$"),
    ],
    ..PLAIN
};

pub(super) const KOTLIN: Language = Language {
    name: "kotlin",
    extensions: &["kt", "kts"],
    syntax: &Syntax {
        quotes: &[TRIPLE.raw().hole("${"), quote("\"").hole("${")],
        extras: &[Extra::Char, Extra::Nested],
        ..C_LIKE
    },
    types: r"\b(class|interface|object)\b",
    rules: &[
        rule(Function, r"\bfun\s+(<[^>]*>\s*)?(\w[\w.<>?, ]*\.)?").after(r"\s*\("),
        rule(Interface, r"\binterface\s+"),
        rule(Enum, r"\benum\s+class\s+"),
        rule(Class, r"(^|[^:.\w])(class|object)\s+"),
        rule(Type, r"\btypealias\s+"),
        rule(
            Variable,
            r"^\s*%notes%(\w+\s+)*(val|var)\s+(<[^>]*>\s*)?(\w[\w.<>?]*\.)?",
        )
        .not_after(r"\.")
        .outer(),
        rule(Field, r"[(,]\s*%notes%(\w+\s+)*(val|var)\s+").head(r"\bclass\b[^{]*\($"),
        rule(Variant, r"(^|,)\s*")
            .after(r"\s*([,(;{}]|\n)")
            .head(r"\benum\s+class\b.*\{$"),
    ],
    ..PLAIN
};

pub(super) const SWIFT: Language = Language {
    name: "swift",
    extensions: &["swift"],
    programs: &["swift"],
    syntax: &Syntax {
        quotes: &[
            TRIPLE.hole("\\("),
            quote("\"#").raw().open("#\""),
            quote("\"").hole("\\("),
        ],
        extras: &[Extra::Nested],
        ..C_LIKE
    },
    types: r"\b(class|struct|enum|protocol|actor|extension)\s+\w[^()]*\{$",
    rules: &[
        rule(Function, r"\bfunc\s+").after(r"\s*[<(]"),
        rule(Interface, r"\bprotocol\s+"),
        rule(Struct, r"\bstruct\s+").not_before(r"^\s*import\b"),
        rule(Enum, r"\benum\s+"),
        rule(Class, r"(^|[^:.\w])(class|actor)\s+").after(r"\s*[<:{]"),
        rule(Type, r"\b(typealias|associatedtype)\s+"),
        rule(Macro, r"^\s*%notes%(\w+\s+)*macro\s+"),
        rule(Variable, r"^\s*%notes%(\w+(\(\w+\))?\s+)*(let|var)\s+")
            .not_before(r"\b(if|guard|while|case|for)\s")
            .outer(),
        rule(
            Variant,
            r"^\s*(indirect\s+)?case\s+(\w+(\([^)]*\))?(\s*=\s*[^,]+)?,\s*)*",
        )
        .head(r"\benum\b[^()]*\{$"),
    ],
    ..PLAIN
};

pub(super) const SCALA: Language = Language {
    name: "scala",
    reserved: "this new",
    extensions: &["scala", "sc"],
    syntax: &Syntax {
        quotes: &[TRIPLE.raw(), quote("\"")],
        extras: &[Extra::Char, Extra::Nested],
        ..C_LIKE
    },
    types: r"^[^(]*\b(class|trait|object|enum|given|extension)\b|\b(class|trait|object|enum)\s+\w",
    rules: &[
        rule(Function, r"\bdef\s+"),
        rule(Interface, r"\btrait\s+"),
        rule(Enum, r"\benum\s+"),
        rule(Class, r"(^|[^:.\w])(class|object)\s+"),
        rule(Type, r"^\s*(\w+\s+)*type\s+"),
        rule(
            Variable,
            r"^\s*%notes%(\w+(\[\w+\])?\s+)*(val|var|given)\s+",
        )
        .outer(),
        rule(Field, r"[(,]\s*%notes%(\w+\s+)*(val|var)\s+").head(r"\bclass\b[^{]*\($"),
        rule(Variant, r"^\s*case\s+(\w+,\s*)*")
            .after(r"\s*([,(:}\n]|extends\b)")
            .head(r"\benum\b[^()]*\{$"),
    ],
    ..PLAIN
};

pub(super) const ZIG: Language = Language {
    name: "zig",
    extensions: &["zig"],
    types: r"\b(struct|enum|union|opaque)\b[^{;]*\{$",
    rules: &[
        rule(Function, r"\bfn\s+").after(r"\s*\("),
        rule(Struct, r"\b(const|var)\s+")
            .after(r"\s*=\s*((extern|packed)\s+)?(struct|union|opaque)\b"),
        rule(Enum, r"\b(const|var)\s+").after(r"\s*=\s*(enum|error)\b"),
        rule(Variable, r"^\s*(\w+\s+)*(const|var)\s+")
            .after(r"\s*[:=]")
            .not_after(r"\s*=\s*@import\b")
            .outer(),
        rule(Variant, r"(^|,)\s*")
            .after(r"\s*[,=}]")
            .head(r"\b(enum|error)\b[^{;]*\{$"),
        rule(Field, r"(^|,)\s*")
            .after(r"\s*:")
            .head(r"\b(struct|union)\b[^{;]*\{$"),
    ],
    ..PLAIN
};

pub(super) const PROTO: Language = Language {
    name: "proto",
    extensions: &["proto"],
    syntax: &Syntax {
        quotes: &[quote("\""), quote("'")],
        extras: &[],
        ..C_LIKE
    },
    unit: Unit::Statement,
    rules: &[
        rule(Struct, r"^\s*message\s+").after(r"\s*\{"),
        rule(Enum, r"^\s*enum\s+").after(r"\s*\{"),
        rule(Interface, r"^\s*service\s+").after(r"\s*\{"),
        rule(Method, r"^\s*rpc\s+").after(r"\s*\("),
        rule(Field, r"^\s*oneof\s+").after(r"\s*\{"),
        rule(Variant, r"^\s*")
            .after(r"\s*=\s*-?\d")
            .head(r"\benum\b"),
        rule(
            Field,
            r"^\s*((optional|repeated|required)\s+)?(map\s*<[^>]*>|[\w.]+)\s+",
        )
        .after(r"\s*=\s*\d")
        .head(r"\b(message|oneof)\b"),
    ],
    ..PLAIN
};
