//! A directory changes places with a link to the outside while reads, listings and writes go on.
//!
//! Beside them goes the way most servers take: resolve the name, check it, then open it by name.
//! It must leak in the same run; else the race was none and the test says nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tests::{Answer, CANARY, FrontEnd, List, Op, Openat2, Race, Read, World, Write};

tests::suite!(
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
    listed: u64,
    written: u64,
    leaks_of_the_control: u64,
    refused: u64,
}

impl Tally {
    fn is_enough(&self, race: &Race) -> bool {
        let ours = self.reads >= READS && self.answered >= ANSWERED && self.refused > 0;
        ours && self.listed > 0
            && self.written > 0
            && self.leaks_of_the_control > 0
            && race.turns() >= SWAPS
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
            let new = format!("sub/new-{}", tally.reads % 16);
            tally.listed += succeeds(front, &Op::List(List::of("sub")));
            tally.written += succeeds(front, &Op::Write(Write::over("sub/f", "IN")));
            tally.written += succeeds(front, &Op::Write(Write::over(&new, "NEW")));
        }
    }
    tally
}

#[track_caller]
fn succeeds<F: FrontEnd>(front: &F, op: &Op) -> u64 {
    u64::from(call(front, op).result.is_ok())
}

#[track_caller]
fn call<F: FrontEnd>(front: &F, op: &Op) -> Answer {
    let answer = front.call(op);
    let told = answer.raw.contains(CANARY) || answer.raw.contains("only-outside");
    assert!(!told, "{op:?} disclosed {}", answer.raw);
    assert!(
        ["ok", "outside_sandbox", "not_found"].contains(&answer.code()),
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
