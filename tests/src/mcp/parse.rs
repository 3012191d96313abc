//! From the words of a tool's answer back to what they say.

use crate::front_end::{Answer, Block, Done, Search, Within};

/// Adds the names to the answer of `files_ls`: `name/`, or `name  (size)`.
pub(crate) fn listed(answer: Answer) -> Answer {
    with(answer, |done| {
        let rows = done
            .text
            .lines()
            .filter(|line| *line != "(empty directory)");
        done.names = rows.map(|row| without_size(row).to_owned()).collect();
    })
}

/// Adds the names to the answer of `list_dir`: a header, then `[D] name  (-)`.
pub(crate) fn listed_dir(answer: Answer) -> Answer {
    with(answer, |done| {
        let (header, rows) = done.text.split_once('\n').expect("a header and rows");
        assert!(header.starts_with("Directory: "), "{header}");
        let none = ["(empty)", "(no more entries)"];
        let rows = rows.lines().filter(|row| !none.contains(row));
        done.names = rows.map(listed_name).collect();
    })
}

fn listed_name(row: &str) -> String {
    let (kind, name) = row.split_at(4);
    let mark = match kind {
        "[D] " => "/",
        "[L] " => "@",
        "[F] " | "[S] " => "",
        other => panic!("no kind {other:?}"),
    };
    format!("{}{mark}", without_size(name))
}

fn without_size(row: &str) -> &str {
    row.rsplit_once("  (").map_or(row, |(name, _)| name)
}

/// Adds the rows to the answer of `tree_dir`, without the folders that are not entered.
pub(crate) fn tree(answer: Answer) -> Answer {
    with(answer, |done| {
        let rows = done.text.split('\n').skip(1);
        let rows = rows.filter(|row| !row.starts_with("... (truncated at"));
        done.names = rows.filter_map(tree_row).collect();
    })
}

/// Returns a row with two blanks for each level; `None` for one that was passed over.
fn tree_row(row: &str) -> Option<String> {
    let branch = row.find("-- ").expect("a branch") - 1;
    assert_eq!(branch % 4, 0, "{row}");
    let (above, own) = (&row[..branch], &row[branch..]);
    let levels = above.as_bytes().chunks(4);
    assert!(
        levels
            .clone()
            .all(|level| level == b"|   " || level == b"    "),
        "{row}"
    );
    let name = own
        .strip_prefix("|-- ")
        .or(own.strip_prefix("`-- "))
        .expect("a branch");
    let is_entered = !name.ends_with(')') || !name.contains("  (");
    is_entered.then(|| format!("{}{name}", "  ".repeat(levels.len())))
}

/// Adds the names or lines to the answer of `search_files`.
pub(crate) fn search(answer: Answer, search: &Search) -> Answer {
    with(answer, |done| {
        let lines: Vec<&str> = match done.text.as_str() {
            "(no matches)" => Vec::new(),
            text => text.split('\n').collect(),
        };
        if search.within == Within::Names {
            done.names = lines.into_iter().map(str::to_owned).collect();
        } else {
            done.blocks = blocks(&lines);
        }
    })
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut parted = false;
    for line in lines {
        if *line == "--" {
            parted = true;
            continue;
        }
        let (path, number, mark, text) = found_line(line);
        let next = |block: &&mut Block| {
            let last = block.first_line + block.lines.len() as u64;
            !parted && block.path == path && last == number
        };
        let line = (text.to_owned(), mark == ':');
        match blocks.last_mut().filter(next) {
            Some(block) => block.lines.push(line),
            None => blocks.push(Block {
                path: path.to_owned(),
                first_line: number,
                lines: vec![line],
            }),
        }
        parted = false;
    }
    blocks
}

/// Splits `PATH:LINE:text` or `PATH-LINE-text` at the first number between two equal marks.
fn found_line(line: &str) -> (&str, u64, char, &str) {
    for (at, mark) in line.match_indices([':', '-']) {
        let rest = &line[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(mark) {
            let number = rest[..digits].parse().expect("a number");
            let mark = mark.chars().next().expect("a mark");
            return (&line[..at], number, mark, &rest[digits + 1..]);
        }
    }
    panic!("no found line: {line:?}")
}

/// Puts what `read_file_range` shows in the place of its text: the lines without their numbers.
pub(crate) fn range(answer: Answer) -> Answer {
    with(answer, |done| {
        let mut lines = done.text.split('\n');
        for name in ["File: ", "Encoding: ", "Lines: "] {
            let header = lines.next().unwrap_or_default();
            assert!(header.starts_with(name), "{header:?} begins with {name:?}");
        }
        assert_eq!(lines.next(), Some(""), "a blank line ends the header");
        let first = done.facts["first_line"].as_u64().unwrap_or(1);
        let bare = (first..).zip(lines).map(|(number, line)| {
            let number = format!("{number}: ");
            let text = line.strip_prefix(&number);
            text.unwrap_or_else(|| panic!("{line:?} begins with {number:?}"))
        });
        done.text = bare.collect::<Vec<_>>().join("\n");
    })
}

fn with(mut answer: Answer, change: impl FnOnce(&mut Done)) -> Answer {
    if let Ok(done) = &mut answer.result {
        change(done);
    }
    answer
}
