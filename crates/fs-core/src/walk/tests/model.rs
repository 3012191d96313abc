//! The walk against the walker of the crate `ignore`, on random trees.

use ignore::WalkBuilder;
use proptest::prelude::*;

use super::*;

/// A name that the rules can mean.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a", "b", "ab", "A", ".a", ".b", "a.o", "b.o", "a b", "é", "[a]",
    ])
}

/// A rule, mostly of names that exist.
fn rule() -> impl Strategy<Value = String> {
    let body = prop_oneof![
        name().prop_map(str::to_owned),
        (name(), name()).prop_map(|(a, b)| format!("{a}/{b}")),
        prop::sample::select(vec![
            "*", "*.o", "a*", "**/a", "a/**", "**/a/b", "a/**/b", "?", "[ab]", ".*", "*/", "\\!a",
            "#a", " a", "a ", "a\\ ", "**", "/", "", "{a,b}", "\\[a\\]", "[!a]", "[", "a/*",
        ])
        .prop_map(str::to_owned),
    ];
    (
        prop::sample::select(vec!["", "!", "/", "!/"]),
        body,
        prop::sample::select(vec!["", "", "/"]),
    )
        .prop_map(|(start, body, end)| format!("{start}{body}{end}"))
}

#[derive(Debug, Clone)]
enum Item {
    File(Vec<&'static str>),
    Dir(Vec<&'static str>),
    Rules(Vec<&'static str>, &'static str, Vec<String>),
}

fn item() -> impl Strategy<Value = Item> {
    let path = |least| prop::collection::vec(name(), least..4);
    let file = prop::sample::select(vec![".gitignore", ".ignore", ".git/info/exclude"]);
    prop_oneof![
        4 => path(1).prop_map(Item::File),
        1 => path(1).prop_map(Item::Dir),
        2 => (path(0), file, prop::collection::vec(rule(), 1..5))
            .prop_map(|(dir, file, rules)| Item::Rules(dir, file, rules)),
    ]
}

/// Makes an item, unless something of another kind is in its way.
fn make(root: &Path, item: &Item) {
    let (path, text) = match item {
        Item::Dir(names) => {
            let _exists = fs::create_dir_all(root.join(names.join("/")));
            return;
        }
        Item::File(names) => (names.join("/"), String::new()),
        Item::Rules(dir, file, rules) => (format!("{}/{file}", dir.join("/")), rules.join("\n")),
    };
    let path = root.join(path.trim_start_matches('/'));
    if fs::create_dir_all(path.parent().unwrap()).is_ok() {
        let _is_directory = fs::write(path, text);
    }
}

fn ours(root: &Path, options: &WalkOptions) -> Vec<RelPath> {
    let mut paths = Vec::new();
    walk(
        &open(root),
        &RelPath::root(),
        options,
        &Everything,
        &mut |entry| {
            if entry.skip.is_none() {
                paths.push(entry.path.clone());
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    paths
}

fn theirs(root: &Path, options: &WalkOptions) -> Vec<RelPath> {
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(options.respect_ignore)
        .hidden(!options.include_hidden)
        .parents(false)
        .git_global(false)
        .max_depth(options.max_depth)
        .sort_by_file_name(Ord::cmp);
    let entries = builder.build().map(Result::unwrap);
    let paths = entries.map(|entry| entry.path().strip_prefix(root).unwrap().to_owned());
    let below = paths.filter(|path| path != Path::new(""));
    below.map(|path| RelPath::parse(path).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_walk_is_that_of_the_ignore_crate(
        items in prop::collection::vec(item(), 1..20),
        include_hidden: bool,
        respect_ignore: bool,
        max_depth in prop_oneof![Just(None), (1_usize..4).prop_map(Some)],
        threads in 1_usize..4,
    ) {
        // Theirs has rules in repositories only; ours everywhere, as a copy has them without `.git`.
        let folder = tree(&[".git/HEAD="]);
        for item in &items {
            make(folder.path(), item);
        }
        let options = WalkOptions {
            order: Order::Bytes,
            include_hidden,
            respect_ignore,
            max_depth,
            threads,
            skip_list: &[],
            ..WalkOptions::default()
        };
        prop_assert_eq!(ours(folder.path(), &options), theirs(folder.path(), &options));
    }
}
