//! Slow, plain models: what is right, said without a line of the engines.

pub mod edits;
pub mod lines;
pub mod paths;
pub mod positions;
pub mod search;
