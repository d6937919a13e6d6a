"""Responses of the hub tell nothing about callbacks and subscriptions."""

import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, until
from tests.support.namespace import Namespace, filtered, policy, running, said
from tests.support.subscriber import (
    LoggedRequest,
    Reply,
    Subscriber,
    ask,
    good,
    hub,
    settings,
    subscribe,
    until_open,
)

HOSTS = {
    "open.example.com": "45.33.32.10",
    "closed.example.com": "45.33.32.11",
    "filtered.example.com": "45.33.32.12",
}
OPEN = HOSTS["open.example.com"]
QUESTIONS = tuple(product(("subscribe", "unsubscribe"), HOSTS, ("/known", "/unknown")))
SYNC = 0.05
"""Seconds of a sync on the slow disk."""


def confirm_one(request: LoggedRequest) -> Reply | None:
    """Confirm a subscription of one callback, and nothing else."""
    is_subscribed = request.path == "/known" and request.parameters["hub.mode"] == "subscribe"
    return good(request) if is_subscribed else (404, b"")


def test_response_and_its_time_do_not_depend_on_the_callback(tmp_path: Path) -> None:
    """E14: whether it listens, or is subscribed."""
    with (
        Namespace(*HOSTS.values()) as network,
        Subscriber(tmp_path, OPEN, confirm_one, port=443, names=[*HOSTS]) as subscriber,
        filtered(HOSTS["filtered.example.com"], 443),
        running(network, Daemon(tmp_path, policy(subscriber))) as daemon,
    ):
        until_open(daemon)
        network.know({host: [OPEN] for host in HOSTS})
        for host in HOSTS:
            subscribe(daemon, f"https://{host}/known")
        network.know({host: [address] for host, address in HOSTS.items()})
        answers = set()
        seconds: dict[tuple[str, str, str], list[float]] = {question: [] for question in QUESTIONS}
        for _ in range(15):
            for question in QUESTIONS:
                mode, host, path = question
                began = time.monotonic()
                answer = ask(daemon, f"https://{host}{path}", mode=mode)
                seconds[question].append(time.monotonic() - began)
                fields = [field for field in answer.headers.items() if field[0] != "Date"]
                answers.add((answer.status, answer.body, *fields))
        ((status, *_),) = answers
        assert 202 == status
        medians = [statistics.median(times) for times in seconds.values()]
        assert max(medians) - min(medians) < 0.05
        refused = said(daemon, r"subscribe at (\S+): no connection: Connection refused")
        assert {"closed.example.com"} == {*refused}


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_unsubscription_takes_as_long_without_a_subscription(tmp_path: Path) -> None:
    """E14: on a slow disk, where a missing sync would show."""
    with (
        Subscriber(tmp_path, reply=confirm_one) as subscriber,
        Daemon(tmp_path, settings(subscriber.ca_file)) as daemon,
    ):
        until_open(daemon)
        subscribe(daemon, subscriber.url("/known"))
        seconds: dict[str, list[float]] = {"/known": [], "/unknown": []}
        with slow_disk(daemon):
            for _, path in product(range(7), seconds):
                began = time.monotonic()
                assert 202 == ask(daemon, subscriber.url(path), mode="unsubscribe").status
                seconds[path].append(time.monotonic() - began)
                until(lambda: hub(daemon)["pending"] == 0, "the end of the verification")
        subscribed, unsubscribed = map(statistics.median, seconds.values())
        assert subscribed > SYNC
        assert abs(subscribed - unsubscribed) < SYNC / 2
        assert 1 + 7 == len(subscriber.log)


@contextmanager
def slow_disk(daemon: Daemon) -> Iterator[None]:
    """Delay each sync of the store by SYNC seconds; kill the daemon at the end."""
    slow = ["-e", "trace=fdatasync", "-e", f"inject=fdatasync:delay_exit={SYNC * 1e6:.0f}"]
    command = ["strace", "-f", "-p", str(daemon.process.pid), "-o", os.devnull, *slow]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as tracing:
        assert tracing.stderr is not None
        if b"attached" not in tracing.stderr.readline():
            pytest.skip("strace may not attach here")
        try:
            yield
        finally:
            daemon.close()
            tracing.kill()  # it would wait for the end of the delay
