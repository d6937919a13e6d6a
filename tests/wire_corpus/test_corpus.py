"""Abuses of HTTP/1.1, sent to a real daemon.

Each row has the bytes to send, the statuses of the responses, and whether the connection stays open. An open
connection gets one more request, which shows if a byte too many or too few was read. Of malformed values there are a
few of each kind: ``unit/http1/test_head`` and ``test_body`` have the grammar.

Sources: S1 to S4, S7, S8 and F7 of security-and-operations.md; RFC 9110, RFC 9112; http-garden.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import chain
from time import time

import pytest

from tests.support.daemon import Daemon
from tests.support.raw import ReceivedResponse, Wire, exchange, lasting, responses
from tests.wire_corpus import framing, lines, sequences
from tests.wire_corpus.rows import PROBE, Act, Row

OURS = b'<!DOCTYPE html>\n<html lang="en" dir="ltr">\n'
"""The begin of the service's own pages."""

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


EXPECTED_LINES = (
    *("published", "serving", "notify systemd", "to be delivered", "MCP was refused"),
    "in the last minute",
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all rows, none of which makes it log anything unusual."""
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running
        lines = [line for line in running.lines if not any(word in line for word in EXPECTED_LINES)]
        assert [] == lines


def play(row: Row, daemon: Daemon) -> tuple[bytes, bool]:
    """Return the responses to a row, and whether the daemon closed the connection."""
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
    """Check the responses against the row, and the fields of every response."""
    statuses = [answer.status for answer in answers if row.waits or not answer.interim]
    assert len(row.statuses) == len(statuses), statuses
    for expected, status in zip(row.statuses, statuses, strict=True):
        assert status in (expected if isinstance(expected, tuple) else (expected,)), statuses
    if row.closed is not None:
        assert row.closed == closed
    final = [answer for answer in answers if not answer.interim]
    for answer in final:
        assert ["reviewsd"] == answer.values("Server")
        assert ["nosniff"] == answer.values("X-Content-Type-Options")
        (date,) = answer.values("Date")
        assert (
            abs(parsedate_to_datetime(date).timestamp() - time()) < 30
        )  # a row may wait for a deadline
        is_page = answer.body.startswith(OURS)  # Twisted and Werkzeug have pages of their own
        markup = () if is_page else (b"<html", b"<script")
        for text in (b"Traceback", b"Twisted", b"evil", *markup):
            assert text not in answer.body
        if answer.status >= 400:
            assert ["no-store"] == answer.values("Cache-Control")
    assert not any(answer.closes for answer in final[:-1])
    if final and Act.END not in row.pieces:
        assert closed == final[-1].closes


def times_out(row: Row) -> bool:
    return not {408, (408, 431)}.isdisjoint(row.statuses)


every_complete_row, every_incomplete_row = (
    pytest.mark.parametrize(
        "row",
        [
            pytest.param(row, id=f"{group}: {row.name}"[:70])
            for group in CORPUS
            for row in CORPUS[group]
            if times_out(row) is is_incomplete
        ],
    )
    for is_incomplete in (False, True)
)


@pytest.fixture(scope="module")
def timed_out(daemon: Daemon) -> Mapping[Row, tuple[bytes, bool]]:
    """The outcomes of the rows that wait for a deadline of 10 or 20 s, all at the same time."""
    rows = [row for row in chain.from_iterable(CORPUS.values()) if times_out(row)]
    with ThreadPoolExecutor(len(rows)) as threads:
        return dict(zip(rows, threads.map(partial(play, daemon=daemon), rows), strict=True))


@every_complete_row
def test_row_gets_its_responses(daemon: Daemon, row: Row) -> None:
    data, closed = play(row, daemon)
    check(responses(data, row.heads), row, closed=closed)


@every_incomplete_row
def test_incomplete_row_times_out(timed_out: Mapping[Row, tuple[bytes, bool]], row: Row) -> None:
    data, closed = timed_out[row]
    check(responses(data, row.heads), row, closed=closed)


def test_corpus_has_at_least_80_different_rows() -> None:
    rows = list(chain.from_iterable(CORPUS.values()))
    assert len(rows) >= 80
    assert len(rows) == len({row.pieces for row in rows}), "two rows send the same bytes"
