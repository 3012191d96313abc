//! The toolbox as an MCP server.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fs_core::{Cancel, Progress};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, SemaphorePermit};
use tool_server::{
    Call, CallError, Checked, Effect, LongWork, ToolError, ToolOutput, ToolSpec, Toolbox,
};

use crate::failure::Failure;
use crate::instructions::instructions;
use crate::transport::LineTransport;

/// Where a result's facts stand: for hosts and programs, not for the model.
const FACTS: &str = "postern/facts";
/// How long calls may go on after a signal to end, before they are stopped.
const GRACE: Duration = Duration::from_millis(1_500);
/// How long they may then take to stop.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long they may take to stop when nobody reads their answers any more.
const UNHEARD: Duration = Duration::from_secs(5);

/// How many trees are walked at the same time, and how many files copied; more such calls wait, and
/// leave threads to the short ones. A walk may hold some 70 handles, and a process may have but 256.
const WALKS: usize = 3;
const COPIES: usize = 8;

/// How often a client that asks for it is told how far a call has come.
const TELLING: Duration = if cfg!(test) {
    Duration::from_millis(1)
} else {
    Duration::from_millis(200)
};

/// A short call that takes longer than this waits for a file system.
const SLOW: Duration = Duration::from_millis(100);
/// How long calls are then run elsewhere only.
const DISTRUST: Duration = Duration::from_secs(60);

/// Whether a success carries its facts as structured content too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structured {
    /// No: text alone, and the facts beside it.
    No,
    /// Yes, with output schemas and the text in it.
    Yes,
}

struct Server {
    toolbox: Arc<Toolbox>,
    structured: Structured,
    info: ServerConfig,
    walks: Semaphore,
    copies: Semaphore,
    /// Until when no call is run where the messages are read.
    distrusted: Mutex<Option<Instant>>,
}

/// Serves the toolbox over standard input and output until one of them ends or a signal comes.
pub(crate) async fn serve(toolbox: Toolbox, structured: Structured) -> Result<(), Failure> {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    let (transport, session) = LineTransport::new(reader, writer);
    let server = Server::new(toolbox, structured);
    let mut terminated = std::pin::pin!(terminated()?);
    let running = tokio::select! {
        started = server.serve(transport) => match started {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(Failure::failed(format!("no session: {error}"))),
        },
        () = &mut terminated => return Ok(()),
    };
    let stop = running.cancellation_token();
    let mut ended = std::pin::pin!(running.waiting());
    let left = tokio::select! {
        _reason = &mut ended => return Ok(()),
        () = session.broken() => UNHEARD,
        () = &mut terminated => {
            session.end();
            if tokio::time::timeout(GRACE, &mut ended).await.is_ok() {
                return Ok(());
            }
            LAST_WORDS
        }
    };
    stop.cancel();
    // What has not stopped by then is left behind; it has changed nothing yet.
    let _stopped = tokio::time::timeout(left, ended).await;
    Ok(())
}

impl Server {
    fn new(toolbox: Toolbox, structured: Structured) -> Self {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let name = Implementation::new("tool-server", env!("CARGO_PKG_VERSION"));
        let info = ServerConfig::new(capabilities)
            .with_server_info(name.with_title("Postern tool-server"))
            .with_instructions(instructions(&toolbox));
        Self {
            toolbox: Arc::new(toolbox),
            structured,
            info,
            walks: Semaphore::new(WALKS),
            copies: Semaphore::new(COPIES),
            distrusted: Mutex::default(),
        }
    }
}

impl Server {
    /// Waits until a call that may take long may begin, or is given up.
    async fn turn(
        &self,
        checked: &Checked,
        context: &RequestContext<RoleServer>,
    ) -> Option<SemaphorePermit<'_>> {
        let turns = match checked.long_work()? {
            LongWork::Walk => &self.walks,
            LongWork::Copy => &self.copies,
        };
        tokio::select! {
            turn = turns.acquire() => turn.ok(),
            () = context.ct.cancelled() => None,
        }
    }

    /// Runs a call in another thread.
    async fn run(
        &self,
        checked: Checked,
        call: &Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<ToolOutput, ToolError>, ErrorData> {
        let toolbox = Arc::clone(&self.toolbox);
        let cancel = &call.cancel;
        let _turn = self.turn(&checked, context).await;
        if context.ct.is_cancelled() {
            cancel.cancel();
        }
        let mut work = tokio::task::spawn_blocking(move || toolbox.run(checked));
        let done = tokio::select! {
            done = &mut work => done,
            // Nothing is told any more once the call is done.
            never = tell_progress(&call.progress, context) => match never {},
            () = context.ct.cancelled() => {
                cancel.cancel();
                work.await
            }
        };
        done.map_err(|_| ErrorData::internal_error("the call was lost", None))
    }

    /// Runs a short call here and now: waking another thread would take longer. A file system that
    /// makes it wait is not trusted so far for a while.
    fn run_short(&self, checked: &Checked) -> Option<Result<ToolOutput, ToolError>> {
        let began = Instant::now();
        let mut distrusted = self
            .distrusted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if distrusted.is_some_and(|until| began < until) {
            return None;
        }
        let done = self.toolbox.run_short(checked);
        *distrusted = (began.elapsed() > SLOW).then(|| began + DISTRUST);
        done
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.toolbox.specs().map(|spec| tool(spec, self.structured));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::stopped_by(Cancel::default());
        let arguments = request.arguments.unwrap_or_default();
        let done = match self.toolbox.check(&request.name, arguments, call.clone()) {
            Ok(checked) => match self.run_short(&checked) {
                Some(done) => done,
                None => self.run(checked, &call, &context).await?,
            },
            Err(CallError::Failed(error)) => Err(error),
            Err(error @ CallError::UnknownTool(_)) => {
                return Err(ErrorData::invalid_params(error.to_string(), None));
            }
        };
        Ok(match done {
            Ok(output) => success(output, self.structured).into(),
            Err(error) => failure(&error).into(),
        })
    }
}

/// Tells the client how far a call has come, each time that it has come further, if it asks for that.
async fn tell_progress(progress: &Progress, context: &RequestContext<RoleServer>) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut told = 0;
    loop {
        tokio::time::sleep(TELLING).await;
        let done = progress.done();
        if done > told {
            told = done;
            let step = step(token.clone(), progress);
            // A client that has gone away is noticed where its answer is written.
            context.peer.notify_progress(step).await.unwrap_or_default();
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the protocol counts in floats; beyond 2^53 the last digits do not matter"
)]
fn step(token: ProgressToken, progress: &Progress) -> ProgressNotificationParam {
    let step = ProgressNotificationParam::new(token, progress.done() as f64);
    match progress.total() {
        Some(total) => step.with_total(total as f64),
        None => step,
    }
}

fn tool(spec: &ToolSpec, structured: Structured) -> Tool {
    // What the protocol takes for granted is left out: a model pays for every byte.
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match spec.effect {
        Effect::Reads => annotations.read_only(true),
        Effect::Adds => annotations.read_only(false).destructive(false),
        Effect::Changes | Effect::Deletes => annotations.read_only(false).destructive(true),
    };
    let tool = Tool::new(spec.name, spec.about, Arc::new(spec.input_schema()))
        .with_annotations(annotations);
    match structured {
        Structured::No => tool,
        Structured::Yes => tool.with_raw_output_schema(Arc::new(spec.output_schema())),
    }
}

fn success(output: ToolOutput, structured: Structured) -> CallToolResult {
    let (text, further, facts) = output.into_parts();
    let object = (structured == Structured::Yes).then(|| {
        let mut object = facts.clone();
        object.insert("text".to_owned(), text.as_str().into());
        object.insert("notes".to_owned(), further.clone().into());
        Value::Object(object)
    });
    let blocks = std::iter::once(text).chain(further);
    let mut result = CallToolResult::success(blocks.map(ContentBlock::text).collect());
    result.structured_content = object;
    result.with_meta(Some(meta(facts)))
}

fn failure(error: &ToolError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
    result.structured_content = Some(error.object().into());
    result
}

fn meta(facts: Map<String, Value>) -> MetaObject {
    MetaObject(JsonObject::from_iter([(FACTS.to_owned(), facts.into())]))
}

/// Returns what ends when the process is asked to end.
fn terminated() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};

    let cannot = |error: std::io::Error| Failure::failed(format!("signals: {error}"));
    let mut term = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(cannot)?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = hangup.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(test)]
mod tests;
