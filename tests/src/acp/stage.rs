//! The proxy between an editor and an agent that are both played by the test.

use std::fs::File;
use std::io::{IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde_json::{Value, json};

use crate::binary;
use crate::mcp::parse;
use crate::wire::{Lines, TIMEOUT, Wire};
use crate::world::World;

/// The session of a [`Stage::on`] a world.
pub const SESSION: &str = "s";

/// A proxy with both of its ends.
#[derive(Debug)]
pub struct Stage {
    /// The editor's end, and the proxy's process.
    pub editor: Wire,
    /// The agent's end.
    pub agent: Agent,
}

/// The end of an agent: the pipes of a process that does nothing by itself.
#[derive(Debug)]
pub struct Agent {
    lines: Lines,
    control: Mutex<Option<UnixStream>>,
    pid: u32,
}

/// Where an agent that is started can be met.
#[derive(Debug)]
pub struct Meeting {
    listener: UnixListener,
    name: String,
}

impl Stage {
    /// Starts the proxy with these arguments.
    pub fn with<A: AsRef<str>>(arguments: &[A]) -> Self {
        let mut command = command();
        command.args(arguments.iter().map(AsRef::as_ref));
        let meeting = Meeting::new();
        command.arg("--").args(meeting.agent());
        Self::of(&mut command, &meeting)
    }

    /// Starts the proxy on the world's root, with further arguments and one session, [`SESSION`], that
    /// is there, for an editor that serves no files.
    pub fn on(world: &World, further: &[&str]) -> Self {
        let root = world.root();
        let root = root.to_str().expect("a plain path");
        let stage = Self::with(&[&["--root", root], further].concat());
        stage.greet(&json!({}));
        stage.open(SESSION, &[root]);
        stage
    }

    /// Starts this command, whose agent comes to the meeting.
    pub fn of(command: &mut Command, meeting: &Meeting) -> Self {
        let editor = Wire::start(command);
        let agent = meeting
            .agent_within(TIMEOUT)
            .unwrap_or_else(|| panic!("no agent; stderr: {}", editor.stderr()));
        Self { editor, agent }
    }

    /// Lets the editor ask something that the agent answers with `result`; returns the lines as the
    /// agent and the editor got them.
    #[track_caller]
    pub fn ask(&self, method: &str, params: &Value, result: &Value) -> (String, String) {
        let pending = self.editor.post(method, params);
        let asked = self.agent.next();
        let id = &parse(&asked)["id"];
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.agent.send(&answer.to_string());
        let answer = self.editor.wait(&pending);
        (asked, answer.expect("an answer in time"))
    }

    /// Introduces both sides; the editor serves what `files` says.
    #[track_caller]
    pub fn greet(&self, files: &Value) -> (String, String) {
        let hello = json!({"protocolVersion": 1, "clientCapabilities": {"fs": files}});
        self.ask("initialize", &hello, &json!({"protocolVersion": 1}))
    }

    /// Opens a session in these directories, the first of which is the working directory.
    #[track_caller]
    pub fn open(&self, session: &str, directories: &[&str]) -> (String, String) {
        let (cwd, further) = directories.split_first().expect("a working directory");
        let mut setup = json!({"cwd": cwd, "mcpServers": []});
        if !further.is_empty() {
            setup["additionalDirectories"] = json!(further);
        }
        self.ask("session/new", &setup, &json!({"sessionId": session}))
    }

    /// Closes a session.
    #[track_caller]
    pub fn close(&self, session: &str) {
        let ended = json!({ "sessionId": session });
        self.ask("session/close", &ended, &json!({}));
    }

    /// Makes a request of the agent and returns the line of its answer.
    #[track_caller]
    pub fn call(&self, method: &str, params: &Value) -> String {
        let pending = self.agent.post(method, params);
        self.agent.wait(&pending).unwrap_or_else(|| {
            panic!(
                "no answer to {method} {params:.300} in {TIMEOUT:?}; stderr: {}",
                self.editor.stderr()
            )
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.editor.hang_up();
        self.agent.end(0);
    }
}

impl Agent {
    /// Returns the next line that answers no request.
    #[track_caller]
    pub fn next(&self) -> String {
        self.stray(TIMEOUT).expect("a line for the agent in time")
    }

    /// Returns the id of its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends its process with this exit code.
    pub fn end(&self, code: u8) {
        let control = self.control.lock().unwrap().take();
        if let Some(mut control) = control {
            drop(control.write_all(&[code]));
        }
        self.lines.hang_up();
    }
}

impl Deref for Agent {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        &self.lines
    }
}

impl Default for Meeting {
    fn default() -> Self {
        Self::new()
    }
}

impl Meeting {
    /// Returns a meeting of its own name.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("postern-puppet-{}-{number}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name of a socket");
        let listener = UnixListener::bind_addr(&address).expect("a name that is free");
        Self { listener, name }
    }

    /// Returns the command line of the agent that comes.
    pub fn agent(&self) -> [String; 2] {
        let program = binary::puppet().to_str().expect("a plain path");
        [program.to_owned(), self.name.clone()]
    }

    /// Waits so long for the agent.
    fn agent_within(&self, time: Duration) -> Option<Agent> {
        let end = Instant::now() + time;
        self.listener.set_nonblocking(true).unwrap();
        while Instant::now() < end {
            if let Ok((control, _)) = self.listener.accept() {
                control.set_nonblocking(false).unwrap();
                return Some(Agent::of(control));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        None
    }
}

impl Agent {
    /// Takes the pipes that the process sends.
    fn of(control: UnixStream) -> Self {
        let mut pid = [0; 4];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut message = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut pid)];
        recvmsg(&control, into, &mut message, RecvFlags::CMSG_CLOEXEC).expect("a message");
        let rights = message.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(ends) => Some(ends),
            _ => None,
        });
        let mut ends = rights.expect("the ends of pipes").map(File::from);
        let (from, to) = (
            ends.next().expect("its input"),
            ends.next().expect("its output"),
        );
        drop(ends);
        Self {
            lines: Lines::over(from, to),
            control: Mutex::new(Some(control)),
            pid: u32::from_ne_bytes(pid),
        }
    }
}

/// Returns the command without arguments and with an environment that says nothing.
pub fn command() -> Command {
    let mut command = Command::new(binary::acp_fs());
    command.env_clear();
    command
}
