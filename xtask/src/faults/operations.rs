//! What is broken: each way to change a file, what is there before it and what must be there after.

/// What a name holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// A file with these bytes and this mode.
    File(&'static str, u32),
    /// A file that is new: its mode is what the umask leaves.
    New(&'static str),
    /// A link with this text.
    Link(&'static str),
    /// The same file as another name, which stands before it.
    Same(&'static str),
}

/// Names and what they hold; they lie in `near/`, which is the first root, or in `far/`, which is
/// another one on another file system.
pub(super) type State = &'static [(&'static str, Holds)];

/// A call of a tool: its name and the arguments.
pub(super) type Words = &'static [&'static str];

/// One way to change a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) before: State,
    /// Calls that succeed before the one that is broken.
    pub(super) first: &'static [Words],
    pub(super) call: Words,
    pub(super) after: State,
    /// Of each pair the first name holds what it must hold after, before the second one does; that is
    /// what a kill leaves behind.
    pub(super) order: &'static [(&'static str, &'static str)],
    /// The name whose bytes a kill may tear, once the second name holds what it must hold after.
    pub(super) torn: Option<(&'static str, &'static str)>,
    /// The copy that only its owner may use where what the file has cannot be carried over.
    pub(super) narrow: Option<&'static str>,
    /// The paths for which the change can be undone, one after the other: a move between roots is an
    /// entry in the history of each.
    pub(super) undo: &'static [&'static str],
}

use Holds::{File, Link, New, Same};

const OLD: &str = "one\ntwo\nthree\n";
const EDITED: &str = "one\nzwei, drei\nthree\n";
const OTHER: &str = "what the target held before\n";
/// Of the file that is changed; none that a umask leaves.
const MODE: u32 = 0o640;
const EDITS: &str = r#"edits=[{"old":"two","new":"zwei, drei"}]"#;

/// The file alone, as most operations find it.
const F: State = &[("near/f", File(OLD, MODE))];
const F_EDITED: State = &[("near/f", File(EDITED, MODE))];
const NOTHING: State = &[];

/// What most operations are.
const PLAIN: Operation = Operation {
    name: "",
    before: F,
    first: &[],
    call: &[],
    after: F_EDITED,
    order: &[],
    torn: None,
    narrow: None,
    undo: &["f"],
};

/// Every operation; those of a tool that the server does not have are left out.
pub(super) const OPERATIONS: [Operation; 37] = [
    Operation {
        name: "create",
        before: NOTHING,
        call: &["files_write", "path=f", "content=new\n", "mode=create"],
        after: &[("near/f", New("new\n"))],
        ..PLAIN
    },
    Operation {
        name: "create-deep",
        before: NOTHING,
        call: &["files_write", "path=a/b/f", "content=new\n"],
        after: &[("near/a/b/f", New("new\n"))],
        undo: &["a/b/f"],
        ..PLAIN
    },
    Operation {
        name: "overwrite",
        call: &["files_write", "path=f", "content=all of it is new\n"],
        after: &[("near/f", File("all of it is new\n", MODE))],
        ..PLAIN
    },
    Operation {
        name: "overwrite-backup",
        call: &[
            "files_write",
            "path=f",
            "content=all of it is new\n",
            "create_backup=true",
        ],
        after: &[
            ("near/f", File("all of it is new\n", MODE)),
            ("near/f.bak", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        ..PLAIN
    },
    Operation {
        name: "append",
        call: &["files_write", "path=f", "content=four\n", "mode=append"],
        after: &[("near/f", File("one\ntwo\nthree\nfour\n", MODE))],
        ..PLAIN
    },
    Operation {
        name: "append-backup",
        call: &[
            "files_write",
            "path=f",
            "content=four\n",
            "mode=append",
            "create_backup=true",
        ],
        after: &[
            ("near/f", File("one\ntwo\nthree\nfour\n", MODE)),
            ("near/f.bak", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        ..PLAIN
    },
    Operation {
        name: "insert",
        call: &[
            "files_write",
            "path=f",
            "content=1.5\n",
            "mode=insert",
            "line=2",
        ],
        after: &[("near/f", File("one\n1.5\ntwo\nthree\n", MODE))],
        ..PLAIN
    },
    Operation {
        name: "insert-backup",
        call: &[
            "files_write",
            "path=f",
            "content=1.5\n",
            "mode=insert",
            "line=2",
            "create_backup=true",
        ],
        after: &[
            ("near/f", File("one\n1.5\ntwo\nthree\n", MODE)),
            ("near/f.bak", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        ..PLAIN
    },
    Operation {
        name: "insert-at-column",
        call: &[
            "edit_file",
            "path=f",
            "mode=insert",
            "line=2",
            "column=4",
            "text= (2)",
        ],
        after: &[
            ("near/f", File("one\ntwo (2)\nthree\n", MODE)),
            ("near/f.bak", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        ..PLAIN
    },
    Operation {
        name: "edit",
        call: &["files_edit", "path=f", EDITS],
        ..PLAIN
    },
    Operation {
        name: "edit-through-link",
        before: &[("near/d/f", File(OLD, MODE)), ("near/l", Link("d/f"))],
        call: &["files_edit", "path=l", EDITS],
        after: &[("near/d/f", File(EDITED, MODE)), ("near/l", Link("d/f"))],
        undo: &["l"],
        ..PLAIN
    },
    Operation {
        name: "edit-backup",
        call: &["files_edit", "path=f", EDITS, "create_backup=true"],
        after: &[
            ("near/f", File(EDITED, MODE)),
            ("near/f.bak", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        ..PLAIN
    },
    Operation {
        name: "edit-backup-over",
        before: &[
            ("near/f", File(OLD, MODE)),
            ("near/f.bak", File(OTHER, 0o600)),
        ],
        call: &["files_edit", "path=f", EDITS, "create_backup=true"],
        after: &[
            ("near/f", File(EDITED, MODE)),
            ("near/f.bak", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        ..PLAIN
    },
    Operation {
        name: "edit-hard-link",
        before: &[("near/f", File(OLD, MODE)), ("near/g", Same("near/f"))],
        call: &["files_edit", "path=f", EDITS, "create_backup=true"],
        after: &[
            ("near/f", File(EDITED, MODE)),
            ("near/f.bak", File(OLD, MODE)),
            ("near/g", File(OLD, MODE)),
        ],
        order: &[("near/f.bak", "near/f")],
        narrow: Some("near/f.bak"),
        ..PLAIN
    },
    Operation {
        name: "edit-in-place",
        before: &[("near/f", File(OLD, MODE)), ("near/g", Same("near/f"))],
        call: &["files_edit", "path=f", EDITS, "on_hard_link=in_place"],
        after: &[
            ("near/f", File(EDITED, MODE)),
            ("near/f.bak", File(OLD, MODE)),
            ("near/g", Same("near/f")),
        ],
        order: &[("near/f.bak", "near/f"), ("near/f.bak", "near/g")],
        torn: Some(("near/f", "near/f.bak")),
        narrow: Some("near/f.bak"),
        ..PLAIN
    },
    Operation {
        name: "copy",
        call: &["copy_file", "src_path=f", "dst_path=c"],
        after: &[("near/c", File(OLD, MODE)), ("near/f", File(OLD, MODE))],
        undo: &["c"],
        narrow: Some("near/c"),
        ..PLAIN
    },
    Operation {
        name: "copy-over",
        before: &[("near/c", File(OTHER, 0o600)), ("near/f", File(OLD, MODE))],
        call: &["copy_file", "src_path=f", "dst_path=c", "overwrite=true"],
        after: &[("near/c", File(OLD, MODE)), ("near/f", File(OLD, MODE))],
        undo: &["c"],
        narrow: Some("near/c"),
        ..PLAIN
    },
    Operation {
        name: "move",
        call: &["move_file", "src_path=f", "dst_path=m"],
        after: &[("near/m", File(OLD, MODE))],
        order: &[("near/m", "near/f")],
        undo: &["m"],
        ..PLAIN
    },
    Operation {
        name: "move-over",
        before: &[("near/f", File(OLD, MODE)), ("near/m", File(OTHER, 0o600))],
        call: &["move_file", "src_path=f", "dst_path=m", "overwrite=true"],
        after: &[("near/m", File(OLD, MODE))],
        order: &[("near/m", "near/f")],
        undo: &["m"],
        ..PLAIN
    },
    Operation {
        name: "move-across",
        call: &["move_file", "src_path=f", "dst_path=far:m"],
        after: &[("far/m", File(OLD, MODE))],
        order: &[("far/m", "near/f")],
        undo: &["far:m", "f"],
        ..PLAIN
    },
    Operation {
        name: "move-across-over",
        before: &[("far/m", File(OTHER, 0o600)), ("near/f", File(OLD, MODE))],
        call: &[
            "move_file",
            "src_path=f",
            "dst_path=far:m",
            "overwrite=true",
        ],
        after: &[("far/m", File(OLD, MODE))],
        order: &[("far/m", "near/f")],
        undo: &["far:m", "f"],
        ..PLAIN
    },
    Operation {
        name: "move-link-across",
        before: &[("near/f", File(OLD, MODE)), ("near/l", Link("f"))],
        call: &["move_file", "src_path=l", "dst_path=far:l"],
        after: &[("far/l", Link("f")), ("near/f", File(OLD, MODE))],
        order: &[("far/l", "near/l")],
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "delete",
        call: &["delete_file", "path=f"],
        after: NOTHING,
        ..PLAIN
    },
    Operation {
        name: "delete-link",
        before: &[("near/f", File(OLD, MODE)), ("near/l", Link("f"))],
        call: &["delete_file", "path=l"],
        undo: &[],
        after: F,
        ..PLAIN
    },
    Operation {
        name: "undo-edit",
        before: F,
        first: &[&["files_edit", "path=f", EDITS]],
        call: &["undo_edit", "path=f"],
        after: F,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-overwrite",
        first: &[&["files_write", "path=f", "content=all of it is new\n"]],
        call: &["undo_edit", "path=f"],
        after: F,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-append",
        first: &[&["files_write", "path=f", "content=four\n", "mode=append"]],
        call: &["undo_edit", "path=f"],
        after: F,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-insert",
        first: &[&[
            "files_write",
            "path=f",
            "content=1.5\n",
            "mode=insert",
            "line=2",
        ]],
        call: &["undo_edit", "path=f"],
        after: F,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-edit-backup",
        first: &[&["files_edit", "path=f", EDITS, "create_backup=true"]],
        call: &["undo_edit", "path=f"],
        after: &[("near/f", File(OLD, MODE)), ("near/f.bak", File(OLD, MODE))],
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-copy",
        first: &[&["copy_file", "src_path=f", "dst_path=c"]],
        call: &["undo_edit", "path=c"],
        after: F,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-copy-over",
        before: &[("near/c", File(OTHER, 0o600)), ("near/f", File(OLD, MODE))],
        first: &[&["copy_file", "src_path=f", "dst_path=c", "overwrite=true"]],
        call: &["undo_edit", "path=c"],
        after: &[("near/c", File(OTHER, 0o600)), ("near/f", File(OLD, MODE))],
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-hard-link",
        before: &[("near/f", File(OLD, MODE)), ("near/g", Same("near/f"))],
        first: &[&["files_edit", "path=f", EDITS]],
        call: &["undo_edit", "path=f"],
        after: &[("near/f", File(OLD, MODE)), ("near/g", File(OLD, MODE))],
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-create",
        before: NOTHING,
        first: &[&["files_write", "path=f", "content=new\n"]],
        call: &["undo_edit", "path=f"],
        after: NOTHING,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-delete",
        first: &[&["delete_file", "path=f"]],
        call: &["undo_edit", "path=f"],
        after: F,
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-move",
        first: &[&["move_file", "src_path=f", "dst_path=m"]],
        call: &["undo_edit", "path=m"],
        after: F,
        order: &[("near/f", "near/m")],
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-move-over",
        before: &[("near/f", File(OLD, MODE)), ("near/m", File(OTHER, 0o600))],
        first: &[&["move_file", "src_path=f", "dst_path=m", "overwrite=true"]],
        call: &["undo_edit", "path=m"],
        after: &[("near/f", File(OLD, MODE)), ("near/m", File(OTHER, 0o600))],
        order: &[("near/f", "near/m")],
        undo: &[],
        ..PLAIN
    },
    Operation {
        name: "undo-move-across",
        first: &[&["move_file", "src_path=f", "dst_path=far:m"]],
        call: &["undo_edit", "path=f"],
        after: &[("far/m", File(OLD, MODE)), ("near/f", File(OLD, MODE))],
        undo: &[],
        ..PLAIN
    },
];

impl Operation {
    /// Returns whether it needs a second file system.
    pub(super) fn is_far(&self) -> bool {
        let names = self.before.iter().chain(self.after);
        names.into_iter().any(|(name, _)| name.starts_with("far/"))
    }

    /// Returns the tool of the call.
    pub(super) fn tool(&self) -> &'static str {
        self.call.first().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_a_call() {
        let names: BTreeSet<_> = OPERATIONS.iter().map(|each| each.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
        assert!(OPERATIONS.iter().all(|each| each.call.len() > 1));
    }

    #[test]
    fn a_name_that_is_the_same_file_as_another_stands_after_it() {
        for (name, holds) in OPERATIONS.iter().flat_map(|each| each.before) {
            if let Same(other) = holds {
                assert!(*other < *name, "{name}");
            }
        }
    }
}
