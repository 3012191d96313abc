//! Languages whose functions have no word of their own: a type, a name and a block.

use super::super::DefinitionKind::{
    Class, Constant, Enum, Field, Function, Interface, Macro, Method, Module, Struct, Type,
    Variable, Variant,
};
use super::super::language::{Language, Rule, Unit, rule};
use super::super::syntax::{Extra, Syntax, quote};
use super::{C_LIKE, PLAIN, TRIPLE};

/// The words after which a name is used, not defined.
const USES: &str = r"\b(return|new|throw|else|case|assert|yield|await|goto|in|import|package|using|delete|typedef|do|sizeof|extends|implements|instanceof|is|as|export|part|library)\s[\w\s.]*$";

pub(super) const JAVA: Language = Language {
    name: "java",
    extensions: &["java"],
    syntax: &Syntax {
        quotes: &[TRIPLE, quote("\"")],
        ..C_LIKE
    },
    unit: Unit::Statement,
    types: CLASS_TYPES,
    reserved: CLASS_RESERVED,
    rules: CLASS_RULES,
    ..PLAIN
};

pub(super) const C_SHARP: Language = Language {
    name: "csharp",
    extensions: &["cs", "csx"],
    syntax: &Syntax {
        quotes: &[
            TRIPLE.raw(),
            quote("\"").lines().doubled().open("@\""),
            quote("\"").lines().doubled().open("$@\""),
            quote("\"").hole("{").open("$\""),
            quote("\""),
        ],
        ..C_LIKE
    },
    unit: Unit::Statement,
    types: CLASS_TYPES,
    reserved: CLASS_RESERVED,
    rules: CLASS_RULES,
    ..PLAIN
};

pub(super) const GROOVY: Language = Language {
    name: "groovy",
    extensions: &["groovy", "gradle"],
    files: &["Jenkinsfile"],
    programs: &["groovy"],
    syntax: &Syntax {
        quotes: &[
            TRIPLE,
            quote("'''").lines(),
            quote("\"").hole("${"),
            quote("'"),
        ],
        extras: &[],
        ..C_LIKE
    },
    unit: Unit::Line,
    types: CLASS_TYPES,
    reserved: CLASS_RESERVED,
    rules: CLASS_RULES,
};

pub(super) const DART: Language = Language {
    name: "dart",
    extensions: &["dart"],
    programs: &["dart"],
    syntax: &Syntax {
        quotes: &[
            TRIPLE.hole("${"),
            quote("'''").lines().hole("${"),
            quote("\"").hole("${"),
            quote("'").hole("${"),
        ],
        extras: &[Extra::Nested],
        ..C_LIKE
    },
    unit: Unit::Statement,
    types: r"(^|[^.\w])(class|mixin|enum|extension)\s+\w[^()]*\{$",
    reserved: CLASS_RESERVED,
    rules: CLASS_RULES,
    ..PLAIN
};

const CLASS_TYPES: &str = r"(^|[^.\w])(class|interface|enum|struct|namespace|trait|mixin|extension)\s+\w[^;{}]*\{$|\brecord\s+(struct\s+|class\s+)?\w+[^;]*\{$";

const CLASS_RULES: &[Rule] = &[
    rule(Enum, r"(^|[^.\w])enum\s+").after(r"\s*(\{|:|implements\b|with\b)"),
    rule(Interface, r"(^|[^.\w])(interface|trait|mixin)\s+").after(r"\s*[<{:(eiwo]"),
    rule(Struct, r"(^|[^.\w])(struct|record(\s+(struct|class))?)\s+").after(r"\s*[<{:(;]"),
    rule(Class, r"(^|[^.\w])(class|extension(\s+type)?)\s+").after(r"\s*[<{:(eiwops]"),
    rule(Module, r"^\s*namespace\s+([\w.]+\.)?").after(r"\s*\{"),
    rule(Type, r"\bdelegate\s+%type%\s+").after(r"\s*[<(]"),
    rule(Type, r"^\s*typedef\s+").after(r"\s*(<[^=]*>)?\s*="),
    rule(Variant, r"(^|,)\s*%notes%")
        .after(r"\s*[,(;={}]")
        .head(r"\benum\b[^()]*\{$"),
    rule(Method, r"^\s*%notes%(%type%\s+)+(%type%\.)?(get\s+|set\s+)?")
        .after(r"\s*(<[^({;=]*>\s*)?(%args%|%params%)\s*(throws\s[\w., ]+|where\b[^{;]*|:\s*(base|this|super)\b[^{;]*|async\*?\s*|default\b[^;]*)*(\{|=>|;)")
        .not_before(USES),
    rule(Method, r"^\s*%notes%((external|factory|const|def)\s+)?([\w]+\.)?")
        .after(r"\s*%params%\s*(throws\s[\w., ]+|:[^{;]*)?[{;]")
        .outer(),
    rule(Method, r"^\s*%notes%(%type%\s+)*get\s+").after(r"\s*(=>|\{|async)"),
    rule(Method, r"^\s*%notes%record\s+")
        .after(r"\s*\(")
        .not_before(USES),
    rule(Method, r"^\s*%notes%((public|private|protected|internal)\s+)?")
        .after(r"\s*\{")
        .head(r"\brecord\b"),
    rule(Field, r"[(,]\s*%notes%%type%\s+")
        .after(r"\s*[,)]")
        .head(r"\brecord\s+(struct\s+|class\s+)?\w+\s*(<[^>]*>\s*)?\($"),
    rule(Field, r"^\s*%notes%(%type%\s+)+\w+(\s*=[^,;()]*)?,\s*(\w+\s*,\s*)*")
        .after(r"\s*[=;,]")
        .not_before(USES)
        .outer(),
    rule(Field, r"^\s*%notes%(%type%\s+)+")
        .after(r"\s*(\[\])*\s*(=[^=]|;|,|\{\s*(get|set|init|add|remove|\w+\s+(get|set|init))\b|\n)")
        .not_before(USES)
        .outer(),
];

/// Words of Java, C#, Groovy and Dart that a pattern might take for names.
const CLASS_RESERVED: &str = "if else for foreach while do switch case catch return new throw synchronized using lock fixed \
    void int char long short byte float double boolean bool string class interface enum extends implements throws where \
    default super this base try finally static final public private protected abstract";

const C_SYNTAX: Syntax = Syntax {
    extras: &[Extra::Char, Extra::CppRaw],
    ..C_LIKE
};

pub(super) const C: Language = Language {
    name: "c",
    extensions: &["c", "h"],
    syntax: &C_SYNTAX,
    unit: Unit::Statement,
    types: C_TYPES,
    reserved: C_RESERVED,
    rules: C_RULES,
    ..PLAIN
};

pub(super) const CPP: Language = Language {
    name: "cpp",
    extensions: &[
        "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tpp", "cu", "cuh",
        "ino",
    ],
    ..C
};

pub(super) const OBJECTIVE_C: Language = Language {
    name: "objective-c",
    extensions: &["m", "mm"],
    syntax: &C_SYNTAX,
    unit: Unit::Statement,
    types: C_TYPES,
    reserved: C_RESERVED,
    rules: OBJECTIVE_C_RULES,
    ..PLAIN
};

/// Words of C and its kin that a pattern might take for names.
const C_RESERVED: &str = "if else for while do switch case catch return new delete throw sizeof \
    void int char long short float double bool unsigned signed auto const static inline struct union enum class typename \
    final override noexcept default operator template typedef extern volatile this";

const C_TYPES: &str =
    r#"\b(class|struct|union|enum|namespace)\b[^()=]*\{$|\bextern\s*"[^"]*"\s*\{$"#;
/// What may stand before a name in a declaration: words, marks of types, attributes.
const C_MACRO: Rule = rule(Macro, r"^\s*#\s*define\s+");
const C_STRUCT: Rule = rule(
    Struct,
    r"\b(struct|union)\s+(\w+\s+|\w+\s*\([^()]*\)\s*|%notes%)?",
)
.after(r"\s*(final\s*)?(:[^;{(]*)?\{")
.not_before(r"\bstruct\s+\w+\s*[*&]");
const C_ENUM: Rule = rule(Enum, r"\benum\s+((class|struct)\s+)?").after(r"\s*(:[^;{(]*)?\{");
const C_VARIANT: Rule = rule(Variant, r"(^|,)\s*")
    .after(r"\s*[,=}]")
    .head(r"\benum\b[^()]*\{$");
const C_TYPEDEF: Rule =
    rule(Type, r"^\s*typedef\b[^;{}]*[\s*]").after(r"\s*(\[[^\]]*\]\s*)*(\([^;{}]*\)\s*)?;");
const C_TYPEDEF_POINTER: Rule =
    rule(Type, r"^\s*typedef\b[^;{}]*\(\s*[*^]\s*").after(r"\s*\)\s*\(");
const C_TYPEDEF_END: Rule = rule(Type, r"^\s*(__\w+(\([^;{}]*\))?\s+)*\**")
    .after(r"\s*;")
    .outer();
const C_FUNCTION: Rule = rule(
    Function,
    r"^\s*((public|private|protected)\s*:\s*)?((template\s*<[^;{}()]*>|__attribute__\s*\(\([^;{}]*?\)\)|\[\[[^\]]*\]\]|alignas\s*\(\w+\))\s*|[\w:<>,*&\s]|decltype\s*\(\w+\))*[\s*&:>]~?",
)
.after(r"\s*(<[^;(){}]*>\s*)?%args%[^;{}()=]*(%args%[^;{}()=]*)*(\{|:[^;:].*|=\s*(0|default)\s*;)")
.not_before(r"\b(return|else|case|goto|new|delete|throw|using|typedef|do|sizeof|define)\b|^\s*$");
const C_FIELD: Rule = rule(
    Field,
    r"^\s*((public|private|protected)\s*:\s*)?(__attribute__\s*\(\(.*?\)\)\s*)?[\w:<>,*&\s]+(\([^()]*\)\s*)?([\s*&>]|::)",
)
.after(r"\s*(\[[^\]]*\]\s*)*(:\s*\w+\s*)?((=[^=;]*|\{[^;}]*\})?\s*[;,]|=\s*\{|__attribute__)")
.not_before(r"\b(return|typedef|using|friend|goto|delete|throw|extern|namespace|case|define)\b|^\s*((public|private|protected)\s*:\s*)?(const\s+|static\s+)*(struct|class|union|enum)\s+$");

const C_RULES: &[Rule] = &[
    C_MACRO,
    C_STRUCT,
    C_ENUM,
    rule(Class, r"\bclass\s+(\w+\s+|%notes%)?")
        .after(r"\s*(<[^;{}()]*>\s*)?(final\s*)?(:[^;{(]*)?\{")
        .not_before(r"\benum\s+class\s+$"),
    rule(Module, r"\bnamespace\s+([\w:]+::(inline\s+)?)?").after(r"\s*(::[\w:\s]*)?\{"),
    rule(Module, r"^\s*namespace\s+").after(r"\s*=[^=]"),
    rule(
        Type,
        r"^\s*((public|private|protected)\s*:\s*)?(template\s*<[^;{}()]*>\s*)?using\s+",
    )
    .after(r"\s*="),
    rule(Type, r"\bconcept\s+").after(r"\s*="),
    C_VARIANT,
    C_TYPEDEF,
    C_TYPEDEF_POINTER,
    C_TYPEDEF_END,
    C_FUNCTION,
    rule(
        Method,
        r"^\s*((public|private|protected)\s*:\s*)?((explicit|constexpr|inline)\s+)*",
    )
    .after(r"\s*%args%[^;{}()=]*(\{|:.*|=\s*default\s*;)")
    .head(r"\b(class|struct)\b[^()=]*\{$"),
    C_FIELD.head(r"\b(class|struct|union)\b[^()=]*\{$"),
    Rule {
        kind: Variable,
        ..C_FIELD
    }
    .outer(),
];

const OBJECTIVE_C_RULES: &[Rule] = &[
    C_MACRO,
    C_STRUCT,
    C_ENUM,
    rule(Class, r"^\s*@implementation\s+"),
    rule(Class, r"@interface\s+").after(r"\s*[:<({\n]"),
    rule(Interface, r"@protocol\s+").after(r"\s*[<\n]"),
    rule(
        Method,
        r"(^|\n|[\w>])\s*[-+]\s*\([^(){};]*(\([^()]*\)[^(){};]*)*\)\s*",
    )
    .after(r"\s*(:[^;{}]*)?[{;]"),
    rule(Field, r"@property\b[^;]*[\s*]").after(r"\s*;"),
    rule(Enum, r"\bNS_(ENUM|OPTIONS)\s*\([^()]*,\s*").after(r"\s*\)"),
    rule(Variant, r"(^|,)\s*")
        .after(r"\s*[,=}]")
        .head(r"\b(enum|NS_ENUM|NS_OPTIONS)\b.*\{$"),
    C_TYPEDEF,
    C_TYPEDEF_POINTER,
    C_TYPEDEF_END,
    C_FUNCTION,
    C_FIELD.head(r"\b(struct|union)\b[^()=]*\{$"),
    Rule {
        kind: Variable,
        ..C_FIELD
    }
    .outer(),
];

pub(super) const PHP: Language = Language {
    name: "php",
    extensions: &["php", "phtml", "inc"],
    programs: &["php"],
    syntax: &Syntax {
        line: &["//", "#"],
        quotes: &[quote("\"").lines(), quote("'").lines()],
        extras: &[Extra::PhpTags, Extra::Heredoc, Extra::HashAttribute],
        ..C_LIKE
    },
    unit: Unit::Statement,
    types: r"(^|[^:$>\w])(class|interface|trait|enum|namespace)\b[^()]*\{$",
    rules: &[
        rule(Function, r"\bfunction\s+&?\s*").after(r"\s*\("),
        rule(Interface, r"(^|[^:$>\w])(interface|trait)\s+").after(r"\s*(\{|extends\b)"),
        rule(Enum, r"(^|[^:$>\w])enum\s+").after(r"\s*(\{|:|implements\b)"),
        rule(Class, r"(^|[^:$>\w])class\s+").after(r"\s*(\{|extends\b|implements\b)"),
        rule(Module, r"^\s*namespace\s+([\w\\]+\\)?").after(r"\s*\{"),
        rule(Constant, r"\bconst\s+([\w?|\\]+\s+)?").after(r"\s*="),
        rule(Variant, r"^\s*case\s+")
            .after(r"\s*[=;]")
            .head(r"\benum\b"),
        rule(
            Field,
            r"(^|\])\s*((public|protected|private|static|readonly|var|final)\s+)+([\w?|\\]+\s+)?\$",
        )
        .head(r"\b(class|trait)\b[^()]*\{$"),
        rule(
            Field,
            r"[(,]\s*(#\[[^\]]*\]\s*)?((public|protected|private|readonly)\s+)+([\w?|\\]+\s+)?\$",
        ),
        rule(Constant, r"\bdefine\s*\(\s*'").after("'"),
    ],
    ..PLAIN
};
