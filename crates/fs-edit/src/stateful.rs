//! The set in which new bytes may change how their neighbours read.

use fs_core::{Encoding, Problem, Result};

use crate::document::Document;
use crate::splice::Splice;

impl Document<'_> {
    /// Returns whether a splice on the edges of characters may still spoil its neighbours:
    /// ISO-2022-JP switches sets by escapes.
    pub(crate) fn is_stateful(&self) -> bool {
        self.encoding().map(Encoding::name) == Some("iso-2022-jp")
    }
}

/// Checks that `result` decodes to the source's characters with the new text in its places.
///
/// # Errors
/// `encoding_unknown`: the edit falls into a run that cannot be cut there.
pub(crate) fn check_reads_back(
    document: &Document<'_>,
    splices: &[Splice],
    result: &[u8],
) -> Result<()> {
    let Some(encoding) = document.encoding() else {
        return Ok(());
    };
    let result = result.get(document.bom_bytes()..).unwrap_or_default();
    let read = encoding.decode(result).unwrap_or_default();
    if read == expected(document, encoding, splices) {
        return Ok(());
    }
    Err(Problem::EncodingUnknown.into())
}

fn expected(document: &Document<'_>, encoding: Encoding, splices: &[Splice]) -> String {
    let mut pending = splices.iter().peekable();
    let mut text = String::new();
    let mut gone_until = 0;
    for character in encoding.chars(document.text()) {
        let start = character.bytes.start;
        while let Some(splice) = pending.next_if(|splice| splice.range.start <= start) {
            text.push_str(&splice.text);
            gone_until = gone_until.max(splice.range.end);
        }
        if start >= gone_until {
            text.push(character.character);
        }
    }
    text.extend(pending.map(|splice| splice.text.as_str()));
    text
}
