"""Stands between a client and a server on their pipes and keeps what passes, line by line.

    python3 tap.py TRANSCRIPT COMMAND [ARGUMENT ...]

`> ` is what the client said, `< ` what the server said.
"""

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

    answers = threading.Thread(target=carry, args=(b"< ", server.stdout, sys.stdout.buffer))
    answers.start()
    carry(b"> ", sys.stdin.buffer, server.stdin)
    answers.join()
    sys.exit(server.wait())


main()
