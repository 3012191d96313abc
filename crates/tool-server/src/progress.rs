//! A bar on the terminal while a call takes long.

use std::io::IsTerminal as _;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use fs_core::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A call that takes no longer shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the bar is drawn.
const DRAWING: Duration = Duration::from_millis(100);

/// Does `work` and returns what it does; while it takes long, a terminal on standard error shows how
/// far `progress` has come.
pub(crate) fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        // Dropping the sender is the sign that the work is done.
        let (working, done) = mpsc::channel::<()>();
        scope.spawn(move || draw(progress, &done, ProgressDrawTarget::stderr()));
        let result = work();
        drop(working);
        result
    })
}

fn draw(progress: &Progress, done: &Receiver<()>, target: ProgressDrawTarget) {
    let is_over = |wait| done.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
    if is_over(PATIENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(progress.total(), target);
    // The texts are constant; the plain style is as good.
    let style = ProgressStyle::with_template(template(progress));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    while !is_over(DRAWING) {
        bar.set_position(progress.done());
    }
    bar.finish_and_clear();
}

/// What has a total are bytes; entries are counted as they come.
fn template(progress: &Progress) -> &'static str {
    match progress.total() {
        Some(_) => "{bar:40} {bytes}/{total_bytes} {binary_bytes_per_sec}",
        None => "{spinner} {pos} entries, {elapsed}",
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps what is written and forgets it when the line is cleared.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn shown(&self) -> String {
            self.0.lock().unwrap().trim().to_owned()
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[track_caller]
    fn check(progress: &Progress, lasting: Duration, says: &str) {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let (working, done) = mpsc::channel();
        let mut seen = String::new();
        thread::scope(|scope| {
            scope.spawn(move || draw(progress, &done, target));
            thread::sleep(lasting);
            seen = screen.shown();
            drop(working);
        });
        assert!(seen.contains(says), "{seen:?}");
        assert_eq!(seen.is_empty(), says.is_empty(), "{seen:?}");
        assert_eq!(screen.shown(), "", "the bar goes when the work is done");
    }

    #[test]
    fn only_long_work_shows_a_bar_and_it_goes_in_the_end() {
        let entries = Progress::default();
        entries.add(1234);
        check(&entries, Duration::ZERO, "");
        check(&entries, PATIENCE + 8 * DRAWING, "1234 entries");
        let bytes = Progress::default();
        bytes.set_total(2 << 20);
        bytes.add(1 << 20);
        check(&bytes, PATIENCE + 8 * DRAWING, "1.00 MiB/2.00 MiB");
    }
}
