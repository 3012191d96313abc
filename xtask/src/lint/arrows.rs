//! Which crate may need which: front ends → fs-edit → fs-sandbox → fs-core, and nothing sideways.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::budgets::is_test;
use crate::shell;
use crate::tree::{Breach, Tree};

/// A crate and the crates of ours that it may need, in every kind of dependency but the tests'.
const ARROWS: [(&str, &[&str]); 9] = [
    ("fs-core", &[]),
    ("fs-sandbox", &["fs-core"]),
    ("fs-edit", &["fs-core", "fs-sandbox"]),
    ("acp-fs", &["fs-core", "fs-sandbox", "fs-edit"]),
    ("tool-server", &["fs-core", "fs-sandbox", "fs-edit"]),
    ("runtime-host", &["fs-core", "fs-sandbox"]),
    ("baseline", &[]),
    ("xtask", &[]),
    (
        "tests",
        &[
            "fs-core",
            "fs-sandbox",
            "fs-edit",
            "acp-fs",
            "tool-server",
            "runtime-host",
        ],
    ),
];

/// The engines: synchronous, protocol-blind and silent.
const ENGINES: [&str; 3] = ["fs-core", "fs-sandbox", "fs-edit"];

/// What an engine needs neither itself nor for its tests.
const LOUD: [&str; 8] = [
    "tokio",
    "serde",
    "serde_json",
    "rmcp",
    "clap",
    "tracing",
    "log",
    "futures",
];

/// What an engine needs all the same, within itself: the lines of the history are JSON.
const WITHIN: [(&str, &str); 2] = [("fs-sandbox", "serde"), ("fs-sandbox", "serde_json")];

/// Libraries that few files may name: the protocol's, which changes often, and in the engines the one
/// that must not come into what they offer.
const CONFINED: [(&str, &str, &[&str]); 3] = [
    (
        "rmcp",
        "",
        &[
            "crates/tool-server/src/mcp.rs",
            "crates/tool-server/src/transport.rs",
        ],
    ),
    (
        "serde",
        "crates/fs-",
        &["crates/fs-sandbox/src/history/record.rs"],
    ),
    (
        "serde_json",
        "crates/fs-",
        &["crates/fs-sandbox/src/history/log.rs"],
    ),
];

struct Need {
    from: String,
    to: String,
    /// `None`, `dev` or `build`, as cargo says.
    kind: Option<String>,
}

/// Checks what the crates need, by `cargo metadata`.
pub(super) fn check() -> Result<()> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let text = shell::output(&mut shell::cargo(&arguments))?;
    let needs = needs(&serde_json::from_str(&text)?).context("cargo metadata")?;
    let breaches = check_needs(&needs);
    if breaches.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = breaches.iter().map(Breach::to_string).collect();
    bail!(lines.join("\n  "))
}

/// Finds files that name a library and are not among those that may.
pub(super) fn check_named(tree: &Tree) -> Vec<Breach> {
    let named = |(library, below, files): &(&str, &str, &[&str])| {
        let others = tree
            .rust()
            .filter(|(path, _)| path.starts_with(below) && !is_test(path) && !files.contains(path));
        let found = others.filter_map(|(path, facts)| {
            let word = facts.words.iter().find(|word| word.text == *library)?;
            let text = format!("names {library}; only {} may", files.join(" and "));
            Some(Breach::new(path, word.line, text))
        });
        found.collect::<Vec<_>>()
    };
    CONFINED.iter().flat_map(named).collect()
}

fn needs(metadata: &Value) -> Option<Vec<Need>> {
    let mut needs = Vec::new();
    for package in metadata.get("packages")?.as_array()? {
        let from = package.get("name")?.as_str()?;
        for need in package.get("dependencies")?.as_array()? {
            needs.push(Need {
                from: from.to_owned(),
                to: need.get("name")?.as_str()?.to_owned(),
                kind: need.get("kind")?.as_str().map(str::to_owned),
            });
        }
    }
    Some(needs)
}

fn check_needs(needs: &[Need]) -> Vec<Breach> {
    let ours = |name: &str| ARROWS.iter().find(|(each, _)| *each == name);
    let mut breaches = Vec::new();
    for need in needs {
        let mut breach = |text: String| breaches.push(Breach::new(&need.from, 0, text));
        let Some((_, allowed)) = ours(&need.from) else {
            breach("has no place among the arrows".to_owned());
            continue;
        };
        if ours(&need.to).is_some() && !allowed.contains(&need.to.as_str()) {
            breach(format!("must not need {}", need.to));
        }
        let in_product = need.kind.as_deref() != Some("dev");
        let is_within = WITHIN.contains(&(need.from.as_str(), need.to.as_str()));
        let loud = LOUD.contains(&need.to.as_str()) && !is_within;
        if ENGINES.contains(&need.from.as_str()) && in_product && loud {
            breach(format!("is an engine and must not need {}", need.to));
        }
        if need.to == "rmcp" && need.from != "tool-server" {
            breach("only tool-server speaks MCP".to_owned());
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, to: &str, kind: Option<&str>, breaches: usize) {
        let need = Need {
            from: from.to_owned(),
            to: to.to_owned(),
            kind: kind.map(str::to_owned),
        };
        assert_eq!(check_needs(&[need]).len(), breaches, "{from} → {to}");
    }

    #[test]
    fn arrows_point_down_only() {
        check("fs-edit", "fs-core", None, 0);
        check("fs-core", "fs-edit", None, 1);
        check("runtime-host", "fs-edit", None, 1);
        check("tool-server", "acp-fs", None, 1);
        check("fs-core", "tool-server", Some("dev"), 1);
    }

    #[test]
    fn engines_are_silent_and_synchronous() {
        check("fs-core", "tokio", None, 1);
        check("fs-core", "serde", Some("build"), 1);
        check("fs-sandbox", "serde", None, 0);
        check("tool-server", "tokio", None, 0);
    }

    #[test]
    fn a_crate_that_is_new_must_be_placed() {
        check("fs-extra", "fs-core", None, 1);
    }

    #[test]
    fn the_protocols_library_is_named_in_two_files() {
        let tree = Tree::planted(&[
            ("crates/tool-server/src/mcp.rs", "use rmcp::model;"),
            (
                "crates/tool-server/src/tools.rs",
                "// rmcp\nuse rmcp::Tool;",
            ),
        ]);
        let found = check_named(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn an_engine_names_serde_in_its_history_alone() {
        let line = "use serde::Serialize;";
        let tree = Tree::planted(&[
            ("crates/fs-sandbox/src/history/record.rs", line),
            ("crates/fs-sandbox/src/rights.rs", line),
            ("crates/tool-server/src/tools.rs", line),
        ]);
        assert_eq!(check_named(&tree).len(), 1);
    }

    #[test]
    fn metadata_is_read() {
        let text =
            r#"{"packages":[{"name":"fs-core","dependencies":[{"name":"tokio","kind":null}]}]}"#;
        let needs = needs(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(check_needs(&needs).len(), 1);
    }
}
