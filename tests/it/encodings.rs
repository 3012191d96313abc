//! Encodings against tables that the engines do not use: the standard library's UTF-16, and for the
//! legacy sets bytes that the generator made.

use fs_core::Encoding;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use tests::property::{check, equal};
use tests::{Edit, FrontEnd, Mode, Op, Openat2, Read, Settings, World, Write};

tests::suite!(
    a_file_reads_as_its_text,
    an_overwrite_keeps_encoding_and_mark,
    an_append_keeps_what_was_there,
    an_edit_leaves_the_other_bytes,
    what_cannot_be_encoded_is_refused,
);
tests::suite!(
    [acp]
    a_file_reads_as_its_text,
    an_overwrite_keeps_encoding_and_mark,
    what_cannot_be_encoded_is_refused,
);

/// The labels with a set of characters that each of them holds.
const LEGACY: [(&str, &str); 7] = [
    ("gb18030", "中文测试编码行 abc,:-"),
    ("big5", "中文測試編碼行 abc,:-"),
    ("shift_jis", "日本語テスト文字 abc,:-"),
    ("euc-jp", "日本語テスト文字 abc,:-"),
    ("euc-kr", "한국어시험문자 abc,:-"),
    ("windows-1252", "äöüßéèñç abc,:-"),
    ("koi8-r", "русскийтекст abc,:-"),
];

/// How a text is on the disk, and whether its encoding has to be declared.
#[derive(Debug, Clone)]
struct Form {
    label: &'static str,
    mark: &'static [u8],
    declared: bool,
    letters: Vec<char>,
}

fn forms() -> impl Strategy<Value = Form> {
    let any_letters = || {
        "aé中😀\u{4e0a}\u{0a0a}\u{2028}z "
            .chars()
            .collect::<Vec<_>>()
    };
    let mut all = vec![
        Form {
            label: "utf-8",
            mark: b"",
            declared: false,
            letters: any_letters(),
        },
        Form {
            label: "utf-8",
            mark: b"\xef\xbb\xbf",
            declared: false,
            letters: any_letters(),
        },
        Form {
            label: "utf-16le",
            mark: b"\xff\xfe",
            declared: false,
            letters: any_letters(),
        },
        Form {
            label: "utf-16be",
            mark: b"\xfe\xff",
            declared: false,
            letters: any_letters(),
        },
        Form {
            label: "utf-16le",
            mark: b"",
            declared: true,
            letters: any_letters(),
        },
        Form {
            label: "utf-16be",
            mark: b"",
            declared: true,
            letters: any_letters(),
        },
    ];
    all.extend(LEGACY.map(|(label, letters)| Form {
        label,
        mark: b"",
        declared: true,
        letters: letters.chars().collect(),
    }));
    select(all)
}

/// A form and some lines of its letters, all with the same break.
fn values() -> impl Strategy<Value = (Form, Vec<String>, bool)> {
    (forms(), any::<bool>()).prop_flat_map(|(form, crlf)| {
        let line = vec(select(form.letters.clone()), 0..12).prop_map(String::from_iter);
        vec(line, 1..6).prop_map(move |lines| (form.clone(), lines, crlf))
    })
}

fn joined(lines: &[String], crlf: bool) -> String {
    let end = if crlf { "\r\n" } else { "\n" };
    lines.iter().flat_map(|line| [line, end]).collect()
}

fn encode(form: &Form, text: &str) -> Vec<u8> {
    let mut bytes = form.mark.to_vec();
    match form.label {
        "utf-8" => bytes.extend(text.as_bytes()),
        "utf-16le" => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        "utf-16be" => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        label => {
            let set = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
            let (legacy, _, lost) = set.encode(text);
            assert!(!lost, "{label} holds {text:?}");
            bytes.extend(legacy.as_ref());
        }
    }
    bytes
}

fn declared(form: &Form) -> Option<String> {
    form.declared.then(|| form.label.to_owned())
}

/// A front end, once for each encoding that its operator declares where no call can.
struct Fronts<F>(Vec<(Option<String>, F)>);

impl<F: FrontEnd> Fronts<F> {
    fn start(world: &World) -> Self {
        let declared = Read {
            encoding: Some("gbk".to_owned()),
            ..Read::whole("f")
        };
        let mut fallbacks = vec![None];
        if F::lacks(&Op::Read(declared)).is_some() {
            let labels = LEGACY.iter().map(|(label, _)| *label);
            fallbacks.extend(labels.map(Some));
        }
        let start = |fallback: Option<&str>| {
            let fallback = fallback.map(str::to_owned);
            let settings = Settings {
                fallback: fallback.clone(),
                ..world.settings()
            };
            (fallback, F::start(&settings))
        };
        Self(fallbacks.into_iter().map(start).collect())
    }

    /// Returns the front end for a form, and what a call has to declare.
    fn of(&self, form: &Form) -> (&F, Option<String>) {
        let declared = form.declared.then(|| form.label.to_owned());
        let fitting = self.0.iter().find(|(fallback, _)| *fallback == declared);
        match (fitting, self.0.as_slice()) {
            (Some((Some(_), front)), _) => (front, None),
            (_, [(_, front), ..]) => (front, declared),
            (_, []) => panic!("no front end"),
        }
    }

    /// Whether an operator's word is outweighed: bytes are as good UTF-8, or UTF-16 without a mark.
    fn takes_otherwise(&self, form: &Form, bytes: &[u8]) -> bool {
        let is_wide = form.label.starts_with("utf-16");
        let is_other = is_wide || std::str::from_utf8(bytes).is_ok();
        self.0.len() > 1 && form.declared && is_other
    }
}

fn cases<F: FrontEnd>(engines: u32) -> u32 {
    if F::NAME == "engines" {
        engines
    } else {
        engines / 5
    }
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn a_file_reads_as_its_text<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let fronts = Fronts::<F>::start(world);
        check(cases::<F>(1000), &values(), |(form, lines, crlf)| {
            let text = joined(&lines, crlf);
            let bytes = encode(&form, &text);
            if fronts.takes_otherwise(&form, &bytes) {
                return Ok(());
            }
            world.put("root/f", &bytes);
            let (front, encoding) = fronts.of(&form);
            let read = Read {
                encoding,
                ..Read::whole("f")
            };
            let answer = front.call(&Op::Read(read));
            equal("the text", &answer.shown(), &text)?;
            equal(
                "encoding",
                &answer.done().facts["encoding"],
                &form.label.into(),
            )?;
            equal(
                "bom",
                &answer.done().facts["bom"],
                &(!form.mark.is_empty()).into(),
            )?;
            let encoding = Encoding::for_label(form.label).unwrap();
            let body = &bytes[form.mark.len()..];
            equal("decoded", &encoding.decode(body).unwrap(), &text)?;
            equal(
                "encoded again",
                &show(&encoding.encode(&text).unwrap()),
                &show(body),
            )
        });
    });
}

fn an_overwrite_keeps_encoding_and_mark<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let fronts = Fronts::<F>::start(world);
        check(
            cases::<F>(500),
            &(values(), any::<bool>()),
            |((form, lines, crlf), less)| {
                let text = joined(&lines, crlf);
                let bytes = encode(&form, &text);
                if fronts.takes_otherwise(&form, &bytes) {
                    return Ok(());
                }
                world.put("root/f", bytes);
                let new = if less {
                    lines[0].clone()
                } else {
                    format!("{text}{}", lines[0])
                };
                let (front, encoding) = fronts.of(&form);
                let write = Write {
                    encoding,
                    ..Write::over("f", &new)
                };
                let answer = front.call(&Op::Write(write));
                equal("the code", &answer.code(), &"ok")?;
                equal(
                    "the file",
                    &show(&world.get("root/f")),
                    &show(&encode(&form, &new)),
                )
            },
        );
    });
}

fn an_append_keeps_what_was_there<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let front = F::start(&world.settings());
        check(cases::<F>(500), &values(), |(form, lines, crlf)| {
            let text = joined(&lines, crlf);
            world.put("root/f", encode(&form, &text));
            let write = Write {
                encoding: declared(&form),
                ..Write::in_mode("f", &lines[0], Mode::Append)
            };
            let answer = front.call(&Op::Write(write));
            equal("the code", &answer.code(), &"ok")?;
            let wanted = encode(&form, &format!("{text}{}", lines[0]));
            equal("the file", &show(&world.get("root/f")), &show(&wanted))
        });
    });
}

fn an_edit_leaves_the_other_bytes<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let front = F::start(&world.settings());
        check(cases::<F>(500), &values(), |(form, lines, crlf)| {
            let letter = form.letters[0];
            let text = format!("{}KEY={letter}\n", joined(&lines, crlf));
            world.put("root/f", encode(&form, &text));
            let mut edit = Edit::once(
                "f",
                &format!("KEY={letter}"),
                &format!("KEY={letter}{letter}"),
            );
            edit.encoding = declared(&form);
            let answer = front.call(&Op::Edit(edit));
            equal("the code", &answer.code(), &"ok")?;
            let wanted = encode(&form, &text.replace("KEY=", &format!("KEY={letter}")));
            equal("the file", &show(&world.get("root/f")), &show(&wanted))
        });
    });
}

fn what_cannot_be_encoded_is_refused<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let fronts = Fronts::<F>::start(world);
        for (label, letters) in LEGACY.iter().filter(|(label, _)| *label != "gb18030") {
            let form = Form {
                label,
                mark: b"",
                declared: true,
                letters: letters.chars().collect(),
            };
            let bytes = encode(&form, &format!("{letters}\n"));
            world.put("root/f", &bytes);
            let text = "line\nab\u{1f600}";
            let (front, encoding) = fronts.of(&form);
            let write = Write {
                encoding,
                ..Write::over("f", text)
            };
            let answer = front.call(&Op::Write(write));
            assert_eq!(answer.code(), "unencodable", "{label}");
            let fields = &answer.refusal().fields;
            assert_eq!(
                (fields["char"].as_str(), &fields["line"], &fields["column"]),
                (Some("U+1F600"), &2.into(), &3.into())
            );
            assert_eq!(world.get("root/f"), bytes, "{label}");
        }
    });
}
