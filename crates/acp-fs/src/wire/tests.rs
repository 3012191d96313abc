use serde_json::json;

use super::*;

#[track_caller]
fn check(params: &str, wanted: Result<(Option<u32>, Option<u32>), &str>) {
    let parsed = Request::parse(READ_TEXT_FILE, params).unwrap();
    let seen = match &parsed {
        Ok(Request::Read(read)) => Ok((read.line, read.limit)),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err((error.code, error.data["field"].as_str().unwrap())),
    };
    assert_eq!(seen, wanted.map_err(|field| (-32602, field)), "{params}");
}

/// Checks what a read with this line and limit is.
#[track_caller]
fn check_counts(line: &str, limit: &str, wanted: Result<(Option<u32>, Option<u32>), &str>) {
    let params =
        format!(r#"{{"sessionId":"s","path":"/a","line":{line},"limit":{limit},"_meta":{{}}}}"#);
    check(&params, wanted);
}

#[test]
fn lines_are_whole_numbers_that_fit_or_refused() {
    check_counts("null", "null", Ok((None, None)));
    check_counts("0", "0", Ok((Some(0), Some(0))));
    check_counts("10.0", "1e1", Ok((Some(10), Some(10))));
    check_counts(
        "4294967295",
        "4294967295.0",
        Ok((Some(u32::MAX), Some(u32::MAX))),
    );
    for wrong in [
        "-1",
        "1.5",
        "4294967296",
        "1e300",
        "\"10\"",
        "true",
        "[1]",
        "{}",
    ] {
        check_counts(wrong, "1", Err("line"));
        check_counts("1", wrong, Err("limit"));
    }
}

#[test]
fn missing_and_mistyped_fields_are_named() {
    check("{}", Err("sessionId"));
    check(r#"{"sessionId":"s"}"#, Err("path"));
    check(r#"{"sessionId":null,"path":"/a"}"#, Err("sessionId"));
    check(r#"{"sessionId":1,"path":"/a"}"#, Err("sessionId"));
    check(r#"{"sessionId":"s","path":["/a"]}"#, Err("path"));
    check(r#"["s","/a"]"#, Err("params"));
    check("null", Err("params"));
    let write = Request::parse(WRITE_TEXT_FILE, r#"{"sessionId":"s","path":"/a"}"#).unwrap();
    assert_eq!(write.unwrap_err().data["field"], "content");
    assert!(Request::parse("fs/readTextFile", "{}").is_none());
}

#[test]
fn an_agent_may_say_that_it_has_turned_breaks() {
    for (meta, wanted) in [
        ("{\"lineEnding\":\"crlf\"}", true),
        ("{\"lineEnding\":\"lf\"}", false),
        ("{\"lineEnding\":1}", false),
        ("null", false),
    ] {
        let params = format!(r#"{{"sessionId":"s","path":"/a","content":"","_meta":{meta}}}"#);
        match Request::parse(WRITE_TEXT_FILE, &params).unwrap() {
            Ok(Request::Write(write)) => assert_eq!(write.turned_breaks, wanted, "{meta}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_surrogate_without_its_other_half_is_no_text() {
    let params = r#"{"sessionId":"s","path":"/a","content":"\ud800"}"#;
    let error = Request::parse(WRITE_TEXT_FILE, params).unwrap();
    let error = error.unwrap_err();
    assert_eq!(
        (error.code, error.stable_code()),
        (-32602, "invalid_argument")
    );
    assert!(error.message.contains("surrogate"), "{error}");
}

#[test]
fn a_write_answers_an_object_or_null() {
    let saved = Reply::Saved(Saved {
        before: None,
        after: None,
        to: Source::Disk,
        is_merged: false,
        entry: None,
        mending: None,
        parted_links: 0,
        warnings: Vec::new(),
        place: None,
    });
    assert_eq!(saved.to_json(NullResult::No), "{}");
    assert_eq!(saved.to_json(NullResult::Yes), "null");
}

#[test]
fn what_is_not_plain_of_a_write_is_said() {
    let saved = Reply::Saved(Saved {
        before: None,
        after: None,
        to: Source::Buffer,
        is_merged: true,
        entry: None,
        mending: None,
        parted_links: 0,
        warnings: vec!["w".to_owned()],
        place: None,
    });
    let said = r#"{"_meta":{"postern/facts":{"merged":true,"warnings":["w"]}}}"#;
    assert_eq!(saved.to_json(NullResult::No), said);
}

#[test]
fn each_kind_of_problem_has_its_number() {
    let number = |problem: Problem| RpcError::from(Error::from(problem)).code;
    assert_eq!(number(Problem::NotFound), -32002);
    assert_eq!(number(Problem::Cancelled), -32800);
    assert_eq!(number(Problem::PermissionDenied), -32603);
    assert_eq!(number(std::io::Error::other("x").into()), -32603);
    assert_eq!(number(Problem::OutsideSandbox), -32602);
    assert_eq!(number(Problem::Conflict), -32602);
}

#[test]
fn an_error_is_whole_in_words_and_in_data() {
    let error = Error::from(Problem::NotFound).at("/srv/a\nb");
    let spelt = serde_json::to_value(RpcError::from(error)).unwrap();
    let wanted = json!({
        "code": -32002,
        "message": "Resource not found: /srv/a\\nb (ENOENT: no such file or directory)",
        "data": {
            "code": "not_found",
            "path": "/srv/a\nb",
            "hint": "check the path, or write the file to create it",
        },
    });
    assert_eq!(spelt, wanted);
}
