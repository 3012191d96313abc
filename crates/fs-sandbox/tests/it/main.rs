//! The workspace from outside: cases, races and properties, each also where the kernel cannot open
//! beneath a directory in one call.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests set up trees by ambient path and fail by panicking"
)]

mod cases;
mod directories;
mod history;
mod interrupted;
mod limits;
mod model;
mod mounts;
mod policies;
mod properties;
mod races;
mod roots;
mod scopes;
mod searches;
mod support;
mod transfers;
mod witness;
