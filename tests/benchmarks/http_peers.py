"""The HTTP table: us beside nginx, Starlette and aiohttp, one core each.

    python -m tests.benchmarks.http_peers [--rows feed-vary,...] [--rounds 5] [--seconds 2]
        [--servers nginx,...] [--sizes 1000,100000] [--data DIR] [--venv /tmp/w/peer]

Servers on core 0, wrk and this program on core 1. Each round asks all servers in turn, so that compared
servers are measured in the same minute. CPU is what the kernel accounts to a server's processes, user
and system. Before a row all answers are compared byte for byte.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from statistics import median

from tests.benchmarks import heads, http_searches, wrk
from tests.benchmarks.http_searches import SEARCH, SINCE, Round
from tests.benchmarks.http_servers import (
    AIOHTTP,
    ASKING,
    NGINX,
    OURS,
    STARLETTE,
    Server,
    fronted,
    ours,
    peers,
    prepare,
)
from tests.benchmarks.search_peer import get
from tests.benchmarks.sizes import data_set
from tests.benchmarks.tables import table

_PEERS = (NGINX, STARLETTE, AIOHTTP)
_NAMES = (OURS, *_PEERS)
_FEED, _REVIEWS = "/api/feed.json", "/reviews.json"
_SIZE = 1_000
_WARM = 200  # requests that are not counted

Headers = Callable[[bytes], Sequence[str]]
"""Makes header fields of a request from the head of the plain answer."""


class Way(Enum):
    """The way that requests reach a server."""

    VARYING = "heads that vary"
    FRONTED = "the same behind nginx"
    NEW = "a connection each"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of request."""

    title: str
    path: str
    way: Way
    headers: Headers = lambda _: ()
    status: int = 200


def _tag(head: bytes) -> Sequence[str]:
    at = head.lower().index(b"\r\netag:") + 7
    tag = head[at:].split(b"\r\n", 1)[0].decode().strip()
    return (f"If-None-Match: {tag}",)


def _gzip(_: bytes) -> Sequence[str]:
    return ("Accept-Encoding: gzip",)


_PLAIN = Row(title="reviews.json", path=_REVIEWS, way=Way.VARYING)
_KINDS = {
    "feed": replace(_PLAIN, title="feed.json", path=_FEED),
    "304": replace(_PLAIN, title="reviews.json, 304", headers=_tag, status=304),
    "gzip": replace(_PLAIN, title="reviews.json, gzip", headers=_gzip),
    "identity": _PLAIN,
}
_AIMS: Mapping[str, Mapping[str, float]] = {  # ratios of a peer's CPU to ours
    "feed-vary": {NGINX: 0.7, STARLETTE: 2.6, AIOHTTP: 1.8},
    "304-vary": {NGINX: 0.5, STARLETTE: 2.6, AIOHTTP: 1.8},
    "gzip-vary": {NGINX: 0.9},
    "feed-front": {NGINX: 0.65},
    "304-front": {NGINX: 0.65},
    "gzip-front": {NGINX: 0.65},
    "feed-new": {NGINX: 0.55},
}

ROWS = {
    "feed-new": replace(_KINDS["feed"], way=Way.NEW, headers=lambda _: ("Connection: close",)),
    **{f"{name}-front": replace(row, way=Way.FRONTED) for name, row in _KINDS.items()},
    **{f"{name}-vary": row for name, row in _KINDS.items()},
}
"""The worse cases first."""


def documents(
    options: argparse.Namespace, rows: Sequence[str], names: Sequence[str]
) -> list[tuple[str, list[Round]]]:
    """The rounds of the rows of documents, by their titles."""
    results = []
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewsd-http-")))
        mine, current = stack.enter_context(ours(place / "ours", data_set(options.data, _SIZE)))
        prepare(current, place / "root")
        theirs = stack.enter_context(peers(place / "peers", place / "root", options.venv, names))
        direct = [mine, *theirs]
        fronted_ones = stack.enter_context(fronted(place / "front", direct))
        for row in (ROWS[name] for name in rows):
            servers = fronted_ones if row.way is Way.FRONTED else direct
            heads_of = {server.name: _ready(server, row, place / "root") for server in servers}
            several = [
                {
                    server.name: _asked(
                        server, row, heads_of[server.name], place / "heads", options.seconds
                    )
                    for server in servers
                }
                for _ in range(options.rounds)
            ]
            results.append((_titled(row, place / "root"), several))
            sys.stderr.write(f"{results[-1][0]} done\n")
    return results


def _titled(row: Row, root: Path) -> str:
    if row.status == 304:
        return f"{row.title}, {row.way.value}"
    name = row.path.lstrip("/") + (".gz" if "gzip" in row.title else "")
    return f"{row.title}, {(root / name).stat().st_size / 1000:,.0f} kB, {row.way.value}"


def _ready(server: Server, row: Row, root: Path) -> Sequence[str]:
    """Check what a server answers, warm it; returns the headers it is to be asked with."""
    connection = server.connect()
    head, body = connection.ask(get(row.path))
    file = root / row.path.lstrip("/")
    _same(server, body, file)
    headers = row.headers(head)
    if "Connection: close" in headers:
        return headers
    head, body = connection.ask(get(row.path, *headers))
    assert head.startswith(b"HTTP/1.1 %d" % row.status), (server.name, head)
    packed = b"\r\ncontent-encoding: gzip" in head.lower()
    assert packed == any("gzip" in header for header in headers), (server.name, head)
    if row.status == 304:
        assert b"" == body
    elif not packed:
        _same(server, body, file)
    else:
        _same(server, body, file.with_name(f"{file.name}.gz"))
    for _ in range(_WARM):
        connection.ask(get(row.path, *headers))
    return headers


def _same(server: Server, body: bytes, file: Path) -> None:
    """Check that an answer is the file."""
    content = file.read_bytes()
    assert content == body, (server.name, len(content), len(body))


def _asked(server: Server, row: Row, headers: Sequence[str], place: Path, seconds: int) -> float:
    """CPU us for each request."""
    script: Sequence[str] = ()
    if row.way in {Way.VARYING, Way.FRONTED}:
        heads.write(place, row.path, f"127.0.0.1:{server.port}", headers)
        script, headers = (str(heads.SCRIPT), str(place)), ()
    before = server.used()
    answers, failures = wrk.run(server.url(row.path), headers, seconds=seconds, script=script)
    used = server.used() - before
    if failures:
        sys.stderr.write(f"{row.title}, {server.name}: {failures} failures\n")
    return 1e6 * used / answers


def tables(
    results: Sequence[tuple[str, Sequence[Round]]], aims: Mapping[str, Mapping[str, float]]
) -> str:
    """CPU and ratios."""
    names = [name for name in _NAMES if any(name in rounds[0] for _, rounds in results)]
    cpu, ratios = [], []
    for title, rounds in results:
        cpu.append([title, *(_cell(rounds, name) for name in names)])
        ratios.append([title, *(_ratio(rounds, name, aims.get(title, {})) for name in names[1:])])
    return "\n\n".join(
        (
            "CPU us for each request",
            table(["", *names], cpu),
            "Times our CPU (least..greatest); an aim that is missed is named",
            table(["", *names[1:]], ratios),
        )
    )


def _cell(rounds: Sequence[Round], name: str) -> str:
    return f"{median(costs[name] for costs in rounds):,.1f}" if name in rounds[0] else ""


def _ratio(rounds: Sequence[Round], name: str, aims: Mapping[str, float]) -> str:
    if name not in rounds[0]:
        return ""
    values = [costs[name] / costs[OURS] for costs in rounds]
    summary = f"{median(values):.2f} ({min(values):.2f}..{max(values):.2f})"
    if name in aims and median(values) < aims[name]:
        return f"**{summary}, aim {aims[name]:g}**"
    return summary


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.http_peers")
    every = [*ROWS, SEARCH, SINCE]
    parser.add_argument("--rows", default=",".join(every), help=f"of {', '.join(every)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of wrk, each time")
    parser.add_argument("--sizes", default="1000,100000", help="reviews that are searched")
    parser.add_argument("--servers", default=",".join(_PEERS), help=f"of {', '.join(_PEERS)}")
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--venv", type=Path, default=Path("/tmp/w/peer"))
    arguments = parser.parse_args()
    rows = arguments.rows.split(",")
    if unknown := set(rows) - set(every):
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    names = [name for name in arguments.servers.split(",") if name]
    os.sched_setaffinity(0, {int(ASKING)})
    results: list[tuple[str, list[Round]]] = []
    aims: dict[str, Mapping[str, float]] = {}
    if some := [name for name in rows if name in ROWS]:
        results += documents(arguments, some, names)
        for name, (title, _) in zip(some, results, strict=True):
            aims[title] = _AIMS.get(name, {})
    for size in map(int, arguments.sizes.split(",")):
        if some := [name for name in rows if name in (SEARCH, SINCE)]:
            for title, several in http_searches.measure(arguments, size, some):
                results.append((title, several))
                least = 5.0 if title.startswith(SINCE) else 10.0 if size >= 100_000 else 2.5
                aims[title] = {STARLETTE: least}
                sys.stderr.write(f"{title} done\n")
    sys.stdout.write(tables(results, aims) + "\n")


if __name__ == "__main__":
    main()
