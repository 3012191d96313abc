//! diff

/// How much of a diff is shown.
#[derive(Debug, Clone)]
pub struct DiffOptions {
    /// Lines of context around a change.
    pub context: usize,
    /// The most lines.
    pub max_lines: usize,
    /// The most bytes.
    pub max_bytes: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            context: 3,
            max_lines: 200,
            max_bytes: 16 * 1024,
        }
    }
}
