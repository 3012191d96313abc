//! No committed file knows the machine it was written on, or where packages are fetched from.

use crate::tree::{Breach, Tree};

/// Written in parts, so that this file does not break its own rule.
const TRACES: [(&[&str], &str); 12] = [
    (&["/wo", "rk/"], "a path of one machine"),
    (&["/ro", "ot/"], "a path of one machine"),
    (&["/home/", "runner"], "a path of one machine"),
    (&[".cargo/", "registry"], "a path of one machine"),
    (&["index.", "crates.io"], "a registry's host"),
    (&["static.", "crates.io"], "a registry's host"),
    (&["py", "pi.org"], "a registry's host"),
    (&["python", "hosted.org"], "a registry's host"),
    (&["registry.", "npmjs"], "a registry's host"),
    (&["npm", "js.org"], "a registry's host"),
    (&["deb.", "debian.org"], "a registry's host"),
    (&["-----BEGIN ", "PRIVATE"], "a secret"),
];

pub(super) fn check(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in tree.files.iter().filter(|(path, _)| *path != "Cargo.lock") {
        for (index, line) in text.lines().enumerate() {
            let found = TRACES
                .iter()
                .find(|(parts, _)| holds(line, &parts.concat()));
            breaches.extend(found.map(|(_, what)| Breach::new(path, index + 1, *what)));
        }
    }
    breaches
}

/// Returns whether `line` holds `trace`, not as the end of a longer word or path.
fn holds(line: &str, trace: &str) -> bool {
    line.match_indices(trace).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let inside = |c: char| c.is_alphanumeric() || "_.-}".contains(c);
        !(trace.starts_with('/') && before.is_some_and(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_one(line: &str, breaches: usize) {
        let tree = Tree::planted(&[("docs/a.md", line)]);
        assert_eq!(check(&tree).len(), breaches, "{line}");
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        check_one(&["see /wo", "rk/main/a.rs"].concat(), 1);
        check_one(&["(/ro", "ot/.profile)"].concat(), 1);
        check_one(&["crates/net", "wo", "rk/src"].concat(), 0);
        check_one(&["$BASE/ro", "ot/a.txt"].concat(), 0);
    }

    #[test]
    fn hosts_of_registries_are_found() {
        check_one(&["https://registry.", "npmjs", ".org/x"].concat(), 1);
        check_one("from PyPI and npm", 0);
    }
}
