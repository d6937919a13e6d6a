"""What one MCP body of 64 KB keeps the reactor for: ``python -m tests.benchmarks.strict_json``.

CPU time of reading the envelope strictly, in one step: best and median of 15.
"""

import sys
import time
from statistics import median

from reviewsd.mcp import jsonrpc

BODY = 65_536


def message(value: bytes) -> bytes:
    """A request that carries it."""
    return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":%b}}' % value


def many(piece: bytes) -> bytes:
    """An array that is nearly as long as a body may be."""
    return b"[%b]" % b",".join([piece] * ((BODY - 100) // (len(piece) + 1)))


BODIES = {
    "`{}`": message(many(b"{}")),
    "`[]`": message(many(b"[]")),
    '`{"":0}`': message(many(b'{"":0}')),
    "`[[[[]]]]`": message(many(b"[[[[]]]]")),
    "batch of `{}`": many(b"{}"),
    "one object": message(b"{%b}" % b",".join(b'"%x":0' % each for each in range(7_000))),
    "numbers": message(many(b"1")),
    "texts": message(many(b'""')),
}


def seconds(body: bytes) -> float:
    """CPU time to read it."""
    began = time.process_time()
    jsonrpc.read_body(body)
    return time.process_time() - began


def main() -> None:
    """Print the table."""
    sys.stdout.write("| 64 KB of | best, ms | median, ms |\n|---|---|---|\n")
    for name, body in BODIES.items():
        found = [seconds(body) * 1_000 for _ in range(15)]
        sys.stdout.write(f"| {name} | {min(found):.1f} | {median(found):.1f} |\n")


if __name__ == "__main__":
    main()
