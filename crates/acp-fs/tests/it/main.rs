//! The two methods as an editor embeds them.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests set up trees by ambient path and fail by panicking"
)]

mod buffers;
mod place;
mod reads;
mod sessions;
mod writes;
