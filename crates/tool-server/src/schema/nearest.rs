//! The name that a caller may have meant.

/// Returns the name of `names` that `name` was most likely meant to be, if any is near.
///
/// ```
/// # use tool_server::schema::nearest;
/// assert_eq!(nearest("file_path", ["limit", "path"]), Some("path"));
/// assert_eq!(nearest("lmit", ["limit", "path"]), Some("limit"));
/// assert_eq!(nearest("colour", ["limit", "path"]), None);
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let far = name.chars().count().max(2) / 2;
    let distance = |other: &str| {
        if name.contains(other) {
            0
        } else {
            strsim::osa_distance(&name, other)
        }
    };
    names
        .into_iter()
        .map(|other| (distance(other), other))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, other)| (*distance, usize::MAX - other.len()))
        .map(|(_, other)| other)
}
