"""An older copy of reviews.json, and a corrections.json that is missing (C37, C38)."""

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from reviewsd.api.places import has_corrections_log
from tests.support.commands import CLI, Ctl

pytestmark = pytest.mark.processes

GUEST, STARS = "Jane Roe", 4
BACK = (
    "1 erased review had come back into reviews.json, as by an older copy of it, and is taken out"
)
TABLE = f"""ID,Date,Stars,Name,Review
1,2026-03-14,5,Uwe B.,Quick and clean.
2,2026-03-20,{STARS},{GUEST},They broke the blue vase.
"""


class Data:
    """A data directory of two reviews, one of which was erased."""

    def __init__(self, ctl: Ctl, folder: Path) -> None:
        self.ctl = ctl
        self.folder = folder / "data"
        self.table = folder / "reviews.csv"
        self.before = folder / "before"
        """The data directory before the erasure."""
        self.older = self.before / "reviews.json"
        self.backup = folder / "backup.tar.gz"

    def make(self, *options: str) -> None:
        self.folder.mkdir()
        self.table.write_text(TABLE)
        self.imported(*options)
        shutil.copytree(self.folder, self.before)
        self.run("reviews", "erase", self.erased, "--reason", "request", "--yes")

    @property
    def erased(self) -> str:
        """The id of the erased review."""
        reviews = json.loads(self.older.read_bytes())["reviews"]
        return next(str(review["id"]) for review in reviews if review["rating"] == STARS)

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

    def back_up(self) -> None:
        config = self.folder.parent / "reviewsd.yaml"
        config.write_text("base_url: https://r.example\ndata_dir: data\nstate_dir: state\n")
        done = self.ctl("backup", str(self.backup), "--config", str(config))
        assert 0 == done.returncode, done.stderr

    def restored(self, *options: str, code: int = 0) -> str:
        config = self.folder.parent / "reviewsd.yaml"
        done = self.ctl("restore", str(self.backup), "--config", str(config), "--force", *options)
        assert code == done.returncode, done.stderr
        return done.stdout + done.stderr

    def files(self) -> dict[Path, bytes]:
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in paths}

    def put_older_copy(self) -> None:
        shutil.copy(self.older, self.reviews)

    def has_guest(self) -> bool:
        return GUEST in self.reviews.read_text()

    def kept_guests(self) -> list[str]:
        """The kept versions that have the erased review."""
        versions = (self.folder / ".reviewsctl/history").glob("reviews-*")
        return [
            item.name for item in versions if GUEST.encode() in gzip.decompress(item.read_bytes())
        ]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such data, of which each test gets a copy."""
    folder = tmp_path_factory.mktemp("made")
    Data(Ctl({"PYTHONPATH": str(CLI), "PYTHONWARNINGS": "error"}), folder).make()
    return folder


@pytest.fixture
def data(ctl: Ctl, tmp_path: Path, template: Path) -> Data:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return Data(ctl, tmp_path)


def test_erased_review_of_an_older_copy_is_a_problem_with_its_cure(data: Data) -> None:
    data.put_older_copy()
    (listed,) = data.listed("--hidden")
    assert "erase" == listed["correction"]["action"]
    out = data.run("check", code=5)
    assert "1 erased review is in it again" in out
    command = f"reviewsctl reviews erase {data.erased} --reason request"
    assert command in out
    data.run(*command.split()[1:], "--yes")
    assert not data.has_guest()
    assert "all is well" in data.run("check")


@pytest.mark.parametrize("options", [(), ("--all",)])
def test_erased_review_of_older_copy_is_not_exported(data: Data, options: tuple[str, ...]) -> None:
    data.put_older_copy()
    out = data.run("export", "--csv", *options)
    assert "Uwe B." in out
    assert GUEST not in out


def test_import_takes_an_erased_review_out_of_an_older_copy(data: Data) -> None:
    data.put_older_copy()
    assert BACK in data.imported("--dry-run")
    assert data.has_guest()
    out = data.imported()
    assert BACK in out
    assert f"wrote {data.reviews} with 1 review" in out
    assert not data.has_guest()
    assert not data.kept_guests()
    assert [data.erased] == [
        entry["id"] for entry in json.loads(data.reviews.read_text())["removed"]
    ]
    assert BACK not in data.imported()


def test_import_that_is_refused_takes_no_erased_review_out(data: Data) -> None:
    data.put_older_copy()
    before = data.files()
    data.run("import", str(data.table), "--source", "portal", code=2)
    assert before == data.files()


@pytest.mark.parametrize(
    "command",
    [
        ("reviews", "anonymize", "{other}", "--reason", "request"),
        ("reviews", "reply", "{other}", "Thank you!"),
    ],
    ids=lambda command: command[1],
)
def test_command_drops_erased_review_of_an_older_copy(data: Data, command: tuple[str, ...]) -> None:
    data.put_older_copy()
    (remaining,) = [item["id"] for item in data.listed() if item["id"] != data.erased]
    assert BACK in data.run(*[word.format(other=remaining) for word in command])
    assert not data.has_guest()
    assert not data.kept_guests()
    assert [remaining] == [item["id"] for item in data.listed()]


@pytest.mark.parametrize("text", [b"{ broken", b'{"summary": "\xff"}'])
def test_reply_is_refused_where_insights_keep_an_erased_review(data: Data, text: bytes) -> None:
    data.put_older_copy()
    (data.folder / "insights.json").write_bytes(text)
    (remaining,) = [item["id"] for item in data.listed() if item["id"] != data.erased]
    before = data.files()
    out = data.run("reviews", "reply", remaining, "Thank you!", code=1)
    assert "insights.json, which may quote an erased review, cannot be read" in out
    assert before == data.files()


def test_undo_keeps_no_erased_review_of_an_older_copy(data: Data) -> None:
    data.put_older_copy()
    assert BACK in data.run("reviews", "undo")
    assert not data.has_guest()
    assert not data.kept_guests()


@pytest.mark.parametrize(
    "command",
    [
        ("restore", "{erased}"),
        ("hide", "{erased}", "--reason", "spam"),
        ("reply", "{erased}", "Thank you!"),
    ],
    ids=lambda command: command[0],
)
def test_erased_review_of_older_copy_is_refused_by_id(data: Data, command: tuple[str, ...]) -> None:
    data.put_older_copy()
    before = data.files()
    words = [word.format(erased=data.erased) for word in command]
    assert "was erased, and reviews.json has it again" in data.run("reviews", *words, code=1)
    assert before == data.files()


@pytest.mark.parametrize(
    "command",
    [
        ("reviews", "list"),
        ("reviews", "anonymize", "01", "--reason", "request"),
        ("export", "--csv"),
        ("export", "--csv", "--all"),
        ("import", "{table}", "--source", "website"),
    ],
    ids=" ".join,
)
def test_command_refuses_data_without_corrections(data: Data, command: tuple[str, ...]) -> None:
    (data.folder / "corrections.json").unlink()
    words = [word.format(table=data.table) for word in command]
    assert "corrections.json: missing, though you have decided" in data.run(*words, code=1)
    assert not (data.folder / "corrections.json").exists()


def test_missing_corrections_are_a_problem_until_their_log_is_moved_away(data: Data) -> None:
    (data.folder / "corrections.json").unlink()
    assert "corrections.json: missing, though" in data.run("check", code=5)
    (data.folder / ".reviewsctl/corrections.log").unlink()
    assert "all is well" in data.run("check")
    data.imported()
    assert data.has_guest()


def test_log_in_a_folder_that_is_closed_to_the_user_counts_as_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The daemon publishes the data of an owner who keeps .reviewsctl to himself."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "stat", refuse)
    assert not has_corrections_log(tmp_path)


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_restore_refuses_at_once_without_corrections(data: Data, options: tuple[str, ...]) -> None:
    """The backup is of before the erasure, and has no corrections.json."""
    data.folder.rename(data.folder.with_name("now"))
    data.before.rename(data.folder)
    data.back_up()
    shutil.rmtree(data.folder)
    data.folder.with_name("now").rename(data.folder)
    (data.folder / "corrections.json").unlink()
    before = data.files()
    out = data.restored(*options, code=1)
    assert "Error: not restored: corrections.json: missing, though you have decided" in out
    assert before == data.files()


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
@pytest.mark.parametrize("is_current", [True, False], ids=["current", "archived"])
def test_restore_refuses_before_it_writes_where_corrections_cannot_be_merged(
    data: Data, options: tuple[str, ...], *, is_current: bool
) -> None:
    path = data.folder / "corrections.json"
    valid, broken = path.read_bytes(), b"{ broken"
    path.write_bytes(valid if is_current else broken)
    data.back_up()
    path.write_bytes(broken if is_current else valid)
    before = data.files()
    out = data.restored(*options, code=1)
    assert "Error: not restored: corrections.json" in out
    assert before == data.files()


def test_restore_of_invalid_reviews_says_that_erased_ones_are_restored(data: Data) -> None:
    """They are not served."""
    data.reviews.write_text('{"reviews": [7]}')
    data.back_up()
    data.reviews.unlink()
    out = data.restored(code=1)
    assert "Error: restored, but what was erased may be in it again: reviews.json" in out
    assert data.reviews.exists()


def test_restore_of_a_backup_without_corrections_leaves_the_daemon_to_refuse(data: Data) -> None:
    (data.folder / "corrections.json").unlink()
    data.back_up()
    shutil.rmtree(data.folder)
    data.restored()
    assert "corrections.json: missing, though" in data.run("check", code=5)


def test_erasure_removes_what_killed_imports_left_behind(data: Data) -> None:
    """An owner was told that no file has the text any more."""
    folders = [data.folder, data.folder / ".reviewsctl", data.folder / ".reviewsctl/history"]
    drafts = [folder / ".reviews.json-0123456789abcdef.new" for folder in folders]
    for draft in drafts:
        draft.write_text(GUEST)
    data.put_older_copy()
    data.run("reviews", "erase", data.erased, "--reason", "request", "--yes")
    assert [] == [draft for draft in drafts if draft.exists()]


@pytest.mark.parametrize("names", ["full", "short"])
def test_review_that_was_erased_under_another_source_is_a_question(
    ctl: Ctl, tmp_path: Path, names: str
) -> None:
    data = Data(ctl, tmp_path)
    data.make("--set", f"names={names}")
    out = data.run(*("import", str(data.table), "--source", "portal"), code=2)
    assert '1 review of "portal", which is a new source, was erased under the name "website"' in out
    assert not data.has_guest()
