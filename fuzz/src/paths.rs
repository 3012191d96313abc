//! Paths below a root.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use fs_core::{MAX_NAME_BYTES, MAX_PATH_BYTES, RelPath, escape_name, unescape_name};

/// A path that is accepted leads nowhere but down, is the same when it is parsed, taken apart or shown
/// and read again, and nothing else is accepted.
pub fn relpath(data: &[u8]) {
    let text = OsStr::from_bytes(data);
    if !data.contains(&0) {
        // No name holds a NUL, and so none is written by an escape.
        assert_eq!(&*unescape_name(&escape_name(text)), text);
    }
    let names: Vec<&[u8]> = data.split(|byte| *byte == b'/').collect();
    let dropped = |name: &&[u8]| name.is_empty() || *name == b".";
    let names: Vec<&[u8]> = names.into_iter().filter(|name| !dropped(name)).collect();
    let is_good = !data.starts_with(b"/")
        && data.len() <= MAX_PATH_BYTES
        && !data.contains(&0)
        && names
            .iter()
            .all(|name| *name != b".." && name.len() <= MAX_NAME_BYTES);
    let Ok(path) = RelPath::parse(text) else {
        assert!(!is_good, "refused");
        return;
    };
    assert!(is_good, "accepted");
    let found: Vec<&[u8]> = path.names().map(OsStr::as_bytes).collect();
    assert_eq!(found, names);
    check_parts(&path);
}

fn check_parts(path: &RelPath) {
    assert_eq!(RelPath::parse(path.as_os_str()).as_ref().ok(), Some(path));
    let shown = path.to_string();
    assert!(!shown.contains(['\n', '\0']));
    if path.is_root() {
        assert_eq!((path.parent(), path.file_name()), (None, None));
        return;
    }
    assert_eq!(RelPath::parse_escaped(&shown).as_ref().ok(), Some(path));
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        panic!("no parent or no name: {shown}")
    };
    assert_eq!(parent.join(name).as_ref().ok(), Some(path));
    for bad in ["", ".", "..", "a/b", "a\0"] {
        assert!(path.join(OsStr::new(bad)).is_err());
    }
}
