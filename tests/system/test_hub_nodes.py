"""Several nodes on one PostgreSQL deliver everything through kill -9 (D3 to D6, D8, D9).

A usual run has few kills; ``REVIEWSD_EXAMPLES=20`` makes them 120.
"""

import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Self

import pytest

from reviewsd.store.keys import HUB_KEYS, SESSION_KEYS
from tests.support import examples
from tests.support.agents import alive, end, opened
from tests.support.daemon import NO_PAGES, Daemon, until
from tests.support.judge import SharedStore, Storm
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

NODES = 3
SUBSCRIPTIONS = 60
SHORT = examples.number(6)  # kills


class Site:
    """Several nodes with the same store and keys, each with its own data and state.

    Args:
        directory: Gets a directory for each node.
        server: Its database is the store.
        configuration: The same for all nodes.
        data: The data of all nodes; by default each has a copy.
        count: The number of nodes.
    """

    def __init__(
        self,
        directory: Path,
        server: Server,
        configuration: str = "",
        data: Path | None = None,
        count: int = NODES,
    ) -> None:
        self.url = server.database()
        self.nodes = []
        for number in range(count):
            own = directory / f"node{number}"
            state = own / "state"
            state.mkdir(parents=True, mode=0o700)
            for name in (HUB_KEYS.name, SESSION_KEYS.name):
                (state / name).write_text("00" * 32 + "\n")
                (state / name).chmod(0o600)
            if data is not None:
                (own / "data").symlink_to(data)
            environ = {"REVIEWSD_HUB__STORE": self.url}
            self.nodes.append(Daemon(own, configuration, environ=environ))

    def start(self) -> None:
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            node.close()


def test_through_kills_of_nodes_nothing_is_lost_out_of_order_or_wrongly_removed(
    tmp_path: Path,
) -> None:
    """D3 to D6; F15. ``test_hub_kills`` has that no subscription is removed where no delivery fails."""
    seed = random.randrange(10**6)
    reply, data = failing(0.4, random.Random(seed)), tmp_path / "data"
    data.mkdir()
    with Server() as server, Subscriber(tmp_path, reply=reply) as subscriber:
        configuration = settings(subscriber.ca_file, limits={"active_per_host": 10_000})
        nodes = Site(tmp_path, server, configuration, data)
        store, chance = SharedStore(server, nodes.url), random.Random(seed)
        storm = Storm(nodes.nodes, subscriber, chance, SUBSCRIPTIONS, server=store)
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
    with Site(tmp_path, server, NO_PAGES + "hub: {min_interval: 0}\n", count=2) as site:
        old, new = site.nodes
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
        for start in range(1, 3):
            site.start()
            until(partial(has_compared, start), "its comparison")
            assert {2} == versions(old)


def test_pages_are_served_while_the_server_is_stopped_and_the_hub_recovers(
    tmp_path: Path, server: Server, subscriber: Subscriber
) -> None:
    """D9"""
    with Site(tmp_path, server, settings(subscriber.ca_file), count=1) as site:
        (node,) = site.nodes
        site.start()
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
    with Site(tmp_path, server, settings(subscriber.ca_file), count=2) as site:
        first, second = site.nodes
        shutil.copytree(first.data, second.data, dirs_exist_ok=True)
        site.start()
        until_open(first)
        for number in range(20):
            assert 202 == ask(site.nodes[number % 2], subscriber.url(f"/{number}")).status
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
        second.edit(name="Paused")
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
