"""Whom the hub calls, and whom it never does, under the default policy: nothing is opened.

The daemon runs in a network of its own, whose host has public and private addresses. ``ca_file``
gives the subscribers their certificates and opens no network (E9, E16).
"""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from reviewsd.http1.urls import HEALTH
from reviewsd.websub.outbound.lookup_queue import PER_DOMAIN
from reviewsd.websub.rate_limits import FIRST_BACKOFF, MAX_FAILURES
from reviewsd.websub.slots import FIRST_SHARE
from tests.support.daemon import Daemon, until
from tests.support.namespace import Namespace, listening, policy, running, said, swallowing
from tests.support.subscriber import Subscriber, ask, hub, until_open

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


def change(daemon: Daemon) -> None:
    file = daemon.data / "reviews.json"
    document = json.loads(file.read_text())
    document["business"]["name"] = f"Changed at {time.monotonic()}"
    aside = daemon.data / ".aside"
    aside.write_text(json.dumps(document))
    aside.rename(file)


def subscribe(daemon: Daemon, callback: str) -> None:
    """Ask, and wait until it is verified."""
    active = hub(daemon)["active"]
    assert 202 == ask(daemon, callback).status
    until(lambda: hub(daemon)["active"] == active + 1, "the subscription")


# -- addresses


def test_public_names_are_called_and_no_others(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """E5, E8, E16: one private address among public ones is enough to be refused."""
    with (
        Subscriber(tmp_path, PUBLIC, port=8443, names=[PUBLIC_NAME]) as other,
        listening(PRIVATE, (443, 8443)) as private,
        running(network, Daemon(tmp_path, policy(subscriber))) as daemon,
    ):
        network.know({PUBLIC_NAME: [PUBLIC], **REFUSED})
        until_open(daemon)
        public = (subscriber, other)
        for each in public:
            subscribe(daemon, each.url(host=PUBLIC_NAME))
        change(daemon)
        for each in public:
            each.until_deliveries(1)
        before = network.connections
        asked = [(host, port) for host in REFUSED for port in (443, 8443)]
        for host, port in asked:
            assert 202 == ask(daemon, f"https://{host}:{port}/callback").status
        pattern = r"subscribe at (\S+): \S+ is refused: "
        until(lambda: len(said(daemon, pattern)) == len(asked), "all refused")
        assert {*REFUSED} == {*said(daemon, pattern)}
        assert len(asked) == network.connections - before  # our own, to ask
        assert [0] * len(private) == [each.look() for each in private]
        assert [["GET", "POST"]] * 2 == [[heard.method for heard in each.log] for each in public]


def test_a_name_that_has_turned_private_is_judged_anew(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """E7: between the verification and each delivery, and before the farewell."""
    with (
        listening(["10.0.0.5"], [443]) as (private,),
        running(network, Daemon(tmp_path, policy(subscriber))) as daemon,
    ):
        until_open(daemon)
        subscribe(daemon, subscriber.url(host=PUBLIC_NAME))
        network.know({PUBLIC_NAME: ["10.0.0.5"]})
        before = network.connections
        change(daemon)
        until(lambda: said(daemon, "has ended: it did not answer"), "the farewell")
        refused = r"delivery of .* failed: 10\.0\.0\.5 is refused: private"
        assert 3 == len(said(daemon, refused))
        assert (0, 0) == (network.connections - before, private.look())
        assert [] == subscriber.deliveries()


@pytest.mark.parametrize(
    "endpoint", [f"tcp:8443:interface={PUBLIC}", "tcp:8443", r"tcp:8443:interface=\:\:"]
)
def test_the_daemon_does_not_call_its_own_listener(
    tmp_path: Path, network: Namespace, subscriber: Subscriber, endpoint: str
) -> None:
    """E5: by no name that leads to it, however it listens."""
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
    """The resolver's options as the systemd unit sets them."""
    (options,) = re.findall(r'^Environment="RES_OPTIONS=(.*)"$', UNIT.read_text(), re.MULTILINE)
    return {"RES_OPTIONS": options}


def hang(daemon: Daemon, server: socket.socket) -> None:
    """Subscribe at 200 names of one domain, and wait until all its threads ask the server."""
    for number in range(200):
        assert 202 == ask(daemon, f"https://slow{number}.example.net/callback").status
    seen: set[str] = set()

    def all_seen() -> bool:
        with suppress(BlockingIOError):
            while True:
                question = server.recv(512)[12:]
                seen.add(question[1 : 1 + question[0]].decode())
        return len(seen) >= PER_DOMAIN

    until(all_seen, "look-ups")


def test_names_that_nobody_answers_for_hold_up_no_others(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """E6: neither a delivery nor a verification."""
    daemon = Daemon(tmp_path, policy(subscriber), environ=unit_options())
    with swallowing() as server, running(network, daemon):
        until_open(daemon)
        subscribe(daemon, subscriber.url("/early", host=PUBLIC_NAME))
        hang(daemon, server)
        change(daemon)
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
def test_names_that_nobody_answers_for_do_not_hold_up_the_end(
    tmp_path: Path, network: Namespace, subscriber: Subscriber, environ: dict[str, str]
) -> None:
    """O4, E6: getaddrinfo cannot be cancelled, and is not waited for."""
    daemon = Daemon(tmp_path, policy(subscriber), environ=environ)
    with swallowing() as server, running(network, daemon):
        until_open(daemon)
        hang(daemon, server)
        assert 0 == daemon.stop()  # which waits for less than a name may take


# -- many requests


def test_a_silent_host_is_asked_a_little_and_then_left_in_peace(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """H2, H3: few at once, and 28 in all though many more were asked for; its subscribers renew."""
    with (
        listening([PUBLIC], [8443]) as (silent,),
        running(network, Daemon(tmp_path, policy(subscriber, timeout=0.5))) as daemon,
    ):
        until_open(daemon)
        subscribe(daemon, subscriber.url(host=PUBLIC_NAME))
        url = f"https://{PUBLIC_NAME}:8443/%d"
        for number in range(60):
            assert 202 == ask(daemon, url % number).status

        def struck() -> bool:
            silent.look()
            return len(said(daemon, "no answer within 0.5 s")) >= MAX_FAILURES

        until(struck, "the back-off")
        refused = ask(daemon, url % 60)
        assert 429 == refused.status
        assert 0 < int(refused.headers["Retry-After"]) <= FIRST_BACKOFF
        until(lambda: silent.look() and not silent.open, "the end of what was under way")
        # One more since the healthy one there has answered quickly; all of them were perhaps not seen
        assert FIRST_SHARE <= silent.most <= FIRST_SHARE + 1
        assert MAX_FAILURES <= silent.connections <= 28
        assert 202 == ask(daemon, subscriber.url(host=PUBLIC_NAME)).status
        until(lambda: len(subscriber.log) == 2, "the renewal")


def test_names_of_one_victim_count_as_one(
    tmp_path: Path, network: Namespace, subscriber: Subscriber
) -> None:
    """H2: 16 at once in an address network, whatever it is called."""
    names = [f"{number}.example.com" for number in range(5)]
    with (
        listening([PUBLIC], [8443]) as (silent,),
        running(network, Daemon(tmp_path, policy(subscriber, timeout=1))) as daemon,
    ):
        network.know({name: [PUBLIC] for name in names})
        until_open(daemon)
        for number, name in product(range(8), names):
            assert 202 == ask(daemon, f"https://{name}:8443/{number}").status
        until(lambda: silent.look() == 40, "every one, sooner or later")
        assert 16 == silent.most
