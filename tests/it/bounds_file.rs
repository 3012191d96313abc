//! Every answer of the family `file` is bounded and says how to go on; memory does not grow with what
//! is read, walked or searched.

use std::time::Duration;

use serde_json::{Value, json};
use tests::{Answer, Done, FrontEnd, List, Mcp, Op, Openat2, Order, Search, Walk, World};

tests::suite!(a_huge_directory_is_paged);

#[test]
fn a_range_is_bounded_and_says_how_to_go_on() {
    let world = World::new();
    world
        .put("root/lines", "0123456789abcdef\n".repeat(200_000))
        .put("root/line", "é".repeat(3 << 20));
    let mcp = Mcp::start(&world.settings());
    let range = |arguments: Value| mcp.tool("read_file_range", &arguments);
    let body = |answer: &Answer| {
        let text = answer.shown();
        let (header, body) = text.split_once("\n\n").expect("a header and a body");
        assert!(header.len() < 100, "{header}");
        body.to_owned()
    };

    let first = range(json!({"path": "lines"}));
    assert_eq!(first.done().facts["returned_lines"], 500);
    assert!(
        first
            .done()
            .hint
            .starts_with("[Showing lines 1-500 of 200000. Use start_line=501 to continue.]")
    );
    assert_eq!(body(&first).lines().next(), Some("1: 0123456789abcdef"));

    let most = range(json!({"path": "lines", "max_lines": 1e9}));
    assert_eq!(most.done().facts["returned_lines"], 50_000);
    assert!(
        most.shown().len() <= 3 << 19,
        "1 MiB of text and its numbers"
    );
    let tail = range(json!({"path": "lines", "tail": 3}));
    assert_eq!(body(&tail).lines().next(), Some("199998: 0123456789abcdef"));

    let line = range(json!({"path": "line"}));
    assert_eq!(body(&line), format!("1: {}", "é".repeat(2000)));
    assert!(
        line.done().hint.contains("line 1 cut: column=2001 goes on"),
        "{}",
        line.done().hint
    );
    let rest = range(json!({"path": "line", "column": 2001}));
    assert!(rest.shown().len() <= 65 << 10);
    let next = rest.done().facts["next"]["column"].as_u64();
    assert_eq!(next, Some(2001 + body(&rest).chars().count() as u64 - 3));
}

/// A tree and a search stop at their caps, whatever is there, and say that there is more.
#[test]
fn a_tree_and_a_search_are_bounded_and_say_that_there_is_more() {
    World::in_memory(Openat2::Open, |world| {
        let long = format!("needle {}\n", "x".repeat(3000));
        for number in 0..6000_u32 {
            world.put(&format!("root/d{:02}/f{number}", number % 100), &long);
        }
        let mcp = Mcp::start(&world.settings());
        let call = |tool: &str, arguments: Value| {
            mcp.patient_tool(tool, &arguments, Duration::from_secs(60))
                .done()
                .clone()
        };
        let rows = |done: &Done| done.text.lines().count() - 1;

        let tree = call("tree_dir", json!({"path": "."}));
        assert_eq!((rows(&tree), &tree.facts["truncated"]), (201, &json!(true)));
        assert!(
            tree.text.ends_with("\n... (truncated at 200 entries)"),
            "{}",
            tree.text
        );
        let most = call("tree_dir", json!({"path": ".", "max_entries": 1e9}));
        assert_eq!(rows(&most), 5001);

        let fifty = call("search_files", json!({"query": "needle"}));
        assert_eq!(
            (&fifty.facts["results"], &fifty.facts["truncated"]),
            (&json!(50), &json!("results"))
        );
        assert!(fifty.text.len() <= 64 << 10);
        assert!(
            fifty.text.lines().all(|line| line.chars().count() < 540),
            "lines are cut"
        );
        assert!(
            fifty.hint.contains("The first 50 results; there are more."),
            "{}",
            fifty.hint
        );
        assert!(
            fifty.hint.contains("long lines cut around the match"),
            "{}",
            fifty.hint
        );

        let most = call(
            "search_files",
            json!({"query": "needle", "max_results": 1e9}),
        );
        assert_eq!(most.facts["truncated"], "bytes");
        assert!(most.text.len() <= 1 << 20, "{} bytes", most.text.len());
        assert!(most.facts["results"].as_u64().unwrap() > 1500);
        let context = call(
            "search_files",
            json!({"query": "needle", "context_lines": 100}),
        );
        assert!(
            context.text.len() <= 80 << 10,
            "{} bytes",
            context.text.len()
        );

        let names = call("search_files", json!({"query": "f", "mode": "name"}));
        assert_eq!(
            (names.text.lines().count(), &names.facts["truncated"]),
            (50, &json!("results"))
        );
        let names = call(
            "search_files",
            json!({"query": "f*", "mode": "name", "max_results": 1e9}),
        );
        assert_eq!(
            (names.text.lines().count(), &names.facts["truncated"]),
            (5000, &json!("results"))
        );
    });
}

/// 100,000 entries: each is on one page, and a page costs its own memory.
fn a_huge_directory_is_paged<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        std::fs::create_dir(world.path("root/d")).unwrap();
        for number in 0..100_000 {
            let name = format!("root/d/f{number:05}");
            if number % 1000 == 0 {
                std::fs::create_dir(world.path(&name)).unwrap();
            } else {
                std::fs::File::create(world.path(&name)).unwrap();
            }
        }
        let front = F::start(&world.settings());
        front.list(".");
        let idle = front.peak_memory();
        let page = |limit: u64, after: Option<String>| {
            let list = List {
                limit: Some(limit),
                after,
                ..List::of("d")
            };
            let answer = front.call(&Op::List(list));
            assert_eq!(answer.done().facts["total"], 100_000, "{:.200}", answer.raw);
            let next = answer.done().facts["next"].as_str().map(str::to_owned);
            (answer.done().names.clone(), next)
        };
        let (first, next) = page(500, None);
        assert_eq!((first.len(), next.is_some()), (500, true));
        let (second, _) = page(500, next);
        assert!(second.len() == 500 && !second.contains(&first[499]));
        if let (Some(idle), Some(peak)) = (idle, front.peak_memory()) {
            assert!(
                peak - idle <= 4 << 20,
                "{} KiB for two pages",
                (peak - idle) >> 10
            );
        }
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let (names, next) = page(10_000, after);
            all.extend(names);
            after = next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(all.len(), 100_000);
        let folders = all.iter().filter(|name| name.ends_with('/')).count();
        assert_eq!(folders, 100);
        if F::NAME == "mcp-file" {
            assert!(
                all[..100].iter().all(|name| name.ends_with('/')),
                "folders come first"
            );
        }
        let bare = |name: &String| name.trim_end_matches('/').to_owned();
        let mut names: Vec<_> = all.iter().map(bare).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 100_000, "none is on two pages");
        let listed = List {
            order: Order::Own,
            ..List::of("d")
        };
        assert!(front.call(&Op::List(listed)).code() == "ok");
        let tree = front.call(&Op::Tree(Walk {
            max_entries: 500,
            ..Walk::of("d")
        }));
        assert_eq!(
            (tree.done().names.len(), &tree.done().facts["truncated"]),
            (500, &json!(true))
        );
        let found = front.call(&Op::Search(Search::names("d", "f77777")));
        assert_eq!(found.done().names, ["d/f77777"]);
    });
}

/// Windows by `read_file_range` of 128 MiB: the peak grows by blocks and answers, not by the file.
#[test]
fn memory_does_not_grow_with_the_file() {
    let world = World::new();
    let lines = world.log("root/log", 128 << 20);
    world.put("root/small", "one\n");
    let mcp = Mcp::start(&world.settings());
    mcp.tool("read_file_range", &json!({"path": "small"}));
    let idle = mcp.peak_memory().unwrap();
    for line in [1, lines / 2, lines - 100, lines / 3] {
        let range = json!({"path": "log", "start_line": line, "max_lines": 100});
        let answer = mcp.tool("read_file_range", &range);
        let first = format!("\n\n{line}: {:06} a line", (line - 1) % 16_384);
        assert!(
            answer.shown().contains(&first),
            "at {line}: {:.80}",
            answer.shown()
        );
    }
    let tail = mcp.tool("read_file_range", &json!({"path": "log", "tail": 2}));
    assert!(tail.shown().contains(": 016382 a line"), "{}", tail.shown());
    let peak = mcp.peak_memory().unwrap();
    assert!(
        peak - idle <= 4 << 20,
        "{} KiB over idle",
        (peak - idle) >> 10
    );
}

/// Large files, long lines, other encodings, many hits: a search stays below 64 MiB in all.
#[test]
fn a_search_takes_little_memory() {
    World::in_memory(Openat2::Open, |world| {
        let line = "a line of a log that says nothing much at all, with 64 bytes...\n";
        let large = line.repeat((48 << 20) / line.len()) + "needle\n";
        world.put("root/large", &large);
        for copy in 0..12 {
            let name = format!("root/copy-{copy}");
            std::fs::hard_link(world.path("root/large"), world.path(&name)).unwrap();
        }
        drop(large);
        world.put("root/long", "x".repeat(15 << 20) + "needle");
        let wide: Vec<u8> = line
            .repeat(200_000)
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        world.put("root/wide", [b"\xff\xfe".as_slice(), &wide].concat());
        drop(wide);
        world.put("root/hits", "needle needle needle\n".repeat(500_000));
        let mcp = Mcp::start(&world.settings());
        let search = |more: Value| {
            let mut all = json!({"query": "needle", "max_results": 5000});
            all.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let answer = mcp.patient_tool("search_files", &all, Duration::from_secs(120));
            assert_eq!(answer.code(), "ok", "{:.300}", answer.raw);
            answer
        };
        let found = search(json!({"file_glob": "[cl]*"}));
        assert_eq!(found.done().facts["results"], 14, "{:.2000}", found.shown());
        search(json!({}));
        search(json!({"context_lines": 100}));
        search(json!({"query": "ne+dle", "regex": true}));
        search(json!({"query": "h", "file_glob": "wide"}));
        let peak = mcp.peak_memory().unwrap();
        assert!(peak < 64 << 20, "{} MiB", peak >> 20);
    });
}
