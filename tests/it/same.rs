//! The same calls on the same files: the same codes, texts and bytes through every front end.

use fs_edit::{Edit as Replacement, Target};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::Value;
use tests::acp::PLAIN;
use tests::binary::state;
use tests::model::lines;
use tests::property::{check, equal};
use tests::{
    Acp, Answer, Done, Edit, Engines, FrontEnd, List, Mcp, McpFile, Mode, NewDir, Op, Range, Read,
    Search, Transfer, Walk, Within, World, Write,
};

/// The engines, the server in the words of either family, and the proxy, each on a disk of its own.
struct All {
    worlds: [World; 4],
    engines: Engines,
    mcp: Mcp,
    file: McpFile,
    acp: Acp,
    /// What changes the proxy's disk in ways that its protocol has no words for.
    behind_acp: Engines,
}

impl All {
    fn start() -> Self {
        let worlds = [World::new(), World::new(), World::new(), World::new()];
        let state = state().join("postern");
        Self {
            engines: Engines::start(&worlds[0].settings()),
            mcp: Mcp::start(&worlds[1].settings()),
            file: McpFile::start(&worlds[2].settings()),
            acp: Acp::start_in(&state, &worlds[3].settings(), &PLAIN),
            behind_acp: Engines::start(&worlds[3].settings()),
            worlds,
        }
    }

    /// Makes a call four times; what the family `file` has no words for goes by the other one.
    fn call(&self, op: &Op) -> [Answer; 4] {
        let file = match McpFile::lacks(op) {
            None => self.file.call(op),
            Some(_) => Mcp::call(&self.file, op),
        };
        let acp = match op {
            Op::Undo(_) => self.behind_acp.call(op),
            op if Acp::lacks(op).is_some() => self.behind_acp.call(op),
            op => self.acp.call(op),
        };
        [self.engines.call(op), self.mcp.call(op), file, acp]
    }
}

#[test]
fn every_front_end_answers_the_same() {
    let all = All::start();
    check(220, &vec(calls(), 1..9), |calls| {
        all.worlds.iter().for_each(plant);
        for op in calls {
            let [engines, mcp, file, acp] = all.call(&op);
            compare::<Mcp>(&op, &engines, &mcp).map_err(|words| format!("mcp: {words}"))?;
            compare::<McpFile>(&op, &engines, &file)
                .map_err(|words| format!("mcp-file: {words}"))?;
            compare::<Acp>(&op, &engines, &acp).map_err(|words| format!("acp: {words}"))?;
            let trees = all.worlds.each_ref().map(|world| world.tree().timeless());
            for tree in &trees[1..] {
                let differences = tree.differences(&trees[0]);
                equal(&format!("after {op:?}"), &differences, &Vec::new())?;
            }
        }
        Ok(())
    });
}

fn compare<F: FrontEnd>(op: &Op, engines: &Answer, server: &Answer) -> Result<(), String> {
    let is_whole = matches!(op, Op::Read(read) if matches!(read.range, Range::All));
    let wanted = |text: &str| {
        if F::BREAKS || is_whole {
            text.to_owned()
        } else {
            lines::bare(text)
        }
    };
    let what = format!("{op:?}");
    equal(&what, &server.code(), &engines.code())?;
    let (engines, server) = match (&engines.result, &server.result) {
        (Ok(engines), Ok(server)) => (engines, server),
        (Err(engines), Err(server)) => {
            return equal(&what, &told(op, &server.fields), &told(op, &engines.fields));
        }
        _ => return Err(what),
    };
    let facts = |names: &[&str]| {
        let fact = |done: &Done| names.iter().map(|name| done.facts[*name].clone()).collect();
        equal::<Vec<Value>>(&what, &fact(server), &fact(engines))
    };
    match op {
        Op::Read(_) => {
            facts(&[
                "total_lines",
                "first_line",
                "encoding",
                "eol",
                "bom",
                "version",
            ])?;
            equal(&what, &server.text, &wanted(&engines.text))
        }
        // The protocol's answer to a write says nothing.
        Op::Write(_) if F::NAME == "acp" => Ok(()),
        Op::Write(_) => facts(&["version", "encoding", "parted_links"]),
        Op::Edit(_) => facts(&["version", "replacements", "lines_changed", "diff"]),
        Op::List(_) => {
            facts(&["total", "truncated"])?;
            equal(&what, &sorted(server), &sorted(engines))
        }
        Op::Tree(_) => {
            facts(&["entries", "truncated", "skipped"])?;
            equal(&what, &server.names, &engines.names)
        }
        Op::Search(_) => {
            facts(&["results", "truncated", "skipped", "unreadable"])?;
            equal(&what, &server.names, &engines.names)?;
            equal(&what, &server.blocks, &engines.blocks)
        }
        Op::Copy(_) | Op::Move(_) => facts(&["type", "size", "replaced", "parted_links"]),
        Op::Stat(_) => facts(&["type", "size"]),
        Op::CreateDir(_) => facts(&["created"]),
        Op::Remove(_) | Op::Undo(_) => Ok(()),
    }
}

/// The names in one order: each family has its own.
fn sorted(done: &Done) -> Vec<String> {
    let mut names = done.names.clone();
    names.sort();
    names
}

/// What all front ends tell in numbers about a failure; a single edit has no index everywhere.
fn told(op: &Op, fields: &Value) -> Value {
    let is_single = matches!(op, Op::Edit(edit) if matches!(&edit.target, Target::Text(edits) if edits.len() == 1));
    let names = [
        "path", "edits", "found", "expected", "lines", "char", "column", "size", "last",
    ];
    let index = (!is_single).then_some("edit");
    let names = names.into_iter().chain(index);
    names.map(|name| fields[name].clone()).collect()
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
    world.clear("root");
    for (name, content) in PLANTED {
        world.put(&format!("root/{name}"), content);
    }
    world
        .link("root/link", "plain")
        .link("root/dir-link", "d")
        .link("root/out-link", "../out");
}

fn edits(words: impl Strategy<Value = &'static str> + Clone) -> impl Strategy<Value = Target> {
    let edits = vec(
        (
            words.clone(),
            words.clone(),
            select(vec![1_i64, 1, 1, 2, -1]),
        ),
        1..3,
    );
    edits.prop_map(|all| {
        let edit = |(old, new, expected_count): (&str, &str, i64)| Replacement {
            old: old.into(),
            new: new.into(),
            expected_count,
        };
        Target::Text(all.into_iter().map(edit).collect())
    })
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
    let paths = prop_oneof![7 => select(names), 2 => select(others.map(str::to_owned).to_vec())];
    let words = select(vec![
        "one", "two", "o", "e\n", "中", "x\ny\n", "", "😀", "\r\n",
    ]);
    let queries = select(vec!["one", "two", "o", "中", "zzz", "e", "n*", "plain"]);
    let transfers = (paths.clone(), paths.clone(), any::<bool>());
    let transfers = transfers.prop_map(|(from, to, overwrite)| Transfer {
        overwrite,
        ..Transfer::new(&from, &to)
    });
    let modes = prop_oneof![
        3 => Just(Mode::Overwrite), 2 => Just(Mode::Append), 1 => Just(Mode::Create), 2 => (1..5_u64).prop_map(Mode::Insert)
    ];
    let edits = edits(words.clone());
    let files = (0..4, paths.clone(), words, modes, edits, any::<bool>()).prop_map(
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
    );
    let trees = (0..10, paths, queries, transfers, any::<bool>()).prop_map(
        |(kind, path, query, transfer, flag)| match kind {
            0 => Op::Tree(Walk {
                max_entries: if flag { 3 } else { 5000 },
                ..Walk::of(&path)
            }),
            1 | 2 => Op::Search(Search {
                max_results: flag.then_some(2),
                context_lines: u64::from(flag),
                within: if kind == 1 {
                    Within::Text
                } else {
                    Within::Names
                },
                ..Search::text(if path.is_empty() { "." } else { &path }, query)
            }),
            3 => Op::Copy(transfer),
            4 => Op::Move(transfer),
            5 => Op::Stat(path),
            6 => Op::CreateDir(NewDir {
                parents: flag,
                exist_ok: flag,
                ..NewDir::new(&path)
            }),
            7 => Op::Remove(path),
            _ => Op::Undo(path),
        },
    );
    prop_oneof![files, trees]
}
