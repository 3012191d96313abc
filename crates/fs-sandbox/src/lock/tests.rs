use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::*;

fn file(inode: u64) -> LockKey {
    LockKey::File { id: (1, inode) }
}

fn name(text: &str) -> LockKey {
    LockKey::Name {
        dir: (1, 2),
        name: text.into(),
    }
}

fn lock(locks: &FileLocks, key: LockKey) -> FileLock {
    locks.lock(key, &Cancel::default()).unwrap()
}

#[test]
fn only_one_at_a_time_holds_a_key() {
    let locks = FileLocks::default();
    let inside = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let _held = lock(&locks.clone(), file(7));
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 3200);
    assert_eq!(locks.table().len(), 0);
}

#[test]
fn different_keys_do_not_wait_for_each_other() {
    let locks = FileLocks::default();
    let held = [
        lock(&locks, file(1)),
        lock(&locks, file(2)),
        lock(&locks, name("a")),
        lock(&locks, name("b")),
    ];
    assert_eq!(locks.table().len(), 4);
    drop(held);
    assert_eq!(locks.table().len(), 0);
}

#[test]
fn who_is_cancelled_while_waiting_gives_up_its_place_only() {
    let locks = FileLocks::default();
    let held = lock(&locks, name("a"));
    let cancel = Cancel::default();
    let (send, order) = mpsc::channel();
    thread::scope(|scope| {
        let waits = scope.spawn(|| locks.lock(name("a"), &cancel).map(drop));
        while locks
            .table()
            .get(&name("a"))
            .is_none_or(|queue| queue.next < 1)
        {
            thread::yield_now();
        }
        scope.spawn(|| {
            let _held = lock(&locks, name("a"));
            send.send("the next one").unwrap();
        });
        while locks
            .table()
            .get(&name("a"))
            .is_none_or(|queue| queue.next < 2)
        {
            thread::yield_now();
        }
        cancel.cancel();
        let error = waits.join().unwrap().unwrap_err();
        assert_eq!(error.code(), "cancelled");
        assert!(order.try_recv().is_err());
        drop(held);
    });
    assert_eq!(order.try_recv(), Ok("the next one"));
    assert_eq!(locks.table().len(), 0);
}

#[test]
fn the_longest_wait_is_served_first() {
    let locks = FileLocks::default();
    let held = lock(&locks, file(1));
    let (send, order) = mpsc::channel();
    thread::scope(|scope| {
        for turn in 1..=5 {
            let (locks, send) = (&locks, send.clone());
            scope.spawn(move || {
                let _held = lock(locks, file(1));
                send.send(turn).unwrap();
            });
            while locks
                .table()
                .get(&file(1))
                .is_none_or(|queue| queue.next < turn)
            {
                thread::yield_now();
            }
        }
        drop(held);
    });
    assert_eq!(order.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}
