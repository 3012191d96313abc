//! The page of tools, from what the server lists to its clients.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

const HEAD: &str = "\
# Tools

Made from what `tool-server --tools all tools --json` prints, by `cargo xtask docs`; change it in the code.
";

/// Returns the page for a list of tools as JSON.
pub(super) fn page(listed: &str) -> Result<String> {
    let listed: Value = serde_json::from_str(listed).context("the list of tools is no JSON")?;
    let tools = listed.get("tools").unwrap_or(&listed);
    let tools = tools.as_array().context("the list of tools is no array")?;
    let mut page = HEAD.to_owned();
    for tool in tools {
        section(&mut page, tool)?;
    }
    Ok(page)
}

fn section(page: &mut String, tool: &Value) -> Result<()> {
    let name = tool
        .get("name")
        .and_then(Value::as_str)
        .context("a tool has no name")?;
    let text = tool
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    writeln!(page, "\n## {name}\n\n{}\n", text.trim())?;
    let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    writeln!(
        page,
        "| parameter | type | default | what |\n|---|---|---|---|"
    )?;
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_required = |name: &String| required.contains(&name.as_str());
    let (first, rest): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(name, _)| is_required(name));
    for (name, property) in first.into_iter().chain(rest) {
        let default = match property.get("default") {
            _ if is_required(name) => "required".to_owned(),
            Some(value) => format!("`{value}`"),
            None => String::new(),
        };
        let what = property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let what = what.replace('|', "\\|").replace('\n', " ");
        writeln!(
            page,
            "| `{name}` | {} | {default} | {what} |",
            kind(property)
        )?;
    }
    Ok(())
}

/// Returns a parameter's type in words: its choices, its item's fields, or its JSON type.
fn kind(property: &Value) -> String {
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        return choices.join(" \\| ").replace('"', "");
    }
    if let Some(fields) = property
        .pointer("/items/properties")
        .and_then(Value::as_object)
    {
        let names: Vec<String> = fields.keys().map(|name| format!("`{name}`")).collect();
        return format!("array of {{{}}}", names.join(", "));
    }
    match property.get("type") {
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join(" \\| ")
        }
        Some(Value::String(kind)) => kind.clone(),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_becomes_a_section_with_its_parameters() {
        let listed = r#"[{"name": "files_read", "description": "Reads.", "inputSchema": {
            "properties": {
                "path": {"type": "string", "description": "Which | file"},
                "mode": {"enum": ["a", "b"], "default": "a"},
                "edits": {"type": "array", "items": {"properties": {"old": {}, "new": {}}}}
            }, "required": ["path"]}}]"#;
        let page = page(listed).unwrap();
        for line in [
            "## files_read",
            "| `path` | string | required | Which \\| file |",
            "| `mode` | `a` \\| `b` | `\"a\"` |  |",
        ] {
            assert!(page.contains(line), "{page}");
        }
        assert!(
            page.contains("array of {`new`, `old`}") || page.contains("array of {`old`, `new`}")
        );
    }
}
