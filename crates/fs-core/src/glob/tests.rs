use super::*;

/// Asserts which names a glob matches.
#[track_caller]
fn check(pattern: &str, case: Case, matching: &[&[u8]], others: &[&[u8]]) {
    let glob = Glob::new(pattern, case).unwrap();
    let names = matching.iter().chain(others).copied();
    let found: Vec<&[u8]> = names.filter(|name| glob.is_match(name)).collect();
    assert_eq!(found, matching, "{pattern}");
}

#[track_caller]
fn sensitive(pattern: &str, matching: &[&str], others: &[&str]) {
    let matching: Vec<&[u8]> = matching.iter().map(|name| name.as_bytes()).collect();
    let others: Vec<&[u8]> = others.iter().map(|name| name.as_bytes()).collect();
    check(pattern, Case::Sensitive, &matching, &others);
}

#[test]
fn characters_count_and_not_bytes() {
    sensitive("?", &["中", "a"], &["/", "", "ab"]);
    sensitive("??", &["中文"], &["中"]);
    sensitive("???", &[], &["中"]);
    sensitive("?.rs", &["é.rs"], &["éé.rs"]);
    sensitive("[é]", &["é"], &["è", "e"]);
    sensitive("[à-ï]x", &["éx"], &["ñx"]);
    sensitive("[!é]", &["中", "e"], &["é", "/"]);
    sensitive("中?.{txt,md}", &["中文.md"], &["中.md"]);
    sensitive("a?c", &["a\nc"], &[]);
}

#[test]
fn signs_of_expressions_are_themselves() {
    sensitive("?.+", &["a.+"], &["abb"]);
    sensitive("(?)|$", &["(é)|$"], &["("]);
    sensitive("?\\*", &["a*"], &["ab"]);
    sensitive("?\\\\xe9", &["a\\xe9"], &["aé"]);
    sensitive("?^", &["a^"], &["a"]);
}

#[test]
fn stars_stay_in_a_name_and_two_go_beyond() {
    sensitive("*.rs", &["中.rs"], &["a/b.rs"]);
    sensitive("**/?.rs", &["a/b/é.rs", "é.rs"], &["ab.rs"]);
    sensitive("src/**", &["src/a/b"], &["lib/a"]);
}

#[test]
fn letters_beyond_ascii_have_two_cases() {
    let (upper, lower) = ("ÉA".as_bytes(), "éa".as_bytes());
    check("é*", Case::Smart, &[upper, lower], &[]);
    check("É*", Case::Smart, &[upper], &[lower]);
    check("É?", Case::Insensitive, &[upper, lower], &[]);
    check("é*", Case::Sensitive, &[lower], &[upper]);
}

#[test]
fn a_bad_sequence_is_one_character() {
    check("a?c", Case::Sensitive, &[b"a\xffc"], &[b"a\xff\xfec"]);
    check("a*c", Case::Sensitive, &[b"a\xff\xfec", b"a\xffc"], &[]);
}

#[test]
fn what_is_no_glob_is_refused() {
    assert!(Glob::new("[a", Case::Sensitive).is_err());
    assert!(Glob::new("{a", Case::Sensitive).is_err());
    let many = format!("{}?", "{a,b}".repeat(400));
    let glob = Glob::new(&many, Case::Sensitive).unwrap();
    assert!(glob.is_match(format!("{}c", "ab".repeat(200)).as_bytes()));
}
