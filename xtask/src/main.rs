//! How the project is worked on.
fn main() {}
