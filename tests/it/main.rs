//! One suite of properties and cases, run through every front end.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a suite fails by panicking"
)]

mod acp_bad_input;
mod acp_edit_cases;
mod acp_editor;
mod acp_ends;
mod acp_frames;
mod acp_official;
mod acp_order;
mod acp_passthrough;
mod acp_peers;
mod acp_roots;
mod acp_transcript;
mod bad_input;
mod bad_input_file;
mod bad_places;
mod bad_places_file;
mod bounds;
mod bounds_file;
mod cancel;
mod cases;
mod edit_cases;
mod edits;
mod encodings;
mod long_work;
mod paths;
mod promises;
mod race;
mod read_cases;
mod real_client;
mod roots;
mod same;
mod sandbox_cases;
mod searches;
mod stale;
mod switches;
mod transcripts;
mod undo;
mod vectors;
mod vectors_file;
mod windows;
mod writers;
