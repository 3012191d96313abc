//! Writes: exact bytes, and their way back.

use acp_fs::{FileOptions, NoBuffers};
use fs_core::{Encoding, Fallback};
use fs_sandbox::UndoOptions;

use crate::place::{Place, check};

/// Checks what a write makes of a file.
#[track_caller]
fn check_write(before: Option<&[u8]>, content: &str, wanted: &[u8]) {
    let place = Place::new();
    if let Some(before) = before {
        place.put("a.txt", before);
    }
    place.open(NoBuffers).write("a.txt", content).unwrap();
    assert_eq!(place.bytes("a.txt"), wanted, "{before:?} {content:?}");
}

#[test]
fn a_write_is_byte_exact() {
    check_write(
        None,
        "a\r\nb\rc\n\u{2028}",
        "a\r\nb\rc\n\u{2028}".as_bytes(),
    );
    check_write(Some(b"old"), "", b"");
    check_write(Some(b"a\r\nb\r\n"), "a\nb\n", b"a\nb\n");
    check_write(Some(b"a\nb\n"), "a\r\nb", b"a\r\nb");
}

#[test]
fn breaks_that_an_agent_has_turned_and_says_so_are_turned_back() {
    for (before, content, wanted) in [
        ("a\r\nb\r\n", "a\nB\n", "a\r\nB\r\n"),
        // Where the file is not all CR LF nobody can tell which ones were.
        ("a\r\nb\n", "a\nB\n", "a\nB\n"),
        ("a\nb\n", "a\nB\n", "a\nB\n"),
        ("a\r\nb\r\n", "a\r\nB\n", "a\r\nB\n"),
    ] {
        let place = Place::new();
        place.put("a.txt", before);
        let open = place.open(NoBuffers);
        open.text("a.txt");
        open.write_turned("a.txt", content).unwrap();
        assert_eq!(place.bytes("a.txt"), wanted.as_bytes(), "{before:?}");
    }
}

#[test]
fn a_byte_order_mark_stays_and_is_not_doubled() {
    check_write(Some(b"\xef\xbb\xbfa\n"), "b\n", b"\xef\xbb\xbfb\n");
    check_write(Some(b"\xef\xbb\xbfa\n"), "\u{feff}b\n", b"\xef\xbb\xbfb\n");
    check_write(Some(b"a\n"), "\u{feff}b\n", b"\xef\xbb\xbfb\n");
    check_write(Some(b"\xff\xfea\0"), "é", b"\xff\xfe\xe9\0");
}

#[test]
fn missing_directories_are_made() {
    let place = Place::new();
    let saved = place.open(NoBuffers).write("a/b/c.txt", "new\n").unwrap();
    assert_eq!(saved.before, None);
    assert_eq!(place.bytes("a/b/c.txt"), b"new\n");
}

#[test]
fn a_file_that_is_no_text_is_not_overwritten() {
    let place = Place::new();
    place.put("gbk.txt", b"\xc4\xe3\xba\xc3\n");
    place.put("binary", b"\x7fELF\0\0\0");
    let open = place.open(NoBuffers);
    check(open.write("gbk.txt", "a\n"), -32602, "encoding_unknown");
    check(open.write("binary", "a\n"), -32602, "binary_file");
    assert_eq!(place.bytes("gbk.txt"), b"\xc4\xe3\xba\xc3\n");
    let options = FileOptions {
        fallback: Fallback::Encoding(Encoding::GBK),
        ..FileOptions::default()
    };
    let open = place.open_with(NoBuffers, options);
    open.write("gbk.txt", "你们\n").unwrap();
    assert_eq!(place.bytes("gbk.txt"), b"\xc4\xe3\xc3\xc7\n");
}

#[test]
fn a_write_can_be_undone_by_the_number_that_it_tells() {
    let place = Place::new();
    let path = place.put("a.txt", b"one\r\n");
    let open = place.open(NoBuffers);
    let saved = open.write("a.txt", "two\n").unwrap();
    let entry = saved.entry.expect("a history is kept");
    let workspace = place.workspace();
    let path = path.to_str().unwrap();
    assert_eq!(workspace.history(path, 9).unwrap()[0].id, entry);
    assert_eq!(
        workspace.history(path, 9).unwrap()[0].tool,
        "fs/write_text_file"
    );
    let options = UndoOptions {
        entry: Some(entry),
        ..UndoOptions::default()
    };
    workspace.undo(path, &options).unwrap();
    assert_eq!(place.bytes("a.txt"), b"one\r\n");
}

#[test]
fn equal_bytes_are_a_success_and_no_change() {
    let place = Place::new();
    place.put("a.txt", "same\n");
    let saved = place.open(NoBuffers).write("a.txt", "same\n").unwrap();
    assert_eq!(
        (saved.entry, saved.before.clone()),
        (None, saved.after.clone())
    );
}

#[test]
fn a_name_is_what_was_sent() {
    let place = Place::new();
    let open = place.open(NoBuffers);
    for name in [r"back\x5Cx41", r"a\x41", "line\nfeed", r"plain\back"] {
        open.write(name, "text\n").unwrap();
        assert_eq!(place.bytes(name), b"text\n", "{name}");
        assert_eq!(open.text(name), "text\n", "{name}");
    }
    let names = std::fs::read_dir(place.path("root")).unwrap().count();
    assert_eq!(names, 4);
}

#[test]
fn a_write_to_one_of_several_names_says_so() {
    let place = Place::new();
    let path = place.put("a.txt", "one\n");
    std::fs::hard_link(&path, place.path("root/b.txt")).unwrap();
    let open = place.open(NoBuffers);
    let saved = open.write("a.txt", "two\n").unwrap();
    assert_eq!(saved.parted_links, 1);
    let json = acp_fs::Reply::Saved(saved).to_json(acp_fs::NullResult::No);
    assert_eq!(json, r#"{"_meta":{"postern/facts":{"parted_links":1}}}"#);
    assert_eq!(place.bytes("b.txt"), b"one\n");
}

#[test]
fn a_new_file_is_made_where_a_link_leads() {
    let place = Place::new();
    std::fs::create_dir(place.path("root/sub")).unwrap();
    std::os::unix::fs::symlink("sub/to be", place.path("root/link")).unwrap();
    let open = place.open(NoBuffers);
    check(open.read("link"), -32002, "not_found");
    open.write("link", "text\n").unwrap();
    assert_eq!(place.bytes("sub/to be"), b"text\n");
}
