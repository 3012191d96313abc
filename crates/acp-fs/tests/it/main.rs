//! The two methods as an editor embeds them.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests set up trees by ambient path"
)]

mod buffers;
mod place;
mod reads;
mod sessions;
mod writes;
