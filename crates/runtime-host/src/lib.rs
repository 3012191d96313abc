//! FileRef grants over HTTP: a plugin's page holds opaque handles, its worker process receives the
//! real paths behind them.
//!
//! This page is all there is for now: the crate holds its place in the workspace, so that the
//! arrows between crates are checked from the first day. It exports nothing and has no binary.
