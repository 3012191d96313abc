#!/usr/bin/env python3
"""The agent's side of acp_bench.py: it times what the prompt tells it to ask for.

Each prompt is {"asks": [{"method", "params", "times"}]}; the answer holds the times
of each in microseconds and what the last answer was.
"""

import json
import os
import time

BUFFER = bytearray()


def line():
    while True:
        at = BUFFER.find(b"\n")
        if at >= 0:
            found = bytes(BUFFER[:at])
            del BUFFER[: at + 1]
            return found
        more = os.read(0, 1 << 20)
        if not more:
            return None
        BUFFER.extend(more)


def send(frame):
    data = (frame if isinstance(frame, bytes) else json.dumps(frame).encode()) + b"\n"
    while data:
        data = data[os.write(1, data):]


def timed(ask):
    frame = {"jsonrpc": "2.0", "id": 7, "method": ask["method"], "params": ask["params"]}
    frame = json.dumps(frame).encode()
    times = []
    for _ in range(ask["times"]):
        start = time.perf_counter()
        send(frame)
        answer = line()
        times.append((time.perf_counter() - start) * 1e6)
    return {"times": times, "last": json.loads(answer)}


def main():
    while (read := line()) is not None:
        frame = json.loads(read)
        results = {
            "initialize": lambda: {"protocolVersion": 1},
            "session/new": lambda: {"sessionId": "s"},
            "session/prompt": lambda: {"asked": [timed(ask) for ask in frame["params"]["asks"]]},
        }
        result = results[frame["method"]]()
        send({"jsonrpc": "2.0", "id": frame["id"], "result": result})


main()
