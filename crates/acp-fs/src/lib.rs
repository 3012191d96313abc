//! acp-fs
