//! The tool server that `--mcp` adds to sessions, under the same rules.

use std::path::{Path, PathBuf};

use fs_sandbox::Workspace;
use serde_json::{Value, json};

/// The tool server that sessions get.
#[derive(Debug, Clone)]
pub(crate) struct McpServer {
    pub(crate) program: String,
    /// The flags of rules, each with its glob.
    pub(crate) rules: Vec<(&'static str, String)>,
    /// What it is given beside its roots and these.
    pub(crate) arguments: Vec<String>,
}

impl McpServer {
    /// Returns the server over these directories, as session setup names it in this version of the
    /// protocol.
    pub(crate) fn over(
        &self,
        directories: &[PathBuf],
        workspace: &Workspace,
        protocol: u64,
    ) -> Value {
        let mut arguments = Vec::new();
        for directory in directories {
            arguments.extend([
                "--root".to_owned(),
                directory.to_string_lossy().into_owned(),
            ]);
        }
        for (flag, glob) in &self.rules {
            for glob in rules_in(glob, directories, workspace) {
                arguments.extend([(*flag).to_owned(), glob]);
            }
        }
        arguments.extend(self.arguments.iter().cloned());
        let mut server = json!({
            "name": "postern", "command": self.program, "args": arguments, "env": [],
        });
        // Version 1 knows this kind by the lack of a type, later ones by its name.
        if let (2.., Some(server)) = (protocol, server.as_object_mut()) {
            server.insert("type".to_owned(), "stdio".into());
        }
        server
    }
}

/// Returns what a rule of the roots is in directories that lie in them: one that goes by the way from
/// the top of a root goes by what is left of it. Where that is not certain it forbids more.
fn rules_in(glob: &str, directories: &[PathBuf], workspace: &Workspace) -> Vec<String> {
    let names: Vec<&str> = glob.trim_matches('/').split('/').collect();
    if names.len() < 2 && !glob.starts_with('/') {
        return vec![glob.to_owned()];
    }
    let mut rules: Vec<String> = Vec::new();
    for directory in directories {
        let roots = workspace.roots().into_iter();
        let below = roots.filter_map(|root| {
            let below = directory.strip_prefix(&root.real_path).ok()?;
            Some(below.to_owned())
        });
        let left = below.filter_map(|below| rule_below(&names, &below));
        rules.extend(left);
    }
    rules.sort();
    rules.dedup();
    rules
}

/// Returns what is left of a rule in a directory on its way; `None` where its way leads elsewhere.
fn rule_below(names: &[&str], directory: &Path) -> Option<String> {
    let mut left = names.iter();
    for name in directory {
        let name = name.to_string_lossy().to_lowercase();
        match left.as_slice().first().copied() {
            // It may stand for any of the directories to come.
            Some("**") => break,
            Some(wanted) if may_match(wanted, &name) => drop(left.next()),
            Some(_) => return None,
            // The directory itself is forbidden.
            None => return Some("**".to_owned()),
        }
    }
    match left.as_slice() {
        [] => Some("**".to_owned()),
        left => Some(format!("/{}", left.join("/"))),
    }
}

fn may_match(wanted: &str, name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii() && !matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
    let is_certain = wanted.chars().all(is_plain) && name.is_ascii();
    !is_certain || wanted.to_lowercase() == name
}

#[cfg(test)]
mod tests {
    use fs_sandbox::Rights;

    use super::*;

    #[track_caller]
    fn check(glob: &str, directory: &str, wanted: Option<&str>) {
        let names: Vec<&str> = glob.trim_matches('/').split('/').collect();
        let left = rule_below(&names, Path::new(directory));
        assert_eq!(left.as_deref(), wanted, "{glob} in {directory}");
    }

    #[test]
    fn a_rule_from_the_top_of_a_root_goes_on_in_a_directory_on_its_way() {
        check("/secret", "", Some("/secret"));
        check("/sub/secret/**", "sub", Some("/secret/**"));
        check("sub/secret", "sub", Some("/secret"));
        check("/Sub/secret", "sUB", Some("/secret"));
        check("/*/secret", "sub", Some("/secret"));
        check("/s?b/secret", "sub", Some("/secret"));
        check("/sub/secret", "other", None);
        check("/sub/secret", "other/sub", None);
        check("**/secret", "a/b", Some("/**/secret"));
        check("/a/**/secret", "a/b", Some("/**/secret"));
        check("/sub", "sub", Some("**"));
        check("/sub", "sub/deep", Some("**"));
        check("/h\u{e9}/x", "he\u{301}", Some("/x"));
    }

    #[test]
    fn a_session_in_a_folder_gets_the_rules_of_its_root() {
        let place = tempfile::tempdir().unwrap();
        let sub = place.path().join("sub");
        std::fs::create_dir(&sub).unwrap();
        let rights = Rights::READ | Rights::EDIT;
        let workspace = Workspace::builder().root("root", place.path(), rights);
        let workspace = workspace.build().unwrap();
        let server = McpServer {
            program: "/bin/tool-server".to_owned(),
            rules: vec![
                ("--deny", "/sub/secret".to_owned()),
                ("--deny", "*.key".to_owned()),
            ],
            arguments: Vec::new(),
        };
        let sub = sub.canonicalize().unwrap();
        let spelt = server.over(std::slice::from_ref(&sub), &workspace, 1);
        let wanted = json!(["--root", sub, "--deny", "/secret", "--deny", "*.key"]);
        assert_eq!(spelt["args"], wanted);
        assert_eq!(spelt.get("type"), None);
        assert_eq!(server.over(&[sub], &workspace, 2)["type"], "stdio");
    }
}
