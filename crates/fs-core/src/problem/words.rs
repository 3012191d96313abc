//! Parts of what is said of a problem.

/// Returns what a file looks like, in words.
pub(super) fn guessed(guess: Option<&str>) -> String {
    guess.map_or_else(String::new, |guess| format!(": it looks like {guess}"))
}

/// Returns where matches stand, in words: the lines that are known, and how many more there are.
pub(super) fn places(found: u64, lines: &[u64]) -> Option<String> {
    let more = found.saturating_sub(lines.len() as u64);
    let known: Vec<_> = lines.iter().map(u64::to_string).collect();
    let known = known.join(", ");
    match (lines.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("at lines {known}")),
        (false, more) => Some(format!("at lines {known} and {more} more")),
    }
}
