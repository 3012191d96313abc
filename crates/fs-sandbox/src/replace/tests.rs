pub(crate) mod hook;

mod attributes;
mod backups;
mod failures;
mod faults;
mod links;
mod pieces;
mod races;
mod scene;
mod transfers;

use std::os::unix::fs::MetadataExt;

use fs_core::Patch;

use super::*;
use scene::{Scene, code};

#[test]
fn a_replaced_file_has_the_new_bytes_and_its_mode() {
    for mode in [0o600, 0o640, 0o644, 0o755, 0o440] {
        let scene = Scene::with_file(b"old");
        scene.chmod("f", mode);
        let replaced = scene.replace(b"new and longer").unwrap();
        assert_eq!(scene.bytes("f"), b"new and longer");
        assert_eq!(scene.mode("f"), mode);
        assert_eq!(scene.names(), ["f"]);
        assert_eq!(replaced.backup, None);
        assert_eq!(replaced.parted_links, 0);
        assert_eq!(replaced.warnings, Vec::<String>::new());
    }
}

#[test]
fn the_handle_that_comes_back_is_the_new_file() {
    let scene = Scene::with_file(b"old");
    let before = scene.stat("f").ino();
    let replaced = scene.replace(b"new").unwrap();
    let after = rustix::fs::fstat(&replaced.file).unwrap();
    assert_eq!(after.st_ino, scene.stat("f").ino());
    assert_ne!(after.st_ino, before);
    assert_eq!(after.st_size, 3);
}

#[test]
fn setuid_and_setgid_are_not_passed_on_to_new_bytes() {
    let scene = Scene::with_file(b"old");
    scene.chmod("f", 0o6755);
    scene.replace(b"new").unwrap();
    assert_eq!(scene.mode("f"), 0o755);
}

#[test]
fn every_durability_leaves_the_same_file() {
    for durability in [Durability::None, Durability::File, Durability::Full] {
        let scene = Scene::with_file(b"old");
        let job = scene.job().durability(durability);
        let replaced = job.replace(&Patch::whole(b"new".to_vec())).unwrap();
        assert_eq!(replaced.warnings, Vec::<String>::new());
        assert_eq!(scene.bytes("f"), b"new");
        let created = scene
            .job_for("g")
            .durability(durability)
            .create(b"G")
            .unwrap();
        assert_eq!(created.warnings, Vec::<String>::new());
        assert_eq!(scene.bytes("g"), b"G");
    }
}

#[test]
fn a_created_file_has_the_mode_that_the_umask_leaves() {
    let scene = Scene::empty();
    std::fs::write(scene.path("as std does it"), "x").unwrap();
    let created = scene.job_for("f").create(b"new").unwrap();
    assert_eq!(created.backup, None);
    assert_eq!(scene.bytes("f"), b"new");
    assert_eq!(scene.mode("f"), scene.mode("as std does it"));
    assert_eq!(scene.names(), ["as std does it", "f"]);
}

#[test]
fn an_empty_file_can_be_created_and_replaced() {
    let scene = Scene::empty();
    scene.job_for("f").create(b"").unwrap();
    assert_eq!(scene.bytes("f"), b"");
    scene.replace(b"some").unwrap();
    scene.replace(b"").unwrap();
    assert_eq!(scene.bytes("f"), b"");
}

#[test]
fn nothing_is_created_over_what_has_the_name() {
    let scene = Scene::with_file(b"old");
    scene.symlink("nowhere", "dangling");
    std::fs::create_dir(scene.path("dir")).unwrap();
    for name in ["f", "dangling", "dir"] {
        let refused = scene.job_for(name).create(b"new");
        assert_eq!(code(refused), "already_exists", "{name}");
    }
    assert_eq!(scene.bytes("f"), b"old");
    assert_eq!(scene.names(), ["dangling", "dir", "f"]);
    assert!(scene.stat("dangling").is_symlink());
}

#[test]
fn only_regular_files_are_opened() {
    let scene = Scene::empty();
    std::fs::create_dir(scene.path("dir")).unwrap();
    scene.symlink("dir", "link");
    scene.fifo("fifo");
    let _socket = std::os::unix::net::UnixListener::bind(scene.path("socket")).unwrap();
    let open = |name: &str| OldFile::open(scene.job_for(name).target());
    assert_eq!(code(open("dir")), "is_a_directory");
    assert_eq!(code(open("link")), "conflict");
    assert_eq!(code(open("fifo")), "not_a_file");
    assert_eq!(code(open("socket")), "not_a_file");
    assert!(open("missing").unwrap().is_none());
}

#[test]
fn a_name_of_255_bytes_can_be_replaced() {
    let scene = Scene::empty();
    let name = "n".repeat(255);
    scene.job_for(&name).create(b"old").unwrap();
    let job = scene.job_for(&name);
    job.replace(&Patch::whole(b"new".to_vec())).unwrap();
    assert_eq!(scene.bytes(&name), b"new");
}

#[test]
fn a_name_that_is_not_utf8_can_be_replaced() {
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::empty();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    scene.job_for(name).create(b"old").unwrap();
    let job = scene.job_for(name).backup(Backup::Keep);
    let replaced = job.replace(&Patch::whole(b"new".to_vec())).unwrap();
    assert_eq!(std::fs::read(scene.path(name)).unwrap(), b"new");
    assert_eq!(replaced.backup.as_deref(), Some("caf\u{fffd}.bak"));
}
