//! A server process and its JSON-RPC lines.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
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
    stdin: Mutex<Option<ChildStdin>>,
    next: AtomicU64,
    shared: Arc<Shared>,
    strays: Mutex<Receiver<String>>,
    threads: Vec<JoinHandle<()>>,
}

/// A request whose answer is on its way.
#[derive(Debug)]
pub struct Pending {
    id: u64,
    answer: Receiver<String>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<HashMap<u64, Sender<String>>>,
    stderr: Mutex<String>,
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
        let shared = Arc::new(Shared::default());
        let (stray, strays) = channel();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (lines, log) = (Arc::clone(&shared), Arc::clone(&shared));
        let threads = vec![
            std::thread::spawn(move || lines.dispatch(stdout, &stray)),
            std::thread::spawn(move || log.collect(stderr)),
        ];
        let stdin = Mutex::new(child.stdin.take());
        let child = Mutex::new(child);
        Self {
            child,
            stdin,
            next: AtomicU64::new(1),
            shared,
            strays: Mutex::new(strays),
            threads,
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

    /// Sends a request and returns at once.
    pub fn post(&self, method: &str, params: &Value) -> Pending {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = channel();
        lock(&self.shared.waiting).insert(id, sender);
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        Pending { id, answer }
    }

    /// Waits for an answer; `None` when it takes too long or the server is gone.
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

    /// Sends a line as it is; a server that is gone is no failure here.
    pub fn send(&self, line: &str) {
        let mut stdin = lock(&self.stdin);
        if let Some(stdin) = stdin.as_mut() {
            drop(
                stdin
                    .write_all(format!("{line}\n").as_bytes())
                    .and_then(|()| stdin.flush()),
            );
        }
    }

    /// Returns the next line that answers no request of ours; `None` when none comes in time.
    pub fn stray(&self, time: Duration) -> Option<String> {
        lock(&self.strays).recv_timeout(time).ok()
    }

    /// Returns what was logged so far.
    pub fn stderr(&self) -> String {
        lock(&self.shared.stderr).clone()
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Kills the process at once.
    pub fn kill(&self) {
        let mut child = lock(&self.child);
        drop(child.kill());
        drop(child.wait());
    }

    /// Closes the input and returns how the process ended; `None` when it did not in five seconds.
    pub fn close(&self) -> Option<ExitStatus> {
        drop(lock(&self.stdin).take());
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

impl Drop for Wire {
    fn drop(&mut self) {
        if self.close().is_none() {
            self.kill();
        }
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

impl Pending {
    /// Returns the request's id.
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl Shared {
    fn dispatch(&self, stdout: ChildStdout, strays: &Sender<String>) {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let id = serde_json::from_str::<Value>(&line)
                .ok()
                .and_then(|value| value["id"].as_u64());
            let waiting = id.and_then(|id| lock(&self.waiting).remove(&id));
            drop(waiting.as_ref().unwrap_or(strays).send(line));
        }
        lock(&self.waiting).clear();
    }

    fn collect(&self, mut stderr: impl std::io::Read) {
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = stderr.by_ref().read(&mut block) {
            lock(&self.stderr).push_str(&String::from_utf8_lossy(&block[..read]));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
