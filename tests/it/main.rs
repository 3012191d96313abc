//! One suite of properties and cases, run through every front end.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a suite fails by panicking"
)]

mod bad_input;
mod bad_places;
mod bounds;
mod cancel;
mod cases;
mod edit_cases;
mod edits;
mod encodings;
mod paths;
mod promises;
mod race;
mod read_cases;
mod real_client;
mod roots;
mod same;
mod sandbox_cases;
mod transcripts;
mod vectors;
mod windows;
