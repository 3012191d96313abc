//! What the environment says: where state is kept, and where this program lies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the directory for state that users have by the XDG Base Directory Specification; `None`
/// where nobody says where their home is.
pub(crate) fn state_directory() -> Option<PathBuf> {
    let absolute = |name| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let state = absolute("XDG_STATE_HOME").or_else(home)?;
    Some(state.join(Path::new("postern")))
}

/// Returns the path of this program.
pub(crate) fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the operator keeps state, read once at the start"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
