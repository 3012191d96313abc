//! Our messages against the types of the official Rust crate, both ways.

use std::path::Path;

use acp_fs::{
    Cancel, FileMethods, MissingFile, NoBuffers, NullResult, ReadTextFile, Reply, Request,
    RpcError, WriteTextFile,
};
use agent_client_protocol::v1::schema;
use fs_sandbox::{Rights, Workspace};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Reads a message of ours by an official type.
#[track_caller]
fn official<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn place() -> (TempDir, FileMethods) {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.txt"), "one\r\n\"two\"\n\u{1}").unwrap();
    std::fs::write(place.path().join("bytes"), [0xff, 0xfe, 0xfd]).unwrap();
    let rights = Rights::READ | Rights::EDIT;
    let workspace = Workspace::builder().root("root", place.path(), rights);
    let methods = FileMethods::new(workspace.build().unwrap(), NoBuffers);
    let directories = [place.path().to_owned()];
    methods
        .open_session("s", &directories, MissingFile::Error)
        .unwrap();
    (place, methods)
}

/// Sends an official request, as the crate spells it.
fn send(
    methods: &FileMethods,
    method: &str,
    request: &impl serde::Serialize,
) -> Result<Reply, RpcError> {
    let params = serde_json::to_string(request).unwrap();
    let request = Request::parse(method, &params).unwrap();
    methods.call(&request?, &Cancel::default())
}

#[test]
fn the_official_requests_are_read_as_they_are_meant() {
    let read = schema::ReadTextFileRequest::new("s", "/srv/a b.txt")
        .line(3)
        .limit(4);
    let read = serde_json::to_string(&read).unwrap();
    let wanted = ReadTextFile {
        session_id: "s".to_owned(),
        path: "/srv/a b.txt".to_owned(),
        line: Some(3),
        limit: Some(4),
    };
    let parsed = Request::parse("fs/read_text_file", &read).unwrap();
    assert_eq!(parsed, Ok(Request::Read(wanted.clone())));
    let back: schema::ReadTextFileRequest = official(&serde_json::to_string(&wanted).unwrap());
    assert_eq!(serde_json::to_string(&back).unwrap(), read);

    let write = schema::WriteTextFileRequest::new("s", "/srv/a.txt", "one\r\n\u{1F600}");
    let write = serde_json::to_string(&write).unwrap();
    let wanted = WriteTextFile {
        session_id: "s".to_owned(),
        path: "/srv/a.txt".to_owned(),
        content: "one\r\n\u{1F600}".to_owned(),
        turned_breaks: false,
    };
    let parsed = Request::parse("fs/write_text_file", &write).unwrap();
    assert_eq!(parsed, Ok(Request::Write(wanted.clone())));
    let back: schema::WriteTextFileRequest = official(&serde_json::to_string(&wanted).unwrap());
    assert_eq!(serde_json::to_string(&back).unwrap(), write);
}

#[test]
fn our_results_are_what_the_official_types_take() {
    let (place, methods) = place();
    let path = place.path().join("a.txt");
    let request = schema::ReadTextFileRequest::new("s", &path);
    let reply = send(&methods, "fs/read_text_file", &request).unwrap();
    let read: schema::ReadTextFileResponse = official(&reply.to_json(NullResult::No));
    assert_eq!(read.content, "one\r\n\"two\"\n\u{1}");
    let facts = read.meta.unwrap();
    assert_eq!(facts["postern/facts"]["total_lines"], 3);

    let request = schema::WriteTextFileRequest::new("s", &path, "new\n");
    let reply = send(&methods, "fs/write_text_file", &request).unwrap();
    for null in [NullResult::No, NullResult::Yes] {
        let spelt = reply.to_json(null);
        assert!(serde_json::from_str::<schema::WriteTextFileResponse>(&spelt).is_ok());
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"new\n");
}

#[track_caller]
fn check(methods: &FileMethods, session: &str, path: &Path, wanted: (i32, &str)) {
    let request = schema::ReadTextFileRequest::new(session.to_owned(), path);
    let error = send(methods, "fs/read_text_file", &request).unwrap_err();
    let spelt = serde_json::to_string(&error).unwrap();
    let read: schema::Error = official(&spelt);
    let data = read.data.unwrap();
    assert_eq!(
        (i32::from(read.code), data["code"].as_str().unwrap()),
        wanted
    );
    assert_eq!(read.message, error.message);
    assert!(data["hint"].is_string(), "{spelt}");
}

#[test]
fn our_errors_are_what_the_official_type_takes() {
    let (place, methods) = place();
    let at = |name: &str| place.path().join(name);
    check(&methods, "s", &at("none.txt"), (-32002, "not_found"));
    check(&methods, "other", &at("a.txt"), (-32002, "not_found"));
    check(&methods, "s", &at("bytes"), (-32602, "not_text"));
    check(
        &methods,
        "s",
        Path::new("/etc/passwd"),
        (-32602, "outside_sandbox"),
    );
    check(&methods, "s", Path::new("a.txt"), (-32602, "invalid_path"));
}

#[test]
fn the_official_numbers_are_ours() {
    let number = |code: schema::ErrorCode| i32::from(code);
    assert_eq!(number(schema::ErrorCode::ResourceNotFound), -32002);
    assert_eq!(number(schema::ErrorCode::InvalidParams), -32602);
    assert_eq!(number(schema::ErrorCode::InternalError), -32603);
    assert_eq!(number(schema::ErrorCode::MethodNotFound), -32601);
    assert_eq!(number(schema::ErrorCode::RequestCancelled), -32800);
    let method = schema::CLIENT_METHOD_NAMES;
    assert_eq!(method.fs_read_text_file, "fs/read_text_file");
    assert_eq!(method.fs_write_text_file, "fs/write_text_file");
}

#[test]
fn a_bound_of_another_type_is_refused_where_the_official_type_reads_it() {
    // The official type takes these for no bound at all, or refuses them, depending on its version.
    for line in [json!("10"), json!(-1), json!(1.5), json!(4_294_967_296_u64)] {
        let params = json!({"sessionId": "s", "path": "/a", "line": line});
        let parsed = Request::parse("fs/read_text_file", &params.to_string()).unwrap();
        assert_eq!(parsed.unwrap_err().code, -32602, "{line}");
    }
    let parsed: Value = json!({"sessionId": "s", "path": "/a", "line": null, "limit": null});
    assert!(
        Request::parse("fs/read_text_file", &parsed.to_string())
            .unwrap()
            .is_ok()
    );
}
