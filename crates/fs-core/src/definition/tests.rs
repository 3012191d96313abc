//! A corpus of our own, and what is asked of it.
//!
//! In a sample the names that a line defines follow a `§` at its end, each written by hand. All else
//! in it are wrong candidates: comments, strings, calls, imports, locals, parameters, words of the
//! language. Every word of a sample is asked for.

use std::collections::BTreeSet;
use std::time::Instant;

use proptest::prelude::*;

use super::*;

macro_rules! samples {
    ($($extension:literal $recall:literal $precision:literal),* $(,)?) => {
        [$(Sample {
            extension: $extension,
            text: include_str!(concat!("corpus/sample.", $extension, ".txt")),
            least: Figures { recall: $recall, precision: $precision },
        }),*]
    };
}

/// The corpus, with the least recall and precision in percent; the first thirteen are parsed.
const SAMPLES: [Sample; 35] = samples![
    "rs" 99.0 94.0,
    "py" 99.0 94.0,
    "go" 99.0 94.0,
    "js" 90.0 85.0,
    "ts" 90.0 85.0,
    "tsx" 90.0 85.0,
    "java" 90.0 85.0,
    "c" 90.0 85.0,
    "cpp" 80.0 80.0,
    "cs" 90.0 85.0,
    "rb" 90.0 85.0,
    "php" 90.0 85.0,
    "kt" 90.0 85.0,
    "swift" 80.0 80.0,
    "sh" 80.0 80.0,
    "lua" 80.0 80.0,
    "scala" 80.0 80.0,
    "dart" 80.0 80.0,
    "m" 80.0 80.0,
    "groovy" 80.0 80.0,
    "zig" 80.0 80.0,
    "proto" 80.0 80.0,
    "pl" 80.0 80.0,
    "R" 80.0 80.0,
    "jl" 80.0 80.0,
    "ex" 80.0 80.0,
    "ps1" 80.0 80.0,
    "hs" 80.0 80.0,
    "ml" 80.0 80.0,
    "fs" 80.0 80.0,
    "el" 80.0 80.0,
    "erl" 80.0 80.0,
    "nim" 80.0 80.0,
    "sql" 80.0 80.0,
    "mk" 80.0 80.0,
];

/// What the rules alone must reach in every language.
const RULES: Figures = Figures {
    recall: 80.0,
    precision: 80.0,
};

/// Nothing is missed and nothing wrong.
#[cfg(feature = "definitions")]
const ALL: Figures = Figures {
    recall: 100.0,
    precision: 100.0,
};

struct Sample {
    extension: &'static str,
    text: &'static str,
    least: Figures,
}

/// Shares in percent.
#[derive(Debug, Clone, Copy)]
struct Figures {
    recall: f64,
    precision: f64,
}

/// Names with their lines.
type Names = BTreeSet<(String, u64)>;

impl Sample {
    /// Returns the text without its labels, and the names with their lines.
    fn labelled(&self) -> (String, Names) {
        let (mut text, mut names) = (String::new(), Names::new());
        for (line, number) in self.text.lines().zip(1..) {
            let (code, labels) = line.split_once('§').unwrap_or((line, ""));
            text += code.trim_end();
            text += "\n";
            let labels = labels.split_whitespace();
            names.extend(labels.map(|name| (name.to_owned(), number)));
        }
        (text, names)
    }

    fn path(&self) -> RelPath {
        path(&format!("sample.{}", self.extension))
    }

    /// Returns what `ask` finds for every word of the text.
    fn all_found(&self, text: &str, ask: impl Fn(&str) -> Vec<Definition>) -> Names {
        let lines = |word: String| {
            let found = ask(&word).into_iter();
            found.map(move |found| (word.clone(), found.line))
        };
        self.words(text).into_iter().flat_map(lines).collect()
    }

    /// Returns every word of the text, by the common notion of a word and by the language's own.
    fn words(&self, text: &str) -> BTreeSet<String> {
        let language = language::language_of(&self.path(), text).unwrap();
        let more = LANGUAGES[language].syntax.word;
        let plain = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let own = text.split(|c: char| !c.is_alphanumeric() && c != '_' && !more.contains(c));
        let labels = self
            .text
            .lines()
            .filter_map(|line| line.split_once('§'))
            .flat_map(|(_, names)| names.split_whitespace());
        let words = plain.chain(own).chain(labels);
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }
}

impl Figures {
    fn of(found: &Names, expected: &Names) -> Self {
        let right = found.intersection(expected).count();
        let share = |all: usize| {
            100.0 * f64::from(u32::try_from(right).unwrap())
                / f64::from(u32::try_from(all.max(1)).unwrap())
        };
        Self {
            recall: share(expected.len()),
            precision: share(found.len()),
        }
    }

    fn reach(self, least: Self) -> bool {
        self.recall >= least.recall && self.precision >= least.precision
    }
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn ask(file: &str, text: &str, name: &str) -> Vec<Definition> {
    definitions(&path(file), text, name, &Cancel::default()).unwrap()
}

fn ask_rules(file: &str, text: &str, name: &str) -> Vec<Definition> {
    let language = language::language_of(&path(file), text).unwrap();
    let places = places_of(text, name, language);
    described(
        text,
        &rules::matching(text, language, &places, &Cancel::default()),
    )
}

/// Checks the lines, columns and kinds of `name` in a file of that name.
#[track_caller]
fn check(file: &str, text: &str, name: &str, expected: &[(u64, u64, &str)]) {
    let found = ask(file, text, name);
    let found: Vec<_> = found
        .iter()
        .map(|found| (found.line, found.column, found.kind.as_str()))
        .collect();
    assert_eq!(found, expected, "{name} in {file}");
}

#[test]
fn definitions_are_found_in_every_language() {
    println!("         names  recall precision   by rules alone");
    let mut short = Vec::new();
    for sample in SAMPLES {
        let (text, expected) = sample.labelled();
        let file = sample.path().to_string();
        assert!(expected.len() >= 20, "{file}: {} names", expected.len());
        let found = sample.all_found(&text, |word| ask(&file, &text, word));
        let by_rules = sample.all_found(&text, |word| ask_rules(&file, &text, word));
        let (figures, rules) = (
            Figures::of(&found, &expected),
            Figures::of(&by_rules, &expected),
        );
        println!(
            "{:8} {:5} {:7.1} {:9.1}    {:7.1} {:9.1}",
            sample.extension,
            expected.len(),
            figures.recall,
            figures.precision,
            rules.recall,
            rules.precision
        );
        show("", &found, &expected);
        show("by rules ", &by_rules, &expected);
        let is_parsed = cfg!(feature = "definitions");
        if !figures.reach(if is_parsed { sample.least } else { RULES }) || !rules.reach(RULES) {
            short.push(sample.extension);
        }
    }
    assert_eq!(short, Vec::<&str>::new());
}

fn show(how: &str, found: &Names, expected: &Names) {
    for (name, line) in expected.difference(found) {
        println!("    {how}missed {name} in line {line}");
    }
    for (name, line) in found.difference(expected) {
        println!("    {how}wrong {name} in line {line}");
    }
}

#[test]
fn every_pattern_and_query_compiles() {
    assert_eq!(rules::patterns_that_fail(), Vec::<String>::new());
    #[cfg(feature = "definitions")]
    assert_eq!(grammar::grammars_that_fail(), Vec::<String>::new());
}

/// The samples are what the grammars and rules were mended by, so what they reach must not go down.
#[cfg(feature = "definitions")]
#[test]
fn what_is_parsed_is_exact_on_the_samples() {
    for sample in &SAMPLES[..13] {
        let (text, expected) = sample.labelled();
        let file = sample.path().to_string();
        let found = sample.all_found(&text, |word| ask(&file, &text, word));
        assert!(Figures::of(&found, &expected).reach(ALL), "{file}");
    }
}

/// Such texts cost a parser a thousand times their length in memory, or a query its square in time.
#[test]
fn a_text_that_tangles_a_parser_goes_by_the_rules() {
    for (file, tangle, rest) in [
        (
            "a.cpp",
            "a<b<".repeat(5000),
            ";\nint size(int a) { return a; }\n",
        ),
        ("a.ts", "a?b:".repeat(9000), "c;\nfunction size() {}\n"),
        ("a.js", "!".repeat(2000), "a;\nfunction size() {}\n"),
        ("a.rs", "a+(".repeat(300), ";\nfn size() {}\n"),
        ("a.js", "{}\n".repeat(90_000), "function size() {}\n"),
    ] {
        let text = tangle + rest;
        #[cfg(feature = "definitions")]
        assert!(!is_parsed(file, &text), "{file}");
        let lines: Vec<u64> = ask(file, &text, "size")
            .iter()
            .map(|each| each.line)
            .collect();
        assert_eq!(lines, [text.lines().count() as u64], "{file}");
    }
}

#[cfg(feature = "definitions")]
fn is_parsed(file: &str, text: &str) -> bool {
    let language = language::language_of(&RelPath::parse(file).unwrap(), text).unwrap();
    let found = text.match_indices("size");
    let places: Vec<Range<usize>> = found.map(|(at, word)| at..at + word.len()).collect();
    grammar::parsed(text, &LANGUAGES[language], &places, &Cancel::default()).is_some()
}

#[test]
fn a_call_is_no_definition_and_receivers_and_visibility_are_no_hindrance() {
    let rust = "// open_file is called below\npub(crate) async fn open_file() {}\nfn main(){ open_file(); }\n";
    check("a.rs", rust, "open_file", &[(2, 21, "function")]);
    let found = ask("a.rs", rust, "open_file");
    assert_eq!(found[0].text, "pub(crate) async fn open_file() {}");
    let go = "func (s *Srv) open_file() {}\n";
    check("b.go", go, "open_file", &[(1, 15, "method")]);
}

#[test]
fn columns_count_code_points_and_lines_lose_their_break() {
    let text = "/* 漢字 */ fn größe() {}\r\nfn b() { größe() }\r\n";
    check("a.rs", text, "größe", &[(1, 13, "function")]);
    assert_eq!(
        ask("a.rs", text, "größe")[0].text,
        "/* 漢字 */ fn größe() {}"
    );
    check(
        "a.lua",
        "local x = 'é' function größe() end",
        "größe",
        &[(1, 24, "function")],
    );
    check("a.rs", text, "größ", &[]);
    check("a.rs", text, "b", &[(2, 4, "function")]);
}

#[test]
fn a_name_must_be_whole() {
    let text = "fn open() {}\nfn open_file() {}\nfn reopen() {}\n";
    check("a.rs", text, "open", &[(1, 4, "function")]);
    check("a.rs", text, "", &[]);
    check("a.rs", text, " ", &[]);
    check("a.rs", text, "open() {}\nfn", &[]);
    check(
        "a.rb",
        "def empty?; end\ndef empty; end\n",
        "empty",
        &[(2, 5, "method")],
    );
    check(
        "a.rb",
        "def empty?; end\ndef empty; end\n",
        "empty?",
        &[(1, 5, "method")],
    );
    check(
        "a.js",
        "class A { #x = 1; x = 2 }",
        "x",
        &[(1, 12, "field"), (1, 19, "field")],
    );
}

#[test]
fn a_condition_is_no_function() {
    for file in [
        "a.c", "a.cpp", "a.java", "a.js", "a.ts", "a.cs", "a.php", "a.dart", "a.m",
    ] {
        let text = "<?php\nvoid f() {\n  if (x) {\n  } else if (y) {\n  }\n}\n";
        check(file, text, "if", &[]);
        check(file, text, "x", &[]);
        assert!(ask_rules(file, text, "if").is_empty(), "{file}");
    }
}

#[test]
fn the_language_is_that_of_the_name_or_of_the_first_line() {
    let text = "def area(): pass\n";
    check("a.PY", text, "area", &[(1, 5, "function")]);
    check("a.txt", text, "area", &[]);
    check("tool", text, "area", &[]);
    for first in [
        "#!/usr/bin/python3",
        "#!/usr/bin/env python",
        "#! /usr/bin/env -S A=1 python3.11 -u",
    ] {
        let text = format!("{first}\n{text}");
        check("bin/tool", &text, "area", &[(2, 5, "function")]);
    }
    check("x/Makefile", "area: b\n", "area", &[(1, 1, "function")]);
    check(".bashrc", "area() { :; }\n", "area", &[(1, 1, "function")]);
}

#[test]
fn a_header_is_of_c_or_of_cpp() {
    check(
        "a.h",
        "int namespace(int a) { return a; }\n",
        "namespace",
        &[(1, 5, "function")],
    );
    check(
        "a.h",
        "class Area {\npublic:\n  int size() { return 1; }\n};\n",
        "Area",
        &[(1, 7, "class")],
    );
}

#[test]
fn a_file_may_define_by_its_name() {
    for (file, expected) in [
        ("a.rs", true),
        ("a.RS", true),
        ("Makefile", true),
        ("tool", true),
        (".bashrc", true),
        ("a.txt", false),
        ("a.png", false),
    ] {
        assert_eq!(may_define(&path(file)), expected, "{file}");
    }
    assert!(!may_define(&RelPath::root()));
}

#[test]
fn a_macro_and_a_broken_text_go_by_rules() {
    let text = "bitflags! {\n    pub struct Rights: u8 { const READ = 1; }\n}\nfn good() { Rights::READ }\n";
    check("a.rs", text, "Rights", &[(2, 16, "struct")]);
    let broken = "fn good() {}\n}}} ((( fn after(x: u8) { let let\nstruct Late { field: u8 }\n";
    check("a.rs", broken, "after", &[(2, 12, "function")]);
    check("a.rs", broken, "Late", &[(3, 8, "struct")]);
}

#[test]
fn a_long_text_goes_by_rules() {
    let text = format!(
        "fn first() {{}}\n{}fn last() {{ first() }}\n",
        "// filler\n".repeat(60_000)
    );
    check("a.rs", &text, "first", &[(1, 4, "function")]);
    check("a.rs", &text, "last", &[(60_002, 4, "function")]);
}

#[test]
fn a_text_that_no_parser_can_take_ends_soon() {
    // Each was or could be quadratic: places times depth, or a mark that never ends.
    let marks = [
        "(x", "{x", "x(", "x;\n", "=/[", "'\\", "R\"", "[==", "<<A", "`${", "\"#{", "%w(", "  x\n",
        "/* x",
    ];
    for mark in marks {
        let text = mark.repeat(30_000 / mark.len());
        for file in [
            "a.c", "a.rs", "a.js", "a.rb", "a.lua", "a.cpp", "a.py", "a.kt",
        ] {
            let start = Instant::now();
            ask(file, &text, "x");
            let spent = start.elapsed().as_secs();
            assert!(spent < 30, "{mark} in {file} took {spent} s");
        }
    }
}

#[test]
fn a_cancelled_search_is_an_error() {
    let cancel = Cancel::default();
    cancel.cancel();
    let found = definitions(&path("a.rs"), "fn a() {}", "a", &cancel);
    assert_eq!(found.map_err(|error| error.code()), Err("cancelled"));
}

#[test]
fn every_kind_has_a_word_of_its_own() {
    for kind in DefinitionKind::ALL {
        assert_eq!(DefinitionKind::parse(kind.as_str()), Some(kind));
        assert_eq!(kind.to_string(), kind.as_str());
    }
    assert_eq!(DefinitionKind::parse("local"), None);
}

/// A file name of every language.
fn files() -> impl Strategy<Value = String> {
    let extensions = LANGUAGES.iter().map(|language| language.extensions[0]);
    proptest::sample::select(
        extensions
            .map(|extension| format!("a.{extension}"))
            .collect::<Vec<_>>(),
    )
}

/// Pieces that begin and end things, letters, and anything else.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "x", "x", "fn ", "def ", "class ", "(", ")", "{", "}", "[", "]", "\"", "'", "`", "\\",
            "/", "//", "/*", "*/", "#", "--", "<<A", "\nA\n", "${", "#{", "\n", "\r\n", ";", ",",
            "=", ":", "<?php ", "?>", "R\"(", "r#\"", "[[", "]]", "%w[", "@", "é", "漢",
        ])
        .prop_map(str::to_owned),
        ".{0,4}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_is_too_odd(file in files(), text in texts(), name in prop_oneof![Just("x".to_owned()), ".{1,3}"]) {
        for found in ask(&file, &text, &name) {
            let line = text.split('\n').nth(usize::try_from(found.line - 1).unwrap()).unwrap();
            prop_assert_eq!(line.strip_suffix('\r').unwrap_or(line), &found.text);
            let rest: String = line.chars().skip(usize::try_from(found.column - 1).unwrap()).collect();
            prop_assert!(rest.starts_with(&name));
        }
    }

    #[test]
    fn a_mask_keeps_lengths_and_lines(file in files(), text in texts()) {
        let language = language::language_of(&path(&file), &text).unwrap();
        let code = mask::masked(text.as_bytes(), LANGUAGES[language].syntax);
        prop_assert_eq!(code.len(), text.len());
        for (masked, byte) in code.iter().zip(text.bytes()) {
            let is_kept = *masked == byte || *masked == b' ' || (!byte.is_ascii() && *masked == b'x');
            prop_assert!(is_kept && (byte != b'\n' || *masked == b'\n'));
        }
    }
}
