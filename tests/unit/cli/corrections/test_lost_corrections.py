"""An older copy of reviews.json, and a corrections.json that is missing (C37, C38)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Ctl

pytestmark = pytest.mark.processes

GUEST = "Jane Roe"
TABLE = f"""ID,Date,Stars,Name,Review
1,2026-03-14,5,Uwe B.,Quick and clean.
2,2026-03-20,4,{GUEST},They broke the blue vase.
"""


class Data:
    """A data directory of two reviews, one of which was erased."""

    def __init__(self, ctl: Ctl, folder: Path) -> None:
        self.ctl = ctl
        self.folder = folder / "data"
        self.folder.mkdir()
        self.table = folder / "reviews.csv"
        self.table.write_text(TABLE)
        self.imported()
        shutil.copy(self.reviews, folder / "old.json")
        self.older = folder / "old.json"
        self.erased = next(each["id"] for each in self.listed() if each["author"] == GUEST)
        self.run("reviews", "erase", self.erased, "--reason", "request", "--yes")

    @property
    def reviews(self) -> Path:
        return self.folder / "reviews.json"

    def run(self, *arguments: str, code: int = 0) -> str:
        done = self.ctl(*arguments, "--data", str(self.folder))
        assert code == done.returncode, done.stderr
        return done.stdout + done.stderr

    def imported(self, *options: str, code: int = 0) -> str:
        more = ("--source", "website", "--set", "name=Acme", *options)
        return self.run("import", str(self.table), *more, code=code)

    def listed(self, *options: str) -> list[dict[str, Any]]:
        lines = self.run("reviews", "list", "--json", *options).splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def put_older_copy(self) -> None:
        shutil.copy(self.older, self.reviews)

    def has_guest(self) -> bool:
        return GUEST in self.reviews.read_text()


@pytest.fixture
def data(ctl: Ctl, tmp_path: Path) -> Data:
    return Data(ctl, tmp_path)


def test_erased_review_of_an_older_copy_is_listed_as_erased(data: Data) -> None:
    data.put_older_copy()
    assert "erased" in data.run("reviews", "list", "--hidden")
    (listed,) = data.listed("--hidden")
    assert "erase" == listed["correction"]["action"]


def test_erased_review_of_an_older_copy_is_a_problem_with_its_cure(data: Data) -> None:
    data.put_older_copy()
    out = data.run("check", code=5)
    assert "1 erased review is in it again" in out
    command = f"reviewsctl reviews erase {data.erased} --reason request"
    assert command in out
    data.run(*command.split()[1:], "--yes")
    assert not data.has_guest()
    assert "all is well" in data.run("check")


@pytest.mark.parametrize("options", [(), ("--all",)])
def test_erased_review_of_an_older_copy_is_not_exported(
    data: Data, options: tuple[str, ...]
) -> None:
    data.put_older_copy()
    out = data.run("export", "--csv", *options)
    assert "Uwe B." in out
    assert GUEST not in out


def test_import_takes_an_erased_review_out_of_an_older_copy(data: Data) -> None:
    data.put_older_copy()
    assert "1 erased review had come back" not in data.imported("--dry-run")
    assert data.has_guest()
    assert "1 erased review had come back" in data.imported()
    assert not data.has_guest()
    data.run("reviews", "undo")
    assert not data.has_guest()


def test_hiding_a_review_takes_an_erased_one_out_of_an_older_copy(data: Data) -> None:
    data.put_older_copy()
    (other,) = [each for each in data.listed() if each["id"] != data.erased]
    data.run("reviews", "anonymize", other["id"], "--reason", "request")
    assert not data.has_guest()
    assert "anonymous" in data.run("reviews", "list")


def test_erased_review_of_an_older_copy_is_not_restored(data: Data) -> None:
    data.put_older_copy()
    assert "was erased" in data.run("reviews", "restore", data.erased, code=1)


@pytest.mark.parametrize(
    "command",
    [
        ("reviews", "list"),
        ("reviews", "anonymize", "01", "--reason", "request"),
        ("export", "--csv"),
        ("export", "--csv", "--all"),
    ],
    ids=" ".join,
)
def test_command_refuses_data_whose_corrections_are_missing(
    data: Data, command: tuple[str, ...]
) -> None:
    (data.folder / "corrections.json").unlink()
    assert "corrections.json: missing, though .reviewsctl/corrections.log" in data.run(
        *command, code=1
    )
    assert not (data.folder / "corrections.json").exists()


def test_import_refuses_data_whose_corrections_are_missing(data: Data) -> None:
    (data.folder / "corrections.json").unlink()
    assert "without it erased reviews would return" in data.imported(code=1)
    assert not data.has_guest()


def test_missing_corrections_are_a_problem_until_their_log_is_moved_away(data: Data) -> None:
    (data.folder / "corrections.json").unlink()
    assert "corrections.json: missing, though" in data.run("check", code=5)
    (data.folder / ".reviewsctl/corrections.log").unlink()
    assert "all is well" in data.run("check")
    data.imported()
    assert data.has_guest()


def test_erasure_removes_what_killed_imports_left_behind(data: Data) -> None:
    """An owner was told that no file has the text any more."""
    folders = [data.folder, data.folder / ".reviewsctl", data.folder / ".reviewsctl/history"]
    drafts = [folder / ".reviews.json-0123456789abcdef.new" for folder in folders]
    for draft in drafts:
        draft.write_text(GUEST)
    data.put_older_copy()
    data.run("reviews", "erase", data.erased, "--reason", "request", "--yes")
    assert [] == [draft for draft in drafts if draft.exists()]


def test_review_that_was_erased_under_another_source_is_a_question(data: Data) -> None:
    out = data.run(*("import", str(data.table), "--source", "portal"), code=2)
    assert '1 review of "portal", which is a new source, was erased under the name "website"' in out
    assert not data.has_guest()
