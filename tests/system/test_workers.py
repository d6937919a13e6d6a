"""A daemon of many processes: nothing that a client sees is different, whatever happens to them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlencode

import pytest

from reviewsd.http1 import urls
from tests.benchmarks.strict_clients import Clients, Kind
from tests.support.daemon import BASE_URL, NO_PAGES, Daemon, Manager, until
from tests.support.raw import Wire, responses
from tests.support.subscriber import FORM, HUB, Subscriber, ask, settings, until_open, until_settled
from tests.support.subscriber import hub as hub_of
from tests.support.worker_pids import (
    Line,
    fork_server,
    fork_servers,
    kill,
    lines_to_all,
    main_process,
    owner,
    runs,
    until_workers,
    workers,
)
from tests.system.test_mcp_clients import INITIALIZE, PING
from tests.system.test_start_stop import answers, check_tidy, edit

COUNT = 3
WORKERS = f"{NO_PAGES}workers: {COUNT}\nserver: {{requests_per_connection: 1000000}}\n"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, WORKERS) as daemon:
        yield daemon


def everybody(daemon: Daemon) -> list[int]:
    return [main_process(daemon), fork_server(daemon), *workers(daemon)]


# -- what clients see


def test_every_worker_answers_every_route(daemon: Daemon) -> None:
    """Byte for byte the same, and those who cannot answer let the main process do so."""
    asked = [
        ("GET", urls.REVIEWS),
        ("GET", urls.INSIGHTS),
        ("GET", urls.JSON_FEED),
        ("HEAD", urls.ATOM_FEED),
        ("GET", urls.OPENAPI),
        ("GET", f"{urls.SEARCH}?query=boiler&min_rating=4"),
        ("GET", f"{urls.SINCE}2026-01-01"),
        ("GET", "/nowhere"),
        ("OPTIONS", urls.MCP),
        ("POST", urls.REVIEWS),
        ("GET", urls.HUB),
        ("OPTIONS", urls.HUB),
        ("DELETE", urls.MCP),
        ("GET", urls.REVIEWS),
    ]
    with lines_to_all(daemon) as lines:
        for method, path in asked:
            found = set()
            for line in (each[0] for each in lines.values()):
                answer = line.request(method, path)
                fields = [(name, value) for name, value in answer.headers.items() if name != "Date"]
                found.add((answer.status, tuple(fields), answer.body))
                assert line.stays
            assert 1 == len(found), path


def test_a_connection_moves_once_and_is_not_closed(daemon: Daemon) -> None:
    """It asks the hub, and goes on asking other things where it is then."""
    with lines_to_all(daemon) as lines:
        for pid, (line, *_) in lines.items():
            assert pid == owner(daemon, line)
            assert 400 == line.request("POST", HUB, FORM, b"hub.mode=none").status
            assert main_process(daemon) == owner(daemon, line)
            assert 200 == line.get("/reviews.json").status
            assert line.stays


def test_what_comes_behind_a_request_to_the_hub_is_answered_in_order(daemon: Daemon) -> None:
    """Pipelined: before, in and after the request that moves the connection."""
    body = b"hub.mode=none"
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    post = (
        b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\n%b"
    ) % (HUB.encode(), len(body), body)
    last = get.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    whole = get * 3 + post + get + post + last
    for end in (len(whole), 3 * len(get) + 10, 3 * len(get) + len(post) - 5, 4):
        with closing(socket.create_connection(("127.0.0.1", daemon.port), 20)) as client:
            client.sendall(whole[:end])
            time.sleep(0.05)  # so that the rest comes by itself
            client.sendall(whole[end:])
            heard = b"".join(iter(lambda: client.recv(65_536), b""))
        statuses = re.findall(rb"HTTP/1\.1 (\d+)", heard)
        assert [b"200"] * 3 + [b"400", b"200", b"400", b"200"] == statuses


def test_who_closes_its_side_after_a_request_to_the_hub_is_answered(tmp_path: Path) -> None:
    """Whether the worker or the main process hears of that."""
    callback = "https://127.0.0.1:1234/"
    form = {"mode": "unsubscribe", "topic": f"{BASE_URL}/feed.xml", "callback": callback}
    body = urlencode({f"hub.{name}": value for name, value in form.items()}).encode()
    head = f"POST {HUB} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    head += f"Content-Type: {FORM['Content-Type']}\r\n\r\n"
    with Daemon(
        tmp_path, WORKERS + "hub: {callbacks: {allow_networks: [127.0.0.0/8]}}\n"
    ) as daemon:
        until_open(daemon)
        for pause in (0.0, 0.0, 0.0, 0.05, 0.05, 0.05):
            with Wire(daemon.port) as wire:
                wire.send(head.encode())
                time.sleep(pause)  # the connection moves meanwhile, or has not moved yet
                wire.send(body)
                wire.half_close()
                assert [202] == [answer.status for answer in responses(wire.read_all())]


def test_a_session_lives_and_ends_on_all_workers(daemon: Daemon) -> None:
    """mcp.md 6: at once, not only soon."""
    with lines_to_all(daemon, 2) as lines:
        everywhere = [line for each in lines.values() for line in each]
        for opener in everywhere[:3]:
            answer = opener.request("POST", "/mcp", JSON, json.dumps(INITIALIZE).encode())
            session = {**JSON, "Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}
            ping = json.dumps(PING).encode()
            assert [200] * len(everywhere) == [
                line.request("POST", "/mcp", session, ping).status for line in everywhere
            ]
            with closing(Line(daemon)) as line:
                assert 204 == line.request("DELETE", "/mcp", session).status
            assert [404] * len(everywhere) == [
                line.request("POST", "/mcp", session, ping).status for line in everywhere
            ]
        victim = workers(daemon)[0]
        kill(victim)
        until_workers(daemon, COUNT, without=victim)
        with lines_to_all(daemon) as after:
            for each in after.values():
                assert 404 == each[0].request("POST", "/mcp", session, ping).status


def test_new_data_reaches_all_workers_within_a_second_and_is_never_taken_back(
    daemon: Daemon,
) -> None:
    """Each answer is of one state of the data, and none is older than the one before."""
    with lines_to_all(daemon) as lines:
        names: dict[int, list[str]] = {pid: [] for pid in lines}
        stop = threading.Event()

        def read(pid: int) -> None:
            while not stop.wait(0.01):
                document = lines[pid][0].get("/reviews.json").json()
                assert document["business"]["name"] == document["business"]["description"]
                if document["business"]["name"] not in names[pid][-1:]:
                    names[pid].append(document["business"]["name"])

        states = [f"State {number}" for number in range(4)]
        for state in states:
            edit(daemon, name=state, description=state)
            daemon.reload()
            if state == states[0]:
                until(lambda: all_serve(lines, states[0]), "the first state")
                threads = [threading.Thread(target=read, args=(pid,)) for pid in lines]
                for thread in threads:
                    thread.start()
            else:
                until(lambda now=state: all(now in each for each in names.values()), "the change")  # type: ignore[misc]
        stop.set()
        for thread in threads:
            thread.join()
        assert [states] * COUNT == list(names.values())


def all_serve(lines: dict[int, list[Line]], name: str) -> bool:
    return all(
        each[0].get("/reviews.json").json()["business"]["name"] == name for each in lines.values()
    )


def test_a_worker_that_missed_the_signal_finds_new_data_by_itself(daemon: Daemon) -> None:
    """Signals wake, versions decide: the link is moved behind the back of the main process."""
    snapshots = daemon.state / "snapshots"
    old = (snapshots / "current").readlink()
    edit(daemon, name="Moved")
    daemon.reload()
    new = (snapshots / "current").readlink()
    assert old != new
    with lines_to_all(daemon) as lines:
        until(lambda: all_serve(lines, "Moved"), "the new state")


# -- the hub


def test_a_subscriber_who_asks_any_worker_gets_what_changes(tmp_path: Path) -> None:
    with (
        Subscriber(tmp_path) as subscriber,
        Daemon(tmp_path, WORKERS.removeprefix(NO_PAGES) + settings(subscriber.ca_file)) as daemon,
    ):
        until_open(daemon)
        for number in range(6):
            assert 202 == ask(daemon, subscriber.url(f"/callback?id={number}")).status
        until(lambda: hub_of(daemon)["active"] == 6, "the subscriptions")
        edit(daemon, name="Pushed")
        until(lambda: len(subscriber.deliveries()) == 6, "the deliveries")
        until_settled(daemon)
        assert b"Pushed" in subscriber.bodies[subscriber.deliveries()[0].sha256]
        assert 0 == daemon.stop()


# -- what the operator sees


def test_the_status_names_the_workers(daemon: Daemon) -> None:
    victim = workers(daemon)[0]
    assert [0] * COUNT == [each["restarts"] for each in daemon.status()["workers"]]
    kill(victim)
    until_workers(daemon, COUNT, without=victim)
    until(lambda: len(daemon.status()["workers"]) == COUNT, "the new one")
    found = daemon.status()["workers"]
    assert set(workers(daemon)) == {each["pid"] for each in found}
    assert [0, 0, 1] == sorted(each["restarts"] for each in found)


# -- processes that die


def test_a_killed_worker_is_replaced_within_a_second_under_load(daemon: Daemon) -> None:
    """The connections of the others do not notice, and new ones find somebody."""
    with lines_to_all(daemon, 2) as lines:
        victim, *others = lines
        stop = threading.Event()
        failed: list[object] = []

        def load(line: Line) -> None:
            while not stop.is_set():
                try:
                    if line.get("/reviews.json").status != 200 or not line.stays:
                        failed.append(line.port)
                except (OSError, HTTPException) as error:
                    failed.append(error)
                    return

        threads = [
            threading.Thread(target=load, args=(line,)) for pid in others for line in lines[pid]
        ]
        for thread in threads:
            thread.start()
        kill(victim)
        until_workers(daemon, COUNT, without=victim)
        with lines_to_all(daemon) as after:
            assert victim not in after
        stop.set()
        for thread in threads:
            thread.join()
        assert [] == failed
        assert f"worker {victim} has ended unasked" in daemon.log.read_text()


def test_connections_that_wait_when_all_workers_die_are_served_by_the_next(daemon: Daemon) -> None:
    """They wait in the listening socket, which all share."""
    found = workers(daemon)
    for pid in found:
        os.kill(pid, signal.SIGSTOP)
    with closing(socket.create_connection(("127.0.0.1", daemon.port), 20)) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for pid in found:
            kill(pid)
        assert client.recv(1024).startswith(b"HTTP/1.1 200 ")


def test_a_killed_fork_server_takes_no_client_along(daemon: Daemon) -> None:
    with lines_to_all(daemon) as lines:
        old = fork_server(daemon)
        kill(old)
        until(lambda: len({*fork_servers(daemon)} - {old}) == 1, "another")
        for line, *_ in lines.values():
            assert 200 == line.get("/reviews.json").status
            assert line.stays
        for pid in lines:
            kill(pid)
        until(lambda: len({*workers(daemon)} - {*lines}) == COUNT, "other workers")
        assert 200 == daemon.get("/reviews.json").status
    assert 0 == daemon.stop()


def test_nothing_outlives_a_killed_main_process(daemon: Daemon) -> None:
    pids = everybody(daemon)
    with lines_to_all(daemon):
        kill(pids[0])
        until(lambda: not any(map(runs, pids)), "the end of all")
    assert not answers(daemon.port)


# -- the end


def test_a_stop_leaves_no_process_and_no_socket(daemon: Daemon) -> None:
    pids = everybody(daemon)
    with lines_to_all(daemon):
        assert 0 == daemon.stop()
    assert [] == [pid for pid in pids if runs(pid)]
    assert not answers(daemon.port)
    assert not daemon.socket.exists()
    check_tidy(daemon)
    assert [] == daemon.unusual


def test_a_stop_lets_answers_of_workers_end_and_takes_no_connections_meanwhile(
    tmp_path: Path,
) -> None:
    """O4"""
    daemon = Daemon(tmp_path, WORKERS)
    edit(daemon, description="x" * 8_000_000)
    with daemon, closing(socket.socket()) as client:
        heard = begin_download(daemon, client)
        assert daemon.process is not None
        daemon.process.terminate()
        until(lambda: not answers(daemon.port), "no more connections")
        assert daemon.process.poll() is None
        check_whole(heard + b"".join(iter(lambda: client.recv(1 << 20), b"")))
        assert 0 == daemon.ended()


def begin_download(daemon: Daemon, client: socket.socket) -> bytes:
    """Ask for more than fits into buffers; the first of it."""
    client.settimeout(60)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    client.connect(("127.0.0.1", daemon.port))
    client.sendall(b"GET /reviews.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client.recv(65_536)


def check_whole(heard: bytes) -> None:
    head, _, body = heard.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}\r\n".encode() in head + b"\r\n"


def test_a_second_signal_ends_all_at_once(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, WORKERS)
    edit(daemon, description="x" * 8_000_000)
    with daemon, closing(socket.socket()) as client:
        begin_download(daemon, client)
        pids = everybody(daemon)
        assert daemon.process is not None
        daemon.process.terminate()
        until(lambda: not answers(daemon.port), "no more connections")
        daemon.process.terminate()
        assert -signal.SIGTERM == daemon.process.wait(60)
        until(lambda: not any(map(runs, pids)), "the end of all")


@pytest.mark.parametrize("main_first", [True, False])
def test_a_signal_to_all_processes_is_a_stop_too(tmp_path: Path, *, main_first: bool) -> None:
    """As systemd sends it to the whole control group: what is under way ends all the same."""
    daemon = Daemon(tmp_path, WORKERS)
    edit(daemon, description="x" * 8_000_000)
    with daemon, closing(socket.socket()) as client:
        heard = begin_download(daemon, client)
        pids = everybody(daemon)
        for pid in pids if main_first else reversed(pids):
            with suppress(ProcessLookupError):  # the main process has ended it by now
                os.kill(pid, signal.SIGTERM)
        time.sleep(0.3)
        check_whole(heard + b"".join(iter(lambda: client.recv(1 << 20), b"")))
        assert 0 == daemon.ended()
    assert [] == [pid for pid in pids if runs(pid)]
    assert "Traceback" not in daemon.log.read_text()


def test_a_restart_through_an_inherited_socket_loses_no_request(tmp_path: Path) -> None:
    """O4, F16; ``tests.benchmarks.restarts`` does it ten times, under wrk."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=1024)) as listening:
        daemon = Inheriting(tmp_path, listening)
        with daemon:
            path = "/api/feed.json"
            with Clients(daemon.port, path, daemon.get(path).body, list(Kind) * 2) as clients:
                for _ in range(3):
                    time.sleep(0.3)
                    assert 0 == daemon.stop()
                    daemon.start()
                time.sleep(0.3)
                found = clients.take()
            assert {kind: Counter() for kind in Kind} == {
                kind: tally.failures for kind, tally in found.items()
            }
            assert all(tally.answered > 20 for tally in found.values())


HAND_ON = """
import os, sys
descriptor, *command = sys.argv[1:]
os.dup2(int(descriptor), 3)
os.closerange(4, 200)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="http")
os.execv(command[0], command)
"""
"""What systemd does, with a socket that is there already."""


class Inheriting(Daemon):
    """Serves a listening socket that outlives it."""

    def __init__(self, directory: Path, listening: socket.socket) -> None:
        super().__init__(directory, f'listen: ["systemd:name=http"]\n{WORKERS}')
        self._listening = listening

    def launch(self, before: Sequence[str] = ()) -> None:
        self.close()
        self.manager = Manager(self.directory / "notify.sock")
        number = self._listening.fileno()
        command = [sys.executable, "-c", HAND_ON, str(number), *before, *self.command]
        environ = {**os.environ, "NOTIFY_SOCKET": str(self.manager.address)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environ, pass_fds=(number,)
            )


# -- what cannot be


@pytest.mark.parametrize(
    "endpoint", ["unix:{directory}/http.sock", "ssl:0:privateKey={pem}:certKey={pem}"]
)
def test_what_workers_cannot_share_is_refused(tmp_path: Path, endpoint: str) -> None:
    """The state of TLS is in one process."""
    with Subscriber(tmp_path):
        pem = tmp_path / "127.0.0.1.pem"
        listen = json.dumps([endpoint.format(pem=pem, directory=tmp_path)])
        daemon = Daemon(tmp_path, f"listen: {listen}\n{WORKERS}")
        daemon.launch()
        assert 78 == daemon.ended()
    assert "workers can share TCP only" in daemon.log.read_text()
