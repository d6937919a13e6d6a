"""Abuses of HTTP/1.1 at the door of a real daemon.

Each row says what is sent, which answers come back, and whether the connection serves on after them.
Where it does, it is asked once more: so a byte that was read too far, or not far enough, shows.

Sources: S1 to S4, S7, S8 and F7 of security-and-operations.md; RFC 9110, RFC 9112; http-garden.
"""

from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import chain
from time import time

import pytest

from tests.support.daemon import Daemon
from tests.support.raw import ReceivedResponse, Wire, exchange, lasting, responses
from tests.wire_corpus import framing, lines, sequences
from tests.wire_corpus.rows import PROBE, REQUESTS, Act, Row

PATIENCE = 0.8  # seconds; what a row sends in pieces takes a tenth of that

OURS = b'<!DOCTYPE html>\n<html lang="en" dir="ltr">\n'
"""How our pages begin."""

CORPUS = {
    "request line": lines.REQUEST_LINES,
    "method": lines.METHODS,
    "target": lines.TARGETS,
    "host": lines.HOSTS,
    "field": lines.FIELDS,
    "length": framing.LENGTHS,
    "coding": framing.CODINGS,
    "chunks": framing.CHUNKS,
    "body": framing.BODIES,
    "smuggling": framing.SMUGGLING,
    "pipelined": sequences.PIPELINED,
    "persistence": sequences.PERSISTENCE,
    "pieces": sequences.PIECES,
    "repeats": sequences.REPEATS,
    "leaving": sequences.LEAVING,
}


SETTINGS = f"""\
server:
  header_deadline: {PATIENCE}
  body_deadline: {PATIENCE}
  requests_per_connection: {REQUESTS}
"""

EXPECTED_LINES = (
    *("published", "serving", "notify systemd", "to be delivered", "MCP was refused"),
    "in the last minute",
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all rows, none of which makes it log anything unusual."""
    with Daemon(tmp_path_factory.mktemp("daemon"), SETTINGS) as running:
        yield running
        lines = [line for line in running.lines if not any(word in line for word in EXPECTED_LINES)]
        assert [] == lines


def play(row: Row, daemon: Daemon) -> tuple[bytes, bool]:
    """What comes back on a row, and whether the connection was closed without being asked to."""
    with Wire(daemon.port) as wire:
        for piece in row.pieces:
            match piece:
                case Act.AWAIT:
                    wire.read_until(partial(more_than, len(wire.received), wire))
                case Act.END:
                    wire.half_close()
                case _:
                    wire.send(piece)
        if row.closed:
            return wire.read_all(), True
        wire.send(PROBE)
        data = wire.read_all()
    alone = exchange(daemon.port, PROBE)
    answers, last = data[: -len(alone)], data[-len(alone) :]
    return (answers, False) if lasting(alone) == lasting(last) else (data, True)


def more_than(size: int, wire: Wire) -> bool:
    return len(wire.received) > size


def check(answers: list[ReceivedResponse], row: Row, *, closed: bool) -> None:
    """The answers are those of the row, and what every answer is."""
    given = [each.status for each in answers if row.waits or not each.interim]
    assert len(row.statuses) == len(given), given
    for expected, status in zip(row.statuses, given, strict=True):
        assert status in (expected if isinstance(expected, tuple) else (expected,)), given
    if row.closed is not None:
        assert row.closed == closed
    final = [each for each in answers if not each.interim]
    for each in final:
        assert ["reviewsd"] == each.values("Server")
        assert ["nosniff"] == each.values("X-Content-Type-Options")
        (date,) = each.values("Date")
        assert abs(parsedate_to_datetime(date).timestamp() - time()) < 10
        page = each.body.startswith(OURS)  # and no page of Twisted's or Werkzeug's
        for told in (b"Traceback", b"Twisted", b"evil", *(() if page else (b"<html", b"<script"))):
            assert told not in each.body
        if each.status >= 400:
            assert ["no-store"] == each.values("Cache-Control")
    assert not any(each.closes for each in final[:-1])
    if final and Act.END not in row.pieces:
        assert closed == final[-1].closes


ROWS = [
    pytest.param(row, id=f"{group}: {row.name}"[:70]) for group in CORPUS for row in CORPUS[group]
]


@pytest.mark.parametrize("row", ROWS)
def test_row_is_answered_as_it_says(daemon: Daemon, row: Row) -> None:
    data, closed = play(row, daemon)
    check(responses(data, row.heads), row, closed=closed)


def test_the_corpus_is_as_large_as_was_asked_for() -> None:
    """At least 80."""
    rows = list(chain.from_iterable(CORPUS.values()))

    assert len(rows) >= 80
    assert len(rows) == len({row.pieces for row in rows}), "a row stands there twice"
