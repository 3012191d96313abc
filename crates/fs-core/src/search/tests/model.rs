//! The search against one that reads every file whole and every line apart.

use proptest::prelude::*;

use super::*;

fn line() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "hit", "HIT", "h", "中", "é", "x", " ", "hi", "t", "\r",
    ]);
    prop::collection::vec(word, 0..5).prop_map(|words| words.concat())
}

fn file() -> impl Strategy<Value = (String, String)> {
    let dir = prop::sample::select(vec!["", "a/", "b/", "a/b/", "a.b/"]);
    let name = prop::sample::select(vec!["f", "g", "h.txt", "F"]);
    let lines = prop::collection::vec(line(), 0..12);
    let ends = prop::sample::select(vec!["\n", "\r\n"]);
    (dir, name, lines, ends, any::<bool>()).prop_map(|(dir, name, lines, end, closed)| {
        let text = lines.join(end) + if closed { end } else { "" };
        (format!("{dir}{name}"), text)
    })
}

/// Returns what a search for `pattern` shows, found without any of its code.
fn model(root: &Path, pattern: &str, context: usize, max_results: usize) -> (Vec<String>, bool) {
    let mut paths: Vec<RelPath> = Vec::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                paths.push(RelPath::parse(path.strip_prefix(root).unwrap()).unwrap());
            }
        }
    }
    paths.sort();
    let (mut shown, mut left, mut cut) = (Vec::new(), max_results, false);
    for path in paths {
        let text = fs::read_to_string(root.join(path.as_path())).unwrap();
        let lines: Vec<&str> = text
            .split_inclusive('\n')
            .map(|line| {
                line.strip_suffix('\n')
                    .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
            })
            .collect();
        let hits: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].contains(pattern))
            .collect();
        let kept = &hits[..hits.len().min(left)];
        left -= kept.len();
        cut |= kept.len() < hits.len();
        for (at, line) in lines.iter().enumerate() {
            let near = kept.iter().any(|hit| hit.abs_diff(at) <= context);
            let mark = if kept.contains(&at) { ':' } else { '-' };
            if near {
                let text = if line.chars().count() <= 500 {
                    (*line).to_owned()
                } else {
                    unreachable!()
                };
                shown.push(format!("{path}{mark}{}{mark}{text}", at + 1));
            }
        }
    }
    (shown, cut)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_search_is_that_of_every_line(
        files in prop::collection::vec(file(), 1..12),
        pattern in prop::sample::select(vec!["hit", "h", "中", "x ", "é"]),
        context_lines in 0_usize..3,
        max_results in 0_usize..12,
        threads in 0_usize..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &files {
            let path = folder.path().join(path);
            let made = fs::create_dir_all(path.parent().unwrap());
            let _in_the_way = made.and_then(|()| fs::write(path, text));
        }
        let query = Query { context_lines, max_results, threads, ..query(pattern) };
        let found = found(&folder, &query);
        let (expected, cut) = model(folder.path(), pattern, context_lines, max_results);
        prop_assert_eq!(lines(&found), expected);
        prop_assert_eq!(found.cut.is_some(), cut);
    }
}
