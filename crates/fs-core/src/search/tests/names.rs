//! Names.

use super::*;
use crate::list::EntryKind;

fn named(pattern: &str) -> Query {
    Query {
        target: Target::Names,
        ..query(pattern)
    }
}

const FILES: [(&str, &[u8]); 6] = [
    ("src/Main.rs", b""),
    ("src/main_test.py", b""),
    ("src/[a].txt", b""),
    ("docs/main/readme.md", b""),
    ("build/main.o", b""),
    (".main", b""),
];

#[test]
fn a_part_of_a_name_is_found_in_any_case_unless_it_has_a_capital() {
    check(
        &FILES,
        &named("main"),
        &["docs/main", "src/Main.rs", "src/main_test.py"],
    );
    check(&FILES, &named("Main"), &["src/Main.rs"]);
    let exact = Query {
        case: Some(Case::Sensitive),
        ..named("main")
    };
    check(&FILES, &exact, &["docs/main", "src/main_test.py"]);
    let any = Query {
        case: Some(Case::Insensitive),
        ..named("MAIN.R")
    };
    check(&FILES, &any, &["src/Main.rs"]);
}

#[test]
fn a_glob_must_match_the_whole_name() {
    check(&FILES, &named("*.py"), &["src/main_test.py"]);
    check(
        &FILES,
        &named("main*"),
        &["docs/main", "src/Main.rs", "src/main_test.py"],
    );
    check(&FILES, &named("?ain.rs"), &["src/Main.rs"]);
    check(
        &FILES,
        &named("[ms]*"),
        &["docs/main", "src", "src/Main.rs", "src/main_test.py"],
    );
    check(&FILES, &named("[a"), &["src/[a].txt"]);
}

#[test]
fn a_pattern_with_a_slash_is_compared_with_paths() {
    check(
        &FILES,
        &named("docs/ma"),
        &["docs/main", "docs/main/readme.md"],
    );
    check(&FILES, &named("src/*.rs"), &["src/Main.rs"]);
    check(&FILES, &named("**/readme*"), &["docs/main/readme.md"]);
}

#[test]
fn the_name_of_a_folder_is_not_that_of_what_is_in_it() {
    check(&FILES, &named("docs"), &["docs"]);
    check(&FILES, &named("build"), &["build"]);
}

#[test]
fn an_expression_is_found_anywhere_in_a_name() {
    let named = |pattern: &str| Query {
        target: Target::Names,
        ..regex(pattern)
    };
    check(
        &FILES,
        &named(r"^main.*\.(rs|py)$"),
        &["src/Main.rs", "src/main_test.py"],
    );
    check(&FILES, &named("^Main"), &["src/Main.rs"]);
    check(
        &FILES,
        &named(r"c/\w+\."),
        &["src/Main.rs", "src/main_test.py"],
    );
}

#[test]
fn the_file_glob_holds_too() {
    let query = Query {
        file_glob: Some("*.rs".to_owned()),
        ..named("main")
    };
    check(&FILES, &query, &["src/Main.rs"]);
    let none = Query {
        file_glob: Some("*.py".to_owned()),
        ..named("zzz")
    };
    check(&FILES, &none, &[]);
}

#[test]
fn kinds_are_told_and_hidden_names_counted() {
    let folder = tree(&FILES);
    let found = found(&folder, &named("main"));
    let kinds: Vec<_> = found.names.iter().map(|name| name.kind).collect();
    assert_eq!(kinds, [EntryKind::Dir, EntryKind::File, EntryKind::File]);
    assert_eq!(skips(&found), [("skip_list", 1), ("hidden", 1)]);
}

#[test]
fn names_are_cut_in_path_order() {
    let query = Query {
        max_results: 2,
        ..named("main")
    };
    check(&FILES, &query, &["docs/main", "src/Main.rs"]);
    assert_eq!(found(&tree(&FILES), &query).cut, Some(Cut::Results));
    let bytes = Query {
        max_bytes: 3,
        ..named("main")
    };
    let found = found(&tree(&FILES), &bytes);
    assert_eq!((found.hits, found.cut), (1, Some(Cut::Bytes)));
}

#[test]
fn paths_are_compared_below_the_start() {
    let folder = tree(&FILES);
    let start = RelPath::parse("docs").unwrap();
    let root = open(folder.path());
    let below = search(&root, &start, &named("main/*"), &Everything).unwrap();
    assert_eq!(lines(&below), ["docs/main/readme.md"]);
    let above = search(&root, &start, &named("docs/main"), &Everything).unwrap();
    assert_eq!(lines(&above), [""; 0]);
}
