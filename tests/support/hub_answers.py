"""The daemon's answers about its hub, for the tests of reviewsctl: JSON as it is on the wire."""

from collections.abc import Mapping

SUBSCRIPTION: Mapping[str, object] = {
    "id": "12",
    "topic": "/feed.xml",
    "callback": "https://subscriber.example.com/cb?token=1",
    "host": "subscriber.example.com",
    "state": "active",
    "created_at": "2026-11-01T07:00:00Z",
    "verified_at": "2026-11-20T07:00:00Z",
    "lease_seconds": 864_000,
    "lease_expires_at": "2126-11-30T07:00:00Z",
    "signed": True,
    "delivered_version": 12,
    "topic_version": 12,
    "consecutive_failures": 0,
    "next_attempt_at": None,
    "in_flight": False,
    "last_attempt_at": "2026-11-21T06:00:00Z",
    "last_status": 204,
    "last_error": None,
    "last_success_at": "2026-11-21T06:00:00Z",
    "last_failure_at": None,
    "last_failure": None,
    "pending": None,
}
PENDING: Mapping[str, object] = {
    **SUBSCRIPTION,
    "id": "p7",
    "callback": "https://new.example.com/",
    "host": "new.example.com",
    "state": "pending verification",
    "verified_at": None,
    "lease_expires_at": None,
    "delivered_version": None,
    "last_attempt_at": None,
    "last_status": None,
    "last_success_at": None,
    "pending": {
        "mode": "subscribe",
        "requested_at": "2026-11-21T06:59:00Z",
        "expires_at": "2026-11-21T07:09:00Z",
        "attempts": 1,
        "next_attempt_at": "2026-11-21T07:00:20Z",
        "requester": "192.0.2.7/32",
        "lease_seconds": 864_000,
    },
}
STATE: Mapping[str, object] = {
    "paused": False,
    "active": 1204,
    "pending": 3,
    "due": 12,
    "in_flight": 4,
    "oldest_due_at": "2026-11-21T06:58:00Z",
    "blocks": 2,
    "opened_networks": [],
    "store": "ok",
}
HUB: Mapping[str, object] = {
    **STATE,
    "topics": [
        {
            "path": "/feed.xml",
            "version": 12,
            "sha256": "ab",
            "changed_at": "2026-11-21T06:00:00Z",
            "subscriptions": 1200,
            "due": 12,
        }
    ],
}


def page(*subscriptions: Mapping[str, object], after: str | None = None) -> Mapping[str, object]:
    """One page of the list; ``after`` names the next one."""
    return {"subscriptions": subscriptions, "next": after}
