"""CPU per MCP call beside the official SDK's server in the same run (``mcp_sdk``).

    python -m tests.benchmarks.mcp_peer [--rounds 5] [--data DIR] [--venv /tmp/w/peer]

16 kept connections, each with a session of its own and a request under way; every search differs and
has 20 results. Rounds in turn; CPU is what the kernel accounts to the process. All answers to a search
are compared by their ``matched`` and ``returned``, and each with its text.

Half of the searches are for a word of four letters or more that the texts have, half by other filters.
"""

import argparse
import datetime
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import msgspec
from msgspec.structs import fields, replace

from reviewsd.domain.search_query import Cursor, SearchQuery
from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks.classes import classes, sample
from tests.benchmarks.http_servers import prepare, started
from tests.benchmarks.outside import served
from tests.benchmarks.search_peer import Connection, Counts
from tests.benchmarks.sizes import data_set
from tests.benchmarks.tables import table
from tests.support.steps import finish

CONNECTIONS = 16
RESULTS = 20
VERSION = "2025-06-18"
_CALLS = 1_600  # in a round


class _Text(msgspec.Struct):
    text: str


class _Result(msgspec.Struct):
    content: list[_Text]
    structured: Counts = msgspec.field(name="structuredContent")


class _Answer(msgspec.Struct):
    result: _Result


class Sessions:
    """The connections to one server."""

    def __init__(self, port: int, pid: int) -> None:
        self._port = port
        self._all = [
            (connection := Connection(port, pid), self._open(connection))
            for _ in range(CONNECTIONS)
        ]

    def _open(self, connection: Connection) -> str:
        """The id of a new session."""
        client = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        head, _ = connection.ask(self._post(message("initialize", 0, params)))
        at = head.lower().index(b"\r\nmcp-session-id:") + 17
        session = head[at:].split(b"\r\n", 1)[0].decode().strip()
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        head, _ = connection.ask(self._post(initialized, session))
        assert head.startswith(b"HTTP/1.1 202"), head
        return session

    def _post(self, body: object, session: str = "") -> bytes:
        """A request as the SDK's client sends it."""
        content = msgspec.json.encode(body)
        session_headers = (
            (f"mcp-session-id: {session}", f"mcp-protocol-version: {VERSION}") if session else ()
        )
        lines = (
            "POST /mcp HTTP/1.1",
            f"host: 127.0.0.1:{self._port}",
            "accept: application/json, text/event-stream",
            "accept-encoding: gzip, deflate",
            "connection: keep-alive",
            "user-agent: python-httpx/0.28.1",
            *session_headers,
            "content-type: application/json",
            f"content-length: {len(content)}",
        )
        return "\r\n".join((*lines, "", "")).encode() + content

    def ask(self, messages: Sequence[object]) -> list[bytes]:
        """The bodies of the answers; one request is under way on each connection."""
        bodies = []
        for begin in range(0, len(messages), CONNECTIONS):
            some = messages[begin : begin + CONNECTIONS]
            for (connection, session), message in zip(self._all, some, strict=False):
                connection.send(self._post(message, session))
            for connection, _ in self._all[: len(some)]:
                head, body = connection.receive()
                assert head.startswith(b"HTTP/1.1 200"), head
                bodies.append(body)
        return bodies

    def cpu(self, messages: Sequence[object]) -> float:
        """Microseconds of CPU for each request."""
        connection, _ = self._all[0]
        before = connection.used()
        self.ask(messages)
        return (connection.used() - before) / len(messages) / 1e3


def message(method: str, number: int, params: object) -> dict[str, object]:
    """A request of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def agents(snapshot: Snapshot) -> Iterator[SearchQuery]:
    """Yield the searches of agents."""
    rng = random.Random(1)
    counts = Counter(word for text in sample(snapshot) for word in set(text.split()))
    texts = [
        SearchQuery(query=word)
        for word, frequency in counts.items()
        if word.isalpha() and len(word) > 3 and frequency >= 2 * RESULTS
    ]
    every = [query for queries in classes(snapshot).values() for query in queries]
    filters_only = [query for query in every if query.query is None]
    oldest = -snapshot.columns.days[-1]
    days = (-snapshot.columns.days[0] - oldest) // 2
    while True:
        since = datetime.date.fromordinal(oldest + rng.randrange(days))
        yield replace(rng.choice(rng.choice((texts, filters_only))), since=since)


def calls(snapshot: Snapshot, queries: Iterator[SearchQuery]) -> Iterator[dict[str, object]]:
    """Calls, none like another, that find at least 20 reviews; so many are what is answered."""
    queries_before = set()
    for number, candidate in enumerate(queries, 1):
        query = replace(candidate, limit=RESULTS)
        if query not in queries_before and len(finish(snapshot.search(query)).positions) == RESULTS:
            queries_before.add(query)
            params = {"name": "search_reviews", "arguments": _arguments(query)}
            yield message("tools/call", number, params)


def _arguments(query: SearchQuery) -> dict[str, object]:
    values = {field.name: getattr(query, field.name) for field in fields(query)}
    return {
        name: value.encode() if isinstance(value, Cursor) else value
        for name, value in values.items()
        if value is not None and name != "limit"
    }


def _sdk(venv: Path, port: int) -> list[str]:
    """The command line of the SDK's server."""
    program = Path(__file__).with_name("mcp_sdk.py")
    return [*map(str, (venv / "bin" / "python", program, port))]


def measure(data: Path, venv: Path, rounds: int) -> list[str]:
    """The row of the table."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewsd-mcp-")))
        running = stack.enter_context(served(data))
        current = (running.state / "snapshots" / layout.CURRENT).resolve()
        snapshot = Snapshot(current)
        prepare(current, place / "peer")
        environ = {"PEER_DATA": str(place / "peer")}
        peer = stack.enter_context(started("SDK", partial(_sdk, venv), environ))
        servers = [Sessions(running.port, running.process.pid), Sessions(peer.port, peer.pid)]
        work = calls(snapshot, agents(snapshot))
        agree(servers, list(islice(work, _CALLS)))
        round_costs = []
        for _ in range(rounds):
            some = list(islice(work, _CALLS))
            round_costs.append([server.cpu(some) for server in servers])
    ours, theirs = (median(costs) for costs in zip(*round_costs, strict=True))
    ratios = [theirs_of_round / ours_of_round for ours_of_round, theirs_of_round in round_costs]
    times = f"{median(ratios):.1f} ({min(ratios):.1f}..{max(ratios):.1f})"
    return ["search_reviews", f"{ours:,.0f}", f"{theirs:,.0f}", times]


def agree(servers: Sequence[Sessions], work: Sequence[object]) -> None:
    """All must find the same."""
    for request, *bodies in zip(work, *(server.ask(work) for server in servers), strict=True):
        results = [msgspec.json.decode(body, type=_Answer).result for body in bodies]
        counts = {(result.structured.matched, result.structured.returned) for result in results}
        texts = [msgspec.json.decode(result.content[0].text, type=Counts) for result in results]
        assert 1 == len(counts), (request, counts)
        assert RESULTS == results[0].structured.returned
        assert texts == [result.structured for result in results]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mcp_peer")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--venv", type=Path, default=Path("/tmp/w/peer"))
    arguments = parser.parse_args()
    headings = ("", "reviewsd, us", "SDK, us", "times less, aim 8")
    cells = measure(data_set(arguments.data, 1_000), arguments.venv, arguments.rounds)
    sys.stdout.write(table(headings, [cells]) + "\n")


if __name__ == "__main__":
    main()
