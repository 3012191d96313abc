//! Every Rust file is part of a crate: one that no `mod` names is neither built nor tested.

use std::collections::BTreeSet;

use crate::tree::{Breach, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Breach> {
    let mut reached = BTreeSet::new();
    for (path, _) in tree.rust().filter(|(path, _)| is_root(path)) {
        reach(tree, path, folder_of(path), &mut reached);
    }
    let forgotten = tree.rust().filter(|(path, _)| !reached.contains(*path));
    forgotten
        .map(|(path, _)| Breach::new(path, 0, "no `mod` names this file"))
        .collect()
}

fn is_root(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let roots = ["main.rs", "lib.rs", "build.rs"];
    roots.contains(&name)
        || ["/src/bin/", "/examples/", "/benches/"]
            .iter()
            .any(|folder| path.contains(folder))
}

/// Returns the folder in which the files of the modules of a crate root or `mod.rs` lie.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Adds `path` and the files of its modules, which lie in `folder`; a file that is not there is the compiler's to name.
fn reach(tree: &Tree, path: &str, folder: &str, reached: &mut BTreeSet<String>) {
    let Some(facts) = tree.facts.get(path) else {
        return;
    };
    if !reached.insert(path.to_owned()) {
        return;
    }
    for module in &facts.modules {
        let name = format!("{folder}/{}", module.join("/"));
        reach(tree, &format!("{name}.rs"), &name, reached);
        reach(tree, &format!("{name}/mod.rs"), &name, reached);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(files: &[(&str, &str)], forgotten: &[&str]) {
        let found = check(&Tree::planted(files));
        let found: Vec<&str> = found.iter().map(|each| each.file.as_str()).collect();
        assert_eq!(found, forgotten);
    }

    #[test]
    fn a_file_that_no_module_names_is_found() {
        check_files(
            &[
                ("tests/it/main.rs", "mod a;\n// mod b;"),
                ("tests/it/a.rs", "mod deep;"),
                ("tests/it/a/deep.rs", ""),
                ("tests/it/b.rs", ""),
            ],
            &["tests/it/b.rs"],
        );
    }

    #[test]
    fn both_places_of_a_module_are_known() {
        check_files(
            &[
                ("crates/x/src/lib.rs", "mod a; mod inline { mod b; }"),
                ("crates/x/src/a/mod.rs", ""),
                ("crates/x/src/inline/b.rs", ""),
            ],
            &[],
        );
    }
}
