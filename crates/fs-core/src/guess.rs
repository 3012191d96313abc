//! The encoding of text that says nothing of it, by statistics.

use std::ops::ControlFlow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use crate::encoding::Encoding;
use crate::error::Result;
use crate::judge::Blocks;

/// How much of a text the statistics look at.
const SAMPLE_BYTES: usize = 16 * 1024;
/// Under so many bytes outside ASCII the statistics often take Chinese for a single-byte set.
const FEW_BYTES: usize = 24;
/// The first byte of the last of the common characters of GB2312, its level 1.
const LAST_COMMON_LEAD: u8 = 0xD7;

/// The first lines of a text that hold bytes outside ASCII.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    bytes: Vec<u8>,
    line: Vec<u8>,
}

impl Sample {
    pub(crate) fn of(blocks: &mut dyn Blocks) -> Result<Self> {
        let mut sample = Self::default();
        blocks.each(&mut |block| sample.push(block))?;
        sample.end_line();
        Ok(sample)
    }

    /// Returns the likeliest encoding; whether the text fits it is still to be seen.
    pub(crate) fn guess(&self) -> Encoding {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(&self.bytes, true);
        let guess = Encoding::from_whatwg(detector.guess(None, Utf8Detection::Deny));
        let few = self.bytes.iter().filter(|byte| !byte.is_ascii()).count() < FEW_BYTES;
        if few && guess.is_single_byte() && is_gb2312(&self.bytes) {
            return Encoding::GBK;
        }
        guess
    }

    fn push(&mut self, block: &[u8]) -> ControlFlow<()> {
        for line in block.split_inclusive(|byte| *byte == b'\n') {
            let mut rest = line;
            while !rest.is_empty() {
                let room = SAMPLE_BYTES - self.line.len();
                let (taken, left) = rest.split_at(room.min(rest.len()));
                self.line.extend_from_slice(taken);
                rest = left;
                if self.line.len() == SAMPLE_BYTES || self.line.ends_with(b"\n") {
                    self.end_line();
                }
            }
            if self.bytes.len() == SAMPLE_BYTES {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn end_line(&mut self) {
        if !self.line.is_ascii() {
            let room = SAMPLE_BYTES - self.bytes.len();
            let taken = self.line.get(..room).unwrap_or(&self.line);
            self.bytes.extend_from_slice(taken);
        }
        self.line.clear();
    }
}

/// Returns whether every byte outside ASCII is half of a pair in the zone of GB2312, and at least
/// half of the pairs are signs or common characters: rare ones alone are Cyrillic words.
fn is_gb2312(bytes: &[u8]) -> bool {
    let in_zone = |byte: &u8| (0xA1..=0xFE).contains(byte);
    let (mut pairs, mut common) = (0_usize, 0_usize);
    let mut rest = bytes.iter();
    while let Some(lead) = rest.next() {
        if lead.is_ascii() {
            continue;
        }
        if !in_zone(lead) || !rest.next().is_some_and(in_zone) {
            return false;
        }
        pairs += 1;
        common += usize::from(*lead <= LAST_COMMON_LEAD);
    }
    2 * common >= pairs && Encoding::GBK.decode(bytes).is_ok()
}
