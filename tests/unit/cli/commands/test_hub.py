"""``reviewsctl hub``, as a process, against a scripted admin socket (H7)."""

from collections.abc import Mapping

import pytest

from tests.support.admin_fake import AdminFake, Scripted, document, problem
from tests.support.commands import Ctl

pytestmark = pytest.mark.processes

BLOCK = {"value": "203.0.113.0/24", "note": "floods us", "created_at": "2026-11-21T06:00:00Z"}
BLOCKS = (
    "blocked         since                    note\n"
    "203.0.113.0/24  2026-11-21 06:00:00 UTC  floods us\n"
)
BLOCKED = {"value": "x.example", "dry_run": False, "removed": 3}
SCRIPT: Mapping[str, Scripted] = {
    "POST /v1/hub/pause": document({"paused": True}),
    "POST /v1/hub/resume": document({"paused": False}),
    "GET /v1/blocks": document({"blocks": [BLOCK]}),
    "POST /v1/blocks?value=x.example": document(BLOCKED),
    "POST /v1/blocks?value=x.example&dry_run=true": document({**BLOCKED, "dry_run": True}),
    "POST /v1/blocks?value=X.example.&note=It+floods": document(BLOCKED),
    "POST /v1/blocks?value=1.2.3": problem(400, "Invalid Parameters", "value: expected a host."),
    "DELETE /v1/blocks?value=x.example": document({}),
    "DELETE /v1/blocks?value=y.example": problem(
        404, "Not Blocked", "What is blocked: reviewsctl hub blocks"
    ),
}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("hub pause", 0, "paused; resume with: reviewsctl hub resume\n"),
        ("hub resume", 0, "resumed; see: reviewsctl status\n"),
        ("hub blocks", 0, BLOCKS),
        ("hub block x.example", 0, "undo with: reviewsctl hub unblock x.example\n"),
        (
            "hub block x.example --dry-run",
            0,
            "would block x.example and remove 3 subscriptions or requests\nnothing was written\n",
        ),
        ("hub block 1.2.3", 1, "Error: invalid parameters: value: expected a host.\n"),
        ("hub unblock x.example", 0, "unblocked x.example\n"),
        ("hub unblock y.example", 4, "What is blocked: reviewsctl hub blocks"),
        ("hub", 2, "reviewsctl hub pause"),
        ("hub block", 2, "Missing argument"),
        ("hub blck x.example", 2, "Did you mean 'block'"),
        ("hub pause extra", 2, "unexpected extra argument"),
    ],
)
def test_a_command_says_what_it_has_done_or_what_to_do(
    ctl: Ctl, daemon: AdminFake, arguments: str, code: int, says: str
) -> None:
    run = ctl(*arguments.split())
    assert code == run.returncode
    assert says in (run.stdout if code == 0 else run.stdout + run.stderr)
    assert (code == 0) == (run.stderr == "" and "Usage" not in run.stdout)


def test_a_note_is_passed_on(ctl: Ctl, daemon: AdminFake) -> None:
    run = ctl("hub", "block", "X.example.", "--note", "It floods")
    assert run.stdout.startswith("blocked x.example, ")  # in its normal form
    assert daemon.asked[-1].target == "/v1/blocks?value=X.example.&note=It+floods"
