"""A month of four sources that run by ``sync`` alone, through kills: nothing is lost, and nothing hidden is shown.

A usual run has ten kills; ``REVIEWSD_EXAMPLES=20`` makes them two hundred.
"""

import datetime
import json
import os
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest

from reviewsctl.sources.oauth import Tokens
from reviewsd.domain.dataset import load
from tests.support.commands import CLI, ctl
from tests.support.examples import number
from tests.support.fork_server import ROOT
from tests.support.platforms import Google, Trustpilot, google_review, trustpilot_review
from tests.support.source_stub import Asked, Stub, response

pytestmark = pytest.mark.processes

START = datetime.datetime(2026, 12, 1, 3, tzinfo=datetime.UTC)
DAYS, KILLS = 30, 10
HIDDEN, ERASED = "They broke the blue vase of my aunt", "My neighbor Paul had the same trouble"

CONFIG = """\
base_url: https://reviews.example.com
data_dir: data
state_dir: state
sources:
  - {{name: google, type: google-business, account: accounts/1, location: locations/2, import: {{name: Harbor}}}}
  - {{name: trustpilot, type: trustpilot, business_unit: harbor.example, import: {{name: Harbor}}}}
  - {{name: takeout, type: file, path: in/takeout-*.zip, import: {{name: Harbor}}}}
  - {{name: portal, type: url, url: "{portal}/reviews.csv", allow_private: true, import: {{source: portal, verified: true, name: Harbor}}}}
"""


def day_of(count: int) -> str:
    return f"2026-{1 + count % 9:02}-{1 + count % 28:02}"


def of_google(count: int) -> dict[str, Any]:
    time = f"{day_of(count)}T10:00:00Z"
    reply = {"comment": f"Thanks {count}", "updateTime": "2026-10-01T10:00:00Z"}
    return google_review(
        count, comment=f"Google says {count}", createTime=time, updateTime=time, reviewReply=reply
    )


def of_trustpilot(count: int) -> dict[str, Any]:
    time = f"{day_of(count)}T11:00:00Z"
    return trustpilot_review(count, text=f"Trustpilot says {count}", createdAt=time)


@dataclass
class World:
    """The platforms, as they are today."""

    google: Google
    trustpilot: Trustpilot
    portal: dict[str, tuple[str, str]]
    """Author and text by id."""
    takeout: dict[str, str]
    """Text by author."""
    portal_is_a_login_page: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Asked) -> bytes:
        with self.lock:
            if asked.path == "/reviews.csv":
                return response(self._table())
            is_google = asked.path.startswith(("/token", "/v4/"))
            return self.google(asked) if is_google else self.trustpilot(asked)

    def _table(self) -> str:
        if self.portal_is_a_login_page:
            return "<html>Log in"
        rows = [
            f"{key},5,{day_of(int(key[1:]))},{author},{text}"
            for key, (author, text) in self.portal.items()
        ]
        return "\n".join(["id,rating,date,author,text", *rows, ""])

    def texts(self) -> set[str]:
        """The words of all reviews, those that were never to be shown apart."""
        all_texts = {review["comment"] for review in self.google.reviews.values()}
        all_texts |= {review["text"] for review in self.trustpilot.reviews.values()}
        all_texts |= {text for _, text in self.portal.values()} | set(self.takeout.values())
        return {text for text in all_texts if HIDDEN not in text and ERASED not in text}


class Owner:
    """A business with sources that are synced at simulated times."""

    def __init__(self, folder: Path, world: World, origin: str) -> None:
        self.folder = folder
        self.world = world
        self.origin = origin
        self.now = START
        self.attempts = 0
        self.killed = 0
        self.longest = 100  # events of the longest run so far
        self.exports = 0
        self.details: dict[str, str] = {}
        (folder / "in").mkdir()
        (folder / "data").mkdir()
        config = folder / "reviewsd.yaml"
        config.write_text(CONFIG.format(portal=origin))
        config.chmod(0o644)
        for name, secret in (("trustpilot.key", "k3y"), ("trustpilot.secret", "s3cret")):
            (folder / name).write_text(secret)
        self.log_in()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.month", str(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{CLI}"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def log_in(self) -> None:
        """Log in at Google, as ``reviewsctl sources login`` does."""
        self.world.google.is_login_good = True
        tokens = Tokens(
            refresh_token="r3fresh", access_token=self.world.google.accepted, expires_at=self.now
        )
        (self.folder / "state/tokens").mkdir(parents=True, exist_ok=True)
        (self.folder / "state/tokens/google").write_bytes(msgspec.json.encode(tokens))

    def export(self, *, title: str = "Harbor", location: str = "77", aged: int = 0) -> None:
        """Put an export of the Takeout source into its folder."""
        self.exports += 1
        path = self.folder / "in" / f"takeout-{self.exports:03}.zip"
        inside = f"Takeout/Google Business Profile/account-101/location-{location}"
        reviews = [
            {
                "name": f"accounts/101/locations/{location}/reviews/k{author}",
                "reviewer": {"displayName": author},
                "starRating": "FIVE",
                "comment": text,
                "createTime": f"2026-05-{at + 1:02}T10:00:00Z",
                "updateTime": f"2026-05-{at + 1:02}T10:00:00Z",
            }
            for at, (author, text) in enumerate(self.world.takeout.items())
        ]
        with zipfile.ZipFile(path, "w") as archive:
            place = {"name": f"locations/{location}", "title": title}
            archive.writestr(f"{inside}/data.json", json.dumps(place))
            archive.writestr(f"{inside}/reviews-1.json", json.dumps({"reviews": reviews}))
        moment = (self.now - datetime.timedelta(minutes=5, days=aged)).timestamp()
        os.utime(path, (moment, moment))

    def attempt(self, kill: int = 0) -> bool:
        """Run the sources that are due; returns whether the run ended by itself."""
        order = {
            "now": self.now.isoformat(),
            "kill": kill,
            "google": self.origin,
            "trustpilot": self.origin,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        events, code = json.loads(self.process.stdout.readline())
        assert code in {0, -9}, (self.now, code)
        self.attempts += 1
        self.killed += code != 0
        self.longest = max(self.longest, events)
        return bool(code == 0)

    @property
    def states(self) -> dict[str, str]:
        content = json.loads((self.folder / "data/.reviewsctl/sources.json").read_text())
        self.details = {
            name: source.get("detail", "") for name, source in content["sources"].items()
        }
        return {name: source["state"] for name, source in content["sources"].items()}

    @property
    def reviews(self) -> list[dict[str, Any]]:
        content = json.loads((self.folder / "data/reviews.json").read_text())
        return list(content["reviews"])

    def shown(self) -> bytes:
        """The served reviews, after the corrections."""
        files = [self.folder / "data" / f"{name}.json" for name in ("reviews", "corrections")]
        reviews, corrections = [file.read_bytes() if file.exists() else None for file in files]
        if reviews is None:
            return b""
        dataset = load(reviews, None, corrections=corrections)
        return b"\n".join(dataset.records)

    def correct(self, command: str, words: str) -> None:
        """Hide or erase the review with these words, by the command."""
        (target,) = [review for review in self.reviews if words in (review["text"] or "")]
        self.run("reviews", command, target["id"], "--reason", "request")

    def import_by_hand(self) -> None:
        """Import an export of another location: that is a question, which a sync answers by a stop."""
        self.run("import", str(self.folder / "in/takeout-001.zip"), "--set", "name=Harbor")

    def run(self, *command: str) -> None:
        """Run a command that asks a person."""
        result = ctl(*command, "--yes", "--data", str(self.folder / "data"))
        assert 0 == result.returncode, result.stderr


def story(owner: Owner, world: World) -> dict[int, Callable[[], object]]:
    """Return what happens on each day, before its first sync."""
    google, trustpilot = world.google, world.trustpilot

    def edit(reviews: dict[str, dict[str, Any]], key: str, **members: object) -> None:
        reviews[key] = {**reviews[key], **members}

    def new_google() -> None:
        google.reviews = {"g90": of_google(90), **google.reviews}

    def expire() -> None:
        google.is_login_good = False

    def wrong_export() -> None:
        good, world.takeout = world.takeout, {"Zoe": "Of the bakery next door"}
        owner.export(title="Bakery", location="99")
        world.takeout = good

    def switch(place: object, name: str) -> Callable[[], None]:
        return lambda: setattr(place, name, not getattr(place, name))

    def portal_edit() -> None:
        world.portal["p3"] = ("Pia 3", "Portal says another thing")

    def takeout_edit() -> None:
        world.takeout["Ted 2"] = "Takeout says something new"
        owner.export()

    return {
        1: owner.import_by_hand,
        2: new_google,
        3: lambda: owner.correct("hide", HIDDEN),
        4: lambda: edit(google.reviews, "g5", comment="Google says it otherwise", updateTime="2026-12-05T00:00:00Z"),
        5: lambda: google.reviews["g7"].pop("reviewReply"),
        6: lambda: trustpilot.reviews.update(t60=of_trustpilot(60)),
        7: portal_edit,
        8: expire,
        10: lambda: owner.correct("erase", ERASED),
        12: owner.log_in,
        13: takeout_edit,
        14: lambda: google.reviews.pop("g20"),
        15: lambda: trustpilot.reviews.pop("t11"),
        16: lambda: edit(google.reviews, "g9", comment=f"{HIDDEN}, and laughed", updateTime="2026-12-17T00:00:00Z"),
        17: wrong_export,
        19: owner.export,
        20: switch(world, "portal_is_a_login_page"),
        21: switch(world, "portal_is_a_login_page"),
        22: switch(trustpilot, "is_empty"),
        24: switch(trustpilot, "is_empty"),
        25: lambda: world.portal.pop("p4"),
    }  # fmt: skip


def new_world() -> World:
    google = {f"g{count}": of_google(count) for count in range(60)}
    google["g9"]["comment"] = HIDDEN
    trustpilot = {f"t{count}": of_trustpilot(count) for count in range(40)}
    trustpilot["t8"]["text"] = ERASED
    portal = {f"p{count}": (f"Pia {count}", f"Portal says {count}") for count in range(20)}
    takeout = {f"Ted {count}": f"Takeout says {count}" for count in range(12)}
    return World(Google(google), Trustpilot(trustpilot), portal, takeout)


STATES = {
    0: ("takeout", "stopped"),
    2: ("takeout", "ok"),
    9: ("google", "stopped"),
    12: ("google", "ok"),
    17: ("takeout", "stopped"),
    20: ("portal", "failed"),
    22: ("trustpilot", "stopped"),
    25: ("trustpilot", "ok"),
}
"""The state of a source at the end of a day."""


def test_month_through_kills_loses_nothing_and_shows_nothing_hidden(
    tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    seed = random.randrange(10**6)
    chance, kills, world = random.Random(seed), number(KILLS), new_world()
    with Stub() as platforms, Owner(tmp_path, world, platforms.url) as owner:
        platforms.answer = world.answer
        events = story(owner, world)
        owner.export()
        for day in range(DAYS):
            owner.now = START + datetime.timedelta(days=day)
            before = {review["text"] for review in owner.reviews} if day else set()
            events.get(day, int)()
            staying = before & world.texts()
            while owner.killed < kills * (day + 1) / DAYS:
                ended = owner.attempt(chance.randrange(1, owner.longest + 1))
                check(owner, staying, day, seed)
                owner.now += datetime.timedelta(hours=0 if not ended else 1)
            owner.now = START + datetime.timedelta(days=day, hours=18)
            assert owner.attempt()
            check(owner, staying, day, seed)
            if day in STATES:
                name, state = STATES[day]
                assert state == owner.states[name], (day, seed, owner.details)
    assert dict.fromkeys(owner.states, "ok") == owner.states, (seed, owner.details)
    texts = [review["text"] for review in owner.reviews]
    assert sorted(world.texts()) == sorted(text for text in texts if HIDDEN not in text), seed
    (edited,) = [review for review in owner.reviews if review["text"] == "Google says 7"]
    assert edited["owner_reply"] is None
    for name in ("killed", "attempts", "longest"):
        record_testsuite_property(name, getattr(owner, name))
    assert kills == owner.killed


def check(owner: Owner, staying: set[str], day: int, seed: int) -> None:
    """After each run: nothing that stays is lost, and nothing hidden is shown."""
    if not (owner.folder / "data/reviews.json").exists():
        assert day == 0
        return
    texts = {review["text"] for review in owner.reviews}
    assert staying <= texts, (day, seed, staying - texts)
    served = owner.shown().decode()
    if day >= 3:
        assert HIDDEN not in served, (day, seed)
    if day >= 10:
        assert ERASED not in served, (day, seed)
        assert not any(ERASED in (text or "") for text in texts), (day, seed)
