//! Where a search looks: below a path, or in roots by their names.

use fs_core::Problem;
use fs_sandbox::{RootInfo, Workspace};

use crate::error::ToolError;
use crate::schema::Args;

/// The root that serves the scope `user`.
const USER: &str = "user";

/// Returns the directories to search, as paths of the workspace.
///
/// # Errors
/// `invalid_argument` for a scope that no root serves.
pub(super) fn of(workspace: &Workspace, args: &Args) -> Result<Vec<String>, ToolError> {
    if let Some(root) = args.text("root").filter(|root| !root.trim().is_empty()) {
        return Ok(vec![root.to_owned()]);
    }
    let scope = args.choice("scope");
    let roots = workspace.roots();
    let wanted = roots.iter().enumerate().filter(|(index, root)| {
        let is_user = root.name == USER;
        match scope {
            USER => is_user,
            "workspace" => !is_user || *index == 0,
            _ => true,
        }
    });
    let wanted: Vec<&RootInfo> = wanted.map(|(_, root)| root).collect();
    if wanted.is_empty() {
        let problem = Problem::invalid("scope", format!("no root is named {USER}"));
        return Err(ToolError::from(fs_core::Error::from(problem))
            .hinting("use scope workspace, or name a folder by root"));
    }
    Ok(apart(&wanted)
        .map(|root| format!("{}:", root.name))
        .collect())
}

/// Returns the roots that lie in none of the others: what lies in one is searched with it.
fn apart<'r>(roots: &'r [&RootInfo]) -> impl Iterator<Item = &'r RootInfo> {
    roots.iter().enumerate().filter_map(|(index, root)| {
        let within = |(other_index, other): (usize, &&RootInfo)| {
            root.real_path.starts_with(&other.real_path)
                && (root.real_path != other.real_path || other_index < index)
        };
        let is_within = roots.iter().enumerate().any(within);
        (!is_within).then_some(*root)
    })
}
