//! The proxy: frames pass between an editor and an agent, and requests for files are served.
//!
//! One thread reads the editor, one the agent, a few answer requests for files, and this one waits
//! for an end: of the agent, of the editor, or by a signal.

mod agent;
mod editor;
mod frame;
mod gate;
mod pass;
mod pipe;
mod sessions;
mod splice;

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use acp_fs::FileMethods;
use acp_fs::wire::{READ_TEXT_FILE, WRITE_TEXT_FILE};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};
use tracing::warn;

pub(crate) use agent::Ending;
pub(crate) use editor::Serve;

use crate::config::ProxySettings;
use crate::failure::Failure;
use agent::{Agent, Leash};
use editor::Editor;
use frame::{Frame, Line, object};
use gate::Gate;
use pass::{Meter, Verdict, pass, refuse, shown};
use pipe::{Intake, Sink, is_left};
use sessions::Sessions;

/// How many requests for files run at the same time, beside those that wait for the editor.
const WORKERS: usize = 4;
/// How many of those may wait.
const MAX_WAITING: usize = 60;
/// How long an agent has after its editor is gone, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
/// How long an agent has that does not even read what its editor, who is gone, has left.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether the editor is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long is waited for output that an agent may have left when it ended.
const DRAIN: Duration = Duration::from_millis(500);
/// The same, where there is always more; while the editor takes it in, time stands still.
const LONG_DRAIN: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(5);
/// How long the requests of an agent that has ended may take.
const LAST_WRITES: Duration = Duration::from_secs(30);

/// What happens while frames pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    AgentEnded(Ending),
    AgentSilent,
    EditorGone,
    Signal(i32),
    /// So many requests wait for the editor, more than ever before.
    Waiting(usize),
    Drained,
}

/// Both ends and what is known between them.
#[derive(Debug)]
struct Proxy {
    gate: Gate,
    sessions: Sessions,
    editor: Arc<Editor>,
    to_editor: Arc<Sink>,
    from_agent: Meter,
    settings: ProxySettings,
    workers: AtomicUsize,
}

/// Passes frames until one end is gone, and returns how the agent ended.
///
/// # Errors
/// The agent cannot be started.
pub(crate) fn run(settings: ProxySettings) -> Result<Ending, Failure> {
    let io = |error: std::io::Error| Failure::failed(error.to_string());
    let from_editor = std::io::stdin().as_fd().try_clone_to_owned().map_err(io)?;
    let to_editor = std::io::stdout().as_fd().try_clone_to_owned().map_err(io)?;
    // Nothing but frames goes to the editor, and it is told when there will be no more.
    let _unclosed = rustix::stdio::dup2_stdout(std::io::stderr());
    let (tell, told) = mpsc::channel();
    watch_signals(tell.clone()).map_err(io)?;
    let (agent, to_agent, from_agent) = Agent::start(&settings.agent).map_err(|error| {
        let program = settings.agent.first().cloned().unwrap_or_default();
        Failure::failed(format!("{}: {error}", program.to_string_lossy()))
    })?;
    let leash = agent.leash().map_err(io)?;
    let editors_end = from_editor.try_clone().map_err(io)?;
    let proxy = Arc::new(Proxy::new(settings, to_editor, to_agent, tell.clone()));
    proxy.employ(WORKERS);
    {
        let (proxy, tell) = (Arc::clone(&proxy), tell.clone());
        thread::spawn(move || {
            proxy.pass_from_editor(Intake::new(from_editor));
            let _ended = tell.send(Event::EditorGone);
        });
    }
    {
        let (proxy, tell) = (Arc::clone(&proxy), tell.clone());
        thread::spawn(move || {
            proxy.pass_from_agent(Intake::new(from_agent), &tell);
            let _ended = tell.send(Event::AgentSilent);
        });
    }
    let drained = tell.clone();
    thread::spawn(move || wait_for(agent, &tell));
    let ending = proxy.attend(&told, &leash, &editors_end);
    proxy.drain_until_told(&told, drained);
    Ok(ending)
}

fn wait_for(mut agent: Agent, tell: &Sender<Event>) {
    let ending = agent.wait().unwrap_or(Ending::Code(u8::MAX));
    let _ended = tell.send(Event::AgentEnded(ending));
}

/// Tells of signals to end. The terminal sends its own to the agent, too, so those are not passed on.
fn watch_signals(tell: Sender<Event>) -> std::io::Result<()> {
    use signal_hook::iterator::SignalsInfo;
    use signal_hook::iterator::exfiltrator::WithOrigin;

    let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
    let mut signals = SignalsInfo::<WithOrigin>::new(all)?;
    thread::spawn(move || {
        for origin in signals.forever() {
            let is_terminals =
                matches!(origin.signal, SIGINT | SIGQUIT) && origin.process.is_none();
            if !is_terminals {
                let _ended = tell.send(Event::Signal(origin.signal));
            }
        }
    });
    Ok(())
}

impl Proxy {
    fn new(
        settings: ProxySettings,
        to_editor: OwnedFd,
        to_agent: OwnedFd,
        tell: Sender<Event>,
    ) -> Self {
        let most = AtomicUsize::new(0);
        let on_wait = move |waiting| {
            if most.fetch_max(waiting, Ordering::AcqRel) < waiting {
                let _ended = tell.send(Event::Waiting(waiting));
            }
        };
        let to_editor = Arc::new(Sink::new(to_editor));
        let to_agent = Arc::new(Sink::new(to_agent));
        let editor = Arc::new(Editor::new(
            Arc::clone(&to_editor),
            settings.serve,
            settings.editor_timeout,
            &settings.run,
            on_wait,
        ));
        let methods = FileMethods::new(settings.workspace.clone(), Arc::clone(&editor));
        let methods = methods.with_options(settings.options);
        Self {
            gate: Gate::new(
                methods,
                Arc::clone(&editor),
                to_agent,
                settings.null,
                &settings.run,
            ),
            sessions: Sessions::new(settings.missing),
            editor,
            to_editor,
            from_agent: Meter::default(),
            settings,
            workers: AtomicUsize::new(0),
        }
    }

    /// Has so many threads answer requests for files.
    fn employ(self: &Arc<Self>, wanted: usize) {
        while self.workers.load(Ordering::Acquire) < wanted {
            self.workers.fetch_add(1, Ordering::AcqRel);
            let proxy = Arc::clone(self);
            thread::spawn(move || proxy.gate.work());
        }
    }

    /// Waits for the agent's end, and sees to it that it comes once the editor is gone.
    fn attend(
        self: &Arc<Self>,
        told: &Receiver<Event>,
        leash: &Leash,
        editors_end: &OwnedFd,
    ) -> Ending {
        let mut steps = [SIGTERM, SIGKILL].into_iter();
        let mut next: Option<Instant> = None;
        loop {
            let left = next.map_or(LOOK, |next| next.saturating_duration_since(Instant::now()));
            match told.recv_timeout(left) {
                Ok(Event::AgentEnded(ending)) => return ending,
                Ok(Event::Signal(signal)) => leash.send(signal),
                Ok(Event::Waiting(count)) => self.employ(WORKERS + count.min(MAX_WAITING)),
                Ok(Event::EditorGone) => {
                    // An agent ends when nobody writes to it any more. Somebody may be writing, and
                    // the agent not reading.
                    self.editor.leave();
                    let proxy = Arc::clone(self);
                    thread::spawn(move || proxy.gate.to_agent.close());
                    next = Some(Instant::now() + GRACE);
                }
                Ok(Event::AgentSilent) => {
                    // Its end is not to be missed meanwhile.
                    let proxy = Arc::clone(self);
                    thread::spawn(move || {
                        proxy.gate.finish(LAST_WRITES);
                        proxy.to_editor.close();
                    });
                }
                Err(RecvTimeoutError::Timeout) if next.is_some() => {
                    if let Some(signal) = steps.next() {
                        warn!("the agent is still there; it gets signal {signal}");
                        leash.send(signal);
                    }
                    next = Some(Instant::now() + GRACE);
                }
                // Who reads the editor may wait for the agent to read, and not see the end.
                Err(RecvTimeoutError::Timeout) if is_left(editors_end) => {
                    next = Some(Instant::now() + PATIENCE);
                }
                Ok(Event::Drained) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ending::Code(u8::MAX),
            }
        }
    }

    /// Drains, unless a signal ends that: somebody may read no more.
    fn drain_until_told(self: &Arc<Self>, told: &Receiver<Event>, tell: Sender<Event>) {
        let proxy = Arc::clone(self);
        thread::spawn(move || {
            proxy.drain();
            let _ended = tell.send(Event::Drained);
        });
        while let Ok(event) = told.recv() {
            match event {
                Event::Drained | Event::Signal(_) => return,
                Event::Waiting(count) => self.employ(WORKERS + count.min(MAX_WAITING)),
                _ => {}
            }
        }
    }

    /// Passes on what an agent that has ended has written, and answers what it has asked for.
    fn drain(&self) {
        let mut seen = (0, Instant::now());
        let mut waited = Duration::ZERO;
        // Somebody whom the agent has started may hold its output open, and write nothing, or go on
        // writing for ever.
        while !self.from_agent.has_ended() && seen.1.elapsed() < DRAIN && waited < LONG_DRAIN {
            let batches = self.from_agent.batches.load(Ordering::Acquire);
            let is_waiting = self.from_agent.is_waiting.load(Ordering::Acquire);
            if batches != seen.0 || !is_waiting {
                seen = (batches, Instant::now());
            }
            if is_waiting {
                waited += GLANCE;
            }
            thread::sleep(GLANCE);
        }
        self.editor.leave();
        self.gate.stop_reads();
        self.gate.finish(LAST_WRITES);
    }

    fn pass_from_editor(&self, from: Intake) {
        let to_agent = &self.gate.to_agent;
        let judge = |line: &[u8], flush: &mut dyn FnMut()| self.judge_editor(line, flush);
        // An agent that is gone has ended, or will: that is told elsewhere.
        let meter = Meter::default();
        pass(&meter, from, to_agent, &self.to_editor, judge, || ());
    }

    fn pass_from_agent(&self, from: Intake, tell: &Sender<Event>) {
        let back = &self.gate.to_agent;
        let judge = |line: &[u8], flush: &mut dyn FnMut()| self.judge_agent(line, flush);
        let gone = || {
            let _ended = tell.send(Event::EditorGone);
        };
        pass(&self.from_agent, from, &self.to_editor, back, judge, gone);
        self.from_agent.is_ended.store(true, Ordering::Release);
    }

    /// Says what becomes of a line of the editor.
    fn judge_editor(&self, line: &[u8], flush: &mut dyn FnMut()) -> Verdict {
        let frame = match Line::parse(line) {
            Line::Frame(frame) => frame,
            Line::Blank => return Verdict::Keep,
            other => {
                refuse(&self.to_editor, &other);
                return Verdict::Keep;
            }
        };
        let Some(method) = frame.method.as_deref() else {
            let Some(id) = self.editor.awaits(&frame) else {
                return Verdict::Pass;
            };
            flush();
            self.editor.take(&id, &frame);
            return Verdict::Keep;
        };
        let directories = self.sessions.see_request(&frame, &self.gate.methods);
        let changed = match (method, directories) {
            ("initialize", _) => self.welcomed(line, &frame),
            (_, Some(directories)) => self.with_server(line, &directories),
            _ => None,
        };
        changed.map_or(Verdict::Pass, Verdict::Instead)
    }

    /// Says what becomes of a line of the agent.
    fn judge_agent(&self, line: &[u8], flush: &mut dyn FnMut()) -> Verdict {
        let frame = match Line::parse(line) {
            Line::Frame(frame) => frame,
            Line::Blank => return Verdict::Keep,
            Line::Noise => {
                warn!("the agent printed: {}", shown(line));
                return Verdict::Keep;
            }
            other => {
                warn!("the agent sent what is no frame: {}", shown(line));
                refuse(&self.gate.to_agent, &other);
                return Verdict::Keep;
            }
        };
        if frame.is_for_files() {
            flush();
            self.gate.take(&frame, &self.sessions);
            return Verdict::Keep;
        }
        match frame.method.as_deref() {
            Some("$/cancel_request") if self.cancels_ours(&frame) => Verdict::Keep,
            None => {
                self.sessions.see_response(&frame, &self.gate.methods);
                Verdict::Pass
            }
            Some(_) => Verdict::Pass,
        }
    }

    fn cancels_ours(&self, frame: &Frame<'_>) -> bool {
        let params = frame.params.map(RawValue::get).unwrap_or_default();
        let params = object::<CancelRequest>(params);
        params.is_some_and(|params| self.gate.cancel(&params.request_id))
    }

    /// Returns the editor's `initialize` with the capabilities that this proxy adds or takes away.
    fn welcomed(&self, line: &[u8], frame: &Frame<'_>) -> Option<String> {
        let hello = frame.params.map(RawValue::get).unwrap_or_default();
        let hello: Hello = object(hello).unwrap_or_default();
        let is_first = hello.protocol_version.as_f64() == Some(1.0);
        if !is_first && hello.client_capabilities.get("fs").is_none() {
            // Later versions have no files of the editor; who offers one may be answered by the first.
            return None;
        }
        let flags = [
            ("readTextFile", READ_TEXT_FILE, true),
            (
                "writeTextFile",
                WRITE_TEXT_FILE,
                !self.settings.is_read_only,
            ),
        ];
        let mut line = std::str::from_utf8(line).ok()?.to_owned();
        for (flag, method, is_allowed) in flags {
            let capability = format!("/fs/{flag}");
            let capability = hello.client_capabilities.pointer(&capability);
            let is_editors = capability == Some(&Value::Bool(true));
            if is_editors {
                self.editor.can(method);
            }
            let is_served = is_allowed && (is_editors || self.settings.serve != Serve::Editor);
            let path = ["params", "clientCapabilities", "fs", flag];
            line = splice::with(&line, &path, &|_| is_served.to_string())?;
        }
        Some(line)
    }

    /// Returns a request that sets up a session with the tool server among its servers.
    fn with_server(&self, line: &[u8], directories: &[PathBuf]) -> Option<String> {
        let server = self.settings.mcp.as_ref()?;
        let within = self.gate.methods.within(directories).unwrap_or_default();
        if within.is_empty() {
            return None;
        }
        let server = server
            .over(&within, &self.settings.workspace, self.sessions.protocol())
            .to_string();
        let line = std::str::from_utf8(line).ok()?;
        let path = ["params", "mcpServers"];
        splice::with(line, &path, &|list| splice::with_first(list, &server))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    request_id: Box<RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Hello {
    protocol_version: Value,
    client_capabilities: Value,
}
