use super::*;

fn stamp(ino: u64, changed: i128) -> Stamp {
    Stamp {
        dev: 1,
        ino,
        size: 100,
        modified: changed,
        changed,
    }
}

fn counts(feeds: &[u64]) -> LineCounts {
    let mut counts = LineCounts::default();
    for count in feeds {
        counts.push(*count);
    }
    counts
}

#[test]
fn a_line_feed_is_found_in_its_block() {
    let counts = counts(&[3, 0, 2]);
    let blocks: Vec<_> = (1..=6).map(|feed| counts.block_of(feed)).collect();
    assert_eq!(blocks, [Some(0), Some(0), Some(0), Some(2), Some(2), None]);
    let before: Vec<_> = (0..=4).map(|block| counts.before(block)).collect();
    assert_eq!(before, [0, 3, 3, 5, 5]);
}

#[test]
fn counts_are_found_for_the_same_state_and_unit_only() {
    let cache = IndexCache::new();
    cache.keep(stamp(1, 5), Unit::Byte, counts(&[1, 2]));
    assert_eq!(cache.get(&stamp(1, 5), Unit::Byte).unwrap().total(), 3);
    assert!(cache.get(&stamp(1, 5), Unit::Le).is_none());
    assert!(cache.get(&stamp(1, 6), Unit::Byte).is_none());
    assert!(cache.get(&stamp(2, 5), Unit::Byte).is_none());
}

#[test]
fn more_counts_take_the_place_of_fewer() {
    let cache = IndexCache::new();
    cache.keep(stamp(1, 5), Unit::Byte, counts(&[1, 2]));
    cache.keep(stamp(1, 5), Unit::Byte, counts(&[1]));
    assert_eq!(cache.get(&stamp(1, 5), Unit::Byte).unwrap().blocks(), 2);
    cache.keep(stamp(1, 5), Unit::Byte, counts(&[1, 2, 3]));
    assert_eq!(cache.get(&stamp(1, 5), Unit::Byte).unwrap().blocks(), 3);
    cache.keep(stamp(1, 6), Unit::Byte, counts(&[1]));
    assert!(cache.get(&stamp(1, 5), Unit::Byte).is_none());
    assert_eq!(cache.lock().len(), 1);
}

#[test]
fn the_least_recently_used_file_goes_first() {
    let cache = IndexCache::new();
    for ino in 0..64 {
        cache.keep(stamp(ino, 0), Unit::Byte, counts(&[1]));
    }
    assert!(cache.get(&stamp(0, 0), Unit::Byte).is_some());
    cache.keep(stamp(64, 0), Unit::Byte, counts(&[1]));
    assert!(cache.get(&stamp(0, 0), Unit::Byte).is_some());
    assert!(cache.get(&stamp(1, 0), Unit::Byte).is_none());
}

#[test]
fn all_counts_together_take_at_most_8_mib() {
    let cache = IndexCache::new();
    let large = counts(&vec![1; 500_000]);
    for ino in 0..4 {
        cache.keep(stamp(ino, 0), Unit::Byte, large.clone());
    }
    let bytes: usize = cache.lock().iter().map(|kept| kept.counts.bytes()).sum();
    assert!(bytes <= MAX_BYTES && bytes > 0);
    assert!(cache.get(&stamp(3, 0), Unit::Byte).is_some());
    cache.keep(stamp(9, 0), Unit::Byte, counts(&vec![1; 2_000_000]));
    assert!(cache.get(&stamp(9, 0), Unit::Byte).is_none());
}

#[test]
fn a_file_is_settled_2_s_after_its_last_change() {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let changed = stamp(1, 10 * 1_000_000_000);
    assert!(!changed.is_settled(at(11)));
    assert!(changed.is_settled(at(12)));
    assert!(!changed.is_settled(at(5)));
}
