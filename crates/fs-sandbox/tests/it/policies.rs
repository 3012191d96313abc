//! Deny rules, and what directories and links look like under them.

use std::ffi::OsString;
use std::fs;

use fs_core::{EntryKind, ListOptions, Result};
use fs_sandbox::{SECRETS, Workspace, WorkspaceBuilder};

use crate::support::{Tree, both_ways};

#[track_caller]
fn check<T>(result: Result<T>, expected: Result<(), &str>) {
    let code = result.map(|_| ()).map_err(|error| error.code());
    assert_eq!(code, expected);
}

const DENIED: Result<(), &str> = Err("denied_by_policy");

fn denying(tree: &Tree, globs: &[&str]) -> Workspace {
    let start = tree.builder();
    let builder = globs.iter().fold(start, |builder, glob| builder.deny(glob));
    builder.build().unwrap()
}

/// Asserts which of `paths` the globs deny.
#[track_caller]
fn denied(globs: &[&str], paths: &[&str], expected: &[&str]) {
    let tree = Tree::new(&[]);
    for path in paths {
        fs::create_dir_all(tree.path("root").join(path)).unwrap();
    }
    let workspace = denying(&tree, globs);
    let denied = paths.iter().copied().filter(|path| {
        let found = workspace.stat(path).map_err(|error| error.code());
        assert!(found.is_ok() || found == Err("denied_by_policy"), "{path}");
        found.is_err()
    });
    assert_eq!(denied.collect::<Vec<_>>(), expected);
}

#[test]
fn a_glob_is_anchored_by_a_slash() {
    let paths = ["k", "a/k", "a/b/k", "k/x", "ak", "a/kx"];
    denied(&["k"], &paths, &["k", "a/k", "a/b/k", "k/x"]);
    denied(&["/k"], &paths, &["k", "k/x"]);
    denied(&["a/k"], &paths, &["a/k"]);
    denied(&["k/"], &paths, &["k", "a/k", "a/b/k", "k/x"]);
    denied(&["**/b/*"], &paths, &["a/b/k"]);
    denied(&["*k"], &paths, &["k", "a/k", "a/b/k", "k/x", "ak"]);
    denied(&["a/*"], &paths, &["a/k", "a/b/k", "a/kx"]);
}

#[test]
fn a_rule_goes_by_characters() {
    let paths = ["kéy", "key", "k中y", "kééy", "a/kéy"];
    denied(&["k?y"], &paths, &["kéy", "key", "k中y", "a/kéy"]);
    denied(&["/k[é-ï]y"], &paths, &["kéy"]);
    denied(&["K[É]Y"], &paths, &["kéy", "a/kéy"]);
    denied(&["k??y"], &paths, &["kééy"]);
}

#[test]
fn a_rule_about_all_below_a_directory_covers_the_directory() {
    denied(
        &["s/**"],
        &["s", "s/a", "s/a/b", "t/s/a", "sa"],
        &["s", "s/a", "s/a/b"],
    );
}

#[test]
fn case_and_normal_form_make_no_other_name() {
    let globs = ["STRASSE/*", "\u{e9}.txt", "\u{130}x"];
    let paths = [
        "stra\u{df}e/a",
        "E\u{301}.TXT",
        "i\u{307}X",
        "strase/a",
        "e.txt",
    ];
    denied(
        &globs,
        &paths,
        &["stra\u{df}e/a", "E\u{301}.TXT", "i\u{307}X"],
    );
}

#[test]
fn what_usually_holds_secrets_is_known() {
    let paths = [
        ".env",
        "app/.ENV.local",
        "key.pem",
        "a/id_rsa",
        "id_rsa.pub",
        ".ssh/config",
        "home/.aws/credentials",
        ".netrc",
        "environment.rs",
        "id_map.rs",
        "ssh/config",
    ];
    denied(SECRETS, &paths, &paths[..8]);
}

#[test]
fn a_denied_name_is_denied_by_all_its_ways() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/.env=s",
            "root/l->.env",
            "root/s/f=s",
            "root/d->s",
            "root/a/",
            "root/.envl->a",
        ]);
        let workspace = denying(&tree, &[".env*", "s/**"]);
        for path in [
            ".env",
            "l",
            "a/../.env",
            "s/f",
            "d/f",
            "s/none",
            "d/none",
            ".envl",
            ".env/x",
        ] {
            check(workspace.open(path), DENIED);
        }
        for path in ["s", "d", "d/", ".envl"] {
            check(workspace.open_dir(path), DENIED);
        }
        check(workspace.stat(".env"), DENIED);
        check(workspace.stat("l"), Ok(()));
        check(workspace.remove_file(".env"), DENIED);
        check(workspace.remove_file("l"), Ok(()));
        check(workspace.create_dir("s/x"), DENIED);
        check(workspace.create_dir_all("new/s/.envx"), DENIED);
        assert!(!fs::exists(tree.path("root/new")).unwrap());
    });
}

#[test]
fn a_name_that_is_only_read_is_not_changed() {
    both_ways(|| {
        let tree = Tree::new(&["root/.git/config=c", "root/.git/hooks/h=h", "root/g->.git"]);
        let builder = tree
            .builder()
            .deny_edit(".git/hooks/**")
            .deny_edit(".git/config");
        let workspace = builder.build().unwrap();
        for path in [
            ".git/config",
            ".git/hooks/h",
            "g/config",
            "g/../.git/hooks/h",
        ] {
            check(workspace.open(path), Ok(()));
            check(workspace.remove_file(path), DENIED);
        }
        check(workspace.create_dir("g/hooks/new"), DENIED);
        check(workspace.create_dir(".git/HOOKS"), DENIED);
        check(workspace.create_dir(".git/objects"), Ok(()));
        check(workspace.open_dir(".git/hooks"), Ok(()));
    });
}

#[test]
fn a_refusal_names_operation_and_right_but_no_rule() {
    let tree = Tree::new(&["root/.env=s"]);
    let workspace = denying(&tree, &[".env*"]);
    let texts = [
        workspace.open(".env").unwrap_err().to_string(),
        workspace.remove_file(".env").unwrap_err().to_string(),
    ];
    assert_eq!(
        texts,
        [
            "denied by policy: a rule forbids to read this: .env",
            "denied by policy: a rule forbids to delete this: .env",
        ]
    );
}

#[test]
fn a_glob_that_takes_back_or_says_nothing_is_refused() {
    let tree = Tree::new(&[]);
    for glob in ["!a", "", "/", "a[", "a{b"] {
        let build = |builder: WorkspaceBuilder| builder.build().unwrap_err();
        let errors = [
            build(tree.builder().deny(glob)),
            build(tree.builder().deny_edit(glob)),
        ];
        assert_eq!(
            errors.map(|error| error.code()),
            ["invalid_argument"; 2],
            "{glob}"
        );
    }
}

#[test]
fn a_listing_hides_denied_names_and_follows_no_entry() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/d/.env=s",
            "root/d/f=12",
            "root/d/l->/etc",
            "root/e->d",
        ]);
        let workspace = denying(&tree, &[".env"]);
        let options = ListOptions {
            sizes: true,
            ..ListOptions::default()
        };
        for path in ["d", "e", "e/", "d/../d"] {
            let listing = workspace.list(path, &options).unwrap();
            let rows = listing
                .entries
                .into_iter()
                .map(|entry| (entry.name, entry.kind));
            let expected = [("f", EntryKind::File), ("l", EntryKind::Link)];
            let expected = expected.map(|(name, kind)| (OsString::from(name), kind));
            assert_eq!(rows.collect::<Vec<_>>(), expected);
            assert_eq!(listing.total, 2);
        }
    });
}

#[test]
fn stat_tells_of_the_link_itself() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/l->../out",
            "root/in->d",
            "root/d/f=123",
            "root/gone->none",
        ]);
        let workspace = tree.workspace();
        for (path, kind) in [
            ("l", EntryKind::Link),
            ("in", EntryKind::Link),
            ("gone", EntryKind::Link),
            ("in/", EntryKind::Dir),
            ("in/.", EntryKind::Dir),
            (".", EntryKind::Dir),
            ("d", EntryKind::Dir),
            ("in/f", EntryKind::File),
            ("d/..", EntryKind::Dir),
        ] {
            assert_eq!(workspace.stat(path).unwrap().kind, kind, "{path}");
        }
        let file = workspace.stat("in/f").unwrap();
        assert_eq!((file.name, file.size), (OsString::from("f"), Some(3)));
        let modified = fs::metadata(tree.path("root/d/f"))
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(file.modified, Some(modified));
        check(workspace.stat("l/"), Err("outside_sandbox"));
        check(workspace.stat("gone/"), Err("not_found"));
        check(workspace.stat("in/f/"), Err("not_a_directory"));
        check(workspace.stat("none"), Err("not_found"));
    });
}

#[test]
fn directories_are_made_inside_only() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/f=1",
            "root/l->../out",
            "root/in->d",
            "root/d/",
            "root/new->made",
        ]);
        let workspace = tree.workspace();
        check(workspace.create_dir("a"), Ok(()));
        check(workspace.create_dir("b/"), Ok(()));
        check(workspace.create_dir("a"), Err("already_exists"));
        check(workspace.create_dir("."), Err("already_exists"));
        check(workspace.create_dir("new"), Err("already_exists"));
        check(workspace.create_dir("x/y"), Err("not_found"));
        check(workspace.create_dir("f/y"), Err("not_a_directory"));
        check(workspace.create_dir("l/y"), Err("outside_sandbox"));
        check(workspace.create_dir_all("in/x/y/z/"), Ok(()));
        check(workspace.create_dir_all("in/x/y/z"), Ok(()));
        check(workspace.create_dir_all("."), Ok(()));
        check(workspace.create_dir_all("new/sub"), Ok(()));
        check(workspace.create_dir_all("f"), Err("already_exists"));
        check(workspace.create_dir_all("f/y"), Err("not_a_directory"));
        check(workspace.create_dir_all("l/y"), Err("outside_sandbox"));
        check(workspace.create_dir_all("n/../m"), Err("not_found"));
        check(workspace.create_dir_all("n/../../m"), Err("not_found"));
        for (path, exists) in [
            ("d/x/y/z", true),
            ("made/sub", true),
            ("n", false),
            ("m", false),
        ] {
            assert_eq!(
                fs::exists(tree.path("root").join(path)).unwrap(),
                exists,
                "{path}"
            );
        }
        assert_eq!(fs::read_dir(tree.path("out")).unwrap().count(), 0);
    });
}

#[test]
fn removing_takes_files_and_links_only() {
    both_ways(|| {
        let tree = Tree::new(&[
            "root/f=1",
            "root/l->f",
            "root/d/f=1",
            "root/dl->d",
            "out/f=1",
            "root/o->../out/f",
        ]);
        let workspace = tree.workspace();
        for path in ["d", "d/", ".", "dl/", "dl/.", "d/.."] {
            check(workspace.remove_file(path), Err("is_a_directory"));
        }
        check(workspace.remove_file("f/"), Err("not_a_directory"));
        check(workspace.remove_file("none"), Err("not_found"));
        for path in ["l", "dl", "o", "d/f"] {
            check(workspace.remove_file(path), Ok(()));
        }
        for (path, left) in [
            ("root/f", true),
            ("out/f", true),
            ("root/d", true),
            ("root/dl", false),
        ] {
            assert_eq!(fs::exists(tree.path(path)).unwrap(), left, "{path}");
        }
    });
}
