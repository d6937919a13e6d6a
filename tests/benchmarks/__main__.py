"""The standing benchmarks: everything that has a peer, beside it, in one go.

    python -m tests.benchmarks [--parts reads,searches,mcp,hub,fairness] [--rounds 3]
        [--sizes 1000,100000] [--data DIR] [--venv /tmp/w/peer] [--out FILE]

Each part is a program of its own (``README.md``) that takes its servers in turn, round by round, and
prints medians with the least and the greatest ratio. Here they run one after the other, the worse
cases first, and their tables come into one page, under what each peer does and leaves undone. With the
defaults that takes half an hour; ``--parts reads --rounds 3`` eight minutes.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.http_peers import ROWS
from tests.benchmarks.http_searches import SEARCH, SINCE
from tests.benchmarks.tables import table

PEERS = (
    ("nginx", "static files", "no", "kept for 1,000 requests", "open files"),
    ("Starlette, aiohttp", "the same bytes, prepared", "no", "kept", "bodies and tags"),
    ("Starlette, searches", "the same search over columns", "no", "kept", "columns; no answers"),
    ("SDK plain", "the official MCP server as documented", "no", "kept", "nothing"),
    ("SDK tuned", "the same, uvloop, without validation", "no", "kept", "rendered records"),
    ("aiohttp, as durable", "POST of a topic", "yes, as ours", "kept or new, as the row", "body"),
    ("aiohttp, bare", "POST of a topic", "no: a crash repeats all", "as the row", "body"),
)
"""The systems that are compared, with durability, connection pooling and caching of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table, or several."""

    title: str
    module: str
    arguments: Callable[[argparse.Namespace], Sequence[str]]


def _peers(rows: Sequence[str]) -> Callable[[argparse.Namespace], Sequence[str]]:
    return lambda options: (
        *("--rows", ",".join(rows), "--rounds", str(options.rounds), "--seconds", "1"),
        *("--sizes", options.sizes, "--data", str(options.data), "--venv", str(options.venv)),
    )


PARTS = {
    "reads": Part(
        title="Reads: a connection each, behind a proxy, heads that vary",
        module="http_peers",
        arguments=_peers(tuple(ROWS)),
    ),
    "searches": Part(
        title="Searches, all different, and since",
        module="http_peers",
        arguments=_peers((SEARCH, SINCE)),
    ),
    "mcp": Part(
        title="MCP beside the official SDK",
        module="mcp_peer",
        arguments=lambda options: (
            *("--rounds", str(options.rounds)),
            *("--data", str(options.data), "--venv", str(options.venv)),
        ),
    ),
    "hub": Part(
        title="Fan-out of the hub over TLS",
        module="fanout",
        arguments=lambda options: (
            *("--rounds", str(options.rounds), "--subscribers", "5000"),
            *("--venv", str(options.venv)),
        ),
    ),
    "fairness": Part(
        title="Fairness: one client with 128 slow searches, and the others",
        module="fairness",
        arguments=lambda options: (
            *("--sizes", "100000", "--seconds", "3"),  # fewer have no slow searches
            *("--rounds", str(options.rounds), "--data", str(options.data)),
        ),
    ),
}


def main() -> int:
    """Run the parts and write the page; returns how many have failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", default="1000,100000", help="reviews that are searched")
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--venv", type=Path, default=Path("/tmp/w/peer"))
    parser.add_argument("--out", type=Path, help="where the page goes; else it is printed")
    options = parser.parse_args()
    names = options.parts.split(",")
    if unknown := set(names) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    failed = 0
    page = [_machine(), table(("peer", "does", "durable", "connections", "keeps"), PEERS)]
    for part in (PARTS[name] for name in names):
        sys.stderr.write(f"{part.title}\n")
        arguments = part.arguments(options)
        program = [sys.executable, "-m", f"tests.benchmarks.{part.module}", *arguments]
        ran = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=False)
        command = f"    python {' '.join(program[1:])}"
        end = "" if ran.returncode == 0 else f"\n**Failed, exit code {ran.returncode}.**\n"
        page.append(f"## {part.title}\n\n{command}\n\n{ran.stdout}{end}")
        failed += ran.returncode != 0
    text = "\n\n".join(page) + "\n"
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text)
    return failed


def _machine() -> str:
    """Return the machine, its load and the time."""
    day = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    load = ", ".join(f"{average:.0f}" for average in os.getloadavg())
    return (
        f"{day} UTC, Python {platform.python_version()}, Linux {platform.release()},"
        f" {os.cpu_count()} cores, load {load}"
    )


if __name__ == "__main__":
    sys.exit(main())
