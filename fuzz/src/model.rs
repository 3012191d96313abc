//! The slow models of the tests.

#[path = "../../tests/src/model/edits.rs"]
pub(crate) mod edits;
#[path = "../../tests/src/model/lines.rs"]
#[expect(dead_code, reason = "a target needs a part of it")]
pub(crate) mod lines;
#[path = "../../tests/src/model/positions.rs"]
pub(crate) mod positions;
