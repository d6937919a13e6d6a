"""The first day of an operator, from an empty directory: each command as the README has it.

Real commands in a home that is empty; where one of them leaves a question open, this reads badly.
"""

import json
import os
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from tests.support.commands import CLI, reviewsctl
from tests.support.daemon import until
from tests.support.fork_server import INTERPRETERS
from tests.support.subscriber import Subscriber

EXPORT = Path(__file__).parents[1] / "unit" / "cli" / "importing" / "samples" / "takeout"
TOPIC = "/reviews.json"


class Site:
    """The directory that ``reviewsctl init`` made, and what is done in it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = 0
        self._environ = {
            **{name: os.environ[name] for name in os.environ if not name.startswith(INTERPRETERS)},
            "PYTHONWARNINGS": "error",
            "HOME": str(place.parent / "home"),
            "PYTHONPATH": str(CLI),
            "NO_COLOR": "1",
        }
        (place.parent / "home").mkdir()

    def ctl(self, *arguments: str, code: int = 0, place: Path | None = None) -> str:
        """Run a command that must end with this code; return its output and errors."""
        done = reviewsctl(self._environ, *arguments, folder=place or self.place)
        output = done.stdout + done.stderr
        assert code == done.returncode, output
        return output

    @contextmanager
    def running(self) -> Iterator[None]:
        """``reviewsd``, which finds its configuration where it is started."""
        log = self.place / "log"
        with log.open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "reviewsd"],
                cwd=self.place,
                stdout=out,
                stderr=out,
                env=self._environ,
            )
        try:
            until(lambda: self._answers() or process.poll() is not None, "the daemon")
            assert process.poll() is None, log.read_text()
            self.port = int(self.status()["listen"][0].rpartition(":")[2])
            yield
            process.send_signal(signal.SIGTERM)
            assert 0 == process.wait(30)
        finally:
            process.kill()
            process.wait()

    def _answers(self) -> bool:
        return (self.place / "admin.sock").exists() and "listening" in self.daemon("status")

    def daemon(self, *arguments: str, code: int = 0) -> str:
        return self.ctl(*arguments, code=code)

    def status(self) -> "dict[str, list[str]]":
        status: dict[str, list[str]] = json.loads(self.daemon("status", "--json"))
        return status

    def get(self, path: str) -> bytes:
        body: bytes = urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}").read()
        return body

    def subscribe(self, fields: "Sequence[tuple[str, str]]") -> int:
        url = f"http://127.0.0.1:{self.port}/api/websub/hub"
        status: int = urllib.request.urlopen(url, urlencode(fields).encode()).status
        return status


def zipped(target: Path) -> Path:
    """Takeout's file as Google sends it."""
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(EXPORT.rglob("*.json")):
            archive.write(file, file.relative_to(EXPORT))
    return target


def test_the_first_day_of_an_operator(tmp_path: Path) -> None:
    site = Site(tmp_path / "shop")
    output = site.ctl(
        "init", "shop", "--name", "Acme", "--base-url", "http://localhost:8080", place=tmp_path
    )
    assert "reviewsctl import EXPORT  " in output
    config = site.place / "reviewsd.yaml"

    export = str(zipped(tmp_path / "takeout.zip"))
    assert "would" in site.ctl("import", export, "--replace", "--dry-run")
    assert "imported 7 new" in site.ctl("import", export, "--replace")
    assert "7 unchanged" in site.ctl("import", export)
    assert "all is well" in site.ctl("check")

    with Subscriber(tmp_path) as subscriber:
        # what a machine without a public address needs, and a port of its own
        callbacks = f'{{allow_networks: ["127.0.0.0/8"], ca_file: {subscriber.ca_file}}}'
        with config.open("a") as file:
            file.write(f'hub: {{callbacks: {callbacks}}}\nlisten: ["tcp:0:interface=127.0.0.1"]\n')
        assert "tcp:0" in site.ctl("config", "show", "--origin")
        with site.running():
            day(site, subscriber, tmp_path)
        restored(site, tmp_path)


def day(site: Site, subscriber: Subscriber, tmp_path: Path) -> None:
    """Serve, subscribe, break, fix and back up."""
    assert 7 == len(json.loads(site.get(TOPIC))["reviews"])
    form = [
        ("hub.mode", "subscribe"),
        ("hub.topic", f"http://localhost:8080{TOPIC}"),
        ("hub.callback", subscriber.url()),
        ("hub.secret", "open sesame"),
    ]
    assert 202 == site.subscribe(form)
    until(lambda: "active" in site.daemon("subs", "list"), "the subscription")
    assert "ok" in site.daemon("status")

    data = site.place / "data" / "reviews.json"
    good = data.read_bytes()
    data.write_bytes(
        good.replace(b'"rating": 5', b'"rating": 7').replace(b'"rating":5', b'"rating":7')
    )
    assert "expected 1..5, got 7" in site.ctl("check", code=5)
    assert "expected 1..5, got 7" in site.daemon("reload", code=1)
    assert "degraded" in site.daemon("status")
    assert 7 == len(json.loads(site.get(TOPIC))["reviews"])
    assert "reviewsd_data_last_reload_successful 0.0" in site.daemon("metrics")

    data.write_bytes(good.replace(b"Acme", b"Acme & Daughters"))
    assert "degraded" not in site.daemon("reload") + site.daemon("status")
    delivery = subscriber.until_deliveries(1)
    assert delivery.field("X-Hub-Signature") is not None
    assert b"Acme & Daughters" in site.get(TOPIC)
    # the delivery is known to the hub a moment after the subscriber has answered it
    until(lambda: "1 of 1" in site.daemon("subs", "push"), "a push")
    assert "1 subscription" in site.daemon("backup", str(tmp_path / "backup.tar.gz"))


def restored(site: Site, tmp_path: Path) -> None:
    """State and data come back from the backup, on another disk."""
    for name in ("state", "data"):
        (site.place / name).rename(site.place / f"lost {name}")
    site.daemon("restore", str(tmp_path / "backup.tar.gz"))
    with site.running():
        until(lambda: "active" in site.daemon("subs", "list"), "the subscription")
        assert "Acme & Daughters" in site.get(TOPIC).decode()
        second_place(site, tmp_path)


def second_place(site: Site, tmp_path: Path) -> None:
    """Reviews of a second location are imported, filtered and shown on a page of its own."""
    data = site.place / "data" / "reviews.json"
    content = json.loads(data.read_bytes())
    dover: dict[str, object] = {"id": "dover", "name": "Dover"}
    content["business"]["locations"] = [dover, {"id": "kittery", "name": "Kittery"}]
    data.write_text(json.dumps(content))
    refusal = 'expected an id or alias of business.locations, got "2001"'
    assert refusal in site.daemon("reload", code=1)
    dover["aliases"] = ["2001"]
    data.write_text(json.dumps(content))
    table = tmp_path / "kittery.csv"
    table.write_text("author,rating,date,text\nBo,5,2026-01-01,Good.\n")
    site.ctl("import", str(table), "--source", "website", "--set", "location=kittery")
    site.daemon("reload")
    for location, count in (("dover", 7), ("2001", 7), ("Kittery", 1)):
        answer = json.loads(site.get(f"/api/reviews/search?location={location}"))
        assert count == answer["matched"]
    assert b"Acme &amp; Daughters, Kittery</bdi>" in site.get("/l/kittery")
    assert ",kittery," in site.ctl("export", "--csv")
