"""Notices of a daemon: what is reported, once, whatever happens (notices.md)."""

import datetime
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs

from reviewsd.api.places import KEPT_FOLDER
from reviewsd.api.status import SOURCES_FILE
from reviewsd.config.hub_schema import HubConfig
from reviewsd.config.schema import Config, NotifyTarget
from reviewsd.notices.messages import MAX_SHOWN, Message
from reviewsd.notices.notices import CHECK_SECONDS, RETRY_SECONDS, Notices
from reviewsd.notices.state import INTERVAL, RETRY_PAUSES
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.snapshot.snapshots import Snapshots
from tests.support.columns import Review, review
from tests.support.hub import MemoryStore, Time, connect, no_bugs, result_of
from tests.support.publishing import Directories

BASE = "https://reviews.example"
DAY = 86_400
OWNER = NotifyTarget(name="owner", stars=2, unanswered_days=1, sources=True, data=True)
OLD, BAD, GOOD = (
    review("old", rating=1, date="2025-03-01"),
    review("bad", rating=1, date="2025-03-20"),
    review("good", rating=5, date="2025-03-21"),
)


@pytest.fixture(autouse=True)
def _no_bugs() -> Iterator[None]:
    with no_bugs():
        yield


@pytest.fixture
def new_node(tmp_path: Path) -> "Node":
    return Node(tmp_path, connect(), Time())


@pytest.fixture
def node(new_node: "Node") -> "Node":
    """A daemon that has started with one review."""
    new_node.start(OLD)
    return new_node


class Node:
    """A daemon with a data directory, a store that others may share, and a service that answers."""

    def __init__(
        self, place: Path, connection: sqlite3.Connection, time: Time, *, shared: bool = False
    ) -> None:
        place.mkdir(exist_ok=True)
        self.time = time
        self.files = Directories(place)
        self.connection = connection
        self.target = OWNER
        self.shared = shared
        self.messages: list[Message] = []
        self.problem = ""
        self.hangs: Deferred[str] | None = None
        self.last: Report | None = None
        self._observers: list[Any] = []
        self.boot()

    def boot(self) -> None:
        """Begin another process with the store and the data of the last one."""
        self.store = MemoryStore(self.connection, self.time.clock)
        self.snapshots = Snapshots(self.files.snapshots)
        self.snapshots.refresh()
        hub = HubConfig(store="postgresql:///x") if self.shared else HubConfig()
        config = Config(base_url=BASE, data_dir=self.files.data, hub=hub, notify=(self.target,))
        self.notices = Notices(
            config,
            self.store,
            self.snapshots,
            cast("Publisher", self),
            self.send,
            self.time.clock,
            self.time.now,
            self.time.in_thread,
        )

    def observe(self, observer: Any) -> None:
        self._observers.append(observer)

    async def send(self, target: str, message: Message) -> str:
        assert self.target.name == target
        self.messages.append(message)
        return await self.hangs if self.hangs is not None else self.problem

    def start(self, *reviews: Review) -> None:
        """Publish reviews, and start."""
        self.publish(*reviews)
        self.notices.start()
        self.time.advance(0)

    def publish(self, *reviews: Review) -> None:
        """Publish reviews."""
        self.files.write(*reviews)
        self.files.publish()
        self.snapshots.refresh()
        self.report("published")

    def report(self, outcome: Any, *problems: str) -> None:
        self.last = Report(outcome=outcome, problems=problems, at=0.0, seconds=0.0)
        for observer in self._observers:
            observer(self.last)
        self.time.advance(0)

    def sources(self, **states: str) -> None:
        """Write states of sources; those that fail do so from now on."""
        file = self.files.data / KEPT_FOLDER / SOURCES_FILE
        file.parent.mkdir(exist_ok=True)
        now = datetime.datetime.fromtimestamp(self.time.now() / 1000, datetime.UTC).isoformat()
        sources = {
            name: {
                "state": state,
                "detail": "401",
                "remedy": "Log in again.",
                "failing_since": now,
                "reviews": 43,
            }
            for name, state in states.items()
        }
        file.write_text(json.dumps({"version": 1, "sources": sources}))
        self.time.advance(CHECK_SECONDS)

    def kill(self) -> None:
        """End the process without a last word."""
        self.store.dead = True
        self.time.restart()

    @property
    def titles(self) -> list[str]:
        return [message.title for message in self.messages]


def test_first_start_sends_nothing(new_node: Node) -> None:
    new_node.sources(google="stopped")
    new_node.start(OLD)
    new_node.time.advance(2 * DAY)
    assert [] == new_node.messages


def test_source_that_begins_anew_is_not_read_again(node: Node) -> None:
    node.sources(google="stopped")
    node.time.advance(DAY)
    node.sources(google="new")
    node.time.advance(DAY)
    assert 1 == len(node.messages)


def test_new_review_of_few_stars_is_reported_with_links(node: Node) -> None:
    bad = {**BAD, "source_url": "https://maps.example/bad", "text": "Never\n again. @all"}
    node.publish(OLD, cast("Review", bad), GOOD)
    (message,) = node.messages
    assert "1 new review of one star" == message.title
    assert [
        "\u2605\u2606\u2606\u2606\u2606 Jane D., google, 2025-03-20",
        "Never again. @\u200ball",
        f"{BASE}/r/bad",
        "https://maps.example/bad",
    ] == message.body.splitlines()


def test_reviews_within_the_interval_are_one_message(node: Node) -> None:
    more = [review(f"new-{number}", rating=2 - (number == 1)) for number in range(4)]
    node.publish(OLD, BAD)
    node.publish(OLD, BAD, *more[:2])
    node.publish(OLD, BAD, *more)
    assert 1 == len(node.messages)
    node.time.advance(INTERVAL / 1000 + CHECK_SECONDS)
    assert ["1 new review of one star", "4 new reviews, 1 of one star"] == node.titles


def test_many_reviews_are_counted_and_some_are_shown(node: Node) -> None:
    node.publish(OLD, *(review(f"new-{number}", rating=1) for number in range(MAX_SHOWN + 2)))
    (message,) = node.messages
    assert f"{MAX_SHOWN + 2} new reviews of one star" == message.title
    assert message.body.endswith(f"\n\nand 2 more: {BASE}/reviews")


def test_review_that_comes_back_is_not_new(new_node: Node) -> None:
    """A source may miss it in one read, and an owner may hide and restore it."""
    new_node.start(OLD, BAD)
    new_node.publish(OLD)
    new_node.publish(OLD, BAD)
    assert [] == new_node.messages


def test_review_that_is_edited_before_its_message_is_in_it(node: Node) -> None:
    node.publish(OLD, BAD)
    node.publish(OLD, BAD, review("soon", rating=1))
    node.publish(OLD, BAD, review("soon", rating=2))
    node.time.advance(INTERVAL / 1000)
    _, message = node.messages
    assert f"{BASE}/r/soon" in message.body


def test_review_that_is_gone_before_its_message_is_left_out(node: Node) -> None:
    node.publish(OLD, BAD)
    node.publish(OLD, BAD, review("gone", rating=1))
    node.publish(OLD, BAD)
    node.time.advance(2 * INTERVAL / 1000)
    assert 1 == len(node.messages)


def test_changes_while_the_daemon_was_down_are_reported(node: Node) -> None:
    node.kill()
    node.boot()
    node.start(OLD, BAD)
    assert ["1 new review of one star"] == node.titles


def test_restart_reports_nothing_twice(node: Node) -> None:
    node.publish(OLD, BAD)
    node.kill()
    node.boot()
    node.start(OLD, BAD)
    node.time.advance(10 * CHECK_SECONDS)
    assert 1 == len(node.messages)


def test_message_under_way_at_a_kill_is_not_repeated(node: Node) -> None:
    """It may have arrived; the log says so."""
    node.hangs = Deferred()
    node.publish(OLD, BAD)
    node.kill()
    node.hangs = None
    node.boot()
    with capturedLogs() as events:
        node.start(OLD, BAD)
    assert ["owner"] == [item["target"] for item in events if "died" in str(item["log_format"])]
    node.publish(OLD, BAD, review("bad-2", rating=1))
    assert ["1 new review of one star"] * 2 == node.titles


def test_failed_message_is_sent_again_and_given_up_after_three_attempts(node: Node) -> None:
    node.problem = "status 503"
    with capturedLogs() as events:
        node.publish(OLD, BAD)
        for pause in RETRY_PAUSES:
            node.time.advance(pause / 1000 + CHECK_SECONDS)
        node.time.advance(DAY / 2)
    assert 3 == len(node.messages)
    outcomes = [item["then"] for item in events if "then" in item]
    assert ["tried again in 5 minutes", "tried again in 30 minutes", "given up"] == outcomes


def test_failing_store_delays_a_notice(node: Node) -> None:
    node.store.fault = lambda: "before"
    node.publish(OLD, BAD)
    assert [] == node.messages
    node.store.fault = lambda: None
    node.time.advance(RETRY_SECONDS)
    assert 1 == len(node.messages)


def test_claim_whose_answer_was_lost_is_sent(node: Node) -> None:
    faults = iter([None, "after"])
    node.store.fault = lambda: next(faults, None)
    node.publish(OLD, BAD)
    node.time.advance(RETRY_SECONDS)
    assert 1 == len(node.messages)


def test_service_that_hangs_delays_no_other_check(node: Node) -> None:
    node.hangs = Deferred()
    node.publish(OLD, BAD)
    node.publish(OLD, BAD, review("bad-2", rating=1))
    assert 1 == len(node.messages)
    hangs, node.hangs = node.hangs, None
    hangs.callback("")
    node.time.advance(INTERVAL / 1000 + CHECK_SECONDS)
    assert 2 == len(node.messages)


def test_review_without_a_reply_is_reported_after_its_days(node: Node) -> None:
    answered = {**review("answered"), "owner_reply": {"text": "Thanks", "date": "2025-03-22"}}
    node.publish(OLD, GOOD, review("answered"))
    node.publish(OLD, GOOD, cast("Review", answered))
    node.time.advance(DAY - 2 * CHECK_SECONDS)
    assert [] == node.messages
    node.time.advance(3 * CHECK_SECONDS)
    (message,) = node.messages
    assert "1 review without a reply after 1 day" == message.title
    assert f"{BASE}/r/good" in message.body
    assert f"{BASE}/r/answered" not in message.body
    node.time.advance(2 * DAY)
    assert 1 == len(node.messages)


def test_refused_data_is_reported_once(node: Node) -> None:
    node.report("refused", "$.reviews[7].rating: expected 1..5, got 7", "and more")
    node.report("failed", "the disk is full")
    node.report("refused", "still")
    (message,) = node.messages
    assert "data is refused" == message.title
    assert "data is refused: $.reviews[7].rating: expected 1..5, got 7; and more" == message.body


def test_stopped_source_is_reported_again_only_after_it_has_worked(node: Node) -> None:
    node.sources(google="ok", portal="ok")
    node.sources(google="stopped", portal="ok")
    node.sources(google="stopped", portal="ok")
    assert ["source google is stopped"] == node.titles
    assert "source google is stopped: 401. Log in again." == node.messages[0].body
    node.sources(google="failed", portal="ok")
    node.sources(google="stopped", portal="ok")
    node.time.advance(INTERVAL / 1000)
    assert 1 == len(node.messages)
    node.sources(google="ok", portal="ok")
    assert "source google is read again: 43 reviews" == node.messages[1].body
    node.sources(google="stopped", portal="ok")
    node.time.advance(INTERVAL / 1000)
    assert ["source google is read again", "source google is stopped"] == node.titles[1:]


def test_source_that_fails_is_reported_after_a_day(node: Node) -> None:
    """A login page, an error of the server or an empty file is no reason to stop, and may last for ever."""
    node.sources(shop="failed")
    node.time.advance(DAY - 2 * CHECK_SECONDS)
    assert [] == node.messages
    node.time.advance(3 * CHECK_SECONDS)
    node.time.advance(2 * DAY)
    assert "source shop could not be read for a day: 401. Log in again." == node.messages[0].body
    node.sources(shop="ok")
    node.time.advance(2 * DAY)
    assert "source shop is read again" == node.titles[1]
    node.sources(shop="failed")
    node.sources(shop="ok")
    node.time.advance(INTERVAL / 1000)
    node.time.advance(DAY)
    assert 2 == len(node.messages)


def test_damaged_states_of_sources_are_reported_once(node: Node) -> None:
    """They do not end the condition of a source that is stopped, nor begin it again."""
    node.sources(google="stopped")
    (node.files.data / KEPT_FOLDER / SOURCES_FILE).write_text('{"version": 1, "sou')
    node.time.advance(INTERVAL / 1000)
    assert ["source google is stopped", "the states of the sources are unknown"] == node.titles
    assert (
        ".reviewsctl/sources.json cannot be read: Input data was truncated" in node.messages[1].body
    )
    assert "Move it away to start over" in node.messages[1].body
    node.time.advance(INTERVAL / 1000)
    node.sources(google="stopped")
    node.time.advance(INTERVAL / 1000)
    assert 2 == len(node.messages)


def test_target_is_told_only_what_it_asks_for(new_node: Node) -> None:
    new_node.target = NotifyTarget(name="owner", data=True)
    new_node.boot()
    new_node.start(OLD)
    new_node.publish(OLD, BAD)
    new_node.sources(google="stopped")
    new_node.time.advance(2 * DAY)
    assert [] == new_node.messages


def test_one_of_two_nodes_sends(tmp_path: Path) -> None:
    connection, time = connect(), Time()
    nodes = [Node(tmp_path / name, connection, time, shared=True) for name in "ab"]
    for node in nodes:
        node.start(OLD)
    for node in nodes:
        node.publish(OLD, BAD)
    time.advance(10 * CHECK_SECONDS)
    assert 1 == sum(len(node.messages) for node in nodes)


def test_claim_of_a_node_that_died_lapses(tmp_path: Path) -> None:
    connection, time = connect(), Time()
    dead, other = [Node(tmp_path / name, connection, time, shared=True) for name in "ab"]
    dead.start(OLD)
    dead.hangs = Deferred()
    dead.publish(OLD, BAD)
    dead.store.dead = True
    other.start(OLD, BAD)
    other.publish(OLD, BAD, review("bad-2", rating=1))
    assert [] == other.messages
    time.advance(700)
    assert ["1 new review of one star"] == other.titles
    assert "bad-2" in other.messages[0].body


def test_stop_waits_for_a_message_under_way(node: Node) -> None:
    node.hangs = Deferred()
    node.publish(OLD, BAD)
    stopped = Deferred.fromCoroutine(node.notices.stop())
    assert not stopped.called
    node.hangs.callback("")
    node.time.advance(0)
    assert stopped.called
    assert "" == json.loads(node.store.rows("SELECT state FROM notice")[0][0]).get(
        "claim_token", ""
    )


def test_stop_waits_for_a_claim_that_is_being_stored(node: Node) -> None:
    """The claim would be on the disk, and its message never sent."""
    node.store.latency = 1.0
    node.publish(OLD, BAD)
    node.time.advance(1.5)
    stopped = Deferred.fromCoroutine(node.notices.stop())
    node.time.advance(5)
    assert stopped.called
    assert 1 == len(node.messages)


def test_stop_does_not_wait_for_a_store_that_fails(node: Node) -> None:
    node.store.fault = lambda: "before"
    node.publish(OLD, BAD)
    stopped = Deferred.fromCoroutine(node.notices.stop())
    node.time.advance(RETRY_SECONDS)
    assert stopped.called


def test_test_message_goes_to_the_targets_of_a_name(node: Node) -> None:
    node.problem = "status 401"
    assert [("owner", "status 401")] == [
        (item.target, item.problem) for item in result_of(node.notices.test(""))
    ]
    assert [] == result_of(node.notices.test("nobody"))
