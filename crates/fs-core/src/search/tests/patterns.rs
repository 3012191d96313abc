//! What a pattern may be, and what it means.

use super::*;

const TEXT: [(&str, &[u8]); 1] = [(
    "f",
    b"Alpha.beta\nalphaXbeta\n  alpha\r\nALPHA\rbeta\n\xC3\x84ra\n",
)];

#[test]
fn a_literal_is_no_expression_and_minds_case() {
    check(&TEXT, &query("a.b"), &["f:1:Alpha.beta"]);
    check(&TEXT, &query("alpha"), &["f:2:alphaXbeta", "f:3:  alpha"]);
    check(&TEXT, &query("A\rb"), &["f:4:ALPHA\rbeta"]);
}

#[test]
fn an_expression_sees_lines_without_their_breaks() {
    check(&TEXT, &regex("a.b"), &["f:1:Alpha.beta", "f:2:alphaXbeta"]);
    check(&TEXT, &regex("^  alpha$"), &["f:3:  alpha"]);
    check(&TEXT, &regex(r"\s$"), &[]);
    check(&TEXT, &regex(r"^\w+$"), &["f:2:alphaXbeta", "f:5:Ära"]);
}

#[test]
fn a_carriage_return_alone_is_data_to_an_expression() {
    let text: [(&str, &[u8]); 3] = [
        ("a", b"a\rneedle\rb\n"),
        ("b", b"needle\r\nneedle\r\r\n\rneedle\n"),
        ("c", b"x\nneedle\r"),
    ];
    check(&text, &regex("^needle$"), &["b:1:needle"]);
    check(&text, &regex("a.needle"), &["a:1:a\rneedle\rb"]);
    check(&text, &regex("[^x]needle.b"), &["a:1:a\rneedle\rb"]);
    check(&text, &regex("^.needle$"), &["b:3:\rneedle"]);
    check(&text, &regex("^b"), &[]);
    check(
        &text,
        &regex(r"needle\s$"),
        &["b:2:needle\r", "c:2:needle\r"],
    );
    check(
        &text,
        &regex(r"needle\r$"),
        &["b:2:needle\r", "c:2:needle\r"],
    );
    let pairs: [(&str, &[u8]); 2] = [("w", b"ab\r\n\r\ncd\r\n"), ("x", b"ab\n\n")];
    check(&pairs, &regex("^$"), &["w:2:", "x:2:"]);
    check(&pairs, &regex(r"^\s*$"), &["w:2:", "x:2:"]);
    check(&pairs, &regex("^x*$"), &["w:2:", "x:2:"]);
    for pattern in [r"\r", r"b\r", r"[bd]\r", r"\r|zz", r"\r$", r"b.", r"b\s"] {
        check(&pairs, &regex(pattern), &[]);
    }
    let found = found(&tree(&text), &regex(r"\r\w"));
    assert_eq!(found.blocks[0].lines[0].column, Some(2));
}

#[test]
fn case_can_be_chosen() {
    let with = |case, pattern: &str| Query {
        case: Some(case),
        ..query(pattern)
    };
    let all = [
        "f:1:Alpha.beta",
        "f:2:alphaXbeta",
        "f:3:  alpha",
        "f:4:ALPHA\rbeta",
    ];
    check(&TEXT, &with(Case::Insensitive, "aLPha"), &all);
    check(&TEXT, &with(Case::Smart, "alpha"), &all);
    check(&TEXT, &with(Case::Smart, "ALPHA"), &["f:4:ALPHA\rbeta"]);
    check(&TEXT, &with(Case::Insensitive, "ära"), &["f:5:Ära"]);
}

#[test]
fn columns_count_code_points() {
    let found = found(&tree(&[("f", "中文é needle".as_bytes())]), &query("needle"));
    assert_eq!(found.blocks[0].lines[0].column, Some(5));
}

#[track_caller]
fn check_refused(query: &Query, field: &str, reason: &str) {
    let folder = tree(&[]);
    let error = search(&open(folder.path()), &RelPath::root(), query, &Everything).unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
    let text = error.to_string();
    assert!(text.contains(field) && text.contains(reason), "{text}");
}

#[test]
fn patterns_that_are_none_are_refused() {
    check_refused(&query(""), "query", "empty");
    check_refused(&query("a\nb"), "query", "line break");
    check_refused(&regex("a\nb"), "query", r"\n");
    check_refused(&regex("("), "query", "unclosed group");
    check_refused(&regex(r"(?=x)"), "query", "look-around");
    check_refused(&regex(r"(x)\1"), "query", "backreferences");
    check_refused(&query(&"x".repeat(65_537)), "query", "longer");
    let names = Query {
        target: Target::Names,
        ..regex("[")
    };
    check_refused(&names, "query", "unclosed");
    let glob = Query {
        file_glob: Some("{a".to_owned()),
        ..query("x")
    };
    check_refused(&glob, "file_glob", "unclosed");
    for (list, reason) in [
        ("../a".to_owned(), "leads out"),
        ("?,".repeat(2049), "longer"),
    ] {
        let glob = Query {
            file_glob: Some(list),
            ..query("x")
        };
        check_refused(&glob, "file_glob", reason);
    }
}

#[test]
fn an_expression_that_explodes_is_refused_at_once() {
    for pattern in [
        r"(\w{100}){100}",
        r"((a{100}){100}){100}",
        r"(?:x{1000}){1000}",
        r"\pL{1000}",
    ] {
        check_refused(&regex(pattern), "query", "size limit");
    }
}

#[test]
fn globs_choose_files() {
    let files: [(&str, &[u8]); 4] = [
        ("a.rs", b"x"),
        ("d/b.rs", b"x"),
        ("d/c.py", b"x"),
        ("d/e/f.rs", b"x"),
    ];
    let only = |glob: &str| Query {
        file_glob: Some(glob.to_owned()),
        ..query("x")
    };
    check(
        &files,
        &only("*.rs"),
        &["a.rs:1:x", "d/b.rs:1:x", "d/e/f.rs:1:x"],
    );
    check(&files, &only("d/*.rs"), &["d/b.rs:1:x"]);
    check(
        &files,
        &only("**/*.rs"),
        &["a.rs:1:x", "d/b.rs:1:x", "d/e/f.rs:1:x"],
    );
    check(&files, &only("*.{py,md}"), &["d/c.py:1:x"]);
}

#[test]
fn globs_are_anchored_excluded_and_listed() {
    let paths = ["a.rs", "d/a.rs", "d/b.py", "e/d/c.md"];
    let files = paths.map(|path| (path, b"x".as_slice()));
    let only = |glob: &str, expected: &[&str]| {
        let query = Query {
            file_glob: Some(glob.to_owned()),
            ..query("x")
        };
        let expected: Vec<String> = expected.iter().map(|path| format!("{path}:1:x")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(&files, &query, &expected);
    };
    only("/a.rs", &["a.rs"]);
    only("./a.rs", &["a.rs"]);
    only("/", &["a.rs", "d/a.rs", "d/b.py", "e/d/c.md"]);
    only("./d/*", &["d/a.rs", "d/b.py"]);
    only("d/", &["d/a.rs", "d/b.py", "e/d/c.md"]);
    only("/d/", &["d/a.rs", "d/b.py"]);
    only("e/d/", &["e/d/c.md"]);
    only("!*.rs", &["d/b.py", "e/d/c.md"]);
    only("!/a.rs, !e/", &["d/a.rs", "d/b.py"]);
    only("*.py,*.md", &["d/b.py", "e/d/c.md"]);
    only("*.{py,md}, *.rs ,!d/a.*", &["a.rs", "d/b.py", "e/d/c.md"]);
    only(r"a\,b", &[]);
    only(" , ", &["a.rs", "d/a.rs", "d/b.py", "e/d/c.md"]);
}
