//! Paths against a walk in memory, on random trees full of links, with and without `openat2`.

use std::os::fd::AsRawFd as _;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use tests::model::paths::{Found, Last, Model, Node};
use tests::property::{check, equal};
use tests::{Answer, CANARY, FrontEnd, List, Op, Openat2, Read, World, Write};

tests::suite!(
    a_path_comes_to_what_the_model_says,
    a_path_comes_to_the_same_without_openat2,
);
tests::suite!(
    [acp]
    a_path_comes_to_what_the_model_says,
    a_path_comes_to_the_same_without_openat2,
);

const NAMES: [&str; 4] = ["a", "b", "c", "f"];

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Read,
    List,
    Write,
    Remove,
    Stat,
}

fn names() -> impl Strategy<Value = String> {
    let dots = prop_oneof![8 => select(&NAMES[..]), 3 => Just(".."), 1 => Just(".")];
    let tail = prop_oneof![8 => Just(""), 1 => Just("/"), 1 => Just("/.")];
    (vec(dots, 1..6), tail).prop_map(|(names, tail)| format!("{}{tail}", names.join("/")))
}

/// Paths and targets of links; `${ROOT}` and the like stand for absolute ones.
fn paths() -> impl Strategy<Value = String> {
    let absolute = prop_oneof![6 => Just("${ROOT}/"), 1 => Just("${OUT}/"), 1 => Just("${BASE}/root-other/"), 1 => Just("/")];
    (option::weighted(0.2, absolute), names())
        .prop_map(|(start, names)| format!("{}{names}", start.unwrap_or_default()))
}

fn nodes() -> impl Strategy<Value = Node> {
    prop_oneof![
        2 => Just(Node::dir()),
        3 => Just(Node::File(String::new())),
        4 => paths().prop_map(Node::Link),
    ]
}

fn trees() -> impl Strategy<Value = Vec<(Vec<String>, Node)>> {
    let place = vec(select(&NAMES[..]).prop_map(str::to_owned), 1..4);
    vec((place, nodes()), 0..14)
}

/// The tree with absolute targets, every file holding its own name.
fn plant(world: &World, nodes: Vec<(Vec<String>, Node)>) -> Model {
    let mut tree = Node::dir();
    for (names, node) in nodes {
        let node = match node {
            Node::File(_) => Node::File(format!("I am {}", names.join("/"))),
            Node::Link(target) => Node::Link(world.expand(&target)),
            Node::Dir(entries) => Node::Dir(entries),
        };
        tree.put(&names, node);
    }
    Model {
        root: world.root().to_str().unwrap().to_owned(),
        tree,
    }
}

fn rebuild(world: &World, model: &Model) {
    world.clear("root");
    model.tree.build(&world.root());
}

fn op(deed: Deed, path: &str) -> Op {
    match deed {
        Deed::Read => Op::Read(Read::whole(path)),
        Deed::List => Op::List(List::of(path)),
        Deed::Write => Op::Write(Write::over(path, "WRITTEN")),
        Deed::Remove => Op::Remove(path.to_owned()),
        Deed::Stat => Op::Stat(path.to_owned()),
    }
}

/// The answer's code or text that is right; `None` where the model has no opinion.
fn wanted(model: &Model, deed: Deed, path: &str) -> Option<String> {
    let last = match deed {
        Deed::Remove | Deed::Stat => Last::Taken,
        Deed::Read | Deed::List | Deed::Write => Last::Followed,
    };
    let code = |code: &str| Some(format!("<{code}>"));
    match (deed, model.resolve(path, last)) {
        // A write makes the parents that are missing, where that has a meaning.
        (Deed::Write, Found::No("not_found")) => None,
        (_, Found::No(no)) => code(no),
        (Deed::Read, Found::File(names)) => Some(format!("I am {}", names.join("/"))),
        (Deed::List, Found::File(_)) => code("not_a_directory"),
        (Deed::List, Found::Dir(names)) => Some(listed(model.tree.at(&names).unwrap())),
        (Deed::Stat, Found::Dir(_)) => Some("directory".to_owned()),
        (Deed::Stat, Found::File(_)) => Some("file".to_owned()),
        (Deed::Stat, Found::Link(_)) => Some("link".to_owned()),
        (_, Found::Dir(_)) => code("is_a_directory"),
        (Deed::Write, Found::File(_) | Found::Free(_))
        | (Deed::Remove, Found::File(_))
        | (_, Found::Link(_)) => Some("ok".to_owned()),
        (_, Found::Free(_)) => code("not_found"),
    }
}

fn listed(node: &Node) -> String {
    let Node::Dir(entries) = node else {
        return String::new();
    };
    let name = |(name, node): (&String, &Node)| match node {
        Node::Dir(_) => format!("{name}/"),
        Node::Link(_) => format!("{name}@"),
        Node::File(_) => name.clone(),
    };
    sorted(entries.iter().map(name).collect())
}

/// The names in one order, whatever the front end's own is.
fn sorted(mut names: Vec<String>) -> String {
    names.sort();
    names.join(" ")
}

fn seen(deed: Deed, answer: &Answer) -> String {
    match (&answer.result, deed) {
        (Err(no), _) => format!("<{}>", no.code),
        (Ok(done), Deed::Read) => done.text.clone(),
        (Ok(done), Deed::List) => sorted(done.names.clone()),
        (Ok(done), Deed::Stat) => done.facts["type"].as_str().unwrap_or_default().to_owned(),
        (Ok(_), Deed::Write | Deed::Remove) => "ok".to_owned(),
    }
}

fn place(model: &Model, deed: Deed, path: &str) -> Found {
    match deed {
        Deed::Write => model.resolve(path, Last::Followed),
        Deed::Remove => model.resolve(path, Last::Taken),
        Deed::Read | Deed::List | Deed::Stat => Found::No("nothing changes"),
    }
}

/// What changed on the disk is what the deed was to change, and nothing else.
fn check_disk(world: &World, model: &Model, deed: Deed, path: &str) -> Result<(), String> {
    let (Found::File(names) | Found::Link(names) | Found::Free(names)) = place(model, deed, path)
    else {
        return Ok(());
    };
    let path = world.root().join(names.join("/"));
    match deed {
        Deed::Write => equal(
            "what was written",
            &std::fs::read(path).ok(),
            &Some(b"WRITTEN".to_vec()),
        ),
        _ => equal("what was removed", &path.symlink_metadata().is_ok(), &false),
    }
}

/// What a bare `openat2` beneath the root opens as a file, the front end reads the same.
fn check_oracle(world: &World, path: &str, answer: &Answer) -> Result<(), String> {
    let root = rustix::fs::openat(
        CWD,
        world.root(),
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .unwrap();
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat2(&root, path, flags, Mode::empty(), how) else {
        return Ok(());
    };
    match std::fs::read_to_string(format!("/proc/self/fd/{}", file.as_raw_fd())) {
        Ok(text) => equal("what openat2 opens", &answer.shown(), &text),
        Err(_) => equal("what openat2 opens", &answer.code(), &"is_a_directory"),
    }
}

fn walk<F: FrontEnd>(openat2: Openat2) {
    let deeds = select(vec![
        Deed::Read,
        Deed::Read,
        Deed::List,
        Deed::Write,
        Deed::Remove,
        Deed::Stat,
    ]);
    let calls = vec((deeds, paths()), 1..6);
    let cases = if F::NAME == "engines" { 2000 } else { 250 };
    World::in_memory(openat2, |world| {
        world
            .put("out/f", CANARY)
            .put("out/a/f", CANARY)
            .put("root-other/f", CANARY);
        let outside = world.outside();
        let front = F::start(&world.settings());
        check(cases, &(trees(), calls), |(nodes, calls)| {
            let model = plant(world, nodes);
            for (deed, path) in calls {
                let path = world.expand(&path);
                let op = op(deed, &path);
                if F::lacks(&op).is_some() {
                    continue;
                }
                rebuild(world, &model);
                if deed == Deed::Read && openat2 == Openat2::Open {
                    check_oracle(world, &path, &front.call(&op))?;
                }
                let answer = front.call(&op);
                let wanted = wanted(&model, deed, &path);
                let what = format!("{deed:?} {path} in {:?}", model.tree);
                equal(
                    &what,
                    &seen(deed, &answer),
                    wanted.as_ref().unwrap_or(&seen(deed, &answer)),
                )?;
                check_disk(world, &model, deed, &path)?;
                equal("a leak", &world.leak(&op, &answer), &None)?;
                equal("a disclosure", &answer.raw.contains(CANARY), &false)?;
            }
            equal(
                "the outside",
                &outside.differences(&world.outside()),
                &Vec::new(),
            )
        });
    });
}

fn a_path_comes_to_what_the_model_says<F: FrontEnd>() {
    walk::<F>(Openat2::Open);
}

fn a_path_comes_to_the_same_without_openat2<F: FrontEnd>() {
    walk::<F>(Openat2::Blocked);
}
