//! The contract's properties on files and requests from a small alphabet.

use fs_core::{Encoding, Lines, Piece, Version};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::model::{self, Failure, Spelling};
use crate::{Edit, EolMode, Positional, Request, plan};

const LETTERS: [&str; 14] = [
    "a", "b", "ab", "\n", "\r\n", "\r", " ", "\t", "é", "e\u{301}", "中", "😀", "\u{85}",
    "\u{2028}",
];

fn text(len: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&LETTERS[..]), 0..len).prop_map(|letters| letters.concat())
}

/// Mostly `a`, `b` and breaks, so that needles overlap themselves and each other.
fn dense_text(len: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&LETTERS[..6]), 0..len).prop_map(|letters| letters.concat())
}

fn any_text(len: usize) -> impl Strategy<Value = String> {
    prop_oneof![text(len), dense_text(len)]
}

fn eol() -> impl Strategy<Value = EolMode> {
    select(vec![
        EolMode::Auto,
        EolMode::Auto,
        EolMode::Exact,
        EolMode::Lf,
        EolMode::CrLf,
    ])
}

fn spelling() -> impl Strategy<Value = Spelling> {
    use Spelling::{Opaque, Utf8, Utf16Be, Utf16Le};
    select(vec![Utf8, Utf8, Utf16Le, Utf16Be, Opaque])
}

/// How an edit is made up once the file is there: cut from it, or from nothing.
#[derive(Debug, Clone)]
struct Recipe {
    cut: Option<(Index, Index)>,
    old: String,
    new: String,
    expected_count: i64,
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let cut = proptest::option::weighted(0.8, any::<(Index, Index)>());
    let count = select(vec![1, 1, 1, 2, 3, -1, -1]);
    (cut, any_text(4), any_text(5), count).prop_map(|(cut, old, new, expected_count)| Recipe {
        cut,
        old,
        new,
        expected_count,
    })
}

fn edit(file: &str, recipe: &Recipe, eol: EolMode) -> Option<Edit> {
    let chars: Vec<char> = file.chars().collect();
    let old = match &recipe.cut {
        Some((start, len)) if !chars.is_empty() => {
            let start = start.index(chars.len());
            let end = (start + 1 + len.index(5)).min(chars.len());
            chars[start..end].iter().collect()
        }
        _ => recipe.old.clone(),
    };
    let edit = Edit {
        old,
        new: recipe.new.clone(),
        expected_count: recipe.expected_count,
    };
    let request = request(vec![edit.clone()], eol);
    request.check().is_ok().then_some(edit)
}

fn edits(file: &str, recipes: &[Recipe], eol: EolMode) -> Vec<Edit> {
    recipes
        .iter()
        .filter_map(|recipe| edit(file, recipe, eol))
        .collect()
}

fn request(edits: Vec<Edit>, eol: EolMode) -> Request {
    Request {
        eol,
        ..Request::edits(edits)
    }
}

fn spelled(text: &str, spelling: Spelling) -> Vec<u8> {
    match spelling {
        Spelling::Utf8 => text.as_bytes().to_vec(),
        Spelling::Utf16Le => spell(b"\xFF\xFE", text, Encoding::UTF_16LE),
        Spelling::Utf16Be => spell(b"\xFE\xFF", text, Encoding::UTF_16BE),
        Spelling::Opaque => {
            // A byte that is no UTF-8 after every second letter, and one at the end.
            let spoilt = text.replace('b', "\u{7}").into_bytes();
            let spoilt = spoilt
                .into_iter()
                .map(|byte| if byte == 7 { 0xE9 } else { byte });
            spoilt.chain([0xFF]).collect()
        }
    }
}

fn spell(bom: &[u8], text: &str, encoding: Encoding) -> Vec<u8> {
    [bom, &encoding.encode(text).unwrap()].concat()
}

fn run(file: &[u8], edits: Vec<Edit>, eol: EolMode) -> Result<Vec<u8>, Failure> {
    let planned = plan(file, &request(edits, eol));
    planned
        .map(|plan| plan.patch().apply(file))
        .map_err(|error| Failure {
            code: error.code(),
            edit: error.edit(),
            found: error.fields().iter().find_map(|(name, field)| match field {
                fs_core::Field::Number(number) if *name == "found" => Some(*number),
                _ => None,
            }),
        })
}

/// The bytes of `file` that a plan keeps, in order.
fn kept(file: &[u8], request: &Request) -> Option<(Vec<u8>, Vec<u8>, usize)> {
    let plan = plan(file, request).ok()?;
    let result = plan.patch().apply(file);
    let (mut before, mut after, mut at, mut new) = (Vec::new(), Vec::new(), 0, 0);
    for piece in plan.patch().pieces() {
        match piece {
            Piece::Keep(range) => {
                let range =
                    usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
                after.extend(&result[at..at + range.len()]);
                at += range.len();
                before.extend(&file[range]);
            }
            Piece::New(bytes) => {
                at += bytes.len();
                new += bytes.len();
            }
        }
    }
    Some((before, after, new))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, max_global_rejects: 1_000_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_does_what_the_model_says(
        text in any_text(24),
        bom in any::<bool>(),
        spelling in spelling(),
        recipes in proptest::collection::vec(recipe(), 1..4),
        eol in eol(),
    ) {
        let edits = edits(&text, &recipes, eol);
        prop_assume!(!edits.is_empty());
        let text = if bom && spelling == Spelling::Utf8 { format!("\u{feff}{text}") } else { text };
        let file = spelled(&text, spelling);
        let expected = model::apply(&file, spelling, &edits, eol);
        prop_assert_eq!(run(&file, edits, eol), expected);
    }

    #[test]
    fn a_success_means_that_the_count_was_right(
        text in dense_text(24), recipe in recipe(), eol in eol(),
    ) {
        let Some(edit) = edit(&text, &recipe, eol) else { return Ok(()) };
        let count = i64::try_from(model::count(text.as_bytes(), &edit.old, eol)).unwrap();
        for expected_count in [count - 1, count, count + 1] {
            if expected_count < 1 {
                continue;
            }
            let edit = Edit { expected_count, ..edit.clone() };
            let seen = run(text.as_bytes(), vec![edit], eol);
            match seen {
                Ok(_) => prop_assert_eq!(expected_count, count),
                Err(failure) if failure.code == "count_mismatch" => {
                    prop_assert_ne!(expected_count, count);
                    prop_assert_eq!(failure.found, u64::try_from(count).ok());
                }
                Err(failure) if failure.code == "no_match" => prop_assert_eq!(count, 0),
                Err(_) => prop_assert_eq!(expected_count, count),
            }
        }
    }

    #[test]
    fn bytes_outside_the_cores_stay(
        bytes in proptest::collection::vec(
            select(vec![b'a', b'b', b'\n', b'\r', b' ', 0xC3, 0xA9, 0x80, 0xFF, 0xE4]), 0..40),
        recipes in proptest::collection::vec(recipe(), 1..3),
        eol in eol(),
    ) {
        let edits = edits(&String::from_utf8_lossy(&bytes), &recipes, eol);
        prop_assume!(!edits.is_empty());
        if let Some((before, after, _)) = kept(&bytes, &request(edits, eol)) {
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn the_order_of_edits_has_no_effect(
        text in any_text(24),
        recipes in proptest::collection::vec(recipe(), 2..4),
        eol in eol(),
    ) {
        let edits = edits(&text, &recipes, eol);
        prop_assume!(edits.len() > 1);
        let mut turned = edits.clone();
        turned.reverse();
        let file = text.as_bytes();
        match (plan(file, &request(edits, eol)), plan(file, &request(turned.clone(), eol))) {
            (Ok(plan), Ok(other)) => prop_assert_eq!(plan.patch(), other.patch()),
            (Err(error), Err(other)) => {
                let last = turned.len() - 1;
                let failing = |error: &fs_core::Error| -> Vec<u64> {
                    error.fields().iter().find_map(|(name, field)| match field {
                        fs_core::Field::Numbers(all) if *name == "failing_edits" => Some(all.clone()),
                        fs_core::Field::Number(one) if *name == "edit" && !error.fields().iter()
                            .any(|(name, _)| *name == "failing_edits") => Some(vec![*one]),
                        _ => None,
                    }).unwrap_or_default()
                };
                let mirrored: Vec<u64> =
                    failing(&other).iter().rev().map(|index| last as u64 - index).collect();
                prop_assert_eq!(failing(&error), mirrored);
            }
            (seen, other) => prop_assert!(false, "{:?} but {:?}", seen, other),
        }
    }

    #[test]
    fn an_edit_keeps_the_encoding_and_its_mark(
        text in text(16), recipe in recipe(), little in any::<bool>(),
    ) {
        let Some(edit) = edit(&text, &recipe, EolMode::Auto) else { return Ok(()) };
        let (spelling, encoding) = if little {
            (Spelling::Utf16Le, Encoding::UTF_16LE)
        } else {
            (Spelling::Utf16Be, Encoding::UTF_16BE)
        };
        let file = spelled(&text, spelling);
        if let Ok(result) = run(&file, vec![edit.clone()], EolMode::Auto) {
            prop_assert_eq!(&result[..2], &file[..2]);
            let utf8 = run(text.as_bytes(), vec![edit], EolMode::Auto).unwrap();
            prop_assert_eq!(encoding.decode(&result[2..]).unwrap().into_bytes(), utf8);
        }
    }

    #[test]
    fn gbk_is_edited_as_its_text_would_be(
        text in proptest::collection::vec(select(vec!["a", "\n", "\r\n", "中", "文", "旧", "新"]), 1..20),
        recipe in recipe(),
    ) {
        let text = text.concat();
        let recipe = Recipe { new: recipe.new.replace(|c: char| !c.is_ascii(), "新"), ..recipe };
        let Some(edit) = edit(&text, &recipe, EolMode::Auto) else { return Ok(()) };
        let file = Encoding::GBK.encode(&text).unwrap();
        let request = Request { encoding: Some(Encoding::GBK), ..Request::edits(vec![edit.clone()]) };
        let seen = plan(&file, &request).map(|plan| plan.patch().apply(&file));
        let utf8 = run(text.as_bytes(), vec![edit], EolMode::Auto);
        prop_assert_eq!(
            seen.map(|bytes| Encoding::GBK.decode(&bytes).unwrap().into_bytes()).map_err(|e| e.code()),
            utf8.map_err(|failure| failure.code)
        );
    }

    #[test]
    fn uniform_breaks_stay_uniform(
        text in any_text(20), recipes in proptest::collection::vec(recipe(), 1..3), crlf in any::<bool>(),
    ) {
        let wanted = if crlf { "\r\n" } else { "\n" };
        // A lone CR may come to stand before a break, which is the caller's business.
        let plain = |text: &str| text.replace('\r', "");
        let text = plain(&text).replace('\n', wanted);
        prop_assume!(text.contains('\n'));
        let recipes: Vec<Recipe> = recipes.into_iter()
            .map(|it| Recipe { old: plain(&it.old), new: plain(&it.new), ..it }).collect();
        let edits = edits(&text, &recipes, EolMode::Auto);
        prop_assume!(edits.iter().all(|edit| !plain_cr(&edit.old)) && !edits.is_empty());
        if let Ok(result) = run(text.as_bytes(), edits, EolMode::Auto) {
            let result = String::from_utf8(result).unwrap();
            let breaks = result.matches('\n').count();
            prop_assert_eq!(result.matches("\r\n").count(), if crlf { breaks } else { 0 });
        }
    }

    #[test]
    fn a_bad_edit_spoils_all_and_the_same_call_fails_the_same(
        text in any_text(20), recipes in proptest::collection::vec(recipe(), 1..3), eol in eol(),
    ) {
        let mut edits = edits(&text, &recipes, eol);
        edits.push(Edit::new("nowhere to be found", "x"));
        let first = run(text.as_bytes(), edits.clone(), eol);
        prop_assert!(first.is_err());
        prop_assert_eq!(first, run(text.as_bytes(), edits, eol));
    }

    #[test]
    fn swapping_old_and_new_goes_back(text in any_text(20), recipe in recipe()) {
        let eol = EolMode::Auto;
        let Some(edit) = edit(&text, &recipe, eol) else { return Ok(()) };
        let breaks = |text: &str| text.matches('\n').count();
        // A lone CR may come to stand before another break, and is then a part of it.
        let alone = !edit.new.is_empty() && !plain_cr(&text) && !plain_cr(&edit.new);
        prop_assume!(alone && edit.expected_count == 1 && breaks(&edit.old) == breaks(&edit.new));
        let Ok(result) = run(text.as_bytes(), vec![edit.clone()], eol) else { return Ok(()) };
        if model::count(&result, &edit.new, eol) == 1 {
            let back = run(&result, vec![Edit::new(edit.new, edit.old)], eol).unwrap();
            prop_assert_eq!(String::from_utf8(back).unwrap(), text);
        }
    }

    #[test]
    fn the_lines_of_an_error_are_those_of_a_read(text in dense_text(30), recipe in recipe()) {
        let Some(edit) = edit(&text, &recipe, EolMode::Exact) else { return Ok(()) };
        let edit = Edit { expected_count: 99, ..edit };
        let Err(error) = plan(text.as_bytes(), &request(vec![edit.clone()], EolMode::Exact)) else {
            return Ok(());
        };
        let lines = Lines::new(text.as_bytes(), Encoding::UTF_8);
        let starts = (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(edit.old.as_bytes()));
        let expected: Vec<u64> = starts.take(20).map(|at| lines.line_of(at)).collect();
        if error.code() == "count_mismatch" {
            prop_assert!(error.fields().contains(&("lines", fs_core::Field::Numbers(expected))));
        }
    }

    #[test]
    fn any_position_on_any_bytes_gives_a_plan_or_a_code(
        bytes in proptest::collection::vec(
            select(vec![b'a', b'\n', b'\r', 0, 0xC3, 0xA9, 0xE9, 0xFF, 0xFE, 0xEF, 0xBB, 0xBF]), 0..24),
        places in any::<[u8; 4]>(), words in any_text(4), kind in 0..3_u8, eol in eol(),
    ) {
        let [line, column, end_line, end_column] = places.map(|it| u64::from(it % 6));
        let text = words;
        let position = match kind {
            0 => Positional::Insert { line, column, text },
            1 => Positional::ReplaceLine { line, text },
            _ => Positional::ReplaceRange { line, column, end_line, end_column, text },
        };
        let request = Request { eol, ..Request::position(position) };
        if let Some((before, after, new)) = kept(&bytes, &request) {
            prop_assert_eq!(before, after);
            prop_assert!(new <= request_text(&request).len() * 4 + 4);
        }
    }

    #[test]
    fn a_range_is_spliced_at_its_columns(text in text(16), places in any::<(Index, Index)>(), new in text(4)) {
        let chars: Vec<char> = text.chars().collect();
        let edges = [places.0.index(chars.len() + 1), places.1.index(chars.len() + 1)];
        let (start, end) = (edges[0].min(edges[1]), edges[0].max(edges[1]));
        let splits = |at: usize| at > 0 && chars[at - 1] == '\r' && chars.get(at) == Some(&'\n');
        prop_assume!(!splits(start) && !splits(end));
        // A place after a last break is a line to be begun; after an open last line it is a column.
        let place = |at: usize| {
            let line = chars[..at].iter().filter(|c| **c == '\n').count() + 1;
            let column = chars[..at].iter().rev().take_while(|c| **c != '\n').count() + 1;
            (line as u64, column as u64)
        };
        let ((line, column), (end_line, end_column)) = (place(start), place(end));
        let position = Positional::ReplaceRange { line, column, end_line, end_column, text: new.clone() };
        let request = Request { eol: EolMode::Exact, ..Request::position(position) };
        let expected: String =
            chars[..start].iter().copied().chain(new.chars()).chain(chars[end..].iter().copied()).collect();
        match plan(text.as_bytes(), &request) {
            Ok(plan) => {
                let seen = String::from_utf8(plan.patch().apply(text.as_bytes())).unwrap();
                prop_assert_eq!(seen, expected);
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "no_op");
                prop_assert_eq!(text, expected);
            }
        }
    }

    #[test]
    fn a_diff_is_what_changed(text in any_text(40), recipes in proptest::collection::vec(recipe(), 1..4)) {
        // Breaks of one style: what the diff does about two is told by its own tests.
        let text = text.replace('\r', "");
        let recipes: Vec<Recipe> = recipes.into_iter()
            .map(|it| Recipe { new: it.new.replace('\r', ""), ..it }).collect();
        let edits = edits(&text, &recipes, EolMode::Exact);
        prop_assume!(!edits.is_empty());
        let Ok(plan) = plan(text.as_bytes(), &request(edits, EolMode::Exact)) else { return Ok(()) };
        let result = String::from_utf8(plan.patch().apply(text.as_bytes())).unwrap();
        let diff = plan.diff(text.as_bytes(), "f", &crate::DiffOptions::default());
        prop_assert_eq!(patched(&text, &diff), result);
        let added = diff.lines().skip(2).filter(|line| line.starts_with('+')).count();
        prop_assert!(plan.lines_changed() >= added as u64);
        prop_assert!(plan.lines_changed() > 0);
    }
}

#[test]
fn a_version_of_a_plan_is_that_of_its_bytes() {
    let file = b"a\n";
    let plan = plan(file, &Request::edits(vec![Edit::new("a", "b")])).unwrap();
    assert_eq!(
        Version::of_bytes(&plan.patch().apply(file)),
        Version::of_bytes(b"b\n")
    );
}

fn plain_cr(text: &str) -> bool {
    text.replace("\r\n", "").contains('\r')
}

fn request_text(request: &Request) -> &str {
    match &request.target {
        crate::Target::Position(position) => position.text(),
        crate::Target::Text(_) => "",
    }
}

/// Applies a unified diff the slow way.
fn patched(text: &str, diff: &str) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut result = String::new();
    let mut at = 0;
    let mut rows = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(row) = rows.next() {
        let next_is_open = rows.peek().is_some_and(|next| next.starts_with('\\'));
        let body = row.get(1..).unwrap_or_default();
        let body = if next_is_open {
            body.trim_end_matches('\n')
        } else {
            body
        };
        if let Some(header) = row.strip_prefix("@@ -") {
            let span = header.split(' ').next().unwrap();
            let (line, count) = span.split_once(',').unwrap_or((span, "1"));
            let line: usize = line.parse().unwrap();
            let start = if count == "0" { line } else { line - 1 };
            result.extend(old[at..start].iter().copied());
            at = start;
            continue;
        }
        match row.chars().next() {
            Some(' ') => {
                assert_eq!(old[at], body);
                result.push_str(body);
                at += 1;
            }
            Some('-') => {
                assert_eq!(old[at], body);
                at += 1;
            }
            Some('+') => result.push_str(body),
            _ => {}
        }
    }
    result.extend(old[at..].iter().copied());
    result
}
