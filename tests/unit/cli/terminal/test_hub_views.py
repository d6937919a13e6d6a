"""The views of the hub."""

import datetime
import re
from collections.abc import Iterable, Mapping

import msgspec
import pytest

from reviewsctl.terminal import hub_views
from reviewsd.api.hub import Block, Blocked, Listing
from reviewsd.api.jobs import PushResult
from tests.support.hub_answers import PENDING, SUBSCRIPTION
from tests.support.views import text, uncolored

NOW = datetime.datetime(2026, 11, 21, 7, 0, 0, tzinfo=datetime.UTC)


def plain(lines: Iterable[str]) -> str:
    return uncolored("\n".join(lines))


def listing_lines(*listings: Listing) -> str:
    """Return the lines of ``subs list``."""
    return plain(hub_views.subscription_lines(listings, NOW))


def shown(listing: Listing) -> str:
    """Return what ``subs show`` prints."""
    return text(hub_views.subscription_fields(listing, NOW))


def blocked(*blocks: Block) -> str:
    """Return the lines of ``hub blocks``."""
    return plain(hub_views.block_lines(blocks))


def one(changes: Mapping[str, object], base: Mapping[str, object] = SUBSCRIPTION) -> Listing:
    return msgspec.convert({**base, **changes}, Listing)


LEASE = {"lease_expires_at": "2026-11-30T07:00:00Z"}
FAILING = {
    **LEASE,
    "delivered_version": 11,
    "consecutive_failures": 2,
    "next_attempt_at": "2026-11-21T07:29:00Z",
    "last_attempt_at": "2026-11-21T06:59:00Z",
    "last_status": 503,
    "last_error": "HTTP 503",
    "last_failure_at": "2026-11-21T06:59:00Z",
    "last_failure": "HTTP 503",
}


def test_a_list_has_a_line_for_each_subscription() -> None:
    listings = [one(LEASE), one(FAILING), one({}, PENDING)]

    callback = str(SUBSCRIPTION["callback"])
    head = ("id", "topic", "callback", "state", "lease left", "version", "last outcome")
    expected = [
        head,
        ("12", "/feed.xml", callback, "active", "9 d 0 h", "12/12", "204, 1 h 0 min ago"),
        ("12", "/feed.xml", callback, "active", "9 d 0 h", "11/12 behind", "HTTP 503, 1 min ago"),
        ("p7", "/feed.xml", PENDING["callback"], "pending verification", "-", "-", "none yet"),
    ]
    output = listing_lines(*listings).splitlines()
    assert expected == [tuple(re.split("  +", line)) for line in output]
    assert len({line.rindex(row[-1]) for line, row in zip(output, expected, strict=True)}) == 1


@pytest.mark.parametrize(
    ("changes", "output"),
    [
        ({"last_attempt_at": None}, "none yet"),
        ({"last_attempt_at": None, "in_flight": True}, "under way"),
        ({"last_status": None, "last_error": "timed out"}, "timed out, 1 h 0 min ago"),
    ],
)
def test_a_list_tells_lease_and_last_outcome(changes: Mapping[str, object], output: str) -> None:
    assert output in listing_lines(one({**LEASE, **changes}))


def test_a_healthy_subscription_is_shown_whole() -> None:
    assert shown(one(LEASE)) == (
        "id            12\n"
        "topic         /feed.xml\n"
        "callback      https://subscriber.example.com/cb?token=1\n"
        "state         active\n"
        "created       2026-11-01 07:00:00 UTC (20 d 0 h ago)\n"
        "verified      2026-11-20 07:00:00 UTC (1 d 0 h ago)\n"
        "lease         9 d 0 h left of 10 d 0 h, until 2026-11-30 07:00:00 UTC\n"
        "signed        yes, with its hub.secret\n"
        "version       12/12\n"
        "last attempt  204, 1 h 0 min ago\n"
        "last success  2026-11-21 06:00:00 UTC (1 h 0 min ago)\n"
        "next attempt  when the content changes"
    )


def test_a_failing_subscription_tells_why_and_when_and_what_comes_next() -> None:
    assert shown(one({**FAILING, "signed": False})).endswith(
        "signed        no\n"
        "version       11/12 behind\n"
        "last attempt  HTTP 503, 1 min ago\n"
        "last success  2026-11-21 06:00:00 UTC (1 h 0 min ago)\n"
        "last failure  2026-11-21 06:59:00 UTC (1 min ago): HTTP 503\n"
        "failures      2 in a row; number 3 removes it\n"
        "next attempt  in 29 min (2026-11-21 07:29:00 UTC)"
    )


@pytest.mark.parametrize(
    ("changes", "output"),
    [
        ({"in_flight": True}, "next attempt  under way"),
        ({"next_attempt_at": "2026-11-21T06:00:00Z"}, "next attempt  now"),
    ],
)
def test_the_next_attempt_may_be_now(changes: Mapping[str, object], output: str) -> None:
    assert output in shown(one({**FAILING, **changes}))


def test_a_request_tells_who_asked_and_how_long_it_is_tried() -> None:
    assert shown(one({}, PENDING)).endswith(
        "state          pending verification\n"
        "created        2026-11-01 07:00:00 UTC (20 d 0 h ago)\n"
        "requested      subscribe for 10 d 0 h, 2026-11-21 06:59:00 UTC (1 min ago), by"
        " 192.0.2.7/32\n"
        "verifications  1 so far, next in 20 s (2026-11-21 07:00:20 UTC); they end in 9 min"
        " (2026-11-21 07:09:00 UTC)"
    )


def test_an_active_subscription_that_is_to_end_shows_both() -> None:
    pending = {**msgspec.convert(PENDING["pending"], dict), "mode": "unsubscribe"}
    changes = {**LEASE, "state": "removal pending", "pending": {**pending, "next_attempt_at": None}}
    output = shown(one(changes))
    assert "lease          9 d 0 h left" in output
    assert "requested      unsubscribe, 2026-11-21 06:59:00 UTC" in output
    assert "verifications  1 so far; they end in 9 min" in output


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (PushResult(total=0, delivered=0, failed=0, removed=0), "nothing to push"),
        (PushResult(total=1204, delivered=1204, failed=0, removed=0), "pushed: 1,204 of 1,204"),
        (
            PushResult(total=10, delivered=7, failed=2, removed=1),
            """\
Error: push incomplete: 7 of 10 delivered, 2 failed and are tried again, 1 gone
See reasons and next attempts: reviewsctl subs list, reviewsctl subs show ID""",
        ),
    ],
)
def test_a_push_tells_whom_it_has_reached(result: PushResult, output: str) -> None:
    assert uncolored(hub_views.push_text(result)).startswith(output)


@pytest.mark.parametrize(
    ("removed", "dry_run", "output"),
    [
        (1, True, "would block x.example and remove 1 subscription or request"),
        (1204, False, "blocked x.example, removed 1,204 subscriptions or requests; undo with: "),
    ],
)
def test_a_block_tells_what_it_has_removed(removed: int, output: str, *, dry_run: bool) -> None:
    answer = Blocked(value="x.example", removed=removed)
    assert hub_views.blocked_text(answer, dry_run=dry_run).startswith(output)


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b31m", "a\nb", "\u202e"])
def test_no_text_of_a_stranger_steers_the_terminal(hostile: str) -> None:
    names = ("id", "topic", "callback", "state", "last_error", "last_failure")
    pending = {**msgspec.convert(PENDING["pending"], dict), "requester": hostile}
    listing = one({**FAILING, **dict.fromkeys(names, hostile), "pending": pending})
    output = [
        listing_lines(listing),
        shown(listing),
        blocked(Block(value=hostile, note=hostile, created_at=NOW)),
        hub_views.blocked_text(Blocked(value=hostile, removed=1), dry_run=True),
    ]

    assert [part.count("\\u") for part in output] == [5, 7, 2, 1]
    assert not any(hostile in part for part in output)
