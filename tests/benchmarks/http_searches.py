"""Searches where every URL is different, and since: us and Starlette.

Called by ``http_peers``. Sixteen kept connections to each, one request under way on each of them, the
same requests in the same order, rounds in turn; each round has new searches, so no answer can be
remembered. Before that all three must find the same, by ``matched`` and ``returned``.
"""

import argparse
import datetime
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import msgspec

from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks.classes import distinct
from tests.benchmarks.http_servers import OURS, STARLETTE, ours, peers, prepare
from tests.benchmarks.search_peer import Connection, Counts, Work, get
from tests.benchmarks.sizes import data_set

SEARCH, SINCE = "search", "since"
_REQUESTS = {1_000: 1_000, 100_000: 150}
"""Searches in a round, by size: the peer takes a while for them."""

_CONNECTIONS = 16

Round = dict[str, float]
"""CPU us of a request, by the name of a server."""


def measure(
    options: argparse.Namespace, size: int, rows: Sequence[str]
) -> Iterator[tuple[str, list[Round]]]:
    """The rounds of each row, by its title."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewsd-search-")))
        mine, current = stack.enter_context(ours(place / "ours", data_set(options.data, size)))
        prepare(current, place / "root")
        started = peers(place / "peers", place / "root", options.venv, [STARLETTE])
        (peer,) = stack.enter_context(started)
        connections = {
            server.name: [server.connect() for _ in range(_CONNECTIONS)] for server in (mine, peer)
        }
        assert list(connections) == [OURS, STARLETTE]
        snapshot = Snapshot(current)
        if SEARCH in rows:
            count = _REQUESTS.get(size, 100)
            queries = distinct(snapshot)

            def some() -> Work:
                return [
                    get(f"/api/reviews/search?{query.canonical()}")
                    for query in islice(queries, count)
                ]

            _agree(connections, some())
            measured_rounds = [_round(connections, some()) for _ in range(options.rounds)]
            yield f"search, every URL different, {size:,} reviews", measured_rounds
        if SINCE in rows:
            newest = datetime.date.fromordinal(-snapshot.columns.days[0])
            days = [newest - datetime.timedelta(days=back) for back in range(20)]
            work = [get(f"/api/reviews/since/{day}") for day in days] * 20
            _agree(connections, work[: len(days)])
            measured_rounds = [_round(connections, work) for _ in range(options.rounds)]
            yield f"since, the last 20 days, {size:,} reviews", measured_rounds


def _agree(connections: dict[str, list[Connection]], work: Work) -> None:
    for request in work:
        counts = {}
        for name, (connection, *_) in connections.items():
            head, body = connection.ask(request)
            assert head.startswith(b"HTTP/1.1 200"), (name, request, head)
            counts[name] = msgspec.json.decode(body, type=Counts)
        assert 1 == len({(count.matched, count.returned) for count in counts.values()}), (
            request,
            counts,
        )


def _round(connections: dict[str, list[Connection]], work: Work) -> Round:
    measurements = {}
    for name, several in connections.items():
        used = several[0].used()
        for begin in range(0, len(work), _CONNECTIONS):
            some = list(zip(several, work[begin : begin + _CONNECTIONS], strict=False))
            for connection, request in some:
                connection.send(request)
            for connection, _ in some:
                connection.receive()
        measurements[name] = (several[0].used() - used) / len(work) / 1e3
    return measurements
