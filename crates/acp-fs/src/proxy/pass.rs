//! Passing lines on, as many at once as are there.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use acp_fs::RpcError;
use tracing::warn;

use super::frame::Line;
use super::pipe::{Batch, Intake, Sink};

/// How much of a line that is no frame is shown.
const SHOWN: usize = 512;

/// What becomes of a line.
#[derive(Debug)]
pub(crate) enum Verdict {
    Pass,
    Keep,
    Instead(String),
}

/// Where a thread that passes lines is.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// How many batches it has read.
    pub(crate) batches: AtomicU64,
    /// Whether it waits for the next one.
    pub(crate) is_waiting: AtomicBool,
    /// Whether it has read to the end.
    pub(crate) is_ended: AtomicBool,
}

impl Meter {
    pub(crate) fn has_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire)
    }

    /// Reads the next batch.
    fn next<'b>(&self, from: &'b mut Intake) -> std::io::Result<Batch<'b>> {
        self.is_waiting.store(true, Ordering::Release);
        let batch = from.next();
        self.batches.fetch_add(1, Ordering::AcqRel);
        self.is_waiting.store(false, Ordering::Release);
        batch
    }
}

/// Passes lines on until there are no more, as many at once as are there.
///
/// `judge` gets a line and a call that sends what has passed before it: it makes that call before it
/// has anybody else write, so that nobody is asked for a thing before what the line came after.
///
/// It is told at once when nobody reads them any more; they are read all the same, so that nobody
/// waits to write them.
pub(crate) fn pass(
    meter: &Meter,
    mut from: Intake,
    to: &Sink,
    back: &Sink,
    mut judge: impl FnMut(&[u8], &mut dyn FnMut()) -> Verdict,
    gone: impl Fn(),
) {
    let mut is_gone = false;
    let mut send = |lines: &[u8]| {
        if !lines.is_empty() && to.write(lines).is_err() && !is_gone {
            is_gone = true;
            gone();
        }
    };
    loop {
        match meter.next(&mut from) {
            Ok(Batch::Lines(lines)) => pass_lines(lines, &mut judge, &mut send),
            Ok(Batch::Rest(rest)) => match judge(rest, &mut || ()) {
                Verdict::Pass => send(&[rest, b"\n"].concat()),
                Verdict::Instead(line) => send(format!("{line}\n").as_bytes()),
                Verdict::Keep => {}
            },
            Ok(Batch::TooLong) => {
                let message = "Invalid request: a frame over 256 MiB";
                let _gone = back.write(&nobodys(-32600, "too_large", message));
            }
            Ok(Batch::End) => return,
            Err(error) => {
                warn!("a pipe cannot be read: {error}");
                return;
            }
        }
    }
}

/// Passes whole lines on: runs that are not to be changed as they lie in the buffer.
fn pass_lines(
    lines: &[u8],
    judge: &mut impl FnMut(&[u8], &mut dyn FnMut()) -> Verdict,
    send: &mut impl FnMut(&[u8]),
) {
    let (mut run, mut rest) = (0..0, lines);
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (line, further) = rest.split_at_checked(end + 1).unwrap_or((rest, &[]));
        rest = further;
        let verdict = judge(line, &mut || {
            send(lines.get(run.clone()).unwrap_or_default());
            run.start = run.end;
        });
        if !matches!(verdict, Verdict::Pass) {
            send(lines.get(run.clone()).unwrap_or_default());
            run.start = run.end + line.len();
        }
        run.end += line.len();
        if let Verdict::Instead(line) = verdict {
            send(line.as_bytes());
        }
    }
    send(lines.get(run).unwrap_or_default());
}

/// Answers a line that is no frame.
pub(crate) fn refuse(back: &Sink, line: &Line<'_>) {
    let answer = match line {
        Line::List => nobodys(
            -32600,
            "invalid_request",
            "Invalid request: the protocol has no batches; send each frame as a line of its own",
        ),
        Line::Broken(reason) => nobodys(-32700, "parse_error", &format!("Parse error: {reason}")),
        _ => nobodys(-32700, "parse_error", "Parse error: the line is no frame"),
    };
    let _gone = back.write(&answer);
}

/// Returns an error about a frame whose id is not known.
fn nobodys(code: i32, stable: &str, message: &str) -> Vec<u8> {
    let error = RpcError::new(code, stable, message);
    let error = serde_json::to_string(&error).unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{error}}}\n").into_bytes()
}

/// Returns the beginning of a line in a form that fits on one.
pub(crate) fn shown(line: &[u8]) -> String {
    let head = line.get(..SHOWN).unwrap_or(line);
    fs_core::one_line(String::from_utf8_lossy(head).trim_end())
}
