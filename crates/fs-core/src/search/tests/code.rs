//! Definitions.

use super::*;
use crate::definition::DefinitionKind;

fn defined(name: &str) -> Query {
    Query {
        target: Target::Definitions,
        ..query(name)
    }
}

const SOURCES: [(&str, &[u8]); 5] = [
    ("a.rs", b"// open_file is called below\r\npub(crate) async fn open_file() {}\r\nfn main(){ open_file(); }\r\n"),
    ("b.go", b"func (s *Srv) open_file() {}\n"),
    ("c.txt", b"fn open_file() {}\n"),
    ("d/e.py", b"import open_file\nx = open_file()\n"),
    ("d/f.py", b"class A:\n    def open_file(self):\n        pass\n"),
];

#[test]
fn calls_comments_and_other_texts_define_nothing() {
    let expected = [
        "a.rs:2:pub(crate) async fn open_file() {}",
        "b.go:1:func (s *Srv) open_file() {}",
        "d/f.py:2:    def open_file(self):",
    ];
    check(&SOURCES, &defined("open_file"), &expected);
    check(&SOURCES, &defined("open_fil"), &[]);
    let found = found(&tree(&SOURCES), &defined("open_file"));
    let lines = found.blocks.iter().flat_map(|block| &block.lines);
    let lines: Vec<_> = lines.map(|line| (line.column, line.defines)).collect();
    let kinds = [
        DefinitionKind::Function,
        DefinitionKind::Method,
        DefinitionKind::Method,
    ];
    assert_eq!(
        lines,
        [
            (Some(21), Some(kinds[0])),
            (Some(15), Some(kinds[1])),
            (Some(9), Some(kinds[2]))
        ]
    );
    assert_eq!(found.files, 4);
}

#[test]
fn context_and_caps_hold_for_definitions_too() {
    let context = Query {
        context_lines: 1,
        max_results: 2,
        ..defined("open_file")
    };
    let expected = [
        "a.rs-1-// open_file is called below",
        "a.rs:2:pub(crate) async fn open_file() {}",
        "a.rs-3-fn main(){ open_file(); }",
        "b.go:1:func (s *Srv) open_file() {}",
    ];
    check(&SOURCES, &context, &expected);
    assert_eq!(found(&tree(&SOURCES), &context).cut, Some(Cut::Results));
    let glob = Query {
        file_glob: Some("*.py".to_owned()),
        ..defined("open_file")
    };
    check(&SOURCES, &glob, &["d/f.py:2:    def open_file(self):"]);
}

#[test]
fn definitions_are_found_in_other_encodings() {
    let text =
        "# 这是一个用来测试的文件，里面有一些中文。\ndef 打开(): pass\ndef open_file(): pass\n";
    let bytes = Encoding::GB18030.encode(text).unwrap();
    check(
        &[("a.py", &bytes)],
        &defined("open_file"),
        &["a.py:3:def open_file(): pass"],
    );
    check(
        &[("a.py", &bytes)],
        &defined("打开"),
        &["a.py:2:def 打开(): pass"],
    );
}

#[test]
fn a_name_has_no_blank() {
    let folder = tree(&[]);
    let refused = search(
        &open(folder.path()),
        &RelPath::root(),
        &defined("a b"),
        &Everything,
    );
    assert!(refused.unwrap_err().to_string().contains("query"));
}

#[test]
fn a_huge_source_is_told_if_it_holds_the_name() {
    let text = "x = 1\n".repeat(800_000);
    let with = format!("{text}def open_file(): pass\n");
    let folder = tree(&[("a.py", text.as_bytes()), ("b.py", with.as_bytes())]);
    let found = found(&folder, &defined("open_file"));
    assert_eq!((found.hits, skips(&found)), (0, vec![("too_large", 1)]));
}
