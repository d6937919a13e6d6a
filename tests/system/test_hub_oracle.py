"""What a stranger learns from the hub's answers about callbacks and who is subscribed: nothing."""

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
from tests.support.subscriber import Heard, Reply, Subscriber, ask, good, hub, settings, until_open

HOSTS = {
    "open.example.com": "45.33.32.10",
    "closed.example.com": "45.33.32.11",
    "filtered.example.com": "45.33.32.12",
}
OPEN = HOSTS["open.example.com"]
QUESTIONS = tuple(product(("subscribe", "unsubscribe"), HOSTS, ("/known", "/unknown")))
SYNC = 0.05
"""Seconds that a sync of a slow disk takes."""


def subscribe(daemon: Daemon, callback: str) -> None:
    """Ask, and wait until it is verified."""
    active = hub(daemon)["active"]
    assert 202 == ask(daemon, callback).status
    until(lambda: hub(daemon)["active"] == active + 1, "the subscription")


def knows(heard: Heard) -> Reply | None:
    """Wants to be subscribed at one callback, and nothing else."""
    known = heard.path == "/known" and heard.parameters["hub.mode"] == "subscribe"
    return good(heard) if known else (404, b"")


def test_an_answer_tells_nothing_about_the_callback(tmp_path: Path) -> None:
    """E14: whether something listens there, or is subscribed, shows in no word and no time."""
    with (
        Namespace(*HOSTS.values()) as network,
        Subscriber(tmp_path, OPEN, knows, port=443, names=[*HOSTS]) as subscriber,
        filtered(HOSTS["filtered.example.com"], 443),
        running(network, Daemon(tmp_path, policy(subscriber))) as daemon,
    ):
        until_open(daemon)
        network.know({host: [OPEN] for host in HOSTS})
        for host in HOSTS:
            subscribe(daemon, f"https://{host}/known")
        network.know({host: [address] for host, address in HOSTS.items()})
        answers = set()
        seconds: dict[tuple[str, str, str], list[float]] = {each: [] for each in QUESTIONS}
        for _ in range(15):
            for question in QUESTIONS:
                mode, host, path = question
                began = time.monotonic()
                answer = ask(daemon, f"https://{host}{path}", mode=mode)
                seconds[question].append(time.monotonic() - began)
                fields = [each for each in answer.headers.items() if each[0] != "Date"]
                answers.add((answer.status, answer.body, *fields))
        ((status, *_),) = answers
        assert 202 == status
        medians = [statistics.median(each) for each in seconds.values()]
        assert max(medians) - min(medians) < 0.05
        refused = said(daemon, r"subscribe at (\S+): no connection: Connection refused")
        assert {"closed.example.com"} == {*refused}


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_an_end_of_nothing_takes_as_long_as_one_of_something(tmp_path: Path) -> None:
    """E14: where a sync of the disk takes its time, nothing else would show more."""
    with (
        Subscriber(tmp_path, reply=knows) as subscriber,
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
        known, unknown = (statistics.median(each) for each in seconds.values())
        assert known > SYNC
        assert abs(known - unknown) < SYNC / 2
        assert 1 + 7 == len(subscriber.log)


@contextmanager
def slow_disk(daemon: Daemon) -> Iterator[None]:
    """Each sync of the store takes SYNC seconds more; the daemon is killed at the end."""
    assert daemon.process is not None
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
