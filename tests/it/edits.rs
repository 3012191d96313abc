//! Edits against a quadratic model over tokens.

use fs_core::Fallback;
use fs_edit::{Edit as Replacement, EolMode, Positional, Request, Target, plan};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use tests::model::edits::{Charset, apply};
use tests::model::lines;
use tests::model::positions::apply_position;
use tests::property::{check, equal};
use tests::{Answer, Edit, FrontEnd, Mode, Op, Openat2, World, Write};

tests::suite!(
    an_edit_is_what_the_model_says,
    a_change_by_position_is_what_the_model_says,
    an_edit_undone_by_its_inverse_leaves_the_bytes;
    [engines, mcp]
    an_insertion_is_of_whole_lines,
    the_order_of_edits_is_nothing,
);

const PIECES: [&str; 19] = [
    "a", "b", "c", "d", "e", "f", "aa", "aaa", "\n", "\n", "\n\n", "\r\n", "\r\n", "\r", " ", "\t",
    "é", "e\u{301}", "中😀",
];
/// How many of them, from the first on, are ASCII.
const ASCII_PIECES: usize = 16;

#[derive(Debug, Clone)]
struct Case {
    source: Vec<u8>,
    charset: Charset,
    edits: Vec<Replacement>,
    eol: EolMode,
}

fn words(charset: Charset, count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let all = if charset == Charset::Opaque {
        ASCII_PIECES
    } else {
        PIECES.len()
    };
    vec(select(&PIECES[..all]), count).prop_map(|pieces| pieces.concat())
}

fn charsets() -> impl Strategy<Value = (Charset, bool)> {
    let charset = prop_oneof![
        4 => Just(Charset::Utf8),
        1 => Just(Charset::Utf16Le),
        1 => Just(Charset::Utf16Be),
        2 => Just(Charset::Opaque),
    ];
    (charset, any::<bool>())
}

fn eols() -> impl Strategy<Value = EolMode> {
    prop_oneof![6 => Just(EolMode::Auto), 1 => Just(EolMode::Exact), 1 => Just(EolMode::Lf), 1 => Just(EolMode::CrLf)]
}

/// An edit whose `old` is cut from the text most of the time.
fn edits(charset: Charset, text: &str) -> impl Strategy<Value = Replacement> + use<> {
    let chars: Vec<char> = text.chars().collect();
    let cut = (any::<Index>(), 1..9_usize).prop_map(move |(start, len)| {
        let start = start.index(chars.len().max(1));
        chars.iter().skip(start).take(len).collect::<String>()
    });
    let old = prop_oneof![12 => cut, 2 => words(charset, 1..4), 1 => words(Charset::Utf8, 0..3)];
    let new = prop_oneof![12 => words(charset, 0..5), 1 => words(Charset::Utf8, 0..5)];
    let count = prop_oneof![24 => Just(1), 6 => Just(-1), 3 => Just(2), 1 => Just(3), 1 => Just(0), 1 => Just(-2)];
    (old, new, count).prop_map(|(old, new, expected_count)| Replacement {
        old,
        new,
        expected_count,
    })
}

fn case(
    text: &str,
    (charset, bom): (Charset, bool),
    junk: (Index, u8),
) -> impl Strategy<Value = Case> + use<> {
    let source = encode(text, charset, bom, junk);
    (
        prop_oneof![
            vec(edits(charset, text), 1),
            vec(edits(charset, text), 1..4)
        ],
        eols(),
    )
        .prop_map(move |(edits, eol)| Case {
            source: source.clone(),
            charset,
            edits,
            eol,
        })
}

fn case_values() -> impl Strategy<Value = Case> {
    let junk = (any::<Index>(), 0x80..=0xff_u8);
    (charsets(), junk).prop_flat_map(|(charset, junk)| {
        words(charset.0, 0..40).prop_flat_map(move |text| case(&text, charset, junk))
    })
}

/// The text's bytes; for an unknown encoding with a byte in it that is never UTF-8.
fn encode(text: &str, charset: Charset, bom: bool, (place, byte): (Index, u8)) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    match charset {
        Charset::Utf8 if bom => marked.into_bytes(),
        Charset::Utf8 => text.as_bytes().to_vec(),
        Charset::Utf16Le => marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Charset::Utf16Be => marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Charset::Opaque => {
            let mut bytes = text.as_bytes().to_vec();
            bytes.insert(place.index(bytes.len() + 1), byte);
            bytes.push(0xfd);
            bytes
        }
    }
}

fn call<F: FrontEnd>(
    world: &World,
    front: &F,
    case: &Case,
    edits: &[Replacement],
) -> (Answer, Vec<u8>) {
    world.put("root/f", &case.source);
    let answer = front.call(&op(case, edits));
    (answer, world.get("root/f"))
}

fn op(case: &Case, edits: &[Replacement]) -> Op {
    Op::Edit(Edit {
        eol: case.eol,
        ..Edit::to("f", Target::Text(edits.to_vec()))
    })
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn start<F: FrontEnd>(world: &World) -> F {
    let mut settings = world.settings();
    settings.fallback = Some("none".to_owned());
    F::start(&settings)
}

fn cases<F: FrontEnd>(engines: u32) -> u32 {
    if F::NAME == "engines" {
        engines
    } else {
        engines / 5
    }
}

fn an_edit_is_what_the_model_says<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let front = start::<F>(world);
        check(cases::<F>(3000), &case_values(), |case| {
            if F::lacks(&op(&case, &case.edits)).is_some() {
                return Ok(());
            }
            let (answer, after) = call(world, &front, &case, &case.edits);
            match apply(&case.source, case.charset, &case.edits, case.eol) {
                Ok(wanted) => {
                    equal("the code", &answer.code(), &"ok")?;
                    equal("the bytes", &show(&after), &show(&wanted))
                }
                Err(no) => {
                    equal("the code", &answer.code(), &no.code)?;
                    equal("the bytes", &show(&after), &show(&case.source))?;
                    let fields = &answer.refusal().fields;
                    let same = |name: &str, wanted: Option<serde_json::Value>| match wanted {
                        Some(wanted) => equal(name, &fields[name], &wanted),
                        None => Ok(()),
                    };
                    // A schema refuses such a number and names the field instead.
                    let by_index = case.edits.len() > 1 && no.code != "invalid_argument";
                    same("edit", no.edit.filter(|_| by_index).map(Into::into))?;
                    same("found", no.found.map(Into::into))?;
                    same("lines", no.lines.map(Into::into))
                }
            }
        });
    });
}

/// The pure plan, without a file.
#[test]
fn a_plan_is_what_the_model_says() {
    check(20_000, &case_values(), |case| {
        let request = Request {
            target: Target::Text(case.edits.clone()),
            eol: case.eol,
            encoding: None,
            fallback: Fallback::None,
        };
        let planned = plan(&case.source, &request);
        let planned = planned.map(|plan| show(&plan.patch().apply(&case.source)));
        let wanted = apply(&case.source, case.charset, &case.edits, case.eol);
        let planned = planned.map_err(|error| error.code());
        equal(
            "the plan",
            &planned,
            &wanted.map(|bytes| show(&bytes)).map_err(|no| no.code),
        )
    });
}

fn positions() -> impl Strategy<Value = Positional> {
    let at = || 0..7_u64;
    (0..3, at(), at(), at(), at(), words(Charset::Utf8, 0..4)).prop_map(
        |(kind, line, column, end_line, end_column, text)| match kind {
            0 => Positional::Insert { line, column, text },
            1 => Positional::ReplaceLine { line, text },
            _ => Positional::ReplaceRange {
                line,
                column,
                end_line,
                end_column,
                text,
            },
        },
    )
}

/// A file and a change of it by position.
fn position_values() -> impl Strategy<Value = (Vec<u8>, Charset, Positional, EolMode)> {
    let junk = (any::<Index>(), Just(0xfe));
    let text = words(Charset::Utf8, 0..12);
    (text, charsets(), positions(), eols(), junk).prop_map(
        |(text, (charset, bom), position, eol, junk)| {
            let charset = match charset {
                Charset::Opaque => Charset::Utf8,
                charset => charset,
            };
            (encode(&text, charset, bom, junk), charset, position, eol)
        },
    )
}

/// The pure plan, without a file.
#[test]
fn a_plan_by_position_is_what_the_model_says() {
    check(
        20_000,
        &position_values(),
        |(source, charset, position, eol)| {
            let request = Request {
                target: Target::Position(position.clone()),
                eol,
                encoding: None,
                fallback: Fallback::None,
            };
            let planned = plan(&source, &request);
            let planned = planned.map(|plan| show(&plan.patch().apply(&source)));
            let wanted = apply_position(&source, charset, &position, eol);
            equal(
                "the plan",
                &planned.map_err(|error| error.code()),
                &wanted.map(|bytes| show(&bytes)).map_err(|no| no.code),
            )
        },
    );
}

fn a_change_by_position_is_what_the_model_says<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let front = start::<F>(world);
        check(
            cases::<F>(1500),
            &position_values(),
            |(source, charset, position, eol)| {
                world.put("root/f", &source);
                let edit = Edit {
                    eol,
                    ..Edit::to("f", Target::Position(position.clone()))
                };
                let answer = front.call(&Op::Edit(edit));
                let wanted = apply_position(&source, charset, &position, eol);
                let code = wanted.as_ref().map_or_else(|no| no.code, |_| "ok");
                equal("the code", &answer.code(), &code)?;
                let wanted = wanted.unwrap_or(source);
                equal("the bytes", &show(&world.get("root/f")), &show(&wanted))
            },
        );
    });
}

/// `files_write` in the mode `insert`: lines go in before a line, with the breaks of the place.
fn an_insertion_is_of_whole_lines<F: FrontEnd>() {
    let values = (
        words(Charset::Utf8, 0..12),
        words(Charset::Utf8, 0..5),
        1..9_u64,
    );
    World::in_memory(Openat2::Open, |world| {
        let front = start::<F>(world);
        check(cases::<F>(1500), &values, |(source, text, line)| {
            if lines::style(&source) == "none" && lines::style(&text) == "mixed" {
                return Ok(()); // Neither the place nor the text has one style.
            }
            if text.trim_end_matches('\n').ends_with('\r') {
                return Ok(()); // Nobody says what a break makes of a CR before it.
            }
            world.put("root/f", &source);
            let answer = front.call(&Op::Write(Write::in_mode("f", &text, Mode::Insert(line))));
            let wanted = lines::insert(&source, line, &text);
            let code = if wanted.is_some() {
                "ok"
            } else {
                "out_of_range"
            };
            equal("the code", &answer.code(), &code)?;
            let wanted = wanted.unwrap_or(source);
            equal(
                "the file",
                &show(&world.get("root/f")),
                &show(wanted.as_bytes()),
            )
        });
    });
}

fn the_order_of_edits_is_nothing<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let front = start::<F>(world);
        check(cases::<F>(600), &case_values(), |case| {
            let (answer, after) = call(world, &front, &case, &case.edits);
            let turned: Vec<_> = case.edits.iter().rev().cloned().collect();
            let (other, other_after) = call(world, &front, &case, &turned);
            equal("the bytes", &show(&other_after), &show(&after))?;
            equal(
                "whether it succeeds",
                &(other.code() == "ok"),
                &(answer.code() == "ok"),
            )
        });
    });
}

/// A fresh word in a text of one break style goes in and comes out again without a trace.
fn an_edit_undone_by_its_inverse_leaves_the_bytes<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        let front = start::<F>(world);
        check(cases::<F>(600), &case_values(), |case| {
            let fresh = Replacement {
                new: "FRESH".to_owned(),
                expected_count: 1,
                ..case.edits[0].clone()
            };
            let (answer, after) = call(world, &front, &case, std::slice::from_ref(&fresh));
            if answer.code() != "ok" || fresh.old.contains('\n') {
                return Ok(());
            }
            let back = Replacement {
                old: fresh.new,
                new: fresh.old,
                expected_count: 1,
            };
            let there = Case {
                source: after,
                ..case.clone()
            };
            let (answer, after) = call(world, &front, &there, &[back]);
            equal("the code", &answer.code(), &"ok")?;
            equal("the bytes", &show(&after), &show(&case.source))
        });
    });
}
