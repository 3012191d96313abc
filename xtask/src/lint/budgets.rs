//! How long files and functions may be.

use crate::source::{Facts, Function};
use crate::tree::{Breach, Tree};

/// A file stays below this many lines, its tests not counted.
const FILE: usize = 500;
/// A function has at most this many lines, from `fn` to its closing brace.
const FUNCTION: usize = 80;
/// Cargo.lock has at most this many packages; more is a decision, made here. Sixteen came with the
/// official types of the Agent Client Protocol, which only a test uses.
const PACKAGES: usize = 280;

pub(super) fn check(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, facts) in tree.rust() {
        breaches.extend(long_file(tree, path, facts));
        let functions = facts.functions.iter();
        let long = functions.filter(|each| each.lines() > FUNCTION);
        breaches.extend(long.map(|each| {
            let (name, lines) = (&each.name, each.lines());
            let text = format!("{name} has {lines} lines, {FUNCTION} are allowed");
            Breach::new(path, each.first, text)
        }));
    }
    breaches.extend(packages(tree));
    breaches
}

/// Prints how long the functions are: half of all should be short enough to read at a glance.
pub(super) fn report(tree: &Tree) {
    let mut lengths = Vec::new();
    for (_, facts) in tree.rust().filter(|(path, _)| !is_test(path)) {
        let functions = facts.functions.iter();
        let product = functions.filter(|each| !facts.tests_hold(each.first));
        lengths.extend(product.map(Function::lines));
    }
    lengths.sort_unstable();
    let at = |part: usize| lengths.get(lengths.len() * part / 100).copied();
    println!(
        "     functions: {}, lines at p50 {}, p90 {}, longest {}",
        lengths.len(),
        at(50).unwrap_or(0),
        at(90).unwrap_or(0),
        lengths.last().copied().unwrap_or(0),
    );
}

/// Returns whether the file holds nothing but tests.
pub(super) fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

fn long_file(tree: &Tree, path: &str, facts: &Facts) -> Option<Breach> {
    let text = tree.files.get(path)?;
    let tests: usize = facts
        .tests
        .iter()
        .map(|(first, last)| last + 1 - first)
        .sum();
    let lines = text.lines().count().saturating_sub(tests);
    let long = !is_test(path) && lines >= FILE;
    long.then(|| {
        Breach::new(
            path,
            0,
            format!("{lines} lines, fewer than {FILE} are allowed"),
        )
    })
}

fn packages(tree: &Tree) -> Option<Breach> {
    let lock = tree.files.get("Cargo.lock")?;
    let count = lock.lines().filter(|line| *line == "[[package]]").count();
    (count > PACKAGES).then(|| {
        let text = format!("{count} packages, {PACKAGES} are allowed");
        Breach::new("Cargo.lock", 0, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_one(path: &str, text: &str, breaches: usize) {
        let found = check(&Tree::planted(&[(path, text)]));
        assert_eq!(found.len(), breaches, "{found:?}");
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_do_not_count() {
        let long = "const A: u8 = 1;\n".repeat(500);
        check_one("crates/a/src/lib.rs", &long, 1);
        check_one("crates/a/src/lib/tests.rs", &long, 0);
        let tests = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
        check_one("crates/a/src/lib.rs", &tests, 0);
    }

    #[test]
    fn a_long_function_is_found_also_in_tests() {
        let body = |lines: usize| format!("fn f() {{\n{}}}\n", "    a();\n".repeat(lines));
        check_one("crates/a/src/lib.rs", &body(78), 0);
        check_one("crates/a/src/lib.rs", &body(79), 1);
        check_one("tests/it/a.rs", &body(79), 1);
    }

    #[test]
    fn the_lock_file_does_not_grow_unseen() {
        check_one("Cargo.lock", &"[[package]]\n".repeat(PACKAGES + 1), 1);
    }
}
