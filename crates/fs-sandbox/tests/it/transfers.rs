//! Copies and moves through the workspace: links, rights, rules, names that are one file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use fs_core::{EntryKind, Error, Result};
use fs_sandbox::{HardLinks, Rights, TransferOptions, Transferred, Workspace};

use crate::support::{Tree, both_ways};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Copy,
    Move,
}

const WAYS: [Way; 2] = [Way::Copy, Way::Move];

impl Way {
    fn go(self, workspace: &Workspace, from: &str, to: &str, over: Over) -> Result<Transferred> {
        let options = TransferOptions {
            overwrite: over == Over::Yes,
            ..TransferOptions::default()
        };
        match self {
            Self::Copy => workspace.copy(from, to, &options),
            Self::Move => workspace.rename(from, to, &options),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    No,
    Yes,
}

/// What a failed call says: its code and the end that it is about.
fn said(error: &Error) -> (&'static str, String) {
    (error.code(), error.path().unwrap().to_owned())
}

/// Every name below `dir` with what it is, holds or leads to.
fn contents(dir: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            let inside = contents(&path).into_iter();
            all.extend(inside.map(|(below, text)| (format!("{name}/{below}"), text)));
            all.insert(name + "/", String::new());
        } else if kind.is_symlink() {
            let leads = fs::read_link(&path).unwrap();
            all.insert(name, format!("-> {}", leads.display()));
        } else if kind.is_file() {
            all.insert(name, fs::read_to_string(&path).unwrap());
        } else {
            all.insert(name, "special".to_owned());
        }
    }
    all
}

/// Asserts that a copy or move fails with `code`, told of the end `at`, and changes nothing.
#[track_caller]
fn check_refused(
    items: &[&str],
    way: Way,
    [from, to]: [&str; 2],
    over: Over,
    [code, at]: [&str; 2],
) {
    both_ways(|| {
        let tree = Tree::new(items);
        let before = contents(tree.base());
        let (from, to) = (tree.text(from), tree.text(to));
        let answer = way.go(&tree.workspace(), &from, &to, over);
        let answer = answer.map_err(|error| said(&error));
        assert_eq!(
            answer.map_err(|(code, at)| (code.to_owned(), at)),
            Err((code.to_owned(), tree.text(at))),
            "{way:?} {over:?}"
        );
        assert_eq!(contents(tree.base()), before, "{way:?} {over:?}");
    });
}

/// Asserts what stands below the root after a copy or move of `from` to `to`.
#[track_caller]
fn check(items: &[&str], way: Way, [from, to]: [&str; 2], over: Over, after: &[(&str, &str)]) {
    both_ways(|| {
        let tree = Tree::new(items);
        let outside = contents(&tree.path("out"));
        let (from, to) = (tree.text(from), tree.text(to));
        way.go(&tree.workspace(), &from, &to, over).unwrap();
        let found = contents(&tree.path("root"));
        let found: Vec<_> = found
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        assert_eq!(found, after, "{way:?}");
        assert_eq!(contents(&tree.path("out")), outside);
    });
}

#[test]
fn a_file_is_copied_or_moved_and_the_directories_above_the_target_are_made() {
    let items = ["root/a=A"];
    check(
        &items,
        Way::Copy,
        ["a", "b"],
        Over::No,
        &[("a", "A"), ("b", "A")],
    );
    check(&items, Way::Move, ["a", "b"], Over::No, &[("b", "A")]);
    check(
        &items,
        Way::Copy,
        ["a", "d/e/b"],
        Over::No,
        &[("a", "A"), ("d/", ""), ("d/e/", ""), ("d/e/b", "A")],
    );
    check(
        &items,
        Way::Move,
        ["${BASE}/root/a", "ws:d/b"],
        Over::No,
        &[("d/", ""), ("d/b", "A")],
    );
}

#[test]
fn what_has_the_targets_name_is_replaced_only_when_told() {
    let items = ["root/a=A", "root/b=B"];
    for way in WAYS {
        let exists = ["already_exists", "b"];
        check_refused(&items, way, ["a", "b"], Over::No, exists);
        for in_the_way in ["root/b->nowhere", "root/b->c", "root/b->../out/s"] {
            let items = ["root/a=A", in_the_way, "root/c=C", "out/s=S"];
            check_refused(&items, way, ["a", "b"], Over::No, exists);
        }
    }
    check(
        &items,
        Way::Copy,
        ["a", "b"],
        Over::Yes,
        &[("a", "A"), ("b", "A")],
    );
    check(&items, Way::Move, ["a", "b"], Over::Yes, &[("b", "A")]);
}

#[test]
fn a_file_is_never_copied_or_moved_onto_itself() {
    for way in WAYS {
        for over in [Over::No, Over::Yes] {
            for to in ["f", "./f", "d/../f", "${BASE}/root/f", "ws:f"] {
                let items = ["root/f=F", "root/d/"];
                check_refused(&items, way, ["f", to], over, ["invalid_argument", to]);
            }
        }
    }
    let linked = ["root/f=F", "root/l->f"];
    for ends in [["l", "f"], ["f", "l"]] {
        let refused = ["invalid_argument", ends[1]];
        check_refused(&linked, Way::Copy, ends, Over::Yes, refused);
    }
    check_refused(
        &linked,
        Way::Move,
        ["l", "l"],
        Over::Yes,
        ["invalid_argument", "l"],
    );
}

#[test]
fn two_names_of_one_file_are_one_file() {
    for way in WAYS {
        for over in [Over::No, Over::Yes] {
            let tree = Tree::new(&["root/f=F"]);
            fs::hard_link(tree.path("root/f"), tree.path("root/g")).unwrap();
            let error = way.go(&tree.workspace(), "f", "g", over).unwrap_err();
            assert_eq!(said(&error), ("invalid_argument", "g".to_owned()));
            assert_eq!(
                error.fields(),
                [("field", fs_core::Field::Text("to".to_owned()))]
            );
            assert_eq!(fs::read(tree.path("root/f")).unwrap(), b"F");
            assert_eq!(fs::metadata(tree.path("root/g")).unwrap().nlink(), 2);
        }
    }
}

#[test]
fn directories_are_neither_copied_nor_moved_nor_replaced() {
    let items = ["root/f=F", "root/d/e/", "root/l->d"];
    for way in WAYS {
        for over in [Over::No, Over::Yes] {
            for from in ["d", "d/", ".", "l/"] {
                let refused = ["is_a_directory", from];
                check_refused(&items, way, [from, "new"], over, refused);
            }
            check_refused(&items, way, ["d", "d/e/d"], over, ["is_a_directory", "d"]);
            for to in ["d", "d/", ".", "new/", "l/"] {
                check_refused(&items, way, ["f", to], over, ["is_a_directory", to]);
            }
            check_refused(&items, way, ["f/", "new"], over, ["not_a_directory", "f/"]);
            check_refused(&items, way, ["no", "new/x"], over, ["not_found", "no"]);
            check_refused(&items, way, ["f", "f/x"], over, ["not_a_directory", "f/x"]);
            check_refused(&items, way, ["", "x"], over, ["invalid_path", ""]);
            check_refused(&items, way, ["f", "a\0b"], over, ["invalid_path", "a\0b"]);
        }
    }
}

#[test]
fn special_files_are_refused_at_once() {
    for way in WAYS {
        both_ways(|| {
            let tree = Tree::new(&["root/f=F"]);
            let fifo = tree.path("root/p");
            let mode = rustix::fs::Mode::from_raw_mode(0o666);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, fifo, kind, mode, 0).unwrap();
            let go = |from, to| {
                let answer = way.go(&tree.workspace(), from, to, Over::Yes);
                said(&answer.unwrap_err())
            };
            assert_eq!(go("p", "new"), ("not_a_file", "p".to_owned()));
            assert_eq!(go("f", "p"), ("not_a_file", "p".to_owned()));
            assert_eq!(contents(&tree.path("root")).len(), 2);
        });
    }
}

#[test]
fn a_copy_reads_and_writes_through_links_that_stay_inside() {
    check(
        &["root/f=F", "root/l->f"],
        Way::Copy,
        ["l", "c"],
        Over::No,
        &[("c", "F"), ("f", "F"), ("l", "-> f")],
    );
    check(
        &["root/f=F", "root/g=G", "root/l->g"],
        Way::Copy,
        ["f", "l"],
        Over::Yes,
        &[("f", "F"), ("g", "F"), ("l", "-> g")],
    );
    check(
        &["root/f=F", "root/l->new"],
        Way::Copy,
        ["f", "l"],
        Over::Yes,
        &[("f", "F"), ("l", "-> new"), ("new", "F")],
    );
    for (from, to, at) in [("l", "c", "l"), ("f", "l", "l"), ("l/x", "c", "l/x")] {
        let items = ["root/f=F", "root/l->../out/s", "out/s=S"];
        let refused = ["outside_sandbox", at];
        check_refused(&items, Way::Copy, [from, to], Over::Yes, refused);
    }
    check_refused(
        &["root/l->gone"],
        Way::Copy,
        ["l", "c"],
        Over::No,
        ["not_found", "l"],
    );
}

#[test]
fn a_move_takes_and_replaces_links_themselves() {
    for text in ["f", "nowhere", "../out/s", "/etc/passwd"] {
        let link = format!("root/l->{text}");
        let items = ["root/f=F", &link, "out/s=S"];
        let moved = format!("-> {text}");
        check(
            &items,
            Way::Move,
            ["l", "m"],
            Over::No,
            &[("f", "F"), ("m", &moved)],
        );
        check(&items, Way::Move, ["f", "l"], Over::Yes, &[("l", "F")]);
    }
    let items = ["root/f=F", "root/d->../out", "out/s=S"];
    for ends in [
        ["d/s", "x"],
        ["f", "d/s"],
        ["f", "d/new"],
        ["f", "../out/new"],
    ] {
        let at = if ends[0] == "f" { ends[1] } else { ends[0] };
        check_refused(&items, Way::Move, ends, Over::Yes, ["outside_sandbox", at]);
        check_refused(&items, Way::Copy, ends, Over::Yes, ["outside_sandbox", at]);
    }
}

#[test]
fn a_copy_has_the_mode_and_the_times_and_no_privileges() {
    let tree = Tree::new(&["root/a=A", "root/b=B"]);
    let past = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    let a = fs::File::open(tree.path("root/a")).unwrap();
    a.set_modified(past).unwrap();
    for mode in [0o444, 0o4755, 0o600] {
        fs::set_permissions(tree.path("root/a"), fs::Permissions::from_mode(mode)).unwrap();
        for to in [format!("new{mode}"), "b".to_owned()] {
            Way::Copy
                .go(&tree.workspace(), "a", &to, Over::Yes)
                .unwrap();
            let copy = fs::metadata(tree.path("root").join(&to)).unwrap();
            assert_eq!(copy.modified().unwrap(), past);
            assert_eq!(copy.mode() & 0o7777, mode & 0o777);
        }
        fs::set_permissions(tree.path("root/b"), fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_move_is_a_rename() {
    let tree = Tree::new(&["root/a=A", "root/b=B"]);
    fs::set_permissions(tree.path("root/a"), fs::Permissions::from_mode(0o4755)).unwrap();
    let before = fs::metadata(tree.path("root/a")).unwrap();
    let moved = Way::Move
        .go(&tree.workspace(), "a", "b", Over::Yes)
        .unwrap();
    let after = fs::metadata(tree.path("root/b")).unwrap();
    let same = |of: &fs::Metadata| (of.ino(), of.mode(), of.modified().unwrap());
    assert_eq!(same(&after), same(&before));
    let expected = Transferred {
        kind: EntryKind::File,
        size: 1,
        replaced: true,
        parted_links: 0,
        warnings: Vec::new(),
    };
    assert_eq!(moved, expected);
}

#[test]
fn the_other_names_of_a_replaced_file_keep_its_bytes_or_keep_it() {
    for way in WAYS {
        for (policy, expected) in [
            (HardLinks::Break, Ok(1)),
            (HardLinks::Refuse, Err("hard_link")),
            (HardLinks::InPlace, Err("hard_link")),
        ] {
            let tree = Tree::new(&["root/f=F", "root/g=G"]);
            fs::hard_link(tree.path("root/g"), tree.path("root/h")).unwrap();
            let workspace = tree.builder().hard_links(policy).build().unwrap();
            let answer = way.go(&workspace, "f", "g", Over::Yes);
            let answer = answer.map(|done| done.parted_links);
            assert_eq!(answer.map_err(|error| error.code()), expected);
            assert_eq!(fs::read(tree.path("root/h")).unwrap(), b"G");
            let now = if expected.is_ok() { "F" } else { "G" };
            assert_eq!(fs::read_to_string(tree.path("root/g")).unwrap(), now);
        }
    }
}

/// Asserts that the link `from` is moved to none of `goals`, and that all stays as it was.
#[track_caller]
fn check_link_stays(links: &[&str], from: &str, goals: &[&str]) {
    both_ways(|| {
        let tree = Tree::new(&[&["root/f=F", "root/d/", "root/dd->d"], links].concat());
        fs::hard_link(tree.path("root/f"), tree.path("root/hard")).unwrap();
        let workspace = tree.builder().deny("**/.env*").build().unwrap();
        let before = contents(&tree.path("root"));
        for over in [Over::No, Over::Yes] {
            for to in goals {
                let to = tree.text(to);
                let refused = Way::Move.go(&workspace, from, &to, over);
                let refused = refused.map_err(|error| said(&error));
                assert_eq!(refused, Err(("invalid_argument", to)), "{links:?} {over:?}");
                assert_eq!(contents(&tree.path("root")), before, "{links:?} {over:?}");
            }
        }
    });
}

#[test]
fn a_link_never_replaces_the_file_that_it_leads_to() {
    let names = ["f", "./f", "d/../f", "hard", "${BASE}/root/f", "ws:f"];
    check_link_stays(&["root/l->f"], "l", &names);
    check_link_stays(&["root/l->hard"], "l", &names);
    check_link_stays(&["root/l->./d/../f"], "l", &names);
    check_link_stays(&["root/l->${BASE}/root/f"], "l", &names);
    check_link_stays(&["root/l->m", "root/m->f"], "l", &names);
    check_link_stays(&["root/l->.env", "root/.env->f"], "l", &names);
    check_link_stays(&["root/d/l->../f"], "d/l", &names);
    check_link_stays(&["root/d/l->../dd/../f"], "dd/l", &names);
    check_link_stays(&["root/d/l->${BASE}/root/m", "root/m->f"], "d/l", &names);
    // The way leads out and comes back.
    check_link_stays(&["root/l->../out/x", "out/x->../root/f"], "l", &names);
    check_link_stays(&["root/l->${BASE}/out/r/f", "out/r->../root"], "l", &names);
}

#[test]
fn a_link_never_replaces_a_link_that_it_leads_by() {
    check_link_stays(&["root/l->m", "root/m->f"], "l", &["m"]);
    check_link_stays(&["root/l->m", "root/m->gone"], "l", &["m"]);
    check_link_stays(
        &["root/l->k", "root/k->d/m", "root/d/m->../f"],
        "l",
        &["k", "d/m"],
    );
    check_link_stays(&["root/l->m", "root/m->l"], "l", &["m"]);
}

#[test]
fn a_link_never_takes_a_name_from_where_it_leads_to_itself() {
    check_link_stays(&["root/d/l->f"], "d/l", &["f"]);
    check_link_stays(&["root/d/l->m", "root/m->f"], "d/l", &["m"]);
}

#[test]
fn a_link_that_leads_elsewhere_replaces_a_file() {
    for text in ["g", "gone", "../out/s", "m", "d"] {
        let link = format!("root/l->{text}");
        let items = [
            "root/f=F",
            "root/g=G",
            "root/m->g",
            "root/d/",
            &link,
            "out/s=S",
        ];
        let moved = format!("-> {text}");
        for to in ["f", "m"] {
            if to == text {
                continue;
            }
            let mut after = vec![("d/", ""), ("f", "F"), ("g", "G"), ("m", "-> g")];
            after.retain(|(name, _)| *name != to);
            after.push((to, &moved));
            after.sort_unstable();
            check(&items, Way::Move, ["l", to], Over::Yes, &after);
        }
    }
}

/// Asserts what two roots with rights of their own answer to a transfer from the first to the second.
#[track_caller]
fn check_rights(way: Way, source: Rights, target: Rights, expected: Result<(), (&str, &str)>) {
    both_ways(|| {
        let tree = Tree::new(&["root/f=F"]);
        let workspace = Workspace::builder()
            .root("a", &tree.path("root"), source)
            .root("b", &tree.path("out"), target)
            .build()
            .unwrap();
        let answer = way.go(&workspace, "f", "b:d/g", Over::No);
        let answer = answer.map(|_| ()).map_err(|error| said(&error));
        let answer = answer.as_ref().map_err(|(code, at)| (*code, at.as_str()));
        assert_eq!(answer.copied(), expected, "{way:?} {source:?} {target:?}");
        assert_eq!(tree.path("out/d").exists(), expected.is_ok());
        let moved = way == Way::Move && expected.is_ok();
        assert_eq!(tree.path("root/f").exists(), !moved);
    });
}

#[test]
fn each_end_needs_its_right() {
    let (read, edit, delete) = (Rights::READ, Rights::EDIT, Rights::DELETE);
    let denied = |at| Err(("denied_by_policy", at));
    check_rights(Way::Copy, read, edit, Ok(()));
    check_rights(Way::Copy, edit | delete, Rights::ALL, denied("f"));
    check_rights(Way::Copy, Rights::ALL, read | delete, denied("b:d/g"));
    check_rights(Way::Move, delete, edit, Ok(()));
    check_rights(Way::Move, read | edit, Rights::ALL, denied("f"));
    check_rights(Way::Move, Rights::ALL, read | delete, denied("b:d/g"));
}

/// Asserts what a transfer from or to the outside answers that has these rights.
#[track_caller]
fn check_outside(way: Way, ends: [&str; 2], outside: Rights, expected: Result<(), &str>) {
    both_ways(|| {
        let tree = Tree::new(&["root/f=F", "out/s=S"]);
        let workspace = tree.builder().outside(outside).build().unwrap();
        let [from, to] = ends.map(|end| tree.text(end));
        let answer = way.go(&workspace, &from, &to, Over::No);
        let answer = answer.map(|_| ()).map_err(|error| error.code());
        assert_eq!(answer, expected, "{way:?} {ends:?} {outside:?}");
    });
}

#[test]
fn the_outside_has_rights_of_its_own() {
    let (read, edit, delete) = (Rights::READ, Rights::EDIT, Rights::DELETE);
    let (out, into) = (["f", "${BASE}/out/new"], ["${BASE}/out/s", "new"]);
    for way in WAYS {
        check_outside(way, out, Rights::NONE, Err("outside_sandbox"));
        check_outside(way, into, Rights::NONE, Err("outside_sandbox"));
        check_outside(way, out, read | delete, Err("denied_by_policy"));
        check_outside(way, out, edit, Ok(()));
    }
    check_outside(Way::Copy, into, read, Ok(()));
    check_outside(Way::Copy, into, edit | delete, Err("denied_by_policy"));
    check_outside(Way::Move, into, read | delete, Err("denied_by_policy"));
    check_outside(Way::Move, into, read | edit, Err("denied_by_policy"));
    check_outside(Way::Move, into, edit | delete, Ok(()));
}

#[test]
fn rules_hold_at_both_ends() {
    both_ways(|| {
        let items = ["root/.env=KEY", "root/f=F", "root/ro/g=G", "root/l->.env"];
        let tree = Tree::new(&items);
        let workspace = tree.builder().deny("**/.env*").deny_edit("ro/**");
        let workspace = workspace.build().unwrap();
        let before = contents(&tree.path("root"));
        for way in WAYS {
            for (from, to, at) in [
                (".env", "plain", ".env"),
                ("f", ".env", ".env"),
                ("f", ".ENV.new", ".ENV.new"),
                ("f", "ro/new", "ro/new"),
                ("f", "ro/g", "ro/g"),
            ] {
                let answer = way.go(&workspace, from, to, Over::Yes);
                let expected = ("denied_by_policy", at.to_owned());
                assert_eq!(said(&answer.unwrap_err()), expected, "{way:?}");
            }
        }
        let answer = Way::Copy.go(&workspace, "l", "plain", Over::No);
        assert_eq!(answer.unwrap_err().code(), "denied_by_policy");
        let answer = Way::Move.go(&workspace, "ro/g", "g", Over::No);
        assert_eq!(answer.unwrap_err().code(), "denied_by_policy");
        assert_eq!(contents(&tree.path("root")), before);
        Way::Copy.go(&workspace, "ro/g", "g", Over::No).unwrap();
    });
}

#[test]
fn roots_on_two_file_systems_exchange_files() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let tree = Tree::new(&["root/f=F"]);
    let workspace = tree.builder().root("m", memory.path(), Rights::ALL);
    let workspace = workspace.build().unwrap();
    let there = memory.path().join("d/f");
    Way::Move.go(&workspace, "f", "m:d/f", Over::No).unwrap();
    assert_eq!(fs::read(&there).unwrap(), b"F");
    assert!(!tree.path("root/f").exists());
    Way::Copy.go(&workspace, "m:d/f", "back", Over::No).unwrap();
    assert_eq!(fs::read(tree.path("root/back")).unwrap(), b"F");
    Way::Move
        .go(&workspace, "m:d/f", "back", Over::Yes)
        .unwrap();
    assert!(!there.exists());
    assert_eq!(contents(&tree.path("root")).len(), 1);
}

/// Moves `a` to `b` again and again while somebody creates and removes `b`.
#[test]
fn a_move_never_replaces_what_comes_at_the_last_moment() {
    both_ways(|| {
        let tree = Tree::new(&["root/"]);
        let workspace = tree.workspace();
        let (done, made, lost) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let (a, b) = (tree.path("root/a"), tree.path("root/b"));
        let mut answers = BTreeMap::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let new = fs::File::create_new(&b);
                    if new.is_ok() {
                        let text = format!("{}", made.fetch_add(1, Ordering::Relaxed));
                        fs::write(&b, &text).unwrap();
                        // Whatever stands there now must still be what was written.
                        if fs::read_to_string(&b).ok().as_deref() != Some(&text) {
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    fs::remove_file(&b).unwrap_or_default();
                }
            });
            let mut moves = 0_u64;
            while moves < 2_000 || (moves < 200_000 && answers.len() < 2) {
                moves += 1;
                fs::write(&a, "A").unwrap();
                let moved = Way::Move.go(&workspace, "a", "b", Over::No);
                let answer = moved.map_or_else(|error| error.code(), |_| "ok");
                *answers.entry(answer).or_insert(0_u64) += 1;
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(lost.load(Ordering::Relaxed), 0);
        let names: Vec<_> = answers.keys().copied().collect();
        assert_eq!(names, ["already_exists", "ok"]);
    });
}
