"""The hub connects to public addresses only, by the default policy.

The daemon runs in a network namespace with public and private addresses. ``ca_file`` names the
certificate authority of the callbacks and allows no network (E9, E16).
"""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from reviewsd.http1.urls import HEALTH
from reviewsd.websub.outbound.dialer import PER_DOMAIN
from tests.support.daemon import Daemon, until
from tests.support.namespace import Namespace, listening, policy, running, said, swallowing
from tests.support.subscriber import Subscriber, ask, hub, subscribe, until_open

PUBLIC = "45.33.32.10"
PUBLIC_NAME = "subscriber.example.com"
PRIVATE = ("127.0.0.1", "10.0.0.5", "169.254.169.254", "fd00::5")
REFUSED = {
    "loopback.example.com": ["127.0.0.1"],
    "private.example.com": ["10.0.0.5"],
    "metadata.example.com": ["169.254.169.254"],
    "ula.example.com": ["fd00::5"],
    "any.example.com": ["0.0.0.0"],
    "mapped.example.com": ["::ffff:127.0.0.1"],
    "mixed.example.com": [PUBLIC, "10.0.0.5"],
    "both.example.com": [PUBLIC, "fd00::5"],
}
UNIT = Path(__file__).parents[2] / "systemd" / "reviewsd.service"


@pytest.fixture
def network() -> Iterator[Namespace]:
    with Namespace(PUBLIC, *PRIVATE[1:]) as network:
        yield network


@pytest.fixture
def subscriber(network: Namespace, tmp_path: Path) -> Iterator[Subscriber]:
    network.know({PUBLIC_NAME: [PUBLIC]})
    with Subscriber(tmp_path, PUBLIC, port=443, names=[PUBLIC_NAME]) as subscriber:
        yield subscriber


# -- addresses


def test_names_with_a_private_address_are_refused(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """E5, E8, E16: one private address among public ones is enough."""
    with (
        Subscriber(tmp_path, PUBLIC, port=8443, names=[PUBLIC_NAME]) as second,
        listening(PRIVATE, (443, 8443)) as private,
        running(network, Daemon(tmp_path, policy(subscriber))) as daemon,
    ):
        network.know({PUBLIC_NAME: [PUBLIC], **REFUSED})
        until_open(daemon)
        public = (subscriber, second)
        for server in public:
            subscribe(daemon, server.url(host=PUBLIC_NAME))
        daemon.edit(name="Changed")
        for server in public:
            server.until_deliveries(1)
        before = network.connections
        targets = [(host, port) for host in REFUSED for port in (443, 8443)]
        for host, port in targets:
            assert 202 == ask(daemon, f"https://{host}:{port}/callback").status
        pattern = r"subscribe at (\S+): \S+ is refused: "
        until(lambda: len(said(daemon, pattern)) == len(targets), "all refused")
        assert {*REFUSED} == {*said(daemon, pattern)}
        assert len(targets) == network.connections - before  # our own, to ask
        assert [0] * len(private) == [socket.look() for socket in private]
        assert [["GET", "POST"]] * 2 == [
            [request.method for request in subscriber_.log] for subscriber_ in public
        ]


def test_addresses_of_a_name_are_checked_for_each_request(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """E7: for a verification, a delivery and a denial."""
    with (
        listening(["10.0.0.5"], [443]) as (private,),
        running(network, Daemon(tmp_path, policy(subscriber))) as daemon,
    ):
        until_open(daemon)
        subscribe(daemon, subscriber.url(host=PUBLIC_NAME))
        network.know({PUBLIC_NAME: ["10.0.0.5"]})
        before = network.connections
        daemon.edit(name="Changed")
        until(lambda: said(daemon, "has ended: it did not answer"), "the denial")
        refused = r"delivery of .* failed: 10\.0\.0\.5 is refused: private"
        assert 3 == len(said(daemon, refused))
        assert (0, 0) == (network.connections - before, private.look())
        assert [] == subscriber.deliveries()


@pytest.mark.parametrize(
    "endpoint", [f"tcp:8443:interface={PUBLIC}", "tcp:8443", r"tcp:8443:interface=\:\:"]
)
def test_own_listener_is_refused(
    tmp_path: Path, network: Namespace, subscriber: Subscriber, endpoint: str
) -> None:
    """Its own listener is refused on any address (E5)."""
    listen = f"listen: {json.dumps(['tcp:0:interface=127.0.0.1', endpoint])}\n"
    with running(network, Daemon(tmp_path, listen + policy(subscriber))) as daemon:
        until_open(daemon)
        before = network.connections
        assert 202 == ask(daemon, f"https://{PUBLIC_NAME}:8443/callback").status
        pattern = rf"subscribe at {PUBLIC_NAME}: the callback leads to this service itself"
        until(lambda: said(daemon, pattern), "the refusal")
        assert 1 == network.connections - before  # our own, to ask
        subscribe(daemon, subscriber.url(host=PUBLIC_NAME))  # another port there


# -- slow DNS


def unit_options() -> dict[str, str]:
    """Return the options of the resolver in the systemd unit."""
    (options,) = re.findall(r'^Environment="RES_OPTIONS=(.*)"$', UNIT.read_text(), re.MULTILINE)
    return {"RES_OPTIONS": options}


def hang(daemon: Daemon, server: socket.socket) -> None:
    """Request 200 names of one domain, and wait until all threads of the domain query the server."""
    for number in range(200):
        assert 202 == ask(daemon, f"https://slow{number}.example.net/callback").status
    names: set[str] = set()

    def all_queried() -> bool:
        with suppress(BlockingIOError):
            while True:
                question = server.recv(512)[12:]
                names.add(question[1 : 1 + question[0]].decode())
        return len(names) >= PER_DOMAIN

    until(all_queried, "look-ups")


def test_unanswered_look_ups_do_not_delay_other_names(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """E6: neither a delivery nor a verification."""
    daemon = Daemon(tmp_path, policy(subscriber), environ=unit_options())
    with swallowing() as server, running(network, daemon):
        until_open(daemon)
        subscribe(daemon, subscriber.url("/early", host=PUBLIC_NAME))
        hang(daemon, server)
        daemon.edit(name="Changed")
        assert 202 == ask(daemon, subscriber.url("/late", host=PUBLIC_NAME)).status
        polls: list[float] = []

        def verified() -> bool:
            began = time.monotonic()
            assert 200 == daemon.get(HEALTH).status
            polls.append(time.monotonic() - began)
            return hub(daemon)["active"] == 2 and bool(subscriber.deliveries("/early"))

        until(verified, "the subscription and the delivery")
        polls.sort()
        assert polls[len(polls) * 99 // 100] < 0.5


@pytest.mark.parametrize("environ", [unit_options(), {}], ids=["unit", "no options"])
def test_unanswered_look_ups_do_not_delay_the_stop(
    tmp_path: Path, network: Namespace, subscriber: Subscriber, environ: dict[str, str]
) -> None:
    """O4, E6: getaddrinfo cannot be cancelled."""
    daemon = Daemon(tmp_path, policy(subscriber), environ=environ)
    with swallowing() as server, running(network, daemon):
        until_open(daemon)
        hang(daemon, server)
        assert 0 == daemon.stop()  # within its deadline, which is shorter than a look-up
