use std::fs;

use fs_sandbox::{Rights, Workspace};

use super::*;

#[track_caller]
fn check_arguments(arguments: &[&str], expected: Result<Value, &str>) {
    let spec = ToolSet::All.specs().find(|spec| spec.name == "files_read");
    let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
    match (parse_arguments(spec, &arguments), expected) {
        (Ok(parsed), Ok(expected)) => assert_eq!(Value::from(parsed), expected),
        (Err(Failure::Usage(message)), Err(says)) => {
            assert!(message.contains(says), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_is_text_or_json_as_its_parameter_wants() {
    check_arguments(
        &["path=1=2", "limit=3", "version=true"],
        Ok(json!({"path": "1=2", "limit": 3, "version": true})),
    );
    check_arguments(&["limt=3"], Ok(json!({"limt": "3"})));
    check_arguments(&["limit=x"], Err("limit is no JSON"));
    check_arguments(&["path"], Err("ARG=VALUE"));
    check_arguments(&["path=a", "path=b"], Err("twice"));
}

#[test]
fn blocks_are_printed_from_the_start_of_a_line() {
    let check = |output: ToolOutput, expected: &str| assert_eq!(lines(output), expected);
    check(ToolOutput::new("a\n"), "a\n");
    check(ToolOutput::new("a"), "a\n");
    check(ToolOutput::new(""), "");
    check(ToolOutput::new("a").with_note("b"), "a\n[b]\n");
    check(
        ToolOutput::new("a\n").with_block("b").with_note("c"),
        "a\nb\n[c]\n",
    );
}

#[test]
fn the_schemas_of_every_set_stay_small() {
    for set in ToolSet::ALL {
        let described: Vec<Value> = set.specs().map(described).collect();
        let bytes = Value::from(described).to_string().len();
        assert!(bytes < 13_000, "{}: {bytes}", set.name());
    }
}

#[test]
fn a_failed_call_is_exit_code_1_and_an_unknown_tool_2() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "x\n").unwrap();
    let workspace = Workspace::builder().root("workspace", dir.path(), Rights::ALL);
    let toolbox = Toolbox::new(workspace.build().unwrap(), Settings::default());
    let call =
        |tool: &str, path: &str| call(&toolbox, tool, &[format!("path={path}")], Print::Text);
    assert!(
        matches!(call("files_read", "none"), Err(Failure::Failed(message))
        if message == "not_found: file not found: none\nlist the directory to see what is there")
    );
    assert!(
        matches!(call("files_raed", "a"), Err(Failure::Usage(message))
        if message.contains("files_read"))
    );
}

#[test]
fn the_overview_names_every_parameter() {
    let settings = Settings::default();
    let specs: Vec<&ToolSpec> = settings.specs().collect();
    let text = overview(&settings, &specs);
    for spec in specs {
        for param in spec.params {
            assert!(
                text.contains(&format!("    {} (", param.name)),
                "{}",
                param.name
            );
        }
    }
    assert!(text.contains("13 tools in set standard"), "{text}");
}
