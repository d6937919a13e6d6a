"""Measures the cost of pages, at publication and for a request (pages.md 4).

    python -m tests.benchmarks.pages DATA STATE [--compile | --processes | --nginx]

It publishes a data directory into a state directory, unless there is a snapshot, and says in CPU milliseconds
what pages add: ``/r/{id}`` to the request itself, a filtered ``/reviews`` to the same search. ``--compile`` says what it takes to
make the pages in this process, ``--processes`` what whole publishing processes take with pages and without, in turns;
``--nginx`` has wrk ask for ``/`` here and at an nginx with the same bytes, in turns.
"""

import argparse
import dataclasses
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

import msgspec
from twisted.internet.task import Clock

from reviewsd.config.schema import Pages
from reviewsd.domain.dataset import load
from reviewsd.domain.reviews import Review
from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Responses
from reviewsd.pages import publication, reviews
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.settings import MachineSettings
from reviewsd.pages.site import Statistics
from reviewsd.publish import site as sites
from reviewsd.publish.compile_process import COMMAND
from reviewsd.publish.messages import CompileSettings, Job, Outcome, PublicationOrder
from reviewsd.publish.openapi import document
from reviewsd.publish.publication import publish
from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.web.embed import EmbedReads
from reviewsd.web.pages import PageReads
from reviewsd.web.reads import Reads
from tests.benchmarks import wrk
from tests.benchmarks.http_servers import NGINX, ours, peers
from tests.support.budgets import budgets

SETTINGS = CompileSettings(
    base_url="https://reviews.example", authority="reviews.example", year=2025
)
QUERIES = (b"query=boiler", b"min_rating=4&mentions_technician=sam", b"rating=1")
OPTIONS = (b"theme=dark", b"layout=grid&count=12", b"min_rating=4", b"layout=badge")
_ROUNDS = 400
_PROCESSES, _TURNS = 10, 7


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("state", type=Path)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--nginx", action="store_true")
    options = parser.parse_args()
    if options.compile:
        _compiling(options.data)
        return
    if options.processes:
        _publishing(options.data, options.state)
        return
    if options.nginx:
        _beside_nginx(options.data, options.state)
        return
    order = PublicationOrder(
        data_dir=str(options.data),
        snapshots=str(options.state),
        settings=SETTINGS,
        max_bytes=1 << 31,
        insights="file",
    )
    if not (options.state / "current").exists():
        outcome = publish(Job(order=order, version="1", now=0.0), lambda *_: None)
        sys.stdout.write(f"{type(outcome).__name__}\n")
    _asking(options.state)


def _asking(state: Path) -> None:
    snapshots = Snapshots(state)
    responses = Responses(SETTINGS.base_url, "public")
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


def _publishing(data: Path, state: Path) -> None:
    bare = dataclasses.replace(SETTINGS, pages=Pages(enabled=False))
    spent: dict[str, list[float]] = {"without pages": [], "with pages": []}
    bytecode: dict[str, bytes] = {}
    for _ in range(_PROCESSES):
        for name, settings in zip(spent, (bare, SETTINGS), strict=True):
            shutil.rmtree(state, ignore_errors=True)
            order = PublicationOrder(
                data_dir=str(data),
                snapshots=str(state),
                settings=settings,
                max_bytes=1 << 31,
                insights="file",
            )
            job = msgspec.json.encode(Job(order=order, version="1", now=0.0, bytecode=bytecode))
            before = os.times()
            done = subprocess.run(COMMAND, input=job, stdout=subprocess.PIPE, check=True)
            after = os.times()
            spent[name].append(
                after.children_user
                + after.children_system
                - before.children_user
                - before.children_system
            )
            outcome = msgspec.json.decode(done.stdout.splitlines()[-1], type=Outcome)
            bytecode = outcome.bytecode or bytecode
    for name, samples in spent.items():
        sys.stdout.write(
            f"{name}: {1000 * min(samples):.0f} ms, median {1000 * median(samples):.0f}\n"
        )


def _beside_nginx(data: Path, place: Path) -> None:
    place.mkdir()
    root = place / "root"
    root.mkdir()
    with ours(place / "ours", data) as (servers, snapshot):
        document = next(
            document
            for document in Snapshot(snapshot).manifest.documents
            if document.path == urls.HOME
        )
        shutil.copyfile(snapshot / document.file, root / "home")
        shutil.copyfile(snapshot / f"{document.file}{layout.GZIP}", root / f"home{layout.GZIP}")
        with peers(place / "peers", root, place, (NGINX,)) as peer_servers:
            targets = [(servers[0], urls.HOME), *((peer, "/home") for peer in peer_servers)]
            for title, headers in (("plain", ()), ("gzip", ("Accept-Encoding: gzip",))):
                best = dict.fromkeys((server.name for server, _ in targets), float("inf"))
                for _ in range(_TURNS):
                    for server, path in targets:
                        before = server.used()
                        result = wrk.run(
                            server.url(path), ("Accept: text/html", *headers), seconds=1
                        )
                        assert not result.failures
                        microseconds = 1e6 * (server.used() - before) / result.requests
                        best[server.name] = min(best[server.name], microseconds)
                summary = ", ".join(
                    f"{name} {microseconds:.1f} us" for name, microseconds in best.items()
                )
                sys.stdout.write(f"/ {title}: {summary}\n")


def _compiling(data: Path) -> None:
    texts = [data / name for name in ("reviews.json", "insights.json")]
    insights = texts[1].read_bytes() if texts[1].exists() else None
    dataset = load(texts[0].read_bytes(), insights)
    reviews_of = msgspec.json.Decoder(Review)
    typed = [reviews_of.decode(record.raw) for record in dataset.records[:10_000]]
    tally = Statistics()
    began = time.process_time()
    for review in typed:
        tally.add(review)
    counting = (time.process_time() - began) / max(len(typed), 1)
    began = time.process_time()
    site = sites.make(
        dataset,
        SETTINGS.base_url,
        SETTINGS.pages,
        tally,
        {},
    )
    renderer = Renderer(site)
    frames = reviews.frames(renderer)
    openapi = document.render(SETTINGS.base_url, dataset.business)
    changes = partial(sites.changes, dataset.records)
    rendered = publication.documents(renderer, frames, openapi, MachineSettings(), changes)
    documents = list(rendered)
    spent = time.process_time() - began
    size = sum(len(document.content) for document in documents)
    sys.stdout.write(
        f"{len(dataset.records):,} reviews: {len(documents)} documents, {size:,} bytes, "
        f"{1000 * spent:.1f} ms; counting {1e9 * counting:.0f} ns a review\n"
    )


if __name__ == "__main__":
    main()
