use super::*;

#[track_caller]
fn check_collapsed(given: &str, expected: &str) {
    assert_eq!(collapse(given), expected);
    let owned = collapse_bytes(Cow::Owned(given.as_bytes().to_vec()));
    assert_eq!(owned, expected.as_bytes());
    assert_eq!(
        collapse_bytes(Cow::Borrowed(given.as_bytes())),
        expected.as_bytes()
    );
}

#[test]
fn each_crlf_becomes_one_lf_and_nothing_else_changes() {
    check_collapsed("", "");
    check_collapsed("a\nb\r", "a\nb\r");
    check_collapsed("\r\na\r\nb\r\n", "\na\nb\n");
    check_collapsed("\r\r\n\n\r\n\r", "\r\n\n\n\r");
}

#[test]
fn offsets_come_back_to_the_cr_of_their_break() {
    let given = b"a\r\nb\r\r\nc";
    // a LF b CR LF c
    assert_eq!(
        expand_offsets(given, &[0, 1, 2, 3, 4, 5, 6]),
        [0, 1, 3, 4, 5, 7, 8]
    );
    assert_eq!(expand_offsets(given, &[2, 2, 5]), [3, 3, 7]);
}

#[test]
fn equal_ends_are_whole_characters() {
    // é and è share their first byte, é and ŕ their second.
    assert_eq!(common_prefix("aé".as_bytes(), "aè".as_bytes()), 1);
    assert_eq!(common_suffix("éa".as_bytes(), "ɩa".as_bytes()), 1);
    assert_eq!(common_prefix(b"ab", b"ab"), 2);
    assert_eq!(common_suffix(b"", b"ab"), 0);
    assert_eq!(common_suffix("é".as_bytes(), "é".as_bytes()), 2);
}
