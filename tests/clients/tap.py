"""Stands between a client and a server on their pipes and keeps what passes, line by line.

    python3 tap.py TRANSCRIPT COMMAND [ARGUMENT ...]

`> ` is what the client said, `< ` what the server said. It ends when the server does.
"""

import os
import subprocess
import sys
import threading


def main():
    transcript = open(sys.argv[1], "ab", buffering=0)
    lock = threading.Lock()
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def carry(mark, source, target):
        for line in source:
            with lock:
                transcript.write(mark + line)
            target.write(line)
            target.flush()
        target.close()

    threading.Thread(target=carry, args=(b"> ", sys.stdin.buffer, server.stdin), daemon=True).start()
    carry(b"< ", server.stdout, sys.stdout.buffer)
    # The other thread may still wait for the client.
    os._exit(server.wait() & 0xFF)


main()
