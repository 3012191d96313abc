//! Edits against a quadratic model over tokens.

use fs_core::Fallback;
use fs_edit::{Edit as Replacement, EolMode, Request, Target, plan};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use tests::model::edits::{Charset, apply};
use tests::property::{check, equal};
use tests::{Answer, Edit, FrontEnd, Op, Openat2, World};

tests::suite!(
    an_edit_is_what_the_model_says,
    the_order_of_edits_is_nothing,
    an_edit_undone_by_its_inverse_leaves_the_bytes,
);

const PIECES: [&str; 13] = [
    "a", "a", "b", "aa", "\n", "\n\n", "\r\n", "\r", " ", "\t", "é", "e\u{301}", "中😀",
];

#[derive(Debug, Clone)]
struct Case {
    source: Vec<u8>,
    charset: Charset,
    edits: Vec<Replacement>,
    eol: EolMode,
}

fn words(most: usize) -> impl Strategy<Value = String> {
    vec(select(&PIECES[..]), 0..most).prop_map(|pieces| pieces.concat())
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
fn edits(text: String) -> impl Strategy<Value = Replacement> {
    let chars: Vec<char> = text.chars().collect();
    let cut = (any::<Index>(), 1..6_usize).prop_map(move |(start, len)| {
        let start = start.index(chars.len().max(1));
        chars.iter().skip(start).take(len).collect::<String>()
    });
    let old = prop_oneof![4 => cut, 1 => words(4)];
    let count = prop_oneof![12 => Just(1), 3 => Just(-1), 2 => Just(2), 1 => Just(3), 1 => Just(0), 1 => Just(-2)];
    (old, words(5), count).prop_map(|(old, new, expected_count)| Replacement {
        old,
        new,
        expected_count,
    })
}

fn case(
    text: String,
    (charset, bom): (Charset, bool),
    junk: (Index, u8),
) -> impl Strategy<Value = Case> {
    let source = encode(&text, charset, bom, junk);
    (vec(edits(text), 1..4), eols()).prop_map(move |(edits, eol)| Case {
        source: source.clone(),
        charset,
        edits,
        eol,
    })
}

fn case_values() -> impl Strategy<Value = Case> {
    let junk = (any::<Index>(), 0x80..=0xff_u8);
    (words(30), charsets(), junk).prop_flat_map(|(text, charset, junk)| case(text, charset, junk))
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
            bytes.push(0xff);
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
    let edit = Edit {
        eol: case.eol,
        ..Edit::to("f", Target::Text(edits.to_vec()))
    };
    let answer = front.call(&Op::Edit(edit));
    (answer, world.get("root/f"))
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
