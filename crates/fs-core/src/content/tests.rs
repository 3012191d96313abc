use super::*;
use crate::detect;
use crate::patch::Patch;
use crate::version::Version;

/// Texts in every kind of encoding, with every kind of break, whole and spoilt.
fn samples() -> Vec<Vec<u8>> {
    let text = "a\r\nb中文é😀\nc\r\r\n\rd\n";
    let utf16 = |units: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{FEFF}ab\r\nc\n\u{A00}\r😀"
            .encode_utf16()
            .flat_map(units)
            .collect()
    };
    let gbk = Encoding::GBK.encode("你好\r\n世界中文\r\n").unwrap();
    let jis = Encoding::for_label("iso-2022-jp").unwrap();
    vec![
        Vec::new(),
        b"\n".to_vec(),
        b"a\r\nb\r\n".to_vec(),
        text.as_bytes().to_vec(),
        [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        [text.as_bytes(), b"\xE4"].concat(),
        [text.repeat(9).as_bytes(), b"\xFF"].concat(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
        utf16(u16::to_le_bytes)[2..].to_vec(),
        [&utf16(u16::to_le_bytes), &b"\0"[..]].concat(),
        gbk.clone(),
        [gbk, b"\xFF\n".to_vec()].concat(),
        jis.encode("日本\r\n語\n").unwrap(),
        b"\0\0\x01".to_vec(),
    ]
}

#[test]
fn what_is_found_does_not_hang_on_the_blocks() {
    let jis = Encoding::for_label("iso-2022-jp").unwrap();
    for bytes in samples() {
        for declared in [
            None,
            Some(Encoding::GBK),
            Some(jis),
            Some(Encoding::UTF_16LE),
        ] {
            let whole = format!("{:?}", detect(&bytes, declared, Fallback::Auto));
            for block_bytes in [1, 2, 3, 5, 64] {
                let content = Content::in_blocks(&bytes, block_bytes);
                let found = format!("{:?}", content.detect(declared, Fallback::Auto));
                assert_eq!(found, whole, "{bytes:?} in blocks of {block_bytes}");
            }
        }
        for encoding in [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE] {
            for block_bytes in [1, 2, 3, 5, 64] {
                let content = Content::in_blocks(&bytes, block_bytes);
                // A pass that judges counts the line feeds too: what it knows makes no difference.
                for _ in 0..2 {
                    let eol = content.eol(0..content.len(), encoding).unwrap();
                    assert_eq!(eol, Eol::of(&bytes, encoding));
                    let unit = encoding.unit_bytes();
                    for start in (0..=bytes.len()).step_by(unit) {
                        for end in (start..=bytes.len()).step_by(unit) {
                            let range = start as u64..end as u64;
                            let feeds = content.count_feeds(range, encoding).unwrap();
                            let expected = Unit::of(encoding).count(&bytes[start..end]);
                            assert_eq!(feeds, expected, "{bytes:?} in {start}..{end}");
                        }
                    }
                    drop(content.detect(None, Fallback::None));
                }
            }
        }
    }
}

#[test]
fn a_file_reads_as_its_bytes_do_and_conflicts_once_it_is_shorter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let bytes: Vec<u8> = (0..3 * BLOCK_BYTES + 17)
        .map(|at| u8::try_from(at % 251).unwrap())
        .collect();
    std::fs::write(&path, &bytes).unwrap();
    let file = File::from_std(std::fs::File::open(&path).unwrap());
    let content = Content::of_file(&file, bytes.len() as u64, &Cancel::default());
    let mut seen = Vec::new();
    content
        .each(5..content.len(), &mut |block| {
            seen.extend_from_slice(block);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, bytes[5..]);
    let start = BLOCK_BYTES as u64 - 2;
    assert_eq!(
        *content.read(start..start + 9).unwrap(),
        bytes[BLOCK_BYTES - 2..][..9]
    );
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(9)
        .unwrap();
    let short = content.each(0..content.len(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(short.unwrap_err().code(), "conflict");
    assert_eq!(content.read(5..10).unwrap_err().code(), "conflict");
}

#[test]
fn a_cancelled_content_is_read_no_further() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, vec![b'a'; 3 * BLOCK_BYTES]).unwrap();
    let file = File::from_std(std::fs::File::open(&path).unwrap());
    let cancel = Cancel::default();
    let content = Content::of_file(&file, 3 * BLOCK_BYTES as u64, &cancel);
    let mut blocks = 0;
    let read = content.each(0..content.len(), &mut |_| {
        blocks += 1;
        cancel.cancel();
        ControlFlow::Continue(())
    });
    assert_eq!((read.unwrap_err().code(), blocks), ("cancelled", 1));
}

#[test]
fn lines_are_those_of_the_bytes() {
    let utf16 = |text: &str| Encoding::UTF_16LE.encode(text).unwrap();
    let texts = ["", "\n", "a", "a\r\nb\n\r\n\u{A00}\r\u{D0A}\rc", "a\nb\r\n"];
    let samples = texts.iter().flat_map(|text| {
        [
            (text.as_bytes().to_vec(), Encoding::UTF_8),
            (utf16(text), Encoding::UTF_16LE),
        ]
    });
    for (bytes, encoding) in samples {
        let lines = crate::Lines::new(&bytes, encoding);
        let in_blocks = [1, 2, 3, 5, 64].map(|size| Content::in_blocks(&bytes, size));
        for content in in_blocks.into_iter().chain([Content::of_bytes(&bytes)]) {
            assert_eq!(content.count_lines(0, encoding).unwrap(), lines.count());
            for line in 0..8 {
                let start = content.line_start(0, line, encoding).unwrap();
                let start = start.filter(|start| *start < content.len());
                let seen = start.map(|start| {
                    let end = content.line_end(start, encoding).unwrap();
                    [start, end.start, end.end].map(|at| usize::try_from(at).unwrap())
                });
                let span = lines.get(line);
                let expected = span.map(|span| [span.start, span.text_end, span.end]);
                assert_eq!(seen, expected, "{bytes:?}, line {line}");
            }
        }
    }
}

#[test]
fn a_patch_is_compared_and_hashed_without_its_result() {
    let source = b"aaaa-bbbb-cccc";
    let patches = [
        Patch::splice(14, []),
        Patch::splice(14, [(0..4, b"aaaa".to_vec())]),
        Patch::splice(14, [(0..1, Vec::new()), (4..4, b"a".to_vec())]),
        Patch::splice(14, [(5..6, b"x".to_vec())]),
        Patch::splice(14, [(0..1, Vec::new()), (14..14, b"c".to_vec())]),
        Patch::splice(14, [(14..14, b"more".to_vec())]),
        Patch::whole(b"aaaa-bbbb-cccc".to_vec()),
        Patch::whole(b"aaa".to_vec()),
    ];
    for patch in patches {
        let result = patch.apply(source);
        for block_bytes in [1, 3, 64] {
            let content = Content::in_blocks(source, block_bytes);
            assert_eq!(content.is_unchanged_by(&patch).unwrap(), result == source);
            let version = content.version_after(&patch).unwrap();
            assert_eq!(version, Version::of_bytes(&result));
        }
    }
}
