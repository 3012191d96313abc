//! What a model is told once, when a session begins.

use fs_core::one_line;
use fs_sandbox::Rights;
use tool_server::Toolbox;

use crate::config::describe_rights;

/// Returns the instructions: the roots by name, path and rights, and how paths are written.
///
/// This is the only text that names the roots.
pub(crate) fn instructions(toolbox: &Toolbox) -> String {
    let roots = toolbox.workspace().roots();
    let listed = roots.iter().map(|root| {
        let path = one_line(&root.path.to_string_lossy());
        format!(
            "- {}: {path} ({})\n",
            root.name,
            describe_rights(root.rights)
        )
    });
    let listed: String = listed.collect();
    let other = roots
        .get(1)
        .map(|other| format!("; write {}:PATH for another one", other.name));
    let other = other.unwrap_or_default();
    let outside = match toolbox.workspace().outside() {
        Rights::NONE => "and nothing else".to_owned(),
        rights => format!(
            "and what lies elsewhere by absolute paths ({})",
            describe_rights(rights)
        ),
    };
    format!(
        "Files below these roots can be reached, {outside}:\n{listed}\
         A relative path starts at the first root{other}; absolute paths below a root work too. \
         Lines and columns count from 1. \
         Text is exact, without line numbers; what is not plain stands in a second block."
    )
}
