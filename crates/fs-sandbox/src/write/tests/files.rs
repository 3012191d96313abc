//! Writes and updates through a workspace on real files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fs_core::{Encoding, Patch, Problem, Result, Version};

use super::super::*;
use crate::rights::Rights;

pub(super) struct Site {
    keeps: tempfile::TempDir,
    pub(super) workspace: Workspace,
}

impl Site {
    pub(super) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(super) fn with(
        set: impl FnOnce(crate::WorkspaceBuilder) -> crate::WorkspaceBuilder,
    ) -> Self {
        let keeps = tempfile::tempdir().unwrap();
        let root = keeps.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::create_dir(keeps.path().join("out")).unwrap();
        let builder = Workspace::builder().root("ws", &root, Rights::ALL);
        let builder = set(builder.durability(Durability::None));
        let workspace = builder.build().unwrap();
        Self { keeps, workspace }
    }

    pub(super) fn with_file(bytes: impl AsRef<[u8]>) -> Self {
        let site = Self::new();
        site.put("f", bytes);
        site
    }

    /// A workspace of the same root that shares nothing with the first one.
    pub(super) fn another_workspace(&self) -> Workspace {
        let builder = Workspace::builder().root("ws", &self.path(""), Rights::ALL);
        builder.durability(Durability::None).build().unwrap()
    }

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.keeps.path().join("root").join(name)
    }

    pub(super) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(super) fn names(&self, dir: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(dir)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(super) fn write(&self, path: &str, text: &str, mode: WriteMode) -> Result<Written> {
        let options = WriteOptions {
            mode,
            ..WriteOptions::default()
        };
        self.workspace.write(path, text, &options)
    }

    pub(super) fn update(&self, path: &str, bytes: &[u8]) -> Result<Written> {
        let patch = Patch::whole(bytes.to_vec());
        let plan = |_: &Source<'_>| Ok((patch, ()));
        let updated = self.workspace.update(path, &UpdateOptions::default(), plan);
        updated.map(|(written, ())| written)
    }
}

pub(super) fn code<T>(result: Result<T>) -> &'static str {
    result.err().map_or("ok", |error| error.code())
}

const INSERT: WriteMode = WriteMode::InsertBefore { line: 1 };
const MODES: [WriteMode; 4] = [
    WriteMode::Overwrite,
    WriteMode::Append,
    INSERT,
    WriteMode::CreateNew,
];

#[test]
fn a_new_file_is_created_with_its_directories() {
    for mode in [
        WriteMode::Overwrite,
        WriteMode::Append,
        WriteMode::CreateNew,
    ] {
        let site = Site::new();
        let written = site.write("a/b/f", "one\n", mode).unwrap();
        assert_eq!(site.bytes("a/b/f"), b"one\n");
        assert_eq!(
            written,
            Written {
                change: Change::Created,
                size: 4,
                text_bytes: 4,
                version: Version::of_bytes(b"one\n"),
                before: None,
                format: Some(TextFormat {
                    encoding: Encoding::UTF_8,
                    bom: false,
                    eol: fs_core::Eol::Lf,
                }),
                backup: None,
                parted_links: 0,
                entry: None,
                warnings: Vec::new(),
            }
        );
        assert_eq!(site.names("a/b"), ["f"]);
    }
}

#[test]
fn directories_are_not_created_unless_asked_for() {
    let site = Site::new();
    let options = WriteOptions {
        create_dirs: false,
        ..WriteOptions::default()
    };
    let outcome = site.workspace.write("a/f", "x", &options);
    assert_eq!(code(outcome), "not_found");
    assert_eq!(site.names(""), Vec::<String>::new());
}

#[test]
fn what_cannot_be_written_makes_no_directory() {
    let site = Site::new();
    let options = WriteOptions {
        encoding: Some(Encoding::GBK),
        ..WriteOptions::default()
    };
    assert_eq!(
        code(site.workspace.write("a/f", "😀", &options)),
        "unencodable"
    );
    assert_eq!(code(site.write("a/f", "x", INSERT)), "not_found");
    assert_eq!(site.names(""), Vec::<String>::new());
}

#[test]
fn an_overwrite_tells_what_it_did() {
    let site = Site::with_file("old\r\n");
    let written = site
        .write("f", "new\nand more\n", WriteMode::Overwrite)
        .unwrap();
    let new = b"new\r\nand more\r\n";
    assert_eq!(site.bytes("f"), new);
    assert_eq!(written.change, Change::Replaced);
    assert_eq!((written.size, written.text_bytes), (15, 15));
    assert_eq!(written.version, Version::of_bytes(new));
    assert_eq!(written.format.unwrap().eol, fs_core::Eol::CrLf);
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn an_append_and_an_insert_tell_what_they_did() {
    let site = Site::with_file("a\nb\n");
    let appended = site.write("f", "cc\n", WriteMode::Append).unwrap();
    assert_eq!((appended.size, appended.text_bytes), (7, 3));
    assert_eq!(appended.version, Version::of_bytes(b"a\nb\ncc\n"));
    let mode = WriteMode::InsertBefore { line: 2 };
    let inserted = site.write("f", "X", mode).unwrap();
    assert_eq!((inserted.size, inserted.text_bytes), (9, 2));
    assert_eq!(site.bytes("f"), b"a\nX\nb\ncc\n");
    let beyond = WriteMode::InsertBefore { line: 9 };
    assert_eq!(code(site.write("f", "X", beyond)), "out_of_range");
    assert_eq!(site.bytes("f"), b"a\nX\nb\ncc\n");
}

#[test]
fn equal_bytes_are_not_written() {
    let site = Site::with_file("same\r\n");
    let before = fs::metadata(site.path("f")).unwrap();
    let options = |mode| WriteOptions {
        mode,
        update: UpdateOptions {
            backup: Backup::Keep,
            ..UpdateOptions::default()
        },
        ..WriteOptions::default()
    };
    for (text, mode) in [
        ("same\r\n", WriteMode::Overwrite),
        ("same\n", WriteMode::Overwrite),
        ("", WriteMode::Append),
    ] {
        let written = site.workspace.write("f", text, &options(mode)).unwrap();
        assert_eq!(written.change, Change::Unchanged);
        assert_eq!((written.size, written.text_bytes), (6, 0));
        assert_eq!(written.version, Version::of_bytes(b"same\r\n"));
        assert_eq!(written.backup, None);
    }
    let kept = |source: &Source<'_>| Ok((Patch::splice(source.content.len(), []), ()));
    let (updated, ()) = site
        .workspace
        .update("f", &options(WriteMode::Append).update, kept)
        .unwrap();
    assert_eq!(updated.change, Change::Unchanged);
    let spelt = |_: &Source<'_>| Ok((Patch::splice(6, [(0..2, b"sa".to_vec())]), ()));
    let (updated, ()) = site
        .workspace
        .update("f", &options(WriteMode::Append).update, spelt)
        .unwrap();
    assert_eq!(updated.change, Change::Unchanged);
    let after = fs::metadata(site.path("f")).unwrap();
    assert_eq!(
        (after.ino(), after.ctime_nsec()),
        (before.ino(), before.ctime_nsec())
    );
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn a_file_is_created_only_where_nothing_is() {
    let site = Site::with_file("old");
    fs::create_dir(site.path("dir")).unwrap();
    std::os::unix::fs::symlink("nowhere", site.path("dangling")).unwrap();
    std::os::unix::fs::symlink("f", site.path("link")).unwrap();
    for name in ["f", "dir", "dangling", "link"] {
        let outcome = site.write(name, "new", WriteMode::CreateNew);
        assert_eq!(code(outcome), "already_exists", "{name}");
    }
    assert_eq!(site.bytes("f"), b"old");
    assert_eq!(site.names(""), ["dangling", "dir", "f", "link"]);
}

#[test]
fn a_link_inside_is_followed_and_stays() {
    let site = Site::with_file("old");
    fs::create_dir(site.path("sub")).unwrap();
    std::os::unix::fs::symlink("f", site.path("link")).unwrap();
    std::os::unix::fs::symlink("sub/new", site.path("dangling")).unwrap();
    site.write("link", "through", WriteMode::Overwrite).unwrap();
    site.write("dangling", "made", WriteMode::Append).unwrap();
    site.update("link", b"updated").unwrap();
    assert_eq!(site.bytes("f"), b"updated");
    assert_eq!(site.bytes("sub/new"), b"made");
    for link in ["link", "dangling"] {
        assert!(fs::symlink_metadata(site.path(link)).unwrap().is_symlink());
    }
    assert_eq!(site.names(""), ["dangling", "f", "link", "sub"]);
}

#[test]
fn a_link_to_the_outside_is_refused() {
    let site = Site::new();
    let out = site.keeps.path().join("out");
    fs::write(out.join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(out.join("secret"), site.path("link")).unwrap();
    std::os::unix::fs::symlink(out.join("new"), site.path("dangling")).unwrap();
    std::os::unix::fs::symlink(&out, site.path("dir")).unwrap();
    for mode in [WriteMode::Overwrite, WriteMode::Append, INSERT] {
        for name in ["link", "dangling", "dir/secret", "dir/new", "dir/deep/new"] {
            assert_eq!(
                code(site.write(name, "x", mode)),
                "outside_sandbox",
                "{name}"
            );
        }
    }
    assert_eq!(code(site.update("link", b"x")), "outside_sandbox");
    assert_eq!(
        code(site.write("dir/new", "x", WriteMode::CreateNew)),
        "outside_sandbox"
    );
    assert_eq!(fs::read(out.join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_is_refused() {
    let site = Site::with_file("old");
    fs::create_dir(site.path("dir")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, site.path("fifo"), fifo, mode, 0).unwrap();
    for mode in [WriteMode::Overwrite, WriteMode::Append, INSERT] {
        assert_eq!(code(site.write("dir", "x", mode)), "is_a_directory");
        assert_eq!(code(site.write("dir/", "x", mode)), "is_a_directory");
        assert_eq!(code(site.write(".", "x", mode)), "is_a_directory");
        assert_eq!(code(site.write("fifo", "x", mode)), "not_a_file");
        assert_eq!(code(site.write("f/", "x", mode)), "not_a_directory");
        assert_eq!(code(site.write("f/x", "x", mode)), "not_a_directory");
    }
    for mode in [
        WriteMode::Overwrite,
        WriteMode::Append,
        WriteMode::CreateNew,
    ] {
        assert_eq!(code(site.write("new/", "x", mode)), "is_a_directory");
    }
    assert_eq!(code(site.update("dir", b"x")), "is_a_directory");
    assert_eq!(code(site.update("fifo", b"x")), "not_a_file");
    assert_eq!(site.names(""), ["dir", "f", "fifo"]);
}

#[test]
fn an_update_never_creates_a_file() {
    let site = Site::new();
    std::os::unix::fs::symlink("nowhere", site.path("dangling")).unwrap();
    assert_eq!(code(site.update("f", b"x")), "not_found");
    assert_eq!(code(site.update("no/f", b"x")), "not_found");
    assert_eq!(code(site.update("dangling", b"x")), "not_found");
    assert_eq!(site.names(""), ["dangling"]);
}

#[test]
fn a_failed_plan_changes_nothing_and_gets_the_path() {
    let site = Site::with_file("old");
    let before = fs::metadata(site.path("f")).unwrap();
    let plan = |_: &Source<'_>| Err::<(Patch, ()), _>(Problem::NoOp.into());
    let options = UpdateOptions {
        backup: Backup::Keep,
        ..UpdateOptions::default()
    };
    let error = site.workspace.update("./f", &options, plan).unwrap_err();
    assert_eq!((error.code(), error.path()), ("no_op", Some("./f")));
    let after = fs::metadata(site.path("f")).unwrap();
    assert_eq!(
        (after.ino(), after.ctime_nsec()),
        (before.ino(), before.ctime_nsec())
    );
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn an_update_sees_the_bytes_and_tells_what_it_did() {
    let site = Site::with_file("one two");
    let plan = |source: &Source<'_>| {
        assert_eq!(source.content.as_bytes().unwrap(), *b"one two");
        assert_eq!(source.version, Version::of_bytes(b"one two"));
        Ok((Patch::splice(7, [(0..3, b"three".to_vec())]), 42))
    };
    let options = UpdateOptions {
        backup: Backup::Single,
        ..UpdateOptions::default()
    };
    let (written, value) = site.workspace.update("f", &options, plan).unwrap();
    assert_eq!(value, 42);
    assert_eq!(
        written,
        Written {
            change: Change::Replaced,
            size: 9,
            text_bytes: 5,
            version: Version::of_bytes(b"three two"),
            before: Some(Version::of_bytes(b"one two")),
            format: None,
            backup: Some("f.bak".to_owned()),
            parted_links: 0,
            entry: None,
            warnings: Vec::new(),
        }
    );
    assert_eq!(site.bytes("f"), b"three two");
    assert_eq!(site.bytes("f.bak"), b"one two");
}

/// A file of over 4 MiB: so many lines of one length.
fn put_large(site: &Site, line: &str, lines: usize) -> Vec<u8> {
    let bytes = line.repeat(lines).into_bytes();
    assert!(bytes.len() as u64 > Version::STRONG_BYTES);
    site.put("f", std::str::from_utf8(&bytes).unwrap());
    bytes
}

#[test]
fn an_update_of_a_large_file_gets_it_open_and_not_in_memory() {
    let site = Site::new();
    let mut expected = put_large(&site, "0123456\n", 600_000);
    let plan = |source: &Source<'_>| {
        assert_eq!(source.content.as_bytes(), None);
        assert_eq!(source.content.len(), 4_800_000);
        assert_eq!(&*source.content.read(8..12)?, b"0123");
        let len = source.content.len();
        Ok((Patch::splice(len, [(8..10, b"new".to_vec())]), ()))
    };
    let options = UpdateOptions::default();
    let (written, ()) = site.workspace.update("f", &options, plan).unwrap();
    expected.splice(8..10, *b"new");
    assert_eq!(site.bytes("f"), expected);
    assert_eq!(written.size, 4_800_001);
    assert!(written.version.is_weak());
}

#[test]
fn a_large_file_that_becomes_small_has_the_version_of_its_bytes() {
    let site = Site::new();
    put_large(&site, "0123456\n", 600_000);
    let plan = |source: &Source<'_>| {
        let len = source.content.len();
        Ok((Patch::splice(len, [(8..len - 8, Vec::new())]), ()))
    };
    let options = UpdateOptions::default();
    let (written, ()) = site.workspace.update("f", &options, plan).unwrap();
    assert_eq!(site.bytes("f"), b"0123456\n0123456\n");
    assert_eq!(written.version, Version::of_bytes(b"0123456\n0123456\n"));
}

#[test]
fn a_large_file_with_several_names_is_rewritten_in_place() {
    let site = Site::new();
    let mut expected = put_large(&site, "0123456\n", 600_000);
    fs::hard_link(site.path("f"), site.path("g")).unwrap();
    let options = UpdateOptions {
        hard_links: Some(HardLinks::InPlace),
        ..UpdateOptions::default()
    };
    let plan = |source: &Source<'_>| {
        let len = source.content.len();
        let splices = [(9..9, b"more".to_vec()), (len - 8..len, Vec::new())];
        Ok((Patch::splice(len, splices), ()))
    };
    site.workspace.update("f", &options, plan).unwrap();
    expected.truncate(expected.len() - 8);
    expected.splice(9..9, *b"more");
    assert_eq!(site.bytes("f"), expected);
    assert_eq!(site.bytes("g"), expected);
}

#[test]
fn a_large_file_that_changes_while_it_is_planned_on_is_a_conflict() {
    let site = Site::new();
    put_large(&site, "0123456\n", 600_000);
    let path = site.path("f");
    let plan = |source: &Source<'_>| {
        fs::OpenOptions::new().write(true).open(&path)?.set_len(9)?;
        source.content.read(0..16)?;
        Ok((Patch::splice(4_800_000, [(0..1, Vec::new())]), ()))
    };
    let updated = site.workspace.update("f", &UpdateOptions::default(), plan);
    assert_eq!(code(updated.map(|_| ())), "conflict");
    assert_eq!(site.bytes("f"), b"0123456\n0");
    assert_eq!(site.names(""), ["f"]);
}

#[test]
fn a_line_is_inserted_into_a_large_file() {
    let site = Site::new();
    let mut expected = put_large(&site, "012345\r\n", 600_000);
    let insert = |line| WriteMode::InsertBefore { line };
    site.write("f", "new", insert(500_001)).unwrap();
    expected.splice(4_000_000..4_000_000, *b"new\r\n");
    assert_eq!(site.bytes("f"), expected);
    site.write("f", "\u{e9}nd", insert(600_002)).unwrap();
    expected.extend_from_slice("\u{e9}nd\r\n".as_bytes());
    assert_eq!(site.bytes("f"), expected);
    assert_eq!(code(site.write("f", "x", insert(600_004))), "out_of_range");
}

#[test]
fn the_policy_about_other_names_is_the_workspaces_unless_a_call_says_so() {
    let refusing = Site::with(|builder| builder.hard_links(HardLinks::Refuse));
    refusing.put("f", "old");
    fs::hard_link(refusing.path("f"), refusing.path("g")).unwrap();
    for mode in [WriteMode::Overwrite, WriteMode::Append, INSERT] {
        assert_eq!(code(refusing.write("f", "x", mode)), "hard_link");
    }
    assert_eq!(code(refusing.update("f", b"x")), "hard_link");
    let options = WriteOptions {
        update: UpdateOptions {
            hard_links: Some(HardLinks::InPlace),
            ..UpdateOptions::default()
        },
        ..WriteOptions::default()
    };
    let written = refusing
        .workspace
        .write("f", "onto both", &options)
        .unwrap();
    assert_eq!(written.backup.as_deref(), Some("f.bak"));
    assert_eq!(written.version, Version::of_bytes(b"onto both"));
    assert_eq!(refusing.bytes("g"), b"onto both");

    let breaking = Site::with_file("old");
    fs::hard_link(breaking.path("f"), breaking.path("g")).unwrap();
    let written = breaking.write("f", "new", WriteMode::Overwrite).unwrap();
    assert_eq!(written.parted_links, 1);
    assert_eq!(breaking.bytes("g"), b"old");
}

#[test]
fn a_place_that_is_only_read_is_not_written() {
    let keeps = tempfile::tempdir().unwrap();
    fs::write(keeps.path().join("f"), "old").unwrap();
    let builder = Workspace::builder().root("ws", keeps.path(), Rights::READ | Rights::DELETE);
    let workspace = builder.build().unwrap();
    for mode in MODES {
        let options = WriteOptions {
            mode,
            ..WriteOptions::default()
        };
        for path in ["f", "new", "dir/new"] {
            let outcome = workspace.write(path, "x", &options);
            assert_eq!(code(outcome), "denied_by_policy", "{mode:?} {path}");
        }
    }
    let plan = |_: &Source<'_>| Ok((Patch::whole(Vec::new()), ()));
    let updated = workspace.update("f", &UpdateOptions::default(), plan);
    assert_eq!(code(updated), "denied_by_policy");
    assert_eq!(fs::read(keeps.path().join("f")).unwrap(), b"old");
    assert_eq!(fs::read_dir(keeps.path()).unwrap().count(), 1);
}

#[test]
fn an_error_holds_the_path_as_the_caller_wrote_it_and_no_other() {
    let site = Site::with_file(b"\0\0\0");
    for path in ["./f", "f"] {
        let error = site.write(path, "x", WriteMode::Append).unwrap_err();
        assert_eq!(error.path(), Some(path));
        let root = site.path("").display().to_string();
        assert!(!format!("{error} {error:?}").contains(&root));
    }
}

#[test]
fn mode_and_backup_are_those_of_the_replace() {
    let site = Site::with_file("old");
    fs::set_permissions(site.path("f"), fs::Permissions::from_mode(0o750)).unwrap();
    let options = |backup| WriteOptions {
        update: UpdateOptions {
            backup,
            ..UpdateOptions::default()
        },
        ..WriteOptions::default()
    };
    let backup = |text, backup| {
        site.workspace
            .write("f", text, &options(backup))
            .unwrap()
            .backup
    };
    assert_eq!(backup("1", Backup::Off), None);
    assert_eq!(backup("2", Backup::Single).as_deref(), Some("f.bak"));
    assert_eq!(backup("3", Backup::Single).as_deref(), Some("f.bak"));
    assert_eq!(backup("4", Backup::Keep).as_deref(), Some("f.bak.1"));
    assert_eq!(site.bytes("f.bak"), b"2");
    assert_eq!(site.bytes("f.bak.1"), b"3");
    for name in ["f", "f.bak", "f.bak.1"] {
        let mode = fs::metadata(site.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o750);
    }
}

/// Over the size from which only the ends are looked at, which is smaller in tests.
fn large() -> Vec<u8> {
    let line = b"a line of a log that has grown quite long by now, as logs do over the years\r\n";
    line.repeat(6 * 1024 * 1024 / line.len())
}

#[test]
fn a_large_file_is_judged_by_its_ends_for_ascii() {
    let site = Site::with_file(large());
    let size = large().len() as u64;
    let written = site.write("f", "more\n", WriteMode::Append).unwrap();
    assert_eq!((written.size, written.text_bytes), (size + 6, 6));
    assert_eq!(written.format.unwrap().eol, fs_core::Eol::CrLf);
    assert!(written.version.is_weak());
    let opened = site.workspace.open("f").unwrap();
    assert_eq!(written.version, Version::of_handle(&opened.file).unwrap());
    assert!(site.bytes("f") == [&large()[..], b"more\r\n"].concat());
    let again = site.write("f", "", WriteMode::Append).unwrap();
    assert_eq!(
        (again.change, again.version),
        (Change::Unchanged, written.version)
    );

    let text = String::from_utf8(site.bytes("f")).unwrap();
    let same = site.write("f", &text, WriteMode::Overwrite).unwrap();
    assert_eq!(same.change, Change::Unchanged);
    let other = text.replacen("more", "less", 1);
    let changed = site.write("f", &other, WriteMode::Overwrite).unwrap();
    assert_eq!(changed.change, Change::Replaced);
    assert!(site.bytes("f") == other.as_bytes());
}

#[test]
fn a_large_file_is_read_whole_for_what_is_not_ascii() {
    // The one line that tells is far from both ends.
    let mut bytes = large();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4].copy_from_slice(b"\xD6\xD0\xCE\xC4");
    let site = Site::with_file(&bytes);
    assert_eq!(
        code(site.write("f", "中\n", WriteMode::Append)),
        "encoding_unknown"
    );
    let options = |encoding| WriteOptions {
        mode: WriteMode::Append,
        encoding,
        fallback: fs_core::Fallback::Encoding(Encoding::GBK),
        ..WriteOptions::default()
    };
    site.workspace.write("f", "中\n", &options(None)).unwrap();
    site.workspace
        .write("f", "文\n", &options(Some(Encoding::GBK)))
        .unwrap();
    bytes.extend_from_slice(b"\xD6\xD0\r\n\xCE\xC4\r\n");
    assert!(site.bytes("f") == bytes);
}

#[test]
fn a_large_file_that_is_no_text_is_told_so() {
    let site = Site::new();
    let file = fs::File::create(site.path("f")).unwrap();
    file.set_len(6 * 1024 * 1024).unwrap();
    assert_eq!(code(site.write("f", "x", WriteMode::Append)), "binary_file");
    assert_eq!(
        code(site.write("f", "x", WriteMode::Overwrite)),
        "binary_file"
    );
}

#[test]
fn a_large_file_takes_what_is_not_ascii_in_the_encoding_of_all_of_it() {
    let site = Site::new();
    let mut expected = put_large(&site, "0123456\r\n", 700_000);
    site.write("f", "\u{e9}\n", WriteMode::Append).unwrap();
    expected.extend_from_slice("\u{e9}\r\n".as_bytes());
    assert_eq!(site.bytes("f"), expected);
    // A byte in the middle that is no UTF-8: no end of the file tells of it.
    expected[3_000_000] = 0xFF;
    fs::write(site.path("f"), &expected).unwrap();
    for mode in [WriteMode::Append, WriteMode::Overwrite] {
        assert_eq!(code(site.write("f", "\u{e9}", mode)), "encoding_unknown");
    }
    assert_eq!(site.bytes("f"), expected);
}

#[test]
fn a_backup_takes_no_name_that_a_rule_forbids() {
    for forbid in [
        crate::WorkspaceBuilder::deny as fn(_, &str) -> _,
        crate::WorkspaceBuilder::deny_edit,
    ] {
        for backup in [Backup::Single, Backup::Keep] {
            let site = Site::with(|builder| forbid(builder, "*.bak"));
            site.put("f", "old");
            site.put("f.bak", "precious");
            let mut options = WriteOptions::default();
            options.update.backup = backup;
            let written = site.workspace.write("f", "new", &options);
            assert_eq!(code(written), "backup_failed");
            assert_eq!(site.bytes("f"), b"old");
            assert_eq!(site.bytes("f.bak"), b"precious");
        }
    }
}

#[test]
fn a_backup_behind_a_link_does_not_tell_where_the_link_leads() {
    let site = Site::new();
    site.put("target-4711.txt", "old");
    std::os::unix::fs::symlink("target-4711.txt", site.path("link")).unwrap();
    let mut options = WriteOptions::default();
    options.update.backup = Backup::Single;
    let written = site.workspace.write("link", "new", &options).unwrap();
    assert_eq!(written.backup.as_deref(), Some("*.bak"));
    assert_eq!(site.bytes("target-4711.txt.bak"), b"old");
    let written = site.workspace.write("./target-4711.txt", "newer", &options);
    assert_eq!(
        written.unwrap().backup.as_deref(),
        Some("target-4711.txt.bak")
    );
}
