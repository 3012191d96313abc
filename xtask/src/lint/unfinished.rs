//! Nothing is left for later, and no test is switched off.

use crate::tree::{Breach, Tree};

/// What the README must name, so that a newcomer finds it.
const COMMANDS: [&str; 2] = ["cargo xtask demo", "cargo xtask test"];

pub(super) fn check(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, facts) in tree.rust() {
        let unfinished = |name: &str| ["todo", "unimplemented"].contains(&name);
        let macros = facts.macros.iter().filter(|each| unfinished(&each.text));
        breaches.extend(
            macros.map(|each| {
                Breach::new(path, each.line, format!("{}! is left for later", each.text))
            }),
        );
        let ignored = facts.attributes.iter().filter(|each| {
            each.name() == "ignore" || each.name() == "cfg_attr" && each.names("ignore")
        });
        breaches.extend(ignored.map(|each| Breach::new(path, each.line, "a test is switched off")));
    }
    breaches.extend(commands(tree));
    breaches
}

fn commands(tree: &Tree) -> Vec<Breach> {
    let readme = tree.files.get("README.md").map_or("", String::as_str);
    let missing = COMMANDS.iter().filter(|command| !readme.contains(*command));
    missing
        .map(|command| Breach::new("README.md", 0, format!("does not name `{command}`")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_one(text: &str, breaches: usize) {
        let readme = ("README.md", "cargo xtask demo\ncargo xtask test\n");
        let tree = Tree::planted(&[readme, ("crates/a/src/lib.rs", text)]);
        let found = check(&tree);
        assert_eq!(found.len(), breaches, "{found:?}");
    }

    #[test]
    fn what_is_left_for_later_is_found() {
        check_one("fn f() { todo!() }", 1);
        check_one("fn f() { unimplemented!(\"x\") }", 1);
        check_one("fn f() { let todo = 1; } // todo!()", 0);
    }

    #[test]
    fn a_test_that_is_switched_off_is_found() {
        check_one("#[test]\n#[ignore]\nfn f() {}", 1);
        check_one("#[ignore = \"slow\"]\nfn f() {}", 1);
        check_one("#[cfg_attr(debug_assertions, ignore)]\nfn f() {}", 1);
        check_one("proptest! { #[ignore] fn f() {} }", 1);
    }

    #[test]
    fn the_readme_names_the_commands() {
        assert_eq!(check(&Tree::default()).len(), 2);
    }
}
