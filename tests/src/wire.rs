//! A server process and its JSON-RPC lines.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::ops::Deref;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer may take.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A server process; requests may be made from many threads.
#[derive(Debug)]
pub struct Wire {
    child: Mutex<Child>,
    lines: Lines,
    stderr: Arc<Mutex<String>>,
    log: Option<JoinHandle<()>>,
}

/// Two pipes on which a peer is spoken to by lines.
pub struct Lines {
    to: Mutex<Option<Box<dyn Write + Send>>>,
    next: AtomicU64,
    waiting: Arc<Mutex<HashMap<u64, Sender<String>>>>,
    strays: Mutex<Receiver<String>>,
    thread: Option<JoinHandle<()>>,
}

/// A request whose answer is on its way.
#[derive(Debug)]
pub struct Pending {
    id: u64,
    answer: Receiver<String>,
}

impl Wire {
    /// Starts the process with pipes.
    pub fn start(command: &mut Command) -> Self {
        let piped = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = piped
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let pipe = child.stderr.take().unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&stderr);
        Self {
            child: Mutex::new(child),
            lines: Lines::over(stdout, stdin),
            stderr,
            log: Some(std::thread::spawn(move || collect(pipe, &log))),
        }
    }

    /// Makes a request and returns the line of its answer.
    #[track_caller]
    pub fn request(&self, method: &str, params: &Value) -> String {
        let pending = self.post(method, params);
        self.wait(&pending).unwrap_or_else(|| {
            panic!(
                "no answer to {method} {params} in {TIMEOUT:?}; stderr: {}",
                self.stderr()
            )
        })
    }

    /// Returns what was logged so far.
    pub fn stderr(&self) -> String {
        lock(&self.stderr).clone()
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Returns a field of the process's status in KiB, such as `VmHWM`.
    pub fn status_kib(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(field))
            .expect("the field");
        line.trim_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .expect("a number")
    }

    /// Kills the process at once.
    pub fn kill(&self) {
        let mut child = lock(&self.child);
        drop(child.kill());
        drop(child.wait());
    }

    /// Closes the input and returns how the process ended; `None` when it did not in five seconds.
    pub fn close(&self) -> Option<ExitStatus> {
        self.hang_up();
        self.ended(Duration::from_secs(5))
    }

    /// Waits so long for the process to end.
    pub fn ended(&self, time: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if let Some(status) = lock(&self.child).try_wait().expect("our child") {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }
}

impl Deref for Wire {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        &self.lines
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.close().is_none() {
            self.kill();
        }
        for thread in [self.lines.thread.take(), self.log.take()] {
            drop(thread.map(JoinHandle::join));
        }
    }
}

impl Lines {
    /// Speaks over these pipes: reads the lines of one at once, until it ends.
    pub fn over(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Self {
        let (stray, strays) = channel();
        let waiting = Arc::default();
        let shared = Arc::clone(&waiting);
        Self {
            to: Mutex::new(Some(Box::new(to))),
            next: AtomicU64::new(1),
            waiting,
            strays: Mutex::new(strays),
            thread: Some(std::thread::spawn(move || dispatch(from, &shared, &stray))),
        }
    }

    /// Sends a request and returns at once.
    pub fn post(&self, method: &str, params: &Value) -> Pending {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = channel();
        lock(&self.waiting).insert(id, sender);
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        Pending { id, answer }
    }

    /// Waits for an answer; `None` when it takes too long or the peer is gone.
    pub fn wait(&self, pending: &Pending) -> Option<String> {
        self.wait_for(pending, TIMEOUT)
    }

    /// Waits so long for an answer.
    pub fn wait_for(&self, pending: &Pending, time: Duration) -> Option<String> {
        pending.answer.recv_timeout(time).ok()
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a line as it is; a peer that is gone is no failure here.
    pub fn send(&self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are, with or without a line feed.
    pub fn send_bytes(&self, bytes: &[u8]) {
        let mut to = lock(&self.to);
        if let Some(to) = to.as_mut() {
            drop(to.write_all(bytes).and_then(|()| to.flush()));
        }
    }

    /// Returns the next line that answers no request of ours, without its line feed; `None` when none
    /// comes in time.
    pub fn stray(&self, time: Duration) -> Option<String> {
        lock(&self.strays).recv_timeout(time).ok()
    }

    /// Returns whether the peer closes its end within that time; lines that come first are dropped.
    pub fn ends(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let strays = lock(&self.strays);
        loop {
            match strays.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }

    /// Closes the end that is written to.
    pub fn hang_up(&self) {
        drop(lock(&self.to).take());
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl Pending {
    /// Returns the request's id.
    pub fn id(&self) -> u64 {
        self.id
    }
}

fn dispatch(
    from: impl Read,
    waiting: &Mutex<HashMap<u64, Sender<String>>>,
    strays: &Sender<String>,
) {
    let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    for line in lines.map_while(|line| String::from_utf8(line).ok()) {
        // Lines that cannot be answers may be huge.
        let is_awaited = !lock(waiting).is_empty();
        let answered = is_awaited.then(|| answered(&line)).flatten();
        let waiter = answered.and_then(|id| lock(waiting).remove(&id));
        drop(waiter.as_ref().unwrap_or(strays).send(line));
    }
    lock(waiting).clear();
}

/// Returns the id of the request that a line answers.
fn answered(line: &str) -> Option<u64> {
    let frame = serde_json::from_str::<Value>(line).ok()?;
    frame["id"].as_u64().filter(|_| frame["method"].is_null())
}

fn collect(mut stderr: impl Read, log: &Mutex<String>) {
    let mut block = [0; 4096];
    while let Ok(read @ 1..) = stderr.by_ref().read(&mut block) {
        lock(log).push_str(&String::from_utf8_lossy(&block[..read]));
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
