//! What an editor has open wins over the disk, and is never overwritten unseen.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use acp_fs::{
    Buffers, Change, Document, FileOptions, MemoryBuffers, NoBuffers, Snapshot, Source, Stale,
    Taken,
};
use fs_core::{Encoding, Error, Fallback, Problem, Version};

use crate::place::{Open, Place, check};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

/// Opens a document as the disk has it.
fn opened(place: &Place, name: &str, text: &str) -> (MemoryBuffers, std::path::PathBuf) {
    let path = place.put(name, text);
    let buffers = MemoryBuffers::default();
    buffers.open(&path, text, Version::of_bytes(text.as_bytes()));
    (buffers, path)
}

#[test]
fn unsaved_text_is_what_is_read_in_windows_too() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    buffers.edit(&path, "ONE\r\nTWO\r\n");
    let open = place.open(buffers);
    let read = open.read("a.txt").unwrap();
    assert_eq!(
        (&*read.content, read.source),
        ("ONE\r\nTWO\r\n", Source::Buffer)
    );
    assert_eq!(
        open.window("a.txt", Some(2), Some(1)).unwrap().content,
        "TWO\r\n"
    );
    check(open.window("a.txt", Some(4), None), -32602, "out_of_range");
    assert_eq!(place.bytes("a.txt"), LINES.as_bytes());
}

#[test]
fn a_document_that_is_not_on_the_disk_is_read() {
    let place = Place::new();
    let buffers = MemoryBuffers::default();
    buffers.edit(place.path("root/new.txt"), "not saved\n");
    let open = place.open(buffers);
    assert_eq!(open.text("new.txt"), "not saved\n");
}

#[test]
fn a_clean_document_over_a_changed_disk_is_reloaded() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    fs::write(&path, "changed by others\n").unwrap();
    let open = place.open(buffers.clone());
    assert_eq!(open.text("a.txt"), "changed by others\n");
    assert_eq!(buffers.text(&path).as_deref(), Some("changed by others\n"));
    assert!(!buffers.is_dirty(&path));
}

#[test]
fn unsaved_changes_are_not_reloaded() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    buffers.edit(&path, "mine\n");
    fs::write(&path, "changed by others\n").unwrap();
    let open = place.open(buffers.clone());
    assert_eq!(open.text("a.txt"), "mine\n");
    assert_eq!(buffers.text(&path).as_deref(), Some("mine\n"));
}

#[test]
fn a_write_goes_to_the_document_and_to_the_disk() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let open = place.open(buffers.clone());
    open.text("a.txt");
    let saved = open.write("a.txt", "new\n").unwrap();
    assert_eq!((saved.to, saved.is_merged), (Source::Buffer, false));
    assert_eq!(place.bytes("a.txt"), b"new\n");
    assert_eq!(buffers.text(&path).as_deref(), Some("new\n"));
    assert!(!buffers.is_dirty(&path));
    // What was written is what the session knows: the next write is no news to anybody.
    assert!(!open.write("a.txt", "newer\n").unwrap().is_merged);
    assert_eq!(place.bytes("a.txt"), b"newer\n");
}

#[test]
fn a_write_is_merged_with_unsaved_changes_of_other_lines() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let open = place.open(buffers.clone());
    open.text("a.txt");
    buffers.edit(&path, &LINES.replace("five", "FIVE by hand"));
    let saved = open.write("a.txt", &LINES.replace("one", "ONE by the agent"));
    assert!(saved.unwrap().is_merged);
    let both = "ONE by the agent\ntwo\nthree\nfour\nFIVE by hand\n";
    assert_eq!(buffers.text(&path).as_deref(), Some(both));
    assert_eq!(place.bytes("a.txt"), both.as_bytes());
}

#[test]
fn what_was_merged_once_is_not_lost_by_the_next_write() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let open = place.open(buffers.clone());
    open.text("a.txt");
    buffers.edit(&path, &LINES.replace("five", "FIVE"));
    let mine = LINES.replace("one", "ONE");
    open.write("a.txt", &mine).unwrap();
    // The agent goes on with the text that it believes to be there.
    open.write("a.txt", &mine.replace("two", "TWO")).unwrap();
    let all = "ONE\nTWO\nthree\nfour\nFIVE\n";
    assert_eq!(buffers.text(&path).as_deref(), Some(all));
}

#[test]
fn a_write_over_unsaved_changes_of_the_same_line_is_refused() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let open = place.open(buffers.clone());
    open.text("a.txt");
    let by_hand = LINES.replace("two", "two by hand");
    buffers.edit(&path, &by_hand);
    let refused = open.write("a.txt", &LINES.replace("two", "two by the agent"));
    let error = refused.unwrap_err();
    assert_eq!((error.code, error.stable_code()), (-32602, "conflict"));
    let hint = error.data["hint"].as_str().unwrap();
    assert!(hint.contains("read the file again"), "{hint}");
    assert_eq!(buffers.text(&path).as_deref(), Some(&*by_hand));
    assert_eq!(place.bytes("a.txt"), LINES.as_bytes());
    // Who has read it may write it.
    assert_eq!(open.text("a.txt"), by_hand);
    open.write("a.txt", "mine\n").unwrap();
    assert_eq!(buffers.text(&path).as_deref(), Some("mine\n"));
}

#[test]
fn unsaved_changes_that_the_session_never_saw_are_not_overwritten() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    buffers.edit(&path, "by hand\n");
    let open = place.open(buffers.clone());
    check(open.write("a.txt", "by the agent\n"), -32602, "conflict");
    assert_eq!(buffers.text(&path).as_deref(), Some("by hand\n"));
}

#[test]
fn the_policy_decides_about_changes_that_were_not_seen() {
    let wanted = [
        (Stale::Allow, "ONE\ntwo\nthree\nfour\nfive\n"),
        (Stale::Merge, "ONE\ntwo\nthree\nfour\nFIVE\n"),
        (Stale::Reject, "one\ntwo\nthree\nfour\nFIVE\n"),
    ];
    for (stale, wanted) in wanted {
        let place = Place::new();
        let (buffers, path) = opened(&place, "a.txt", LINES);
        let open = place.open_stale(buffers.clone(), stale);
        open.text("a.txt");
        buffers.edit(&path, &LINES.replace("five", "FIVE"));
        let written = open.write("a.txt", &LINES.replace("one", "ONE"));
        assert_eq!(written.is_err(), stale == Stale::Reject, "{stale:?}");
        assert_eq!(buffers.text(&path).as_deref(), Some(wanted), "{stale:?}");
    }
}

#[test]
fn the_disk_is_merged_with_as_a_document_is() {
    let place = Place::new();
    let path = place.put("a.txt", LINES);
    let open = place.open(NoBuffers);
    open.text("a.txt");
    fs::write(&path, LINES.replace("five", "FIVE")).unwrap();
    let saved = open.write("a.txt", &LINES.replace("one", "ONE")).unwrap();
    assert!(saved.is_merged);
    assert_eq!(place.bytes("a.txt"), b"ONE\ntwo\nthree\nfour\nFIVE\n");
    fs::write(&path, "others\n").unwrap();
    check(open.write("a.txt", "mine\n"), -32602, "conflict");
    assert_eq!(place.bytes("a.txt"), b"others\n");
}

#[test]
fn a_file_that_was_never_read_is_overwritten_and_a_removed_one_made_again() {
    let place = Place::new();
    let path = place.put("a.txt", LINES);
    let open = place.open(NoBuffers);
    assert!(!open.write("a.txt", "one\n").unwrap().is_merged);
    fs::remove_file(&path).unwrap();
    open.write("a.txt", "two\n").unwrap();
    assert_eq!(place.bytes("a.txt"), b"two\n");
}

/// Somebody types while a write is under way, so many times.
#[derive(Debug)]
struct Typing(MemoryBuffers, AtomicU32);

impl Buffers for Typing {
    fn snapshot(&self, document: &Document<'_>) -> fs_core::Result<Option<Snapshot>> {
        self.0.snapshot(document)
    }

    fn reload(
        &self,
        document: &Document<'_>,
        text: &str,
        version: &Version,
    ) -> fs_core::Result<Snapshot> {
        self.0.reload(document, text, version)
    }

    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> fs_core::Result<Taken> {
        let left = self.1.load(Ordering::Relaxed);
        if left > 0 {
            self.1.store(left - 1, Ordering::Relaxed);
            let text = self.0.text(document.path).unwrap();
            self.0.edit(document.path, &format!("{text}typed {left}\n"));
        }
        self.0.apply(document, change)
    }
}

#[test]
fn typing_in_mid_write_is_merged_or_the_write_refused() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let typing = Typing(buffers.clone(), AtomicU32::new(2));
    let open = place.open(typing);
    open.text("a.txt");
    open.write("a.txt", &LINES.replace("one", "ONE")).unwrap();
    let both = "ONE\ntwo\nthree\nfour\nfive\ntyped 2\ntyped 1\n";
    assert_eq!(buffers.text(&path).as_deref(), Some(both));

    let open = place.open(Typing(buffers.clone(), AtomicU32::new(1_000)));
    let text = open.text("a.txt");
    check(
        open.write("a.txt", &text.replace("ONE", "1")),
        -32602,
        "conflict",
    );
    assert!(buffers.text(&path).unwrap().starts_with("ONE\n"));
}

/// An editor that cannot be asked.
#[derive(Debug)]
struct Broken;

impl Buffers for Broken {
    fn snapshot(&self, _: &Document<'_>) -> fs_core::Result<Option<Snapshot>> {
        Err(Error::from(Problem::Cancelled))
    }

    fn reload(&self, _: &Document<'_>, _: &str, _: &Version) -> fs_core::Result<Snapshot> {
        unreachable!("it shows nothing")
    }

    fn apply(&self, _: &Document<'_>, _: &Change<'_>) -> fs_core::Result<Taken> {
        unreachable!("it shows nothing")
    }
}

#[test]
fn an_editor_that_cannot_be_asked_is_not_passed_over() {
    let place = Place::new();
    place.put("a.txt", LINES);
    let open: Open<Broken> = place.open(Broken);
    check(open.read("a.txt"), -32800, "cancelled");
    check(open.write("a.txt", "x"), -32800, "cancelled");
    assert_eq!(place.bytes("a.txt"), LINES.as_bytes());
}

/// Keeps what it is given, and saves nothing.
#[derive(Debug)]
struct Reviewer(MemoryBuffers);

impl Buffers for Reviewer {
    fn snapshot(&self, document: &Document<'_>) -> fs_core::Result<Option<Snapshot>> {
        self.0.snapshot(document)
    }

    fn reload(
        &self,
        document: &Document<'_>,
        text: &str,
        version: &Version,
    ) -> fs_core::Result<Snapshot> {
        self.0.reload(document, text, version)
    }

    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> fs_core::Result<Taken> {
        let patch = change.patch.expect("the document is open");
        let text = self.0.text(document.path).unwrap();
        // The patch alone leads to the text.
        let patched = patch.apply(text.as_bytes());
        assert_eq!(String::from_utf8(patched).unwrap(), change.text);
        self.0.apply(document, change)?;
        Ok(Taken::Kept)
    }
}

#[test]
fn an_editor_may_keep_a_text_for_review() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let open = place.open(Reviewer(buffers.clone()));
    open.text("a.txt");
    let saved = open.write("a.txt", &LINES.replace("two", "TWO")).unwrap();
    assert_eq!(
        (saved.to, saved.after, saved.entry),
        (Source::Buffer, None, None)
    );
    assert_eq!(place.bytes("a.txt"), LINES.as_bytes());
    assert!(buffers.is_dirty(&path));
    assert_eq!(open.text("a.txt"), LINES.replace("two", "TWO"));
}

/// A refused or an empty window shows nothing, so nothing is known by it.
#[test]
fn a_read_that_shows_nothing_vouches_for_nothing() {
    let by_hand = LINES.replace("five", "five by hand");
    let mine = LINES.replace("one", "ONE").replace("five", "5");
    for (line, limit) in [
        (99, None),
        (1, Some(0)),
        (6, None),
        (1, Some(1)),
        (3, Some(2)),
    ] {
        for is_open in [true, false] {
            let place = Place::new();
            let (buffers, path) = opened(&place, "a.txt", LINES);
            let open = place.open(buffers.clone());
            open.text("a.txt");
            if is_open {
                buffers.edit(&path, &by_hand);
            } else {
                buffers.close(&path);
                fs::write(&path, &by_hand).unwrap();
            }
            let _shown = open.window("a.txt", Some(line), limit);
            check(open.write("a.txt", &mine), -32602, "conflict");
            // The line itself is what lets it be overwritten.
            open.window("a.txt", Some(5), None).unwrap();
            open.write("a.txt", &mine).unwrap();
            assert_eq!(place.bytes("a.txt"), mine.as_bytes());
        }
    }
}

#[test]
fn a_text_that_was_read_in_windows_is_known_when_all_of_it_was_shown() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", "old\n");
    buffers.edit(&path, LINES);
    let open = place.open(buffers.clone());
    for (line, limit) in [(4, 2), (1, 1), (2, 1)] {
        open.window("a.txt", Some(line), Some(limit)).unwrap();
        check(open.write("a.txt", "mine\n"), -32602, "conflict");
    }
    open.window("a.txt", Some(2), Some(3)).unwrap();
    open.write("a.txt", "mine\n").unwrap();
    assert_eq!(buffers.text(&path).as_deref(), Some("mine\n"));
}

#[test]
fn a_file_that_was_made_after_it_was_looked_for_is_not_overwritten() {
    let place = Place::new();
    let open = place.open(NoBuffers);
    check(open.read("a.txt"), -32002, "not_found");
    let path = place.put("a.txt", "theirs\n");
    check(open.write("a.txt", "mine\n"), -32602, "conflict");
    assert_eq!(place.bytes("a.txt"), b"theirs\n");
    fs::remove_file(&path).unwrap();
    open.write("a.txt", "mine\n").unwrap();
    assert_eq!(place.bytes("a.txt"), b"mine\n");
}

/// Somebody writes to the disk while the editor takes a text.
#[derive(Debug)]
struct Meanwhile(MemoryBuffers, std::path::PathBuf);

impl Buffers for Meanwhile {
    fn snapshot(&self, document: &Document<'_>) -> fs_core::Result<Option<Snapshot>> {
        self.0.snapshot(document)
    }

    fn reload(
        &self,
        document: &Document<'_>,
        text: &str,
        version: &Version,
    ) -> fs_core::Result<Snapshot> {
        self.0.reload(document, text, version)
    }

    fn apply(&self, document: &Document<'_>, change: &Change<'_>) -> fs_core::Result<Taken> {
        let taken = self.0.apply(document, change)?;
        fs::write(&self.1, "theirs\n").unwrap();
        Ok(taken)
    }
}

#[test]
fn what_comes_to_the_disk_while_an_editor_takes_a_text_is_kept() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    let open = place.open(Meanwhile(buffers.clone(), path.clone()));
    open.text("a.txt");
    check(open.write("a.txt", "mine\n"), -32602, "conflict");
    assert_eq!(place.bytes("a.txt"), b"theirs\n");

    let new = place.path("root/new.txt");
    let open = place.open(Meanwhile(MemoryBuffers::default(), new));
    check(open.write("new.txt", "mine\n"), -32602, "conflict");
    assert_eq!(place.bytes("new.txt"), b"theirs\n");
}

/// The document and the disk have each a text that the other does not know.
#[test]
fn a_document_that_is_behind_the_disk_is_written_by_nobody() {
    let place = Place::new();
    let (buffers, path) = opened(&place, "a.txt", LINES);
    buffers.edit(&path, "by hand\n");
    fs::write(&path, "theirs\n").unwrap();
    let open = place.open(buffers.clone());
    assert_eq!(open.text("a.txt"), "by hand\n");
    check(open.write("a.txt", "mine\n"), -32602, "conflict");
    assert_eq!(place.bytes("a.txt"), b"theirs\n");
    assert_eq!(buffers.text(&path).as_deref(), Some("by hand\n"));
}

#[test]
fn an_editor_is_not_given_what_the_disk_would_not_take() {
    let place = Place::new();
    let buffers = MemoryBuffers::default();
    let options = FileOptions {
        fallback: Fallback::Encoding(Encoding::for_label("windows-1252").unwrap()),
        ..FileOptions::default()
    };
    let path = place.put("a.txt", b"caf\xe9\n");
    buffers.open(&path, "café\n", Version::of_bytes(b"caf\xe9\n"));
    let open = place.open_with(buffers.clone(), options);
    assert_eq!(open.text("a.txt"), "café\n");
    let refused = open.write("a.txt", "中\n");
    let message = refused.as_ref().unwrap_err().message.clone();
    check(refused, -32602, "unencodable");
    // The protocol has no such parameter.
    assert!(!message.contains("encoding="), "{message}");
    assert_eq!(buffers.text(&path).as_deref(), Some("café\n"));
    assert!(!buffers.is_dirty(&path));
    open.write("a.txt", "thé\n").unwrap();
    assert_eq!(place.bytes("a.txt"), b"th\xe9\n");

    let path = place.put("b.bin", b"\x7fELF\0\0");
    buffers.open(&path, "?", Version::of_bytes(b"\x7fELF\0\0"));
    check(open.write("b.bin", "text\n"), -32602, "binary_file");
    assert_eq!(buffers.text(&path).as_deref(), Some("?"));
}
