//! The encoding of text that says nothing of it, by statistics.

use std::ops::ControlFlow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use crate::encoding::Encoding;
use crate::error::Result;
use crate::judge::Blocks;

/// How much of a text the statistics look at.
const SAMPLE_BYTES: usize = 16 * 1024;
/// Under so many bytes outside ASCII the statistics often take Chinese for another set.
const FEW_BYTES: usize = 24;
/// The first byte of the last of the common characters of GB2312, its level 1.
const LAST_COMMON_LEAD: u8 = 0xD7;
/// The first bytes of the kana, in EUC-JP and in GB2312.
const KANA_LEADS: [u8; 2] = [0xA4, 0xA5];
/// The 200 syllables that make up seven eighths of Korean text.
const COMMON_HANGUL: &str = "\
    가각간값개거건검결경계고공과구그기끝나내너는능니다단당대더데덱도동되된드들디때또\
    라래랜러럼레렉려력령로록료류르른를름리마만메면명모목못무문미바반방버번베변보복본\
    부분브블비사상색서선설성세션소속수스습시식실십아안않알았야어업없었에여연열오옵와\
    요용우원위유으은을음의이인일읽임입있자작잘장재저적전절접정제조주준줄중증지진참찾\
    처체최추출치칼커코크키타태터테템트파패퍼페포표프필하한할함합항해했행현형호화확환";

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
        if few && self.may_be_chinese(guess) && Encoding::GBK.decode(&self.bytes).is_ok() {
            return Encoding::GBK;
        }
        guess
    }

    /// Returns whether these few bytes may be Chinese where the statistics say `guess`: all pairs in
    /// the zone of GB2312, and nothing that speaks for the guess.
    fn may_be_chinese(&self, guess: Encoding) -> bool {
        let Some(pairs) = pairs(&self.bytes) else {
            return false;
        };
        let half = pairs.len().div_ceil(2);
        let count = |is: fn([u8; 2]) -> bool| pairs.iter().filter(|pair| is(**pair)).count();
        match guess.name() {
            // Rare characters alone are Cyrillic words.
            _ if guess.is_single_byte() => count(|[lead, _]| lead <= LAST_COMMON_LEAD) >= half,
            "euc-kr" => count(is_common_hangul) < half,
            "euc-jp" => count(|[lead, _]| KANA_LEADS.contains(&lead)) == 0,
            _ => false,
        }
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

/// Returns the pairs of bytes outside ASCII, if all such bytes are halves of pairs in the zone that
/// GB2312, EUC-JP and EUC-KR share.
fn pairs(bytes: &[u8]) -> Option<Vec<[u8; 2]>> {
    let in_zone = |byte: &u8| (0xA1..=0xFE).contains(byte);
    let mut pairs = Vec::new();
    let mut rest = bytes.iter();
    while let Some(lead) = rest.next() {
        if lead.is_ascii() {
            continue;
        }
        let trail = rest.next().filter(|trail| in_zone(trail))?;
        pairs.push([*lead, *trail]);
    }
    pairs.iter().all(|[lead, _]| in_zone(lead)).then_some(pairs)
}

fn is_common_hangul(pair: [u8; 2]) -> bool {
    let hangul = encoding_rs::EUC_KR.decode_without_bom_handling_and_without_replacement(&pair);
    hangul.is_some_and(|hangul| COMMON_HANGUL.contains(&*hangul))
}
