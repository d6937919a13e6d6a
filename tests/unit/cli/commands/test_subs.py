"""``reviewsctl subs`` as processes, against a scripted admin socket (H7)."""

import json
import signal
import threading
from collections.abc import Mapping

import pytest

from tests.support.admin_fake import AdminFake, Scripted, document, events, problem
from tests.support.commands import Ctl, on_a_terminal, started
from tests.support.hub_answers import PENDING, SUBSCRIPTION, page

pytestmark = pytest.mark.processes

CALLBACK = str(SUBSCRIPTION["callback"])
LIST = "GET /v1/subscriptions?limit=1000"
NO_TOPIC = problem(404, "No Such Topic", "The topics are /feed.xml, /api/feed.json, /reviews.json.")


def step(done: int, failed: int = 0, total: int = 1000) -> Mapping[str, object]:
    members = {"stage": "pushing", "done": done, "total": total, "failed": failed}
    return {"type": "progress", **members}


def result(delivered: int = 1000, failed: int = 0, removed: int = 0) -> Mapping[str, object]:
    total = delivered + failed + removed
    members = {"total": total, "delivered": delivered, "failed": failed, "removed": removed}
    return {"type": "result", **members}


SCRIPT: Mapping[str, Scripted] = {
    LIST: document(page(SUBSCRIPTION, PENDING)),
    "GET /v1/subscriptions/12": document(SUBSCRIPTION),
    "POST /v1/subscriptions/12/remove": document({"id": "12", "removed": True}),
    "POST /v1/push": events(step(500), result()),
    "POST /v1/push?topic=%2Ffeed.xml": events(result()),
    "POST /v1/push?topic=%2Ffeed": NO_TOPIC,
    "POST /v1/push?id=12": events(result(1)),
    "POST /v1/push?id=p7": problem(409, "Not Verified", "Not confirmed yet."),
}


def changed(daemon: AdminFake, **answers: Scripted) -> None:
    """Replaces answers, ``push=`` and so on."""
    daemon.script = {**SCRIPT, **{f"POST /v1/{name}": entry for name, entry in answers.items()}}


def asked(daemon: AdminFake) -> list[str]:
    return [f"{entry.method} {entry.target}" for entry in daemon.asked]


# Exit codes: interfaces.md 1.4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("subs list", 0),
        ("subs list --json", 0),
        ("subs list --state dead", 2),
        ("subs list extra", 2),
        ("subs", 2),
        ("subs lst", 2),
        ("subs show", 2),
        ("subs show 12", 0),
        ("subs show 99", 4),
        ("subs show x12", 2),
        (f"subs show {CALLBACK}", 2),
        ("subs remove 12", 0),
        ("subs remove 99", 4),
        ("subs remove 12 --dry-run", 0),
        ("subs push 12", 0),
        ("subs push 99", 4),
        ("subs push p7", 1),
        ("subs push", 0),
        ("subs push --topic /feed.xml", 0),
        ("subs push --topic /feed", 4),
        ("subs push --wat", 2),
        ("subs push x12", 2),
        ("subs push 12 --topic /feed.xml", 2),
    ],
)
def test_exit_codes(ctl: Ctl, daemon: AdminFake, arguments: str, code: int) -> None:
    run = ctl(*arguments.split())

    assert code == run.returncode
    assert code == 0 or run.stderr or arguments == "subs"  # which shows its help


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("subs show x12", "reviewsctl subs list"),
        ("subs push --topic /feed", "/feed.xml, /api/feed.json, /reviews.json"),
        ("subs list --state activ", "'pending', 'active', 'renewing', 'removal'"),
        ("subs remve 12", "Did you mean 'remove'?"),
    ],
)
def test_an_error_names_what_there_is(
    ctl: Ctl, daemon: AdminFake, arguments: str, says: str
) -> None:
    assert says in " ".join(ctl(*arguments.split()).stderr.split())


# list, show


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_long_list_is_fetched_page_by_page(
    ctl: Ctl, daemon: AdminFake, options: list[str]
) -> None:
    pages = {}
    for first in range(0, 3_000, 1000):
        last = first + 999
        target = LIST if first == 0 else f"{LIST}&after={first - 1}"
        subscriptions = [{**SUBSCRIPTION, "id": str(number)} for number in range(first, last + 1)]
        pages[target] = document(page(*subscriptions, after=str(last) if last < 2999 else None))
    daemon.script = pages
    lines = ctl("subs", "list", *options).stdout.splitlines()

    ids = [json.loads(line)["id"] if options else line.split()[0] for line in lines]
    assert ([] if options else ["id"]) + [str(number) for number in range(3_000)] == ids
    assert list(pages) == asked(daemon)


def test_a_list_is_filtered_by_the_daemon(ctl: Ctl, daemon: AdminFake) -> None:
    target = f"{LIST}&topic=https%3A%2F%2Fa.example%2Ffeed.xml&state=active+%28renewing%29"
    daemon.script = {target: document(page())}
    options = ("--topic", "https://a.example/feed.xml", "--state", "renewing")
    run = ctl("subs", "list", *options)

    assert (0, [target]) == (run.returncode, asked(daemon))
    assert run.stdout == "no subscription matches\n"


def test_an_empty_list_says_that_it_is_empty(ctl: Ctl, daemon: AdminFake) -> None:
    daemon.script = {LIST: document(page())}
    assert ctl("subs", "list").stdout == "there are no subscriptions\n"
    assert ctl("subs", "list", "--json").stdout == ""


def test_a_lease_that_is_over_is_not_active(ctl: Ctl, daemon: AdminFake) -> None:
    over = {**SUBSCRIPTION, "state": "active", "lease_expires_at": "2025-01-01T00:00:00Z"}
    daemon.script = {LIST: document(page(over)), "GET /v1/subscriptions/12": document(over)}
    listed = ctl("subs", "list").stdout
    output = ctl("subs", "show", "12").stdout
    assert " ended " in listed
    assert "active" not in listed + output
    assert "over since 2025-01-01 00:00:00 UTC, it was " in output


def test_json_of_a_list_is_a_line_for_each_with_all_that_the_daemon_says(
    ctl: Ctl, daemon: AdminFake
) -> None:
    newer = {**SUBSCRIPTION, "weather": "rain", "callback": "https://x.example/\x1b[2J"}
    daemon.script = {LIST: document(page(newer, PENDING))}
    run = ctl("subs", "list", "--json")

    assert [newer, PENDING] == [json.loads(line) for line in run.stdout.splitlines()]
    assert "\x1b" not in run.stdout


def test_url_of_a_callback_cannot_control_the_terminal(ctl: Ctl, daemon: AdminFake) -> None:
    hostile = {**SUBSCRIPTION, "callback": "https://x.example/\x1b[2J\u202e\x07"}
    daemon.script = {**SCRIPT, LIST: document(page(hostile))}
    daemon.script["GET /v1/subscriptions/12"] = document(hostile)
    for command in ("list", "show 12", "remove 12"):
        run = ctl("subs", *command.split())
        assert run.returncode == 0
        assert "https://x.example/\\u001b[2J\\u202e\\u0007" in run.stdout


# remove


def test_a_dry_run_removes_nothing(ctl: Ctl, daemon: AdminFake) -> None:
    run = ctl("subs", "remove", "12", "--dry-run")

    assert run.stdout == f"would remove 12: /feed.xml for {CALLBACK}\nnothing was written\n"
    assert asked(daemon) == ["GET /v1/subscriptions/12"]


def test_a_reason_is_passed_on(ctl: Ctl, daemon: AdminFake) -> None:
    target = "POST /v1/subscriptions/12/remove?reason=It+loops+%26+floods"
    daemon.script = {**SCRIPT, target: document({})}
    run = ctl("subs", "remove", "12", "--reason", "It loops & floods")

    assert (0, target) == (run.returncode, asked(daemon)[-1])


# push


def test_a_push_that_does_not_take_long_tells_its_outcome_alone(
    ctl: Ctl, daemon: AdminFake
) -> None:
    """Outside a terminal, as in a log."""
    messages = [step(number, failed=number // 250) for number in range(0, 1001, 25)]
    changed(daemon, push=events(*messages, result(996, failed=3, removed=1)))
    run = ctl("subs", "push")

    lines = run.stderr.splitlines()
    assert "Error: push incomplete: 996 of 1,000 delivered, 3 failed" in lines[0]
    assert (1, "", 2) == (run.returncode, run.stdout, len(lines))


@pytest.mark.parametrize("outcome", [result(), result(999, failed=1)])
def test_a_quiet_push_prints_errors_only(
    ctl: Ctl, daemon: AdminFake, outcome: Mapping[str, object]
) -> None:
    changed(daemon, push=events(step(500), outcome))
    run = ctl("subs", "push", "-q")

    assert run.stdout == ""
    assert (run.returncode == 1) == run.stderr.startswith("Error: push incomplete")
    assert "pushing" not in run.stderr


def test_json_of_a_push_is_the_daemons_events(ctl: Ctl, daemon: AdminFake) -> None:
    messages = [step(500, 1), result(999, failed=1)]
    changed(daemon, push=events(*messages))
    run = ctl("subs", "push", "--json")

    assert messages == [json.loads(line) for line in run.stdout.splitlines()]
    assert 1 == run.returncode


def test_ctrl_c_detaches_from_a_push_and_says_so(ctl: Ctl, daemon: AdminFake) -> None:
    """A test of reload has the same without --json."""
    over = threading.Event()
    changed(daemon, push=events(step(500), over, result()))
    with started(ctl.environment, "subs", "push", "--json") as run:
        assert run.stdout is not None
        assert "500" in run.stdout.readline()
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=60)
    over.set()

    assert run.returncode == 130
    detail = "the daemon goes on with the push; how it ends: reviewsctl status"
    assert {"error": {"title": "detached", "detail": detail}} == json.loads(stderr)


def test_a_push_that_breaks_off_says_where_to_look(ctl: Ctl, daemon: AdminFake) -> None:
    changed(daemon, push=events(step(500), cut=True))
    run = ctl("subs", "push", "-q")

    assert run.returncode == 1
    assert "ended before the result" in run.stderr
    assert "See its outcome: reviewsctl status" in run.stderr


def test_a_terminal_gets_a_bar_that_counts(ctl: Ctl, daemon: AdminFake) -> None:
    changed(daemon, push=events(step(250, 3), step(1000, 3), result()))
    screen = on_a_terminal({**ctl.environment, "COLUMNS": "120"}, "subs", "push")

    assert "pushing" in screen
    assert "1000/1000" in screen
    assert "pushing, 3 failed" in screen
    assert "\x1b[32mpushed\x1b[0m: 1,000 of 1,000 delivered" in screen
