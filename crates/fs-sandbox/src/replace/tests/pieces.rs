use cap_std::fs::File;
use fs_core::{Cancel, Patch};

use rustix::io::Errno;

use super::super::pieces;
use super::faults::{Call, Fault};
use super::scene::{Scene, code};

#[test]
fn kept_ranges_come_from_the_old_file() {
    let scene = Scene::with_file(b"0123456789");
    let splices = [(2..4, b"two-three".to_vec()), (9..10, Vec::new())];
    scene.job().replace(&Patch::splice(10, splices)).unwrap();
    assert_eq!(scene.bytes("f"), b"01two-three45678");
}

#[test]
fn a_patch_gives_what_it_says_whatever_the_lengths() {
    // Over the steps of a write and of the copy by blocks.
    let old: Vec<u8> = (0..9_000_000_u32).map(|n| (n % 251) as u8).collect();
    let len = old.len() as u64;
    let new = vec![b'n'; 5_000_000];
    for splices in [
        vec![(0..0, new.clone())],
        vec![(len..len, new.clone())],
        vec![(1..2, b"x".to_vec()), (4_500_000..4_500_001, new.clone())],
        vec![(0..len, Vec::new())],
    ] {
        let scene = Scene::with_file(&old);
        let patch = Patch::splice(len, splices);
        scene.job().replace(&patch).unwrap();
        assert!(scene.bytes("f") == patch.apply(&old));
        assert_eq!(scene.names(), ["f"]);
    }
}

#[test]
fn a_patch_for_a_longer_file_than_there_is_changes_nothing() {
    let scene = Scene::with_file(b"short");
    let before = scene.state();
    let patch = Patch::splice(1000, [(0..1, b"x".to_vec())]);
    assert_eq!(code(scene.job().replace(&patch)), "conflict");
    assert_eq!(scene.state(), before);
}

#[test]
fn a_cancelled_replace_changes_nothing() {
    let cancel = Cancel::default();
    cancel.cancel();
    let scene = Scene::with_file(b"old");
    let before = scene.state();
    let job = scene.job().cancel(&cancel);
    assert_eq!(code(job.replace_with(b"new")), "cancelled");
    assert_eq!(code(job.replace(&Patch::splice(3, []))), "cancelled");
    assert_eq!(
        code(scene.job_for("g").cancel(&cancel).create(b"new")),
        "cancelled"
    );
    assert_eq!(
        code(scene.job_for("g").cancel(&cancel).create(b"")),
        "cancelled"
    );
    assert_eq!(scene.state(), before);
}

#[test]
fn copying_works_where_the_kernel_does_not_do_it() {
    let old: Vec<u8> = (0..700_000_u32).map(|n| (n % 251) as u8).collect();
    let scene = Scene::with_file(&old);
    let patch = Patch::splice(old.len() as u64, [(3..4, b"new".to_vec())]);
    for errno in [Errno::XDEV, Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP] {
        scene.write("f", &old);
        let fault = Fault::always(Call::CopyFileRange, errno);
        fault.during(|| scene.job().replace(&patch)).unwrap();
        assert!(scene.bytes("f") == patch.apply(&old), "{errno:?}");
    }
}

#[test]
fn short_and_long_pieces_come_out_in_order() {
    let source: Vec<u8> = (0..600_000_u32).flat_map(u32::to_le_bytes).collect();
    let len = source.len() as u64;
    let long = vec![b'x'; 10_000];
    let splices = (0..300_u64).map(|n| {
        let at = n * n * 20;
        let new = match n % 3 {
            0 => b"short".to_vec(),
            1 => long.clone(),
            _ => Vec::new(),
        };
        (at..at + n % 7, new)
    });
    let patch = Patch::splice(len, splices);
    let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let (from, to) = (File::from_std(from), File::from_std(to));
    let cancel = Cancel::default();
    pieces::write_bytes(&source, &from, 0, &cancel).unwrap();
    let end = pieces::write(patch.pieces(), &from, &to, 0, &cancel).unwrap();
    assert_eq!(end, patch.result_len());
    let written = fs_core::FileBytes::read(&to, 0, end + 1).unwrap();
    assert!(*written == *patch.apply(&source));
    // A source that has become shorter gives no bytes of its own making.
    rustix::fs::ftruncate(&from, len - 1).unwrap();
    let cut = pieces::write(patch.pieces(), &from, &to, 0, &cancel);
    assert_eq!(cut.unwrap_err().code(), "conflict");
    let kept_end = Patch::splice(4, [(0..1, b"y".to_vec())]);
    rustix::fs::ftruncate(&from, 3).unwrap();
    let cut = pieces::write(kept_end.pieces(), &from, &to, 0, &cancel);
    assert_eq!(cut.unwrap_err().code(), "conflict");
}
