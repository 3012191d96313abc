use std::os::unix::fs::MetadataExt;

use super::scene::{Scene, attribute, code, set_attribute};

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// The bytes of a POSIX access list: version 2, then (tag, permissions, id) each.
fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// `user::rw- user:1234:rw- group::r-- mask::MASK other::---`
fn letting_in_1234(mask: u16) -> Vec<u8> {
    let none = u32::MAX;
    access_list(&[
        (1, 6, none),
        (2, 6, 1234),
        (4, 4, none),
        (16, mask, none),
        (32, 0, none),
    ])
}

#[test]
fn owner_and_group_are_kept() {
    let scene = Scene::with_file(b"old");
    std::os::unix::fs::chown(scene.path("f"), Some(1234), Some(2345)).unwrap();
    scene.chmod("f", 0o664);
    scene.replace(b"new").unwrap();
    let stat = scene.stat("f");
    assert_eq!(
        (stat.uid(), stat.gid(), scene.mode("f")),
        (1234, 2345, 0o664)
    );
}

#[test]
fn the_group_of_a_setgid_directory_is_not_taken() {
    let scene = Scene::empty();
    std::os::unix::fs::chown(scene.path("."), None, Some(2345)).unwrap();
    scene.write("f", b"old");
    scene.chmod(".", 0o2777);
    scene.replace(b"new").unwrap();
    assert_eq!(scene.stat("f").gid(), 0);
}

#[test]
fn extended_attributes_are_kept() {
    let scene = Scene::with_file(b"old");
    let large = vec![7; 2000];
    for (name, value) in [
        ("user.note", &b"mine"[..]),
        ("user.empty", b""),
        ("user.large", &large),
    ] {
        set_attribute(&scene.path("f"), name, value);
    }
    set_attribute(&scene.path("f"), "trusted.mark", b"ours");
    scene.replace(b"new").unwrap();
    let value = |name: &str| attribute(&scene.path("f"), name);
    assert_eq!(value("user.note").unwrap(), b"mine");
    assert_eq!(value("user.empty").unwrap(), b"");
    assert_eq!(value("user.large").unwrap(), large);
    assert_eq!(value("trusted.mark").unwrap(), b"ours");
}

#[test]
fn file_capabilities_are_not_passed_on_to_new_bytes() {
    let scene = Scene::with_file(b"old");
    // Version 2: CAP_NET_BIND_SERVICE, permitted and effective.
    let capability = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    set_attribute(&scene.path("f"), "security.capability", &capability);
    scene.replace(b"new").unwrap();
    assert_eq!(attribute(&scene.path("f"), "security.capability"), None);
}

#[test]
fn an_access_list_is_kept() {
    let scene = Scene::with_file(b"old");
    let list = letting_in_1234(6);
    set_attribute(&scene.path("f"), ACCESS, &list);
    let mode = scene.mode("f");
    scene.replace(b"new").unwrap();
    assert_eq!(attribute(&scene.path("f"), ACCESS).unwrap(), list);
    assert_eq!(scene.mode("f"), mode);
}

#[test]
fn a_list_that_the_directory_hands_down_lets_nobody_into_a_replaced_file() {
    let scene = Scene::with_file(b"old");
    scene.chmod("f", 0o660);
    set_attribute(&scene.path("."), DEFAULT, &letting_in_1234(7));
    scene.replace(b"new").unwrap();
    assert_eq!(attribute(&scene.path("f"), ACCESS), None);
    assert_eq!(scene.mode("f"), 0o660);
    // A new file takes what the directory hands down, as any other program's would.
    scene.job_for("g").create(b"new").unwrap();
    std::fs::write(scene.path("h"), "new").unwrap();
    assert!(attribute(&scene.path("g"), ACCESS).is_some());
    assert_eq!(
        attribute(&scene.path("g"), ACCESS),
        attribute(&scene.path("h"), ACCESS)
    );
    assert_eq!(scene.mode("g"), scene.mode("h"));
}

#[test]
fn attributes_are_carried_to_a_file_that_nobody_may_write() {
    let scene = Scene::with_file(b"old");
    set_attribute(&scene.path("f"), "user.note", b"mine");
    scene.chmod("f", 0o000);
    assert_eq!(code(scene.replace(b"new")), "ok");
    assert_eq!(scene.mode("f"), 0o000);
    assert_eq!(attribute(&scene.path("f"), "user.note").unwrap(), b"mine");
}
