//! The first inputs of a target: the case files, in the form that it reads.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::shell;

/// Writes the seeds of `target` and returns how many there are.
///
/// # Errors
/// Fails when the cases cannot be read or the seeds not be written.
pub(super) fn write(target: &str, folder: &Path) -> Result<usize> {
    let cases = [cases("read")?, cases("edit")?, cases("sandbox")?].concat();
    let seeds: Vec<Vec<u8>> = cases
        .iter()
        .enumerate()
        .filter_map(|(number, case)| seed(target, number, case))
        .collect();
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    Ok(seeds.len())
}

fn cases(name: &str) -> Result<Vec<Value>> {
    let path = shell::root().join(format!("tests/corpus/{name}-cases.jsonl"));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let cases = text.lines().map(|line| Ok(serde_json::from_str(line)?));
    cases.collect()
}

/// Returns a case in the target's form; what stands first are its choices, as `fuzz/src` reads them.
fn seed(target: &str, number: usize, case: &Value) -> Option<Vec<u8>> {
    let request = case.get("request")?;
    let byte = u8::try_from(number % 251).unwrap_or(0);
    match target {
        "decode" => Some([&[byte, byte], file(case)?.as_slice()].concat()),
        "window" => Some([&[3, 2, byte], file(case)?.as_slice()].concat()),
        "plan" => plan(request, &file(case)?),
        "relpath" => Some(request.get("path")?.as_str()?.as_bytes().to_vec()),
        "mcp_arguments" => Some([&[byte, 0], request.to_string().as_bytes()].concat()),
        _ => None,
    }
}

fn file(case: &Value) -> Option<Vec<u8>> {
    let text = case.get("before_b64").or_else(|| case.get("file"))?;
    STANDARD.decode(text.as_str()?).ok()
}

/// Literal edits in `auto`, then the file.
fn plan(request: &Value, file: &[u8]) -> Option<Vec<u8>> {
    let edits = request.get("edits")?.as_array()?;
    let mut seed = vec![
        u8::try_from(edits.len().checked_sub(1)?)
            .ok()
            .filter(|more| *more < 4)?,
        7,
    ];
    for edit in edits {
        // Literal, and to be found once.
        seed.push(1 | 7 << 1);
        for field in ["old", "new"] {
            let text = edit.get(field)?.as_str()?.as_bytes();
            seed.push(u8::try_from(text.len()).ok()?);
            seed.extend(text);
        }
    }
    seed.extend(file);
    Some(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds() {
        let folder = tempfile::tempdir().unwrap();
        for target in super::super::TARGETS {
            let count = write(target, folder.path()).unwrap();
            assert!(count > 20, "{target}: {count}");
        }
    }

    #[test]
    fn an_edit_is_spelled_as_the_target_reads_it() {
        let request = serde_json::json!({"edits": [{"old": "ab", "new": "c"}]});
        let wanted = [0, 7, 15, 2, b'a', b'b', 1, b'c', b'X'];
        assert_eq!(plan(&request, b"X").unwrap(), wanted);
    }
}
