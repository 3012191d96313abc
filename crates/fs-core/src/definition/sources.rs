//! The grammars that are at hand, and what is asked of them.

use tree_sitter::Language;

/// Where a grammar comes from.
pub(super) struct Source {
    pub(super) name: &'static str,
    pub(super) language: fn() -> Language,
    pub(super) query: &'static str,
    /// The kinds of nodes inside of which a variable is a local one.
    pub(super) bodies: &'static [&'static str],
}

pub(super) static SOURCES: &[Source] = &[
    Source {
        name: "rust",
        language: || tree_sitter_rust::LANGUAGE.into(),
        query: include_str!("queries/rust.scm"),
        bodies: &[],
    },
    Source {
        name: "python",
        language: || tree_sitter_python::LANGUAGE.into(),
        query: include_str!("queries/python.scm"),
        bodies: &["function_definition", "lambda"],
    },
    Source {
        name: "javascript",
        language: || tree_sitter_javascript::LANGUAGE.into(),
        query: concat!(
            include_str!("queries/ecmascript.scm"),
            include_str!("queries/javascript.scm")
        ),
        bodies: SCRIPT_BODIES,
    },
    Source {
        name: "typescript",
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        query: TYPESCRIPT_QUERY,
        bodies: SCRIPT_BODIES,
    },
    Source {
        name: "tsx",
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        query: TYPESCRIPT_QUERY,
        bodies: SCRIPT_BODIES,
    },
    Source {
        name: "go",
        language: || tree_sitter_go::LANGUAGE.into(),
        query: include_str!("queries/go.scm"),
        bodies: &["function_declaration", "method_declaration", "func_literal"],
    },
    Source {
        name: "java",
        language: || tree_sitter_java::LANGUAGE.into(),
        query: include_str!("queries/java.scm"),
        bodies: &[],
    },
    Source {
        name: "c",
        language: || tree_sitter_c::LANGUAGE.into(),
        query: include_str!("queries/c.scm"),
        bodies: C_BODIES,
    },
    Source {
        name: "cpp",
        language: || tree_sitter_cpp::LANGUAGE.into(),
        query: concat!(
            include_str!("queries/cpp.scm"),
            include_str!("queries/c.scm")
        ),
        bodies: C_BODIES,
    },
    Source {
        name: "csharp",
        language: || tree_sitter_c_sharp::LANGUAGE.into(),
        query: include_str!("queries/csharp.scm"),
        bodies: &[],
    },
    Source {
        name: "ruby",
        language: || tree_sitter_ruby::LANGUAGE.into(),
        query: include_str!("queries/ruby.scm"),
        bodies: &[],
    },
    Source {
        name: "php",
        language: || tree_sitter_php::LANGUAGE_PHP.into(),
        query: include_str!("queries/php.scm"),
        bodies: &[],
    },
    Source {
        name: "kotlin",
        language: || tree_sitter_kotlin_ng::LANGUAGE.into(),
        query: include_str!("queries/kotlin.scm"),
        bodies: &[
            "function_body",
            "lambda_literal",
            "anonymous_initializer",
            "secondary_constructor",
        ],
    },
];

const TYPESCRIPT_QUERY: &str = concat!(
    include_str!("queries/ecmascript.scm"),
    include_str!("queries/typescript.scm")
);
const SCRIPT_BODIES: &[&str] = &[
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "generator_function",
    "generator_function_declaration",
    "class_static_block",
];
const C_BODIES: &[&str] = &["function_definition", "lambda_expression"];
