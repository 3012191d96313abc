//! Running a property: many random cases, the same ones on every run, shrunk when one fails.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Checks the property on `cases` random values.
#[track_caller]
pub fn check<S: Strategy>(
    cases: u32,
    values: &S,
    property: impl Fn(S::Value) -> Result<(), String>,
) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(values, |value| property(value).map_err(TestCaseError::fail));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Fails a property unless both are equal.
///
/// # Errors
/// Both values, in words.
pub fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    seen: &T,
    wanted: &T,
) -> Result<(), String> {
    if seen == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {seen:?} instead of {wanted:?}"))
    }
}
