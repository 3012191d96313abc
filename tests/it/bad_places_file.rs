//! Trees, disks and limits that do not do as a search, a tree, a copy or a move wishes.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags};
use serde_json::{Value, json};
use tests::conditions::skip;
use tests::mcp::arguments;
use tests::setup::{chmod, tmpfs};
use tests::{
    Answer, CANARY, Conditions, Engines, FrontEnd, Mcp, Op, Openat2, Race, Search, Transfer, Walk,
    World,
};

tests::suite!(
    [engines, mcp]
    a_tree_that_is_deep,
    a_tree_deeper_than_a_path_can_be_long,
    loops_of_links,
    entries_that_vanish_meanwhile,
    directories_and_files_that_may_not_be_read,
    a_disk_that_is_full_in_the_middle_of_a_copy,
    a_move_to_another_disk,
);

/// A gross bound: the real numbers are some milliseconds, of a deep tree some more.
const SOON: Duration = Duration::from_secs(30);

/// Makes directories named `d`, one in the other, and `file` in the lowest.
fn dig(world: &World, depth: usize, file: &str) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = rustix::fs::openat(CWD, world.root(), flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        rustix::fs::mkdirat(&dir, "d", Mode::from_raw_mode(0o755)).unwrap();
        dir = rustix::fs::openat(&dir, "d", flags, Mode::empty()).unwrap();
    }
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&dir, file, create, Mode::from_raw_mode(0o644)).unwrap();
    rustix::io::write(&file, b"needle\n").unwrap();
}

fn find<F: FrontEnd>(front: &F, query: &str) -> Answer {
    let start = Instant::now();
    let answer = front.search(".", query);
    let took = start.elapsed();
    assert!(took < SOON, "took {took:?}");
    answer
}

fn a_tree_that_is_deep<F: FrontEnd>() {
    let world = World::new();
    dig(&world, 300, "f");
    let front = F::start(&world.settings());
    let path = format!("{}f", "d/".repeat(300));
    assert_eq!(
        find(&front, "needle").done().hits(),
        [format!("{path}:1:needle")]
    );
    assert_eq!(
        front.read(&path).shown(),
        "needle\n",
        "found paths are taken back"
    );
    let names = front.call(&Op::Search(Search::names(".", "f")));
    assert_eq!(names.done().names, std::slice::from_ref(&path));
    let tree = front.call(&Op::Tree(Walk::of(".")));
    assert_eq!(tree.done().names.len(), 50, "as deep as a tree goes");
    let moved = front.call(&Op::Move(Transfer::new(&path, "g")));
    assert_eq!(moved.code(), "ok");
    assert_eq!(
        front.call(&Op::Copy(Transfer::new("g", &path))).code(),
        "ok"
    );
    assert_eq!(find(&front, "needle").done().hits().len(), 2);
}

fn a_tree_deeper_than_a_path_can_be_long<F: FrontEnd>() {
    let world = World::new();
    dig(&world, 2500, "f");
    world.put("root/top", "needle\n");
    let front = F::start(&world.settings());
    let answer = find(&front, "needle");
    assert_eq!(answer.done().hits(), ["top:1:needle"]);
    assert_eq!(answer.done().facts["skipped"], json!({"too_deep": 1}));
    assert_eq!(front.call(&Op::Tree(Walk::of("."))).code(), "ok");
}

fn loops_of_links<F: FrontEnd>() {
    let world = World::new();
    world
        .put("root/a/f", "needle\n")
        .link("root/a/self", ".")
        .link("root/a/up", "..")
        .link("root/a/root", "${ROOT}")
        .link("root/one", "two")
        .link("root/two", "one")
        .link("root/out", "../out")
        .put("out/f", format!("needle {CANARY}\n"));
    let front = F::start(&world.settings());
    let answer = find(&front, "needle");
    assert_eq!(answer.done().hits(), ["a/f:1:needle"]);
    assert_eq!(answer.done().facts["skipped"], json!({"link": 6}));
    let tree = front.call(&Op::Tree(Walk::of(".")));
    let rows = [
        "a/", "  f", "  root@", "  self@", "  up@", "one@", "out@", "two@",
    ];
    assert_eq!(tree.done().names, rows);
    // A path through a link inside is followed; what is found is named by where it is.
    assert_eq!(
        front.search("a/self/up/a", "needle").done().hits(),
        ["a/f:1:needle"]
    );
    assert_eq!(front.search("one", "needle").code(), "invalid_path");
}

/// Files and directories come and go; what stays is found each time.
fn entries_that_vanish_meanwhile<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        for number in 0..60 {
            world.put(&format!("root/stay/{number:02}/f"), "needle\n");
        }
        let front = F::start(&world.settings());
        let (dir, mut turn) = (world.path("root/stay"), 0_usize);
        let race = Race::of(move || {
            turn += 1;
            let (file, below) = (
                dir.join("00").join("gone"),
                dir.join(format!("{:02}", turn % 60)),
            );
            std::fs::write(&file, "nothing\n").unwrap();
            std::fs::create_dir_all(below.join("x/y/z")).unwrap();
            std::fs::write(below.join("x/y/z/f"), "nothing\n").unwrap();
            std::fs::remove_dir_all(below.join("x")).unwrap();
            std::fs::remove_file(&file).unwrap();
        });
        let mut runs = 0;
        while runs < 40 || race.turns() < 400 {
            runs += 1;
            let answer = find(&front, "needle");
            let asked = Search {
                max_results: Some(5000),
                ..Search::text(".", "needle")
            };
            let all = front.call(&Op::Search(asked));
            assert_eq!(
                (answer.done().hits().len(), all.done().hits().len()),
                (50, 60)
            );
            assert_eq!(all.done().facts["unreadable"], json!([]));
            assert_eq!(front.call(&Op::Tree(Walk::of("."))).code(), "ok");
        }
    });
}

fn directories_and_files_that_may_not_be_read<F: FrontEnd>() {
    let world = World::bare();
    let conditions = Conditions {
        nobody: true,
        ..Conditions::default()
    };
    conditions.run(|| {
        std::fs::create_dir(world.root()).unwrap();
        world
            .put("root/a/f", "needle\n")
            .put("root/locked/f", format!("needle {CANARY}\n"))
            .put("root/secret", format!("needle {CANARY}\n"))
            .put("root/z", "needle\n");
        chmod(&world.path("root/locked"), "0000");
        chmod(&world.path("root/secret"), "0000");
        let front = F::start(&world.settings());
        let answer = find(&front, "needle");
        assert_eq!(answer.done().hits(), ["a/f:1:needle", "z:1:needle"]);
        assert_eq!(
            answer.done().facts["unreadable"],
            json!(["locked", "secret"])
        );
        assert_eq!(answer.done().facts["skipped"], json!({"unreadable": 2}));
        if F::NAME == "mcp" {
            let hint = &answer.done().hint;
            assert!(hint.contains("unreadable: locked, secret"), "{hint}");
        }
        let tree = front.call(&Op::Tree(Walk::of(".")));
        assert_eq!(tree.done().names, ["a/", "  f", "secret", "z"]);
        assert_eq!(tree.done().facts["skipped"], json!({"unreadable": 1}));
        assert_eq!(front.search("locked", "needle").code(), "permission_denied");
        assert_eq!(
            front.call(&Op::Tree(Walk::of("locked"))).code(),
            "permission_denied"
        );
        assert_eq!(
            front
                .call(&Op::Copy(Transfer::new("secret", "copy")))
                .code(),
            "permission_denied"
        );
        assert_eq!(
            front.call(&Op::Copy(Transfer::new("z", "locked/z"))).code(),
            "permission_denied"
        );
        assert_eq!(
            front.call(&Op::Move(Transfer::new("z", "locked/z"))).code(),
            "permission_denied"
        );
        assert_eq!(
            front
                .call(&Op::Move(Transfer::new("locked/f", "z2")))
                .code(),
            "permission_denied"
        );
        chmod(&world.path("root/locked"), "0700");
    });
}

fn a_disk_that_is_full_in_the_middle_of_a_copy<F: FrontEnd>() {
    let world = World::new();
    let conditions = Conditions {
        own_mounts: true,
        ..Conditions::default()
    };
    if !conditions.are_possible() {
        return skip("a full disk takes root");
    }
    conditions.run(|| {
        world.put("root/large", "x".repeat(300 << 10));
        tmpfs(&world.path("root/small"), 128 << 10);
        world.put("root/small/there", "old\n");
        let front = F::start(&world.settings());
        let before = world.tree();
        let check = |op: Op| {
            let answer = front.call(&op);
            assert_eq!(answer.code(), "io", "{op:?}: {}", answer.raw);
            assert_eq!(answer.refusal().fields["retry"], true);
            assert_eq!(world.leak(&op, &answer), None);
            assert_eq!(
                before.differences(&world.tree()),
                Vec::<String>::new(),
                "{op:?}"
            );
        };
        check(Op::Copy(Transfer::new("large", "small/copy")));
        check(Op::Copy(Transfer::over("large", "small/there")));
        check(Op::Move(Transfer::new("large", "small/moved")));
        check(Op::Move(Transfer::over("large", "small/there")));
    });
}

/// The same as on one disk: bytes, mode and times, nothing replaced unless told, nothing left.
fn a_move_to_another_disk<F: FrontEnd>() {
    let world = World::new();
    let conditions = Conditions {
        own_mounts: true,
        ..Conditions::default()
    };
    if !conditions.are_possible() {
        return skip("another disk takes root");
    }
    conditions.run(|| {
        tmpfs(&world.path("root/disk"), 8 << 20);
        let bytes = "0123456789abcdef\n".repeat(100_000);
        world
            .put("root/f", &bytes)
            .link("root/link", "../out/nowhere");
        chmod(&world.path("root/f"), "0751");
        let front = F::start(&world.settings());
        let before = world.tree();
        assert_eq!(
            front.call(&Op::Move(Transfer::new("f", "disk/f"))).code(),
            "ok"
        );
        assert_eq!(
            front
                .call(&Op::Move(Transfer::new("link", "disk/link")))
                .code(),
            "ok"
        );
        let after = world.tree();
        for name in ["f", "link"] {
            let of =
                |tree: &tests::Tree, path: String| tree.0.get(std::path::Path::new(&path)).cloned();
            assert_eq!(
                of(&after, format!("root/disk/{name}")),
                of(&before, format!("root/{name}")),
                "{name}"
            );
            assert_eq!(of(&after, format!("root/{name}")), None, "{name} is gone");
        }
        world.put("root/g", "new\n");
        assert_eq!(
            front.call(&Op::Move(Transfer::new("g", "disk/f"))).code(),
            "already_exists"
        );
        assert_eq!(
            front.call(&Op::Move(Transfer::over("g", "disk/f"))).code(),
            "ok"
        );
        assert_eq!(world.get("root/disk/f"), b"new\n");
        assert_eq!(
            front.call(&Op::Copy(Transfer::new("disk/f", "h"))).code(),
            "ok"
        );
        assert_eq!(world.get("root/h"), b"new\n");
        let names = world.tree().0.into_keys();
        assert_eq!(names.count(), 6, "out, root, disk, f, link, h");
    });
}

/// 256 descriptors for all: searches and trees of a wide and deep tree, one by one and many at once.
#[test]
fn a_server_with_few_descriptors() {
    World::in_memory(Openat2::Open, |world| {
        for number in 0..4000_u32 {
            let name = format!("root/w{}/d{}/f{number}", number % 20, number % 50);
            world.put(&name, "needle\n");
        }
        dig(world, 300, "f");
        let mut command = Command::new("sh");
        command
            .env_clear()
            .arg("-c")
            .arg("ulimit -n 256; exec \"$0\" \"$@\"");
        command
            .arg(tests::binary::tool_server())
            .args(arguments(&world.settings()));
        let mcp = Mcp::of(&mut command);
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", mcp.wire.pid())).unwrap();
        let limit = limits
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        assert!(limit.contains(" 256 "), "{limit}");
        for _ in 0..3 {
            assert!(is_served(&mcp, "search_files"), "one search has room");
            assert!(is_served(&mcp, "tree_dir"), "one tree has room");
        }
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| [is_served(&mcp, "search_files"), is_served(&mcp, "tree_dir")]);
            }
        });
        assert!(is_served(&mcp, "search_files"), "all are given back");
    });
}

/// Whether the call had descriptors enough: then its answer is whole, else it is to be tried again.
fn is_served(mcp: &Mcp, tool: &str) -> bool {
    let arguments = match tool {
        "search_files" => json!({"query": "needle", "max_results": 5000}),
        _ => json!({"path": ".", "max_depth": 50, "max_entries": 5000}),
    };
    let answer = mcp.patient_tool(tool, &arguments, Duration::from_secs(60));
    match (&answer.result, tool) {
        (Ok(done), "search_files") => {
            assert_eq!(done.facts["results"], 4001);
            assert_eq!(
                (&done.facts["unreadable"], &done.facts["skipped"]),
                (&json!([]), &json!({}))
            );
            true
        }
        (Ok(done), _) => {
            assert_eq!(
                (&done.facts["truncated"], &done.facts["skipped"]),
                (&json!(false), &json!({}))
            );
            true
        }
        (Err(no), _) => {
            assert_eq!(
                (no.code.as_str(), &no.fields["retry"]),
                ("io", &json!(true)),
                "{}",
                answer.raw
            );
            false
        }
    }
}

/// The kernel as a second wall changes no answer, not even between directories.
#[test]
fn a_confined_server_copies_moves_and_searches() {
    let world = World::new();
    world
        .put("root/f", "needle\n")
        .put("root/d/g", "needle\n")
        .link("root/out", "../out");
    let mut line = arguments(&world.settings());
    line.push("--confine".to_owned());
    let mcp = Mcp::with(&line);
    let call = |op: Op| {
        let answer = mcp.call(&op);
        assert_eq!(answer.code(), "ok", "{op:?}: {}", answer.raw);
        answer
    };
    assert_eq!(
        mcp.search(".", "needle").done().hits(),
        ["d/g:1:needle", "f:1:needle"]
    );
    assert_eq!(
        call(Op::Tree(Walk::of("."))).done().names,
        ["d/", "  g", "f", "out@"]
    );
    call(Op::Copy(Transfer::new("f", "new/copy")));
    call(Op::Move(Transfer::new("f", "d/moved")));
    call(Op::Move(Transfer::over("d/g", "new/copy")));
    call(Op::Move(Transfer::new("out", "new/out")));
    call(Op::CreateDir(tests::NewDir::new("made")));
    call(Op::Stat("d/moved".to_owned()));
    call(Op::Remove("new/out".to_owned()));
    let hits = mcp.search(".", "needle").done().hits();
    assert_eq!(hits, ["d/moved:1:needle", "new/copy:1:needle"]);
    assert_eq!(mcp.search("../out", "needle").code(), "outside_sandbox");
}

/// A root that lies in another with rights of its own is searched with those.
#[test]
fn a_root_in_a_root_is_searched_with_its_own_rights() {
    let world = World::new();
    world
        .put("root/a", "needle\n")
        .put("root/inner/b", "needle\n")
        .put("root/blind/c", format!("needle {CANARY}\n"));
    let root = |name: &str, path: &str, rights: &[&str]| tests::Root {
        name: name.to_owned(),
        path: world.path(path),
        rights: rights.iter().map(|right| (*right).to_owned()).collect(),
    };
    let mut settings = world.settings();
    settings.roots.push(root("inner", "root/inner", &["read"]));
    settings.roots.push(root("blind", "root/blind", &["edit"]));
    let engines = Engines::start(&settings);
    assert_eq!(
        engines.search(".", "needle").done().hits(),
        ["a:1:needle", "inner/b:1:needle"]
    );
    assert_eq!(
        engines.search("inner:", "needle").done().hits(),
        ["inner:b:1:needle"]
    );
    assert_eq!(
        engines.search("blind:", "needle").code(),
        "denied_by_policy"
    );
    let tree = engines.call(&Op::Tree(Walk::of(".")));
    assert_eq!(tree.done().names, ["inner/", "  b", "a"]);
    let denied: &Value = &tree.done().facts["skipped"];
    assert_eq!(denied, &json!({"denied": 1}));
}
