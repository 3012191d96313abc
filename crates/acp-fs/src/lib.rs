//! File methods of the Agent Client Protocol (`fs/read_text_file`, `fs/write_text_file`) over a
//! [`fs_sandbox::Workspace`].
//!
//! This page is all there is for now: the crate holds its place in the workspace, so that the
//! arrows between crates are checked from the first day. It exports nothing and has no binary.
