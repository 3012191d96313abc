//! What a model is told once, when a session begins.

use std::fmt::Write as _;

use fs_core::one_line;
use tool_server::Toolbox;

use crate::config::describe_rights;

/// Returns the instructions: the roots by name, path and rights, and how paths are written.
///
/// This is the only text that names the roots.
pub(crate) fn instructions(toolbox: &Toolbox) -> String {
    let mut text = String::from("Files below these roots can be reached, and nothing else:\n");
    let roots = toolbox.workspace().roots();
    for root in &roots {
        let path = one_line(&root.path.to_string_lossy());
        let rights = describe_rights(root.rights);
        let written = writeln!(text, "- {}: {path} ({rights})", root.name);
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    text.push_str("A relative path starts at the first root");
    if let Some(other) = roots.get(1) {
        let written = write!(text, "; write {}:PATH for another one", other.name);
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    text.push_str(
        "; absolute paths below a root work too. Lines and columns count from 1. \
         Text is exact, without line numbers; what is not plain stands in a second block.",
    );
    text
}
