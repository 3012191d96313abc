//! Directories and links that change places while paths are looked up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use fs_core::Error;
use fs_sandbox::Workspace;
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use crate::support::{Tree, without_openat2};

/// Runs `look` in a loop while `a` and `b` change places, at least 1,000 times, and until `enough`
/// says so of how often each answer came, or 200,000 times.
fn raced<T: Ord + Send>(
    tree: &Tree,
    [a, b]: [&str; 2],
    look: impl Fn() -> T + Send,
    enough: impl Fn(&BTreeMap<T, u64>) -> bool + Send,
) -> BTreeMap<T, u64> {
    let (done, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let (a, b) = (tree.path(a), tree.path(b));
    let mut answers = BTreeMap::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
                // An uneven pace, or the two loops fall into step with each other.
                let pause = swaps.fetch_add(1, Ordering::Relaxed) * 7919 % 512;
                (0..pause).for_each(|_| std::hint::spin_loop());
            }
        });
        let mut looks = 0;
        while looks < 200_000
            && (looks < 5_000 || swaps.load(Ordering::Relaxed) < 1_000 || !enough(&answers))
        {
            *answers.entry(look()).or_insert(0) += 1;
            looks += 1;
        }
        done.store(true, Ordering::Relaxed);
    });
    answers
}

fn content(workspace: &Workspace, path: &str) -> Result<String, &'static str> {
    let opened = workspace.open(path).map_err(|error: Error| error.code())?;
    Ok(std::io::read_to_string(opened.file.into_std()).unwrap())
}

/// Asserts that only `allowed` answers come, and the first of them at least 100 times.
#[track_caller]
fn check(items: &[&str], swapped: [&str; 2], path: &str, allowed: &[Result<&str, &str>]) {
    for blocked in [false, true] {
        let tree = Tree::new(items);
        let workspace = tree.workspace();
        let wanted = allowed[0].map(str::to_owned);
        let enough = |answers: &BTreeMap<_, u64>| answers.get(&wanted).is_some_and(|n| *n >= 100);
        let look = || raced(&tree, swapped, || content(&workspace, path), enough);
        let answers = if blocked {
            without_openat2(Errno::NOSYS, look)
        } else {
            look()
        };
        for answer in answers.keys() {
            let answer = answer.as_deref().map_err(|code| *code);
            assert!(allowed.contains(&answer), "{answer:?}, blocked: {blocked}");
        }
        assert!(enough(&answers), "{answers:?}, blocked: {blocked}");
    }
}

#[test]
fn a_directory_and_an_outside_link_change_places() {
    check(
        &["root/sub/f=IN", "out/f=OUT", "root/lnk->../out"],
        ["root/sub", "root/lnk"],
        "sub/f",
        &[Ok("IN"), Err("outside_sandbox"), Err("not_found")],
    );
}

#[test]
fn a_file_and_an_outside_link_change_places() {
    check(
        &["root/f=IN", "out/f=OUT", "root/lnk->../out/f"],
        ["root/f", "root/lnk"],
        "f",
        &[Ok("IN"), Err("outside_sandbox")],
    );
}

#[test]
fn a_directory_and_an_inside_link_change_places() {
    check(
        &["root/sub/f=IN", "root/d/f=IN", "root/lnk->d"],
        ["root/sub", "root/lnk"],
        "sub/../sub/f",
        &[Ok("IN"), Err("not_found")],
    );
}

#[test]
fn renames_elsewhere_disturb_no_dot_dot() {
    check(
        &["root/f=IN", "root/a/", "x/", "y/"],
        ["x", "y"],
        "a/../f",
        &[Ok("IN")],
    );
}

#[test]
fn a_directory_is_made_inside_only_while_links_change_places() {
    for blocked in [false, true] {
        let tree = Tree::new(&["root/sub/", "root/lnk->../out"]);
        let workspace = tree.workspace();
        let next = AtomicU64::new(0);
        let look = || {
            let make = || {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let made = workspace.create_dir_all(&format!("sub/{number}/d"));
                made.map_err(|error| error.code())
            };
            raced(&tree, ["root/sub", "root/lnk"], make, |_| true)
        };
        let answers = if blocked {
            without_openat2(Errno::NOSYS, look)
        } else {
            look()
        };
        let allowed = [Ok(()), Err("outside_sandbox"), Err("not_found")];
        assert!(
            answers.keys().all(|answer| allowed.contains(answer)),
            "{answers:?}"
        );
        assert_eq!(std::fs::read_dir(tree.path("out")).unwrap().count(), 0);
    }
}

#[test]
fn a_directory_of_a_scope_and_a_link_beside_it_change_places() {
    for blocked in [false, true] {
        let tree = Tree::new(&["root/a/in/f=IN", "root/b/f=OUT", "root/a/lnk->../b"]);
        let workspace = tree.workspace().narrowed(&["a/in"]).unwrap();
        let enough = |answers: &BTreeMap<_, u64>| answers.len() > 1;
        let look = || {
            let look = || content(&workspace, "a/in/f");
            raced(&tree, ["root/a/in", "root/a/lnk"], look, enough)
        };
        let answers = if blocked {
            without_openat2(Errno::NOSYS, look)
        } else {
            look()
        };
        let allowed = [
            Ok("IN".to_owned()),
            Err("outside_sandbox"),
            Err("not_found"),
        ];
        assert!(answers.keys().all(|it| allowed.contains(it)), "{answers:?}");
        assert!(answers.contains_key(&allowed[0]), "{answers:?}");
    }
}
