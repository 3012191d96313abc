use std::io::Write;

use super::*;

#[test]
fn equal_bytes_have_equal_versions() {
    assert_eq!(Version::of_bytes(b"a"), Version::of_bytes(b"a"));
    assert_ne!(Version::of_bytes(b"a"), Version::of_bytes(b"b"));
    assert_eq!(
        Version::of_bytes(b"").as_str(),
        "af1349b9f5f9a1a6a0404dea36dcc949-0"
    );
}

#[track_caller]
fn check(text: &str, is_weak: Option<bool>) {
    let version = Version::parse(text);
    let code = version.as_ref().map_err(crate::Error::code);
    match is_weak {
        Some(weak) => assert_eq!(version.map(|version| version.is_weak()).unwrap(), weak),
        None => assert_eq!(code, Err("invalid_argument")),
    }
}

#[test]
fn only_what_a_read_gives_out_is_a_version() {
    let hash = "0123456789abcdef0123456789abcdef";
    check(&format!("{hash}-0"), Some(false));
    check(&format!("w:{hash}-18446744073709551615"), Some(true));
    check(&format!("{hash}-00"), None);
    check(&format!("{hash}-+1"), None);
    check(&format!("{hash}-"), None);
    check(&format!("{hash}-18446744073709551616"), None);
    check(&format!("w:w:{hash}-1"), None);
    check(&format!("{}-1", hash.to_uppercase()), None);
    check(&format!("{hash}0-1"), None);
    check(hash, None);
    check("", None);
}

#[test]
fn a_handle_has_a_weak_version_that_a_write_changes() {
    let mut file = tempfile::tempfile().unwrap();
    let handle = cap_std::fs::File::from_std(file.try_clone().unwrap());
    let before = Version::of_handle(&handle).unwrap();
    assert!(before.is_weak());
    assert_eq!(Version::parse(before.as_str()).unwrap(), before);
    assert_eq!(Version::of_handle(&handle).unwrap(), before);
    file.write_all(b"x").unwrap();
    assert_ne!(Version::of_handle(&handle).unwrap(), before);
}
