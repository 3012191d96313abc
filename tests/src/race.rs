//! What goes on in a world beside a request.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags};

/// A thread that disturbs a world until it is stopped.
#[derive(Debug)]
pub struct Race {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicU64>,
    faults: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Race {
    /// Exchanges two names, over and over.
    pub fn exchange(a: PathBuf, b: PathBuf) -> Self {
        Self::of(move || {
            rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
        })
    }

    /// Renames `a` to `b` and back, over and over.
    pub fn flip(a: PathBuf, b: PathBuf) -> Self {
        Self::of(move || {
            std::fs::rename(&a, &b).unwrap();
            std::fs::rename(&b, &a).unwrap();
        })
    }

    /// Appends `bytes` bytes of lines to a file, over and over, up to 1,000 times.
    pub fn append(path: PathBuf, bytes: usize) -> Self {
        let lines = "b\n".repeat(bytes / 2);
        let mut left = 1000;
        Self::of(move || {
            if left > 0 {
                let mut file = std::fs::OpenOptions::new()
                    .append(true)
                    .open(&path)
                    .unwrap();
                file.write_all(lines.as_bytes()).unwrap();
                left -= 1;
            }
            std::thread::sleep(std::time::Duration::from_micros(200));
        })
    }

    /// Creates a file at `path` and removes it, over and over; that another took its name meanwhile is
    /// a fault. A file that is there already goes back to `source`, whence it was moved.
    pub fn create(path: PathBuf, source: PathBuf) -> Self {
        let faults = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&faults);
        let turn = move || {
            let Ok(mut file) = File::create_new(&path) else {
                drop(std::fs::rename(&path, &source));
                return;
            };
            file.write_all(b"B").unwrap();
            for _ in 0..20 {
                std::thread::yield_now();
            }
            let id = |meta: &std::fs::Metadata| (meta.dev(), meta.ino());
            let there = path.symlink_metadata().map(|meta| id(&meta));
            if there.ok() != Some(id(&file.metadata().unwrap())) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            drop(std::fs::remove_file(&path));
        };
        Self::counting(faults, turn)
    }

    /// Does `turn` over and over in a thread of its own.
    pub fn of(turn: impl FnMut() + Send + 'static) -> Self {
        Self::counting(Arc::default(), turn)
    }

    fn counting(faults: Arc<AtomicU64>, mut turn: impl FnMut() + Send + 'static) -> Self {
        let (stop, turns) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&turns));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                turn();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self {
            stop,
            turns,
            faults,
            thread: Some(thread),
        }
    }

    /// Returns how many turns were taken so far.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Returns how often something went wrong that the race itself can see.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// Stops it and returns how many turns it took.
    pub fn stop(mut self) -> u64 {
        self.halt();
        self.turns()
    }

    fn halt(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for Race {
    fn drop(&mut self) {
        self.halt();
    }
}
