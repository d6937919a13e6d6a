"""A real daemon serves subscribers and operators as the spec has it."""

import hmac
import json
import re
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from http.client import RemoteDisconnected
from importlib.metadata import version
from pathlib import Path

import pytest

from reviewsd.websub.verification import FAILED
from tests.support.daemon import BASE_URL, Answer, Daemon, until
from tests.support.subscriber import (
    HUB,
    TOPICS,
    LoggedRequest,
    Subscriber,
    ask,
    deliveries_get,
    good,
    hub,
    settings,
    subscribe,
    subscriptions,
    until_open,
    until_settled,
)

AGENT = f"reviewsd/{version('reviewsd')} (+{BASE_URL}/; WebSub hub)"
LINK = f'<{BASE_URL}%s>; rel="self", <{BASE_URL}{HUB}>; rel="hub"'
CANARY = "canary-secret-7c1e"


@pytest.fixture
def daemon(tmp_path: Path, subscriber: Subscriber) -> Iterator[Daemon]:
    with Daemon(tmp_path, settings(subscriber.ca_file)) as daemon:
        until_open(daemon)
        yield daemon


def change(daemon: Daemon) -> None:
    """Change the name of the business, and wait until it is served."""
    name = f"Changed at {time.monotonic()}"
    daemon.edit(name=name)
    if daemon.process.poll() is None:
        until(lambda: name.encode() in daemon.get("/reviews.json").body, "the change")


def change_and_settle(daemon: Daemon) -> None:
    change(daemon)
    until_settled(daemon)


def renew(daemon: Daemon, subscriber: Subscriber, **fields: str | int) -> None:
    """Renew a subscription, and wait until the renewal is verified or dropped."""
    assert 202 == ask(daemon, subscriber.url(), **fields).status
    until(lambda: hub(daemon)["pending"] == 0, "the end of the verification")


def signature(request: LoggedRequest, subscriber: Subscriber, secret: str) -> str:
    body = subscriber.bodies[request.sha256]
    return f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"


# -- subscriptions


@pytest.mark.parametrize("topic", TOPICS)
def test_delivery_has_the_body_and_the_headers_of_a_get(
    daemon: Daemon, subscriber: Subscriber, topic: str
) -> None:
    """W14, W15, websub.md 3: byte for byte, and no header but these."""
    subscribe(daemon, subscriber.url("/callback?id=1"), topic=BASE_URL + topic)
    assert [] == subscriber.deliveries()
    change_and_settle(daemon)
    (request,) = subscriber.deliveries()
    resource = daemon.get(topic)
    assert sha256(resource.body).hexdigest() == request.sha256
    assert "/callback?id=1" == request.target
    assert {
        "Host": subscriber.url("")[len("https://") :],
        "Content-Type": resource.headers["Content-Type"],
        "Content-Length": str(len(resource.body)),
        "Link": LINK % topic,
        "ETag": resource.headers["ETag"],
        "User-Agent": AGENT,
        "Accept-Encoding": "identity",
    } == dict(request.fields)
    assert 7 == len(request.fields)


def test_delivery_is_signed_by_a_confirmed_secret(daemon: Daemon, subscriber: Subscriber) -> None:
    """W19, W5: without a secret in that request there is no signature."""
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


def test_confirmed_unsubscription_ends_deliveries(daemon: Daemon, subscriber: Subscriber) -> None:
    subscribe(daemon, subscriber.url())
    assert 202 == ask(daemon, subscriber.url(), mode="unsubscribe").status
    until(lambda: hub(daemon)["active"] == 0, "the end")
    assert [] == subscriptions(daemon)
    change_and_settle(daemon)
    assert [] == subscriber.deliveries()
    (request,) = subscriber.gets("unsubscribe")
    assert {"hub.mode", "hub.topic", "hub.challenge"} == set(request.parameters)


def test_three_failures_in_a_row_end_in_a_denial(daemon: Daemon, subscriber: Subscriber) -> None:
    """H14, W10, W18"""
    statuses = iter([500, 302, 204, 500, 404, 503])
    subscriber.reply = lambda request: (
        (next(statuses), b"") if request.method == "POST" else good(request)
    )
    subscribe(daemon, subscriber.url("/callback?id=1"))
    change_and_settle(daemon)
    assert [500, 302, 204] == [request.status for request in subscriber.deliveries()]
    assert 1 == len(subscriptions(daemon))
    change_and_settle(daemon)
    assert [500, 404, 503] == [request.status for request in subscriber.deliveries()[3:]]
    assert [] == subscriptions(daemon)
    until(lambda: subscriber.gets("denied"), "the denial")
    (request,) = subscriber.gets("denied")
    parameters = {"hub.mode": "denied", "hub.topic": f"{BASE_URL}/feed.xml", "hub.reason": FAILED}
    assert {"id": "1", **parameters} == request.parameters


# -- changes


def test_change_while_stopped_is_delivered(daemon: Daemon, subscriber: Subscriber) -> None:
    """D2"""
    subscribe(daemon, subscriber.url(), secret=CANARY)
    assert 0 == daemon.stop()
    change(daemon)
    daemon.start()
    request = subscriber.until_deliveries(1)
    assert sha256(daemon.get("/feed.xml").body).hexdigest() == request.sha256
    assert signature(request, subscriber, CANARY) == request.field("X-Hub-Signature")


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_stored_request_is_verified_if_unanswered(daemon: Daemon, subscriber: Subscriber) -> None:
    """D1: killed between the commit's sync and the 202."""
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
    assert 1 == len(subscriber.gets("subscribe"))


# -- requests


def test_callback_of_the_daemon_itself_is_refused(daemon: Daemon, subscriber: Subscriber) -> None:
    """E1, E5"""
    assert 403 == ask(daemon, f"{BASE_URL}/callback").status
    before = daemon.log.stat().st_size
    for host in ("127.0.0.1", "localhost"):
        assert 202 == ask(daemon, f"https://{host}:{daemon.port}/callback").status

    def refused() -> list[str]:
        log = daemon.log.read_text()[before:]
        return re.findall("subscribe at (.*): the callback leads to this service itself", log)

    until(lambda: len(refused()) == 2, "two refusals")
    assert {"127.0.0.1", "localhost"} == set(refused())


def test_hub_recovers_from_a_store_that_fails(daemon: Daemon, subscriber: Subscriber) -> None:
    """D9: no file can grow for a while."""
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


# -- operators


def ctl(daemon: Daemon, *arguments: str) -> str:
    """Run reviewsctl, which must succeed, and return its output."""
    done = daemon.ctl(*arguments)
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_pause_survives_a_restart(daemon: Daemon, subscriber: Subscriber) -> None:
    """H7: a due version is delivered once after the pause."""
    subscribe(daemon, subscriber.url())
    ctl(daemon, "hub", "pause")
    change(daemon)
    until(lambda: hub(daemon)["due"] == 1, "a delivery that is due")
    assert 0 == daemon.stop()
    change(daemon)
    daemon.start()
    until(lambda: hub(daemon)["topics"][0]["version"] == 3, "the newest version")
    assert (True, 1, 0) == tuple(hub(daemon)[name] for name in ("paused", "due", "in_flight"))
    assert "paused" in ctl(daemon, "status")
    assert [] == subscriber.deliveries()
    refused = daemon.ctl("subs", "push")
    assert (1, "") == (refused.returncode, refused.stdout)
    assert "resume" in refused.stderr
    ctl(daemon, "hub", "resume")
    until_settled(daemon)
    assert 1 == len(subscriber.deliveries())
    assert 0 == daemon.stop()
    daemon.start()
    assert not hub(daemon)["paused"]


def test_block_survives_a_restart(daemon: Daemon, subscriber: Subscriber) -> None:
    """H7: it removes subscriptions without a denial, and requests get 403 until it is removed."""
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
    assert [] == subscriber.gets("denied")
    ctl(daemon, "hub", "unblock", "localhost")
    subscribe(daemon, callback)
    assert 4 == daemon.ctl("hub", "unblock", "localhost").returncode


def test_push_delivers_the_current_version_again(daemon: Daemon, subscriber: Subscriber) -> None:
    subscribe(daemon, subscriber.url())
    subscribe(daemon, subscriber.url("/other"))
    subscribe(daemon, subscriber.url("/reviews"), topic="/reviews.json")
    listings = map(json.loads, ctl(daemon, "subs", "list", "--json").splitlines())
    ids = {listing["callback"]: listing["id"] for listing in listings}
    assert "pushed: 3 of 3 delivered\n" == ctl(daemon, "subs", "push")
    assert "pushed: 2 of 2 delivered\n" == ctl(daemon, "subs", "push", "--topic", "/feed.xml")
    assert "pushed: 1 of 1 delivered\n" == ctl(daemon, "subs", "push", ids[subscriber.url()])
    assert [3, 2, 1] == [
        len(subscriber.deliveries(path)) for path in ("/callback", "/other", "/reviews")
    ]
    assert 1 == len({request.sha256 for request in subscriber.deliveries()})
    subscriber.reply = deliveries_get(500)
    failed = daemon.ctl("subs", "push", ids[subscriber.url("/other")])
    assert 1 == failed.returncode
    assert "0 of 1" in failed.stderr
