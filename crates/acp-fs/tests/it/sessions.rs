//! Sessions see their own directories, as far as they lie in the workspace.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use acp_fs::{
    Cancel, FileMethods, MissingFile, NoBuffers, ReadTextFile, Reply, Request, RpcError,
    WriteTextFile,
};

use crate::place::{Place, check};

/// Opens a session `s` over these directories.
fn over(place: &Place, directories: &[PathBuf]) -> FileMethods {
    let methods = FileMethods::new(place.workspace(), NoBuffers);
    let opened = methods.open_session("s", directories, MissingFile::Error);
    opened.unwrap();
    methods
}

fn read(methods: &FileMethods, path: &Path) -> Result<String, RpcError> {
    let request = Request::Read(ReadTextFile {
        session_id: "s".to_owned(),
        path: path.to_str().unwrap().to_owned(),
        line: None,
        limit: None,
    });
    match methods.call(&request, &Cancel::default())? {
        Reply::Text(text) => Ok(text.content),
        Reply::Saved(saved) => panic!("{saved:?}"),
    }
}

/// Two projects in one root.
fn projects() -> Place {
    let place = Place::new();
    for name in ["one", "two"] {
        std::fs::create_dir(place.path("root").join(name)).unwrap();
        place.put(&format!("{name}/a.txt"), format!("of {name}\n"));
    }
    place
}

#[test]
fn a_session_sees_its_own_directories_and_no_others() {
    let place = projects();
    let methods = over(&place, &[place.path("root/one")]);
    assert_eq!(
        read(&methods, &place.path("root/one/a.txt")).unwrap(),
        "of one\n"
    );
    check(
        read(&methods, &place.path("root/two/a.txt")),
        -32602,
        "outside_sandbox",
    );
    check(
        read(&methods, &place.path("root/two/none")),
        -32602,
        "outside_sandbox",
    );
    check(
        read(&methods, &place.path("root/one/../two/a.txt")),
        -32602,
        "outside_sandbox",
    );
    check(
        read(&methods, &place.path("beside/secret.txt")),
        -32602,
        "outside_sandbox",
    );
    let both = over(&place, &[place.path("root/one"), place.path("root/two")]);
    assert_eq!(
        read(&both, &place.path("root/two/a.txt")).unwrap(),
        "of two\n"
    );
}

#[test]
fn directories_outside_of_the_roots_add_nothing() {
    let place = projects();
    let methods = over(&place, &[place.path("beside")]);
    check(
        read(&methods, &place.path("beside/secret.txt")),
        -32602,
        "outside_sandbox",
    );
    check(
        read(&methods, &place.path("root/one/a.txt")),
        -32602,
        "outside_sandbox",
    );
    let above = over(&place, &[place.path("")]);
    assert_eq!(
        read(&above, &place.path("root/one/a.txt")).unwrap(),
        "of one\n"
    );
    check(
        read(&above, &place.path("beside/secret.txt")),
        -32602,
        "outside_sandbox",
    );
    let none = over(&place, &[]);
    check(
        read(&none, &place.path("root/one/a.txt")),
        -32602,
        "outside_sandbox",
    );
}

#[test]
fn a_link_out_of_a_session_is_outside_even_within_the_root() {
    let place = projects();
    symlink("../two/a.txt", place.path("root/one/link")).unwrap();
    symlink(place.path("beside/secret.txt"), place.path("root/one/out")).unwrap();
    let methods = over(&place, &[place.path("root/one")]);
    check(
        read(&methods, &place.path("root/one/link")),
        -32602,
        "outside_sandbox",
    );
    check(
        read(&methods, &place.path("root/one/out")),
        -32602,
        "outside_sandbox",
    );
}

#[test]
fn a_directory_may_be_spelt_by_a_link_and_answers_keep_the_spelling() {
    let place = projects();
    symlink(place.path("root/one"), place.path("beside/alias")).unwrap();
    let methods = over(&place, &[place.path("beside/alias")]);
    assert_eq!(
        read(&methods, &place.path("beside/alias/a.txt")).unwrap(),
        "of one\n"
    );
    let error = read(&methods, &place.path("beside/alias/none")).unwrap_err();
    let asked = place.path("beside/alias/none");
    assert_eq!(error.data["path"], asked.to_str().unwrap());
    let real = place.path("root");
    assert!(!error.message.contains(real.to_str().unwrap()), "{error}");
    check(
        read(&methods, &place.path("beside/aliased")),
        -32602,
        "outside_sandbox",
    );
}

#[test]
fn paths_of_other_kinds_are_refused_in_words() {
    let place = projects();
    let methods = over(&place, &[place.path("root")]);
    for (path, words) in [
        ("one/a.txt", "it must be absolute"),
        ("", "it is empty"),
        ("file:///etc/passwd", "a URI"),
        ("C:\\Users\\a.txt", "Windows"),
        ("c:/a.txt", "Windows"),
        ("\\\\server\\share", "Windows"),
        ("~/a.txt", "it must be absolute"),
    ] {
        let error = read(&methods, Path::new(path)).unwrap_err();
        assert_eq!(error.stable_code(), "invalid_path", "{path}");
        assert!(error.message.contains(words), "{error}");
        assert_eq!(error.data["path"], path);
    }
}

#[test]
fn a_session_that_is_not_open_is_unknown() {
    let place = projects();
    let methods = over(&place, &[place.path("root")]);
    methods.close_session("s");
    let error = read(&methods, &place.path("root/one/a.txt")).unwrap_err();
    assert_eq!((error.code, error.stable_code()), (-32002, "not_found"));
    assert_eq!(error.data["sessionId"], "s");
    let relative = [PathBuf::from("root")];
    let refused = methods.open_session("s", &relative, MissingFile::Error);
    assert_eq!(refused.unwrap_err().code(), "invalid_path");
    assert!(!methods.has_session("s"));
}

#[test]
fn a_missing_file_may_be_read_as_an_empty_one() {
    let place = projects();
    let methods = FileMethods::new(place.workspace(), NoBuffers);
    let directories = [place.path("root")];
    let opened = methods.open_session("s", &directories, MissingFile::Empty);
    opened.unwrap();
    assert_eq!(
        read(&methods, &place.path("root/new/none.txt")).unwrap(),
        ""
    );
    check(
        read(&methods, &place.path("beside/none.txt")),
        -32602,
        "outside_sandbox",
    );
    check(
        read(&methods, &place.path("root/one")),
        -32602,
        "is_a_directory",
    );
}

/// Another request makes the directories while this one's place is looked for.
#[test]
fn a_file_in_directories_that_are_half_made_has_one_place() {
    let place = Place::new();
    let open = place.open(NoBuffers);
    std::fs::create_dir(place.path("root/new")).unwrap();
    let expected = open.place_of("new/deep/f");
    assert!(expected.is_some());
    for spelling in ["new/deep/./f", "new/./deep/.//./f", "./new//deep/././f"] {
        assert_eq!(open.place_of(spelling), expected, "{spelling}");
    }
}

/// An agent's context outlives what the editor does with the session.
#[test]
fn a_session_that_is_opened_again_knows_what_it_was_served() {
    let place = projects();
    let methods = over(&place, &[place.path("root/one")]);
    let path = place.path("root/one/a.txt");
    read(&methods, &path).unwrap();
    std::fs::write(&path, "changed by hand\n").unwrap();
    let both = ["root/one", "root/two"].map(|name| place.path(name));
    methods
        .open_session("s", &both, MissingFile::Error)
        .unwrap();
    let write = |content: &str| {
        let request = Request::Write(WriteTextFile {
            session_id: "s".to_owned(),
            path: path.to_str().unwrap().to_owned(),
            content: content.to_owned(),
            turned_breaks: false,
        });
        methods.call(&request, &Cancel::default())
    };
    check(write("mine\n"), -32602, "conflict");
    assert_eq!(
        read(&methods, &place.path("root/two/a.txt")).unwrap(),
        "of two\n"
    );
    // One that was closed is another one.
    methods.close_session("s");
    methods
        .open_session("s", &both, MissingFile::Error)
        .unwrap();
    write("mine\n").unwrap();
}
