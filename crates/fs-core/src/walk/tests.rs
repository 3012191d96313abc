use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use cap_std::ambient_authority;

use super::*;

mod model;

/// A tree: `dir/` is a directory, `path=text` a file, `path->target` a link.
pub(super) fn tree(items: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for item in items {
        let (path, rest) = match item.find(['=', '>']) {
            Some(at) => item.split_at(at),
            None => (*item, ""),
        };
        let path = folder.path().join(path.trim_end_matches('-'));
        if path.file_name().is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        match rest.split_at_checked(1) {
            Some(("=", text)) => fs::write(path, text).unwrap(),
            Some((_, target)) => symlink(target, path).unwrap(),
            None => fs::create_dir_all(path).unwrap(),
        }
    }
    folder
}

pub(super) fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

/// Returns what a walk visits, one line each, with a mark for its kind and why it is skipped.
fn visited(root: &Path, start: &str, options: &WalkOptions) -> Vec<String> {
    let start = RelPath::parse(start).unwrap();
    let mut lines = Vec::new();
    walk(&open(root), &start, options, &Everything, &mut |entry| {
        let mark = match entry.kind {
            EntryKind::Dir => "/",
            EntryKind::Link => "@",
            EntryKind::Other => "!",
            EntryKind::File => "",
        };
        let skip = entry.skip.map(|skip| format!(" {}", skip.name()));
        lines.push(format!("{}{mark}{}", entry.path, skip.unwrap_or_default()));
        ControlFlow::Continue(())
    })
    .unwrap();
    lines
}

#[track_caller]
fn check(items: &[&str], start: &str, options: &WalkOptions, expected: &[&str]) {
    let folder = tree(items);
    assert_eq!(visited(folder.path(), start, options), expected);
}

fn plain() -> WalkOptions {
    WalkOptions::default()
}

#[test]
fn a_directory_comes_before_what_is_in_it_in_each_order() {
    let items = ["b/x=", "a=", "B=", "b.c=", "C/y="];
    check(
        &items,
        "",
        &plain(),
        &["a", "B", "b/", "b/x", "b.c", "C/", "C/y"],
    );
    let order = |order| WalkOptions { order, ..plain() };
    let bytes = ["B", "C/", "C/y", "a", "b/", "b/x", "b.c"];
    check(&items, "", &order(Order::Bytes), &bytes);
    let folders_first = ["b/", "b/x", "C/", "C/y", "a", "B", "b.c"];
    check(&items, "", &order(Order::FoldersFirst), &folders_first);
}

#[test]
fn the_order_by_bytes_is_that_of_paths() {
    let folder = tree(&[
        "a/b/c=", "a/b.c=", "a.b/c=", "a-b=", "ab=", "é/x=", "a/b/0=", "Z=",
    ]);
    let order = Order::Bytes;
    let mut paths = Vec::new();
    let options = WalkOptions { order, ..plain() };
    walk(
        &open(folder.path()),
        &RelPath::root(),
        &options,
        &Everything,
        &mut |entry| {
            paths.push(entry.path.clone());
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(paths.len(), 12);
    assert!(paths.is_sorted());
}

#[test]
fn the_skip_list_is_told_and_not_entered() {
    let items = ["node_modules/x=", ".git/HEAD=", "build=", "src/target/x="];
    let all = [
        ".git/ skip_list",
        "build",
        "node_modules/ skip_list",
        "src/",
        "src/target/ skip_list",
    ];
    check(&items, "", &plain(), &all);
    check(&items, "src/target", &plain(), &["src/target/x"]);
    let none = WalkOptions {
        skip_list: &[],
        ..plain()
    };
    let entered = [
        ".git/ hidden",
        "build",
        "node_modules/",
        "node_modules/x",
        "src/",
        "src/target/",
        "src/target/x",
    ];
    check(&items, "", &none, &entered);
}

#[test]
fn hidden_entries_are_told_unless_wanted() {
    let items = [".a/b=", ".c=", "d="];
    check(&items, "", &plain(), &[".a/ hidden", ".c hidden", "d"]);
    let wanted = WalkOptions {
        include_hidden: true,
        ..plain()
    };
    check(&items, "", &wanted, &[".a/", ".a/b", ".c", "d"]);
    check(&items, ".a", &plain(), &[".a/b"]);
}

#[test]
fn the_nearest_rule_holds() {
    let items = [
        ".gitignore=*.log\n/only\n!.kept\n",
        "a.log=",
        "only=",
        ".kept=",
        "sub/.gitignore=!a.log\nb*\n",
        "sub/a.log=",
        "sub/only=",
        "sub/big=",
    ];
    let expected = [
        ".gitignore hidden",
        ".kept",
        "a.log ignored",
        "only ignored",
        "sub/",
        "sub/.gitignore hidden",
        "sub/a.log",
        "sub/big ignored",
        "sub/only",
    ];
    check(&items, "", &plain(), &expected);
    let off = WalkOptions {
        respect_ignore: false,
        ..plain()
    };
    let folder = tree(&items);
    assert!(
        !visited(folder.path(), "", &off)
            .iter()
            .any(|line| line.ends_with("ignored"))
    );
}

#[test]
fn ignore_files_and_excludes_hold_too() {
    let items = [
        ".git/info/exclude=x\n",
        ".gitignore=!x\ny\n",
        ".ignore=!y\nz\n",
        "x=",
        "y=",
        "z=",
    ];
    let expected = [
        ".git/ skip_list",
        ".gitignore hidden",
        ".ignore hidden",
        "x",
        "y",
        "z ignored",
    ];
    check(&items, "", &plain(), &expected);
    check(
        &[".git/info/exclude=x\n", "x="],
        "",
        &plain(),
        &[".git/ skip_list", "x ignored"],
    );
}

#[test]
fn rules_above_the_start_hold_unless_they_ignore_it() {
    let items = [
        ".gitignore=*.o\n/gen\n/all/*\n",
        "a/b/x.o=",
        "a/b/x.c=",
        "gen/x.o=",
        "all/x.o=",
    ];
    check(&items, "a/b", &plain(), &["a/b/x.c", "a/b/x.o ignored"]);
    check(&items, "gen", &plain(), &["gen/x.o"]);
    check(&items, "all", &plain(), &["all/x.o"]);
}

#[test]
fn rules_of_git_end_where_another_repository_begins() {
    for dot_git in ["in/.git/HEAD=", "in/.git=gitdir: ../.git/modules/in\n"] {
        let items = [
            ".gitignore=x\n",
            ".git/info/exclude=y\n",
            ".ignore=z\n",
            dot_git,
            "in/x=",
            "in/y=",
            "in/z=",
            "in/deep/x=",
        ];
        let folder = tree(&items);
        for start in ["", "in", "in/deep"] {
            let lines = visited(folder.path(), start, &plain());
            let ignored = lines.iter().filter(|line| line.ends_with("ignored"));
            let expected: &[&str] = if start == "in/deep" {
                &[]
            } else {
                &["in/z ignored"]
            };
            assert_eq!(ignored.collect::<Vec<_>>(), expected, "{start}");
        }
    }
}

#[test]
fn nothing_above_the_root_holds() {
    let folder = tree(&[".gitignore=x\n", "root/x="]);
    assert_eq!(visited(&folder.path().join("root"), "", &plain()), ["x"]);
}

#[test]
fn a_link_is_no_file_of_rules() {
    let items = [
        "rules=x\n",
        "root/.gitignore->../rules",
        "root/.git->../git",
        "git/info/exclude=x\n",
        "root/x=",
    ];
    let folder = tree(&items);
    let expected = [".git@ hidden", ".gitignore@ hidden", "x"];
    assert_eq!(visited(&folder.path().join("root"), "", &plain()), expected);
}

#[test]
fn a_huge_file_of_rules_is_no_file_of_rules() {
    let rules = format!(".gitignore=x\n#{}", "-".repeat(1024 * 1024));
    check(&[&rules, "x="], "", &plain(), &[".gitignore hidden", "x"]);
}

#[test]
fn lines_that_are_no_rules_spoil_none() {
    let folder = tree(&["x=", "y="]);
    fs::write(
        folder.path().join(".gitignore"),
        b"\xEF\xBB\xBFx\r\n\xFF\n{a\ny\n",
    )
    .unwrap();
    let lines = visited(folder.path(), "", &plain());
    assert_eq!(lines, [".gitignore hidden", "x ignored", "y ignored"]);
}

#[test]
fn links_are_shown_and_never_entered() {
    let items = [
        "dir/self->.",
        "dir/up->..",
        "dir/f=",
        "out->/",
        "none->nowhere",
    ];
    check(
        &items,
        "",
        &plain(),
        &["dir/", "dir/f", "dir/self@", "dir/up@", "none@", "out@"],
    );
}

#[test]
fn backups_are_told_beside_their_files_only() {
    let items = [
        "a=", "a.bak=", "a.bak.2=", "b.bak=", "c/", "c.bak=", ".bak=", "a.bak.x=",
    ];
    let expected = [
        ".bak hidden",
        "a",
        "a.bak backup",
        "a.bak.2 backup",
        "a.bak.x",
        "b.bak",
        "c/",
        "c.bak",
    ];
    check(&items, "", &plain(), &expected);
    let wanted = WalkOptions {
        include_backups: true,
        order: Order::FoldersFirst,
        ..plain()
    };
    let folder = tree(&items);
    assert!(
        !visited(folder.path(), "", &wanted)
            .iter()
            .any(|line| line.contains("backup"))
    );
}

#[test]
fn the_depth_is_counted_from_the_start() {
    let items = ["a/b/c/d="];
    let options = WalkOptions {
        max_depth: Some(1),
        ..plain()
    };
    check(&items, "a", &options, &["a/b/"]);
    let options = WalkOptions {
        max_depth: Some(2),
        ..plain()
    };
    check(&items, "a", &options, &["a/b/", "a/b/c/"]);
}

#[test]
fn a_fifo_is_shown() {
    let folder = tree(&[]);
    let mode = rustix::fs::Mode::RUSR;
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(open(folder.path()), "fifo", kind, mode, 0).unwrap();
    assert_eq!(visited(folder.path(), "", &plain()), ["fifo!"]);
}

#[test]
fn the_visitor_ends_the_walk() {
    let folder = tree(&["a/x=", "b="]);
    let mut seen = 0;
    let walked = walk(
        &open(folder.path()),
        &RelPath::root(),
        &plain(),
        &Everything,
        &mut |_| {
            seen += 1;
            ControlFlow::Break(())
        },
    );
    assert!(walked.unwrap().stopped);
    assert_eq!(seen, 1);
}

#[test]
fn a_cancelled_walk_stops_at_the_next_entry() {
    let folder = tree(&["a=", "b=", "c="]);
    let options = plain();
    let mut seen = 0;
    let walked = walk(
        &open(folder.path()),
        &RelPath::root(),
        &options,
        &Everything,
        &mut |_| {
            seen += 1;
            options.cancel.cancel();
            ControlFlow::Continue(())
        },
    );
    assert_eq!(walked.unwrap_err().code(), "cancelled");
    assert_eq!(seen, 1);
}

#[track_caller]
fn check_start(items: &[&str], start: &str, code: &str) {
    let folder = tree(items);
    let start = RelPath::parse(start).unwrap();
    let walked = walk(
        &open(folder.path()),
        &start,
        &plain(),
        &Everything,
        &mut |_| ControlFlow::Continue(()),
    );
    assert_eq!(walked.unwrap_err().code(), code);
}

#[test]
fn a_start_that_is_no_directory_is_refused() {
    check_start(&["f="], "f", "not_a_directory");
    check_start(&["f="], "g", "not_found");
    check_start(&["d/", "l->d"], "l", "not_a_directory");
    check_start(&["d/e/", "l->d"], "l/e", "not_a_directory");
}

#[test]
fn depth_takes_few_handles_and_loses_nothing() {
    let folder = tree(&[]);
    let mut here = open(folder.path());
    for _ in 0..300 {
        here.create_dir("d").unwrap();
        here.write("a", "").unwrap();
        here.write("z", "").unwrap();
        here = here.open_dir("d").unwrap();
    }
    drop(here);
    // Other tests of this process hold handles of their own.
    let handles = || {
        let links = fs::read_dir("/proc/self/fd").unwrap();
        let links = links.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        links.filter(|link| link.starts_with(folder.path())).count()
    };
    assert_eq!(handles(), 0);
    let (mut count, mut most) = (0, 0);
    let walked = walk(
        &open(folder.path()),
        &RelPath::root(),
        &plain(),
        &Everything,
        &mut |_| {
            count += 1;
            if count % 50 == 0 {
                most = most.max(handles());
            }
            ControlFlow::Continue(())
        },
    );
    assert_eq!(walked.unwrap().skipped.total(), 0);
    assert_eq!(count, 900);
    assert!((1..60).contains(&most), "{most} handles at most");
}

#[test]
fn a_path_too_long_to_name_is_told() {
    let folder = tree(&[]);
    let mut here = open(folder.path());
    let name = "n".repeat(200);
    for _ in 0..21 {
        here.create_dir(&name).unwrap();
        here = here.open_dir(&name).unwrap();
    }
    let walked = walk(
        &open(folder.path()),
        &RelPath::root(),
        &plain(),
        &Everything,
        &mut |_| ControlFlow::Continue(()),
    );
    assert_eq!(walked.unwrap().skipped.count(Skip::TooDeep), 1);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_served() {
    let folder = tree(&["a/x=", "b/y=", "c="]);
    let locked = folder.path().join("a");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&locked).is_ok() {
        // Who may read everything cannot see this.
        return;
    }
    let lines = visited(folder.path(), "", &plain());
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(lines, ["a/ unreadable", "b/", "b/y", "c"]);
}

/// A sight that knows no `secret` and may not enter `locked`.
struct Narrow;

impl Sight for Narrow {
    fn visible<'s>(&'s self, dir: &RelPath) -> Visible<'s> {
        let rules = dir.as_os_str() == "norules";
        Box::new(move |name, _| name != "secret" && !(rules && name == ".gitignore"))
    }

    fn admits(&self, path: &RelPath, _: BorrowedFd<'_>, _: u64) -> bool {
        path.as_os_str() != "locked"
    }
}

#[test]
fn what_the_caller_may_not_see_does_not_exist() {
    let items = [
        "secret/x=",
        "a/secret=",
        "locked/x=",
        "norules/.gitignore=x\n",
        "norules/x=",
    ];
    let folder = tree(&items);
    let mut lines = Vec::new();
    let walked = walk(
        &open(folder.path()),
        &RelPath::root(),
        &plain(),
        &Narrow,
        &mut |entry| {
            lines.push(format!("{} {:?}", entry.path, entry.skip));
            ControlFlow::Continue(())
        },
    );
    assert_eq!(
        lines,
        [
            "a None",
            "locked Some(Denied)",
            "norules None",
            "norules/x None"
        ]
    );
    assert_eq!(walked.unwrap().skipped.count(Skip::Denied), 1);
    let locked = RelPath::parse("locked").unwrap();
    let refused = walk(
        &open(folder.path()),
        &locked,
        &plain(),
        &Narrow,
        &mut |_| ControlFlow::Continue(()),
    );
    assert_eq!(refused.unwrap_err().code(), "denied_by_policy");
}

#[test]
fn names_that_are_no_utf8_are_walked() {
    let folder = tree(&[]);
    let name = OsStr::from_bytes(b"d\xFF");
    fs::create_dir(folder.path().join(name)).unwrap();
    fs::write(folder.path().join(name).join("f"), "").unwrap();
    let mut paths = BTreeSet::new();
    walk(
        &open(folder.path()),
        &RelPath::root(),
        &plain(),
        &Everything,
        &mut |entry| {
            paths.insert(entry.path.as_os_str().as_bytes().to_vec());
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(paths, [b"d\xFF".to_vec(), b"d\xFF/f".to_vec()].into());
}

/// A tree of 600 directories, wide and deep, with rules and what is passed over in it.
fn large() -> tempfile::TempDir {
    let folder = tree(&[".gitignore=*.o\n"]);
    for top in 0..20 {
        for below in 0..10 {
            let dir = folder
                .path()
                .join(format!("{top:02}/{below}/{}", "d/".repeat(below % 4)));
            fs::create_dir_all(&dir).unwrap();
            fs::create_dir_all(dir.join("target/x")).unwrap();
            for name in ["a", "b.o", ".c", "e"] {
                fs::write(dir.join(name), "").unwrap();
            }
        }
    }
    for wide in 0..3 {
        let dir = folder.path().join(format!("w{wide}/in"));
        fs::create_dir_all(&dir).unwrap();
        for name in 0..100 {
            fs::write(dir.join(name.to_string()), "").unwrap();
        }
    }
    folder
}

#[test]
fn what_is_visited_does_not_depend_on_the_threads() {
    let folder = large();
    let with = |threads| WalkOptions { threads, ..plain() };
    let alone = visited(folder.path(), "", &with(1));
    assert_eq!(alone.len(), 20 + 200 + 260 + 1000 + 1 + 306);
    for threads in [2, 3, 8] {
        assert_eq!(visited(folder.path(), "", &with(threads)), alone);
    }
}

#[test]
fn a_walk_that_is_ended_or_cancelled_leaves_its_threads() {
    let folder = large();
    for end in [1, 10, 100, 1000] {
        for is_cancelled in [false, true] {
            let options = WalkOptions {
                threads: 3,
                ..plain()
            };
            let mut seen = 0;
            let walked = walk(
                &open(folder.path()),
                &RelPath::root(),
                &options,
                &Everything,
                &mut |_| {
                    seen += 1;
                    match seen == end {
                        true if is_cancelled => options.cancel.cancel(),
                        true => return ControlFlow::Break(()),
                        false => {}
                    }
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(seen, end);
            match walked {
                Ok(walked) => assert!(walked.stopped && !is_cancelled),
                Err(error) => assert!(error.code() == "cancelled" && is_cancelled),
            }
        }
    }
}
