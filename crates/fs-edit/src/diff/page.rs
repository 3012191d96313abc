//! As much of a diff as is shown.

use super::DiffOptions;

/// The diff so far, and what no longer went in.
#[derive(Debug)]
pub(super) struct Page<'a> {
    options: &'a DiffOptions,
    pub(super) text: String,
    lines: usize,
    /// How many lines of the hunk.
    pub(super) left_out: u64,
}

impl<'a> Page<'a> {
    /// Returns an empty page.
    pub(super) fn new(options: &'a DiffOptions) -> Self {
        Self {
            options,
            text: String::new(),
            lines: 0,
            left_out: 0,
        }
    }

    /// Returns whether something was left out.
    pub(super) fn is_full(&self) -> bool {
        self.left_out > 0
    }

    /// Returns whether so many lines more are within the caps.
    pub(super) fn has_room(&self, lines: usize) -> bool {
        self.lines + lines <= self.options.max_lines
    }

    /// Adds lines that are shown whatever the caps say.
    pub(super) fn head(&mut self, text: &str, lines: usize) {
        self.text.push_str(text);
        self.lines += lines;
    }

    /// Adds a row, unless it is over a cap.
    pub(super) fn row(&mut self, text: &str, lines: usize) {
        let fits = self.has_room(lines) && self.text.len() + text.len() <= self.options.max_bytes;
        if fits {
            self.head(text, lines);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns the text, with what was left out.
    pub(super) fn finish(mut self, hunks_left_out: u64) -> String {
        let lines = format!("{} more lines of this hunk", self.left_out);
        let hunks = format!("{hunks_left_out} more hunks");
        match (self.left_out, hunks_left_out) {
            (0, 0) => {}
            (_, 0) => self.text.extend(["[cut: ", &lines, "]\n"]),
            (0, _) => self.text.extend(["[cut: ", &hunks, "]\n"]),
            _ => self.text.extend(["[cut: ", &lines, ", ", &hunks, "]\n"]),
        }
        self.text
    }
}
