//! The pure plan.

use fs_core::{Patch, Result, TextFormat};

use crate::diff::DiffOptions;
use crate::request::Request;

/// The checked result of a request.
#[derive(Debug, Clone)]
pub struct Plan {
    patch: Patch,
    format: Option<TextFormat>,
    replacements: u64,
    lines_changed: u64,
}

impl Plan {
    /// Returns the change as keep-ranges and new bytes.
    pub fn patch(&self) -> &Patch {
        &self.patch
    }
    /// Returns the source's format; `None` when it is opaque.
    pub fn format(&self) -> Option<TextFormat> {
        self.format
    }
    /// Returns how many matches are replaced; 1 for a positional change.
    pub fn replacements(&self) -> u64 {
        self.replacements
    }
    /// Returns how many lines of the result are new or changed, plus those removed without substitute.
    pub fn lines_changed(&self) -> u64 {
        self.lines_changed
    }
    /// Returns the unified diff against `source`, cut at the options' caps; `name` heads it.
    pub fn diff(&self, _source: &[u8], _name: &str, _options: &DiffOptions) -> String {
        todo!()
    }
}

/// Returns the plan of `request` for a file that holds `source`. Pure.
pub fn plan(_source: &[u8], _request: &Request) -> Result<Plan> {
    todo!()
}
