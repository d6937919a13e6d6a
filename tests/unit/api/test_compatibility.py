"""The daemon and reviewsctl read the messages of older and newer versions (interfaces.md 1.5)."""

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
from reviewsd.api.hub import BlockList, HubState, Listing, ListingPage
from reviewsd.api.jobs import EventLine, JobLine, PushResult, ReloadResult, Step
from reviewsd.api.status import BackupContents, Status
from tests.support.hub_answers import PENDING, STATE, SUBSCRIPTION

MODULES = [module.name for module in pkgutil.iter_modules(reviewsd.api.__path__, "reviewsd.api.")]
AT = "2026-11-21T06:00:00Z"

# The members that reviewsctl needs since version 1 of the admin API
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
    HubState: {
        **STATE,
        "topics": [
            {"path": "/feed.xml", "version": 1, "changed_at": AT, "subscriptions": 1, "due": 0}
        ],
    },
    BlockList: {"blocks": [{"value": "a.example", "note": "", "created_at": AT}]},
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
    EventLine: {"type": "listening"},
}

every_document = pytest.mark.parametrize(
    ("kind", "document"), NEEDED.items(), ids=[str(kind) for kind in NEEDED]
)


@every_document
def test_message_of_an_older_daemon_is_read(kind: type, document: Mapping[str, object]) -> None:
    assert isinstance(
        msgspec.json.decode(json.dumps(document), type=kind), typing.get_origin(kind) or kind
    )


@pytest.mark.parametrize("module", MODULES)
def test_no_struct_forbids_unknown_members(module: str) -> None:
    structs = [
        value
        for _, value in inspect.getmembers(import_module(module), inspect.isclass)
        if issubclass(value, msgspec.Struct)
    ]
    assert [] == [struct for struct in structs if struct.__struct_config__.forbid_unknown_fields]


def test_api_imports_no_other_module_of_the_daemon() -> None:
    """reviewsctl imports it, and must start quickly."""
    code = f"import sys, {', '.join(MODULES)}; print(*sorted(sys.modules))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert ["reviewsd", "reviewsd.api", *MODULES] == [
        name for name in loaded if name.partition(".")[0] in {"reviewsd", "reviewsctl"}
    ]
    assert "twisted" not in loaded
