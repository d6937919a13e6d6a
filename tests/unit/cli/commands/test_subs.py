"""``reviewsctl subs`` as processes, against a scripted admin socket (H7)."""

import json
from collections.abc import Mapping

import pytest

from tests.support.admin_fake import AdminFake, Scripted, document, problem
from tests.support.commands import Ctl
from tests.support.hub_answers import PENDING, SUBSCRIPTION, page

pytestmark = pytest.mark.processes

CALLBACK = str(SUBSCRIPTION["callback"])
LIST = "GET /v1/subscriptions?limit=1000"


SCRIPT: Mapping[str, Scripted] = {
    LIST: document(page(SUBSCRIPTION, PENDING)),
    "GET /v1/subscriptions/12": document(SUBSCRIPTION),
    "POST /v1/push?id=p7": problem(409, "Not Verified", "Not confirmed yet."),
}


def asked(daemon: AdminFake) -> list[str]:
    return [f"{entry.method} {entry.target}" for entry in daemon.asked]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("subs list --state activ", 2, "'pending', 'active', 'renewing', 'removal'"),
        (f"subs show {CALLBACK}", 2, "reviewsctl subs list"),
        ("subs push 12 --topic /feed.xml", 2, "--topic cannot be combined"),
        ("subs show 99", 4, "There is no /v1/subscriptions/99."),
        ("subs push p7", 1, "Not confirmed yet."),
        ("hub blck x.example", 2, "Did you mean 'block'"),
    ],
)
def test_refused_command_has_its_exit_code_and_reason(
    ctl: Ctl, daemon: AdminFake, arguments: str, code: int, says: str
) -> None:
    run = ctl(*arguments.split())
    assert code == run.returncode
    assert says in " ".join(run.stderr.split())


# list, show


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_long_list_is_fetched_page_by_page(ctl: Ctl, daemon: AdminFake, options: list[str]) -> None:
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


def test_json_of_a_list_is_a_line_for_each_row(ctl: Ctl, daemon: AdminFake) -> None:
    newer = {**SUBSCRIPTION, "weather": "rain"}
    daemon.script = {LIST: document(page(newer, PENDING))}
    run = ctl("subs", "list", "--json")
    assert [newer, PENDING] == [json.loads(line) for line in run.stdout.splitlines()]


# remove


def test_a_dry_run_removes_nothing(ctl: Ctl, daemon: AdminFake) -> None:
    hostile = document({**SUBSCRIPTION, "callback": "https://x.example/\x1b[2J\u202e\x07"})
    daemon.script = {**SCRIPT, "GET /v1/subscriptions/12": hostile}
    run = ctl("subs", "remove", "12", "--dry-run")
    shown = r"https://x.example/\u001b[2J\u202e\u0007"
    assert run.stdout == f"would remove 12: /feed.xml for {shown}\nnothing was written\n"
    assert asked(daemon) == ["GET /v1/subscriptions/12"]


def test_a_reason_is_passed_on(ctl: Ctl, daemon: AdminFake) -> None:
    target = "POST /v1/subscriptions/12/remove?reason=It+loops+%26+floods"
    daemon.script = {**SCRIPT, target: document({})}
    run = ctl("subs", "remove", "12", "--reason", "It loops & floods")
    assert (0, target) == (run.returncode, asked(daemon)[-1])
