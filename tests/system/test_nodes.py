"""Several nodes on one machine: one address, one configuration, one PostgreSQL (decision 139).

The test holds the listening sockets, as the units reviewsd@.socket do.
"""

import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.support.agents import alive, opened
from tests.support.daemon import BASE_URL, NO_PAGES, Daemon, until
from tests.support.load import Load
from tests.support.nodes import Node, closing, start
from tests.support.postgres import Server, needed
from tests.support.subscriber import FORM, HUB, Subscriber, settings, subscriptions, until_open


@pytest.fixture
def nodes(tmp_path: Path, subscriber: Subscriber) -> Iterator[list[Node]]:
    """Three nodes with one address."""
    configuration = settings(subscriber.ca_file)
    with Server() as server:
        store = server.database()
        first = Node(tmp_path, "1", store, configuration, 0)
        others = [Node(tmp_path, name, store, configuration, first.port) for name in ("2", "3")]
        nodes = [first, *others]
        with closing(nodes):
            start(nodes)
            yield nodes


def read_once(node: Node) -> bool:
    """Read on a new connection; return whether the node has answered any read."""
    assert 200 == node.get("/api/feed.json").status
    text = node.admin("GET", "/v1/metrics").body.decode()
    lines = (line for line in text.splitlines() if 'route="/api/feed.json"' in line)
    return any("requests_total" in line for line in lines)


@needed
def test_three_nodes_are_one_service(nodes: list[Node], subscriber: Subscriber) -> None:
    """Sessions, subscriptions and requests outlive the end of any of them."""
    first, second, third = nodes
    state = first.directory.parent / "state"
    assert {"secret.key", "mcp.key", "nodes"} == {entry.name for entry in state.iterdir()}
    assert [] == list(state.glob("nodes/*/*.key"))

    until(lambda: all(read_once(node) for node in nodes), "reads at each node")
    for node in nodes:
        until_open(node)
    session = opened(first)
    assert {200} == {alive(first, session) for _ in range(24)}  # on new connections

    form = f"hub.mode=subscribe&hub.topic={BASE_URL}/feed.xml&hub.callback={subscriber.url()}"
    assert 202 == first.request("POST", HUB, FORM, form.encode()).status
    until(lambda: "active" in str(subscriptions(third)), "the subscription at another node")

    with Load(lambda: first.get("/api/feed.json").status, nullcontext) as load:  # new connections
        for node in nodes:
            assert 0 == node.stop()
            node.launch()
            node.wait_ready()
        until(lambda: load.count > 50, "enough reads")
    assert [] == load.failed

    assert -signal.SIGKILL == second.stop(signal.SIGKILL)
    first.edit(name="Three nodes")
    delivery = subscriber.until_deliveries(1)
    assert b"Three nodes" in subscriber.bodies[delivery.sha256]
    second.launch()
    second.wait_ready()
    assert {200} == {alive(first, session) for _ in range(24)}
    until(lambda: {"Three nodes"} == names_served(first), "the change at each node")


def names_served(node: Node) -> set[str]:
    """Return the names of the business in the answers of a dozen connections."""
    return {node.get("/reviews.json").json()["business"]["name"] for _ in range(12)}


@needed
def test_nodes_need_a_store_that_they_share(tmp_path: Path) -> None:
    """A subscription in the SQLite file of one node would be unknown to the others."""
    daemon = Daemon(tmp_path, NO_PAGES, ("--node", "1"))
    daemon.launch()
    assert 78 == daemon.ended()
    assert "hub.store: --node needs postgresql://..., which all nodes share" in (
        daemon.log.read_text()
    )
