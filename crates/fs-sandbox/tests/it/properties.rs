//! On random trees the resolver answers as its model does, with and without openat2.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use fs_core::Error;
use fs_sandbox::{Rights, Workspace};
use proptest::prelude::*;
use rustix::io::Errno;

use crate::model::{Ask, Model, ModelRoot, Node};
use crate::support::{Tree, without_openat2};

/// What is put into a tree: a path's names, and what it is.
type Item = (Vec<&'static str>, Node);

/// Names that no disk has at its top, where some paths lead.
fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => prop::sample::select(vec!["pa", "pb"]), 3 => Just("in"), 1 => Just("ps")]
}

/// Path texts: relative, by name of a root, absolute; with dots, `..`, links and slashes at the end.
fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => name().prop_map(str::to_owned),
        3 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(String::new()),
        1 => prop::sample::select(vec!["top", "out", "side"]).prop_map(str::to_owned),
    ];
    let start = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "./",
        "in:",
        "side:",
        "${BASE}/",
        "${BASE}/top/",
        "${BASE}/top/in/",
        "${BASE}/side/",
        "${BASE}/out/",
        "/",
        "/proc/",
    ]);
    (
        start,
        prop::collection::vec(part, 0..5),
        prop::sample::select(vec!["", "", "/", "/."]),
    )
        .prop_map(|(start, parts, end)| format!("{start}{}{end}", parts.join("/")))
}

/// Link texts: paths, but no names of roots.
fn target() -> impl Strategy<Value = String> {
    let target = path().prop_map(|text| text.replace("in:", "").replace("side:", "../"));
    target.prop_filter("a link has a text", |text| !text.is_empty())
}

fn item() -> impl Strategy<Value = Item> {
    let top = prop::sample::select(vec!["top", "top", "top", "side", "out"]);
    let node = prop_oneof![
        4 => Just(Node::Dir),
        3 => Just(Node::File),
        5 => target().prop_map(Node::Link),
    ];
    (top, prop::collection::vec(name(), 1..4), node).prop_map(|(top, mut names, node)| {
        names.insert(0, top);
        (names, node)
    })
}

fn names_of(path: &Path) -> Vec<String> {
    let names = path.components().skip(1);
    names
        .map(|name| name.as_os_str().to_str().unwrap().to_owned())
        .collect()
}

/// Returns the tree and its model; an item whose parent is no directory is left out of both.
fn grown(items: &[Item]) -> (Tree, Model) {
    let tree = Tree::new(&["top/in/", "side/"]);
    let base = names_of(tree.base());
    let at = |names: &[&str]| -> Vec<String> {
        base.iter()
            .cloned()
            .chain(names.iter().map(|name| (*name).to_owned()))
            .collect()
    };
    let mut model = Model::default();
    for end in 0..=base.len() {
        model.nodes.insert(base[..end].to_vec(), Node::Dir);
    }
    for names in [&["root"][..], &["top"], &["top", "in"], &["side"], &["out"]] {
        model.nodes.insert(at(names), Node::Dir);
    }
    for (names, node) in items {
        let (path, node) = (at(names), with_base(node, &tree));
        if model.nodes.get(&path[..path.len() - 1]) != Some(&Node::Dir)
            || model.nodes.contains_key(&path)
        {
            continue;
        }
        let on_disk = tree.base().join(names.join("/"));
        match &node {
            Node::Dir => fs::create_dir(on_disk).unwrap(),
            Node::File => fs::write(on_disk, "text").unwrap(),
            Node::Link(target) => symlink(target, on_disk).unwrap(),
        }
        model.nodes.insert(path, node);
    }
    model.forbidden = "ps";
    for (name, names) in [
        ("ws", &["top"][..]),
        ("in", &["top", "in"]),
        ("side", &["side"]),
    ] {
        model.roots.push(ModelRoot {
            name,
            at: at(names),
            readable: name != "side",
        });
    }
    (tree, model)
}

fn with_base(node: &Node, tree: &Tree) -> Node {
    match node {
        Node::Link(target) => Node::Link(tree.text(target)),
        other => other.clone(),
    }
}

fn workspace(tree: &Tree, outside: Rights) -> Workspace {
    let mut builder = Workspace::builder().outside(outside).deny("ps");
    for (name, path, rights) in [
        ("ws", "top", Rights::ALL),
        ("in", "top/in", Rights::ALL),
        ("side", "side", Rights::EDIT),
    ] {
        builder = builder.root(name, &tree.path(path), rights);
    }
    builder.build().unwrap()
}

fn answer(workspace: &Workspace, path: &str, ask: Ask) -> Result<String, &'static str> {
    let code = |error: Error| error.code();
    match ask {
        Ask::OpenFile => workspace.open(path).map_err(code).map(|opened| {
            let shown = opened.path.as_os_str().to_str().unwrap();
            format!("{}:{shown}", opened.root.unwrap_or_default())
        }),
        Ask::OpenDir => workspace
            .open_dir(path)
            .map_err(code)
            .map(|_| String::new()),
        Ask::Stat => workspace.stat(path).map_err(code).map(|_| String::new()),
    }
}

fn expected(model: &Model, path: &str, ask: Ask) -> Result<String, &'static str> {
    let shown = model.ask(path, ask);
    if ask == Ask::OpenFile {
        shown
    } else {
        shown.map(|_| String::new())
    }
}

fn answers(workspace: &Workspace, paths: &[String]) -> Vec<Result<String, &'static str>> {
    let asks = [Ask::OpenFile, Ask::OpenDir, Ask::Stat];
    let all = paths
        .iter()
        .flat_map(|path| asks.map(|ask| answer(workspace, path, ask)));
    all.collect()
}

fn compare(items: &[Item], paths: &[String], outside: Rights) -> Result<(), TestCaseError> {
    let (tree, mut model) = grown(items);
    model.outside = outside != Rights::NONE;
    let paths: Vec<_> = paths.iter().map(|path| tree.text(path)).collect();
    let open = answers(&workspace(&tree, outside), &paths);
    let blocked = without_openat2(Errno::NOSYS, || answers(&workspace(&tree, outside), &paths));
    let asks = [Ask::OpenFile, Ask::OpenDir, Ask::Stat];
    let asked = paths.iter().flat_map(|path| asks.map(|ask| (path, ask)));
    for (((path, ask), open), blocked) in asked.zip(open).zip(blocked) {
        let expected = expected(&model, path, ask);
        prop_assert_eq!(&open, &expected, "{:?} {}", ask, path);
        prop_assert_eq!(&blocked, &expected, "without openat2: {:?} {}", ask, path);
    }
    Ok(())
}

/// Does to each path in turn what its place in the list says, and returns the codes.
fn change(workspace: &Workspace, paths: &[String]) -> Vec<Result<(), &'static str>> {
    let changes = [
        Workspace::create_dir_all,
        Workspace::create_dir,
        Workspace::remove_file,
    ];
    let done = paths.iter().zip(changes.iter().cycle());
    done.map(|(path, change)| change(workspace, path).map_err(|error| error.code()))
        .collect()
}

/// Returns the names in a tree with what each is.
fn names_in(dir: &Path, below: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}/{}", entry.file_name().to_str().unwrap());
        let kind = entry.file_type().unwrap();
        names.push(format!("{name} {kind:?}"));
        if kind.is_dir() {
            names_in(&entry.path(), &name, names);
        }
    }
}

fn snapshot(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    names_in(dir, "", &mut names);
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_path_leads_where_the_model_says(
        items in prop::collection::vec(item(), 0..24),
        paths in prop::collection::vec(path(), 24),
    ) {
        compare(&items, &paths, Rights::NONE)?;
    }

    #[test]
    fn a_path_leads_where_the_model_says_with_rights_outside(
        items in prop::collection::vec(item(), 0..24),
        paths in prop::collection::vec(path(), 24),
    ) {
        compare(&items, &paths, Rights::READ)?;
    }

    #[test]
    fn changes_are_the_same_without_openat2_and_stay_inside(
        items in prop::collection::vec(item(), 0..24),
        paths in prop::collection::vec(path(), 24),
    ) {
        let runs = [false, true].map(|blocked| {
            let (tree, _) = grown(&items);
            let paths: Vec<_> = paths.iter().map(|path| tree.text(path)).collect();
            let before = snapshot(&tree.path("out"));
            let workspace = workspace(&tree, Rights::NONE);
            let codes = if blocked {
                without_openat2(Errno::NOSYS, || change(&workspace, &paths))
            } else {
                change(&workspace, &paths)
            };
            (codes, snapshot(tree.base()), before == snapshot(&tree.path("out")))
        });
        prop_assert!(runs[0].2, "the outside has changed");
        prop_assert_eq!(&runs[0], &runs[1]);
    }
}
