//! One change to a file at a time.

/// Locks by (device, inode); clones share the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileLocks {}
