"""A model that follows a script: what an OpenAI-compatible server streams, on a port of this machine.

    python3 model_stub.py SCRIPT

SCRIPT holds a JSON array of tool calls, `{"name": .., "arguments": {..}}`. Each request that offers tools is answered
by the next of them, and by a word once there are none left. The port is the one line that is printed; the server runs
until its standard input ends.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CALLS = iter(list(enumerate(json.load(open(sys.argv[1], encoding="utf-8")))))
ONE_AT_A_TIME = threading.Lock()


def turn(offers_tools):
    """Returns the delta of one answer, and why it ends."""
    with ONE_AT_A_TIME:
        number, call = next(CALLS, (None, None)) if offers_tools else (None, None)
    if call is None:
        return {"role": "assistant", "content": "done"}, "stop"
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    calls = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        delta, reason = turn(bool(request.get("tools")))
        stream = bool(request.get("stream"))
        choice = {"index": 0, "delta" if stream else "message": delta, "finish_reason": reason}
        answer = {"id": "answer", "created": 0, "model": request.get("model"), "choices": [choice]}
        answer["object"] = "chat.completion.chunk" if stream else "chat.completion"
        answer["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = json.dumps(answer)
        self.reply(f"data: {body}\n\ndata: [DONE]\n\n" if stream else body, stream)

    def reply(self, body, stream):
        body = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


main()
