"""A review that its author edits in a table without ids stays hidden and answered (corrections.md C23 to C25)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import NO_PAGES, Daemon

pytestmark = pytest.mark.processes

SECRET, NAME = "ask for Bob Miller", "Jane Roe"
HEADER = "Date,Stars,Name,Review\n"
HIDDEN = f"2026-03-14,1,Ann Lee,Came late and {SECRET}.\n"
ANONYMIZED = f"2026-03-15,4,{NAME},Fine work.\n"
ANSWERED = "2026-03-16,5,Cy Orr,Quick and clean.\n"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, f"data: {{poll_interval: 60}}\n{NO_PAGES}") as daemon:
        yield daemon


def run(daemon: Daemon, *arguments: str) -> str:
    done = daemon.ctl(*arguments, "--data", str(daemon.data))
    assert 0 == done.returncode, done.stderr
    return done.stdout


def imported(daemon: Daemon, *rows: str) -> str:
    export = daemon.directory / "reviews.csv"
    export.write_text(HEADER + "".join(rows))
    return run(daemon, "import", str(export), "--source", "website", "--replace")


def correct(daemon: Daemon, command: str, author: str, reason: str) -> None:
    run(
        daemon,
        "reviews",
        command,
        id_of(daemon, author),
        "--reason",
        reason,
        *["--yes"][: command == "hide"],
    )


def published(daemon: Daemon) -> str:
    daemon.reload()
    return daemon.get("/reviews.json").body.decode()


def test_edited_reviews_keep_correction_and_reply(daemon: Daemon) -> None:
    imported(daemon, HIDDEN, ANONYMIZED, ANSWERED)
    correct(daemon, "hide", "Ann Lee", "personal-data")
    correct(daemon, "anonymize", NAME, "request")
    file = daemon.data / "reviews.json"
    data = json.loads(file.read_bytes())
    reply = {"text": "Thank you, Cy!", "date": "2026-03-17"}
    for review in data["reviews"]:
        if review["author"] == "Cy Orr":
            review["owner_reply"] = reply
    file.write_text(json.dumps(data))
    before = published(daemon)
    assert SECRET not in before
    assert NAME not in before

    imported(
        daemon,
        HIDDEN.replace("late", "too late").replace(",1,", ",2,"),
        ANONYMIZED.replace("Fine", "Good"),
        ANSWERED.replace("clean", "tidy"),
    )

    after = published(daemon)
    assert SECRET not in after
    assert NAME not in after
    website = [review for review in json.loads(after)["reviews"] if review["source"] == "website"]
    assert {"Good work.": "Anonymous", "Quick and tidy.": "Cy Orr"} == {
        review["text"]: review["author"] for review in website
    }
    assert [reply] == [review["owner_reply"] for review in website if review["owner_reply"]]

    run(daemon, "reviews", "undo")
    undone = published(daemon)
    assert SECRET not in undone
    assert NAME not in undone
    assert "Quick and clean." in undone


def test_address_of_an_edited_review_stays(tmp_path: Path) -> None:
    """Links that people shared go on working, and those to a hidden review end."""
    with Daemon(tmp_path, "data: {poll_interval: 60}\n") as daemon:
        imported(daemon, HIDDEN, ANSWERED)
        page = f"/r/{id_of(daemon, 'Cy Orr')}"
        imported(daemon, HIDDEN, ANSWERED.replace("clean", "tidy"))
        daemon.reload()
        assert b"Quick and tidy." in daemon.get(page).body
        run(daemon, "reviews", "hide", id_of(daemon, "Cy Orr"), "--reason", "request", "--yes")
        daemon.reload()
        assert [410, 410] == [daemon.get(path).status for path in (page, f"{page}.md")]


def id_of(daemon: Daemon, author: str) -> str:
    (line,) = run(daemon, "reviews", "list", "--json", "--text", author).splitlines()
    return str(json.loads(line)["id"])
