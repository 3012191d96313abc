//! Languages with a shape of their own.

use super::super::DefinitionKind::{
    Class, Constant, Field, Function, Interface, Macro, Method, Module, Struct, Type, Variable,
    Variant,
};
use super::super::language::{Language, Name, Unit, rule};
use super::super::syntax::{Extra, Syntax, quote};
use super::{C_LIKE, PLAIN, TRIPLE};

pub(super) const HASKELL: Language = Language {
    name: "haskell",
    reserved: "data type newtype class instance family where module import deriving let in if then else case of do infixl infixr infix",
    extensions: &["hs", "lhs", "elm", "purs"],
    programs: &["runhaskell", "runghc"],
    syntax: &Syntax {
        line: &["--"],
        block: &[("{-", "-}")],
        extras: &[Extra::Char, Extra::Nested],
        word: "'",
        ..C_LIKE
    },
    unit: Unit::Indent,
    rules: &[
        rule(Struct, r"^(data|newtype)\s+((instance|family)\s+)?"),
        rule(Interface, r"^class\s+([^\n]*=>\s*)?")
            .after(r"[^\n=]*(\n|where\b)")
            .not_after(r"[^\n]*=>"),
        rule(Type, r"^type\s+((family|alias|instance)\s+)?"),
        // The first equation or the signature, whichever is there.
        rule(Function, r"^(\w+'*\s*,\s*)*").after(r"\s*(,\s*\w+\s*)*::"),
        rule(Method, r"^\s+(\w+'*\s*,\s*)*")
            .after(r"\s*(,\s*\w+\s*)*::")
            .head(r"^(class|data\b.*where)"),
        rule(Variant, r"^(data|newtype)\s[^=\n]*=\s*([^\n]*\|\s*)?")
            .name(Name::Capital)
            .after(r"\s*([\s|{]|$)")
            .not_before(r"[^|=]\s*\w+\s+$"),
        rule(Variant, r"^\s+[=|]\s*").name(Name::Capital),
        rule(Field, r"(^|,)\s*").after(r"\s*::").head(r"\{$"),
        rule(Function, r"^")
            .after(r"([ \t][^\n=|]*)?(=[^=>]|\n?[ \t]*\|[^|])")
            .otherwise(),
    ],
    ..PLAIN
};

pub(super) const OCAML: Language = Language {
    name: "ocaml",
    reserved: "_ rec private virtual mutable nonrec type in of",
    extensions: &["ml", "mli"],
    programs: &["ocaml"],
    syntax: &Syntax {
        line: &[],
        block: &[("(*", "*)")],
        quotes: &[quote("\"").lines(), quote("|}").open("{|").lines().raw()],
        extras: &[Extra::Char, Extra::Nested],
        word: "'",
    },
    unit: Unit::Indent,
    types: r"\b(struct|sig|module)\b",
    rules: &[
        rule(
            Type,
            r"^\s*(type|and)\s+(nonrec\s+)?(\([^)]*\)\s*|'\w+\s+)?",
        )
        .after(r"\s*(=|\n|$|:)")
        .not_after(r"\s*=\s*fun\b"),
        rule(Module, r"^\s*module\s+(rec\s+|type\s+)?").after(r"\s*[=:(]"),
        rule(Constant, r"^\s*exception\s+"),
        rule(Class, r"^\s*class\s+(virtual\s+)?(\[[^\]]*\]\s*)?"),
        rule(Method, r"^\s*method\s+((private|virtual|!)\s*)*"),
        rule(Function, r"^\s*(val|external)\s+").after(r"\s*:"),
        rule(Function, r"^(  )?(let|and)\s+(rec\s+|%[\w.]+\s+)?")
            .after(r"[^\n]*=")
            .not_after(r"[^\n=]*=[^\n]*\bin\s*\n"),
        rule(Variant, r"(^\s*(type\s[^=\n]*=\s*)?|\s)\|\s*")
            .name(Name::Capital)
            .after(r"\s*(of\b|\||\n|$)")
            .not_after(r"[^|\n]*->"),
        rule(Variant, r"^\s*type\s[^=\n]*=\s*")
            .name(Name::Capital)
            .after(r"\s*(of\b|\||\n|$)"),
        rule(Field, r"(^|[{;])\s*(mutable\s+)?")
            .after(r"\s*:[^=]")
            .head(r"^\s*(type|and)\b"),
    ],
    ..PLAIN
};

pub(super) const F_SHARP: Language = Language {
    name: "fsharp",
    reserved: "_ rec inline private internal mutable member static abstract default override type of",
    extensions: &["fs", "fsi", "fsx"],
    syntax: &Syntax {
        block: &[("(*", "*)")],
        quotes: &[TRIPLE.raw(), quote("\"").lines().doubled().open("@\""), quote("\"").lines()],
        extras: &[Extra::Char, Extra::Nested],
        ..C_LIKE
    },
    unit: Unit::Indent,
    rules: &[
        rule(Type, r"^\s*(type|and)\s+(\w+\s+)?").after(r"\s*(<[^>]*>)?\s*(\([^)]*\))?\s*(=|\n|:)"),
        rule(Module, r"^\s*module\s+(\w+\s+)*([\w.]+\.)?").after(r"\s*(=|\n)"),
        rule(Constant, r"^\s*exception\s+"),
        rule(Method, r"^\s*(static\s+|abstract\s+|default\s+|override\s+)*(member|abstract|default|override|val)\s+(\w+\s+)*(\w+\.)?")
            .after(r"\s*([(:=<]|\w|\n)"),
        rule(Function, r"^(    )?let\s+((rec|inline|private|mutable|internal)\s+)*").after(r"[^\n]*=")
            .not_after(r"\s*,"),
        rule(Function, r"^let\s+(rec\s+)?\(\|").after(r"\|"),
        rule(Variant, r"^\s*\|\s*").name(Name::Capital).after(r"\s*(of\b|=|\n|$)"),
        rule(Field, r"([{;]|^)\s*(mutable\s+)?").after(r"\s*:[^:=>]").head(r"^\s*(type|and)\b"),
    ],
    ..PLAIN
};

pub(super) const LISP: Language = Language {
    name: "lisp",
    extensions: &[
        "lisp", "lsp", "cl", "el", "clj", "cljs", "cljc", "edn", "scm", "ss", "rkt",
    ],
    programs: &["sbcl", "guile", "racket", "bb", "clojure"],
    syntax: &Syntax {
        line: &[";"],
        block: &[("#|", "|#")],
        quotes: &[quote("\"").lines()],
        extras: &[Extra::Nested],
        word: "-?!*<>=/+'.%$&",
    },
    rules: &[
        rule(
            Macro,
            r"\((\w[\w-]*/)?(defmacro|define-syntax(-rule)?|define-macro)\s+\(?",
        ),
        rule(
            Class,
            r"\((defclass|defrecord|deftype|defstruct|cl-defstruct|define-record-type|struct|define-condition)\s+\(?",
        ),
        rule(Interface, r"\(defprotocol\s+"),
        rule(
            Method,
            r"\((defmethod|defmulti|defgeneric|cl-defmethod|cl-defgeneric)\s+",
        ),
        rule(
            Function,
            r"\((defun-?|defn-?|defsubst|cl-defun|define-inline)\s+(\^\S+\s+)*",
        ),
        rule(Function, r"^\s*\(define\s+\(+"),
        rule(
            Variable,
            r"^\s*\((def|defvar|defvar-local|defparameter|defconst|defconstant|defcustom|defonce|define|defface|defgroup|define-constant)\s+(\^\S+\s+)*",
        ),
        rule(
            Module,
            r"^\s*\((ns|in-ns|defpackage|define-module|define-library)\s+[:#'(]*",
        ),
        rule(Method, r"\(")
            .after(r"\s*\[")
            .head(r"^\s*\(defprotocol\b"),
    ],
    ..PLAIN
};

pub(super) const ERLANG: Language = Language {
    name: "erlang",
    extensions: &["erl", "hrl"],
    programs: &["escript"],
    syntax: &Syntax {
        line: &["%"],
        block: &[],
        quotes: &[quote("\"").lines(), quote("'")],
        extras: &[],
        word: "",
    },
    rules: &[
        rule(Function, r"^").after(r"\("),
        rule(Struct, r"^-record\(\s*"),
        rule(Macro, r"^-define\(\s*"),
        rule(Type, r"^-(type|opaque)\s+"),
        rule(Module, r"^-module\(\s*"),
        rule(Method, r"^-callback\s+"),
        rule(Field, r"(^|,)\s*")
            .after(r"\s*(=|::|,|\})")
            .head(r"^-record\(\s*\w+\s*,\s*\{$"),
    ],
    ..PLAIN
};

pub(super) const NIM: Language = Language {
    name: "nim",
    extensions: &["nim", "nims"],
    syntax: &Syntax {
        line: &["#"],
        block: &[("#[", "]#")],
        quotes: &[TRIPLE.raw(), quote("\"")],
        extras: &[Extra::Char, Extra::Nested],
        word: "",
    },
    unit: Unit::Indent,
    rules: &[
        rule(Function, r"^\s*(proc|func|method|iterator|converter)\s+").after(r"\*?\s*[\[({:=]"),
        rule(Macro, r"^\s*(template|macro)\s+"),
        rule(Type, r"^type\s+").after(r"\*?\s*(\[[^\]]*\]\s*)?(\{[^}]*\}\s*)?="),
        rule(Type, r"^\s+")
            .after(r"\*?\s*(\[[^\]]*\]\s*)?(\{[^}]*\}\s*)?=")
            .head(r"^type\s*$"),
        rule(Constant, r"^const\s+").after(r"\*?\s*[:=]"),
        rule(Variable, r"^(let|var)\s+(\w+\*?,\s*)*").after(r"\*?\s*[:=,]"),
        rule(Constant, r"^\s+")
            .after(r"\*?\s*(:[^=\n]+)?=")
            .head(r"^const\s*$"),
        rule(Variable, r"^\s+(\w+\*?,\s*)*")
            .after(r"\*?\s*[:=,]")
            .head(r"^(let|var)\s*$"),
        rule(Field, r"^\s+(\w+\*?,\s*)*")
            .after(r"\*?\s*(,\s*\w+\*?\s*)*:")
            .head(r"=\s*(ref\s+)?object\b"),
        rule(Variant, r"^\s+(\w+\s*(=\s*\d+\s*)?,\s*)*")
            .after(r"\s*(,|=|\n|$)")
            .head(r"=\s*enum\b"),
    ],
    ..PLAIN
};

pub(super) const SQL: Language = Language {
    name: "sql",
    reserved: "IF if NOT not EXISTS exists",
    extensions: &["sql", "ddl", "pgsql", "plsql", "psql"],
    syntax: &Syntax {
        line: &["--"],
        quotes: &[quote("'").lines().doubled()],
        extras: &[],
        ..C_LIKE
    },
    unit: Unit::Statement,
    rules: &[
        rule(Struct, r#"(?i)\bcreate\s+((or\s+replace|global|local|temp|temporary|unlogged|external|foreign|virtual)\s+)*table\s+(if\s+not\s+exists\s+)?([\w"`\[\]]+\.)?["`\[]?"#).not_after(r"\s*\."),
        rule(Type, r#"(?i)\bcreate\s+((or\s+replace|materialized|temp|temporary|recursive)\s+)*(view|type|domain|index|sequence|unique\s+index|role|user|extension|policy)\s+((if\s+not\s+exists|concurrently)\s+)*([\w"`\[\]]+\.)?["`\[]?"#),
        rule(Function, r#"(?i)\bcreate\s+((or\s+replace|or\s+alter)\s+)*(function|procedure|proc|trigger|aggregate|package(\s+body)?)\s+(if\s+not\s+exists\s+)?([\w"`\[\]]+\.)?["`\[]?"#),
        rule(Module, r#"(?i)\bcreate\s+(schema|database)\s+(if\s+not\s+exists\s+)?["`\[]?"#),
        rule(Field, r#"(?i)(^|[(,])\s*["`\[]?"#)
            .after(r#"(?i)["`\]]?\s+(\w*(int|char|text|clob|blob|date|time|timestamp|numeric|decimal|number|float|double|real|bool|boolean|bit|money|uuid|json|jsonb|serial|bytea|binary|varbinary|xml|inet|interval|enum)\w*)\b"#)
            .head(r"(?i)\bcreate\s[^(]*\btable\s[^(]*\($"),
    ],
    ..PLAIN
};

pub(super) const MAKE: Language = Language {
    name: "make",
    reserved: "include endif else endef ifeq ifneq ifdef ifndef .PHONY .SUFFIXES",
    extensions: &["mk", "mak"],
    files: &["Makefile", "makefile", "GNUmakefile"],
    syntax: &Syntax {
        line: &["#"],
        block: &[],
        quotes: &[],
        extras: &[],
        word: "-.",
    },
    rules: &[
        rule(Function, r"^(\S+\s+)*")
            .after(r"([ \t]+[\w./%$()-]+)*[ \t]*::?([^=]|$)")
            .not_before(r"^\t|[:=#]|^\s*-?include\b"),
        rule(Variable, r"^\s*((export|override)\s+)*")
            .after(r"\s*([:?+!]|::)?=")
            .not_before(r"^\t"),
        rule(Macro, r"^\s*define\s+"),
    ],
    ..PLAIN
};
