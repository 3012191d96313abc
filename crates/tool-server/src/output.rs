//! What a successful call answers: text for a model, facts for a program.

use serde_json::{Map, Value};

/// The answer of a call.
///
/// The first block is the exact text (a window of a file, a listing, or one line about a change).
/// Further blocks are there only when there is something to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    text: String,
    further: Vec<String>,
    notes: Vec<String>,
    facts: Map<String, Value>,
}

impl ToolOutput {
    /// Returns an answer whose first block is `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Returns the answer with one more block.
    #[must_use]
    pub fn with_block(mut self, block: impl Into<String>) -> Self {
        self.further.push(block.into());
        self
    }

    /// Returns the answer with one more line in its last block, in brackets.
    #[must_use]
    pub fn with_note(mut self, note: impl AsRef<str>) -> Self {
        self.notes.push(format!("[{}]", note.as_ref()));
        self
    }

    /// Returns the answer with a note that joins `words`; without one when there are none.
    #[must_use]
    pub fn with_words(self, words: &[String]) -> Self {
        if words.is_empty() {
            self
        } else {
            self.with_note(words.join(", "))
        }
    }

    /// Returns the answer with one more fact.
    #[must_use]
    pub fn with_fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the answer with one more fact, or as it is when there is none.
    #[must_use]
    pub fn with_known(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with_fact(name, value),
            None => self,
        }
    }

    /// Returns the exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the facts: counts, positions, encoding, version, diff.
    pub fn facts(&self) -> &Map<String, Value> {
        &self.facts
    }

    /// Returns the blocks after the first, what is to be noted last.
    pub fn further(&self) -> Vec<String> {
        let mut blocks = self.further.clone();
        if !self.notes.is_empty() {
            blocks.push(self.notes.join("\n"));
        }
        blocks
    }

    /// Returns the exact text, the further blocks and the facts.
    pub fn into_parts(self) -> (String, Vec<String>, Map<String, Value>) {
        let further = self.further();
        (self.text, further, self.facts)
    }
}
