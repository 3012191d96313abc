//! The same calls on the same files: the same codes, texts and bytes through every front end.

use fs_edit::{Edit as Replacement, Target};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::Value;
use tests::property::{check, equal};
use tests::{Edit, Engines, FrontEnd, List, Mcp, Mode, Op, Range, Read, World, Write};

/// The same calls on the same files: the same codes, texts and bytes through both.
#[test]
fn every_front_end_answers_the_same() {
    let worlds = [World::new(), World::new()];
    let engines = Engines::start(&worlds[0].settings());
    let mcp = Mcp::start(&worlds[1].settings());
    check(150, &vec(calls(), 1..8), |calls| {
        worlds.iter().for_each(plant);
        for op in calls {
            let (a, b) = (engines.call(&op), mcp.call(&op));
            equal(&format!("{op:?}"), &b.code(), &a.code())?;
            match (&op, &a.result, &b.result) {
                (Op::List(_), Ok(a), Ok(b)) => equal(&format!("{op:?}"), &b.names, &a.names)?,
                (_, Err(a), Err(b)) => {
                    equal(&format!("{op:?}"), &told(&b.fields), &told(&a.fields))?;
                }
                _ => {}
            }
            if matches!(op, Op::Read(_)) {
                equal(&format!("{op:?}"), &b.shown(), &a.shown())?;
            }
            let trees = worlds.each_ref().map(|world| world.tree().timeless());
            equal(
                &format!("after {op:?}"),
                &trees[1].differences(&trees[0]),
                &Vec::new(),
            )?;
        }
        Ok(())
    });
}

/// What both front ends tell in numbers about a failure.
fn told(fields: &Value) -> Value {
    let names = [
        "edit", "edits", "found", "expected", "lines", "char", "column", "size", "last",
    ];
    names.iter().map(|name| fields[*name].clone()).collect()
}

const PLANTED: [(&str, &[u8]); 8] = [
    ("plain", b"one\ntwo\nthree\n"),
    ("crlf", b"one\r\ntwo\r\n"),
    ("bom", b"\xef\xbb\xbfone\ntwo"),
    ("utf16", b"\xff\xfeo\0n\0e\0\n\0"),
    (
        "gbk",
        b"\xd6\xd0\xce\xc4\xc4\xda\xc8\xdd\xb2\xe2\xca\xd4 one\n",
    ),
    ("opaque", b"one\xff\xfe\xfd\x00"),
    ("empty", b""),
    ("d/inner", b"one\n"),
];

fn plant(world: &World) {
    std::fs::remove_dir_all(world.root()).ok();
    std::fs::create_dir_all(world.root()).unwrap();
    for (name, content) in PLANTED {
        world.put(&format!("root/{name}"), content);
    }
    world
        .link("root/link", "plain")
        .link("root/dir-link", "d")
        .link("root/out-link", "../out");
}

fn calls() -> impl Strategy<Value = Op> {
    let names: Vec<String> = PLANTED.iter().map(|(name, _)| (*name).to_owned()).collect();
    let others = [
        "link",
        "dir-link/inner",
        "out-link",
        "d",
        "missing",
        "new/file",
        "plain/x",
        "d/../plain",
        "",
    ];
    let paths = prop_oneof![5 => select(names), 2 => select(others.map(str::to_owned).to_vec())];
    let words = select(vec![
        "one", "two", "o", "e\n", "中", "x\ny\n", "", "😀", "\r\n",
    ]);
    let modes = prop_oneof![
        3 => Just(Mode::Overwrite), 2 => Just(Mode::Append), 1 => Just(Mode::Create), 2 => (1..5_u64).prop_map(Mode::Insert)
    ];
    let edits = vec(
        (
            words.clone(),
            words.clone(),
            select(vec![1_i64, 1, 1, 2, -1]),
        ),
        1..3,
    );
    let edits = edits.prop_map(|all| {
        let edit = |(old, new, expected_count): (&str, &str, i64)| Replacement {
            old: old.into(),
            new: new.into(),
            expected_count,
        };
        Target::Text(all.into_iter().map(edit).collect())
    });
    (0..4, paths, words, modes, edits, any::<bool>()).prop_map(
        |(kind, path, text, mode, target, flag)| match kind {
            0 => Op::Read(Read::lines(
                &path,
                if flag { Range::All } else { Range::Tail(2) },
            )),
            1 => Op::Write(Write::in_mode(&path, text, mode)),
            2 => Op::Edit(Edit {
                backup: flag,
                ..Edit::to(&path, target)
            }),
            _ => Op::List(List::of(if flag { "." } else { &path })),
        },
    )
}
