//! What any tool changed comes back, exactly, through every front end.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use tests::property::{check, equal};
use tests::setup::chmod;
use tests::{Edit, FrontEnd, Mode, Op, Transfer, Tree, World, Write};

tests::suite!(
    changes_are_undone_to_the_start,
    what_somebody_wrote_since_stays,
    an_undo_needs_the_file_that_the_change_left,
);
tests::suite!(
    [acp]
    changes_are_undone_to_the_start,
    what_somebody_wrote_since_stays,
    an_undo_needs_the_file_that_the_change_left,
);

/// A change, with the name by which it is undone.
#[derive(Debug, Clone)]
struct Step {
    op: Op,
    name: String,
}

impl Step {
    /// Leaves out the encoding where no call declares one.
    fn fitted<F: FrontEnd>(mut self) -> Self {
        if let Op::Write(write) = &mut self.op
            && F::NAME == "acp"
        {
            write.encoding = None;
        }
        self
    }
}

fn changes_are_undone_to_the_start<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let cases = if F::NAME == "engines" { 250 } else { 60 };
    let bytes = || vec(any::<u8>(), 0..12);
    let modes = || select(vec!["0600", "0644", "0755", "0640"]);
    let files = vec((bytes(), modes()), 3);
    check(cases, &(files, vec(step(), 1..12)), |(files, steps)| {
        world.clear("root");
        for (name, (bytes, mode)) in ["a", "b", "c"].iter().zip(files) {
            world.put(
                &format!("root/{name}"),
                [b"KEY\r\n", bytes.as_slice()].concat(),
            );
            chmod(&world.path(&format!("root/{name}")), mode);
        }
        world.link("root/link", "a");
        let mut done = Vec::new();
        let steps: Vec<Step> = steps.into_iter().map(Step::fitted::<F>).collect();
        for step in steps.iter().filter(|step| F::lacks(&step.op).is_none()) {
            let before = world.tree();
            if front.call(&step.op).code() != "ok" {
                continue;
            }
            let overwrite = matches!(step.op, Op::Write(_));
            // What was there already is not written again.
            if !(overwrite && world.tree() == before) {
                done.push((step, before.timeless()));
            }
        }
        for (step, before) in done.iter().rev() {
            let answer = front.call(&Op::Undo(step.name.clone()));
            equal("the code", &answer.code(), &"ok").map_err(|it| format!("{step:?}: {it}"))?;
            equal("the tree", &left(&world), &left_of(before.clone()))?;
        }
        Ok(())
    });
}

/// Directories that a change made stay.
fn left(world: &World) -> Tree {
    left_of(world.tree().timeless())
}

fn left_of(tree: Tree) -> Tree {
    tree.without("root/d")
}

fn step() -> impl Strategy<Value = Step> {
    let name = || select(vec!["a", "b", "c", "new", "link"]);
    let text = "[a-z\n]{0,6}";
    let write = (name(), text, any::<bool>()).prop_map(|(name, text, append)| {
        let mode = if append {
            Mode::Append
        } else {
            Mode::Overwrite
        };
        let write = Write {
            encoding: (!append).then(|| "utf-8".to_owned()),
            mode,
            ..Write::over(name, &text)
        };
        (Op::Write(write), name)
    });
    let edit = (name(), text).prop_map(|(name, new)| {
        (
            Op::Edit(Edit::once(name, "KEY", &format!("KEY{new}"))),
            name,
        )
    });
    let transfer = (name(), name(), any::<bool>(), Just(())).prop_map(|(from, to, moves, ())| {
        let transfer = Transfer {
            overwrite: true,
            ..Transfer::new(from, to)
        };
        let op = if moves {
            Op::Move(transfer)
        } else {
            Op::Copy(transfer)
        };
        (op, to)
    });
    let remove = name().prop_map(|name| (Op::Remove(name.to_owned()), name));
    let op = prop_oneof![3 => write, 3 => edit, 3 => transfer, 1 => remove];
    op.prop_map(|(op, name)| Step {
        op,
        name: name.to_owned(),
    })
}

fn what_somebody_wrote_since_stays<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    world.put("root/f", "one\n");
    let change = match F::NAME {
        "acp" => Op::Write(Write::over("f", "two\n")),
        _ => Op::Edit(Edit::once("f", "one", "two")),
    };
    assert_eq!(front.call(&change).code(), "ok");
    world.put("root/f", "theirs\n");
    let before = world.tree();
    assert_eq!(front.call(&Op::Undo("f".to_owned())).code(), "conflict");
    assert_eq!(world.tree(), before);
    world.put("root/f", "two\n");
    assert_eq!(front.call(&Op::Undo("f".to_owned())).code(), "ok");
    assert_eq!(world.get("root/f"), b"one\n");
    assert_eq!(front.call(&Op::Undo("f".to_owned())).code(), "not_found");
}

fn an_undo_needs_the_file_that_the_change_left<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    for name in ["never", "../out/f", "d/none", "d"] {
        std::fs::create_dir_all(world.path("root/d")).unwrap();
        let answer = front.call(&Op::Undo(name.to_owned()));
        // People undo what their journal names, and nothing is there that a session never wrote.
        let wanted = if name.starts_with("..") && F::NAME != "acp" {
            "outside_sandbox"
        } else {
            "not_found"
        };
        assert_eq!(answer.code(), wanted, "{name}");
    }
    assert_eq!(front.write("f", "text").code(), "ok");
    std::fs::remove_file(world.path("root/f")).unwrap();
    std::fs::create_dir(world.path("root/f")).unwrap();
    assert_eq!(front.call(&Op::Undo("f".to_owned())).code(), "conflict");
}
