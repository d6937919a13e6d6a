"""The hub as its users meet it: subscribers and operators, at the doors of a real daemon."""

import hmac
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from http.client import RemoteDisconnected
from importlib.metadata import version
from pathlib import Path

import pytest

from reviewsd.websub.denial import FAILED
from reviewsd.websub.slots import FIRST_SHARE
from tests.support.daemon import BASE_URL, Answer, Daemon, until
from tests.support.subscriber import (
    HUB,
    TOPICS,
    Heard,
    Reply,
    Subscriber,
    ask,
    deliveries_get,
    good,
    hub,
    settings,
    subscriptions,
    until_open,
    until_settled,
)

AGENT = f"reviewsd/{version('reviewsd')} (+{BASE_URL}/; WebSub hub)"
LINK = f'<{BASE_URL}%s>; rel="self", <{BASE_URL}{HUB}>; rel="hub"'
CANARY = "canary-secret-7c1e"


@pytest.fixture
def subscriber(tmp_path: Path) -> Iterator[Subscriber]:
    with Subscriber(tmp_path) as subscriber:
        yield subscriber


@pytest.fixture
def daemon(tmp_path: Path, subscriber: Subscriber) -> Iterator[Daemon]:
    with Daemon(tmp_path, settings(subscriber.ca_file)) as daemon:
        until_open(daemon)
        yield daemon


def change(daemon: Daemon) -> None:
    """Another name for the business, and wait until it is served."""
    file = daemon.data / "reviews.json"
    document = json.loads(file.read_text())
    name = document["business"]["name"] = f"Changed at {time.monotonic()}"
    aside = daemon.data / ".aside"
    aside.write_text(json.dumps(document))
    aside.rename(file)
    if daemon.process is not None and daemon.process.poll() is None:
        until(lambda: name.encode() in daemon.get("/reviews.json").body, "the change")


def change_and_settle(daemon: Daemon) -> None:
    change(daemon)
    until_settled(daemon)


def subscribe(daemon: Daemon, callback: str, **fields: str | int) -> None:
    """Ask, and wait until it is verified."""
    active = hub(daemon)["active"]
    assert 202 == ask(daemon, callback, **fields).status
    until(lambda: hub(daemon)["active"] == active + 1, "the subscription")


def renew(daemon: Daemon, subscriber: Subscriber, **fields: str | int) -> None:
    """Ask again, and wait until it is verified or dropped."""
    assert 202 == ask(daemon, subscriber.url(), **fields).status
    until(lambda: hub(daemon)["pending"] == 0, "the end of the verification")


def signature(heard: Heard, subscriber: Subscriber, secret: str) -> str:
    body = subscriber.bodies[heard.sha256]
    return f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"


# -- the life of a subscription


def test_a_callback_is_asked_to_confirm(daemon: Daemon, subscriber: Subscriber) -> None:
    """W11, W6: what it is told is what it was asked for, after its own query."""
    answer = ask(daemon, subscriber.url("/callback?a=1&hub.mode=x"), lease_seconds=77)
    assert 202 == answer.status
    assert "text/plain; charset=utf-8" == answer.headers["Content-Type"]
    until(lambda: subscriber.log, "the verification")
    (heard,) = subscriber.log
    begin, _, rest = heard.target.partition("&hub.mode=subscribe&")
    assert "/callback?a=1&hub.mode=x" == begin
    assert re.fullmatch(
        r"hub\.topic=%2Ffeed\.xml&hub\.challenge=[\w-]{43}&hub\.lease_seconds=77", rest
    )
    assert ("GET", AGENT) == (heard.method, heard.field("User-Agent"))


@pytest.mark.parametrize("topic", TOPICS)
def test_a_change_is_pushed_as_a_get_has_it(
    daemon: Daemon, subscriber: Subscriber, topic: str
) -> None:
    """W14, W15, websub.md 3: byte for byte, and no header but these."""
    subscribe(daemon, subscriber.url("/callback?id=1"), topic=BASE_URL + topic)
    assert [] == subscriber.deliveries()
    change_and_settle(daemon)
    (heard,) = subscriber.deliveries()
    shown = daemon.get(topic)
    assert sha256(shown.body).hexdigest() == heard.sha256
    assert "/callback?id=1" == heard.target
    assert {
        "Host": subscriber.url("")[len("https://") :],
        "Content-Type": shown.headers["Content-Type"],
        "Content-Length": str(len(shown.body)),
        "Link": LINK % topic,
        "ETag": shown.headers["ETag"],
        "User-Agent": AGENT,
        "Accept-Encoding": "identity",
    } == dict(heard.fields)
    assert 7 == len(heard.fields)


def test_a_secret_signs_and_a_renewal_replaces_it(daemon: Daemon, subscriber: Subscriber) -> None:
    """W19, W5: until a new one is confirmed; a renewal without one ends the signing."""
    subscribe(daemon, subscriber.url(), secret="first é")
    change_and_settle(daemon)
    renew(daemon, subscriber, secret="second")
    change_and_settle(daemon)
    renew(daemon, subscriber)
    change_and_settle(daemon)
    first, second, third = subscriber.deliveries()
    assert signature(first, subscriber, "first é") == first.field("X-Hub-Signature")
    assert signature(second, subscriber, "second") == second.field("X-Hub-Signature")
    assert third.field("X-Hub-Signature") is None


def test_a_failed_renewal_changes_nothing(daemon: Daemon, subscriber: Subscriber) -> None:
    """H13: neither lease nor secret; deliveries go on."""
    subscribe(daemon, subscriber.url(), secret="first", lease_seconds=5000)
    before = subscriptions(daemon)
    subscriber.reply = lambda _: (404, b"")
    renew(daemon, subscriber, secret="second", lease_seconds=9000)
    assert before == subscriptions(daemon)
    subscriber.reply = good
    change_and_settle(daemon)
    (heard,) = subscriber.deliveries()
    assert signature(heard, subscriber, "first") == heard.field("X-Hub-Signature")


def test_an_unconfirmed_end_is_none(daemon: Daemon, subscriber: Subscriber) -> None:
    """W23"""
    subscribe(daemon, subscriber.url())
    subscriber.reply = lambda _: (200, b"no")
    renew(daemon, subscriber, mode="unsubscribe")
    subscriber.reply = good
    change_and_settle(daemon)
    assert 1 == len(subscriber.deliveries())


def test_a_confirmed_end_is_one(daemon: Daemon, subscriber: Subscriber) -> None:
    subscribe(daemon, subscriber.url())
    assert 202 == ask(daemon, subscriber.url(), mode="unsubscribe").status
    until(lambda: hub(daemon)["active"] == 0, "the end")
    assert [] == subscriptions(daemon)
    change_and_settle(daemon)
    assert [] == subscriber.deliveries()
    (heard,) = subscriber.asked("unsubscribe")
    assert {"hub.mode", "hub.topic", "hub.challenge"} == set(heard.parameters)


def test_gone_is_the_end_at_once(daemon: Daemon, subscriber: Subscriber) -> None:
    """W16; and no word after it, since it was the callback's own wish."""
    subscriber.reply = deliveries_get(410)
    subscribe(daemon, subscriber.url())
    change_and_settle(daemon)
    change_and_settle(daemon)
    assert 1 == len(subscriber.deliveries())
    assert ([], []) == (subscriptions(daemon), subscriber.asked("denied"))


def test_three_failures_in_a_row_are_the_end_and_it_is_told(
    daemon: Daemon, subscriber: Subscriber
) -> None:
    """H14, W10, W18"""
    statuses = iter([500, 302, 204, 500, 404, 503])
    subscriber.reply = lambda heard: (
        (next(statuses), b"") if heard.method == "POST" else good(heard)
    )
    subscribe(daemon, subscriber.url("/callback?id=1"))
    change_and_settle(daemon)
    assert [500, 302, 204] == [heard.status for heard in subscriber.deliveries()]
    assert 1 == len(subscriptions(daemon))
    change_and_settle(daemon)
    assert [500, 404, 503] == [heard.status for heard in subscriber.deliveries()[3:]]
    assert [] == subscriptions(daemon)
    until(lambda: subscriber.asked("denied"), "the denial")
    (heard,) = subscriber.asked("denied")
    told = {"hub.mode": "denied", "hub.topic": f"{BASE_URL}/feed.xml", "hub.reason": FAILED}
    assert {"id": "1", **told} == heard.parameters


def test_nothing_is_sent_after_the_lease(daemon: Daemon, subscriber: Subscriber) -> None:
    """W13, I9: long before the row is swept."""
    subscribe(daemon, subscriber.url("/short"), lease_seconds=1)
    subscribe(daemon, subscriber.url("/long"))
    ends = subscriptions(daemon)[0]["lease_expires_at"]
    until(lambda: time.time() > datetime.fromisoformat(ends).timestamp() + 1, "the lease's end")
    for number in (1, 2):  # the one that waits longer would be first
        change(daemon)
        subscriber.until_deliveries(number, "/long")
    assert [] == subscriber.deliveries("/short")


# -- what is due survives, and nothing else is sent


def test_a_change_while_the_daemon_was_down_is_delivered(
    daemon: Daemon, subscriber: Subscriber
) -> None:
    """D2"""
    subscribe(daemon, subscriber.url(), secret=CANARY)
    assert 0 == daemon.stop()
    change(daemon)
    daemon.start()
    heard = subscriber.until_deliveries(1)
    assert sha256(daemon.get("/feed.xml").body).hexdigest() == heard.sha256
    assert signature(heard, subscriber, CANARY) == heard.field("X-Hub-Signature")


def reorder_keys(file: Path) -> None:
    document = json.loads(file.read_text())
    document["reviews"] = [dict(reversed(each.items())) for each in document["reviews"]]
    file.write_text(json.dumps(dict(reversed(document.items())), indent=3))


def rewrite(file: Path) -> None:
    file.write_bytes(file.read_bytes())


def is_over(second: str) -> bool:
    return datetime.now(UTC) >= datetime.fromisoformat(second) + timedelta(seconds=1)


def reloaded_since(daemon: Daemon, begin: object) -> bool:
    return bool(begin != daemon.status()["data"]["last_reload"])


def test_what_changes_no_byte_of_a_topic_is_not_sent(
    daemon: Daemon, subscriber: Subscriber
) -> None:
    """H10, I6: restarts, touches, the same bytes, other spellings of the same; each of them twice and more."""
    for topic in TOPICS:
        subscribe(daemon, subscriber.url(topic), topic=topic)
    disturb: list[Callable[[Path], None]] = [os.utime, rewrite, reorder_keys]
    for each in [*disturb, *disturb]:
        assert 0 == daemon.stop()
        each(daemon.data / "reviews.json")
        daemon.start()
    until(lambda: daemon.status()["data"]["last_reload"], "the look at the data of the last start")
    for each in disturb:
        begin = daemon.status()["data"]["last_reload"]
        until(partial(is_over, begin["at"]), "that second: reloads are told apart by theirs")
        each(daemon.data / "reviews.json")
        until(partial(reloaded_since, daemon, begin), "a reload")
    until_settled(daemon)
    assert [] == [heard for heard in subscriber.log if heard.method == "POST"]
    change_and_settle(daemon)
    assert [1, 1, 1] == [len(subscriber.deliveries(topic)) for topic in TOPICS]


def test_versions_that_follow_soon_become_one(tmp_path: Path, subscriber: Subscriber) -> None:
    """H9: the first at once, the last for certain, hub.min_interval between them."""
    with Daemon(tmp_path, settings(subscriber.ca_file, min_interval=2)) as daemon:
        until_open(daemon)
        subscribe(daemon, subscriber.url())
        began = time.monotonic()
        for _ in range(5):
            change(daemon)
        until_settled(daemon)
        heard = subscriber.deliveries()
        assert sha256(daemon.get("/feed.xml").body).hexdigest() == heard[-1].sha256
        assert len(heard) <= 2 + (time.monotonic() - began) // 2


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_what_is_on_disk_is_verified_though_nobody_got_the_answer(
    daemon: Daemon, subscriber: Subscriber
) -> None:
    """D1: killed between the commit's sync and the 202."""
    assert daemon.process is not None
    note = daemon.directory / "strace"
    delayed = ["-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_exit=9000000"]
    command = ["strace", "-f", "-p", str(daemon.process.pid), "-o", str(note), *delayed]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as tracing:
        assert tracing.stderr is not None
        if b"attached" not in tracing.stderr.readline():
            pytest.skip("strace may not attach here")
        answers: list[Answer] = []

        def post() -> None:
            with suppress(RemoteDisconnected, ConnectionResetError):
                answers.append(ask(daemon, subscriber.url()))

        asking = threading.Thread(target=post)
        asking.start()
        until(lambda: "DELAYED" in note.read_text(), "the sync")
        daemon.process.kill()
        tracing.kill()  # it would wait for the end of the delay
        asking.join()
    assert ([], []) == (answers, subscriber.log)
    daemon.start()
    until(lambda: hub(daemon)["active"] == 1, "the subscription")
    assert 1 == len(subscriber.asked("subscribe"))


def test_one_hanging_host_delays_nobody_else(tmp_path: Path) -> None:
    """H8: with all its places taken by one that answers nothing."""

    def hanging(heard: Heard) -> Reply | None:
        return None if heard.method == "POST" else good(heard)

    with (
        Subscriber(tmp_path) as healthy,
        Subscriber(tmp_path, "127.0.1.1", hanging) as hung,  # another address network
        Daemon(tmp_path, settings(healthy.ca_file)) as daemon,
    ):
        until_open(daemon)
        for number in range(100):
            assert 202 == ask(daemon, hung.url(f"/{number}")).status
        assert 202 == ask(daemon, healthy.url()).status
        until(lambda: hub(daemon)["active"] == 101, "all subscriptions")
        for number in range(3):
            change(daemon)
            served = time.monotonic()
            heard = healthy.until_deliveries(number + 1)
            assert heard.at - served < 2
            until(lambda: hub(daemon)["in_flight"] == FIRST_SHARE, "its places taken")
        assert FIRST_SHARE == len([each for each in hung.log if each.method == "POST"])
        daemon.close()


# -- the door


def test_the_hub_is_no_oracle(daemon: Daemon, subscriber: Subscriber) -> None:
    """W26, E14: who is subscribed does not show in an answer."""

    def answer(callback: str, mode: str) -> tuple[int, bytes, list[tuple[str, str]]]:
        got = ask(daemon, callback, mode=mode)
        fields = [(name, value) for name, value in got.headers.items() if name != "Date"]
        return got.status, got.body, fields

    subscribe(daemon, subscriber.url("/known"))
    for mode in ("subscribe", "unsubscribe"):
        assert answer(subscriber.url("/unknown"), mode) == answer(subscriber.url("/known"), mode)


def test_the_daemon_calls_itself_by_no_name(daemon: Daemon, subscriber: Subscriber) -> None:
    """E1, E5"""
    assert 403 == ask(daemon, f"{BASE_URL}/callback").status
    before = daemon.log.stat().st_size
    for host in ("127.0.0.1", "localhost"):
        assert 202 == ask(daemon, f"https://{host}:{daemon.port}/callback").status

    def refused() -> list[str]:
        said = daemon.log.read_text()[before:]
        return re.findall("subscribe at (.*): the callback leads to this service itself", said)

    until(lambda: len(refused()) == 2, "two refusals")
    assert {"127.0.0.1", "localhost"} == set(refused())


def test_a_store_that_fails_delays_and_breaks_nothing(
    daemon: Daemon, subscriber: Subscriber
) -> None:
    """D9: here no file may grow any more."""
    assert daemon.process is not None
    subscribe(daemon, subscriber.url())
    allow = partial(resource.prlimit, daemon.process.pid, resource.RLIMIT_FSIZE)
    allow((0, resource.RLIM_INFINITY))
    refused = ask(daemon, subscriber.url("/later"))
    assert (503, "60") == (refused.status, refused.headers["Retry-After"])
    assert 200 == daemon.get("/feed.xml").status
    assert "ok" != hub(daemon)["store"]
    allow((resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    until(lambda: ask(daemon, subscriber.url("/later")).status == 202, "a store that works")
    until(lambda: hub(daemon)["active"] == 2, "the subscription")
    change_and_settle(daemon)
    assert [1, 1] == [len(subscriber.deliveries(path)) for path in ("/callback", "/later")]


def test_a_state_of_the_future_is_refused(daemon: Daemon) -> None:
    """D11"""
    assert 0 == daemon.stop()
    with closing(sqlite3.connect(daemon.state / "state.sqlite")) as database:
        database.execute("PRAGMA user_version = 1000")
    daemon.launch()
    assert 78 == daemon.ended()
    said = daemon.log.read_text().splitlines()[-1]
    assert said.startswith("reviewsd: ")
    assert "1000" in said


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_cannot_be_read_is_refused(tmp_path: Path, content: str | None) -> None:
    """E10"""
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    daemon = Daemon(tmp_path, settings(file))
    daemon.launch()
    assert 78 == daemon.ended()
    said = daemon.log.read_text().splitlines()[-1]
    assert said.startswith(f"reviewsd: hub.callbacks.ca_file: {file}: ")


# -- the operator


def ctl(daemon: Daemon, *arguments: str) -> str:
    """What a reviewsctl prints that succeeds."""
    done = daemon.ctl(*arguments)
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_a_pause_survives_a_restart(daemon: Daemon, subscriber: Subscriber) -> None:
    """H7: what is due then is sent after it, once."""
    subscribe(daemon, subscriber.url())
    ctl(daemon, "hub", "pause")
    change(daemon)
    until(lambda: hub(daemon)["due"] == 1, "a delivery that is due")
    assert 0 == daemon.stop()
    change(daemon)
    daemon.start()
    until(lambda: hub(daemon)["topics"][0]["version"] == 3, "the newest version")
    assert (True, 1, 0) == tuple(hub(daemon)[name] for name in ("paused", "due", "in_flight"))
    assert "paused" in ctl(daemon, "hub", "status")
    assert [] == subscriber.deliveries()
    refused = daemon.ctl("push")
    assert (1, "") == (refused.returncode, refused.stdout)
    assert "resume" in refused.stderr
    ctl(daemon, "hub", "resume")
    until_settled(daemon)
    assert 1 == len(subscriber.deliveries())
    assert 0 == daemon.stop()
    daemon.start()
    assert not hub(daemon)["paused"]


def test_a_block_survives_a_restart(daemon: Daemon, subscriber: Subscriber) -> None:
    """H7: it removes, tells nobody, and answers 403 until it is taken back."""
    callback = subscriber.url(host="localhost")
    subscribe(daemon, callback)
    subscribe(daemon, subscriber.url("/other"))
    assert "1" in ctl(daemon, "hub", "block", "localhost", "--dry-run")
    assert 2 == len(subscriptions(daemon))
    ctl(daemon, "hub", "block", "localhost", "--note", "ticket 812")
    assert 0 == daemon.stop()
    daemon.start()
    assert "ticket 812" in ctl(daemon, "hub", "blocks")
    assert 403 == ask(daemon, callback).status
    change_and_settle(daemon)
    assert ([], 1) == (subscriber.deliveries(), len(subscriber.deliveries("/other")))
    assert [] == subscriber.asked("denied")
    ctl(daemon, "hub", "unblock", "localhost")
    subscribe(daemon, callback)
    assert 4 == daemon.ctl("hub", "unblock", "localhost").returncode


def test_subscriptions_can_be_seen(daemon: Daemon, subscriber: Subscriber) -> None:
    callback = subscriber.url("/callback?id=1")
    subscribe(daemon, callback, secret=CANARY, lease_seconds=7200)
    subscribe(daemon, callback, topic="/reviews.json")
    listed = ctl(daemon, "subs", "list").splitlines()
    assert 3 == len(listed)
    assert callback in listed[1]
    only = [json.loads(ctl(daemon, "subs", "list", "--topic", "/feed.xml", "--json"))]
    assert [("/feed.xml", "active", True, 7200)] == [
        (each["topic"], each["state"], each["signed"], each["lease_seconds"]) for each in only
    ]
    assert "signed        yes" in ctl(daemon, "subs", "show", only[0]["id"])
    assert 2 == ctl(daemon, "subs", "show", callback).count(callback)
    assert 4 == daemon.ctl("subs", "show", "99").returncode


def test_a_removal_is_told_with_its_reason(daemon: Daemon, subscriber: Subscriber) -> None:
    """W10"""
    subscribe(daemon, subscriber.url())
    subscribe(daemon, subscriber.url("/other"))
    ctl(daemon, "subs", "remove", subscriber.url(), "--reason", "The callback loops & loops")
    until(lambda: subscriber.asked("denied"), "the denial")
    (heard,) = subscriber.asked("denied")
    assert "The callback loops & loops" == heard.parameters["hub.reason"]
    change_and_settle(daemon)
    assert ([], 1) == (subscriber.deliveries(), len(subscriber.deliveries("/other")))


def test_a_push_sends_what_they_have_already(daemon: Daemon, subscriber: Subscriber) -> None:
    subscribe(daemon, subscriber.url())
    subscribe(daemon, subscriber.url("/other"))
    subscribe(daemon, subscriber.url("/reviews"), topic="/reviews.json")
    assert "pushed: 3 of 3 delivered\n" == ctl(daemon, "push")
    assert "pushed: 2 of 2 delivered\n" == ctl(daemon, "push", "/feed.xml")
    assert "pushed: 1 of 1 delivered\n" == ctl(daemon, "subs", "push", subscriber.url())
    assert [3, 2, 1] == [
        len(subscriber.deliveries(path)) for path in ("/callback", "/other", "/reviews")
    ]
    assert 1 == len({heard.sha256 for heard in subscriber.deliveries()})
    subscriber.reply = deliveries_get(500)
    failed = daemon.ctl("subs", "push", subscriber.url("/other"))
    assert 1 == failed.returncode
    assert "0 of 1" in failed.stderr


def test_secrets_and_callbacks_stay_where_they_belong(
    daemon: Daemon, subscriber: Subscriber
) -> None:
    """H11, style 27: a secret is nowhere, a callback's path and query are not in the log."""
    path = "/canary-path?canary-query=1"
    printed = []
    for callback in (
        subscriber.url(path),
        f"https://localhost:1{path}",
        f"https://a.invalid{path}",
    ):
        ask(daemon, callback, secret=CANARY)
    ask(daemon, subscriber.url(path), secret=CANARY, topic="/reviews.json")
    ask(daemon, subscriber.url(path) + "#x", secret=CANARY)
    until(lambda: hub(daemon)["active"] == 2, "the subscriptions")
    change_and_settle(daemon)
    subscriber.reply = deliveries_get(500)
    ctl(daemon, "subs", "remove", "2")
    for arguments in (["status"], ["hub", "status"], ["subs", "list"], ["subs", "show", "1"]):
        printed += [ctl(daemon, *arguments), ctl(daemon, *arguments, "--json")]
    change_and_settle(daemon)
    until(lambda: len(subscriber.asked("denied", "/canary-path")) == 2, "the denials")
    assert 0 == daemon.stop()
    said = daemon.log.read_text()
    assert "127.0.0.1" in said
    for word in (CANARY, "canary-path", "canary-query"):
        assert word not in said
    assert CANARY not in "".join(printed)
    kept = [each for each in daemon.state.rglob("*") if each.is_file() and not each.is_symlink()]
    assert {"state.sqlite", "secret.key"} <= {each.name for each in kept}
    assert [] == [each for each in kept if CANARY.encode() in each.read_bytes()]
