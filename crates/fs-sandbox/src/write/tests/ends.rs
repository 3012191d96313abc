//! Versions of both ends of a copy or move, and of what is removed.

use std::fs;
use std::os::unix::fs::symlink;

use fs_core::{Result, Version};

use super::files::{Site, code};
use crate::replace::tests::hook;
use crate::{RemoveOptions, TransferOptions, Transferred};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Copy,
    Move,
}

const WAYS: [Way; 2] = [Way::Copy, Way::Move];

/// What the caller knows: of the source, of the target.
type Known<'a> = [Option<&'a [u8]>; 2];

impl Way {
    fn go(self, site: &Site, [source, target]: Known<'_>) -> Result<Transferred> {
        let options = TransferOptions {
            overwrite: true,
            if_version: source.map(Version::of_bytes),
            served: target.map(Version::of_bytes),
            ..TransferOptions::default()
        };
        match self {
            Self::Copy => site.workspace.copy("f", "g", &options),
            Self::Move => site.workspace.rename("f", "g", &options),
        }
    }
}

/// A site of `f` and, unless it is empty, `g`.
fn site(g: &str) -> Site {
    let site = Site::with_file("source");
    if !g.is_empty() {
        site.put("g", g);
    }
    site
}

fn state(site: &Site) -> Vec<(String, Vec<u8>)> {
    let names = site.names("").into_iter();
    let held = names.map(|name| (name.clone(), site.bytes(&name)));
    held.collect()
}

/// Asserts that `known` does not hold, of the end `at`, and that nothing has changed.
#[track_caller]
fn check_conflict(site: &Site, way: Way, known: Known<'_>, at: &str) {
    let before = state(site);
    let error = way.go(site, known).unwrap_err();
    assert_eq!(
        (error.code(), error.path()),
        ("conflict", Some(at)),
        "{way:?}"
    );
    assert_eq!(state(site), before, "{way:?}");
}

/// Asserts that the target has the source's bytes, and that nothing else is left.
#[track_caller]
fn check_goes(site: &Site, way: Way, known: Known<'_>) {
    way.go(site, known).unwrap();
    assert_eq!(site.bytes("g"), b"source", "{way:?}");
    let names: &[&str] = match way {
        Way::Copy => &["f", "g"],
        Way::Move => &["g"],
    };
    assert_eq!(site.names(""), names, "{way:?}");
}

#[test]
fn only_the_version_that_is_named_is_copied_or_moved() {
    for way in WAYS {
        for target in ["", "target"] {
            check_conflict(&site(target), way, [Some(b"other"), None], "f");
            check_goes(&site(target), way, [Some(b"source"), None]);
        }
    }
}

#[test]
fn only_what_was_served_is_overwritten() {
    for way in WAYS {
        check_conflict(&site("newer"), way, [None, Some(b"target")], "g");
        check_goes(&site("target"), way, [None, Some(b"target")]);
        check_goes(&site(""), way, [None, Some(b"target")]);
        check_goes(&site("target"), way, [Some(b"source"), Some(b"target")]);
    }
}

#[test]
fn a_link_is_no_version() {
    let site = site("");
    symlink("elsewhere", site.path("g")).unwrap();
    let refused = Way::Move.go(&site, [None, Some(b"target")]);
    assert_eq!(code(refused), "conflict");
    assert_eq!(
        fs::read_link(site.path("g")).unwrap().to_str(),
        Some("elsewhere")
    );
    check_goes(&site, Way::Move, [Some(b"source"), None]);
    fs::remove_file(site.path("g")).unwrap();
    site.put("there", "source");
    symlink("there", site.path("f")).unwrap();
    let refused = Way::Move.go(&site, [Some(b"source"), None]);
    assert_eq!(code(refused), "conflict");
    assert_eq!(site.names(""), ["f", "there"]);
}

#[test]
fn a_target_that_changes_in_the_last_moment_keeps_its_bytes() {
    let known: Known<'_> = [None, Some(b"target")];
    let act = |site: &Site, bytes: &'static str| {
        let path = site.path("g");
        move || fs::write(&path, bytes).unwrap()
    };
    let copied = site("target");
    hook::when_written(act(&copied, "foreign"));
    assert_eq!(code(Way::Copy.go(&copied, known)), "conflict");
    let moved = site("target");
    hook::when_checked(act(&moved, "foreign"));
    assert_eq!(code(Way::Move.go(&moved, known)), "conflict");
    let exchanged = site("target");
    // The source's name has the old target by now.
    let path = exchanged.path("f");
    hook::when_exchanged(move || fs::write(&path, "foreign").unwrap());
    assert_eq!(code(Way::Move.go(&exchanged, known)), "conflict");
    for site in [copied, moved, exchanged] {
        assert_eq!(site.bytes("f"), b"source");
        assert_eq!(site.bytes("g"), b"foreign");
        assert_eq!(site.names(""), ["f", "g"]);
    }
}

#[test]
fn a_target_that_comes_in_the_last_moment_is_not_overwritten() {
    for way in WAYS {
        let site = site("");
        let path = site.path("g");
        let act = move || fs::write(&path, "foreign").unwrap();
        match way {
            Way::Copy => hook::when_written(act),
            Way::Move => hook::when_checked(act),
        }
        let refused = way.go(&site, [None, Some(b"target")]);
        assert_eq!(code(refused), "conflict", "{way:?}");
        assert_eq!(site.bytes("g"), b"foreign");
        assert_eq!(site.bytes("f"), b"source");
    }
}

#[test]
fn a_source_that_changes_in_the_last_moment_goes_nowhere() {
    for target in ["", "target"] {
        for way in WAYS {
            let site = site(target);
            let path = site.path("f");
            let act = move || fs::write(&path, "foreign and longer").unwrap();
            match way {
                Way::Copy => hook::when_written(act),
                Way::Move => hook::when_checked(act),
            }
            let error = way.go(&site, [Some(b"source"), None]).unwrap_err();
            assert_eq!(
                (error.code(), error.path()),
                ("conflict", Some("f")),
                "{way:?}"
            );
            assert_eq!(site.bytes("f"), b"foreign and longer");
            assert_eq!(site.names("").len(), 1 + usize::from(!target.is_empty()));
            if !target.is_empty() {
                assert_eq!(site.bytes("g"), b"target");
            }
        }
    }
}

fn removing(bytes: &[u8]) -> RemoveOptions {
    RemoveOptions {
        if_version: Some(Version::of_bytes(bytes)),
        ..RemoveOptions::default()
    }
}

#[test]
fn only_the_version_that_is_named_is_removed() {
    let site = Site::with_file("v2");
    let remove =
        |path: &str, bytes: &[u8]| code(site.workspace.remove_file_with(path, &removing(bytes)));
    assert_eq!(remove("f", b"v1"), "conflict");
    assert_eq!(site.bytes("f"), b"v2");
    symlink("f", site.path("link")).unwrap();
    assert_eq!(remove("link", b"v2"), "conflict");
    fs::create_dir(site.path("dir")).unwrap();
    assert_eq!(remove("dir", b"v2"), "is_a_directory");
    assert_eq!(remove("missing", b"v2"), "not_found");
    assert_eq!(site.names(""), ["dir", "f", "link"]);
    assert_eq!(remove("f", b"v2"), "ok");
    assert_eq!(site.names(""), ["dir", "link"]);
}

#[test]
fn what_takes_the_name_in_the_last_moment_is_not_removed() {
    let site = Site::with_file("v1");
    let path = site.path("f");
    hook::when_checked(move || {
        fs::remove_file(&path).unwrap();
        fs::write(&path, "foreign").unwrap();
    });
    let refused = site.workspace.remove_file_with("f", &removing(b"v1"));
    assert_eq!(code(refused), "conflict");
    assert_eq!(site.bytes("f"), b"foreign");
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn a_cancelled_removal_removes_nothing() {
    let site = Site::with_file("v1");
    for options in [removing(b"v1"), RemoveOptions::default()] {
        options.cancel.cancel();
        assert_eq!(
            code(site.workspace.remove_file_with("f", &options)),
            "cancelled"
        );
    }
    assert_eq!(site.names(""), ["f"]);
}
