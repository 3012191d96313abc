use fs_core::Content;

use super::*;

/// Returns the chunks of `text`, spelt in a set, in blocks of 16 bytes.
fn chunks_of(text: &str, label: &str) -> Vec<Vec<u8>> {
    let encoding = Encoding::for_label(label).unwrap();
    let bytes = encoding.encode(text).unwrap();
    let content = Content::in_blocks(&bytes, 16);
    let body = Body::new(&content, 0, Some(encoding)).unwrap();
    let reading = Reading {
        decoded_as: Some(encoding),
        form: Form::Collapsed,
    };
    let mut chunks = Chunks::new(&body, &(0..body.len()), reading);
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().unwrap() {
        all.push(chunk.raw.into_owned());
    }
    assert_eq!(all.concat(), bytes, "{label}");
    all
}

#[test]
fn no_run_makes_a_chunk_longer_than_a_block() {
    for label in [
        "utf-8",
        "utf-16le",
        "utf-16be",
        "gb18030",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
    ] {
        for run in ["\r", "\n", "\r\n", "a", "中"] {
            let chunks = chunks_of(&run.repeat(200), label);
            let longest = chunks.iter().map(Vec::len).max();
            assert!(longest <= Some(16 + AHEAD_BYTES), "{label}: {run:?}");
            for pair in chunks.windows(2) {
                let encoding = Encoding::for_label(label).unwrap();
                let [left, right] = [&pair[0], &pair[1]].map(|raw| encoding.decode(raw));
                if let (Ok(left), Ok(right)) = (left, right) {
                    assert!(
                        !(left.ends_with('\r') && right.starts_with('\n')),
                        "{label}"
                    );
                }
            }
        }
    }
}
