//! Searches against a line by line look at random trees in memory.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};
use tests::model::search::{Entry, Found, Spelling, search};
use tests::property::{check, equal};
use tests::{Answer, FrontEnd, Op, Openat2, Search, World};

tests::suite!(
    [engines, mcp]
    a_search_of_texts_finds_what_the_model_finds,
    a_search_of_names_finds_what_the_model_finds,
    a_cut_search_holds_the_first_hits_on_every_run,
    a_glob_goes_by_characters,
    a_regular_expression_goes_by_lines,
    rules_of_ignoring_end_at_the_root_and_at_who_names_a_folder,
    a_binary_file_is_no_text_from_its_first_nul_on,
    a_lone_cr_is_data_and_that_of_a_break_is_none,
);

const NAMES: [&str; 12] = [
    "a",
    "b",
    "a.txt",
    "B.txt",
    "a-b",
    "a.txt.bak",
    ".h",
    ".env.txt",
    "node_modules",
    "中",
    "b.rs",
    "A",
];
const PIECES: [&str; 15] = [
    "hit",
    "hit",
    "hat",
    "HIT",
    " ",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "中",
    "中文",
    "é",
    "\u{2028}x",
    "-- ",
];
const RULES: [&str; 10] = [
    "a", "/b", "b/", "*.txt", "!a.txt", "!.h", ".*", "中", "a-?", "!a/",
];

fn texts() -> impl Strategy<Value = Entry> {
    let text = vec(select(&PIECES[..]), 0..14).prop_map(|pieces| pieces.concat());
    let spelling = prop_oneof![
        6 => Just(Spelling::Utf8),
        1 => Just(Spelling::Utf8Mark),
        1 => Just(Spelling::Utf16Le),
        1 => Just(Spelling::Utf16Be),
        3 => Just(Spelling::Gbk),
        1 => Just(Spelling::Binary),
    ];
    (text, spelling).prop_map(|(text, spelling)| Entry::File(text, spelling))
}

fn nodes() -> impl Strategy<Value = (&'static str, Entry)> {
    let rules = vec(select(&RULES[..]), 1..4).prop_map(|lines| lines.join("\n"));
    let rules = rules.prop_map(|rules| Entry::File(rules, Spelling::Utf8));
    prop_oneof![
        12 => (select(&NAMES[..]), texts()),
        2 => (select(&NAMES[..]), Just(Entry::dir())),
        1 => (select(&NAMES[..]), Just(Entry::Link)),
        1 => (select(&[".gitignore", ".ignore"][..]), rules),
    ]
}

fn trees() -> impl Strategy<Value = Entry> {
    let above = vec(select(&NAMES[..]), 0..3);
    vec((above, nodes()), 0..18).prop_map(|places| {
        let mut tree = Entry::dir();
        for (above, (name, entry)) in places {
            let names = above.into_iter().chain([name]).map(str::to_owned);
            tree.put(&names.collect::<Vec<_>>(), entry);
        }
        tree
    })
}

fn text_searches() -> impl Strategy<Value = Search> {
    let queries = select(vec![
        "hit",
        "hit",
        "h",
        "HIT",
        "中",
        "中文",
        "é",
        "t h",
        "\u{2028}x",
        "-",
        "nothing",
    ]);
    let globs = option::weighted(0.3, select(vec!["*.txt", "a*", "a?b", "中"]));
    let limits = option::weighted(0.5, select(vec![1_u64, 2, 3, 7]));
    (queries, globs, limits, 0..3_u64, any::<bool>()).prop_map(
        |(query, glob, max_results, context_lines, include_hidden)| Search {
            file_glob: glob.map(str::to_owned),
            max_results,
            context_lines,
            include_hidden,
            ..Search::text(".", query)
        },
    )
}

fn name_searches() -> impl Strategy<Value = Search> {
    let queries = select(vec![
        "a", "A", "b.", "txt", ".", "*.txt", "a?b", "a*", "a/b", "a/*", "中", "*", "node", "a-b",
    ]);
    let limits = option::weighted(0.3, select(vec![1_u64, 2, 5]));
    (queries, limits, any::<bool>()).prop_map(|(query, max_results, include_hidden)| Search {
        max_results,
        include_hidden,
        ..Search::names(".", query)
    })
}

fn cases<F: FrontEnd>(engines: u32) -> u32 {
    if F::NAME == "engines" {
        engines
    } else {
        engines / 4
    }
}

fn compare<F: FrontEnd>(cases: u32, searches: impl Strategy<Value = Search> + Send) {
    World::in_memory(Openat2::Open, |world| {
        world.put("out/hit", "hit 中\n");
        let mut settings = world.settings();
        settings.fallback = Some("gbk".to_owned());
        let front = F::start(&settings);
        check(
            cases,
            &(trees(), vec(searches, 1..4)),
            |(tree, searches)| {
                world.clear("root");
                tree.build(&world.root(), &world.path("out/hit"));
                for asked in searches {
                    let answer = front.call(&Op::Search(asked.clone()));
                    compare_one(&answer, &search(&tree, &asked))
                        .map_err(|words| format!("{asked:?}: {words}"))?;
                }
                Ok(())
            },
        );
    });
}

fn compare_one(answer: &Answer, wanted: &Found) -> Result<(), String> {
    let done = answer.result.as_ref().map_err(|no| format!("{no:?}"))?;
    equal("the names", &done.names, &wanted.names)?;
    equal("the lines", &done.blocks, &wanted.blocks)?;
    let truncated = if wanted.truncated {
        json!("results")
    } else {
        Value::Null
    };
    equal("truncated", &done.facts["truncated"], &truncated)?;
    if !wanted.truncated {
        let skipped: BTreeMap<&str, u64> = wanted.skipped.clone();
        equal("the skipped", &done.facts["skipped"], &json!(skipped))?;
    }
    let hits: usize = wanted
        .blocks
        .iter()
        .flat_map(|block| &block.lines)
        .filter(|line| line.1)
        .count();
    equal(
        "the number of results",
        &done.facts["results"],
        &(hits + wanted.names.len()).into(),
    )
}

fn a_search_of_texts_finds_what_the_model_finds<F: FrontEnd>() {
    compare::<F>(cases::<F>(1200), text_searches());
}

fn a_search_of_names_finds_what_the_model_finds<F: FrontEnd>() {
    compare::<F>(cases::<F>(600), name_searches());
}

/// Many files for two threads: whichever is faster, the answer is the same, and a beginning of the
/// whole one.
fn a_cut_search_holds_the_first_hits_on_every_run<F: FrontEnd>() {
    World::in_memory(Openat2::Open, |world| {
        for number in 0..900_u32 {
            let lines = "hit\nmiss\n".repeat((number * 7919 % 5) as usize);
            let more = "no match here\n".repeat((number * 104_729 % 600) as usize);
            let name = format!("root/d{}/e{}/f{number}", number % 7, number % 3);
            world.put(&name, format!("{more}{lines}"));
        }
        let front = F::start(&world.settings());
        let ask = |max_results: u64| {
            let asked = Search {
                max_results: Some(max_results),
                ..Search::text(".", "hit")
            };
            front.call(&Op::Search(asked)).done().clone()
        };
        let whole = ask(5000);
        let all = whole.hits();
        assert_eq!((all.len(), &whole.facts["truncated"]), (1800, &Value::Null));
        for limit in [1_u64, 2, 10, 50, 333, 1799, 1800] {
            let count = usize::try_from(limit).unwrap();
            let first = ask(limit);
            assert_eq!(first.hits(), all[..count], "the first {limit}");
            assert_eq!(first.facts["truncated"].is_null(), limit == 1800);
            for run in 0..6 {
                let again = ask(limit);
                assert_eq!(again.hits(), all[..count], "run {run} of the first {limit}");
                assert_eq!(again.facts["skipped"], first.facts["skipped"]);
            }
        }
    });
}

fn a_glob_goes_by_characters<F: FrontEnd>() {
    let world = World::new();
    world
        .put("root/中", "hit\n")
        .put("root/é.rs", "hit\n")
        .put("root/ab", "hit\n");
    let front = F::start(&world.settings());
    let names = |query: &str| {
        let answer = front.call(&Op::Search(Search::names(".", query)));
        answer.done().names.clone()
    };
    assert_eq!(names("?"), ["中"]);
    assert_eq!(names("?.rs"), ["é.rs"]);
    assert_eq!(names("??"), ["ab"]);
    let asked = Search {
        file_glob: Some("?.rs".to_owned()),
        ..Search::text(".", "hit")
    };
    assert_eq!(front.call(&Op::Search(asked)).done().hits(), ["é.rs:1:hit"]);
}

fn a_regular_expression_goes_by_lines<F: FrontEnd>() {
    let world = World::new();
    world
        .put("root/a", "one two\r\ntwo\r\nTWO\n")
        .put("root/b", "two three\n\u{e9}two\ntwo")
        .put("root/utf16", b"\xff\xfet\0w\0o\0\r\0\n\0");
    let front = F::start(&world.settings());
    let check = |query: &str, wanted: &[&str]| {
        let asked = Search {
            regex: true,
            ..Search::text(".", query)
        };
        assert_eq!(
            front.call(&Op::Search(asked)).done().hits(),
            wanted,
            "{query}"
        );
    };
    check("^two$", &["a:2:two", "b:3:two", "utf16:1:two"]);
    check(
        "(?i)^two$",
        &["a:2:two", "a:3:TWO", "b:3:two", "utf16:1:two"],
    );
    check("^.two", &["b:2:\u{e9}two"]);
    check("two\\s+three|one", &["a:1:one two", "b:1:two three"]);
    check("\\bthree\\b", &["b:1:two three"]);
    check("nothing at all$", &[]);
}

fn rules_of_ignoring_end_at_the_root_and_at_who_names_a_folder<F: FrontEnd>() {
    let world = World::new();
    world
        .put(".gitignore", "*\n")
        .put(".git/info/exclude", "*\n")
        .put("root/.gitignore", "ignored\n*.log\n")
        .put("root/.git/info/exclude", "excluded\n")
        .put("root/a", "hit\n")
        .put("root/b.log", "hit\n")
        .put("root/excluded", "hit\n")
        .put("root/ignored/c", "hit\n")
        .put("root/ignored/d.log", "hit\n")
        .put("root/sub/.gitignore", "!b.log\n")
        .put("root/sub/b.log", "hit\n")
        .put("root/node_modules/e", "hit\n");
    let front = F::start(&world.settings());
    let check = |path: &str, wanted: &[&str]| {
        assert_eq!(front.search(path, "hit").done().hits(), wanted, "{path}");
    };
    check(".", &["a:1:hit", "sub/b.log:1:hit"]);
    check("sub", &["sub/b.log:1:hit"]);
    // Whoever names a folder wants what is in it.
    check("ignored", &["ignored/c:1:hit", "ignored/d.log:1:hit"]);
    check("node_modules", &["node_modules/e:1:hit"]);
    let skipped = front.search(".", "hit").done().facts["skipped"].clone();
    assert_eq!(skipped, json!({"skip_list": 2, "ignored": 3}));
}

fn a_binary_file_is_no_text_from_its_first_nul_on<F: FrontEnd>() {
    let world = World::new();
    let late = format!("hit\n{}\0\nhit\n", "no match\n".repeat(2000));
    let large = format!("hit\n{}\0\nhit\n", "no match\n".repeat(200_000));
    world
        .put("root/early", "hit\n\0\nhit\n")
        .put("root/late", late)
        .put("root/large", large)
        .put("root/text", "hit\n");
    let front = F::start(&world.settings());
    let answer = front.search(".", "hit");
    assert_eq!(
        answer.done().hits(),
        ["large:1:hit", "late:1:hit", "text:1:hit"]
    );
    assert_eq!(answer.done().facts["skipped"], json!({"binary": 3}));
}

fn a_lone_cr_is_data_and_that_of_a_break_is_none<F: FrontEnd>() {
    let world = World::new();
    world.put("root/f", "a\rb\r\nb\r\n\rb\nb\r");
    let front = F::start(&world.settings());
    let hits = |query: &str| front.search(".", query).done().hits();
    assert_eq!(hits("a\rb"), ["f:1:a\rb"]);
    assert_eq!(hits("\rb"), ["f:1:a\rb", "f:3:\rb"]);
    assert_eq!(hits("b"), ["f:1:a\rb", "f:2:b", "f:3:\rb", "f:4:b\r"]);
    if F::NAME == "engines" {
        // The tool takes breaks at the end of a query for none.
        assert_eq!(hits("b\r"), ["f:4:b\r"]);
    }
}
