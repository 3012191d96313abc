//! Random texts, encodings, ranges, caps and block sizes.

use proptest::prelude::*;

use super::model::{self, Model};
use super::*;
use crate::problem::Problem;

/// How a text lies in a file.
#[derive(Debug, Clone, Copy)]
struct Form {
    encoding: Encoding,
    bom: &'static [u8],
}

const FORMS: [(&str, &[u8]); 8] = [
    ("utf-8", b""),
    ("utf-8", b"\xEF\xBB\xBF"),
    ("utf-16le", b"\xFF\xFE"),
    ("utf-16be", b"\xFE\xFF"),
    ("utf-16le", b""),
    ("gb18030", b""),
    ("shift_jis", b""),
    ("iso-2022-jp", b""),
];

fn forms() -> impl Strategy<Value = Form> {
    (0..FORMS.len()).prop_map(|at| Form {
        encoding: Encoding::for_label(FORMS[at].0).unwrap(),
        bom: FORMS[at].1,
    })
}

/// Characters that all forms have; U+4E0A and U+0A00 hold the byte 0x0A in UTF-16.
fn texts() -> impl Strategy<Value = String> {
    let characters = prop_oneof![
        4 => Just("a"),
        3 => Just("\n"),
        2 => Just("\r\n"),
        1 => Just("\r"),
        1 => Just("上"),
        2 => Just("中"),
        1 => Just("б"),
        1 => Just("long line of words "),
    ];
    prop::collection::vec(characters, 0..60).prop_map(|pieces| pieces.concat())
}

fn ranges() -> impl Strategy<Value = LineRange> {
    let limit = prop::option::of(0_u64..12);
    prop_oneof![
        Just(LineRange::All),
        (1_u64..20, 1_u64..6, limit).prop_map(|(line, column, limit)| from(line, column, limit)),
        (0_u64..20).prop_map(|count| LineRange::Tail { count }),
    ]
}

prop_compose! {
    fn requests()(
        range in ranges(),
        max_bytes in prop::option::of(0_u64..80),
        max_line_chars in prop::option::of(1_u64..30),
    ) -> ReadOptions {
        ReadOptions { range, max_bytes, max_line_chars, ..ReadOptions::default() }
    }
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let block = (4_usize..40).prop_map(|half| 2 * half);
    prop_oneof![
        Just(Sizes::DEFAULT),
        block.clone().prop_map(small_blocks),
        block.prop_map(all_large),
    ]
}

fn bytes_of(text: &str, form: Form) -> Vec<u8> {
    let mut bytes = form.bom.to_vec();
    bytes.extend(form.encoding.encode(text).unwrap());
    bytes
}

/// Checks a window against the model, and its error if it has one.
fn check(window: &Result<Window>, text: &str, options: &ReadOptions, form: Form) {
    let line_bytes = |line: &str| line_len(line, form.encoding);
    match (window, model::window(text, options, &line_bytes)) {
        (Ok(window), Ok(model)) => {
            let mut actual = Model::of_window(window);
            if actual.first_line.is_none() {
                actual.first_line = model.first_line.filter(|_| window.total_lines.is_none());
            }
            assert_eq!(actual, model);
            let total = model::split(text).len() as u64;
            assert!(window.total_lines.is_none_or(|lines| lines == total));
            assert_eq!(window.format.bom, !form.bom.is_empty());
        }
        (Err(error), Err(last)) => {
            let Problem::OutOfRange {
                what: "column",
                last: actual,
                ..
            } = error.problem()
            else {
                panic!("{error:?}");
            };
            assert_eq!(*actual, last);
        }
        (window, model) => panic!("{window:?}\n{model:?}"),
    }
}

fn line_len(line: &str, encoding: Encoding) -> u64 {
    encoding.encode(line).unwrap().len() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_window_of_a_file_is_the_models(
        text in texts(),
        form in forms(),
        request in requests(),
        sizes in sizes(),
        number_lines in any::<bool>(),
    ) {
        let options = ReadOptions { encoding: Some(form.encoding), number_lines, ..request };
        let file = file_of(&bytes_of(&text, form));
        let window = read_file(&file, &options, None, sizes);
        check(&window, &text, &options, form);
        if let Ok(window) = window && sizes.whole > 0 {
            assert_eq!(window.total_lines, Some(model::split(&text).len() as u64));
        }
    }

    #[test]
    fn a_window_of_a_buffer_is_the_models(
        text in texts(),
        options in requests(),
        block in 8_usize..40,
    ) {
        let window = read_text(&text, &options, small_blocks(block));
        let form = Form { encoding: Encoding::UTF_8, bom: b"" };
        check(&window, &text, &options, form);
    }

    #[test]
    fn windows_one_after_another_are_the_file(
        text in texts(),
        form in forms(),
        limit in prop::option::of(1_u64..5),
        max_bytes in prop::option::of(0_u64..40),
        sizes in sizes(),
    ) {
        let file = file_of(&bytes_of(&text, form));
        let mut joined = String::new();
        let mut place = (1, 1);
        loop {
            let options = ReadOptions {
                range: from(place.0, place.1, limit),
                encoding: Some(form.encoding),
                max_bytes,
                ..ReadOptions::default()
            };
            let window = read_file(&file, &options, None, sizes).unwrap();
            joined.push_str(&window.text);
            assert_eq!(window.eof, window.next.is_none());
            let Some(next) = window.next else { break };
            assert!((next.line, next.column) > place);
            place = (next.line, next.column);
        }
        assert_eq!(joined, text);
    }

    #[test]
    fn the_columns_of_cut_lines_lead_to_the_rest(
        text in texts(),
        max_line_chars in 1_u64..8,
        block in 8_usize..40,
    ) {
        let mut joined = String::new();
        let mut place = Some((1, 1));
        while let Some((line, column)) = place {
            let options = ReadOptions {
                range: from(line, column, Some(1)),
                max_line_chars: Some(max_line_chars),
                ..ReadOptions::default()
            };
            let window = read_text(&text, &options, small_blocks(block)).unwrap();
            joined.push_str(&window.text);
            let cut = window.cut_lines.first().map(|cut| (cut.line, cut.next_column));
            place = cut.or(window.next.map(|next| (next.line, next.column)));
        }
        assert_eq!(joined, text);
    }

    #[test]
    fn lossy_windows_are_what_the_standard_library_shows(
        pieces in prop::collection::vec(
            prop_oneof![
                Just(&b"\n"[..]), Just("中文字".as_bytes()), Just(&b"\xE4\xB8"[..]),
                Just(&b"\xFF"[..]), Just(&b"\xF0\x9F"[..]), Just(&b"\xC0\x80"[..]),
                Just(&b"ascii"[..]),
            ],
            0..30,
        ),
        block in 8_usize..40,
    ) {
        // Enough valid characters for the rule of 10 to 1.
        let mut bytes = pieces.concat();
        bytes.extend("\n".bytes().chain("中".repeat(700).bytes()));
        let lossy = ReadOptions { lossy: true, ..ReadOptions::default() };
        let window = read_file(&file_of(&bytes), &lossy, None, small_blocks(2 * block)).unwrap();
        assert_eq!(window.text, String::from_utf8_lossy(&bytes));
        let bad = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
        assert_eq!(window.invalid_bytes, bad.count() as u64);
    }
}
