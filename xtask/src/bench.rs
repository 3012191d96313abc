//! bench
use anyhow::Result;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Full,
    Quick,
}
pub(crate) fn run(_s: Scale) -> Result<()> {
    let _ = crate::setup::peers;
    let _ = crate::setup::RUST_MCP_FILESYSTEM;
    Ok(())
}
