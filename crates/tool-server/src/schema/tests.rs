use super::*;

const ITEM: &[Param] = &[
    Param::text("old", "").required(),
    Param::optional(
        "count",
        Kind::Integer {
            default: Some(1),
            min: -1,
            max: 9,
        },
        "",
    ),
];
const PARAMS: &[Param] = &[
    Param::text("path", "").required(),
    Param::count("limit", 100, ""),
    Param::flag("diff", ""),
    Param::choice("mode", &["overwrite", "append"], ""),
    Param::word("links", &["break", "refuse"], ""),
    Param::optional("edits", Kind::Objects(ITEM), ""),
];

fn args(given: Value) -> Result<Args, ToolError> {
    let Value::Object(given) = given else {
        panic!("an object")
    };
    Args::check("tool", PARAMS, given)
}

/// Checks the refusal of `given`: the field, and what the message says.
#[track_caller]
fn check_refused(given: Value, field: &str, says: &str) {
    let error = args(given).unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
    assert_eq!(error.field("field"), Some(&json!(field)));
    assert!(error.to_string().contains(says), "{error}");
}

#[track_caller]
fn check_limit(given: &Value, expected: Option<u64>, clamped: &[&str]) {
    let args = args(json!({"path": "a", "limit": given})).unwrap();
    assert_eq!(args.positive("limit"), expected);
    assert_eq!(args.clamped(), clamped);
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    check_refused(
        json!({"path": "a", "lmit": 3}),
        "lmit",
        "did you mean \"limit\"? tool takes path, limit, diff, mode, links, edits",
    );
    check_refused(json!({"file_path": "a"}), "file_path", "\"path\"?");
    check_refused(
        json!({"path": "a", "zzzzzz": 1}),
        "zzzzzz",
        "no such argument; tool takes",
    );
    let error = args(json!({"path": "a", "Limit": 3})).unwrap_err();
    assert_eq!(error.field("nearest"), Some(&json!("limit")));
    assert_eq!(error.field("accepted").unwrap()[0], "path");
}

#[test]
fn a_wrong_type_is_refused_by_its_field() {
    check_refused(json!({"path": 5}), "path", "a string, not a number");
    check_refused(
        json!({"path": "a", "limit": "3"}),
        "limit",
        "a whole number, not a string",
    );
    check_refused(json!({"path": "a", "limit": 1.5}), "limit", "not 1.5");
    check_refused(json!({"path": "a", "diff": 1}), "diff", "true or false");
    check_refused(
        json!({"path": "a", "edits": {}}),
        "edits",
        "a list of objects",
    );
    check_refused(json!({"path": "a", "edits": []}), "edits", "at least one");
    check_refused(
        json!({"path": "a", "edits": ["x"]}),
        "edits[0]",
        "an object, not a string",
    );
    check_refused(
        json!({"path": "a", "mode": "Append"}),
        "mode",
        "overwrite, append",
    );
    check_refused(
        json!({"path": "a", "mode": null, "limit": []}),
        "limit",
        "not a list",
    );
}

#[test]
fn what_is_missing_is_named() {
    check_refused(json!({}), "path", "missing");
    check_refused(json!({"path": null}), "path", "missing");
    check_refused(
        json!({"path": "a", "edits": [{"old": "x"}, {}]}),
        "edits[1].old",
        "missing",
    );
}

#[test]
fn an_item_is_checked_like_a_call() {
    check_refused(
        json!({"path": "a", "edits": [{"old": "x", "old_text": "y"}]}),
        "edits[0].old_text",
        "did you mean \"old\"? each item takes old, count",
    );
    check_refused(
        json!({"path": "a", "edits": [{"old": "x", "count": -2}]}),
        "edits[0].count",
        "-1",
    );
    let mut args = args(json!({"path": "a", "edits": [{"old": "x", "count": 10}]})).unwrap();
    assert_eq!(args.clamped(), ["edits[0].count 10 clamped to 9"]);
    let items = args.take_objects("edits");
    assert_eq!(items[0].text("old"), Some("x"));
    assert_eq!(items[0].integer("count"), Some(9));
}

#[test]
fn whole_numbers_come_in_many_spellings() {
    check_limit(&json!(10), Some(10), &[]);
    check_limit(&json!(10.0), Some(10), &[]);
    check_limit(&json!(1e30), Some(100), &["limit 1e+30 clamped to 100"]);
    check_limit(
        &json!(u64::MAX),
        Some(100),
        &["limit 18446744073709551615 clamped to 100"],
    );
    check_limit(&json!(101), Some(100), &["limit 101 clamped to 100"]);
    check_limit(&json!(-0.0), None, &[]);
    check_limit(&json!(0), None, &[]);
    check_limit(&Value::Null, None, &[]);
}

#[test]
fn a_number_below_its_smallest_value_is_refused() {
    check_refused(
        json!({"path": "a", "limit": -3}),
        "limit",
        "at least 0, not -3",
    );
    check_refused(
        json!({"path": "a", "limit": -1e30}),
        "limit",
        "at least 0, not -1e+30",
    );
}

#[test]
fn absent_arguments_have_their_defaults() {
    let args = args(json!({"path": "a", "mode": null, "links": null})).unwrap();
    assert_eq!(args.text("path"), Some("a"));
    assert_eq!(args.choice("mode"), "overwrite");
    assert_eq!(args.choice("links"), "");
    assert!(!args.flag("diff"));
    assert_eq!(args.integer("limit"), None);
}

#[test]
fn the_schema_says_what_the_check_does() {
    let schema = Value::from(object_schema(PARAMS));
    assert_eq!(schema["required"], json!(["path"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let limit = json!({"type": "integer", "minimum": 0, "maximum": 100});
    assert_eq!(schema["properties"]["limit"], limit);
    let mode = json!({"type": "string", "enum": ["overwrite", "append"], "default": "overwrite"});
    assert_eq!(schema["properties"]["mode"], mode);
    let item = &schema["properties"]["edits"]["items"];
    assert_eq!(item["properties"]["count"]["default"], json!(1));
    assert_eq!(item["required"], json!(["old"]));
}
