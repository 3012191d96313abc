//! Several roots: by name, by absolute path, nested, reached by links, each with its own rights.

use tests::{
    CANARY, Conditions, Edit, FrontEnd, List, Op, Openat2, Read, Root, Settings, World, Write,
};

tests::suite!(
    each_root_has_its_own_rights,
    each_root_has_its_own_rights_without_openat2,
);

/// `ws` with a read-only root inside it, `docs` beside it for reading, and `out` in no root.
fn plant(world: &World) -> Settings {
    world
        .put("root/f", "ws f\n")
        .put("root/inner/f", "inner f\n")
        .put("root/inner/g/f", "inner g\n");
    world.put("docs/f", "docs f\n").put("out/f", CANARY);
    world
        .link("root/to-docs", "${BASE}/docs/f")
        .link("root/to-inner", "inner/f");
    world
        .link("root/up-to-docs", "../docs/f")
        .link("docs/to-ws", "${ROOT}/f");
    world.link("alias", "root");
    let root = |name: &str, path: &str, rights: &[&str]| Root {
        name: name.to_owned(),
        path: world.path(path),
        rights: rights.iter().map(|right| (*right).to_owned()).collect(),
    };
    let all = ["read", "edit", "delete"];
    Settings {
        roots: vec![
            root("ws", "alias", &all),
            root("docs", "docs", &["read"]),
            root("inner", "root/inner", &["read"]),
        ],
        ..Settings::default()
    }
}

fn each_root_has_its_own_rights<F: FrontEnd>() {
    walk::<F>(Openat2::Open);
}

fn each_root_has_its_own_rights_without_openat2<F: FrontEnd>() {
    walk::<F>(Openat2::Blocked);
}

fn walk<F: FrontEnd>(openat2: Openat2) {
    let world = World::new();
    Conditions {
        openat2,
        ..Conditions::default()
    }
    .run(|| {
        let front = F::start(&plant(&world));
        let check = |path: &str, read: &str, write: &str| check(&world, &front, path, read, write);
        check("f", "ws f\n", "ok");
        check("ws:f", "ws f\n", "ok");
        check("${ROOT}/f", "ws f\n", "ok");
        check("${BASE}/alias/f", "ws f\n", "ok");
        check("docs:f", "docs f\n", "denied_by_policy");
        check("${BASE}/docs/f", "docs f\n", "denied_by_policy");
        check("to-docs", "docs f\n", "denied_by_policy");
        check("docs:to-ws", "ws f\n", "ok");
        check("inner/f", "inner f\n", "denied_by_policy");
        check("inner:f", "inner f\n", "denied_by_policy");
        check("inner/g/../f", "inner f\n", "denied_by_policy");
        check("to-inner", "inner f\n", "denied_by_policy");
        check("${BASE}/alias/inner/f", "inner f\n", "denied_by_policy");
        check("up-to-docs", "<outside_sandbox>", "outside_sandbox");
        check("docs:../docs/f", "<outside_sandbox>", "outside_sandbox");
        check("docs:../root/f", "<outside_sandbox>", "outside_sandbox");
        check("${OUT}/f", "<outside_sandbox>", "outside_sandbox");
        check("${BASE}/f", "<outside_sandbox>", "outside_sandbox");
        assert_eq!(
            front.call(&Op::List(List::of("docs:"))).done().names,
            ["f", "to-ws@"]
        );
        let mut names = front.list("inner").done().names.clone();
        names.sort();
        assert_eq!(names, ["f", "g/"]);
    });
}

/// Reads, then edits and writes the same bytes; a refused change leaves everything as it was.
#[track_caller]
fn check<F: FrontEnd>(world: &World, front: &F, path: &str, read: &str, write: &str) {
    let path = world.expand(path);
    let before = world.tree();
    let ops = [
        Op::Read(Read::whole(&path)),
        Op::Edit(Edit::once(&path, "f", "g")),
        Op::Write(Write::over(&path, read)),
    ];
    let answers = ops.each_ref().map(|op| front.call(op));
    assert_eq!(answers[0].shown(), read, "{path}");
    for (op, answer) in ops.iter().zip(&answers) {
        assert_eq!(world.leak(op, answer), None);
        assert!(!answer.raw.contains(CANARY), "{}", answer.raw);
    }
    let [_, edit, overwrite] = &answers;
    let edited = if read.matches('f').count() == 1 {
        write
    } else {
        edit.code()
    };
    assert_eq!(
        (edit.code(), overwrite.code()),
        (edited, write),
        "{path}: {}",
        edit.raw
    );
    let changes = before
        .clone()
        .timeless()
        .differences(&world.tree().timeless());
    assert_eq!(changes, Vec::<String>::new(), "{path}");
}
