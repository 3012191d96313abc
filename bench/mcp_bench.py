#!/usr/bin/env python3
"""Measure MCP file servers over stdio, side by side, on one generated corpus.

    python3 mcp_bench.py [options] NAME=COMMAND [NAME=COMMAND ...]

NAME picks a profile of the map file (default: peers.json beside this script);
NAME@LABEL=COMMAND uses the profile NAME and prints the row as LABEL, so that
two builds of one server can be compared.  COMMAND is split like a shell line;
in it {root} is the corpus folder and {scratch} a private folder of that row.

The script measures and prints.  It has no thresholds and its exit status says
only whether it could run (0) or was called wrongly (2).  Standard library only;
Linux only (/proc is read for memory and processor time).  See README.md.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import random
import re
import resource
import selectors
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOL = "2025-06-18"
CORPUS_VERSION = 6
WINDOW = 100            # lines asked for in the three windowed reads
IN_FLIGHT = 16
PAGE = 500              # entries asked for in a page of the huge folder
CUT = 50                # hits asked for in the search that is cut
COMMON = "result"       # a word that stands in nearly every file of the tree
# Whoever walks, searches or lists may hold so many files open, programs too: a
# walk must not need a descriptor for every entry.
OPEN_FILES = 256
LIMITED = {"tree", "find_name", "grep", "grep_cut", "page", "page_further"}
TICKS = os.sysconf("SC_CLK_TCK")

# The full corpus; a smaller one for servers that cannot walk the full tree (some
# keep a descriptor open per entry); a small one to try a profile quickly.
SCALES = {
    "full": dict(files=20000, needles=200, log_mib=256, edit_mib=10, giant_mib=1024, entries=5000, write_mib=1, huge=1000000),
    "medium": dict(files=10000, needles=100, log_mib=64, edit_mib=10, giant_mib=256, entries=5000, write_mib=1, huge=100000),
    "quick": dict(files=2000, needles=20, log_mib=16, edit_mib=1, giant_mib=32, entries=500, write_mib=1, huge=20000),
}


def sha256_of(path):
    found = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            found.update(block)
    return found.hexdigest()


# --------------------------------------------------------------------------
# Corpus
# --------------------------------------------------------------------------

class Corpus:
    """The generated files and what a correct answer about them contains.

    Everything follows from the scale and a fixed seed; no clock, no host name.
    """

    EXTS = ["rs", "ts", "py", "go", "md", "json", "c", "h", "java", "toml"]

    def __init__(self, root, scale):
        self.root, self.scale, self.p = root, scale, SCALES[scale]
        self.tree = os.path.join(root, "tree")
        self.log = os.path.join(root, "log", "big.log")
        self.many = os.path.join(root, "many")
        self.huge = os.path.join(root, "huge")
        self.small = os.path.join(root, "small.txt")
        self.edit_master = os.path.join(root, "edit", "master.txt")
        self.edit_file = os.path.join(root, "edit", "work.txt")
        self.giant = os.path.join(root, "giant", "giant.log")
        self.out = os.path.join(root, "out")
        self.old = "the quick marker 7f3a91 sits on exactly one line"
        self.new = "the quick marker 0b77e2 was put there by an edit"
        self.facts = {}

    def build(self):
        stamp = os.path.join(self.root, ".mcp-bench-corpus.json")
        key = {"version": CORPUS_VERSION, "scale": self.scale, "params": self.p}
        if os.path.exists(stamp):
            with open(stamp) as f:
                have = json.load(f)
            if have.get("key") == key:
                self.facts = have["facts"]
                return
            self._remove(stamp)
        if os.path.isdir(self.root) and os.listdir(self.root):
            raise SystemExit("corpus folder is not empty and holds no corpus of this script: " + self.root)
        with open(stamp, "w") as f:
            json.dump({"key": None}, f)                  # if this is interrupted, the next run begins again
        rnd = random.Random(20240229)
        self._tree(rnd)
        self._log(rnd)
        self._edit(rnd)
        self._giant()
        self._many()
        self._huge()
        with open(self.small, "wb") as f:
            f.write((("0123456789abcdef" * 4)[:63] + "\n").encode() * 64)      # 4,096 bytes
        os.makedirs(self.out, exist_ok=True)
        with open(stamp, "w") as f:
            json.dump({"key": key, "facts": self.facts}, f)

    def _remove(self, stamp):
        """Takes away a corpus of another version, which its stamp proves to be one; nothing else in the folder."""
        for folder in (self.tree, self.log, self.edit_master, self.giant):
            top = os.path.relpath(folder, self.root).split(os.sep)[0]
            shutil.rmtree(os.path.join(self.root, top), ignore_errors=True)
        for folder in (self.many, self.huge, self.out):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self.small, stamp):
            if os.path.exists(file):
                os.unlink(file)

    def _tree(self, rnd):
        """Source-like files, ten to a folder, each with a unique name fNNNNN.ext."""
        words = ["let", "value", "return", "buffer", "index", "config", "match", "import", "result",
                 "handle", "path", "window", "stream", "error", "option", "parse", "render", "queue",
                 "token", "session", "client", "server", "update", "select", "commit"]
        pool = []
        for _ in range(400):
            pool.append("    " * rnd.randrange(4) + " ".join(rnd.choice(words) for _ in range(rnd.randrange(3, 11))) + ";")
        n, step = self.p["files"], self.p["files"] // self.p["needles"]
        toml = 0
        for i in range(n):
            d = i // 10
            folder = os.path.join(self.tree, "pkg%02d" % (d % 40), "mod%02d" % (d // 40 % 10), "part%d" % (d // 400))
            if i % 10 == 0:
                os.makedirs(folder, exist_ok=True)
            # 2 % of the files are .toml; the rest cycle through nine other endings
            ext = "toml" if i % 50 == 7 else self.EXTS[i % 9]
            toml += ext == "toml"
            lines = rnd.choices(pool, k=rnd.randrange(10, 70))
            if i % step == 3:
                lines.insert(len(lines) // 2, "    let found = lookup(needle_%04d_end);" % (i // step))
            with open(os.path.join(folder, "f%05d.%s" % (i, ext)), "w") as f:
                f.write("\n".join(lines) + "\n")
        self.facts["toml"] = toml
        self.facts["files"] = n

    def _log(self, rnd):
        """Numbered lines; their mean length drifts through the file, as in real logs,
        so that a server that guesses a byte position from a sample is found out."""
        os.makedirs(os.path.dirname(self.log))
        tails = []
        for band in range(8):
            top = 20 + 16 * band
            tails.append(["req=%08x " % rnd.getrandbits(32) + "x" * rnd.randrange(4, top) + "\n" for _ in range(997)])
        want, size, i = self.p["log_mib"] << 20, 0, 0
        with open(self.log, "w", encoding="ascii", newline="\n", buffering=1 << 20) as f:
            while size < want:
                band = tails[min(7, size * 8 // want)]
                chunk = []
                for _ in range(2000):
                    i += 1
                    chunk.append("L%08d 2024-02-29T%02d:%02d:%02d INFO %s" % (
                        i, i // 3600 % 24, i // 60 % 60, i % 60, band[i % 997]))
                text = "".join(chunk)
                f.write(text)
                size += len(text)
        self.facts["log_lines"], self.facts["log_bytes"] = i, size
        # Where the middle window lies in bytes, for a reader that is told so.
        mid, at, lengths = i // 2, 0, []
        with open(self.log, "rb", buffering=1 << 20) as f:
            for k, line in enumerate(f, 1):
                if k < mid:
                    at += len(line)
                elif k < mid + WINDOW:
                    lengths.append(len(line))
                else:
                    break
        self.facts["mid_offset"], self.facts["mid_bytes"] = at, sum(lengths)

    def _edit(self, rnd):
        os.makedirs(os.path.dirname(self.edit_master))
        want, size, lines, i = self.p["edit_mib"] << 20, 0, [], 0
        while size < want:
            i += 1
            line = "%07d %s\n" % (i, "".join(rnd.choices("abcdefgh ijklmnop", k=rnd.randrange(20, 100))))
            lines.append(line)
            size += len(line)
        lines.insert(len(lines) // 2, self.old + "\n")
        data = "".join(lines).encode()
        with open(self.edit_master, "wb") as f:
            f.write(data)
        self.facts["edit_sha"] = hashlib.sha256(data.replace(self.old.encode(), self.new.encode())).hexdigest()
        self.facts["edit_bytes"] = len(data)

    def remake_giant(self):
        """Makes the huge file anew, which an interrupted run has left in the other state."""
        shutil.rmtree(os.path.dirname(self.giant))
        self._giant()

    def _giant(self):
        """The log again and again, with the line that is edited in the middle."""
        os.makedirs(os.path.dirname(self.giant))
        half = (self.p["giant_mib"] << 20) // 2
        sums, size = [hashlib.sha256(), hashlib.sha256()], 0
        with open(self.giant, "wb") as f:
            def put(block, other):
                f.write(block)
                sums[0].update(block)
                sums[1].update(other)
                return len(block)
            for until in (half, 2 * half):
                while size < until:
                    with open(self.log, "rb") as log:
                        while size < until and (block := log.read(1 << 20)):
                            size += put(block, block)
                if until == half:
                    line = "\n%s\n"
                    size += put((line % self.old).encode(), (line % self.new).encode())
        self.facts["giant_shas"] = [s.hexdigest() for s in sums]
        self.facts["giant_bytes"] = size

    def _many(self):
        os.makedirs(self.many)
        for i in range(self.p["entries"]):
            with open(os.path.join(self.many, "entry_%05d.txt" % i), "w") as f:
                f.write("x\n")

    def _huge(self):
        """Empty files only: they are quick to make, and a page of names asks for no more."""
        os.makedirs(self.huge)
        folder = os.open(self.huge, os.O_RDONLY)
        for i in range(self.p["huge"]):
            os.mknod("entry_%07d.txt" % i, dir_fd=folder)
        os.close(folder)

    def packages(self):
        """The folders of the tree's first level, for a server whose answer does not hold the whole tree."""
        return [os.path.join(self.tree, name) for name in sorted(os.listdir(self.tree))]

    def first_hits(self, word, count):
        """The first lines with a word in path order, as (name of the file, line)."""
        hits = []
        for folder, folders, files in os.walk(self.tree):
            folders.sort()
            for name in sorted(files):
                with open(os.path.join(folder, name)) as f:
                    hits += [(name, k) for k, line in enumerate(f, 1) if word in line]
            if len(hits) >= count:
                return hits[:count]
        return hits

    def mid(self):
        """First line of the window in the middle of the log (1-based)."""
        return self.facts["log_lines"] // 2


# --------------------------------------------------------------------------
# One server over stdio
# --------------------------------------------------------------------------

class ServerError(Exception):
    pass


def limit_open_files(pid):
    """`ulimit -n` for a child that has just started, and for what it will start.

    From outside, since a shell in between or a hook between fork and exec would
    be measured with the program."""
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))


class Server:
    """A child process that speaks newline-delimited JSON-RPC on stdin/stdout."""

    def __init__(self, argv, env, cwd, timeout, errlog, limited=False):
        self.timeout, self.next_id, self.buf, self.done = timeout, 1, bytearray(), {}
        self.outq = bytearray()
        self.err = open(errlog, "ab")
        self.started = time.perf_counter()
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=self.err, env=env, cwd=cwd, bufsize=0,
                                     start_new_session=True)
        if limited:
            limit_open_files(self.proc.pid)
        self.rfd, self.wfd = self.proc.stdout.fileno(), self.proc.stdin.fileno()
        os.set_blocking(self.rfd, False)
        os.set_blocking(self.wfd, False)
        self.sel = selectors.DefaultSelector()
        self.sel.register(self.rfd, selectors.EVENT_READ)
        self.writing = False
        self.scan = 0

    def send(self, message):
        self.outq += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        self._flush()

    def _flush(self):
        while self.outq:
            try:
                n = os.write(self.wfd, memoryview(self.outq)[:1 << 20])
            except BlockingIOError:
                break
            except BrokenPipeError:
                raise ServerError("server closed its input")
            del self.outq[:n]
        if bool(self.outq) != self.writing:
            self.writing = bool(self.outq)
            if self.writing:
                self.sel.register(self.wfd, selectors.EVENT_WRITE)
            else:
                self.sel.unregister(self.wfd)

    def request(self, method, params):
        i = self.next_id
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": i, "method": method, "params": params})
        return i

    def pump(self, deadline):
        """Wait for I/O once; sort complete lines into self.done."""
        left = deadline - time.perf_counter()
        if left <= 0:
            raise TimeoutError
        for key, _ in self.sel.select(left):
            if key.fd == self.wfd:
                self._flush()
                continue
            try:
                data = os.read(self.rfd, 1 << 20)
            except BlockingIOError:
                continue
            if not data:
                raise ServerError("server closed its output (exit status %r)" % self.proc.poll())
            self.buf += data
            while True:
                nl = self.buf.find(b"\n", self.scan)
                if nl < 0:
                    self.scan = len(self.buf)
                    break
                now = time.perf_counter()           # taken before any parsing
                line = bytes(self.buf[:nl])
                del self.buf[:nl + 1]
                self.scan = 0
                self._line(line, now)

    def _line(self, line, now):
        if not line.strip():
            return
        # The id of a response is read with a cheap pattern first: large answers
        # are parsed later, outside the timed part.
        head, tail = line[:200], line[-200:]
        if b'"method"' not in head and b'"method"' not in tail:
            for part in (head, tail):
                m = re.search(rb'"id"\s*:\s*(\d+)\s*[,}]', part)
                if m and (b'"result"' in line[:4096] or b'"error"' in line[:4096] or b'"result"' in tail):
                    self.done[int(m.group(1))] = (line, now)
                    return
        try:
            msg = json.loads(line)
        except ValueError:
            return                                   # not JSON: log noise on stdout
        if "method" in msg and "id" in msg:          # a request from the server
            if msg["method"] == "ping":
                self.send({"jsonrpc": "2.0", "id": msg["id"], "result": {}})
            else:
                self.send({"jsonrpc": "2.0", "id": msg["id"],
                           "error": {"code": -32601, "message": "not offered by this client"}})
        elif "id" in msg and ("result" in msg or "error" in msg):
            self.done[msg["id"]] = (line, now)

    def wait(self, i):
        deadline = time.perf_counter() + self.timeout
        while i not in self.done:
            self.pump(deadline)
        return self.done.pop(i)

    def initialize(self):
        i = self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {},
                                        "clientInfo": {"name": "mcp-bench", "version": "1"}})
        line, now = self.wait(i)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        msg = json.loads(line)
        if "error" in msg:
            raise ServerError("initialize: " + json.dumps(msg["error"])[:200])
        return msg["result"], now - self.started

    def call(self, tool, args):
        """One tools/call.  Returns (seconds, raw line)."""
        t = time.perf_counter()
        i = self.request("tools/call", {"name": tool, "arguments": args})
        line, now = self.wait(i)
        return now - t, line

    def calls(self, tool, each):
        """As many tools/call at once as there are arguments.  Returns the raw lines, and when the last one came."""
        ids = [self.request("tools/call", {"name": tool, "arguments": args}) for args in each]
        answers = [self.wait(i) for i in ids]
        return [line for line, _ in answers], max(now for _, now in answers)

    # -- /proc ---------------------------------------------------------------

    def pids(self):
        """The server and its living descendants."""
        kids = {}
        for p in os.listdir("/proc"):
            if p.isdigit():
                try:
                    with open("/proc/%s/stat" % p) as f:
                        rest = f.read().rpartition(")")[2].split()
                    kids.setdefault(int(rest[1]), []).append(int(p))
                except (OSError, IndexError):
                    pass
        out, todo = [], [self.proc.pid]
        while todo:
            p = todo.pop()
            out.append(p)
            todo += kids.get(p, [])
        return out

    def peak_mib(self):
        """VmHWM summed over the server and its living descendants."""
        kib = 0
        for p in self.pids():
            try:
                with open("/proc/%d/status" % p) as f:
                    for line in f:
                        if line.startswith("VmHWM:"):
                            kib += int(line.split()[1])
            except OSError:
                pass
        return kib / 1024

    def cpu_s(self):
        """Processor time of the server, its living descendants and its reaped children."""
        total = 0
        for p in self.pids():
            try:
                with open("/proc/%d/stat" % p) as f:
                    rest = f.read().rpartition(")")[2].split()
                total += sum(int(x) for x in rest[11:15])
            except (OSError, IndexError):
                pass
        return total / TICKS

    def close(self):
        """Close stdin, give the server two seconds, then end its own process group."""
        try:
            self.proc.stdin.close()
        except OSError:
            pass
        try:
            self.proc.wait(2)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.proc.wait()
        self.proc.stdout.close()
        self.sel.close()
        self.err.close()


# --------------------------------------------------------------------------
# Profiles: abstract operation -> tool calls
# --------------------------------------------------------------------------

def fill(template, values):
    """Put values into a template.  A string that is just "{x}" becomes the value
    itself (a number stays a number); inside a longer string it becomes text."""
    if isinstance(template, dict):
        return {k: fill(v, values) for k, v in template.items()}
    if isinstance(template, list):
        return [fill(v, values) for v in template]
    if isinstance(template, str):
        m = re.fullmatch(r"\{(\w+)\}", template)
        if m and m.group(1) in values:
            return values[m.group(1)]
        return re.sub(r"\{(\w+)\}", lambda m: str(values[m.group(1)]) if m.group(1) in values else m.group(0), template)
    return template


def tool_error(line):
    """The error text of an answer, or None."""
    if b'"isError":true' in line or b'"isError": true' in line or b'"error"' in line[:300] or b'"error"' in line[-300:]:
        try:
            msg = json.loads(line)
        except ValueError:
            return "not JSON"
        if "error" in msg:
            return "JSON-RPC error: " + str(msg["error"].get("message", ""))[:160]
        res = msg.get("result", {})
        if res.get("isError"):
            text = " ".join(c.get("text", "") for c in res.get("content", []) if isinstance(c, dict))
            return "tool error: " + text[:160]
    return None


class Failed(Exception):
    pass


def run_each(server, step, values):
    """Make the calls of a step with "each" together, as an agent does that knows what it wants."""
    items = fill(step["each"], values)
    lines, end = server.calls(step["tool"], [fill(step["args"], dict(values, item=item)) for item in items])
    for line in lines:
        err = tool_error(line)
        if err:
            raise Failed(err)
    return lines, end


def run_op(server, op, values):
    """Run one operation of a profile.  An operation is one call, or a list of
    steps; a step may "capture" a value from its answer by a regular expression
    for later steps, repeat "until" its answer matches one, or be made for "each"
    {item} of a list at once.  Returns (seconds over all steps, answer lines)."""
    values, lines, start, end = dict(values), [], None, None
    for step in op if isinstance(op, list) else [op]:
        if "each" in step:
            start = time.perf_counter() if start is None else start
            got, end = run_each(server, step, values)
            lines += got
            continue
        give_up = time.perf_counter() + server.timeout
        while True:
            t = time.perf_counter()
            start = t if start is None else start
            took, line = server.call(step["tool"], fill(step.get("args", {}), values))
            end = t + took
            err = tool_error(line)
            if err:
                raise Failed(err)
            lines.append(line)
            if "until" not in step or re.search(step["until"].encode(), line):
                break
            if time.perf_counter() > give_up:
                raise TimeoutError
            time.sleep(step.get("pause_ms", 5) / 1000)
        for name, pattern in step.get("capture", {}).items():
            m = re.search(pattern.encode(), line)
            if not m:
                raise Failed("no match for capture %r" % name)
            values[name] = m.group(1).decode()
    return end - start, lines


# --------------------------------------------------------------------------
# What a right answer contains.  Each check gets the raw answer bytes and returns
# "" when the answer holds exactly what was asked for, or says what it holds.
# --------------------------------------------------------------------------

def check_window(first, last):
    def check(raw):
        seen = sorted(set(int(x) for x in re.findall(rb"L(\d{8}) 20", raw)))
        if seen == list(range(first, last + 1)):
            return ""
        if not seen:
            return "no line of the file in the answer"
        return "asked for lines %d-%d, got %d lines, %d-%d" % (first, last, len(seen), seen[0], seen[-1])
    return check


def check_count(pattern, want, what):
    def check(raw):
        n = len(set(re.findall(pattern, raw)))
        return "" if n == want else "%d of %d %s" % (n, want, what)
    return check


def check_sizes(want):
    """Every entry stands in the answer with a size beside it: each file of the large folder has two bytes."""
    def check(raw):
        n = len(set(re.findall(rb"entry_(\d{5})\.txt[^\\]{0,40}?\b2(?:\.0+)? ?(?:B|bytes?)?\b", raw)))
        return "" if n == want else "%d of %d entries with their size" % (n, want)
    return check


def check_page(first, last):
    """A page of the huge folder: just these entries."""
    def check(raw):
        seen = sorted(set(int(x) for x in re.findall(rb"entry_(\d{7})", raw)))
        return "" if seen == list(range(first, last + 1)) else "%d of %d entries, or others" % (len(seen), last + 1 - first)
    return check


def check_cut(hits):
    """Just these (file, line), and the words that there are more."""
    def check(raw):
        seen = re.findall(rb"\b(f\d{5}\.\w+):(\d+):[^\\]*" + COMMON.encode(), raw)
        seen = [(name.decode(), int(line)) for name, line in seen]
        if seen != hits:
            return "%d hits, not the first %d" % (len(seen), len(hits))
        return "" if b"there are more" in raw else "does not say that it is cut"
    return check


def check_small(raw):
    return "" if raw.count(b"0123456789abcdef0123456789abcdef") >= 64 else "not the whole file"


# Ours goes by ignore files; these do not, which is less work for them.
FD = ["fd", "--no-ignore", "--hidden"]
RG = ["rg", "--no-config", "--no-ignore", "--hidden", "-n"]


# --------------------------------------------------------------------------
# Measuring
# --------------------------------------------------------------------------

class Cell(dict):
    """What one row of one table says: value, unit, extras, note."""


def pct(values, q):
    s = sorted(values)
    return s[min(len(s) - 1, int(q * len(s)))]


class Bench:
    def __init__(self, a, corpus, maps):
        self.a, self.c, self.maps = a, corpus, maps
        self.tables = {}         # op -> {row: Cell}
        self.info = {}           # row -> facts about the server
        self.scratch = tempfile.mkdtemp(prefix="mcp-bench-scratch-")

    def put(self, op, row, **cell):
        self.tables.setdefault(op, {})[row] = Cell(cell)
        text = cell.get("note") or ("%.3f" % cell["value"] if cell.get("value") is not None else "-")
        print("  %-22s %-24s %s" % (op, row, text), file=sys.stderr, flush=True)

    def values(self, **extra):
        v = dict(root=self.c.root, tree=self.c.tree, log=self.c.log, many=self.c.many, small=self.c.small,
                 edit_file=self.c.edit_file, old=self.c.old, new=self.c.new, n=WINDOW,
                 mid1=self.c.mid(), mid0=self.c.mid() - 1, mid_end1=self.c.mid() + WINDOW - 1,
                 mid_end0=self.c.mid() + WINDOW - 2, tail_neg=-WINDOW,
                 mid_offset=self.c.facts["mid_offset"], mid_bytes=self.c.facts["mid_bytes"],
                 name_glob="*.toml", name_glob_deep="**/*.toml", regex="needle_[0-9]{4}_end",
                 packages=self.c.packages(), huge=self.c.huge, page=PAGE, page_after="entry_%07d.txt" % (self.c.p["huge"] // 2 - 1),
                 common=COMMON, cut=CUT, big=1000000)
        v.update(extra)
        return v

    def start(self, row, op="start"):
        argv, profile, scratch = row["argv"], row["profile"], row["scratch"]
        v = dict(root=self.c.root, scratch=scratch)
        env = dict(os.environ)
        env.update({k: fill(x, v) for k, x in profile.get("env", {}).items()})
        return Server([fill(x, v) for x in argv], env, scratch, self.a.timeout, os.path.join(scratch, "stderr.log"),
                      limited=op in LIMITED)

    def row(self, name, label, command):
        profile = self.maps["profiles"][name]
        scratch = os.path.join(self.scratch, re.sub(r"\W", "_", label))
        os.makedirs(scratch)
        for path, body in profile.get("files", {}).items():
            path = fill(path, dict(root=self.c.root, scratch=scratch))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(body if isinstance(body, str) else json.dumps(fill(body, dict(root=self.c.root, scratch=scratch))))
        return dict(label=label, profile=profile, argv=shlex.split(command), scratch=scratch)

    def wanted(self, op):
        return not self.a.only or op in self.a.only

    # -- the operations --------------------------------------------------------

    def server(self, row):
        label = row["label"]
        times, first = [], None
        try:
            for k in range(self.a.starts + 1):       # the first brings the program into the page cache
                s = self.start(row)
                try:
                    result, t = s.initialize()
                    if k:
                        times.append(t * 1000)
                    else:
                        i = s.request("tools/list", {})
                        line, _ = s.wait(i)
                        tools = json.loads(line).get("result", {}).get("tools", [])
                        first = dict(serverInfo=result.get("serverInfo"), protocolVersion=result.get("protocolVersion"),
                                     capabilities=result.get("capabilities"), tools=sorted(t["name"] for t in tools),
                                     tools_list_bytes=len(line), instructions_bytes=len(result.get("instructions") or ""))
                        idle = s.peak_mib()
                finally:
                    s.close()
        except (ServerError, TimeoutError, OSError, ValueError) as e:
            self.put("start", label, value=None, note="did not start: %s" % (e or "time-out"))
            return
        first["idle_mib"] = idle
        self.info[label] = first
        if self.wanted("start"):
            self.put("start", label, value=statistics.median(times), p99=max(times), peak=idle, runs=len(times))
            self.put("tools_list", label, value=first["tools_list_bytes"], unit="bytes", note_ok="%d tools" % len(first["tools"]))
        c = self.c
        n = c.facts["log_lines"]
        self.repeat(row, "read_small", self.values(), check_small, many=self.a.small_reads)
        self.repeat(row, "log_head", self.values(), check_window(1, WINDOW))
        self.first(row, "log_mid_first", check_window(c.mid(), c.mid() + WINDOW - 1))
        self.repeat(row, "log_mid", self.values(), check_window(c.mid(), c.mid() + WINDOW - 1))
        self.repeat(row, "log_tail", self.values(), check_window(n - WINDOW + 1, n))
        self.edit(row)
        self.edit_giant(row)
        self.write(row)
        self.repeat(row, "list_dir", self.values(), check_count(rb"entry_\d{5}", c.p["entries"], "entries"))
        self.repeat(row, "list_sizes", self.values(), check_sizes(c.p["entries"]))
        self.repeat(row, "tree", self.values(), check_count(rb"\bf(\d{5})\.", c.facts["files"], "files"))
        self.repeat(row, "find_name", self.values(), check_count(rb"\bf(\d{5})\.toml", c.facts["toml"], "names"))
        self.repeat(row, "grep", self.values(), check_count(rb"needle_(\d{4})_end", c.p["needles"], "matches"))
        self.repeat(row, "grep_cut", self.values(), check_cut(c.first_hits(COMMON, CUT)))
        half = c.p["huge"] // 2
        self.repeat(row, "page", self.values(), check_page(0, PAGE - 1))
        self.repeat(row, "page_further", self.values(), check_page(half, half + PAGE - 1))
        self.in_flight(row)
        self.read_during(row)

    def guarded(self, op, row, fn):
        """Run fn(server) on a fresh server; put "no", an error or a time-out in the table."""
        label = row["label"]
        if not self.wanted(op):
            return
        if self.op(row, op) is None:
            self.put(op, label, value=None, note="no")
            return
        s = None
        try:
            s = self.start(row, op)
            s.initialize()
            fn(s, label)
        except Failed as e:
            self.put(op, label, value=None, note="error: %s" % self.hide(str(e)))
        except TimeoutError:
            self.put(op, label, value=None, note="no answer in %g s" % self.a.timeout)
        except ServerError as e:
            self.put(op, label, value=None, note="server gone: %s" % e)
        finally:
            if s:
                s.close()

    def op(self, row, op):
        ops = row["profile"]["ops"]
        same = {"in_flight": "read_small", "read_during": "read_small", "log_mid_first": "log_mid"}
        return ops.get(op, ops.get(same.get(op)))

    def hide(self, text):
        """No machine paths in the report."""
        return text.replace(self.c.root, "ROOT").replace(self.scratch, "SCRATCH")

    def repeat(self, row, op, values, check, many=None):
        def go(s, label):
            template = self.op(row, op)
            took, lines = run_op(s, template, values)              # warm-up, and the answer that is checked
            raw = b"".join(lines)
            note = check(raw)
            cpu0, begin = s.cpu_s(), time.perf_counter()
            times = []
            while True:
                t, _lines = run_op(s, template, values)
                times.append(t * 1000)
                spent = time.perf_counter() - begin
                # quick operations are repeated more often, so that the median and
                # the processor time (10 ms ticks) mean something
                if len(times) >= (many or self.a.runs) and (many or spent >= 1 or len(times) >= 200):
                    break
                if spent > self.a.budget:
                    break
            cpu = (s.cpu_s() - cpu0) / len(times) * 1000
            self.put(op, label, value=statistics.median(times), p99=pct(times, .99) if many else max(times), cpu=cpu,
                     bytes=len(raw), peak=s.peak_mib(), runs=len(times), warn=note)
        self.guarded(op, row, go)

    def first(self, row, op, check):
        """One call on a server that has done nothing else yet, and again on the next such server."""
        label = row["label"]
        if not self.wanted(op):
            return
        if self.op(row, op) is None:
            self.put(op, label, value=None, note="no")
            return
        times, peaks, note, size = [], [], "", 0
        budget = time.perf_counter() + self.a.budget
        for k in range(self.a.runs * 2 + 1):
            s = None
            try:
                s = self.start(row)
                s.initialize()
                t, lines = run_op(s, self.op(row, op), self.values())
                note = note or check(b"".join(lines))
                size = sum(map(len, lines))
                if k:                                        # the first brings the program into the page cache
                    times.append(t * 1000)
                    peaks.append(s.peak_mib())
            except (Failed, ServerError, TimeoutError) as e:
                self.put(op, label, value=None, note="error: %s" % self.hide(str(e) or "time-out"))
                return
            finally:
                if s:
                    s.close()
            if times and time.perf_counter() > budget:
                break
        self.put(op, label, value=statistics.median(times), p99=max(times), bytes=size, peak=max(peaks),
                 runs=len(times), warn=note)

    def edit(self, row):
        def go(s, label):
            times, cpu, notes, size = [], [], [], 0
            budget = time.perf_counter() + self.a.budget
            for k in range(self.a.runs + 1):
                shutil.copyfile(self.c.edit_master, self.c.edit_file)
                c0 = s.cpu_s()
                t, lines = run_op(s, self.op(row, "edit"), self.values())
                with open(self.c.edit_file, "rb") as f:
                    if hashlib.sha256(f.read()).hexdigest() != self.c.facts["edit_sha"]:
                        notes.append("file is not the expected one afterwards")
                size = sum(map(len, lines))
                if k:
                    times.append(t * 1000)
                    cpu.append((s.cpu_s() - c0) * 1000)
                if times and time.perf_counter() > budget:
                    break
            self.put("edit", label, value=statistics.median(times), p99=max(times), cpu=statistics.median(cpu),
                     bytes=size, peak=s.peak_mib(), runs=len(times), warn=notes[0] if notes else "")
        self.guarded("edit", row, go)

    def edit_giant(self, row):
        """Edits the huge file there and back, so that nobody has to copy it between two edits."""
        def go(s, label):
            times, cpu, note, size = [], [], "", 0
            texts, shas = (self.c.old, self.c.new), self.c.facts["giant_shas"]
            for k in range(self.a.runs + 1):
                at = k % 2
                c0 = s.cpu_s()
                values = self.values(giant=self.c.giant, old=texts[at], new=texts[1 - at])
                t, lines = run_op(s, self.op(row, "edit_giant"), values)
                if sha256_of(self.c.giant) != shas[1 - at]:
                    raise Failed("the file is not the expected one afterwards")
                size = sum(map(len, lines))
                if k:
                    times.append(t * 1000)
                    cpu.append((s.cpu_s() - c0) * 1000)
            self.put("edit_giant", label, value=statistics.median(times), p99=max(times), cpu=statistics.median(cpu),
                     bytes=size, peak=s.peak_mib(), runs=len(times), warn=note)
        if self.op(row, "edit_giant") is None:       # the peers hold the file in memory, several times over
            return
        if self.wanted("edit_giant") and sha256_of(self.c.giant) != self.c.facts["giant_shas"][0]:
            self.c.remake_giant()
        self.guarded("edit_giant", row, go)

    def write(self, row):
        def go(s, label):
            content = ("0123456789abcdef" * 4)[:63] + "\n"
            content *= (self.c.p["write_mib"] << 20) // len(content)
            times, cpu, notes, size = [], [], [], 0
            for k in range(self.a.runs * 3 + 1):
                path = os.path.join(self.c.out, "w%03d.txt" % k)
                if os.path.exists(path):
                    os.unlink(path)
                c0 = s.cpu_s()
                t, lines = run_op(s, self.op(row, "write"), self.values(out_file=path, content=content))
                with open(path, "rb") as f:
                    if f.read() != content.encode():
                        notes.append("file is not what was sent")
                os.unlink(path)
                size = sum(map(len, lines))
                if k:
                    times.append(t * 1000)
                    cpu.append((s.cpu_s() - c0) * 1000)
            self.put("write", label, value=statistics.median(times), p99=max(times), cpu=statistics.median(cpu),
                     bytes=size, peak=s.peak_mib(), runs=len(times), warn=notes[0] if notes else "")
        self.guarded("write", row, go)

    def in_flight(self, row):
        """Requests per second with 16 small reads always under way."""
        def go(s, label):
            op = self.op(row, "read_small")
            if isinstance(op, list):
                raise Failed("needs several calls")
            params = {"name": op["tool"], "arguments": fill(op.get("args", {}), self.values())}
            rates, note, begin = [], "", time.perf_counter()
            for rep in range(4):
                if len(rates) and time.perf_counter() - begin > self.a.budget:
                    break
                total = self.a.small_reads
                live, sent, got, answers = set(), 0, 0, []
                t0 = time.perf_counter()
                deadline = t0 + self.a.timeout
                while got < total:
                    while sent < total and len(live) < IN_FLIGHT:
                        live.add(s.request("tools/call", params))
                        sent += 1
                    s.pump(deadline)
                    for i in [i for i in live if i in s.done]:
                        line, _ = s.done.pop(i)
                        live.discard(i)
                        got += 1
                        answers.append(line)
                took = time.perf_counter() - t0
                for line in answers:                     # every answer, after the clock has stopped
                    if tool_error(line):
                        raise Failed(tool_error(line))
                    note = note or check_small(line)
                if rep:                                  # the first round warms up
                    rates.append(total / took)
            self.put("in_flight", label, value=statistics.median(rates), unit="req/s", peak=s.peak_mib(), runs=len(rates),
                     warn=note)
        self.guarded("in_flight", row, go)

    def read_during(self, row):
        """Small reads while one long call (grep, else tree) runs: does it block them?"""
        ops = row["profile"]["ops"]
        long_op = next((ops[k] for k in ("grep", "tree") if k in ops), None)
        if long_op is None:
            if self.wanted("read_during"):
                self.put("read_during", row["label"], value=None, note="no")
            return

        def go(s, label):
            small = self.op(row, "read_small")
            step = long_op[0] if isinstance(long_op, list) else long_op
            if isinstance(small, list):
                raise Failed("needs several calls")
            run_op(s, small, self.values())
            worst, count = [], 0
            for _ in range(self.a.runs):
                i = s.request("tools/call", {"name": step["tool"], "arguments": fill(step.get("args", {}), self.values())})
                times = []
                deadline = time.perf_counter() + self.a.timeout
                while i not in s.done or not times:
                    t, _line = s.call(small["tool"], fill(small.get("args", {}), self.values()))
                    times.append(t * 1000)
                    if time.perf_counter() > deadline:
                        raise TimeoutError
                err = tool_error(s.done.pop(i)[0])
                if err:
                    raise Failed("the search: " + err)
                worst.append(max(times))
                count += len(times)
            self.put("read_during", label, value=statistics.median(worst), p99=max(worst), runs=len(worst),
                     peak=s.peak_mib(), note_ok="%d reads answered meanwhile" % count)
        self.guarded("read_during", row, go)

    # -- without any server ------------------------------------------------------

    def plain(self):
        """What the disk alone costs: a copy of the edit file, and a new file of 1 MiB, each made safe by fsync."""
        def copy(target):
            shutil.copyfile(self.c.edit_master, target)

        def copy_giant(target):
            shutil.copyfile(self.c.giant, target)
        content = (b"0123456789abcdef" * 4)[:63] + b"\n"
        content *= (self.c.p["write_mib"] << 20) // len(content)

        def write(target):
            with open(target, "wb") as f:
                f.write(content)
        for op, name, make, size in [("edit", "floor: copy + fsync", copy, self.c.facts["edit_bytes"]),
                                     ("edit_giant", "floor: copy + fsync", copy_giant, self.c.facts["giant_bytes"]),
                                     ("write", "floor: write + fsync", write, len(content))]:
            if not self.wanted(op):
                continue
            times, note, target = [], "", os.path.join(self.c.out, "plain.txt")
            runs = self.a.runs * (1 if op == "edit_giant" else 3)
            for k in range(runs + 1):
                t = time.perf_counter()
                make(target)
                fd = os.open(target, os.O_RDONLY)
                os.fsync(fd)
                os.close(fd)
                if k:
                    times.append((time.perf_counter() - t) * 1000)
                if os.path.getsize(target) != size:
                    note = "not the whole file"
                os.unlink(target)
            self.put(op, name, value=statistics.median(times), p99=max(times), runs=len(times), warn=note)

    # -- command-line tools ----------------------------------------------------

    def program(self, name):
        """A program of --programs, else of the search path."""
        path = os.pathsep.join(filter(None, [self.a.programs, os.environ.get("PATH", os.defpath)]))
        return shutil.which(name, path=path) or (shutil.which("fdfind", path=path) if name == "fd" else None)

    def version(self, name):
        """The first line that a program says of its version."""
        said = subprocess.run([self.program(name), "--version"], stdout=subprocess.PIPE).stdout.decode()
        return said.partition("\n")[0]

    def cli(self):
        c, n = self.c, self.c.facts["log_lines"]
        mid, needle = c.mid(), "needle_[0-9]{4}_end"
        whole_tree = check_count(rb"\bf(\d{5})\.", c.facts["files"], "files")
        names = check_count(rb"\bf(\d{5})\.toml", c.facts["toml"], "names")
        matches = check_count(rb"needle_(\d{4})_end", c.p["needles"], "matches")
        huge = check_count(rb"entry_\d{7}", c.p["huge"], "entries")
        jobs = [
            ("read_small", "cat", ["cat", c.small], check_small),
            ("log_head", "head -n", ["head", "-n", str(WINDOW), c.log], check_window(1, WINDOW)),
            ("log_mid_first", "sed -n 'A,Bp;Bq'", ["sed", "-n", "%d,%dp;%dq" % (mid, mid + WINDOW - 1, mid + WINDOW - 1), c.log],
             check_window(mid, mid + WINDOW - 1)),
            ("log_tail", "tail -n", ["tail", "-n", str(WINDOW), c.log], check_window(n - WINDOW + 1, n)),
            ("list_dir", "ls -1", ["ls", "-1", c.many], check_count(rb"entry_\d{5}", c.p["entries"], "entries")),
            ("tree", "fd", FD + [".", c.tree], whole_tree),
            ("tree", "find", ["find", c.tree], whole_tree),
            ("find_name", "fd", FD + ["--glob", "*.toml", c.tree], names),
            ("find_name", "find -name", ["find", c.tree, "-name", "*.toml"], names),
            ("grep", "rg", RG + [needle, c.tree], matches),
            ("grep", "rg -j1", RG + ["-j1", needle, c.tree], matches),
            ("grep", "rg --sort path", RG + ["--sort", "path", needle, c.tree], matches),
            ("grep", "grep -rnE", ["grep", "-rnE", needle, c.tree], matches),
            ("page", "ls -f", ["ls", "-f", c.huge], huge),
            ("page_further", "ls -f", ["ls", "-f", c.huge], huge),
        ]
        for op, name, argv, check in jobs:
            if not self.wanted(op):
                continue
            row = "cli: " + name
            exe = self.program(argv[0])
            if not exe:
                self.put(op, row, value=None, note="not installed")
                continue
            times, cpu, out = [], [], b""
            for k in range((self.a.runs * 2 if op == "log_mid_first" else self.a.runs * 4) + 1):
                t = time.perf_counter()
                p = subprocess.Popen([exe] + argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                if op in LIMITED:
                    limit_open_files(p.pid)
                out = p.stdout.read()
                took = time.perf_counter() - t
                p.stdout.close()
                _, _, ru = os.wait4(p.pid, 0)
                p.returncode = 0
                if k:
                    times.append(took * 1000)
                    cpu.append((ru.ru_utime + ru.ru_stime) * 1000)
            self.put(op, row, value=statistics.median(times), p99=max(times), cpu=statistics.median(cpu),
                     bytes=len(out), runs=len(times), warn=check(out))

    def floor(self):
        """The driver's own cost: an echo process that sends each line back."""
        if not self.wanted("read_small"):
            return
        argv = ["cat"]
        s = Server(argv, dict(os.environ), self.scratch, 30, os.devnull)
        try:
            pad = "x" * 4300
            times = []
            for k in range(self.a.small_reads):
                t = time.perf_counter()
                # looks like an answer so that the ordinary path reads it
                s.send({"jsonrpc": "2.0", "id": k + 1, "result": {"text": pad}})
                _, now = s.wait(k + 1)
                times.append((now - t) * 1000)
            self.put("read_small", "floor: echo of 4.3 kB", value=statistics.median(times), p99=pct(times, .99), runs=len(times))
        finally:
            s.close()


# --------------------------------------------------------------------------
# Report
# --------------------------------------------------------------------------

TITLES = [
    ("start", "Cold start: spawn to the initialize response", "ms"),
    ("tools_list", "Size of the tools/list response", "bytes"),
    ("read_small", "Read a 4 KiB file, one at a time", "ms"),
    ("in_flight", "Reads of a 4 KiB file with %d in flight" % IN_FLIGHT, "req/s"),
    ("read_during", "Slowest 4 KiB read while one content search (else tree) runs", "ms"),
    ("log_head", "First %d lines of the log" % WINDOW, "ms"),
    ("log_mid_first", "%d lines in the middle of the log, the first call of a server" % WINDOW, "ms"),
    ("log_mid", "%d lines in the middle of the log, again" % WINDOW, "ms"),
    ("log_tail", "Last %d lines of the log" % WINDOW, "ms"),
    ("edit", "One exact edit in the edit file", "ms"),
    ("edit_giant", "One exact edit in the huge file", "ms"),
    ("write", "Write a new file of 1 MiB", "ms"),
    ("list_dir", "List one large folder", "ms"),
    ("list_sizes", "List one large folder with sizes", "ms"),
    ("tree", "Whole directory tree", "ms"),
    ("find_name", "Search the tree by name (*.toml)", "ms"),
    ("grep", "Search the tree by content (needle_[0-9]{4}_end)", "ms"),
    ("grep_cut", "Search the tree for a word of nearly every file, cut at %d hits" % CUT, "ms"),
    ("page", "First page of %d entries of the huge folder" % PAGE, "ms"),
    ("page_further", "A page of %d entries in the middle of the huge folder" % PAGE, "ms"),
]


def num(x):
    if x is None:
        return ""
    if x >= 1000:
        return format(int(round(x)), ",")
    return "%.0f" % x if x >= 100 else "%.1f" % x if x >= 10 else "%.2f" % x if x >= 0.1 else "%.3f" % x


def report(b, args, env):
    out = []
    w = out.append
    c = b.c
    w("# MCP file servers, measured")
    w("")
    w("- %s; %s; %d cores; Python %s; load before %.2f, after %.2f" % (
        env["date"], env["kernel"], env["cores"], platform.python_version(), env["load0"], os.getloadavg()[0]))
    w("- corpus %s: %s files in the tree (%d .toml, %d needles), log of %s bytes in %s lines, edit files of %s and %s bytes, folders of %s and %s entries" % (
        args.scale, format(c.facts["files"], ","), c.facts["toml"], c.p["needles"], format(c.facts["log_bytes"], ","),
        format(c.facts["log_lines"], ","), format(c.facts["edit_bytes"], ","), format(c.facts["giant_bytes"], ","),
        format(c.p["entries"], ","),
        format(c.p["huge"], ",")))
    programs = [] if args.no_cli else [b.version(name) for name in ("rg", "fd") if b.program(name)]
    if programs:
        w("- programs: " + ", ".join(programs))
    for label, i in b.info.items():
        si = i.get("serverInfo") or {}
        w("- %s: %s %s, protocol %s, %d tools" % (label, si.get("name"), si.get("version"), i.get("protocolVersion"), len(i["tools"])))
    w("")
    w("Median of the runs; a fresh server for each operation; files are in the page cache. `x best` = how many "
      "times worse than the best server%s (1.00 is the best); answers marked `!` did not hold exactly what was "
      "asked for and do not count as best. `worst` is p99 for the 4 KiB reads, else the slowest run. `cpu` is "
      "processor time per operation of the server and its children. `peak` is VmHWM after the step. `no` = the "
      "server has no such operation. Who walks, searches or lists a page, programs too, may hold %d files open." % (" other than %s" % args.subject if args.subject else "", OPEN_FILES))
    for op, title, unit in TITLES:
        rows = b.tables.get(op)
        if not rows:
            continue
        higher = unit == "req/s"
        good = [x["value"] for r, x in rows.items() if x.get("value") and not x.get("warn")
                and not r.startswith(("cli:", "floor:")) and r != args.subject]
        none_exact = not good
        if none_exact:
            good = [x["value"] for r, x in rows.items() if x.get("value")
                    and not r.startswith(("cli:", "floor:")) and r != args.subject]
        best = (max if higher else min)(good) if good else None
        w("")
        w("## %s" % title)
        w("")
        if none_exact and best:
            w("No server held exactly what was asked for; `x best` is against the fastest of them all the same.")
            w("")
        w("| who | %s | x best | worst | cpu ms | answer bytes | peak MiB | runs | remark |" % unit)
        w("|---|--:|--:|--:|--:|--:|--:|--:|---|")
        for r, x in rows.items():
            if x.get("value") is None:
                w("| %s | %s | | | | | | | %s |" % (r, "no" if x["note"] in ("no",) else "-", "" if x["note"] == "no" else x["note"]))
                continue
            v = x["value"]
            ratio = ""
            if best and v:
                ratio = "%.2f" % (best / v if higher else v / best)
            w("| %s | %s%s | %s | %s | %s | %s | %s | %s | %s |" % (
                r, num(v), " !" if x.get("warn") else "", ratio, num(x.get("p99")), num(x.get("cpu")),
                format(x["bytes"], ",") if x.get("bytes") else "", num(x.get("peak")), x.get("runs", ""),
                x.get("warn") or x.get("note_ok", "")))
    return "\n".join(out) + "\n"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("servers", nargs="*", metavar="NAME[@LABEL]=COMMAND")
    ap.add_argument("--map", default=os.path.join(HERE, "peers.json"), help="profiles: operation -> tool and arguments")
    ap.add_argument("--scale", choices=sorted(SCALES), default="full")
    ap.add_argument("--corpus", help="keep the corpus in this folder and use it again (default: a temporary one)")
    ap.add_argument("--only", help="comma-separated operations: " + ", ".join(t[0] for t in TITLES))
    ap.add_argument("--runs", type=int, default=5, help="fewest runs of an operation after one warm-up (default 5; quick ones are repeated for a second)")
    ap.add_argument("--starts", type=int, default=11, help="cold starts (default 11)")
    ap.add_argument("--small-reads", type=int, default=2000, help="small reads (default 2000)")
    ap.add_argument("--timeout", type=float, default=120, help="seconds for one answer (default 120)")
    ap.add_argument("--budget", type=float, default=60, help="seconds after which an operation is not repeated (default 60)")
    ap.add_argument("--subject", help="row that is not counted as a peer when the best peer is chosen")
    ap.add_argument("--programs", metavar="DIR", help="look here first for rg, fd and the like")
    ap.add_argument("--no-cli", action="store_true", help="leave out rg, fd, tail, sed and the like")
    ap.add_argument("--md", help="write the report here too")
    ap.add_argument("--json", help="write every figure here")
    a = ap.parse_args()
    a.only = set(a.only.split(",")) if a.only else None
    if a.only and a.only - {t[0] for t in TITLES}:
        ap.error("unknown operation: " + ", ".join(sorted(a.only - {t[0] for t in TITLES})))
    with open(a.map) as f:
        maps = json.load(f)
    for s in a.servers:
        if "=" not in s:
            ap.error("not NAME=COMMAND: " + s)
        if s.partition("=")[0].partition("@")[0] not in maps["profiles"]:
            ap.error("no profile for %s in the map file (there are: %s)" % (
                s.partition("=")[0], ", ".join(sorted(maps["profiles"]))))
    root = os.path.realpath(a.corpus) if a.corpus else tempfile.mkdtemp(prefix="mcp-bench-corpus-")
    os.makedirs(root, exist_ok=True)
    env = dict(date=datetime.date.today().isoformat(), kernel=platform.system() + " " + platform.release(),
               cores=len(os.sched_getaffinity(0)), load0=os.getloadavg()[0])
    corpus = Corpus(root, a.scale)
    bench = None
    try:
        print("corpus ...", file=sys.stderr, flush=True)
        corpus.build()
        bench = Bench(a, corpus, maps)
        rows = []
        if not a.servers:
            bench.floor()
            bench.plain()
            if not a.no_cli:
                bench.cli()
        for s in a.servers:
            name, _, command = s.partition("=")
            name, _, label = name.partition("@")
            rows.append(bench.row(name, label or name, command))
        with open(corpus.log, "rb") as f:                      # into the page cache
            while f.read(1 << 22):
                pass
        for k, row in enumerate(rows):
            bench.server(row)
            if k == 0:                                         # beside the first row, while the machine is as it was for it
                bench.floor()
                bench.plain()
                if not a.no_cli:
                    bench.cli()
        text = report(bench, a, env)
        print(text)
        if a.md:
            with open(a.md, "w") as f:
                f.write(text)
        if a.json:
            with open(a.json, "w") as f:
                json.dump(dict(env=env, scale=a.scale, facts=corpus.facts, servers=bench.info, tables=bench.tables), f, indent=1)
    finally:
        if bench:
            shutil.rmtree(bench.scratch, ignore_errors=True)
        if not a.corpus:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
