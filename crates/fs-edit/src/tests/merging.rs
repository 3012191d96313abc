//! Merges of two changes of one text, against a model that knows the changes and compares nothing.

use std::time::{Duration, Instant};

use fs_core::Piece;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{catch_up, merge};

/// Asserts the text that two changes make, or that they make none, whoever comes first, and what a
/// patch must be.
#[track_caller]
fn check(base: &str, mine: &str, theirs: &str, expected: Option<&str>) {
    let merged = merge(base, mine, theirs);
    let text = merged.as_ref().map(|merged| merged.text.as_str());
    assert_eq!(text, expected, "{base:?} {mine:?} {theirs:?}");
    let turned = merge(base, theirs, mine);
    assert_eq!(turned.as_ref().map(|it| it.text.as_str()), expected);
    for (merged, from) in [(merged, theirs), (turned, mine)] {
        if let Some(merged) = merged {
            assert_eq!(merged.patch.apply(from.as_bytes()), merged.text.as_bytes());
        }
    }
}

#[test]
fn changes_of_different_lines_are_both_made() {
    check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", Some("A\nb\nC\n"));
    check("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", Some("b\nc\nd\n"));
    check(
        "a\r\nb\nc\r\n",
        "a\r\nB\nc\r\n",
        "a\nb\nc\r\n",
        Some("a\nB\nc\r\n"),
    );
    check("a\nb\nc\n", "0\na\nb\nc\n", "a\nb\n", Some("0\na\nb\n"));
}

#[test]
fn replacements_of_neighbouring_lines_are_both_made() {
    check("a\nb\n", "A\nb\n", "a\nB\n", Some("A\nB\n"));
    check("a\nb\n", "A\nB\nb\n", "a\nC\nD\n", Some("A\nB\nC\nD\n"));
    check("a\nb\nc\n", "b\nc\n", "a\nc\n", Some("c\n"));
}

#[test]
fn changes_of_one_line_overlap_unless_they_are_one_change() {
    check("a\nb\n", "x\nb\n", "y\nb\n", None);
    check("a\nb\n", "x\nb\n", "b\n", None);
    check("a\nb\nc\n", "x\nc\n", "a\ny\nc\n", None);
    check("a\nb\n", "x\nb\n", "x\nb\n", Some("x\nb\n"));
    check("a\nb\nc\n", "x\nb\nC\n", "x\nb\nc\n", Some("x\nb\nC\n"));
    check("a\nb\nc\n", "x\nb\nC\n", "x\nb\nc\nd\n", None);
}

#[test]
fn lines_that_come_in_beside_a_change_have_no_sure_place() {
    check("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", None);
    check("a\nb\n", "a\nx\nb\n", "A\nb\n", None);
    check("a\nb\n", "a\nx\nb\n", "a\nB\n", None);
    check("a\nb\n", "a\nx\nb\n", "b\n", None);
    check("a\nb\n", "a\nb\nx\n", "a\nb\ny\n", None);
    check("a\nb\n", "a\nx\nb\n", "a\nx\nb\n", Some("a\nx\nb\n"));
    check(
        "a\nb\nc\n",
        "a\nx\nb\nc\n",
        "a\nx\nb\nC\n",
        Some("a\nx\nb\nC\n"),
    );
    check("", "x\n", "y\n", None);
    check("", "x", "x", Some("x"));
}

#[test]
fn one_of_equal_lines_is_not_told_from_the_others() {
    check("a\na\nb\n", "a\nb\n", "a\nx\nb\n", None);
    check("a\na\nb\n", "a\nb\n", "x\na\nb\n", None);
    check("a\na\nb\n", "a\na\na\nb\n", "x\na\nb\n", None);
    check("a\na\nb\n", "a\na\na\nb\n", "a\na\nB\n", None);
    check(
        "a\na\nb\nc\n",
        "a\na\na\nb\nc\n",
        "a\na\nb\nC\n",
        Some("a\na\na\nb\nC\n"),
    );
    check(
        "a\na\na\nb\n",
        "a\na\nb\n",
        "a\na\na\nB\n",
        Some("a\na\nB\n"),
    );
    check("a\na\na\nb\n", "a\na\nb\n", "a\na\nb\n", Some("a\na\nb\n"));
    check("a\na\na\nb\n", "a\na\nb\n", "a\nb\n", None);
}

#[test]
fn a_last_line_without_a_break_is_glued_to_nothing() {
    check("a\nb", "a\nb\nc", "A\nb", Some("A\nb\nc"));
    check("a\nb", "a\nb\nc", "a\nb\nd", None);
    check("a\nb\n", "a\nb", "a\nb\nc\n", None);
    check("a\nb\n", "a\nb", "A\nb\n", Some("A\nb"));
    check("a\nb", "a\nb\n", "a\nb\nc", None);
    check("a\nb", "a\n", "A\nb", Some("A\n"));
    check("a\nb", "a", "a\nB", None);
    check("a", "a\nb", "x\na", None);
}

#[test]
fn one_change_alone_is_made_as_it_is() {
    for (base, side) in [
        ("a\nb", "b\nc\n\n"),
        ("", "a"),
        ("a\r\n", ""),
        ("a\n", "a\r\n"),
    ] {
        check(base, side, base, Some(side));
        check(base, side, side, Some(side));
    }
    let merged = merge("a\n", "a\n", "b\nc").unwrap();
    assert_eq!(
        merged.patch.pieces().collect::<Vec<_>>(),
        [Piece::Keep(0..3)]
    );
}

#[test]
fn a_patch_holds_what_differs_within_a_line_by_whole_characters() {
    let merged = merge("x\naéb\nc\n", "x\naèb\nc\n", "longer\naéb\nc\n").unwrap();
    let pieces: Vec<_> = merged.patch.pieces().collect();
    let new = "è".as_bytes();
    assert_eq!(
        pieces,
        [Piece::Keep(0..8), Piece::New(new), Piece::Keep(10..14)]
    );
}

#[test]
fn texts_without_a_common_shape_end_in_time() {
    let mut seed = 1_u64;
    let mut garbage = |len: usize| {
        let mut text = String::new();
        while text.len() < len {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push(char::from(b'a' + u8::try_from(seed >> 61).unwrap()));
            if (seed >> 40).is_multiple_of(4) {
                text.push('\n');
            }
        }
        text
    };
    let [base, mine, theirs] = [(); 3].map(|()| garbage(4 * 1024 * 1024));
    let began = Instant::now();
    assert_eq!(merge(&base, &mine, &theirs), None);
    assert!(began.elapsed() < Duration::from_secs(60));
}

/// What a side does at a line of the base.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Deed {
    /// What comes before the line.
    before: Vec<String>,
    /// What comes instead of it; `None` where it stays.
    instead: Option<Vec<String>>,
}

/// A run of lines of the base that goes, and what comes.
type Run = (usize, usize, Vec<String>);

fn line(number: usize, word: &str, ends: u8) -> String {
    let ends = if ends == 0 { "\r\n" } else { "\n" };
    format!("{word}{number}{ends}")
}

/// The text of a side: what its deeds make of the lines.
fn applied(lines: &[String], deeds: &[Deed]) -> String {
    let done = lines.iter().zip(deeds).map(|(line, deed)| {
        let stays = || vec![line.clone()];
        deed.before.concat() + &deed.instead.clone().unwrap_or_else(stays).concat()
    });
    done.collect()
}

/// The runs of a side: what stands between two lines that stay.
fn runs(deeds: &[Deed]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    for (at, deed) in deeds.iter().enumerate() {
        if !deed.before.is_empty() || deed.instead.is_some() {
            if !open {
                runs.push((at, at, Vec::new()));
            }
            let run = runs.last_mut().unwrap();
            run.2.extend(deed.before.clone());
            if let Some(instead) = &deed.instead {
                run.1 = at + 1;
                run.2.extend(instead.clone());
            }
        }
        open = deed.instead.is_some();
    }
    runs
}

fn overlap(one: &Run, two: &Run) -> bool {
    if one == two {
        return false;
    }
    if one.0 < one.1 && two.0 < two.1 {
        return one.0.max(two.0) < one.1.min(two.1);
    }
    one.0.max(two.0) <= one.1.min(two.1)
}

/// The model: all runs of both sides, each once, unless two overlap.
fn model(lines: &[String], mine: &[Deed], theirs: &[Deed]) -> Option<String> {
    let (mine, theirs) = (runs(mine), runs(theirs));
    if mine
        .iter()
        .any(|one| theirs.iter().any(|two| overlap(one, two)))
    {
        return None;
    }
    let mut all = [mine, theirs].concat();
    all.sort();
    all.dedup();
    let (mut text, mut at) = (String::new(), 0);
    for (start, end, new) in all {
        text += &lines[at..start].concat();
        text += &new.concat();
        at = end;
    }
    Some(text + &lines[at..].concat())
}

/// What both, one or nobody does to a line: mostly nothing.
fn deeds(at: usize) -> impl Strategy<Value = [Deed; 2]> {
    let words = |word: &'static str| {
        (0..3_usize, 0..2_u8).prop_map(move |(count, ends)| {
            let lines = (0..count).map(|each| line(10 * at + each, word, ends));
            lines.collect::<Vec<_>>()
        })
    };
    let deed = move |word: &'static str| {
        let before = prop_oneof![3 => Just(Vec::new()), 1 => words(word)];
        let instead = proptest::option::weighted(0.4, words(&*format!("{word}{word}").leak()));
        (before, instead).prop_map(|(before, instead)| Deed { before, instead })
    };
    let nothing = Deed::default;
    prop_oneof![
        6 => Just([nothing(), nothing()]),
        3 => deed("m").prop_map(move |deed| [deed, nothing()]),
        3 => deed("t").prop_map(move |deed| [nothing(), deed]),
        1 => deed("b").prop_map(|deed| [deed.clone(), deed]),
        1 => (deed("m"), deed("t")).prop_map(|(mine, theirs)| [mine, theirs]),
    ]
}

/// Lines of which no two are equal, and what both sides do; the last one may have no break, and stays.
fn scene() -> impl Strategy<Value = (Vec<String>, Vec<Deed>, Vec<Deed>)> {
    (1..12_usize).prop_flat_map(|len| {
        let breaks = proptest::collection::vec(0..2_u8, len);
        let deeds: Vec<_> = (0..len).map(deeds).collect();
        (breaks, deeds, any::<bool>()).prop_map(|(breaks, deeds, is_open)| {
            let mut lines: Vec<_> = (0..)
                .zip(breaks)
                .map(|(at, ends)| line(at, "l", ends))
                .collect();
            let (mut mine, mut theirs): (Vec<_>, Vec<_>) = deeds
                .into_iter()
                .map(|[mine, theirs]| (mine, theirs))
                .unzip();
            if is_open {
                lines.push("end".to_owned());
                mine.push(Deed::default());
                theirs.push(Deed::default());
            }
            (lines, mine, theirs)
        })
    })
}

fn any_text() -> impl Strategy<Value = String> {
    let lines = select(vec!["a\n", "a\n", "b\n", "c\n", "é\r\n", "è\r\n", "\n"]);
    let last = select(vec!["", "", "a", "b", "é"]);
    (proptest::collection::vec(lines, 0..8), last).prop_map(|(lines, last)| lines.concat() + last)
}

#[test]
fn whoever_was_shown_some_lines_knows_the_changes_that_lie_in_them() {
    let known = |base: &str, current: &str, seen: &[(u64, u64)], expected: &str| {
        let lines: Vec<_> = seen.iter().map(|(start, end)| *start..*end).collect();
        let known = catch_up(base, current, &lines);
        assert_eq!(known, expected, "{base:?} {current:?} {seen:?}");
    };
    let (base, current) = ("a\nb\nc\nd\n", "A\nb\nx\ny\nd\n");
    known(base, current, &[], base);
    known(base, current, &[(0, 1)], "A\nb\nc\nd\n");
    known(base, current, &[(1, 2)], base);
    // A change counts as a whole or not at all.
    known(base, current, &[(2, 3)], base);
    known(base, current, &[(2, 4)], "a\nb\nx\ny\nd\n");
    known(base, current, &[(0, 1), (2, 5)], current);
    // Lines that are gone are seen to be so where both that are around them are shown.
    known("a\nb\nc\n", "a\nc\n", &[(0, 1)], "a\nb\nc\n");
    known("a\nb\nc\n", "a\nc\n", &[(0, 2)], "a\nc\n");
    known("a\nb\n", "b\n", &[(0, 1)], "b\n");
    known("a\nb\n", "a\n", &[(0, 1)], "a\n");
    known("a\nb", "a\nb\nc", &[(1, 2)], "a\nb");
    known("a\nb", "a\nb\nc", &[(1, 3)], "a\nb\nc");
}

proptest! {
    /// A session that is shown a text window by window knows all of it at the end, and no line that is
    /// in neither text at any time.
    #[test]
    fn whoever_was_shown_all_lines_knows_the_text(
        base in any_text(), current in any_text(), cut in 0..8_u64,
    ) {
        let all = current.split_inclusive('\n').count() as u64;
        let (cut, whole) = (cut.min(all), [(0, all)].map(|(start, end)| start..end));
        prop_assert_eq!(catch_up(&base, &current, &whole), current.as_str());
        prop_assert_eq!(catch_up(&base, &current, &[]), base.as_str());
        let part = catch_up(&base, &current, &[(0, cut)].map(|(start, end)| start..end));
        prop_assert_eq!(catch_up(&part, &current, &whole), current);
    }
}

proptest! {
    #[test]
    fn a_merge_makes_what_both_sides_do_or_nothing((lines, mine, theirs) in scene()) {
        let base = lines.concat();
        let expected = model(&lines, &mine, &theirs);
        let (mine, theirs) = (applied(&lines, &mine), applied(&lines, &theirs));
        if mine == base || theirs == base || mine == theirs {
            let other = if mine == base { &theirs } else { &mine };
            check(&base, &mine, &theirs, Some(other));
        } else {
            check(&base, &mine, &theirs, expected.as_deref());
        }
    }

    #[test]
    fn a_merge_of_any_texts_is_one_text_of_their_lines(
        base in any_text(), mine in any_text(), theirs in any_text(),
    ) {
        let merged = merge(&base, &mine, &theirs);
        let turned = merge(&base, &theirs, &mine);
        prop_assert_eq!(
            merged.as_ref().map(|it| &it.text),
            turned.as_ref().map(|it| &it.text)
        );
        if let Some(merged) = merged {
            prop_assert_eq!(merged.patch.apply(theirs.as_bytes()), merged.text.as_bytes());
            let known = [&base, &mine, &theirs].map(|text| text.split_inclusive('\n'));
            let known: Vec<&str> = known.into_iter().flatten().collect();
            for line in merged.text.split_inclusive('\n') {
                prop_assert!(known.contains(&line), "{line:?} is nobody's");
            }
        }
    }
}
