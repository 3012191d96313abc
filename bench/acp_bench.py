#!/usr/bin/env python3
"""Measure acp-fs between an editor and an agent, and print the figures as JSON.

    python3 acp_bench.py --acp-fs PROGRAM --tool-server PROGRAM --folder DIR [--quick]

It plays the editor; acp_agent.py beside it is the agent, `cat` where a stream of
frames is all that is wanted.  It has no thresholds; answers that are not right end
it.  Standard library only; Linux only.
"""

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = [sys.executable, os.path.join(HERE, "acp_agent.py")]
BUFFER = bytearray(1 << 20)


class Peer:
    """A process that is talked to in lines."""

    def __init__(self, command):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)
        self.rest = bytearray()

    def send(self, frame):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")

    def line(self):
        while (at := self.rest.find(b"\n")) < 0:
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                sys.exit("a process ended early")
            self.rest.extend(more)
        found = bytes(self.rest[:at])
        del self.rest[: at + 1]
        return found

    def ask(self, method, params):
        self.send({"id": 1, "method": method, "params": params})
        while True:
            frame = json.loads(self.line())
            if frame.get("method"):
                # An echo of what a frame costs.
                self.send({"id": frame["id"], "result": frame["params"]})
            elif "result" in frame:
                return frame["result"]
            else:
                sys.exit(f"{method}: {frame}")

    def memory(self, field):
        with open(f"/proc/{self.process.pid}/status") as status:
            found = next(line for line in status if line.startswith(field))
        return int(found.split()[1]) / 1024

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def editor(command, root):
    peer = Peer(command)
    peer.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    peer.ask("session/new", {"cwd": root, "mcpServers": []})
    return peer


def asked(peer, method, params, times):
    ask = {"method": method, "params": params, "times": times}
    return peer.ask("session/prompt", {"sessionId": "s", "asks": [ask]})["asked"][0]


def frames(kind):
    text = {"small": "a chunk of text", "16k": 'text with \n breaks, "quotes" and é ' * 420, "1m": "abc def ghi " * 87000}
    nested = [{"a": i, "b": [1, 2.5, True, None], "c": {"d": "e"}} for i in range(2000)]
    update = {"content": {"type": "text", "text": text[kind]}} if kind in text else nested
    params = {"sessionId": "s", "update": update}
    frame = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"
    return frame


def streamed(command, size, wanted):
    """Returns how many MB a second come out of a command; its bytes are checked after the clock."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    got, start = 0, time.perf_counter()
    peak = 0
    while count := os.readv(process.stdout.fileno(), [BUFFER]):
        got += count
        if wanted is not None:
            wanted.update(memoryview(BUFFER)[:count])
    seconds = time.perf_counter() - start
    process.stdin.close()
    process.wait(10)
    if got != size:
        sys.exit(f"{command}: {got} of {size} bytes came")
    return size / seconds / 1e6


def stream_figures(gate, folder, mib, runs):
    figures = {}
    for kind in ["small", "16k", "1m", "structured"]:
        frame = frames(kind)
        path = os.path.join(folder, f"frames-{kind}")
        count = mib * 1_000_000 // len(frame) + 1
        with open(path, "wb") as out:
            out.write(frame * count)
        size = len(frame) * count
        seen = hashlib.sha256()
        streamed([*gate, "--", "cat", path], size, seen)
        with open(path, "rb") as file:
            if hashlib.file_digest(file, "sha256").digest() != seen.digest():
                sys.exit(f"{kind}: other bytes came than were sent")
        pairs = [(streamed([*gate, "--", "cat", path], size, None), streamed(["cat", path], size, None)) for _ in range(runs)]
        figures[f"stream_{kind}"] = statistics.median(ours for ours, _ in pairs)
        figures[f"cat_{kind}"] = statistics.median(cat for _, cat in pairs)
        os.remove(path)
    return figures


def median_of(times):
    return statistics.median(times)


def frame_figures(gate, root, runs):
    figures = {}
    for name, text in [("frame", "x" * 120), ("frame_100k", "x" * 100_000)]:
        through, direct = [], []
        for _ in range(3):
            for command, times in [([*gate, "--", *AGENT], through), (AGENT, direct)]:
                peer = editor(command, root)
                times.append(median_of(asked(peer, "_bench/echo", {"text": text}, runs)["times"]))
                peer.end()
        figures[name] = statistics.median(through) - statistics.median(direct)
        figures[f"{name}_direct"] = statistics.median(direct)
    return figures


def tool_times(tool_server, root, runs):
    peer = Peer([tool_server, "--root", root])
    info = {"name": "acp-bench", "version": "1"}
    peer.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
    peer.send({"method": "notifications/initialized"})
    call = {"id": 1, "method": "tools/call", "params": {"name": "files_read", "arguments": {"path": "4k.txt"}}}
    frame = json.dumps({"jsonrpc": "2.0", **call}).encode() + b"\n"
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        peer.process.stdin.write(frame)
        peer.line()
        times.append((time.perf_counter() - start) * 1e6)
    peer.end()
    return median_of(times)


def read_figures(gate, tool_server, root, runs):
    path = os.path.join(root, "4k.txt")
    text = ("0123456789abcdef" * 4 + "\n") * 63
    with open(path, "w") as out:
        out.write(text)
    # The scheduler lets a pair of processes run on one processor or on two, for as long as they
    # live, and one way takes twice as long: here all of them get one.
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    ours, theirs = [], []
    for _ in range(5):
        peer = editor([*gate, "--", *AGENT], root)
        found = asked(peer, "fs/read_text_file", {"sessionId": "s", "path": path}, runs)
        if found["last"]["result"]["content"] != text:
            sys.exit("the read is not the file")
        ours.append(median_of(found["times"]))
        peer.end()
        theirs.append(tool_times(tool_server, root, runs))
    os.sched_setaffinity(0, everywhere)
    return {"read": statistics.median(ours), "read_tool_server": statistics.median(theirs)}


def log_figures(gate, root, mib):
    path = os.path.join(root, "log")
    block = b"".join(b"%015d a line of a log, as long as they are in logs, and then some\n" % i for i in range(10_000))
    count = mib * 1024 * 1024 // len(block)
    with open(path, "wb") as out:
        for _ in range(count):
            out.write(block)
    # Young files are not indexed: their times could still change unseen.
    time.sleep(2.5)
    middle = count * 5_000
    sed = []
    for _ in range(3):
        start = time.perf_counter()
        wanted = subprocess.run(["sed", "-n", f"{middle},{middle + 99}p;{middle + 99}q", path], stdout=subprocess.PIPE).stdout
        sed.append((time.perf_counter() - start) * 1e3)
    params = {"sessionId": "s", "path": path, "line": middle, "limit": 100}
    first, again, over = [], [], []
    for _ in range(3):
        peer = editor([*gate, "--", *AGENT], root)
        idle = peer.memory("VmRSS")
        found = asked(peer, "fs/read_text_file", params, 20)
        if found["last"]["result"]["content"].encode() != wanted:
            sys.exit("the window is not those lines")
        first.append(found["times"][0] / 1e3)
        again.append(median_of(found["times"][1:]) / 1e3)
        over.append(peer.memory("VmHWM") - idle)
        peer.end()
    os.remove(path)
    medians = map(statistics.median, [first, again, sed, over])
    return dict(zip(["log_first", "log_again", "log_sed", "log_memory"], medians))


def memory_figures(gate, root, folder):
    peer = editor([*gate, "--", *AGENT], root)
    figures = {"memory_start": peer.memory("VmHWM")}
    before = peer.memory("VmRSS")
    for _ in range(20):
        asked(peer, "_bench/echo", {"text": "x" * 16_000}, 300)
    figures["memory_frames"] = peer.memory("VmHWM") - before
    asked(peer, "_bench/echo", {"text": "x" * 50_000_000}, 1)
    asked(peer, "_bench/echo", {"text": "x"}, 3)
    figures["memory_after_huge"] = peer.memory("VmRSS") - before
    peer.end()
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acp-fs", required=True)
    parser.add_argument("--tool-server", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    root = os.path.join(given.folder, "root")
    os.makedirs(root, exist_ok=True)
    gate = [given.acp_fs, "--root", root, "--state", os.path.join(given.folder, "state")]
    few = given.quick
    figures = {}
    figures |= frame_figures(gate, root, 300 if few else 3000)
    figures |= read_figures(gate, given.tool_server, root, 300 if few else 3000)
    figures |= stream_figures(gate, given.folder, 10 if few else 100, 1 if few else 5)
    figures |= log_figures(gate, root, 32 if few else 1024)
    figures |= memory_figures(gate, root, given.folder)
    print(json.dumps(figures))


main()
