"""New data in every way that it comes and fails to come, at the door of a real daemon (R1-R7)."""

import gzip
import hashlib
import http.client
import json
import resource
import shutil
import signal
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.support.daemon import DEMO, NO_PAGES, Answer, Daemon, until
from tests.support.generate import write_data
from tests.support.limits import descriptor_limit

REVIEWS = (DEMO / "reviews.json").read_bytes()
BROKEN = REVIEWS.replace(b'"rating": 5', b'"rating": 7', 1)
FINDING = r"reviews.json: $.reviews["


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, f"{NO_PAGES}data: {{insights: file}}\n", publishes=True) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("many")
    write_data(place, reviews=3_000)
    return place


def named(name: str) -> bytes:
    """The sample reviews of another business."""
    document = json.loads(REVIEWS)
    document["business"]["name"] = name
    return json.dumps(document).encode()


def name_in(daemon: Daemon) -> object:
    return daemon.get("/reviews.json").json()["business"]["name"]


def another(daemon: Daemon, before: Answer) -> bool:
    return daemon.get("/reviews.json").headers["ETag"] != before.headers["ETag"]


def data_state(daemon: Daemon) -> object:
    return daemon.status()["data"]["state"]


# -- ways to replace files; the watcher's own tests have ten


def rename_over(data: Path, content: bytes) -> None:
    (data / ".aside").write_bytes(content)
    (data / ".aside").rename(data / "reviews.json")


def swap_the_link(data: Path, content: bytes) -> None:
    """Replace the data as Kubernetes does with a ConfigMap; the directory becomes a link."""
    new = data.with_name(f"data-{hashlib.sha256(content).hexdigest()[:8]}")
    shutil.copytree(data, new)
    (new / "reviews.json").write_bytes(content)
    link = data.with_name("link")
    link.symlink_to(new)
    if not data.is_symlink():
        data.rename(data.with_name("data-first"))
    link.rename(data)


@pytest.mark.parametrize("replace", [rename_over, swap_the_link])
def test_a_change_is_noticed_and_served(
    daemon: Daemon, replace: Callable[[Path, bytes], None]
) -> None:
    """No reload is requested (contract 1: within three seconds, on an idle machine)."""
    before = daemon.get("/reviews.json")
    replace(daemon.data, named("Edited"))
    until(partial(another, daemon, before), "another ETag")
    assert "Edited" == name_in(daemon)
    assert [] == daemon.unusual


# -- data that cannot be published


def test_broken_data_leaves_the_old_in_service_and_says_so_everywhere(daemon: Daemon) -> None:
    """The old data stay in service, through a restart too, until they are fixed (R3, R6, R4)."""
    before = daemon.get("/reviews.json")
    rename_over(daemon.data, BROKEN)
    until(lambda: data_state(daemon) == "degraded", "degraded")
    until(lambda: "last reload refused: reviews.json" in daemon.heard[-1], "STATUS with the reason")
    assert daemon.heard[-1].startswith("STATUS=Serving 122 reviews, data of 2026-")

    def check_old_in_service() -> None:
        now = daemon.get("/reviews.json")
        assert (200, before.body) == (now.status, now.body)
        for name in ("ETag", "Last-Modified"):
            assert before.headers[name] == now.headers[name]
        assert 200 == daemon.get("/healthz").status
        status = daemon.ctl("status")
        assert (0, "") == (status.returncode, status.stderr)
        assert "state      degraded" in status.stdout
        assert FINDING in status.stdout
        refused = daemon.ctl("reload")
        assert (1, "") == (refused.returncode, refused.stdout)
        assert "Error: reload refused: the new data has problems; the last" in refused.stderr
        assert FINDING in refused.stderr
        data = daemon.status()["data"]
        assert "refused" == data["last_reload"]["outcome"]
        assert data["failing_since"] is not None
        assert data["problems"][0].startswith(FINDING)

    check_old_in_service()
    assert "refused" == daemon.reload()["outcome"]
    (warning,) = daemon.unusual  # one for all these reloads
    assert " warn  data refused; the last good data keeps serving: reviews.json: " in warning

    assert 0 == daemon.stop()
    daemon.start()
    assert "degraded" == data_state(daemon)
    check_old_in_service()
    assert 2 == len(daemon.unusual)  # one for each process

    rename_over(daemon.data, named("Mended"))
    until(lambda: data_state(daemon) == "ok", "mended")
    assert "Mended" == name_in(daemon)
    assert [] == daemon.status()["data"]["problems"]
    assert daemon.status()["data"]["failing_since"] is None


# -- restarts


@pytest.mark.parametrize("snapshot", [False, True])
def test_killed_while_it_publishes_it_serves_after_the_next_start(
    tmp_path: Path, many: Path, *, snapshot: bool
) -> None:
    """R4: whether there was something to serve before or not."""
    daemon = Daemon(tmp_path, NO_PAGES)
    if snapshot:
        daemon.start()
        assert 0 == daemon.stop()
    shutil.copytree(many, daemon.data, dirs_exist_ok=True)
    daemon.launch()
    until(lambda: [*daemon.state.glob("snapshots/.*")], "a publication that writes")
    assert -signal.SIGKILL == daemon.stop(signal.SIGKILL)
    with daemon:
        until(lambda: daemon.status()["snapshot"]["review_count"] == 3_000, "the new data")
        assert 3_000 == len(daemon.get("/reviews.json").json()["reviews"])
        assert [] == daemon.unusual


# -- readers and reloads at the same time


def test_readers_never_see_a_mix(daemon: Daemon, many: Path) -> None:
    """R3: every body is the one of its entity tag, during reloads too."""
    (daemon.data / "insights.json").unlink()
    document = json.loads((many / "reviews.json").read_bytes())
    del document["reviews"][1_000:]
    finished = threading.Event()

    def read(coding: str) -> set[str]:
        tags = set()
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
        while not finished.wait(0.02):  # the publication needs a processor too
            connection.request("GET", "/reviews.json", headers={"Accept-Encoding": coding})
            answer = connection.getresponse()
            body = answer.read()
            assert 200 == answer.status
            assert int(answer.headers["Content-Length"]) == len(body)
            if answer.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            tag = answer.headers["ETag"].strip('"').removesuffix("-gzip")
            assert urlsafe_b64encode(hashlib.sha256(body).digest())[:22].decode() == tag
            tags.add(tag)
        connection.close()
        return tags

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(read, coding) for coding in ("identity", "gzip")]
        try:
            for round_ in range(3):
                document["business"]["name"] = f"Round {round_}"
                rename_over(daemon.data, json.dumps(document).encode())
                assert daemon.reload()["outcome"] in {"published", "unchanged"}
                assert f"Round {round_}" == name_in(daemon)
        finally:
            finished.set()
        for reader in readers:
            assert len(reader.result()) >= 3


def _rests(pid: int) -> bool:
    """Return whether a process opens and closes nothing for a while."""
    before = descriptor_limit(4, pid)
    time.sleep(0.2)
    return before == descriptor_limit(4, pid)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (resource.RLIMIT_NOFILE, "Too many open files"),
        (resource.RLIMIT_FSIZE, "File too large"),  # stands for the end of the disk
    ],
)
def test_publication_is_retried_after_a_failure(tmp_path: Path, kind: int, reason: str) -> None:
    """The files need no new change: status, log and metrics give the time of the next try."""
    with Daemon(tmp_path, NO_PAGES) as daemon:
        pid = daemon.process.pid
        before = daemon.status()["snapshot"]["revision"]
        usual = resource.prlimit(pid, kind)
        # four descriptors are enough to ask the daemon, and too few to start a process
        until(lambda: _rests(pid), "connections to be closed")
        few = descriptor_limit(4, pid) if kind == resource.RLIMIT_NOFILE else 20_000
        resource.prlimit(pid, kind, (few, usual[1]))
        rename_over(daemon.data, named("Later"))
        until(lambda: "tried again in 1 s" in daemon.log.read_text(), "a failure")
        status = daemon.status()
        assert before == status["snapshot"]["revision"]
        assert reason in status["data"]["problems"][0]
        metric = b"\nreviewsd_data_retry_timestamp_seconds "
        until(lambda: metric in daemon.admin("GET", "/v1/metrics").body, "the time of the next try")
        until(lambda: daemon.status()["data"]["retry_at"], "the same as status")
        resource.prlimit(pid, kind, usual)
        until(lambda: data_state(daemon) == "ok", "another try")
        assert "Later" == name_in(daemon)
        assert daemon.status()["data"]["retry_at"] is None
        assert metric not in daemon.admin("GET", "/v1/metrics").body
        assert daemon.unusual
        assert all(reason in warning for warning in daemon.unusual)  # a slow machine tries twice


def test_a_start_without_data_tries_again(tmp_path: Path) -> None:
    """systemd hears what it waits for; a refusal would have ended the start."""
    daemon = Daemon(tmp_path, NO_PAGES, publishes=True)
    daemon.launch(["prlimit", "--fsize=10000:"])
    until(
        lambda: any("next attempt in 2 s" in message for message in daemon.heard),
        "a second failure",
    )
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    daemon.wait_ready()
    assert "ok" == data_state(daemon)
    daemon.close()
