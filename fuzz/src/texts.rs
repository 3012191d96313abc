//! Bytes as text, and windows of it.

use cap_std::fs::File;
use fs_core::{Encoding, Fallback, LineRange, Next, ReadOptions, Window, read_window, window_of};
use rustix::fs::MemfdFlags;

use crate::input::Input;
use crate::model::lines;

/// Steps after which windows of so small a file must have come to its end.
const STEPS: usize = 200_000;

/// Labels that stand for the kinds of encodings there are.
const LABELS: [&str; 12] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "gbk",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "iso-2022-jp",
    "windows-1252",
    "koi8-r",
];

/// What is decoded is spelled by its characters, one after the other; what is encoded again decodes to
/// the same text, and in UTF-8 and UTF-16 to the same bytes.
pub fn decode(data: &[u8]) {
    let mut input = Input::new(data);
    let (choice, label) = (input.byte(), label(input.byte()));
    let bytes = input.rest();
    let declared = (choice & 1 != 0).then_some(label);
    let fallback = match choice >> 1 & 3 {
        0 => Fallback::None,
        1 => Fallback::Encoding(label),
        _ => Fallback::Auto,
    };
    if let Ok(found) = fs_core::detect(bytes, declared, fallback)
        && let Some(encoding) = found.encoding()
    {
        let text = encoding.decode(&bytes[found.bom_bytes..]);
        assert!(
            text.is_ok(),
            "detected as {} and cannot be read",
            encoding.name()
        );
    }
    let Ok(text) = label.decode(bytes) else {
        return;
    };
    let mut end = 0;
    let mut spelled = String::new();
    for each in label.chars(bytes) {
        assert!(
            each.bytes.start == end || each.bytes.end == end,
            "a gap before {each:?}"
        );
        end = each.bytes.end;
        spelled.push(each.character);
    }
    assert_eq!(spelled, text);
    check_again(label, bytes, &text);
    check_window(
        bytes,
        &ReadOptions {
            encoding: declared,
            fallback,
            lossy: choice & 8 != 0,
            ..ReadOptions::default()
        },
    );
}

fn check_again(encoding: Encoding, bytes: &[u8], text: &str) {
    let Ok(again) = encoding.encode(text) else {
        assert_ne!(encoding, Encoding::UTF_8);
        return;
    };
    assert_eq!(encoding.decode(&again).as_deref().ok(), Some(text));
    let exact = [Encoding::UTF_8, Encoding::UTF_16LE, Encoding::UTF_16BE];
    if exact.contains(&encoding) {
        assert_eq!(again, bytes);
    }
}

/// A window of the whole, whatever it is, is no panic and says the file's size.
fn check_window(bytes: &[u8], options: &ReadOptions) {
    if let Ok(window) = read_window(&file_of(bytes), options, None) {
        assert_eq!(window.size, bytes.len() as u64);
        assert!(window.eof && window.next.is_none());
    }
}

fn label(byte: u8) -> Encoding {
    let label = LABELS[usize::from(byte) % LABELS.len()];
    Encoding::for_label(label).unwrap_or(Encoding::UTF_8)
}

/// Windows one after the other are the file, a tail is its last lines, and a text in memory has the
/// same windows as a file.
pub fn window(data: &[u8]) {
    let mut input = Input::new(data);
    let (limit, count) = (u64::from(input.byte() % 9), u64::from(input.byte()));
    let max_bytes = input.byte();
    let max_bytes = (max_bytes > 0).then_some(u64::from(max_bytes));
    let bytes = input.rest();
    let options = ReadOptions {
        max_bytes,
        ..ReadOptions::default()
    };
    let file = file_of(bytes);
    let Ok(whole) = read_window(&file, &ReadOptions::default(), None) else {
        assert!(std::str::from_utf8(bytes).is_err() || bytes.contains(&0));
        return;
    };
    let text = whole.text;
    let total = lines::lines(&text).len() as u64;
    assert_eq!(whole.total_lines, Some(total));
    let limit = (limit > 0).then_some(limit);
    let of_file = |options: &ReadOptions| read_window(&file, options, None);
    assert_eq!(joined(&of_file, limit, &options), text, "of the file");
    let of_text = |options: &ReadOptions| window_of(&text, options);
    assert_eq!(joined(&of_text, limit, &options), text, "of the text");
    let tail = ReadOptions {
        range: LineRange::Tail { count },
        number_lines: true,
        ..ReadOptions::default()
    };
    let tail = of_file(&tail).unwrap_or_else(|error| panic!("a tail: {error}"));
    assert_eq!(tail.text, lines::tail(&text, count));
    assert_eq!(tail.returned_lines, total.min(count));
}

/// Reads from the start, goes on where each window says, and joins what comes.
fn joined(
    read: &dyn Fn(&ReadOptions) -> fs_core::Result<Window>,
    limit: Option<u64>,
    options: &ReadOptions,
) -> String {
    let mut text = String::new();
    let mut at = Next { line: 1, column: 1 };
    for _ in 0..STEPS {
        let range = LineRange::From {
            line: at.line,
            column: at.column,
            limit,
        };
        let window = read(&ReadOptions {
            range,
            ..options.clone()
        });
        let window = window.unwrap_or_else(|error| panic!("a window at {at:?}: {error}"));
        text.push_str(&window.text);
        let Some(next) = window.next else {
            assert!(window.eof);
            return text;
        };
        assert!(
            (next.line, next.column) > (at.line, at.column),
            "stuck at {next:?}"
        );
        at = next;
    }
    panic!("windows without an end");
}

/// Returns a file in memory that holds `bytes`.
fn file_of(bytes: &[u8]) -> File {
    let file = rustix::fs::memfd_create("fuzz", MemfdFlags::CLOEXEC);
    let mut file = File::from(file.unwrap_or_else(|error| panic!("no memory: {error}")));
    let written = std::io::Write::write_all(&mut file, bytes);
    written.unwrap_or_else(|error| panic!("no memory: {error}"));
    file
}
