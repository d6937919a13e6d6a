"""Measures the cost of a request for a page (pages.md 4).

    python -m tests.benchmarks.pages DATA STATE

It publishes a data directory into a state directory, unless there is a snapshot, and prints in CPU milliseconds
what pages add: ``/r/{id}`` to the request itself, a filtered ``/reviews`` to the same search.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from twisted.internet.task import Clock

from reviewsd.http1.request import Request
from reviewsd.http1.responses import Responses
from reviewsd.publish.messages import Job
from reviewsd.publish.publication import publish
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.embed import EmbedReads
from reviewsd.web.pages import PageReads
from reviewsd.web.reads import Reads
from tests.benchmarks import inside
from tests.support.budgets import budgets

QUERIES = (b"query=boiler", b"min_rating=4&mentions_technician=sam", b"rating=1")
OPTIONS = (b"theme=dark", b"layout=grid&count=12", b"min_rating=4", b"layout=badge")
_ROUNDS = 400


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("state", type=Path)
    options = parser.parse_args()
    snapshots = options.state / "snapshots"
    if not (snapshots / "current").exists():
        job = Job(order=inside.order(options.data, options.state), version="1", now=0.0)
        outcome = publish(job, lambda *_: None)
        sys.stdout.write(f"{type(outcome).__name__}\n")
    _asking(snapshots)


def _asking(state: Path) -> None:
    snapshots = Snapshots(state)
    responses = Responses(inside.SETTINGS.base_url, "public")
    reads = Reads(snapshots, responses, budgets(Clock()))
    pages = PageReads(reads)
    embeds = EmbedReads(pages)
    snapshots.refresh()
    snapshot, random = snapshots.current, Random(1)
    count = snapshot.manifest.review_count
    ids = [snapshot.records.id_at(random.randrange(count)) for _ in range(_ROUNDS)]
    request = Request(b"GET", b"/r/id")
    pages.review(request, ids[0])  # compiles the templates
    plain = _each(lambda _: reads.document(Request(b"GET", b"/reviews")), 1)
    page = _each(lambda at: pages.review(request, ids[at]), 1)
    sys.stdout.write(f"{count:,} reviews: /r/{{id}} {page:.3f} ms, a document {plain:.3f} ms\n")
    for query in QUERIES:
        listing = Request(b"GET", b"/reviews", query)
        pages.reviews(listing)
        reads.search(listing)
        search = _each(lambda _: reads.search(listing), 3)  # noqa: B023  asked at once
        listed = _each(lambda _: pages.reviews(listing), 3)  # noqa: B023  the same
        sys.stdout.write(
            f"  /reviews?{query.decode()}: {listed:.3f} ms, the search {search:.3f} ms\n"
        )

    for query in OPTIONS:
        embed = _each(lambda _: embeds.embed(Request(b"GET", b"/embed", query)), 3)  # noqa: B023
        sys.stdout.write(f"  /embed?{query.decode()}: {embed:.3f} ms\n")


def _each(ask: Callable[[int], object], tries: int) -> float:
    """Milliseconds of CPU of one; the best of some rounds."""
    best = float("inf")
    for _ in range(tries + 2):
        began = time.process_time()
        for at in range(_ROUNDS):
            ask(at)
        best = min(best, (time.process_time() - began) / _ROUNDS)
    return 1000 * best


if __name__ == "__main__":
    main()
