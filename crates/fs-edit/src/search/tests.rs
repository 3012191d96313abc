use proptest::prelude::*;

use super::*;

fn find(haystack: &[u8], needle: &[u8], wanted: Wanted, after: After) -> Matches {
    let mut search = Search::new(needle, wanted, after);
    search.see(Window {
        bytes: haystack,
        start: 0,
        is_last: true,
    });
    search.into_matches()
}

fn slow(haystack: &[u8], needle: &[u8]) -> Vec<usize> {
    let starts = 0..haystack.len();
    starts
        .filter(|start| haystack[*start..].starts_with(needle))
        .collect()
}

#[track_caller]
fn check(haystack: &[u8], needle: &[u8]) {
    let mut starts = Vec::new();
    each_start(haystack, &mut Needle::new(needle), |start| {
        starts.push(start);
    });
    assert_eq!(starts, slow(haystack, needle));
}

#[test]
fn every_start_is_visited_whatever_overlaps() {
    // All needles of up to 5 letters in all texts of up to 9, of two letters.
    let words = |len: u32| {
        (0..2_u32.pow(len)).map(move |bits| -> Vec<u8> {
            (0..len)
                .map(|at| if bits >> at & 1 == 1 { b'a' } else { b'b' })
                .collect()
        })
    };
    for needle in (1..=5).flat_map(words) {
        for haystack in (0..=9).flat_map(words) {
            check(&haystack, &needle);
        }
    }
}

#[test]
fn a_periodic_needle_costs_one_pass() {
    // A restart at every hit would compare 2^39 bytes here.
    let haystack = vec![b'a'; 1 << 20];
    let needle = vec![b'a'; 1 << 19];
    let matches = find(&haystack, &needle, Wanted::Exactly(1), After::Anything);
    assert_eq!(matches.count, (1 << 19) + 1);
    assert_eq!(matches.starts.len(), REPORTED);
    assert!(matches.overlap);
}

#[test]
fn from_left_to_right_a_refused_start_takes_no_room() {
    let matches = find(
        b"\r\r\n\r\r\r",
        b"\r\r",
        Wanted::LeftToRight,
        After::NoLineFeed,
    );
    assert_eq!((matches.count, matches.starts), (1, vec![3]));
}

/// Returns what searches find in blocks, one by one or together.
fn in_blocks(haystack: &[u8], block: usize, overlap: usize, mut see: impl FnMut(Window<'_>)) {
    let mut start = 0;
    for end in (0..=haystack.len()).step_by(block).skip(1) {
        see(Window {
            bytes: &haystack[start..end],
            start,
            is_last: false,
        });
        start = end.saturating_sub(overlap).max(start);
    }
    see(Window {
        bytes: &haystack[start..],
        start,
        is_last: true,
    });
}

proptest! {
    #[test]
    fn together_as_alone(
        haystack in "[ab\r\n]{0,200}",
        needles in proptest::collection::vec(("[ab\r]{1,6}", 0..3_u64, any::<bool>()), 9..40),
        block in 1..40_usize,
    ) {
        let searches = || -> Vec<_> {
            let search = |(needle, count, any): &'_ (String, u64, bool)| {
                let wanted = if *any { Wanted::LeftToRight } else { Wanted::Exactly(*count) };
                let is_cut = needle.ends_with('\r');
                (wanted, if is_cut { After::NoLineFeed } else { After::Anything })
            };
            let searches = needles.iter().map(|it| (it, search(it)));
            searches.map(|(it, (wanted, after))| Search::new(it.0.as_bytes(), wanted, after)).collect()
        };
        let mut alone = searches();
        in_blocks(haystack.as_bytes(), block, 7, |window| {
            for search in &mut alone {
            search.see(window);
        }
        });
        let alone: Vec<_> = alone.into_iter().map(Search::into_matches).collect();
        let mut together = Searches::new(searches());
        prop_assert!(together.is_shared());
        in_blocks(haystack.as_bytes(), block, 7, |window| together.see(window));
        prop_assert_eq!(together.into_matches(), alone);
    }
}

#[test]
fn the_longest_needles_are_searched_alone() {
    let needles: Vec<String> = (1..=100)
        .map(|at| format!("{at:04}").repeat(at * 10))
        .collect();
    let haystack = needles.concat().into_bytes();
    let search = |needle: &'_ String| needle.clone().into_bytes();
    let bytes: Vec<_> = needles.iter().map(search).collect();
    let searches = || -> Vec<_> {
        let search = |it| Search::new(it, Wanted::Exactly(1), After::Anything);
        bytes.iter().map(|it| search(it.as_slice())).collect()
    };
    let mut together = Searches::new(searches());
    assert!(together.is_shared() && together.alone() > 0);
    let mut alone = searches();
    in_blocks(&haystack, 5_000, 4_001, |window| {
        together.see(window);
        for search in &mut alone {
            search.see(window);
        }
    });
    let alone: Vec<_> = alone.into_iter().map(Search::into_matches).collect();
    assert_eq!(together.into_matches(), alone);
}
