use super::*;
use tokio::io::AsyncReadExt as _;

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// Checks which requests reach the server, by method and id, and what the transport answers itself.
#[track_caller]
fn check(input: &str, passed: &[&str], refused: &[Value]) {
    let (messages, answers) = run(async {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let (mut transport, _session) = LineTransport::new(input.as_bytes(), ours);
        let mut messages = Vec::new();
        while let Some(message) = transport.receive().await {
            if let JsonRpcMessage::Request(request) = &message {
                transport.session.settle(&request.id);
            }
            let message = serde_json::to_value(&message).unwrap();
            let id = message.get("id").unwrap_or(&Value::Null);
            messages.push(format!("{} {id}", message["method"].as_str().unwrap()));
        }
        transport.close().await.unwrap();
        let mut answers = String::new();
        theirs.read_to_string(&mut answers).await.unwrap();
        (messages, answers)
    });
    assert_eq!(messages, passed);
    let answers = answers.lines().map(|line| {
        let mut answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["jsonrpc"], "2.0");
        json!([answer["id"].take(), answer["error"]["code"].take()])
    });
    assert_eq!(answers.collect::<Vec<_>>(), refused);
}

#[test]
fn requests_pass_and_blank_lines_do_not_count() {
    check(
        "\u{FEFF}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\n  \n\
         {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"}\n\
         {\"params\":{\"name\":\"x\"},\"method\":\"tools/call\",\"jsonrpc\":\"2.0\",\"id\":2}",
        &["ping 1", "tools/list \"a\"", "tools/call 2"],
        &[],
    );
}

#[test]
fn what_is_no_json_is_answered_with_the_id_that_can_be_found() {
    check(
        "not json\n{\"id\":5,\"method\":\"ping\",\n\
         {\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\"}\n",
        &["ping 6"],
        &[json!([null, PARSE_ERROR]), json!([5, PARSE_ERROR])],
    );
}

#[test]
fn json_that_is_no_request_is_answered() {
    check(
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n5\n{\"foo\":1}\n\
         {\"jsonrpc\":\"1.0\",\"id\":2,\"method\":\"ping\"}\n\
         {\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n\
         {\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n\
         {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":7}\n\
         {\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":[]}\n\
         {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"}\n",
        &[],
        &[
            json!([null, INVALID_REQUEST]),
            json!([null, INVALID_REQUEST]),
            json!([null, INVALID_REQUEST]),
            json!([2, INVALID_REQUEST]),
            json!([null, INVALID_REQUEST]),
            json!([null, INVALID_REQUEST]),
            json!([3, INVALID_REQUEST]),
            json!([4, INVALID_PARAMS]),
            json!([5, INVALID_PARAMS]),
        ],
    );
}

#[test]
fn answers_and_notifications_get_no_answer_and_are_not_passed_on() {
    check(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
         {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}\n\
         {\"jsonrpc\":\"2.0\",\"method\":\"whatever\"}\n\
         {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
        &[],
        &[],
    );
}

#[test]
fn the_end_of_the_input_waits_for_answers() {
    let input = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n\
                 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n";
    run(async {
        let (mut transport, session) = LineTransport::new(input.as_bytes(), tokio::io::sink());
        for _ in 0..3 {
            assert!(transport.receive().await.is_some());
        }
        let short = std::time::Duration::from_millis(20);
        let early = tokio::time::timeout(short, transport.receive()).await;
        assert!(early.is_err(), "request 1 has no answer yet");
        session.settle(&RequestId::Number(1));
        assert!(transport.receive().await.is_none());
    });
}

#[test]
fn a_reader_that_is_gone_breaks_the_session() {
    run(async {
        let (ours, theirs) = tokio::io::duplex(8);
        drop(theirs);
        let (_input, reader) = tokio::io::duplex(8);
        let (mut transport, session) = LineTransport::new(reader, ours);
        session.write(b"{}".to_vec());
        session.broken().await;
        assert!(transport.receive().await.is_none());
    });
}

#[test]
fn an_array_is_never_read_as_the_members_of_an_object_in_order() {
    check(
        "[\"2.0\",1,\"tools/call\",{\"name\":\"files_read\"}]\n\
         {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":[null,\"files_write\",{},null,null]}\n",
        &[],
        &[json!([null, INVALID_REQUEST]), json!([2, INVALID_PARAMS])],
    );
}

#[test]
fn arguments_that_are_no_object_reach_the_tool_that_refuses_them() {
    let params = r#"{"name":"files_read","arguments":[1]}"#;
    let arguments = call_params(params).unwrap().arguments.unwrap();
    assert_eq!(Value::Object(arguments), json!({"arguments": [1]}));
}

#[test]
fn no_line_is_read_while_the_client_reads_no_answers() {
    let input = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(3);
    run(async {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let (mut transport, session) = LineTransport::new(input.as_bytes(), ours);
        assert!(transport.receive().await.is_some());
        session.write(vec![b' '; MAX_UNREAD_BYTES + 1]);
        let full = tokio::time::timeout(std::time::Duration::from_millis(50), transport.receive());
        assert!(full.await.is_err());
        let mut answer = vec![0; MAX_UNREAD_BYTES + 2];
        theirs.read_exact(&mut answer).await.unwrap();
        assert!(transport.receive().await.is_some());
    });
}

#[test]
fn so_many_requests_are_under_way_and_no_more() {
    let request = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    let input: String = (0..=MAX_UNANSWERED).map(request).collect();
    run(async {
        let (ours, _theirs) = tokio::io::duplex(64);
        let (mut transport, session) = LineTransport::new(input.as_bytes(), ours);
        for _ in 0..MAX_UNANSWERED {
            assert!(transport.receive().await.is_some());
        }
        let full = tokio::time::timeout(std::time::Duration::from_millis(50), transport.receive());
        assert!(full.await.is_err());
        session.settle(&RequestId::Number(0));
        assert!(transport.receive().await.is_some());
    });
}
