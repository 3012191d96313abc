//! MCP messages as lines.
//!
//! Unlike the SDK's own transport this one leaves no line without an answer: what is too long or
//! no JSON gets an error, with the request's id where it can be found. At the end of the input it
//! waits until every request has its answer. Nothing of a client but requests and cancellations
//! is passed on: the server needs no more.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

use crate::lines::{Line, Lines};
use crate::request_id::RequestIdFinder;

/// Bytes that most answers fit into.
const USUAL_ANSWER: usize = 8 * 1024;
/// Lines that are joined into one write at most.
const BATCH: usize = 64;
/// Requests under way at most; while there are as many, no further line is read.
const MAX_UNANSWERED: usize = 128;
/// Bytes of requests under way, above which no further line is read.
const MAX_UNANSWERED_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of answers that wait for the client to read, above which no further line is read.
const MAX_UNREAD_BYTES: usize = 16 * 1024 * 1024;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// A transport over lines of JSON.
#[derive(Debug)]
pub(crate) struct LineTransport<R> {
    lines: Lines<R>,
    session: Session,
    phase: watch::Receiver<Phase>,
    has_ended: bool,
    writer: Option<JoinHandle<()>>,
}

/// What is known about a session from outside of its transport; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Session(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    outgoing: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    /// The requests under way, with the lengths of their lines.
    unanswered: Mutex<HashMap<RequestId, usize>>,
    /// How many bytes of answers the client has not read yet.
    unread: AtomicUsize,
    /// Told when a request has its answer, and when the client has read some.
    eased: Notify,
    phase: watch::Sender<Phase>,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// No more requests are taken.
    Ending,
    /// Nobody reads the answers any more.
    Broken,
}

/// What a line asks for.
enum Decoded {
    Message(Box<ClientJsonRpcMessage>),
    /// An error, since it is no message.
    Refusal(Vec<u8>),
    Nothing,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default)]
    result: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

impl<R: AsyncRead + Unpin> LineTransport<R> {
    /// Returns a transport that reads requests from `reader` and writes answers to `writer`.
    pub(crate) fn new<W>(reader: R, writer: W) -> (Self, Session)
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outgoing, lines) = mpsc::unbounded_channel();
        let (sender, phase) = watch::channel(Phase::Open);
        let session = Session(Arc::new(Shared {
            outgoing: Mutex::new(Some(outgoing)),
            unanswered: Mutex::default(),
            unread: AtomicUsize::new(0),
            eased: Notify::new(),
            phase: sender,
        }));
        let writer = tokio::spawn(write_lines(writer, lines, session.clone()));
        let transport = Self {
            lines: Lines::new(reader),
            session: session.clone(),
            phase,
            has_ended: false,
            writer: Some(writer),
        };
        (transport, session)
    }

    fn decode(&self, line: &[u8]) -> Decoded {
        match decode(line) {
            Decoded::Message(message) if !self.session.admits(&message, line.len()) => {
                Decoded::Nothing
            }
            decoded => decoded,
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let mut line = Vec::with_capacity(USUAL_ANSWER);
        let sent = serde_json::to_writer(&mut line, &message).map(|()| self.session.write(line));
        match &message {
            JsonRpcMessage::Response(response) => self.session.settle(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.session.settle(id)),
            _ => {}
        }
        std::future::ready(sent.map_err(io::Error::from))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while !self.has_ended {
            let line = tokio::select! {
                biased;
                _closing = self.phase.wait_for(|phase| *phase != Phase::Open) => return None,
                line = next_line(&self.session, &mut self.lines) => line,
            };
            let decoded = match line {
                Line::Whole(line) => self.decode(&line),
                Line::TooLong { id, limit } => {
                    let message = format!("the line is longer than {limit} bytes");
                    Decoded::Refusal(refusal(id, INVALID_REQUEST, &message))
                }
                Line::End => {
                    self.has_ended = true;
                    Decoded::Nothing
                }
            };
            match decoded {
                Decoded::Message(message) => return Some(*message),
                Decoded::Refusal(line) => self.session.write(line),
                Decoded::Nothing => {}
            }
        }
        tokio::select! {
            _closing = self.phase.wait_for(|phase| *phase != Phase::Open) => {}
            () = self.session.all_answered() => {}
        }
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        // The writer ends once it has written what it was given.
        drop(lock(&self.session.0.outgoing).take());
        match self.writer.take() {
            Some(writer) => writer.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

impl Session {
    /// Takes no more requests; those under way are still answered.
    pub(crate) fn end(&self) {
        self.0.phase.send_if_modified(|phase| {
            let is_open = *phase == Phase::Open;
            if is_open {
                *phase = Phase::Ending;
            }
            is_open
        });
    }

    /// Returns once nobody reads the answers any more.
    pub(crate) async fn broken(&self) {
        let mut phase = self.0.phase.subscribe();
        if phase
            .wait_for(|phase| *phase == Phase::Broken)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
    }

    /// Returns whether the server is to see a message; requests count as unanswered from here on.
    fn admits(&self, message: &ClientJsonRpcMessage, len: usize) -> bool {
        let mut unanswered = lock(&self.0.unanswered);
        match message {
            JsonRpcMessage::Request(request) => {
                unanswered.insert(request.id.clone(), len);
                true
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    let id = cancelled.params.request_id.as_ref();
                    id.is_some_and(|id| unanswered.remove(id).is_some())
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn settle(&self, id: &RequestId) {
        lock(&self.0.unanswered).remove(id);
        self.0.eased.notify_one();
    }

    async fn all_answered(&self) {
        while !lock(&self.0.unanswered).is_empty() {
            self.0.eased.notified().await;
        }
    }

    /// Waits until little enough is under way and unread: a client that only sends fills no memory.
    async fn room(&self) {
        while self.is_full() {
            self.0.eased.notified().await;
        }
    }

    fn is_full(&self) -> bool {
        let unanswered = lock(&self.0.unanswered);
        unanswered.len() >= MAX_UNANSWERED
            || unanswered.values().sum::<usize>() > MAX_UNANSWERED_BYTES
            || self.0.unread.load(Ordering::Relaxed) > MAX_UNREAD_BYTES
    }

    fn write(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        if let Some(outgoing) = lock(&self.0.outgoing).as_ref() {
            self.0.unread.fetch_add(line.len(), Ordering::Relaxed);
            // When the writer has ended nobody reads, and the session is ending.
            let _unread = outgoing.send(line);
        }
    }
}

/// Returns the next line, once there is room for it. Dropping it before its end loses nothing.
async fn next_line<R: AsyncRead + Unpin>(session: &Session, lines: &mut Lines<R>) -> Line {
    session.room().await;
    lines.next().await
}

async fn write_lines<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut lines: mpsc::UnboundedReceiver<Vec<u8>>,
    session: Session,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while lines.recv_many(&mut batch, BATCH).await > 0 {
        let bytes = match batch.as_mut_slice() {
            [line] => std::mem::take(line),
            lines => lines.concat(),
        };
        batch.clear();
        let written = match writer.write_all(&bytes).await {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        if written.is_err() {
            session.0.phase.send_replace(Phase::Broken);
            return;
        }
        session.0.unread.fetch_sub(bytes.len(), Ordering::Relaxed);
        session.0.eased.notify_one();
    }
}

fn decode(line: &[u8]) -> Decoded {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Decoded::Nothing;
    }
    let envelope: Envelope<'_> = match serde_json::from_slice(line) {
        // An array would be read as the members in order.
        Ok(_) if !line.trim_ascii_start().starts_with(b"{") => return refuse_shape(line),
        Ok(envelope) => envelope,
        Err(error) if error.is_data() => return refuse_shape(line),
        Err(error) => {
            let message = format!("the line is no JSON: {error}");
            let id = RequestIdFinder::find(line);
            return Decoded::Refusal(refusal(id, PARSE_ERROR, &message));
        }
    };
    let id = envelope
        .id
        .and_then(|id| serde_json::from_str::<RequestId>(id.get()).ok());
    let is_2 = envelope.jsonrpc.as_deref() == Some("2.0");
    match (envelope.method.as_deref(), id) {
        (Some("tools/call"), Some(id)) if is_2 => tool_call(id, envelope.params),
        // An answer to a request that was never made, or a notification, gets no answer.
        (None, _) if envelope.result.is_some() || envelope.error.is_some() => Decoded::Nothing,
        (Some(_), None) if envelope.id.is_none() => any_message(line),
        (Some(_), Some(_)) if is_2 => any_message(line),
        (_, id) => {
            let id = id.and_then(|id| serde_json::to_value(id).ok());
            let message = "this is no JSON-RPC 2.0 request with an id";
            Decoded::Refusal(refusal(id, INVALID_REQUEST, message))
        }
    }
}

/// Reads a call at once; the SDK would try one kind of request after another.
fn tool_call(id: RequestId, params: Option<&RawValue>) -> Decoded {
    let mut params = match call_params(params.map_or("null", RawValue::get)) {
        Ok(params) => params,
        Err(error) => {
            let id = serde_json::to_value(id).ok();
            let message = format!("the parameters are no tool call: {error}");
            return Decoded::Refusal(refusal(id, INVALID_PARAMS, &message));
        }
    };
    let meta = params.meta.take();
    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        request.extensions.insert(meta);
    }
    let request = ClientRequest::CallToolRequest(request);
    Decoded::Message(Box::new(ClientJsonRpcMessage::request(request, id)))
}

/// Returns the parameters of a call. Arguments that are no object become one that no tool takes, so
/// that the tool refuses them and says what it takes.
fn call_params(text: &str) -> serde_json::Result<CallToolRequestParams> {
    let parsed = serde_json::from_str(text);
    if parsed.is_ok() && text.starts_with('{') {
        return parsed;
    }
    let mut members: Map<String, Value> = serde_json::from_str(text)?;
    let Some(arguments) = members.remove("arguments").filter(|it| !it.is_object()) else {
        return parsed;
    };
    members.insert("arguments".to_owned(), json!({"arguments": arguments}));
    serde_json::from_value(Value::Object(members))
}

fn any_message(line: &[u8]) -> Decoded {
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(message) => Decoded::Message(Box::new(message)),
        Err(_) => match RequestIdFinder::find(line) {
            None => Decoded::Nothing,
            id => Decoded::Refusal(refusal(id, INVALID_REQUEST, "this is no known request")),
        },
    }
}

/// Refuses JSON that is no object, or an object whose members are of the wrong type.
fn refuse_shape(line: &[u8]) -> Decoded {
    let message = if line.trim_ascii_start().starts_with(b"[") {
        "batches are not supported: send one message a line"
    } else {
        "this is no JSON-RPC 2.0 message"
    };
    Decoded::Refusal(refusal(
        RequestIdFinder::find(line),
        INVALID_REQUEST,
        message,
    ))
}

fn refusal(id: Option<Value>, code: i32, message: &str) -> Vec<u8> {
    let members = [
        ("jsonrpc", "2.0".into()),
        ("id", id.into()),
        ("error", json!({"code": code, "message": message})),
    ];
    let members = members.map(|(name, value): (_, Value)| (name.to_owned(), value));
    let refusal = Value::Object(members.into_iter().collect());
    refusal.to_string().into_bytes()
}

/// Reads a member that is there, even if it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
