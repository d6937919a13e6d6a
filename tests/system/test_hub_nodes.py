"""Several nodes on one PostgreSQL deliver everything through kill -9 (D3 to D6, D8, D9).

A usual run has few kills; ``REVIEWSD_EXAMPLES=20`` makes them 120.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support import examples
from tests.support.agents import alive, end, opened
from tests.support.daemon import NO_PAGES, Daemon, until
from tests.support.judge import SharedStore, Storm
from tests.support.nodes import Node, closing, start
from tests.support.postgres import Server, needed
from tests.support.subscriber import (
    Subscriber,
    ask,
    failing,
    hub,
    settings,
    until_open,
)

pytestmark = needed

SUBSCRIPTIONS = 60
SHORT = examples.number(6)  # kills


def test_through_kills_of_nodes_nothing_is_lost_out_of_order_or_wrongly_removed(
    tmp_path: Path,
) -> None:
    """D3 to D6; F15. ``test_hub_kills`` has that no subscription is removed where no delivery fails."""
    seed = random.randrange(10**6)
    reply = failing(0.4, random.Random(seed))
    with Server() as server, Subscriber(tmp_path, reply=reply) as subscriber:
        configuration = settings(subscriber.ca_file, limits={"active_per_host": 10_000})
        url, chance = server.database(), random.Random(seed)
        nodes = [Node(tmp_path, name, url, configuration) for name in ("1", "2", "3")]
        storm = Storm(nodes, subscriber, chance, SUBSCRIPTIONS, server=SharedStore(server, url))
        totals = storm.run(SHORT)
    assert Counter() == +totals.faults, f"seed {seed}: {totals}"
    assert totals.deliveries >= SUBSCRIPTIONS // 2


# -- two nodes


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def versions(node: Daemon) -> set[int]:
    return {topic["version"] for topic in hub(node)["topics"]}


def test_nodes_with_different_data_do_not_take_turns(tmp_path: Path, server: Server) -> None:
    """D8: the newer data is delivered once, whichever node restarts."""
    configuration, store = NO_PAGES + "hub: {min_interval: 0}\n", server.database()
    nodes = [Node(tmp_path, name, store, configuration, own_data=True) for name in ("old", "new")]
    with closing(nodes):
        old, new = nodes
        for file in old.data.iterdir():
            os.utime(file, (1_700_000_000, 1_700_000_000))
        new.edit(name="Newer")

        def has_compared(times: int) -> bool:
            message = "/feed.xml, /api/feed.json, /reviews.json are not delivered"
            return old.log.read_text().count(message) >= times

        old.start()
        until_open(old)
        assert {1} == versions(old)
        new.start()
        until(lambda: versions(new) == {2}, "the newer data")
        for times in range(1, 3):
            start(nodes)
            until(partial(has_compared, times), "its comparison")
            assert {2} == versions(old)


def test_pages_are_served_while_the_server_is_stopped_and_the_hub_recovers(
    tmp_path: Path, server: Server, subscriber: Subscriber
) -> None:
    """D9"""
    with Node(tmp_path, "1", server.database(), settings(subscriber.ca_file)) as node:
        until_open(node)
        assert 202 == ask(node, subscriber.url("/first")).status
        until(lambda: hub(node)["active"] == 1, "a subscription")
        server.stop()
        refused = ask(node, subscriber.url("/second"))
        assert (503, True) == (refused.status, int(refused.headers["Retry-After"]) > 0)
        assert 200 == node.get("/reviews.json").status
        assert "connect" in hub(node)["store"]
        node.edit(name="Changed meanwhile")
        until(lambda: b"Changed meanwhile" in node.get("/reviews.json").body, "the new data")
        server.start()
        request = subscriber.until_deliveries(1, "/first")
        assert b"Changed meanwhile" in subscriber.bodies[request.sha256]
        assert 202 == ask(node, subscriber.url("/second")).status
        until(lambda: hub(node)["active"] == 2, "another subscription")
        assert 0 == node.stop()
        assert "Traceback" not in node.log.read_text()


def test_command_reaches_all_nodes(tmp_path: Path, server: Server, subscriber: Subscriber) -> None:
    """Any node accepts the command (H7)."""
    store, configuration = server.database(), settings(subscriber.ca_file)
    nodes = [Node(tmp_path, name, store, configuration) for name in ("1", "2")]
    with closing(nodes):
        first, second = nodes
        start(nodes)
        until_open(first)
        for number in range(20):
            assert 202 == ask(nodes[number % 2], subscriber.url(f"/{number}")).status
        until(lambda: hub(first)["active"] == 20, "all verified")

        pushed = first.ctl("subs", "push")
        assert 0 == pushed.returncode, pushed.stderr
        for number in range(20):
            assert 1 == len(subscriber.deliveries(f"/{number}"))

        assert 0 == first.ctl("hub", "pause").returncode
        until(
            lambda: ask(second, subscriber.url("/late")).status == 503,
            "the pause on the second node",
        )
        first.edit(name="Paused")
        assert 0 == second.ctl("hub", "resume").returncode
        subscriber.until_deliveries(2, "/0")
        until(
            lambda: ask(first, subscriber.url("/late")).status == 202, "its end on the first node"
        )

        assert 0 == second.ctl("hub", "block", "localhost").returncode
        callback = subscriber.url("/late", "localhost")
        until(lambda: ask(first, callback).status == 403, "the block on the first node")

        session = opened(first)
        assert 200 == alive(second, session)
        assert 204 == end(first, session)
        until(lambda: alive(second, session) == 404, "the end of a session on the first node")
