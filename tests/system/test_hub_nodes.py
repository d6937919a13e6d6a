"""Several nodes on one PostgreSQL: kill -9 of any of them, and of the server (D3 to D6, D8, D9).

The judge is that of one node, ``test_hub_kills``. A short run for each failure rate is a test. A long
one is a command, which prints the totals:

    python -m tests.system.test_hub_nodes 200
"""

import bisect
import hmac
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from reviewsd.store import secrets, session_keys
from reviewsd.store.postgres import LOCK
from tests.support.daemon import DEMO, Daemon, until
from tests.support.postgres import Server, needed
from tests.support.relay import Relay
from tests.support.subscriber import (
    TOPICS,
    Heard,
    Subscriber,
    ask,
    failing,
    hub,
    settings,
    subscriptions,
    until_open,
    until_settled,
)
from tests.system.test_hub_kills import FAULTS, Told, Totals, judged
from tests.system.test_mcp_clients import alive, end, opened

pytestmark = needed

NODES = 4
SUBSCRIPTIONS = 100
RATES = (0.0, 0.4)
SHORT = 8  # kills
ROUND = 15  # kills, after which everything must settle

LAPSE = 10.0
"""Seconds after which the storm has a claim lapse, in the place of 90; attempts take 5 at most."""

SURE = 5.0
"""Seconds. The next delivery of a subscription needs its claim back: where it comes sooner, no claim
has lapsed, so the result of the one before was written."""

CLAIM = 90_000  # milliseconds; D5


class Site:
    """Nodes with the same store and keys, each with data and state of its own.

    Args:
        directory: Gets a directory for each node.
        server: Has the store.
        configuration: Of all nodes.
        data: What all nodes serve; None leaves each its own.
        count: How many.
        relay: Between them and the store.
    """

    def __init__(
        self,
        directory: Path,
        server: Server,
        configuration: str = "",
        data: Path | None = None,
        count: int = NODES,
        relay: Relay | None = None,
    ) -> None:
        self.url = server.database()
        reached = self.url
        if relay is not None:
            reached = reached.partition("?")[0].replace("@/", f"@127.0.0.1:{relay.port}/")
        self.nodes = []
        for number in range(count):
            place = directory / f"node{number}"
            state = place / "state"
            state.mkdir(parents=True, mode=0o700)
            for name in (secrets.KEY_FILE, session_keys.KEY_FILE):
                (state / name).write_text("00" * 32 + "\n")
                (state / name).chmod(0o600)
            if data is not None:
                (place / "data").symlink_to(data)
            environ = {"REVIEWSD_HUB__STORE": reached}
            self.nodes.append(Daemon(place, configuration, environ=environ))

    def start(self) -> None:
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()

    def close(self) -> None:
        for node in self.nodes:
            node.close()


class Storm:
    """Nodes that are killed again and again while their data changes."""

    def __init__(
        self, directory: Path, server: Server, subscriber: Subscriber, chance: random.Random
    ) -> None:
        self._server = server
        self._subscriber = subscriber
        self._chance = chance
        self._data = directory / "data"
        self._data.mkdir()
        self._document = json.loads((DEMO / "reviews.json").read_text())
        self._document["reviews"] = self._document["reviews"][:5]
        at_once = {"per_host": 64, "per_address": 64, "timeout": SURE / 2}
        limits = {"active_per_host": 10_000, "pending_per_client": 10_000}
        configuration = settings(
            subscriber.ca_file, limits=limits, delivery=at_once, verification=at_once
        )
        self.totals = Totals()
        self._change()
        self._site = Site(directory, server, configuration, self._data)
        self._nodes = self._site.nodes
        self._subscribed: list[str] = []  # paths of callbacks
        self._lives = 0
        self._ended: dict[str, int] = {}  # how much those heard whose subscription is over
        self._voided: list[float] = []  # when all claims were

    def run(self, kills: int) -> Totals:
        try:
            while self.totals.kills < kills:
                self._site.start()
                self._subscribe()
                for _ in range(min(ROUND, kills - self.totals.kills)):
                    self._weather()
                    node = self._chance.choice(self._nodes)
                    self._kill(node)
                    node.launch()
                self._calm()
                self._judge()
                for node in self._nodes:
                    assert 0 == node.stop()
        finally:
            self._site.close()
        for node in self._nodes:
            assert "Traceback" not in node.log.read_text()
        return self.totals

    def _change(self) -> None:
        self.totals.changes += 1
        self._document["business"]["name"] = f"Change {self.totals.changes}"
        aside = self._data / ".aside"
        aside.write_text(json.dumps(self._document))
        aside.rename(self._data / "reviews.json")

    def _subscribe(self) -> None:
        """Fill up to the number, at all nodes in turn."""
        for node in self._nodes:
            until_open(node)
        for _ in range(SUBSCRIPTIONS - len(self._subscribed)):
            self._lives += 1
            path, topic = f"/{self._lives}", TOPICS[self._lives % len(TOPICS)]
            self._subscribed.append(path)
            node = self._nodes[self._lives % NODES]
            callback = self._subscriber.url(path)
            assert 202 == ask(node, callback, topic=topic, secret=path).status
        until(lambda: hub(self._nodes[0])["active"] == SUBSCRIPTIONS, "all verified")

    def _weather(self) -> None:
        """Changes for a while; now and then the server crashes, or claims of the killed lapse."""
        if self._chance.random() < 0.5:
            self._chance.choice(self._nodes).wait_ready()
        if self._chance.random() < 0.1:
            self._server.stop()
            self._server.start()
        end = time.monotonic() + self._chance.uniform(0.05, 0.5)
        while time.monotonic() < end:
            if self._chance.random() < 0.3:
                self._change()
            time.sleep(self._chance.uniform(0.02, 0.2))
        self._void(f"claim_until < {time.time_ns() // 1_000_000 + CLAIM - int(LAPSE * 1000)}")
        if self._chance.random() < 0.7:
            self._burst()

    def _burst(self) -> None:
        """Wait for the middle of deliveries, if some come soon: a kill hits most there."""
        self._change()
        heard, end = len(self._subscriber.log), time.monotonic() + 2
        while len(self._subscriber.log) < heard + 5 and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(self._chance.choice([0, 0, 0.01, 0.05]))

    def _void(self, which: str) -> None:
        """Let claims lapse, as if 90 seconds had gone by."""
        for table in ("subscription", "verification"):
            update = f"UPDATE {table} SET claim_until = 0 WHERE {which}"
            self._server.execute(f"SELECT pg_advisory_xact_lock({LOCK}); {update}", self._site.url)

    def _kill(self, node: Daemon) -> None:
        assert node.process is not None
        assert node.process.poll() in {None, -signal.SIGKILL}, node.log.read_text()
        node.stop(signal.SIGKILL)
        self.totals.kills += 1
        self._subscriber.epoch += 1

    def _calm(self) -> None:
        """The last kill is of all; then wait until the hub has nothing left to do."""
        self._burst()
        for node in self._nodes:
            assert node.process is not None
            node.process.kill()
        for node in self._nodes:
            self._kill(node)
        until(lambda: self._subscriber.open == 0, "the end of their connections")
        self._void("claim_until IS NOT NULL")
        self._voided.append(time.monotonic())
        if self._chance.random() < 0.5:
            self._change()
        self._site.start()
        newest = f"Change {self.totals.changes}".encode()
        for node in self._nodes:
            until(partial(_serves, node, newest), "the newest data")
        for node in self._nodes:
            until_settled(node)

    def _judge(self) -> None:
        """Hold the store against the witness."""
        heard = defaultdict(list)
        for each in tuple(self._subscriber.log):
            if each.method == "POST":
                heard[each.path].append(each)
        self.totals.deliveries = sum(map(len, heard.values()))
        self.totals.faults["outlived"] += sum(
            len(heard[path]) != count for path, count in self._ended.items()
        )
        kept = {"/" + each["callback"].rpartition("/")[2] for each in subscriptions(self._nodes[0])}
        for path in self._subscribed:
            told = list(self._told(heard[path]))
            self.totals.faults.update(judged(told, self.totals.changes, kept=path in kept))
            if path not in kept:
                self._ended[path] = len(told)
        self._subscribed = [path for path in self._subscribed if path in kept]
        self.totals.removed = len(self._ended)
        self.totals.duplicates = sum(map(_duplicates, heard.values()))
        self.totals.faults["unsigned"] = sum(
            not self._signed(each) for all_of_one in heard.values() for each in all_of_one
        )

    def _told(self, heard: Sequence[Heard]) -> Iterator[Told]:
        now = time.monotonic()
        following = [*((each.at, each.epoch) for each in heard[1:]), (now, self._subscriber.epoch)]
        for each, (at, epoch) in zip(heard, following, strict=True):
            void = bisect.bisect(self._voided, at) != bisect.bisect(self._voided, each.at)
            yield Told(
                change=_change(self._subscriber.bodies[each.sha256]),
                taken=each.taken,
                unsure=epoch != each.epoch and (void or at - each.at > SURE),
            )

    def _signed(self, heard: Heard) -> bool:
        body = self._subscriber.bodies[heard.sha256]
        digest = hmac.new(heard.path.encode(), body, "sha256").hexdigest()
        return f"sha256={digest}" == heard.field("X-Hub-Signature")


def _serves(node: Daemon, text: bytes) -> bool:
    return text in node.get("/reviews.json").body


def _change(body: bytes) -> int:
    found = re.search(rb"Change (\d+)", body)
    assert found is not None
    return int(found[1])


def _duplicates(heard: Sequence[Heard]) -> int:
    taken = Counter(each.sha256 for each in heard if each.taken)
    return sum(count - 1 for count in taken.values())


def storm(directory: Path, rate: float, kills: int, seed: int) -> Totals:
    """A run with this part of the deliveries failing."""
    chance = random.Random(seed)
    reply = failing(rate, random.Random(seed))
    with Server() as server, Subscriber(directory, reply=reply) as subscriber:
        return Storm(directory, server, subscriber, chance).run(kills)


@pytest.mark.parametrize("rate", RATES)
def test_through_kills_of_nodes_nothing_is_lost_out_of_order_or_wrongly_removed(
    tmp_path: Path, rate: float
) -> None:
    """D3 to D6; F15"""
    seed = random.randrange(10**6)
    totals = storm(tmp_path, rate, SHORT, seed)
    assert Counter() == +totals.faults, f"seed {seed}: {totals}"
    assert totals.deliveries >= SUBSCRIPTIONS
    assert rate > 0 or totals.removed == 0


# -- two nodes


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def subscriber(tmp_path: Path) -> Iterator[Subscriber]:
    with Subscriber(tmp_path) as subscriber:
        yield subscriber


def rename(node: Daemon, name: str) -> None:
    """Change the data of one node."""
    document = json.loads((node.data / "reviews.json").read_text())
    document["business"]["name"] = name
    aside = node.data / ".aside"
    aside.write_text(json.dumps(document))
    aside.rename(node.data / "reviews.json")


def versions(node: Daemon) -> set[int]:
    return {topic["version"] for topic in hub(node)["topics"]}


def test_nodes_with_different_data_do_not_take_turns(tmp_path: Path, server: Server) -> None:
    """D8: the newer data wins, once, whoever restarts."""
    site = Site(tmp_path, server, "hub: {min_interval: 0}\n", count=2)
    old, new = site.nodes
    for file in old.data.iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    rename(new, "Newer")

    def looked(times: int) -> bool:
        refused = "nothing is sent of /feed.xml, /api/feed.json, /reviews.json"
        return old.log.read_text().count(refused) >= times

    try:
        old.start()
        until_open(old)
        assert {1} == versions(old)
        new.start()
        until(lambda: versions(new) == {2}, "the newer data")
        for life in range(1, 11):
            site.start()
            until(partial(looked, life), "its look")
            assert {2} == versions(old)
    finally:
        site.close()


def test_while_the_server_is_stopped_reads_go_on_and_all_recovers(
    tmp_path: Path, server: Server, subscriber: Subscriber
) -> None:
    """D9"""
    site = Site(tmp_path, server, settings(subscriber.ca_file), count=1)
    (node,) = site.nodes
    try:
        site.start()
        until_open(node)
        assert 202 == ask(node, subscriber.url("/first")).status
        until(lambda: hub(node)["active"] == 1, "a subscription")
        server.stop()
        refused = ask(node, subscriber.url("/second"))
        assert (503, True) == (refused.status, int(refused.headers["Retry-After"]) > 0)
        assert 200 == node.get("/reviews.json").status
        assert "connect" in hub(node)["store"]
        rename(node, "Changed meanwhile")
        until(lambda: b"Changed meanwhile" in node.get("/reviews.json").body, "the new data")
        server.start()
        heard = subscriber.until_deliveries(1, "/first")
        assert b"Changed meanwhile" in subscriber.bodies[heard.sha256]
        assert 202 == ask(node, subscriber.url("/second")).status
        until(lambda: hub(node)["active"] == 2, "another subscription")
        assert 0 == node.stop()
        assert "Traceback" not in node.log.read_text()
    finally:
        if not server.running:
            server.start()
        site.close()


def test_while_the_servers_connection_is_silent_a_request_is_refused_soon(
    tmp_path: Path, server: Server, subscriber: Subscriber
) -> None:
    """D9: its TCP acknowledges everything, so a request had no answer for a minute and more."""
    with Relay(server.connect) as relay:
        site = Site(tmp_path, server, settings(subscriber.ca_file), count=1, relay=relay)
        (node,) = site.nodes
        try:
            site.start()
            until_open(node)
            relay.silence()
            refused = ask(node, subscriber.url("/first"))  # which waits for 20 s at most
            assert (503, True) == (refused.status, int(refused.headers["Retry-After"]) > 0)
            assert 200 == node.get("/reviews.json").status
            relay.speak()
            until(lambda: ask(node, subscriber.url("/second")).status == 202, "a new connection")
            until(lambda: hub(node)["active"] == 1, "its subscription")
            assert 0 == node.stop()
            assert "Traceback" not in node.log.read_text()
        finally:
            site.close()


def test_an_order_and_a_push_reach_all_nodes(
    tmp_path: Path, server: Server, subscriber: Subscriber
) -> None:
    """H7: the operator need not know which node does what."""
    site = Site(tmp_path, server, settings(subscriber.ca_file), count=2)
    one, other = site.nodes
    shutil.copytree(one.data, other.data, dirs_exist_ok=True)
    try:
        site.start()
        until_open(one)
        for number in range(20):
            assert 202 == ask(site.nodes[number % 2], subscriber.url(f"/{number}")).status
        until(lambda: hub(one)["active"] == 20, "all verified")

        pushed = one.ctl("push")
        assert 0 == pushed.returncode, pushed.stderr
        for number in range(20):
            assert 1 == len(subscriber.deliveries(f"/{number}"))

        assert 0 == one.ctl("hub", "pause").returncode
        until(lambda: ask(other, subscriber.url("/late")).status == 503, "the pause at the other")
        rename(one, "Paused")
        rename(other, "Paused")
        assert 0 == other.ctl("hub", "resume").returncode
        subscriber.until_deliveries(2, "/0")
        until(lambda: ask(one, subscriber.url("/late")).status == 202, "its end at the one")

        assert 0 == other.ctl("hub", "block", "localhost").returncode
        callback = subscriber.url("/late", "localhost")
        until(lambda: ask(one, callback).status == 403, "the block at the one")

        session = opened(one)
        assert 200 == alive(other, session)
        assert 204 == end(one, session)
        until(lambda: alive(other, session) == 404, "the end of a session at the one")
    finally:
        site.close()


def main(kills: int) -> None:
    """Long runs, and the table of their totals."""
    say = sys.stdout.write
    say(f"rate seed {'kills':>8} {'changes':>10} deliveries    removed duplicates ")
    say(" ".join(f"{each:>5}" for each in FAULTS) + "\n")
    for rate in RATES:
        seed = random.randrange(10**6)
        with tempfile.TemporaryDirectory() as place:
            totals = storm(Path(place), rate, kills, seed)
        say(f"{rate:>4.0%} {seed:>6} {totals}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
