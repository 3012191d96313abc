//! Tests of the crate as a whole: the shared cases, the contract against a slow model, and the
//! corners that neither reaches.

mod blocks;
mod cases;
mod contract;
mod merging;
mod model;
mod properties;
