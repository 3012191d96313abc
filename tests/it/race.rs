//! A directory changes places with a link to the outside while reads, listings, trees, searches,
//! writes, copies and moves go on.
//!
//! Beside them goes the way most servers take: resolve the name, check it, then open it by name.
//! It must leak in the same run; else the race was none and the test says nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tests::{
    Answer, CANARY, FrontEnd, List, NewDir, Op, Openat2, Race, Read, Search, Transfer, Walk, World,
    Write,
};

tests::suite!(
    nothing_leaves_through_an_exchanged_directory,
    nothing_leaves_through_an_exchanged_directory_without_openat2,
);
tests::suite!(
    [acp]
    nothing_leaves_through_an_exchanged_directory,
    nothing_leaves_through_an_exchanged_directory_without_openat2,
);

const READS: u64 = 5_000;
const ANSWERED: u64 = 100;
const SWAPS: u64 = 1_000;
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Debug, Default)]
struct Tally {
    reads: u64,
    answered: u64,
    leaks_of_the_control: u64,
    refused: u64,
}

impl Tally {
    fn is_enough(&self, race: &Race) -> bool {
        let ours = self.reads >= READS && self.answered >= ANSWERED && self.refused > 0;
        ours && self.leaks_of_the_control > 0 && race.turns() >= SWAPS
    }
}

fn nothing_leaves_through_an_exchanged_directory<F: FrontEnd>() {
    raced::<F>(Openat2::Open);
}

fn nothing_leaves_through_an_exchanged_directory_without_openat2<F: FrontEnd>() {
    raced::<F>(Openat2::Blocked);
}

fn raced<F: FrontEnd>(openat2: Openat2) {
    World::in_memory(openat2, |world| {
        world
            .put("root/sub/f", "IN")
            .put("root/seed", "SEED")
            .put("out/f", CANARY)
            .put("out/only-outside", CANARY);
        world.link("root/link", "../out");
        let outside = world.outside();
        let front = F::start(&world.settings());
        let race = Race::exchange(world.path("root/sub"), world.path("root/link"));
        let tally = run(&front, world, &race);
        assert!(tally.is_enough(&race), "{tally:?}, {} swaps", race.turns());
        race.stop();
        assert_eq!(outside.differences(&world.outside()), Vec::<String>::new());
    });
}

fn run<F: FrontEnd>(front: &F, world: &World, race: &Race) -> Tally {
    let (root, file) = (world.root(), world.path("root/sub/f"));
    let mut tally = Tally::default();
    let start = Instant::now();
    while !tally.is_enough(race) && start.elapsed() < PATIENCE {
        let answer = call(front, &Op::Read(Read::whole("sub/f")));
        tally.reads += 1;
        match answer.result.as_ref() {
            Ok(done) => {
                assert_eq!(done.text, "IN");
                tally.answered += 1;
            }
            Err(_) => tally.refused += 1,
        }
        tally.leaks_of_the_control += u64::from(control(&root, &file));
        if tally.reads % 4 == 0 {
            if F::NAME != "acp" {
                call(front, &Op::List(List::of("sub")));
            }
            call(front, &Op::Write(Write::over("sub/f", "IN")));
            call(
                front,
                &Op::Write(Write::over(&format!("sub/new-{}", tally.reads % 16), "NEW")),
            );
        }
        // An agent reads and writes, and nothing else.
        if tally.reads % 16 == 0 && F::NAME != "acp" {
            disturb(front, world, tally.reads);
        }
    }
    tally
}

/// Walks, searches, copies and moves through the name that changes.
fn disturb<F: FrontEnd>(front: &F, world: &World, turn: u64) {
    for path in [".", "sub"] {
        call(front, &Op::Tree(Walk::of(path)));
        let hits = call(front, &Op::Search(Search::text(path, "CANARY")));
        assert_eq!(hits.result.map(|done| done.blocks).unwrap_or_default(), []);
        let names = call(front, &Op::Search(Search::names(path, "outside")));
        assert_eq!(
            names.result.map(|done| done.names).unwrap_or_default(),
            <[String; 0]>::default()
        );
    }
    call(front, &Op::Stat("sub/only-outside".to_owned()));
    let copied = call(front, &Op::Copy(Transfer::over("sub/f", "copy")));
    if copied.code() == "ok" {
        assert_eq!(world.get("root/copy"), b"IN");
    }
    call(front, &Op::Copy(Transfer::over("seed", "sub/copy")));
    call(front, &Op::Copy(Transfer::over("seed", "seed-2")));
    call(front, &Op::Move(Transfer::over("seed-2", "sub/moved")));
    call(front, &Op::Move(Transfer::over("sub/moved", "moved-back")));
    let outside = call(
        front,
        &Op::Move(Transfer::over("sub/only-outside", "stolen")),
    );
    assert_ne!(outside.code(), "ok");
    call(front, &Op::Remove("sub/copy".to_owned()));
    let deep = NewDir {
        parents: true,
        exist_ok: true,
        ..NewDir::new(&format!("sub/d{}/e", turn % 8))
    };
    call(front, &Op::CreateDir(deep));
}

#[track_caller]
fn call<F: FrontEnd>(front: &F, op: &Op) -> Answer {
    let answer = front.call(op);
    let sent = op.paths().into_iter();
    let raw = sent.fold(answer.raw.clone(), |raw, path| raw.replace(path, ""));
    let told = raw.contains(CANARY) || raw.contains("only-outside");
    assert!(!told, "{op:?} disclosed {}", answer.raw);
    // A file that is written while it is copied is another one.
    let is_changed = matches!(op, Op::Copy(_)) && answer.code() == "conflict";
    // Where the walk begins there was a directory, and then a link.
    let walks = matches!(op, Op::Tree(_) | Op::Search(_));
    let is_changed = is_changed || (walks && answer.code() == "not_a_directory");
    assert!(
        is_changed || ["ok", "outside_sandbox", "not_found"].contains(&answer.code()),
        "{op:?}: {}",
        answer.raw
    );
    answer
}

/// Reads as most servers do; returns whether that gave away what is outside.
fn control(root: &Path, file: &Path) -> bool {
    let real: Option<PathBuf> = file.canonicalize().ok();
    let inside = real.is_some_and(|real| real.starts_with(root));
    inside && std::fs::read_to_string(file).is_ok_and(|text| text == CANARY)
}
