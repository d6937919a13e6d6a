"""The views of status and reload."""

import datetime
from collections.abc import Mapping

import msgspec
import pytest

from reviewsctl.terminal import status_views, times
from reviewsd.api.hub import HubState
from reviewsd.api.jobs import InsightsOrigin, ReloadResult
from reviewsd.api.status import SnapshotStatus, Status
from tests.support import admin_fake
from tests.support.admin_fake import PROBLEMS, STATUS
from tests.support.hub_answers import STATE
from tests.support.views import text, uncolored

STARTED = datetime.datetime(2026, 11, 21, 7, 0, 0, tzinfo=datetime.UTC)
NOW = STARTED + datetime.timedelta(hours=3, minutes=12)
SNAPSHOT = msgspec.convert(
    {**STATUS["snapshot"], "review_count": 1204, "newest_review": "2026-11-09"}, SnapshotStatus
)
OK, DEGRADED = (
    msgspec.structs.replace(msgspec.convert(status, Status), snapshot=SNAPSHOT)
    for status in (STATUS, admin_fake.DEGRADED)
)


def shown(status: Status, *, color: bool = False) -> str:
    """Return what ``reviewsctl status`` prints."""
    return text(status_views.status_fields(status, NOW), color=color)


def data_of(status: Status, **changes: object) -> Status:
    return msgspec.structs.replace(status, data=msgspec.structs.replace(status.data, **changes))


def unserved(state: str, **data: object) -> Status:
    """A daemon that serves nothing yet."""
    empty = msgspec.structs.replace(OK, snapshot=None)
    return data_of(empty, state=state, last_reload=None, **data)


def test_a_healthy_status_tells_what_is_served_since_when() -> None:
    assert shown(OK) == (
        "state      ok\n"
        "serving    1,204 reviews and insights, published 2026-11-21 07:00:00 UTC (3 h 12 "
        "min ago)\n"
        "revision   3f2a9c0d1e4b\n"
        "newest     review of 2026-11-09, 12 days ago\n"
        "updated    2026-11-20 12:00:00 UTC, says the data\n"
        "data       /srv/reviews, last reload published 3 h 12 min ago (0.42 s)\n"
        "address    https://reviews.example.com\n"
        "listening  tcp:127.0.0.1:8080\n"
        "daemon     reviewsd 0.1.0, pid 123, up 12 s"
    )


@pytest.mark.parametrize("status", [OK, DEGRADED], ids=["new data", "old data"])
def test_state_is_unready_while_the_store_of_the_hub_fails(status: Status) -> None:
    """It said ok in the first line, and eight lines below that the store fails."""
    hub = msgspec.convert({**STATE, "store": "disk I/O error"}, HubState)
    output = shown(msgspec.structs.replace(status, hub=hub))
    assert output.startswith(
        "state      unready\n"
        "           reviews are served, but the hub answers 503, as its store fails\n"
    )
    assert ("serving data of" in output) == (status is DEGRADED)
    assert "the state store fails: disk I/O error" in output


FAILING = unserved(
    "failing",
    failing_since=NOW - datetime.timedelta(seconds=7),
    retry_at=NOW + datetime.timedelta(seconds=4),
    problems=("publishing failed: No space left on device",),
)
WAITING = unserved("waiting", problems=("reviews.json: cannot read: No such file",))
RESTARTED = data_of(DEGRADED, last_reload=None, failing_since=None, problems=())
SINCE = (
    "refused 2 h 12 min ago, failing since 2026-11-21 08:00:00 UTC (2 h 12 min ago)\n"
    f"           {PROBLEMS[0]}\n           {PROBLEMS[1]}\nserving    1,204 reviews"
)


@pytest.mark.parametrize(
    ("status", "output"),
    [
        (
            unserved("starting"),
            "the data is being published for the first time\nserving    nothing",
        ),
        (FAILING, "the data could not be published: failing since 2026-11-21 10:11:53 UTC (7 s"),
        (
            FAILING,
            " ago), tried again in 4 s\n           publishing failed: No space left on device\n",
        ),
        (WAITING, "there is no valid data yet; reviewsctl import EXPORT writes it\n"),
        (WAITING, "\n           reviews.json: cannot read: No such file\nserving    nothing yet: "),
        (DEGRADED, f"serving data of 2026-11-21 07:00:00 UTC; last reload failed: {SINCE}"),
        (RESTARTED, "07:00:00 UTC; last reload failed: see journalctl -u reviewsd\n"),
        (RESTARTED, "\ndata       /srv/reviews\n"),
    ],
)
def test_state_that_is_not_ok_has_what_is_served_and_problems(status: Status, output: str) -> None:
    assert shown(status).startswith(f"state      {status.data.state}\n           ")
    assert output in shown(status)


def test_line_without_a_value_is_not_shown() -> None:
    snapshot = msgspec.structs.replace(
        SNAPSHOT, updated_at=None, insights=False, review_count=1, published_at=NOW
    )
    output = shown(msgspec.structs.replace(OK, snapshot=snapshot))
    assert "serving    1 review, published 2026-11-21 10:12:00 UTC (0 s ago)\n" in output
    assert "updated" not in output


MADE = InsightsOrigin(made=True, model="lexicon-1", reviews=1204)


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (MADE, "made from 1,204 reviews by rules"),
        (
            msgspec.structs.replace(MADE, reviews=1, model="qwen3:8b, lexicon-1"),
            "made from 1 review by qwen3:8b",
        ),
        (
            InsightsOrigin(made=False, model="gpt", generated_at="2026-11-02T08:00:00+00:00"),
            "insights.json of 2026-11-02 by gpt",
        ),
        (InsightsOrigin(made=False), "insights.json"),
        (
            InsightsOrigin(made=True, fault="KeyError: '\x1b[2J'"),
            "none, they could not be made: KeyError: '\\u001b[2J'",
        ),
    ],
)
def test_status_and_reload_say_where_insights_are_from(origin: InsightsOrigin, line: str) -> None:
    snapshot = msgspec.structs.replace(SNAPSHOT, insights_origin=origin)
    status = msgspec.structs.replace(OK, snapshot=snapshot)
    result = ReloadResult(
        outcome="published", revision="a", review_count=1, seconds=1, insights_origin=origin
    )

    assert f"\ninsights   {line}\n" in shown(status)
    assert uncolored(status_views.reload_text(result)).endswith(f"\ninsights: {line}")


@pytest.mark.parametrize(
    ("changes", "output"),
    [
        (
            {},
            "hub        1,204 subscriptions, 3 not confirmed by the subscriber, 12 to be delivered, the oldest for 3 h 14 min, 4 under way\n",
        ),
        (
            {"active": 1, "pending": 0, "due": 0, "oldest_due_at": None, "in_flight": 0},
            "hub        1 subscription\ndata",
        ),
        (
            {"paused": True},
            "4 under way\n           paused; resume with: reviewsctl hub resume\ndata",
        ),
        ({"store": "disk full"}, "4 under way\n           the state store fails: disk full\ndata"),
        (
            {"opened_networks": ["127.0.0.0/8", "::1/128"]},
            "\n           callbacks may be in 127.0.0.0/8, ::1/128 (hub.callbacks.allow_networks)\n",
        ),
    ],
)
def test_a_status_has_a_line_for_the_hub(changes: Mapping[str, object], output: str) -> None:
    hub = msgspec.convert({**STATE, **changes}, HubState)
    status = msgspec.structs.replace(OK, hub=hub)
    assert output in shown(status)
    warns = bool(changes.keys() & {"paused", "store", "opened_networks"})
    assert warns == ("\x1b[33m" in shown(status, color=True))


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b31m", "a\nb", "\u202e"])
def test_no_text_of_the_daemon_steers_the_terminal(hostile: str) -> None:
    document = {
        **admin_fake.DEGRADED,
        **dict.fromkeys(("version", "base_url"), hostile),
        "listen": [hostile],
        "hub": {**STATE, "opened_networks": [hostile], "store": hostile},
        "snapshot": {**STATUS["snapshot"], "revision": hostile},
        "data": {**admin_fake.DEGRADED["data"], "dir": hostile, "problems": [hostile]},
    }
    result = {"revision": hostile, "review_count": 1, "seconds": 1, "problems": [hostile]}
    output = [shown(msgspec.convert(document, Status))]
    for outcome in ("refused", "published"):
        reload = msgspec.convert({"outcome": outcome, **result}, ReloadResult)
        output.append(uncolored(status_views.reload_text(reload)))

    assert [part.count("\\u") for part in output] == [8, 1, 1]
    assert not any(hostile in part for part in output)


SERVING = "the last good data keeps serving"


@pytest.mark.parametrize(
    ("outcome", "revision", "output"),
    [
        ("published", "3f2a", "published: revision 3f2a with 1,204 reviews, 0.42 s"),
        ("unchanged", "3f2a", "unchanged: revision 3f2a with 1,204 reviews keeps serving, 0.42 s"),
        ("refused", "3f2a", f"Error: reload refused: the new data has problems; {SERVING}"),
        ("failed", "3f2a", f"Error: reload failed: the new data could not be loaded; {SERVING}"),
        (
            "refused",
            None,
            "Error: reload refused: the new data has problems; nothing is served yet",
        ),
        (
            "failed",
            None,
            "Error: reload failed: the new data could not be loaded; nothing is served yet",
        ),
    ],
)
def test_a_reload_tells_its_outcome(outcome: str, revision: str | None, output: str) -> None:
    members = {"outcome": outcome, "revision": revision, "review_count": 1204, "seconds": 0.418}
    if outcome == "failed":
        members["retry_at"] = "2026-11-21T10:12:01Z"
    problems = ["reviews.json: $.reviews: missing", "... and 4 more"]
    result = msgspec.convert({**members, "problems": problems}, ReloadResult)
    remedies = {
        "refused": "Fix the data; the daemon notices the change.",
        "failed": "The daemon tries again. See its log: journalctl -u reviewsd",
    }
    first, *rest = uncolored(status_views.reload_text(result)).splitlines()
    assert output == first
    shown_problems = [f"  {line}" for line in problems]
    assert rest == ([*shown_problems, remedies[outcome]] if outcome in remedies else [])


@pytest.mark.parametrize(
    ("seconds", "output"),
    [
        (-5, "0 s"),
        (0.9, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h 0 min"),
        (86399, "23 h 59 min"),
        (86400, "1 d 0 h"),
        (187200, "2 d 4 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float, output: str) -> None:
    assert output == times.duration(seconds)


@pytest.mark.parametrize(
    ("days", "output"), [(-9674, "in 9,674 days"), (-1, "today"), (0, "today"), (1, "yesterday")]
)
def test_day_that_is_far_ahead_is_not_called_today(days: int, output: str) -> None:
    assert output == times.days_ago(days)
