//! Failures of single edits, gathered: all or none.

use fs_core::{Error, Result};

/// Runs `check` on every item; fails as the lowest failing one, naming all that fail.
pub(crate) fn fail_on_any<I>(items: &[I], check: impl Fn(&I) -> Result<()>) -> Result<()> {
    gather(items.iter().map(check), |_, error| error).map(drop)
}

/// Returns the results in order, or the error of the lowest failing one, with the indices of all;
/// `explain` may say more about that error.
pub(crate) fn gather<T>(
    results: impl IntoIterator<Item = Result<T>>,
    explain: impl FnOnce(usize, Error) -> Error,
) -> Result<Vec<T>> {
    let mut good = Vec::new();
    let mut failing = Vec::new();
    let mut lowest = None;
    for (index, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => good.push(value),
            Err(error) => {
                failing.push(index);
                lowest.get_or_insert((index, error));
            }
        }
    }
    match lowest {
        Some((index, error)) => Err(explain(index, error).in_edit(index).with_failing(failing)),
        None => Ok(good),
    }
}
