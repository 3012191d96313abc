//! The toolbox as an MCP server.

use std::sync::Arc;
use std::time::Duration;

use fs_core::Cancel;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Map, Value};
use tool_server::{Call, CallError, Effect, ToolError, ToolOutput, ToolSpec, Toolbox};

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
        }
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
        let cancel = Cancel::default();
        let call = Call::stopped_by(cancel.clone());
        let toolbox = Arc::clone(&self.toolbox);
        let mut work = tokio::task::spawn_blocking(move || {
            let arguments = request.arguments.unwrap_or_default();
            toolbox.call(&request.name, arguments, &call)
        });
        let done = tokio::select! {
            done = &mut work => done,
            () = context.ct.cancelled() => {
                cancel.cancel();
                work.await
            }
        };
        match done {
            Ok(Ok(output)) => Ok(success(output, self.structured).into()),
            Ok(Err(CallError::Failed(error))) => Ok(failure(&error).into()),
            Ok(Err(error @ CallError::UnknownTool(_))) => {
                Err(ErrorData::invalid_params(error.to_string(), None))
            }
            Err(_stopped) => Err(ErrorData::internal_error("the call was lost", None)),
        }
    }
}

fn tool(spec: &ToolSpec, structured: Structured) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(spec.effect == Effect::Reads)
        .destructive(spec.effect != Effect::Reads)
        .idempotent(spec.effect == Effect::Reads)
        .open_world(false);
    let tool = Tool::new(spec.name, spec.about, Arc::new(spec.input_schema()))
        .with_title(spec.title)
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
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(test)]
mod tests;
