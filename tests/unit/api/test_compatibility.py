"""What the daemon and reviewsctl say to each other is read by older and newer ones (interfaces.md 1.5)."""

import inspect
import json
import pkgutil
import subprocess
import sys
import typing
from collections.abc import Mapping
from importlib import import_module

import msgspec
import pytest

import reviewsd.api
from reviewsd.api.hub import BlockList, HubStatus, Listing, ListingPage
from reviewsd.api.jobs import Happening, JobLine, PushResult, ReloadResult, Step
from reviewsd.api.status import BackupContents, Pong, Status
from tests.support.hub_answers import HUB, PENDING, STATE, SUBSCRIPTION

MODULES = [each.name for each in pkgutil.iter_modules(reviewsd.api.__path__, "reviewsd.api.")]
AT = "2026-11-21T06:00:00Z"

# What reviewsctl has needed since the admin API is at version 1
NEEDED: Mapping[object, Mapping[str, object]] = {
    Status: {
        "version": "0.1.0",
        "pid": 1,
        "started_at": AT,
        "uptime_seconds": 1.5,
        "base_url": "https://a.example",
        "listen": ["tcp:127.0.0.1:1"],
        "snapshot": {
            "revision": "a",
            "published_at": AT,
            "review_count": 1,
            "updated_at": None,
            "insights": False,
        },
        "data": {
            "dir": "/d",
            "state": "ok",
            "last_reload": {"at": AT, "outcome": "published", "seconds": 0.1},
            "failing_since": None,
            "problems": [],
        },
    },
    Listing: {name: value for name, value in PENDING.items() if name != "host"},
    ListingPage[Listing]: {"subscriptions": [SUBSCRIPTION], "next": None},
    HubStatus: {
        **STATE,
        "topics": [
            {"path": "/feed.xml", "version": 1, "changed_at": AT, "subscriptions": 1, "due": 0}
        ],
    },
    BlockList: {"blocks": [{"value": "a.example", "note": "", "created_at": AT}]},
    Pong: {"pong": True, "version": "0.1.0"},
    Step: {"type": "progress", "stage": "reading", "done": 0, "total": 1},
    ReloadResult: {
        "type": "result",
        "outcome": "published",
        "revision": "a",
        "review_count": 1,
        "seconds": 0.1,
    },
    PushResult: {"type": "result", "total": 1, "delivered": 1, "failed": 0, "removed": 0},
    BackupContents: {
        "bytes": 1,
        "subscriptions": 1,
        "signed": 0,
        "requests": 0,
        "blocks": 0,
        "sessions_ended": 0,
        "keys": [],
    },
    JobLine: {"type": "accepted"},
    Happening: {"type": "listening"},
}

every_document = pytest.mark.parametrize(
    ("kind", "document"), NEEDED.items(), ids=[str(each) for each in NEEDED]
)


@every_document
def test_what_an_older_daemon_says_is_read(kind: type, document: Mapping[str, object]) -> None:
    assert isinstance(
        msgspec.json.decode(json.dumps(document), type=kind), typing.get_origin(kind) or kind
    )


@every_document
def test_what_a_newer_daemon_says_more_is_passed_over(
    kind: type, document: Mapping[str, object]
) -> None:
    newer = json.dumps(_with_more(document))
    older = json.dumps(document)
    assert msgspec.json.decode(older, type=kind) == msgspec.json.decode(newer, type=kind)


def test_what_is_read_is_written_again_as_it_came() -> None:
    """Members, their order and times: one struct is what both sides have."""
    document = json.dumps(HUB, separators=(",", ":")).encode()
    assert document == msgspec.json.encode(msgspec.json.decode(document, type=HubStatus))
    for each in (SUBSCRIPTION, PENDING):
        document = json.dumps(each, separators=(",", ":")).encode()
        assert document == msgspec.json.encode(msgspec.json.decode(document, type=Listing))


@pytest.mark.parametrize("module", MODULES)
def test_no_struct_refuses_members_it_does_not_know(module: str) -> None:
    found = [
        each
        for _, each in inspect.getmembers(import_module(module), inspect.isclass)
        if issubclass(each, msgspec.Struct)
    ]
    assert [] == [each for each in found if each.__struct_config__.forbid_unknown_fields]


def test_importing_it_imports_nothing_of_the_daemon() -> None:
    """reviewsctl imports it, and has to start quickly."""
    code = f"import sys, {', '.join(MODULES)}; print(*sorted(sys.modules))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert ["reviewsd", "reviewsd.api", *MODULES] == [
        each for each in loaded if each.partition(".")[0] in {"reviewsd", "reviewsctl"}
    ]
    assert "twisted" not in loaded


def _with_more(value: object) -> object:
    """The same with an unknown member in every object."""
    match value:
        case dict():
            return {**{name: _with_more(each) for name, each in value.items()}, "more": [1]}
        case list():
            return [_with_more(each) for each in value]
        case _:
            return value
