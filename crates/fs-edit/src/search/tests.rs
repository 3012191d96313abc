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
